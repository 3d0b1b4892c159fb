"""Measures of a query's whole ranking, estimated from a sample of its results with known inclusion probabilities.

A judged result stands for one over its probability of the results like it (Horvitz and Thompson 1952), so precision and
rank-biased precision are right on average, however few of a query are judged; a query's own estimate may then be above
1. Recall, average precision and the best order rest on the number of relevant results, too, which the sample must
estimate: average precision as Pavlu and Aslam 2007 have it (statAP), the best order by estimated numbers of each grade
as Yilmaz, Kanoulas and Aslam 2008 do. Such ratios lean where that number is uncertain (`LARGEST`). Where a pool was
drawn from stratum by stratum, how many results of each stratum stand above a cutoff is known, and precision, average
precision and nDCG are those of Yilmaz, Kanoulas and Aslam 2008 (infAP and infNDCG).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relstudy.analysis.indices.measures import parsed_measure

ESTIMABLE = frozenset(("P", "R", "nDCG", "RBP", "AP"))
"""Measures that a sample estimates."""
ON_RELEVANT = frozenset(("R", "nDCG", "AP"))
"""Those of them that rest on the number of relevant results."""
LARGEST = 0.25
"""The largest coefficient of variation of a query's number of relevant results, root mean square over queries, with
which figures that rest on it are given (evidence/sampled_measures.py). A lower one keeps samples that happen to find
many relevant results, whose intervals hold the truth less often."""
LARGEST_SEEN = 0.22
"""The largest coefficient of variation of the number of results that a sum looks at, as those judged stand for them,
with which it has an interval: that of 20 of equal weight (evidence/sampled_measures.py)."""
LARGEST_ROOM = 0.5
"""The largest part of a figure's standard error over queries by which results that nothing judged speaks of may raise
it, with which it has an interval: one of 95 % still holds the truth in 92 % of samples, whatever those results are."""
FIRST = 10
"""Results at which a measure looks that has no cutoff, to see whether anything judged speaks of them."""
MOST_RANKED = 1000
"""Results of a query in TREC's runs, and so in the best order of infNDCG without a cutoff."""
SMOOTHED = 1e-5, 3e-5
"""Added to the relevant and to the judged results of a stratum, so that one without any judged has a share, too: those
of the program that TREC gave out with Yilmaz, Kanoulas and Aslam 2008."""
PARAMETERS = frozenset(("cutoff", "rel", "p"))
"""Of measures that can be estimated; others, as judged_only or gains, mean another measure."""


@dataclass(frozen=True, eq=False)
class Strata:
    """The pool of a query whose strata were drawn from at rates of their own.

    Parameters
    ----------
    rank : int64 [pool], judged or not, from 1; 0 where the system did not retrieve it
    stratum : int64 [pool], from 0
    of_judged : int64 [judged], the stratum of each judged result
    """

    rank: np.ndarray
    stratum: np.ndarray
    of_judged: np.ndarray

    @property
    def number(self) -> int:
        """Number of strata."""
        return int(self.stratum.max()) + 1

    def above(self, rank: np.ndarray) -> np.ndarray:
        """Number of results of the pool above each rank (int64 [ranks]), int64 [ranks, strata]."""
        return _above(rank, self.rank, self.stratum, self.number)


def _above(rank: np.ndarray, of: np.ndarray, stratum: np.ndarray, number: int) -> np.ndarray:
    """Number of some retrieved results above each rank, by stratum."""
    columns = [np.sort(of[(stratum == each) & (of >= 1)]) for each in range(number)]
    return np.column_stack([np.searchsorted(column, rank) for column in columns])


@dataclass(frozen=True, eq=False)
class SampledList:
    """The judged results of a query in a system's ranking.

    Parameters
    ----------
    rank : int64 [judged], from 1, among all results that the system retrieved; 0 where it did not retrieve one
    gain : float [judged], from 0, what each is worth
    relevance : float [judged], the share of people who call it relevant, 0 to 1
    probability : float [judged], in (0, 1], to be drawn, given its query
    retrieved : how many results the system retrieved
    strata : the pool, where it was drawn from stratum by stratum; None elsewhere
    beyond : int64, ascending, the ranks of retrieved results that had no chance of being judged, as they lie outside
        the pool; None where that is not known
    """

    rank: np.ndarray
    gain: np.ndarray
    relevance: np.ndarray
    probability: np.ndarray
    retrieved: int
    strata: Strata | None = None
    beyond: np.ndarray | None = None

    @property
    def weight(self) -> np.ndarray:
        """One over each probability."""
        return 1.0 / self.probability

    def without(self, number: int) -> SampledList:
        """The same without one of its judged results."""
        kept = np.arange(len(self.rank)) != number
        parts = (self.rank[kept], self.gain[kept], self.relevance[kept], self.probability[kept])
        strata = None if self.strata is None else replace(self.strata, of_judged=self.strata.of_judged[kept])
        return SampledList(*parts, self.retrieved, strata, self.beyond)

    def unseen(self, depth: int) -> np.ndarray:
        """The ranks among the first `depth` of which nothing judged speaks: outside the pool, or of a stratum of which
        no result among the first `depth` was judged; int64, ascending; empty where the pool is not known."""
        outside = np.empty(0, dtype=np.int64) if self.beyond is None else self.beyond[self.beyond <= depth]
        strata = self.strata
        if strata is None:
            return outside
        near, judged = (np.asarray((rank >= 1) & (rank <= depth)) for rank in (strata.rank, self.rank))
        blind = near & ~np.isin(strata.stratum, strata.of_judged[judged])
        return np.sort(np.r_[outside, strata.rank[blind]])

    def with_best(self, ranks: np.ndarray, gain: float) -> SampledList:
        """The same were the results at some ranks judged, wholly relevant and of some gain."""
        number, strata = len(ranks), self.strata
        if not number:
            return self
        if strata is not None:
            outside = ranks[~np.isin(ranks, strata.rank)]
            of_pool = np.where(np.isin(strata.rank, ranks), strata.number, strata.stratum)
            strata = Strata(
                np.r_[strata.rank, outside],
                np.r_[of_pool, np.full(len(outside), strata.number)],
                np.r_[strata.of_judged, np.full(number, strata.number)],
            )
        return SampledList(
            np.r_[self.rank, ranks],
            np.r_[self.gain, np.full(number, gain)],
            np.r_[self.relevance, np.ones(number)],
            np.r_[self.probability, np.ones(number)],
            self.retrieved,
            strata,
        )


def is_estimable(name: str) -> bool:
    """True where a sample of judged pairs estimates a measure.

    Examples
    --------
    >>> is_estimable("nDCG@10"), is_estimable("RR"), is_estimable("nDCG(dcg='exp-log2')@10")
    (True, False, False)
    """
    measure = parsed_measure(name)
    return measure.NAME in ESTIMABLE and set(measure.params) <= PARAMETERS


def estimated(name: str, judged: SampledList) -> float:
    """A measure of one query; NaN where none of its results was judged, or none of those judged is relevant and the
    measure rests on their number.

    Examples
    --------
    >>> five = np.arange(1, 6)
    >>> whole = SampledList(five, np.array([2.0, 0, 1, 0, 0]), np.array([1.0, 0, 1, 0, 0]), np.ones(5), 5)
    >>> estimated("P@2", whole), round(estimated("AP", whole), 4)
    (0.5, 0.8333)
    """
    return _estimator(name, judged).figure(judged) if _is_told(name, judged) else float("nan")


def error_of_drawing(name: str, judged: SampledList) -> float:
    """The standard error of a measure of one query, of drawing its results; NaN where the sample does not tell it.

    Sums have Hájek's variance of a fixed number of draws, recall its linear form (Särndal, Swensson and Wretman 1992,
    result 5.6.2), and average precision and nDCG the jackknife of Berger and Skinner 2005.

    Examples
    --------
    >>> error_of_drawing("P@2", SampledList(np.array([1, 2]), np.ones(2), np.ones(2), np.ones(2), 2))
    0.0
    """
    if not _is_told(name, judged):
        return float("nan")
    estimator = _estimator(name, judged)
    return estimator.error(judged, estimator.figure(judged))


def _is_told(name: str, judged: SampledList) -> bool:
    """True where the sample gives a measure of a query."""
    rests_on_relevant = parsed_measure(name).NAME in ON_RELEVANT
    return len(judged.rank) > 0 and (not rests_on_relevant or bool(is_relevant(name, judged).any()))


def uncertainty(name: str, judged: SampledList) -> float:
    """The coefficient of variation of the number of relevant results as the sample gives it; NaN where none is."""
    relevant = judged.weight * is_relevant(name, judged)
    total = relevant.sum()
    return float(np.sqrt(((1 - judged.probability) * relevant**2).sum()) / total) if total > 0 else float("nan")


def is_relevant(name: str, judged: SampledList) -> np.ndarray:
    """True for judged results that a measure takes for relevant to any degree, bool [judged]."""
    return np.asarray(_estimator(name, judged).relevance(judged) > 0)


def weighed(name: str, judged: SampledList) -> np.ndarray:
    """What each judged result would add to a sum were it relevant, times its weight, float [judged]; nothing for a
    measure that is not a sum.

    Examples
    --------
    >>> two = SampledList(np.array([1, 30]), np.ones(2), np.ones(2), np.array([0.5, 0.1]), 90)
    >>> weighed("P@10", two).tolist(), weighed("AP", two).tolist()
    ([0.2, 0.0], [])
    """
    estimator = _estimator(name, judged)
    return judged.weight * estimator.reached(judged) if isinstance(estimator, Sum) else np.empty(0)


def depth_looked_at(name: str) -> int:
    """How many first results a measure looks at, to see whether anything judged speaks of them.

    Examples
    --------
    >>> depth_looked_at("nDCG@20"), depth_looked_at("AP")
    (20, 10)
    """
    return int(parsed_measure(name).params.get("cutoff") or FIRST)


def room(name: str, judged: SampledList, gain: float) -> float:
    """By how much a measure of one query were another, had all the best `gain` that it looks at and nothing judged
    speaks of.

    Examples
    --------
    >>> one = SampledList(np.array([1]), np.ones(1), np.ones(1), np.ones(1), 9, beyond=np.array([2, 7]))
    >>> round(room("P@5", one, 1.0), 3), round(room("P@10", one, 1.0), 3)
    (0.2, 0.2)
    """
    unseen = judged.unseen(depth_looked_at(name))
    if not len(unseen):
        return 0.0
    best, value = estimated(name, judged.with_best(unseen, gain)), estimated(name, judged)
    return abs(best - (value if np.isfinite(value) else 0.0))


def _estimator(name: str, judged: SampledList) -> Estimator:
    measure = parsed_measure(name)
    known = _ESTIMATORS if judged.strata is None else _ESTIMATORS | _STRATIFIED
    return known[measure.NAME](measure.params)


class Estimator:
    """The estimator of a measure of one query, by the parameters that its name has."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.cutoff: int | None = params.get("cutoff")
        self.rel: int | None = params.get("rel")
        self.p = float(params.get("p", 0.8))

    def figure(self, judged: SampledList) -> float:
        """The estimate."""
        raise NotImplementedError

    def relevance(self, judged: SampledList) -> np.ndarray:
        """The results that count as relevant: those from the grade in the measure's name, else people's shares."""
        return judged.relevance if self.rel is None else (judged.gain >= self.rel) * 1.0

    def found(self, judged: SampledList) -> np.ndarray:
        """The results within the cutoff."""
        last = judged.retrieved if self.cutoff is None else self.cutoff
        return np.asarray((judged.rank >= 1) & (judged.rank <= last))

    def error(self, judged: SampledList, value: float) -> float:
        """The jackknife, for results of unequal probability."""
        number = len(judged.rank)
        if number < 2:
            return 0.0 if (judged.probability == 1).all() else float("nan")
        share = judged.weight / judged.weight.sum()
        moved = np.zeros(number)
        for each in np.flatnonzero(judged.probability < 1):
            rest = judged.without(int(each))
            other = self.figure(rest) if (self.relevance(rest) > 0).any() else 0.0
            moved[each] = (1 - share[each]) * (value - other)
        return float(np.sqrt(number / (number - 1) * np.sum((1 - judged.probability) * moved**2)))


class Sum(Estimator):
    """A sum over results, each times its weight."""

    def reached(self, judged: SampledList) -> np.ndarray:
        """What each result adds were it alone and relevant."""
        raise NotImplementedError

    def parts(self, judged: SampledList) -> np.ndarray:
        """What each result adds were it alone."""
        return np.asarray(self.relevance(judged) * self.reached(judged))

    def figure(self, judged: SampledList) -> float:
        return float((judged.weight * self.parts(judged)).sum())

    def error(self, judged: SampledList, value: float) -> float:
        return _error_of_sum(judged, self.parts(judged))


def _error_of_sum(judged: SampledList, parts: np.ndarray) -> float:
    """Of a weighted sum in a sample of fixed size (Hájek 1964)."""
    varies, number = 1.0 - judged.probability, len(parts)
    if not varies.sum() > 0:
        return 0.0
    if number < 2:
        return float("nan")
    each = judged.weight * parts
    about = (varies * each).sum() / varies.sum()
    return float(np.sqrt(number / (number - 1) * np.sum(varies * (each - about) ** 2)))


class Precision(Sum):
    """P@k: the weights of the relevant results above the cutoff, over k."""

    def reached(self, judged: SampledList) -> np.ndarray:
        assert self.cutoff is not None
        return self.found(judged) / self.cutoff


class RankBiased(Sum):
    """Rank-biased precision."""

    def reached(self, judged: SampledList) -> np.ndarray:
        return np.asarray(self.found(judged) * (1 - self.p) * self.p ** np.maximum(judged.rank - 1.0, 0.0))


class Recall(Estimator):
    """R@k: the relevant results above the cutoff over all, both as the sample gives them, as Beale 1962 has the ratio
    of two sums.

    The ratio itself leans up where what lies below the cutoff was seldom drawn, since samples that happen to find few
    of those results have the larger ratio.
    """

    def figure(self, judged: SampledList) -> float:
        relevant, found = judged.weight * self.relevance(judged), self.found(judged)
        total = relevant.sum()
        varies = (1.0 - judged.probability) * (relevant / total) ** 2
        return float(((relevant * found).sum() / total + (varies * found).sum()) / (1.0 + varies.sum()))

    def error(self, judged: SampledList, value: float) -> float:
        relevant = self.relevance(judged)
        parts = relevant * (self.found(judged) - value) / (judged.weight * relevant).sum()
        return _error_of_sum(judged, parts)


class AveragePrecision(Estimator):
    """statAP: precision at each relevant result, with those above it weighted by the chance that both are drawn."""

    def figure(self, judged: SampledList) -> float:
        order = np.argsort(np.where(judged.rank >= 1, judged.rank, np.iinfo(np.int64).max), kind="stable")
        relevance, rank, weight = self.relevance(judged)[order], judged.rank[order], judged.weight[order]
        mass = weight * relevance
        retrieved = np.where(rank >= 1, mass, 0.0)
        above = np.tril(retrieved[None, :] / _together(1.0 - judged.probability[order]), -1).sum(axis=1)
        at = (above + relevance) / np.maximum(rank, 1)
        return float((mass * at * self.found(judged)[order]).sum() / mass.sum())


class Gain(Estimator):
    """nDCG: discounted gain over that of the best order, with as many results of each gain as the sample stands for."""

    def relevance(self, judged: SampledList) -> np.ndarray:
        return judged.gain

    def figure(self, judged: SampledList) -> float:
        discount = np.where(self.found(judged), 1.0 / np.log2(np.maximum(judged.rank, 1) + 1.0), 0.0)
        return float((judged.weight * discount * judged.gain).sum() / _ideal(judged, self.cutoff))


class Stratified(Estimator):
    """A measure from a pool that was drawn from stratum by stratum."""

    def shares(self, judged: SampledList, rank: np.ndarray) -> np.ndarray:
        """Number of relevant results above each rank, as the judged ones of each stratum tell, float [ranks]."""
        strata, relevance = judged.strata, self.relevance(judged)
        assert strata is not None
        relevant, known = SMOOTHED
        seen = _above(rank, judged.rank, strata.of_judged, strata.number)
        good = (judged.rank[None, :] >= 1) & (judged.rank[None, :] < rank[:, None])
        of_stratum = strata.of_judged[:, None] == np.arange(strata.number)
        hits = (good * relevance) @ of_stratum
        return np.asarray((strata.above(rank) * (hits + relevant) / (seen + known)).sum(axis=1))


class StratifiedPrecision(Stratified):
    """Precision of the results above the cutoff, stratum by stratum."""

    def figure(self, judged: SampledList) -> float:
        assert self.cutoff is not None
        return float(self.shares(judged, np.array([self.cutoff + 1]))[0] / self.cutoff)


class InferredAveragePrecision(Stratified):
    """infAP over strata: precision at each relevant result, expected from the judged ones above it (Yilmaz, Kanoulas
    and Aslam 2008, section 3)."""

    def figure(self, judged: SampledList) -> float:
        mass = judged.weight * self.relevance(judged)
        rank = judged.rank
        at = self.relevance(judged) * (1.0 + self.shares(judged, np.maximum(rank, 1))) / np.maximum(rank, 1)
        return float((judged.weight * at * self.found(judged)).sum() / mass.sum())


class InferredGain(Gain, Stratified):
    """infNDCG over strata (section 4 there), of numbers of results of each gain that are rounded to whole ones."""

    def figure(self, judged: SampledList) -> float:
        strata, found = judged.strata, self.found(judged)
        assert strata is not None
        last = np.array([(judged.retrieved if self.cutoff is None else self.cutoff) + 1])
        seen = np.bincount(strata.of_judged[found], minlength=strata.number)
        part = np.where(found, judged.gain / np.log2(np.maximum(judged.rank, 1) + 1.0), 0.0)
        gained = np.bincount(strata.of_judged, part, strata.number)
        return float((strata.above(last)[0] * gained / np.maximum(seen, 1)).sum() / _whole_ideal(judged, self.cutoff))


_ESTIMATORS = {"P": Precision, "RBP": RankBiased, "R": Recall, "AP": AveragePrecision, "nDCG": Gain}
_STRATIFIED = {"P": StratifiedPrecision, "AP": InferredAveragePrecision, "nDCG": InferredGain}


def _together(left_out: np.ndarray) -> np.ndarray:
    """The chance that two results are drawn over the product of their chances, float [judged, judged] (Hájek 1964)."""
    varies = left_out.sum()
    if not varies > 0:
        return np.ones((len(left_out), len(left_out)))
    return np.asarray(np.maximum(1.0 - np.outer(left_out, left_out) / varies, 0.1))


def _ideal(judged: SampledList, cutoff: int | None) -> float:
    """The discounted gain of the best order, with as many results of each gain as the sample stands for."""
    order = np.argsort(-judged.gain, kind="stable")
    gain, size = judged.gain[order], judged.weight[order]
    kept = gain > 0
    gain, size = gain[kept], size[kept]
    ends = np.cumsum(size)
    last = float(cutoff) if cutoff is not None else float(ends[-1])
    return float((gain * (_discounts(np.minimum(ends, last)) - _discounts(np.minimum(ends - size, last)))).sum())


def _whole_ideal(judged: SampledList, cutoff: int | None) -> float:
    """The same with those numbers rounded, halves up; as many as are retrieved if there is no cutoff."""
    total, place = 0.0, 0
    last = MOST_RANKED if cutoff is None else cutoff
    for gain in np.unique(judged.gain[judged.gain > 0])[::-1]:
        size = int(judged.weight[judged.gain == gain].sum() + 0.5)
        ranks = np.arange(place + 1, min(place + size, last) + 1)
        total += float((gain / np.log2(ranks + 1.0)).sum())
        place += size
    return total if total > 0 else float("nan")


def _discounts(places: np.ndarray) -> np.ndarray:
    """The sum of discounts down to a place, which may be a fraction of one."""
    most = int(np.ceil(places.max())) if len(places) else 0
    sums = np.r_[0.0, np.cumsum(1.0 / np.log2(np.arange(2, most + 2)))]
    whole = np.floor(places).astype(np.int64)
    part = places - whole
    return sums[whole] + part * (sums[np.minimum(whole + 1, most)] - sums[whole])
