"""The systems' own scores as a judge: every system scores every candidate anyway, and what all of them say of a pair
tells something of what people would.

People's figures are helped as by any judge (`relstudy.analysis.judges.estimator`); what a pair is worth is a logistic
regression on the systems' scores and log ranks, cross-fitted over queries. The more systems agree with people, the more
it explains; where they know nothing, it explains nothing, and people alone stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from relstudy.analysis.judges.grades import MOST_GRADES, grade_numbers
from relstudy.analysis.judges.indices import check_weighting
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import OK, JudgeTable
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed
from relstudy.common.sampling.rankdata import ranks
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

NAME = "systems' scores"
SURELY = 1e-4
"""A table that holds other pairs than were sampled from is taken for one where chance is less likely than this."""
NEARLY = 0.05
"""Numbers of candidates that differ by less than this share are the same."""


class CannotHelp(RelstudyError):
    """The reason why the systems' scores cannot help, as a phrase."""


@dataclass(frozen=True, eq=False)
class SystemsJudge:
    """All candidates, and what the systems say of each.

    Parameters
    ----------
    table : the candidates as a judge's table; its rating is the mean of the systems' normal scores, or the grade of
        the judge that the systems stand beside
    features : float32 [rows, features], each of mean 0 and variance 1
    scores : float [rows] of each system that has a part, as they are
    without : systems that lack scores of some candidates, and have no part
    beside : the automatic judge that the systems stand beside
    """

    table: JudgeTable
    features: np.ndarray
    scores: Mapping[str, np.ndarray]
    without: tuple[str, ...]
    beside: JudgeTable | None = None


def systems_judge(
    candidates: Sequence[Candidate],
    scores: Mapping[str, pd.DataFrame],
    population: pd.MultiIndex | None = None,
    judge: JudgeTable | None = None,
) -> SystemsJudge:
    """The systems' scores of all candidates as a judge.

    Parameters
    ----------
    candidates : the systems, as they are scored
    scores : each system's table (query_id, result_id, score) of all that it scored
    population : the pairs that could be drawn, where they are known (the pool); None: all that are scored
    judge : an automatic judge, beside whose grades the scores stand; its pairs are then the candidates

    Raises
    ------
    CannotHelp
        where no system scores all candidates
    """
    ids = _candidates(scores, population) if judge is None else judge
    first = next(iter(scores.values()))
    of_first = judge is None and population is None and len(ids) == len(first)
    by_system, without = {}, []
    for each in candidates:
        try:
            if of_first and _same_pairs(first, scores[each.name]):
                by_system[each.name] = scores[each.name]["score"].to_numpy(dtype=float)
            else:
                by_system[each.name] = ids.scores_of(scores[each.name], each)
        except (RelstudyError, KeyError):
            without.append(each.name)
    if not by_system:
        raise CannotHelp(
            f"no system has a score for all {len(ids)} candidates, and scores of judged candidates alone say nothing "
            "about the others (relstudy systems scores all queries with --all-queries)"
        )
    codes, _ = ids.queries
    turned = {each.name: each.direction.turned for each in candidates}
    of_judge = [] if judge is None else _of_grades(judge.rating)
    features = np.empty((2 * len(by_system) + len(of_judge), len(ids)), dtype=np.float32)
    mean = np.zeros(len(ids))
    for number, (name, values) in enumerate(by_system.items()):
        features[2 * number : 2 * number + 2] = _of_system(turned[name](values), codes)
        mean += features[2 * number] / len(by_system)
    for number, column in enumerate(of_judge, 2 * len(by_system)):
        features[number] = column
    table = ids
    if judge is None:
        table = JudgeTable(NAME, ids.query_id, ids.result_id, mean, ids.status, ids.probability)
    return SystemsJudge(table, features.T, by_system, tuple(without), judge)


def _same_pairs(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """True where two tables hold the same pairs in the same order."""
    return len(one) == len(other) and all(one[name].array.equals(other[name].array) for name in PAIR)


def _candidates(scores: Mapping[str, pd.DataFrame], population: pd.MultiIndex | None) -> JudgeTable:
    """All pairs as a table without grades: the population, or what any system scores."""
    if population is None:
        one, *others = scores.values()
        first = [one[name].to_numpy(dtype=object) for name in PAIR]
        for each in others:
            if not _same_pairs(one, each):
                others_pairs = pd.MultiIndex.from_arrays([each[name].to_numpy(dtype=object) for name in PAIR])
                union = pd.MultiIndex.from_arrays(first).union(others_pairs, sort=False)
                first = [union.get_level_values(level).to_numpy(dtype=object) for level in (0, 1)]
    else:
        first = [population.get_level_values(level).to_numpy(dtype=object) for level in (0, 1)]
    query, result = first
    number = len(query)
    return JudgeTable(NAME, query, result, np.zeros(number), np.full(number, OK, dtype=object), np.ones(number))


def _of_system(score: np.ndarray, query: np.ndarray) -> list[np.ndarray]:
    """Normal scores over all rows, and the log of the rank within the query, higher first; ties have the mean rank."""
    number = len(score)
    order = np.argsort(-score, kind="stable")
    normal, rank = np.empty(number), np.empty(number)
    normal[order] = -special.ndtri((_mean_ranks(score[order], np.zeros(number, dtype=np.uint8)) - 0.5) / number)
    # numbers of 16 bits are sorted by counting
    small = query.astype(np.uint16) if query.max() < 2**16 else query
    by_query = order[np.argsort(small[order], kind="stable")]
    rank[by_query] = _mean_ranks(score[by_query], query[by_query])
    return [_standard(normal), _standard(np.log(rank))]


def _mean_ranks(ordered: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Ranks from 1 of values that fall within each run of `of`, float [values]; ties have their mean."""
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = of[1:] != of[:-1]
    start = np.flatnonzero(new)
    group = new.copy()
    group[1:] |= ordered[1:] != ordered[:-1]
    first = np.flatnonzero(group)
    size = np.diff(np.r_[first, len(ordered)])
    begins = start[np.cumsum(new)[first] - 1]
    return np.repeat(first - begins + (size + 1) / 2, size)


def _of_grades(rating: np.ndarray) -> list[np.ndarray]:
    """A column for each grade of a judge, the missing answer among them, or the normal scores of its scores."""
    values, number = grade_numbers(rating)
    if len(values) <= MOST_GRADES:
        return [_standard((number == each).astype(float)) for each in range(len(values) + 1)]
    answered = number < len(values)
    normal = np.zeros(len(rating))
    normal[answered] = special.ndtri((ranks(rating[answered]) - 0.5) / answered.sum())
    return [_standard(normal), _standard(answered.astype(float))]


def _standard(values: np.ndarray) -> np.ndarray:
    """With mean 0 and variance 1, as float32; zeros where all are alike."""
    spread = values.std()
    return np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0), dtype=np.float32)


def universe_of(judge: SystemsJudge, context: ScoringContext, decided: float = 1.0) -> Universe:
    """The candidates beside the judged pairs.

    Parameters
    ----------
    decided : the share of the pairs that people saw and could decide

    Raises
    ------
    CannotHelp
        where the systems' scores cannot help, with the reason
    """
    universe = Universe(judge.table, context, judge.features)
    unweighed = check_weighting(universe)
    if unweighed is not None:
        raise CannotHelp(f"the judged pairs are no probability sample ({unweighed})")
    outside = int((~universe.given).sum())
    if outside:
        raise CannotHelp(f"{count_of(outside, 'judged pair')} of {len(context.pairs)} are not scored by all")
    if universe.judged_alone:
        raise CannotHelp("the score tables hold the judged pairs alone, and not what they are a sample of")
    _check_population(universe, decided)
    return universe


def _check_population(universe: Universe, decided: float) -> None:
    """Refuse candidates that are not those which the judged pairs are a sample of, by their number."""
    pairs = universe.context.pairs
    queries = len(pairs.queries)
    held = np.bincount(universe.query_of_row[universe.sampled], universe.weight[universe.sampled], queries)
    stands_for = np.bincount(pairs.query, 1 / pairs.probability_in_query, queries) / decided
    expected = [stands_for]
    if not np.isfinite(pairs.query_probability).all():  # the probability may hold that of the query, too
        expected.append(stands_for * queries / len(universe.judge.queries[1]))
    if not any(_the_same_number(held, each) for each in expected):
        raise CannotHelp(
            f"the {len(pairs)} judged pairs were drawn from about {stands_for.sum():,.0f} pairs of these queries, and "
            f"the score tables hold {held.sum():,.0f} (pool.csv beside the judgments says which could be drawn)"
        )


def _the_same_number(held: np.ndarray, expected: np.ndarray) -> bool:
    """True where numbers by query differ by no more than chance, or by little."""
    if abs(expected.sum() / held.sum() - 1) <= NEARLY:
        return True
    difference, number = expected - held, len(held)
    error = difference.std(ddof=1) / np.sqrt(number) if number > 1 else 0.0
    return bool(error > 0 and abs(difference.mean()) <= special.stdtrit(number - 1, 1 - SURELY / 2) * error)


def notes_on_help(judge: SystemsJudge, universe: Universe) -> list[str]:
    """Notes on the help of the systems' scores, one sentence each."""
    notes = [
        "Precision and recall that rest on few hits or few misses stand by people alone, and so does pairwise accuracy "
        "in the same query."
    ]
    if judge.without:
        whose = listed(list(judge.without))
        lack = "lacks" if len(judge.without) == 1 else "lack"
        notes.append(f"{whose} {lack} scores of some of the {len(judge.table):,} candidates: people alone.")
    if not universe.beyond:
        notes.append(
            "The score tables hold candidates of the judged queries alone, so their help shortens what comes of the "
            "choice of pairs, and not what comes of the choice of queries."
        )
    return notes
