"""The gallery's pages are those of its script, which runs on a part of the real tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import gallery
from tests.places import ROOT

PAGES = ROOT / "docs" / "gallery"


def test_every_study_has_its_page_and_its_report_and_the_contents_lead_to_all(tmp_path: Path) -> None:
    gallery.contents(tmp_path, PAGES)
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == (PAGES / "index.md").read_text(encoding="utf-8")
    assert len(gallery.STUDIES) == 6
    for name, study in gallery.STUDIES.items():
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {study.title}\n\n{study.question}\n")
        assert all(f"\n{line}\n" in page for line in study.commands)
        assert study.source in page and study.remark in page
        report = (PAGES / gallery.REPORTS / f"{name}.html").read_text(encoding="utf-8")
        assert "<h1" in report and not re.search(r"(src|href)=\"https?://(?!\S*(doi|arxiv|github))", report)
    assert all(
        (PAGES / f"{name}.png").is_file()
        for name in (gallery.IN_README, *(f"{each}-systems" for each in gallery.STUDIES))
    )


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.usefixtures("shared_data")
@pytest.mark.parametrize("name", ["diras"])
def test_a_part_of_a_study_is_made_again(name: str, tmp_path: Path) -> None:
    (tmp_path / gallery.REPORTS).mkdir()
    gallery.make(name, gallery.STUDIES[name], gallery.DATA, tmp_path, queries=6)
    page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert "The report is in report.html." in page
    assert "<h1" in (tmp_path / gallery.REPORTS / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.usefixtures("shared_data")
def test_what_others_published_comes_from_the_tables() -> None:
    """Spearman .571 and Kendall .458 of DSG's README, and six correlations of TIFA's notebook, to the digit."""
    study = gallery.STUDIES["tifa160"]
    rows = study.published(study.tables(gallery.DATA), gallery.DATA)
    assert [theirs for _, theirs, _ in rows] == [ours for _, _, ours in rows]
    assert [theirs for _, theirs, _ in rows][:2] == ["0.571", "0.458"] and len(rows) == 8
