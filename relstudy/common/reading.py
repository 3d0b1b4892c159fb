"""How a table from elsewhere is to be read: which column is which, what words are worth, which scale, what is missing.

Every command and function that reads ratings, judgments or scores reads them through this, so that a table needs no
rewriting by hand.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from numbers import Real

import numpy as np
import pandas as pd

from relstudy.common.checked import MOST_NAMES, Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.option_words import option
from relstudy.common.records import NO, YES, chosen_label
from relstudy.common.scales import Scale, stated_scale

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")


@dataclass(frozen=True)
class Reading:
    """What a person states about a table.

    Parameters
    ----------
    columns : by relstudy's name of a column, the table's own; several for `rating` where each rater (or item) has a
        column of their own, or, where rater and item have theirs, each answer that could be chosen. `*` stands for any
        text, `?` for any character
    values : numbers by the texts that stand for them ("relevant": 2); case and blanks around do not matter
    scale : the scale of ratings or judgments
    missing : texts that stand for no value, besides the empty one

    Examples
    --------
    >>> Reading.stated("rater_id=worker,rating=grade", "no=0,partly=1", "0-1", "NA,-").columns
    {'rater_id': ('worker',), 'rating': ('grade',)}
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    scale: Scale | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def stated(
        cls, columns: str | None = None, values: str | None = None, scale: str | None = None, missing: str | None = None
    ) -> Reading:
        """From the texts of --columns, --values, --scale and --missing; None where an option is not given.

        Raises
        ------
        RelstudyError
            for a text that is not understood
        """
        named: dict[str, tuple[str, ...]] = {}
        for entry in _entries(columns):
            ours, equals, theirs = entry.partition("=")
            if not (ours.strip() and equals and theirs.strip()):
                raise RelstudyError(
                    f"--columns: {entry!r} is not understood; rater_id=worker,rating=grade would be right"
                )
            named[ours.strip()] = (*named.get(ours.strip(), ()), theirs.strip())
        numbers: dict[str, float] = {}
        for entry in _entries(values):
            text, equals, number = entry.rpartition("=")
            try:
                numbers[_plain(text)] = float(number)
            except ValueError:
                equals = ""
            if not equals or not np.isfinite(numbers[_plain(text)]):
                raise RelstudyError(
                    f'--values: {entry!r} is not understood; "not=0,partly=1,relevant=2" would be right'
                )
        return cls(named, numbers, None if scale is None else stated_scale(scale), tuple(_entries(missing)))

    @classmethod
    def given(
        cls,
        columns: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
        scale: str | None = None,
        missing: str | float | Iterable[object] | None = None,
    ) -> Reading:
        """From the arguments of a function, which say what --columns, --values, --scale and --missing do.

        Parameters
        ----------
        columns : the table's names of columns to relstudy's; several may be the rating
        values : numbers by texts
        scale : as "0-100"
        missing : texts or numbers that stand for no value

        Raises
        ------
        RelstudyError
            for a value that is no number, or a scale that is not understood

        Examples
        --------
        >>> Reading.given({"worker": "rater_id"}, {"no": 0, "yes": 1}, "0-1", ["NA"]).sentence()
        "read as stated: rater_id from worker, 'no' as 0, 'yes' as 1, 'NA' as missing, on the scale 0-1"
        """
        named: dict[str, tuple[str, ...]] = {}
        for theirs, ours in (columns or {}).items():
            named[ours] = (*named.get(ours, ()), theirs)
        numbers = {_plain(text): number for text, number in (values or {}).items()}
        for text, number in numbers.items():
            if not isinstance(number, Real) or not np.isfinite(number):
                raise RelstudyError(f"values: a number is needed for {text!r}, not {number!r}")
        absent = () if missing is None else missing
        several: Iterable[object] = [absent] if isinstance(absent, str | int | float) else absent
        return cls(named, numbers, None if scale is None else stated_scale(scale), tuple(map(str, several)))

    def __bool__(self) -> bool:
        return bool(self.columns or self.values or self.scale or self.missing)

    def apply(self, table: Checked, value: Sequence[str] = ("rating", "judgment")) -> Checked:
        """The table with relstudy's names of columns and with numbers for words; texts for "missing" become empty.

        Parameters
        ----------
        table : as it stands in the file
        value : the columns that hold numbers, by relstudy's names; words and missing texts are looked for there

        Raises
        ------
        RelstudyError
            when a column that was named is not there
        """
        if not self:
            return table
        theirs = {ours: self._find(table, names) for ours, names in self.columns.items()}
        read = self._renamed(table, theirs)
        seen: set[str] = set()
        for name in value:
            if name in read.frame and (self.values or self.missing):
                read.frame[name] = self._numbers(read.frame[name], seen)
        if len(read.frame) > len(table.frame):
            # an empty cell of a wide table is no answer, not the answer "undecided"
            given = (read.frame["rating"].notna() & (read.frame["rating"].astype("str").str.strip() != "")).to_numpy()
            read = read.among(read.frame[given].reset_index(drop=True), read.rows[given])
        nowhere = [text for text in (*self.values, *self.missing) if _same(text) not in seen]
        told = f"; {', '.join(map(repr, nowhere))} {'stands' if len(nowhere) == 1 else 'stand'} nowhere in it"
        sentence = replace(self, columns={ours: tuple(names) for ours, names in theirs.items()}).sentence()
        read.notes = (*table.notes, f"{sentence}{told if nowhere else ''}")
        return read

    def mentions(self, column: pd.Series) -> np.ndarray:
        """Which cells are stated to be missing or to stand for a number, bool [rows]."""
        stated = {_same(text) for text in (*self.values, *self.missing)}
        cells: np.ndarray = _cells(column).isin(stated).to_numpy(dtype=bool)
        return cells

    def sentence(self) -> str:
        """How the table was read, in words."""
        parts = [f"{ours} from {_named(theirs)}" for ours, theirs in self.columns.items()]
        parts += [f"{text!r} as {number:g}" for text, number in self.values.items()]
        parts += [f"{text!r} as missing" for text in self.missing]
        parts += [] if self.scale is None else [f"on the scale {self.scale.name}"]
        return f"read as stated: {', '.join(parts)}"

    def _renamed(self, table: Checked, theirs: Mapping[str, list[str]]) -> Checked:
        if not theirs:
            return table
        several = [ours for ours, names in theirs.items() if len(names) > 1]
        if [ours for ours in several if ours != "rating"]:
            raise RelstudyError(
                f"{table.file}: {option('columns')} names {len(theirs[several[0]])} columns for {several[0]}; one is "
                "needed"
            )
        melted = {name for ours in several for name in theirs[ours]}
        kept = table.frame[[name for name in table.frame.columns if name not in melted and name not in theirs]]
        single = {ours: table.frame[names[0]] for ours, names in theirs.items() if len(names) == 1}
        frame = pd.concat([pd.DataFrame(single, index=table.frame.index), kept], axis=1)
        labels = {ours: names[0] for ours, names in theirs.items() if len(names) == 1}
        if several and "rater_id" in frame and {"query_id", "result_id"} & set(frame):
            return _chosen(table, frame, theirs["rating"], labels)
        if several:
            return _melted(table, frame, theirs["rating"], labels)
        return table.among(frame, table.rows, labels)

    def _find(self, table: Checked, names: Sequence[str]) -> list[str]:
        columns = []
        for name in names:
            matching = [column for column in table.frame.columns if column == name]
            matching = matching or [column for column in table.frame.columns if fnmatchcase(column, name)]
            if not matching:
                have = table.columns_shown()
                raise RelstudyError(
                    f"{table.file}: {option('columns')} names {name!r}, and there is no such column (there are: {have})"
                )
            columns += [column for column in matching if column not in columns]
        return columns

    def _numbers(self, column: pd.Series, found: set[str]) -> pd.Series:
        """The cells with numbers for words, empty where they are missing; `found` gets what stands in the column."""
        cells = _cells(column)
        found.update(cells.unique())
        absent = {_same(text) for text in self.missing}
        written = {_same(text): f"{number:.17g}" for text, number in self.values.items()}
        read = column.astype("str").mask(column.isna() | cells.isin(absent), "")
        return cells.map(written).where(cells.isin(written), read)


PLAIN = Reading()
"""Nothing is stated: the table has relstudy's own names and numbers."""


def _melted(table: Checked, frame: pd.DataFrame, columns: Sequence[str], labels: Mapping[str, str]) -> Checked:
    """One row per rating, where each rater (or, with a rater_id, each item) has a column."""
    by_item = "rater_id" in frame
    count = len(columns)
    long = frame.loc[np.repeat(frame.index, count)].reset_index(drop=True)
    names = np.tile(np.asarray(columns, dtype=object), len(frame))
    for name in ("result_id", "query_id") if by_item else ("rater_id",):
        if name not in long:
            long[name] = names
    long["rating"] = table.frame[list(columns)].to_numpy(dtype=object).ravel()
    if not by_item:
        long = _with_item(long)
    return table.among(long, np.repeat(table.rows, count), labels)


def _chosen(table: Checked, frame: pd.DataFrame, columns: Sequence[str], labels: Mapping[str, str]) -> Checked:
    """One rating per row, where each answer has a column that says whether it was chosen.

    The answer is what the columns' names do not share at their beginning: Answer.grade.1, Answer.grade.2 are 1 and 2.
    """
    stems = {re.split(r"[^.:]*$", name)[0] for name in columns}
    names = [name.removeprefix(stem) for stem in stems for name in columns] if len(stems) == 1 else list(columns)
    cells = table.frame[list(columns)].astype("str").to_numpy(dtype=object)
    filled = np.array([[cell.strip() != "" for cell in row] for row in cells])
    several_filled = bool((filled.sum(axis=1) > 1).any())
    # a cell may hold its own label, and then it says so by being filled
    told = {cell.strip().casefold() for cell in cells[filled]} <= {*YES, *NO, "0"}
    chosen = [chosen_label(zip(names, row, strict=True), several_filled and told) for row in cells]
    read = table.among(_with_item(frame.assign(rating=[" and ".join(each) for each in chosen])), table.rows, labels)
    read.add(np.array([len(each) > 1 for each in chosen]), "rating", "one answer a row is allowed")
    return read


def _with_item(frame: pd.DataFrame) -> pd.DataFrame:
    """An item that stands alone is its own query."""
    for one, other in (("query_id", "result_id"), ("result_id", "query_id")):
        if one in frame and other not in frame:
            frame[other] = frame[one]
    return frame


def _named(columns: Sequence[str]) -> str:
    """Names of columns, the first and the last of them where there are many."""
    few = len(columns) <= MOST_NAMES
    shown = columns if few else [*columns[: MOST_NAMES - 1], f"{len(columns) - MOST_NAMES:,} more", columns[-1]]
    return " and ".join(shown)


def _plain(text: object) -> str:
    return str(text).strip().casefold()


def _same(text: object) -> str:
    """A text of which the same words are the same, and the same numbers: 1, 1.0 and 01 are one.

    Examples
    --------
    >>> _same(" Yes"), _same("-1.0"), _same(99), _same("nan")
    ('yes', '-1.0', '99.0', 'nan')
    """
    plain = _plain(text)
    return str(float(plain)) if NUMBER.fullmatch(plain) else plain


def _cells(column: pd.Series) -> pd.Series:
    """The cells as `_same` has them."""
    codes, texts = pd.factorize(column.astype("str").mask(column.isna(), ""))
    return pd.Series([_same(text) for text in texts], dtype=object).take(codes).set_axis(column.index)


def _entries(text: str | None) -> list[str]:
    if text is None:
        return []
    return [entry for row in csv.reader(io.StringIO(text), skipinitialspace=True) for entry in row if entry.strip()]
