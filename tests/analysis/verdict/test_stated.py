"""What study.toml states of the analysis decides, in whatever command the study is looked at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.cli import main
from relstudy.studyapp.config.study import Study
from tests.commands import succeeds
from tests.places import EXAMPLE

FEW = ("--replicates", "40", "--method", "none")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """The example with a study.toml that lets pooled average precision decide."""
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings"))
    settings = folder / "study.toml"
    stated = '\n[analysis]\nprimary = "average_precision"\nmatters = 0.1\n'
    settings.write_text(settings.read_text(encoding="utf-8") + stated, encoding="utf-8")
    return folder


def verdict_of(*arguments: object) -> dict:
    done = succeeds(*arguments)
    return dict(json.loads(done.stdout)["verdict"])


@pytest.mark.slow
def test_score_report_and_python_decide_by_what_the_study_states(study: Path) -> None:
    by_score = verdict_of("score", study, *FEW, "--json")
    assert (by_score["primary"], by_score["primary_chosen"]) == ("average_precision", "as stated")
    assert by_score["settling"] is None or by_score["settling"]["matters"] == 0.1
    assert verdict_of("report", study, *FEW, "--json")["headline"] == by_score["headline"]
    names = ("keywords", "gift")
    scores = {name: study / "scores" / f"{name}.csv" for name in names}
    by_python = rs.score(scores, study / "judgments.csv", method="none", replicates=40).verdict
    assert by_python.primary.name == "average_precision" and by_python.primary.matters == 0.1
    alone = next(each["ahead_of"] for each in by_score["ranks"] if each["system"] == "keywords")
    assert ("gift" in alone) == by_python.standings.ahead("keywords", "gift")


@pytest.mark.slow
def test_an_option_comes_before_what_the_study_states(study: Path) -> None:
    assert verdict_of("score", study, *FEW, "--primary", "correlation", "--json")["primary"] == "pearson"


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ('primary = "luck"', "'luck' is not an index: one of pearson"),
        ("primary = 3", "primary"),
        ("matters = 0", "matters"),
        ('matters = "much"', "matters"),
    ],
)
def test_what_cannot_decide_is_refused_where_the_study_is_read(stated: str, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        Study.parse(f'[study]\nid = "a"\ntitle = "A"\n[analysis]\n{stated}\n')


@pytest.mark.parametrize(("stated", "message"), [("primary = 3", "the name of an index"), ("matters = 0", "above 0")])
def test_judgments_beside_such_a_file_are_refused_too(study: Path, stated: str, message: str) -> None:
    (study / "study.toml").write_text(f"[analysis]\n{stated}\n", encoding="utf-8")
    with pytest.raises(RelstudyError, match=message):
        rs.score(study / "scores" / "gift.csv", study / "judgments.csv", method="none", replicates=40)


@pytest.mark.slow
def test_a_new_study_states_what_decides_and_sample_says_where_a_draw_gives_it_too_little(tmp_path: Path) -> None:
    run = CliRunner().invoke
    folder = str(tmp_path / "new")
    assert run(main, ["new", folder, "--pictures", "24"]).exit_code == 0
    assert Study.load(folder).analysis.primary == "same_query"
    few = run(main, ["sample", folder, "--queries", "6", "--results", "8", "--base", "4"])
    assert few.exit_code == 0, few.output
    assert "6 have 5 results or more, and 20 are needed." in " ".join(few.output.split())
