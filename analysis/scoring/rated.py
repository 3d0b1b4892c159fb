"""The calibrated ratings behind the judgments: what another cut than the judgments' own needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.calibration.judgments import Judgments
from relstudy.calibration.ratings import read_ratings
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.probabilities import PAIR
from relstudy.common.tables import read_table

BESIDE = "calibrated.csv"
SAME = 1e-9
"""Shares of a few ratings that differ by more than rounding are of other ratings."""


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
    """

    pair: np.ndarray
    calibrated: np.ndarray
    rater: np.ndarray | None = None
    given: np.ndarray | None = None
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, ratings: pd.DataFrame, pairs: pd.DataFrame) -> PairRatings:
        """Ratings laid beside pairs (query_id, result_id); those of other pairs are left out.

        Parameters
        ----------
        ratings : query_id, result_id, calibrated; and rater_id, rating and weight where these are known
        """
        want = pd.MultiIndex.from_frame(pairs[PAIR].astype("str"))
        row = want.get_indexer(pd.MultiIndex.from_frame(ratings[PAIR].astype("str")))
        inside = row >= 0
        kept = ratings[inside]

        def known(name: str) -> np.ndarray | None:
            return pd.to_numeric(kept[name]).to_numpy(dtype=float) if name in kept else None

        rater = pd.factorize(kept["rater_id"], sort=True)[0].astype(np.int64) if "rater_id" in kept else None
        calibrated = kept["calibrated"].to_numpy(dtype=float)
        return cls(row[inside].astype(np.int64), calibrated, rater, known("rating"), known("weight"))

    def part(self, inside: np.ndarray) -> PairRatings:
        """The ratings of some of the pairs, bool [pairs]."""
        kept = inside[self.pair]
        rater, given, weight = (
            None if values is None else values[kept] for values in (self.rater, self.given, self.weight)
        )
        return PairRatings((np.cumsum(inside) - 1)[self.pair[kept]], self.calibrated[kept], rater, given, weight)

    def as_json(self) -> dict[str, list[float] | list[int] | None]:
        """As plain JSON, a list a field."""
        return {field.name: _listed(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, content: Mapping[str, list[float] | list[int] | None]) -> PairRatings:
        """From what `as_json` gives."""
        pair, calibrated, rater, given, weight = (content[field.name] for field in fields(cls))
        return cls(
            np.array(pair, dtype=np.int64),
            np.array(calibrated, dtype=float),
            None if rater is None else np.array(rater, dtype=np.int64),
            None if given is None else np.array(given, dtype=float),
            None if weight is None else np.array(weight, dtype=float),
        )

    def frame(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """The ratings as a table from which `of` gives the same again, with pairs (query_id, result_id) as they are."""
        columns = {"rater_id": self.rater, "rating": self.given, "calibrated": self.calibrated, "weight": self.weight}
        known = {name: values for name, values in columns.items() if values is not None}
        return pairs[PAIR].iloc[self.pair].reset_index(drop=True).assign(**known)

    def share_above(self, cut: float, pairs: int) -> np.ndarray:
        """Share of each pair's ratings above a cut, float [pairs], NaN where a pair has none.

        Examples
        --------
        >>> PairRatings(np.array([0, 0, 2]), np.array([4.0, 3.0, 5.0])).share_above(3.5, 3).tolist()
        [0.5, nan, 1.0]
        """
        many = np.bincount(self.pair, minlength=pairs)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.bincount(self.pair, self.calibrated > cut, pairs) / many)


def _listed(values: np.ndarray | None) -> list[float] | list[int] | None:
    return None if values is None else values.tolist()


def with_ratings(judgments: Judgments, ratings: pd.DataFrame, name: str) -> Judgments:
    """The judgments with the ratings that they were made of.

    Parameters
    ----------
    ratings : query_id, result_id, calibrated (float, NaN where undecided), one row per rating
    name : what messages call them

    Raises
    ------
    RelstudyError
        where they are not the ratings that these judgments were made of
    """
    decided = ratings[ratings["calibrated"].notna()].reset_index(drop=True)
    frame = judgments.frame
    beside = PairRatings.of(decided, frame)
    share, many = (
        beside.share_above(judgments.scale.scale.cut, len(frame)),
        np.bincount(beside.pair, minlength=len(frame)),
    )
    missing, other = int((many == 0).sum()), 0
    if "relevant_share" in frame:
        other = int((np.abs(frame["relevant_share"].to_numpy(dtype=float) - share) > SAME).sum())
    elif "n_ratings" in frame:
        other = int((pd.to_numeric(frame["n_ratings"], errors="coerce").to_numpy(dtype=float) != many).sum())
    if missing or other:
        what = f"have none of {missing}" if missing else f"differ from them in {other}"
        raise RelstudyError(
            f"{name}: these are not the ratings that the judgments were made of: they {what} of {len(frame)} pairs"
        )
    blank = ratings[ratings["calibrated"].isna()].drop_duplicates(PAIR)[PAIR].astype("str")
    answered = pd.MultiIndex.from_frame(blank).isin(pd.MultiIndex.from_frame(decided[PAIR].astype("str")))
    return replace(judgments, ratings=decided, undecided=blank[~answered].reset_index(drop=True))


def read_calibrated(source: str | os.PathLike[str] | Checked) -> pd.DataFrame:
    """Ratings with their calibrated values, as `relstudy calibrate` writes them, from a file or a table that was read.

    Raises
    ------
    RelstudyError
        where there is no column calibrated, or the table has other faults
    """
    table = read_table(source)
    frame = read_ratings(table, trust_raters=True, with_set_aside=True).frame
    if "calibrated" not in frame:
        raise RelstudyError(f"{table.file}: the column calibrated is needed; relstudy calibrate writes it")
    return frame.assign(calibrated=pd.to_numeric(frame["calibrated"], errors="coerce"))


def judgments_with_ratings(
    judgments: Judgments,
    path: str | os.PathLike[str],
    ratings: str | os.PathLike[str] | None = None,
    *,
    beside: Checked | None = None,
) -> Judgments:
    """The judgments of a file with the ratings that they were made of, where these are known.

    Parameters
    ----------
    path : the file of the judgments
    ratings : calibrated ratings; None takes calibrated.csv beside the judgments, where it is there. Where that is of
        other judgments it has no part, and a note says so
    beside : that calibrated.csv, where it was read already

    Raises
    ------
    RelstudyError
        where the ratings that are named are not those of the judgments
    """
    if ratings is not None:
        return with_ratings(judgments, read_calibrated(ratings), os.fspath(ratings))
    file = Path(path).parent / BESIDE
    if judgments.qrels or judgments.ratings is not None or not file.is_file():
        return judgments
    try:
        return with_ratings(judgments, read_calibrated(file if beside is None else beside), BESIDE)
    except RelstudyError as error:
        return replace(judgments, notes=(*judgments.notes, f"{error}; so that file has no part in this."))
