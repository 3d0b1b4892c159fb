"""How large a study must be to tell two systems apart, by simulating studies and testing each as `score` would.

A simulated study draws queries, results with a true relevance, ratings with noise, and two systems' scores; then it
runs the very estimators and the very test that a real comparison runs. Power is the share of studies in which the
better system is found to be better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import optimize, stats

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, query_counts
from relstudy.analysis.scoring.comparison import p_value
from relstudy.analysis.scoring.results import BETTER, INDICES
from relstudy.calibration.components import Variances
from relstudy.common.errors import RelstudyError

BOOTSTRAP = 200
FIRST_LOOK = 40
MOST_QUERIES = 20_000


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """What a simulated study yields: query numbers, judgments, weights, whether relevant, both systems' scores."""

    query: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    relevant: np.ndarray
    first: np.ndarray
    second: np.ndarray


class StudySource(Protocol):
    """Where simulated studies come from."""

    @property
    def results(self) -> float:
        """Judged results a query."""

    @property
    def ratings_each(self) -> float:
        """Ratings a pair."""

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
    results : judged results a query
    ratings_each : ratings a pair, averaged
    base : base-block ratings a rater, which decide how much of the offset calibration leaves
    ratings_per_rater : ratings one person gives, which decides the number of raters
    relevant_share : share of judged pairs that are relevant
    weight_spread : coefficient of variation of the design weights; 0 where pairs are drawn uniformly
    """

    variances: Variances
    correlation_first: float
    correlation_second: float
    alike: float = 0.3
    results: float = 20
    ratings_each: float = 1
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

    def draw(self, queries: int, random: np.random.Generator) -> SimulatedStudy:
        number = queries * int(self.results)
        query = np.repeat(np.arange(queries), int(self.results))
        sd = self.variances
        truth = sd.query * random.normal(size=queries)[query] + sd.result * random.normal(size=number)
        spread = np.hypot(sd.query, sd.result)
        each = int(self.ratings_each)
        raters = max(1, -(-number * each // self.ratings_per_rater))
        left = sd.noise / np.sqrt(self.base) * random.normal(size=raters)
        noise = sd.noise * random.normal(size=(number, each)) + left[random.integers(0, raters, (number, each))]
        judgment = truth + noise.mean(axis=1)
        common, separate = np.sqrt(max(self.alike, 0.0)), np.sqrt(1 - abs(self.alike))
        shared = random.normal(size=number)
        scores = []
        for correlation, sign in ((self.correlation_first, 1.0), (self.correlation_second, np.sign(self.alike) or 1.0)):
            weight = common if self.alike >= 0 else np.sqrt(-self.alike)
            error = sign * weight * shared + separate * random.normal(size=number)
            scores.append(correlation * truth / spread + np.sqrt(1 - correlation**2) * error)
        cut = np.hypot(spread, sd.noise / np.sqrt(each)) * stats.norm.isf(self.relevant_share)
        shape = np.sqrt(np.log1p(self.weight_spread**2))
        return SimulatedStudy(
            query, judgment, np.exp(shape * random.normal(size=number)), judgment > cut, scores[0], scores[1]
        )


@dataclass(frozen=True, eq=False)
class Piloted:
    """Studies drawn from a pilot: whole queries with replacement, with their judgments and both systems' scores."""

    query: np.ndarray
    judgment: np.ndarray
    weight: np.ndarray
    relevant: np.ndarray
    first: np.ndarray
    second: np.ndarray
    ratings_each: float = 1

    @property
    def results(self) -> float:
        return len(self.query) / len(np.unique(self.query))

    def draw(self, queries: int, random: np.random.Generator) -> SimulatedStudy:
        order = np.argsort(self.query, kind="stable")
        start = np.searchsorted(self.query[order], np.unique(self.query))
        length = np.diff(np.r_[start, len(order)])
        chosen = random.integers(0, len(start), queries)
        rows = np.concatenate([order[start[k] : start[k] + length[k]] for k in chosen])
        number = np.repeat(np.arange(queries), length[chosen])
        columns = (self.judgment, self.weight, self.relevant, self.first, self.second)
        return SimulatedStudy(number, *(column[rows] for column in columns))


@dataclass(frozen=True)
class PowerPoint:
    """Share of `studies` simulated studies that found the better system, and its standard error."""

    queries: int
    power: float
    studies: int

    @property
    def error(self) -> float:
        share = min(max(self.power, 0.5 / self.studies), 1 - 0.5 / self.studies)
        return float(np.sqrt(share * (1 - share) / self.studies))

    def as_json(self) -> dict[str, Any]:
        return {"queries": self.queries, "power": self.power, "standard_error": self.error, "studies": self.studies}


@dataclass(frozen=True)
class StudyPlan:
    """The size wanted, and what it rests on.

    Parameters
    ----------
    index, power, alpha : what is tested, and how surely
    difference : mean difference of the index in the simulated studies, first minus second
    steepness : a in power = Phi(a sqrt(queries) - z), fitted to the points; None where no size is enough
    queries, pairs, ratings, raters : what is needed; None where no size up to the limit is enough
    points : the simulated points
    """

    index: str
    power: float
    alpha: float
    difference: float
    steepness: float
    queries: int | None
    pairs: int | None
    ratings: int | None
    raters: int | None
    points: tuple[PowerPoint, ...]

    def power_at(self, queries: np.ndarray | float) -> np.ndarray:
        """The fitted power at so many queries."""
        curve: np.ndarray = stats.norm.cdf(
            self.steepness * np.sqrt(np.asarray(queries, dtype=float)) - stats.norm.isf(self.alpha / 2)
        )
        return curve

    def sentence(self) -> str:
        """The answer in words."""
        index = self.index.replace("_", " ")
        if self.queries is None:
            return (
                f"A difference of {abs(self.difference):.3f} in {index} cannot be found with power {self.power:g} by "
                "any "
                f"study of up to {MOST_QUERIES:,} queries."
            )
        return (
            f"To tell two systems that differ by {abs(self.difference):.3f} in {index} apart with power {self.power:g} "
            f"(two-sided test at {self.alpha:g}), plan {self.queries:,} queries, that is {self.pairs:,} pairs and "
            f"{self.ratings:,} ratings by {self.raters:,} {'rater' if self.raters == 1 else 'raters'}."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "power": self.power,
            "alpha": self.alpha,
            "difference": self.difference,
            "queries": self.queries,
            "pairs": self.pairs,
            "ratings": self.ratings,
            "raters": self.raters,
            "points": [point.as_json() for point in self.points],
            "sentence": self.sentence(),
        }


def difference_of(study: SimulatedStudy, index: str, seed: int) -> tuple[BootstrapStatistic, int]:
    """First minus second in an index, by the estimators of `relstudy score`, and the number of queries."""
    queries = int(study.query.max()) + 1
    counts = query_counts(queries, BOOTSTRAP, seed)
    if index == "pearson":
        judgments = CorrelationBootstrap(study.query, study.judgment, counts)
        first, second = (judgments.correlate(s, ("pearson",))["pearson"] for s in (study.first, study.second))
    else:
        retrieval = Retrieval(study.query, study.relevant, counts)
        first, second = (retrieval.indices(s, study.weight)[index] for s in (study.first, study.second))
    return first - second, queries


@dataclass(frozen=True)
class PlanOptions:
    """What a study shall tell apart, how surely, and how that is simulated.

    Parameters
    ----------
    index : pearson, average_precision or normalised_rank
    power : chance to find the difference, between 0 and 1
    alpha : chance of a false alarm, two-sided, between 0 and 1
    studies : simulated studies at each number of queries
    seed : of the simulation
    ratings_per_rater : ratings a person gives, which decides the number of raters
    """

    index: str = "pearson"
    power: float = 0.8
    alpha: float = 0.05
    studies: int = 200
    seed: int = 0
    ratings_per_rater: int = 300

    def __post_init__(self) -> None:
        if self.index not in INDICES:
            raise RelstudyError(f"the index is one of {', '.join(INDICES)}; not {self.index!r}")
        if not (0 < self.power < 1 and 0 < self.alpha < 1):
            raise RelstudyError("power and alpha lie between 0 and 1")


DEFAULT = PlanOptions()
Progress = Callable[[Sequence[int], str], Iterable[int]]


def simulate(
    source: StudySource, queries: int, options: PlanOptions = DEFAULT, progress: Progress | None = None
) -> tuple[PowerPoint, np.ndarray]:
    """Power at a number of queries, and each study's difference, float64 [studies] (NaN where undefined).

    A study counts where the test is significant and points to the system that is better on average.
    """
    differences, significant = np.full(options.studies, np.nan), np.zeros(options.studies, dtype=bool)
    numbers = range(options.studies)
    for number in progress(numbers, f"studies of {queries} queries") if progress else numbers:
        random = np.random.default_rng([options.seed, queries, number])
        statistic, clusters = difference_of(source.draw(queries, random), options.index, number)
        differences[number] = statistic.value
        p = p_value(statistic, clusters)
        significant[number] = np.isfinite(p) and p < options.alpha
    direction = np.sign(np.nanmean(differences)) if np.isfinite(differences).any() else 0.0
    hits = significant & (np.sign(differences) == direction)
    return PowerPoint(queries, float(hits.mean()), options.studies), differences


def plan_study(
    source: StudySource,
    options: PlanOptions = DEFAULT,
    sizes: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> StudyPlan:
    """Find the number of queries that reaches a power.

    A first look at 40 queries guesses where power lies; sizes around the guess are then simulated, and the number
    needed is read from power = Phi(a sqrt(n) - z) fitted to all points by maximum likelihood.

    Parameters
    ----------
    source : `Assumed` or `Piloted`
    sizes : numbers of queries to simulate; None chooses them
    progress : may show how far a size is: takes the studies' numbers and what they are, and gives the numbers back
    """
    index, power, alpha = options.index, options.power, options.alpha
    z = stats.norm.isf(alpha / 2)
    if sizes is None:
        look, differences = simulate(source, FIRST_LOOK, options, progress)
        finite = differences[np.isfinite(differences)]
        spread = float(np.std(finite, ddof=1)) if len(finite) > 1 else np.inf
        guess = abs(float(finite.mean())) / spread / np.sqrt(FIRST_LOOK) if spread > 0 and len(finite) else 0.0
        middle = ((z + stats.norm.ppf(power)) / max(guess, 1e-9)) ** 2 if guess > 0 else np.inf
        if not np.isfinite(middle) or middle > MOST_QUERIES:
            return StudyPlan(
                index, power, alpha, float(np.nanmean(differences)), guess, None, None, None, None, (look,)
            )
        sizes = sorted({max(4, round(middle * factor)) for factor in (0.3, 0.6, 1.0, 1.4)})
    points, means = [], []
    for size in sizes:
        point, differences = simulate(source, size, options, progress)
        points.append(point)
        means.append(float(np.nanmean(differences)))
    steepness = fit_power(points, alpha)
    wanted = float(z + stats.norm.ppf(power))
    difference = float(means[-1])
    if steepness <= 0 or (queries := int(np.ceil((wanted / steepness) ** 2))) > MOST_QUERIES:
        return StudyPlan(index, power, alpha, difference, steepness, None, None, None, None, tuple(points))
    pairs = int(np.ceil(queries * source.results))
    ratings = int(np.ceil(pairs * source.ratings_each))
    raters = -(-ratings // options.ratings_per_rater)
    return StudyPlan(index, power, alpha, difference, steepness, queries, pairs, ratings, raters, tuple(points))


def fit_power(points: Sequence[PowerPoint], alpha: float) -> float:
    """The steepness a of power = Phi(a sqrt(queries) - z), by maximum likelihood of the simulated counts.

    Examples
    --------
    >>> points = [PowerPoint(n, float(stats.norm.cdf(0.3 * np.sqrt(n) - 1.96)), 1000) for n in (20, 50, 90)]
    >>> round(fit_power(points, 0.05), 3)
    0.3
    """
    z = stats.norm.isf(alpha / 2)
    size = np.array([point.queries for point in points], dtype=float)
    hits = np.array([point.power * point.studies for point in points])
    tries = np.array([point.studies for point in points], dtype=float)

    def loss(steepness: float) -> float:
        reach = steepness * np.sqrt(size) - z
        return -float(np.sum(hits * stats.norm.logcdf(reach) + (tries - hits) * stats.norm.logsf(reach)))

    upper = (z + 4) / np.sqrt(size.min())
    return float(optimize.minimize_scalar(loss, bounds=(0.0, upper), method="bounded").x)


def is_better(difference: float, index: str) -> bool:
    """Whether a difference, first minus second, speaks for the first system."""
    return (difference > 0) == (BETTER[index] == "higher")
