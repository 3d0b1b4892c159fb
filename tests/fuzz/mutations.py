"""What may happen to a file between a researcher's hands: changes that leave its meaning alone, and those that don't.

A mutation takes a file's bytes and two numbers that say where and what, so that a case can be drawn, shrunk and
repeated.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

Rows = list[list[str]]

CELLS = (
    *("", " ", "NA", "nan", "NaN", "-", ".", "null", "99", "-1", "0", "1e999", "inf", "-inf", "1e-320", "4,5", "1_000"),
    *("0x10", "٣", "3", "３", "1.0", "+4", "4 stars", "=1+1", '"', "'", "a\nb", "\x00", "\ufeff", "é", "e\u0301"),
    *("x" * 5000, "9" * 400, "1" * 20, "true", "base", "check", "#", "0.0001", "2.5", "%s", "../x", "<b>"),
)
"""Values that a cell may come to hold."""


@dataclass(frozen=True)
class Mutation:
    """One change of a file.

    Parameters
    ----------
    name : a key of KEEPING or CHANGING
    at, which : where, and what; any whole numbers from 0
    """

    name: str
    at: int
    which: int

    def apply(self, content: bytes, separator: str = ",") -> bytes:
        """The file's bytes after the change."""
        change = ALL[self.name]
        return change(content, separator, self.at, self.which) if content else content


Change = Callable[[bytes, str, int, int], bytes]


def _rows(content: bytes, separator: str) -> Rows:
    text = content.decode("utf-8-sig", errors="replace").replace("\x00", "")
    if separator == " ":
        return [line.split() for line in text.splitlines()]
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def _bytes(rows: Rows, separator: str, quoting: int = csv.QUOTE_MINIMAL) -> bytes:
    if separator == " ":
        return "".join(" ".join(row) + "\n" for row in rows).encode("utf-8", "replace")
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator="\n", quoting=quoting).writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


def _by_rows(change: Callable[[Rows, int, int], Rows]) -> Change:
    """A change of the table's rows, the header being the first."""

    def apply(content: bytes, separator: str, at: int, which: int) -> bytes:
        rows = _rows(content, separator)
        return _bytes(change(rows, at, which), separator) if rows and rows[0] else content

    return apply


def _quoted(content: bytes, separator: str, at: int, which: int) -> bytes:
    return _bytes(_rows(content, separator), separator, csv.QUOTE_ALL)


def _spaced(rows: Rows, at: int, which: int) -> Rows:
    column = at % len(rows[0])
    return [[f" {cell} " if number == column else cell for number, cell in enumerate(row)] for row in rows]


def _turned_columns(rows: Rows, at: int, which: int) -> Rows:
    by = at % len(rows[0])
    return [row[by:] + row[:by] for row in rows]


def _remarked(rows: Rows, at: int, which: int) -> Rows:
    first, *rest = rows
    return [[*first, f"remark {len(first)}"], *([*row, "well, ok"] if row else row for row in rest)]


def _turned_rows(rows: Rows, at: int, which: int) -> Rows:
    by = at % max(len(rows) - 1, 1)
    return [rows[0], *rows[1 + by :], *rows[1 : 1 + by]]


def _repeated_row(rows: Rows, at: int, which: int) -> Rows:
    return [*rows, rows[1 + at % (len(rows) - 1)]] if len(rows) > 1 else rows


KEEPING: dict[str, Change] = {
    "byte-order mark": lambda content, *_: b"\xef\xbb\xbf" + content.removeprefix(b"\xef\xbb\xbf"),
    "windows line ends": lambda content, *_: content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "blank lines at the end": lambda content, *_: content + b"\n\n",
    "no line end": lambda content, *_: content.rstrip(b"\r\n"),
    "all quoted": _quoted,
    "spaces around": _by_rows(_spaced),
    "columns turned": _by_rows(_turned_columns),
    "a column more": _by_rows(_remarked),
    "rows turned": _by_rows(_turned_rows),
    "a row twice": _by_rows(_repeated_row),
}
"""Changes of a table with a header that say the same."""
KEEPING_LINES = ("windows line ends", "blank lines at the end", "no line end")
"""Those of KEEPING that say the same of a file whose first line is not a header too."""


def _cell(rows: Rows, at: int, which: int) -> Rows:
    row = at % len(rows)
    if rows[row]:
        rows[row][(at // len(rows)) % len(rows[row])] = CELLS[which % len(CELLS)]
    return rows


def _cell_everywhere(rows: Rows, at: int, which: int) -> Rows:
    column = at % len(rows[0])
    for row in rows[1:]:
        if column < len(row):
            row[column] = CELLS[which % len(CELLS)]
    return rows


def _swapped(rows: Rows, at: int, which: int) -> Rows:
    first, second = at % len(rows), which % len(rows)
    column = (at // len(rows)) % len(rows[0])
    if column < min(len(rows[first]), len(rows[second])):
        rows[first][column], rows[second][column] = rows[second][column], rows[first][column]
    return rows


def _without_column(rows: Rows, at: int, which: int) -> Rows:
    column = at % len(rows[0])
    return [row[:column] + row[column + 1 :] for row in rows]


def _doubled_column(rows: Rows, at: int, which: int) -> Rows:
    column = at % len(rows[0])
    return [[*row, row[column] if column < len(row) else ""] for row in rows]


def _short_row(rows: Rows, at: int, which: int) -> Rows:
    row = at % len(rows)
    rows[row] = rows[row][: which % (len(rows[row]) + 1)]
    return rows


def _long_row(rows: Rows, at: int, which: int) -> Rows:
    rows[at % len(rows)].append(CELLS[which % len(CELLS)])
    return rows


def _column_as_text(rows: Rows, at: int, which: int) -> Rows:
    """One column through a spreadsheet: numbers with a point, commas, percent signs, or cut to fewer digits."""
    column = at % len(rows[0])
    forms: tuple[Callable[[str], str], ...] = (
        lambda cell: f"{cell}.0",
        lambda cell: cell.replace(".", ","),
        lambda cell: f"{cell}%",
        lambda cell: cell[:3],
        lambda cell: cell.lstrip("0"),
        lambda cell: f"-{cell}",
        str.upper,
        lambda cell: unicodedata.normalize("NFD", cell),
        lambda cell: f"{cell}e1",
    )
    form = forms[which % len(forms)]
    for row in rows[1:]:
        if column < len(row):
            row[column] = form(row[column])
    return rows


def _renamed_column(rows: Rows, at: int, which: int) -> Rows:
    names = ("rating", "judgment", "score", "rater_id", "query_id", "result_id", "scale", "block", "Rating ", "system")
    rows[0][at % len(rows[0])] = names[which % len(names)]
    return rows


def _dropped_rows(rows: Rows, at: int, which: int) -> Rows:
    start = at % len(rows)
    return rows[:start] + rows[start + 1 + which % len(rows) :]


def _contradicting_row(rows: Rows, at: int, which: int) -> Rows:
    if len(rows) < 2:
        return rows
    copy = list(rows[1 + at % (len(rows) - 1)])
    if copy:
        copy[which % len(copy)] = CELLS[(at + which) % len(CELLS)]
    return [*rows, copy]


def _again(content: bytes, separator: str, at: int, which: int) -> bytes:
    """The file twice, one after the other, with its header in between."""
    return content + content


def _flipped(content: bytes, separator: str, at: int, which: int) -> bytes:
    place = at % len(content)
    return content[:place] + bytes([content[place] ^ (1 << which % 8)]) + content[place + 1 :]


def _inserted(content: bytes, separator: str, at: int, which: int) -> bytes:
    place = at % (len(content) + 1)
    return content[:place] + bytes([which % 256]) + content[place:]


def _cut(content: bytes, separator: str, at: int, which: int) -> bytes:
    return content[: at % len(content)]


def _without_bytes(content: bytes, separator: str, at: int, which: int) -> bytes:
    place = at % len(content)
    return content[:place] + content[place + 1 + which % 64 :]


def _encoded(content: bytes, separator: str, at: int, which: int) -> bytes:
    text = content.decode("utf-8", "replace") + ("é" if at % 2 else "")
    return text.encode(("utf-16", "latin-1", "cp1252", "utf-16-le", "utf-32", "mac-roman")[which % 6], "replace")


def _separated(content: bytes, separator: str, at: int, which: int) -> bytes:
    other = (";", "\t", "|", " ", ":")[which % 5]
    return _bytes(_rows(content, separator), other) if other != " " else content.replace(separator.encode(), b" ")


CHANGING: dict[str, Change] = {
    "a cell": _by_rows(_cell),
    "a cell everywhere": _by_rows(_cell_everywhere),
    "cells swapped": _by_rows(_swapped),
    "a column less": _by_rows(_without_column),
    "a column twice": _by_rows(_doubled_column),
    "a row too short": _by_rows(_short_row),
    "a row too long": _by_rows(_long_row),
    "a column as text": _by_rows(_column_as_text),
    "a column renamed": _by_rows(_renamed_column),
    "rows dropped": _by_rows(_dropped_rows),
    "a row contradicted": _by_rows(_contradicting_row),
    "the file twice": _again,
    "a bit flipped": _flipped,
    "a byte more": _inserted,
    "cut off": _cut,
    "bytes lost": _without_bytes,
    "another encoding": _encoded,
    "another separator": _separated,
    "empty": lambda *_: b"",
    "a preamble": lambda content, *_: b"# exported by hand\n# 2026\n" + content,
}
"""Changes that may say something else, or nothing that can be read."""
BYTES = ("a bit flipped", "a byte more", "cut off", "bytes lost", "the file twice", "empty")
"""Those of CHANGING that can happen to any file."""
ALL = KEEPING | CHANGING
