"""Systems against each other: paired differences, how often each comes first, and whether the indices agree.

The interval of a difference and its test rest on one standard error: the larger of the jackknife's and that of the
replicates, times sqrt(n / (n - 1)) for n queries, since a bootstrap of n clusters is too narrow by that. Both take
Student's t with the degrees of freedom of that error (at most n - 1), so that an interval holds 0 exactly where the
test does not reject. A difference that is the same in every query has that error by which t has the p of random signs
(`relstudy.analysis.resampling.spread.error_where_alike`). Where it is 0 in every query, though scores differ, its
interval is that of the share of queries in which the two differ, of which none was seen (Clopper and Pearson), by the
largest difference that the index allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.measures import QueryValues
from relstudy.analysis.indices.registry import ESTIMATED, bare_name, index_of
from relstudy.analysis.resampling.best_set import PairedStatistics, Ranks, nothing_known, ranks_of
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.multiplicity import centred, family_corrected
from relstudy.analysis.resampling.spread import PAIRED, Spread, proportion_interval
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.results import Agreement, Comparison, Family, Ordering, SystemScore, Variation
from relstudy.analysis.scoring.scored_pairs import ScoredPairs, averaged
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import couples_in_words

LEAST_COMMON = 0.5
"""Shares of first places are given only where all systems score at least this share of the judged pairs."""


def compare(
    context: ScoringContext, candidates: Sequence[Candidate], systems: Sequence[SystemScore]
) -> tuple[list[Comparison], Ranks, np.ndarray]:
    """Every pair of systems in every index, the ranks by the primary one, and each difference under its null.

    Returns
    -------
    The comparisons, corrected as two families: those by the primary index, and those by all others, but those with the
    leader by the primary index, which have p of the best set's test; the ranks; and the
    centred replicates of each difference, float32 [comparisons, replicates] (`families.centred`)
    """
    results: list[Comparison] = []
    ranks = nothing_known(len(systems))
    couples = list(combinations(range(len(systems)), 2))
    shared = [_used_by_both(candidates[a], candidates[b]) for a, b in couples]
    number = [int(used.sum()) for used in shared]
    on_shared = [context.queries_of(used) for used in shared]
    own = [
        _differences_on(context, candidates, systems, couple, used)
        | on_common_queries(context, *(candidates[k] for k in couple))
        for couple, used in zip(couples, shared, strict=True)
    ]
    drawn = np.empty((len(context.indices) * len(couples), context.draws.counts.shape[1]), dtype=np.float32)
    for index in context.indices:
        primary, of_primary = index.name == context.primary.name, []
        for (a, b), known, used, pairs, queries in zip(couples, own, shared, number, on_shared, strict=True):
            difference = known.get(index.name) or _difference(systems[a], systems[b], index.name)
            clusters = (difference.clusters or context.draws.queries) if index.of_run else queries
            spread = difference.spread(PAIRED, clusters)
            p = p_value(difference, spread)
            most = index.scale.highest - index.scale.lowest
            estimate = difference_estimate(difference, spread, context.options.level, most)
            if estimate.width == 0 and not candidates[a].scores_as(candidates[b]):
                estimate = _where_none_differ(context, index, most, candidates[a], used)
            drawn[len(results)] = centred(difference.replicates)
            results.append(
                Comparison(
                    systems[a].name,
                    systems[b].name,
                    index.name,
                    estimate,
                    None if np.isnan(p) else float(p),
                    None,
                    pairs,
                    _proposed(context, systems[a].name, systems[b].name),
                    None if np.isnan(p) else spread.degrees,
                    Family.PRIMARY if primary else Family.SECONDARY,
                )
            )
            if primary:  # all others are let go of
                of_primary.append((difference, spread, p))
        if of_primary:
            ranks = _ranks(context, *zip(*of_primary, strict=True))
    corrected = _beside_the_leader(context.primary.index, systems, in_families(results, drawn), ranks)
    return _with_what_is_like_these(context, candidates, systems, corrected, ranks), ranks, drawn


def _beside_the_leader(
    index: Index, systems: Sequence[SystemScore], comparisons: list[Comparison], ranks: Ranks
) -> list[Comparison]:
    """The comparisons, those with the leader by the primary index with p of the test that makes the best set: one
    claim, one rule."""
    good = index.sign * np.array([each.estimate(index).value for each in systems], dtype=float)
    leader = ranks.in_order(good)[0] if len(systems) else 0
    p = np.fmin(ranks.p[:, leader], ranks.p[leader])
    tested = {each.name: float(p[k]) for k, each in enumerate(systems) if np.isfinite(p[k])}

    def other(each: Comparison) -> str | None:
        names = {each.first, each.second} - {systems[leader].name}
        return names.pop() if each.index == index.name and len(names) == 1 else None

    return [replace(each, p_family=tested.get(other(each) or "", each.p_family)) for each in comparisons]


def _with_what_is_like_these(
    context: ScoringContext,
    candidates: Sequence[Candidate],
    systems: Sequence[SystemScore],
    comparisons: list[Comparison],
    ranks: Ranks,
) -> list[Comparison]:
    """The comparisons, that of the first two of the best set with how far it varies over any queries like these."""
    index = context.primary.index
    good = index.sign * np.array([each.estimate(index).value for each in systems], dtype=float)
    leaders = [row for row in ranks.in_order(good) if ranks.best[row] and np.isfinite(good[row])][:2]
    if len(leaders) < 2 or not context.population.corrects(index):
        return comparisons
    first, second = sorted(leaders)
    varies = over_any_queries(context, candidates[first], candidates[second], index)
    names = (systems[first].name, systems[second].name)
    return [
        replace(each, like_these=varies) if (each.first, each.second, each.index) == (*names, index.name) else each
        for each in comparisons
    ]


def over_any_queries(context: ScoringContext, first: Candidate, second: Candidate, index: Index) -> Variation | None:
    """How far the difference of two systems varies over any queries like these, whatever a run's intervals speak of;
    None where that cannot be computed, or it does not vary."""
    options = replace(context.options, population="open")
    open_ended = ScoringContext(context.pairs, options) if context.population.finite else context
    used = _used_by_both(first, second)
    one, other = (ScoredPairs.of(open_ended, each, used).figure(index) for each in (first, second))
    spread = (one - other).over_raters().spread(PAIRED, open_ended.queries_of(used))
    return Variation(spread.standard_error, spread.degrees) if spread.standard_error > 0 else None


def notes_on_alike(comparisons: Sequence[Comparison], drawn: np.ndarray) -> list[str]:
    """A note on systems that differ by the same amount in every query by the primary index; none where none do.

    Parameters
    ----------
    drawn : float [comparisons, replicates], as `compare` returns them
    """
    alike = [
        each
        for each, row in zip(comparisons, drawn, strict=True)
        if each.family is Family.PRIMARY and each.p_value is not None and each.difference.value and not row.any()
    ]
    if not alike:
        return []
    couples = couples_in_words([(each.first, each.second) for each in alike])
    return [
        f"By {index_of(alike[0].index).term} these differ by the same amount whichever queries are drawn, so that the "
        f"interval and p of their difference are those of random signs: {couples}."
    ]


def in_families(comparisons: Sequence[Comparison], drawn: np.ndarray) -> list[Comparison]:
    """The comparisons with p corrected within each family.

    Parameters
    ----------
    drawn : float [comparisons, replicates], the centred replicates of each
    """
    corrected = np.full(len(comparisons), np.nan)
    for family in {each.family for each in comparisons}:
        rows = np.array([row for row, each in enumerate(comparisons) if each.family == family])
        p_values = [np.nan if comparisons[row].p_value is None else comparisons[row].p_value for row in rows]
        corrected[rows] = family_corrected(p_values, [drawn[row] for row in rows])
    return [
        replace(each, p_family=None if np.isnan(p) else float(p))
        for each, p in zip(comparisons, corrected, strict=True)
    ]


def _ranks(
    context: ScoringContext, differences: Sequence[BootstrapStatistic], spreads: Sequence[Spread], p: Sequence[float]
) -> Ranks:
    """The ranks by the primary index, from the differences of every two systems in it."""
    tested = np.isfinite(p)
    sign = context.primary.index.sign
    error = np.array([each.standard_error if test else np.nan for each, test in zip(spreads, tested, strict=True)])
    paired = PairedStatistics.of(
        sign * np.array([each.value for each in differences]),
        error,
        np.array([each.degrees if test else np.nan for each, test in zip(spreads, tested, strict=True)]),
        sign * np.stack([each.replicates for each in differences]),
        context.draws.queries,
        np.array([each.blurred if test else np.nan for each, test in zip(spreads, tested, strict=True)]),
    )
    return ranks_of(paired, context.options.level)


def _used_by_both(first: Candidate, second: Candidate) -> np.ndarray:
    """The pairs that count for both systems, bool [judged pairs]; of systems with the same pairs the first's own."""
    return first.used if np.array_equal(first.used, second.used) else first.used & second.used


def _difference(first: SystemScore, second: SystemScore, name: str) -> BootstrapStatistic:
    return (first.figures[name] - second.figures[name]).over_raters()


def _differences_on(
    context: ScoringContext,
    candidates: Sequence[Candidate],
    systems: Sequence[SystemScore],
    couple: tuple[int, int],
    used: np.ndarray,
) -> dict[str, BootstrapStatistic]:
    """Differences of two systems, computed again on the pairs that both use; empty where these are their own."""
    if all(np.array_equal(used, candidates[k].used) for k in couple):
        return {}
    left, right = (_figures_on(context, candidates[k], systems[k], used) for k in couple)
    return {index.name: (left[index.name] - right[index.name]).over_raters() for index in context.indices}


def _figures_on(
    context: ScoringContext, candidate: Candidate, system: SystemScore, used: np.ndarray
) -> Mapping[str, BootstrapStatistic]:
    """The indices on the pairs `used`; computed again where these are not the system's own, and the index is not of
    all that it retrieved."""
    if np.array_equal(used, candidate.used):
        return system.figures
    pairs = ScoredPairs.of(context, candidate, used)
    return {
        index.name: system.figures[index.name] if index.of_run else pairs.figure(index) for index in context.indices
    }


def on_common_queries(context: ScoringContext, first: Candidate, second: Candidate) -> dict[str, BootstrapStatistic]:
    """Differences of estimated measures over the queries of which both have a value, by the measures' names."""
    names = [index.name for index in context.indices if index.name.startswith(ESTIMATED)]
    found = {}
    for name in names:
        one, other = ((each.measures or {}).get(bare_name(name)) for each in (first, second))
        if one is None or other is None:
            continue
        missing, unsure = one.missing or other.missing, one.withheld or other.withheld
        values = QueryValues(one.values - other.values, missing=missing, withheld=unsure)
        values = values.weighted(context.pairs.worth_of_queries)
        found[name] = averaged(context, values, sampled=True, bounded=False)
    return found


def _proposed(context: ScoringContext, *names: str) -> tuple[str, ...] | None:
    proposers = context.pairs.proposers
    return None if proposers is None else tuple(name for name in names if name in proposers)


def difference_estimate(difference: BootstrapStatistic, spread: Spread, level: float, most: float = np.inf) -> Estimate:
    """The difference with its interval by Student's t, from its spread as a paired one.

    Parameters
    ----------
    most : the largest difference that the index allows, where the interval ends
    """
    if not np.isfinite(difference.value) or difference.withheld is not None:
        return difference.estimate(level)
    low, high = spread.interval(level)
    if not np.isfinite(low):
        few = (
            "the pairs are of a single query" if spread.clusters < 2 else "too many bootstrap replicates have no value"
        )
        return Estimate.of(difference.value, reason=f"no interval: {few}")
    return Estimate.of(difference.value, max(low, -most), min(high, most))


def _where_none_differ(
    context: ScoringContext, index: Index, most: float, first: Candidate, used: np.ndarray
) -> Estimate:
    """The difference of two systems that is 0 in every query: the queries that have a value say only how seldom the two
    differ, by at most `most`."""
    known = int(np.isfinite(index.by_query(ScoredPairs.of(context, first, used))).sum())
    if not known or not np.isfinite(most):
        return Estimate.of(0.0, reason="no interval: the two differ in no query")
    reach = most * proportion_interval(0.0, known, context.options.level)[1]
    return Estimate.of(0.0, -reach, reach)


def p_value(difference: BootstrapStatistic, spread: Spread) -> float:
    """Two-sided p from the standard error and Student's t, NaN where the difference has no test.

    A share of replicates could not go below 2 / (replicates + 1), which a correction over many pairs would turn into 1;
    hence the standard error.

    Examples
    --------
    >>> difference = BootstrapStatistic(2.0, 2.0 + np.tile([-1.0, 1.0], 500))
    >>> round(p_value(difference, difference.spread(PAIRED, 100)), 3)
    0.049
    """
    if not np.isfinite(difference.value) or difference.withheld is not None:
        return float("nan")
    return spread.p_value()


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
    for index in context.indices:
        sign, key = index.sign, index.name
        valued = [(system, system.estimate(index).value) for system in systems]
        ranked = sorted(((s, v) for s, v in valued if v is not None), key=lambda entry: -sign * entry[1])
        names = tuple(system.name for system, _ in ranked)
        if not enough:
            reason = f"only {pairs} of {len(common)} judged pairs are scored by all systems"
            results.append(Ordering(key, names, {}, pairs, reason))
            continue
        withheld = next((figures[key].withheld for figures in on_common if figures[key].withheld), None)
        if withheld is not None:
            results.append(Ordering(key, names, {}, pairs, withheld))
            continue
        shares = first_shares(sign * np.stack([figures[key].over_raters().replicates for figures in on_common]))
        first = {} if shares is None else {s.name: float(p) for s, p in zip(systems, shares, strict=True)}
        results.append(Ordering(key, names, first, pairs, None if first else "no replicate has a value"))
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


def agreements(context: ScoringContext, systems: Sequence[SystemScore]) -> list[Agreement]:
    """Kendall's tau-b between the orders that each two indices give the systems, with its bootstrap interval."""
    if len(systems) < 3:
        return []
    signed = {
        index.name: index.sign
        * np.stack(
            [np.r_[s.figures[index.name].value, s.figures[index.name].over_raters().replicates] for s in systems]
        )
        for index in context.indices
    }
    results = []
    for first, second in combinations(signed, 2):
        tau = order_agreement(signed[first], signed[second])
        if np.isfinite(tau[0]):
            reasons = (s.figures[name].withheld for s in systems for name in (first, second))
            withheld = next((reason for reason in reasons if reason), None)
            estimate = BootstrapStatistic(float(tau[0]), tau[1:], withheld=withheld).estimate(context.options.level)
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
