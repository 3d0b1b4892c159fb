"""Normalise numeric ids, so that 7.0 matches 7."""

from __future__ import annotations

import numpy as np
import pandas as pd

MOST_EXACT = 2.0**53
"""Up to here a float can hold every whole number."""


def whole_ids(column: pd.Series) -> pd.Series:
    """A column of floats that are whole numbers as whole numbers; any other as it is.

    Whole-number ids become floats in a column that once had a gap. Floats may be categories too, or stand beside other
    things.

    Examples
    --------
    >>> whole_ids(pd.Series([7.0, "7", "x"])).tolist(), whole_ids(pd.Series([1.5, 2.0])).tolist()
    ([7, '7', 'x'], [1.5, 2.0])
    """
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.categories.dtype.kind == "f":
        column = column.astype(column.cat.categories.dtype)
    if column.dtype == object:
        return _whole_among_others(column)
    if column.dtype.kind != "f":
        return column
    # not by the column's own arithmetic, which Arrow's types lack
    values = column.to_numpy(dtype=float, na_value=np.nan)
    if not _all_whole(values):
        return column
    return pd.Series(values, index=column.index, name=column.name).astype("Int64")


def _whole_among_others(column: pd.Series) -> pd.Series:
    is_float = column.map(lambda value: isinstance(value, float | np.floating)).to_numpy(dtype=bool) & column.notna()
    if not is_float.any() or not _all_whole(column[is_float].to_numpy(dtype=float)):
        return column
    same = [int(value) if whole else value for value, whole in zip(column, is_float, strict=True)]
    return pd.Series(same, index=column.index, name=column.name, dtype=object)


def _all_whole(values: np.ndarray) -> bool:
    given = values[~np.isnan(values)]
    finite = np.isfinite(given).all()
    return bool(finite and ((given % 1 == 0) & (np.abs(given) < MOST_EXACT)).all())
