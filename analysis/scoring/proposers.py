"""Which systems proposed the judged pairs, from the column `source` of the judgments or of the pairs beside them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.calibration.judgments import Judgments
from relstudy.common.errors import RelstudyError
from relstudy.common.pairs_table import read_pairs, source_members
from relstudy.common.probabilities import PAIR

BESIDE = "pairs.csv"


def with_proposers(
    judgments: Judgments, path: str | os.PathLike[str] | None = None, pairs: pd.DataFrame | None = None
) -> Judgments:
    """The judgments with the systems that proposed any of their pairs, where that is known.

    Parameters
    ----------
    path : the file of the judgments, or None where there is none; pairs.csv beside it is read. Where that has faults,
        a note of the judgments says so
    pairs : those of that pairs.csv, where it was read already
    """
    if "source" in judgments.frame:
        return _named(judgments, judgments.frame["source"])
    if judgments.qrels:
        return judgments
    if pairs is None:
        file = None if path is None else Path(path).parent / BESIDE
        if file is None or not file.is_file():
            return judgments
        try:
            pairs = read_pairs(file)
        except RelstudyError as error:
            note = f"Who proposed the pairs is not known, since {BESIDE} cannot be read: {error}"
            return replace(judgments, notes=(*judgments.notes, note))
    judged = pd.MultiIndex.from_frame(judgments.frame[PAIR].astype("str"))
    return _named(judgments, pairs.loc[pd.MultiIndex.from_frame(pairs[PAIR]).isin(judged), "source"])


def _named(judgments: Judgments, sources: pd.Series) -> Judgments:
    members = source_members(sources.dropna().astype("str"))
    return replace(judgments, proposers=tuple(members)) if members else judgments
