"""Which of two results is better: asked side by side, the side by chance, and never mixed with ratings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from relstudy.calibration.preferences import read_preferences
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.collection.displayed_items import item_key
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.statistics import study_statistics
from relstudy.studyapp.monitoring.status import study_status
from tests.commands import succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.statements import statements_of_a_page
from tests.studyapp.studies import TOML, Made

WHICH = TOML + '\n[[blocks]]\nname = "which"\nask = "which"\npairs_per_rater = 6\nratings_per_pair = 9\n'
COUPLES_ALONE = """
[study]
id = "test"
title = "A test study"
[entry]
rules = ["open"]
[[blocks]]
name = "which"
ask = "which"
pairs_per_rater = "all"
"""
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


@pytest.mark.slow
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
    done = succeeds("calibrate", "preferences", tmp_path / "ratings.csv", "-o", tmp_path / "which")
    assert "18 answers by 3 raters on 4 results of 1 query" in done.output
    assert (tmp_path / "which" / "judgments.csv").is_file()


LISTS = {"alpha": "r3 r1 r0", "beta": "r1 r3 r2", "gamma": "r2 r0 r1"}
"""The first results of three systems, in the order in which people like the systems."""


@pytest.fixture
def of_lists(make_study: Callable[..., Made]) -> Made:
    """A study in which the lists of three systems are compared for two queries."""
    study = make_study(WHICH.replace("which", "which-list"), base_queries=1, unique_queries=2)
    rows = ["list_id,query_id,system,rank,result_id"]
    for query in (1, 2):
        for name, order in LISTS.items():
            rows += [f"q{query}/{name},q{query},{name},{rank},{r}" for rank, r in enumerate(order.split(), start=1)]
    (study.folder / "lists.csv").write_text("\n".join(rows) + "\n")
    file = study.folder / "pairs.csv"
    lines = file.read_text().splitlines()
    rows = [f"{lines[0]},other_id", *(f"{line}," for line in lines[1:])]
    for query in (1, 2):
        for one, other in (("alpha", "beta"), ("gamma", "alpha"), ("gamma", "beta")):
            ends = f"q{query}/{one},image,{one};{other},,0.5,unique,q{query}/{other}"
            rows.append(f"l{query}{one[0]}{other[0]},q{query},{ends}")
    file.write_text("\n".join(rows) + "\n")
    prepare(study.folder, study.store)
    return study


@pytest.mark.slow
def test_whole_lists_are_asked_blind_and_the_better_system_is_found(of_lists: Made, tmp_path: Path) -> None:
    study = Study.load(of_lists.folder)
    secret = read_secret(of_lists.folder)
    system_of = {item_key(secret, f"q{query}/{name}"): name for query in (1, 2) for name in LISTS}
    results = {item_key(secret, f"r{number}"): f"r{number}" for number in range(4)}
    for _ in range(4):
        browser = joined(of_lists.app, invite(of_lists.store, study, 1)[0].path)
        while browser.address.startswith("/rate/"):
            assert browser.response is not None and browser.status == 200
            html = browser.response.text
            keys = [key for key in browser.page.items if key in system_of]
            assert not any(word in html for word in ("alpha", "beta", "gamma", "q1/"))
            if not keys:
                browser.rate()
                continue
            left, right = (system_of[key] for key in keys)
            shown = [results[key] for key in browser.page.items if key in results][-6:]
            assert shown == f"{LISTS[left]} {LISTS[right]}".split()
            better = "-1" if list(LISTS).index(left) < list(LISTS).index(right) else "1"
            browser.rate(lambda name, number, better=better: better)  # type: ignore[misc]
    table = ratings_table(of_lists.store, study)
    couples = table[table["other_id"] != ""]
    assert len(couples) == 24 and set(couples["scale"]) == {"which-list"}
    table.to_csv(tmp_path / "ratings.csv", index=False)
    found = read_preferences(tmp_path / "ratings.csv", lists=True).systems.set_index(["system", "other"])
    assert found["preferred"].to_dict() == {
        ("alpha", "beta"): 1, ("alpha", "gamma"): 1, ("beta", "gamma"): 1,
        ("beta", "all others"): 0.5, ("alpha", "all others"): 1, ("gamma", "all others"): 0,
    }  # fmt: skip
    assert (found["answers"].iloc[:3] == 8).all() and (found["queries"] == 2).all()
    done = succeeds("calibrate", "preferences", tmp_path / "ratings.csv", "--lists", "-o", tmp_path / "o")
    assert "24 answers by 4 raters on 6 lists of 2 queries" in done.output and "alpha" in done.output
    assert (tmp_path / "o" / "systems.csv").is_file()
    with pytest.raises(RelstudyError, match=r"its couples are of whole lists; --lists takes these"):
        read_preferences(tmp_path / "ratings.csv")
    assert {growth.scale for growth in study_statistics(of_lists.store, study).agreement} <= {"1-5"}
    table.to_csv(of_lists.folder / "ratings.csv", index=False)
    succeeds("archive", of_lists.folder, "-o", tmp_path / "archive")
    again = read_preferences(tmp_path / "archive" / "ratings.csv", lists=True).systems.set_index(["system", "other"])
    pd.testing.assert_frame_equal(again, found)
    assert (tmp_path / "archive" / "lists.csv").read_text() == (of_lists.folder / "lists.csv").read_text()
    assert not set(table["rater_id"]) & set(pd.read_csv(tmp_path / "archive" / "ratings.csv")["rater_id"])


def test_a_couple_costs_the_database_no_statement_more_than_a_pair(make_study: Callable[..., Made]) -> None:
    made = make_study(COUPLES_ALONE, unique_queries=12)
    file = made.folder / "pairs.csv"
    head = file.read_text().splitlines()[0]
    rows = [f"c{query},q{query},r0,image,a,,0.5,unique,r1" for query in range(12)]
    file.write_text("\n".join([f"{head},other_id", *rows]) + "\n")
    prepare(made.folder, made.store)
    browser = Browser(made.app)
    browser.get("/")
    shown = browser.send(browser.page.form(), agree="yes")
    assert "Each page shows two results of one query." in shown.text
    browser.send(shown.form())
    for _ in range(2):
        browser.rate(lambda name, number: "1")
    at_once, apart = statements_of_a_page(browser, made.store, "1")
    most = {"sqlite": (11, 15), "postgresql": (10, 13)}[made.store.engine.dialect.name]
    assert len(at_once) <= most[0] and len(apart) <= most[1], "\n".join([*at_once, "", *apart])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("q1/alpha,q1,alpha,1,r3", "q1/alpha,q1,alpha,1,nobody"), "results that collection.csv has"),
        (("q1/alpha,q1,alpha,2,", "q1/alpha,q1,alpha,1,"), "each rank may appear once"),
        (("q1/alpha,q1,alpha,2,", "q1/alpha,q1,beta,2,"), "another; one is allowed"),
        (("q1/alpha,q1,alpha,2,", "q1/alpha,q1,alpha,1.5,"), "whole number"),
    ],
)
def test_lists_that_are_none_are_refused(of_lists: Made, change: tuple[str, str], message: str) -> None:
    file = of_lists.folder / "lists.csv"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    with pytest.raises(RelstudyError, match=message):
        prepare(of_lists.folder, of_lists.store)


@pytest.mark.slow
def test_a_side_is_no_grade_so_couples_are_in_no_figure_of_agreement(made: Made) -> None:
    study = Study.load(made.folder)
    for _ in range(2):
        compare(made, joined(made.app, invite(made.store, study, 1)[0].path), careless=True)
    statistics = study_statistics(made.store, study)
    assert {growth.scale for growth in statistics.agreement} <= {"1-5"}
    assert study_status(made.store, study).blocks[2].distribution == {"-1": 12, "0": 0, "1": 0}


@pytest.mark.slow
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
        ('scale = "1-5"', "show one couple on a page"),
        ("results_per_page = 2", "show one couple on a page"),
        (
            '[[practice]]\nblock = "which"\nquery_id = "q0"\nresult_id = "r0"\nexpected = [1]',
            r"needs the second result \(other_id\)",
        ),
    ],
)
def test_settings_that_do_not_go_with_comparing_are_refused(further: str, message: str) -> None:
    with pytest.raises(RelstudyError, match=message):
        Study.parse(WHICH + further + "\n")


def test_a_table_of_couples_alone_is_sent_to_its_own_command(tmp_path: Path) -> None:
    rows = {"rater_id": ["a"], "query_id": ["q"], "result_id": ["x"], "other_id": ["y"], "left": ["x"], "rating": [-1]}
    pd.DataFrame(rows).to_csv(tmp_path / "which.csv", index=False)
    with pytest.raises(RelstudyError, match="relstudy calibrate preferences takes these"):
        read_ratings(tmp_path / "which.csv")


KNOWN = """
[[blocks.questions]]
id = "why"
text = "Why is it better?"

[[practice]]
block = "which"
query_id = "q0"
result_id = "r1"
other_id = "r2"
expected = [-1]
feedback = "The first is of the same place."

[[attention]]
block = "which"
query_id = "q1"
result_id = "r2"
other_id = "r0"
expected = [1]
"""


@pytest.mark.slow
def test_couples_have_practice_checks_and_further_questions(made: Made) -> None:
    file = made.folder / "study.toml"
    file.write_text(file.read_text() + KNOWN)
    prepare(made.folder, made.store)
    study = Study.load(made.folder)
    secret = read_secret(made.folder)
    names = {item_key(secret, f"r{number}"): f"r{number}" for number in range(4)}
    sides = {}
    for number in range(4):
        browser = joined(made.app, invite(made.store, study, 1)[0].path)
        for _ in range(40):
            if not browser.address.startswith(("/rate/", "/practice/")):
                break
            assert browser.response is not None and browser.status == 200
            html = browser.response.text
            shown = [names[key] for key in browser.page.items if key in names]
            if browser.address.startswith("/practice/"):
                assert shown == ["r1", "r2"] and "The first is of the same place." in html
                assert "the left one" in html and "-1" not in browser.page.text
                browser.get("/rate")
                continue
            if 'class="couple"' not in html:
                browser.rate()
                continue
            form = browser.page.form(browser.address)
            assert "Why is it better?" in html and "Result 1:" not in html
            browser.send(form, **{"rating-1": "1" if number else "-1", "rating-1-why": "bluer"})
            sides.setdefault(tuple(shown), 0)
    assert ("r1", "r2") in sides and ("r2", "r0") in sides
    table = ratings_table(made.store, study)
    passed = table[table["passed"] != ""].groupby("block")["passed"].agg(list)
    assert passed["practice"] == ["yes", "no", "no", "no"] and passed["check"] == ["no", "yes", "yes", "yes"]
    words = ratings_table(made.store, study, question=study.result_questions["why"])
    assert set(words["words"]) == {"bluer"} and (words["other_id"] != "").all()
    table.to_csv(made.folder / "ratings.csv", index=False)
    assert read_preferences(made.folder / "ratings.csv").raters["n_ratings"].tolist() == [6, 6, 6, 6]
