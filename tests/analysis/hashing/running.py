"""`relstudy hash` run by tests."""

from __future__ import annotations

import json

from click.testing import CliRunner

from relstudy.studyapp.cli import main


def hash_json(command: str, *more: object) -> dict:
    """What `relstudy hash COMMAND MORE --json` prints; COMMAND is split at its blanks."""
    result = CliRunner().invoke(main, ["hash", *command.split(), *map(str, more), "--json"])
    assert result.exit_code == 0, result.output
    printed: dict = json.loads(result.stdout)
    return printed
