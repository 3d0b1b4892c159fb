"""Several judges as one: the mean of the better few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.judges.agreement import explained
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.table import OK, JudgeTable
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.rankdata import ranks
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

POINT = ScoringOptions(replicates=2, method="none", measures=())
"""No interval is wanted of what a judge explains."""


def mean_of_judges(
    judges: Sequence[JudgeTable], pairs: JudgedPairs, best: int | None = None
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """The mean of the judges that explain people's judgments best.

    Judges grade on different scales, so what is averaged is the share of its answers that a judge puts below a pair
    (mid-ranks over their number). The pairs are those that all of them were given.

    Parameters
    ----------
    judges : with different names
    pairs : that people judged
    best : how many to take; None takes all

    Returns
    -------
    table : that of a judge like any other: query_id, result_id, rating, status
    members : the judges taken, the best first: `judge`, `r_squared`, and `turned`, true where people's judgments fall
        as its grades rise

    Raises
    ------
    RelstudyError
        if there are fewer than two judges or than `best`, none knows the judged pairs, no pair was given to all that
        are taken, or these were given samples with different probabilities
    """
    wanted = len(judges) if best is None else best
    if len(judges) < 2 or not 1 <= wanted <= len(judges):
        raise RelstudyError(f"a mean needs {max(2, wanted)} judges or more; this study has {len(judges)}")
    ranked = sorted(
        ((_member(judge, pairs), judge) for judge in judges), key=lambda each: (-each[0]["r_squared"], each[1].name)
    )[:wanted]
    common = reduce(lambda left, right: left[left.isin(right)], (judge.ids for _, judge in ranked))
    names = ", ".join(judge.name for _, judge in ranked)
    if not len(common):
        raise RelstudyError(f"no pair was given to all of these judges: {names}")
    by_judge, probabilities = [], []
    for member, judge in ranked:
        rows = judge.rows_of(*(common.get_level_values(name).to_numpy() for name in PAIR))
        rating = -judge.rating[rows] if member["turned"] else judge.rating[rows]
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
    return table, [member for member, _ in ranked]


def _member(judge: JudgeTable, pairs: JudgedPairs) -> dict[str, Any]:
    figures = explained(Universe.of(pairs, judge, POINT))
    squared, order = figures["r_squared"].value, figures["spearman"].value
    r_squared = float("-inf") if squared is None else squared
    return {"judge": judge.name, "r_squared": r_squared, "turned": order is not None and order < 0}
