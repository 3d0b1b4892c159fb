"""Figures that a design can estimate: known before anyone rates, whatever is drawn.

Where the rarest pairs of the population stand for much of what is relevant, a study that happens to draw none of them
looks sure of itself and is wrong. What matters is how many relevant pairs would be drawn if every pair were as rare as
the rarest: the design's reach.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.common.runtime.wording import percent

REACH = "design_reach"
"""Column of pairs and judgments: the design's reach, one value throughout, written where figures depend on it."""

LEAST_REACH = 20.0
"""Intervals of figures over the whole population are given from here on; `evidence/coverage.py pool` shows why."""


LEAST_QUERIES = 20
"""Queries with good and poor results; fewer tell little of what somebody who searches meets."""
LEAST_PAIRS = 5
"""Judged results of a query from which on it counts."""


def primary_by_design(queries: pd.Series) -> str:
    """The index that decides, by what is drawn alone: pairwise accuracy within queries, or the correlation if few
    queries have results enough.

    Parameters
    ----------
    queries : query of each pair that is drawn

    Examples
    --------
    >>> primary_by_design(pd.Series(["a"] * 5)), primary_by_design(pd.Series([f"q{k % 20}" for k in range(100)]))
    ('pearson', 'same_query')
    """
    return "same_query" if int((queries.value_counts() >= LEAST_PAIRS).sum()) >= LEAST_QUERIES else "pearson"


def reach_of(queries: int, relevant: float, rarest: float) -> float:
    """Number of relevant pairs that a study would hold if all were drawn with the probability of the rarest.

    Parameters
    ----------
    queries : that are drawn
    relevant : expected relevant candidates of a query
    rarest : smallest inclusion probability of a candidate, given its query

    Examples
    --------
    >>> reach_of(60, 20.0, 0.0125)
    15.0
    """
    return queries * relevant * rarest


def beyond_reach(reach: float, rated: float = 1.0) -> str | None:
    """The reason why figures over the whole population have no interval, as a phrase; None where they have one.

    Parameters
    ----------
    reach : of the design; NaN where unknown, which withholds nothing
    rated : share of the drawn pairs that are judged

    Examples
    --------
    >>> beyond_reach(4.0)
    'the design has too few pairs to estimate this (effective sample size 4.0, minimum 20)'
    >>> beyond_reach(20.0) is None, beyond_reach(float("nan")) is None
    (True, True)
    """
    if not np.isfinite(reach) or reach * rated >= LEAST_REACH:
        return None
    judged = "" if rated >= 1 else f", with {percent(rated)} of the pairs judged"
    return (
        f"the design has too few pairs to estimate this (effective sample size {reach:.1f}{judged}, minimum "
        f"{LEAST_REACH:g})"
    )


def design_reach(frame: pd.DataFrame) -> float:
    """The reach that a table of pairs or judgments carries; the smallest if there are several, NaN where none."""
    if REACH not in frame:
        return float("nan")
    values = pd.to_numeric(frame[REACH], errors="coerce")
    return float(values.min()) if values.notna().any() else float("nan")
