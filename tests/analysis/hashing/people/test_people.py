"""Hash codes and ground truths against people's judgments."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.people.audit import audit_truths
from relstudy.analysis.hashing.people.scores import DescribedItems, graded_ndcg, hamming_scores, truth_scores
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture
def world() -> tuple[pd.DataFrame, list[str], np.ndarray, np.ndarray]:
    """Items in four classes; people value nearness, and a shared class on top."""
    rng = np.random.default_rng(8)
    classes = rng.integers(0, 4, 150)
    vectors = rng.standard_normal((4, 6))[classes] * 2 + rng.standard_normal((150, 6))
    ids = [f"i{k}" for k in range(150)]
    queries = np.repeat(np.arange(30), 12)
    results = np.concatenate([rng.choice(np.arange(30, 150), 12, replace=False) for _ in range(30)])
    distance = np.linalg.norm(vectors[queries] - vectors[results], axis=1)
    value = 4.5 - 0.5 * distance + 0.8 * (classes[queries] == classes[results]) + 0.5 * rng.standard_normal(360)
    judged = pd.DataFrame(
        {
            "query_id": [ids[k] for k in queries],
            "result_id": [ids[k] for k in results],
            "judgment": np.clip(value, 1, 5),
            "inclusion_probability": rng.uniform(0.1, 1, 360),
        }
    )
    return judged, ids, vectors, classes


def test_a_hash_codes_score_is_minus_its_hamming_distance(world) -> None:
    judged, ids, vectors, _ = world
    codes = Codes.from_signs(vectors)
    scores = hamming_scores(judged, codes, ids, "sign")
    place = {name: k for k, name in enumerate(ids)}
    own, theirs = (judged[column].map(place).to_numpy() for column in ("query_id", "result_id"))
    assert scores["score"].tolist() == (-codes.distances(codes)[own, theirs]).tolist()
    assert set(scores["system"]) == {"sign"}


def test_pairs_with_unknown_ids_are_left_out_and_none_at_all_is_refused(world) -> None:
    judged, ids, vectors, _ = world
    codes = Codes.from_signs(vectors)
    assert len(hamming_scores(judged, codes.take(slice(0, 100)), ids[:100])) < len(judged)
    with pytest.raises(RelstudyError, match="no judged pair has both its ids"):
        hamming_scores(judged, codes, [f"other{k}" for k in range(150)])


@pytest.mark.slow
def test_the_audit_equals_pearson_and_weighted_auc_of_each_truth(world) -> None:
    judged, ids, vectors, classes = world
    result = audit_truths(judged, DescribedItems(ids, vectors, Labels(classes=classes)), neighbours=20)
    scores = truth_scores(judged, DescribedItems(ids, vectors, Labels(classes=classes)), neighbours=20)
    weight = 1 / judged["inclusion_probability"]
    assert [truth.name for truth in result.truths] == ["class", "epsilon-ball", "k-NN", "distance"]
    for truth in result.truths:
        truth_score = scores.loc[scores["system"] == truth.name, "score"].to_numpy()
        # over the collection: each pair counts as one over its inclusion probability, which the plain one ignores
        moments = np.cov(truth_score, judged["judgment"], aweights=weight)
        weighted = moments[0, 1] / np.sqrt(moments[0, 0] * moments[1, 1])
        assert truth.pearson.value == pytest.approx(weighted, abs=1e-12)
        assert truth.pearson.value != pytest.approx(pearsonr(truth_score, judged["judgment"])[0], abs=1e-4)
        oracle = roc_auc_score(judged["judgment"] > 3.5, truth_score, sample_weight=weight)
        assert truth.auc.value == pytest.approx(oracle, abs=1e-12)
        assert truth.auc.low <= truth.auc.value <= truth.auc.high
    share = np.average(scores.loc[scores["system"] == "class", "score"], weights=weight)
    assert result.truths[0].called_relevant.value == pytest.approx(share, abs=1e-12)
    assert "agrees best with people" in result.sentence()
    assert re.search(r"in \d+ % \[\d+ %, \d+ %\] of cases", result.sentence()), result.sentence()


@pytest.mark.slow
def test_the_audit_names_no_winner_out_of_noise(world) -> None:
    """A truth without anything to do with people was said to agree best with them, at an AUC of .4997 [.460, .539]."""
    judged, ids, vectors, _ = world
    drawn = np.random.default_rng(5)
    noise = drawn.integers(0, 4, len(ids))
    said = audit_truths(judged, DescribedItems(ids, drawn.normal(size=vectors.shape), Labels(classes=noise))).sentence()
    assert said.startswith("No ground truth certainly agrees with people; ") and "agrees best" not in said
    # two truths that are one: neither is better with certainty
    classes = np.asarray(world[3])
    items = DescribedItems(ids, np.eye(classes.max() + 1)[classes] * 100, Labels(classes=classes))
    said = audit_truths(judged, items, neighbours=20).sentence()
    assert "agrees with people, no better than " in said and "with certainty" in said


def test_neighbours_of_a_query_do_not_include_itself(world) -> None:
    _, ids, vectors, _ = world
    itself = pd.DataFrame({"query_id": ids[:3], "result_id": ids[3:6], "judgment": 3.0, "inclusion_probability": 1.0})
    scores = truth_scores(itself, DescribedItems(ids, vectors), neighbours=149)
    assert scores.loc[scores["system"] == "k-NN", "score"].tolist() == [1.0, 1.0, 1.0]


def test_graded_ndcg_is_1_when_distance_orders_results_as_people_do() -> None:
    judged = pd.DataFrame({"query_id": ["a"] * 3, "result_id": list("xyz"), "judgment": [5.0, 3.0, 1.0]})
    codes = Codes.from_bits(np.array([[0, 0], [0, 0], [0, 1], [1, 1]], dtype=bool))
    best = graded_ndcg(judged, hamming_scores(judged, codes, ["a", "x", "y", "z"]))
    worst = graded_ndcg(judged, hamming_scores(judged, codes, ["a", "z", "y", "x"]))
    assert best.value == 1.0
    gains, discount = np.array([4, 2, 0]), 1 / np.log2([2, 3, 4])
    assert worst.value == pytest.approx((gains[::-1] @ discount) / (gains @ discount), abs=1e-12)


def test_graded_ndcg_gains_nothing_at_the_lowest_value_of_the_scale_and_below_it() -> None:
    """Whether somebody happened to give the lowest value to some pair must not change what the others gain."""
    judged = pd.DataFrame({"query_id": ["a"] * 3, "result_id": list("xyz"), "judgment": [2.0, 3.0, 5.0]})
    judged = judged.assign(scale_low=1.0, scale_high=5.0, scale_step=1.0)
    codes = Codes.from_bits(np.array([[0, 0], [0, 0], [0, 1], [1, 1]], dtype=bool))
    ids, discount = ["a", "x", "y", "z"], 1 / np.log2([2, 3, 4])
    # calibration may carry a judgment below the scale: it gains nothing, and takes nothing away
    for judgment, gain in ((2.0, 1.0), (1.0, 0.0), (0.4, 0.0)):
        judged.loc[0, "judgment"] = judgment
        gains = np.array([gain, 2.0, 4.0])
        ndcg = graded_ndcg(judged, hamming_scores(judged, codes, ids))
        assert ndcg.value == pytest.approx((gains @ discount) / (gains[::-1] @ discount), abs=1e-12), judgment


def test_graded_ndcg_without_any_gain_has_a_reason() -> None:
    judged = pd.DataFrame({"query_id": ["a"], "result_id": ["x"], "judgment": [1.0]})
    judged = judged.assign(scale_low=1.0, scale_high=5.0, scale_step=1.0)
    codes = Codes.from_bits(np.eye(2, dtype=bool))
    assert graded_ndcg(judged, hamming_scores(judged, codes, ["a", "x"])).reason is not None


@pytest.mark.slow
def test_scores_then_score_and_audit_run_from_the_command_line(world, tmp_path: Path) -> None:
    judged, ids, vectors, classes = world
    judged.to_csv(tmp_path / "judgments.csv", index=False)
    (tmp_path / "ids.txt").write_text("\n".join(ids))
    np.save(tmp_path / "codes.npy", vectors > 0)
    np.save(tmp_path / "x.npy", vectors)
    (tmp_path / "classes.txt").write_text("\n".join(map(str, classes)))

    def run(*arguments: object) -> dict:
        result = succeeds(*arguments, "--json")
        return json.loads(result.stdout)

    common = ("--judgments", tmp_path / "judgments.csv", "--ids", tmp_path / "ids.txt")
    made = run(
        "hash", "scores", "--codes", tmp_path / "codes.npy", *common, "--system", "sign", "-o", tmp_path / "s.csv"
    )
    assert made["pairs"] == 360
    scored = run("score", tmp_path / "s.csv", "--judgments", tmp_path / "judgments.csv")
    assert scored["systems"]["sign"]["raw"]["pearson"]["value"] > 0.3
    audited = run("hash", "audit", *common, "--vectors", tmp_path / "x.npy", "--labels", tmp_path / "classes.txt")
    assert set(audited["truths"]) == {"class", "epsilon-ball", "k-NN", "distance"}
    words = ("hash", "audit", *common, "--labels", tmp_path / "classes.txt", "--threshold", 3)
    shown = relstudy(*words).stdout
    assert "class agrees with people: it places a pair that people value above one they don't in" in shown
    assert "relevant = judgment > 3;" in shown


def drawn(probabilities: list[float]) -> pd.DataFrame:
    table = pd.DataFrame({"query_id": ["a"] * 3 + ["b"] * 3, "result_id": list("xyzxyz")})
    return table.assign(judgment=[5.0, 3.0, 1.0, 2.0, 5.0, 1.0], inclusion_probability=probabilities)


def test_graded_ndcg_counts_a_pair_as_often_as_it_stands_for() -> None:
    """A pair drawn with probability 1/3 stands for three pairs: the same as three copies of it, all certain."""
    judged = drawn([0.5, 1.0, 1 / 3, 1.0, 0.25, 1.0])
    codes = Codes.from_bits(np.array([[0, 0], [0, 1], [0, 1], [0, 0], [1, 1]], dtype=bool))
    ids = ["a", "x", "y", "z", "b"]
    copies = judged.loc[judged.index.repeat((1 / judged["inclusion_probability"]).round().astype(int))]
    copies = copies.assign(inclusion_probability=1.0, result_id=[f"{r}{i}" for i, r in enumerate(copies["result_id"])])
    rows = [*range(5), *[ids.index(name[0]) for name in copies["result_id"]]]
    certain = hamming_scores(copies, codes.take(np.array(rows)), [*ids, *copies["result_id"]])
    for k in (None, 2, 4):
        weighted = graded_ndcg(judged, hamming_scores(judged, codes, ids), k=k)
        assert weighted.value == pytest.approx(graded_ndcg(copies, certain, k=k).value, abs=1e-12)
    unweighted = graded_ndcg(judged.assign(inclusion_probability=1.0), hamming_scores(judged, codes, ids))
    assert abs(unweighted.value - graded_ndcg(judged, hamming_scores(judged, codes, ids)).value) > 0.01


@pytest.mark.slow
def test_a_few_unknown_probabilities_leave_every_weighted_figure_empty_with_the_reason(world) -> None:
    judged, ids, vectors, classes = world
    judged = judged.copy()
    judged.loc[[3, 5], "inclusion_probability"] = np.nan
    codes = Codes.from_signs(vectors)
    assert "2 of 360 pairs have no inclusion" in str(graded_ndcg(judged, hamming_scores(judged, codes, ids)).reason)
    for truth in audit_truths(judged, DescribedItems(ids, vectors, Labels(classes=classes))).truths:
        for figure in (truth.auc, truth.average_precision, truth.within_queries):
            assert "2 of 360 pairs have no inclusion probability" in str(figure.reason), truth.name


@pytest.mark.slow
def test_the_called_relevant_share_has_an_interval_over_queries(world) -> None:
    judged, ids, _, classes = world
    items = DescribedItems(ids, labels=Labels(classes=classes))
    called = audit_truths(judged, items).truths[0].called_relevant
    by_query = pd.DataFrame({"query": judged["query_id"], "weight": 1 / judged["inclusion_probability"]})
    by_query["called"] = by_query["weight"] * truth_scores(judged, items)["score"]
    sums = by_query.groupby("query").sum()
    # The variance of a ratio by its linear form.
    rest = sums["called"] - called.value * sums["weight"]
    error = np.sqrt(len(sums) * rest.var(ddof=1)) / sums["weight"].sum()
    # A thousand replicates: the ends of a percentile interval are good to a fifth of its half-width.
    assert called.high - called.low == pytest.approx(2 * 1.96 * error, rel=0.2)
    assert called.low < called.value < called.high


def test_the_scores_command_says_how_pairs_were_weighed(world, tmp_path: Path) -> None:
    judged, ids, vectors, _ = world
    (tmp_path / "ids.txt").write_text("\n".join(ids))
    np.save(tmp_path / "codes.npy", vectors > 0)
    for name, table, line in (
        ("drawn", judged, "each pair weighs 1 / its inclusion probability"),
        ("plain", judged.drop(columns="inclusion_probability"), "inclusion probabilities are not known"),
    ):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        words = [
            "--codes",
            tmp_path / "codes.npy",
            "--ids",
            tmp_path / "ids.txt",
            "--judgments",
            tmp_path / f"{name}.csv",
        ]
        result = succeeds("hash", "scores", *words, "-o", tmp_path / "s.csv")
        assert line in result.stdout


@pytest.mark.slow
def test_what_was_decided_about_the_judgments_is_told_with_an_audit_a_truth_and_scores(tmp_path: Path) -> None:
    """Plain means, rows that were set aside and pairs that were left out were not told; a scale was assumed."""
    rows = [f"{rater},{query},{result},{1 + 4 * (query % 2 == result % 2)}," for rater in "ab"
            for query in range(4) for result in range(4, 8)]  # fmt: skip
    rows += ["a,0,nowhere,5,", "a,1,4,1,check"]
    (tmp_path / "r.csv").write_text("\n".join(["rater_id,query_id,result_id,rating,block", *rows]))
    (tmp_path / "ids.txt").write_text("\n".join(map(str, range(8))))
    (tmp_path / "classes.txt").write_text("\n".join(str(item % 2) for item in range(8)))
    np.save(tmp_path / "codes.npy", np.arange(32).reshape(8, 4) % 3 == 0)
    ids, judged = tmp_path / "ids.txt", ("--judgments", tmp_path / "r.csv")
    output = ("-o", tmp_path / "out.npz")
    for words in (
        ("audit", *judged, "--ids", ids, "--labels", tmp_path / "classes.txt"),
        ("truth", "--kind", "judgments", *judged, "--query-ids", ids, "--database-ids", ids, *output),
        ("scores", "--codes", tmp_path / "codes.npy", "--ids", ids, *judged, "-o", tmp_path / "s.csv"),
    ):
        shown = succeeds("hash", *words)
        assert "1 row of block check left out" in shown.stdout
        assert "judgments are plain means of the ratings" in shown.stdout
        assert "1-5" in shown.stdout and "taken from the ratings" in shown.stdout
        left = "16 of 17 judged pairs scored" if words[0] == "scores" else "1 of 17 judged pairs are left out"
        assert left in shown.stdout
