"""Where things are, and where tests put theirs, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "data" / "example"
Write = Callable[..., Path]
"""The fixture `write`: from text or bytes, and a name, to the file that holds it."""
