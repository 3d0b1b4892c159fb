"""The size at which a study tells two systems apart, by simulating studies and testing each as `score` would.

A simulated study goes the way of a real one: pairs are drawn by the design, raters with a leniency and noise of their
own rate them, calibration puts them on one scale, and score's own estimators, test and verdict say which of two systems
is better. Power is the share of studies in which the better system is found to be better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy import optimize, stats

from relstudy.analysis.planning.options import PlanOptions
from relstudy.analysis.planning.simulated_studies import Assumed, Piloted, StudySource
from relstudy.analysis.planning.study_plan import MOST_QUERIES, MoreOf, PowerPoint, StudyPlan
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.common.runtime.errors import RelstudyError

MOST_SHOWN = 500
"""Queries of a simulated study that shows the curve of a pilot, whose number is a closed form."""
FIRST_LOOK = 40
MOST_GIVEN = 0.5
"""An index is planned for where at least this share of the simulated studies have it."""

DEFAULT = PlanOptions()
Progress = Callable[[Sequence[int], str], Iterable[int]]


def simulate(
    source: StudySource, queries: int, options: PlanOptions = DEFAULT, progress: Progress | None = None
) -> tuple[PowerPoint, np.ndarray]:
    """Power at a number of queries, and each study's difference, float64 [studies] (NaN where undefined).

    A study counts where the test is significant and points to the system that is better on average; for the verdict,
    where its best set holds that system and not the other one.
    """
    numbers, index = range(options.studies), source.as_scored(options.index)
    outcomes = []
    for number in progress(numbers, f"studies of {queries} queries") if progress else numbers:
        random = np.random.default_rng([options.seed, queries, number])
        outcomes.append(source.outcome(queries, index, options.primary, number, random))
    differences = np.array([each.difference for each in outcomes])
    p = np.array([each.p_value for each in outcomes])
    given = np.isfinite(p if index.of_run else differences)
    if given.mean() < MOST_GIVEN:
        reasons = [each.reason for each, known in zip(outcomes, given, strict=True) if each.reason and not known]
        why = f"score has no test of it: {reasons[0]}" if reasons else "judgments and scores that differ are needed"
        raise RelstudyError(
            f"in {(~given).sum()} of {len(outcomes)} simulated studies of {queries} queries the systems "
            f"cannot be compared by {index.term}; {why}"
        )
    first_better = bool(index.sign * np.nansum(differences) > 0)
    hits = (p < options.alpha) & ((index.sign * differences > 0) == first_better)
    named = np.array([each.first if first_better else each.second for each in outcomes])
    primary = max({each.primary for each in outcomes}, key=[each.primary for each in outcomes].count)
    return PowerPoint(queries, float(hits.mean()), options.studies, float(named.mean()), primary), differences


def plan_study(
    source: StudySource,
    options: PlanOptions = DEFAULT,
    sizes: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> StudyPlan:
    """Find the number of queries that reaches a power.

    A first look at 40 queries guesses where power lies; sizes around the guess are then simulated, and the number
    needed is read from power = Phi(a sqrt(n) - z) fitted to all points by maximum likelihood. A pilot says how far the
    difference varies, as it does to the verdict, so that the number rests on that and the points show it.

    Parameters
    ----------
    source : `Assumed` or `Piloted`
    sizes : numbers of queries to simulate; None chooses them
    progress : may show how far a size is: takes the studies' numbers and what they are, and gives the numbers back

    Raises
    ------
    RelstudyError
        when the index is undefined in more than half of the simulated studies of a size that was stated, of the first
        look or of the largest size; smaller ones without a test are passed over, and no fewer queries are then planned
    """
    index, power, alpha = source.as_scored(options.index).name, options.power, options.alpha
    z = stats.norm.isf(alpha / 2)
    least = source.least_queries(source.as_scored(index))
    stated, untested = sizes is not None, False
    points, means, steepness = list[PowerPoint](), list[float](), None
    if sizes is None:
        look, differences = simulate(source, max(FIRST_LOOK, least), options, progress)
        finite = differences[np.isfinite(differences)]
        spread = float(np.std(finite, ddof=1)) if len(finite) > 1 else np.inf
        guess = abs(float(finite.mean())) / spread / np.sqrt(look.queries) if spread > 0 and len(finite) else 0.0
        middle = ((z + stats.norm.ppf(power)) / max(guess, 1e-9)) ** 2 if guess > 0 else np.inf
        # A pilot's number does not rest on the sizes simulated: they show the curve, where that is quick.
        most = MOST_QUERIES if source.piloted is None else MOST_SHOWN
        if not np.isfinite(middle) or middle > most:
            points, means, sizes = [look], [float(np.nanmean(differences))], ()
            steepness = Steepness(guess)
        else:
            sizes = sorted({max(4, least, round(middle * factor)) for factor in (0.3, 0.6, 1.0, 1.4)})
    sizes = list(sizes)
    for size in sizes:
        try:
            point, differences = simulate(source, size, options, progress)
        except RelstudyError:
            if stated or size == sizes[-1]:
                raise
            untested = True  # so few queries have no test, and more may have one
            continue
        points.append(point)
        means.append(float(np.nanmean(differences)))
        if not stated and size == sizes[0] < sizes[-1] and point.power >= power:
            # the first look guessed too high: look around what this size says instead of far above it
            needed = ((z + stats.norm.ppf(power)) / fit_power(points, alpha)) ** 2
            factors = (0.4, 0.7) if size >= needed else (0.4, 0.7, 1.4)
            sizes[1:] = sorted({max(4, least, round(needed * factor)) for factor in factors} - {size})
    least = max(least, points[0].queries) if untested else least
    simulated = means[-1]
    planned_for = simulated if options.difference is None or source.piloted is None else options.difference
    if isinstance(source, Piloted):
        steepness = source.steepness(source.as_scored(index), planned_for, stated=options.difference is not None)
    elif steepness is None:
        steepness = _steepness(points, alpha)
    plan = StudyPlan(
        index, power, alpha, planned_for, simulated, steepness, tuple(points), pilot=source.piloted, least=least
    )
    queries = plan.queries_of(steepness)
    if queries is None:
        return plan
    pairs = int(np.ceil(queries * source.results))
    load = workload(
        pairs, source.ratings_each, options.base, options.ratings_per_rater, options.cost_per_rating, options.raters
    )
    more = more_of(source, queries, options, progress) if options.advise and isinstance(source, Assumed) else ()
    return replace(plan, queries=queries, pairs=pairs, load=load, more=more)


def more_of(
    source: Assumed, queries: int, options: PlanOptions, progress: Progress | None = None
) -> tuple[MoreOf, ...]:
    """The power of the planned study, and with half as many more of each thing that can be had more of.

    Every study is simulated with as many raters as are stated for it.
    """
    raters = source.raters_of(queries)
    other = replace(options, seed=options.seed + 1)
    each = source.ratings_each
    wider = replace(source, drawing=replace(source.drawing, results=round(1.5 * source.drawing.results)))
    deeper = replace(source, people=replace(source.people, ratings_each=each + 1))
    planned = max(raters, each + 1)
    cases = [
        ("as planned", source, queries, raters),
        (f"{round(1.5 * queries)} queries", source, round(1.5 * queries), raters),
        (f"{wider.drawing.results} results a query", wider, queries, raters),
        (f"{each + 1} ratings a pair", deeper, queries, planned),
        (f"{round(1.5 * raters)} raters", source, queries, round(1.5 * raters)),
    ]
    found = []
    for what, changed, size, people in cases:
        point, _ = simulate(replace(changed, raters=people), size, other, progress)
        unique = size * changed.drawing.results * changed.ratings_each
        found.append(MoreOf(what, unique + people * source.people.base, people, point))
    return tuple(found)


def _steepness(points: Sequence[PowerPoint], alpha: float) -> Steepness:
    """The steepness that is fitted to the points."""
    value = fit_power(points, alpha)
    z = stats.norm.isf(alpha / 2)
    size = np.array([point.queries for point in points], dtype=float)
    tries = np.array([point.studies for point in points], dtype=float)
    reach = value * np.sqrt(size) - z
    # Fisher's information of a probit curve
    share = np.clip(stats.norm.cdf(reach), 1e-6, 1 - 1e-6)
    information = float(np.sum(tries * size * stats.norm.pdf(reach) ** 2 / (share * (1 - share))))
    return Steepness(value, 1 / max(information, 1e-12))


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
