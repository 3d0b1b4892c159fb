"""The options that tell a command how a table from elsewhere is to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from relstudy.common.command_options import option_under

if TYPE_CHECKING:
    from relstudy.common.reading import Reading

NAMES = ("columns", "values", "scale", "missing", "where", "items")
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = {
    "--columns": (
        "THEIRS=OURS,...",
        "Which column is which, as worker=rater_id,grade=rating, in whatever table it stands (FILE:grade=rating for "
        "one of them). Several for rating (or a pattern, as P*=rating) where each rater, or each answer, has a column.",
    ),
    "--values": ("TEXT=NUMBER,...", 'Numbers for words, as "not=0,partly=1,relevant=2".'),
    "--scale": ("LOW-HIGH", "The scale of the ratings or judgments, as 0-100."),
    "--missing": ("TEXT,...", "What stands for no answer, as NA,nan,-."),
    "--where": ("COLUMN==VALUE", "Which rows are read, as Finished==1; several are joined by and."),
    "--items": (
        "FILE|wording",
        "Which pair each column of a survey asked about: a table column,query_id,result_id, or the survey's wording.",
    ),
}


def reading_of_several(stated: Mapping[str, str | None], has_judgments: bool = True) -> Reading:
    """The readings of both tables, from the options of a command that reads judgments and scores.

    Raises
    ------
    RelstudyError
        where something is said of judgments, and there are none to read
    """
    from relstudy.common.errors import RelstudyError
    from relstudy.common.reading import Reading

    reading = Reading.stated(**{name: stated[name] for name in (*NAMES, "gains") if name in stated})
    if not has_judgments and reading.tells_answers:
        raise RelstudyError("--values, --scale, --missing and --gains are for the judgments, and none are given")
    return reading.among_several()


def reading_options(heading: str) -> Callable[[Command], Command]:
    """Give a command the options of how tables are read, under a heading; each is None where it is left out."""

    def decorate(command: Command) -> Command:
        for flag, (metavar, sentence) in reversed(_OPTIONS.items()):
            command = option_under(heading, flag, metavar=metavar, help=sentence)(command)
        return command

    return decorate
