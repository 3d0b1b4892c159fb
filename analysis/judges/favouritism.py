"""Does a judge favour a system? What its grades are worth there against what they are worth on pairs that people judged
alike: a judge that merely knows little is nearer to the mean everywhere, and that is no favour.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import stdtrit

from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import DIFFERENCE

BINS = 25
"""Groups of pairs that people judged alike, of about one size."""
LEAST = 0.1
"""Standard deviations of people's judgments by which a judge must be off before it is said to favour a system."""
HIGHEST = 0.2
"""Share of the judge's pairs that are a system's best, here and among refusals."""


def biases(universe: Universe, rankings: Mapping[str, np.ndarray]) -> dict[str, BootstrapStatistic]:
    """By system, how much more the judge's grades are worth among its best pairs than among all that people judged
    alike, in standard deviations of people's judgments; over two systems or more, minus the mean of the systems.

    Parameters
    ----------
    rankings : by system, float [rows of the judge's table], higher is better
    """
    if not rankings:
        return {}
    figures = _differences(universe, rankings)
    without = None if universe.left_out is None else _differences(universe.left_out, rankings)
    clusters = universe.context.draws.queries
    return {
        name: BootstrapStatistic(
            float(each[0]),
            each[1:],
            clusters=clusters,
            scale=DIFFERENCE,
            left_out=None if without is None else without[name][1:],
        )
        for name, each in figures.items()
    }


def _differences(universe: Universe, rankings: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """By system, the figure and its replicates, float [1 + replicates]."""
    context, given = universe.context, universe.given
    rows = universe.row_of_judged[given]
    grade = np.unique(universe.worth.order[rows], return_inverse=True)[1]
    judgment, design = context.pairs.judgment[given], context.design[given]
    alike = _bins(judgment)
    grades, bins = int(grade.max()) + 1, int(alike.max()) + 1
    times = context.draws.times[context.draws.row[given]]
    weight = design[:, None] * np.column_stack([np.ones(len(rows)), times])
    deviation = np.sqrt(np.average((judgment - np.average(judgment, weights=design)) ** 2, weights=design))
    said = (judgment / deviation if deviation > 0 else np.zeros(len(rows)))[:, None]
    best = np.array([ranking[rows] >= _threshold(ranking, universe) for ranking in rankings.values()], dtype=float)
    of_grade, of_cell = _sums(grade, grades), _sums(alike * grades + grade, bins * grades)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.nan_to_num((of_grade @ (weight * said)) / (of_grade @ weight))
        every = (of_cell @ weight).reshape(bins, grades, -1)
        expected = np.nan_to_num((every * worth).sum(axis=1) / every.sum(axis=1))
        beyond = (best @ (weight * (worth[grade] - expected[alike]))) / (best @ weight)
    mean = beyond.mean(axis=0) if len(beyond) > 1 else 0.0
    return dict(zip(rankings, beyond - mean, strict=True))


def favoured(figures: Mapping[str, BootstrapStatistic], level: float) -> list[str]:
    """The systems that the judge favours or is hard on, the furthest first: off by LEAST at least, and by more than
    chance allows to any of so many systems (Bonferroni's correction, Student's t).

    Parameters
    ----------
    figures : as `biases` gives them
    level : of the intervals, such as 0.95
    """
    off = {name: abs(each.value) for name, each in figures.items() if _is_off(each, 1 - (1 - level) / len(figures))}
    return sorted(off, key=lambda name: -off[name])


def _is_off(figure: BootstrapStatistic, level: float) -> bool:
    if not abs(figure.value) >= LEAST or figure.clusters is None or figure.clusters < 2:
        return False
    spread = figure.spread(DIFFERENCE)
    return bool(abs(figure.value) > stdtrit(spread.degrees, (1 + level) / 2) * spread.standard_error)


def _bins(judgment: np.ndarray) -> np.ndarray:
    ends = np.unique(np.quantile(judgment, np.arange(1, BINS) / BINS))
    return np.unique(np.searchsorted(ends, judgment), return_inverse=True)[1]


def _sums(group: np.ndarray, groups: int) -> csr_matrix:
    """The matrix that sums rows by group."""
    return csr_matrix((np.ones(len(group)), (group, np.arange(len(group)))), shape=(groups, len(group)))


def _threshold(ranking: np.ndarray, universe: Universe) -> float:
    """The score that HIGHEST of the pairs reach; by people's design where the judge was given their sample alone."""
    if universe.partial:
        rows, weight = universe.row_of_judged[universe.given], universe.context.design[universe.given]
    else:
        rows, weight = np.arange(len(ranking)), universe.weight
    order = np.argsort(-ranking[rows], kind="stable")
    reached = np.cumsum(weight[order])
    return float(ranking[rows][order[np.searchsorted(reached, HIGHEST * reached[-1])]])
