"""The output of `relstudy score`: systems best first, differences between them, what a judge adds, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import click

from relstudy.analysis.scoring.options import MEASURES
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.console import print_table
from relstudy.common.runtime.wording import (
    AGAINST,
    FOUND,
    LEFT_OUT,
    count_of,
    listed,
    number,
    percent,
    share_of_draws,
    span,
    tenths,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from relstudy.analysis.judges.estimator import Assisted
    from relstudy.analysis.judges.run import AssistedScores
    from relstudy.analysis.pipeline import ScoringRun
    from relstudy.analysis.scoring.groups import Groups
    from relstudy.analysis.scoring.leave_out_of_pool import LeftOutOnes
    from relstudy.analysis.scoring.measure_tests import MeasureTests, Tested
    from relstudy.analysis.scoring.results import ScoreResult, SystemScore
    from relstudy.analysis.verdict.standings import Standings
    from relstudy.analysis.verdict.verdict import Verdict

MOST_PAIRS = 12
MOST_LINES = 10
"""The most that is printed without --verbose where nothing else is asked for."""


def print_run(run: ScoringRun, verbose: bool) -> None:
    """The systems, where new ones stand, the groups, and what the judge adds."""
    if verbose:
        _print_all(run.result, run.verdict)
    else:
        _print_brief(run.result, run.verdict)
        shown = Brief.of(run.result, run.verdict).notes
        for sentence in (each for each in run.unhelped if each not in shown):
            click.echo(sentence)
    for sentence in run.places:
        click.echo(sentence)
    if run.tests is not None:
        _print_tests(run.tests)
    if run.left_out is not None:
        _print_left_out(run.left_out)
    if run.within is not None and run.within.results:
        _print_groups(run.within)
    for note in [] if run.within is None else run.within.notes():
        click.echo(note)
    if run.assisted is not None:
        from relstudy.analysis.verdict.verdict import by_who_judges

        _print_assisted(run.assisted)
        if len(run.result.systems) > 1:
            for sentence in by_who_judges(run.verdicts, run.result.primary):
                click.echo(sentence)


def _print_tests(tests: MeasureTests) -> None:
    """A line a measure and couple of systems."""
    click.echo()
    header = ["measure", "first", "second", "difference", _interval(tests.level), "p corrected", "p t", "p signs"]
    header += ["p bootstrap", "effect", "better/equal/worse", "p equal", f"chance > {tests.margin:g}"]
    print_table([_tested_row(each) for each in tests.tests], header, dim=(4,))
    click.echo(f"Tests: {tests.sentence()}")
    found = tests.reliability
    if isinstance(found, str):
        click.echo(f"How well a mean of queries separates systems is not known: {found}." if found else "")
        return
    click.echo()
    cells = [
        [str(source), f"{variance:.4g}", f"{error:.2g}", percent(float(share))]
        for source, variance, error, share in found.table.itertuples(index=False)
    ]
    print_table(cells, [f"where {found.measure} varies", "variance", "error", "share"])
    for remark in found.remarks():
        click.echo(remark)


def _tested_row(each: Tested) -> list[str]:
    row = [each.index, each.first, each.second, *_cells_of_difference(each.difference)]
    row += [_p(p) for p in (each.p_corrected, each.p_t, each.p_randomisation, each.p_bootstrap)]
    row += [_signed(each.effect), f"{each.wins}/{each.ties}/{each.losses}", _p(each.p_equivalent)]
    return [*row, "–" if each.chance_above is None else share_of_draws(each.chance_above)]


def _print_left_out(found: LeftOutOnes) -> None:
    """A line a measure and system."""
    click.echo()
    header = ["measure", "system", "figure", "left out", "change", "rank", "left out", "alone", "relevant"]
    rows = [
        [each.measure, each.system, number(each.value), number(each.without), _signed(each.without - each.value)]
        + [str(number) for number in (each.rank, each.rank_without, each.alone, each.relevant)]
        for each in found.systems
    ]
    print_table(rows, header)
    for sentence in found.sentences():
        click.echo(sentence)


def _p(value: float | None) -> str:
    return "–" if value is None else "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def print_next(run: ScoringRun, command: str | None, verbose: bool) -> None:
    """Print the next command, and the place of all else.

    Parameters
    ----------
    command : the next one, or None
    """
    following = "" if command is None else f"Next: {command}"
    if verbose:
        if following:
            click.echo(following)
        return
    brief = Brief.of(run.result, run.verdict)
    hidden = len({*run.result.notes} - {*brief.notes} - {*run.verdict.on_raters})
    more = f"{count_of(hidden, 'note')}: --verbose. Everything: --json." if hidden else "More: --verbose or --json."
    click.echo(f"{following}{'   ' if following else ''}{more}")


@dataclass(frozen=True)
class Brief:
    """The output of a run in `MOST_LINES` lines, the last of which is the next command.

    Parameters
    ----------
    said : the verdict
    systems : how many rows the table has; all systems, or one fewer than there is room for
    notes : those of the run if there is room for all, else those of systems that are left out, run against the
        judgments or were found to be turned round, for which the table gives way
    """

    said: tuple[str, ...]
    systems: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, result: ScoreResult, verdict: Verdict) -> Brief:
        """That of a run."""
        every = (
            *(verdict.headline, verdict.looks, verdict.choice, verdict.contrary, verdict.unseen, verdict.near),
            *verdict.on_raters,
        )
        notes = tuple(note for note in result.notes if note not in verdict.on_raters)
        free = MOST_LINES - 3  # the table's header, what it rests on, the next command
        needed = (note for note in notes if note.startswith(LEFT_OUT) or AGAINST in note or FOUND in note)
        always = tuple(needed)[: free - 3]
        free -= len(always)
        said = tuple(text for text in every if text is not None)
        number = len(verdict.standings.names)
        if len(said) + number > free:
            said = (" ".join(said),)
        left = free - len(said) - number
        if left < 0:
            return cls(said, free - len(said) - 1, always)
        return cls(said, number, notes if len(notes) <= left + len(always) else always)


def _print_brief(result: ScoreResult, verdict: Verdict) -> None:
    """Print the advice, the systems best first by the primary index, and the basis."""
    brief = Brief.of(result, verdict)
    for text in brief.said:
        click.echo(text)
    if len(verdict.standings.names) == 1:
        _print_figures(result, verdict.standings)
        if tuple(result.options.measures) != MEASURES or result.primary.index.of_run:
            _print_measures(result, verdict.standings)
    else:
        _print_standings(result, verdict.standings, brief.systems)
        if tuple(result.options.measures) != MEASURES and _none_known(result, list(result.systems[0].measures)):
            click.echo(f"Measures of ir-measures: {result.conventions['measures']}.")
    click.echo(f"{verdict.measure} {_basis(result)}")
    for note in brief.notes:
        click.echo(note)


def _print_all(result: ScoreResult, verdict: Verdict) -> None:
    """Every figure, convention and note."""
    ranked = verdict.standings
    several = len(ranked.names) > 1
    for sentence in verdict.advice():
        click.echo(sentence)
    click.echo()
    _print_standings(result, ranked) if several else _print_figures(result, ranked)
    click.echo()
    for sentence in verdict.further():
        click.echo(sentence)
    if several:
        click.echo()
        _print_figures(result, ranked)
    _print_explained(result, ranked)
    if several:
        _print_told_apart(result, ranked)
    _print_measures(result, ranked)
    click.echo()
    _print_conventions(result)


def _print_standings(result: ScoreResult, ranked: Standings, most: int | None = None) -> None:
    """Each system's rank, the primary index, and how far it is from the first.

    Parameters
    ----------
    most : so many systems, with the measures that were asked for; None: all, with how they compare by other indices
    """
    from relstudy.analysis.indices.judged_coverage import COVERED_IN_WORDS
    from relstudy.analysis.indices.registry import judged_beside

    index, first = result.primary.index, ranked.names[0]
    others = [each for each in result.own_indices if each is not index]
    asked = [] if most is None else _asked(result)
    rows = []
    for name in ranked.names[:most]:
        row = [ranked.rank(name), name, *_cells(result[name].shown(index))]
        row += _cells_of_difference(ranked.from_the_first(index, name))
        row += [number(result[name].measures[measure].value) for measure in asked]
        if most is None:
            row.append(" ".join(ranked.mark(each.name, first, name) for each in others))
        rows.append(row)
    interval = _interval(result.options.level)
    header = ["rank", "system", "estimate", interval, "difference from the leader", interval, *asked]
    header += ["also"] if most is None else []
    header += _add_scored(result, ranked.names, rows)
    beside = {judged_beside(index) for index in result.indices if index is result.primary.index or index.name in asked}
    decides = judged_beside(result.primary.index)
    depth = [name for name in result.first_judged if name == decides or name in beside & {*result.covered_in_part}]
    if depth:
        header += depth
        cells = [_judged_cells(result, name, depth) for name in ranked.names[:most]]
        rows = [[*row, *each] for row, each in zip(rows, cells, strict=True)]
    print_table(rows, header, dim=(3, 5))
    if set(depth) & {*result.covered_in_part}:
        click.echo(COVERED_IN_WORDS)
    if most is not None and len(ranked.names) > most:
        click.echo(f"      and {count_of(len(ranked.names) - most, 'further system')}")
    if most is None:
        terms = listed([each.term for each in others])
        click.echo(
            f"estimate: {index.term}. also: against the leader by {terms}: = no clear difference, ▼ clearly behind, "
            "▲ ahead, corrected together as one family."
        )


def _asked(result: ScoreResult) -> list[str]:
    """The measures that were asked for, by name, without the one that decides."""
    if tuple(result.options.measures) == MEASURES:
        return []
    asked = [name for name in result.systems[0].measures if name != result.primary.name]
    return [] if _none_known(result, asked) else asked


def _interval(level: float) -> str:
    """The header of intervals, such as "95 %"."""
    return f"{100 * level:g} %"


def _cells(figure: Estimate, form: str = ".3f") -> list[str]:
    """A figure and its interval."""
    return [number(figure.value, form), span(figure.low, figure.high)]


def _cells_of_difference(figure: Estimate) -> list[str]:
    return [_signed(figure.value), span(figure.low, figure.high)]


def _signed(value: float | None) -> str:
    return "" if value is None else number(value, "+.3f")


def _print_figures(result: ScoreResult, ranked: Standings) -> None:
    """Every index of every system."""
    rows = [_row(result, result[name]) for name in ranked.names]
    header = ["system", *_columns(result)]
    header += _add_scored(result, ranked.names, rows)
    print_table(rows, header, dim=[k for k, name in enumerate(header) if "%" in name])


def _add_scored(result: ScoreResult, names: Sequence[str], rows: Sequence[list[str]]) -> list[str]:
    """Add to each system's row the share of judged pairs that it scores, where any leaves some unscored; the header."""
    if all(system.coverage.scored == system.coverage.judged for system in result.systems):
        return []
    for name, row in zip(names, rows, strict=False):
        row.append(percent(result[name].coverage.fraction, 1))
    return ["scored"]


def _print_groups(within: Groups) -> None:
    """The figures within each group of pairs."""
    click.echo()
    header = [within.column, "pairs", "queries", "system", *_columns(next(iter(within.results.values())))]
    rows = []
    for name, result in within.results.items():
        for system in result.systems:
            rows.append([name, str(result.pairs["judged"]), str(result.pairs["queries"]), *_row(result, system)])
    print_table(rows, header, dim=[k for k, name in enumerate(header) if "%" in name])
    _print_measures_of_groups(within)
    _print_differences_of_groups(within)
    fitted = "each group alone" if within.apart else "all groups together; --apart fits each alone"
    click.echo(f"Mappings are fitted to {fitted}.")
    for name, result in within.results.items():
        for note in result.notes:
            click.echo(f"{name}: {note}")


def _print_differences_of_groups(within: Groups) -> None:
    """Differences of systems in each group by the index that decides, and the tests that were asked for."""
    first = next(iter(within.results.values()))
    index = first.primary.index
    rows = []
    for name, result in within.results.items():
        for each in (other for other in result.comparisons if other.index == index.name):
            shown = _cells_of_difference(index.shown_difference(each.difference))
            rows.append([name, each.first, each.second, *shown, _p(each.p_value), _p(each.p_family)])
    if rows:
        click.echo()
        header = [within.column, "first", "second", index.term, _interval(first.options.level), "p", "p family"]
        print_table(rows, header, dim=(4,))
    tests = within.tests or {}
    rows = [[name, *_tested_row(each)] for name, of_group in tests.items() for each in of_group.tests]
    if rows:
        click.echo()
        header = [within.column, "measure", "first", "second", "difference", "ends", "p corrected", "p t", "p signs"]
        header += ["p bootstrap", "effect", "better/equal/worse", "p equal", "chance above"]
        print_table(rows, header, dim=(5,))


def _print_measures_of_groups(within: Groups) -> None:
    """The measures of ir-measures within each group that has them."""
    names = list(dict.fromkeys(name for result in within.results.values() for name in result.systems[0].measures))
    if not names:
        return
    rows = [
        [group, system.name, *_measure_cells(system, names)]
        for group, result in within.results.items()
        for system in result.systems
    ]
    header = [within.column, "system", *_measure_columns(next(iter(within.results.values())), names)]
    click.echo()
    print_table(rows, header, dim=range(3, len(header), 2))


def _columns(result: ScoreResult) -> list[str]:
    interval = _interval(result.options.level)
    return [*(text for index in result.own_indices for text in (index.term, interval)), "mapping"]


def _row(result: ScoreResult, system: SystemScore) -> list[str]:
    cells = [text for index in result.own_indices for text in _cells(system.shown(index))]
    return [system.name, *cells, "none" if system.mapping is None else system.mapping.method]


def _print_told_apart(result: ScoreResult, ranked: Standings) -> None:
    """The pairs of systems that are not told apart by the primary index."""
    tied = [(a, b) for a, b in combinations(ranked.names, 2) if b in ranked.not_told_apart(a)]
    if tied and len(ranked.names) > 2:
        shown = "; ".join(f"{a} and {b}" for a, b in tied[:MOST_PAIRS])
        more = f"; and {count_of(len(tied) - MOST_PAIRS, 'further pair')} (--json)" if len(tied) > MOST_PAIRS else ""
        click.echo(f"Not distinguished by {result.primary.index.term}: {shown}{more}.")


def _print_explained(result: ScoreResult, ranked: Standings) -> None:
    """Print the explained share of what any system could explain; nothing where the noise of judgments is not known."""
    rows = [
        [name, *(cell for figure in (each.share, each.reachable, each.of_reachable) for cell in _percent(figure))]
        for name in ranked.names
        if (each := result[name].explained).of_reachable.value is not None
    ]
    if not rows:
        return
    click.echo()
    interval = _interval(result.options.level)
    header = ["r squared, of judgments", "explained", interval, "reachable", interval, "of reachable", interval]
    print_table(rows, header, dim=(2, 4, 6))


def _percent(figure: Estimate) -> list[str]:
    if figure.value is None:
        return ["–", ""]
    return [percent(figure.value), span(figure.low, figure.high, "%")]


def _print_measures(result: ScoreResult, ranked: Standings) -> None:
    """The measures of ir-measures, a column each."""
    names = list(result.systems[0].measures)
    if not names:
        return
    if _none_known(result, names):
        click.echo(f"Measures of ir-measures: {result.conventions['measures']}.")
        return
    click.echo()
    rows = [[name, *_measure_cells(result[name], names), *_judged_cells(result, name)] for name in ranked.names]
    header = ["system", *_measure_columns(result, names)]
    print_table(rows, [*header, *result.first_judged], dim=range(2, len(header), 2))
    click.echo(f"Measures: {result.conventions['measures']}.")


def _none_known(result: ScoreResult, names: Sequence[str]) -> bool:
    return all(system.measures[name].value is None for system in result.systems for name in names)


def _measure_columns(result: ScoreResult, names: Sequence[str]) -> list[str]:
    return [text for name in names for text in (name, _interval(result.options.level))]


def _measure_cells(system: SystemScore, names: Sequence[str]) -> list[str]:
    figures = [system.measures.get(name, Estimate.missing("left out of this group")) for name in names]
    return [text for figure in figures for text in _cells(figure)]


def _judged_cells(result: ScoreResult, name: str, columns: Sequence[str] | None = None) -> list[str]:
    """The number of a system's first results that are judged."""
    shares = result[name].first_judged
    return [percent(shares[each], 1) if each in shares else "" for each in columns or result.first_judged]


def _basis(result: ScoreResult) -> str:
    """The basis of the figures, in a sentence."""
    pairs, population = result.pairs, result.population
    corrected = (
        f"for the collection, of whose queries {percent(population.lowest)} were drawn"
        if population.finite
        else "for any queries like these"
    )
    return (
        f"{count_of(int(pairs['judged']), 'judged pair')} of {count_of(int(pairs['queries']), 'query', 'queries')}; "
        f"{_interval(result.options.level)} intervals {corrected}, and {result.primary_raters.sentence()}."
    )


def _print_conventions(result: ScoreResult) -> None:
    """Print the basis of the figures, every convention, and the notes."""
    click.echo(_basis(result))
    click.echo(
        f"{tenths(result.pairs['relevant'])} of the pairs are good ({result.conventions['relevant']}). Correlation "
        f"over {result.scope}, of mapped scores where possible, out of fold."
    )
    for name, value in result.conventions.items():
        click.echo(f"  {name.replace('_', ' ')}: {value}")
    for note in result.notes:
        click.echo(note)


def _shown(figures: Mapping[str, Assisted]) -> list[str]:
    """The indices that are printed; all are in --json and in the tables (--out)."""
    from relstudy.analysis.indices.precision_recall import RELEVANT, at_share
    from relstudy.analysis.indices.registry import own_indices

    at_shares = (at_share("precision", 0.05), at_share("precision", 0.2), at_share("recall", 0.2))
    names = (RELEVANT, *(index.name for index in own_indices()), *at_shares)
    return [name for name in names if name in figures]


def _print_assisted(assisted: AssistedScores) -> None:
    """People alone beside people with the judge's help, a line per system and index."""
    helper = assisted.helper or "the judge"
    click.echo()
    rows = []
    for system, figures in assisted.systems.items():
        for index in _shown(figures):
            each = figures[index]
            ratio = number(each.width_ratio, ".2f")
            weights = [f"{weight:.2f}" for weight in each.weights]
            rows.append([system, index, *_cells(each.people, ".4f"), *_cells(each.estimate, ".4f"), ratio, *weights])
    both = ["people", "interval", f"with {helper}", "interval"]
    print_table(rows, ["system", "index", *both, "width", "l2", "l1"])
    for reason, missing in _withheld(assisted).items():
        click.echo(f"{', '.join(missing)}: {reason}.")
    numbers = assisted.judge.as_json()
    opening = f"Judge {assisted.judge.name}: {count_of(numbers['answered'], 'answer')} for"
    if assisted.helper is not None:
        opening = "The systems' own scores predict, by a regression on other queries, what people would say of"
    click.echo(
        f"{opening} {count_of(numbers['rows'], 'pair')} of {count_of(numbers['queries'], 'query', 'queries')}. Width: "
        f"of the interval with {helper} against that of people alone; l2 and l1: how much of the correction within and "
        "between queries is taken, 0 to 1. Shares of the collection are those of these pairs."
    )


def _withheld(assisted: AssistedScores) -> dict[str, list[str]]:
    """The figures that have no value or no interval, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for system, figures in assisted.systems.items():
        for index in _shown(figures):
            reason = figures[index].estimate.reason
            if reason is not None:
                by_reason.setdefault(reason, []).append(f"{index} of {system}")
    return by_reason
