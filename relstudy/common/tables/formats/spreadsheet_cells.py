"""The sheets of a workbook as CSV, in a process of its own: a few bytes can claim more cells than any memory holds.

    python sheets_to_csv.py WORKBOOK FOLDER

writes each sheet that holds a table to FOLDER/NUMBER.csv and prints the names of all sheets, null for those without. It
imports nothing of relstudy, so that it starts at once.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import json
import sys
from pathlib import Path
from typing import Any

MEMORY, SECONDS = 2 << 30, 120
"""Bytes and processor seconds that reading may take; 200,000 rows of four columns take 200 MB and 1.4 s."""
UNREADABLE = 3
"""The exit code where the file is damaged or locked; the reason is on standard error."""


def text_of(cell: Any) -> str:
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


def main(file: str, folder: str) -> int:
    """Write the sheets; gives the exit code."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    from python_calamine import CalamineError, CalamineWorkbook

    named: list[tuple[str, int | None]] = []
    try:
        with CalamineWorkbook.from_path(file) as book:
            for number, name in enumerate(book.sheet_names):
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
                is_table = sum(any(map(text_of, row)) for row in rows) > 1
                named.append((name, number if is_table else None))
                if is_table:
                    with (Path(folder) / f"{number}.csv").open("w", newline="", encoding="utf-8") as opened:
                        csv.writer(opened).writerows([text_of(cell) for cell in row] for row in rows)
    except (CalamineError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    print(json.dumps(named))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
