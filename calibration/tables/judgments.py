"""The judgments table: one calibrated value per pair, with its error and its inclusion probability."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from relstudy.calibration.tables.blocks import rows_aside
from relstudy.calibration.tables.excluded_raters import COLUMN as SET_ASIDE
from relstudy.calibration.tables.excluded_raters import without_set_aside
from relstudy.calibration.tables.judged_pool import inside_pool
from relstudy.calibration.tables.own_ids import OwnIds
from relstudy.calibration.tables.qrels import dataset_qrels, is_dataset, read_qrels, without_negative
from relstudy.calibration.tables.rating_rows import (
    alike_note,
    aside_note,
    merge_duplicates,
    merged_note,
    rating_numbers,
)
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.sampling.response_rates import FROM_DESIGN
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.column_names import plain_name, under_own_names
from relstudy.common.tables.formats.dataframe_libraries import qrels_of_library
from relstudy.common.tables.formats.file_kind import file_kind
from relstudy.common.tables.formats.study_archive import in_archive
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.inclusion_probabilities import (
    PAIR,
    PROBABILITIES,
    check_one_a_pair,
    read_probabilities,
)
from relstudy.common.tables.meaning.reading import PLAIN, Reading
from relstudy.common.tables.meaning.scale_detection import known_scale, scale_of_values
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS, KnownScale, Scale, stated_scale
from relstudy.common.tables.meaning.study_folder import ANSWERS
from relstudy.common.tables.meaning.vote_counts import with_means
from relstudy.common.tables.number_texts import NUMBER

COLUMNS = [
    *("pair_id", "query_id", "result_id", "judgment", "n_ratings", "standard_error"),
    *("judgment_low", "judgment_high"),
    *("relevant_share", "relevance_cut", "gain"),
    *PROBABILITIES,
    *SCALE_COLUMNS,
]
NAMES = (*COLUMNS, "rating", "rater_id", "scale", "block", SET_ASIDE)
"""Columns that mean something to whoever reads judgments."""
RATED = ("rating", "calibrated")
CARELESS = "judgments-careless.csv"
"""Beside judgments.csv: the judgments if raters who look careless were taken another way."""
VALUES = ("judgment", "relevant_share", "inclusion_probability")
"""Columns in which two rows of one pair must agree."""
SLACK = 0.75
"""Most steps by which calibration may carry a judgment beyond the scale's end, for the scale to be read off them."""

OF_QRELS = "qrels"
"""The beginning of the note on a scale where it is that of qrels' grades."""


@dataclass(frozen=True, eq=False)
class CarelessRaters:
    """Raters who look careless or agree little, and the judgments if they were taken another way.

    Parameters
    ----------
    raters : their ids
    how : whether their ratings count like others ("keep"), as far as they are likely to have looked, which here is not
        at all ("weigh"), or are left out before anything is computed ("drop"); "little": they look, but agree little
        with the others, and count
    otherwise : the judgments if they did not count, where they count; else the judgments if they counted
    """

    raters: tuple[str, ...]
    how: Literal["keep", "weigh", "drop", "little"]
    otherwise: Judgments

    @property
    def finding(self) -> str:
        """Who they are and what was seen of them, as a clause."""
        one = len(self.raters) == 1
        who = f"{count_of(len(self.raters), 'rater')} ({listed_some(self.raters)})"
        if self.how == "little":
            return f"{who} {'agrees' if one else 'agree'} little with the others (less than half as much as the median)"
        sign = "little or no sign" if self.how == "drop" else "no sign"
        return f"{who} {'shows' if one else 'show'} {sign} of agreement with the others"

    def note(self) -> str:
        """Their names and the use made of their ratings, as a sentence."""
        left = option("careless", "drop")
        if self.how == "little":
            return f"{self.finding}: their ratings count; {left} leaves them out of everything"
        became = {
            "keep": f"their ratings count like others; {option('careless', 'weigh')} counts them for nothing, {left} "
            "leaves them out of everything",
            "weigh": f"their ratings count for nothing; {left} leaves them out of everything, "
            f"{option('careless', 'keep')} counts them like others",
            "drop": "their ratings are left out of everything",
        }
        return f"{self.finding}: {became[self.how]}"


@dataclass(frozen=True, eq=False)
class Judgments:
    """One judgment per pair, with the scale and the facts that later stages need.

    Parameters
    ----------
    frame : one row per pair: query_id, result_id (text), judgment (float), inclusion_probability (float in (0, 1], NaN
        where unknown; the column is added where it is missing), query_probability (the same of the pair's query, where
        known), relevant_share (share of the pair's ratings above the scale's cut, float in [0, 1], where known), and
        any other columns
    scale : the scale they are on, and how it is known
    merged : how many identical rows of the table were merged
    notes : on how they were read, as sentences
    outside_pool : how many judged pairs from outside a pool were left out
    qrels : whether they are whole TREC qrels, which a run can be measured by
    ratings : the ratings behind them, where they are at hand: query_id, result_id and calibrated (float), and where
        known rater_id, rating (as it was given) and weight (in its judgment), one row a decided rating
    proposers : the systems that proposed any of the pairs, where that is known
    undecided : query_id, result_id of the pairs that people saw and nobody could decide, where that is known
    unjudged : query_id, result_id, judgment (below 0) of the pairs that qrels name and nobody judged; None without any
    careless : raters who look careless, and the judgments if they were taken another way; None without any
    own_ids : the ids of the table that the study was made of, by which a table of scores may name pairs; None without

    Examples
    --------
    >>> judgments = Judgments.of(pd.DataFrame({"query_id": ["q"], "result_id": ["x"], "judgment": [4.5]}))
    >>> judgments.probability, judgments.unknown, judgments.scale.scale.name
    (array([nan]), 1, '1-5')
    """

    frame: pd.DataFrame
    scale: KnownScale
    merged: int = 0
    notes: tuple[str, ...] = ()
    outside_pool: int = 0
    qrels: bool = False
    ratings: pd.DataFrame | None = None
    proposers: tuple[str, ...] | None = None
    undecided: pd.DataFrame | None = None
    unjudged: pd.DataFrame | None = None
    careless: CarelessRaters | None = None
    own_ids: OwnIds | None = None

    def __post_init__(self) -> None:
        if "inclusion_probability" not in self.frame:
            object.__setattr__(self, "frame", self.frame.assign(inclusion_probability=np.nan))

    @classmethod
    def of(cls, judgments: Judgments | pd.DataFrame) -> Judgments:
        """The judgments themselves, or those of a DataFrame with their columns (query_id, result_id, judgment, ...).

        Raises
        ------
        RelstudyError
            when the DataFrame is empty or its columns scale_low, scale_high and scale_step contradict each other
        """
        if isinstance(judgments, Judgments):
            return judgments
        if judgments.empty:
            raise RelstudyError("there are no judgments")
        table = Checked(judgments, "the judgments")
        scale = known_scale(table, judgments["judgment"].to_numpy(dtype=float), "judgments", slack=SLACK)
        scale = _with_cut(table, scale)
        table.raise_faults()
        return cls(judgments, scale).of_pool()

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def probability(self) -> np.ndarray:
        """Inclusion probabilities, float [pairs], NaN where unknown."""
        return self.frame["inclusion_probability"].to_numpy(dtype=float)

    @property
    def unknown(self) -> int:
        """Number of pairs without a known inclusion probability."""
        return int(np.isnan(self.probability).sum())

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes on how they were read, and on the scale where it was assumed."""
        return (*self.notes, *self.scale.assumed())

    def of_pool(self) -> Judgments:
        """Those that speak of the pool, where pairs were drawn from one, with a note of what it misses."""
        frame, misses = inside_pool(self.frame, self.scale.scale.cut)
        if misses is None:
            return self
        return replace(self, frame=frame, notes=(*self.notes, misses.sentence()), outside_pool=misses.judged)

    def probability_note(self) -> str | None:
        """Note on pairs without an inclusion probability, as a sentence; None where all are known."""
        if self.unknown == len(self):
            return (
                "inclusion probabilities are not known, so later steps weigh all pairs equally; "
                f"{option('pairs', 'pairs.csv')} adds them"
            )
        if self.unknown:
            return (
                f"{self.unknown} of {len(self)} pairs have no known inclusion probability, so theirs is left empty, "
                "and later steps leave weighted figures empty unless all pairs are to weigh the same"
            )
        return None


def read_judgments(path: str | os.PathLike[str], reading: Reading = PLAIN) -> Judgments:
    """Read a judgments table (CSV or Parquet) or TREC qrels.

    Parameters
    ----------
    path : a table with query_id, result_id and judgment (or rating; the mean over a pair's rows is then taken), or
        qrels as PyTerrier (qid, docno, label) or ir_measures (query_id, doc_id, relevance) name their columns, or a
        study's zip file or folder, which holds judgments.csv;
        inclusion_probability optional, and query_probability, that of the pair's query to be drawn at all. Without a
        comma in its first line, four fields a line: TREC qrels; five: sampled qrels or prels, with probabilities;
        `irds:ID`: the qrels of a data set that ir_datasets has
    reading : what is stated about the table: which column is which, numbers for words, what is missing, the scale. A
        scale that is not stated is taken from the columns scale_low, scale_high and scale_step, else from the name in
        the column scale, else from the judgments themselves; grades of qrels start at 0

    Returns
    -------
    Judgments, whose frame holds one row per pair, and the file's other columns as they stood

    Raises
    ------
    TableError
        with every fault: missing columns or ids, judgments that are no numbers, probabilities outside (0, 1],
        one pair with two different judgments, a query of two probabilities or below that of one of its pairs, shares
        outside [0, 1], two relevance cuts
    """
    if is_dataset(path):
        return qrels_in(dataset_qrels(path), reading)
    path = in_archive(path, "judgments.csv")
    if file_kind(path) != "qrels":
        judgments = judgments_in(read_table(path), reading)
        return replace(judgments, own_ids=OwnIds.in_file(Path(path).with_name(ANSWERS)))
    return qrels_in(read_qrels(path), reading)


def qrels_in(grades: Checked, reading: Reading = PLAIN) -> Judgments:
    """The judgments of qrels: query_id, result_id, judgment; see `read_judgments`."""
    unjudged = None
    if reading.scale is None or reading.scale.values[0] >= 0:
        grades, unjudged = without_negative(grades, reading)
    judgments = judgments_in(grades, reading, odd=False)
    why = _not_whole(judgments)
    instead = "of the judged pairs alone (condensed)" if judgments.unknown else "estimates, or of judged pairs alone"
    others = () if why is None else (f"{why}, so measures are {instead}",)
    judgments = replace(judgments, qrels=why is None, unjudged=unjudged, notes=(*judgments.notes, *others))
    return judgments if reading.scale is not None else replace(judgments, scale=_qrels_scale(judgments))


def judgments_in(table: Checked, reading: Reading = PLAIN, *, odd: bool = True) -> Judgments:
    """The judgments of a table as a person states it is to be read; see `read_judgments`, and `check_judgments`."""
    qrels = None if reading.columns else qrels_of_library(table)
    if qrels is not None:
        whole = pd.to_numeric(qrels.frame["judgment"], errors="coerce").notna().all()
        return qrels_in(qrels, reading) if whole else judgments_in(qrels, reading, odd=odd)
    read = reading.apply(table, kind="judgments")
    if reading.missing and "judgment" in read.frame:
        blank = (stripped(read.frame["judgment"]) == "").to_numpy(dtype=bool)
        if blank.any() and not blank.all():
            kept = read.frame[~blank].reset_index(drop=True)
            note = f"{count_of(int(blank.sum()), 'pair')} without a judgment, as stated, left out"
            notes = (*read.notes, note)
            read = read.among(kept, read.rows[~blank])
            read.notes = notes
    read = with_means(read)
    scale = reading.scale
    if reading.gains and scale is None and not reading.values:
        values = sorted({gain for text, gain in reading.gains.items() if not NUMBER.fullmatch(text)})
        scale = stated_scale(",".join(f"{value:.9g}" for value in values)) if len(values) > 1 else None
    return check_judgments(read, scale, odd=odd)


def check_judgments(table: Checked, scale: Scale | None = None, *, odd: bool = True) -> Judgments:
    """Check a table that is already in memory; see `read_judgments`.

    Parameters
    ----------
    odd : whether numbers far from all others, such as 99 among 1 to 5, are asked about where no scale is stated

    Examples
    --------
    >>> frame = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "x"], "rating": [4, 2]})
    >>> check_judgments(Checked(frame, "ratings")).frame["judgment"].tolist()
    [3.0]
    """
    table = under_own_names(table, NAMES)
    table.require(*PAIR)
    frame = table.frame.copy(deep=False)
    if "judgment" not in frame:
        if "rating" not in frame:
            table.require("judgment")
        return _from_ratings(table, scale)
    if frame.empty:
        raise RelstudyError(f"{table.file}: there are no judgments below the header")
    for name in PAIR:
        frame[name] = table.texts(name)
    frame["judgment"] = table.numbers("judgment", options=True)
    scale_of_judgments = known_scale(table, frame["judgment"].to_numpy(dtype=float), "judgments", scale, SLACK, odd)
    scale_of_judgments = _with_cut(table, scale_of_judgments)
    for name, highest in (("relevant_share", 1.0), ("standard_error", np.inf)):
        if name in frame:
            frame[name] = table.numbers(name, low=0, high=highest, empty=True)
    if "gain" in frame:
        frame["gain"] = table.numbers("gain", low=0)
    if "n_ratings" in frame:
        table.numbers("n_ratings", low=0, empty=True)
    read_probabilities(table, frame)
    repeated = frame.duplicated(PAIR)
    if repeated.any():
        groups = frame.groupby(PAIR, sort=False)
        for column in [name for name in VALUES if name in table.frame]:
            differs = groups[column].transform("nunique", dropna=False) > 1
            table.add(repeated & differs, column, "an earlier row has another value for this pair; keep one of them")
    table.raise_faults()
    frame = frame[~repeated].reset_index(drop=True)
    merged = int(repeated.sum())
    notes = (*table.notes, *_two_columns(table))
    if merged:
        notes = (*notes, f"{count_of(merged, 'row')} with the judgment of an earlier row on the same pair: merged")
    return Judgments(frame, scale_of_judgments, merged=merged, notes=notes).of_pool()


def write_judgments(judgments: Judgments, path: str | os.PathLike[str]) -> None:
    """Write judgments, the columns of the contract first; a probability that is not known is left empty."""
    frame = judgments.frame
    first = [column for column in COLUMNS if column in frame]
    write_table(frame[[*first, *(column for column in frame if column not in first)]], path)


def write_careless(careless: CarelessRaters | None, path: Path) -> None:
    """Write what there would be if careless raters were taken another way; if there are none no such file is left.

    Columns `careless_raters` (their ids, as a JSON list) and `careless` (how the judgments beside it take them) have
    one value throughout.
    """
    if careless is None:
        path.unlink(missing_ok=True)
        return
    frame = careless.otherwise.frame.assign(careless_raters=json.dumps(list(careless.raters)), careless=careless.how)
    write_judgments(replace(careless.otherwise, frame=frame), path)


def with_careless(judgments: Judgments, path: Path) -> Judgments:
    """The judgments with what `write_careless` wrote beside them.

    Raises
    ------
    RelstudyError
        where the file was written for other judgments, or has faults
    """
    other = read_judgments(path)
    one = other.frame.iloc[0]
    try:
        raters, how = tuple(map(str, json.loads(one["careless_raters"]))), str(one["careless"])
        fewer, more = (frame[PAIR] for frame in (judgments.frame, other.frame))
        fewer, more = (more, fewer) if how in ("keep", "little") else (fewer, more)
        if how not in ("keep", "weigh", "drop", "little") or len(fewer.merge(more, on=PAIR)) < len(fewer):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise RelstudyError(f"{path.name}: this was not written for these judgments") from None
    return replace(judgments, careless=CarelessRaters(raters, cast(Any, how), other))


def _from_ratings(table: Checked, scale: Scale | None) -> Judgments:
    """Judgments as plain means of a ratings table: one row per rating, empty ones undecided."""
    rater = ["rater_id"] if "rater_id" in table.frame else []
    table = without_set_aside(table) if rater else table
    if table.frame.empty:
        raise RelstudyError(f"{table.file}: there are no ratings below the header")
    frame = table.frame[[*PAIR, *rater]].copy()
    for name in [*PAIR, *rater]:
        frame[name] = table.texts(name)
    frame["rating"], scale_of_ratings = rating_numbers(table, scale)
    for name in FROM_DESIGN:
        if name in table.frame:
            frame[name] = table.frame[name]
    if "gain" in table.frame:
        frame["gain"] = table.numbers("gain", low=0, empty=True)
    read_probabilities(table, frame)
    frame = frame[~rows_aside(table)]
    check_one_a_pair(table, frame[frame["rating"].notna()])
    kept, merged = merge_duplicates(table, frame) if rater else (frame.index, 0)
    table.raise_faults()
    frame = frame.loc[kept].rename(columns={"rating": "judgment"})
    undecided = int(frame["judgment"].isna().sum())
    if undecided == len(frame):
        raise RelstudyError(f"{table.file}: there is no rating that is a number")
    drawn = {name: (name, "first") for name in (*PROBABILITIES, *FROM_DESIGN) if name in frame}
    decided = frame.dropna(subset="judgment")
    cut = scale_of_ratings.scale.cut
    groups = decided.assign(above=decided["judgment"] > cut).groupby(PAIR, sort=False)
    mean = {"judgment": ("judgment", "mean"), "n_ratings": ("judgment", "size"), "relevant_share": ("above", "mean")}
    if "gain" in frame:
        mean["gain"] = ("gain", "mean")
    means = groups.agg(**mean, **drawn).reset_index().assign(relevance_cut=cut)
    if "gain" not in means and (means["n_ratings"] == 1).all():
        # a grade of its own, and no mean that would be rounded
        means["gain"] = (means["judgment"] - scale_of_ratings.scale.low).clip(lower=0)
    empty = "rating is" if undecided == 1 else "ratings are"
    alike = alike_note(frame["rater_id"].unique()) if rater else None
    left = f"{undecided:,} {empty} empty (undecided), and no part of the means" if undecided else None
    note = (
        "judgments are plain means of the ratings, uncalibrated; relstudy calibrate puts the raters on one scale"
        if "rater_id" in table.frame
        else "judgments are plain means of the ratings, since no rater is named"
    )
    return Judgments(
        means.assign(**scale_of_ratings.scale.columns()),
        scale_of_ratings,
        notes=(*table.notes, *filter(None, (aside_note(table), merged_note(merged), alike, left)), note),
        ratings=decided[[*PAIR, *rater]].assign(**dict.fromkeys(RATED, decided["judgment"])).reset_index(drop=True),
    ).of_pool()


def _two_columns(table: Checked) -> tuple[str, ...]:
    """That there are ratings beside the judgments and that they have no part, as a sentence; none where it was stated
    which column holds the judgments."""
    stated = plain_name(table.labels.get("judgment", "judgment")) != "judgment"
    if "rating" not in table.frame or stated:
        return ()
    return ("the column judgment is taken, and the column rating beside it has no part",)


def _with_cut(table: Checked, scale: KnownScale) -> KnownScale:
    """The scale with the cut that a table's column relevance_cut names; rows that differ are faults of the table."""
    if "relevance_cut" not in table.frame:
        return scale
    cuts = table.numbers("relevance_cut", empty=True)
    given = cuts[np.isfinite(cuts)]
    if not len(given):
        return scale
    table.add(np.isfinite(cuts) & (cuts != given[0]), "relevance_cut", "one table has one cut, and rows differ")
    return scale.with_cut(float(given[0]))


def _not_whole(judgments: Judgments) -> str | None:
    """The reason why a run cannot be measured by these qrels as they stand, as a clause; None where it can."""
    if (judgments.frame["judgment"] % 1 != 0).any():
        return "grades are not whole numbers"
    if (judgments.probability < 1).any():
        return "these qrels are a sample, and what was not drawn is not known to be poor"
    return None


def _qrels_scale(judgments: Judgments) -> KnownScale:
    numbers = judgments.frame["judgment"].to_numpy(dtype=float)
    high = max(1.0, float(numbers.max()))
    by_levels = scale_of_values(numbers, OF_QRELS, SLACK)
    if high == 1 and len(by_levels.scale.values) > 2 and by_levels.scale.step is None:
        return by_levels
    return KnownScale(Scale.between(0, high), "values", f"{OF_QRELS}, whose highest grade is {high:g}")
