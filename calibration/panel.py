"""Ratings as arrays: who rated what, as codes, so that no step loops over raters or pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.sampling.response_rates import FROM_DESIGN
from relstudy.common.tables.checked_table import stripped
from relstudy.common.tables.meaning.inclusion_probabilities import PROBABILITIES

QUERY = "query_id"


class Facet(NamedTuple):
    """What a rating is of beside its pair and rater: its level of each row, int array (N), and the levels."""

    code: np.ndarray
    levels: pd.Index


@dataclass(frozen=True)
class Panel:
    """Ratings of R raters on P pairs, N rows.

    Parameters
    ----------
    rater, pair : int arrays (N), codes in 0..R-1 and 0..P-1
    rating : float array (N), NaN = undecided
    base : bool array (P), whether a pair belongs to the base block
    raters : the R rater ids
    pairs : DataFrame with P rows: query_id, result_id and, where known, pair_id and the probabilities with which the
        pair and its query were drawn
    low, high : ends of the scale
    facets : those that a method was asked to take, by their columns
    """

    rater: np.ndarray
    pair: np.ndarray
    rating: np.ndarray
    base: np.ndarray
    raters: pd.Index
    pairs: pd.DataFrame
    low: float
    high: float
    facets: Mapping[str, Facet] = field(default_factory=dict)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, low: float | None = None, high: float | None = None, facets: Sequence[str] = ()
    ) -> Panel:
        """From rows with rater_id, rating, and query_id with result_id or pair_id; `base` (bool a row) optional.

        Without a `base` column the base block is the pairs that every rater rated, however few.

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": ["a", "b", "a"], "pair_id": ["p", "p", "q"], "rating": [1, 2, 5]})
        >>> panel = Panel.from_frame(frame)
        >>> panel.n_raters, panel.n_pairs, panel.base.tolist()
        (2, 2, [True, False])
        """
        rater, raters = pd.factorize(frame["rater_id"])
        rows, pair = _pair_codes(frame)
        columns = [name for name in ("pair_id", "query_id", "result_id", *PROBABILITIES, *FROM_DESIGN) if name in frame]
        pairs = frame[columns].iloc[rows].reset_index(drop=True)
        rating = frame["rating"].to_numpy(dtype=float)
        if "base" in frame:
            base = frame["base"].to_numpy(dtype=bool)[rows]
        else:
            base = np.bincount(pair, minlength=len(pairs)) == len(raters)
        return cls(
            rater=rater,
            pair=pair,
            rating=rating,
            base=base,
            raters=pd.Index(raters),
            pairs=pairs,
            low=float(np.nanmin(rating)) if low is None else low,
            high=float(np.nanmax(rating)) if high is None else high,
            facets={name: _facet(frame, name) for name in facets},
        )

    @property
    def n_raters(self) -> int:
        return len(self.raters)

    @property
    def n_pairs(self) -> int:
        return len(self.pairs)

    def keep(self, rows: np.ndarray) -> Panel:
        """The same raters and pairs with only some rows (bool array, N, or row numbers)."""
        if rows.dtype == bool and rows.all():
            return self
        facets = {name: Facet(facet.code[rows], facet.levels) for name, facet in self.facets.items()}
        return replace(self, rater=self.rater[rows], pair=self.pair[rows], rating=self.rating[rows], facets=facets)

    def decided(self) -> Panel:
        """Without the undecided rows."""
        blank = np.isnan(self.rating)
        return self.keep(~blank) if blank.any() else self

    def with_rating(self, rating: np.ndarray) -> Panel:
        """The same rows with other values."""
        return replace(self, rating=rating)

    def by_rater(self, values: np.ndarray | None = None) -> np.ndarray:
        """Sum of `values` (a row each; None counts rows) over each rater, float array (R)."""
        return np.bincount(self.rater, values, self.n_raters).astype(float, copy=False)

    def by_pair(self, values: np.ndarray | None = None) -> np.ndarray:
        """Sum of `values` (a row each; None counts rows) over each pair, float array (P)."""
        return np.bincount(self.pair, values, self.n_pairs).astype(float, copy=False)

    def rater_means(self, values: np.ndarray) -> np.ndarray:
        """Mean of `values` (a row each) over each rater's rows, 0 if there are none, float array (R)."""
        return self.by_rater(values) / np.maximum(self.by_rater(), 1)

    def pair_means(self, values: np.ndarray) -> np.ndarray:
        """Mean of `values` (a row each) over each pair's rows, 0 if there are none, float array (P)."""
        return self.by_pair(values) / np.maximum(self.by_pair(), 1)


NO_FACET = {
    "rater_id": "the raters, who have severities with or without facets",
    "rating": "what the ratings say",
    "calibrated": "what the ratings say",
    "pair_id": "the pairs, whose worth is what is looked for",
    "base": "a property of pairs",
}
"""Columns that are no facet, and what they are."""


def _facet(frame: pd.DataFrame, name: str) -> Facet:
    """A column as a facet: every rating has a level of it, there are two, and twice as many ratings as levels."""
    if name in NO_FACET:
        raise RelstudyError(f"{name} is not a facet: its levels are {NO_FACET[name]}")
    if name not in frame:
        have = ", ".join(str(column) for column in frame if column not in (*NO_FACET, "result_id"))
        raise RelstudyError(f"the ratings have no column {name!r} for a facet; there are: {have}")
    said = stripped(frame[name])
    if (said == "").any():
        raise RelstudyError(
            f"{name}: {count_of(int((said == '').sum()), 'rating')} without one, and a facet has one for each"
        )
    code, levels = pd.factorize(said)
    if len(levels) < 2:
        raise RelstudyError(f"{name}: all ratings have the same, and a facet has two or more")
    if 2 * len(levels) > len(frame):
        raise RelstudyError(
            f"{name} is not a facet: it has {len(levels):,} levels for {count_of(len(frame), 'rating')}, and each "
            "needs several"
        )
    for columns, like in ((["rating"], "rating"), (["rater_id"], "rater_id"), ([QUERY, "result_id"], "pair_id")):
        if set(columns) <= set(frame) and _same_groups(code, frame[columns]):
            raise RelstudyError(f"{name} is not a facet: its levels are {NO_FACET[like]}")
    return Facet(code, pd.Index(levels))


def _same_groups(code: np.ndarray, columns: pd.DataFrame) -> bool:
    """True where rows of one code are those of one value of the columns, and no others."""
    other = columns.groupby(list(columns), sort=False, dropna=False).ngroup().to_numpy()
    both = len(np.unique(code.astype(np.int64) * (int(other.max(initial=0)) + 1) + other))
    return both == len(np.unique(code)) == len(np.unique(other))


def _pair_codes(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each pair, and each row's pair code in order of first appearance."""
    if "query_id" in frame and "result_id" in frame:
        query, queries = pd.factorize(frame["query_id"])
        result, results = pd.factorize(frame["result_id"])
        if len(queries) * len(results) > np.iinfo(np.int64).max:  # pragma: no cover
            raise OverflowError("more queries times results than 64 bits can number")
        code, _ = pd.factorize(query.astype(np.int64) * len(results) + result)
    else:
        code, _ = pd.factorize(frame["pair_id"])
    code = code.astype(np.intp, copy=False)
    rows = np.empty(int(code.max()) + 1 if len(code) else 0, dtype=np.intp)
    rows[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return rows, code
