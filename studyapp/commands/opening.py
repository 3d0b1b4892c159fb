"""Opening a study folder, its database and tables, for the commands that work on one."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pandas as pd

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.formats.table_files import read_table
from relstudy.studyapp.assignment.erasure import complete_withdrawals
from relstudy.studyapp.assignment.rated_blocks import require_rated_blocks
from relstudy.studyapp.assignment.redrawn_study import complete_new_draw
from relstudy.studyapp.assignment.synchronisation import prepare, require_own
from relstudy.studyapp.assignment.versions import read_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table


def store_of_command(folder: Path) -> Store:
    """The database of a study folder, closed when the command ends, however it ends."""
    return _closed_with_command(Store.of_study(folder))


def _closed_with_command(store: Store) -> Store:
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(store.dispose)
    return store


def store_of_log(folder: Path) -> Store:
    """The database that holds the log of a study, or of a host's folder of studies."""
    if (folder / "study.toml").exists():
        store = store_of_command(folder)
    elif folder.is_dir():
        store = _closed_with_command(Store.of_host(folder))
    else:
        raise RelstudyError(f"{folder}: there is no such folder")
    store.migrate()
    return store


def open_study(folder: Path) -> tuple[Study, Store]:
    """A study as it is served, and its database; set up from the study's files where nobody has served it yet."""
    files, store = Study.load(folder), store_of_command(folder)
    study = _as_served(files, store)
    return (prepare(folder, store) if study is None else study), store


def open_database(folder: Path) -> tuple[Study, Store]:
    """A study as it is served, and its database; refused when nobody has made one yet, or it holds another study."""
    files, store = Study.load(folder), store_of_command(folder)
    store.require_study(folder)
    study = _as_served(files, store)
    if study is None:
        raise RelstudyError(f"{folder}: the database holds no study yet; `relstudy serve {quoted(folder)}` sets it up")
    _complete_withdrawals(store, folder)
    return study, store


def _as_served(files: Study, store: Store) -> Study | None:
    """The study that the database holds; None where it holds none yet."""
    store.migrate()
    complete_new_draw(files.folder)
    with store.read() as connection:
        require_own(connection, files, store)
        return read_study(connection, files.folder)


def _complete_withdrawals(store: Store, folder: Path) -> None:
    """Nobody who has withdrawn is in what a command shows; where that cannot be, it is said."""
    try:
        complete_withdrawals(store, folder)
    except DATABASE_ERRORS:
        say("Warning: somebody has withdrawn who is still in the database, which cannot be changed just now.")
    except RelstudyError as error:
        say(f"Warning: {error}")


def open_ratings(folder: Path) -> tuple[Study, Store]:
    """The same to read ratings; refused as well when study.toml asks something else than was rated."""
    study, store = open_database(folder)
    with store.read() as connection:
        require_rated_blocks(connection, Study.load(folder))
    return study, store


def ratings_of_study(folder: Path) -> tuple[Study, pd.DataFrame, str]:
    """A study, its ratings, and where these are from: its database, or ratings.csv where it was never served."""
    if os.environ.get("DATABASE_URL") or (folder / "study.db").exists():
        study, store = open_ratings(folder)
        return study, ratings_table(store, study), "the database"
    study, file = Study.load(folder), folder / "ratings.csv"
    if not file.is_file():
        raise RelstudyError(f"{folder}: there are no ratings: neither a database nor ratings.csv")
    return study, read_table(file, "rater_id", "query_id", "result_id", "rating").frame, str(file)


def query_ids(path: Path) -> list[str]:
    """The queries that a table names in its column query_id, each once."""
    table = read_table(path, "query_id")
    queries = list(dict.fromkeys(table.texts("query_id")))
    table.raise_faults()
    return queries
