"""Measures under a sample of known probabilities: estimates where it gives them, else empty."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample
from tests.commands import succeeds

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
        assert measures[name].value is None and "number of relevant results per query is too uncertain" in (
            measures[name].reason or ""
        )
    assert measures["condensed RR"].value is None and "only a sample of each list was judged" in (
        measures["condensed RR"].reason or ""
    )
    precision = measures["estimated P@10"]
    order = np.argsort(-table["a"].to_numpy().reshape(grade.shape), axis=1)[:, :10]
    true = (np.take_along_axis(grade, order, axis=1) > 3.5).mean()
    assert precision.low is not None and precision.high is not None and precision.low < true < precision.high


@pytest.mark.slow
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
    assert reason is not None and "cover only the judged results" in reason


@pytest.mark.slow
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
    assert reason is not None and "number of relevant results per query is too uncertain" in reason


def test_judged_pairs_stand_for_others_only_where_their_chances_are_known() -> None:
    table, judgments, _ = collection(20)
    with pytest.raises(RelstudyError, match="inclusion probability of every pair is known"):
        scored(table, judgments.drop(columns="inclusion_probability"), unjudged="weigh")
    names = list(scored(table, judgments, unjudged="skip").result["a"].measures)
    assert names == [f"condensed {name}" for name in MEASURES]


def test_of_a_system_that_ranks_high_what_was_seldom_drawn_sums_have_no_interval_and_no_test() -> None:
    table, judgments, _ = collection(5)
    draw = np.random.default_rng(8)
    turned = table.assign(newcomer=-table["a"] - table["b"] + 0.1 * draw.normal(size=len(table)))
    result = scored(turned, judgments, direction="higher")
    proposer, newcomer = (result.result[name].measures["estimated P@10"] for name in ("a", "newcomer"))
    assert proposer.low is not None
    assert newcomer.value is not None and newcomer.low is None and "ranks high what was seldom drawn" in newcomer.reason
    compared = result.comparisons[result.comparisons["index"] == "estimated P@10"].set_index(["first", "second"])
    assert np.isfinite(compared.loc[("a", "b"), "p_value"]) and np.isnan(compared.loc[("a", "newcomer"), "p_value"])
    for correction in ("holm", "tukey"):
        tests = result.tests(correction=correction, draws=200).set_index(["measure", "first", "second"])
        columns = ["p_t", "p_randomisation", "p_bootstrap", "p_corrected", "p_equivalent", "difference_low"]
        assert tests.loc[("estimated P@10", "a", "newcomer"), columns].isna().all()
        assert tests.loc[("estimated P@10", "a", "b"), columns].notna().all()


def stratified(folder: Path) -> tuple[Path, Path]:
    """A run, and qrels of a pool of three strata, of which all, half and a quarter were judged."""
    draw = random.Random(34)
    pool, run = [], []
    for query in range(1, 7):
        truth = {f"d{number:03}": draw.choice((0, 0, 0, 0, 1, 2)) for number in range(120)}
        ranked = sorted(truth, key=lambda result: -(truth[result] + 1.5 * draw.gauss(0, 1)))
        run += [f"{query} Q0 {result} {rank} {1000 - rank} made" for rank, result in enumerate(ranked[:90], 1)]
        for place, result in enumerate(ranked[:60] + ranked[80:100]):
            stratum = 1 if place < 10 else 2 if place < 40 else 3
            judged = draw.random() < {1: 1.0, 2: 0.5, 3: 0.25}[stratum]
            pool.append(f"{query} 0 {result} {stratum} {truth[result] if judged else -1}")
    qrels, made = folder / "strata.qrels", folder / "made.run"
    qrels.write_text("\n".join(pool) + "\n")
    made.write_text("\n".join(run) + "\n")
    return made, qrels


PRINTED = {
    "AP": (0.5935, 0.6557, 0.5089, 0.5197, 0.6893, 0.5872),
    "nDCG": (0.7860, 0.8837, 0.6862, 0.8165, 0.9089, 0.8047),
    "P@10": (0.7, 0.9, 0.7, 0.7, 0.8, 0.7),
    "P@50": (0.3942, 0.46, 0.48, 0.515, 0.6124, 0.4271),
}
"""infAP, infNDCG, iP10 and iP50 of these files by query, as sample_eval.pl (10 October 2011) prints them."""


def test_from_strata_average_precision_and_ndcg_are_those_of_trecs_program(tmp_path: Path) -> None:
    result = rs.score(*stratified(tmp_path), measures=list(PRINTED), method="none", replicates=50)
    for name, values in PRINTED.items():
        # half of the last digit that is printed
        assert result.per_query[f"estimated {name}"].tolist() == pytest.approx(values, abs=5.01e-5), name
        assert result.result["made"].measures[f"estimated {name}"].value == pytest.approx(np.mean(values), abs=5.01e-5)


def test_a_saved_comparison_keeps_strata(tmp_path: Path) -> None:
    run, qrels = stratified(tmp_path)
    first = rs.score(run, qrels, measures=["AP"], method="none", replicates=50)
    first.save(tmp_path / "kept.json")
    other = tmp_path / "other.run"
    other.write_text(run.read_text().replace("made", "other"))
    both = rs.score(other, against=tmp_path / "kept.json")
    assert both["other"]["estimated AP"] == both["made"]["estimated AP"] == first["made"]["estimated AP"]


def with_late(folder: Path) -> tuple[Path, Path, Path]:
    """The same, and a run that took no part: three of its first ten results lie outside the pool."""
    run, qrels = stratified(folder)
    fields = [line.split() for line in run.read_text().splitlines()]
    moved = {"2", "5", "8"}
    lines = [f"{q} Q0 {'x' * (rank in moved)}{d} {rank} {score} late" for q, _, d, rank, score, _ in fields]
    late = folder / "late.run"
    late.write_text("\n".join(lines) + "\n")
    return run, late, qrels


def test_results_outside_the_pool_are_said_and_leave_no_interval_that_would_not_cover(tmp_path: Path) -> None:
    run, late, qrels = with_late(tmp_path)
    asked = [argument for name in ("P@10", "nDCG@10", "AP") for argument in ("--measure", name)]
    asked += ["--method", "none", "--replicates", 50]
    found = json.loads(succeeds("score", run, late, "-j", qrels, *asked, "--json").stdout)
    made, newcomer = (found["systems"][name]["measures"] for name in ("made", "late"))
    for name in ("estimated P@10", "estimated nDCG@10", "estimated AP"):
        assert made[name]["low"] < made[name]["value"] < made[name]["high"]
        assert newcomer[name]["low"] is None
        assert "nothing judged speaks of 30 % of late's first 10 results" in newcomer[name]["reason"]
    assert "could move it by up to 0.3" in newcomer["estimated P@10"]["reason"]
    assert [found["systems"][name]["first_judged"]["covered@10"] for name in ("made", "late")] == pytest.approx(
        [1, 0.7]
    )
    assert any("Nothing judged speaks of 30 % of late's first 10" in note for note in found["notes"])
    said = succeeds("score", run, late, "-j", qrels, *asked).stdout
    assert "covered@10" in said and "70.0 %" in said and "may be too low" in said


def test_where_the_pool_is_not_known_judged_results_that_stand_for_too_few_are_said(tmp_path: Path) -> None:
    run, late, qrels = with_late(tmp_path)
    rows = pd.read_csv(qrels, sep=" ", names=["query", "zero", "result", "stratum", "grade"])
    rows["chance"] = rows["grade"].ge(0).groupby([rows["query"], rows["stratum"]]).transform("mean")
    judged = rows[rows["grade"] >= 0]
    sampled = tmp_path / "sampled.qrels"
    lines = zip(judged["query"], judged["result"], judged["grade"], judged["chance"], strict=True)
    sampled.write_text("".join(f"{q} 0 {d} {grade} {chance!r}\n" for q, d, grade, chance in lines))
    asked = ("--measure", "P@10", "--method", "none", "--replicates", 50, "--json")
    systems = json.loads(succeeds("score", run, late, "-j", sampled, *asked).stdout)["systems"]
    made, newcomer = (systems[name]["measures"]["estimated P@10"] for name in ("made", "late"))
    assert made["low"] is not None and newcomer["value"] is not None and newcomer["low"] is None
    assert "the judged results stand for 70 % of late's first 10" in newcomer["reason"]
    assert systems["late"]["first_judged"] == {"covered@10": pytest.approx(0.7)} and not systems["made"]["first_judged"]
