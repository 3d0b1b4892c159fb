"""The options that tell a command how a table from elsewhere is to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

NAMES = ("columns", "values", "scale", "missing")
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--columns",
        metavar="OURS=THEIRS,...",
        help="Which column is which, as rater_id=worker,rating=grade. Several for rating (or a pattern, as rating=P*) "
        "where each rater has a column.",
    ),
    click.option("--values", metavar="TEXT=NUMBER,...", help='Numbers for words, as "not=0,partly=1,relevant=2".'),
    click.option("--scale", metavar="LOW-HIGH", help="The scale of the ratings or judgments, as 0-100."),
    click.option("--missing", metavar="TEXT,...", help="What stands for no answer, as NA,nan,-."),
)


def reading_options(command: Command) -> Command:
    """Give a command --columns, --values, --scale and --missing, each None where it is left out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
