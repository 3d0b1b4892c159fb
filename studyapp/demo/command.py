"""relstudy demo: the whole way, on example pictures and a simulated panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.wording import quoted, span

if TYPE_CHECKING:
    from relstudy.studyapp.demo.pipeline import Outcome
    from relstudy.studyapp.demo.recovery import Recovered
    from relstudy.studyapp.demo.sizes import Size


@dataclass(frozen=True, kw_only=True)
class DemoOptions(CommandOptions):
    """Options of `relstudy demo`."""

    no_serve: bool = option(False, "End when the report is written; serve nothing.")
    images: int | None = option(None, "Number of pictures.", shown="320; full: 1000", at_least=60, at_most=1_000)
    raters: int | None = option(None, "Number of simulated raters.", shown="12; full: 16", at_least=2, at_most=500)
    scale: Literal["small", "full"] = option("small", "full: 1,000 pictures, queries by text too; takes minutes.")
    show: Literal["pictures", "cards"] = option(
        "pictures", "cards: the pictures are a shop's cards, found by words, with two questions about each."
    )
    paper: bool = option(
        False,
        "The paper's systems, a second round, other scales, and the paper's tables as printed; takes minutes.",
    )
    seed: int = option(0, "Random seed of the choice of pictures, panel and sample.", at_least=0, any_size=True)
    port: int = option(8000, "Port of the app; 0: any free one.", at_least=0, at_most=65535)

    def size(self) -> Size:
        """The demo's size that these make."""
        from relstudy.studyapp.demo.sizes import SIZES

        size = SIZES[self.scale]
        if self.show == "cards":
            if self.paper:
                raise click.UsageError("--paper goes with --show pictures: the paper's raters saw pictures")
            size = size.as_a_shop()
        if self.images is not None:
            fewer = min(size.queries, round(self.images * size.queries / size.images))
            size = replace(size, images=self.images, queries=size.queries if size.cards else fewer)
        if self.raters is not None:
            size = replace(size, raters=self.raters, ratings_per_pair=min(size.ratings_per_pair, self.raters))
        return size.as_in_the_paper() if self.paper else size


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"))
@taking(DemoOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def demo(folder: Path, options: DemoOptions, as_json: bool) -> None:
    """Go the whole way in FOLDER (default: demo), then serve the app and the report.

    Lays out pictures, lets systems score them, chooses pairs, has a simulated panel rate them through the real web
    pages, calibrates, fits mappings, scores the systems and writes the report. Because true relevance is known, it ends
    with a table of what was recovered against what is true. The folder is a complete study: every command works on it.

    \b
    Examples:
      relstudy demo
      relstudy demo my-demo --no-serve --raters 20
      relstudy demo my-shop --show cards
    """
    from relstudy.common.runtime.console import print_json, say
    from relstudy.studyapp.demo.pipeline import run_demo

    outcome = run_demo(folder, options.size(), seed=options.seed)
    if as_json:
        print_json(outcome.as_json())
    else:
        _print(outcome)
    if options.no_serve:
        say(f"Report: {outcome.report}. To look around: relstudy serve {quoted(folder)}")
    else:
        from relstudy.studyapp.demo.server import look_around

        look_around(folder, options.port)


def _print(outcome: Outcome) -> None:
    from relstudy.common.runtime.console import print_table

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
        "should not. All share the same queries, so these are not independent checks."
    )


def _row(row: Recovered) -> list[str]:
    interval = span(row.low, row.high)
    mark = {True: "✓", False: "✗", None: ""}[row.covered]
    value = "" if row.recovered is None else f"{row.recovered:.3f}"
    return [row.quantity, row.system, f"{row.true:.3f}", value, interval, mark]
