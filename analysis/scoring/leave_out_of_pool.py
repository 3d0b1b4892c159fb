"""A system's figures as they would be had it not been pooled: its measures without the judged results that it alone
brought in, and how the order of the systems changes.

Who takes no part in a pool is measured by results that others found. Leaving each system out in turn shows how much
that costs (Zobel 1998; Buckley, Dimmick, Soboroff and Voorhees 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.judged_coverage import in_order
from relstudy.analysis.indices.measures import ByQuery, Evaluation, parsed_measure
from relstudy.analysis.indices.registry import index_called, index_of
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.primary import asked_measures, unjudged_in
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed, listed_some


@dataclass(frozen=True)
class LeftOut:
    """A system by a measure, with all judgments and without those that it alone brought into the pool.

    Parameters
    ----------
    system : its name
    measure : its name
    value, without : the figure with all judgments, and without its own
    rank, rank_without : among all systems that are scored, by the same judgments as each of these; equal figures share
        the better rank
    alone : how many judged results it alone has among its first ones
    relevant : how many of these are relevant, of a grade from 1
    """

    system: str
    measure: str
    value: float
    without: float
    rank: int
    rank_without: int
    alone: int
    relevant: int


@dataclass(frozen=True)
class LeftOutOnes:
    """Every system, left out of the pool in turn.

    Parameters
    ----------
    depth : how many first results of each system were pooled
    systems : one a measure and system
    """

    depth: int
    systems: tuple[LeftOut, ...]

    def table(self) -> pd.DataFrame:
        """A row a measure and system."""
        rows = [each.__dict__ | {"change": each.without - each.value} for each in self.systems]
        names = ["measure", "system", "value", "without", "change", "rank", "rank_without", "alone", "relevant"]
        return pd.DataFrame(rows, columns=names)

    def sentences(self) -> list[str]:
        """Sentences on what was left out, and for each measure on the systems whose rank changes."""
        said = [
            "Left out of the pool: each system without the judged results that, of these systems, it alone has among "
            f"its first {self.depth}; what a system outside this comparison brought in as well is left out too."
        ]
        for measure, rows in groupby(self.systems, key=lambda each: each.measure):
            moved = [
                f"{each.system} from {each.rank} to {each.rank_without}"
                for each in rows
                if each.rank != each.rank_without
            ]
            term = index_of(measure).term
            said.append(
                f"By {term} {listed_some(moved)} would change rank." if moved else f"By {term} no rank would change."
            )
        return said

    def as_json(self) -> dict[str, Any]:
        return {"depth": self.depth, "systems": self.table().to_dict("records")}


def left_out(
    pairs: JudgedPairs, candidates: Sequence[Candidate], scores: Mapping[str, pd.DataFrame], options: ScoringOptions
) -> LeftOutOnes:
    """Every system without the judged results that it alone has among its first `options.pool_depth`.

    Parameters
    ----------
    scores : query_id, result_id, score of everything that each system retrieved, by its name

    Raises
    ------
    RelstudyError
        where the judgments are not whole qrels, there are no two systems or no measures, or the scores of one are not
        known
    """
    depth = options.pool_depth
    assert depth is not None
    asked = option("pool_depth", depth)
    if not pairs.qrels:
        raise RelstudyError(f"{asked} goes with whole qrels, whose pairs were pooled and not sampled")
    names = [str(parsed_measure(name)) for name in asked_measures(options)]
    if len(candidates) < 2 or not names:
        raise RelstudyError(f"{asked} compares systems by measures: two systems and a measure are needed")
    unknown = [each.name for each in candidates if each.name not in scores]
    if unknown:
        raise RelstudyError(f"{asked} needs all that each system retrieved, and of {listed(unknown)} it is not kept")
    alone = _alone(pairs, [_first(pairs, scores[each.name], each.direction.higher, depth) for each in candidates])
    whole = pairs.evaluation(names)
    runs = {each.name: whole.run(scores[each.name], each.direction.higher) for each in candidates}
    unjudged = unjudged_in(pairs, options)
    skip, indices = unjudged == "skip", {name: index_called(name, unjudged) for name in names}
    before = _values(whole, runs, pairs, skip)
    found: dict[str, list[LeftOut]] = {name: [] for name in names}
    for candidate, own in zip(candidates, alone, strict=True):
        rest = whole.without(pairs.query_id[own], pairs.result_id[own])
        after = _values(rest, runs, pairs, skip) if own.any() else before
        relevant = int((own & (pairs.judgment >= 1)).sum())
        system = candidate.name
        for name in names:
            first, second = (_rank(each[name], system, indices[name].sign) for each in (before, after))
            value, without = before[name][system], after[name][system]
            found[name].append(
                LeftOut(system, indices[name].name, value, without, first, second, int(own.sum()), relevant)
            )
    rows = [each for name in names for each in sorted(found[name], key=lambda one: one.rank)]
    return LeftOutOnes(depth, tuple(rows))


def _first(pairs: JudgedPairs, scores: pd.DataFrame, higher: bool, depth: int) -> pd.MultiIndex:
    """A system's first results of each query."""
    kept, _, place = in_order(pairs.queries, scores, higher)
    rows = scores.iloc[kept[place < depth]]
    return pd.MultiIndex.from_arrays(
        [rows[name].astype("str").to_numpy(dtype=object) for name in ("query_id", "result_id")]
    )


def _alone(pairs: JudgedPairs, firsts: Sequence[pd.MultiIndex]) -> list[np.ndarray]:
    """For each system, which judged pairs (bool) are among its first results and no other's."""
    keys = pd.MultiIndex.from_arrays([pairs.query_id, pairs.result_id])
    has = np.array([keys.isin(each) for each in firsts])
    return list(has & (has.sum(axis=0) == 1))


def _values(
    evaluation: Evaluation, runs: Mapping[str, ByQuery], pairs: JudgedPairs, skip: bool
) -> dict[str, dict[str, float]]:
    """Each measure of each system, over queries by their weights; of judged results alone where others are skipped."""
    found: dict[str, dict[str, float]] = {name: {} for name in evaluation.measures}
    for system, run in runs.items():
        if skip:
            judged = evaluation.judged
            run = {q: {d: s for d, s in each.items() if judged.get(q, {}).get(d, -1) >= 0} for q, each in run.items()}
        by_measure = evaluation.of_run(pairs.queries, run)
        for name, values in by_measure.items():
            found[name][system] = float(values.weighted(pairs.worth_of_queries).total())
    return found


def _rank(values: Mapping[str, float], system: str, sign: float) -> int:
    return 1 + sum(sign * other > sign * values[system] for other in values.values())
