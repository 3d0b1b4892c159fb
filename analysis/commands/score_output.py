"""The output of `relstudy score`: systems best first, differences between them, and the verdict."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import click

from relstudy.analysis.commands.judge_output import print_assisted
from relstudy.analysis.scoring.options import MEASURES
from relstudy.common.console import print_table
from relstudy.common.estimates import Estimate
from relstudy.common.wording import count_of, listed, percent, span, tenths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relstudy.analysis.pipeline import ScoringRun
    from relstudy.analysis.scoring.groups import Groups
    from relstudy.analysis.scoring.results import ScoreResult, SystemScore
    from relstudy.analysis.verdict.standings import Standings
    from relstudy.analysis.verdict.verdict import Verdict

MOST_PAIRS = 12


def print_run(run: ScoringRun, verbose: bool) -> None:
    """The systems, where new ones stand, the groups, and what the judge adds."""
    _print_result(run.result, run.verdict, verbose)
    for sentence in run.places:
        click.echo(sentence)
    if run.within is not None and run.within.results:
        _print_groups(run.within)
    for note in [] if run.within is None else run.within.notes():
        click.echo(note)
    if run.assisted is not None:
        print_assisted(run.assisted)


def _print_result(result: ScoreResult, verdict: Verdict, verbose: bool) -> None:
    """Print the verdict, the systems best first by the primary index, and the basis; with `verbose` all figures."""
    ranked = verdict.standings
    several = len(ranked.names) > 1
    for sentence in verdict.advice():
        click.echo(sentence)
    click.echo()
    _print_standings(result, ranked) if several else _print_figures(result, ranked)
    if verbose:
        click.echo()
        for sentence in verdict.further():
            click.echo(sentence)
        if several:
            click.echo()
            _print_figures(result, ranked)
        _print_explained(result, ranked)
        if several:
            _print_told_apart(result, ranked)
    if verbose or tuple(result.options.measures) != MEASURES:
        _print_measures(result, ranked)
    click.echo()
    _print_basis(result, verbose)


def _print_standings(result: ScoreResult, ranked: Standings) -> None:
    """Each system's rank, the primary index, how far it is from the first, and how it compares by the others."""
    index, first = result.primary.index, ranked.names[0]
    others = [each for each in result.own_indices if each is not index]
    rows = []
    for name in ranked.names:
        compared = None if name == first else ranked.comparison(index.name, first, name)
        gap = Estimate.missing("")
        if compared is not None:
            gap = index.shown_difference(compared.difference)
            gap = gap.negated() if compared.first == first else gap
        shown = result[name].shown(index)
        marks = [ranked.mark(each.name, first, name) for each in others]
        rows.append(
            [
                ranked.rank(name),
                name,
                _number(shown.value),
                _ends(shown),
                _signed(gap.value),
                _ends(gap),
                " ".join(marks),
            ]
        )
    interval = f"{100 * result.options.level:g} %"
    header = ["rank", "system", index.term, interval, "behind the first", interval, "also"]
    if result_is_partial(result):
        header.append("scored")
        scored = [percent(result[name].coverage.fraction, 1) for name in ranked.names]
        rows = [[*row, share] for row, share in zip(rows, scored, strict=True)]
    print_table(rows, header, dim=(3, 5))
    by = listed([each.term for each in others])
    click.echo(f"also: = as good as the first, ▼ clearly behind, ▲ ahead, by {by}, corrected together as one family.")


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _print_figures(result: ScoreResult, ranked: Standings) -> None:
    """Every index of every system."""
    rows = [_row(result, result[name]) for name in ranked.names]
    header = ["system", *_columns(result)]
    if result_is_partial(result):
        header.append("scored")
        scored = [percent(result[name].coverage.fraction, 1) for name in ranked.names]
        rows = [[*row, share] for row, share in zip(rows, scored, strict=True)]
    print_table(rows, header, dim=[k for k, name in enumerate(header) if "%" in name])


def result_is_partial(result: ScoreResult) -> bool:
    """True where any system leaves judged pairs unscored."""
    return any(system.coverage.scored < system.coverage.judged for system in result.systems)


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
    fitted = "each group alone" if within.apart else "all groups together; --apart fits each alone"
    click.echo(f"Mappings are fitted to {fitted}.")
    for name, result in within.results.items():
        for note in result.notes:
            click.echo(f"{name}: {note}")


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
    interval = f"{100 * result.options.level:g} %"
    return [*(text for index in result.own_indices for text in (index.term, interval)), "mapping"]


def _row(result: ScoreResult, system: SystemScore) -> list[str]:
    figures = [system.shown(index) for index in result.own_indices]
    cells = [text for figure in figures for text in (_number(figure.value), _ends(figure))]
    return [system.name, *cells, "none" if system.mapping is None else system.mapping.method]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ends(figure: Estimate) -> str:
    return "" if figure.low is None or figure.high is None else span(figure.low, figure.high)


def _print_told_apart(result: ScoreResult, ranked: Standings) -> None:
    """The pairs of systems that are not told apart by the primary index."""
    tied = [(a, b) for a, b in combinations(ranked.names, 2) if b in ranked.not_told_apart(a)]
    if tied and len(ranked.names) > 2:
        shown = "; ".join(f"{a} and {b}" for a, b in tied[:MOST_PAIRS])
        more = f"; and {count_of(len(tied) - MOST_PAIRS, 'further pair')} (--json)" if len(tied) > MOST_PAIRS else ""
        click.echo(f"Not told apart by {result.primary.index.term}: {shown}{more}.")


def _print_explained(result: ScoreResult, ranked: Standings) -> None:
    """Print the explained share of what any system could explain; nothing where the noise of judgments is not known."""
    rows = [
        [name, *(cell for figure in (each.share, each.explainable, each.of_explainable) for cell in _percent(figure))]
        for name in ranked.names
        if (each := result[name].explained).of_explainable.value is not None
    ]
    if not rows:
        return
    click.echo()
    interval = f"{100 * result.options.level:g} %"
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
    click.echo()
    rows = [[name, *_measure_cells(result[name], names)] for name in ranked.names]
    header = ["system", *_measure_columns(result, names)]
    print_table(rows, header, dim=range(2, len(header), 2))
    click.echo(f"Measures: {result.conventions['measures']}.")


def _measure_columns(result: ScoreResult, names: Sequence[str]) -> list[str]:
    return [text for name in names for text in (name, f"{100 * result.options.level:g} %")]


def _measure_cells(system: SystemScore, names: Sequence[str]) -> list[str]:
    figures = [system.measures.get(name, Estimate.missing("left out of this group")) for name in names]
    return [text for figure in figures for text in (_number(figure.value), _ends(figure))]


def _print_basis(result: ScoreResult, verbose: bool) -> None:
    """Print the basis of the figures: briefly, or every convention."""
    pairs, conventions = result.pairs, result.conventions
    over = "the whole collection" if result.collection else "the rated pairs"
    population = result.population
    corrected = (
        f"corrected for the collection, of whose queries {percent(population.lowest)} were drawn"
        if population.finite
        else "not corrected for a collection"
    )
    click.echo(
        f"{count_of(int(pairs['judged']), 'judged pair')} of {count_of(int(pairs['queries']), 'query', 'queries')}, "
        f"{tenths(pairs['relevant'])} of them good ({conventions['relevant']}). Correlation over {over}, of "
        "mapped scores where there is a mapping, out of fold."
    )
    click.echo(
        f"{100 * result.options.level:g} % intervals over queries, {corrected}; they speak of {conventions['raters']}."
    )
    if verbose:
        for name, value in conventions.items():
            click.echo(f"  {name.replace('_', ' ')}: {value}")
    else:
        click.echo("Every index, measure and convention: --verbose or --json.")
    for note in result.notes:
        click.echo(note)
