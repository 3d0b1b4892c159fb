"""`relstudy score` as a person calls it."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from relstudy.analysis.commands.score_output import _p
from relstudy.analysis.scoring.mapped_scores import map_scores
from relstudy.mapping.scored_pairs import ScoredPairs, fit_mapping
from tests.analysis.made import tables
from tests.commands import relstudy, succeeds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judgments, scores = tables(systems=(0.9, 0.5))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    for name, rows in scores.groupby("system"):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def run(*arguments: object) -> Result:
    return relstudy("score", *arguments)


def answer(*arguments: object) -> dict:
    result = run(*arguments, "--json", "--replicates", 50)
    assert result.exit_code == 0, result.output
    content: dict = json.loads(result.stdout)
    return content


def test_help_shows_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "relstudy score new.run --judgments judgments.csv" in result.stdout


def test_a_p_value_has_four_digits_or_is_said_to_be_smaller() -> None:
    assert [_p(each) for each in (None, 1.0, 0.04, 0.0001, 0.00009)] == ["–", "1.0000", "0.0400", "0.0001", "< 0.0001"]


@pytest.mark.slow
def test_what_a_system_explains_stands_beside_what_any_could(folder: Path) -> None:
    judgments = pd.read_csv(folder / "judgments.csv").assign(standard_error=0.3)
    judgments.to_csv(folder / "judgments.csv", index=False)
    words = ("score", str(folder / "scores.csv"), "-j", str(folder / "judgments.csv"), "--replicates", "20")
    given = json.loads(succeeds(*words, "--json").stdout)["systems"]["s1"]["explained"]
    table = succeeds(*words, "--verbose").stdout.split("r squared, of judgments")[1]
    row = next(line for line in table.splitlines() if line.startswith("s1 "))
    shares = [f"{100 * given[name]['value']:.0f} %" for name in ("share", "reachable", "of_reachable")]
    assert re.split(r"  +", row)[1::2] == shares


@pytest.mark.slow
def test_a_table_for_people_and_json_for_machines_say_the_same(folder: Path) -> None:
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv")
    shown = run(folder / "scores.csv", "-j", folder / "judgments.csv", "--replicates", 50, "--verbose")
    assert shown.exit_code == 0
    for name, system in content["systems"].items():
        lines = [line.split() for line in shown.stdout.splitlines()]
        row = next(line for line in lines if line[:1] == [name] and line[-1] == "isotonic")
        above = 1 - system["normalised_rank"]["value"]
        for value in (system["average_precision"]["value"], above):
            assert f"{value:.3f}" in row
        assert f"{system['collection']['pearson']['value']:.3f}" in row


@pytest.mark.slow
def test_mapped_figures_are_out_of_fold_and_say_so(folder: Path) -> None:
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv")
    mapped = content["systems"]["s0"]["mapped"]
    assert mapped["mapping"] == "isotonic, out of fold (10 folds by query, seed 0)"
    assert mapped["pearson"]["value"] < mapped["in_sample"]["pearson"]["value"]


@pytest.mark.slow
def test_a_fitted_mapping_gives_its_figure_in_sample_beside_one_out_of_fold(folder: Path) -> None:
    judgments, scores = tables(systems=(0.9, 0.5))
    own = scores[scores["system"] == "s0"]
    mapping = fit_mapping(
        ScoredPairs(own["score"], judgments["judgment"], judgments["query_id"], system="s0"), "isotonic"
    )
    mapping.write(folder / "mappings" / "s0.json")
    content = answer(folder / "scores.csv", "-j", folder / "judgments.csv", "--mappings", folder / "mappings")
    mapped = content["systems"]["s0"]["mapped"]
    assert "may have seen these judgments" in mapped["mapping"]
    in_sample = np.corrcoef(mapping.predict(own["score"]), judgments["judgment"])[0, 1]
    assert mapped["in_sample"]["pearson"]["value"] == pytest.approx(in_sample)
    assert mapped["pearson"]["value"] < in_sample
    assert "given" not in content["systems"]["s1"]["mapped"]["mapping"]


@pytest.mark.slow
def test_a_saved_comparison_needs_neither_judgments_nor_the_old_scores(folder: Path) -> None:
    saved = folder / "saved.json"
    answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--save", saved)
    apart = answer(folder / "s1.csv", "--against", saved)
    together = answer(folder / "s0.csv", folder / "s1.csv", "-j", folder / "judgments.csv")
    for content in (apart, together):  # what lies beside the judgments is a matter of their file
        content["notes"] = [note for note in content["notes"] if "not beside judgments.csv" not in note]
    assert apart == together
    shown = run(folder / "s1.csv", "--against", saved)
    assert "s1 is 2 of 2 by pairwise accuracy within queries" in shown.stdout


def test_other_options_than_the_saved_comparisons_are_refused(folder: Path) -> None:
    answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--save", folder / "saved.json")
    result = run(folder / "s1.csv", "--against", folder / "saved.json", "--threshold", 4)
    assert result.exit_code == 1
    assert "the saved comparison was made with threshold 3.5" in result.stderr


def test_the_same_name_twice_is_refused(folder: Path) -> None:
    result = run(folder / "s0.csv", folder / "scores.csv", "-j", folder / "judgments.csv")
    assert result.exit_code == 1
    assert "a system named 's0' was already read" in result.stderr


def test_without_judgments_it_is_a_usage_error(folder: Path) -> None:
    result = run(folder / "s0.csv")
    assert result.exit_code == 2
    assert "--judgments (or --against) is needed" in result.stderr


@pytest.mark.slow
def test_tables_are_written_beside_each_other(folder: Path) -> None:
    answer(folder / "scores.csv", "-j", folder / "judgments.csv", "--out", folder / "tables")
    assert sorted(path.name for path in (folder / "tables").iterdir()) == [
        "comparisons.csv",
        "per_query.csv",
        "precision_recall.csv",
        "scores.csv",
    ]
    assert set(pd.read_csv(folder / "tables" / "scores.csv")["system"]) == {"s0", "s1"}


@pytest.mark.slow
def test_the_command_on_a_page_makes_the_same_page_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lacked columns, words for numbers, mappings and ratings, and the name before a system's file."""
    monkeypatch.chdir(folder)
    judgments = pd.read_csv("judgments.csv").rename(columns={"judgment": "the grade"})
    judgments.assign(**{"the grade": judgments["the grade"].round().clip(1, 5).astype(int)}).to_csv(
        "j.csv", index=False
    )
    succeeds("fit", "s0.csv", "-j", "judgments.csv", "-o", "maps", "--method", "isotonic")
    words = ["first=s0.csv", "s1.csv", "-j", folder / "j.csv", "--mappings", folder / "maps", "--replicates", 50]
    stated = [
        "--columns",
        "the grade=judgment",
        "--scale",
        "1-5",
        "--missing",
        "99,n/a",
        "--gains",
        "1=0,2=1,3=2.5,4=4,5=5",
    ]
    succeeds("score", *words, *stated, "--measure", "nDCG@5", "--measure", "P(rel=4)@3", "--report", "page.html")
    page = Path("page.html").read_text()
    said = re.search(r"It was made by.*?(relstudy score [^<\n]*)", page, re.DOTALL)
    assert said is not None and str(folder) not in said[1]
    succeeds(*shlex.split(html.unescape(said[1]))[1:], "--report", "again.html")
    assert Path("again.html").read_text() == page


def test_low_coverage_is_refused_in_one_line_and_allowed_on_request(folder: Path) -> None:
    pd.read_csv(folder / "s0.csv").iloc[:60].to_csv(folder / "few.csv", index=False)
    refused = run(folder / "few.csv", "-j", folder / "judgments.csv")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "scores 60 of 300 judged pairs (20 %)" in refused.stderr
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


def test_similarity_of_vectors_is_higher_for_the_better_even_where_judgments_disagree(folder: Path) -> None:
    """A direction found from judgments would turn a bad embedding into a good one."""
    judgments = pd.read_csv(folder / "judgments.csv")
    results = judgments["result_id"].unique()
    first = judgments.set_index("result_id")["judgment"].loc[results].to_numpy()
    np.save(folder / "wrong.npy", np.column_stack([-first, np.ones(len(first))]))
    (folder / "wrong.ids.txt").write_text("\n".join(results) + "\n")
    queries = judgments["query_id"].unique()
    np.save(folder / "asked.npy", np.tile([1.0, 10.0], (len(queries), 1)))
    (folder / "asked.ids.txt").write_text("\n".join(queries) + "\n")
    arguments = [folder / "wrong.npy", "-j", folder / "judgments.csv", "--query-vectors", folder / "asked.npy"]
    content = answer(*arguments, "--similarity", "dot", "--method", "none")["systems"]["wrong"]
    assert content["higher_is_better"] and content["raw"]["pearson"]["value"] == pytest.approx(-1)
    assert content["normalised_rank"]["value"] == pytest.approx(1)
    turned = answer(*arguments, "--similarity", "dot", "--method", "none", "--direction", "wrong=lower")
    assert turned["systems"]["wrong"]["normalised_rank"]["value"] == pytest.approx(0)


def test_scores_that_say_nothing_have_no_mapped_correlation_and_not_a_negative_one(folder: Path) -> None:
    """Each fold's constant is the mean of the others' judgments, and so goes against its own."""
    _, scores = tables(systems=(0.9,))
    scores.assign(score=1.0).to_csv(folder / "flat.csv", index=False)
    mapped = answer(folder / "flat.csv", "-j", folder / "judgments.csv")["systems"]["s0"]["mapped"]
    assert mapped["pearson"]["value"] is None
    assert mapped["pearson"]["reason"] == "the mapping is constant: no monotone relation was found"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--seed", "-1"], 2, "a whole number from 0 is needed, not -1"),
        (["--direction", "S0=lower"], 1, "there is no system named 'S0' in the scores; there are: s0"),
        (["--ids", "ids.txt"], 2, "--ids and --query-vectors go with vectors (.npy), and none are given"),
        (["--out", "judgments.csv"], 1, "judgments.csv: this is a file; --out needs a folder"),
        (["--population", "collection"], 1, "query_probability unknown for 20 of 20 queries"),
    ],
)
def test_a_wrong_choice_is_told_in_one_sentence_before_anything_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    result = run("s0.csv", "-j", "judgments.csv", "--replicates", 20, *arguments)
    assert (result.exit_code, said in result.stderr) == (code, True), result.stderr
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_intervals_speak_of_the_collection_where_the_judgments_know_their_queries_probability(folder: Path) -> None:
    judgments = pd.read_csv(folder / "judgments.csv")
    judgments["inclusion_probability"] *= 0.5
    judgments.assign(query_probability=0.5).to_csv(folder / "drawn.csv", index=False)
    shown = run(folder / "s0.csv", "-j", folder / "drawn.csv", "--replicates", 20)
    assert "intervals for the collection, of whose queries 50 % were drawn" in shown.stdout
    opened = run(folder / "s0.csv", "-j", folder / "drawn.csv", "--replicates", 20, "--population", "open")
    assert "intervals for any queries like these" in opened.stdout


def test_a_run_whose_first_line_is_broken_is_told_of_as_a_run(folder: Path) -> None:
    (folder / "five.run").write_text("q00 Q0 r0 1 0.7\n")
    assert (
        "five.run, row 1: a run has six fields a row" in run(folder / "five.run", "-j", folder / "judgments.csv").stderr
    )
    (folder / "text.run").write_text("q00 Q0 r0 1 high tag\n")
    assert "text.run, row 1, column score: 'high'" in run(folder / "text.run", "-j", folder / "judgments.csv").stderr


def test_a_trec_run_is_a_system_under_its_own_tag(folder: Path) -> None:
    rows = pd.read_csv(folder / "s0.csv")
    lines = (f"{r.query_id} Q0 {r.result_id} 1 {r.score!r} tag" for r in rows.itertuples())
    (folder / "new.run").write_text("\n".join(lines) + "\n")
    content = answer(folder / "new.run", "-j", folder / "judgments.csv")
    table = answer(folder / "s0.csv", "-j", folder / "judgments.csv")
    for index in ("raw", "mapped", "average_precision", "normalised_rank", "measures"):
        assert content["systems"]["tag"][index] == table["systems"]["s0"][index]


@pytest.mark.slow
def test_every_method_of_mapping_can_be_asked_for(folder: Path) -> None:
    assert map_scores.__doc__ is not None
    for method in ("bagged", "correlation", "bayes"):
        content = answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--method", method, "--folds", 3)
        assert content["systems"]["s0"]["mapped"]["mapping"].startswith(f"{method}, out of fold (3 folds")


def test_means_of_several_ratings_are_written_as_qrels_in_whole_gains(folder: Path) -> None:
    judgments = pd.read_csv(folder / "judgments.csv").assign(n_ratings=3)
    judgments.to_csv(folder / "means.csv", index=False)
    result = run(folder / "s0.csv", "-j", folder / "means.csv", "--qrels", folder / "j.qrels")
    assert result.exit_code == 0, result.output
    expected = np.maximum(0, np.floor(judgments["judgment"] + 0.5) - 1)
    rows = list(ir_measures.read_trec_qrels(str(folder / "j.qrels")))
    assert [row.relevance for row in rows] == expected.tolist()
    assert "the judgment rounded, less 1" in result.stdout


def test_grades_that_are_fractions_are_written_as_qrels_times_what_makes_them_whole(folder: Path) -> None:
    judgments = pd.read_csv(folder / "judgments.csv")
    judgments["judgment"] = judgments["judgment"].round(2).clip(1, 5)
    judgments.to_csv(folder / "grades.csv", index=False)
    words = ["-j", folder / "grades.csv", "--scale", "1-5", "--qrels", folder / "j.qrels"]
    result = run(folder / "s0.csv", *words)
    assert result.exit_code == 0, result.output
    rows = list(ir_measures.read_trec_qrels(str(folder / "j.qrels")))
    assert [row.relevance for row in rows] == np.round(100 * (judgments["judgment"] - 1)).astype(int).tolist()
    assert "as they are, not rounded, times 100." in result.stdout


def test_measures_can_be_chosen_by_their_names(folder: Path) -> None:
    content = answer(folder / "s0.csv", "-j", folder / "judgments.csv", "--measure", "nDCG@5", "--measure", "P@3")
    assert set(content["systems"]["s0"]["measures"]) == {"estimated nDCG@5", "estimated P@3"}
    wrong = run(folder / "s0.csv", "-j", folder / "judgments.csv", "--measure", "best@5")
    assert wrong.exit_code == 1
    assert "'best@5' is not a measure that ir-measures knows" in wrong.stderr


@pytest.mark.slow
def test_what_was_decided_about_a_score_table_is_a_line_of_the_output(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9,))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    wide = scores.pivot(index=["query_id", "result_id"], columns="system", values="score").reset_index()
    wide.assign(remark="fine").to_csv(tmp_path / "wide.csv", index=False, sep=";", decimal=",")
    words = ["score", tmp_path / "wide.csv", "-j", tmp_path / "judgments.csv", "--replicates", 5, "--method", "none"]
    done = succeeds(*words, "--verbose")  # ten lines hold no six notes
    scale = "No scale is stated, so 1-5 is assumed (taken from the judgments, which run from "
    for decided in ("decimal commas are read as points in s0", "do not hold numbers: remark", scale):
        assert decided in " ".join(done.stdout.split())
        assert decided not in " ".join(done.stderr.split())
    printed = json.loads(relstudy(*words, "--json").stdout)
    assert any("decimal commas are read as points in s0" in note for note in printed["notes"])


@pytest.mark.slow
@pytest.mark.real_data
def test_where_the_first_measure_and_another_one_point_apart_a_line_says_so(shared_data: Path, tmp_path: Path) -> None:
    """One run has a good result first and then the order of the TREC run; the other the better list throughout."""
    folder = shared_data / "trec_eval_test"
    qrels = [line.split() for line in (folder / "qrels.test").read_text().splitlines()]
    good = {(query, result) for query, _, result, grade in qrels if int(grade) > 0}
    lines = [line.split() for line in (folder / "results.test").read_text().splitlines()]
    first = {query: max((float(x[4]), x[2]) for x in lines if x[0] == query and (query, x[2]) in good)[1]
             for query in {line[0] for line in lines}}  # fmt: skip
    poor = {query: max((float(x[4]), x[2]) for x in lines if x[0] == query and (query, x[2]) not in good)[1]
            for query in {line[0] for line in lines}}  # fmt: skip
    for name, top, more in (("A", first, 0.0), ("C", poor, 3.0)):
        shown = []
        for query, _, result, _, score, _ in lines:
            on_top = top[query] == result and (name == "A" or query != "301")
            moved = float(score) + more * ((query, result) in good) + 90 * on_top
            shown.append(f"{query} Q0 {result} 0 {moved} {name}")
        (tmp_path / f"{name}.run").write_text("\n".join(shown) + "\n")
    arguments = [tmp_path / "A.run", tmp_path / "C.run", "-j", folder / "qrels.test", "--replicates", 50]
    arguments += ["--measure", "RR", "--measure", "AP", "--measure", "P@10", "--report", tmp_path / "page.html"]
    printed, content = run(*arguments).stdout, answer(*arguments)
    assert content["verdict"]["primary"] == "RR" and content["verdict"]["choice"] in ("A", None)
    said = content["verdict"]["contrary"]
    assert said.startswith("A ") and " by RR, but C " in said and "AP and P@10" in said
    assert said in printed and said in (tmp_path / "page.html").read_text()
    assert len(printed.splitlines()) <= 11  # and where the report is
    other = answer(*arguments[:6], "--measure", "AP", "--measure", "P@10")["verdict"]
    assert other["primary"] == "AP" and other["contrary"] is None
