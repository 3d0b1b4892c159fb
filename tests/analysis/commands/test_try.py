"""`relstudy try`: from strangers' files to a page, and the commands that it leaves, run again."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from tests.commands import relstudy, succeeds
from tests.places import EXAMPLE

QUERIES, RESULTS = 8, 6


def tables(folder: Path) -> None:
    """Ratings, labels, scores and runs of the same pairs, in the columns and words of others."""
    random = np.random.default_rng(3)
    pairs = [(f"q{query}", f"d{result}") for query in range(QUERIES) for result in range(RESULTS)]
    truth = random.normal(size=len(pairs))
    grade = np.clip(np.round(1.5 + truth), 0, 3).astype(int)
    rows = [
        (f"w{rater}", *pair, int(np.clip(value + random.integers(0, 2), 0, 3)))
        for rater in range(3)
        for pair, value in zip(pairs, grade, strict=True)
    ]
    pd.DataFrame(rows, columns=["worker", "query", "doc", "grade"]).to_csv(folder / "ratings.csv", index=False)
    labels = [(*pair, "ICSE"[value], "us") for pair, value in zip(pairs, grade, strict=True)]
    head = ["query", "product_id", "esci_label", "product_locale"]
    pd.DataFrame(labels, columns=head).to_csv(folder / "labels.csv", index=False)
    one, other = truth + random.normal(size=len(pairs)), random.normal(size=len(pairs))
    scores = pd.DataFrame(pairs, columns=["query", "item"]).assign(bm25=one, dense=other)
    scores.to_csv(folder / "scores.csv", index=False)
    for name, score in (("first", one), ("second", other)):
        lines = [f"{q} Q0 {d} 0 {value:.4f} tag" for (q, d), value in zip(pairs, score, strict=True)]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    lines = [f"{q} 0 {d} {value}" for (q, d), value in zip(pairs, grade, strict=True)]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    either = pd.DataFrame(pairs, columns=["query", "doc"]).assign(score=grade)
    either.to_csv(folder / "either.csv", index=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tables(tmp_path)
    return tmp_path


def tried(*words: str, typed: str | None = None) -> Result:
    return relstudy("try", *words, typed=typed)


def made_again(folder: Path) -> dict[str, bytes]:
    """The figures that the commands of a try give when a shell runs them, in an empty folder but for what they read.

    The shell's `relstudy` only notes where it was called and with what; this process runs that.
    """
    bin_folder = folder.parent / "bin"
    bin_folder.mkdir(exist_ok=True)
    typed = bin_folder / "typed"
    typed.unlink(missing_ok=True)
    to = shlex.quote(str(typed))
    (bin_folder / "relstudy").write_text(f'#!/bin/sh\nprintf "%s\\0" "$PWD" "$@" >> {to}\necho >> {to}\n')
    (bin_folder / "relstudy").chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    script = folder / "commands.sh"
    kept = script.read_text()
    shutil.rmtree(folder)
    folder.mkdir()
    script.write_text(kept)
    subprocess.run(["sh", str(script)], check=True, env=environment, cwd="/", capture_output=True)
    for line in typed.read_text().splitlines():
        place, *words = line.split("\0")[:-1]
        with contextlib.chdir(place):
            succeeds(*words)
    return figures(folder)


def figures(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "said", "read"),
    [
        (("ratings.csv", "scores.csv"), "144 ratings by 3 raters", "calibrate ratings.csv -o try --columns"),
        (
            ("--", "labels.csv", "-first.run"),
            "48 judgments without raters",
            "--columns query_id=query,result_id=product_id",
        ),
        (("labels.csv", "scores.csv"), "48 judgments without raters", "scores.csv:result_id=item"),
        (("qrels.txt", "first.run", "second.run"), "2 runs of one tag", "first=first.run second=second.run"),
    ],
)
def test_two_tables_are_a_page_and_the_commands_give_the_same_figures(
    here: Path, files: tuple[str, ...], said: str, read: str
) -> None:
    shutil.copy("first.run", "-first.run")
    done = tried(*files)
    assert done.exit_code == 0, done.output
    assert said in done.stdout
    script = (here / "try" / "commands.sh").read_text()
    assert read in script and " --method isotonic" in script and "--method best compares it" in done.stdout
    assert "<h1" in (here / "try" / "report.html").read_text()
    before = figures(here / "try")
    assert {"scores.csv", "per_query.csv"} <= set(before)
    assert made_again(here / "try") == before


@pytest.mark.slow
def test_a_studys_folder_is_a_page_and_what_lies_there_is_not_written_over(here: Path) -> None:
    shutil.copytree(EXAMPLE, here / "study", ignore=shutil.ignore_patterns("gift-*", "study.toml"))
    before = {path: path.read_bytes() for path in (here / "study").rglob("*.csv")}
    done = tried("study", "-o", "page")
    assert done.exit_code == 0, done.output
    assert "study: takes its judgments.csv as it is." in done.stdout
    assert (here / "page" / "report.html").is_file()
    assert {path: path.read_bytes() for path in before} == before


def test_a_study_of_answers_is_compared_and_not_asked_for_scores(here: Path) -> None:
    (here / "study").mkdir()
    rows = [(f"q{q}", f"{model}{q}", model) for q in range(6) for model in "ab"]
    pairs = pd.DataFrame(rows, columns=["query_id", "result_id", "system"])
    pairs.to_csv(here / "study" / "answers.csv", index=False)
    ratings = pd.concat(pairs.assign(rater_id=rater, rating=[1, 5, 2, 4, 3, 3, 1, 4, 2, 2, 1, 5]) for rater in "uv")
    ratings.drop(columns="system").to_csv(here / "study" / "ratings.csv", index=False)
    done = tried("study")
    assert done.exit_code == 0, done.output
    assert "Use b: its answers are better than those of a." in done.stdout
    assert (here / "try" / "report.html").is_file() and "SCORES" not in done.stdout


def test_a_table_of_two_readings_is_told_by_the_other_file(here: Path) -> None:
    from relstudy.analysis.inspection.files import inspect_file
    from relstudy.analysis.inspection.steps import narrowed, part_of

    either, scores, ratings = map(inspect_file, ("either.csv", "first.run", "ratings.csv"))
    assert len(either.readings) == 2
    assert [part_of(each) for each in narrowed([either, scores])] == ["judgments", "scores"]
    assert [part_of(each) for each in narrowed([ratings, either])] == ["ratings", "scores"]


def test_in_a_pipe_it_ends_with_the_readings_and_writes_nothing(here: Path) -> None:
    shutil.copy("either.csv", "other.csv")
    done = tried("either.csv", "other.csv")
    assert done.exit_code == 1
    assert done.stdout.count("if so:") == 2
    assert "can be read in several ways" in done.stderr
    assert not (here / "try").exists()


@pytest.mark.slow
def test_on_a_terminal_it_asks_what_it_cannot_tell_and_no_more(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.analysis.commands.try_files.is_terminal", lambda: True)
    pd.read_csv("either.csv").assign(score=lambda frame: -frame["score"]).to_csv("other.csv", index=False)
    done = tried("either.csv", "other.csv", typed="1\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("Which of these is it?") == 1, "the second file is scores once the first is not"
    assert (here / "try" / "report.html").is_file()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("scores.csv", "first.run"), "people's ratings or judgments are needed, and none of the files holds any"),
        (
            ("ratings.csv", "labels.csv", "scores.csv"),
            "labels.csv look like people's ratings or judgments. If only ratings.csv",
        ),
        (("found.csv", "scores.csv"), "relstudy ask found.csv asks people for them"),
        (("labels.csv",), "nothing to do; name the scores"),
        (("none.csv", "scores.csv"), "file not found"),
    ],
)
def test_files_that_make_no_page_are_refused_in_a_sentence(here: Path, files: tuple[str, ...], said: str) -> None:
    (here / "found.csv").write_text("question,model,answer\nWhy?,one,Because.\nWhy?,two,By chance.\n")
    done = tried(*files)
    assert done.exit_code == 1
    assert said in done.stderr
    assert not (here / "try").exists()


def test_answers_to_which_of_two_are_tried_like_ratings(here: Path) -> None:
    """The plain calibrate was run on them, which refuses them, and was kept in commands.sh."""
    pairs = [(q, a, b) for q in range(8) for a, b in ((0, 1), (1, 2), (2, 0))]
    lines = [f"{who},q{q},d{a},d{b},{'AB'[(a + (q == 3)) % 2]}" for who in ("ann", "bob", "cy") for q, a, b in pairs]
    (here / "which.csv").write_text("\n".join(["worker,query,result_a,result_b,preference", *lines]))
    scores = [f"q{q},d{d},{d / 2 + q / 9:.3f}" for q in range(8) for d in range(3)]
    (here / "bm25.csv").write_text("\n".join(["query_id,result_id,bm25", *scores]))
    done = tried("which.csv", "bm25.csv")
    assert done.exit_code == 0, done.output
    assert "$ relstudy calibrate preferences which.csv" in done.stdout and (here / "try" / "report.html").is_file()


@pytest.mark.slow
def test_grades_of_a_model_beside_labels_are_a_systems_where_it_is_said_which_are_peoples(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels and many more grades of a model, both in ordinary names, could not be tried at all."""
    grades = pd.read_csv("labels.csv")[["query", "product_id"]].assign(grade=lambda frame: frame.index % 4)
    grades.to_csv("model.csv", index=False)
    refused = tried("labels.csv", "model.csv")
    assert (
        refused.exit_code == 1
        and "If only labels.csv holds such, and the others a system's scores, add --people labels.csv" in refused.stderr
    )
    done = tried("labels.csv", "model.csv", "--people", "labels.csv")
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(here / "try" / "scores.csv")["system"]) == {"grade"}
    before = figures(here / "try")
    assert made_again(here / "try") == before
    monkeypatch.setattr("relstudy.analysis.commands.try_files.is_terminal", lambda: True)
    asked = tried("labels.csv", "model.csv", typed="labels.csv\n")
    assert asked.exit_code == 0 and figures(here / "try") == before
    words = tried("labels.csv", "model.csv", "--people", "model.csv")
    assert "labels.csv cannot be a system's scores: its grades are words" in words.stderr


def test_ratings_alone_are_calibrated_and_what_lacks_is_said(here: Path) -> None:
    done = tried("ratings.csv")
    assert done.exit_code == 0, done.output
    assert "no file holds scores of systems" in done.stdout
    assert done.stdout.rstrip().endswith("Next: relstudy try ratings.csv SCORES")
    assert (here / "try" / "judgments.csv").is_file()


def test_a_folder_of_other_things_is_not_written_to(here: Path) -> None:
    (here / "try").mkdir()
    (here / "try" / "judgments.csv").write_text("mine")
    done = tried("labels.csv", "first.run")
    assert done.exit_code == 1
    assert "-o names another folder" in done.stderr
    assert (here / "try" / "judgments.csv").read_text() == "mine"


@pytest.mark.slow
def test_strange_ratings_beside_labels_have_no_part_in_their_scoring(here: Path) -> None:
    """Labels of one table could not be scored where a ratings.csv of other columns lay beside them."""
    stated = "--columns query_id=query,result_id=product_id,rating=esci_label --values E=1,S=.1,C=.01,I=0"
    scored = ["score", "first=first.run", "-j", "labels.csv", *stated.split(), "--report", "page.html", "--verbose"]
    done = succeeds(*scored)
    assert "so that file has no part in this" in done.stdout
    assert "first.run" in (here / "page.html").read_text()
