"""The scoring run that `score` keeps in a study's folder, and when `report` shows it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from relstudy.analysis import study_run
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import KEPT, read_study_folder, run_of_study
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.test_one_run import run
from tests.commands import relstudy
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow

FEW = ("--replicates", "40", "--method", "none")
OPTIONS = ScoringOptions(replicates=40, method="none")
AS_KEPT = "The figures are those that `relstudy score` kept in scored.json: nothing they rest on changed."


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with two systems, and its run kept."""
    folder = tmp_path_factory.mktemp("kept") / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings", "simplicity.csv", "gift-*"))
    assert next_command(run("score", folder, *FEW)) == ["report", str(folder), "--method", "none", "--replicates", "40"]
    return folder


@pytest.fixture
def study(kept: Path, tmp_path: Path) -> Path:
    """A copy of it, as somebody moves a study."""
    return Path(shutil.copytree(kept, tmp_path / "study"))


def next_command(printed: str) -> list[str]:
    """The arguments of the report that is said to show a run."""
    found = re.search(rf"Next: relstudy (.+) \(shows this run, kept in {re.escape(KEPT)}[^()]*\)", printed)
    assert found is not None, printed
    return shlex.split(found[1])


def origin_of(study: Path, options: ScoringOptions = OPTIONS) -> str:
    """Where the figures of a report are from."""
    return run_of_study(read_study_folder(study), options)[1]


@pytest.mark.slow
def test_a_report_of_the_kept_run_is_the_report_of_a_new_one_byte_for_byte(study: Path) -> None:
    assert AS_KEPT in run("report", study, *FEW, "--by", "paradigm")
    kept = {path.name: path.read_bytes() for path in (study / "report").rglob("*.*")}
    (study / KEPT).unlink()
    assert "Recomputed: no saved run found" in run("report", study, *FEW, "--by", "paradigm")
    assert {path.name: path.read_bytes() for path in (study / "report").rglob("*.*")} == kept


def test_a_system_of_which_nothing_is_judged_yet_stops_nothing_in_its_study(study: Path) -> None:
    """`report` left it out with a note, and `score` and `fit` refused the whole folder."""
    table = pd.read_csv(next((study / "scores").glob("*.csv")), dtype=str)
    new = table.assign(result_id=table["result_id"] + "-new", system="fresh")
    new.to_csv(study / "scores" / "fresh.csv", index=False)
    left_out = "Left out, since none of the 559 judged pairs is scored: fresh. Nobody has judged these results yet"
    assert left_out in run("score", study, *FEW)
    assert AS_KEPT in run("report", study, *FEW, "--no-pictures")
    fitted = run("fit", study, "--method", "isotonic")
    assert left_out in fitted
    assert not (study / "mappings" / "fresh.json").exists() and (study / "mappings").is_dir()
    (study / "scores" / "fresh.csv").unlink()
    assert "Left out" not in run("fit", study, "--method", "isotonic")
    new.to_csv(study / "scores" / "fresh.csv", index=False)
    alone = relstudy("score", study / "scores" / "fresh.csv", "-j", study / "judgments.csv")
    assert alone.exit_code == 1 and "scores none of the 559 judged pairs" in alone.stderr


def test_the_report_that_is_said_to_show_a_run_shows_it(study: Path) -> None:
    """It was named without the options and files of the run, and scored again."""
    ids = pd.read_csv(study / "judgments.csv", dtype=str)["query_id"].unique()
    pd.DataFrame({"query_id": ids, "segment": "all"}).to_csv(study / "queries.csv", index=False)
    printed = run("score", study, *FEW, "--queries", study / "queries.csv", "--threshold", "2.5")
    assert AS_KEPT in run(*next_command(printed), "--no-pictures")
    (study / "elsewhere").mkdir()
    shutil.copyfile(EXAMPLE / "mappings" / "gift.json", study / "elsewhere" / "gift.json")
    assert "shows this run" not in run("score", study, *FEW, "--mappings", study / "elsewhere")


@pytest.mark.parametrize(("how", "others"), [((), False), (("--method", "isotonic"), True), (("--apart",), False)])
def test_the_report_that_is_said_to_show_a_run_of_groups_has_these_groups(
    study: Path, how: tuple[str, ...], others: bool
) -> None:
    """It was named without the column, and its page had no group; where it maps them otherwise, the line says so."""
    printed = run("score", study, *FEW, "--by", "paradigm", *how)
    assert AS_KEPT in run(*next_command(printed), "--no-pictures")
    assert 'id="groups"' in (study / "report" / "index.html").read_text(encoding="utf-8")
    assert ("groups by each group's own mappings" in printed) is others


def test_the_next_command_is_quoted_as_a_shell_takes_it(study: Path) -> None:
    folder = study.rename(study.with_name("my study"))
    printed = run("score", folder, *FEW, "--scale", "1-5", "--verbose")
    assert shlex.split(printed.splitlines()[-1].removeprefix("Next: ")) == ["relstudy", "report", str(folder)]


def test_what_the_study_states_of_its_analysis_is_no_other_option(study: Path) -> None:
    """A run of a study with a primary index of its own was scored again for each report."""
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[analysis]\nprimary = "pearson"\nmatters = 0.1\n')
    run("score", study, *FEW)
    assert origin_of(study) == AS_KEPT


def test_nothing_is_scored_again_where_nothing_changed(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_run, "score_study", lambda *_, **__: pytest.fail("scored again"))
    again, origin = run_of_study(read_study_folder(study), OPTIONS)
    assert origin == AS_KEPT
    printed = json.loads(run("score", study, *FEW, "--json"))
    assert json.loads(json.dumps(again.as_json())) == printed


def test_a_direction_of_a_system_that_is_not_there_is_refused_with_each_name_once(study: Path) -> None:
    run("score", study, *FEW, "--save", study / "comparison.json")
    (study / KEPT).unlink()
    with pytest.raises(RelstudyError, match=r"no system named 'x' in the scores; there are: gift, keywords$"):
        run_of_study(read_study_folder(study), OPTIONS, stated=["x"])


@pytest.mark.parametrize("name", ["judgments.csv", "calibrated.csv", "pairs.csv", "scores/gift.csv"])
def test_a_changed_table_is_scored_anew_and_named(study: Path, name: str) -> None:
    table = pd.read_csv(study / name, dtype=str, keep_default_na=False)
    table.assign(remark="new").to_csv(study / name, index=False)
    assert origin_of(study).startswith(f"Recomputed: {name} changed. The run is kept in ")
    assert origin_of(study) == AS_KEPT


def test_new_systems_and_mappings_are_changes(study: Path) -> None:
    gift = pd.read_csv(study / "scores" / "gift.csv").assign(system="other")
    gift.to_csv(study / "scores" / "other.csv", index=False)
    assert "Recomputed: scores/other.csv changed" in origin_of(study)
    (study / "scores" / "other.csv").unlink()
    (study / "mappings").mkdir()
    shutil.copyfile(EXAMPLE / "mappings" / "gift.json", study / "mappings" / "gift.json")
    assert "Recomputed: mappings/gift.json and scores/other.csv changed" in origin_of(study)


def test_other_options_and_another_version_are_told(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ScoringOptions(replicates=30, method="none", threshold=2.5)
    assert "Recomputed: it was made with other options (threshold, replicates)" in origin_of(study, other)
    monkeypatch.setattr(study_run, "code_hash", lambda: "another")
    assert "it was made by another version" in origin_of(study, other)


def test_the_judgments_own_cut_is_no_other_option_where_it_is_stated(study: Path) -> None:
    options = replace(read_study_folder(study).kept.result.options, threshold=3.5)
    assert origin_of(study, options) == AS_KEPT


def test_a_damaged_run_is_scored_anew(study: Path) -> None:
    text = (study / KEPT).read_text(encoding="utf-8")
    (study / KEPT).write_text(text.replace('"judged"', '"jugded"'), encoding="utf-8")
    assert "Recomputed: no saved run found" in origin_of(study)


def test_a_comparison_saved_by_the_kept_run_changes_nothing(study: Path) -> None:
    run("score", study, *FEW, "--threshold", "2.5", "--save", study / "comparison.json")
    scored = read_study_folder(study)
    assert scored.options.threshold == 2.5
    again, origin = run_of_study(scored, scored.options)
    assert origin == AS_KEPT and again.result.options.threshold == 2.5
    run("score", study, *FEW)  # keeps another run, of which that comparison is not
    assert "with options and mapped scores of comparison.json" in origin_of(study, read_study_folder(study).options)


def test_a_run_of_judgments_read_otherwise_is_not_that_of_the_report(study: Path) -> None:
    run("score", study, *FEW, "--scale", "0-6")
    assert "other options (how tables are read)" in origin_of(study)


def test_a_run_of_chosen_rows_is_not_that_of_the_report(study: Path) -> None:
    """It was kept as one of all rows, and the report showed it, as if nothing had changed."""
    assert "shows this run" not in run("score", study, *FEW, "--where", "score>0.1", "--allow-low-coverage")
    assert "other options (low_coverage, how tables are read)" in origin_of(study)


def test_a_folder_that_cannot_be_written_keeps_no_run_and_says_so(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (study / KEPT).unlink()
    (study / KEPT).mkdir()
    assert "The run is not kept for `relstudy report`, which will score again" in run("score", study, *FEW)
