"""The study as it is served: one version for all servers, its state and address, kept in the database.

A server answers every request by the version that the database has at that moment, whatever has become of the study's
files since. A change makes a new version, in one transaction that waits for those under way, so that no page and no
rating is half of one and half of another."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.settings import delete_setting, read_setting, write_setting
from relstudy.studyapp.database.tables import settings, versions
from relstudy.studyapp.database.transaction_locks import VERSION, hold_lock

_NEWEST = sa.select(sa.func.max(versions.c.number)).scalar_subquery()
_STATE = sa.select(settings.c.value).where(settings.c.key == "state").scalar_subquery()
# Built once: building a statement costs more than running it.
HEAD_COLUMNS = (_NEWEST.label("version"), _STATE.label("state"))
_HEAD = Prepared(sa.select(*HEAD_COLUMNS))
# PostgreSQL: first the lock of `join_version`, and once it is had, the rater's row. Rows are locked on top of the join.
JOIN_AND_HOLD = Prepared(
    sa.text(
        f"WITH joined AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared({VERSION})) "
        "SELECT raters.id FROM joined CROSS JOIN raters WHERE raters.id = :rater FOR UPDATE OF raters"
    ).columns(sa.column("id", sa.Integer))
)


@dataclass(frozen=True)
class Head:
    """Version and state that a server reads before it answers: the version's number (0: none yet), and open, paused or
    closed."""

    version: int
    state: str


@dataclass(frozen=True)
class Version:
    """A study as it is served: what is asked, what is shown, and on which pages."""

    number: int
    study: Study
    items: DisplayedItems
    catalogue: Catalogue


def read_head(connection: sa.Connection) -> Head:
    """The newest version's number and the state, in one look."""
    return head_of(_HEAD.row(connection, {}))


def head_of(row: Any) -> Head:
    """Version and state that a query of `HEAD_COLUMNS` has found."""
    return Head(row.version or 0, row.state or "open")


def join_version(connection: sa.Connection) -> Head:
    """The same, and it stays so until this transaction ends; to be called before anything else is locked."""
    hold_lock(connection, VERSION, shared=True)
    return read_head(connection)


def hold_versions(connection: sa.Connection) -> None:
    """Wait for every transaction that is under way, and keep others waiting until this one ends."""
    hold_lock(connection, VERSION)


def read_study(connection: sa.Connection, folder: Path) -> Study | None:
    """The study of the newest version; None where the study has never been served."""
    text = connection.execute(sa.select(versions.c.study).where(versions.c.number == _NEWEST)).scalar_one_or_none()
    return None if text is None else Study.parse(text, folder=folder)


def read_version(connection: sa.Connection, folder: Path, secret: bytes) -> Version:
    """The newest version, in a transaction in which it cannot change."""
    row = connection.execute(sa.select(versions).where(versions.c.number == _NEWEST)).one()
    items = DisplayedItems.of_rows(row.shown_items, folder, secret)
    study = Study.parse(row.study, folder=folder)
    return Version(row.number, study, items, Catalogue(study, connection))


def read_item_rows(connection: sa.Connection) -> list[list[str]]:
    """Rows of the items of the newest version, or empty."""
    newest = sa.select(versions.c.shown_items).where(versions.c.number == _NEWEST)
    return connection.execute(newest).scalar_one_or_none() or []


def add_version(connection: sa.Connection, study: Study, item_rows: list[list[str]]) -> int:
    """Make a new version; its number, counted from 1."""
    number = read_head(connection).version + 1
    row = {"number": number, "made_at": time.time(), "study": study.text, "shown_items": item_rows}
    connection.execute(sa.insert(versions).values(row))
    return number


TAKEN_OVER = "taken_over"
"""The setting that says from which files the newest version was made; without it, serving makes all of it again."""
STATES = ("open", "paused", "closed")


def forget_taken_over(connection: sa.Connection) -> None:
    """Have the next server that starts make its version again from the files, whatever they are."""
    delete_setting(connection, TAKEN_OVER)


def shown_state(state: str, study: Study) -> str:
    """The state that raters meet: a study that is open may be paused by its study.toml."""
    return "paused" if state == "open" and study.paused else state


def read_state(connection: sa.Connection) -> str:
    """open, paused or closed, as last set."""
    return read_setting(connection, "state") or "open"


def write_state(connection: sa.Connection, state: str) -> None:
    """Set open, paused or closed."""
    if state not in STATES:
        raise ValueError(f"{state!r} is not one of {', '.join(STATES)}")
    write_setting(connection, "state", state)


def read_address(connection: sa.Connection) -> str:
    """Address at which the study was last served, such as http://localhost:8000; empty where it never was."""
    return read_setting(connection, "address") or ""


def write_address(connection: sa.Connection, address: str) -> None:
    """Remember where the study is served."""
    write_setting(connection, "address", address)
