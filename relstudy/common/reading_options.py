"""The options that tell a command how a table from elsewhere is to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from relstudy.common.reading import Reading

NAMES = ("columns", "values", "scale", "missing")
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--columns",
        metavar="OURS=THEIRS,...",
        help="Which column is which, as rater_id=worker,rating=grade. Several for rating (or a pattern, as rating=P*) "
        "where each rater, or each answer, has a column.",
    ),
    click.option("--values", metavar="TEXT=NUMBER,...", help='Numbers for words, as "not=0,partly=1,relevant=2".'),
    click.option("--scale", metavar="LOW-HIGH", help="The scale of the ratings or judgments, as 0-100."),
    click.option("--missing", metavar="TEXT,...", help="What stands for no answer, as NA,nan,-."),
)


OF_JUDGMENTS = (
    *("query_id", "result_id", "judgment", "rating", "rater_id", "inclusion_probability", "query_probability"),
)
"""Columns that `--columns` may name where judgments are read beside scores."""


def judgments_reading(stated: Mapping[str, str | None], has_judgments: bool = True) -> Reading:
    """How the judgments are to be read, from the options of a command that reads scores too.

    Raises
    ------
    RelstudyError
        where --columns names one of the scores' columns, or there are no judgments to read
    """
    from relstudy.common.errors import RelstudyError
    from relstudy.common.reading import Reading

    reading = Reading.stated(**{name: stated[name] for name in NAMES})
    foreign = [name for name in reading.columns if name not in OF_JUDGMENTS]
    if foreign or (reading and not has_judgments):
        what = f"there is no column {foreign[0]!r} in them" if foreign else "none are given"
        raise RelstudyError(f"--columns, --values, --scale and --missing are for the judgments, and {what}")
    return reading


def reading_options(command: Command) -> Command:
    """Give a command --columns, --values, --scale and --missing, each None where it is left out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
