"""Names of systems as people give them: other alphabets, dollars, long ones."""

from __future__ import annotations

import warnings

import pytest

from relstudy.analysis.report import pictures
from relstudy.analysis.report.layout import Page, Paragraph, Section
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.report.tables import Column, Table
from relstudy.common.results.estimates import Estimate


def table(name: str) -> Table:
    return Table(name, f"Table of {name}.", [Column("a")], [["x"]])


def test_tables_of_systems_in_other_alphabets_never_share_a_file_or_an_id() -> None:
    first = Section("one", "One", [table("by-source-日本語"), Paragraph("Between."), table("by-source-中文")])
    second = Section("two", "Two", [table("by-source-a_b"), table("by-source-A b"), table("by-source-2")])
    page = Page("Names", "Test page", [], [first, second])
    files = [each.file for each in page.tables()]
    assert files == ["by-source", "by-source-2", "by-source-a-b", "by-source-a-b-2", "by-source-2-2"]
    assert [each.caption for each in page.tables()][3] == "Table of by-source-A b."
    html = html_of(page)
    assert all(html.count(f'<table id="table-{file}"') == 1 for file in files)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$5_$ {x", "日本語システム", "50% & more", "<b>bold</b>"])
def test_a_name_stands_in_a_picture_as_it_is(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimates = {name: Estimate(0.5, 0.4, 0.6), "other": Estimate(0.2, 0.1, 0.3)}
        drawn = pictures.intervals([pictures.Panel("Correlation", estimates)])
    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert f">{shown}</text>" in drawn
