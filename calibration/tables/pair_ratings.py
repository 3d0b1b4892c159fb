"""The calibrated ratings behind the judgments: what another cut than the judgments' own needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from relstudy.common.probabilities import PAIR


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
        want = pd.MultiIndex.from_frame(pairs[PAIR].astype("str"))
        row = want.get_indexer(pd.MultiIndex.from_frame(ratings[PAIR].astype("str")))
        inside = row >= 0
        kept = ratings[inside]

        def known(name: str) -> np.ndarray | None:
            return pd.to_numeric(kept[name]).to_numpy(dtype=float) if name in kept else None

        rater = pd.factorize(kept["rater_id"], sort=True)[0].astype(np.int64) if "rater_id" in kept else None
        calibrated = kept["calibrated"].to_numpy(dtype=float)
        return cls(row[inside].astype(np.int64), calibrated, rater, known("rating"), known("weight"), known("care"))

    def part(self, inside: np.ndarray) -> PairRatings:
        """The ratings of some of the pairs, bool [pairs]."""
        kept = inside[self.pair]
        others = (self.rater, self.given, self.weight, self.care)
        rater, given, weight, care = (None if values is None else values[kept] for values in others)
        return PairRatings((np.cumsum(inside) - 1)[self.pair[kept]], self.calibrated[kept], rater, given, weight, care)

    def some(self, rows: np.ndarray) -> PairRatings:
        """Some of the ratings, bool [ratings], with their raters numbered anew; of the same pairs."""
        others = (self.given, self.weight, self.care)
        given, weight, care = (None if values is None else values[rows] for values in others)
        rater = None if self.rater is None else np.unique(self.rater[rows], return_inverse=True)[1].astype(np.int64)
        return PairRatings(self.pair[rows], self.calibrated[rows], rater, given, weight, care)

    def as_json(self) -> dict[str, list[float] | list[int] | None]:
        """As plain JSON, a list a field."""
        return {field.name: _listed(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, content: Mapping[str, list[float] | list[int] | None]) -> PairRatings:
        """From what `as_json` gives."""
        pair, calibrated, rater, given, weight, care = (content.get(field.name) for field in fields(cls))
        return cls(
            np.array(pair, dtype=np.int64),
            np.array(calibrated, dtype=float),
            None if rater is None else np.array(rater, dtype=np.int64),
            None if given is None else np.array(given, dtype=float),
            None if weight is None else np.array(weight, dtype=float),
            None if care is None else np.array(care, dtype=float),
        )

    def frame(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """The ratings as a table from which `of` gives the same again, with pairs (query_id, result_id) as they are."""
        columns = {"rater_id": self.rater, "rating": self.given, "calibrated": self.calibrated, "weight": self.weight}
        columns["care"] = self.care
        present = {name: values for name, values in columns.items() if values is not None}
        return pairs[PAIR].iloc[self.pair].reset_index(drop=True).assign(**present)

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


def _listed(values: np.ndarray | None) -> list[float] | list[int] | None:
    return None if values is None else values.tolist()
