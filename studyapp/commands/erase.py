"""relstudy admin erase: remove one person's data."""

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
    study must be closed. Exports and backups made earlier are not changed, but looked for in the study's folder, packed
    or not, and named: they are yours to delete or make again. A backup that is put back forgets them again.

    \b
    Examples:
      relstudy admin erase my-study R7K2QXMB
      relstudy admin erase my-study --all-people
    """
    if (rater is None) != all_people:
        raise click.UsageError("name one rater, or give --all-people.")
    from relstudy.common.runtime.console import say
    from relstudy.common.runtime.wording import count_of, quoted
    from relstudy.studyapp.assignment.erasure import forget as remove
    from relstudy.studyapp.assignment.erasure import forget_all_people
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.monitoring.audit_log import record_command
    from relstudy.studyapp.monitoring.traces import look_for_traces

    _, store = open_database(folder)
    if rater is None:
        if not yes:
            click.confirm("Forget who all raters are for good, and keep their ratings?", abort=True)
        gone = forget_all_people(store, folder)
        record_command(store, "forget", "all people")
        whose = count_of(gone.count, "rater is", "raters are")
        done = f"what said who {whose} is deleted; the ratings stay under the raters' codes"
    else:
        if not yes:
            click.confirm(f"Remove rater {rater} and all their ratings for good?", abort=True)
        gone = remove(store, folder, rater)
        record_command(store, "forget", rater)
        done = f"rater {rater} and {count_of(gone.count, 'rating row is', 'rating rows are')} deleted"
    say(done)
    left = look_for_traces(folder, store, gone.ids)
    for trace in left:
        say(f"Warning: {trace.words}.")
    if any(trace.is_in_database for trace in left):
        say("A server, and each start of one, goes on deleting what is left in the database.")
    if any(not trace.is_in_database for trace in left):
        say("These files are yours: nothing but you changes them.")
    if left:
        say(f"relstudy admin doctor {quoted(folder)} says what is left.")
    else:
        say("nothing of it is left in the database's files, or in copies in the study's folder")
    if not store.is_sqlite:
        say("PostgreSQL's own write-ahead log and its administrator's backups were not looked into.")
