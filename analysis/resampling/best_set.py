"""The best set and the ranks of systems by one measure: which may be the best, and how many are surely above each.

Whether a system may be the best is one hypothesis of its own: that no rival is better. It is held against the largest
of the rivals' statistics, whose distribution the replicates of the same bootstrap give. So a system leaves the set by
a comparison with those near it, and rivals that are clearly behind have no part: who else is in the table does not turn
what is said of two systems. With two systems it is the paired interval of their difference.

Sources: Hsu 1984 (comparison with the best). Hansen, Lunde and Nason 2011 (the model confidence set). Mogstad, Romano,
Shaikh and Wilhelm 2024 (confidence sets of ranks). Rivals that leave the maximum: Romano, Shaikh and Wolf 2014, with
the bound sqrt(2 log log n) of Hansen 2005. Step-down: Romano and Wolf 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from relstudy.analysis.resampling.spread import ROUNDING

NEAR = 2.5
"""Of two seeds whose margins differ by chance alone, one is beyond so many standard errors of its own in 1 of 80."""


@dataclass(frozen=True)
class NearBound:
    """A system that lags behind a rival by so many standard errors, near those that put it out of the best set, with
    the standard error of their difference that the number of replicates leaves."""

    system: int
    rival: int
    lag: float
    bound: float
    error: float


@dataclass(frozen=True, eq=False)
class PairedStatistics:
    """The differences of every two systems over their standard errors, signed so that higher is better.

    Parameters
    ----------
    statistic : float [systems, systems], (column - row) / standard error, or NaN
    freedom : float [systems, systems], degrees of freedom of Student's t
    replicates : float [systems, systems, replicates], the centred differences of the bootstrap in units of their own
        standard deviation; NaN where undefined
    clusters : number of queries
    blur : float [systems, systems], standard error of each statistic that the number of replicates leaves
    """

    statistic: np.ndarray
    freedom: np.ndarray
    replicates: np.ndarray
    clusters: int
    blur: np.ndarray

    @classmethod
    def of(
        cls,
        difference: np.ndarray,
        error: np.ndarray,
        freedom: np.ndarray,
        replicates: np.ndarray,
        clusters: int,
        blur: np.ndarray | float = 0.0,
    ) -> PairedStatistics:
        """From the differences of couples (a, b), a < b, in the order of `numpy.triu_indices(systems, 1)`.

        Parameters
        ----------
        difference : float [couples], how much better the first is, in the measure's own units
        error : float [couples], its standard error, or NaN
        freedom : float [couples]
        replicates : float [couples, replicates], the same difference in each replicate
        clusters : number of queries
        blur : float [couples], relative standard error of each difference's variance by the number of replicates

        Examples
        --------
        >>> replicates = np.random.default_rng(0).normal(1.0, 0.5, (1, 1000))
        >>> paired = PairedStatistics.of(np.array([1.0]), np.array([0.5]), np.array([29.0]), replicates, 30)
        >>> paired.statistic.tolist()
        [[nan, -2.0], [2.0, nan]]
        """
        systems = round((1 + np.sqrt(1 + 8 * len(difference))) / 2)
        first, second = np.triu_indices(systems, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            nothing = np.where(np.abs(difference) <= ROUNDING, 0.0, np.nan)
            ratio = np.where(error > ROUNDING, difference / error, nothing)
            centred = replicates - _mean(replicates)[:, None]
            spread = np.sqrt(_mean(centred**2))[:, None]
            scaled = np.where(spread > ROUNDING, centred / spread, 0.0)
        statistic, degrees, blurred = (np.full((systems, systems), np.nan) for _ in range(3))
        statistic[first, second], statistic[second, first] = -ratio, ratio
        degrees[first, second] = degrees[second, first] = freedom
        blurred[first, second] = blurred[second, first] = np.abs(ratio) * blur / 2  # of a root, half
        drawn = np.full((systems, systems, replicates.shape[1]), np.nan)
        drawn[first, second], drawn[second, first] = -scaled, scaled
        return cls(statistic, degrees, drawn, clusters, blurred)

    def surely_better(self, level: float) -> np.ndarray:
        """True where the column is better than the row by the paired interval of the two alone, bool [systems,
        systems].

        Parameters
        ----------
        level : of the interval, between 0 and 1
        """
        with np.errstate(invalid="ignore"):
            return self.statistic > special.stdtrit(self.freedom, (1 + level) / 2)

    def p_above(self) -> np.ndarray:
        """p, two-sided, that the column is above the row, by the row's own test: float [systems, systems].

        That of a rival is the share of replicates in which the largest statistic of the rivals that are not found yet
        is as large (step-down), at least its own tail and at most that times their number (Bonferroni), those that are
        alike in every replicate counted as one. Below 1 - level the column is surely above, whoever else is there: of a
        row, any rival wrongly so in at most (1 - level) / 2 of studies. NaN where two are not compared, 1 where the
        rival is clearly behind.
        """
        p = np.where(np.isfinite(self.statistic) & np.isfinite(self.freedom), 1.0, np.nan)
        for found, given, drawn, freedom in zip(p, self.statistic, self.replicates, self.freedom, strict=True):
            rivals = np.flatnonzero(np.isfinite(found))
            rivals = rivals[given[rivals] > -self.clearly_behind]
            tail = special.stdtr(freedom[rivals], -given[rivals])
            order = np.argsort(tail)
            rivals, tail = rivals[order], tail[order]
            in_replicates = np.where(np.isnan(drawn[rivals]), -np.inf, drawn[rivals])
            largest = np.maximum.accumulate(in_replicates[::-1])[::-1]
            beyond = (largest >= -special.ndtri(tail)[:, None]).sum(axis=1)
            share = (1 + beyond) / (1 + np.isfinite(largest).sum(axis=1))
            alone = np.clip(share, tail, np.minimum(tail * _different(in_replicates), 1))
            found[rivals] = np.minimum(2 * np.maximum.accumulate(alone), 1)
        return p

    def near_the_bound(self, level: float, within: float = NEAR) -> tuple[NearBound, ...]:
        """The systems of which chance in the replicates decides whether they may be the best: their largest lag is
        `within` so many standard errors of its bound, which the number of replicates leaves."""
        near = []
        for system, (given, drawn, freedom) in enumerate(
            zip(self.statistic, self.replicates, self.freedom, strict=True)
        ):
            left = np.isfinite(given) & np.isfinite(freedom)
            left[left] = given[left] > -self.clearly_behind
            if not left.any():
                continue
            tails = np.array([_tail_of_maximum(drawn[left], level, moved) for moved in (0, -1, 1)])
            bound, *ends = special.stdtrit(np.where(left, freedom, 1.0), 1 - tails[:, None])
            rival = int(np.argmax(np.where(left, given - bound, -np.inf)))
            error = float(np.hypot(self.blur[system, rival], (ends[1][rival] - ends[0][rival]) / 2))
            if abs(given[rival] - bound[rival]) < within * error:
                near.append(NearBound(system, rival, float(given[rival]), float(bound[rival]), error))
        return tuple(near)

    @property
    def clearly_behind(self) -> float:
        """The number of standard errors behind from which a rival leaves the maximum: sqrt(2 log log n), n queries, at
        least 3."""
        return float(np.sqrt(2 * np.log(np.log(max(self.clusters, 3)))))


@dataclass(frozen=True, eq=False)
class Ranks:
    """The systems' ranks by one measure, as far as they are known.

    Parameters
    ----------
    low, high : int [systems], the ends of each rank's interval, 1 for the best
    better : bool [systems, systems], whether the column is better than the row by the paired interval of the two
    p : float [systems, systems], as `PairedStatistics.p_above`; below 1 - level the column is surely above the row
    near : systems so near the bound of the best set that chance in the replicates decides
    """

    low: np.ndarray
    high: np.ndarray
    better: np.ndarray
    p: np.ndarray
    near: tuple[NearBound, ...] = ()

    @property
    def best(self) -> np.ndarray:
        """Systems that may be the best, bool [systems]."""
        return self.low == 1

    def in_order(self, good: np.ndarray) -> list[int]:
        """The systems by row, those that may be the best before the others, each by how good they are; last those
        without a value.

        Parameters
        ----------
        good : float [systems], higher is better, NaN if there is no value

        Examples
        --------
        >>> nothing_known(3).in_order(np.array([np.nan, 0.2, 0.4]))
        [2, 1, 0]
        """
        return sorted(range(len(good)), key=lambda row: (np.isnan(good[row]), self.low[row] > 1, -good[row]))


def nothing_known(systems: int) -> Ranks:
    """The ranks of systems of which no two are compared.

    Examples
    --------
    >>> nothing_known(2).high.tolist()
    [2, 2]
    """
    square = (systems, systems)
    lowest, highest = np.ones(systems, dtype=np.int64), np.full(systems, systems)
    return Ranks(lowest, highest, np.zeros(square, dtype=bool), np.full(square, np.nan))


def ranks_of(paired: PairedStatistics, level: float = 0.95) -> Ranks:
    """Intervals of the systems' ranks; those that begin with 1 are of the best set.

    Parameters
    ----------
    paired : the differences of every two systems
    level : between 0 and 1. The lower end of an interval is wrong in at most (1 - level) / 2 of studies, so that the
        true best is lost in at most 2.5 % by default. The upper end counts by the same finds, each of its own row, so
        that no two ranks contradict each other; a system alone in the best set is first

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(3, 100))
    >>> draws = np.random.default_rng(1).multinomial(100, np.full(100, 0.01), 1000) / 100
    >>> values = noise + np.array([[1.0], [0.9], [0.0]])
    >>> first, second = np.triu_indices(3, 1)
    >>> paired = values[first] - values[second]
    >>> ranks = ranks_of(PairedStatistics.of(paired.mean(1), paired.std(1, ddof=1) / 10, np.full(3, 99.0),
    ...                                      paired @ draws.T, 100))
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.best.tolist()
    ([1, 1, 3], [2, 2, 3], [True, True, False])
    """
    p = paired.p_above()
    above = p < 1 - level
    low, high = 1 + above.sum(axis=1), len(above) - above.sum(axis=0)
    alone = low == 1
    if alone.sum() == 1:
        high = np.where(alone, 1, high)  # the others are surely not the best
    return Ranks(low, high, paired.surely_better(level), p, paired.near_the_bound(level))


def _different(drawn: np.ndarray) -> np.ndarray:
    """How many of each row and those below it differ, int [rows]."""
    seen: set[bytes] = set()
    numbers = []
    for row in drawn[::-1].round(6) + 0.0:  # one zero: -0.0 has other bytes
        seen.add(row.tobytes())
        numbers.append(len(seen))
    return np.array(numbers[::-1], dtype=np.int64)


def _tail_of_maximum(drawn: np.ndarray, level: float, moved: int = 0) -> float:
    """The tail beyond which the largest of some statistics lies in (1 - level) / 2 of the replicates, for each alone.

    Parameters
    ----------
    drawn : float [rivals, replicates], centred, in units of their standard deviation
    moved : by how many standard errors of a share of so many replicates the share is taken above or below its own

    Returns
    -------
    (1 - level) / 2 for a single rival, less for several that differ, and never less than that over their number, which
    holds whatever they have in common (Bonferroni) and is taken where the replicates are too few to tell. Each rival's
    own Student distribution turns it into a bound, so that with one rival the bound is that of its interval
    """
    alone = (1 - level) / 2
    largest = np.where(np.isnan(drawn), -np.inf, drawn).max(axis=0)
    if len(drawn) == 1 or not np.isfinite(largest).any():
        return alone
    largest = largest[np.isfinite(largest)]
    if alone * len(largest) < 1:
        return alone / len(np.unique(drawn.round(6), axis=0))  # so far out lies no replicate
    share = 1 - alone + moved * np.sqrt(alone * (1 - alone) / len(largest))
    bound = float(np.quantile(largest, min(share, 1.0)))
    return float(np.clip(special.ndtr(-bound), alone / len(drawn), alone))


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row over its defined values, or NaN."""
    defined = np.isfinite(values)
    total: np.ndarray = np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
    return total
