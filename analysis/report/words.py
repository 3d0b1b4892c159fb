"""The numbers in sentences for readers without statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relstudy.analysis.indices.registry import NORMALISED_RANK, PEARSON, index_of
from relstudy.analysis.report.layout import Sentence
from relstudy.analysis.scoring.results import Comparison, ScoreResult, SystemScore
from relstudy.analysis.verdict.standings import standings
from relstudy.common.runtime.wording import listed


def order_of(result: ScoreResult) -> list[SystemScore]:
    """The systems, best first as the verdict has them."""
    return [result[name] for name in standings(result).names]


def system_sentences(result: ScoreResult) -> list[Sentence]:
    """One sentence for each system, best first."""
    return [Sentence(system.name, f"{_agreement(system)}{_ranking(system)}.") for system in order_of(result)]


def _agreement(system: SystemScore) -> str:
    estimate = system.estimate(PEARSON)
    if estimate.value is None:
        return f"has no correlation with people's judgments, because {estimate.reason}"
    if estimate.excludes_zero is False:
        return "shows no agreement with people that chance could not explain"
    if estimate.value < 0:
        tried = " once its mapping is tried on other queries" if system.mapped_scores is not None else ""
        return f"runs against people's judgments{tried}"
    share = 100 * estimate.value**2
    explained = f"{share:.0f}" if share >= 1 else "less than 1"
    text = f"accounts for {explained} % of the variance in human judgments"
    could = system.explained.reachable.value
    return text if could is None else f"{text} (ceiling {100 * could:.0f} %)"


def _ranking(system: SystemScore) -> str:
    above = system.shown(NORMALISED_RANK).value
    if above is None:
        return ""
    return f" and puts a good match above a poor one {100 * above:.0f} times in 100, whatever the query"


def clear(comparison: Comparison, result: ScoreResult) -> bool:
    """True where a difference is more than chance after correction for the number of comparisons."""
    return comparison.p_family is not None and comparison.p_family < more_than_chance(result)


def more_than_chance(result: ScoreResult) -> float:
    """The p below which a difference is called more than chance."""
    return 1 - result.options.level


def orders_agree(result: ScoreResult) -> str:
    """One sentence on whether the indices put the systems in one order; empty if there is nothing to compare."""
    orders = {
        each.index: tuple(each.systems)
        for each in result.orderings
        if len(each.systems) > 1 and not index_of(each.index).of_run
    }
    if len(orders) < 2:
        return ""
    names = listed([index_of(name).term for name in orders])
    kinds = set(orders.values())
    if len(kinds) == 1:
        order = " > ".join(next(iter(kinds)))
        return f"All indices ({names}) put the systems in the same order: {order}."
    firsts = {order[0] for order in orders.values()}
    lead = f"but all put {firsts.pop()} first" if len(firsts) == 1 else "nor do they agree on the first"
    if not _contradictory(result, orders):
        lead += "; wherever two of them differ, one of the leads may be chance"
    return f"The indices ({names}) don't put the systems in one order, {lead}."


def _contradictory(result: ScoreResult, orders: Mapping[str, Sequence[str]]) -> bool:
    """True where two systems are clearly apart one way by one index and the other way by another."""
    ahead: dict[frozenset[str], set[str]] = {}
    shared = set.intersection(*(set(order) for order in orders.values()))
    for each in result.comparisons:
        if each.index in orders and {each.first, each.second} <= shared and each.better and clear(each, result):
            ahead.setdefault(frozenset((each.first, each.second)), set()).add(each.better)
    return any(len(names) > 1 for names in ahead.values())
