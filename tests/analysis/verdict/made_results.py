"""Score results with any comparisons one likes: who is ahead of whom by the primary index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from relstudy.analysis.indices.registry import index_of, own_indices
from relstudy.analysis.resampling.best_set import Ranks
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import Primary
from relstudy.analysis.scoring.results import Comparison, Ordering, ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.common.results.estimates import Estimate
from tests.analysis.made import tables

Win = tuple[str, str]
"""Better, worse."""
INDICES = tuple(index.name for index in own_indices())
FEW = ScoringOptions(replicates=50, measures=())
STEP, REACH = 0.02, 0.05
"""Of a difference that is not clear, and half of its interval."""


@cache
def base() -> ScoreResult:
    judgments, scores = tables(systems=(0.7,), queries=12, results=10)
    return score_systems(judgments, scores, options=FEW)


def made(
    names: Sequence[str],
    wins: Collection[Win] = (),
    *,
    primary: str = "pearson",
    compared: bool = True,
    reach: float = REACH,
    pearson: Mapping[str, Estimate] | None = None,
) -> ScoreResult:
    """A result of systems in the order of `names`, in which exactly `wins` are clear, by every index.

    Parameters
    ----------
    wins : ranks follow from them: a system ranks below those that win over it and above those it wins over
    compared : whether any index has values
    reach : half of the interval of a difference that is not clear
    pearson : further estimates by name
    """
    system, won = base().systems[0], set(wins)
    values = {name: Estimate(0.9 - 0.5 * k / len(names), 0.2, 0.95) for k, name in enumerate(names)}
    rank = {name: Estimate(0.1 + 0.4 * k / len(names), 0.05, 0.6) for k, name in enumerate(names)}
    given = {index: rank if index_of(index).sign < 0 else values for index in INDICES}
    if not compared:
        given = dict.fromkeys(INDICES, dict.fromkeys(names, Estimate.missing("no weights")))
    given["pearson"] = given["pearson"] | dict(pearson or {})
    systems = [replace(system, name=name, indices={index: given[index][name] for index in INDICES}) for name in names]
    comparisons = [_compared(a, b, index, won, reach, compared) for index in INDICES for a, b in combinations(names, 2)]
    better = np.array([[(other, name) in won for other in names] for name in names])
    low, high = 1 + better.sum(axis=1), len(names) - better.sum(axis=0)
    per_query = pd.concat([base().per_query.assign(system=name) for name in names], ignore_index=True)
    return replace(
        base(),
        systems=tuple(systems),
        comparisons=tuple(comparisons),
        orderings=tuple(Ordering(index, tuple(names), {}, 10) for index in INDICES) if len(names) > 1 else (),
        agreement=(),
        per_query=per_query,
        primary=Primary(primary, "as stated"),
        ranks=Ranks(low, high, better, np.where(better, 0.01, 0.5)),
    )


def _compared(first: str, second: str, index: str, wins: set[Win], reach: float, compared: bool) -> Comparison:
    if not compared:
        return Comparison(first, second, index, Estimate.missing("the pairs have no weights"), None, None, 100)
    sign = index_of(index).sign
    for better, worse, turn in ((first, second, 1), (second, first, -1)):
        if (better, worse) in wins:
            middle = sign * turn * 0.1
            return Comparison(first, second, index, Estimate(middle, middle - 0.06, middle + 0.06), 0.0005, 0.001, 100)
    return Comparison(
        first, second, index, Estimate(sign * STEP, sign * STEP - reach, sign * STEP + reach), 0.4, 1.0, 100
    )


def over_all(better: Collection[str], worse: Collection[str]) -> list[Win]:
    """Each of the first over each of the second."""
    return [(a, b) for a in better for b in worse]
