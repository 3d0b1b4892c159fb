"""Pairs of one table found in another by whole numbers: an index of two levels takes 3.5 times as long, and a text in
memory for each id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def pair_numbers(*tables: Sequence[Any]) -> list[np.ndarray]:
    """Number the pairs of several tables, the same pair by the same number in each.

    Parameters
    ----------
    tables : query_id and result_id of each, array-like [rows]

    Returns
    -------
    int64 [rows] of each table

    Examples
    --------
    >>> one, two = pair_numbers([["q", "q"], ["a", "b"]], [["q", "r"], ["b", "b"]])
    >>> (two[:, None] == one).tolist()
    [[False, True], [False, False]]
    """
    ends = np.cumsum([len(table[0]) for table in tables])
    number = np.zeros(ends[-1], np.int64)
    for columns in zip(*tables, strict=True):
        ids = pd.concat([pd.Series(column).astype("str") for column in columns], ignore_index=True)
        code, names = pd.factorize(ids)
        number = number * (len(names) + 1) + code
    return np.split(number, ends[:-1])


def rows_of(sought: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The row of each pair in another table that has none twice, int64 [sought], -1 where it is not there.

    Parameters
    ----------
    sought, among : as `pair_numbers` numbers them, int64 [rows]

    Examples
    --------
    >>> rows_of(np.array([7, 5, 9]), np.array([5, 7])).tolist()
    [1, 0, -1]
    """
    return np.asarray(pd.Index(among).get_indexer(pd.Index(sought)), dtype=np.int64)
