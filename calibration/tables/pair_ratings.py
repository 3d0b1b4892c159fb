"""The calibrated ratings behind the judgments: what another cut than the judgments' own needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd

from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pair_numbers import pair_numbers, rows_of

NUMBERED = {"pair": np.int64, "rater": np.int64}
COLUMNS = {"rater": "rater_id", "given": "rating"}
"""Names of fields in a table of ratings, where they are other ones."""


@dataclass(frozen=True, eq=False)
class PairRatings:
    """Calibrated ratings of judged pairs, one a row.

    Parameters
    ----------
    pair : int64 [ratings], each rating's row of the judged pairs
    calibrated : float [ratings], on the judgments' scale
    rater : int64 [ratings], each rating's rater, from 0; None where raters are not named
    given : float [ratings], the ratings as they were given; None where only the calibrated ones are known
    weight : float [ratings], above 0, what each counts in its pair's judgment; None: alike
    care : float [ratings], above 0 to 1, what each counts in its pair's share of ratings; None: alike
    """

    pair: np.ndarray
    calibrated: np.ndarray
    rater: np.ndarray | None = None
    given: np.ndarray | None = None
    weight: np.ndarray | None = None
    care: np.ndarray | None = None

    @classmethod
    def of(cls, ratings: pd.DataFrame, pairs: pd.DataFrame) -> PairRatings:
        """Ratings laid beside pairs (query_id, result_id); those of other pairs are left out.

        Parameters
        ----------
        ratings : query_id, result_id, calibrated; and rater_id, rating, weight and care where these are known
        """
        of_ratings, of_pairs = pair_numbers(*([table[name] for name in PAIR] for table in (ratings, pairs)))
        row = rows_of(of_ratings, of_pairs)
        inside = row >= 0
        kept = ratings[inside]

        def known(name: str) -> np.ndarray | None:
            return pd.to_numeric(kept[name]).to_numpy(dtype=float) if name in kept else None

        rater = pd.factorize(kept["rater_id"], sort=True)[0].astype(np.int64) if "rater_id" in kept else None
        calibrated = kept["calibrated"].to_numpy(dtype=float)
        return cls(row[inside], calibrated, rater, known("rating"), known("weight"), known("care"))

    def part(self, inside: np.ndarray) -> PairRatings:
        """The ratings of some of the pairs, bool [pairs], which are numbered again; their raters are not."""
        kept = self.rows(inside[self.pair])
        return replace(kept, pair=(np.cumsum(inside) - 1)[kept.pair])

    def some(self, rows: np.ndarray) -> PairRatings:
        """Some of the ratings, bool [ratings], with their raters numbered again; of the same pairs."""
        kept = self.rows(rows)
        if kept.rater is None:
            return kept
        return replace(kept, rater=np.unique(kept.rater, return_inverse=True)[1].astype(np.int64))

    def rows(self, rows: np.ndarray) -> PairRatings:
        """Some of the ratings, or all in another order, bool or int64 [ratings]."""
        return PairRatings(**{name: values[rows] for name, values in self._known().items()})

    def _known(self) -> dict[str, np.ndarray]:
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: values for name, values in columns.items() if values is not None}

    def as_json(self) -> dict[str, list[float] | list[int] | None]:
        """As plain JSON, a list a field; None for what is not known."""
        known = {name: values.tolist() for name, values in self._known().items()}
        return {field.name: known.get(field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, content: Mapping[str, list[float] | list[int] | None]) -> PairRatings:
        """From what `as_json` gives."""
        known = {
            name: values for name in (field.name for field in fields(cls)) if (values := content.get(name)) is not None
        }
        return cls(**{name: np.array(values, NUMBERED.get(name, float)) for name, values in known.items()})

    def frame(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """The ratings as a table from which `of` gives the same again, with pairs (query_id, result_id) as they are."""
        columns = {COLUMNS.get(name, name): values for name, values in self._known().items() if name != "pair"}
        return pairs[PAIR].iloc[self.pair].reset_index(drop=True).assign(**columns)

    def share_above(self, cut: float, pairs: int) -> np.ndarray:
        """Share of each pair's ratings above a cut, each counted as far as its rater looked, float [pairs], NaN where a
        pair has none.

        Examples
        --------
        >>> PairRatings(np.array([0, 0, 2]), np.array([4.0, 3.0, 5.0])).share_above(3.5, 3).tolist()
        [0.5, nan, 1.0]
        """
        counts = np.ones(len(self.pair)) if self.care is None else self.care
        with np.errstate(invalid="ignore"):
            above = np.bincount(self.pair, counts * (self.calibrated > cut), pairs)
            return np.asarray(above / np.bincount(self.pair, counts, pairs))
