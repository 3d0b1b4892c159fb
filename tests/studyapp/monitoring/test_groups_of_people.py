"""From the app's questionnaire to a tested difference between groups of people, by commands alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

import relstudy as rs
from relstudy.studyapp.collection.displayed_items import item_key
from relstudy.studyapp.config.secret import read_secret
from tests.commands import succeeds
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made

ASKED = """
[[questions]]
id = "trade"
text = "Do you sell pictures?"
kind = "choice"
choices = ["yes", "no"]
required = true
[[questions]]
id = "say"
text = "Anything else?"
kind = "long"
"""


def run(*command: object) -> str:
    done = succeeds(*command)
    return done.stdout


def rate_all(browser: Browser, items: Mapping[str, str], of_trade: bool) -> None:
    """Rate every page: those of the trade like what the others do not."""
    while browser.address.startswith("/rate"):
        shown = [items[key] for key in browser.page.items]
        query = int(next(name for name in shown if name[0] == "q")[1:])
        results = [int(name[1:]) for name in shown if name[0] == "r"]
        liked = [1 + (query + 2 * result) % 5 for result in results]
        browser.rate(lambda name, number, liked=liked: str(liked[number - 1] if of_trade else 6 - liked[number - 1]))  # type: ignore[misc]


@pytest.fixture
def folder(make_local: Callable[..., Made]) -> Path:
    """A study that four people rated, two of them of the trade, with the scores of two systems."""
    made = make_local(TOML + ASKED, base_queries=5, unique_queries=0)
    items = {
        item_key(read_secret(made.folder), name): name
        for name in pd.read_csv(made.folder / "collection.csv")["item_id"]
    }
    for number in range(4):
        browser = Browser(made.app)
        browser.join()
        rate_all(browser, items, of_trade=number < 2)
        assert browser.address == "/questions"
        answers = {"question-trade": "yes" if number < 2 else "no", "question-say": "Jane was here"}
        browser.send(browser.page.form(), **answers)
    return made.folder


@pytest.mark.slow
def test_what_people_chose_in_the_questionnaire_reaches_a_tested_difference(folder: Path) -> None:
    run("export", folder)
    ratings = pd.read_csv(folder / "ratings.csv")
    assert ratings.groupby("question_trade")["rater_id"].nunique().to_dict() == {"no": 2, "yes": 2}
    assert "question_say" not in ratings and "Jane" not in (folder / "ratings.csv").read_text()
    pairs = ["query_id", "result_id"]
    liked = ratings.groupby([*pairs, "question_trade"])["rating"].mean().unstack().reset_index()
    (folder / "scores").mkdir()
    for name, side in (("trade", "yes"), ("street", "no")):
        liked.rename(columns={side: name})[[*pairs, name]].to_csv(folder / "scores" / f"{name}.csv", index=False)
    run("calibrate", folder)
    scored = json.loads(run("score", folder, "--by", "question_trade", "--json"))["by"]
    assert set(scored["groups"]) == {"yes", "no"}
    for group, system in (("yes", "trade"), ("no", "street")):
        assert scored["groups"][group]["systems"][system]["raw"]["pearson"]["value"] > 0.9
    (lead,) = scored["leads"]["no"]
    assert lead["difference"]["low"] > 1
    files = [part for file in ("street", "trade") for part in ("--scores", folder / "scores" / f"{file}.csv")]
    compared = json.loads(run("calibrate", folder, "--compare", "question_trade=no", *files, "--json"))
    assert compared["orders"] == [lead]  # two ways to ask, one answer
    assert "question_trade=no and the others see street and trade differently: " in " ".join(scored["notes"])
    panel = rs.calibrate(folder / "ratings.csv")
    by = rs.score({name: folder / "scores" / f"{name}.csv" for name in ("street", "trade")}, panel, by="question_trade")
    assert by.as_json()["by"]["leads"]["no"][0]["difference"] == pytest.approx(lead["difference"])
