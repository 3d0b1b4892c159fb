"""`relstudy inspect`: what a file is and what to do with it."""

from __future__ import annotations

import csv
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.console import print_json
from relstudy.common.option_words import list_entry

if TYPE_CHECKING:
    from relstudy.analysis.inspection.finding import Inspection


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
        if _is_terminal():
            _ask(finding)


def _is_terminal() -> bool:
    """True where a person sits there, who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask(finding: Inspection) -> None:
    """Let the person at the terminal say what the table does not tell, and print the command."""
    if finding.readings:
        numbers = click.IntRange(1, len(finding.readings))
        finding = finding.readings[click.prompt("Which of these is it?", type=numbers) - 1]
        if finding.command:
            click.echo(f"next:\n  {finding.command}")
    if finding.draft:
        words = [_filled(word) for word in shlex.split(finding.draft)]
        click.echo(f"next:\n  {shlex.join(words)}")


def _filled(word: str) -> str:
    """An option's value with what the person says in place of its blanks."""
    entries = []
    for entry in next(csv.reader([word]), []):
        name, _, blank = entry.rpartition("=")
        if blank == "NUMBER":
            entry = f"{name}={click.prompt(f'What number is {name!r} worth?', type=float):g}"
        elif blank in ("NAME", "COLUMN"):
            entry = f"{name}={click.prompt(f'Which column is {name}?')}"
        entries.append(entry)
    return ",".join(map(list_entry, entries)) if "=" in word else word
