"""`relstudy score` as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from analysis.mapped import map_scores
from mapping.selection import fit_mapping
from studyapp.cli import main

from .test_scoring import tables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judgments, scores = tables(systems=(0.9, 0.5))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    for name, rows in scores.groupby("system"):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["score", *map(str, arguments)])


def answer(*arguments: object) -> dict:
    result = run(*arguments, "--json", "--replicates", 50)
    assert result.exit_code == 0, result.output
    content: dict = json.loads(result.stdout)
    return content


def test_help_shows_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "relstudy score new.run --judgments judgments.csv" in result.stdout


def test_a_table_for_people_and_json_for_machines_say_the_same(folder: Path) -> None:
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv")
    shown = run(folder / "scores.csv", "-j", folder / "judgments.csv", "--replicates", 50)
    assert shown.exit_code == 0
    for name, system in content["systems"].items():
        row = next(line for line in shown.stdout.splitlines() if line.startswith(name))
        for figure in (system["raw"]["pearson"], system["average_precision"], system["normalised_rank"]):
            assert f"{figure['value']:.4f}" in row


def test_mapped_figures_are_out_of_fold_and_say_so(folder: Path) -> None:
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv")
    mapped = content["systems"]["s0"]["mapped"]
    assert mapped["mapping"] == "isotonic, out of fold (10 folds by query, seed 0)"
    assert mapped["pearson"]["value"] < mapped["in_sample"]["pearson"]["value"]


def test_a_fitted_mapping_gives_its_figure_in_sample_beside_one_out_of_fold(folder: Path) -> None:
    judgments, scores = tables(systems=(0.9, 0.5))
    own = scores[scores["system"] == "s0"]
    mapping = fit_mapping(own["score"], judgments["judgment"], judgments["query_id"], "isotonic", system="s0")
    mapping.write(folder / "mappings" / "s0.json")
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv", "--mappings", folder / "mappings")
    mapped = content["systems"]["s0"]["mapped"]
    assert "may have seen these judgments" in mapped["mapping"]
    in_sample = np.corrcoef(mapping.predict(own["score"]), judgments["judgment"])[0, 1]
    assert mapped["in_sample"]["pearson"]["value"] == pytest.approx(in_sample)
    assert mapped["pearson"]["value"] < in_sample
    assert "given" not in content["systems"]["s1"]["mapped"]["mapping"]


def test_a_saved_comparison_needs_neither_judgments_nor_the_old_scores(folder: Path) -> None:
    saved = folder / "saved.json"
    answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--save", saved)
    apart = answer(folder / "s1.csv", "--against", saved)
    together = answer(folder / "s0.csv", folder / "s1.csv", "-j", folder / "judgments.csv")
    assert apart == together
    shown = run(folder / "s1.csv", "--against", saved)
    assert "s1 is 2 of 2 by average precision" in shown.stdout


def test_other_options_than_the_saved_comparisons_are_refused(folder: Path) -> None:
    answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--save", folder / "saved.json")
    result = run(folder / "s1.csv", "--against", folder / "saved.json", "--threshold", 4)
    assert result.exit_code == 1
    assert "the saved comparison was made with threshold 3.0" in result.stderr


def test_the_same_name_twice_is_refused(folder: Path) -> None:
    result = run(folder / "s0.csv", folder / "scores.csv", "-j", folder / "judgments.csv")
    assert result.exit_code == 1
    assert "a system named 's0' was already read" in result.stderr


def test_without_judgments_it_is_a_usage_error(folder: Path) -> None:
    result = run(folder / "s0.csv")
    assert result.exit_code == 2
    assert "--judgments (or --against) is needed" in result.stderr


def test_tables_are_written_beside_each_other(folder: Path) -> None:
    answer(folder / "scores.csv", "-j", folder / "judgments.csv", "--out", folder / "tables")
    assert sorted(path.name for path in (folder / "tables").iterdir()) == [
        "comparisons.csv",
        "per_query.csv",
        "precision_recall.csv",
        "scores.csv",
    ]
    assert set(pd.read_csv(folder / "tables" / "scores.csv")["system"]) == {"s0", "s1"}


def test_low_coverage_is_refused_in_one_line_and_allowed_on_request(folder: Path) -> None:
    pd.read_csv(folder / "s0.csv").iloc[:60].to_csv(folder / "few.csv", index=False)
    refused = run(folder / "few.csv", "-j", folder / "judgments.csv")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "scores 60 of 300 judged pairs (20%)" in refused.stderr
    assert run(folder / "few.csv", "-j", folder / "judgments.csv", "--allow-low-coverage").exit_code == 0


def test_vectors_with_ids_beside_them_are_a_system(folder: Path) -> None:
    judgments = pd.read_csv(folder / "judgments.csv")
    random = np.random.default_rng(0)
    ids = [*judgments["query_id"].unique(), *judgments["result_id"].unique()]
    vectors = random.normal(size=(len(ids), 8))
    np.save(folder / "embedding.npy", vectors)
    (folder / "embedding.ids.txt").write_text("\n".join(ids) + "\n")
    content = answer(folder / "embedding.npy", "-j", folder / "judgments.csv", "--method", "none")
    place = {name: k for k, name in enumerate(ids)}
    a = vectors[[place[q] for q in judgments["query_id"]]]
    b = vectors[[place[r] for r in judgments["result_id"]]]
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    expected = np.corrcoef(cosine, judgments["judgment"])[0, 1]
    assert content["systems"]["embedding"]["raw"]["pearson"]["value"] == pytest.approx(expected)


def test_a_trec_run_is_a_system_under_its_own_tag(folder: Path) -> None:
    rows = pd.read_csv(folder / "s0.csv")
    lines = (f"{r.query_id} Q0 {r.result_id} 1 {r.score!r} tag" for r in rows.itertuples())
    (folder / "new.run").write_text("\n".join(lines) + "\n")
    content = answer(folder / "new.run", "-j", folder / "judgments.csv")
    table = answer(folder / "s0.csv", "-j", folder / "judgments.csv")
    assert content["systems"]["tag"] == table["systems"]["s0"]


def test_every_method_of_mapping_can_be_asked_for(folder: Path) -> None:
    assert map_scores.__doc__ is not None
    for method in ("bagged", "correlation", "bayes"):
        content = answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--method", method, "--folds", 3)
        assert content["systems"]["s0"]["mapped"]["mapping"].startswith(f"{method}, out of fold (3 folds")


def test_judgments_are_written_as_qrels_in_whole_gains(folder: Path) -> None:
    result = run(folder / "s0.csv", "-j", folder / "judgments.csv", "--qrels", folder / "j.qrels")
    assert result.exit_code == 0
    judgments = pd.read_csv(folder / "judgments.csv")
    expected = np.maximum(0, np.floor(judgments["judgment"] + 0.5) - 1)
    rows = list(ir_measures.read_trec_qrels(str(folder / "j.qrels")))
    assert [row.relevance for row in rows] == expected.tolist()
    assert "judgments rounded, less 1" in result.stderr


def test_measures_can_be_chosen_by_their_names(folder: Path) -> None:
    content = answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--measure", "nDCG@5", "--measure", "P@3")
    assert set(content["systems"]["s0"]["graded"]) == {"nDCG@5", "P@3"}
    wrong = run(folder / "s0.csv", "-j", folder / "judgments.csv", "--measure", "best@5")
    assert wrong.exit_code == 1
    assert "'best@5' is not a measure that ir-measures knows" in wrong.stderr
