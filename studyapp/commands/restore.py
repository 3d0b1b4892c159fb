"""relstudy admin restore: go back to a backup."""

from __future__ import annotations

from pathlib import Path

import click

WORDS = {"forgotten": "were forgotten", "unnamed": "were made nameless", "withdrew": "have withdrawn"}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("backup", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def restore(folder: Path, backup: Path, yes: bool, as_json: bool) -> None:
    """Put BACKUP, as `relstudy admin backup` wrote it, in the place of the study's database.

    The backup is checked first; it must be of this study. Who was forgotten or has withdrawn since stays so, and is
    named. What the database holds now is kept beside it as before-restore-TIME.db. Refused while a server runs.

    \b
    Example:
      relstudy admin restore my-study /mnt/safe/my-study.db
    """
    from relstudy.common.runtime.console import print_json, say
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.runtime.wording import listed, quoted
    from relstudy.studyapp.assignment.erasure import forget_again, forgotten_so_far
    from relstudy.studyapp.commands.opening import store_of_command
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.database.backup import changed_copy, checked_copy, content_of, held_study, put_back
    from relstudy.studyapp.database.serving_lock import nobody_serves

    study = Study.load(folder)
    store = store_of_command(folder)
    with nobody_serves(folder, store), checked_copy(backup, folder) as (copy, content):
        if content.study != study.id:
            raise RelstudyError(f"{backup}: this is a backup of the study {content.study!r}, and not of {study.id!r}")
        holder = held_study(store)
        if holder not in ("", study.id):
            raise RelstudyError(f"the database {store.shown} holds the study {holder!r}, and not {study.id!r}")
        if not yes:
            words = f"{content.ratings} ratings, {content.when}"
            click.confirm(f"Go back to this backup ({words})? The database of now is kept.", abort=True, err=True)
        gone = forgotten_so_far(store, folder)
        again, content = changed_copy(copy, lambda backup: (forget_again(backup, folder, gone), content_of(backup)))
        kept = put_back(copy, store, folder)
    if as_json:
        kept_as = None if kept is None else str(kept)
        print_json({"ratings": content.ratings, "newest": content.newest, "kept": kept_as, "again": again})
        return
    say(f"{content.ratings} ratings are back ({content.when}), from {backup}")
    for what, people in again.items():
        if people:
            say(f"{WORDS[what]} since that backup, and are so again: {listed(people)}")
    if kept is not None:
        say(f"the former state is in {kept}")
    say(f"Next: relstudy serve {quoted(folder)}")
