"""relstudy forget: remove one person's data."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("rater", required=False)
@click.option("--all-people", is_flag=True, help="Forget who all raters are, and keep their ratings.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(folder: Path, rater: str | None, all_people: bool, yes: bool) -> None:
    """Remove a rater and everything they left from the database, or who all raters are.

    A rater's unique pairs go back to the pool. With --all-people the ratings stay, under the raters' codes, and what
    says who they are goes: ways in, platform ids, kept parameters, links, completion codes, answers to questions. The
    study must be closed. Exports and backups made earlier are not changed; they are yours to mend.

    \b
    Examples:
      relstudy forget my-study R7K2QXMB
      relstudy forget my-study --all-people
    """
    if (rater is None) != all_people:
        raise click.UsageError("name one rater, or give --all-people.")
    from relstudy.common.console import say
    from relstudy.common.wording import count_of
    from relstudy.studyapp.assignment.invitations import forget as remove
    from relstudy.studyapp.assignment.retention import forget_all_people
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.monitoring.audit_log import record_command

    _, store = open_database(folder)
    if rater is None:
        if not yes:
            click.confirm("Forget who all raters are for good, and keep their ratings?", abort=True)
        known = forget_all_people(store)
        record_command(store, "forget", "all people")
        whose = count_of(known, "rater is", "raters are")
        say(f"what said who {whose} is gone; the ratings stay under the raters' codes")
        return
    if not yes:
        click.confirm(f"Remove rater {rater} and all their ratings for good?", abort=True)
    count = remove(store, rater)
    record_command(store, "forget", rater)
    say(f"rater {rater} and {count} rating rows are gone")
