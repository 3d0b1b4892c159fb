"""The order in which a rater gave their ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.calibration.tables.timestamps import is_iso, is_plain, read_moments
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.checked_table import Checked, stripped

PLACE, MOMENT = "position", "rated_at"
ALIKE = 0.9
"""Two orders of a rater's ratings whose correlation is below it are said to differ: who comes back to a page and rates
again does not make them so."""


def session_order(frame: pd.DataFrame) -> np.ndarray:
    """The place of each rating in its rater's order, 0 (first) to 1 (last), float [N].

    Order is that of the pages (`position`), else of time (`rated_at`, in ISO 8601); ratings of one page, or of one
    time, share their mean place. NaN where neither is known, and for raters of one rating, or of times with and without
    a time zone.

    Examples
    --------
    >>> session_order(pd.DataFrame({"rater_id": list("aaabb"), "position": [3, 1, 2, 5, 5]})).tolist()
    [1.0, 0.0, 0.5, 0.5, 0.5]
    """
    by = ordered_by(frame)
    if by is None:
        return np.full(len(frame), np.nan)
    return _places(frame, _positions(frame) if by == PLACE else _times(frame))


def ordered_by(frame: pd.DataFrame) -> str | None:
    """The column that orders sessions, or None."""
    if PLACE in frame and _positions(frame).notna().any():
        return PLACE
    return MOMENT if MOMENT in frame else None


def order_note(frame: pd.DataFrame) -> str | None:
    """Note on raters whose ratings the two columns order otherwise; None if there are none, or not both columns."""
    if ordered_by(frame) != PLACE or MOMENT not in frame:
        return None
    one, other = session_order(frame), _places(frame, _times(frame))
    known = ~(np.isnan(one) | np.isnan(other))
    if not known.any():
        return None
    code, raters = pd.factorize(frame["rater_id"][known])
    alike = _correlations(code, len(raters), one[known], other[known])
    apart = [str(rater) for rater in raters[alike < ALIKE]]
    if not apart:
        return None
    return (
        f"{PLACE} orders each rater's session, and not {MOMENT}, by which ratings of {count_of(len(apart), 'rater')} "
        f"come in another order: {listed_some(apart)}"
    )


def with_moments(table: Checked) -> tuple[pd.Series | None, list[str]]:
    """The column `rated_at` in ISO 8601 as far as it can be read, with notes on how, or None."""
    if MOMENT not in table.frame:
        return None, []
    moments = read_moments(table.frame[MOMENT])
    notes = moments.notes(MOMENT, table.frame[MOMENT], table.rows)
    frame = table.frame[["rater_id"]].assign(**{MOMENT: moments.texts})
    mixed = _mixes_zones(frame)
    if mixed.any():
        names = [str(rater) for rater in frame["rater_id"][mixed].unique()]
        first = table.row(int(np.flatnonzero(mixed)[0]))
        notes.append(
            f"{MOMENT} of {count_of(len(names), 'rater')} ({listed_some(names)}; first in row {first}) has a time "
            "zone in some rows and not in others, so it gives no order"
        )
    return moments.texts, notes


def _positions(frame: pd.DataFrame) -> pd.Series:
    return pd.to_numeric(frame[PLACE], errors="coerce").astype(float)


def _times(frame: pd.DataFrame) -> pd.Series:
    """Seconds since the first, NaN if there is no time."""
    column = frame[MOMENT]
    if column.dtype.kind != "M" and not is_plain(column):
        column = stripped(column)
        column = column.where(is_iso(column) & ~_mixes_zones(frame), "")
    time = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
    return (time - time.min()).dt.total_seconds()


def _mixes_zones(frame: pd.DataFrame) -> np.ndarray:
    """Ratings of raters some of whose times have a time zone and some have none, bool array (N)."""
    if frame[MOMENT].dtype.kind == "M" or is_plain(frame[MOMENT]):
        return np.zeros(len(frame), dtype=bool)
    texts = stripped(frame[MOMENT])
    zoned = texts.str.fullmatch(r"(?i)\d.*[\d.]:\d.*(z|[+-]\d\d(:?\d\d)?)").where(is_iso(texts))
    if zoned.dropna().nunique() < 2:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray(zoned.groupby(frame["rater_id"], sort=False).transform("nunique") > 1, dtype=bool)


def _places(frame: pd.DataFrame, place: pd.Series) -> np.ndarray:
    by_rater = place.groupby(frame["rater_id"], sort=False)
    many = by_rater.transform("count").to_numpy(dtype=float)
    rank = by_rater.rank().to_numpy(dtype=float)
    return np.where(many > 1, (rank - 1) / np.maximum(many - 1, 1), np.nan)


def _correlations(code: np.ndarray, number: int, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The correlation of two columns within each code, float array; 1 where either does not vary."""
    count = np.bincount(code, minlength=number)
    a, b = (each - (np.bincount(code, each, number) / count)[code] for each in (one, other))
    length = np.sqrt(np.bincount(code, a * a, number) * np.bincount(code, b * b, number))
    return np.where(length > 0, np.bincount(code, a * b, number) / np.where(length > 0, length, 1.0), 1.0)
