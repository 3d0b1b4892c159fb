"""The mean over queries, with its interval."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.resampling.spread import percentile_interval
from relstudy.common.results.estimates import Estimate


def mean_interval(values: np.ndarray, none: str, seed: int = 0) -> Estimate:
    """Mean of one value per query and its bootstrap interval over queries; with one query alone no interval.

    Parameters
    ----------
    values : float (M,)
    none : the reason to give where M is 0

    Examples
    --------
    >>> mean_interval(np.array([0.2, 0.4]), "no query").value.__round__(3)
    0.3
    """
    if not len(values):
        return Estimate.missing(none)
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean)
    return Estimate(mean, *percentile_interval(values @ same_draws(len(values), seed) / len(values)))


@lru_cache(maxsize=2)
def same_draws(queries: int, seed: int) -> np.ndarray:
    """Those of `query_counts`, made once for all figures of so many queries; they cannot be written to."""
    counts = query_counts(queries, seed=seed)
    counts.setflags(write=False)
    return counts
