"""The ratings table: who gave which pair which rating, and which pairs form the base block.

A rating is a number on the study's scale, or empty: undecided, which never counts as a number. Every fault a
table can have is found before any number is computed, and all of them are reported together.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from relstudy.calibration.tables.blocks import (
    check_base_is_of_pairs,
    marked_base,
    rated_by_all,
    rows_aside,
    without_couples,
)
from relstudy.calibration.tables.excluded_raters import COLUMN as SET_ASIDE
from relstudy.calibration.tables.excluded_raters import without_not_shown, without_set_aside
from relstudy.calibration.tables.rating_rows import (
    KEY,
    alike_note,
    aside_note,
    look_alike_note,
    measured,
    merge_duplicates,
    merged_note,
    nobody_note,
    rating_numbers,
    scales_note,
)
from relstudy.calibration.tables.session import MOMENT, PLACE, with_moments
from relstudy.common.charts.figures import SERIES, drawing, figure_of, svg
from relstudy.common.options.option_wording import option
from relstudy.common.results.result import Result
from relstudy.common.runtime.control_characters import refuse_controls
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.dataframe_libraries import tasks_of_library
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.inclusion_probabilities import (
    PAIR,
    PROBABILITIES,
    check_one_a_pair,
    read_probabilities,
)
from relstudy.common.tables.meaning.pair_assignment import EARLIER_WORDS, HandOut
from relstudy.common.tables.meaning.reading import PLAIN, Reading
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS, KnownScale, Scale
from relstudy.common.tables.meaning.summary_rows import is_total, totals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REQUIRED = ("rater_id", "query_id", "result_id", "rating")
NAMES = (
    *(*REQUIRED, "pair_id", "block", "scale", *SCALE_COLUMNS, "handed_out", SET_ASIDE, "seconds"),
    *PROBABILITIES,
)
"""Columns that mean something to whoever reads ratings."""


@dataclass(frozen=True, repr=False)
class Ratings(Result, of_commands=True):
    """A checked ratings table.

    Parameters
    ----------
    frame : one row per rating: rater_id, query_id, result_id (text), pair_id (text, where the file has it),
        rating (float, NaN = undecided), base (bool), inclusion_probability and query_probability (float, NaN where
        unknown) where the file has them, rated_at in ISO 8601 as far as it can be read, and its other columns as they
        stood
    scale : the scale, and how it is known
    merged : identical rows (same rater, same pair, same rating) that were merged into one
    aside : rows of checks, repeated pairs and practice, which are left out
    base_rule : how the base block was found, as a phrase, or None
    handed_out : how unique pairs were handed out, where the file records it, else None
    notes : on how the table was read, as sentences
    judges : rater ids of automatic judges, whose ratings have no part in judgments
    not_shown : how many results could not be shown, by rater; they have no row
    """

    saved_as = "ratings"
    frame: pd.DataFrame
    scale: KnownScale
    merged: int = 0
    aside: int = 0
    base_rule: str | None = None
    handed_out: HandOut | None = None
    notes: tuple[str, ...] = field(default=())
    judges: tuple[str, ...] = field(default=())
    not_shown: dict[str, int] = field(default_factory=dict)

    def heading(self) -> str:
        """Number of ratings and of raters, as a phrase."""
        frame = self.frame
        pairs = frame.duplicated(PAIR, keep="first")
        return (
            f"{count_of(len(frame), 'rating')} on the scale {self.scale.scale.name} by "
            f"{count_of(frame['rater_id'].nunique(), 'rater')} of {count_of(int((~pairs).sum()), 'pair')}, "
            f"{int(frame['rating'].isna().sum()):,} undecided"
        )

    @property
    def table(self) -> pd.DataFrame:
        """One row per rater: rater_id, ratings, undecided, mean, sd (divided by n - 1), lowest and highest, in
        the unit of the scale."""
        raters = self.frame.groupby("rater_id", sort=False)["rating"]
        figures = raters.agg(["size", "mean", "std", "min", "max"]).reset_index()
        figures.columns = pd.Index(["rater_id", "ratings", "mean", "sd", "lowest", "highest"])
        figures.insert(2, "undecided", figures["ratings"].to_numpy() - raters.count().to_numpy())
        return figures

    def as_json(self) -> dict[str, Any]:
        """Sizes, scale, each rater's figures, and notes.

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": ["a", "b"], "query_id": "q", "result_id": "x", "rating": ["4", "2"]})
        >>> check_ratings(Checked(frame, "ratings.csv")).as_json()["ratings"]
        2
        """
        raters = self.table.astype(object).where(self.table.notna(), None)
        return {
            "ratings": len(self.frame),
            "undecided": int(self.frame["rating"].isna().sum()),
            "pairs": int((~self.frame.duplicated(PAIR)).sum()),
            "scale": self.scale.as_json(),
            "merged": self.merged,
            "aside": self.aside,
            "base_rule": self.base_rule,
            "handed_out": None if self.handed_out is None else str(self.handed_out),
            "judges": list(self.judges),
            "raters": raters.to_dict("records"),
            "notes": list(self.notes),
        }

    def plot(self) -> Figure:
        """A line a rater: the share of their ratings at or below each value of the scale.

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": ["a", "b"], "query_id": "q", "result_id": "x", "rating": ["4", "2"]})
        >>> check_ratings(Checked(frame, "ratings.csv")).plot().axes[0].get_xlabel()
        'rating'
        """
        return figure_of(lambda: use_of_scale(self))

    def _tables(self) -> dict[str, pd.DataFrame]:
        return {"Raters:": self.table}

    def overview(self) -> pd.DataFrame:
        """The ratings, without columns that only say how they came about."""
        return self.frame[[name for name in (*KEY, "rating", "block", "base", "seconds") if name in self.frame]]

    def remarks(self) -> tuple[str, ...]:
        """Notes on the table, one sentence each."""
        return self.notes


def use_of_scale(ratings: Ratings) -> str:
    """The share of each rater's ratings at or below each value, as SVG."""
    with drawing() as figure:
        axes = figure.add_subplot()
        for _, given in ratings.frame.dropna(subset="rating").groupby("rater_id", sort=False)["rating"]:
            axes.ecdf(given.to_numpy(), color=SERIES[0], alpha=0.5)
        axes.set_xlabel("rating")
        axes.set_ylabel("share at or below it")
        axes.set_title(f"Use of the scale {ratings.scale.scale.name}, a line a rater")
        return svg(figure, "The share of each rater's ratings at or below each value of the scale")


def read_ratings(
    path: str | os.PathLike[str] | Checked,
    *,
    base_column: str | None = None,
    trust_raters: bool = False,
    with_set_aside: bool = False,
    reading: Reading = PLAIN,
) -> Ratings:
    """Read and check a ratings table (CSV or Parquet).

    Parameters
    ----------
    path : a table with rater_id, query_id, result_id and rating, or crowd-kit's task, worker and label; optional:
        pair_id, scale, block (base or unique;
        rows of check, repeat and practice are set aside), handed_out (random or fixed, see `HandOut`, or empty; fixed
        if any unique pair is)
    base_column : name of a yes/no column that marks the base block, if there is no `block` column that does
    trust_raters : accept rater columns whose ratings look sorted within each pair, and raters named like totals
    with_set_aside : take the ratings of excluded raters (column set_aside), too
    reading : what is stated about the table: which column is which, numbers for words, what is missing, the scale. A
        scale that is not stated is taken from the columns scale_low, scale_high and scale_step, else from the name in
        the column scale, else from the ratings themselves

    Raises
    ------
    TableError
        with every fault: missing columns or ids, ratings that are no numbers or off the scale, contradictory
        rows of one rater and pair, unknown blocks, other words for hand-out, more than one scale
    RelstudyError
        when the raters are only slots, or nobody rated anything
    """
    read = reading.apply(read_table(path), kind="ratings")
    table = under_own_names(tasks_of_library(read), NAMES, keep=[base_column])
    refuse_slots(table)
    inspect = "relstudy inspect names what it may be"
    table.require(*REQUIRED, way_out=lambda name: f"{table.words.column(name)} names it; {inspect}")
    table = without_couples(table if with_set_aside else without_set_aside(table))
    table, lost = without_not_shown(table)
    ratings = check_ratings(table, base_column=base_column, trust_raters=trust_raters, scale=reading.scale)
    return replace(ratings, not_shown=lost) if lost else ratings


def check_ratings(
    table: Checked, *, base_column: str | None = None, trust_raters: bool = False, scale: Scale | None = None
) -> Ratings:
    """Check a table that is already in memory; see `read_ratings`.

    Examples
    --------
    >>> frame = pd.DataFrame({"rater_id": ["a", "b"], "query_id": ["q", "q"], "result_id": ["x", "x"],
    ...                       "rating": ["4", ""]})
    >>> ratings = check_ratings(Checked(frame, "ratings.csv"))
    >>> ratings.frame["rating"].tolist(), ratings.base_rule
    ([4.0, nan], 'the 1 pair that every rater rated')
    """
    if table.frame.empty:
        raise RelstudyError(f"{table.file}: there are no ratings below the header")
    frame = table.frame.copy(deep=False)
    for name in (*KEY, *(["pair_id"] if "pair_id" in frame else [])):
        frame[name] = table.texts(name)
    refuse_controls(frame["rater_id"].unique(), table.file, "a rater")
    frame["rating"], rating_scale = rating_numbers(table, scale)
    aside = rows_aside(table)
    base = marked_base(table, base_column)
    handed_out = _handed_out(table)
    if any(name in frame for name in PROBABILITIES):
        read_probabilities(table, frame)
        check_one_a_pair(table, frame[~aside])
    if "pair_id" in frame:
        _check_pair_ids(table, frame)
    moments, said_of_course = with_moments(table)
    if moments is not None:
        frame[MOMENT] = moments
    for name in (PLACE, "seconds"):
        if name in frame:
            frame[name], said = measured(table, name)
            said_of_course += said
    kept, merged = merge_duplicates(table, frame[~aside])
    table.raise_faults()
    if base is not None:
        frame["base"] = base[0]
        check_base_is_of_pairs(table, frame[~aside])
        table.raise_faults()
    # where all are kept, columns that nothing was done to stay those of the table that was read
    frame = (frame.loc[kept] if len(kept) < len(frame) else frame).reset_index(drop=True)
    if frame["rating"].isna().all():
        raise RelstudyError(f"{table.file}: every rating is empty (undecided); there is nothing to calibrate")
    if not trust_raters:
        refuse_totals(frame["rater_id"].unique(), table)
        refuse_sorted(frame, table.file)
    remarks = (
        _note_on_totals(frame),
        scales_note(frame),
        aside_note(table),
        merged_note(merged),
        alike_note(frame["rater_id"].unique()),
        nobody_note(table),
        look_alike_note(frame),
    )
    notes = [*table.notes, *said_of_course, *(note for note in remarks if note is not None)]
    rule: str | None
    if base is not None:
        rule = base[1]
        if base_column is not None and "block" in rule and base_column != "block":
            notes.append(f"column block marks the base block, so {base_column} is not asked")
    else:
        frame["base"], rule, note = rated_by_all(frame)
        notes += [] if note is None else [note]
    return Ratings(
        frame=frame,
        scale=rating_scale,
        merged=merged,
        aside=int(aside.sum()),
        base_rule=rule,
        handed_out=handed_out,
        notes=tuple(notes),
    )


def _handed_out(table: Checked) -> HandOut | None:
    """Hand-out of unique pairs as the table records it: fixed if any of them is, None if nothing is recorded."""
    if "handed_out" not in table.frame:
        return None
    words = stripped(table.frame["handed_out"])
    readings: dict[str, HandOut | None] = {"": None, **EARLIER_WORDS, **{kind.value: kind for kind in HandOut}}
    table.add(~words.isin(list(readings)), "handed_out", f"{' or '.join(HandOut)} is allowed, or empty")
    if "block" in table.frame:
        words = words[stripped(table.frame["block"]).isin(["unique", ""])]
    recorded = {readings.get(word) for word in words.unique()} - {None}
    return next((kind for kind in (HandOut.FIXED, HandOut.RANDOM) if kind in recorded), None)


def _check_pair_ids(table: Checked, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates("pair_id").set_index("pair_id")
    for column in ("query_id", "result_id"):
        expected = frame["pair_id"].map(first[column])
        table.add(frame[column] != expected, column, "a pair_id must keep its query_id and result_id in every row")


SORTED_PAIRS = (50, 20)
"""So many pairs with different ratings, all ordered alike, are taken for sorted slots: the first number for two raters,
who may be a strict and a lenient person, the second for more. By chance alone, 2^-20."""


def refuse_slots(table: Checked) -> None:
    """Refuse a table with columns of slots in place of rater_id."""
    columns = [str(column) for column in table.frame.columns]
    if "rater_id" in columns:
        return
    slots = [c for c in columns if re.fullmatch(r"(slot|annotator|answer|rating|rater|label)s?[ _-]?\d+", c.lower())]
    if "slot" in columns or len(slots) >= 2:
        named = "column slot" if "slot" in columns else f"columns {', '.join(slots[:4])}"
        raise RelstudyError(
            f"{table.file}: {named}: a slot is not a rater, because slot 1 of one pair and slot 1 of the next may be "
            "different people; calibration needs a column rater_id that names one person throughout, one row per "
            "rater and pair"
        )


MOST_NAMES_READ = 200_000
"""Of more pairs than these no name is looked at."""


def _note_on_totals(frame: pd.DataFrame) -> str | None:
    """Note on results and queries whose names read like totals of others, or None."""
    if frame.drop_duplicates(PAIR).shape[0] > MOST_NAMES_READ:
        return None
    own = (frame["query_id"] == frame["result_id"]).all()
    found = totals(frame, "result_id", "result_id", ["rater_id"] if own else ["rater_id", "query_id"])
    found += [] if own else totals(frame, "query_id", "query_id", ["rater_id"])
    if not found:
        return None
    one = len(found) == 1
    return (
        f"{listed_some(found)} {'reads like a total' if one else 'read like totals'} of other rows, and "
        f"{'is' if one else 'are'} calibrated like the others: if so, leave {'it' if one else 'them'} out"
    )


MOST_SUMS = 5
"""So many of them at most stand in a condition."""


def refuse_totals(raters: Iterable[str], table: Checked) -> None:
    """Refuse raters whose names read like totals of the others."""
    names = list(raters)
    sums = [name for name in names if is_total(name)]
    if not sums or len(sums) == len(names):
        return
    reads, person = ("reads like a total", "a person") if len(sums) == 1 else ("read like totals", "people")
    column = table.labels.get("rater_id", "rater_id")
    rows = table.words.where(" and ".join(f"{column}!={name}" for name in sums[:MOST_SUMS]))
    raise RelstudyError(
        f"{table.file}, column {column}: {listed_some(sums)} {reads} of other ratings and not like {person}; take "
        f"{'its' if len(sums) == 1 else 'their'} column out, or the rows by {rows} (if {person} all the same, say "
        f"{option('trust_raters', True)})"
    )


def refuse_sorted(frame: pd.DataFrame, file: str) -> None:
    """Refuse rater columns that only number the sorted answers of each pair.

    People disagree in both directions. Where every two "raters" differ on many shared pairs and always in the same
    direction, the rows were sorted within each pair, and the column names a position and no person.
    """
    names = [str(name) for name in frame["rater_id"].unique()]
    if all(re.fullmatch(r"(slot|column|answer|response)s?[ _-]?\d+", name.lower()) for name in names):
        raise RelstudyError(
            f"{file}, column rater_id: {', '.join(names[:4])} name positions in a table, not people: slot 1 of "
            "one pair and slot 1 of the next may be different people, so there is no one to calibrate (if each is one "
            f"person all the same, say {option('trust_raters', True)})"
        )
    if not 2 <= len(names) <= 20:
        return
    wide = frame.pivot_table(index=PAIR, columns="rater_id", values="rating", observed=True)
    values = wide.to_numpy()
    if values.shape[1] < 2:
        return
    least = SORTED_PAIRS[0] if values.shape[1] == 2 else SORTED_PAIRS[1]
    values = values[:, np.argsort(np.nan_to_num(np.nanmean(values, axis=0)), kind="stable")]
    for lower in range(values.shape[1]):
        for upper in range(lower + 1, values.shape[1]):
            difference = values[:, upper] - values[:, lower]
            if (difference < 0).any() or np.count_nonzero(difference > 0) < least:
                return
    raise RelstudyError(
        f"{file}, column rater_id: on every pair the ratings of {', '.join(map(str, wide.columns[:4]))} stand in the "
        "same order, which people never do: these are sorted slots, not raters, and cannot be calibrated (if they "
        f"are people all the same, say {option('trust_raters', True)})"
    )


JUDGE_MARK = "judge:"
"""Beginning of a judge's rater_id."""


def add_judge(ratings: Ratings, path: Path) -> Ratings:
    """The ratings with those that a judge gave the pairs which people rated; its other pairs are left out.

    Parameters
    ----------
    ratings : of people
    path : the judge's table: query_id, result_id, rating (empty where it gave no answer: undecided); its name is the
        judge's

    Raises
    ------
    RelstudyError
        where the judge answered for none of these pairs, a grade is off the people's scale, or a rater has its name
    TableError
        with every fault of the table
    """
    table = read_table(path)
    table.require(*PAIR, "rating")
    scale = ratings.scale.scale
    given = pd.DataFrame({column: table.texts(column) for column in PAIR})
    given["rating"] = table.numbers("rating", empty=True)
    table.add(given.duplicated(PAIR), "result_id", "this pair appears there twice; a judge says one thing of a pair")
    table.raise_faults()
    name = f"{JUDGE_MARK}{path.stem}"
    people = ratings.frame
    if (people["rater_id"] == name).any():
        raise RelstudyError(f"a rater is called {name!r}, as the judge would be; rename the judge's file")
    of_pair = [column for column in people if column not in ("rater_id", "rating", "calibrated", "weight", "seconds")]
    rows = people[of_pair].drop_duplicates(PAIR).merge(given, on=PAIR).assign(rater_id=name)
    answered = rows["rating"].dropna()
    if answered.empty:
        raise RelstudyError(f"{path}: the judge answered for none of the pairs that people rated")
    off = ~answered.between(scale.low, scale.high)
    if off.any():
        raise RelstudyError(
            f"{path}: {count_of(int(off.sum()), 'grade is', 'grades are')} off the scale {scale.name} that people "
            f"rated on, such as {answered[off].iloc[0]:g}; a rater's would not be"
        )
    pairs = int((~people.duplicated(PAIR)).sum())
    note = (
        f"Judge {path.stem} is one more rater, {name}, of {len(answered):,} of the {pairs:,} pairs that people rated: "
        "it has a part in the common scale and in figures of agreement, and none in judgments.csv and calibrated.csv."
    )
    frame = pd.concat([people, rows.reindex(columns=people.columns)], ignore_index=True)
    frame["base"] = np.asarray(frame["base"], dtype=bool)
    return replace(ratings, frame=frame, notes=(*ratings.notes, note), judges=(*ratings.judges, name))


def with_people(ratings: pd.DataFrame, people: str | os.PathLike[str]) -> pd.DataFrame:
    """A table of ratings with what another says of each person, one row a rater: rater_id and further columns.

    Columns that the ratings have already stay as they are.

    Raises
    ------
    RelstudyError
        where a rater appears there twice, or nobody of it rated
    """
    table = under_own_names(read_table(people), {"rater_id"})
    table.require("rater_id")
    said = table.frame.assign(rater_id=table.texts("rater_id"))
    table.raise_faults()
    twice = said["rater_id"][said["rater_id"].duplicated()]
    if len(twice):
        raise RelstudyError(f"{table.file}: rater {twice.iloc[0]!r} has two rows; one row a person is needed")
    rated = ratings.assign(rater_id=ratings["rater_id"].astype("str").str.strip())
    if not rated["rater_id"].isin(said["rater_id"]).any():
        raise RelstudyError(
            f"{table.file}: none of its people is among the raters; rater_id must be written the same way in both"
        )
    new = ["rater_id", *(name for name in said if name not in ratings)]
    return rated.merge(said[new], on="rater_id", how="left", validate="many_to_one")
