"""relstudy admin backup: a copy of a live database."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.common.runtime.wording import count_of


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("-o", "--out", "output", type=click.Path(path_type=Path), help="Default: FOLDER/backup-TIME.db.")
@click.option("--yes", is_flag=True, help="Do not ask before writing over a file.")
def backup(folder: Path, output: Path | None, yes: bool) -> None:
    """Copy a live database; nobody who is rating is held up. The copy is checked before it gets its name.

    The copy is a SQLite file, whatever database the study uses. `relstudy admin restore` goes back to it; a copy over
    study.db by hand would be undone, or damaged, by the -wal file beside it.

    \b
    Example:
      relstudy admin backup my-study -o /mnt/safe/my-study.db
    """
    import time

    from relstudy.common.runtime.console import say
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.database.backup import copy_database

    _, store = open_database(folder)
    if output is not None and output.is_file() and not yes:
        click.confirm(f"{output} exists already, perhaps as an earlier backup. Write over it?", abort=True, err=True)
    target = output or folder / f"backup-{time.strftime('%Y%m%d-%H%M%S')}.db"
    count = copy_database(store, target)
    say(f"{count_of(count, 'rating')} -> {target}")
