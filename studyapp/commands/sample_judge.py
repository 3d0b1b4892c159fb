"""relstudy sample --next --judge: a further round where people's judgments tell most beside an automatic judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.console import print_json, print_table
from relstudy.studyapp.commands.sample_output import Cost

if TYPE_CHECKING:
    from relstudy.studyapp.sampling.judge_round import JudgeRound, JudgeRoundOptions


def draw_by_judge(folder: Path, options: JudgeRoundOptions, cost: Cost, as_json: bool, preview: bool) -> None:
    """Add a round where people's judgments tell most beside a judge."""
    from relstudy.studyapp.commands.sample import bar, write
    from relstudy.studyapp.sampling.judge_round import draw_judge_round

    added = draw_judge_round(folder, options, bar)
    if not preview:
        added.write_sizes(folder)
        write(folder, added)
    _print(folder, added, options.aim, cost, as_json, preview)


def _print(folder: Path, added: JudgeRound, aim: str, cost: Cost, as_json: bool, preview: bool) -> None:
    """Say what a round that a judge shaped brings: how many pairs, and the widths of intervals to expect."""
    from relstudy.studyapp.sampling.further_pairs import sizes_file

    this = added.design.rounds[-1]
    new = added.pairs[added.pairs["round"] == this.number]
    summary = {
        "round": this.number,
        "judge": this.judge,
        "aim": aim,
        "new_pairs": added.new,
        "pairs": len(added.pairs),
        "queries": int(new["query_id"].nunique()),
        "smallest_inclusion_probability": added.smallest,
        "width": {
            each.system: {"now": each.now, "as_before": each.as_before, "expected": each.expected}
            for each in added.widths
        },
        **cost.of(0, added.new),
        "notes": list(added.notes),
    }
    if as_json:
        print_json(summary)
        return
    cell = lambda width: "–" if width is None else f"{width:.3f}"  # noqa: E731
    print_table(
        [[each.system, cell(each.now), cell(each.as_before), cell(each.expected)] for each in added.widths],
        [f"width of {aim.replace('_', ' ')}", "now", "as many drawn as before", "this round"],
    )
    click.echo(
        f"Round {this.number}, shaped by judge {this.judge}: {added.new} new pairs of {summary['queries']} queries, "
        f"{len(added.pairs)} in all; smallest inclusion probability {added.smallest:.3g}; "
        f"{summary['rater_hours']['total']:.1f} rater hours at {cost.seconds:.3g} seconds per rating, "
        f"{cost.seconds_from}."
    )
    click.echo(
        "Widths are of 95 % intervals with the judge's help, and to be expected: they rest on what its grades were "
        "worth so far."
    )
    for note in added.notes:
        click.echo(note)
    if preview:
        click.echo("Nothing was written.")
    else:
        click.echo(
            f"Wrote {folder / 'pairs.csv'} with the probabilities of all rounds combined, {folder / 'design.json'}, "
            f"and {folder / sizes_file(this.number)}, on which this round's probabilities rest."
        )
