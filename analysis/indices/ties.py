"""The range of a measure over orders of equal scores: trec_eval sorts them by result_id, which says nothing of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.analysis.indices.judged_coverage import in_order
from relstudy.analysis.indices.measures import Evaluation, QueryValues, parsed_measure
from relstudy.common.runtime.wording import span

RISING = frozenset(["nDCG", "P", "R", "AP", "RR", "Rprec", "RBP", "ERR", "Success", "IPrec", "NumRet", "SDCG", "BPM"])
"""Measures that are highest where of equal scores the better results come first, and lowest where they come last."""

TOLD = 0.0005
"""The least width that three digits show."""


@dataclass(frozen=True)
class TieRange:
    """Measures of a run over every order of its equal scores.

    Parameters
    ----------
    queries : how many have results of equal score and unequal grades
    ends : the least and the greatest value of each measure, by name
    """

    queries: int
    ends: Mapping[str, tuple[float, float]]


def tie_range(
    values: Mapping[str, QueryValues], evaluation: Evaluation, queries: np.ndarray, scores: pd.DataFrame, higher: bool
) -> TieRange | None:
    """The measures' values with equal scores in the best and in the worst order; None where that moves none by `TOLD`.

    Parameters
    ----------
    values : the measures as trec_eval breaks ties, by their names
    evaluation : by the qrels that the values are of
    queries : names of the qrels' queries
    scores : query_id, result_id, score: everything the system retrieved, judged or not
    higher : whether a higher score is better

    Examples
    --------
    >>> pairs = np.array(["q", "q"]), np.array(["a", "b"]), np.array([1, 0])
    >>> run = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["a", "b"], "score": [3.0, 3.0]})
    >>> queries = np.array(["q"])
    >>> evaluation = Evaluation.of_pairs(["RR"], *pairs)
    >>> values = evaluation.of_run(queries, evaluation.run(run, True))
    >>> tie_range(values, evaluation, queries, run, True)
    TieRange(queries=1, ends={'RR': (0.5, 1.0)})
    """
    names = [name for name in values if parsed_measure(name).NAME in RISING]
    if not names:
        return None
    kept, query, place = in_order(queries, scores, higher)
    if not len(kept):
        return None
    score = scores["score"].to_numpy(dtype=float)[kept]
    level = np.cumsum(np.r_[True, (np.diff(score) != 0) | (np.diff(query) != 0)])
    if level[-1] == len(level):
        return None
    grade = _grades(evaluation, scores.iloc[kept])
    unequal = (np.diff(level) == 0) & (np.diff(grade) != 0)
    touched = np.unique(query[1:][unequal])
    if not len(touched):
        return None
    inside = np.isin(query, touched)
    rows = scores.iloc[kept[inside]]
    chosen = evaluation.of(names)
    sums = []
    for sign in (1, -1):
        order = np.lexsort((place[inside], sign * grade[inside], level[inside]))
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order), 0, -1)
        found = chosen.of_run(queries, chosen.run(rows.assign(score=rank), True))
        sums.append({name: _with(values[name], found[name], touched).total() for name in names})
    ends = {name: (min(low, high), max(low, high)) for name in names for low, high in [(sums[0][name], sums[1][name])]}
    ends = {name: (low, high) for name, (low, high) in ends.items() if high - low >= TOLD}
    return TieRange(len(touched), ends) if ends else None


def in_single_precision(
    values: Mapping[str, QueryValues], evaluation: Evaluation, queries: np.ndarray, scores: pd.DataFrame, higher: bool
) -> dict[str, float]:
    """The measures that trec_eval itself gives another value, since it keeps scores in single precision.

    There scores that are large and close, such as seconds since 1970, are ties. Parameters are those of `tie_range`.

    Examples
    --------
    >>> pairs = np.array(["q", "q"]), np.array(["a", "b"]), np.array([1, 0])
    >>> run = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["a", "b"], "score": [1.7e9 + 1, 1.7e9]})
    >>> queries = np.array(["q"])
    >>> evaluation = Evaluation.of_pairs(["RR"], *pairs)
    >>> in_single_precision(evaluation.of_run(queries, evaluation.run(run, True)), evaluation, queries, run, True)
    {'RR': 0.5}
    """
    with np.errstate(over="ignore"):
        single = scores["score"].to_numpy(dtype=float).astype(np.float32).astype(float)
    query = pd.factorize(scores["query_id"])[0]
    names = [name for name in values if parsed_measure(name).NAME in RISING]
    if not names or _distinct(query, single) == _distinct(query, scores["score"].to_numpy(dtype=float)):
        return {}
    limits = np.finfo(np.float32)
    rounded = scores.assign(score=np.clip(single, limits.min, limits.max))
    chosen = evaluation.of(names)
    found = chosen.of_run(queries, chosen.run(rounded, higher))
    totals = {name: found[name].total() for name in names}
    return {name: total for name, total in totals.items() if abs(total - values[name].total()) >= TOLD}


def _distinct(query: np.ndarray, score: np.ndarray) -> int:
    order = np.lexsort((score, query))
    return 1 + int(((np.diff(query[order]) != 0) | (np.diff(score[order]) != 0)).sum())


def _grades(evaluation: Evaluation, rows: pd.DataFrame) -> np.ndarray:
    """The grade of each row, 0 where nobody judged."""
    judged = {name: evaluation.judged[number] for name, number in evaluation.numbers.items()}
    pairs = zip(rows["query_id"].astype("str"), rows["result_id"].astype("str"), strict=True)
    return np.maximum([float(judged[query].get(result, 0)) for query, result in pairs], 0.0)


def _with(all_of_them: QueryValues, again: QueryValues, touched: np.ndarray) -> QueryValues:
    values = all_of_them.values.copy()
    values[touched] = again.values[touched]
    return QueryValues(values, all_of_them.summed)


def single_precision_in_words(system: str, found: Mapping[str, float], values: Mapping[str, QueryValues]) -> str:
    """The values that trec_eval gives a run, beside those here, in a sentence."""
    said = [f"{name} {values[name].total():.3f} (trec_eval: {total:.3f})" for name, total in found.items()]
    return (
        f"{system} has scores that differ by less than single precision holds, where trec_eval makes them ties: "
        f"{', '.join(said)}."
    )


def in_words(system: str, found: TieRange, values: Mapping[str, QueryValues]) -> str:
    """The effect of the order of equal scores on a system's measures, in a sentence; `values` as they stand."""
    said = [f"{name} {values[name].total():.3f} ({span(low, high)})" for name, (low, high) in found.ends.items()]
    where = "1 query" if found.queries == 1 else f"{found.queries:,} queries"
    return (
        f"{system} has equal scores of good and poor results in {where}. They stand as trec_eval sorts them, by "
        f"result_id descending; other orders give, from worst to best: {', '.join(said)}."
    )
