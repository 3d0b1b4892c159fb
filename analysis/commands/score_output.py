"""How `relstudy score` prints a result: best first, who is told apart from whom, and the verdict."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import click

from relstudy.analysis.commands.judge_output import print_assisted
from relstudy.analysis.verdict.measures import LETTERS_MEAN, MOST_IN_MATRIX
from relstudy.common.console import print_table
from relstudy.common.wording import count_of, percent, span

if TYPE_CHECKING:
    from relstudy.analysis.pipeline import ScoringRun
    from relstudy.analysis.scoring.groups import Groups
    from relstudy.analysis.scoring.results import ScoreResult, SystemScore
    from relstudy.analysis.verdict.standings import Standings
    from relstudy.analysis.verdict.verdict import Verdict
    from relstudy.common.estimates import Estimate

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
    """The figures best first, the verdict, who is told apart, and what all this rests on."""
    ranked = verdict.standings
    several = len(ranked.names) > 1
    rows = [[*([ranked.rank(name)] if several else []), *_row(result[name])] for name in ranked.names]
    header = [*(["rank"] if several else []), "system", *_columns(result)]
    if result_is_partial(result):
        header.append("scored")
        scored = [percent(result[name].coverage.fraction, 1) for name in ranked.names]
        rows = [[*row, share] for row, share in zip(rows, scored, strict=True)]
    print_table(rows, header, dim=[k for k, name in enumerate(header) if "%" in name])
    click.echo()
    for sentence in verdict.sentences():
        click.echo(sentence)
    _print_explained(result, ranked)
    if several and ranked.measures:
        _print_told_apart(ranked)
    _print_measures(result, ranked)
    click.echo()
    _print_basis(result, verbose)


def result_is_partial(result: ScoreResult) -> bool:
    """Whether any system leaves judged pairs unscored."""
    return any(system.coverage.scored < system.coverage.judged for system in result.systems)


def _print_groups(within: Groups) -> None:
    """The figures within each group of pairs."""
    click.echo()
    header = [within.column, "pairs", "queries", "system", *_columns(next(iter(within.results.values())))]
    rows = []
    for name, result in within.results.items():
        for system in result.systems:
            rows.append([name, str(result.pairs["judged"]), str(result.pairs["queries"]), *_row(system)])
    print_table(rows, header, dim=[k for k, name in enumerate(header) if "%" in name])
    fitted = "each group alone" if within.apart else "all groups together; --apart fits each alone"
    click.echo(f"Mappings are fitted to {fitted}.")
    for name, result in within.results.items():
        for note in result.notes:
            click.echo(f"{name}: {note}")


def _columns(result: ScoreResult) -> list[str]:
    interval = f"{100 * result.options.level:g} %"
    return ["correlation", interval, "pooled AP", interval, "good above poor", interval, "mapping"]


def _row(system: SystemScore) -> list[str]:
    rank = system.normalised_rank
    above = rank.negated()
    cells = [system.name]
    for figure, shift in ((system.pearson, 0.0), (system.average_precision, 0.0), (above, 1.0)):
        cells += [_number(figure.value, shift), _ends(figure, shift)]
    return [*cells, "none" if system.mapping is None else system.mapping.method]


def _number(value: float | None, shift: float = 0.0) -> str:
    return "–" if value is None else f"{value + shift:.3f}"


def _ends(figure: Estimate, shift: float = 0.0) -> str:
    return "" if figure.low is None or figure.high is None else span(figure.low + shift, figure.high + shift)


def _print_told_apart(ranked: Standings) -> None:
    """By which measures each system is clearly better than each other, and the pairs that are not told apart."""
    names = ranked.names
    if 2 < len(names) <= MOST_IN_MATRIX:
        click.echo()
        click.echo(f"Row clearly better than column (Holm-corrected): {LETTERS_MEAN}")
        numbers = [str(k) for k in range(1, len(names) + 1)]
        rows = [
            [number, first, *("" if first == second else ranked.letters(first, second) or "·" for second in names)]
            for number, first in zip(numbers, names, strict=True)
        ]
        print_table(rows, ["", "", *numbers])
    tied = [(a, b) for a, b in combinations(names, 2) if b in ranked.not_told_apart(a)]
    if tied and len(names) > 2:
        shown = "; ".join(f"{a} and {b}" for a, b in tied[:MOST_PAIRS])
        more = f"; and {count_of(len(tied) - MOST_PAIRS, 'further pair')} (--json)" if len(tied) > MOST_PAIRS else ""
        click.echo(f"Not told apart: {shown}{more}.")


def _print_explained(result: ScoreResult, ranked: Standings) -> None:
    """What each system explains of what any could; nothing where the noise of judgments is not known."""
    rows = [
        [name, *(cell for figure in (each.share, each.explainable, each.of_explainable) for cell in _percent(figure))]
        for name in ranked.names
        if (each := result[name].explained).of_explainable.value is not None
    ]
    if not rows:
        return
    click.echo()
    interval = f"{100 * result.options.level:g} %"
    header = ["of the variance of judgments", "explained", interval, "could be", interval, "of what could be", interval]
    print_table(rows, header, dim=(2, 4, 6))


def _percent(figure: Estimate) -> list[str]:
    if figure.value is None:
        return ["–", ""]
    return [percent(figure.value), span(figure.low, figure.high, "%")]


def _print_measures(result: ScoreResult, ranked: Standings) -> None:
    names = list(dict.fromkeys(name for system in result.systems for name in system.measures))
    if not names:
        return
    click.echo()
    rows = []
    for system in (result[name] for name in ranked.names):
        row = [system.name]
        for name in names:
            figure = system.measures.get(name)
            row += ["–", ""] if figure is None else [_number(figure.value), _ends(figure)]
        rows.append(row)
    header = ["system", *(text for name in names for text in (name, f"{100 * result.options.level:g} %"))]
    print_table(rows, header, dim=range(2, len(header), 2))
    click.echo(f"Measures: {result.conventions['measures']}.")


def _print_basis(result: ScoreResult, verbose: bool) -> None:
    """What the figures rest on: briefly, or every convention."""
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
        f"{round(pairs['relevant'], 1):,g} of them good ({conventions['relevant']}). Correlation over {over}, of "
        "mapped scores where there is a mapping, out of fold."
    )
    click.echo(
        f"{100 * result.options.level:g} % intervals over queries, {corrected}; they speak of {conventions['raters']}."
    )
    if verbose:
        for name, value in conventions.items():
            click.echo(f"  {name.replace('_', ' ')}: {value}")
    else:
        click.echo("Every convention: --verbose or --json.")
    for note in result.notes:
        click.echo(note)
