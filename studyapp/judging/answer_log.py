"""judges/NAME.jsonl: every raw answer of a judge, a line each, only ever added to. It is the cache, too."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError

try:
    import fcntl
except ImportError:  # Windows: two processes must not ask one judge at a time
    fcntl = None  # type: ignore[assignment]


class AnswerLog:
    """A judge's answers; open one to add to it, which one process at a time may.

    Parameters
    ----------
    path : judges/NAME.jsonl; it need not be there

    Raises
    ------
    RelstudyError
        where a line in the middle is broken (the last one may be, after a crash)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._handle: Any = None
        for record in _lines(path):
            self.records[record["key"]] = record

    def require(self, common: dict[str, Any], name: str) -> None:
        """Refuse answers to other questions under this judge's name: each must have what all questions of now have."""
        for record in self.records.values():
            for field, now in common.items():
                if record[field] != now:
                    what = "another prompt" if field == "prompt" else f"{field} {record[field]!r} instead of {now!r}"
                    raise RelstudyError(
                        f"{self.path}: judge {name!r} was asked with {what}; another --judge NAME "
                        "keeps the answers apart"
                    )

    def __enter__(self) -> AnswerLog:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = self.path.open("a+b")
        try:
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._handle.close()
            raise RelstudyError(f"{self.path}: another process is asking this judge; wait for it to end") from None
        size = self._handle.seek(0, os.SEEK_END)
        if size:
            self._handle.seek(size - 1)
            if self._handle.read(1) != b"\n":
                _drop_last_line(self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.close()

    def add(self, record: dict[str, Any]) -> None:
        """Keep an answer; it is on disk when this returns. Threads may call it."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with self._lock:
            self._handle.write(line)
            self._handle.flush()
            os.fsync(self._handle.fileno())
            self.records[record["key"]] = record

    def answered(self, key: str) -> bool:
        """True if an answer is there that is not a failure."""
        return key in self.records and self.records[key]["status"] != "error"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    content = path.read_bytes().split(b"\n")
    for number, line in enumerate(content, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            complete = {"key", "status", "model", "parameters", "prompt"} <= set(record)
        except (*NO_JSON, TypeError):
            complete = False
        if complete:
            yield record
        elif number < len(content):
            raise RelstudyError(
                f"{path}, line {number}: this is not an answer of a judge; nothing may be changed in it"
            )


def _drop_last_line(handle: Any) -> None:
    """Cut off a line that a crash left half-written: its answer is asked for again."""
    handle.seek(0)
    handle.truncate(handle.read().rfind(b"\n") + 1)
    handle.seek(0, os.SEEK_END)
