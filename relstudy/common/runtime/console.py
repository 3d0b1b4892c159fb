"""Output that every command shares: JSON, tables, progress bars, and the ending by an error."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from relstudy.common.runtime.control_characters import without_breaks, without_controls
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.terminal import for_bars

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")


def print_json(value: Any) -> None:
    """Print strict JSON to standard output (a NaN is an error, not a number)."""
    click.echo(json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False))


def say(text: str) -> None:
    """Print a line on how the run goes, such as which files were written, to standard error, out of a pipe's way.

    What the program decided or assumed for the person belongs to the result and is printed with it, or stands under
    "notes" in JSON.
    """
    click.echo(without_breaks(text), err=True)


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Iterate with a progress bar on standard error; it appears after two seconds, and only on a terminal."""
    from tqdm import tqdm

    return iter(tqdm(items, total=total, **_bar(what)))


def counter(what: str, total: int) -> tqdm[Any]:
    """A progress bar with rate, to be counted up by `update`, that can say more behind it (`set_postfix_str`); it
    appears as that of `progress` does."""
    from tqdm import tqdm

    return tqdm(total=total, **_bar(what))


def _bar(what: str) -> dict[str, Any]:
    """The form of bars. They go past the door of terminals, and the label may name somebody's file."""
    label = without_controls(what)
    return {"desc": label, "delay": 2, "disable": None, "file": for_bars(), "leave": False, "dynamic_ncols": True}


@contextlib.contextmanager
def hushed(library: str) -> Iterator[None]:
    """Keep a library's running commentary off the terminal; its errors still show."""
    logger = logging.getLogger(library)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def in_colour() -> bool:
    """True where output may be styled: on a terminal that can, and not where NO_COLOR is set to anything."""
    terminal = sys.stdout is not None and sys.stdout.isatty()  # a closed standard output is None
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, **style: Any) -> str:
    """Text in a style of `click.style`, where output may be styled; else as it is."""
    return click.style(text, **style) if in_colour() else text


def print_table(rows: list[list[str]], header: list[str], dim: Collection[int] = ()) -> None:
    """Print rows as aligned columns: text to the left, numbers to the right; the columns `dim` stand back."""
    rows = [[without_breaks(str(cell)) for cell in row] for row in rows]
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    numeric = [all(_numeric(str(row[i])) for row in rows) for i in range(len(header))]
    for row in [header, *rows]:
        cells = [str(c).rjust(w) if n else str(c).ljust(w) for c, w, n in zip(row, widths, numeric, strict=True)]
        if row is header:
            cells = [styled(cell, bold=True) for cell in cells]
        else:
            cells = [styled(cell, dim=True) if i in dim else cell for i, cell in enumerate(cells)]
        click.echo("  ".join(cells).rstrip())


def _numeric(text: str) -> bool:
    return text[:1] in "0123456789.+-–" or text == ""


def fail(error: RelstudyError) -> NoReturn:
    """End the command with exit code 1 and the error's sentences on standard error."""
    click.echo("\n".join(without_breaks(line) for line in [f"relstudy: {error.lines[0]}", *error.lines[1:]]), err=True)
    sys.exit(1)
