"""Frames and dicts of other libraries are taken as they are, and give the figures that those libraries give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import succeeds

NAMES = ("nDCG@10", "AP", "P@5", "RR", "infAP")
OPTIONS: dict[str, Any] = {"method": "none", "replicates": 20, "measures": NAMES}
DIGITS = 1e-9  # sums in another order


@pytest.fixture(scope="module")
def made() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels and a run as ir_measures has them: ties, grades of -1, and results and a query that nobody judged."""
    draw = np.random.default_rng(7)
    pairs = [(f"q{query}", f"d{each:02}") for query in range(9) for each in draw.permutation(60)[:25]]
    qrels = pd.DataFrame(pairs, columns=["query_id", "doc_id"]).assign(relevance=draw.integers(-1, 4, len(pairs)))
    pairs = [(f"q{query}", f"d{each:02}") for query in range(10) for each in draw.permutation(60)[:30]]
    run = pd.DataFrame(pairs, columns=["query_id", "doc_id"]).assign(score=draw.integers(0, 9, len(pairs)) / 1.0)
    return qrels, run


def theirs(qrels: pd.DataFrame, run: pd.DataFrame) -> dict[str, float]:
    values = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in NAMES], qrels, run)
    return {str(measure): value for measure, value in values.items()}


def nested(frame: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    return {
        str(query): dict(zip(rows["doc_id"], rows[value].tolist(), strict=True))
        for query, rows in frame.groupby("query_id")
    }


PYTERRIER = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}


@pytest.mark.parametrize("form", ["ir_measures", "its records", "PyTerrier", "ranx", "nested dicts"])
def test_each_form_gives_the_values_of_ir_measures(made: tuple[pd.DataFrame, pd.DataFrame], form: str) -> None:
    qrels, run = made
    given: tuple[Any, Any] = (run, qrels)
    if form == "PyTerrier":
        pyterrier = run.assign(rank=0, docid=range(len(run)), query="words").rename(columns=PYTERRIER)
        given = (pyterrier, qrels.rename(columns=PYTERRIER))
    if form == "ranx":
        named = {"query_id": "q_id", "relevance": "score"}
        given = (run.rename(columns=named), qrels.rename(columns=named))
    if form == "its records":
        given = (
            [ir_measures.ScoredDoc(*row) for row in run.itertuples(index=False)],
            [ir_measures.Qrel(*row) for row in qrels.itertuples(index=False)],
        )
    if form == "nested dicts":
        given = (nested(run, "score"), nested(qrels, "relevance"))
    for scores, system in ((given[0], "run"), ({"mine": given[0]}, "mine")):
        result = rs.score(scores, given[1], **OPTIONS)
        row = result.table.set_index("system").loc[system]
        assert {name: row[name] for name in theirs(qrels, run)} == pytest.approx(theirs(qrels, run), abs=DIGITS)
    if form == "PyTerrier":
        assert any("read as qrels of PyTerrier: qid, docno, label" in note for note in result.notes)
        assert any("run of PyTerrier: qid, docno, score; rank, docid, query left out" in note for note in result.notes)


def test_the_command_reads_their_tables_as_the_function_does(
    made: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path
) -> None:
    qrels, run = (each.rename(columns=PYTERRIER) for each in made)
    qrels.to_csv(tmp_path / "qrels.csv", index=False)
    run.to_csv(tmp_path / "bm25.csv", index=False)
    arguments = ["score", str(tmp_path / "bm25.csv"), "-j", str(tmp_path / "qrels.csv"), "--replicates", "20", "--json"]
    done = succeeds(*arguments, "--method", "none", *(p for n in NAMES for p in ("--measure", n)))
    figures = pd.io.json.ujson_loads(done.stdout)["systems"]["run"]["measures"]
    assert {name: each["value"] for name, each in figures.items()} == pytest.approx(theirs(*made), abs=DIGITS)


def test_a_run_in_nested_dicts_goes_with_qrels_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "j.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    result = rs.score({"q": {"a": 1.0, "b": 2.0}}, tmp_path / "j.qrels", measures=("RR",), method="none", replicates=5)
    assert result.table["RR"].tolist() == [0.5]


def test_crowd_kits_answers_are_ratings_each_task_a_query_of_its_own() -> None:
    draw = np.random.default_rng(1)
    truth = draw.normal(3, 1, 40)
    rows = [(f"t{task}", worker, int(np.clip(np.round(truth[task] + draw.normal(0, 0.5)), 1, 5)))
            for task in range(40) for worker in ("w1", "w2", "w3")]  # fmt: skip
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    ours = answers.rename(columns={"task": "result_id", "worker": "rater_id", "label": "rating"})
    ours["query_id"] = ours["result_id"]
    panel, expected = rs.calibrate(answers), rs.calibrate(ours)
    pd.testing.assert_frame_equal(panel.judgments, expected.judgments)
    assert any("answers of crowd-kit: task, worker, label" in note for note in rs.read_ratings(answers).notes)


def test_own_names_are_not_overruled() -> None:
    pairs = {"query_id": ["q", "q", "p", "p"], "result_id": list("abab"), "judgment": [1, 5, 2, 4]}
    table = pd.DataFrame({**pairs, "doc_id": list("xyxy"), "relevance": [0, 1, 0, 1]})
    assert rs.score(table[["query_id", "result_id"]].assign(new=[1, 2, 3, 4.0]), table, method="none").table is not None


def test_words_as_labels_are_asked_about() -> None:
    table = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "label": ["good", "bad"]})
    with pytest.raises(RelstudyError, match="good"):
        rs.score(pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0]}), table)
