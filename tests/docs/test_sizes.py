"""Pages stay as short as their kind: what is measured stands with the evidence, and the rest is read in a sitting."""

from __future__ import annotations

from pathlib import Path

from tests.places import ROOT

DOCS = ROOT / "docs"
IN_ALL, PAGE, HOW_TO, EXPLANATION = 45_000, 2_500, 600, 1_500
LONGER = {"hashing.md", "columns.md"}
"""A tutorial on data that everyone has, and a reference that a script prints."""


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_pages_without_evidence_are_short() -> None:
    """The gallery is left out as well: its pages are what a script prints."""
    apart = (DOCS / "evidence", DOCS / "gallery")
    pages = {page: words(page) for page in DOCS.rglob("*.md") if not any(page.is_relative_to(each) for each in apart)}
    assert sum(pages.values()) < IN_ALL
    assert [page for page, length in pages.items() if length > PAGE] == []
    assert [page for page, length in pages.items() if page.parent.name == "how-to" and length > HOW_TO] == []
    explained = {page: length for page, length in pages.items() if page.parent == DOCS and page.name not in LONGER}
    assert [page for page, length in explained.items() if length > EXPLANATION] == []
