"""Score results with any comparisons one likes: who is clearly better than whom, by which index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import pandas as pd

from relstudy.analysis.scoring.compared import BETTER, INDICES, Comparison, Ordering
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.common.estimates import Estimate
from tests.analysis.made import tables

Win = tuple[str, str, str]
"""Better, worse, index."""
FEW = ScoringOptions(replicates=50, measures=())


@cache
def base() -> ScoreResult:
    judgments, scores = tables(systems=(0.7,), queries=12, results=10)
    return score_systems(judgments, scores, options=FEW)


def made(
    names: Sequence[str],
    wins: Collection[Win] = (),
    *,
    indices: Sequence[str] = INDICES,
    pearson: Mapping[str, Estimate] | None = None,
) -> ScoreResult:
    """A result of systems in the order of `names` by every index, in which exactly `wins` are clear.

    Of the other comparisons none is, and an index that is not in `indices` has none at all.
    """
    system = base().systems[0]
    values = {name: Estimate(0.9 - 0.5 * k / len(names), 0.2, 0.95) for k, name in enumerate(names)}
    values |= dict(pearson or {})
    rank = {name: Estimate(0.1 + 0.4 * k / len(names), 0.05, 0.6) for k, name in enumerate(names)}
    systems = [
        replace(
            system,
            name=name,
            pearson=values[name],
            average_precision=values[name] if "average_precision" in indices else Estimate.missing("no weights"),
            normalised_rank=rank[name] if "normalised_rank" in indices else Estimate.missing("no weights"),
        )
        for name in names
    ]
    won = set(wins)
    comparisons = [
        _compared(a, b, index, won) if index in indices else _not_compared(a, b, index)
        for index in INDICES
        for a, b in combinations(names, 2)
    ]
    orderings = [Ordering(index, tuple(names), {}, 10) for index in indices] if len(names) > 1 else []
    per_query = pd.concat([base().per_query.assign(system=name) for name in names], ignore_index=True)
    return replace(
        base(),
        systems=tuple(systems),
        comparisons=tuple(comparisons),
        orderings=tuple(orderings),
        agreement=(),
        per_query=per_query,
    )


def _compared(first: str, second: str, index: str, wins: set[Win]) -> Comparison:
    sign = 1 if BETTER[index] == "higher" else -1
    for better, worse, turn in ((first, second, 1), (second, first, -1)):
        if (better, worse, index) in wins:
            middle = sign * turn * 0.1
            return Comparison(first, second, index, Estimate(middle, middle - 0.06, middle + 0.06), 0.0005, 0.001, 100)
    return Comparison(
        first, second, index, Estimate(sign * 0.02, sign * 0.02 - 0.05, sign * 0.02 + 0.05), 0.4, 1.0, 100
    )


def _not_compared(first: str, second: str, index: str) -> Comparison:
    return Comparison(first, second, index, Estimate.missing("the pairs have no weights"), None, None, 100)


def by_all(better: str, worse: str) -> list[Win]:
    """The better one clearly so by each of the three indices."""
    return [(better, worse, index) for index in INDICES]
