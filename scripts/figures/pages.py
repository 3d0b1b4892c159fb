"""What the pages print: the tables that figures are drawn from."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


DOCS = ROOT / "docs"


def printed(page: str, start: str) -> list[str]:
    """The lines of a page's table or text block from the line that holds `start` to the next empty line after rows."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if start in line)
    end = next(n for n in range(first + 3, len(lines)) if not lines[n].strip() or lines[n].startswith("```"))
    return lines[first:end]
