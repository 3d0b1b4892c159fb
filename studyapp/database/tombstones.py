"""Raters who were forgotten or have withdrawn, kept outside the database: a backup that is put back must not bring them
back.

FOLDER/forgotten.txt has a line for each: what was done, a hash of the rater's code, and the day. It names nobody.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from relstudy.common.errors import RelstudyError

FILE = "forgotten.txt"
FORGOTTEN = "forgotten"
"""Everything of a rater was deleted."""
UNNAMED = "unnamed"
"""What says who the rater is was deleted; the ratings stay."""
WITHDREW = "withdrew"
"""The rater has withdrawn; the ratings stay and are marked. Also the outcome of such a rater."""
KINDS = (FORGOTTEN, UNNAMED, WITHDREW)


def hash_of(rater_id: str) -> str:
    """SHA-256 of a rater's code, in hexadecimal; only who knows the code can tell whom it means."""
    return hashlib.sha256(rater_id.encode()).hexdigest()


def bury(folder: Path, kind: str, rater_ids: Iterable[str]) -> None:
    """Add a line for each rater, on disk when this returns.

    Called at the end of the transaction that deletes, before it is committed: who asked to be forgotten stays so even
    where this process ends in between. Where the file cannot be written, this is logged, and nobody's wish to leave
    fails by it: the database knows of them, too.
    """
    day = datetime.now(UTC).date()
    lines = "".join(f"{kind} {hash_of(rater_id)} {day}\n" for rater_id in rater_ids)
    if not lines:
        return
    try:
        descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "a", encoding="ascii") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        logging.getLogger("relstudy").warning(
            "%s cannot be written (%s): should the database be lost, a backup brings back who was deleted now",
            folder / FILE, error.strerror,
        )  # fmt: skip


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
