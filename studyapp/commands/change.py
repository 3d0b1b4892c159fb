"""relstudy admin change: make edited files what is served."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what the change would do.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; goes with --yes or --dry-run.")
def change(folder: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Serve a study as its files say now: study.toml, pairs.csv and collection.csv.

    Shows first what the change does to raters at work and to ratings. All running servers take it over at once, without
    a restart; a page that somebody has open and that asks something else now is not saved, but shown as it is now.

    \b
    Example:
      relstudy admin change my-study
    """
    from dataclasses import asdict

    from relstudy.common.runtime.console import print_json, say
    from relstudy.studyapp.assignment.synchronisation import change_study
    from relstudy.studyapp.commands.opening import open_study
    from relstudy.studyapp.monitoring.audit_log import record_command

    if as_json and not (yes or dry_run):
        raise click.UsageError("--json cannot ask; give --yes or --dry-run as well")
    _, store = open_study(folder)
    _, changes = change_study(folder, store, lambda changes: False)
    if not as_json:
        for sentence in changes.sentences():
            click.echo(sentence)
    if changes.version is not None and not dry_run:
        if not yes:
            click.confirm("Change the study so?", abort=True, err=True)
        _, changes = change_study(folder, store)
        record_command(store, "change", f"version {changes.version}")
    if as_json:
        print_json({**asdict(changes), "applied": changes.version is not None and not dry_run})
    elif changes.version is None:
        say("nothing to change: the files say what is served")
    else:
        say(f"{'this would be' if dry_run else 'every server goes on with'} version {changes.version} of the study")
