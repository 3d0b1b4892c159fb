"""`relstudy inspect`: what a file is and what to do with it."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.analysis.commands.asking import is_terminal, settled
from relstudy.common.runtime.console import print_json


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(file: Path, as_json: bool) -> None:
    """Say what FILE is, which column means what and why, what can be computed, and the command to run next.

    FILE is a table of ratings, judgments or scores, a TREC run or qrels, codes, or an export of another tool. Nothing
    is written, and no scale is guessed from a single odd value. Where two readings fit, or nothing tells the order of
    words, it asks on a terminal; elsewhere it shows every reading and chooses none.

    \b
    Example:
      relstudy inspect batch_results.csv
    """
    from relstudy.analysis.inspection.files import inspect_file

    finding = inspect_file(file)
    if as_json:
        print_json(finding.as_json())
    else:
        click.echo(str(finding))
        if is_terminal() and (finding.readings or finding.draft):
            chosen = settled(finding)
            if chosen.command:
                click.echo(f"next:\n  {chosen.command}")
