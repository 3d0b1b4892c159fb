"""Does a judge favour a system? What its grades are worth there against what they are worth on pairs that people judged
alike: a judge that merely knows little is nearer to the mean everywhere, and that is not a favour.

Both people and judge err, so either way of looking for a favour is deceived. Among pairs that people judged the same, a
system's first results are truly better than the others, and a fair judge, which sees that, seems to favour them. Among
pairs that the judge graded the same they are better too, and people, who see that, make it seem hard on them. The two
mistakes have opposite signs, so a system is named only where both ways say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, diags_array
from scipy.special import ndtr, stdtrit

from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.common.runtime.wording import number, percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

BINS = 25
"""Groups of pairs that people judged the same, of about one size."""
LEAST = 0.1
"""Standard deviations of people's judgments by which a judge must be off before it is said to favour a system."""
DEPTHS = (10, 20, 50)
"""Of a system's first results of each query, so many are looked at; and HIGHEST of all."""
HIGHEST = 0.2
"""Share of the judge's pairs that are a system's best, here and among refusals."""
FEWEST = 5
"""Queries with judged pairs among a system's first results, for these to be looked at."""


@dataclass(frozen=True)
class Leaning:
    """A system that a judge favours, or is hard on, among some of its results.

    Parameters
    ----------
    system : its name
    among : which of its results, in words
    judged_alike : how much more the judge's grades are worth there than on pairs that people judged the same, in
        standard deviations of people's judgments
    graded_alike : how much lower people's judgments are there than on pairs that the judge graded the same, in the same
    """

    system: str
    among: str
    judged_alike: float
    graded_alike: float

    def sentence(self, judge: str) -> str:
        """What the judge does, in a sentence."""
        what = "favours" if self.judged_alike > 0 else "is hard on"
        one, other = (number(abs(each), ".2f") for each in (self.judged_alike, self.graded_alike))
        return (
            f"Judge {judge} {what} {self.system} among its {self.among}: by {one} standard deviations of people's "
            f"judgments beside pairs that people judged the same, by {other} beside pairs that it graded the same. "
            "People's sample corrects that."
        )

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def places_of(universe: Universe, scores: pd.DataFrame, candidate: Candidate) -> np.ndarray | None:
    """The place, from 1, of each pair that judge and people were given among all results that a system scored for its
    query, float [given pairs]; infinite where it did not score it, None where it scored no others.

    Parameters
    ----------
    scores : query_id, result_id, score of this system
    """
    pairs = universe.context.pairs
    rows = scores[scores["query_id"].isin(pairs.queries)]
    if len(rows) <= int(universe.given.sum()):
        return None
    better = pd.Series(-candidate.direction.turned(rows["score"].to_numpy(dtype=float)))
    place = better.groupby(rows["query_id"].to_numpy()).rank(method="average").to_numpy()
    judged = pd.MultiIndex.from_arrays([pairs.query_id[universe.given], pairs.result_id[universe.given]])
    found = pd.MultiIndex.from_frame(rows[PAIR]).get_indexer(judged)
    return np.where(found >= 0, place[found], np.inf)


def leanings(
    universe: Universe, rankings: Mapping[str, np.ndarray], places: Mapping[str, np.ndarray | None], level: float
) -> list[Leaning]:
    """The systems that the judge favours or is hard on, the surest first, each among the results where that is surest.

    Systems and depths are tested together: replicates tell how far the furthest figure of all comes by chance (Westfall
    and Young 1993), on Student's t for few queries. The results on which a system is named are set aside
    before the others are tested, which may rank the same ones first.

    Parameters
    ----------
    rankings : as for `biases`
    places : by system, as `places_of` gives them
    level : of the test, such as 0.95: a judge that favours none is accused with a chance of at most 1 - level
    """
    rows = universe.row_of_judged[universe.given]
    among: dict[tuple[str, str], np.ndarray] = {}
    for name, ranking in rankings.items():
        place = places.get(name)
        if place is not None:
            among |= {(name, f"first {depth} results"): place <= depth for depth in DEPTHS}
        among[name, f"best {percent(HIGHEST)}"] = ranking[rows] >= _threshold(ranking, universe)
    kept, named = np.ones(len(rows), dtype=bool), list[Leaning]()
    while (found := _surest(universe, among, kept, level)) is not None:
        named.append(found)
        kept &= ~among[found.system, found.among]
        among = {key: best for key, best in among.items() if key[0] != found.system}
    return named


def _surest(
    universe: Universe, among: Mapping[tuple[str, str], np.ndarray], kept: np.ndarray, level: float
) -> Leaning | None:
    """The surest leaning, or None.

    Parameters
    ----------
    among : by system and place, bool [given pairs], those that a test is of
    kept : bool [given pairs], those that are not set aside
    """
    query, clusters = universe.context.pairs.query[universe.given], universe.context.draws.queries
    tests = {key: best & kept for key, best in among.items()}
    tests = {
        key: best for key, best in tests.items() if best.sum() < kept.sum() and len(np.unique(query[best])) >= FEWEST
    }
    if not tests or clusters < 2:
        return None
    best = np.array([*tests.values()])
    figures = _beyond(universe, best, kept)
    without = [None, None] if universe.left_out is None else _beyond(universe.left_out, best, kept)
    value = np.array([way[:, 0] for way in figures])
    error = np.array([_errors(way, left, clusters) for way, left in zip(figures, without, strict=True)])
    by_chance = np.abs([_chance(way[:, 1:]) for way in figures]).max(axis=(0, 1))
    bound = -stdtrit(clusters - 1, ndtr(-np.quantile(by_chance, level)))
    size = np.where(np.abs(value).min(axis=0) >= LEAST, _both(_over(value, error)), 0.0)
    first = int(size.argmax())
    return Leaning(*list(tests)[first], *map(float, value[:, first])) if size[first] > bound else None


def _errors(figures: np.ndarray, left_out: np.ndarray | None, clusters: int) -> np.ndarray:
    """Standard errors, float [tests], of figures with their replicates, and with those of the jackknife."""
    every = [None] * len(figures) if left_out is None else [row[1:] for row in left_out]
    statistics = [
        BootstrapStatistic(float(row[0]), row[1:], clusters=clusters, scale=DIFFERENCE, left_out=without)
        for row, without in zip(figures, every, strict=True)
    ]
    return np.array([each.spread(DIFFERENCE).standard_error for each in statistics])


def _over(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Values over their errors; 0 where these are no numbers or 0."""
    return np.divide(value, error, out=np.zeros_like(value), where=np.isfinite(value) & (error > 0))


def _chance(replicates: np.ndarray) -> np.ndarray:
    """Replicates around their mean, in standard deviations."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = replicates - np.nanmean(replicates, axis=1, keepdims=True)
        return np.nan_to_num(centred / np.nanstd(centred, axis=1, keepdims=True), posinf=0.0, neginf=0.0)


def _both(ways: np.ndarray) -> np.ndarray:
    """The smaller size of the two ways [2, ...] where their signs are the same, else 0."""
    same = np.sign(ways[0]) == np.sign(ways[1])
    return np.where(same, np.abs(ways).min(axis=0), 0.0)


def biases(universe: Universe, rankings: Mapping[str, np.ndarray]) -> dict[str, BootstrapStatistic]:
    """By system, how much more the judge's grades are worth among its best pairs than among others that people judged
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
    rows = universe.row_of_judged[universe.given]
    best = np.array([ranking[rows] >= _threshold(ranking, universe) for ranking in rankings.values()])
    beyond = _beyond(universe, best, np.ones(len(rows), dtype=bool))[0]
    mean = beyond.mean(axis=0) if len(beyond) > 1 else 0.0
    return dict(zip(rankings, beyond - mean, strict=True))


def _beyond(universe: Universe, best: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much more the judge's grades are worth among some pairs than on pairs that people judged the same, and than
    people's judgments of them, which they are on average on pairs that it graded the same; in standard deviations of
    people's judgments, with replicates, float [tests, 1 + replicates] each.

    Parameters
    ----------
    best : bool [tests, given pairs], those that a test is of
    kept : bool [given pairs], those that have a part
    """
    context, given = universe.context, universe.given
    rows = universe.row_of_judged[given]
    grade = np.unique(universe.worth.order[rows], return_inverse=True)[1]
    judgment, design = context.pairs.judgment[given], context.design[given] * kept
    alike = _bins(judgment)
    grades, bins = int(grade.max()) + 1, int(alike.max()) + 1
    times = context.draws.times[context.draws.row[given]]
    weight = design[:, None] * np.column_stack([np.ones(len(rows)), times])
    deviation = np.sqrt(np.average((judgment - np.average(judgment, weights=design)) ** 2, weights=design))
    said = (judgment / deviation if deviation > 0 else np.zeros(len(rows)))[:, None]
    cells = _sums(alike * grades + grade, bins * grades)
    weights = (cells @ weight).reshape(bins, grades, -1)
    sums = (cells @ (weight * said)).reshape(bins, grades, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        worth = np.nan_to_num(sums.sum(axis=0) / weights.sum(axis=0))
        beside = [_beside(cells @ diags_array(test.astype(float)), weight, said, weights, sums, worth) for test in best]
    judged, graded = zip(*beside, strict=True)
    return np.array(judged), np.array(graded)


def _beside(
    cells: csr_matrix, weight: np.ndarray, said: np.ndarray, weights: np.ndarray, sums: np.ndarray, worth: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two figures of one test, float [1 + replicates] each.

    Parameters
    ----------
    cells : the matrix that sums the test's pairs by bin and grade
    weight, said : float [given pairs, 1 + replicates] and [given pairs, 1], people's judgments
    weights, sums : float [bins, grades, 1 + replicates], of all pairs: weights, and judgments times these
    worth : float [grades, 1 + replicates]
    """
    inside, of_inside = ((cells @ each).reshape(weights.shape) for each in (weight, weight * said))
    outside, many = np.maximum(weights - inside, 0.0), inside.sum(axis=(0, 1))
    by_bin = _mean_of(
        (outside * worth).sum(axis=1), outside.sum(axis=1), (weights * worth).sum(axis=1) / weights.sum(axis=1)
    )
    by_grade = _mean_of((sums - of_inside).sum(axis=0), outside.sum(axis=0), worth)
    of_bins, of_grades = inside.sum(axis=1), inside.sum(axis=0)
    judged = ((of_grades * worth).sum(axis=0) - (of_bins * by_bin).sum(axis=0)) / many
    graded = ((of_grades * by_grade).sum(axis=0) - of_inside.sum(axis=(0, 1))) / many
    return judged, graded


def _mean_of(sums: np.ndarray, weights: np.ndarray, of_all: np.ndarray) -> np.ndarray:
    """Sums over weights; where hardly any weight is left outside, the mean of all."""
    return np.nan_to_num(np.where(weights > 1e-9 * weights.max(), sums / weights, of_all))


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
