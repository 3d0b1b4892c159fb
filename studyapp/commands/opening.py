"""What the commands on a study folder share."""

from __future__ import annotations

from pathlib import Path

from relstudy.studyapp.assignment.asked import require_as_asked
from relstudy.studyapp.assignment.synchronisation import prepare, require_own
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store


def open_study(folder: Path) -> tuple[Study, Store]:
    """A study and its database, brought up to date with the study's files."""
    store = Store.of_study(folder)
    return prepare(folder, store), store


def open_database(folder: Path) -> tuple[Study, Store]:
    """A study and its database as it is; refused when nobody has made one yet, or it holds another study."""
    study = Study.load(folder)
    store = Store.of_study(folder)
    store.require_study(folder)
    store.migrate()
    with store.read() as connection:
        require_own(connection, study, store)
    return study, store


def open_ratings(folder: Path) -> tuple[Study, Store]:
    """The same to read ratings; refused as well when study.toml asks something else than was rated."""
    study, store = open_database(folder)
    with store.read() as connection:
        require_as_asked(connection, study)
    return study, store
