"""What a panel's make-up says against a verdict: two raters who may be one person, and one rater who rated much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from relstudy.common.runtime.wording import percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

FEWEST_COMMON = 20
"""Pairs that two raters must have in common to be compared."""
BY_CHANCE = 0.001
"""Probability, over all couples of raters, below which equal answers are named."""
MUCH = 1 / 3
"""Share of all ratings from which on one rater is named; of panels in which equal shares are below half of it."""


def panel_remarks(ratings: pd.DataFrame) -> list[str]:
    """One sentence for each couple of raters who may be one person, and for a rater who gave much of all ratings.

    Parameters
    ----------
    ratings : query_id, result_id, rater_id, rating (float, NaN = undecided)

    Examples
    --------
    >>> same = pd.DataFrame({"query_id": "q", "result_id": list(range(30)) * 2, "rater_id": ["a"] * 30 + ["b"] * 30,
    ...                      "rating": [1, 5, 2] * 20})
    >>> others = same.assign(rater_id=["c"] * 30 + ["d"] * 30, rating=[5, 1, 2] * 10 + [2, 1, 5] * 10)
    >>> panel_remarks(pd.concat([same, others]))
    ['a and b gave the same answer to all 30 pairs that both rated: they may be one person']
    """
    decided = ratings[ratings["rating"].notna()]
    counts = decided["rater_id"].astype("str").value_counts()
    remarks = list(_one_person(decided)) if len(counts) > 2 else []
    if len(counts) > 2 / MUCH and counts.iloc[0] > MUCH * len(decided):
        remarks.append(f"{counts.index[0]} gave {percent(counts.iloc[0] / len(decided))} of all ratings")
    return remarks


def _one_person(decided: pd.DataFrame) -> Iterator[str]:
    """A sentence for each couple whose answers are all equal, which chance would hardly bring about.

    Under chance each answer of two raters is equal as often as those of all other couples.
    """
    pair = decided.groupby(PAIR, sort=False).ngroup().to_numpy()
    rater, names = pd.factorize(decided["rater_id"].astype("str"), sort=True)
    value = pd.factorize(decided["rating"])[0]
    common = _shared(rater, pair, len(names))
    equal = _shared(rater, pair * (int(value.max()) + 1) + value, len(names))
    first, second = np.triu_indices(len(names), 1)
    common, equal = common[first, second], equal[first, second]
    for k in np.flatnonzero((common >= FEWEST_COMMON) & (equal == common)):
        others = common.sum() - common[k]
        share = (equal.sum() - equal[k] + 1) / (others + 2)
        if others and share ** common[k] * len(common) < BY_CHANCE:
            couple, pairs = f"{names[first[k]]} and {names[second[k]]}", int(common[k])
            yield f"{couple} gave the same answer to all {pairs} pairs that both rated: they may be one person"


def _shared(rater: np.ndarray, thing: np.ndarray, raters: int) -> np.ndarray:
    """How many things each two raters have in common, float [raters, raters]."""
    table = sparse.csr_array((np.ones(len(rater)), (rater, thing)), shape=(raters, int(thing.max()) + 1))
    return np.asarray((table @ table.T).todense())
