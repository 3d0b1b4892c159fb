"""The order in which a rater gave their ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd


def session_order(frame: pd.DataFrame) -> np.ndarray:
    """The place of each rating in its rater's order, 0 (first) to 1 (last), float [N].

    Order is that of the pages (`position`), else of time (`rated_at`); ratings of one page, or of one time, share their
    mean place. NaN where neither is known, and for raters of one rating.

    Examples
    --------
    >>> session_order(pd.DataFrame({"rater_id": list("aaabb"), "position": [3, 1, 2, 5, 5]})).tolist()
    [1.0, 0.0, 0.5, 0.5, 0.5]
    """
    place = pd.Series(np.nan, index=frame.index)
    if "position" in frame:
        place = pd.to_numeric(frame["position"], errors="coerce").astype(float)
    if place.isna().all() and "rated_at" in frame:
        time = pd.to_datetime(frame["rated_at"], errors="coerce", utc=True, format="ISO8601")
        place = (time - time.min()).dt.total_seconds()
    by_rater = place.groupby(frame["rater_id"], sort=False)
    many = by_rater.transform("count").to_numpy(dtype=float)
    rank = by_rater.rank().to_numpy(dtype=float)
    return np.where(many > 1, (rank - 1) / np.maximum(many - 1, 1), np.nan)
