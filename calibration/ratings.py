"""The ratings table: who gave which pair which rating, and which pairs form the base block.

A rating is a number on the study's scale, or empty: undecided, which never counts as a number. Every fault a
table can have is found before any number is computed, and all of them are reported together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pandas as pd

from relstudy.calibration.blocks import check_base_is_of_pairs, marked_base, rated_by_all, rows_aside
from relstudy.calibration.left_out import COLUMN as SET_ASIDE
from relstudy.calibration.left_out import without_set_aside
from relstudy.calibration.rating_rows import KEY, alike_note, aside_note, merge_duplicates, merged_note, rating_numbers
from relstudy.calibration.slots import refuse_slots, refuse_sorted
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.hand_out import EARLIER_WORDS, HandOut
from relstudy.common.headers import under_own_names
from relstudy.common.option_words import option
from relstudy.common.plain_names import refuse_controls
from relstudy.common.probabilities import PROBABILITIES, check_one_a_pair, read_probabilities
from relstudy.common.reading import PLAIN, Reading
from relstudy.common.scales import SCALE_COLUMNS, KnownScale, Scale
from relstudy.common.shown import Shown
from relstudy.common.tables import read_table

REQUIRED = ("rater_id", "query_id", "result_id", "rating")
NAMES = (
    *(*REQUIRED, "pair_id", "block", "scale", *SCALE_COLUMNS, "handed_out", SET_ASIDE, "seconds"),
    *PROBABILITIES,
)
"""Columns that mean something to whoever reads ratings."""


@dataclass(frozen=True, repr=False)
class Ratings(Shown):
    """A checked ratings table.

    Parameters
    ----------
    frame : one row per rating: rater_id, query_id, result_id (text), pair_id (text, where the file has it),
        rating (float, NaN = undecided), base (bool), inclusion_probability and query_probability (float, NaN where
        unknown) where the file has them, and its other columns as they stood
    scale : the scale, and how it is known
    merged : identical rows (same rater, same pair, same rating) that were merged into one
    aside : rows of checks, repeated pairs and practice, which are left out
    base_rule : how the base block was found, as a phrase; None where there is none
    handed_out : how unique pairs were handed out, where the file records it, else None
    notes : what a person should be told, as sentences
    judges : rater ids of automatic judges, whose ratings have no part in judgments
    """

    frame: pd.DataFrame
    scale: KnownScale
    merged: int = 0
    aside: int = 0
    base_rule: str | None = None
    handed_out: HandOut | None = None
    notes: tuple[str, ...] = field(default=())
    judges: tuple[str, ...] = field(default=())

    def heading(self) -> str:
        """How many ratings by how many raters."""
        frame = self.frame
        pairs = frame.duplicated(["query_id", "result_id"], keep="first")
        return (
            f"{len(frame):,} ratings on the scale {self.scale.scale.name} by {frame['rater_id'].nunique():,} raters of "
            f"{int((~pairs).sum()):,} pairs, {int(frame['rating'].isna().sum()):,} undecided"
        )

    def overview(self) -> pd.DataFrame:
        """The ratings, without columns that only say how they came about."""
        return self.frame[[name for name in (*KEY, "rating", "block", "base", "seconds") if name in self.frame]]

    def remarks(self) -> tuple[str, ...]:
        """What a person should be told."""
        return self.notes


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
    path : a table with rater_id, query_id, result_id and rating; optional: pair_id, scale, block (base or unique;
        rows of check, repeat and practice are set aside), handed_out (random or fixed, see `HandOut`, or empty; fixed
        if any unique pair is)
    base_column : name of a yes/no column that marks the base block, where there is no `block` column that does
    trust_raters : accept rater columns whose ratings look sorted within each pair
    with_set_aside : take the ratings of raters who were set aside (column set_aside), too
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
    table = under_own_names(reading.apply(read_table(path)), NAMES, keep=[base_column])
    refuse_slots(table)
    inspect = "relstudy inspect names what it may be"
    table.require(*REQUIRED, way_out=lambda name: f"{table.words.column(name)} says which it is; {inspect}")
    table = table if with_set_aside else without_set_aside(table)
    return check_ratings(table, base_column=base_column, trust_raters=trust_raters, scale=reading.scale)


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
    frame = table.frame.copy()
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
    kept, merged = merge_duplicates(table, frame[~aside])
    table.raise_faults()
    if base is not None:
        frame["base"] = base[0]
        check_base_is_of_pairs(table, frame[~aside])
        table.raise_faults()
    frame = frame.loc[kept].reset_index(drop=True)
    if frame["rating"].isna().all():
        raise RelstudyError(f"{table.file}: every rating is empty (undecided); there is nothing to calibrate")
    if not trust_raters:
        refuse_sorted(frame, table.file)
    remarks = (aside_note(table), merged_note(merged), alike_note(frame["rater_id"].unique()))
    notes = [*table.notes, *(note for note in remarks if note is not None)]
    rule: str | None
    if base is not None:
        rule = base[1]
        if base_column is not None and "block" in rule and base_column != "block":
            notes.append(f"column block marks the base block, so {option('base_column', base_column)} is not used")
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
    """What the table records of unique pairs: fixed if any of them is, None if nothing is recorded."""
    if "handed_out" not in table.frame:
        return None
    column = table.frame["handed_out"]
    words = column.astype("str").str.strip().mask(column.isna(), "")
    readings: dict[str, HandOut | None] = {"": None, **EARLIER_WORDS, **{kind.value: kind for kind in HandOut}}
    table.add(~words.isin(list(readings)), "handed_out", f"{' or '.join(HandOut)} is allowed, or empty")
    if "block" in table.frame:
        words = words[table.frame["block"].astype("str").str.strip().isin(["unique", ""])]
    recorded = {readings.get(word) for word in words.unique()} - {None}
    return next((kind for kind in (HandOut.FIXED, HandOut.RANDOM) if kind in recorded), None)


def _check_pair_ids(table: Checked, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates("pair_id").set_index("pair_id")
    for column in ("query_id", "result_id"):
        expected = frame["pair_id"].map(first[column])
        table.add(frame[column] != expected, column, "a pair_id must keep its query_id and result_id in every row")
