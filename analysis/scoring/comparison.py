"""Systems against each other: paired differences, how often each comes first, and whether the indices agree.

The interval of a difference and its test rest on one standard error: the larger of the jackknife's and that of the
replicates, times sqrt(n / (n - 1)) for n queries, since a bootstrap of n clusters is too narrow by that. Both take
Student's t with the degrees of freedom of that error (at most n - 1), so that an interval holds 0 exactly where the
test does not reject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.compared import BETTER, INDICES, Agreement, Comparison, Ordering
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.results import SystemScore
from relstudy.common.estimates import Estimate

LEAST_COMMON = 0.5
"""How often each system comes first is given only where all systems score at least this share of the judged pairs."""


def compare(
    context: ScoringContext, candidates: Sequence[Candidate], systems: Sequence[SystemScore]
) -> list[Comparison]:
    """Every pair of systems in every index, Holm-corrected within the index."""
    results: list[Comparison] = []
    couples = list(combinations(range(len(systems)), 2))
    shared = [candidates[a].used & candidates[b].used for a, b in couples]
    clusters = [context.queries_of(used) for used in shared]
    differences = []
    for (a, b), used in zip(couples, shared, strict=True):
        left, right = (_figures_on(context, candidates[k], systems[k], used) for k in (a, b))
        differences.append({index: (left[index] - right[index]).over_raters() for index in INDICES})
    for index in INDICES:
        p_values = [p_value(each[index], number) for each, number in zip(differences, clusters, strict=True)]
        corrected = holm(p_values)
        for couple, (a, b) in enumerate(couples):
            difference, p, p_holm = differences[couple][index], p_values[couple], corrected[couple]
            results.append(
                Comparison(
                    systems[a].name,
                    systems[b].name,
                    index,
                    difference_estimate(difference, clusters[couple], context.options.level),
                    None if np.isnan(p) else float(p),
                    None if np.isnan(p_holm) else float(p_holm),
                    int(shared[couple].sum()),
                    _proposed(context, systems[a].name, systems[b].name),
                    None if np.isnan(p) else difference.spread(DIFFERENCE, clusters[couple]).degrees,
                )
            )
    return results


def _figures_on(
    context: ScoringContext, candidate: Candidate, system: SystemScore, used: np.ndarray
) -> Mapping[str, BootstrapStatistic]:
    """The compared indices on the pairs `used`; computed anew only where these are not the system's own."""
    if np.array_equal(used, candidate.used):
        return system.figures
    return context.compared(candidate, used)


def _proposed(context: ScoringContext, *names: str) -> tuple[str, ...] | None:
    known = context.pairs.proposers
    return None if known is None else tuple(name for name in names if name in known)


def difference_estimate(difference: BootstrapStatistic, clusters: int, level: float) -> Estimate:
    """The difference with its interval by Student's t."""
    if not np.isfinite(difference.value) or difference.withheld is not None:
        return difference.estimate(level)
    low, high = difference.spread(DIFFERENCE, clusters).interval(level)
    if not np.isfinite(low):
        few = "the pairs are of a single query" if clusters < 2 else "too many bootstrap replicates have no value"
        return Estimate.of(difference.value, reason=f"no interval: {few}")
    return Estimate.of(difference.value, low, high)


def p_value(difference: BootstrapStatistic, clusters: int) -> float:
    """Two-sided p from the standard error and Student's t.

    A share of replicates could not go below 2 / (replicates + 1), which Holm's correction over many pairs would
    turn into 1; hence the standard error.

    Examples
    --------
    >>> spread = np.tile([-1.0, 1.0], 500)
    >>> round(p_value(BootstrapStatistic(2.0, 2.0 + spread), 100), 3)
    0.049
    """
    if not np.isfinite(difference.value) or difference.withheld is not None:
        return float("nan")
    return difference.spread(DIFFERENCE, clusters).p_value()


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's step-down correction; NaN entries stay NaN and do not count.

    Holm 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    corrected = np.full(len(values), np.nan)
    defined = np.flatnonzero(np.isfinite(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    steps = values[order] * (len(order) - np.arange(len(order)))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def orderings(
    context: ScoringContext, candidates: Sequence[Candidate], systems: Sequence[SystemScore]
) -> list[Ordering]:
    """The systems by each index, and the share of replicates in which each comes first."""
    if len(systems) < 2:
        return []
    common = np.logical_and.reduce([candidate.used for candidate in candidates])
    pairs = int(common.sum())
    enough = pairs >= LEAST_COMMON * len(common)
    on_common = [_figures_on(context, c, s, common) for c, s in zip(candidates, systems, strict=True)] if enough else []
    results = []
    for index in INDICES:
        sign = 1.0 if BETTER[index] == "higher" else -1.0
        valued = [(system, system.estimate(index).value) for system in systems]
        ranked = sorted(((s, v) for s, v in valued if v is not None), key=lambda entry: -sign * entry[1])
        names = tuple(system.name for system, _ in ranked)
        if not enough:
            reason = f"only {pairs} of {len(common)} judged pairs are scored by all systems"
            results.append(Ordering(index, names, {}, pairs, reason))
            continue
        withheld = next((figures[index].withheld for figures in on_common if figures[index].withheld), None)
        if withheld is not None:
            results.append(Ordering(index, names, {}, pairs, withheld))
            continue
        shares = first_shares(sign * np.stack([figures[index].over_raters().replicates for figures in on_common]))
        first = {} if shares is None else {s.name: float(p) for s, p in zip(systems, shares, strict=True)}
        results.append(Ordering(index, names, first, pairs, None if first else "no replicate has a value"))
    return results


def first_shares(replicates: np.ndarray) -> np.ndarray | None:
    """Share of replicates in which each system is highest, ties shared out; None where none is defined.

    Parameters
    ----------
    replicates : float [systems, replicates], higher is better

    Examples
    --------
    >>> first_shares(np.array([[1.0, 2.0], [1.0, 0.0]])).tolist()
    [0.75, 0.25]
    """
    values = np.where(np.isfinite(replicates), replicates, -np.inf)
    best = values.max(axis=0)
    usable = np.isfinite(best)
    if not usable.any():
        return None
    top = values[:, usable] == best[usable]
    shares: np.ndarray = (top / top.sum(axis=0)).mean(axis=1)
    return shares


def agreements(systems: Sequence[SystemScore], level: float) -> list[Agreement]:
    """Kendall's tau-b between the orders that each two indices give the systems, with its bootstrap interval."""
    if len(systems) < 3:
        return []
    signed = {
        index: (1.0 if BETTER[index] == "higher" else -1.0)
        * np.stack([np.r_[s.figures[index].value, s.figures[index].over_raters().replicates] for s in systems])
        for index in INDICES
    }
    results = []
    for first, second in combinations(INDICES, 2):
        tau = order_agreement(signed[first], signed[second])
        if np.isfinite(tau[0]):
            reasons = (s.figures[index].withheld for s in systems for index in (first, second))
            withheld = next((reason for reason in reasons if reason), None)
            estimate = BootstrapStatistic(float(tau[0]), tau[1:], withheld=withheld).estimate(level)
        else:
            estimate = Estimate.missing("a system has no value in one of the indices, or all values are equal")
        results.append(Agreement(first, second, estimate))
    return results


def order_agreement(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Kendall's tau-b between columns of two arrays [systems, columns]; NaN where undefined.

    Examples
    --------
    >>> order_agreement(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [3.0], [2.0]])).round(4).tolist()
    [0.3333]
    """
    rows, columns = np.triu_indices(len(left), 1)
    a = np.sign(left[rows] - left[columns])
    b = np.sign(right[rows] - right[columns])
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: np.ndarray = (a * b).sum(axis=0) / np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return tau
