"""A ratings table of several interfaces, each calibrated by itself, and their figures side by side.

A rating of 4 on 1-5 and one of 4 on 1-9 are different answers, so nothing here ever averages over scales. Shirahatti
and Barnard 2005, table 5.1 (variance, for scores standardised by their range) and section 5.3 (what a rating costs).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.options import RatingsOptions
from relstudy.calibration.pipeline import FILES, Calibration
from relstudy.calibration.tables.ratings import Ratings, read_ratings, with_people
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.files import file_names, together
from relstudy.common.tables.checked_table import Checked, stripped
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.table_files import pair_keys, write_table
from relstudy.common.tables.meaning.group_columns import groups_of
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import pair_rows
from relstudy.common.tables.meaning.reading import Reading
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS

JOINED = ("judgments", "calibrated")
"""Names of the tables that hold all parts."""
LEAST_RATERS = 3
"""Of fewer raters' times there is no interval."""


def read_interfaces(
    table: Checked,
    column: str,
    options: RatingsOptions | None = None,
    *,
    reading: Reading | None = None,
    pairs: Path | None = None,
    people: Path | None = None,
) -> dict[str, Ratings]:
    """Split a ratings table by a column, and check each part by itself, so that each is on one scale.

    Parameters
    ----------
    table : as `relstudy.calibration.tables.ratings.read_ratings` takes it
    column : one of the table's, or of the pairs'; "scale" is put together from scale_low and scale_high where
        there is no column of that name
    pairs : a table of pairs, for columns that the ratings lack
    people : a table of people (rater_id and further columns), for columns of theirs

    Returns
    -------
    dict value -> Ratings, in order of the values; a row without one is in the part "(none)"

    Raises
    ------
    RelstudyError
        where the column is nowhere, or a part has faults, such as two scales
    """
    reading = reading or Reading()
    table = reading.apply(table)
    frame = table.frame
    if people is not None:
        named = under_own_names(table, {"rater_id"})
        named.require("rater_id")
        frame = with_people(named.frame, people)
    if column == "scale" and column not in frame and set(SCALE_COLUMNS[:2]) <= set(frame):
        low, high = (stripped(frame[name]) for name in SCALE_COLUMNS[:2])
        frame = frame.assign(scale=(low + "-" + high).mask((low == "") | (high == ""), ""))
    values = groups_of(frame, column, pairs, "the ratings")
    parts = {}
    for name in sorted(set(values)):
        rows = values == name
        part = table.where(rows)
        parts[str(name)] = read_ratings(part, **vars(options or RatingsOptions()), reading=Reading(scale=reading.scale))
    return parts


def pairs_asked_alike(pairs: Path, judged: pd.DataFrame) -> Checked:
    """The rows of a pairs table that ask as the judged pairs do (by image or by text).

    Pairs of the other paradigm are missing from a part because they belong to another one, not for want of ratings.
    """
    table = pair_rows(pairs)
    if "paradigm" not in table.frame:
        return table
    paradigm = table.frame["paradigm"]
    asked = paradigm[pair_keys(table.frame).isin(pair_keys(judged))].unique()
    rows = paradigm.isin(asked).to_numpy()
    return table.where(rows)


def joined_tables(parts: Mapping[str, Calibration], column: str) -> dict[str, pd.DataFrame] | str:
    """The parts' judgments and calibrated ratings in one table each, `column` saying which part a row is of.

    Returns
    -------
    "judgments" and "calibrated"; or, where they cannot stand in one table, why: their scales differ, or a pair was
    rated in two parts
    """
    scales = {name: part.ratings.scale.scale for name, part in parts.items()}
    if len({tuple(scale.columns().values()) for scale in scales.values()}) > 1:
        return f"the scales differ ({', '.join(f'{name}: {scale.name}' for name, scale in scales.items())})"
    judged = pd.concat([part.judgments.frame.assign(**{column: name}) for name, part in parts.items()])
    if judged.duplicated(PAIR).any():
        return "some pairs were rated in several parts"
    ratings = [part.calibrated_ratings().assign(**{column: name}) for name, part in parts.items()]
    return dict(zip(JOINED, (judged.reset_index(drop=True), pd.concat(ratings, ignore_index=True)), strict=True))


def files_of_parts(parts: Iterable[str], folder: Path) -> list[Path]:
    """The files that `write_parts` may write: each part's, and the tables of all of them."""
    folders = [folder / file for file in file_names(list(parts)).values()]
    return [*(part / name for part in folders for name in FILES), *(folder / f"{table}.csv" for table in JOINED)]


def write_parts(parts: Mapping[str, Calibration], column: str, folder: Path) -> tuple[dict[str, Path], str | None]:
    """Write each part's tables to its own folder, and where they stand in one table, that beside the folders.

    All of them are written, or none.

    Returns
    -------
    The parts' folders, and why there is no one table; None if there is
    """
    folders = {name: folder / file for name, file in file_names(list(parts)).items()}
    with together():
        for name, part in parts.items():
            part.write(folders[name])
        joined = joined_tables(parts, column)
        if isinstance(joined, str):
            return folders, joined
        for table, frame in joined.items():
            write_table(frame, folder / f"{table}.csv")
    return folders, None


@dataclass(frozen=True)
class RatingTimes:
    """Seconds that a rating takes in one interface.

    Parameters
    ----------
    name : of the interface
    seconds : geometric mean over raters of each rater's median seconds, with a 95 % interval over raters
    ratio : how many times as long as in the first interface, with its 95 % interval; None for the first
    raters : how many are timed
    both : how many of them are timed in the first interface as well; where these are three or more, the ratio is theirs
        (paired), else it compares different people
    """

    name: str
    seconds: Estimate
    ratio: Estimate | None
    raters: int
    both: int

    def as_json(self) -> dict[str, Any]:
        ratio = None if self.ratio is None else self.ratio.as_json()
        return {**self.seconds.as_json(), "raters": self.raters, "ratio_to_first": ratio, "raters_in_both": self.both}


def rating_times(parts: Mapping[str, pd.DataFrame]) -> dict[str, RatingTimes] | None:
    """Seconds per rating by interface; None where the ratings are not timed.

    Parameters
    ----------
    parts : interface -> ratings with rater_id and seconds (of one rating; those that are not above 0 don't count)

    Notes
    -----
    Times are skewed and raters differ, so each rater is one median, and means and intervals (Student's t) are of the
    logarithms.

    Examples
    --------
    >>> slow = pd.DataFrame({"rater_id": list("abc"), "seconds": [4.0, 6.0, 8.0]})
    >>> times = rating_times({"1-5": slow.assign(seconds=[2.0, 3.1, 3.9]), "1-9": slow})
    >>> round(times["1-9"].ratio.value, 1), times["1-9"].both
    (2.0, 3)
    """
    if any("seconds" not in frame for frame in parts.values()):
        return None
    medians = {name: _log_medians(frame) for name, frame in parts.items()}
    if any(each.empty for each in medians.values()):
        return None
    first = next(iter(medians.values()))
    times = {}
    for name, logs in medians.items():
        both = logs.index.intersection(first.index)
        ratio = None if logs is first else _ratio(logs, first, both)
        times[name] = RatingTimes(name, _geometric(logs), ratio, len(logs), 0 if ratio is None else len(both))
    return times


def _log_medians(frame: pd.DataFrame) -> pd.Series:
    seconds = pd.to_numeric(frame["seconds"], errors="coerce")
    counted = seconds > 0
    return np.log(seconds[counted].groupby(frame["rater_id"][counted].astype("str")).median())


def _geometric(logs: pd.Series) -> Estimate:
    value = float(np.exp(logs.mean()))
    if len(logs) < LEAST_RATERS:
        return Estimate(value)
    from scipy import stats

    return Estimate.of(value, *np.exp(stats.ttest_1samp(logs, 0).confidence_interval()))


def _ratio(logs: pd.Series, first: pd.Series, both: pd.Index) -> Estimate:
    """Ratio of two interfaces' times, by the raters of both where these are enough."""
    if len(both) >= LEAST_RATERS:
        return _geometric(logs[both] - first[both])
    value = float(np.exp(logs.mean() - first.mean()))
    if min(len(logs), len(first)) < LEAST_RATERS:
        return Estimate(value)
    from scipy import stats

    return Estimate.of(value, *np.exp(stats.ttest_ind(logs, first, equal_var=False).confidence_interval()))


def side_by_side(parts: Mapping[str, Calibration], summaries: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Table 5.1 over several interfaces: raters, variance within a pair for scores from 0 to 1, and seconds per rating.

    Parameters
    ----------
    summaries : of the same parts, as `relstudy.calibration.pipeline.summary` gives them

    Returns
    -------
    interface -> scale, raters, pairs, ratings, standardised_variance {before, after} {value, low, high} in units of the
    squared range of the scale, leave_one_out_correlation {before, after}, seconds_per_rating
    """
    times = rating_times({name: part.ratings.frame for name, part in parts.items()}) or {}
    table = {}
    for name, part in parts.items():
        summary, scale = summaries[name], part.ratings.scale.scale
        table[name] = {
            "scale": scale.name,
            **{key: summary[key] for key in ("raters", "pairs", "ratings")},
            "standardised_variance": _figures(summary["within_item_variance"], (scale.high - scale.low) ** 2),
            "leave_one_out_correlation": _figures(summary["leave_one_out_correlation"], 1.0),
            "seconds_per_rating": times[name].as_json() if name in times else None,
        }
    return table


def _figures(figure: dict[str, Any], unit: float) -> dict[str, Any]:
    return {
        part: {
            name: None if value is None else value / unit
            for name, value in zip(
                ("value", "low", "high"), (figure[part], *(figure[f"{part}_interval"] or (None, None))), strict=True
            )
        }
        for part in ("before", "after")
    }
