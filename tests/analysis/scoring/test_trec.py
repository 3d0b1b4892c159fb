"""TREC's forms and measures, against trec_eval's own expected outputs."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.indices.measures import Evaluation
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.scoring.trec import gains, write_qrels
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import Scale
from relstudy.mapping.scores.score_files import read_scores, write_scores

OURS = {"AP": "map", "Rprec": "Rprec", "Bpref": "bpref", "RR": "recip_rank"} | {
    f"P@{k}": f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)
}


def expected(file: Path, query: str) -> dict[str, str]:
    rows = (line.split() for line in file.read_text().splitlines())
    return {name: value for name, row_query, value in rows if row_query == query}


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    judgments = read_judgments(folder / "qrels.test").frame
    run = read_scores(folder / "results.test").frame
    qrels = pd.DataFrame(
        {
            "query_id": judgments["query_id"],
            "doc_id": judgments["result_id"],
            "relevance": judgments["judgment"].astype(int),
        }
    )
    return qrels, run


@pytest.mark.real_data
def test_trec_evals_expected_output_is_reproduced_to_its_digits(shared_data: Path) -> None:
    folder = shared_data / "trec_eval_test"
    qrels, run = read(folder)
    evaluation, queries = Evaluation(list(OURS), qrels), qrels["query_id"].unique()
    values = evaluation.of_run(queries, evaluation.run(run, higher=True))
    for number, query in enumerate(("301", "302", "303")):
        want = expected(folder / "out.test.aq", query)
        have = {OURS[name]: f"{each.values[number]:.4f}" for name, each in values.items()}
        assert queries[number] == query and have == {n: want[n] for n in OURS.values()}
    want = expected(folder / "out.test", "all")
    assert {OURS[name]: f"{each.total():.4f}" for name, each in values.items()} == {n: want[n] for n in OURS.values()}
    assert (want["map"], want["Rprec"], want["P_10"]) == ("0.1785", "0.2174", "0.3000")


def test_qrels_and_run_written_by_us_are_read_back_by_ir_measures(tmp_path: Path) -> None:
    judgments = pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "result_id": ["a", "b", "é"], "judgment": [0.0, 2.0, 1.0]}
    )
    write_qrels(judgments, tmp_path / "judgments.qrels")
    scores = judgments[["query_id", "result_id"]].assign(system="one", score=[0.1, 0.123456789012345, -3e-7])
    write_scores(scores, tmp_path / "one.run")
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "judgments.qrels")))
    assert [(row.query_id, row.doc_id, row.relevance) for row in qrels] == [
        ("q1", "a", 0),
        ("q1", "b", 2),
        ("q2", "é", 1),
    ]
    run = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(tmp_path / "one.run"))}
    assert run == {("q1", "a"): 0.1, ("q1", "b"): 0.123456789012345, ("q2", "é"): -3e-7}


def test_qrels_refuse_what_they_cannot_keep(tmp_path: Path) -> None:
    table = pd.DataFrame({"query_id": ["q"], "result_id": ["a"], "judgment": [2.5]})
    with pytest.raises(RelstudyError, match=r"qrels hold whole numbers and 2\.5 is not one"):
        write_qrels(table, tmp_path / "x.qrels")
    with pytest.raises(RelstudyError, match="cannot keep a blank in query_id: 'bluetooth speaker'"):
        write_qrels(table.assign(query_id="bluetooth speaker", judgment=2.0), tmp_path / "x.qrels")
    assert not (tmp_path / "x.qrels").exists()


def test_judgments_read_from_qrels_score_like_those_from_a_table(tmp_path: Path) -> None:
    table = pd.DataFrame({"query_id": ["1", "1"], "result_id": ["a", "b"], "judgment": [0.0, 2.0]})
    write_qrels(table, tmp_path / "j.qrels")
    assert JudgedPairs.of(read_judgments(tmp_path / "j.qrels")).judgment.tolist() == [0.0, 2.0]


def test_gains_round_halves_up_and_never_fall_below_zero() -> None:
    assert gains(np.array([-1.0, 0.5, 1.49, 1.5, 4.5]), Scale.between(1, 5)).tolist() == [0, 0, 0, 1, 4]


def test_ndcg_of_three_results_is_the_formula_worked_by_hand() -> None:
    pairs = np.array(["q"] * 3), np.array(["a", "b", "c"])
    evaluation = Evaluation.of_pairs(["nDCG@3"], *pairs, np.array([0, 1, 3]))
    values = evaluation.of_run(np.array(["q"]), evaluation.run_of(*pairs, np.array([0.9, 0.5, 0.7])))
    ideal = 3 / np.log2(2) + 1 / np.log2(3)
    assert values["nDCG@3"].total() == pytest.approx((3 / np.log2(3) + 1 / np.log2(4)) / ideal)


def test_a_measure_nobody_knows_is_named() -> None:
    with pytest.raises(RelstudyError, match="'nonsense@3' is not a measure"):
        Evaluation.of_pairs(["nonsense@3"], np.array(["q"]), np.array(["a"]), np.array([1]))


def test_on_a_scale_from_0_to_6_the_gains_are_the_ratings_though_nobody_gave_a_0() -> None:
    rng = np.random.default_rng(0)
    ids = {"query_id": [f"q{row // 8}" for row in range(80)], "result_id": [f"r{row}" for row in range(80)]}
    judgments = pd.DataFrame(ids | {"judgment": rng.integers(1, 7, 80).astype(float), "scale_low": 0, "scale_high": 6})
    judgments["scale_step"] = 1
    scores = pd.DataFrame(ids | {"system": "one", "score": rng.random(80)})
    options = ScoringOptions(directions={"*": "higher"}, replicates=2, measures=("nDCG@5",))
    result = score_systems(judgments, scores, options=options)
    qrels = [
        ir_measures.Qrel(q, r, int(j))
        for q, r, j in judgments[["query_id", "result_id", "judgment"]].itertuples(index=False)
    ]
    run = [
        ir_measures.ScoredDoc(q, r, s) for q, r, s in scores[["query_id", "result_id", "score"]].itertuples(index=False)
    ]
    expected = ir_measures.calc_aggregate([ir_measures.nDCG @ 5], qrels, run)[ir_measures.nDCG @ 5]
    assert result["one"].measures["condensed nDCG@5"].value == pytest.approx(expected, abs=1e-12)
    assert result.conventions["threshold"] == 3.5


def test_half_points_and_sliders_gain_by_their_own_steps() -> None:
    assert gains(np.array([1.0, 1.5, 5.0]), Scale.between(1, 5, 0.5)).tolist() == [0, 1, 8]
    slider = Scale("slider", (0.0, 10.0), continuous=True)
    assert gains(np.array([0.0, 0.26, 10.0]), slider).tolist() == [0, 3, 100]
