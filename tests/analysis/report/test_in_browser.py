"""The report as Chromium shows it: no fault that axe-core finds, nothing wider than the screen, nothing fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from relstudy.analysis.report.layout import Answer, Page, Paragraph, Section
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.common.results.estimates import Estimate

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (360, "light"), (320, "dark")])
def test_axe_finds_no_fault_and_nothing_is_wider_than_the_screen(
    chromium: Any, page_file: Path, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    requests: list[str] = []
    errors: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: errors.append(message.text))
    tab.goto(page_file.as_uri())
    found = Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert requests == [page_file.as_uri()]
    assert errors == []
    context.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_names_without_a_blank_are_broken_and_wide_tables_scroll_by_themselves(
    chromium: Any, tmp_path: Path, width: int
) -> None:
    name = "x" * 160
    cells: list[Cell] = [name, *[Estimate(0.5, 0.4, 0.6)] * 12]
    columns = [Column("System"), *(Column(f"index {number}") for number in range(12))]
    blocks = [Paragraph(name), Answer(name, name, [(name, name)]), Table("t", name, columns, [cells] * 3)]
    (tmp_path / "page.html").write_text(html_of(Page(name, "Kind", [], [Section("one", "One", blocks)])))
    tab = chromium.new_page(viewport={"width": width, "height": 900})
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_mean_spread_and_all_of_the_papers_tables_are_in_sight_at_1200(chromium: Any, tmp_path: Path) -> None:
    """With four selecting systems and a later round; SD and All were out of sight."""
    parts = ("gift", "simplicity", "romm-calib", "keywords", "combined")
    columns = [Column("Fitting method"), Column("Figures"), *(Column(f"Pairs by {part}") for part in parts)]
    columns += [Column("Mean"), Column("SD"), Column("All")]
    each = Estimate(0.53, 0.45, 0.6)
    row: list[Cell] = ["Least squares (4.1)", "out of fold", *[each] * 6, Estimate(0.12), each]
    table = Table("table-5-3", "Table 5.3", columns, [row] * 6)
    (tmp_path / "page.html").write_text(html_of(Page("Tables", "Kind", [], [Section("one", "One", [table])])))
    tab = chromium.new_page(viewport={"width": 1200, "height": 900})
    tab.goto((tmp_path / "page.html").as_uri())
    shown, needed = tab.evaluate(
        "[...document.querySelectorAll('.scroll')].map(e => [e.clientWidth, e.scrollWidth])[0]"
    )
    assert needed <= shown
    tab.close()


def test_the_reader_chooses_the_colours_and_paper_is_white(chromium: Any, page_file: Path) -> None:
    tab = chromium.new_page(color_scheme="light")
    tab.goto(page_file.as_uri())
    background = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.body).color"
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.get_by_text("Dark", exact=True).click()
    assert tab.evaluate(background) == "rgb(22, 24, 28)"
    for scheme in ("light", "dark"):
        tab.emulate_media(media="print", color_scheme=scheme)
        assert tab.evaluate(background) == "rgb(255, 255, 255)"
        assert tab.evaluate(ink) == "rgb(27, 30, 35)"
    tab.emulate_media(media="screen", color_scheme="dark")
    tab.get_by_text("Light", exact=True).click()
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.close()


def test_a_table_is_handed_out_by_the_page_itself(chromium: Any, page_file: Path) -> None:
    tab = chromium.new_page()
    tab.goto(page_file.as_uri())
    with tab.expect_download() as waiting:
        tab.locator('a[download="systems.csv"]').click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text.startswith("System,Rank,Pairwise accuracy within queries,Pairwise accuracy within queries low")
    tab.close()


def test_on_a_telephone_no_table_is_cut_and_letters_in_pictures_can_be_read(chromium: Any, page_file: Path) -> None:
    tab = chromium.new_page(viewport={"width": 360, "height": 900})
    tab.goto(page_file.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    cut = (
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)"
    )
    assert tab.evaluate(cut) == []
    apart = """[...document.querySelectorAll('.overview tbody tr:has(.range)')].map(row => {
        const figure = document.createRange(); figure.selectNodeContents(row.querySelector('.number'));
        return row.querySelector('.axis').getBoundingClientRect().left - figure.getBoundingClientRect().right })"""
    assert min(tab.evaluate(apart)) > 4  # a line that begins on the left is not part of the figure beside it
    sizes = """[...document.querySelectorAll('svg.figure text')].filter(e => e.getBoundingClientRect().width)
        .map(e => e.getBoundingClientRect().height)"""
    assert min(tab.evaluate(sizes)) > 8
    tab.close()


def test_on_paper_what_is_folded_stands_open_hashes_are_left_out_and_bars_are_inked(
    chromium: Any, page_file: Path
) -> None:
    tab = chromium.new_page()
    tab.goto(page_file.as_uri())
    tab.emulate_media(media="print")
    shown = "name => document.querySelector(name).getBoundingClientRect().height > 0"
    assert tab.evaluate(shown, "#table-differences") and tab.evaluate(shown, "#cite pre")
    assert not tab.evaluate(shown, "#table-inputs") and not tab.evaluate(shown, "nav")
    ink = "getComputedStyle(document.querySelector('.axis .range')).printColorAdjust"
    assert tab.evaluate(ink) == "exact"
    assert tab.evaluate(shown, "#table-variance .ends") and not tab.evaluate(shown, "#table-variance .bar")
    assert len(tab.pdf()) > 50_000
    tab.close()


def test_the_page_is_short_until_somebody_opens_a_part(chromium: Any, page_file: Path) -> None:
    tab = chromium.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(page_file.as_uri())
    assert tab.evaluate("document.documentElement.scrollHeight") <= 7000
    tab.close()


def test_three_things_that_stand_side_by_side_never_leave_one_alone(chromium: Any, page_file: Path) -> None:
    tops = "[...document.querySelectorAll('.figures > div')].map(e => Math.round(e.getBoundingClientRect().top))"
    for width, rows in ((1280, 1), (768, 1), (360, 3)):
        tab = chromium.new_page(viewport={"width": width, "height": 900})
        tab.goto(page_file.as_uri())
        assert len(set(tab.evaluate(tops))) == rows, width
        tab.close()
