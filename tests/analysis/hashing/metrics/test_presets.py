"""Each preset against the rule of the evaluator it is named after, without ties and over random orders of ties."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.evaluate import evaluate
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision


def without_ties(relevant: np.ndarray) -> CountTable:
    """One code at each distance: the ranking is the order of the columns."""
    return CountTable(np.ones(relevant.shape, dtype=int), relevant.astype(int), {"unlabelled": []})


def precisions_at_hits(relevant: np.ndarray, k: int) -> list[list[float]]:
    """For each query the precision at each of its hits among the first k."""
    return [[sum(row[:rank]) / rank for rank in range(1, min(k, len(row)) + 1) if row[rank - 1]] for row in relevant]


def mean_over_queries_with_a_hit(relevant: np.ndarray, k: int) -> float | None:
    kept = [np.mean(found) for found in precisions_at_hits(relevant, k) if found]
    return float(np.mean(kept)) if kept else None


def zero_without_a_hit(relevant: np.ndarray, k: int) -> float:
    return float(np.mean([np.mean(found) if found else 0.0 for found in precisions_at_hits(relevant, k)]))


def over_queries_with_a_relevant_code(relevant: np.ndarray, k: int) -> float | None:
    answerable = relevant[relevant.any(axis=1)]
    return zero_without_a_hit(answerable, k) if len(answerable) else None


def over_all_relevant(relevant: np.ndarray, k: int) -> float | None:
    answerable = relevant[relevant.any(axis=1)]
    found = precisions_at_hits(answerable, k)
    return float(np.mean(np.array([sum(f) for f in found]) / answerable.sum(axis=1))) if len(answerable) else None


def over_the_first_k_relevant(relevant: np.ndarray, k: int) -> float:
    """Not a cut of the ranking: the first k relevant codes wherever they are."""
    found = [np.flatnonzero(row)[:k] + 1 for row in relevant]
    return float(np.mean([np.mean(np.arange(1, len(ranks) + 1) / ranks) if len(ranks) else 0.0 for ranks in found]))


def over_queries_with_a_label(relevant: np.ndarray, k: int) -> float:
    """Every query of these tests has a label, so that none is left out."""
    return zero_without_a_hit(relevant, k)


def trec_eval(relevant: np.ndarray, k: int) -> float:
    qrels = {f"q{i}": {f"d{j}": int(grade) for j, grade in enumerate(row)} for i, row in enumerate(relevant)}
    run = {query: {document: -float(document[1:]) for document in judged} for query, judged in qrels.items()}
    found = pytrec_eval.RelevanceEvaluator(qrels, {f"map_cut.{k}"}).evaluate(run)
    return float(np.mean([figures[f"map_cut_{k}"] for figures in found.values()]))


RULES: dict[str, Callable[[np.ndarray, int], float | None]] = {
    "moran": over_queries_with_a_relevant_code,
    "ramap": over_queries_with_a_relevant_code,
    "ramap-printed": over_all_relevant,
    "hashnet": mean_over_queries_with_a_hit,
    "deephash-pytorch": zero_without_a_hit,
    "dcmh": zero_without_a_hit,
    "calc-map-k": over_the_first_k_relevant,
    "csq": over_queries_with_a_label,
    "trec-eval": trec_eval,
}


@pytest.mark.slow
@pytest.mark.parametrize("preset", RULES)
@given(arrays(bool, st.tuples(st.integers(1, 6), st.integers(1, 12))), st.integers(1, 15))
def test_a_preset_is_the_rule_of_its_evaluator(preset: str, relevant: np.ndarray, k: int) -> None:
    ours = evaluate(without_ties(relevant), k=[k], conventions=PRESETS[preset])["map_at_k"][str(k)]
    theirs = RULES[preset](relevant, k)
    assert ours["pessimistic"] == ours["optimistic"]
    assert ours["expected"] == (
        None if theirs is None else pytest.approx(theirs, abs=1e-6)
    )  # trec_eval keeps few digits


def test_every_preset_but_the_default_is_tested() -> None:
    assert set(PRESETS) == {"default", *RULES}


@pytest.mark.parametrize("preset", RULES)
@pytest.mark.parametrize("k", [3, 12, 40])
def test_a_preset_is_the_mean_of_its_evaluator_over_random_orders_of_ties(preset: str, k: int) -> None:
    """Codes at one distance come in any order; the evaluator runs on 400 such orders, as its sort might leave them."""
    rng = np.random.default_rng(k)
    distance = rng.integers(0, 5, (8, 40))
    relevant = rng.random((8, 40)) < 0.25 * (5 - distance) / 5
    relevant[0] = False  # one query has no relevant code at all
    total = np.stack([(distance == r).sum(axis=1) for r in range(5)], axis=1)
    hits = np.stack([((distance == r) & relevant).sum(axis=1) for r in range(5)], axis=1)
    table = CountTable(total, hits, {"unlabelled": []})
    ours = evaluate(table, k=[k], conventions=PRESETS[preset])["map_at_k"][str(k)]
    theirs = []
    for _ in range(400):
        order = np.lexsort((rng.random(distance.shape), distance), axis=1)
        found = RULES[preset](np.take_along_axis(relevant, order, axis=1), k)
        assert found is not None
        theirs.append(found)
    # trec_eval keeps few digits; the mean of 400 orders lies within four of its standard errors
    assert ours["pessimistic"] - 1e-6 <= min(theirs) and max(theirs) <= ours["optimistic"] + 1e-6
    assert ours["expected"] == pytest.approx(np.mean(theirs), abs=4 * np.std(theirs) / 20 + 1e-6)


def test_dividing_by_hits_is_what_gives_figures_of_the_size_of_jiang_li_and_lis_table_2() -> None:
    """5,000 of 59,000 returned, precision about 0.18, 5,900 relevant: its MAP of 0.1792 is not over all relevant."""
    relevant = np.zeros((1, 59_000), dtype=bool)
    relevant[0, np.arange(0, 5000, 5)] = True  # 1,000 hits, spread evenly
    relevant[0, 5000 + np.arange(4900)] = True
    figures = {
        name: mean_average_precision(without_ties(relevant), 5000, PRESETS[name].denominator).expected
        for name in ("ramap", "ramap-printed", "default", "trec-eval")
    }
    assert figures["ramap"] == pytest.approx(0.2, abs=0.002)
    assert figures["default"] < 0.05
    assert figures["trec-eval"] < 0.05
    assert figures["ramap-printed"] < 0.05  # the table does not follow the printed formula


def test_empty_balls_count_as_0_in_jiang_li_and_li() -> None:
    table = CountTable(np.array([[0, 1], [1, 0]]), np.array([[0, 1], [1, 0]]))
    assert evaluate(table, radius=[0], conventions=PRESETS["ramap"])["radius"][0]["precision_macro"] == 0.5
