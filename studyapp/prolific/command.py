"""relstudy admin prolific: submissions there beside raters here, places that are free again, bonuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relstudy.common.options.command_group import CheckedGroup
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option

if TYPE_CHECKING:
    from relstudy.studyapp.database.store import Store
    from relstudy.studyapp.prolific.client import Submission
    from relstudy.studyapp.prolific.comparison import Comparison, Person

Command = TypeVar("Command", bound=Callable[..., Any])

ADVICE = {
    "not_here": "taking part there, and never came here",
    "not_there": "raters here without a submission there",
    "unpaid": "completed here, and their submission ended without pay",
    "to_approve": "completed here, and wait for your approval",
    "paid_without": "approved there, and not completed here",
    "double": "with more than one submission",
    "to_free": "returned or timed out there, and still hold a place here (relstudy admin prolific sync frees it)",
    "to_take_back": "excluded here, though approved or waiting there (relstudy admin exclude DIR RATER --back)",
}
"""Meaning of each list of a comparison, for people."""


@click.group(cls=CheckedGroup)
def prolific() -> None:
    """Compare Prolific's submissions with this study's raters, free places, list bonuses.

    The token is read from the environment variable PROLIFIC_TOKEN, and written nowhere. Nothing is changed at Prolific.

    \b
    Examples:
      relstudy admin prolific status my-study
      relstudy admin prolific sync my-study
    """


@dataclass(frozen=True, kw_only=True)
class AtProlific(CommandOptions):
    """Where submissions are asked for."""

    studies: tuple[str, ...] = option((), "Prolific's id of the study.", flags=("--study",), shown="as raters came")
    server: str | None = option(
        None, "Another address than Prolific's own; https, or on this machine.", shown="Prolific's own"
    )


@dataclass(frozen=True, kw_only=True)
class BonusOptions(CommandOptions):
    """Options of `relstudy admin prolific bonus`."""

    each: float = option(0.0, "For everybody who completed, such as 1.50.", at_least=0, at_most=1000)
    per_rating: float = option(0.0, "For each of their decided ratings.", at_least=0, at_most=100)
    output: Path | None = option(None, "Where to write the list.", flags=("-o", "--out"), shown="FOLDER/bonuses.csv")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.each and not self.per_rating:
            raise click.UsageError("say an amount: --each 1.50, --per-rating 0.02, or both")


def _options(command: Command) -> Command:
    for each in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        taking(AtProlific, "at"),
        click.argument("folder", type=click.Path(path_type=Path, file_okay=False)),
    ):
        command = each(command)
    return command


@prolific.command()
@_options
def status(folder: Path, at: AtProlific, as_json: bool) -> None:
    """Show submissions that are missing, unpaid or double, and places that are held in vain.

    \b
    Example:
      relstudy admin prolific status my-study
    """
    from relstudy.common.runtime.console import print_json
    from relstudy.studyapp.prolific.comparison import compare

    _, people, submissions = _asked(folder, at)
    comparison = compare(submissions, people)
    if as_json:
        print_json(comparison.as_json())
    else:
        _print(comparison)


@prolific.command()
@_options
def sync(folder: Path, at: AtProlific, as_json: bool) -> None:
    """Free the places of those whose submission was returned or timed out.

    They are set aside: their unique pairs go to others, and what they rated stays and is marked. Those who have
    completed here are left as they are.

    \b
    Example:
      relstudy admin prolific sync my-study
    """
    from relstudy.common.runtime.console import print_json
    from relstudy.studyapp.monitoring.audit_log import record_command
    from relstudy.studyapp.prolific.comparison import compare
    from relstudy.studyapp.prolific.study import free_places

    store, people, submissions = _asked(folder, at)
    comparison = compare(submissions, people)
    freed = free_places(store, comparison.to_free)
    for code in freed:
        record_command(store, "set aside (Prolific)", code)
    if as_json:
        print_json({**comparison.as_json(), "freed": freed})
        return
    _print(comparison, without=("to_free",))
    click.echo(f"Excluded, and their places are free: {', '.join(freed) or 'nobody'}.")


@prolific.command()
@_options
@taking(BonusOptions)
def bonus(folder: Path, at: AtProlific, options: BonusOptions, as_json: bool) -> None:
    """Write the bonus list as Prolific takes it: a participant's id and an amount a line.

    It is for those who completed and whose submission is approved or waits; nothing is paid by this command.

    \b
    Example:
      relstudy admin prolific bonus my-study --each 0.50 --per-rating 0.02
    """
    from relstudy.common.runtime.console import print_json
    from relstudy.studyapp.config.secret import write_private
    from relstudy.studyapp.prolific.comparison import PAID, WAITING, bonuses

    _, people, submissions = _asked(folder, at)
    paid_to = {entry.participant for entry in submissions if entry.status in (PAID, WAITING)}
    rows = bonuses(people, options.each, options.per_rating, paid_to)
    target = options.output or folder / "bonuses.csv"
    write_private(target, "\n".join(f"{participant},{amount}" for participant, amount in rows))
    total = sum(float(amount) for _, amount in rows)
    if as_json:
        print_json({"file": str(target), "people": len(rows), "total": round(total, 2)})
    else:
        click.echo(f"{len(rows)} people, {total:.2f} in all, in the currency of the study -> {target}")


def _asked(folder: Path, at: AtProlific) -> tuple[Store, list[Person], list[Submission]]:
    """The study's database, who came from Prolific, and the submissions there."""
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.prolific.client import SERVER, ProlificClient
    from relstudy.studyapp.prolific.study import read_people

    client = ProlificClient.from_environment(at.server or SERVER)
    study, store = open_database(folder)
    people = read_people(store, study)
    came_from = Counter(person.study for person in people if person.study)
    named = at.studies or [study for study, _ in came_from.most_common()]
    if not named:
        raise RelstudyError("no rater has brought a STUDY_ID; --study names Prolific's id of the study")
    return store, people, [submission for name in named for submission in client.submissions(name)]


def _print(comparison: Comparison, without: tuple[str, ...] = ()) -> None:
    counts = ", ".join(f"{count} {name.lower()}" for name, count in comparison.statuses.items())
    click.echo(f"Submissions: {counts or 'none'}. Raters from Prolific: {comparison.raters}.")
    lists = {name: getattr(comparison, name) for name in ADVICE if name not in without}
    for name, people in lists.items():
        if people:
            click.echo(f"{len(people)} {ADVICE[name]}: {', '.join(people)}")
    if not any(lists.values()):
        click.echo("Nothing differs.")
