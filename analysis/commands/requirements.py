"""`--require`, the same for `relstudy score` and `relstudy report`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.analysis.scoring.results import ScoreResult
    from relstudy.analysis.verdict.requirements import Answer, Requirement

require_option = click.option(
    "--require",
    "required",
    multiple=True,
    metavar="TEXT",
    help="Hold the result against 'NAME > NAME by INDEX' (the first is better) or 'INDEX(NAME) > 0.3', once for each "
    "requirement; ends with 0 where all pass, 1 where one fails, 3 where none fails and one is undecided.",
)


def read_required(texts: Sequence[str]) -> list[Requirement]:
    """The requirements of a command line; a usage error where one cannot be read."""
    from relstudy.analysis.verdict.requirements import read_requirement

    try:
        return [read_requirement(text) for text in texts]
    except RelstudyError as error:
        raise click.UsageError(str(error)) from None


def hold_against(requirements: Sequence[Requirement], result: ScoreResult) -> list[Answer]:
    """Each beside its figure; a usage error where one names what the result does not have."""
    from relstudy.analysis.verdict.requirements import answer

    try:
        return [answer(requirement, result) for requirement in requirements]
    except RelstudyError as error:
        raise click.UsageError(str(error)) from None


def end_by(outcomes: Sequence[Answer]) -> None:
    """End the command with the code of its requirements, where that is not 0."""
    from relstudy.analysis.verdict.requirements import exit_code

    code = exit_code(each.outcome for each in outcomes)
    if code:
        sys.exit(code)
