"""Deletion that is finished only when what was deleted can no longer be read in the database's own files.

A deleted row stays readable in SQLite's write-ahead log, and on PostgreSQL as a dead row, for as long as somebody reads
what was there before. So each deletion leaves a mark in its own transaction; whoever finds the mark tries to finish,
and takes it away when that is done: the command, every server from time to time, and each start.

On PostgreSQL a row that VACUUM has removed is still there byte by byte, in the free part of its page and of the pages
of its indexes. So the table that says who the raters are is rewritten; of the others, which hold numbers alone, dead
rows are removed.
"""

from __future__ import annotations

import json
import time

import sqlalchemy as sa

from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.settings import read_setting, write_setting
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import settings

_KEY = "deletion"
_ANEW = ("raters",)
_VACUUMED = ("assignments", "ratings", "pg_statistic")  # the last where the database is the user's own
_LOCK_MILLISECONDS = 200  # raters wait behind a table that is to be written again


def mark_deletion(connection: sa.Connection) -> None:
    """Note in the transaction that deletes that something of a person is to be overwritten."""
    xid = ""
    if connection.dialect.name != "sqlite":
        xid = connection.execute(sa.text("SELECT CAST(pg_current_xact_id() AS text)")).scalar_one()
    write_setting(connection, _KEY, json.dumps({"at": time.time(), "xid": xid}))


def finish_deletions(store: Store) -> str:
    """Overwrite what was deleted, as far as nobody reads it now.

    Returns
    -------
    Where it is still readable, and until when; empty where nothing is left
    """
    try:
        with store.read_one() as connection:
            mark = read_setting(connection, _KEY)
        if mark is None:
            return ""
        finished = store.empty_wal() if store.is_sqlite else _vacuumed(store, json.loads(mark)["xid"])
        if finished:
            with store.write() as connection:  # a deletion that came meanwhile has a mark of its own
                connection.execute(sa.delete(settings).where(settings.c.key == _KEY, settings.c.value == mark))
            return ""
    except DATABASE_ERRORS:
        pass  # the mark stays, and with it what is said of it
    return _still_readable(store)


def unfinished_deletions(store: Store) -> str:
    """The same sentence for what is left, and nothing is tried."""
    with store.read_one() as connection:
        return "" if read_setting(connection, _KEY) is None else _still_readable(store)


def _still_readable(store: Store) -> str:
    if store.is_sqlite:
        where = f"{store.file}-wal until every program that reads the database (an export, a backup, a browser)"
    else:
        where = f"dead rows of {store.shown} until every transaction that began before"
    return f"what was deleted is still readable in {where} has ended"


def _vacuumed(store: Store, xid: str) -> bool:
    """Remove dead rows; whether all that this transaction left behind are gone."""
    older = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(CAST(CAST(:xid AS xid8) AS xid))"
    )
    with store.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        if connection.execute(older, {"xid": xid}).scalar_one():
            return False
        try:
            connection.exec_driver_sql("SET statement_timeout = 0")  # a table of many ratings takes its time
            connection.exec_driver_sql(f"SET lock_timeout = {_LOCK_MILLISECONDS}")
            for table in _ANEW:
                connection.exec_driver_sql(f"VACUUM (FULL, FREEZE) {table}")
            for table in _VACUUMED:
                connection.exec_driver_sql(f"VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) {table}")
        finally:
            connection.exec_driver_sql("RESET statement_timeout")
            connection.exec_driver_sql("RESET lock_timeout")
    return True
