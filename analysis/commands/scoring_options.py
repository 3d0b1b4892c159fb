"""The options of a scoring run, the same for `relstudy score` and `relstudy report`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import click

from relstudy.analysis.scoring.options import COUNTS, ScoringOptions
from relstudy.common.options.command_options import option_under, options_of
from relstudy.common.options.declaration import declared
from relstudy.common.options.option_wording import list_entry

Command = TypeVar("Command", bound=Callable[..., Any])
USED = ("folds", "replicates", "seed")
"""Options that a command that repeats a run states whether or not they were given."""


def scoring_options(command: Command) -> Command:
    """Give a command the options of a scoring run, each None where it is left out, --ratings and --queries."""
    queries = option_under(
        "Groups",
        "--queries",
        type=click.Path(),
        help="A table of queries (query_id, segment, traffic, ...), for --by and --query-weights.",
    )
    ratings = option_under(
        COUNTS,
        "--ratings",
        type=click.Path(),
        help="The calibrated ratings behind the judgments, which another cut needs.  "
        "[default: calibrated.csv beside the judgments]",
    )
    return options_of(ScoringOptions)(ratings(queries(command)))


def as_arguments(options: Any, values: Mapping[str, Any]) -> list[str]:
    """The options of a dataclass that have a value, as they stand on a command line; a file by its name alone.

    Parameters
    ----------
    values : by argument's name; None is not stated

    Examples
    --------
    >>> from relstudy.common.tables.meaning.reading_options import ReadingOptions
    >>> as_arguments(ReadingOptions, {"columns": {"worker": "rater_id"}, "missing": ("n/a", "3,5"), "items": "a/b.csv"})
    ['--columns', 'worker=rater_id', '--missing', 'n/a,"3,5"', '--items', 'b.csv']
    """
    arguments: list[str] = []
    for each in declared(options):
        value = values.get(each.argument)
        if value is None:
            continue
        if value is True:
            arguments.append(each.flags[0])
            continue
        if isinstance(value, Mapping):
            value = [
                f"{name}={_text(one)}"
                for name, several in value.items()
                for one in (several if isinstance(several, tuple) else (several,))
            ]
        if each.said.typed is not None and not isinstance(value, str):
            value = ",".join(map(list_entry, value))
        elif any(get_origin(kind) is os.PathLike for kind in get_args(each.kind)):
            value = Path(str(value)).name
        for one in value if isinstance(value, tuple) else (value,):
            arguments += [each.flags[0], _text(one)]
    return arguments


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def scoring_arguments(choices: Mapping[str, Any], options: ScoringOptions) -> list[str]:
    """The options of a scoring run that were given, and folds, replicates and seed as they were used."""
    return as_arguments(ScoringOptions, {**choices, **{name: getattr(options, name) for name in USED}})


def file_arguments(files: Mapping[str, str | Path | None]) -> list[str]:
    """Files by the names of their options as they stand on a command line, without any path of this machine."""
    return [word for name, file in files.items() if file is not None for word in (f"--{name}", Path(file).name)]
