"""`relstudy hash` run by tests."""

from __future__ import annotations

import json

from tests.commands import succeeds


def hash_json(command: str, *more: object) -> dict:
    """What `relstudy hash COMMAND MORE --json` prints; COMMAND is split at its blanks."""
    result = succeeds("hash", *command.split(), *more, "--json")
    printed: dict = json.loads(result.stdout)
    return printed
