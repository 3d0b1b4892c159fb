"""How large a study must be to tell two systems apart, by simulating studies and testing each as `score` would.

A simulated study draws queries, results with a true relevance, ratings with noise, and two systems' scores; then it
runs the very estimators and the very test that a real comparison runs. Power is the share of studies in which the
better system is found to be better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.planning.studies import SimulatedStudy, StudySource
from relstudy.analysis.planning.study_plan import MOST_QUERIES, PowerPoint, StudyPlan
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, query_counts
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.scoring.compared import BETTER, INDICES
from relstudy.analysis.scoring.comparison import p_value
from relstudy.common.errors import RelstudyError

BOOTSTRAP = 200
FIRST_LOOK = 40


def difference_of(study: SimulatedStudy, index: str, seed: int) -> tuple[BootstrapStatistic, int]:
    """First minus second in an index, by the estimators of `relstudy score`, and the number of queries."""
    queries = int(study.query.max()) + 1
    counts = query_counts(queries, BOOTSTRAP, seed)
    if index == "pearson":
        judgments = CorrelationBootstrap(study.query, study.judgment, counts, left_out=LeftOut.of(study.query))
        first, second = (judgments.correlate(s, ("pearson",))["pearson"] for s in (study.first, study.second))
    else:
        retrieval = Retrieval(study.query, study.relevant, counts, left_out=LeftOut.of(study.query))
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
    base : pairs of the base block, which every rater rates whole
    cost_per_rating : what a rating costs, 0 where that does not matter
    difference : the difference of the index to plan for, with a pilot; None takes the pilot's own
    """

    index: str = "pearson"
    power: float = 0.8
    alpha: float = 0.05
    studies: int = 200
    seed: int = 0
    ratings_per_rater: int = 300
    base: int = 100
    cost_per_rating: float = 0.0
    difference: float | None = None

    def __post_init__(self) -> None:
        if self.index not in INDICES:
            raise RelstudyError(f"the index is one of {', '.join(INDICES)}; not {self.index!r}")
        if not (0 < self.power < 1 and 0 < self.alpha < 1):
            raise RelstudyError("power and alpha lie between 0 and 1")
        if not 0 <= self.cost_per_rating < np.inf or self.base < 0:
            raise RelstudyError("the cost of a rating and the base block are numbers from 0")


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

    Raises
    ------
    RelstudyError
        when the index is undefined in every simulated study
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
            nothing = Steepness(guess, 0.0)
            return StudyPlan(index, power, alpha, _mean(differences, index), nothing, None, None, None, (look,))
        sizes = sorted({max(4, round(middle * factor)) for factor in (0.3, 0.6, 1.0, 1.4)})
    points, means = [], []
    for size in sizes:
        point, differences = simulate(source, size, options, progress)
        points.append(point)
        means.append(_mean(differences, index))
    difference = float(means[-1])
    steepness = _steepness(source, options, points, difference)
    if options.difference is not None and source.piloted is not None:
        difference = options.difference
    queries = steepness.queries(power, alpha, MOST_QUERIES)
    if queries is None:
        return StudyPlan(index, power, alpha, difference, steepness, None, None, None, tuple(points), source.piloted)
    pairs = int(np.ceil(queries * source.results))
    load = workload(pairs, source.ratings_each, options.base, options.ratings_per_rater, options.cost_per_rating)
    return StudyPlan(index, power, alpha, difference, steepness, queries, pairs, load, tuple(points), source.piloted)


def _mean(differences: np.ndarray, index: str) -> float:
    defined = differences[np.isfinite(differences)]
    if not len(defined):
        raise RelstudyError(
            f"in no simulated study can the two systems be compared by {index}; judgments and scores that differ are "
            "needed, of at least two queries"
        )
    return float(defined.mean())


def _steepness(source: StudySource, options: PlanOptions, points: Sequence[PowerPoint], difference: float) -> Steepness:
    """The fitted steepness, for the stated difference where there is one, and what it leaves uncertain."""
    value = fit_power(points, options.alpha)
    z = stats.norm.isf(options.alpha / 2)
    size = np.array([point.queries for point in points], dtype=float)
    tries = np.array([point.studies for point in points], dtype=float)
    reach = value * np.sqrt(size) - z
    # Fisher's information of a probit curve
    share = np.clip(stats.norm.cdf(reach), 1e-6, 1 - 1e-6)
    information = float(np.sum(tries * size * stats.norm.pdf(reach) ** 2 / (share * (1 - share))))
    simulated = 1 / max(information, 1e-12)
    if source.piloted is None:
        return Steepness(value, simulated)
    stated = options.difference is not None
    if options.difference is not None and difference:
        factor = abs(options.difference / difference)
        value, simulated = value * factor, simulated * factor**2
    return Steepness.of_pilot(value, simulated, source.piloted, stated=stated)


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
