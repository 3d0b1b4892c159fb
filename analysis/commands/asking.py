"""Questions to the person at the terminal about what a file does not tell."""

from __future__ import annotations

import csv
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from relstudy.common.options.option_wording import list_entry

if TYPE_CHECKING:
    from relstudy.analysis.inspection.finding import Inspection


def is_terminal() -> bool:
    """True where a person sits there, who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def settled(finding: Inspection) -> Inspection:
    """The reading that the person at the terminal chooses, with what they say in place of a command's blanks."""
    if finding.readings:
        numbers = click.IntRange(1, len(finding.readings))
        finding = finding.readings[click.prompt("Which of these is it?", type=numbers) - 1]
    if finding.draft is None:
        return finding
    words = [_filled(word) for word in shlex.split(finding.draft)]
    return replace(finding, command=shlex.join(words), draft=None, questions=())


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
