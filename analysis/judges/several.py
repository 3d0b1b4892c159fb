"""Several judges as one: the mean of the better few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.judges.agreement import explained
from relstudy.analysis.judges.run import context_for
from relstudy.analysis.judges.table import OK, JudgeTable
from relstudy.analysis.judges.universe import Universe
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.errors import RelstudyError
from relstudy.common.probabilities import PAIR
from relstudy.common.ranks import ranks

POINT = ScoringOptions(replicates=2, method="none", measures=())
"""No interval is wanted of what a judge explains."""


@dataclass(frozen=True)
class Member:
    """A judge that has a part in a mean.

    Parameters
    ----------
    name : of the judge
    r_squared : how much of the variance of people's judgments its grades explain, each query predicted from the others
    turned : whether its grades fall as people's judgments rise, so that they are taken in reverse
    """

    name: str
    r_squared: float
    turned: bool

    def as_json(self) -> dict[str, Any]:
        return {"judge": self.name, "r_squared": self.r_squared, "turned": self.turned}


@dataclass(frozen=True, eq=False)
class MeanJudge:
    """The mean of several judges, a judge like any other.

    Parameters
    ----------
    table : query_id, result_id, rating (0 to 1, empty where none of them answered), status; inclusion_probability where
        the pairs are a sample
    members : the judges in it, the one that explains most first
    among : how many there were to choose from
    """

    table: pd.DataFrame
    members: tuple[Member, ...]
    among: int


def mean_of_judges(judges: Sequence[JudgeTable], pairs: JudgedPairs, best: int | None = None) -> MeanJudge:
    """The mean of the judges that explain people's judgments best.

    Judges grade on different scales, so what is averaged is the share of its answers that a judge puts below a pair
    (mid-ranks over their number). The pairs are those that all of them were given.

    Parameters
    ----------
    judges : with different names
    pairs : that people judged
    best : how many to take; None takes all

    Raises
    ------
    RelstudyError
        where there are fewer than two judges or than `best`, none knows the judged pairs, no pair was given to all that
        are taken, or these were given samples with different probabilities
    """
    wanted = len(judges) if best is None else best
    if len(judges) < 2 or not 1 <= wanted <= len(judges):
        raise RelstudyError(f"a mean of {wanted} judges needs as many, and two to choose from; there are {len(judges)}")
    ranked = sorted(
        ((_member(judge, pairs), judge) for judge in judges), key=lambda each: (-each[0].r_squared, each[0].name)
    )[:wanted]
    common = reduce(lambda left, right: left[left.isin(right)], (judge.ids for _, judge in ranked))
    names = ", ".join(member.name for member, _ in ranked)
    if not len(common):
        raise RelstudyError(f"no pair was given to all of these judges: {names}")
    by_judge, probabilities = [], []
    for member, judge in ranked:
        rows = judge.rows_of(*(common.get_level_values(name).to_numpy() for name in PAIR))
        rating = -judge.rating[rows] if member.turned else judge.rating[rows]
        answered = np.isfinite(rating)
        rank = np.full(len(rows), np.nan)
        rank[answered] = (ranks(rating[answered]) - 0.5) / max(int(answered.sum()), 1)
        by_judge.append(rank)
        probabilities.append(judge.probability[rows])
    if np.ptp(probabilities, axis=0).max() > 1e-12:
        raise RelstudyError(f"these judges were given samples of pairs with different probabilities: {names}")
    many = np.isfinite(by_judge).sum(axis=0)
    rating = np.where(many > 0, np.nansum(by_judge, axis=0) / np.maximum(many, 1), np.nan)
    table = common.to_frame(index=False).assign(rating=rating, status=np.where(many > 0, OK, "refused"))
    if (probabilities[0] < 1).any():
        table["inclusion_probability"] = probabilities[0]
    return MeanJudge(table, tuple(member for member, _ in ranked), len(judges))


def _member(judge: JudgeTable, pairs: JudgedPairs) -> Member:
    figures = explained(Universe(judge, context_for(pairs, judge, POINT)))
    squared, order = figures["r_squared"].value, figures["spearman"].value
    return Member(judge.name, float("-inf") if squared is None else squared, order is not None and order < 0)
