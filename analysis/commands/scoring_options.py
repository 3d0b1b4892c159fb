"""The options of a scoring run, the same for `relstudy score` and `relstudy report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from relstudy.analysis.scoring.options import COUNTS, ScoringOptions
from relstudy.common.command_options import option_under, options_of
from relstudy.common.options import declared, fields_given

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


def given_options(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `ScoringOptions` that the command line gave."""
    return fields_given(ScoringOptions, choices)


def as_arguments(choices: Mapping[str, Any], options: ScoringOptions) -> list[str]:
    """The options given, and folds, replicates and seed as they were used, as they stand on a command line."""
    arguments: list[str] = []
    for each in declared(ScoringOptions):
        value = getattr(options, each.field) if each.field in USED else choices[each.argument]
        if value is True:
            arguments.append(each.flags[0])
        elif value is not None:
            for one in value if isinstance(value, tuple) else (value,):
                arguments += [each.flags[0], f"{one:g}" if isinstance(one, float) else str(one)]
    return arguments
