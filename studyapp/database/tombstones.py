"""Raters who were forgotten or have withdrawn, kept outside the database: a backup that is put back must not bring them
back.

FOLDER/forgotten.txt has a line for each: what was done, a hash of the rater's code, and the day. It names nobody. Who
withdraws while the database cannot be written has a line on what is to be done, with a hash of their session's key.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError

FILE = "forgotten.txt"
FORGOTTEN = "forgotten"
"""Everything of a rater was deleted."""
UNNAMED = "unnamed"
"""All that says who the rater is was deleted; the ratings stay."""
WITHDREW = "withdrew"
"""The rater has withdrawn; the ratings stay and are marked. Also the outcome of such a rater."""
TO_DELETE = "to-delete"
"""The rater has withdrawn, and everything of theirs is to be deleted; of who is gone, the line is left."""
TO_MARK = "to-mark"
"""The rater has withdrawn, and is to be marked as such."""
KINDS = (FORGOTTEN, UNNAMED, WITHDREW, TO_DELETE, TO_MARK)


def hash_of(code: str) -> str:
    """SHA-256 of a rater's code or key, in hexadecimal; only who knows the code can tell whom it means."""
    return hashlib.sha256(code.encode()).hexdigest()


def bury(folder: Path, kind: str, rater_ids: Iterable[str]) -> None:
    """Add a line for each rater, on disk when this returns.

    Called at the end of the transaction that deletes, before it is committed: who asked to be forgotten stays so even
    where this process ends in between. Where the file cannot be written, this is logged, and nobody's wish to leave
    fails by it: the database knows of them, too.
    """
    try:
        _append(folder, kind, rater_ids)
    except OSError as error:
        logging.getLogger("relstudy").warning(
            "%s cannot be written (%s): should the database be lost, a backup brings back who was deleted now",
            folder / FILE, error.strerror,
        )  # fmt: skip


def note_wish(folder: Path, kind: str, session_key: str) -> None:
    """Add a line for a rater who withdraws while the database cannot be written: TO_DELETE or TO_MARK.

    Raises
    ------
    OSError
        where the file cannot be written: then nobody knows of it
    """
    _append(folder, kind, [session_key])


def _append(folder: Path, kind: str, codes: Iterable[str]) -> None:
    day = datetime.now(UTC).date()
    lines = "".join(f"{kind} {hash_of(code)} {day}\n" for code in codes)
    if not lines:
        return
    descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="ascii") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def buried(folder: Path) -> dict[str, set[str]]:
    """Hashes by what was done to the raters; none where nobody was forgotten.

    Raises
    ------
    RelstudyError
        where a line is not one of ours: to go on without it would bring somebody back
    """
    hashes: dict[str, set[str]] = defaultdict(set)
    try:
        lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return hashes
    except OSError as error:
        raise RelstudyError(f"{folder / FILE}: cannot be read ({error.strerror})") from None
    for number, line in enumerate(lines, 1):
        words = line.split()
        if len(words) != 3 or words[0] not in KINDS or len(words[1]) != 64:
            raise RelstudyError(
                f"{folder / FILE}, line {number}: {line[:80]!r} is not allowed; KIND HASH DAY is allowed"
            )
        hashes[words[0]].add(words[1])
    return hashes
