"""A further round of pairs beside a judge: its candidates, and the shorter interval to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from relstudy.analysis.judges.allocation import aims, expected_square, sizes
from relstudy.analysis.judges.estimator import Assisted, assist
from relstudy.analysis.judges.indices import check_weighting, terms_of
from relstudy.analysis.judges.run import context_for, transform_of
from relstudy.analysis.judges.study import JudgedStudy
from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.errors import RelstudyError


@dataclass(frozen=True, eq=False)
class Candidates:
    """The pairs that a further round can draw, and what an index wants of them.

    Parameters
    ----------
    aim : the index
    query_id, result_id : text [candidates], all pairs of the judged queries that the judge was given
    size : float [candidates], to which the probability of a pair is best in proportion, mean 1
    squares : by system, float [candidates], as `expected_square` gives them
    now : by system, the index with the judge's help as it is
    """

    aim: str
    query_id: np.ndarray
    result_id: np.ndarray
    size: np.ndarray
    squares: Mapping[str, np.ndarray]
    now: Mapping[str, Assisted]

    def width(self, system: str, before: np.ndarray, after: np.ndarray) -> float | None:
        """The width of a 95 % interval to expect; None where there is no interval now.

        What comes of the choice of pairs shrinks as probabilities rise; the rest of the squared error stays.

        Parameters
        ----------
        before, after : float [candidates], the probability of each pair given its query, now and with more pairs; NaN
            where a candidate is not of the queries that are drawn for again
        """
        figure = self.now[system]
        if figure.estimate.low is None or figure.estimate.high is None or not figure.standard_error > 0:
            return None
        finite = np.isfinite(before) & np.isfinite(after)
        square = self.squares[system][finite]
        within, left = (float(square @ (1 / given[finite] - 1)) for given in (before, after))
        error = max(figure.standard_error**2, within)
        return float((figure.estimate.high - figure.estimate.low) * np.sqrt((error - within + left) / error))


def candidates_for(study: JudgedStudy, options: ScoringOptions, aim: str) -> Candidates:
    """The candidates of a further round aimed at an index.

    Parameters
    ----------
    study : with at least one system
    aim : one of `relstudy.analysis.judges.allocation.aims`

    Raises
    ------
    RelstudyError
        where there is no such index or no system, or a judge cannot help with these judgments
    """
    if aim not in aims():
        raise RelstudyError(f"--aim {aim}: there is no such index to aim at; there are: {', '.join(aims())}")
    if not study.candidates:
        raise RelstudyError(
            f"no system has a score for every pair that judge {study.judge.name} was given, and what a judgment tells "
            "depends on where systems rank the pair"
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
        squares[each.name] = expected_square(universe, aim, [scores if each.direction.higher else -scores])[0]
        terms = terms_of(universe, each, scores, each.used, (aim,))[aim]
        now[each.name] = assist(terms, context.draws.queries, transform_of(aim), options.level)
    rows = universe.sampled
    size = sizes(np.stack(list(squares.values())))
    return Candidates(aim, study.judge.query_id[rows], study.judge.result_id[rows], size, squares, now)
