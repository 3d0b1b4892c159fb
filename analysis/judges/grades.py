"""People's judgments of pairs to which a judge gives the same grade, from queries other than the pair's own.

A pair whose judge gave no answer is of a grade of its own, so that refusals that are no accident do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_GRADES = 20
"""A judge with more distinct ratings gives scores; they are grouped by an isotonic fit."""
PULL = 2.0
"""Judged pairs of mean weight, all of the overall mean, by which each grade is shrunk."""


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """The judged pairs that the judge was given too.

    Parameters
    ----------
    row : int64 [pairs], their rows of the judge's table
    query : int64 [pairs], the number of their query
    weight : float [pairs], one over the inclusion probability
    """

    row: np.ndarray
    query: np.ndarray
    weight: np.ndarray


def grade_numbers(rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct ratings, ascending, and each row's number among them; rows without a rating get the last number.

    Examples
    --------
    >>> values, number = grade_numbers(np.array([3.0, np.nan, 1.0, 3.0]))
    >>> values.tolist(), number.tolist()
    ([1.0, 3.0], [1, 2, 0, 1])
    """
    answered = np.isfinite(rating)
    values, inverse = np.unique(rating[answered], return_inverse=True)
    number = np.full(len(rating), len(values), dtype=np.int64)
    number[answered] = inverse
    return values, number


def expected_by_grade(
    rating: np.ndarray, query_of_row: np.ndarray, sample: JudgedSample, values: np.ndarray, order_by: np.ndarray
) -> np.ndarray:
    """Expected judgment of every row of the judge's table, its own query's judgments left out.

    Parameters
    ----------
    rating : float [rows], NaN where the judge gave no answer
    query_of_row : int64 [rows], the number of each row's query as in `sample`, -1 where nobody judged any of it
    sample : the judged pairs
    values : float [quantities, pairs], what people said of the judged pairs
    order_by : float [pairs], the quantity that an isotonic fit of scores follows; grades need none

    Returns
    -------
    float64 [quantities, rows]: per grade, the mean over judged pairs of other queries, each weighted by one over its
    inclusion probability, and shrunk towards the mean of all by PULL pairs of mean weight
    """
    grades, number = grade_numbers(rating)
    queries = int(sample.query.max()) + 1
    if len(grades) <= MOST_GRADES:
        table = _table_by_query(number[sample.row], len(grades) + 1, queries, sample, values)
        return table[:, query_of_row, number]
    expected = np.empty((len(values), len(rating)))
    increasing = _rises(rating[sample.row], order_by, sample.weight)
    for query in range(-1, queries):
        rows = query_of_row == query
        if rows.any():
            kept = sample.query != query
            groups, many = _groups(rating, sample.row[kept], order_by[kept], sample.weight[kept], increasing)
            table = _table_by_query(groups[sample.row], many + 1, queries, sample, values)
            expected[:, rows] = table[:, query, groups[rows]]
    return expected


def _table_by_query(
    group: np.ndarray, groups: int, queries: int, sample: JudgedSample, values: np.ndarray
) -> np.ndarray:
    """Mean of each quantity by query left out and group, float64 [quantities, queries + 1, groups]; the last query
    leaves out nothing, so that -1 finds it."""
    cell = sample.query * groups + group
    shape = (queries, groups)
    seen = np.bincount(cell, sample.weight, queries * groups).reshape(shape)
    pull = PULL * sample.weight.mean()
    table = np.empty((len(values), queries + 1, groups))
    for each, value in zip(table, values, strict=True):
        sums = np.bincount(cell, sample.weight * value, queries * groups).reshape(shape)
        base = sample.weight @ value / sample.weight.sum()
        none = np.zeros((1, groups))
        others, weights = sums.sum(0) - np.r_[sums, none], seen.sum(0) - np.r_[seen, none]
        each[:] = (others + pull * base) / (np.maximum(weights, 0.0) + pull)
    return table


def _groups(
    rating: np.ndarray, row: np.ndarray, values: np.ndarray, weight: np.ndarray, increasing: bool
) -> tuple[np.ndarray, int]:
    """Each row's group: the level of an isotonic fit to the judged rows; the last group is that of no answer."""
    answered = np.isfinite(rating)
    given = answered[row]
    group = np.zeros(len(rating), dtype=np.int64)
    many = 1
    if given.any():
        # sklearn takes longer to import than most pages to make, and a judge that gives grades needs none of it
        from sklearn.isotonic import IsotonicRegression

        fit = IsotonicRegression(increasing=increasing, out_of_bounds="clip")
        levels = fit.fit(rating[row][given], values[given], sample_weight=weight[given]).predict(rating[answered])
        # between two judged scores the fit runs straight; the nearer level counts
        ends = np.unique(fit.y_thresholds_)
        group[answered] = np.searchsorted((ends[1:] + ends[:-1]) / 2, levels)
        many = len(ends)
    group[~answered] = many
    return group, many


def _rises(rating: np.ndarray, values: np.ndarray, weight: np.ndarray) -> bool:
    """True where higher scores go with higher values."""
    given = np.isfinite(rating)
    ranks = np.unique(rating[given], return_inverse=True)[1]
    w = weight[given] / weight[given].sum() if given.any() else weight[given]
    return bool(w @ ((ranks - w @ ranks) * values[given]) >= 0)
