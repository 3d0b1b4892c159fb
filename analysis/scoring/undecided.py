"""Pairs that people saw and nobody could decide, by each system's score: they are seldom a random part."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.calibration.judgments import Judgments
from relstudy.common.probabilities import PAIR
from relstudy.common.wording import percent

THIRDS = ("best", "middle", "last")


def undecided_notes(tables: Iterable[pd.DataFrame], candidates: Iterable[Candidate], judgments: Judgments) -> list[str]:
    """The share of undecided pairs in each third by score, as a sentence; nothing where none is undecided.

    Parameters
    ----------
    tables : system, query_id, result_id, score: everything that the systems scored; a system that scores none of the
        undecided pairs is not named
    candidates : the systems, with their scores of the judged pairs
    judgments : with the pairs that nobody could decide, where they are known
    """
    blank = judgments.undecided
    if blank is None or blank.empty:
        return []
    wanted = blank[PAIR].astype("str")
    known = {candidate.name: candidate for candidate in candidates}
    said = []
    for scores in tables:
        for name, rows in scores.groupby("system", sort=False):
            candidate = known.get(str(name))
            if candidate is None:
                continue
            rated = rows.assign(**{column: rows[column].astype("str") for column in PAIR}).merge(wanted, on=PAIR)
            score = np.r_[candidate.given, rated["score"].to_numpy(dtype=float)]
            undecided = np.arange(len(score)) >= len(candidate.given)
            if not np.isfinite(score[undecided]).any():
                continue
            shares = shares_by_third(score if candidate.direction.higher else -score, undecided)
            if shares is not None:
                said.append(f"{name} " + ", ".join(f"{percent(share, 1)}" for share in shares))
    by_score = f" (in the best, middle and last third by score: {'; '.join(said)})" if said else ""
    have = "is undecided and has" if len(blank) == 1 else "are undecided and have"
    return [f"{len(blank)} of {len(judgments) + len(blank)} pairs that people saw {have} no part{by_score}."]


def shares_by_third(score: np.ndarray, undecided: np.ndarray) -> list[float] | None:
    """The share of undecided pairs in the thirds of descending score; None with fewer than three scored pairs.

    Parameters
    ----------
    score : float [pairs], higher is better, NaN where unscored; equal scores fall into one third
    undecided : bool [pairs]

    Examples
    --------
    >>> shares_by_third(np.array([9.0, 8, 7, 6, 5, 4]), np.array([True, False, True, True, False, False]))
    [0.5, 1.0, 0.0]
    """
    known = np.isfinite(score)
    if known.sum() < len(THIRDS):
        return None
    score, undecided = score[known], undecided[known]
    cuts = np.sort(score)[::-1][[len(score) // 3, 2 * len(score) // 3]]
    third = (score <= cuts[0]).astype(int) + (score <= cuts[1])
    return [float(undecided[third == number].mean()) if (third == number).any() else 0.0 for number in range(3)]
