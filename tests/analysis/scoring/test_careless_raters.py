"""Figures if raters who look careless were taken another way: the line of score, and that it is right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import relstudy as rs
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People, Study, World
from relstudy.studyapp.cli import main


@pytest.fixture(scope="module")
def study() -> Study:
    shape, random = NormalShape((0.7, 0.3), items=60), np.random.default_rng(11)
    people = People(raters=8, ratings_each=2, base=30, relevant=0.2, careless=0.25, manners=("random",))
    return World(shape.collection(40, random), Drawing(12, 0.5, 0.4), people).draw(30, random)


def average_precision(study: Study, how: str) -> tuple[dict[str, float], list[str]]:
    panel = rs.calibrate(study.ratings, pairs=study.pairs, careless=how)
    found = rs.score(study.scores, panel, method="none", measures=[], direction="higher", replicates=20)
    values = {each.name: each.indices["average_precision"].value or 0.0 for each in found.result.systems}
    return values, [note for note in found.notes if "no sign of agreement" in note]


@pytest.mark.slow
def test_the_line_gives_the_figures_of_the_other_way(study: Study) -> None:
    kept, of_kept = average_precision(study, "keep")
    weighed, of_weighed = average_precision(study, "weigh")
    assert weighed["system 1"] > kept["system 1"] + 0.03  # which two random raters of eight had hidden
    for note, now, then in ((of_kept, kept, weighed), (of_weighed, weighed, kept)):
        (line,) = note
        assert line.startswith("2 raters (")
        told = re.findall(r"pooled AP would be (.*\(now [.\d]+\))", line)[0]
        for name, value in now.items():
            assert f"{then[name]:.2f} for {name} (now {value:.2f})" in told
        assert "system 1 comes first either way" in line


@pytest.mark.slow
def test_the_command_and_the_page_say_the_same(study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / "scores").mkdir(parents=True)
    study.ratings.to_csv(folder / "ratings.csv", index=False)
    study.pairs.to_csv(folder / "pairs.csv", index=False)
    study.scores.to_csv(folder / "scores" / "both.csv", index=False)
    run = CliRunner()
    assert run.invoke(main, ["calibrate", str(folder)], catch_exceptions=False).exit_code == 0
    scored = run.invoke(main, ["score", str(folder), "--replicates", "50", "--verbose"], catch_exceptions=False)
    said = re.findall(r"2 raters \([^\n]*their ratings do not count\. If they counted[^\n]*", scored.output)
    assert said, scored.output
    page = tmp_path / "page.html"
    done = run.invoke(main, ["report", str(folder), "--out", str(page), "--replicates", "50"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "their ratings do not count. If they counted" in page.read_text(encoding="utf-8")
