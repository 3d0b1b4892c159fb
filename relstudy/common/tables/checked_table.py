"""A table as text, whose columns are checked as they are read; all faults are reported together."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import either, words
from relstudy.common.runtime.errors import Fault, RelstudyError, TableError
from relstudy.common.tables.whole_number_ids import whole_ids

ROUNDED = r"\d(?:[.,]\d+)?(?:E\+\d+|e\+1[5-9])"
"""A whole number of many digits as a spreadsheet, or pandas after a gap, writes it, such as a rater's id."""
MOST_NAMES = 40
"""So many names of columns at most stand in a message."""
MOST_COLUMNS = 20_000
"""Columns of a table that are read; spreadsheets have up to 16,384."""
SAME_VALUE = 3
"""So many rows with one wrong value in a column are one fault with a count."""


def refuse_many_columns(file: str, columns: int) -> None:
    """Refuse a table of more than MOST_COLUMNS columns, before they are read.

    Raises
    ------
    RelstudyError
        if there are more

    Examples
    --------
    >>> refuse_many_columns("ratings.csv", 4)
    """
    if columns > MOST_COLUMNS:
        raise RelstudyError(
            f"{file}: this table has {columns:,} columns, and up to {MOST_COLUMNS:,} are read; "
            "keep those that are needed"
        )


class Checked:
    """A table as text, with the faults found in it so far.

    Attributes
    ----------
    header : the row of the columns' names, as a spreadsheet counts it; None where they stand in no row
    wording : what was asked in each column, where a survey's export says so below its header
    tool : whose export it is, where its form tells; else ""
    no_table : what the file is, where it is none, as a phrase; else ""

    Examples
    --------
    >>> table = Checked(pd.DataFrame({"rater_id": ["a"], "rating": ["4"]}), "ratings.csv")
    >>> table.numbers("rating", low=1, high=5).tolist()
    [4.0]
    >>> table.raise_faults()
    """

    header: int | None = 1

    def __init__(
        self,
        frame: pd.DataFrame,
        file: str,
        rows: np.ndarray | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """A table to check.

        Parameters
        ----------
        rows : each row's number as a spreadsheet counts it; from 2 without a gap if None
        labels : what columns are called in the file, where they have another name there
        """
        self.frame = frame
        self.file = file
        self.rows = np.arange(2, len(frame) + 2) if rows is None else rows
        self.labels = dict(labels or {})
        self.faults: list[Fault] = []
        self.more = 0
        self.notes: tuple[str, ...] = ()
        self.words = words()
        self.wording: dict[str, str] = {}
        self.tool = ""
        self.no_table = ""

    def require(self, *columns: str, way_out: Callable[[str], str] | None = None) -> None:
        """Refuse at once a table that lacks a column.

        Parameters
        ----------
        way_out : what may be done about a column that is missing, as a phrase
        """
        missing = [column for column in columns if column not in self.frame.columns]
        if missing and self.no_table:
            raise RelstudyError(
                f"{self.file}: this is {self.no_table}; relstudy inspect names the command that reads it"
            )
        if missing:
            required = f"this column is required ({self.contents()})"
            ways = [f"{required}; {way_out(column)}" if way_out else required for column in missing]
            raise TableError(
                [Fault(self.file, self.header, column, None, way) for column, way in zip(missing, ways, strict=True)]
            )

    @property
    def has_no_header(self) -> bool:
        """True where the first row holds values, and columns are named by their numbers: column 1, column 2, ..."""
        return self.header is None and list(self.frame.columns[:1]) == ["column 1"]

    def contents(self) -> str:
        """Its columns, as a phrase."""
        if self.has_no_header:
            how = either("--columns 1=query_id", "columns={'1': 'query_id'}")
            return f"the file has no header, and {self.frame.shape[1]} columns, which are named by number: {how}"
        return f"the file has: {self.columns_shown()}"

    def columns_shown(self) -> str:
        """The names of its columns, the first of them if there are many, for a message."""
        names = list(map(str, self.frame.columns))
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        return f"{', '.join(names[:MOST_NAMES])}{more}" if names else "none"

    def add(
        self, wrong: np.ndarray | pd.Series | Sequence[bool], column: str, allowed: str | Callable[[str], str]
    ) -> None:
        """Note every row where `wrong` (bool, one entry a row) holds; a value that stands in many is noted once."""
        positions = np.flatnonzero(np.asarray(wrong, dtype=bool))
        if not len(positions):
            return
        values = self.frame[column].iloc[positions]
        texts = values.astype("str").mask(values.isna(), "")
        often = texts.map(texts.value_counts()) >= SAME_VALUE
        first = ~(often & texts.duplicated())
        kept = np.flatnonzero(first.to_numpy(dtype=bool))
        name = self.labels.get(column, column)
        sentence = allowed if callable(allowed) else lambda _: allowed
        for index in kept[: TableError.SHOWN]:
            value = values.iloc[index]
            count = int((texts == texts.iloc[index]).sum()) if often.iloc[index] else 1
            shown = "" if pd.isna(value) else value
            self.faults.append(Fault(self.file, self.row(positions[index]), name, shown, sentence(str(shown)), count))
        self.more += len(positions) - sum(fault.count for fault in self.faults[-min(len(kept), TableError.SHOWN) :])

    def row(self, position: int) -> int:
        """The row number, as a spreadsheet counts it, of a position in the frame."""
        return int(self.rows[position])

    def fault(self, column: str | None, allowed: str) -> None:
        """Note a fault of the table as a whole."""
        self.faults.append(Fault(self.file, None, column, None, allowed))

    def texts(self, column: str) -> pd.Series:
        """The column as text, none of it empty."""
        raw = self.frame[column]
        code, values = _distinct(raw)
        self.add((values == "").to_numpy(dtype=bool)[code], column, "a value is required")
        rounded = values.str.fullmatch(ROUNDED).to_numpy(dtype=bool)[code]
        self.add(rounded, column, "this number was rounded, as by a spreadsheet, and several ids may have become one")
        texts = values.take(code).set_axis(raw.index).rename(column)
        return raw if texts.equals(raw) else texts  # a column of millions need not be held twice

    def numbers(
        self,
        column: str,
        *,
        low: float = -np.inf,
        high: float = np.inf,
        low_open: bool = False,
        empty: bool = False,
        whole: bool = False,
        options: bool = False,
    ) -> np.ndarray:
        """The column as float64, NaN where empty.

        Parameters
        ----------
        low, high : inclusive bounds (`low_open` makes the lower one exclusive)
        empty : whether an empty value is allowed
        whole : whether only whole numbers are allowed
        options : whether the way out stands in the fault: what is missing, worth a number, or the scale
        """
        raw = self.frame[column]
        if raw.dtype.kind in "fiu":
            values = raw.to_numpy(dtype=float)
            blank = np.isnan(values)
            bad = np.isinf(values)
        else:
            code, text = _distinct(raw)
            blank = (text == "").to_numpy()
            values = pd.to_numeric(text.where(~blank, other="nan"), errors="coerce").to_numpy(dtype=float)
            bad = ~blank & ~np.isfinite(values)
            # before version 3, pandas loses the last digit of some, and hashes of judgments differ between versions
            read = np.isfinite(values)
            values = values.copy()
            values[read] = text.to_numpy(dtype=object)[read].astype(float)
            blank, values, bad = blank[code], values[code], bad[code]
        below = values <= low if low_open else values < low
        bad |= below | (values > high)
        if whole:
            bad |= ~blank & np.isfinite(values) & (values != np.round(values))
        if not empty:
            bad |= blank
        allowed = _allowed(low, high, low_open, empty, whole)
        self.add(bad, column, (lambda value: f"{allowed}{self._way_out(value)}") if options else allowed)
        return values

    def _way_out(self, value: str) -> str:
        if not value:
            return ""
        ways = self.words
        number = f"{ways.scale('LOW-HIGH')} states another scale"
        if not _is_number(value):
            number = f"{ways.value(value)} gives it a number"
        return f" ({ways.missing(value)} takes it for no answer, {number})"

    def among(self, frame: pd.DataFrame, rows: np.ndarray, labels: Mapping[str, str] | None = None) -> Checked:
        """A table of the same source, with its notes and no faults: other rows or columns of it.

        Parameters
        ----------
        rows, labels : as where a table is made; its own labels if None
        """
        other = copy.copy(self)
        other.frame, other.rows = frame, rows
        other.labels = dict(self.labels if labels is None else labels)
        other.faults, other.more = [], 0
        return other

    def without_faults(self) -> Checked:
        """The same table before any fault is noted, since each of several readers reports its own."""
        return self.among(self.frame, self.rows)

    def where(self, kept: np.ndarray | pd.Series) -> Checked:
        """Some of the rows, bool [rows], as a table of the same source with its notes and no faults."""
        return self.among(self.frame[kept].reset_index(drop=True), self.rows[kept])

    def raise_faults(self) -> None:
        """Raise one error that lists every fault noted, in file order."""
        if self.faults:
            raise TableError(sorted(self.faults, key=lambda fault: fault.row or 0), self.more)


def stripped(column: pd.Series) -> pd.Series:
    """Text of each cell without blanks around it, "" where the value is missing.

    Examples
    --------
    >>> stripped(pd.Series([" a", None, 2])).tolist()
    ['a', '', '2']
    """
    return column.astype("str").str.strip().mask(column.isna(), "")


def _distinct(column: pd.Series) -> tuple[np.ndarray, pd.Series]:
    """The place of each row's value among the column's distinct ones, int array, and these as `stripped` has them.

    Distinct values are far fewer than rows in most columns, and looked at once each.
    """
    column = whole_ids(column)
    try:
        code, values = pd.factorize(column, use_na_sentinel=False)
    except TypeError:  # a list or a dict, which is not a value of a table, cannot be looked up among others
        return np.arange(len(column)), stripped(column.reset_index(drop=True))
    return code, stripped(pd.Series(values, dtype=column.dtype))


def _allowed(low: float, high: float, low_open: bool, empty: bool, whole: bool) -> str:
    text = "a whole number" if whole else "a number"
    opening = "above" if low_open else "at least"
    if np.isfinite(low) and np.isfinite(high):
        text += f" {opening} {low:g} and at most {high:g}" if low_open else f" from {low:g} to {high:g}"
    elif np.isfinite(low):
        text += f" {opening} {low:g}"
    elif np.isfinite(high):
        text += f" at most {high:g}"
    return f"{text} is allowed" + (", or empty" if empty else "")


def _is_number(value: str) -> bool:
    return bool(np.isfinite(pd.to_numeric(value, errors="coerce")))
