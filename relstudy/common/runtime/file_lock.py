"""Locks that other processes of this machine see, on a file or a folder, where its file system knows them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked
    fcntl = None  # type: ignore[assignment]

GLANCE = 0.02
"""Seconds between two tries."""


class Held(Exception):
    """Another holds the lock."""


@contextmanager
def locked(path: Path, *, wait: float = 0.0) -> Iterator[None]:
    """A stretch in which nobody else has this lock, threads of this process neither.

    Parameters
    ----------
    path : a file or folder that is there
    wait : seconds to wait for another's end; may be infinite

    Raises
    ------
    Held
        if another has it still
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        until = time.monotonic() + wait
        while not _taken(descriptor):
            if time.monotonic() >= until:
                raise Held(f"{path} is locked")
            time.sleep(GLANCE)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this file system has no locks
        pass
    return True
