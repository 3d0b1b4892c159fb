"""`relstudy score --by`: every figure within groups of pairs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from tests.analysis.made import tables
from tests.commands import relstudy, succeeds


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Half of the queries by text, for which the second system knows nothing."""
    judgments, scores = tables(systems=(0.9, 0.7))
    number = judgments["query_id"].str[1:].astype(int)
    judgments["paradigm"] = np.where(number < 10, "image", "text")
    turned = (scores["system"] == "s1") & (scores["query_id"].str[1:].astype(int) >= 10)
    scores.loc[turned, "score"] = np.random.default_rng(0).normal(size=int(turned.sum()))
    judgments.to_csv(tmp_path / "judgments.csv", index=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def run(folder: Path, *arguments: object) -> Result:
    fixed = ["score", folder / "scores.csv", "-j", folder / "judgments.csv", "--replicates", "50"]
    return relstudy(*fixed, *arguments)


@pytest.mark.slow
def test_each_groups_figures_are_those_of_its_pairs_alone(folder: Path) -> None:
    by = json.loads(run(folder, "--by", "paradigm", "--json").stdout)["by"]
    assert by["column"] == "paradigm" and list(by["groups"]) == ["image", "text"]
    table = pd.read_csv(folder / "judgments.csv")
    for name, group in by["groups"].items():
        table[table["paradigm"] == name].to_csv(folder / "part.csv", index=False)
        content = relstudy("score", folder / "scores.csv", "-j", folder / "part.csv", "--replicates", "50", "--json")
        alone = json.loads(content.stdout)["systems"]
        for system in ("s0", "s1"):
            for index in ("raw", "average_precision", "normalised_rank", "measures", "coverage"):
                assert group["systems"][system][index] == alone[system][index]
    image, text = (by["groups"][name]["systems"]["s1"]["mapped"]["pearson"]["value"] for name in ("image", "text"))
    assert image > 0.5 > 0.2 > text


@pytest.mark.slow
def test_groups_stand_in_the_printed_table(folder: Path) -> None:
    shown = run(folder, "--by", "paradigm").stdout
    rows = [line.split()[:4] for line in shown.splitlines() if line.startswith(("image  ", "text "))]
    rows = [row for row in rows if row[1].isdigit()]  # the measures have a table of their own
    assert rows == [
        ["image", "150", "10", "s0"],
        ["image", "150", "10", "s1"],
        *(["text", "150", "10", s] for s in ("s0", "s1")),
    ]


@pytest.mark.slow
def test_a_column_of_the_pairs_beside_the_judgments_will_do(folder: Path) -> None:
    table = pd.read_csv(folder / "judgments.csv")
    within = np.where(np.arange(len(table)) % 15 < 5, "base", "unique")
    table[["query_id", "result_id"]].assign(block=within).to_csv(folder / "pairs.csv", index=False)
    by = json.loads(run(folder, "--by", "block", "--json").stdout)["by"]
    assert [group["pairs"]["judged"] for group in by["groups"].values()] == [100, 200]
    assert by["groups"]["base"]["systems"]["s0"]["measures"] == {}  # a part of each query only


def test_a_column_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    done = run(folder, "--by", "colour")
    assert done.exit_code == 1 and done.stderr.count("\n") == 1
    assert (
        "--by: there is no column 'colour' in the judgments; there are: judgment, inclusion_probability, paradigm"
        in done.stderr
    )
    done = run(folder, "--by", "result_id")
    assert done.exit_code == 1 and "--by result_id: 300 values are too many" in done.stderr


@pytest.mark.slow
def test_a_group_of_few_pairs_leaves_out_who_has_none_there(folder: Path) -> None:
    table = pd.read_csv(folder / "judgments.csv")
    table["kind"] = np.where(np.arange(len(table)) < 2, "rare", "usual")
    table.to_csv(folder / "judgments.csv", index=False)
    by = json.loads(run(folder, "--by", "kind", "--json").stdout)["by"]
    assert list(by["groups"]) == ["usual"]


@pytest.mark.slow
def test_apart_maps_each_group_as_if_the_other_had_never_been_asked(folder: Path) -> None:
    by = json.loads(run(folder, "--by", "paradigm", "--apart", "--json").stdout)["by"]
    together = json.loads(run(folder, "--by", "paradigm", "--json").stdout)["by"]
    assert by["mapped_apart"] and not together["mapped_apart"]
    table = pd.read_csv(folder / "judgments.csv")
    table[table["paradigm"] == "text"].to_csv(folder / "part.csv", index=False)
    content = relstudy("score", folder / "scores.csv", "-j", folder / "part.csv", "--replicates", "50", "--json")
    for system, alone in json.loads(content.stdout)["systems"].items():
        text = by["groups"]["text"]["systems"][system]
        assert text["mapped"]["pearson"] == alone["mapped"]["pearson"]
        assert text["mapped"] != together["groups"]["text"]["systems"][system]["mapped"]
    assert "--apart fits each alone" in run(folder, "--by", "paradigm").stdout


def test_apart_without_groups_is_a_question_of_usage(folder: Path) -> None:
    assert run(folder, "--apart").exit_code == 2


@pytest.mark.slow
def test_the_report_has_a_section_of_groups_that_mixes_none(folder: Path) -> None:
    study = folder / "study"
    (study / "scores").mkdir(parents=True)
    shutil.copy(folder / "judgments.csv", study)
    shutil.copy(folder / "scores.csv", study / "scores" / "both.csv")
    fixed = ["report", str(study), "--replicates", "50", "--folds", "10"]
    succeeds(*fixed, "--by", "paradigm")
    written = study / "report" / "tables"
    correlation = pd.read_csv(written / "by-paradigm.csv", index_col="System")
    precision = pd.read_csv(written / "by-paradigm-average-precision.csv", index_col="System")
    by = json.loads(run(folder, "--by", "paradigm", "--apart", "--json").stdout)["by"]["groups"]
    for group, result in by.items():
        for system, expected in result["systems"].items():
            figure = expected.get("collection") or expected["mapped"]
            assert correlation.loc[system, group] == pytest.approx(figure["pearson"]["value"])
            assert precision.loc[system, group] == pytest.approx(expected["average_precision"]["value"])
    assert len(by) == 2 and len(correlation) == 2 and "--by paradigm" in (study / "report" / "index.html").read_text()


@pytest.fixture
def segments(tmp_path: Path) -> Path:
    """The first system leads over 18 queries of the head and is useless on 6 of the tail, where the second is good."""
    judgments, scores = tables(queries=24, systems=(0.9, 0.6))
    tail = judgments["query_id"] >= "q18"
    judgments = judgments.assign(
        segment=np.where(tail, "tail", "head"), judgment=judgments["judgment"].round().clip(1, 5)
    )
    turned = (scores["system"] == "s0") & (scores["query_id"] >= "q18")
    scores.loc[turned, "score"] = -scores.loc[turned, "score"]
    judgments.drop(columns="inclusion_probability").to_csv(tmp_path / "judgments.csv", index=False)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_every_measure_asked_for_stands_by_segment_in_text_page_tables_and_json(segments: Path) -> None:
    asked = ["--measure", "nDCG@10", "--measure", "P@5", "--direction", "higher"]
    out, page = segments / "out", segments / "page.html"
    said = run(segments, "--by", "segment", *asked, "-o", out, "--report", page)
    assert said.exit_code == 0, said.output
    by = json.loads(run(segments, "--by", "segment", *asked, "--json").stdout)["by"]
    written = pd.read_csv(out / "groups.csv").set_index(["segment", "system"])
    assert len(written) == 4
    shown = page.read_text()
    for segment, group in by["groups"].items():
        alone = pd.read_csv(segments / "judgments.csv").query("segment == @segment")
        alone.to_csv(segments / "part.csv", index=False)
        words = ["score", segments / "scores.csv", "-j", segments / "part.csv", "--replicates", "50", *asked, "--json"]
        done = relstudy(*words)
        expected = json.loads(done.stdout)["systems"]
        for system, figures in group["systems"].items():
            assert set(figures["measures"]) == {"condensed nDCG@10", "condensed P@5"}
            for measure, figure in figures["measures"].items():
                assert figure == expected[system]["measures"][measure]
                assert written.loc[(segment, system), measure] == pytest.approx(figure["value"])
                assert f"{figure['value']:.3f}" in said.stdout
                assert f"{figure['value']:.2f}" in shown


@pytest.mark.slow
def test_a_segment_that_the_leader_loses_is_told(segments: Path) -> None:
    said = run(segments, "--by", "segment").stdout
    (line,) = [line for line in said.splitlines() if "loses" in line]
    assert line.startswith("s0 leads over all pairs and loses segment tail: s1 is ahead there by ")
    by = json.loads(run(segments, "--by", "segment", "--json").stdout)["by"]
    assert line in by["notes"]
    run(segments, "--by", "segment", "--report", segments / "page.html")
    assert "loses segment tail" in (segments / "page.html").read_text()


@pytest.mark.slow
def test_a_leader_that_is_first_in_every_group_loses_none(segments: Path) -> None:
    table = pd.read_csv(segments / "judgments.csv")
    half = table["query_id"].str[1:].astype(int) % 2
    table.assign(half=np.where(half, "odd", "even"))[table["segment"] == "head"].to_csv(
        segments / "judgments.csv", index=False
    )
    said = run(segments, "--by", "half").stdout
    assert "leads over all pairs and" not in said
