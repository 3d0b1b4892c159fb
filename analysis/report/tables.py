"""One table, shown three ways: in the page, as CSV, as LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from relstudy.common.charts.pictures import data_address
from relstudy.common.results.estimates import Estimate
from relstudy.common.results.latex import LatexCell, latex_table
from relstudy.common.runtime.wording import listed

MINUS = "−"
MOST_DIGITS = 6
NONE = "–"


@dataclass(frozen=True)
class DifferenceWithP:
    """A difference, and the p of the test that there is none; None where it was not tested."""

    difference: Estimate
    p: float | None


Cell = str | int | float | Estimate | DifferenceWithP | None


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    name : its heading
    digits : decimals shown of a number; the CSV keeps all
    signed : whether a plus sign is shown
    percent : whether a share is shown in percent
    p_value : whether small values are shown as "< 0.001"
    """

    name: str
    digits: int = 2
    signed: bool = False
    percent: bool = False
    p_value: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text, numbers and estimates under one caption.

    Parameters
    ----------
    name : file name without ending, also the table's id in the page
    caption : what the table shows, in a sentence
    columns : the first one heads the rows
    rows : one cell per column
    note : what a reader must know to read it, or empty
    best : columns whose highest ("max") or lowest ("min") value is set in bold, of those that are not `untested`
    shown : how many rows the page shows; the files hold all
    as_good : (row, column) of values that are not clearly worse than the best of their column, and bold like it
    untested : (row, column) of values that no test rests on, which are neither the best of their column nor as good
    number : whether the page shows intervals in digits; else as bars on the column's common scale
    pictures : small pictures (data: addresses) by the text of the first column
    prose : whether its cells are sentences, whose first column wraps like the others
    marks : raised letters or stars by (row, column) of their numbers

    Examples
    --------
    >>> table = Table("t", "Two systems.", [Column("system"), Column("r")], [["a", Estimate(0.5, 0.4, 0.6)], ["b", 1]])
    >>> print(table.csv().replace("\\r", ""))
    system,r,r low,r high
    a,0.5,0.4,0.6
    b,1,,
    <BLANKLINE>
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    best: tuple[tuple[str, str], ...] = ()
    shown: int | None = None
    as_good: frozenset[tuple[int, str]] = frozenset()
    untested: frozenset[tuple[int, str]] = frozenset()
    number: bool = False
    pictures: Mapping[str, str] = field(default_factory=dict)
    prose: bool = False
    marks: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: a row of {len(row)} cells under {len(self.columns)} columns")

    @property
    def file(self) -> str:
        """The name as a file's name: small letters, digits and hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "table"

    def numeric(self, index: int) -> bool:
        """True where a column holds numbers, and so stands to the right."""
        return any(isinstance(row[index], int | float | Estimate | DifferenceWithP) for row in self.rows)

    def scale(self, index: int) -> tuple[float, float] | None:
        """The ends between which a column's bars are drawn, 0 among them where signs count; None without intervals."""
        intervals = [each for row in self.rows if (each := estimate_of(row[index])) is not None]
        ends = [end for each in intervals for end in (each.low, each.high, each.value) if end is not None]
        if all(each.ends is None for each in intervals):
            return None
        low, high = min(ends), max(ends)
        if self.columns[index].signed:
            low, high = min(low, 0.0), max(high, 0.0)
        return (low, high) if high > low else None

    def mark(self, row: int, column: int) -> str:
        """The mark of a cell's number; empty without one."""
        return self.marks.get((row, self.columns[column].name), "")

    def marked(self) -> set[tuple[int, int]]:
        """(row, column) of the cells that are best in their column, among at least two values."""
        cells: set[tuple[int, int]] = set()
        for name, which in self.best:
            index = [column.name for column in self.columns].index(name)
            values = {
                i: value
                for i, row in enumerate(self.rows)
                if (i, name) not in self.untested and (value := number(row[index])) is not None
            }
            if len(values) > 1:
                goal = max(values.values()) if which == "max" else min(values.values())
                cells |= {(i, index) for i, value in values.items() if value == goal or (i, name) in self.as_good}
        return cells

    def reasons_once(self, given: str = "") -> tuple[Table, frozenset[str]]:
        """The table for a page, with a reason that several cells share for having no number once, in the note; and
        these reasons. A column that has no number for one reason goes; the files keep it. A reason in `given`, what
        the page says before the table, is not repeated.

        Examples
        --------
        >>> none = Estimate.missing("too few raters")
        >>> table = Table("t", "", [Column("system"), Column("r"), Column("n")], [["a", none, 1], ["b", none, 2]])
        >>> lean, _ = table.reasons_once()
        >>> [column.name for column in lean.columns], lean.note
        (['system', 'n'], 'Not shown: r (too few raters).')
        """
        whole: dict[str, list[str]] = {}
        part: dict[str, list[str]] = {}
        by_column = [[_reason(row[index]) for row in self.rows] for index in range(len(self.columns))]
        counts = Counter(each for reasons in by_column for each in reasons if each)
        for index, (column, reasons) in enumerate(zip(self.columns, by_column, strict=True)):
            shared = dict.fromkeys(each for each in reasons if each and counts[each] > 1)
            if index and len(reasons) > 1 and len(shared) == 1 == len(set(reasons)):
                whole.setdefault(next(iter(shared)), []).append(column.name)
            else:
                for each in shared:
                    part.setdefault(each, []).append(column.name)
        if not (whole or part):
            return self, frozenset()
        kept = [
            index for index, each in enumerate(self.columns) if not any(each.name in gone for gone in whole.values())
        ]
        names = {self.columns[index].name for index in kept}
        before = [name for reason, names in whole.items() if reason in given for name in names]
        gone = [f"{listed(before)} (reasons above)"] if before else []
        gone += [f"{listed(names)} ({reason})" for reason, names in whole.items() if reason not in given]
        said = [self.note, f"Not shown: {'; '.join(gone)}."] if whole else [self.note]
        said += [f"{NONE} in {listed(columns)}: {reason}." for reason, columns in part.items()]
        lean = replace(
            self,
            columns=[self.columns[index] for index in kept],
            rows=[[row[index] for index in kept] for row in self.rows],
            best=tuple(each for each in self.best if each[0] in names),
            note=" ".join(said).strip(),
        )
        return lean, frozenset({*whole, *part})

    def csv(self) -> str:
        """The table as CSV: full precision, an interval as two further columns, a reason where a number is missing."""
        spans = [any(estimate_of(row[i]) is not None for row in self.rows) for i in range(len(self.columns))]
        tests = [any(isinstance(row[i], DifferenceWithP) for row in self.rows) for i in range(len(self.columns))]
        reasons = [any(_reason(row[i]) for row in self.rows) for i in range(len(self.columns))]
        header: list[str] = []
        for column, span, test, reason in zip(self.columns, spans, tests, reasons, strict=True):
            header += [column.name, *([f"{column.name} low", f"{column.name} high"] if span else [])]
            header += [f"{column.name} p"] if test else []
            header += [f"{column.name} reason"] if reason else []
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(header)
        for row in self.rows:
            line: list[object] = []
            for cell, span, test, reason in zip(row, spans, tests, reasons, strict=True):
                estimate = estimate_of(cell)
                if estimate is not None:
                    line += [estimate.value, estimate.low, estimate.high]
                else:
                    line += [cell, *([None, None] if span else [])]
                line += [cell.p if isinstance(cell, DifferenceWithP) else None] if test else []
                line += [_reason(cell)] if reason else []
            writer.writerow(["" if item is None else item for item in line])
        return text.getvalue()

    def latex(self) -> str:
        """The table for a paper: booktabs, an interval below its number."""
        aligned = "".join("r" if self.numeric(i) else "l" for i in range(len(self.columns)))
        best = self.marked()
        rows = [
            [
                replace(_latex_cell(cell, self.columns[j], (i, j) in best), mark=self.mark(i, j))
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(self.rows)
        ]
        return latex_table(self.caption, self.file, [column.name for column in self.columns], aligned, rows)

    def data_address(self, form: str) -> str:
        """The CSV or LaTeX text as a data: address, so that the page alone can hand it out."""
        text, kind = (self.csv(), "text/csv") if form == "csv" else (self.latex(), "text/x-tex")
        return data_address(text.encode(), f"{kind};charset=utf-8")


def estimate_of(cell: Cell) -> Estimate | None:
    """The estimate in a cell, or None if there is none."""
    return cell.difference if isinstance(cell, DifferenceWithP) else cell if isinstance(cell, Estimate) else None


def number(cell: Cell) -> float | None:
    """The number in a cell, or None."""
    estimate = estimate_of(cell)
    value = cell if estimate is None else estimate.value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    return None


def shown_number(value: float | None, column: Column = Column("")) -> str:
    """A number as the page shows it: rounded, with a true minus sign.

    Examples
    --------
    >>> shown_number(-0.12345), shown_number(0.5, Column("share", digits=0, percent=True)), shown_number(-0.0001)
    ('−0.12', '50 %', '0.00')
    """
    if value is None or not math.isfinite(value):
        return NONE
    if column.p_value:
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    digits, scaled = column.digits, value * (100 if column.percent else 1)
    text = f"{scaled:{'+' if column.signed else ''},.{digits}f}"
    if float(f"{scaled:.{digits}f}") == 0:
        text = f"{0:.{digits}f}"
    return text.replace("-", MINUS) + (" %" if column.percent else "")


def shown_interval(cell: Cell, column: Column) -> str:
    """The interval of an estimate, "0.40 to 0.60", or nothing."""
    ends = _ends(cell, column)
    return "" if ends is None else f"{ends[0]} to {ends[1]}"


def _ends(cell: Cell, column: Column) -> tuple[str, str] | None:
    """The ends of an interval as text, with one digit more where rounding would hide on which side of 0 it lies."""
    estimate = estimate_of(cell)
    if estimate is None or estimate.ends is None:
        return None
    scale = 100 if column.percent else 1
    low, high = (scale * end for end in estimate.ends)
    digits = column.digits
    if column.signed and estimate.excludes_zero:
        nearest = min(abs(low), abs(high))
        while digits < MOST_DIGITS and float(f"{nearest:.{digits}f}") == 0:
            digits += 1
    bare = Column(column.name, digits, column.signed)
    return shown_number(low, bare), shown_number(high, bare)


def shown_p(p: float) -> str:
    """A p as small print beside its difference.

    Examples
    --------
    >>> shown_p(0.0263), shown_p(0.00002)
    ('p 0.026', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}"


def _reason(cell: Cell) -> str | None:
    """Why a cell has no number; None where it has one, or nothing is said."""
    estimate = estimate_of(cell)
    return estimate.reason if estimate is not None and estimate.value is None else None


def _latex_cell(cell: Cell, column: Column, best: bool) -> LatexCell:
    if isinstance(cell, str) or cell is None:
        return LatexCell(cell or "")
    value = number(cell)
    text = shown_integer(cell) if isinstance(cell, int) else shown_number(value, column)
    ends = _ends(cell, column)
    below = "" if ends is None else f"[{ends[0]}, {ends[1]}]"
    if isinstance(cell, DifferenceWithP) and cell.p is not None:
        below = f"{below}, {shown_p(cell.p)}" if below else shown_p(cell.p)
    return LatexCell(text, below, best) if below else LatexCell(text, bold=best)


def shown_integer(value: int) -> str:
    """A count with commas between thousands."""
    return f"{value:,}".replace("-", MINUS)
