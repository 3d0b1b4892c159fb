"""Run relstudy's own commands in the demo's process, as a person would type them."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from relstudy.studyapp.cli import COMMANDS
from relstudy.studyapp.demo.show import BarsOnly, Stages


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
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    output, notes = io.StringIO(), BarsOnly(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(notes):
        command.main(args=[*arguments, "--json"], prog_name=f"relstudy {name}", standalone_mode=False)
    if show is not None:
        show.log.extend(f"    {line}" for line in notes.lines)
    return json.loads(output.getvalue())
