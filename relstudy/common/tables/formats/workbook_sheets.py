"""Workbooks (.xlsx, .xls, .xlsb, .ods): the one sheet that holds a table, as CSV reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats import spreadsheet_cells
from relstudy.common.tables.formats.csv_files import read_csv
from relstudy.common.tables.formats.file_kind import IN_WORKBOOK


class SeveralSheets(RelstudyError):
    """A workbook with several tables, of which none was named."""

    def __init__(self, file: str, sheets: list[str]) -> None:
        self.file, self.paths = file, {name: f"{file}:{name}" for name in sheets}
        held = f"{len(sheets)} sheets hold tables ({listed(sheets)})"
        super().__init__(f"{file}: {held}; name one, as {self.paths[sheets[0]]}")


def read_workbook(path: str, *, header: bool = True) -> Checked:
    """The table of a workbook; rows have the numbers that the workbook shows.

    Parameters
    ----------
    path : the workbook, with `:SHEET` where several sheets hold tables

    Raises
    ------
    RelstudyError
        where it cannot be read, is locked or too large, no sheet holds a table, or several do and none is named
    """
    named = IN_WORKBOOK.fullmatch(path)
    file, sheet = (named["file"], named["name"]) if named else (path, None)
    if not os.path.isfile(file):
        raise FileNotFoundError(file)
    with tempfile.TemporaryDirectory(prefix="relstudy-") as folder:
        command = [sys.executable, "-I", spreadsheet_cells.__file__, file, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            damaged = done.returncode == spreadsheet_cells.UNREADABLE
            reason = done.stderr.strip() if damaged else "it is damaged, or too large"
            raise RelstudyError(f"{file}: this workbook cannot be read ({reason}); save the sheet as CSV (UTF-8)")
        sheets = json.loads(done.stdout)
        tables = {name: number for name, number in sheets if number is not None}
        if not tables:
            raise RelstudyError(f"{file}: no sheet holds a table")
        if sheet is None and len(tables) > 1:
            raise SeveralSheets(file, list(tables))
        name = next(iter(tables)) if sheet is None else sheet
        if name not in tables:
            raise RelstudyError(f"{file}: no table is on a sheet {name!r}; there are {listed(list(tables))}")
        text = str(Path(folder) / f"{tables[name]}.csv")
        try:
            table = read_csv(text, header=header)
        except RelstudyError as error:
            raise RelstudyError(str(error).replace(text, path)) from None
    table.file = path
    if sheet is None and len(sheets) > 1:
        table.notes = (*table.notes, f"the sheet {name!r} is read; no other holds a table")
    return table
