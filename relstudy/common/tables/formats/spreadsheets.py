"""Workbooks (.xlsx, .xls, .xlsb, .ods): the one sheet that holds a table, as CSV reads it."""

from __future__ import annotations

import contextlib
import csv
import datetime
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.csv_files import read_csv

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST = 256 << 20
"""Bytes of sheets that are read; a million rows of four columns take about 200 MB."""


def is_workbook(file: str) -> bool:
    """True for a workbook, by its name and its first bytes; pages of the web that are named .xls are none."""
    if not file.lower().endswith(ENDINGS):
        return False
    try:
        with open(file, "rb") as opened:
            return opened.read(4) in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
    except OSError:
        return False


def read_workbook(file: str) -> Checked:
    """The table of a workbook; rows have the numbers that the workbook shows.

    Raises
    ------
    RelstudyError
        where it cannot be read, is locked, or no sheet, or more than one, holds a table
    """
    from python_calamine import CalamineError, CalamineWorkbook

    _refuse_large(file)
    try:
        with CalamineWorkbook.from_path(file) as book:
            sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    except (CalamineError, OSError, ValueError) as error:
        raise RelstudyError(f"{file}: this workbook cannot be read ({error}); save the sheet as CSV (UTF-8)") from None
    tables = {name: rows for name, rows in sheets.items() if sum(any(map(_text, row)) for row in rows) > 1}
    if len(tables) != 1:
        held = f"{len(tables)} sheets hold tables ({listed(list(tables))})" if tables else "no sheet holds a table"
        raise RelstudyError(f"{file}: {held}; save the sheet that you mean as a file of its own")
    (name, rows), *_ = tables.items()
    with tempfile.TemporaryDirectory(prefix="relstudy-") as folder:
        text = Path(folder) / f"{Path(file).stem}.csv"
        with text.open("w", newline="", encoding="utf-8") as opened:
            csv.writer(opened).writerows([_text(cell) for cell in row] for row in rows)
        try:
            table = read_csv(str(text))
        except RelstudyError as error:
            raise RelstudyError(str(error).replace(str(text), file)) from None
    table.file = file
    if len(sheets) > 1:
        table.notes = (*table.notes, f"the sheet {name!r} is read; no other holds a table")
    return table


def _refuse_large(file: str) -> None:
    """Refuse a workbook whose sheets, which are read whole, unpack to more than `MOST` bytes."""
    with contextlib.suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith((".xml", ".bin")))
        if unpacked > MOST:
            raise RelstudyError(f"{file}: this workbook unpacks to {unpacked >> 20} MB; save the sheet as CSV (UTF-8)")


def _text(cell: Any) -> str:
    """A cell as the workbook's CSV has it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ")
    return str(cell)
