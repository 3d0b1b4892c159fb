"""The reading of a table from elsewhere: roles of columns, worth of words, scale, missing values.

Every command and function that reads ratings, judgments or scores reads them through this, so that a table needs no
rewriting by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from relstudy.common.options.declaration import declared_in, fields_given
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import MOST_NAMES, Checked, stripped
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame
from relstudy.common.tables.formats.file_kind import file_part
from relstudy.common.tables.formats.row_filters import Condition, answered, chosen, conditions
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.logged_cells import a_row_an_entry
from relstudy.common.tables.meaning.reading_options import OWN, ReadingOptions, plain, renamings
from relstudy.common.tables.meaning.scales import Scale, stated_scale
from relstudy.common.tables.meaning.wide_to_long import chosen_answers, items_in_wording, items_of, long_rows
from relstudy.common.tables.number_texts import NUMBER, PERCENTAGE, UNSIGNED

OF_SCORES = ("system", "score", "direction", "rank")
"""Columns that only a table of scores has, besides ids."""
IDS = ("query_id", "result_id")
WHERE = "where"
NUMBERED = re.compile(r"(\d{1,5})(?:\.\.(\d{1,5}))?")
"""Columns of a table without a header: 3, or 2..11."""


Columns = Mapping[str, str | tuple[str, ...]]


class ReadingChanges(TypedDict, total=False):
    """The fields of `ReadingOptions` as arguments of a function, for type checkers, but for the gains; None is not
    stated."""

    columns: Columns | None
    values: Mapping[str, float] | None
    scale: str | None
    missing: str | float | Sequence[str | float] | None
    where: str | None
    items: Source | None


class GradedReadingChanges(ReadingChanges, total=False):
    """With the gains."""

    gains: Mapping[str, float] | Mapping[float, float] | None


@dataclass(frozen=True)
class Reading:
    """A person's statements about a table.

    Parameters
    ----------
    columns : by relstudy's name of a column, the table's own; several for `rating` where each rater (or item) has a
        column of their own, or, where rater and item have theirs, each answer that could be chosen. `*` stands for any
        text, `?` for any character
    values : numbers by the texts that stand for them ("relevant": 2); case and blanks around do not matter
    scale : the scale of ratings or judgments
    missing : texts that stand for no value, besides the empty one
    of_tables : by (relstudy's name, the table's own), the kinds (`KINDS`) or the files of the tables that are meant,
        where it is not any
    where : what the rows that are read must hold
    gains : what judgments are worth to graded measures, by their texts or numbers; a word that `values` lacks has its
        gain for a number
    items : the query and the result that each column of a survey asked about; None takes them from its wording
    found : where several tables are read by this, the names that one of them had so far; None if there is one table,
        which must have them all
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    scale: Scale | None = None
    missing: tuple[str, ...] = ()
    of_tables: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    where: tuple[Condition, ...] = ()
    gains: Mapping[str, float] = field(default_factory=dict)
    items: Mapping[str, tuple[str, str]] | None = field(default_factory=dict)
    found: set[tuple[str, str]] | None = field(default=None, compare=False)

    @classmethod
    def stated(cls, arguments: Mapping[str, Any]) -> Reading:
        """From what a command or a function was given, the options of reading among it.

        Parameters
        ----------
        arguments : values by the names of `ReadingOptions`, as Python takes them; None is not stated

        Raises
        ------
        RelstudyError
            for what is not understood, or a table of items that has faults

        Examples
        --------
        >>> stated = {"columns": {"worker": "rater_id"}, "values": {"no": 0, "yes": 1}, "scale": "0-1", "missing": "NA"}
        >>> Reading.stated(stated).sentence()
        "read as stated: rater_id from worker, 'no' as 0, 'yes' as 1, 'NA' as missing, on the scale 0-1"
        """
        options = ReadingOptions(**fields_given(ReadingOptions, arguments))
        named, of_tables = _by_table(renamings(options.columns))
        scale = None if options.scale is None else stated_scale(options.scale)
        items = None if options.items is None else path_or_frame(options.items, "items")
        where, pairs = conditions(options.where), items_of(items)
        return cls(named, options.values, scale, options.missing, of_tables, where, options.gains, pairs)

    @classmethod
    def typed(cls, **texts: str | None) -> Reading:
        """From the texts of a command's options, by their names.

        Examples
        --------
        >>> Reading.typed(columns="rater_id=worker,rating=grade", values="no=0,partly=1", missing="NA,-").columns
        {'rater_id': ('worker',), 'rating': ('grade',)}
        """
        options = declared_in(ReadingOptions)
        return cls.stated({name: options[name].from_text(text) for name, text in texts.items() if text is not None})

    @property
    def is_of_cells(self) -> bool:
        """True where it says what columns or cells are, and not only which rows are read."""
        return bool(self.columns or self.tells_answers)

    @property
    def tells_answers(self) -> bool:
        """True where it says what stands in a column of answers, which only a table of answers has."""
        return bool(self.values or self.scale or self.missing or self.gains or self.items != {})

    def among_several(self) -> Reading:
        """The same for one of several tables: a column that it does not have is looked for in the others.

        `refuse_unfound` says, when all are read, which none of them had.
        """
        return replace(self, found=set())

    def refuse_unfound(self) -> None:
        """Refuse a name that none of the tables had; nothing where a single table is read."""
        if self.found is None:
            return
        for condition in self.where:
            if (WHERE, condition.column) not in self.found:
                raise RelstudyError(f"{option('where')} names {condition.column!r}, and none of the tables has it")
        for ours, names in self.columns.items():
            for theirs in names:
                if (ours, theirs) not in self.found:
                    raise RelstudyError(
                        f"{option('columns')} names {theirs!r} for {ours}, and none of the tables has such a column"
                    )

    def renamed_in(self, table: Checked, kind: str = "") -> dict[str, list[str]]:
        """The table's own names of columns by relstudy's: those of its kind and file that it has.

        Raises
        ------
        RelstudyError
            when a column that was named for this table is not there
        """
        theirs: dict[str, list[str]] = {}
        for ours, names in self.columns.items():
            if kind == "scores" and ours in OWN and ours not in (*IDS, *OF_SCORES):
                continue
            if kind not in ("", "scores") and ours in OF_SCORES[:2] and self.found is not None:
                continue
            for name in names:
                meant = self.of_tables.get((ours, name))
                if meant is not None and not {kind, table.file, table.file.rsplit("/")[-1]} & set(meant):
                    continue
                one, other = _told_apart(ours, name, table)
                matching = _matching(table, other)
                if not matching and self.found is not None and meant is None:
                    continue
                if not matching:
                    have = table.columns_shown()
                    raise RelstudyError(
                        f"{table.file}: {option('columns')} names {other!r}, and there is no such column (there are: "
                        f"{have})"
                    )
                if self.found is not None:
                    self.found.add((ours, name))
                theirs.setdefault(one, []).extend(each for each in matching if each not in theirs.get(one, []))
        return theirs

    def names_only(self, table: Checked, kind: str) -> Checked:
        """The table of this kind under relstudy's names, its rows chosen; what stands in its cells is left alone."""
        names = replace(self, values={}, scale=None, missing=(), gains={}, items={})
        return names.apply(table, kind=kind)

    def __bool__(self) -> bool:
        return bool(self.where or self.is_of_cells)

    def apply(self, table: Checked, value: Sequence[str] = ("rating", "judgment"), kind: str = "") -> Checked:
        """The table with relstudy's names of columns and with numbers for words; texts for "missing" become empty.

        Parameters
        ----------
        table : as it stands in the file
        kind : which of `KINDS` it is, where several tables are read
        value : the columns that hold numbers, by relstudy's names; words and missing texts are looked for there

        Raises
        ------
        RelstudyError
            when a column that was named is not there
        """
        return without_percent_signs(self._applied(table, value, kind), value)

    def _applied(self, table: Checked, value: Sequence[str], kind: str) -> Checked:
        table = self.rows_of(table)
        if not self.is_of_cells:
            return table
        if self.gains:
            return self._with_gains(table, value, kind)
        theirs = self.renamed_in(table, kind)
        of_people = [names[0] for ours in ("rater_id", "rating") if len(names := theirs.get(ours, [])) == 1]
        if len(of_people) == 2:
            table = a_row_an_entry(table, of_people)
        items = items_in_wording(table) if self.items is None else self.items
        if items:
            theirs["rating"] = [name for name in theirs.get("rating", items) if name in items]
            lacking = [name for name in theirs["rating"] if name not in table.frame]
            if lacking or not theirs["rating"]:
                name = (lacking or list(items))[0]
                raise RelstudyError(f"{table.file}: {option('items')} names {name!r}, and there is no such column")
        read = self._renamed(table, theirs, items)
        seen: set[str] = set()
        for name in value:
            if name in read.frame and (self.values or self.missing):
                read.frame[name] = self._numbers(read.frame[name], seen)
        if len(read.frame) > len(table.frame):
            # an empty cell of a wide table is not an answer, not the answer "undecided"
            given = (stripped(read.frame["rating"]) != "").to_numpy(dtype=bool)
            read = read.where(given)
        nowhere = [text for text in (*self.values, *self.missing) if _same(text) not in seen]
        unused = f"; {', '.join(map(repr, nowhere))} {'stands' if len(nowhere) == 1 else 'stand'} nowhere in it"
        stated = replace(self, columns={ours: tuple(names) for ours, names in theirs.items()})
        if stated.is_of_cells:
            read.notes = (*table.notes, f"{stated.sentence()}{unused if nowhere else ''}")
        return read

    def _with_gains(self, table: Checked, value: Sequence[str], kind: str) -> Checked:
        """The table with a column `gain`, and with gains for words that have no other number."""
        words = {text: gain for text, gain in self.gains.items() if not NUMBER.fullmatch(text)}
        numbers = {**words, **self.values}
        read = without_percent_signs(replace(self, gains={}, values=numbers)._applied(table, value, kind), value)
        name = next((each for each in value if each in read.frame), None)
        if name is None:
            return read
        worth = {_same(numbers.get(text, text)): gain for text, gain in self.gains.items()}
        cells = _cells(read.frame[name])
        gain = pd.to_numeric(cells.map(worth), errors="coerce")
        lacking = cells[gain.isna() & (cells != "")]
        if len(lacking):
            raise RelstudyError(f"{table.file}: {option('gains')} says nothing of {lacking.iloc[0]!r}")
        negative = [text for text, worth_of in self.gains.items() if worth_of < 0]
        if negative:
            raise RelstudyError(f"{option('gains')}: {negative[0]!r} is worth less than 0")
        read.frame["gain"] = gain
        return read

    def rows_of(self, table: Checked) -> Checked:
        """The rows that are chosen and that no survey tool marks as no answers."""
        table = self._by_number(table)
        stated = [each for each in self.where if each.column in table.frame]
        lacking = [each.column for each in self.where if each.column not in table.frame]
        if lacking and self.found is None:
            have = table.columns_shown()
            raise RelstudyError(
                f"{table.file}: {option('where')} names {lacking[0]!r}, and there is no such column (there are: {have})"
            )
        if self.found is not None:
            self.found.update((WHERE, each.column) for each in stated)
        return chosen(answered(table, [each.column for each in stated]), stated)

    def _by_number(self, table: Checked) -> Checked:
        """The table with its first row among the others, where all columns are named by numbers that are no names.

        Of several tables that is done for those that a name stands for, as in FILE:1=query_id.
        """
        stated = {
            _told_apart(ours, theirs, table)[1]
            for ours, names in self.columns.items()
            for theirs in names
            if self.found is None or _is_meant(self.of_tables.get((ours, theirs)), table)
        }
        if not stated or not all(map(NUMBERED.fullmatch, stated)) or all(_matching(table, name) for name in stated):
            return table
        return read_table(table.file, header=False) if file_part(table.file).is_file() else table

    def mentions(self, column: pd.Series) -> np.ndarray:
        """The cells that are stated to be missing or to stand for a number, bool [rows]."""
        stated = {_same(text) for text in (*self.values, *self.missing)}
        cells: np.ndarray = _cells(column).isin(stated).to_numpy(dtype=bool)
        return cells

    def sentence(self) -> str:
        """The reading in words."""
        parts = [f"{ours} from {_named(theirs)}" for ours, theirs in self.columns.items()]
        parts += [f"{text!r} as {number:g}" for text, number in self.values.items()]
        parts += [f"{text!r} as missing" for text in self.missing]
        parts += [f"{count_of(len(self.items), 'column')} by a table of items"] if self.items else []
        parts += ["items from the wording"] if self.items is None else []
        parts += [] if self.scale is None else [f"on the scale {self.scale.name}"]
        return f"read as stated: {', '.join(parts)}"

    def _renamed(
        self, table: Checked, theirs: Mapping[str, list[str]], items: Mapping[str, tuple[str, str]]
    ) -> Checked:
        if not theirs:
            return table
        several = [ours for ours, names in theirs.items() if len(names) > 1 or (items and ours == "rating")]
        if [ours for ours in several if ours != "rating"]:
            raise RelstudyError(
                f"{table.file}: {option('columns')} names {len(theirs[several[0]])} columns for {several[0]}; one is "
                "needed"
            )
        melted = {name for ours in several for name in theirs[ours]}
        kept = table.frame[[name for name in table.frame.columns if name not in melted and name not in theirs]]
        single = {ours: table.frame[names[0]] for ours, names in theirs.items() if len(names) == 1}
        frame = pd.concat([pd.DataFrame(single, index=table.frame.index), kept], axis=1)
        labels = {ours: names[0] for ours, names in theirs.items() if ours not in several}
        if items:
            return long_rows(table, frame, theirs["rating"], labels, items)
        if several and "rater_id" in frame and {"query_id", "result_id"} & set(frame):
            return chosen_answers(table, frame, theirs["rating"], labels)
        if several:
            return long_rows(table, frame, theirs["rating"], labels)
        return table.among(frame, table.rows, labels)

    def _numbers(self, column: pd.Series, found: set[str]) -> pd.Series:
        """The cells with numbers for words, empty where they are missing; `found` gets what stands in the column."""
        cells = _cells(column)
        found.update(cells.unique())
        absent = {_same(text) for text in self.missing}
        written = {_same(text): f"{number:.17g}" for text, number in self.values.items()}
        read = column.astype("str").mask(column.isna() | cells.isin(absent), "")
        return cells.map(written).where(cells.isin(written), read)


def percentages(texts: pd.Series) -> pd.Series | None:
    """Texts that all are percentages, as texts of numbers; None where any is not, or there is none.

    Examples
    --------
    >>> percentages(pd.Series(["87 %", "3,5%"])).tolist(), percentages(pd.Series(["87 %", "3"]))
    (['87', '3.5'], None)
    """
    if not len(texts) or not texts.str.fullmatch(PERCENTAGE).all():
        return None
    return texts.str.replace(r"\s*%", "", regex=True).str.replace(",", ".", regex=False)


def signed_in_part(texts: pd.Series) -> tuple[int, int] | None:
    """Where numbers with a percent sign stand among numbers without: the place of the first of either; else None.

    Examples
    --------
    >>> signed_in_part(pd.Series(["good", "85 %", "85"])), signed_in_part(pd.Series(["good", "85 %"]))
    ((1, 2), None)
    """
    signed = texts.str.fullmatch(PERCENTAGE).to_numpy(dtype=bool)
    if not signed.any():
        return None
    plain = texts.str.fullmatch(UNSIGNED).to_numpy(dtype=bool)
    return (int(signed.argmax()), int(plain.argmax())) if plain.any() else None


def without_percent_signs(table: Checked, value: Sequence[str]) -> Checked:
    """The table with percentages as numbers, 87 for "87 %", where all numbers of a column have the sign.

    Raises
    ------
    RelstudyError
        where some numbers of a column have the sign and others do not

    Examples
    --------
    >>> read = without_percent_signs(Checked(pd.DataFrame({"rating": ["87 %", "", "3,5%"]}), "a.csv"), ["rating"])
    >>> read.frame["rating"].tolist(), read.notes
    (['87', '', '3.5'], ('rating holds percentages, read as numbers without their sign',))
    """
    read = table
    for name in value:
        if name not in table.frame:
            continue
        texts = stripped(table.frame[name])
        signed = texts.str.fullmatch(PERCENTAGE).to_numpy(dtype=bool)
        if not signed.any():
            continue
        apart = signed_in_part(texts)
        if apart is not None:
            one, other = (f"{texts.iloc[place]!r} in row {table.row(place)}" for place in apart)
            raise RelstudyError(
                f"{table.file}, column {table.labels.get(name, name)}: {one} has a percent sign and {other} has none; "
                "write them the same way"
            )
        numbers = percentages(texts[signed])
        assert numbers is not None
        read = read.among(read.frame.assign(**{name: texts.mask(signed, numbers.reindex(texts.index))}), read.rows)
        read.notes = (*read.notes, f"{name} holds percentages, read as numbers without their sign")
    return read


PLAIN = Reading()
"""Nothing is stated: the table has relstudy's own names and numbers."""


def _by_table(
    named_columns: Iterable[tuple[str, str, str]],
) -> tuple[dict[str, tuple[str, ...]], dict[tuple[str, str], tuple[str, ...]]]:
    """The tables' names of columns by relstudy's, and the tables that are meant by those which are not of any.

    Parameters
    ----------
    named_columns : the table that is meant ("" for any), its name of a column, and relstudy's
    """
    named: dict[str, tuple[str, ...]] = {}
    meant: dict[tuple[str, str], list[str]] = {}
    for table, theirs, ours in named_columns:
        if theirs not in named.get(ours, ()):
            named[ours] = (*named.get(ours, ()), theirs)
        meant.setdefault((ours, theirs), []).append(table)
    return named, {pair: tuple(tables) for pair, tables in meant.items() if "" not in tables}


def _told_apart(ours: str, theirs: str, table: Checked) -> tuple[str, str]:
    """The one of two names that is relstudy's: where both or none of them are, the one that the table does not have."""
    if (ours in OWN) == (theirs in OWN) and ours in table.frame and not _matching(table, theirs):
        return theirs, ours
    return ours, theirs


def _matching(table: Checked, name: str) -> list[str]:
    """The columns of that name, or those that fit it as a pattern."""
    columns = list(table.frame.columns)
    found = [each for each in columns if each == name] or [each for each in columns if fnmatchcase(str(each), name)]
    numbered = NUMBERED.fullmatch(name)
    if found or numbered is None:
        return found
    first, last = int(numbered[1]), int(numbered[2] or numbered[1])
    places = [f"column {place}" for place in range(first, min(last, len(columns)) + 1)]
    return places if last <= len(columns) and set(places) <= set(columns) else []


def _is_meant(tables: tuple[str, ...] | None, table: Checked) -> bool:
    """True where a name is stated for this table."""
    return tables is not None and bool({table.file, table.file.rsplit("/")[-1]} & set(tables))


def _named(columns: Sequence[str]) -> str:
    """Names of columns, the first and the last of them if there are many."""
    few = len(columns) <= MOST_NAMES
    shown = columns if few else [*columns[: MOST_NAMES - 1], f"{len(columns) - MOST_NAMES:,} more", columns[-1]]
    return " and ".join(shown)


def _same(text: object) -> str:
    """A text of which the same words are the same, and the same numbers: 1, 1.0 and 01 are one.

    Examples
    --------
    >>> _same(" Yes"), _same("-1.0"), _same(99), _same("nan")
    ('yes', '-1.0', '99.0', 'nan')
    """
    same = plain(text)
    return str(float(same)) if NUMBER.fullmatch(same) else same


def _cells(column: pd.Series) -> pd.Series:
    """The cells as `_same` has them."""
    codes, texts = pd.factorize(stripped(column))
    return pd.Series([_same(text) for text in texts], dtype=object).take(codes).set_axis(column.index)
