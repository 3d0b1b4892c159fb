"""Progress of the demo: a bar per stage on a terminal, one plain line per stage elsewhere; and its commands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TextIO

import click

from relstudy.common.runtime.console import say
from relstudy.common.runtime.terminal import for_bars
from relstudy.studyapp.cli import main


@dataclass
class Stage:
    """One stage, while it runs and afterwards.

    Parameters
    ----------
    title : what is done
    command : what a person would type to do the same by hand, or ""
    outcome : one phrase on what came out
    seconds : how long it took
    """

    title: str
    command: str = ""
    outcome: str = ""
    seconds: float = 0.0
    bar: Any = field(default=None, repr=False)

    def advance(self, count: int) -> None:
        """Move the stage's bar on."""
        if self.bar is not None:
            self.bar.update(count)


class Stages:
    """Runs stages one after the other and shows them.

    Parameters
    ----------
    total : how many there will be
    quiet : show nothing
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total = total
        self.quiet = quiet
        self.done: list[Stage] = []
        self.log: list[str] = []

    @contextlib.contextmanager
    def stage(self, title: str, *, command: str = "", units: int | None = None) -> Iterator[Stage]:
        """One stage; `units` is the length of its own bar, where it has one."""
        from tqdm import tqdm

        current = Stage(title, command)
        number = len(self.done) + 1
        began = time.perf_counter()
        label = f"[{number}/{self.total}] {title}"
        on_terminal = sys.stderr.isatty() and not self.quiet
        if on_terminal:
            form = "{desc} {bar:24} {percentage:3.0f}% {elapsed}" if units else "{desc} ... {elapsed}"
            current.bar = tqdm(
                total=units or 1, desc=label, leave=False, dynamic_ncols=True, file=for_bars(), bar_format=form
            )
        self.log.append(f"{label}" + (f": {command}" if command else ""))
        try:
            yield current
        finally:
            if on_terminal:
                current.bar.close()
                current.bar = None
        current.seconds = time.perf_counter() - began
        self.done.append(current)
        self.log.append(f"    {current.outcome} ({current.seconds:.1f} s)")
        if not self.quiet:
            say(f"{label}: {current.outcome} ({current.seconds:.1f} s)")


class BarsOnly(io.TextIOBase):
    """A standard error that lets progress bars through, beneath it, and keeps whole lines for the log."""

    def __init__(self, real: TextIO) -> None:
        self._real = real
        self.beneath = for_bars()
        self.lines: list[str] = []

    def isatty(self) -> bool:
        return self._real.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._real.encoding

    def fileno(self) -> int:
        return self._real.fileno()

    def write(self, text: str) -> int:
        self.lines.extend(line for line in text.splitlines() if line.strip())
        return len(text)

    def flush(self) -> None:
        self._real.flush()


@contextlib.contextmanager
def without_database_url() -> Iterator[None]:
    """DATABASE_URL is unset inside this context, so that the demo uses the SQLite file in its own folder."""
    kept = os.environ.pop("DATABASE_URL", None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ["DATABASE_URL"] = kept


def run_command(name: str, *arguments: str, show: Stages | None = None) -> Any:
    """Run a subcommand of `relstudy` in this process with --json, and return what it prints.

    Its notes go to the demo's log; its progress bars are let through.
    """
    command = main.get_command(click.Context(main), name)
    assert command is not None, name
    output, notes = io.StringIO(), BarsOnly(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(notes):
        command.main(args=[*arguments, "--json"], prog_name=f"relstudy {name}", standalone_mode=False)
    if show is not None:
        show.log.extend(f"    {line}" for line in notes.lines)
    return json.loads(output.getvalue())
