"""Ranks of numbers, without the import of scipy.stats, which takes as long as a small study's calibration."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd


def ranks(values: np.ndarray, ties: Literal["average", "min", "max"] = "average") -> np.ndarray:
    """Ranks from 1, the smallest first; of a matrix within each column.

    Parameters
    ----------
    values : shape (n,) or (n, columns); NaN has no rank
    ties : the rank of equal values: the mean of theirs, the first or the last

    Returns
    -------
    Shape of `values`; NaN if there is no value.

    Examples
    --------
    >>> ranks(np.array([0.3, 0.1, 0.3])).tolist(), ranks(np.array([0.3, 0.1, 0.3]), "max").tolist()
    ([2.5, 1.0, 2.5], [3.0, 1.0, 3.0])
    """
    if values.ndim == 2:
        return pd.DataFrame(values).rank(method=ties).to_numpy()
    return pd.Series(values).rank(method=ties).to_numpy()
