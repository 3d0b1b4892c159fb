"""The scripts that photograph the report and the study's pages still find what they show."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from relstudy.studyapp.demo.server import serving
from scripts import make_report_picture, screenshots
from tests.chromium import CHROMIUM
from tests.places import ROOT

browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
TEMPLATES = ROOT / "analysis" / "report" / "templates"
PAGE = """<p class="banner">1</p><div class="answer"><p class="headline">2</p></div>
<div class="cards"><div>3</div></div><figure class="overview"><table><thead><tr><th class="mark">6</th></tr></thead>
<tbody><tr><td class="rank">4</td></tr><tr><td><i class="range">5</i></td></tr></tbody></table></figure>"""


def test_every_number_on_the_annotated_report_has_its_place_in_a_template_and_its_words_on_the_page() -> None:
    templates = " ".join(path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html"))
    for place, _ in make_report_picture.MARKS.values():
        for name in re.findall(r"\.([a-z]+)", place):
            assert re.search(rf'class="[^">]*\b{name}\b', templates), place
    page = (ROOT / "docs" / "read-the-report.md").read_text(encoding="utf-8")
    assert re.findall(r"^(\d)\. \*\*", page, flags=re.MULTILINE) == list(make_report_picture.MARKS)


@pytest.mark.slow
@pytest.mark.browser
def test_a_number_whose_place_is_gone_is_named(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE, encoding="utf-8")
    make_report_picture.take(chromium, page, tmp_path / "taken.png", "dark", annotated=True)
    monkeypatch.setitem(make_report_picture.MARKS, "7", (".nowhere", "left"))
    with pytest.raises(LookupError, match=r"no \.nowhere"):
        make_report_picture.take(chromium, page, tmp_path / "taken.png", "light", annotated=True)
    assert (tmp_path / "taken.png").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.browser
@browser
@pytest.mark.server
def test_the_page_by_text_is_photographed_by_day_and_by_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screenshots, "OUT", tmp_path / "taken")
    (tmp_path / "taken").mkdir()
    study = tmp_path / "words"
    study.mkdir()
    screenshots.make_text_study(study, pictures=10)
    invitation = screenshots.invited(study)
    # the script starts Playwright by itself, which has to be in another thread than that of the other tests
    with serving(study, workers=1) as base, ThreadPoolExecutor(1) as pool:
        pool.submit(screenshots.take_text_page, base, invitation).result()
    names = sorted(path.name for path in (tmp_path / "taken").iterdir())
    assert names == ["rating-page-text-dark.jpg", "rating-page-text.jpg"]
