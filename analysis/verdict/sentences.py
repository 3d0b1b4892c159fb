"""The verdict in sentences for readers without statistics: none causal, one population in each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from scipy import special

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.judged_coverage import COVERED
from relstudy.analysis.indices.registry import CONDENSED, ESTIMATED, PEARSON, bare_name, judged_beside
from relstudy.analysis.resampling.group_sequential import chance_to_decide, median_unbiased, next_bound
from relstudy.analysis.scoring.conventions import FEW_QUERIES, NO_INTERVAL
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.options import MEASURES
from relstudy.analysis.scoring.results import Comparison, ScoreResult, SystemScore
from relstudy.analysis.verdict.facts import Look, StudyFacts
from relstudy.analysis.verdict.price_of_a_tie import within
from relstudy.analysis.verdict.standings import MOST_OPEN, Standings, first_results, open_share
from relstudy.common.options.option_wording import option
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import capital, count_of, in_words, listed, listed_some, number, percent, span

MOST_DROPPED = 3
"""Systems that are named with how far they are behind."""
FEWEST_QUERIES = 5
MOST_NAMED = 4
"""Of the best set."""
EARLIEST = 0.2
"""Of the answers; before that their figures say little of what the end will bring."""
MORE_IN_TEN = 0.1
"""Good results of the first ten from which on more of them are said."""
TINY = 1e-300
"""So that the statistic of a p of 0 is a number."""
FEW_RATERS = 6
"""With fewer, Student's t makes ranges for any raters like them a third longer than their standard error alone."""


def headline(result: ScoreResult, ranked: Standings) -> str:
    """The advice, in one sentence, with how much of the first results of those that it names nobody judged."""
    if result.options.reverses:
        return (
            f"No verdict with {option('weights', 'rank-power')}: these weights let a few pairs decide, and can reverse "
            "the order of systems. Leave the option out for a verdict."
        )
    if not ranked.comparable or not _compared(result, ranked):
        return f"The {in_words(len(ranked.names))} systems cannot be compared{_because(result)}."
    said, unseen = _advice(result, ranked), _unseen_of_judged_pairs(result, ranked)
    return f"{said[:-1]}, but {_nobody_judged(result, unseen)}." if unseen else said


def is_settled(result: ScoreResult, ranked: Standings) -> bool:
    """True where one system is ahead of all others, or those that may be the best do not differ by what matters."""
    if not _compared(result, ranked) or result.options.reverses:
        return False
    return len(ranked.best) == 1 or (_above_the_best_set(result, ranked) is None and _same(result, ranked))


def at_look(result: ScoreResult, ranked: Standings, look: Look, settled: bool) -> str:
    """What a planned look says beside the advice: how far the study is, whether to go on, and the error of claims."""
    error = f"over all looks a claim is wrong in at most {percent(look.error)} of studies like this"
    if look.is_last:
        return f"All answers are in: {error}."
    have = f"{look.answers:,} of the {look.wanted:,} answers wanted are in ({percent(look.fractions[-1])})"
    interval = f"Intervals have a level of {100 * look.level:g} %, so that {error}."
    if look.closed:
        corrected = _corrected(result, ranked, look) if settled else ""
        return f"{have}, and the study is closed.{corrected} {interval}"
    if settled:
        return f"{have}; the others need not be collected.{_corrected(result, ranked, look)} {interval}"
    chance = _chance(result, ranked, look)
    go_on = "Go on." if chance is None else f"Go on: if the figures stay as they are, {chance}."
    return f"{have}. {go_on} {interval}"


def _leading_statistic(result: ScoreResult, ranked: Standings) -> tuple[float, Comparison] | None:
    """The first two systems' difference in standard errors of a normal distribution, and their comparison."""
    if len(ranked.names) < 2:
        return None
    compared = ranked.comparison(result.primary.index.name, *ranked.names[:2])
    if compared is None or compared.p_value is None or compared.difference.value is None:
        return None
    return float(-special.ndtri(max(compared.p_value, TINY) / 2)), compared


def _chance(result: ScoreResult, ranked: Standings, look: Look) -> str | None:
    """The chance that the first two are told apart by the end, in words; None where it is not known, or too early."""
    found = _leading_statistic(result, ranked)
    if found is None or look.fractions[-1] < EARLIEST or ranked.names[1] in ranked.unseen:
        return None
    at_end = next_bound([*look.fractions, 1.0], look.bounds, look.error, look.rule)
    chance = chance_to_decide(look.fractions[-1], found[0], at_end)
    first, second = ranked.names[:2]
    return f"the chance that {first} and {second} are distinguished by the end is {percent(chance)}"


def _corrected(result: ScoreResult, ranked: Standings, look: Look) -> str:
    """The lead of the system that is ahead, corrected for the early stop, as a sentence with a blank before it."""
    found = _leading_statistic(result, ranked)
    if found is None or len(ranked.best) > 1:
        return ""
    statistic, compared = found
    share = median_unbiased(look.fractions, look.bounds[:-1], statistic) / statistic
    index, lead = result.primary.index, abs(compared.difference.value or 0.0)
    first, second = ranked.names[:2]
    return (
        f" {first} is ahead of {second} by {index.in_words(lead)}; corrected for stopping where the lead is large, by "
        f"{index.in_words(max(share, 0.0) * lead)}."
    )


def _advice(result: ScoreResult, ranked: Standings) -> str:
    """Which system to use. Only systems that may be the best are named, by one corrected comparison with the best
    (Hsu 1984); several as equals only where their figures differ by less than matters."""
    best, rest = ranked.best, ranked.others
    lead, *open_yet = best
    if not open_yet:
        return f"Use {lead}: it is ahead of {_the_rest(rest)}."
    in_order = _above_the_best_set(result, ranked) is None  # else any of the best set may be worse than one that is out
    if in_order and _same(result, ranked):
        alike = "the two are" if len(best) == 2 else f"the {in_words(len(best))} are"
        behind = f", and {_the_rest(rest)} {_are(rest)} not as good" if rest else ""
        return f"Use {_either(best)}: {alike} the same for practical purposes{behind}."
    cannot = (
        f"this study cannot say which of the {'two is better' if len(best) == 2 else f'{in_words(len(best))} is best'}"
    )
    if not rest:
        return f"{capital(cannot)}: {listed_some(best)}." if len(best) <= MOST_NAMED else f"{capital(cannot)}."
    out = _the_rest(rest)
    if in_order and _close(result, best):
        return f"Use {_either(best)}: {cannot}. {capital(out) if len(rest) > 2 else out} {_are(rest)} not the best."
    return f"Use {lead}. {listed_some(open_yet)} cannot quite be ruled out as equally good; {out} can."


def _close(result: ScoreResult, names: Sequence[str]) -> bool:
    """True where the figures of some systems differ by no more than matters."""
    values = [result[name].estimate(result.primary.index).value for name in names]
    known = [value for value in values if value is not None]
    return len(known) == len(values) and max(known) - min(known) <= result.primary.matters


def _above_the_best_set(result: ScoreResult, ranked: Standings) -> tuple[str, str] | None:
    """A system that is out though its figure is above one of the best set's, and that one, or None."""
    index = result.primary.index
    figure = {name: result[name].estimate(index).value for name in (*ranked.best, *ranked.others)}
    for out in ranked.others:
        for kept in reversed(ranked.best):
            one, other = figure[out], figure[kept]
            if one is not None and other is not None and index.sign * (one - other) > 0:
                return out, kept
    return None


def _either(names: Sequence[str]) -> str:
    """Names of which any may be taken."""
    shown = list(names) if len(names) <= MOST_NAMED else [*names[: MOST_NAMED - 1], "another of the best set"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _the_rest(names: Sequence[str]) -> str:
    """The systems that are out, by name if there are few."""
    return listed_some(names) if len(names) < 3 else f"the other {in_words(len(names))}"


def _compared(result: ScoreResult, ranked: Standings) -> bool:
    """True where any difference in the primary index has an interval."""
    index = result.primary.index.name
    return any(each.index == index and each.p_value is not None for each in result.comparisons)


def _because(result: ScoreResult) -> str:
    of_primary = [each.difference for each in result.comparisons if each.index == result.primary.index.name]
    reasons = sorted({each.reason.removeprefix(NO_INTERVAL) for each in of_primary if each.reason})
    return f" by {result.primary.index.term}" + (f": {reasons[0]}" if reasons else "")


def _same(result: ScoreResult, ranked: Standings) -> bool:
    """True where no two of the best set differ by as much as matters."""
    index, matters = result.primary.index.name, result.primary.matters
    pairs = [ranked.comparison(index, a, b) for a, b in combinations(ranked.best, 2)]
    return bool(pairs) and all(each is not None and within(each, matters) for each in pairs)


def measure(result: ScoreResult) -> str:
    """The primary index, how it came to be the one, and what guessing gives."""
    index = result.primary.index
    guess = None if index.guess is None else index.guess(None)
    guessing = "" if guess is None or not index.in_100 else f"chance: {index.in_words(guess)}"
    words = "; ".join(filter(None, (index.plain, guessing)))
    return f"Ranked by {index.term}{words and f' ({words})'}, {result.primary.chosen}."


def choice_heading(name: str) -> str:
    """The beginning of the choice."""
    return f"If you must choose now: {name}"


def choice(result: ScoreResult, ranked: Standings) -> str | None:
    """The system to take today where several may be the best; None where one is, or none is compared."""
    if len(ranked.best) < 2 or not _compared(result, ranked):
        return None
    index, first = result.primary.index, ranked.best[0]
    value = result[first].estimate(index).value
    figure = "" if value is None else f" ({index.in_words(value)})"
    level = [name for name in ranked.best[1:] if result[name].estimate(index).value == value]
    scores = (
        f"It scores highest{figure}, but the lead may be chance."
        if not level
        else f"It scores highest{figure}, as {'does' if len(level) == 1 else 'do'} {listed(level)}."
    )
    said = f"{choice_heading(first)}. {scores}{_for(result, ranked)}{_clearly_behind(result, ranked)}"
    alone = [name for name in ranked.best[1:] if ranked.ahead(first, name)]
    if not alone:
        return said
    return (
        f"{said} Compared with {listed_some(alone)} alone it is ahead, but among {in_words(len(ranked.names))} systems "
        "that can happen by chance."
    )


def _clearly_behind(result: ScoreResult, ranked: Standings) -> str:
    """Which others of the best set are clearly behind the first by another index, as a sentence with a blank before it;
    empty if none is."""
    first, others = ranked.best[0], [each for each in result.own_indices if each is not result.primary.index]
    terms = {
        name: [each.term for each in others if ranked.mark(each.name, first, name) == "▼"]
        for name in ranked.best[1:]
        if name not in ranked.unseen
    }
    said = [f"{name} is clearly worse by {listed(by, 'and')}" for name, by in terms.items() if by]
    return f" {'; '.join(said[:MOST_DROPPED])}." if said else ""


def _for(result: ScoreResult, ranked: Standings) -> str:
    """What speaks for the second system, as a sentence with a blank before it; empty where nothing does."""
    reasons, counts = [], _better_on(result, ranked)
    if counts is not None and counts[1] > counts[0]:
        reasons.append(f"is better on more queries ({counts[1]} of {sum(counts)})")
    in_ten = next((index for index in result.indices if bare_name(index.name) == "P@10"), None)
    if in_ten is not None:
        one, other = (result[name].estimate(in_ten).value for name in ranked.names[:2])
        if one is not None and other is not None and 10 * (other - one) >= MORE_IN_TEN:
            reasons.append(f"has more good results in the first ten ({10 * other:.1f} against {10 * one:.1f})")
    return f" {ranked.names[1]} {listed(reasons, 'and')}." if reasons else ""


def contrary(result: ScoreResult, ranked: Standings) -> str | None:
    """By which other indices another system is ahead of the first; None by none.

    Of the measures asked for, any by which another has the better figure; of all others, those by which another is
    clearly ahead after correction over its family. Where results that nobody judged may be why, that is said.
    """
    if len(ranked.names) < 2 or not _compared(result, ranked):
        return None
    first, primary = ranked.names[0], result.primary.index
    asked = [] if tuple(result.options.measures) == MEASURES else [*result.systems[0].measures]
    clear: dict[str, list[str]] = {}
    open_yet: dict[str, list[str]] = {}
    for index in (each for each in result.indices if each.name != primary.name):
        ahead = [name for name in ranked.names[1:] if ranked.mark(index.name, first, name) == "▲"]
        if ahead:
            clear.setdefault(_foremost(result, index, ahead), []).append(index.term)
        elif index.name in asked and not result[first].figures[index.name].withheld:
            top = _foremost(result, index, ranked.names)
            if top != first:
                open_yet.setdefault(top, []).append(index.term)
    said = [f"{name} is ahead by {listed(terms)}" for name, terms in clear.items()]
    more = "" if said else ", by no more than chance may do"
    said += [f"{name} has the higher figure by {listed(terms)}{more}" for name, terms in open_yet.items()]
    if not said:
        return None
    lead = "has the best estimate" if len(ranked.best) > 1 else "leads"
    terms = {term for by_system in (clear, open_yet) for named in by_system.values() for term in named}
    why = _why_apart(result, [first, *clear, *open_yet], terms)
    return f"{first} {lead} by {primary.term}, but {'; '.join(said)}.{why}"


def _nobody_judged(result: ScoreResult, names: Sequence[str]) -> str:
    """How much of some systems' first results nobody judged, as a clause."""
    known = first_results(result) or ""
    depth = known.rpartition("@")[2]
    verb = "nothing judged speaks of" if known.startswith(COVERED) else "nobody judged"
    shares = listed_some([f"{percent(open_share(result, name))} of {name}'s" for name in names], MOST_DROPPED)
    return f"{verb} {shares} first {depth} results"


def _unseen_of_judged_pairs(result: ScoreResult, ranked: Standings) -> list[str]:
    """The systems of the best set whose first results hardly have a part in the primary index, which is of judged pairs
    alone."""
    index = result.primary.index
    if index.of_run and not index.name.startswith(CONDENSED):
        return []
    return [name for name in ranked.best if open_share(result, name) > MOST_OPEN]


def _open_behind(result: ScoreResult, ranked: Standings) -> list[str]:
    """The systems that may be better than the primary index says, which counts as poor what nobody judged: of whose
    first results far more are such than of the first one's."""
    index = result.primary.index
    if not index.of_run or index.name.startswith(CONDENSED):
        return []
    first = open_share(result, ranked.names[0])
    return [name for name in ranked.names[1:] if open_share(result, name) - first > MOST_OPEN]


def unseen(result: ScoreResult, ranked: Standings) -> str | None:
    """What results that nobody judged leave open: of systems that lead by judged pairs alone, or of those that are
    behind where such results count as poor. None where nothing."""
    if len(ranked.names) < 2 or not ranked.comparable or not _compared(result, ranked):
        return None
    index = result.primary.index
    leading = _unseen_of_judged_pairs(result, ranked)
    if leading:
        lacks = [
            each.term
            for each in result.indices
            if each.of_run and any(NO_INTERVAL in (result[name].estimate(each).reason or "") for name in leading)
        ]
        has = "has" if len(lacks) == 1 else "have"
        why = f", and {listed(lacks)} of {listed_some(leading)} {has} no interval for that reason" if lacks else ""
        its = "its" if len(leading) == 1 else "their"
        return (
            f"{capital(index.term)} is of judged results alone{why}: have {its} first results judged before you take "
            f"{'it' if len(leading) == 1 else 'one of them'}."
        )
    behind = _open_behind(result, ranked)
    if not behind or first_results(result) in (contrary(result, ranked) or "").split():
        return None
    who = "it" if len(behind) == 1 else "they"
    return (
        f"{capital(_nobody_judged(result, behind))}, which count as poor: {who} may be better than {index.term} says."
    )


def near_the_bound(result: ScoreResult) -> str | None:
    """The system of which chance in the replicates decides whether it may be the best, the nearest of several; None
    if there is none."""
    if not result.ranks.near or result.options.reverses:
        return None
    near = min(result.ranks.near, key=lambda each: abs(each.lag - each.bound) / each.error)
    name, rival = (result.systems[number].name for number in (near.system, near.rival))
    options = result.options
    more = len(result.ranks.near) - 1
    others = f" The same holds for {count_of(more, 'other system')}." if more else ""
    return (
        f"Borderline: {name} is {near.lag:.2f} standard errors behind {rival}, and the limit is {near.bound:.2f} "
        f"(give or take {near.error:.2f} with {options.replicates:,} replicates), so "
        f"{option('seed', options.seed + 1)} may decide otherwise; more replicates are surer.{others}"
    )


def _why_apart(result: ScoreResult, names: Sequence[str], terms: Collection[str]) -> str:
    """The reason why a measure of whole runs and indices of judged pairs may point apart: what they make of results
    that nobody judged, as a sentence with a blank before it. Empty where they make the same of them, or these systems
    have none.

    Parameters
    ----------
    names : the systems that come first by either
    terms : of the indices that point elsewhere than the primary one
    """
    primary = result.primary.index
    opposed = [index for index in result.indices if index.term in terms and index.of_run != primary.of_run]
    if not opposed:
        return ""
    of_run, of_pairs = (primary, opposed) if primary.of_run else (opposed[0], [primary])
    depth = judged_beside(of_run)
    shares = {name: result[name].first_judged.get(depth or "", 1.0) for name in dict.fromkeys(names)}
    if of_run.name.startswith((CONDENSED, ESTIMATED)) or min(shares.values()) == 1.0:
        return ""
    judged = listed([f"{percent(share)} of {name}'s" for name, share in shares.items()])
    return (
        f" Unjudged results are poor to {of_run.term} and have no part in "
        f"{listed([index.term for index in of_pairs])}: {depth} is {judged}."
    )


def _foremost(result: ScoreResult, index: Index, names: Sequence[str]) -> str:
    """The system with the best figure by an index, the first of equal ones; figures that are withheld from tests have
    no part if there are others."""
    names = [name for name in names if not result[name].figures[index.name].withheld] or names
    values = index.sign * np.array([result[name].estimate(index).value for name in names], dtype=float)
    return names[int(np.nanargmax(values))] if np.isfinite(values).any() else names[0]


def dropped(result: ScoreResult, ranked: Standings) -> str | None:
    """The systems that can be dropped, and their distances behind; None where none can."""
    index, kept = result.primary.index, _open_behind(result, ranked)
    out = [name for name in ranked.others if name not in kept]
    if not out or not ranked.best:
        return None
    first, number = ranked.best[0], len(out)
    said = []
    for name in out[:MOST_DROPPED]:
        compared = ranked.comparison(index.name, first, name)
        if compared is None or compared.difference.ends is None:
            said.append(f"{name} too")
            continue
        low, high = sorted(abs(end) for end in compared.difference.ends)
        least = low if compared.difference.excludes_zero else 0.0
        span = index.range_in_words(least, min(high, 1.0) if index.in_100 else high)
        said.append(
            f"{name} by {span}" if said else f"{name} is behind {first} by {span}{' in 100' if index.in_100 else ''}"
        )
    more = [f"{in_words(number - MOST_DROPPED)} more"] if number > MOST_DROPPED else []
    what = "one system" if number == 1 else f"{in_words(number)} systems"
    kept = [name for name in kept if name in ranked.others]
    but = f" Of {listed_some(kept)} too much is unjudged to say so." if kept else ""
    return f"You can drop {what}: {listed([*said, *more])}.{but}{_out_with_a_better_figure(result, ranked)}"


def _out_with_a_better_figure(result: ScoreResult, ranked: Standings) -> str:
    """A sentence, with a blank before it, on a system that is out though its figure is above one of the best set's;
    empty if there is none."""
    found = _above_the_best_set(result, ranked)
    if found is None:
        return ""
    out, kept = found
    return (
        f" {out} is out and {kept} is not, though its figure is higher: how far {out} is behind "
        f"{ranked.best[0]} is known more closely."
    )


def parting(result: ScoreResult, ranked: Standings) -> str | None:
    """On how many queries each of the first two systems is the better one; None where that is not known."""
    counts = _better_on(result, ranked)
    if counts is None:
        return None
    (first, second), (ahead, behind, ties) = ranked.names[:2], counts
    index = result.primary.index
    said = (
        f"By {index.term}, {first} is better on {ahead} of {count_of(sum(counts), 'query', 'queries')}, {second} on "
        f"{behind}, and they are equal on {ties}."
    )
    values = [result[name].estimate(index).value for name in (first, second)]
    if ahead > behind or None in values or values[0] == values[1]:
        return said
    return f"{said} {first} wins on fewer queries, but by more."


def _better_on(result: ScoreResult, ranked: Standings) -> tuple[int, int, int] | None:
    """Queries on which the first system is better, the second, and ties; None where too few are known."""
    index, table = result.primary.index, result.per_query
    if len(ranked.names) < 2 or index.name not in table:
        return None
    columns = [table.loc[table["system"] == name].set_index("query_id")[index.name] for name in ranked.names[:2]]
    one, other = (index.sign * each.reindex(columns[0].index).to_numpy(dtype=float) for each in columns)
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST_QUERIES:
        return None
    ahead, behind = int((one > other)[both].sum()), int((one < other)[both].sum())
    return ahead, behind, int(both.sum()) - ahead - behind


def agreement(result: ScoreResult, system: SystemScore, facts: StudyFacts) -> str:
    """A system's correlation, by the one that systems are compared by, as measured and without rating noise."""
    estimate, name = system.estimate(PEARSON), system.name
    if estimate.value is None:
        return f"How well {name} agrees with people is not known: {estimate.reason}."
    over = f"over {result.scope}"
    shown = _with_ends(estimate)
    if estimate.excludes_zero is False:
        return f"{name} shows no agreement with people that chance could not explain: correlation {shown} {over}."
    if estimate.value < 0:
        return f"{name} runs against people's judgments: correlation {shown} {over}."
    return f"{name} agrees with people at a correlation of {shown} {over}{_noise(facts, [system])}."


def agreements(result: ScoreResult, systems: Sequence[SystemScore], facts: StudyFacts) -> list[str]:
    """The systems' agreement with people, in one sentence where all of them agree."""
    if len(systems) < 2 or not all((each.estimate(PEARSON).low or 0.0) > 0 for each in systems):
        return [agreement(result, each, facts) for each in systems]
    over = f"over {result.scope}"
    figures = [f"{_with_ends(each.estimate(PEARSON))} for {each.name}" for each in systems]
    return [f"Correlation with people's judgments {over}: {listed(figures)}{_noise(facts, systems)}."]


def _noise(facts: StudyFacts, systems: Sequence[SystemScore]) -> str:
    """How many ratings a correlation rests on, the correlation with error-free judgments, and the noise ceiling."""
    each = "" if facts.ratings_each is None else f", with {facts.ratings_each:.1f} ratings per judgment"
    free = [system.explained.disattenuated for system in systems]
    if facts.reachable is None or any(estimate.value is None for estimate in free):
        return each
    shown = listed([_with_ends(estimate) for estimate in free])
    return f"{each}. Corrected for noise in the ratings: {shown} (noise ceiling {facts.reachable:.2f})"


def _with_ends(estimate: Estimate) -> str:
    assert estimate.value is not None
    return f"{number(estimate.value, '.2f')}{_ends(estimate)}"


def _ends(estimate: Estimate) -> str:
    return "" if estimate.low is None else f" ({span(estimate.low, estimate.high, '.2f')})"


def unknown(result: ScoreResult) -> list[str]:
    """Sentences on what these figures do not say."""
    sentences = []
    if result.weighting is not Weighting.DESIGN:
        sentences.append(
            "how the systems do on the whole collection. The numbers describe the rated pairs; how these were chosen "
            "is not known, or not used."
        )
    queries = int(result.pairs["queries"])
    if queries < FEW_QUERIES:
        are = "is" if queries == 1 else "are"
        sentences.append(
            f"how far the intervals can be trusted. {capital(count_of(queries, 'query', 'queries'))} {are} few."
        )
    raters = result.primary_raters.raters
    if raters is not None and raters < FEW_RATERS:
        sentences.append(
            f"what other raters would say. With {raters} raters the intervals are only a rough guide to others; to "
            f"keep to these {raters}, score with {option('raters', 'these')}."
        )
    partial = [each.name for each in result.systems if each.coverage.scored < each.coverage.judged]
    if partial:
        verb = "it does" if len(partial) == 1 else "they do"
        sentences.append(f"what {listed_some(partial)} would do on the rated pairs that {verb} not score.")
    return sentences
