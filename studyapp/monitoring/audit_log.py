"""Log of all actions on a study: kept in its database, the newest first."""

from __future__ import annotations

import getpass
import os
import time
from dataclasses import dataclass

import sqlalchemy as sa

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import audit_log

MOST = 200  # entries that are shown at a time


@dataclass(frozen=True)
class Entry:
    """One thing that somebody did.

    Parameters
    ----------
    at : seconds since 1970
    who : an account, or "command line" with the user of the machine
    did : what, such as "forget" or "set state"
    about : whom or what it was done to; may be empty
    """

    at: float
    who: str
    did: str
    about: str


def record(store: Store, who: str, did: str, about: str = "") -> None:
    """Add an entry."""
    with store.write() as connection:
        connection.execute(sa.insert(audit_log).values(at=time.time(), who=who, did=did, about=about[:500]))


def record_command(store: Store, did: str, about: str = "") -> None:
    """Add what a command has done, under the user of this machine."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container's user without a name
        user = str(os.getuid())
    record(store, f"command line ({user})", did, about)


def read_entries(store: Store, most: int = MOST) -> list[Entry]:
    """The newest entries."""
    columns = (audit_log.c.at, audit_log.c.who, audit_log.c.did, audit_log.c.about)
    query = sa.select(*columns).order_by(audit_log.c.id.desc()).limit(most)
    with store.read_one() as connection:
        return [Entry(*row) for row in connection.execute(query)]
