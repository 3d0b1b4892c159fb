"""The lock that a server holds on a study's database while it serves."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import sqlalchemy as sa

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.file_lock import Held, locked
from relstudy.common.runtime.wording import count_of
from relstudy.studyapp.database.side_files import require_sound
from relstudy.studyapp.database.store import Store

try:
    import fcntl
except ImportError:  # Windows: the database's own locks must do
    fcntl = None  # type: ignore[assignment]

OWN_FILES = (
    *("secret.key", "study.db", "study.db-wal", "study.db-shm", "study.db.lock"),
    *("study.preparing", "study.serving"),
)
"""What a server makes in a study's folder before it serves."""
MOMENT = 2.0
"""Seconds that PostgreSQL has to notice that a server which was stopped is gone."""


def hold_as_server(folder: Path) -> IO[str] | None:
    """Mark a study as served, for as long as the file that is returned, or a forked process's copy of it, is open.

    Several servers may hold the mark (FOLDER/study.serving) at a time. None where the file system knows no locks.

    Raises
    ------
    RelstudyError
        while the database is being restored
    """
    return _lock(folder, shared=True, refusal=f"{folder}: the database is being restored; serve it when that has ended")


def require_sound_database(folder: Path) -> None:
    """Refuse a database that is damaged, before the first server of a study begins; one that is served is at work.

    Raises
    ------
    RelstudyError
        where what a fall, or somebody's copying, has left is not a whole database
    """
    store = Store.of_study(folder)
    if not store.is_sqlite:
        return
    try:
        mark = _lock(folder, shared=False, refusal="")
    except RelstudyError:
        return
    if mark is not None:
        mark.close()
    require_sound(store.file)


@contextlib.contextmanager
def nobody_serves(folder: Path, store: Store) -> Iterator[None]:
    """A stretch in which no server has the database in use and none can begin to.

    Raises
    ------
    RelstudyError
        where one has
    """
    mark = _lock(folder, shared=False, refusal=f"{folder}: a server is running; stop it first")
    try:
        if not store.is_sqlite:
            _require_alone(store)
        yield
    finally:
        if mark is not None:
            mark.close()


@contextlib.contextmanager
def leaving_nothing(folder: Path) -> Iterator[None]:
    """A start that may be refused: what it made in the study's folder is gone then, unless another server uses it."""
    own = [folder / name for name in OWN_FILES]
    new = [path for path in own if not path.exists()]
    try:
        yield
    except RelstudyError:
        with contextlib.suppress(RelstudyError), contextlib.ExitStack() as stack:
            mark = _lock(folder, shared=False, refusal="another server has begun")
            if mark is not None:
                stack.enter_context(mark)
            for path in new:
                path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def one_prepares(folder: Path) -> Iterator[None]:
    """A stretch in which no other process makes the study ready to be served; waits for its turn."""
    turn = folder / "study.preparing"
    turn.touch()
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(turn))
        except Held:
            say("Another process makes this study ready to be served; waiting until it has.")
            stack.enter_context(locked(turn, wait=math.inf))
        yield


def _lock(folder: Path, *, shared: bool, refusal: str) -> IO[str] | None:
    if fcntl is None:
        return None
    mark = open(folder / "study.serving", "a")  # noqa: SIM115 (kept open as long as the lock is held)
    try:
        fcntl.flock(mark, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        mark.close()
        raise RelstudyError(refusal) from None
    except OSError:  # this file system has no locks
        mark.close()
        return None
    return mark


def _require_alone(store: Store) -> None:
    """Refuse a PostgreSQL database that others are connected to: servers on other machines are seen only there."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    deadline = time.monotonic() + MOMENT
    with store.read_one() as connection:
        while (count := connection.execute(sa.text(others)).scalar_one()) and time.monotonic() < deadline:
            time.sleep(0.1)
    if count:
        raise RelstudyError(
            f"the database {store.shown} is in use ({count_of(count, 'other connection')}); stop every server of the "
            "study first"
        )
