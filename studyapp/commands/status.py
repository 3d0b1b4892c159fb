"""relstudy status: how far the ratings have come; pause, close and reopen."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--pause", "state", flag_value="paused", help="Hand out nothing for now; ratings under way are kept.")
@click.option("--close", "state", flag_value="closed", help="End the study.")
@click.option("--reopen", "state", flag_value="open", help="Take ratings again.")
@click.option("--raters", is_flag=True, help="One line for every rater.")
@click.option("--insight", is_flag=True, help="Agreement, use of the scale by source, and raters worth a look.")
@click.option("--leases", "show_leases", is_flag=True, help="Pages of unique pairs in raters' hands.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, state: str | None, raters: bool, insight: bool, show_leases: bool, as_json: bool) -> None:
    """Show how far the ratings have come; pause, close or reopen the study.

    \b
    Example:
      relstudy status my-study --raters
    """
    from relstudy.common.console import print_json
    from relstudy.studyapp.assignment.leases import read_leases
    from relstudy.studyapp.assignment.retention import retention_notes
    from relstudy.studyapp.assignment.shown import say_not_shown
    from relstudy.studyapp.assignment.study_state import write_state
    from relstudy.studyapp.commands.opening import open_ratings
    from relstudy.studyapp.commands.status_output import (
        next_step,
        print_insight,
        print_leases,
        print_progress,
        print_raters,
    )
    from relstudy.studyapp.monitoring.audit_log import record_command
    from relstudy.studyapp.monitoring.statistics import study_statistics
    from relstudy.studyapp.monitoring.status import study_status

    study, store = open_ratings(folder)
    if state is not None:
        with store.write() as connection:
            write_state(connection, state)
        record_command(store, "set state", state)
    now = study_status(store, study)
    with store.read() as connection:
        overdue = list(retention_notes(connection, study, folder))
    statistics = study_statistics(store, study) if insight else None
    leases = read_leases(store) if show_leases else None
    if as_json:
        answer = now.as_json()
        if statistics is not None:
            answer["insight"] = statistics.as_json()
        if leases is not None:
            answer["leases"] = [vars(lease) for lease in leases]
        print_json(answer)
        return
    print_progress(study.title, now)
    for sentence in say_not_shown(now.not_shown):
        click.echo(f"\n{sentence}.")
    for sentence in overdue:
        click.echo(f"\nMind: {sentence}.")
    if raters:
        print_raters(now.people)
    if statistics is not None:
        print_insight(statistics)
    if leases is not None:
        print_leases(leases)
    click.echo(f"\n{next_step(folder, now)}")
