"""May a command write over the table that is there? The one owner of that question; `table_files.write_parts` asks it.

A command replaces a table that it wrote itself: one with the columns that it writes. A table with other columns is
somebody's own, and one of people's answers that has more rows, or people whom the new one lacks, may be all there is of
them. Both are refused without `--overwrite`, and kept under another name with it. Functions in Python write where they
are asked to.
"""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import click

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

Erased = Callable[[str], bool]
"""True of a person whose data were erased, so that their answers must not be kept."""
Command = TypeVar("Command", bound=Callable[..., Any])
IDENTITY = 3
"""Columns, the first of a table, by which a table is known as one that the command writes."""
_GUARDED: ContextVar[bool] = ContextVar("_GUARDED", default=False)
_OVERWRITE: ContextVar[bool | None] = ContextVar("_OVERWRITE", default=None)
"""Whether --overwrite was given; None for a command without the option."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Within, as in every command, tables are not replaced that the command did not write."""
    before, answer = _GUARDED.set(True), _OVERWRITE.set(None)
    try:
        yield
    finally:
        _GUARDED.reset(before)
        _OVERWRITE.reset(answer)


def with_overwrite(command: Command) -> Command:
    """Give a command the option --overwrite."""

    def keep(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        _OVERWRITE.set(value)

    return click.option(
        "--overwrite",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Replace a table that this command did not write, or that has more answers; the old one is kept.",
    )(command)


def keep_or_refuse(target: Path, new: Path, *, answers: Erased | None) -> None:
    """Before `new` takes the place of `target`: refuse, or keep a copy of the old table, where it would be lost.

    Parameters
    ----------
    target, new : the table that is there, if any, and the one written beside it
    answers : of a table of what people answered, which no command can make again: whose answers were erased

    Raises
    ------
    RelstudyError
        in a command without --overwrite, saying what would be lost
    """
    if not _GUARDED.get() or not target.is_file() or not target.stat().st_size:
        return
    lost = _lost(target, new, answers)
    if lost is None:
        return
    if not _OVERWRITE.get():
        way = f", or pass {option('overwrite', True)}, which keeps the old file beside it"
        way = "" if _OVERWRITE.get() is None else way
        raise RelstudyError(f"{target}: {lost}; write to another file{way}")
    shutil.copy2(target, _free_name(target))


def require_free(target: Path) -> None:
    """Refuse a file that is there, before what cannot be made again is made to be written to it.

    Raises
    ------
    RelstudyError
        in a command without --overwrite
    """
    if _GUARDED.get() and not _OVERWRITE.get() and target.is_file() and target.stat().st_size:
        raise RelstudyError(
            f"{target}: this file exists; name another, or pass {option('overwrite', True)}, which keeps it"
        )


def _lost(target: Path, new: Path, answers: Erased | None) -> str | None:
    old_columns, new_columns = _columns(target), _columns(new)
    absent = [name for name in new_columns[:IDENTITY] if name not in old_columns]
    if absent:
        return f"this command did not write this table (it has no column {absent[0]})"
    if answers is None:
        return None
    kept = {person: rows for person, rows in _people(target).items() if not answers(person)}
    now = _people(new)
    if sum(kept.values()) > now.total():
        return f"this table has {count_of(sum(kept.values()), 'row')}, and the new one {now.total():,}"
    missing = sorted(set(kept) - set(now))
    if missing:
        return f"this table has answers of {missing[0]!r}, and the new one has none"
    return None


def _columns(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return list(pq.read_schema(path).names)
        except (pa.ArrowInvalid, OSError):
            return []
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        return next(csv.reader(file), [])


def _people(path: Path) -> Counter[str]:
    """Rows of a table by the people in its first column."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return Counter(map(str, pq.read_table(path, columns=_columns(path)[:1]).column(0).to_pylist()))
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.reader(file)
        next(rows, None)
        return Counter(row[0] for row in rows if row)


def _free_name(target: Path) -> Path:
    number = 1
    while os.path.lexists(kept := target.with_name(f"{target.stem}.old-{number}{target.suffix}")):
        number += 1
    return kept
