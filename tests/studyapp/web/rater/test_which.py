"""Which of two results is better: asked side by side, the side by chance, and never mixed with ratings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from relstudy.calibration.preferences import read_preferences
from relstudy.calibration.ratings import read_ratings
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.cli import main
from relstudy.studyapp.collection.displayed import item_key
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.statistics import study_statistics
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

WHICH = TOML + '\n[[blocks]]\nname = "which"\nask = "which"\npairs_per_rater = 6\nratings_per_pair = 9\n'
ORDER = ["r3", "r1", "r0", "r2"]
"""What people prefer, best first."""


@pytest.fixture
def made(make_study: Callable[..., Made]) -> Made:
    """A study of pairs, and of six couples of query q2, whose results r0 to r3 are compared."""
    study = make_study(WHICH, base_queries=1, unique_queries=2)
    file = study.folder / "pairs.csv"
    lines = file.read_text().splitlines()
    rows = [f"{line}," for line in lines[1:]]
    for number, (one, other) in enumerate([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]):
        rows.append(f"c{number},q2,r{one},image,secret-system,,0.125,unique,r{other}")
    file.write_text("\n".join([f"{lines[0]},other_id", *rows]) + "\n")
    prepare(study.folder, study.store)
    return study


def compare(made: Made, browser: Browser, careless: bool = False) -> None:
    """Rate everything; of couples say that the better one is better."""
    secret = read_secret(made.folder)
    names = {item_key(secret, f"r{number}"): f"r{number}" for number in range(4)}
    while browser.address.startswith("/rate/"):
        assert browser.response is not None
        html = browser.response.text
        if 'class="couple"' not in html:
            browser.rate()
            continue
        shown = [names[part.split('"')[0]] for part in html.split('class="couple"')[1].split('data-item="')[1:]]
        assert len(shown) == 2
        first_wins = ORDER.index(shown[0]) < ORDER.index(shown[1])
        browser.rate(lambda name, number, left=first_wins: "-1" if careless or left else "1")  # type: ignore[misc]
        assert browser.status == 200


def test_couples_are_asked_and_exported_with_the_side_and_calibrated(made: Made, tmp_path: Path) -> None:
    study = Study.load(made.folder)
    for _ in range(3):
        compare(made, joined(made.app, invite(made.store, study, 1)[0].path))
    table = ratings_table(made.store, study)
    couples = table[table["other_id"] != ""]
    assert len(couples) == 18 and set(couples["rating"]) == {-1.0, 1.0}
    assert (couples["scale"] == "which").all() and (couples["inclusion_probability"] == 0.125).all()
    assert (table.loc[table["other_id"] == "", "left"] == "").all()
    better = [row.result_id if ORDER.index(row.result_id) < ORDER.index(row.other_id) else row.other_id
              for row in couples.itertuples()]  # fmt: skip
    said = [row.left if row.rating == -1 else {row.result_id, row.other_id}.difference({row.left}).pop()
            for row in couples.itertuples()]  # fmt: skip
    assert said == better
    left_first = (couples["left"] == couples["result_id"]).mean()
    assert 0 < left_first < 1  # one of 18 couples on one side alone comes once in 130,000
    table.to_csv(tmp_path / "ratings.csv", index=False)
    found = read_preferences(tmp_path / "ratings.csv")
    frame = found.judgments.frame.sort_values("judgment", ascending=False)
    assert frame["result_id"].tolist() == ORDER and (frame["query_id"] == "q2").all()
    ratings = read_ratings(tmp_path / "ratings.csv")
    assert len(ratings.frame) == len(table) - 18 and ratings.scale.scale.name == "1-5"
    assert any("18 rows on which of two results is better left out" in note for note in ratings.notes)
    done = CliRunner().invoke(main, ["preferences", str(tmp_path / "ratings.csv"), "-o", str(tmp_path / "which")])
    assert done.exit_code == 0, done.output
    assert "18 answers by 3 raters on 4 results of 1 query" in done.output
    assert (tmp_path / "which" / "judgments.csv").is_file()


def test_a_side_is_no_grade_so_couples_are_in_no_figure_of_agreement(made: Made) -> None:
    study = Study.load(made.folder)
    for _ in range(2):
        compare(made, joined(made.app, invite(made.store, study, 1)[0].path), careless=True)
    statistics = study_statistics(made.store, study)
    assert {growth.scale for growth in statistics.agreement} <= {"1-5"}
    assert study_status(made.store, study).blocks[2].distribution == {"-1": 12, "0": 0, "1": 0}


def test_a_rater_sees_a_couple_the_same_way_again_and_others_may_see_it_the_other_way(made: Made) -> None:
    study = Study.load(made.folder)
    lefts = set()
    for _ in range(4):
        browser = joined(made.app, invite(made.store, study, 1)[0].path)
        while 'class="couple"' not in (browser.response.text if browser.response else ""):
            browser.rate()
        address = browser.address
        first = browser.get(address) and browser.response.text.split('class="couple"')[1].split('data-item="')[1][:12]  # type: ignore[union-attr]
        again = browser.get(address) and browser.response.text.split('class="couple"')[1].split('data-item="')[1][:12]  # type: ignore[union-attr]
        assert first == again
        lefts.add(first)
    assert len(lefts) > 1


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ('scale = "1-5"', "shows one couple on a page"),
        ("results_per_page = 2", "shows one couple on a page"),
        (
            '[[practice]]\nblock = "which"\nquery_id = "q0"\nresult_id = "r0"\nexpected = [1]',
            "a block that asks for rat",
        ),
    ],
)
def test_settings_that_do_not_go_with_comparing_are_refused(further: str, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        Study.parse(WHICH + further + "\n")


def test_a_table_of_couples_alone_is_sent_to_its_own_command(tmp_path: Path) -> None:
    rows = {"rater_id": ["a"], "query_id": ["q"], "result_id": ["x"], "other_id": ["y"], "left": ["x"], "rating": [-1]}
    pd.DataFrame(rows).to_csv(tmp_path / "which.csv", index=False)
    with pytest.raises(RelstudyError, match="relstudy preferences takes these"):
        read_ratings(tmp_path / "which.csv")
