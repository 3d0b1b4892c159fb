"""A further round of pairs where people's judgments add most to an automatic judge's grades of all candidates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.judges.allocation import aims, expected_square, sizes
from relstudy.analysis.judges.estimator import Assisted, assist
from relstudy.analysis.judges.indices import check_weighting, terms_of, transform_of
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.study import JudgedStudy, judged_study, read_human_study
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Item
from relstudy.studyapp.sampling.expected_gain import ExpectedGain, Widths
from relstudy.studyapp.sampling.further_pairs import DrawnStudy, Extended, extend, sizes_file, taking_part
from relstudy.studyapp.sampling.options import JudgeRoundOptions
from relstudy.studyapp.sampling.response_model import MappedTerm, ResponseShape
from relstudy.studyapp.sampling.sampling_design import candidate_probabilities, population_of
from relstudy.studyapp.sampling.sources import scores_of, sources_of
from relstudy.studyapp.systems.base import Progress, silent

LEVELS = 50
"""Sizes are kept as so many levels, so that a table of whole numbers gives the same probabilities again."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs that a further round can draw, and what an index wants of them.

    Parameters
    ----------
    query_id, result_id : text [candidates], all pairs of the judged queries that the judge was given
    size : float [candidates], to which the probability of a pair is best in proportion, mean 1
    squares : by system, float [candidates], as `expected_square` gives them
    now : by system, the index with the judge's help as it is
    """

    query_id: np.ndarray
    result_id: np.ndarray
    size: np.ndarray
    squares: Mapping[str, np.ndarray]
    now: Mapping[str, Assisted]

    def width(self, system: str, before: np.ndarray, after: np.ndarray) -> float | None:
        """The width of a 95 % interval to expect; None if there is no interval now.

        What comes of the choice of pairs shrinks as probabilities rise; the rest of the squared error stays.

        Parameters
        ----------
        before, after : float [candidates], the probability of each pair given its query, now and with more pairs; NaN
            where a candidate is not of the queries that are drawn for again
        """
        figure = self.now[system]
        if figure.estimate.width is None or not figure.standard_error > 0:
            return None
        finite = np.isfinite(before) & np.isfinite(after)
        square = self.squares[system][finite]
        within, left = (float(square @ (1 / given[finite] - 1)) for given in (before, after))
        error = max(figure.standard_error**2, within)
        return float(figure.estimate.width * np.sqrt((error - within + left) / error))


def candidates_for(study: JudgedStudy, options: ScoringOptions, aim: str) -> Candidates:
    """The candidates of a further round aimed at an index.

    Parameters
    ----------
    study : with at least one system
    aim : one of `relstudy.analysis.judges.allocation.aims`

    Raises
    ------
    RelstudyError
        if there is no such index or no system, or a judge cannot help with these judgments
    """
    if aim not in aims():
        raise RelstudyError(f"--aim {aim}: there is no such index to aim at; there are: {', '.join(aims())}")
    if not study.candidates:
        raise RelstudyError(
            f"no system has a score for every pair that judge {study.judge.name} was given, and the worth of a "
            "judgment depends on where systems rank the pair"
        )
    context = context_for(study.pairs, study.judge, options)
    universe = Universe(study.judge, context)
    unweighed = check_weighting(universe)
    if unweighed is not None:
        raise RelstudyError(f"a judge can say where to ask only beside a probability sample: {unweighed}")
    if universe.judged_alone:
        raise RelstudyError(
            f"judge {study.judge.name} was given the judged pairs alone, so it cannot say where else to ask; "
            "`relstudy judge --pairs queries` gives it every candidate of the judged queries"
        )
    squares, now = {}, {}
    for each in study.candidates:
        scores = universe.judge.scores_of(study.scores[each.name], each)
        squares[each.name] = expected_square(universe, aim, each.direction.turned(scores))
        terms = terms_of(universe, each, scores, each.used, (aim,))[aim]
        now[each.name] = assist(terms, context.draws.queries, transform_of(aim), options.level)
    rows = universe.sampled
    size = sizes(np.stack(list(squares.values())))
    return Candidates(study.judge.query_id[rows], study.judge.result_id[rows], size, squares, now)


@dataclass(frozen=True, eq=False)
class JudgeRound(Extended):
    """A further round that a judge shaped.

    Parameters
    ----------
    sizes : the content of rounds/round-N.csv, on which the round's probabilities rest
    widths : of the index aimed at, by system
    notes : what a person should know, one sentence each
    """

    sizes: bytes
    widths: tuple[Widths, ...]
    notes: tuple[str, ...]

    def write_sizes(self, folder: Path) -> None:
        """Write what later rounds need to know this round's probabilities again, and beside it what the round is to
        gain, for the admin page."""
        this = self.design.rounds[-1]
        path = folder / sizes_file(this.number)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self.sizes)
        ExpectedGain(this.number, this.judge, this.aim, self.new, self.widths).write(folder)


def draw_judge_round(folder: Path, options: JudgeRoundOptions, progress: Progress = silent) -> JudgeRound:
    """Draw a further round for the last round's queries of the study in `folder`; nothing is written.

    A candidate's size is the root of the expected squared residual of people's judgment, given the judge's grade,
    times the derivative of the index with respect to it; `floor` of the round is drawn uniformly from all candidates.
    The queries stay as they are, so that all probabilities stay known.

    Raises
    ------
    RelstudyError
        where rounds rest on several draws of queries, the judge or the systems cannot say where to ask, or fewer new
        pairs are left than wanted
    """
    so_far = DrawnStudy.load(folder, progress)
    design = so_far.design
    draws = {each.query_draw for each in design.rounds if options.paradigm in each.query_probability}
    if len(draws) > 1:
        raise RelstudyError(
            f"the rounds so far drew queries {len(draws)} times, so which of them brought in a query is unknown; a "
            "judge's round needs one draw of queries"
        )
    queries, *_ = so_far.queries_of_last_draw(options.paradigm)
    judged, notes = _study(folder, options)
    wanted = candidates_for(judged, ScoringOptions(seed=options.seed, method="none", measures=()), options.aim)
    number = design.rounds[-1].number + 1
    name = f"judge-{judged.judge.name}-{number}"
    table, content, densities = _levels(wanted, queries, name)
    stamp = hashlib.sha256(content).hexdigest()[:16]
    source = sources_of(table, so_far.collection, stamp, sizes_file(number))[0]
    last = len(densities) - 1
    shape = ResponseShape(
        {name: MappedTerm([0.0, last], [0.0, last])}, [k + 0.5 for k in range(last)], densities.tolist()
    )
    this = replace(
        design.rounds[-1],
        number=number,
        systems={name: stamp},
        results=1.0,
        floor=options.floor,
        seed=options.seed,
        shapes={name: shape},
        outside=0,
        from_each=0,
        judge=judged.judge.name,
        aim=options.aim,
    )
    study = so_far.with_round(this, source)
    open_ = [_Open.of(study, query, wanted) for query in queries]
    this = replace(this, results=_results(open_, options.pairs))
    random = np.random.default_rng([options.seed, number])
    extended = extend(so_far.with_round(this, source), queries, options.paradigm, random, progress)
    return JudgeRound(
        **vars(extended), sizes=content, widths=_widths(wanted, open_, this.results, options.pairs), notes=notes
    )


def _study(folder: Path, options: JudgeRoundOptions) -> tuple[JudgedStudy, tuple[str, ...]]:
    """The judge beside the systems, where these have no score for other queries than the judged ones without those."""
    scoring = ScoringOptions(seed=options.seed, method="none", measures=())
    judge = read_judge(options.judge)
    human = read_human_study(folder, options.judgments)
    study = judged_study(human, judge, scoring)
    if not study.candidates:
        judged = set(human.judgments.frame["query_id"])
        study = judged_study(human, judge.without(set(judge.query_id) - judged), scoring)
    return study, (*human.notes, *study.notes)


def _levels(wanted: Candidates, queries: list[Item], name: str) -> tuple[pd.DataFrame, bytes, np.ndarray]:
    """Each candidate's level of size; level 0 is of pairs that the judge was not given.

    Returns
    -------
    The table as a system's scores, the file's content, and the size of each level, float64; those of a query sum to 1
    on average
    """
    drawn = np.isin(wanted.query_id.astype(str), [query.id for query in queries])
    if not drawn.any():
        raise RelstudyError("the judge was given no candidate of the queries that the last round drew")
    size = wanted.size[drawn]
    edges = np.unique(np.quantile(size, np.arange(1, LEVELS) / LEVELS))
    _, level = np.unique(np.searchsorted(edges, size, side="right"), return_inverse=True)
    mean = np.bincount(level, size) / np.bincount(level)
    densities = np.r_[0.0, mean] * len(queries) / size.sum()
    ids = {"query_id": wanted.query_id[drawn], "result_id": wanted.result_id[drawn]}
    table = pd.DataFrame({"system": name, **ids, "score": level + 1})
    return table, table.to_csv(index=False, lineterminator="\n").encode(), densities


@dataclass(frozen=True, eq=False)
class _Open:
    """One query's candidates before the round: sizes, how many each stands for, how many of these are new, and where
    its pairs are among `Candidates` (at), with their sizes and their probabilities given the query, of all rounds so
    far and of the last."""

    size: np.ndarray
    new: np.ndarray
    at: np.ndarray
    size_at: np.ndarray
    earlier_at: np.ndarray
    last_at: np.ndarray

    @classmethod
    def of(cls, study: DrawnStudy, query: Item, wanted: Candidates) -> _Open:
        """A query's candidates; the last round of the study is still to be drawn."""
        collection, rounds = study.collection, study.design.rounds
        drawn_from = population_of(rounds[0], query, collection, scores_of(query, study.sources))
        of_round = [
            candidate_probabilities(each, query, collection, taking_part(each, study.sources), drawn_from)
            for each in rounds
        ]
        sized = replace(of_round[-1], probability=of_round[-1].parts.sum(axis=0))
        names = study.pairs.loc[study.pairs["query_id"] == query.id, "result_id"]
        taken = np.array([collection.position(name) for name in names], dtype=np.int64)
        new = sized.times.copy()
        listed = np.isin(sized.candidates, taken)
        new[: len(listed)] -= listed
        at = np.flatnonzero(wanted.query_id.astype(str) == query.id)
        positions = np.array([collection.position(name) for name in wanted.result_id[at]], dtype=np.int64)
        inside = sized.inside(positions)
        at, positions = at[inside], positions[inside]
        missed = np.prod([1 - each.at(positions) for each in of_round[:-1]], axis=0)
        return cls(sized.probability, new, at, sized.at(positions), 1 - missed, of_round[-2].at(positions))


def _results(open_: list[_Open], wanted: int) -> float:
    """Results a query at which so many new pairs are drawn on average."""
    left = sum(each.new.sum() for each in open_)
    if wanted > left:
        raise RelstudyError(f"{wanted} new pairs are wanted, and only {left:.0f} candidates are not drawn yet")
    return _solved(lambda results: sum(float(np.minimum(1, results * each.size) @ each.new) for each in open_), wanted)


def _widths(wanted: Candidates, open_: list[_Open], results: float, pairs: int) -> tuple[Widths, ...]:
    earlier, as_before, after = (np.full(len(wanted.size), np.nan) for _ in range(3))

    def more(factor: float) -> float:
        return sum(float(np.minimum(1, factor * each.last_at) @ (1 - each.earlier_at)) for each in open_)

    again = _solved(more, min(pairs, more(1e9)))
    for each in open_:
        missed = 1 - each.earlier_at
        earlier[each.at] = each.earlier_at
        as_before[each.at] = 1 - missed * (1 - np.minimum(1, again * each.last_at))
        after[each.at] = 1 - missed * (1 - np.minimum(1, results * each.size_at))
    return tuple(
        Widths(system, *(wanted.width(system, earlier, each) for each in (earlier, as_before, after)))
        for system in wanted.now
    )


def _solved(count: Callable[[float], float], wanted: float) -> float:
    """The factor at which a growing function reaches a number."""
    high = 1.0
    while count(high) < wanted * (1 - 1e-12) and high < 1e12:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if count(middle) < wanted else (low, middle)
    return high
