"""Measures of a query's whole ranking, estimated from a sample of its results with known inclusion probabilities.

A judged result stands for one over its probability of the results like it. Sums are divided by what the same sample
gives for a sum that is known (Hajek 1971): the number of results, or their discounts, above a cutoff. Recall, average
precision and the best order rest on the number of relevant results, which the sample must estimate too: average
precision as Aslam and Pavlu 2007 (statAP), the best order by numbers of each grade as Yilmaz, Kanoulas and Aslam 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relstudy.analysis.indices.measures import parsed_measure

ESTIMABLE = frozenset(("P", "R", "nDCG", "RBP", "AP"))
"""Measures that a sample estimates."""
ON_RELEVANT = frozenset(("R", "nDCG", "AP"))
"""Those of them that rest on the number of relevant results."""
PARAMETERS = frozenset(("cutoff", "rel", "p"))
"""Of measures that can be estimated; others, as judged_only or gains, mean another measure."""


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
    """

    rank: np.ndarray
    gain: np.ndarray
    relevance: np.ndarray
    probability: np.ndarray
    retrieved: int

    @property
    def weight(self) -> np.ndarray:
        """One over each probability."""
        return 1.0 / self.probability

    def without(self, number: int) -> SampledList:
        """The same without one of its judged results."""
        kept = np.arange(len(self.rank)) != number
        parts = (self.rank[kept], self.gain[kept], self.relevance[kept], self.probability[kept])
        return SampledList(*parts, self.retrieved)


@dataclass(frozen=True)
class SampledValue:
    """A measure of a query as the sample gives it.

    Parameters
    ----------
    value, error : NaN where the sample does not give it; the error is that of drawing results
    reason : why there is no value; None where there is one
    """

    value: float
    error: float = float("nan")
    reason: str | None = None


def is_estimable(name: str) -> bool:
    """True where a sample of judged pairs estimates a measure.

    Examples
    --------
    >>> is_estimable("nDCG@10"), is_estimable("RR"), is_estimable("nDCG(dcg='exp-log2')@10")
    (True, False, False)
    """
    measure = parsed_measure(name)
    return measure.NAME in ESTIMABLE and set(measure.params) <= PARAMETERS


def estimated(name: str, judged: SampledList) -> SampledValue:
    """A measure of one query, with the standard error of drawing its results (Berger and Skinner 2005, a jackknife).

    Examples
    --------
    >>> five = np.arange(1, 6)
    >>> whole = SampledList(five, np.array([2.0, 0, 1, 0, 0]), np.array([1.0, 0, 1, 0, 0]), np.ones(5), 5)
    >>> estimated("P@2", whole), round(estimated("AP", whole).value, 4)
    (SampledValue(value=0.5, error=0.0, reason=None), 0.8333)
    """
    measure = parsed_measure(name)
    figure, wanted = _figure(measure)
    inside = wanted(judged)
    if not inside.any():
        cutoff = measure.params.get("cutoff")
        of = "of its relevant results" if measure.NAME in ON_RELEVANT else f"of its first {cutoff} results"
        return SampledValue(
            float("nan"), reason=f"none {of if cutoff or measure.NAME in ON_RELEVANT else 'of its results'} was judged"
        )
    value = figure(judged)
    number = len(judged.rank)
    if number < 2:
        return SampledValue(value, 0.0 if (judged.probability == 1).all() else float("nan"))
    share = judged.weight / judged.weight.sum()
    moved = np.zeros(number)
    for each in np.flatnonzero(judged.probability < 1):
        rest = judged.without(int(each))
        moved[each] = (1 - share[each]) * (value - figure(rest)) if wanted(rest).any() else value
    drawn = 1.0 - judged.probability
    scale = number / (number - 1)
    return SampledValue(value, float(np.sqrt(scale * np.sum(drawn * moved**2))))


Estimator = Callable[[SampledList], float]


def _figure(measure: object) -> tuple[Estimator, Callable[[SampledList], np.ndarray]]:
    """How a measure is estimated, and which judged results must be there."""
    name, params = measure.NAME, measure.params  # type: ignore[attr-defined]
    cutoff = params.get("cutoff")

    def relevance(judged: SampledList) -> np.ndarray:
        return (judged.gain >= params["rel"]) * 1.0 if "rel" in params else judged.relevance

    def found(judged: SampledList) -> np.ndarray:
        last = judged.retrieved if cutoff is None else cutoff
        return np.asarray((judged.rank >= 1) & (judged.rank <= last))

    def precision(judged: SampledList) -> float:
        return float((judged.weight * relevance(judged) * found(judged)).sum() / cutoff)

    def rank_biased(judged: SampledList) -> float:
        p = float(params.get("p", 0.8))
        share = (1 - p) * p ** np.maximum(judged.rank - 1.0, 0.0)
        return float((judged.weight * relevance(judged) * found(judged) * share).sum())

    def recall(judged: SampledList) -> float:
        relevant = judged.weight * relevance(judged)
        return float((relevant * found(judged)).sum() / relevant.sum())

    def average_precision(judged: SampledList) -> float:
        relevant = judged.weight * relevance(judged)
        order = np.argsort(np.where(judged.rank >= 1, judged.rank, np.iinfo(np.int64).max), kind="stable")
        rank, mass, own, chance = (
            each[order] for each in (judged.rank, relevant, relevance(judged), 1.0 - judged.probability)
        )
        together = _together(chance)
        above = np.array([(mass[:k] * (rank[:k] >= 1) / together[k, :k]).sum() for k in range(len(rank))])
        at = (above + own) / np.maximum(rank, 1)
        return float((mass * at * found(judged)[order]).sum() / mass.sum())

    def gained(judged: SampledList) -> float:
        discount = np.where(found(judged), 1.0 / np.log2(np.maximum(judged.rank, 1) + 1.0), 0.0)
        ideal = _ideal(judged, cutoff)
        return float((judged.weight * discount * judged.gain).sum() / ideal) if ideal > 0 else 0.0

    def some_relevant(judged: SampledList) -> np.ndarray:
        return np.asarray((judged.gain if name == "nDCG" else relevance(judged)) > 0)

    def some_first(judged: SampledList) -> np.ndarray:
        return np.asarray(some_relevant(judged) & found(judged).any())

    figures = {
        "P": (precision, found),
        "RBP": (rank_biased, found),
        "R": (recall, some_relevant),
        "AP": (average_precision, some_relevant),
        "nDCG": (gained, some_first),
    }
    return figures[name]


def _together(left_out: np.ndarray) -> np.ndarray:
    """The chance that two results are drawn over the product of their chances, float [judged, judged] (Hajek 1964)."""
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


def _discounts(places: np.ndarray) -> np.ndarray:
    """The sum of discounts down to a place, which may be a fraction of one."""
    most = int(np.ceil(places.max())) if len(places) else 0
    sums = np.r_[0.0, np.cumsum(1.0 / np.log2(np.arange(2, most + 2)))]
    whole = np.floor(places).astype(np.int64)
    part = places - whole
    return sums[whole] + part * (sums[np.minimum(whole + 1, most)] - sums[whole])
