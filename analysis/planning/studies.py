"""Simulated studies: what one yields, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from relstudy.analysis.planning.workload import workload
from relstudy.calibration.components import Variances
from relstudy.common.errors import RelstudyError


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """The yield of a simulated study: query numbers, judgments, weights, relevance, both systems' scores, and judgments
    as whole grades where they have any."""

    query: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    relevant: np.ndarray
    first: np.ndarray
    second: np.ndarray
    grades: np.ndarray | None = None


class StudySource(Protocol):
    """Where simulated studies come from."""

    @property
    def results(self) -> float:
        """Judged results per query."""

    @property
    def ratings_each(self) -> int:
        """Ratings a pair."""

    @property
    def piloted(self) -> int | None:
        """The number of pilot queries behind the studies; None where they rest on assumptions."""

    def draw(self, queries: int, random: np.random.Generator) -> SimulatedStudy:
        """A study of so many queries."""


@dataclass(frozen=True)
class Assumed:
    """Studies from assumed (or piloted) variances.

    Parameters
    ----------
    variances : standard deviations of queries, results, raters, noise
    correlation_first, correlation_second : of each system's scores with true relevance, -1 to 1
    alike : correlation of the two systems' errors; systems that err together are told apart more easily
    results : judged results per query
    ratings_each : ratings per pair, averaged
    base : base-block ratings per rater, which decide how much of the offset calibration leaves
    ratings_per_rater : ratings one person gives, which decides the number of raters
    relevant_share : share of judged pairs that are relevant
    weight_spread : coefficient of variation of the design weights; 0 where pairs are drawn uniformly
    """

    variances: Variances
    correlation_first: float
    correlation_second: float
    alike: float = 0.3
    results: float = 20
    ratings_each: int = 1
    base: int = 100
    ratings_per_rater: int = 300
    relevant_share: float = 0.2
    weight_spread: float = 0.0

    def __post_init__(self) -> None:
        for name in ("correlation_first", "correlation_second", "alike"):
            if not -1 < getattr(self, name) < 1:
                raise RelstudyError(f"{name.replace('_', ' ')} lies between -1 and 1, not at {getattr(self, name)}")
        if self.variances.query == 0 and self.variances.result == 0:
            raise RelstudyError("true relevance must vary between queries or between results")
        if not 0 < self.relevant_share < 1:
            raise RelstudyError("the share of relevant pairs lies between 0 and 1")
        if not 0 <= self.weight_spread < np.inf:
            raise RelstudyError(f"the spread of weights is a number from 0, not {self.weight_spread}")

    @property
    def piloted(self) -> int | None:
        """None: variances are taken for known."""
        return None

    def draw(self, queries: int, random: np.random.Generator) -> SimulatedStudy:
        number = queries * int(self.results)
        query = np.repeat(np.arange(queries), int(self.results))
        sd = self.variances
        truth = sd.query * random.normal(size=queries)[query] + sd.result * random.normal(size=number)
        spread = np.hypot(sd.query, sd.result)
        each = int(self.ratings_each)
        raters = workload(number, each, self.base, self.ratings_per_rater).raters
        left = sd.noise / np.sqrt(max(self.base, 1)) * random.normal(size=raters)
        noise = sd.noise * random.normal(size=(number, each)) + left[random.integers(0, raters, (number, each))]
        judgment = truth + noise.mean(axis=1)
        common, separate = np.sqrt(max(self.alike, 0.0)), np.sqrt(1 - abs(self.alike))
        shared = random.normal(size=number)
        scores = []
        for correlation, sign in ((self.correlation_first, 1.0), (self.correlation_second, np.sign(self.alike) or 1.0)):
            weight = common if self.alike >= 0 else np.sqrt(-self.alike)
            error = sign * weight * shared + separate * random.normal(size=number)
            scores.append(correlation * truth / spread + np.sqrt(1 - correlation**2) * error)
        cut = np.hypot(spread, sd.noise / np.sqrt(each)) * -ndtri(self.relevant_share)
        shape = np.sqrt(np.log1p(self.weight_spread**2))
        return SimulatedStudy(
            query, judgment, np.exp(shape * random.normal(size=number)), judgment > cut, scores[0], scores[1]
        )


@dataclass(frozen=True, eq=False)
class Piloted:
    """Studies drawn from a pilot: whole queries with replacement, with their judgments and both systems' scores; and
    what a person should know of the pilot, one sentence each."""

    query: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    relevant: np.ndarray
    first: np.ndarray
    second: np.ndarray
    ratings_each: int = 1
    notes: tuple[str, ...] = ()
    grades: np.ndarray | None = None

    @property
    def results(self) -> float:
        return len(self.query) / len(np.unique(self.query))

    @property
    def piloted(self) -> int | None:
        return len(np.unique(self.query))

    def draw(self, queries: int, random: np.random.Generator) -> SimulatedStudy:
        order = np.argsort(self.query, kind="stable")
        start = np.searchsorted(self.query[order], np.unique(self.query))
        length = np.diff(np.r_[start, len(order)])
        chosen = random.integers(0, len(start), queries)
        rows = np.concatenate([order[start[k] : start[k] + length[k]] for k in chosen])
        number = np.repeat(np.arange(queries), length[chosen])
        columns = (self.judgment, self.weight, self.relevant, self.first, self.second)
        grades = None if self.grades is None else self.grades[rows]
        judgment, weight, relevant, first, second = (column[rows] for column in columns)
        return SimulatedStudy(number, judgment, weight, relevant, first, second, grades)
