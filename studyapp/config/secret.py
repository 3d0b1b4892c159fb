"""Files of a study folder that only its owner may read: the signing secret and the admin password's hash."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError


def read_secret(folder: str | Path) -> bytes:
    """The study's signing secret; made on first use (FOLDER/secret.key, mode 0600).

    RELSTUDY_SECRET in the environment takes its place, for several machines without a common folder.
    """
    given = os.environ.get("RELSTUDY_SECRET")
    if given:
        if len(given) < 32:
            raise RelstudyError("RELSTUDY_SECRET is too short; at least 32 characters are needed")
        return given.encode()
    path = Path(folder) / "secret.key"
    if not path.exists():
        with contextlib.suppress(FileExistsError):  # another process was quicker
            write_private(path, secrets.token_hex(32), new=True)
    text = read_private(path)
    if len(text) < 32:
        raise RelstudyError(f"{path}: the secret is too short; delete the file and a new one is made")
    return text.encode()


def read_private(path: Path) -> str:
    """The line that `write_private` wrote, without blanks around; "" if there is no file.

    Raises
    ------
    RelstudyError
        where it cannot be read, or holds what nobody wrote: zeros, as a power cut leaves them, would be a secret that
        everybody knows
    """
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise RelstudyError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        text = "\0"
    if not text.isprintable():
        raise RelstudyError(f"{path}: this file is damaged; remove it, and what it held is made again")
    return text


def write_private(path: Path, text: str, *, new: bool = False) -> None:
    """Write a file that only its owner can read; with `new`, FileExistsError when it is there already."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(text + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        if new:
            os.link(beside, path)
        else:
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
