"""The verdict in sentences for readers without statistics: none causal, one population in each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from relstudy.analysis.scoring.compared import Comparison
from relstudy.analysis.scoring.conventions import FEW_QUERIES
from relstudy.analysis.scoring.judged import Weighting
from relstudy.analysis.scoring.results import ScoreResult, SystemScore
from relstudy.analysis.verdict.measures import MEASURES, shown_range, shown_value
from relstudy.analysis.verdict.standings import Standings
from relstudy.common.estimates import Estimate
from relstudy.common.option_words import option
from relstudy.common.wording import count_of, in_words, listed, listed_some

MOST_EXCEPTIONS = 3
FEW_RATERS = 6
"""With fewer, Student's t makes ranges for any raters like them a third longer than their standard error alone."""


def headline(result: ScoreResult, ranked: Standings) -> str:
    """Who leads, in one sentence."""
    names = ranked.names
    if len(names) == 1:
        return agreement(result, result[names[0]])
    if not ranked.measures:
        reasons = {each.difference.reason for each in result.comparisons if each.difference.reason}
        because = f": {sorted(reasons)[0]}" if reasons else ""
        return f"The {in_words(len(names))} systems cannot be compared{because}."
    if len(ranked.leaders) == 1:
        return f"{ranked.leaders[0]} leads."
    if ranked.leaders:
        lead = f"{listed_some(ranked.leaders)} lead"
        choice = preferred(ranked, ranked.leaders)
        return f"{lead}; if one must be chosen, {choice}." if choice else f"{lead}."
    if len(names) == 2:
        choice = preferred(ranked, names)
        sentence = f"{names[0]} and {names[1]} cannot be told apart by most measures"
        if choice:
            return f"{sentence}; if one must be chosen, {choice}."
        return f"{sentence}." if ranked.clear else f"{names[0]} and {names[1]} cannot be told apart."
    if ranked.circle:
        return f"No system leads: the measures put {listed_some(ranked.circle)} ahead of one another in a circle."
    if ranked.clear:
        return f"None of the {in_words(len(names))} systems is ahead of another by most measures."
    return f"None of the {in_words(len(names))} systems can be told apart from another."


def preferred(ranked: Standings, among: Sequence[str]) -> str | None:
    """The one of several tied systems that is clearly better than another of them by some measure and clearly worse
    than none; None where that is true of no one or of more than one."""
    better = {each.better for a, b in combinations(among, 2) for each in ranked.clear_between(a, b).values()}
    worse = {
        name
        for a, b in combinations(among, 2)
        for each in ranked.clear_between(a, b).values()
        for name in (a, b)
        if name != each.better
    }
    choices = [name for name in among if name in better and name not in worse]
    return choices[0] if len(choices) == 1 else None


def ties(result: ScoreResult, ranked: Standings) -> list[str]:
    """How the systems at the top compare with one another; empty where one leads alone."""
    group = ranked.leaders or list(ranked.names)
    if len(group) < 2 or not ranked.measures:
        return []
    number = len(ranked.measures)
    clear = [each for a, b in combinations(group, 2) for each in ranked.clear_between(a, b).values()]
    sentence = "tells them apart" if len(group) == 2 else "tells any two of them apart"
    if not clear:
        one = f"The one measure there is, {MEASURES[ranked.measures[0]]}, does not"
        none = f"None of the {in_words(number)} measures"
        plain = sentence.replace("tells", "tell") if number == 1 else sentence
        return [f"{one if number == 1 else none} {plain}."]
    if len(group) > 2:
        pairs = len(group) * (len(group) - 1) // 2
        sides = f"{len(clear):,} of the {pairs * number:,} comparisons between them"
        start = f"By {in_words(number)} measures, {sides} {'is' if len(clear) == 1 else 'are'} clear"
        if len(clear) > MOST_EXCEPTIONS:
            return [f"{start}, too few or too contradictory to rank them."]
        return [f"{start}. {' '.join(_exception(result, each, start=True) for each in clear)}"]
    if len({each.better for each in clear}) > 1:
        return [f"The measures contradict one another: {listed([_exception(result, each) for each in clear])}."]
    left = number - len(clear)
    start = f"{in_words(left).capitalize()} of {in_words(number)} measures cannot tell them apart"
    return [f"{start}; {listed([_exception(result, each) for each in clear])}."]


def _exception(result: ScoreResult, comparison: Comparison, start: bool = False) -> str:
    """A clear difference in words and numbers: "by correlation a is ahead of b (0.5 against 0.4, ...)"."""
    index, better = comparison.index, str(comparison.better)
    worse = comparison.second if better == comparison.first else comparison.first
    text = f"{'By' if start else 'by'} {MEASURES[index]} {better} is ahead of {worse}"
    values = [result[name].estimate(index).value for name in (better, worse)]
    if values[0] is None or values[1] is None:
        return text + ("." if start else "")
    first, second = (shown_value(index, value) for value in values if value is not None)
    if index == "normalised_rank":
        figures = (
            f"it puts a good match above a poor one {first.replace(' in 100', '')} times in 100, the other "
            f"{second.replace(' in 100', '')}"
        )
    else:
        figures = f"{first} against {second}"
    return f"{text} ({figures}{_difference(comparison)})" + ("." if start else "")


def _difference(comparison: Comparison) -> str:
    low, high = comparison.difference.low, comparison.difference.high
    if low is None or high is None:
        return ""
    ends = sorted((abs(low), abs(high)))
    # a clear difference after correction has its plain interval on one side of zero
    return f"; difference {shown_range(comparison.index, *ends)}" if low * high > 0 else ""


def others(ranked: Standings) -> list[str]:
    """Who is behind the leaders, and who could not be placed."""
    leaders = ranked.leaders
    if not leaders:
        return []
    sentences = []
    rest = [name for name in ranked.names if (ranked.ranks[name] or 0) > 1]
    whom = "it" if len(leaders) == 1 else "both" if len(leaders) == 2 else "all of them"
    by = _by_how_many(ranked)
    full = [name for name in rest if all(ranked.beats(leader, name) for leader in leaders)]
    if full == rest and rest:
        subject = f"The other {in_words(len(rest))}" if 2 < len(rest) + len(leaders) == len(ranked.names) else ""
        subject = listed_some(rest) if not subject or len(rest) == 1 else subject
        sentences.append(f"{subject} {'is' if len(rest) == 1 else 'are'} clearly behind {whom} {by}.")
    else:
        if full:
            sentences.append(f"{listed_some(full)} {'is' if len(full) == 1 else 'are'} clearly behind {whom} {by}.")
        partly = [name for name in rest if name not in full]
        if partly:
            who = f"{listed_some(partly)} {'is' if len(partly) == 1 else 'are'}"
            if len(leaders) > 1:
                sentences.append(f"{who} clearly behind at least one of them, though not {whom}.")
            else:
                sentences.append(
                    f"{who} not told apart from {leaders[0]} directly, but clearly behind a system that is behind it."
                )
    if ranked.apart:
        verb = "is" if len(ranked.apart) == 1 else "are"
        sentences.append(f"{listed_some(ranked.apart)} {verb} neither clearly ahead of nor behind any system.")
    return sentences


def _by_how_many(ranked: Standings) -> str:
    """By how many measures a system must be better to be ahead."""
    number = len(ranked.measures)
    if number == 1:
        return f"by {MEASURES[ranked.measures[0]]}, the one measure there is"
    if number == 2:
        return "by both measures"
    return f"by at least {in_words(number // 2 + 1)} of {in_words(number)} measures"


def agreement(result: ScoreResult, system: SystemScore, reachable: float | None = None) -> str:
    """How good a system is by the correlation that systems are compared by, against what could be reached."""
    estimate, name = system.estimate("pearson"), system.name
    if estimate.value is None:
        return f"How far {name} agrees with people is not known: {estimate.reason}."
    over = "over the whole collection" if result.collection else "on the pairs that were rated"
    figure = f"{estimate.value:.2f}{_ends(estimate)}"
    if estimate.low is not None and estimate.high is not None and estimate.low <= 0 <= estimate.high:
        return f"{name} shows no agreement with people that chance could not explain: correlation {figure} {over}."
    if estimate.value < 0:
        return f"{name} runs against people's judgments: correlation {figure} {over}."
    most = "" if reachable is None else f", where about {reachable:.2f} is the most that any system could reach"
    return f"{name} agrees with people at a correlation of {figure} {over}{most}."


def agreements(result: ScoreResult, systems: Sequence[SystemScore], reachable: float | None) -> list[str]:
    """How good systems are, in one sentence where all of them agree with people."""
    if len(systems) < 2 or not all((each.estimate("pearson").low or 0.0) > 0 for each in systems):
        return [agreement(result, each, reachable) for each in systems]
    over = "over the whole collection" if result.collection else "on the pairs that were rated"
    figures = [
        f"{each.name} at {each.estimate('pearson').value:.2f}{_ends(each.estimate('pearson'))}" for each in systems
    ]
    most = "" if reachable is None else f"; about {reachable:.2f} is the most that any system could reach"
    return [f"Agreement with people, as correlation {over}: {listed(figures)}{most}."]


def _ends(estimate: Estimate) -> str:
    return "" if estimate.low is None or estimate.high is None else f" ({estimate.low:.2f} to {estimate.high:.2f})"


def unknown(result: ScoreResult) -> list[str]:
    """What these figures do not say."""
    sentences = []
    if result.weighting is not Weighting.DESIGN:
        sentences.append(
            "How the systems do on the whole collection: the figures describe the rated pairs, whose chances of being "
            "picked are not known or not used."
        )
    queries = int(result.pairs["queries"])
    if queries < FEW_QUERIES:
        are = "is" if queries == 1 else "are"
        sentences.append(f"How far the ranges can be trusted: {count_of(queries, 'query', 'queries')} {are} few.")
    raters = result.raters.raters
    if raters is not None and raters < FEW_RATERS:
        sentences.append(
            f"What other raters would say: the ranges allow for any raters like these {raters}, who are too few to "
            f"tell much of others. {option('raters', 'these')} keeps to these {raters}."
        )
    partial = [each.name for each in result.systems if each.coverage.scored < each.coverage.judged]
    if partial:
        verb = "it does" if len(partial) == 1 else "they do"
        sentences.append(f"What {listed_some(partial)} would do on the rated pairs that {verb} not score.")
    return sentences
