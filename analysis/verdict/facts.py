"""Facts of a verdict beyond the scores: the best that a system could reach, and the study's demands on people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from relstudy.analysis.resampling.group_sequential import error_of_looks
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.calibration.reliability.ceiling import reachable_correlation
from relstudy.calibration.tables.decision import Rule
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.wording import percent
from relstudy.common.sampling.response_rates import DRAWN

FEWEST_KNOWN = 0.5
"""Of the judged pairs, at least this share must have a standard error for the reachable correlation to be given."""
HIGHEST_LEVEL = 0.999999
"""Of the intervals at a look that may spend next to nothing."""
MOST_UNDECIDED = 0.05
"""Of the pairs drawn, so many without a judgment may be such as people could not decide, where that is not known."""


@dataclass(frozen=True)
class Look:
    """A look at the answer of a study that plans its looks.

    Parameters
    ----------
    planned : how many looks are planned
    answers, wanted : that pairs outside the base block have, and are to have
    error, rule : of claims over all looks, two-sided, and how it is spent
    fractions : of the answers wanted, at each look up to this one, rising
    bounds : of the statistic at these looks, in standard errors
    blind : whether figures are withheld until the study can stop
    closed : whether no further answers come
    """

    planned: int
    answers: int
    wanted: int
    error: float
    rule: Rule
    fractions: tuple[float, ...]
    bounds: tuple[float, ...]
    blind: bool = False
    closed: bool = False

    @property
    def number(self) -> int:
        """Which look it is, from 1."""
        return len(self.bounds)

    @property
    def is_last(self) -> bool:
        """True once every pair has its answers."""
        return self.answers >= self.wanted

    @property
    def is_over(self) -> bool:
        """True where no further answers come."""
        return self.closed or self.is_last

    @property
    def level(self) -> float:
        """The level at which the bound is the end of an interval, rounded up."""
        level = float(1 - 2 * ndtr(-self.bounds[-1]))
        digits = 4 if level < 0.999 else 6
        return min(float(np.ceil(round(level * 10**digits, 3)) / 10**digits), HIGHEST_LEVEL)

    @property
    def name(self) -> str:
        """Which look of how many it is, in words."""
        return f"look {self.number} of {self.planned}" if self.number <= self.planned else f"look {self.number}"

    def withheld(self, settled: bool) -> str | None:
        """Why figures are not shown yet, in a sentence; None where they may be.

        Parameters
        ----------
        settled : whether the study can stop
        """
        if not self.blind or settled or self.is_over:
            return None
        return (
            f"Figures are withheld until the study can stop (looks.blind): {self.name}, "
            f"{percent(self.fractions[-1])} of the answers wanted are in."
        )

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "number": self.number,
            "planned": self.planned,
            "answers": self.answers,
            "wanted": self.wanted,
            "fraction": round(self.fractions[-1], 6),
            "bound": round(self.bounds[-1], 6),
            "level": self.level,
            "error": self.error,
        }


@dataclass(frozen=True)
class StudyFacts:
    """Facts of a study, each None where it is not known.

    Parameters
    ----------
    reachable : the correlation of a system that knew what the raters think of every pair, with pairs counted as they
        are where systems are compared
    ratings : ratings behind the judgments
    ratings_each : ratings per judgment, on average
    queries : queries that the study could have drawn
    judged, drawn : pairs that people have judged, or could not decide, of those drawn; None where all are, or unknown
    looks : how many ratings there were at each look at the answer while they came in, this time included; empty where
        looks are not counted
    look : this one, where looks are planned; None otherwise
    closed : whether no further ratings come
    on_raters : what the raters say against the verdict, one sentence each
    """

    reachable: float | None = None
    ratings: int | None = None
    ratings_each: float | None = None
    queries: int | None = None
    judged: int | None = None
    drawn: int | None = None
    looks: tuple[int, ...] = ()
    look: Look | None = None
    closed: bool = False
    on_raters: tuple[str, ...] = ()

    @property
    def so_far(self) -> str:
        """The beginning of a headline while pairs are not judged; empty once all are."""
        if self.look is not None:
            closed = "" if self.look.is_last else f"Closed at {self.look.name}: "
            return closed if self.look.is_over else f"So far, at {self.look.name}: "
        if self.judged is None or self.drawn is None:
            return ""
        return f"{'Closed' if self.closed else 'So far,'} with {self.judged:,} of {self.drawn:,} pairs judged: "

    def price_of_looks(self, level: float) -> str | None:
        """What looks that nobody planned do to the error, in a sentence; None for one look.

        Parameters
        ----------
        level : of the intervals
        """
        if len(self.looks) < 2 or self.look is not None:
            return None
        stated, most = round(1 - level, 6), max(self.looks)
        error = percent(error_of_looks([each / most for each in sorted(set(self.looks))], stated))
        rises = f"about {error}, not {percent(stated)}" if error != percent(stated) else f"still about {error}"
        return f"Looked at {len(self.looks)} times while ratings came in: the error of this statement is {rises}."

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
        each = None if ratings is None else ratings / len(frame)
        return cls(_reachable(judgments, result), ratings, each, queries, *_unfinished(judgments))


def _unfinished(judgments: Judgments) -> tuple[int, int] | tuple[None, None]:
    """Pairs that are judged or undecided, and pairs drawn, where some are neither."""
    frame = judgments.frame
    drawn = _numbers(frame[DRAWN]) if DRAWN in frame else np.array([np.nan])
    if not np.isfinite(drawn).any():
        return None, None
    most, answered = int(np.nanmax(drawn)), len(frame) + judgments.outside_pool
    if judgments.undecided is not None:
        answered += len(judgments.undecided)
    elif answered >= (1 - MOST_UNDECIDED) * most:
        return None, None
    return (answered, most) if answered < most else (None, None)


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
