"""Measures under ir-measures names have the value that ir-measures and trec_eval give, or another name."""

from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import relstudy as rs
from tests.commands import relstudy

NAMES = ("AP", "AP(rel=2)", "P(rel=2)@10", "nDCG@10", "ERR@20", "Judged@20", "RR", "P@5", "R@20", "Bpref", "NumRet")


def run(*arguments: object) -> Result:
    return relstudy("score", *arguments, "--replicates", "40")


def measures(*arguments: object) -> dict[str, dict]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    systems: dict[str, dict] = json.loads(done.stdout)["systems"]
    return {name: system["measures"] for name, system in systems.items()}


def asked(names: tuple[str, ...]) -> list[str]:
    return [text for name in names for text in ("--measure", name)]


@pytest.fixture
def trec(tmp_path: Path) -> Path:
    """Graded qrels of 12 queries, and two runs that retrieve a part of what was judged, and much that was not."""
    random = np.random.default_rng(3)
    qrels, runs = [], {"good": [], "poor": []}
    for query in range(12):
        name = f"topic-{query}"
        grades = random.integers(0, 4, 40)
        qrels += [f"{name} 0 d{document} {grade}" for document, grade in enumerate(grades)]
        for system, noise in (("good", 1.0), ("poor", 4.0)):
            seen = [document for document in range(200) if document >= 40 or random.random() < 0.5]
            truth = np.array([grades[document] if document < 40 else 0 for document in seen])
            score = truth + noise * random.normal(size=len(seen))
            best = np.argsort(-score)[:60]
            runs[system] += [
                f"{name} Q0 d{seen[place]} {rank} {score[place]:.6f} {system}"
                for rank, place in enumerate(best, start=1)
            ]
    (tmp_path / "j.qrels").write_text("\n".join(qrels) + "\n")
    for system, lines in runs.items():
        (tmp_path / f"{system}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.slow
def test_every_measure_of_a_run_by_qrels_is_that_of_ir_measures(trec: Path) -> None:
    """AP(rel=2) was 0 and Judged 1: qrels were cut at the threshold, and runs at the judged pairs."""
    found = measures(trec / "good.run", trec / "poor.run", "-j", trec / "j.qrels", *asked(NAMES))
    qrels = list(ir_measures.read_trec_qrels(str(trec / "j.qrels")))
    # ERR's program takes numbers alone for queries
    numbered = [qrel._replace(query_id=qrel.query_id[6:]) for qrel in qrels]
    parsed = [ir_measures.parse_measure(name) for name in NAMES]
    for system in ("good", "poor"):
        scored = [
            doc._replace(query_id=doc.query_id[6:]) for doc in ir_measures.read_trec_run(str(trec / f"{system}.run"))
        ]
        want = {str(name): value for name, value in ir_measures.calc_aggregate(parsed, numbered, scored).items()}
        have = {name: figure["value"] for name, figure in found[system].items()}
        assert have == pytest.approx(want, abs=1e-12)
        assert all(f["low"] <= f["value"] <= f["high"] for name, f in found[system].items() if name != "NumRet")


@pytest.mark.real_data
def test_trec_evals_own_data_gives_its_own_map(shared_data: Path) -> None:
    """It was .1848 or .2683."""
    folder = shared_data / "trec_eval_test"
    found = measures(
        folder / "results.test", "-j", folder / "qrels.test", *asked(("AP", "P@10", "Rprec")), "--threshold", "0.5"
    )
    (system,) = found.values()
    shown = {name: f"{figure['value']:.4f}" for name, figure in system.items()}
    assert shown == {"AP": "0.1785", "P@10": "0.3000", "Rprec": "0.2174"}
    assert system["AP"]["low"] < 0.1785 < system["AP"]["high"]


@pytest.mark.real_data
def test_grades_below_zero_leave_the_figures_of_trec_eval_as_they_are(shared_data: Path) -> None:
    """Expected: trec_eval's own out.test.aql, of relevance from grade 2; bpref tells unjudged from not relevant."""
    folder = shared_data / "trec_eval_test"
    names = ("AP(rel=2)", "Bpref(rel=2)", "P(rel=2)@10")
    found = measures(folder / "results.test", "-j", folder / "qrels.rel_level", *asked(names), "--replicates", 5)
    (system,) = found.values()
    shown = {name: f"{figure['value']:.4f}" for name, figure in system.items()}
    assert shown == {"AP(rel=2)": "0.1667", "Bpref(rel=2)": "0.1571", "P(rel=2)@10": "0.2333"}


@pytest.mark.slow
def test_a_run_that_holds_a_few_judged_pairs_is_measured_and_not_refused(trec: Path) -> None:
    """At 20 % coverage it was refused; a run holds all that was retrieved, so the rest is not retrieved."""
    lines = (trec / "good.run").read_text().splitlines()
    (trec / "top.run").write_text("\n".join(line for line in lines if int(line.split()[3]) <= 6) + "\n")
    done = run(trec / "top.run", "-j", trec / "j.qrels", "--threshold", "1.5")
    assert done.exit_code == 0, done.stderr
    assert "the others are ranked below it, as not retrieved, in its mapping too." in done.stdout
    fitted = rs.fit(trec / "top.run", trec / "j.qrels", method="isotonic", folds=2)
    assert "lacks has no part in its mapping here (good); relstudy score ranks it below" in fitted.notes[-1]
    dropped = run(trec / "top.run", "-j", trec / "j.qrels", "--policy", "drop", "--json")
    assert json.loads(dropped.stdout)["systems"]["good"]["coverage"]["policy"] == "drop"


@pytest.mark.slow
def test_measures_of_the_judged_pairs_alone_are_called_condensed_and_stand_in_the_table(trec: Path) -> None:
    qrels = pd.read_csv(trec / "j.qrels", sep=" ", names=["query_id", "zero", "result_id", "judgment"])
    qrels.drop(columns="zero").to_csv(trec / "judgments.csv", index=False)
    arguments = (trec / "good.run", "-j", trec / "judgments.csv", "--threshold", "1.5", *asked(("AP", "ERR@20")))
    assert list(measures(*arguments)["good"]) == ["condensed AP", "condensed ERR@20"]
    shown = run(*arguments).stdout
    assert "condensed ERR@20" in shown and "Measures: condensed: ir-measures on the judged pairs" in shown


def test_condensed_measures_take_grades_but_where_they_leave_the_grade_open(trec: Path) -> None:
    qrels = pd.read_csv(trec / "j.qrels", sep=" ", names=["query_id", "zero", "result_id", "judgment"])
    table = qrels.drop(columns="zero").assign(judgment=qrels["judgment"] + 1.0)
    table.to_csv(trec / "judgments.csv", index=False)
    table.assign(system="one", score=table["judgment"]).drop(columns="judgment").to_csv(trec / "one.csv", index=False)
    found = measures(trec / "one.csv", "-j", trec / "judgments.csv", *asked(("AP(rel=2)", "P(rel=3)@1", "Judged@5")))
    assert found["one"]["condensed AP(rel=2)"]["value"] == pytest.approx(1.0)
    assert found["one"]["condensed Judged@5"]["value"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RBP", "the parameter rel must be given, as RBP(rel=1)"),
        ("INST", "the parameter max_rel must be given"),
        ("BPM", "the parameter max_rel must be given, as BPM(max_rel=1)"),
        ("NERR9@5", "the parameter max_rel must be given"),
        ("NERR10(max_rel=3)@3", "unsupported params"),
        ("alpha_nDCG", "it is of the subtopics of a query"),
        ("P@0", "cutoff is a whole number from 1"),
        ("P(rel=0)@3", "rel is a whole number from 1"),
        ("P", "the parameter cutoff must be given"),
        ("nDCG@x", "is not a measure that ir-measures knows"),
        ("nERR@3", "is not a measure that ir-measures knows"),
        ("P(@", "is not a measure that ir-measures knows"),
        ("", "is not a measure that ir-measures knows"),
    ],
)
@pytest.mark.parametrize("judgments", ["j.qrels", "judgments.csv"])
def test_a_measure_that_cannot_be_computed_ends_in_one_sentence(
    trec: Path, name: str, said: str, judgments: str
) -> None:
    """RBP, INST, BPM, NERR9@5 and alpha_nDCG ended in tracebacks, and P@0 took the whole program down."""
    pd.read_csv(trec / "j.qrels", sep=" ", names=["query_id", "zero", "result_id", "judgment"]).drop(
        columns="zero"
    ).to_csv(trec / "judgments.csv", index=False)
    done = run(trec / "good.run", "-j", trec / judgments, "--threshold", "1.5", "--measure", "AP", "--measure", name)
    assert done.exit_code == 1 and done.stderr.count("\n") == 1, done.stderr
    assert repr(name) in done.stderr and said in done.stderr


@pytest.mark.slow
def test_a_saved_comparison_keeps_the_measures_of_its_runs(trec: Path) -> None:
    both = (trec / "good.run", trec / "poor.run", "-j", trec / "j.qrels", "--threshold", "1.5")
    together = measures(*both)
    measures(trec / "good.run", "-j", trec / "j.qrels", "--threshold", "1.5", "--save", trec / "saved.json")
    apart = measures(trec / "poor.run", "--against", trec / "saved.json")
    assert apart == together
    other = measures(trec / "poor.run", "--against", trec / "saved.json", "--measure", "P@3")
    assert other["good"]["P@3"]["reason"] == "the saved comparison does not hold this measure"
    assert other["poor"]["P@3"]["value"] is not None


@pytest.mark.slow
def test_a_notebook_gets_the_commands_measures_of_a_run_under_any_name(trec: Path) -> None:
    found = measures(trec / "good.run", "-j", trec / "j.qrels", *asked(NAMES))["good"]
    result = rs.score({"mine": trec / "good.run"}, trec / "j.qrels", measures=NAMES, replicates=40)
    row = result.table.set_index("system").loc["mine"]
    assert {name: row[name] for name in found} == pytest.approx({name: each["value"] for name, each in found.items()})


def test_the_grade_from_which_a_measure_of_graded_qrels_takes_pairs_as_relevant_is_said(trec: Path) -> None:
    """The output called 2.5 the cut of good pairs, while AP counted grades from 1, as trec_eval does."""
    qrels = pd.read_csv(trec / "j.qrels", sep=" ", names=["query_id", "zero", "result_id", "judgment"])
    (trec / "binary.qrels").write_text(
        "".join(f"{q} 0 {d} {int(j > 1)}\n" for q, d, j in qrels.drop(columns="zero").itertuples(index=False))
    )
    few = {"measures": ("AP", "nDCG@10", "P@5"), "replicates": 2, "method": "none"}
    said = str(rs.score(trec / "good.run", trec / "j.qrels", **few).conventions["measures"])
    assert "AP and P@5 take grades from 1 as relevant, as trec_eval does, whatever the threshold: AP(rel=2)" in said
    assert "grades from 1" not in str(rs.score(trec / "good.run", trec / "binary.qrels", **few).conventions["measures"])


def test_pairs_that_qrels_name_and_nobody_judged_have_their_part_in_measures_that_know_of_them(trec: Path) -> None:
    """infAP estimates what pooled and not sampled pairs (-1) hold; they were left out, and it was another number."""
    lines = (trec / "j.qrels").read_text().splitlines()
    (trec / "s.qrels").write_text(
        "\n".join(f"{line[:-1]}{-1 if at % 3 else line[-1]}" for at, line in enumerate(lines))
    )
    names, few = ("infAP", "AP", "Judged@10"), ("--replicates", 2, "--method", "none")
    found = measures(trec / "good.run", "-j", trec / "s.qrels", *asked(names), *few, "--save", trec / "saved.json")
    found |= measures(trec / "poor.run", "--against", trec / "saved.json")
    qrels = list(ir_measures.read_trec_qrels(str(trec / "s.qrels")))
    parsed = [ir_measures.parse_measure(name) for name in names]
    for system in ("good", "poor"):
        theirs = ir_measures.calc_aggregate(parsed, qrels, list(ir_measures.read_trec_run(str(trec / f"{system}.run"))))
        have = {name: figure["value"] for name, figure in found[system].items()}
        assert have == pytest.approx({str(name): value for name, value in theirs.items()}, abs=1e-12)
