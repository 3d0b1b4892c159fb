"""Where ratings vary: between queries, between results of a query, between raters, and by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.common.errors import RelstudyError
from relstudy.common.option_words import option


@dataclass(frozen=True)
class Variances:
    """Standard deviations on the rating scale.

    Parameters
    ----------
    query : of the mean true relevance of queries
    result : of the true relevance of results within a query
    rater : of the raters' offsets, before calibration
    noise : of one rating around its pair's true relevance, the rater's offset taken out
    """

    query: float
    result: float
    rater: float
    noise: float

    def __post_init__(self) -> None:
        for name, value in self.as_json().items():
            if not (np.isfinite(value) and value >= 0):
                raise RelstudyError(f"the standard deviation of {name} is a number from 0, not {value}")

    def as_json(self) -> dict[str, float]:
        return {"query": self.query, "result": self.result, "rater": self.rater, "noise": self.noise}


def variances_of(ratings: pd.DataFrame) -> Variances:
    """Moment estimates from pilot ratings.

    Ratings are taken apart as rater + pair + noise by least squares; the noise is the residual sum of squares over
    its degrees of freedom. Pairs are then taken apart as query + result by one-way analysis of variance, less the
    noise in their means. A component that comes out negative is 0, and its sum of squares is pooled with the next one's
    below it, as restricted maximum likelihood does where data are balanced (Thompson 1962).

    Parameters
    ----------
    ratings : rater_id, query_id, result_id, rating (NaN where undecided)

    Raises
    ------
    RelstudyError
        where no pair has two ratings, so that noise cannot be separated from relevance, or there is a single query

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     [
    ...         (r, q, i, 3.0 + (q == "a") + (i == "x") + (r == "one") * 0.5)
    ...         for r in ("one", "two") for q in "ab" for i in "xy"
    ...     ],
    ...     columns=["rater_id", "query_id", "result_id", "rating"],
    ... )
    >>> variances = variances_of(table)
    >>> round(variances.rater, 4), round(variances.noise, 4)
    (0.3536, 0.0)
    """
    decided = ratings[np.isfinite(ratings["rating"].to_numpy(dtype=float))]
    rater, raters = pd.factorize(decided["rater_id"])
    pair, pairs = pd.factorize(pd.MultiIndex.from_frame(decided[["query_id", "result_id"]]))
    value = decided["rating"].to_numpy(dtype=float)
    freedom = len(value) - len(pairs) - len(raters) + 1
    if len(value) == len(pairs) or freedom < 1:
        raise RelstudyError(
            "no noise can be estimated from these ratings: pairs rated by several raters are needed; state "
            f"{option('noise')} instead"
        )
    offset, level = _additive(rater, pair, value)
    noise = float(np.sum((value - offset[rater] - level[pair]) ** 2) / freedom)
    ratings_each = np.bincount(pair)
    query, queries = pd.factorize(np.array([key[0] for key in pairs], dtype=object))
    if len(queries) < 2:
        raise RelstudyError("all pilot ratings are of one query; at least two are needed")
    between, within = _one_way(query, level)
    if between < 0:
        between, within = 0.0, float(np.var(level, ddof=1))
    per_mean = float(np.mean(1.0 / ratings_each))
    rater_variance, per_offset = 0.0, float(np.mean(1.0 / np.bincount(rater)))
    if len(raters) > 1:
        rater_variance = float(np.var(offset, ddof=1)) - noise * per_offset
        if rater_variance < 0:
            squares = float(np.var(offset, ddof=1)) / per_offset * (len(raters) - 1)
            noise = (noise * freedom + squares) / (freedom + len(raters) - 1)
            freedom += len(raters) - 1
    if within < noise * per_mean:
        groups = len(pairs) - (len(queries) if between > 0 else 1)
        noise = (noise * freedom + within / per_mean * groups) / (freedom + groups)
    components = between, within - noise * per_mean, rater_variance, noise
    return Variances(*(float(np.sqrt(max(0.0, component))) for component in components))


def _additive(rater: np.ndarray, pair: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least-squares offsets of raters (mean 0) and levels of pairs, by alternating means."""
    raters, pairs = np.bincount(rater), np.bincount(pair)
    offset = np.zeros(len(raters))
    for _ in range(500):
        level = np.bincount(pair, value - offset[rater]) / pairs
        new = np.bincount(rater, value - level[pair]) / raters
        new -= new.mean()
        done = np.abs(new - offset).max() < 1e-10
        offset = new
        if done:
            break
    return offset, np.bincount(pair, value - offset[rater]) / pairs


def _one_way(group: np.ndarray, value: np.ndarray) -> tuple[float, float]:
    """Variance between and within groups of unequal size (analysis of variance)."""
    size = np.bincount(group)
    mean = np.bincount(group, value) / size
    groups, number = len(size), len(value)
    inside = np.sum((value - mean[group]) ** 2) / max(number - groups, 1)
    across = np.sum(size * (mean - value.mean()) ** 2) / (groups - 1)
    typical = (number - np.sum(size**2) / number) / (groups - 1)
    return float((across - inside) / typical), float(inside)
