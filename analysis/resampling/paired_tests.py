"""Tests of the mean of paired differences over queries, and what goes with them: Student's t, random signs, a
bootstrap, Tukey's range of all systems, effect size, equivalence, and the chance of a difference above a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from relstudy.analysis.resampling.spread import degrees_of, effective_number, error_where_alike, means_without_each

DRAWS = 10_000
"""Of signs, orders or queries."""
FEWEST = 2
"""Queries that a test takes."""
AT_ONCE = 1 << 24
"""Numbers held at once."""
ROUNDING = 1e-12
"""Sums of the same numbers in another order differ by less, relative to their size."""


@dataclass(frozen=True)
class PairedDifference:
    """The mean of differences by query as Student's t takes it.

    Parameters
    ----------
    mean : of first minus second over the queries
    error : its standard error; NaN with fewer than two queries
    queries : how many both have a value for
    wins, ties, losses : queries by the sign of the difference
    worth : how many queries that count equally they are worth: `queries`, or fewer where some count more than others

    Examples
    --------
    >>> found = PairedDifference.of(np.array([0.2, 0.1, 0.0, 0.3]))
    >>> round(found.mean, 2), round(found.p, 3), (found.wins, found.ties, found.losses)
    (0.15, 0.103, (3, 1, 0))
    """

    mean: float
    error: float
    queries: int
    wins: int
    ties: int
    losses: int
    worth: float

    @classmethod
    def of(cls, differences: np.ndarray, weight: np.ndarray | None = None) -> PairedDifference:
        """From the differences of queries, NaN where either system has no value.

        Parameters
        ----------
        weight : how much each query counts, float [queries] above 0; None: all alike
        """
        there = np.isfinite(differences)
        known, number = differences[there], int(there.sum())
        worth, mean, error = float(number), float("nan"), float("nan")
        if number:
            mean = float(np.average(known, weights=None if weight is None else weight[there]))
        if weight is None:
            error = float(known.std(ddof=1) / np.sqrt(number)) if number >= FEWEST else error
        elif number >= FEWEST:
            counted = weight[there]
            worth, error = effective_number(counted), _jackknife(known, counted)
        if error <= ROUNDING * max(abs(mean), ROUNDING):
            error = 0.0  # the same difference everywhere
        signs = np.sign(known)
        return cls(mean, error, number, int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum()), worth)

    @property
    def degrees(self) -> float:
        return degrees_of(self.worth)

    @property
    def tested(self) -> bool:
        """True where queries differ, so that there is a test."""
        return self.error > 0

    @property
    def p(self) -> float:
        """Two-sided; NaN where queries do not differ."""
        return float(2 * special.stdtr(self.degrees, -abs(self.mean) / self.error)) if self.tested else float("nan")

    @property
    def alike(self) -> bool:
        """True where the difference is the same in every query, of at least two."""
        return self.queries >= FEWEST and not self.tested

    def interval(self, level: float) -> tuple[float, float]:
        """Student's interval, with the error of random signs where all queries differ alike (`error_where_alike`); NaN
        with fewer than two queries."""
        error = error_where_alike(self.mean, self.queries, self.degrees) if self.alike else self.error
        reach = float(special.stdtrit(self.degrees, (1 + level) / 2)) * error
        return self.mean - reach, self.mean + reach

    @property
    def effect(self) -> float:
        """The mean in standard deviations of the differences (Cohen's d for pairs); NaN where queries do not differ."""
        return self.mean / (self.error * np.sqrt(self.worth)) if self.tested else float("nan")

    def equivalence(self, margin: float) -> float:
        """p of two one-sided tests that the difference is within the margin on either side (Schuirmann 1987).

        Where all queries differ alike, the chance that none is seen of those that would take the mean to the margin, by
        at most 1 each.
        """
        if self.alike:
            return float((1 - min(max(margin - abs(self.mean), 0.0), 1.0)) ** self.queries)
        if not self.tested:
            return float("nan")
        return float(special.stdtr(self.degrees, (abs(self.mean) - margin) / self.error))

    def chance_above(self, margin: float) -> float:
        """The chance that the first is better by more than the margin, given the data and Jeffreys' prior."""
        if not self.tested:
            return float("nan")
        return float(special.stdtr(self.degrees, (self.mean - margin) / self.error))


def _jackknife(values: np.ndarray, weight: np.ndarray) -> float:
    """The standard error of a weighted mean by leaving out each query; with equal weights that of the plain mean."""
    rest = means_without_each(values, weight)
    return float(np.sqrt((len(rest) - 1) / len(rest) * ((rest - rest.mean()) ** 2).sum()))


def sign_flips(
    differences: np.ndarray, draws: int = DRAWS, seed: int = 0, weight: np.ndarray | None = None
) -> np.ndarray:
    """Two-sided p of the mean difference when the sign of each query's difference is random (Fisher 1935).

    Where 2 ** queries is not above `draws` all signs are taken, and the test is exact: it rejects with the largest
    chance that these differences allow up to the level. Else the data as they are count as one of the draws.

    Parameters
    ----------
    differences : float [queries, statements], NaN where undefined
    weight : how much each query counts, float [queries]; None: all alike

    Returns
    -------
    float [statements], NaN where fewer than two queries have a value

    Examples
    --------
    >>> sign_flips(np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.25]
    """
    values = np.where(np.isfinite(differences), differences, 0.0)
    values = values if weight is None else values * weight[:, None]
    queries, statements = values.shape
    known = np.isfinite(differences).sum(axis=0)
    seen = np.abs(values.sum(axis=0))
    bound = seen - ROUNDING * np.maximum(np.abs(values).sum(axis=0), ROUNDING)
    whole = queries < 40 and 2**queries <= draws
    number = 2**queries if whole else draws
    random = np.random.default_rng(seed)
    reached = np.zeros(statements)
    step = max(1, AT_ONCE // max(queries, statements, 1))
    for start in range(0, number, step):
        count = min(step, number - start)
        if whole:
            bits = (np.arange(start, start + count)[:, None] >> np.arange(queries)) & 1
        else:
            bits = random.integers(0, 2, (count, queries), dtype=np.int8)
        reached += (np.abs((2.0 * bits - 1.0) @ values) >= bound).sum(axis=0)
    p = reached / number if whole else (reached + 1) / (number + 1)
    return np.asarray(np.where(known >= FEWEST, p, np.nan))


def bootstrap(
    differences: np.ndarray, draws: int = DRAWS, seed: int = 0, weight: np.ndarray | None = None
) -> np.ndarray:
    """Two-sided p of the mean difference by means of queries drawn again about it, the data as they are counting as one
    of the draws.

    Means of n queries drawn again spread by sqrt((n - 1) / n) of what means of n queries do, and their tails are the
    normal distribution's; so the share of them that is as far off is read as Student's t has it (the expanded
    percentiles of Hesterberg 2015, section 5.4); a draw that is just as far off, as steps of a tenth often are, counts
    half. Student's t of each draw instead rejects too seldom with ten queries, since draws of few different ones have
    hardly any error. Where queries count unlike, each is drawn with a chance by its weight, as many as are worth them
    all, and their plain mean is taken; its spread is brought to the jackknife's error of the weighted mean, which
    allows for heavy queries that vary more than others.

    Parameters
    ----------
    differences : float [queries, statements], NaN where undefined
    weight : how much each query counts, float [queries]; None: all alike

    Returns
    -------
    float [statements], NaN where fewer than two queries have a value, or these do not differ
    """
    found = np.full(differences.shape[1], np.nan)
    counted = np.ones(len(differences)) if weight is None else weight
    for column in range(differences.shape[1]):
        there = np.isfinite(differences[:, column])
        known, worth = differences[there, column], counted[there]
        n = len(known)
        if n < FEWEST or not known.std() > ROUNDING * np.abs(known).max():
            continue
        share = worth / worth.sum()
        mean = float(share @ known)
        away, ends = known - mean, np.cumsum(share)
        effective = effective_number(worth)
        size = max(round(effective), FEWEST)
        random = np.random.default_rng(seed)
        reached, step, same = 0.0, max(1, AT_ONCE // n), ROUNDING * np.abs(known).max()
        for start in range(0, draws, step):
            shape = min(step, draws - start), size
            alike = np.ptp(worth) == 0
            drawn = random.integers(0, n, shape) if alike else ends[:-1].searchsorted(random.random(shape), "right")
            beyond = np.abs(away[drawn].mean(axis=1)) - abs(mean)
            reached += (beyond > same).sum() + (np.abs(beyond) <= same).sum() / 2
        spread = np.sqrt(share @ away**2 / size) / _jackknife(known, worth)
        normal = special.ndtri((reached + 1) / (draws + 1) / 2) * spread
        found[column] = 2 * special.stdtr(degrees_of(effective), normal)
    return found


@dataclass(frozen=True, eq=False)
class TukeyRange:
    """The range of all systems' means where each query's values are shared out among them at random.

    Parameters
    ----------
    ranges : float [draws], of the greatest and the least mean

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=(30, 4)) + np.array([0.0, 0.0, 0.0, 2.0])
    >>> found = TukeyRange.of(values)
    >>> found.p(values[:, 3].mean() - values[:, 0].mean()) < 0.01
    True
    """

    ranges: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, draws: int = DRAWS, seed: int = 0, weight: np.ndarray | None = None) -> TukeyRange:
        """From float [queries, systems]; only queries of which every system has a value count, each by its weight."""
        whole = np.isfinite(values).all(axis=1)
        known = values[whole]
        share = np.ones(len(known)) if weight is None else weight[whole]
        known = known * (share / share.sum())[:, None]
        queries, systems = known.shape
        random = np.random.default_rng(seed)
        ranges = np.empty(draws)
        step = max(1, AT_ONCE // max(known.size, 1))
        for start in range(0, draws, step):
            count = min(step, draws - start)
            order = random.random((count, queries, systems)).argsort(axis=2)
            means = np.take_along_axis(np.broadcast_to(known, order.shape), order, axis=2).sum(axis=1)
            ranges[start : start + count] = np.ptp(means, axis=1)
        return cls(ranges)

    def p(self, difference: float) -> float:
        """The share of draws whose range reaches a difference, the data as they are counting as one of them."""
        bound = abs(difference) - ROUNDING * max(abs(difference), ROUNDING)
        return float((1 + (self.ranges >= bound).sum()) / (1 + len(self.ranges)))

    def reach(self, level: float) -> float:
        """Half of the simultaneous interval of every difference."""
        return float(np.quantile(self.ranges, level, method="higher"))


def letters(names: Sequence[str], apart: np.ndarray) -> dict[str, str]:
    """Letters of a compact display: two systems share a letter exactly where they are not told apart (Piepho 2004).

    Parameters
    ----------
    names : best first
    apart : bool [systems, systems], symmetric, in the order of `names`

    Examples
    --------
    >>> apart = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> letters(["a", "b", "c"], apart)
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    columns = [set(range(len(names)))]
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            if not apart[i, j]:
                continue
            split: list[set[int]] = []
            for column in columns:
                split += [column - {i}, column - {j}] if {i, j} <= column else [column]
            columns = [each for k, each in enumerate(split) if not _inside_another(each, k, split)]
    columns.sort(key=sorted)
    return {
        name: "".join(_letter(k) for k, column in enumerate(columns) if number in column)
        for number, name in enumerate(names)
    }


def _inside_another(column: set[int], place: int, columns: Sequence[set[int]]) -> bool:
    return any(column < other or (column == other and k < place) for k, other in enumerate(columns) if k != place)


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26) * (1 + number // 26)
