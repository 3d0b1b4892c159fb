"""Measures under a sample of known probabilities: estimates where it gives them, else empty."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.common.drawing import inclusion_probabilities, rank_share, systematic_sample
from relstudy.common.errors import RelstudyError

QUERIES, RESULTS = 50, 120
MEASURES = ("nDCG@10", "P@10", "AP", "RR")


def collection(drawn: int, seed: int = 3) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Scores of all results by two systems, judgments of a sample of them by the systems' ranks, and every grade."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=(QUERIES, RESULTS))
    grade = 1 + sum((truth > cut) * 1.0 for cut in (0.3, 0.9, 1.3, 1.8))
    scores = {
        name: r * truth + np.sqrt(1 - r * r) * random.normal(size=truth.shape) for name, r in (("a", 0.8), ("b", 0.5))
    }
    rows = []
    for query in range(QUERIES):
        share = np.mean([rank_share(each[query], 1.0)[0] for each in scores.values()], axis=0)
        chance = inclusion_probabilities(0.9 * share + 0.1 / RESULTS, drawn)
        rows += [(f"q{query}", f"d{k}", grade[query, k], chance[k]) for k in systematic_sample(chance, random)]
    judgments = pd.DataFrame(rows, columns=["query_id", "result_id", "judgment", "inclusion_probability"])
    query, result = np.divmod(np.arange(QUERIES * RESULTS), RESULTS)
    ids = {"query_id": [f"q{q}" for q in query], "result_id": [f"d{d}" for d in result]}
    table = pd.DataFrame(ids | {name: each.ravel() for name, each in scores.items()})
    return table, judgments, grade


def scored(table: pd.DataFrame, judgments: pd.DataFrame, **changes: object) -> rs.api.scores.Scores:
    chosen: dict = {"measures": MEASURES, "scale": "1-5", "method": "none", "replicates": 100} | changes
    return rs.score(table, judgments, **chosen)


def test_few_judged_of_many_give_precision_with_an_interval_and_no_ratio() -> None:
    table, judgments, grade = collection(5)
    measures = scored(table, judgments).result["a"].measures
    for name in ("estimated nDCG@10", "estimated AP"):
        assert measures[name].value is None and "too few relevant results" in (measures[name].reason or "")
    assert measures["condensed RR"].value is None and "drawn by lot" in (measures["condensed RR"].reason or "")
    precision = measures["estimated P@10"]
    order = np.argsort(-table["a"].to_numpy().reshape(grade.shape), axis=1)[:, :10]
    true = (np.take_along_axis(grade, order, axis=1) > 3.5).mean()
    assert precision.low is not None and precision.high is not None and precision.low < true < precision.high


def test_with_enough_judged_all_are_near_the_truth_and_tests_are_paired_t() -> None:
    table, judgments, grade = collection(60)
    result = scored(table, judgments)
    whole = pd.DataFrame(
        {name: table[name] for name in ("query_id", "result_id")}
        | {"judgment": grade.ravel(), "inclusion_probability": 1.0}
    )
    truth = scored(table, whole, unjudged="skip").result["a"].measures
    for name in ("nDCG@10", "P@10", "AP"):
        found = result.result["a"].measures[f"estimated {name}"]
        assert found.low is not None and found.high is not None
        assert found.low < truth[f"condensed {name}"].value < found.high
    by_query = result.per_query.pivot(index="query_id", columns="system", values="estimated AP").dropna()
    theirs = stats.ttest_rel(by_query["a"], by_query["b"]).pvalue
    compared = result.comparisons.set_index("index").loc["estimated AP"]
    assert compared["p_value"] == pytest.approx(theirs)
    assert result.tests().set_index("measure").loc["estimated AP", "p_t"] == pytest.approx(theirs)
    assert (result.per_query["estimated AP error"] > 0).any()


def test_a_table_of_the_judged_pairs_alone_has_no_places_to_estimate_from() -> None:
    table, judgments, _ = collection(20)
    part = table.merge(judgments[["query_id", "result_id"]])
    reason = scored(part, judgments).result["a"].measures["estimated P@10"].reason
    assert reason is not None and "do not hold the results between those judged" in reason


def test_sampled_qrels_with_runs_give_the_same_estimates_as_a_table(tmp_path: Path) -> None:
    table, judgments, _ = collection(60)
    qrels, run = tmp_path / "sample.qrels", tmp_path / "a.run"
    judgments = judgments.assign(judgment=judgments["judgment"] - 1)
    lines = judgments.astype({"judgment": int}).itertuples(index=False)
    qrels.write_text("".join(f"{q} 0 {d} {grade} {p!r}\n" for q, d, grade, p in lines))
    rows = table[["query_id", "result_id", "a"]].itertuples(index=False)
    run.write_text("".join(f"{q} Q0 {d} 1 {score!r} a\n" for q, d, score in rows))
    ours = rs.score(run, qrels, measures=["P@10", "AP"], method="none", replicates=50).result["a"].measures
    theirs = scored(
        table[["query_id", "result_id", "a"]], judgments, measures=["P@10", "AP"], scale="0-4", threshold=0.5
    )
    for name in ("estimated P@10", "estimated AP"):
        assert ours[name].value == pytest.approx(theirs.result["a"].measures[name].value)


def test_a_saved_comparison_keeps_estimates(tmp_path: Path) -> None:
    table, judgments, _ = collection(20)
    scored(table[["query_id", "result_id", "a"]], judgments).save(tmp_path / "kept.json")
    both = rs.score(table[["query_id", "result_id", "b"]], judgments, against=tmp_path / "kept.json", scale="1-5")
    assert both.result["a"].measures["estimated P@10"].value is not None
    reason = both.result["a"].measures["estimated nDCG@10"].reason
    assert reason is not None and "too few relevant results" in reason


def test_judged_pairs_stand_for_others_only_where_their_chances_are_known() -> None:
    table, judgments, _ = collection(20)
    with pytest.raises(RelstudyError, match="inclusion probability of every pair is known"):
        scored(table, judgments.drop(columns="inclusion_probability"), unjudged="weigh")
    names = list(scored(table, judgments, unjudged="skip").result["a"].measures)
    assert names == [f"condensed {name}" for name in MEASURES]
