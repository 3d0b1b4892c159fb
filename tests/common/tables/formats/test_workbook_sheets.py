"""Workbooks are read as the CSV of their one sheet."""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from tests.commands import succeeds

Cell = str | float | bool | None
MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def cell(value: Cell) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    """The least that a workbook holds."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, rows in enumerate(sheets.values(), 1):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            sheet = f"<worksheet {MAIN}><sheetData>{body}</sheetData></worksheet>"
            archive.writestr(f"xl/worksheets/sheet{number}.xml", sheet)
        named = "".join(
            f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>' for number, name in enumerate(sheets, 1)
        )
        archive.writestr("xl/workbook.xml", f'<workbook {MAIN} xmlns:r="{OFFICE}"><sheets>{named}</sheets></workbook>')
        links = "".join(
            f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
            for number in range(1, len(sheets) + 1)
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
        )
        root = f'<Relationship Id="r" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{root}</Relationships>')
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types"/>')
    return file.getvalue()


RATINGS: list[list[Cell]] = [
    ["rater_id", "query_id", "result_id", "rating"],
    *([f"r{r}", 7, f"d{d}", float((r + d) % 5 + 1)] for r in range(3) for d in range(6)),
]


def test_a_workbook_gives_what_its_csv_gives(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook({"Sheet1": RATINGS, "Sheet2": []}))
    lines = [",".join(str(int(cell)) if isinstance(cell, float) else str(cell) for cell in row) for row in RATINGS]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    book, text = read_table(tmp_path / "t.xlsx"), read_table(tmp_path / "t.csv")
    assert book.frame.equals(text.frame) and list(book.rows) == list(text.rows)
    assert book.file == str(tmp_path / "t.xlsx")
    assert "18 ratings by 3 raters" in succeeds("inspect", tmp_path / "t.xlsx").output
    for name in ("csv", "xlsx"):
        succeeds("calibrate", tmp_path / f"t.{name}", "-o", tmp_path / name)
    assert (tmp_path / "csv" / "judgments.csv").read_text() == (tmp_path / "xlsx" / "judgments.csv").read_text()


def test_a_sheet_of_notes_is_passed_over_and_said(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook({"About": [["made by us"]], "Ratings": RATINGS}))
    assert "the sheet 'Ratings' is read; no other holds a table" in read_table(tmp_path / "t.xlsx").notes


def test_cells_are_text_as_the_workbook_shows_them(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["a", "b", "c", "d"], [1.0, 2.5, True, 'say "yes", <now>'], [10**12, None, False, "x"]]
    (tmp_path / "t.xlsx").write_bytes(workbook({"S": rows}))
    frame = read_table(tmp_path / "t.xlsx").frame
    assert frame.iloc[0].tolist() == ["1", "2.5", "TRUE", 'say "yes", <now>']
    assert frame["a"].iloc[1] == "1000000000000"


def test_which_sheet_is_meant_is_asked_and_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook({"One": RATINGS, "Second wave": RATINGS[:7]}))
    with pytest.raises(RelstudyError, match=r"2 sheets hold tables \(One and Second wave\); name one, as .*:One"):
        read_table(path)
    shown = succeeds("inspect", path).output
    assert f"relstudy inspect '{path}:Second wave'" in shown and "which of them is it?" in shown
    second = f"{path}:Second wave"
    assert "6 ratings by 1 rater" in succeeds("inspect", second).output
    assert succeeds("calibrate", second, "-o", tmp_path / "out").exit_code == 0
    with pytest.raises(RelstudyError, match="no table is on a sheet 'Third'; there are One and Second wave"):
        read_table(f"{path}:Third")
    (tmp_path / "empty.xlsx").write_bytes(workbook({"One": []}))
    with pytest.raises(RelstudyError, match="no sheet holds a table"):
        read_table(tmp_path / "empty.xlsx")


def test_faults_are_of_the_workbook_and_not_of_what_it_was_turned_into(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(workbook({"S": [["a", "a"], ["1", "2"], ["3", "4"]]}))
    try:
        message = str(read_table(tmp_path / "t.xlsx").notes)
    except RelstudyError as error:
        message = str(error)
    assert "relstudy-" not in message
    for content in (b"PK\x03\x04nonsense", b"\xd0\xcf\x11\xe0nonsense"):
        (tmp_path / "broken.xlsx").write_bytes(content)
        with pytest.raises(RelstudyError, match="this workbook cannot be read"):
            read_table(tmp_path / "broken.xlsx")


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is bounded there")
def test_a_workbook_that_claims_more_cells_than_memory_holds_is_refused(tmp_path: Path) -> None:
    corners = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook({"S": RATINGS}))) as plain,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for name in plain.namelist():
            sheet = f"<worksheet {MAIN}><sheetData>{corners}</sheetData></worksheet>".encode()
            bomb.writestr(name, sheet if name.endswith("sheet1.xml") else plain.read(name))
    (tmp_path / "bomb.xlsx").write_bytes(content.getvalue())
    with pytest.raises(RelstudyError, match="it is damaged, or too large"):
        read_table(tmp_path / "bomb.xlsx")
