"""What the paper's page reads beside the study's tables: other interfaces' ratings, and the collection's pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.analysis.report.inputs import PageTables
from relstudy.calibration.ratings import Ratings, read_ratings
from relstudy.common.errors import RelstudyError
from relstudy.common.probabilities import PAIR


def interfaces_of(tables: PageTables, others: Sequence[Path] = ()) -> dict[str, Ratings]:
    """Calibrated ratings by interface: the study's own, apart by image and text queries, then those of other folders.

    Parameters
    ----------
    others : folders that `relstudy calibrate` wrote for other interfaces, each with calibrated.csv

    Raises
    ------
    RelstudyError
        where one of the folders has none
    """
    named: list[tuple[str, Ratings]] = []
    if tables.ratings is not None:
        named += _by_paradigm(tables.ratings, tables.pairs)
    for folder in others:
        file = folder / "calibrated.csv"
        if not file.is_file():
            raise RelstudyError(f"{file}: there is no such file; `relstudy calibrate` of that interface writes it")
        ratings = read_ratings(file, trust_raters=True)
        ratings.frame["calibrated"] = pd.to_numeric(ratings.frame["calibrated"], errors="coerce")
        scale = ratings.scale.scale.name
        named.append((scale if folder.name == scale else f"{folder.name}, {scale}", ratings))
    return _apart(named)


def _by_paradigm(ratings: Ratings, pairs: pd.DataFrame | None) -> list[tuple[str, Ratings]]:
    scale = ratings.scale.scale.name
    if pairs is None:
        return [(scale, ratings)]
    paradigm = ratings.frame[PAIR].merge(pairs.drop_duplicates(PAIR)[[*PAIR, "paradigm"]], on=PAIR, how="left")
    words = paradigm["paradigm"].fillna("").to_numpy()
    paradigms = [word for word in ("image", "text") if (words == word).any()]
    if not paradigms:
        return [(scale, ratings)]
    return [
        (f"query by {word}, {scale}", replace(ratings, frame=ratings.frame[words == word].reset_index(drop=True)))
        for word in paradigms
    ]


def _apart(named: Sequence[tuple[str, Ratings]]) -> dict[str, Ratings]:
    apart: dict[str, Ratings] = {}
    for name, ratings in named:
        number = 1
        while (unused := name if number == 1 else f"{name} ({number})") in apart:
            number += 1
        apart[unused] = ratings
    return apart
