"""Facts of a verdict beyond the scores: the best that a system could reach, and the study's demands on people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.results import ScoreResult
from relstudy.calibration.reliability.ceiling import reachable_correlation
from relstudy.calibration.tables.judgments import Judgments

FEWEST_KNOWN = 0.5
"""Of the judged pairs, at least this share must have a standard error for the reachable correlation to be given."""


@dataclass(frozen=True)
class StudyFacts:
    """Facts of a study, each None where it is not known.

    Parameters
    ----------
    reachable : the correlation of a system that knew what the raters think of every pair, with pairs counted as they
        are where systems are compared
    ratings : ratings behind the judgments
    queries : queries that the study could have drawn
    """

    reachable: float | None = None
    ratings: int | None = None
    queries: int | None = None

    @classmethod
    def of(cls, judgments: Judgments, result: ScoreResult) -> StudyFacts:
        """The facts of the study whose judgments `result` was scored against."""
        frame, population = judgments.frame, result.population
        # columns that scoring does not need come as the file has them
        given = _numbers(frame["n_ratings"]) if "n_ratings" in frame else np.array([np.nan])
        ratings = int(given.sum()) if np.isfinite(given).all() else None
        queries = None
        if population.finite and population.lowest == population.highest:
            queries = round(int(result.pairs["queries"]) / population.lowest)
        return cls(_reachable(judgments, result), ratings, queries)


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)


def _reachable(judgments: Judgments, result: ScoreResult) -> float | None:
    frame = judgments.frame
    if "standard_error" not in frame or len(frame) != len(result.judgment):
        return None
    error = _numbers(frame["standard_error"])
    if np.isfinite(error).mean() < FEWEST_KNOWN:
        return None
    weight = result.weight if result.collection else np.ones(len(frame))
    return reachable_correlation(frame["judgment"].to_numpy(dtype=float), error, weight)
