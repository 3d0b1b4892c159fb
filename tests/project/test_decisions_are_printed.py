"""What a command decides for a person is printed with its result: on standard output, or under "notes" in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from relstudy.calibration.choice import method_sentence
from relstudy.studyapp.cli import main

PLAN = ("--studies", 20, "--results", 4, "--correlations", "0.9,0.1", "--power", 0.2)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Ratings with a row twice, judgments with a column of words, scores with titles and a system that lacks a pair."""
    random = np.random.default_rng(3)
    rated = ["rater_id,query_id,result_id,rating"]
    judged, scored = ["query_id,result_id,judgment,seen by"], ["query_id,result_id,new,old,title"]
    for number in range(24):
        pair = f"q{number % 6},d{number}"
        true = number % 5 + 1
        rated += [f"{rater},{pair},{int(np.clip(true + random.integers(-1, 2), 1, 5))}" for rater in "abc"]
        judged.append(f"{pair},{true},ann")
        old = "" if number == 5 else f"{random.normal():.3f}"
        scored.append(f"{pair},{true + random.normal():.3f},{old},lamp")
    for name, lines in (("ratings", [*rated, rated[1]]), ("judged", judged), ("scores", scored)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def both_ways(*arguments: object) -> tuple[str, dict[str, Any]]:
    """What a command prints for people and for machines; neither keeps anything but what was written off it."""
    printed = []
    for last in ((), ("--json",)):
        done = CliRunner().invoke(main, [str(argument) for argument in (*arguments, *last)])
        assert done.exit_code == 0, done.stderr
        assert all(line.startswith("wrote ") for line in done.stderr.splitlines()), done.stderr
        printed.append(done.stdout)
    return printed[0], json.loads(printed[1])


@pytest.mark.slow
def test_calibrate_s_comparison_of_a_rater(tables: Path) -> None:
    merged = "1 row repeated an earlier row exactly and was merged"
    text, content = both_ways("calibrate", tables / "ratings.csv", "--compare", "a")
    assert merged in text and merged in content["notes"]
    assert method_sentence(content["method"], content["method_reason"]) in text


@pytest.mark.slow
def test_fit(tables: Path) -> None:
    text, content = both_ways(
        *("fit", tables / "scores.csv", "-j", tables / "judged.csv", "-o", tables / "m"),
        *("--method", "isotonic", "--folds", 2),
    )
    for note in ("title", "of 24 judged pairs not all are scored by: old"):
        assert note in text and any(note in each for each in content["notes"])
    assert f"new: {content['directions']['new']}." in text


@pytest.mark.slow
def test_score(tables: Path) -> None:
    text, content = both_ways(
        *("score", tables / "scores.csv", "-j", tables / "judged.csv", "--replicates", 5, "--method", "none"),
        "--verbose",
    )
    assert any("title" in note for note in content["notes"]) and all(note in text for note in content["notes"])


@pytest.mark.slow
def test_plan_from_ratings_and_from_a_pilot(tables: Path) -> None:
    text, content = both_ways("plan", "--ratings", tables / "ratings.csv", *PLAN)
    assert any("was merged" in note for note in content["notes"]) and all(note in text for note in content["notes"])
    text, content = both_ways("plan", "--judgments", tables / "judged.csv", "--scores", tables / "scores.csv", *PLAN)
    assert all(note in text for note in content["notes"])
    assert "23 of 24 judged pairs are scored by both" in content["notes"]


@pytest.mark.slow
def test_a_pilots_run_is_read_as_a_run(tables: Path) -> None:
    """What a run does not hold it did not retrieve, and its scores are higher-is-better whatever the judgments say."""
    pairs = [line.split(",")[:2] for line in (tables / "scores.csv").read_text().splitlines()[1:]]
    for name, sign, kept in (("new", 1, 24), ("bad", -1, 8)):
        lines = [
            f"{query} Q0 {result} {rank} {sign * (int(result[1:]) % 5)} {name}"
            for rank, (query, result) in enumerate(pairs[:kept], start=1)
        ]
        (tables / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tables / "both.run").write_text("".join((tables / f"{name}.run").read_text() for name in ("new", "bad")))
    _, content = both_ways("plan", "--judgments", tables / "judged.csv", "--scores", tables / "both.run", *PLAN)
    assert "bad: higher is better, by definition of such scores" in content["notes"]
    assert "24 of 24 judged pairs are scored by both" in content["notes"]
