"""Workbooks (.xlsx, .xls, .xlsb, .ods): the one sheet that holds a table, as CSV reads it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats import workbook_sheets
from relstudy.common.tables.formats.csv_files import read_csv

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


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
        where it cannot be read, is locked or too large, or no sheet, or more than one, holds a table
    """
    with tempfile.TemporaryDirectory(prefix="relstudy-") as folder:
        command = [sys.executable, "-I", workbook_sheets.__file__, file, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            damaged = done.returncode == workbook_sheets.UNREADABLE
            reason = done.stderr.strip() if damaged else "it is damaged, or too large"
            raise RelstudyError(f"{file}: this workbook cannot be read ({reason}); save the sheet as CSV (UTF-8)")
        sheets = json.loads(done.stdout)
        tables = {name: number for name, number in sheets if number is not None}
        if len(tables) != 1:
            held = f"{len(tables)} sheets hold tables ({listed(list(tables))})" if tables else "no sheet holds a table"
            raise RelstudyError(f"{file}: {held}; save the sheet that you mean as a file of its own")
        (name, number), *_ = tables.items()
        text = str(Path(folder) / f"{number}.csv")
        try:
            table = read_csv(text)
        except RelstudyError as error:
            raise RelstudyError(str(error).replace(text, file)) from None
    table.file = file
    if len(sheets) > 1:
        table.notes = (*table.notes, f"the sheet {name!r} is read; no other holds a table")
    return table
