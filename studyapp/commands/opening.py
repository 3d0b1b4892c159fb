"""What the commands on a study folder share."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store


def open_study(folder: Path) -> tuple[Study, Store]:
    """A study and its database, brought up to date with the study's files."""
    store = Store.of_study(folder)
    return prepare(folder, store), store


def open_database(folder: Path) -> tuple[Study, Store]:
    """A study and its database as it is; refused when nobody has made one yet."""
    study = Study.load(folder)
    store = Store.of_study(folder)
    if store.is_sqlite and not Path(str(store.url.database)).exists():
        raise RelstudyError(f"{folder}: nothing has been rated here yet; `relstudy serve {folder}` makes the database")
    try:
        if not sa.inspect(store.engine).has_table("ratings"):
            raise RelstudyError(f"the database {store.shown} holds no study yet; `relstudy serve {folder}` makes one")
    except sa.exc.OperationalError as error:
        raise RelstudyError(f"the database {store.shown} cannot be opened: {error.orig}") from None
    store.migrate()
    return study, store
