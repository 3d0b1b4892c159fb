"""`relstudy report` rests on the choices and the work of `relstudy score` and `relstudy fit`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest

from relstudy.analysis.commands.report import report
from relstudy.analysis.commands.score import score
from relstudy.common.tables.meaning.reading_options import OF_ANY_TABLE
from tests.commands import succeeds
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow

FEW = ("--replicates", "60")


def run(*arguments: object) -> dict:
    done = succeeds(*arguments, "--json")
    content: dict = json.loads(done.stdout)
    return content


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems of the example, fitted, so that predictions out of fold stand in mappings/."""
    folder = tmp_path_factory.mktemp("choices") / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings", "gift*", "report"))
    for name in ("keywords", "simplicity"):
        file = folder / "scores" / f"{name}.csv"
        run("fit", file, "-j", folder / "judgments.csv", "-o", folder / "mappings", "--method", "isotonic")
    return folder


def scored(folder: Path, *arguments: object) -> dict:
    files = sorted((folder / "scores").glob("*.csv"))
    return run("score", *files, "-j", folder / "judgments.csv", "--mappings", folder / "mappings", *FEW, *arguments)


def test_report_takes_every_choice_that_score_takes() -> None:
    """Weights, coverage policy, level, direction, method and measures were missing."""

    def names(command: click.Command) -> set[str]:
        return {parameter.name or "" for parameter in command.params}

    # what a report takes from the study's folder, where score reads anybody's tables
    files = {
        *OF_ANY_TABLE,
        "apart",  # as a report maps its groups always
        "queries",  # a study's groups of queries stand in its pairs.csv
        "gains",
        "judge",
        "verbose",  # of the printed table alone
        "scores",
        "mappings",
        "ids",
        "query_vectors",
        "similarity",
        "qrels",
        "overwrite",  # of the tables that score writes
        "save",
        "engine",  # where figures are computed changes none of them, and a report reads what score kept
        "scheduler",
        "against",
        "report",
        "judgments",
    }
    assert names(score) - files - names(report) == set()


def test_the_tests_of_measures_are_one_in_score_and_report(study: Path) -> None:
    asked = ("--measure", "P@3", "--measure", "nDCG@3", "--unjudged", "skip", "--test", "t", "--baseline", "keywords")
    by_score = run("score", study, *FEW, *asked)
    by_report = run("report", study, *FEW, *asked)
    assert by_score["tests"]["comparisons"] and by_report["tests"] == by_score["tests"]
    assert "paired t" in (study / "report" / "index.html").read_text(encoding="utf-8")


def test_the_same_choice_gives_the_same_figures_in_score_and_report(study: Path) -> None:
    """All at once: each changes figures or conventions by itself, so that none can be left out unseen."""
    choices = ("--weights", "equal", "--level", "0.8", "--threshold", "2.5", "--direction", "keywords=lower")
    by_score = scored(study, *choices, "--measure", "P@3")
    by_report = run("report", study, *FEW, *choices, "--measure", "P@3")
    assert by_report["systems"] == by_score["systems"]
    assert by_report["conventions"] == by_score["conventions"]


def test_report_rests_on_the_comparison_that_score_saved(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(study, folder)
    choices = ("--weights", "rank-power", "--level", "0.9", "--policy", "worst")
    by_score = run("score", folder, *FEW, *choices, "--save", folder / "comparison.json")
    by_report = run("report", folder)
    assert by_report["systems"] == by_score["systems"]
    assert by_report["comparisons"] == by_score["comparisons"]
    assert by_report["notes"] == by_score["notes"]
    assert "`relstudy score` kept in scored.json" in by_report["figures_from"]
    (folder / "scored.json").unlink()
    by_comparison = run("report", folder)
    assert by_comparison["systems"] == by_score["systems"]
    assert "with options and mapped scores of comparison.json" in by_comparison["figures_from"]
    assert "comparison.json" in (folder / "report" / "tables" / "inputs.csv").read_text()
    other = run("report", folder, "--weights", "equal")
    assert other["conventions"]["weights"] == "equal, by request"
    assert other["conventions"]["level"] == 0.9


def test_a_comparison_of_other_judgments_is_left_alone_and_said_to_be(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(study, folder)
    scored(folder, "--weights", "equal", "--save", folder / "comparison.json")
    table = pd.read_csv(folder / "judgments.csv", dtype={"query_id": str, "result_id": str})
    table.loc[0, "judgment"] = 5 - table.loc[0, "judgment"]
    table.to_csv(folder / "judgments.csv", index=False)
    by_report = run("report", folder, *FEW)
    assert by_report["conventions"]["weights"].startswith("design")
    assert any("comparison.json was made with other judgments" in note for note in by_report["notes"])
    again = [note for note in by_report["notes"] if "Refitted" in note]
    assert again == [
        "Refitted the mappings of keywords and simplicity: judgments or scores are not those that the saved one was "
        "fitted to."
    ]


def test_predictions_that_fit_kept_are_not_fitted_again_and_are_the_same(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were computed in fit, again in score, and again in report."""
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in (study / "mappings").glob("*.json"):
        content = json.loads(file.read_text())
        del content["out_of_fold"]
        (bare / file.name).write_text(json.dumps(content))
    files = sorted((study / "scores").glob("*.csv"))
    again = run("score", *files, "-j", study / "judgments.csv", "--mappings", bare, *FEW)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the folds are fitted again")

    monkeypatch.setattr("relstudy.analysis.scoring.mapped_scores.cross_fit", refuse)
    monkeypatch.setattr("relstudy.analysis.scoring.mapped_scores.fit_mapping", refuse)
    kept = scored(study)
    assert run("report", study, *FEW)["systems"] == kept["systems"]
    for name in ("keywords", "simplicity"):
        one, other = kept["systems"][name]["mapped"], again["systems"][name]["mapped"]
        assert one["fit"]["origin"] == "kept with the mapping" and other["fit"]["origin"] == "predicted anew"
        for index in ("pearson", "spearman", "kendall"):
            # sums of a bootstrap are added up in threads, in an order that may change the last digit
            assert one[index] == pytest.approx(other[index], rel=1e-12)
    assert not [note for note in kept["notes"] if "Refitted" in note]
    assert [note for note in again["notes"] if note.endswith(": the saved one keeps no predictions.")]
