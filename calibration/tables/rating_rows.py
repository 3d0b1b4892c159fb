"""Rows of a ratings table: numbers on one scale, one row a rater and pair, without those that are no ratings.

Whoever reads ratings, to calibrate them or to take their plain means, reads them by this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

import numpy as np
import pandas as pd

from relstudy.calibration.tables.blocks import rows_aside
from relstudy.common.runtime.control_characters import UNSEEN, with_unseen
from relstudy.common.runtime.errors import Fault, TableError
from relstudy.common.runtime.wording import count_of, listed, listed_some
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.meaning.scale_detection import known_scale
from relstudy.common.tables.meaning.scales import KnownScale, Scale

NOBODY = ("na", "n/a", "#n/a", "nan", "none", "null", "nil", "undefined", "unknown", "anonymous")
"""Names that say that nobody is named, in lower case."""
MOST_ALIKE = 5
"""So many groups of ids at most stand in a note."""
ENOUGH, SHORT = 10, 10
"""So many ratings show what of a scale their rater uses; so long are scales of points, which sliders are not."""
KEY = ["rater_id", "query_id", "result_id"]


def rating_numbers(table: Checked, stated: Scale | None) -> tuple[np.ndarray, KnownScale]:
    """The column rating as float, NaN where it is empty (undecided), and its scale.

    Ratings that are no numbers or off the scale become faults of the table.

    Raises
    ------
    TableError
        where the rows name several scales
    """
    _check_one_scale(table)
    # read twice, since the scale says which of them are faults
    values = table.without_faults().numbers("rating", empty=True)
    scale = known_scale(table, values, "ratings", stated)
    # a scale that was taken from the ratings holds all of them, but for those that are asked about already
    low, high = (-np.inf, np.inf) if scale.how == "values" else (scale.scale.low, scale.scale.high)
    return table.numbers("rating", low=low, high=high, empty=True, options=True), scale


def _check_one_scale(table: Checked) -> None:
    if "scale" not in table.frame:
        return
    names = stripped(table.frame["scale"])
    kinds = names[names != ""].value_counts()
    if len(kinds) > 1:
        common = str(kinds.index[0])
        counted = ", ".join(f"{name} ({count_of(count, 'row')})" for name, count in kinds.items())
        first = int(np.flatnonzero((names != common) & (names != ""))[0])
        apart = f"{table.words.by('scale')} takes each by itself"
        allowed = f"one calibration takes one scale, and this table mixes {counted}; {apart}"
        raise TableError([Fault(table.file, table.row(first), "scale", names.iloc[first], allowed)])


def aside_note(table: Checked) -> str | None:
    """Note on the number of rows in blocks that are no ratings to calibrate, or None."""
    aside = rows_aside(table)
    if not aside.any():
        return None
    named = ", ".join(sorted(set(stripped(table.frame["block"][aside]))))
    return f"{count_of(int(aside.sum()), 'row')} of block {named} left out: these are not ratings to calibrate"


def merged_note(merged: int) -> str | None:
    """Note on the number of rows that repeat an earlier one exactly, or None."""
    were = "was" if merged == 1 else "were"
    return f"{count_of(merged, 'row')} repeated an earlier row exactly and {were} merged" if merged else None


def alike_note(raters: Iterable[str]) -> str | None:
    """Note on raters' ids that differ in nothing but case, blanks, leading zeros, a point zero and characters that
    nobody sees, or the number of a second column of that name; None where none do.

    Examples
    --------
    >>> alike_note(["7", "007", "Ann Berg", "bob", "ann  berg"])
    'raters with nearly the same id are taken as different people: 7 and 007, Ann Berg and ann  berg'
    """
    by_plain: dict[str, list[str]] = {}
    ids = dict.fromkeys(raters)
    for rater in ids:
        plain = re.sub(r"^0+(?=\d)|(?<=\d)\.0+$", "", "".join(_looks(rater).casefold().split()))
        doubled = re.sub(r"\.\d+$", "", rater)  # of two columns of one name, as tools number them
        plain = doubled.casefold() if doubled != rater and doubled in ids else plain
        by_plain.setdefault(plain, []).append(rater)
    groups = [listed([with_unseen(name) for name in names]) for names in by_plain.values() if len(names) > 1]
    more = f" and {len(groups) - MOST_ALIKE} more" if len(groups) > MOST_ALIKE else ""
    if not groups:
        return None
    shown = ", ".join(groups[:MOST_ALIKE])
    return f"raters with nearly the same id are taken as different people: {shown}{more}"


def _looks(name: str) -> str:
    """What is seen of a name, whichever characters it is written with."""
    return UNSEEN.sub("", normalize("NFKC", name))


def nobody_note(table: Checked, column: str = "rater_id") -> str | None:
    """Note on a rater whose name says that nobody is named, or None.

    Examples
    --------
    >>> nobody_note(Checked(pd.DataFrame({"rater_id": ["a", "NA", "NA"]}), "ratings.csv"))
    "NA in rater_id reads like no name: 2 ratings are taken for one person's; --where 'rater_id!=NA' leaves them out"
    """
    names = stripped(table.frame[column])
    name = next((name for name in names.dropna().unique() if str(name).casefold() in NOBODY), None)
    if name is None:
        return None
    theirs = table.labels.get(column, column)
    ratings = count_of(int((names == name).sum()), "rating is", "ratings are")
    return (
        f"{name} in {theirs} reads like no name: {ratings} taken for one person's; "
        f"{table.words.where(f'{theirs}!={name}')} leaves them out"
    )


def look_alike_note(frame: pd.DataFrame) -> str | None:
    """Note on ids of queries and results that look alike and are written with other characters, as names of files of
    two systems are, or None.

    Examples
    --------
    >>> ids = ["caf\\u00e9", "cafe\\u0301", "cafe"]
    >>> look_alike_note(pd.DataFrame({"query_id": "q", "result_id": ids})).partition(":")[0]
    'ids that look the same are written with different characters and taken as different ones'
    """
    found = []
    for column in ("query_id", "result_id"):
        by_look: dict[str, list[str]] = {}
        names = [str(name) for name in frame[column].unique()]
        odd = [name for name in names if not name.isascii()]
        looks = {_looks(name) for name in odd}
        for name in [*odd, *(name for name in names if name.isascii() and name in looks)]:
            by_look.setdefault(_looks(name), []).append(with_unseen(name))
        found += [f"{listed(each)} in {column}" for each in by_look.values() if len(each) > 1]
    if not found:
        return None
    more = f" and {len(found) - MOST_ALIKE} more" if len(found) > MOST_ALIKE else ""
    shown = ", ".join(found[:MOST_ALIKE])
    return f"ids that look the same are written with different characters and taken as different ones: {shown}{more}"


def scales_note(frame: pd.DataFrame) -> str | None:
    """Note on raters whose ratings all lie on the lowest quarter of what each of the others uses, as on another scale;
    None if there are none.

    Examples
    --------
    >>> rating = [*range(1, 6), *range(1, 6), *range(0, 100, 10)]
    >>> frame = pd.DataFrame({"rater_id": ["a"] * 10 + ["b"] * 10, "rating": rating})
    >>> scales_note(frame)
    'ratings of 1 rater (a) are at most 5 and go up to 90 or more with each of the others: are they on one scale?'
    """
    figures = frame.groupby("rater_id", sort=False)["rating"].agg(["count", "max"])
    figures = figures[figures["count"] >= ENOUGH].sort_values("max")
    most = figures["max"].to_numpy()
    apart = np.flatnonzero((most[1:] >= 4 * most[:-1]) & (most[:-1] > 0) & (most[:-1] <= SHORT))
    if not len(apart):
        return None
    low = figures.iloc[: apart[0] + 1]
    theirs = frame[frame["rater_id"].isin(low.index)].groupby("rater_id")["rating"].nunique()
    low = low[(theirs.reindex(low.index) >= 3).to_numpy()]
    if low.empty:
        return None
    return (
        f"ratings of {count_of(len(low), 'rater')} ({listed_some(list(map(str, low.index)))}) are at most "
        f"{low['max'].max():g} and go up to {most[apart[0] + 1]:g} or more with each of the others: are they on one "
        "scale?"
    )


def measured(table: Checked, column: str) -> tuple[pd.Series, list[str]]:
    """A column of numbers from 0, empty where a cell is none, and a note on such cells.

    Examples
    --------
    >>> measured(Checked(pd.DataFrame({"seconds": ["4.5", "", "-99"]}), "ratings.csv"), "seconds")[1]
    ["seconds of 1 rating is not a number of 0 or more, and is not used: '-99' in row 4"]
    """
    cells = table.frame[column]
    texts = stripped(cells)
    lacking = ((texts != "") & ~(pd.to_numeric(cells, errors="coerce") >= 0)).to_numpy(dtype=bool)
    if not lacking.any():
        return cells, []
    first = int(np.flatnonzero(lacking)[0])
    note = (
        f"{column} of {count_of(int(lacking.sum()), 'rating')} is not a number of 0 or more, and is not used: "
        f"{texts.iloc[first]!r} in row {table.row(first)}"
    )
    return cells.mask(lacking), [note]


def merge_duplicates(table: Checked, frame: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Labels of the rows to keep, and how many were merged; contradictory rows become faults of the table.

    Parameters
    ----------
    frame : rows of the table, with rater_id, query_id and result_id as text and rating as float
    """
    repeated = frame.duplicated(KEY)
    if not repeated.any():
        return frame.index.to_numpy(), 0
    keys = [frame[name] for name in KEY]
    blank = frame["rating"].isna()
    filled = frame["rating"].fillna(np.inf)
    contradicts = repeated & (filled != filled.groupby(keys, sort=False).transform("first"))
    first = frame.loc[~repeated, KEY].reset_index(names="first_row")
    rows = frame.loc[contradicts, KEY].reset_index(names="row")
    table.more += max(len(rows) - TableError.SHOWN, 0)
    rows = rows.head(TableError.SHOWN).merge(first, on=KEY)
    text = stripped(table.frame["rating"])
    for row, first_row, rater in zip(rows["row"], rows["first_row"], rows["rater_id"], strict=True):
        before = "undecided" if blank[first_row] else text[first_row]
        allowed = f"rater {rater} already rated this pair {before} in row {table.row(first_row)}; keep one of the two"
        repeated_rating = "undecided" if blank[row] else text[row]
        table.faults.append(Fault(table.file, table.row(row), "rating", repeated_rating, allowed))
    return frame.index[~repeated].to_numpy(), int(repeated.sum())
