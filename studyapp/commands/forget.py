"""relstudy forget: remove one person's data."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("rater")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(folder: Path, rater: str, yes: bool) -> None:
    """Remove a rater and everything they left from the database.

    Their unique pairs go back to the pool. Exports and backups made earlier are not changed; they are yours to mend.

    \b
    Example:
      relstudy forget my-study R7K2QXMB
    """
    from relstudy.common.console import say
    from relstudy.studyapp.assignment.invitations import forget as remove
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.monitoring.audit_log import record_command

    _, store = open_database(folder)
    if not yes:
        click.confirm(f"Remove rater {rater} and all their ratings for good?", abort=True)
    count = remove(store, rater)
    record_command(store, "forget", rater)
    say(f"rater {rater} and {count} rating rows are gone")
