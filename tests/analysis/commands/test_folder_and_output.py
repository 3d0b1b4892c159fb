"""A study's folder in place of its tables, and how scores are printed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import relstudy as rs
from relstudy.analysis.commands.score import score
from relstudy.analysis.commands.score_output import MOST_LINES
from relstudy.calibration.command import calibrate
from relstudy.common.runtime import console
from relstudy.common.runtime.wording import SECOND_WORDS
from relstudy.mapping.command import fit
from relstudy.studyapp.cli import SECTIONS
from tests.analysis.made import tables
from tests.commands import relstudy, succeeds


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    judgments, scores = tables(systems=(0.2, 0.9, 0.25, 0.88), queries=20)
    judgments.to_csv(folder / "judgments.csv", index=False)
    (folder / "scores").mkdir()
    for name, rows in scores.groupby("system"):
        rows.to_csv(folder / "scores" / f"{name}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def printed(study: Path) -> str:
    done = succeeds("score", study, "--replicates", "100", "--method", "none")
    return done.output


@pytest.mark.slow
def test_score_takes_a_folder_and_prints_the_best_first(printed: str) -> None:
    lines = printed.splitlines()
    head = next(number for number, line in enumerate(lines) if line.lstrip().startswith("rank"))
    assert re.split("  +", lines[head].strip())[:4] == ["rank", "system", "estimate", "95 %"]
    rows = [line.split() for line in lines[head + 1 : head + 5]]
    assert {row[1] for row in rows[:2]} == {"s1", "s3"} and {row[0] for row in rows[:2]} == {"1-2"}


def test_the_first_line_says_what_to_use_and_the_table_holds_ranks_and_how_far_behind(printed: str) -> None:
    lines = printed.splitlines()
    assert lines[0].startswith("Use s1 or s3: ")
    assert lines[1].startswith("If you must choose now: s")
    assert len(lines) <= MOST_LINES
    assert any(
        line.startswith("Ranked by pairwise accuracy within queries (how often a good match is ranked ")
        for line in lines
    )
    rows = [line.split() for line in lines if re.match(r" *\d(-\d)?  s\d", line)]
    assert [row[1] for row in rows] == ["s1", "s3", "s2", "s0"] and rows[0][0] == "1-2"
    assert all(float(row[6]) < 0 for row in rows[1:])


@pytest.mark.slow
@pytest.mark.parametrize("systems", [4, 12])
def test_what_is_left_out_is_a_line_however_many_notes_and_systems_there_are(grown: Path, systems: int) -> None:
    """Where there was no room for all notes, --verbose alone named them."""
    rows = pd.read_csv(grown / "scores" / "s1.csv")
    for number in range(4, systems):
        against = rows.assign(system=f"s{number}", score=-rows["score"])
        against.to_csv(grown / "scores" / f"s{number}.csv", index=False)
    (grown / "scores" / "notes.md").write_text("mine")
    lines = succeeds("score", grown, "--replicates", "40", "--method", "none").output.splitlines()
    assert len(lines) <= MOST_LINES and re.search(r"\d+ notes: --verbose", lines[-1])
    said = [line for line in lines if line.startswith("Left out")]
    assert [line.rpartition(":")[2].strip().split()[0].strip(".") for line in said] == ["notes.md", "part", "fresh"]


@pytest.mark.slow
def test_the_next_step_is_the_last_line_and_conventions_are_asked_for(printed: str, study: Path) -> None:
    assert printed.splitlines()[-1].startswith(
        f"Next: relstudy report {study} --method none --replicates 100 (shows this run, kept in scored.json)   "
    )
    assert printed.splitlines()[-1].endswith("verything: --json.")
    assert "p_family is corrected together" not in printed
    told = relstudy("score", study, "--replicates", "50", "--method", "none", "--verbose").output
    assert "p_family is corrected together" in told


def test_fit_takes_a_folder_and_says_what_comes_next(study: Path) -> None:
    done = succeeds("fit", study, "--method", "isotonic", "--folds", "3")
    assert (study / "mappings" / "s0.json").is_file()
    assert done.output.splitlines()[-2:] == [
        f"4 mappings written to {study / 'mappings'}.",
        f"Next: relstudy score {study}",
    ]


@pytest.fixture
def grown(study: Path, tmp_path: Path) -> Path:
    """The study with a system that scores a tenth of the judged pairs, and one of which nothing is judged."""
    folder = tmp_path / "grown"
    shutil.copytree(study, folder)
    rows = pd.read_csv(folder / "scores" / "s0.csv", dtype=str)
    rows.head(30).assign(system="part").to_csv(folder / "scores" / "part.csv", index=False)
    rows.assign(system="fresh", result_id="new " + rows["result_id"]).to_csv(folder / "scores" / "fresh.csv")
    return folder


@pytest.mark.slow
def test_fit_score_and_report_leave_out_the_same_systems(grown: Path) -> None:
    """`fit` kept those that score under half of the judged pairs, and `report` wondered whose mappings these were."""
    few = ("--replicates", "40")
    fitted = json.loads(succeeds("fit", grown, "--method", "isotonic", "--folds", "3", "--json").output)
    scored = json.loads(succeeds("score", grown, *few, "--json").output)
    shown = json.loads(succeeds("report", grown, *few, "--no-pictures", "--json").output)
    assert set(fitted["systems"]) == set(scored["systems"]) == set(shown["systems"]) == {"s0", "s1", "s2", "s3"}
    for notes in (fitted["notes"], scored["notes"], shown["notes"]):
        assert all(any(name in note and note.startswith("Left out") for note in notes) for name in ("part", "fresh"))
    assert not any("Mappings of systems" in note for note in shown["notes"])


@pytest.mark.slow
def test_the_command_after_fit_scores_against_what_was_fitted(grown: Path, tmp_path: Path) -> None:
    """It named the folder alone, whose own judgments and mappings are others, or none."""
    other = tmp_path / "my other.csv"
    (grown / "judgments.csv").rename(other)
    fitted = succeeds("fit", grown, "-j", other, "-o", tmp_path / "m", "--method", "isotonic", "--folds", "3").stdout
    words = shlex.split(fitted.splitlines()[-1].removeprefix("Next: relstudy "))
    assert words == ["score", str(grown), "-j", str(other), "--mappings", str(tmp_path / "m")]
    succeeds(*words, "--replicates", 20)


@pytest.mark.slow
def test_a_direction_that_was_found_is_a_line_however_many_notes_there_are(grown: Path) -> None:
    rows = pd.read_csv(grown / "scores" / "s1.csv").drop(columns="direction", errors="ignore")
    rows.assign(system="distance", score=-rows["score"]).to_csv(grown / "scores" / "distance.csv", index=False)
    lines = succeeds("score", grown, "--replicates", "40", "--method", "none").stdout.splitlines()
    assert re.search(r"\d+ notes: --verbose", lines[-1])
    assert any(line.startswith("distance is ranked by ascending score: lower is better, found") for line in lines)


@pytest.mark.slow
def test_a_studys_folder_is_scored_in_python_as_on_the_command_line(grown: Path) -> None:
    """It was refused as no file; its score files, given one by one, as scoring too little."""
    succeeds("fit", grown, "--method", "bagged", "--folds", "3")
    typed = succeeds("score", grown, "--replicates", "40", "--json").output
    result = rs.score(str(grown), replicates=40)
    assert result.summary() == json.loads(typed.replace("--unjudged skip", "unjudged='skip'"))
    assert result.table["mapping"].str.startswith("bagged, out of fold").all()
    (grown / "judgments.csv").unlink()
    with pytest.raises(rs.RelstudyError, match=r"there is no judgments\.csv in this folder"):
        rs.score(grown)


@pytest.mark.slow
def test_a_mapping_is_fitted_again_for_a_reason_that_is_true(study: Path, tmp_path: Path) -> None:
    """Of runs, which lack some judged pairs, judgments or scores were said to have changed."""
    (tmp_path / "scores").mkdir()
    shutil.copy(study / "judgments.csv", tmp_path)
    rows = pd.read_csv(study / "scores" / "s1.csv", dtype=str).assign(it="Q0", rank=1, tag="s1").iloc[::2]
    columns = ["query_id", "it", "result_id", "rank", "score", "tag"]
    rows[columns].to_csv(tmp_path / "scores" / "s1.run", sep=" ", header=False, index=False)
    succeeds("fit", tmp_path, "--method", "isotonic")
    again = "Refitted the mapping of s1: "
    lacking = again + "judged pairs without a score rank last here, and the saved one was fitted without them."
    assert lacking in succeeds("report", tmp_path, "--replicates", "40", "--no-pictures").output
    dropped = succeeds("score", tmp_path, "--replicates", "40", "--policy", "drop", "--verbose").output
    assert again not in dropped
    judged = pd.read_csv(tmp_path / "judgments.csv")
    judged.assign(judgment=6 - judged["judgment"]).to_csv(tmp_path / "judgments.csv", index=False)
    changed = again + "judgments or scores are not those that the saved one was fitted to."
    assert changed in succeeds("report", tmp_path, "--replicates", "40", "--no-pictures").output


def test_where_every_system_scores_under_half_the_way_out_is_named(grown: Path) -> None:
    """It was said that ids might differ, and not what lets score go on."""
    for name in ("s0", "s1", "s2", "s3"):
        (grown / "scores" / f"{name}.csv").unlink()
    for command in ("score", "fit", "report"):
        said = relstudy(command, grown).stderr
        assert "under half of the 300 judged pairs are scored by fresh and part (at most 30)" in said
        assert "let score take them all the same (--allow-low-coverage)" in said
    assert " 10.0 %" in succeeds("score", grown, "--allow-low-coverage", "--replicates", "20").output
    (grown / "scores" / "part.csv").unlink()
    said = relstudy("score", grown).stderr
    assert "no system scores any of the 300 judged pairs; check that" in said and "--allow" not in said


def test_a_folder_without_the_table_says_which_command_writes_it(tmp_path: Path) -> None:
    for command, message in (
        (score, f"{tmp_path}: there is no score table in its scores/"),
        (fit, f"{tmp_path}: there is no score table in its scores/"),
        (calibrate, f"{tmp_path}: there is no ratings.csv in this folder; `relstudy export {tmp_path}` writes it"),
    ):
        done = CliRunner().invoke(command, [str(tmp_path)])
        assert message in str(done.exception)


def test_a_folder_named_as_a_word_of_a_command_stays_a_folder_in_the_command_to_type(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`relstudy calibrate join` was suggested, which joins judgments, or `relstudy sample couples`."""
    commands = [name.split() for section in SECTIONS.values() for name in section]
    assert {words[1] for words in commands if len(words) > 1} == {*SECOND_WORDS}
    monkeypatch.chdir(tmp_path)
    shutil.copytree(study / "scores", Path("join", "scores"))
    typed = re.search("`relstudy (.*)` writes it", relstudy("score", "join").stderr)
    assert typed is not None and typed[1] == "calibrate ./join"
    assert "join: there is no ratings.csv in this folder" in relstudy(*typed[1].split()).stderr


def test_fit_of_a_study_of_answers_says_what_compares_them(study: Path, tmp_path: Path) -> None:
    """It told to draw pairs with `relstudy sample`."""
    shutil.copy(study / "judgments.csv", tmp_path)
    (tmp_path / "answers.csv").write_text("system,query_id,result_id,place\nx,q,a,1\n")
    said = f"{tmp_path}: models' answers have no scores; `relstudy score {tmp_path}` compares the models"
    assert said in relstudy("fit", tmp_path).stderr
    with pytest.raises(rs.RelstudyError, match=r"models' answers have no scores"):
        rs.score(tmp_path)


def test_what_is_missing_comes_with_the_line_to_type(study: Path) -> None:
    file = str(study / "scores" / "s0.csv")
    assert f"try: relstudy score {file} -j judgments.csv" in relstudy("score", file).output
    assert f"try: relstudy fit {file} -j judgments.csv -o mappings" in relstudy("fit", file).output


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_style_is_for_terminals_and_follows_no_color(
    terminal: bool, environment: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    assert console.in_colour() == coloured
    assert (console.styled("x", bold=True) != "x") == coloured
