"""How tables and titles become HTML, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import re

import pytest

from relstudy.analysis.report.layout import Page, Paragraph, Picture, Section
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.report.tables import Cell, Column, DifferenceWithP, Table, shown_interval
from relstudy.common.results.estimates import Estimate

ROWS: list[list[Cell]] = [
    ["a", DifferenceWithP(Estimate(0.5, 0.25, 1.0), 0.0263)],
    ["b", DifferenceWithP(Estimate(-0.5, -1.0, 0.0), None)],
]


def html_of_table(table: Table, title: str = "Title") -> str:
    return html_of(Page(title, "Kind", [], [Section("one", "One", [table])]))


def test_an_interval_is_a_bar_on_the_columns_scale_with_its_ends_for_those_who_ask() -> None:
    html = html_of_table(Table("t", "Two.", [Column("s"), Column("d", signed=True)], ROWS))
    assert 'title="+0.25 to +1.00"><s style="left:50.0%"></s><i style="left:62.5%;right:0.0%"></i>' in html
    assert '<u style="left:75.0%"></u></span><span class="ends">+0.25 to +1.00</span><small>p 0.026</small>' in html
    assert html.count("<small>p ") == 1
    digits = html_of_table(Table("t", "Two.", [Column("s"), Column("d")], ROWS, number=True))
    assert '<span class="bar"' not in digits and "<small>0.25 to 1.00</small>" in digits


def test_a_command_stands_on_the_page_as_code_and_other_backticks_as_they_are() -> None:
    note = "`relstudy score --out` writes what `mine` < yours."
    blocks = [Table("t", "One.", [Column("s")], [["a"]], note=note), Paragraph(note), Picture(["<svg></svg>"], note)]
    html = html_of(Page("Title", "Kind", [], [Section("one", "One", blocks)]))
    assert html.count("<code>relstudy score --out</code> writes what `mine` &lt; yours.") == 3


def test_a_difference_keeps_its_p_in_the_files() -> None:
    table = Table("t", "Two.", [Column("s"), Column("d")], ROWS)
    assert list(csv.reader(io.StringIO(table.csv()))) == [
        ["s", "d", "d low", "d high", "d p"],
        ["a", "0.5", "0.25", "1.0", "0.0263"],
        ["b", "-0.5", "-1.0", "0.0", ""],
    ]
    assert "{[}0.25, 1.00], p 0.026" in table.latex()


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(0.002, 0.02, "+0.002 to +0.020"), (-0.02, -0.0004, "−0.0200 to −0.0004"), (-0.002, 0.02, "0.00 to +0.02")],
)
def test_rounding_never_hides_on_which_side_of_zero_a_difference_lies(low: float, high: float, shown: str) -> None:
    assert shown_interval(Estimate(0.01, low, high), Column("d", signed=True)) == shown


def test_a_caption_has_no_full_stop_and_every_cell_knows_its_column() -> None:
    html = html_of_table(Table("t", "Two systems.", [Column("s"), Column("best 5 %")], [["a", 0.5]]))
    assert "<span>Two systems</span>" in html
    assert 'data-of="best 5\u00a0%"' in html


def test_a_small_picture_stands_before_the_name_of_its_row() -> None:
    table = Table(
        "t", "One.", [Column("s"), Column("r")], [["a", 0.5], ["b", 0.4]], pictures={"a": "data:image/jpeg,x"}
    )
    assert re.findall(r'<img src="([^"]*)" alt="">(\w)', html_of_table(table)) == [("data:image/jpeg,x", "a")]


def test_a_title_cannot_leave_the_style_sheet_that_prints_it_in_the_margin() -> None:
    html = html_of_table(Table("t", "One.", [Column("s")], [["a"]]), '"; } </style><script>x</script> 日本')
    style = html[html.index("<style>") : html.index("</style>")]
    margin = re.search(r'@top-left \{ content: "([^"]*)"; font', style)
    assert margin is not None
    assert re.sub(r"\\([0-9a-f]+) ", lambda code: chr(int(code[1], 16)), margin[1]).startswith('"; } </style><script>')
    assert "日本" in margin[1]
    assert html.count("<script") == 0


def test_pages_are_numbered_on_paper() -> None:
    assert 'counter(page) " / " counter(pages)' in html_of_table(Table("t", "One.", [Column("s")], [["a"]]))
