"""The size at which a study tells two systems apart, by simulating studies and testing each as `score` would.

A simulated study draws queries, results with a true relevance, ratings with noise, and two systems' scores; then it
runs the very estimators and the very test that a real comparison runs. Power is the share of studies in which the
better system is found to be better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy import optimize, stats

from relstudy.analysis.indices.index import Index
from relstudy.analysis.indices.known import index_of
from relstudy.analysis.indices.pairs import SystemPairs
from relstudy.analysis.planning.options import PlanOptions
from relstudy.analysis.planning.studies import SimulatedStudy, StudySource
from relstudy.analysis.planning.study_plan import MOST_QUERIES, PowerPoint, StudyPlan
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic, query_counts
from relstudy.analysis.resampling.draws import LeftOut
from relstudy.analysis.scoring.comparison import p_value
from relstudy.common.errors import RelstudyError

BOOTSTRAP = 200
FIRST_LOOK = 40


def difference_of(study: SimulatedStudy, index: Index, seed: int) -> tuple[BootstrapStatistic, int]:
    """First minus second in an index, by the estimators of `relstudy score`, and the number of queries."""
    queries = int(study.query.max()) + 1
    counts, left_out = query_counts(queries, BOOTSTRAP, seed), LeftOut.of(study.query)
    first, second = (
        index.over_draws(
            SystemPairs(
                study.query, study.judgment, study.relevant.astype(float), scores, scores, study.weight,
                study.query, counts, left_out=left_out, grades=study.grades,
            )
        )
        for scores in (study.first, study.second)
    )  # fmt: skip
    return first - second, queries


DEFAULT = PlanOptions()
Progress = Callable[[Sequence[int], str], Iterable[int]]


def simulate(
    source: StudySource, queries: int, options: PlanOptions = DEFAULT, progress: Progress | None = None
) -> tuple[PowerPoint, np.ndarray]:
    """Power at a number of queries, and each study's difference, float64 [studies] (NaN where undefined).

    A study counts where the test is significant and points to the system that is better on average.
    """
    differences, significant = np.full(options.studies, np.nan), np.zeros(options.studies, dtype=bool)
    numbers, index = range(options.studies), index_of(options.index)
    for number in progress(numbers, f"studies of {queries} queries") if progress else numbers:
        random = np.random.default_rng([options.seed, queries, number])
        statistic, clusters = difference_of(source.draw(queries, random), index, number)
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
