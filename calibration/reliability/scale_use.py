"""Uniformity of the responses over the scale (Shirahatti and Barnard 2005, Eq. 5.4 and table 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from relstudy.common.results.estimates import Estimate


def response_shares(responses: ArrayLike, categories: Sequence[float]) -> np.ndarray:
    """Share of the responses in each category.

    Parameters
    ----------
    responses : any shape; NaN is undecided and left out; a value between two categories (a calibrated mean) counts for
        the nearer one, halfway for the higher one, and values outside for the end
    categories : the values of the scale, ascending, at least two

    Returns
    -------
    float64 [categories], sums to 1; all NaN where no response is left

    Examples
    --------
    >>> response_shares([1, 1, 2, 4.4], [1, 2, 3, 4, 5]).tolist()
    [0.5, 0.25, 0.0, 0.25, 0.0]
    """
    values = np.asarray(responses, dtype=float).ravel()
    values = values[~np.isnan(values)]
    scale = np.asarray(categories, dtype=float)
    if scale.ndim != 1 or len(scale) < 2 or (np.diff(scale) <= 0).any():
        raise ValueError("categories must be at least two ascending numbers")
    if len(values) == 0:
        return np.full(len(scale), np.nan)
    return np.bincount(nearest_category(values, scale), minlength=len(scale)) / len(values)


def nearest_category(values: ArrayLike, categories: Sequence[float] | np.ndarray) -> np.ndarray:
    """The place of the category nearest to each value, int; halfway between two the higher one.

    Examples
    --------
    >>> nearest_category([1, 2.5, 9], [1, 2, 3]).tolist()
    [0, 2, 2]
    """
    scale = np.asarray(categories, dtype=float)
    return np.searchsorted((scale[1:] + scale[:-1]) / 2, np.asarray(values, dtype=float), side="right")


def uniformity_error(responses: ArrayLike, categories: Sequence[float]) -> Estimate:
    """Mean |p(i) - 1/K| over the K categories (Eq. 5.4): 0 when all are used equally, at most 2 (K - 1) / K**2.

    Examples
    --------
    >>> round(uniformity_error([1, 1, 1, 1, 2], [1, 2, 3, 4, 5]).value, 3)
    0.24
    >>> str(uniformity_error([], [0, 1]))
    '– (there is no response)'
    """
    shares = response_shares(responses, categories)
    if np.isnan(shares).any():
        return Estimate.missing("there is no response")
    return Estimate.of(float(np.abs(shares - 1 / len(shares)).mean()))


def uniformity_table(
    responses: pd.DataFrame,
    categories: Sequence[float],
    by: Sequence[str] = ("round", "source"),
    column: str = "rating",
) -> pd.DataFrame:
    """Table 5.2: the uniformity error of every group, and of each round over all sources.

    Parameters
    ----------
    responses : one row a response, with the columns in `by` and `column` (NaN: undecided)
    categories : the values of the scale

    Returns
    -------
    DataFrame with the columns in `by`, `responses` (how many, undecided not counted), `share_V` for every category V,
    and `error` (NaN if there is no response). Where `by` ends in "source", a row "all" follows each round's sources.

    Examples
    --------
    >>> frame = pd.DataFrame({"round": 1, "source": ["a", "a", "b", "b"], "rating": [0.0, 1, 1, 1]})
    >>> uniformity_table(frame, [0, 1])[["source", "responses", "error"]].values.tolist()
    [['a', 2, 0.0], ['b', 2, 0.5], ['all', 4, 0.25]]
    """
    keys = list(by)
    parts = [(key, group) for key, group in responses.groupby(keys, sort=True)]
    if keys[-1] == "source":
        outer = keys[:-1]
        whole = responses.groupby(outer, sort=True) if outer else [((), responses)]
        parts += [((*(key if isinstance(key, tuple) else (key,)), "all"), group) for key, group in whole]
    rows = []
    for key, group in parts:
        values = group[column].to_numpy(dtype=float)
        shares = response_shares(values, categories)
        rows.append(
            {
                **dict(zip(keys, key if isinstance(key, tuple) else (key,), strict=True)),
                "responses": int((~np.isnan(values)).sum()),
                **{f"share_{value:g}": share for value, share in zip(categories, shares, strict=True)},
                "error": float(np.abs(shares - 1 / len(shares)).mean()),
            }
        )
    table = pd.DataFrame(rows)
    if keys[-1] == "source" and len(keys) > 1 and len(table):
        table["last"] = table["source"] == "all"
        table = table.sort_values([*keys[:-1], "last"], kind="stable").drop(columns="last").reset_index(drop=True)
    return table
