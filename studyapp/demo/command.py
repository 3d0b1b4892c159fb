"""relstudy demo: the whole way, on a rendered collection and a simulated panel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from relstudy.studyapp.demo.pipeline import Outcome
    from relstudy.studyapp.demo.recovered import Recovered


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"))
@click.option("--no-serve", is_flag=True, help="End when the report is written; serve nothing.")
@click.option("--images", type=click.IntRange(60, 20_000), help="Number of pictures. [default: 320; full: 1000]")
@click.option("--raters", type=click.IntRange(2, 500), help="Number of simulated raters. [default: 12; full: 16]")
@click.option(
    "--scale",
    type=click.Choice(["small", "full"]),
    default="small",
    show_default=True,
    help="full: 1,000 pictures, queries by text too; takes minutes.",
)
@click.option(
    "--paper",
    is_flag=True,
    help="The paper's systems, a second round, other scales, and the paper's tables as printed; takes minutes.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of pictures, panel and sample.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="Of the app; 0: any free.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def demo(
    folder: Path,
    no_serve: bool,
    images: int | None,
    raters: int | None,
    scale: str,
    paper: bool,
    seed: int,
    port: int,
    as_json: bool,
) -> None:
    """Go the whole way in FOLDER (default: demo), then serve the app and the report.

    Paints a collection, lets systems score it, chooses pairs, has a simulated panel rate them through the real web
    pages, calibrates, fits mappings, scores the systems and writes the report. Because true relevance is known, it ends
    with a table of what was recovered against what is true. The folder is a complete study: every command works on it.

    \b
    Examples:
      relstudy demo
      relstudy demo my-demo --no-serve --raters 20
    """
    from dataclasses import replace

    from relstudy.common.console import print_json, say
    from relstudy.studyapp.demo.pipeline import run_demo
    from relstudy.studyapp.demo.sizes import SIZES

    size = SIZES[scale]
    if images is not None:
        size = replace(size, images=images, queries=min(size.queries, round(images * size.queries / size.images)))
    if raters is not None:
        size = replace(size, raters=raters, ratings_per_pair=min(size.ratings_per_pair, raters))
    size = size.as_in_the_paper() if paper else size
    outcome = run_demo(folder, size, seed=seed)
    if as_json:
        print_json(outcome.as_json())
    else:
        _print(outcome)
    if no_serve:
        say(f"Report: {outcome.report}. To look around: relstudy serve {folder}")
    else:
        from relstudy.studyapp.demo.server import look_around

        look_around(folder, port)


def _print(outcome: Outcome) -> None:
    from relstudy.common.console import print_table

    click.echo()
    click.echo("Recovered against true")
    print_table([_row(row) for row in outcome.rows], ["quantity", "system", "true", "recovered", "95 % interval", ""])
    _print_covered(outcome.rows)
    click.echo("\nWith a simulated judge that is partly right and leans to one system (docs/judges.md)")
    print_table([_row(row) for row in outcome.judged], ["quantity", "system", "true", "estimated", "95 % interval", ""])


def _print_covered(rows: Sequence[Recovered]) -> None:
    covered = [row.covered for row in rows if row.covered is not None]
    click.echo(
        f"\n{sum(covered)} of {len(covered)} intervals hold the true value (✓); of 95 % intervals, about one in twenty "
        "should not. They rest on the same queries, and so succeed or fail together."
    )


def _row(row: Recovered) -> list[str]:
    interval = f"{row.low:.3f} to {row.high:.3f}" if row.low is not None and row.high is not None else ""
    mark = {True: "✓", False: "✗", None: ""}[row.covered]
    value = "" if row.recovered is None else f"{row.recovered:.3f}"
    return [row.quantity, row.system, f"{row.true:.3f}", value, interval, mark]
