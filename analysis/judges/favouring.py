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

BINS = 25
"""Groups of pairs that people judged alike, of about one size."""
LEAST = 0.05
"""Share of relevant pairs by which a judge must be off before it is said to favour a system."""
HIGHEST = 0.2
"""Share of the judge's pairs that are a system's best."""


def biases(universe: Universe, rankings: Mapping[str, np.ndarray]) -> dict[str, BootstrapStatistic]:
    """By system, how much more the judge's grades are worth among its best pairs than among all that people judged
    alike, as a share of relevant pairs; over two systems or more, minus the mean of the systems.

    Parameters
    ----------
    rankings : by system, float [rows of the judge's table], higher is better
    """
    context, given = universe.context, universe.given
    rows = universe.row_of_judged[given]
    grade = np.unique(universe.worth.order[rows], return_inverse=True)[1]
    alike = _bins(context.pairs.judgment[given])
    grades, bins = int(grade.max()) + 1, int(alike.max()) + 1
    times = context.draws.times[context.draws.row[given]]
    weight = context.design[given][:, None] * np.column_stack([np.ones(len(rows)), times])
    relevance = context.relevance.values[given][:, None]
    cell = alike * grades + grade

    def by_cell(chosen: np.ndarray) -> np.ndarray:
        return (_sums(cell[chosen], bins * grades) @ weight[chosen]).reshape(bins, grades, -1)

    of_grade = _sums(grade, grades)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.nan_to_num((of_grade @ (weight * relevance)) / (of_grade @ weight))
        every = by_cell(np.ones(len(rows), dtype=bool))
        expected = np.nan_to_num((every * worth).sum(axis=1) / every.sum(axis=1))
        differences = {}
        for name, ranking in rankings.items():
            best = by_cell(ranking[rows] >= _threshold(ranking, universe))
            beyond = best * (worth[None, :, :] - expected[:, None, :])
            differences[name] = beyond.sum(axis=(0, 1)) / best.sum(axis=(0, 1))
    mean = np.mean(list(differences.values()), axis=0) if len(differences) > 1 else 0.0
    return {name: BootstrapStatistic(float((each - mean)[0]), (each - mean)[1:]) for name, each in differences.items()}


def favoured(figures: Mapping[str, BootstrapStatistic], queries: int, level: float) -> list[str]:
    """The systems that the judge favours or is hard on, the furthest first: off by LEAST at least, and by more than
    chance allows to any of so many systems (Bonferroni's correction, Student's t).

    Parameters
    ----------
    queries : how many were judged
    level : of the intervals, such as 0.95
    """
    if queries < 2 or not figures:
        return []
    bound = stdtrit(queries - 1, 1 - (1 - level) / (2 * len(figures)))
    off = {
        name: abs(each.value)
        for name, each in figures.items()
        if abs(each.value) >= LEAST and abs(each.value) > bound * np.nanstd(each.replicates, ddof=1)
    }
    return sorted(off, key=lambda name: -off[name])


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
