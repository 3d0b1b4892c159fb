"""relstudy start: from a table, or a zip of pictures, to a study that people rate, in the browser alone."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, Request, build_opener

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from werkzeug.security import generate_password_hash
from werkzeug.test import Client, EnvironBuilder, TestResponse

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.accounts import choose_password, invite_account
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.web import draft, draft_preview, set_up, uploads
from relstudy.studyapp.web.admin.further_studies import SetUp
from relstudy.studyapp.web.host import host_app
from relstudy.studyapp.web.hosted import HostedStudies
from relstudy.studyapp.web.mount import mounted
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Page
from tests.studyapp.serving import Server

PASSWORD = "a long enough password"
SMALL = 'src="data:image/jpeg;base64,'
TABLE = "question,model,answer\n" + "".join(f"What is {q}?,{m},Answer {m}{q}.\n" for q in range(4) for m in "xy")


class Visitor:
    """Somebody at the host's pages."""

    def __init__(self, app: Any) -> None:
        self.client = Client(app, TestResponse)
        self.answer: TestResponse | None = None

    def get(self, address: str) -> Page:
        self.answer = self.client.get(address, follow_redirects=True)
        return self.page

    def post(self, address: str, **fields: Any) -> Page:
        self.answer = self.client.post(address, data=fields, follow_redirects=True)
        return self.page

    @property
    def page(self) -> Page:
        assert self.answer is not None
        return Page(self.answer.get_data(as_text=True))

    @property
    def html(self) -> str:
        assert self.answer is not None
        return self.answer.get_data(as_text=True)

    @property
    def status(self) -> int:
        assert self.answer is not None
        return self.answer.status_code

    def upload(self, *files: tuple[str, bytes], name: str = "", template: str = "answers") -> Page:
        """The first step, which leads to the second."""
        csrf = self.get("/start/").form().fields["csrf"]
        sent = [(io.BytesIO(content), name) for name, content in files]
        return self.post("/start/", csrf=csrf, files=sent, name=name, template=template)

    def fill(self, step: str, **fields: Any) -> Page:
        """One of the next steps."""
        csrf = self.get(f"/start/{step}").form().fields["csrf"]
        return self.post(f"/start/{step}", csrf=csrf, **fields)

    def open(self) -> Page:
        """The last step."""
        csrf = self.get("/start/check").forms[0].fields["csrf"]
        return self.post("/start/open", csrf=csrf)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[tuple[Any, SetUp, Path]]:
    folder = tmp_path / "studies"
    folder.mkdir()
    key = SetUp.of(folder)
    studies = HostedStudies([folder], "http://localhost", secure=False, set_up=key)
    studies.begin_work()
    yield host_app(studies), key, folder
    studies.close()


@pytest.fixture(autouse=True)
def commands(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], dict[str, Any]]:
    """Commands run in this process, which saves the start of another; gives what starts one."""

    def run(words: list[str]) -> dict[str, Any]:
        done = relstudy(*words)
        if done.exit_code:
            raise RelstudyError(done.stderr.strip().splitlines()[-1].removeprefix("relstudy: "))
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    apart = draft._run
    monkeypatch.setattr(draft, "_run", run)
    return apart


@pytest.fixture
def visitor(host: tuple[Any, SetUp, Path]) -> Visitor:
    app, key, _ = host
    visitor = Visitor(app)
    visitor.get(f"/start/{key.key}")
    return visitor


def test_only_who_has_the_link_sets_up_studies(host):
    app, key, folder = host
    stranger = Visitor(app)
    for address in ("/start/", "/start/check", f"/start/{key.key[:-1]}", f"/start/{key.key}x"):
        assert "Please open the whole link" in stranger.get(address).text and stranger.status == 403
    stranger.post("/start/", files=[(io.BytesIO(TABLE.encode()), "a.csv")])
    assert stranger.status == 403
    stranger.get(f"/start/{key.key}")
    stranger.post("/start/", csrf="guessed", files=[(io.BytesIO(TABLE.encode()), "a.csv")])
    assert stranger.status == 400 and [path.name for path in folder.iterdir() if path.is_dir()] == []


def test_a_host_without_a_key_has_no_such_pages(tmp_path):
    studies = HostedStudies([tmp_path], "http://localhost", secure=False)
    visitor = Visitor(host_app(studies))
    visitor.get("/start/")
    assert visitor.status == 404
    studies.close()


def signed_in(app: Any, folder: Path, account: str, role: str) -> Visitor:
    """Somebody with an account in a folder, at a study's pages."""
    choose_password(folder, invite_account(folder, account, role), generate_password_hash(PASSWORD))
    visitor = Visitor(app)
    csrf = visitor.get("/mine/admin/login").form().fields["csrf"]
    visitor.post("/mine/admin/login", csrf=csrf, account=account, password=PASSWORD)
    return visitor


def test_an_editor_of_the_host_needs_no_link(host, visitor, monkeypatch):
    app, _, folder = host
    visitor.upload(("a.csv", TABLE.encode()), name="mine")
    visitor.open()
    for place, account, role in ((folder, "vera", "viewer"), (folder / "mine", "otto", "owner")):
        other = signed_in(app, place, account, role)
        assert other.status == 200 and "Set up another study" not in other.get("/mine/admin/study").text, role
        other.get("/mine/admin/set-up")
        assert other.status == 403, role
    editor = signed_in(app, folder, "anna", "editor")
    assert "Set up another study" in editor.get("/mine/admin/study").text
    link = editor.client.get("/mine/admin/set-up").headers["Location"]
    assert "Set up a study" in editor.get(link).text
    editor.upload(("b.csv", TABLE.encode()), name="hers")
    editor.open()
    assert (folder / "hers" / "study.toml").exists() and not (folder / "hers" / "stopped").exists()

    monkeypatch.setattr(set_up, "SECONDS", -1)
    late = Visitor(app)
    late.get(link)
    assert late.status == 403
    succeeds("account", folder, "anna", "--role", "viewer")
    editor.get("/start/")
    assert editor.status == 403, "at once"
    for address in ("/start/wrong", "/start/"):  # a wrong link does not make somebody a visitor without an account
        editor.get(address)
        assert editor.status == 403


def test_an_upload_whose_name_begins_like_an_option_is_no_option_in_the_command(visitor):
    visitor.upload(("-answers.csv", TABLE.encode()))
    visitor.fill("question", ask="each", question="Is it right?", scale="1-5", raters="3")
    assert "relstudy ask ./-answers.csv -o answers " in visitor.get("/start/check").text


def test_a_table_is_shown_as_it_was_taken_and_served_once_it_is_opened(host, visitor):
    app, _, folder = host
    page = visitor.upload(("answers.csv", TABLE.encode()))
    assert "query: column question, 4 queries" in page.text and "never the system" in page.text
    assert "x: 4 results" in page.text and "y: 4 results" in page.text
    visitor.fill("question", ask="each", question="Is it right?", scale="1-5", raters="3")
    page = visitor.get("/start/check")
    assert "relstudy ask answers.csv -o answers --question 'Is it right?' --scale 1-5 --raters 3" in page.text
    assert "What is 0?" in page.text and "Answer x0." in page.text
    people = Visitor(app)
    people.get("/answers/")
    assert people.status == 404
    visitor.open()
    assert visitor.status == 200 and "password" in visitor.page.text.casefold()
    people.get("/answers/")
    assert people.status == 200 and "I agree to take part" in people.page.text
    assert 'question = "Is it right?"' in (folder / "answers" / "study.toml").read_text()
    assert not (folder / "answers" / "uploads").exists() and not (folder / "answers" / "draft.json").exists()
    visitor.get("/start/check")
    assert visitor.status == 404


def test_what_raters_are_told_and_how_they_get_in_is_chosen_on_the_page(host, visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    told = {"contact": 'ann "a" <ann@example.org>', "completion": "C1AB2"}
    told["consent"] = "Two lines.\n\nAnd \\ a sign, \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645."
    visitor.fill("raters", ways=["personal", "prolific"], **told)
    study = Study.load(host[2] / "answers")
    assert study.contact == told["contact"] and study.consent == told["consent"]
    assert study.entry.rules == ("personal", "prolific") and study.entry.completion_url.endswith("?cc=C1AB2")
    assert visitor.get("/start/raters").form().fields["contact"] == told["contact"]
    assert "choose how raters get in" in visitor.fill("raters").text and visitor.status == 400
    assert "is not a completion code" in visitor.fill("raters", ways="open", completion="<b>").text
    assert Study.load(host[2] / "answers").entry.rules == ("personal", "prolific"), "nothing is changed"


def test_results_of_a_further_system_are_added(host, visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    more = TABLE.replace(",x,", ",z,").replace(",y,", ",w,")
    page = visitor.fill("systems", files=[(io.BytesIO(more.encode()), "more.csv")])
    assert visitor.status == 200
    page = visitor.get("/start/systems")
    assert all(f"{name}: 4 results" in page.text for name in "xyzw")
    assert "more.csv comes twice" in visitor.fill("systems", files=[(io.BytesIO(more.encode()), "more.csv")]).text


def test_pictures_of_ones_own_become_a_study_for_which_systems_propose_pairs(host, visitor, monkeypatch, commands):
    monkeypatch.setattr(draft, "_run", commands)
    entries = {f"scores/{k}.png": picture(10 * k) for k in range(12)}  # called as the folder of systems' scores
    page = visitor.upload(("holiday.zip", zipped(entries)), template="items")
    assert visitor.status == 200, page.text
    page = visitor.fill("systems", systems="colour")
    assert visitor.status == 200, page.text
    page = visitor.fill("question", question="How alike?", scale="1-9", queries="4", results="3", base="2", raters="2")
    assert visitor.status == 200, page.text
    study, pairs = Study.load(host[2] / "holiday"), pd.read_csv(host[2] / "holiday" / "pairs.csv")
    assert pairs["query_id"].nunique() == 4 and len(pairs) == 12 and (pairs["block"] == "base").sum() == 2
    assert {block.question for block in study.blocks} == {"How alike?"} and study.scales[0].name == "1-9"
    assert [block.pairs_per_rater for block in study.blocks if block.pairs == "unique"] == [5]
    page = visitor.get("/start/check")
    assert "relstudy sample holiday --systems colour --queries 4 --results 3 --base 2 --raters 2" in page.text
    assert not (host[2] / "holiday" / "study.db").exists()
    shown = visitor.html.count(SMALL)
    assert shown > 6 and "img-src 'self' data:" in visitor.client.get("/start/check").headers["Content-Security-Policy"]
    items = pd.read_csv(host[2] / "holiday" / "collection.csv").set_index("item_id")
    (host[2] / "holiday" / items.loc[pairs["query_id"][0], "path"]).write_bytes(b"\x89PNG\r\n\x1a\nand no more")
    visitor.get("/start/check")
    assert visitor.status == 200 and 0 < visitor.html.count(SMALL) < shown, "it only begins like a picture"
    visitor.open()
    assert visitor.status == 200


def test_texts_of_ones_own_are_judged_for_the_searches_that_are_given(host, visitor):
    texts = {f"{k}.txt": f"How to {what} a file.".encode() for k, what in enumerate(("read", "copy", "sort", "zip"))}
    csrf = visitor.get("/start/").form().fields["csrf"]
    sent = [(io.BytesIO(content), f"help pages/{name}") for name, content in texts.items()]
    page = visitor.post("/start/", csrf=csrf, folder=sent, template="items", searches="copy files\n\nzip\ncopy files\n")
    assert visitor.status == 200, page.text
    assert "help pages: 4 items" in page.text and "4 items in all; 2 searches" in page.text
    assert "Words in common" in page.text and "Similar colours" not in page.text, (
        "what compares pictures is not offered"
    )
    study = host[2] / "help-pages"
    items = pd.read_csv(study / "collection.csv").set_index("item_id")["role"].to_dict()
    assert items == {
        "search-1": "query",
        "search-2": "query",
        "0": "result",
        "1": "result",
        "2": "result",
        "3": "result",
    }
    assert set(pd.read_csv(study / "pairs.csv")["query_id"]) <= {"search-1", "search-2"}
    visitor.get("/start/check")
    assert "relstudy new help-pages --from &#39;help pages&#39; --searches searches.txt" in visitor.html
    made = visitor.client.get("/start/").get_data(as_text=True)
    assert "copy files\nzip</textarea>" in made


def test_pictures_are_chosen_one_by_one_and_a_file_of_no_use_is_named(visitor):
    pictures = [(f"IMG_{k}.JPG", picture(10 * k)) for k in range(12)]
    page = visitor.upload(*pictures, name="trip", template="items")
    assert visitor.status == 200 and "12 items in all" in page.text and "Words in common" not in page.text
    page = visitor.fill("systems", systems=["gift", "colour"])
    assert visitor.status == 200
    page = visitor.fill("question", scale="1-5", queries="x", results="3", title="My trip")
    assert visitor.status == 400 and {"title": "My trip", "queries": "x"}.items() <= page.form().fields.items()
    page = visitor.upload(*pictures, ("notes.csv", b"query\na\n"), name="trip", template="items")
    assert visitor.status == 400 and "notes.csv holds no pictures and no texts (.txt, .md); leave it out" in page.text
    page = visitor.post("/start/", csrf=page.form().fields["csrf"], template="items", name="trip", searches="a red car")
    assert visitor.status == 400 and "no built-in system finds pictures by words" in page.text
    assert "trip" in page.form().fields["name"] and "a red car" in visitor.html


def test_a_column_that_is_not_used_is_shown_and_chosen(host, visitor):
    rows = "".join(f"What is {k} and {k}?;{2 * k};It is {2 * k}.;{'see' if k == 1 else ''}\n" for k in range(4))
    page = visitor.upload(("sums.csv", f"Question;GPT-A;Model B;hint\n{rows}".encode()))
    assert "Not used: GPT-A and hint." in page.text and "--columns" not in page.text
    assert "There is one system, Model B: nothing is compared." in page.text
    assert visitor.fill("systems", columns="1", systems="Model B") and visitor.status == 400
    page = visitor.fill("systems", columns="1", systems=["GPT-A", "Model B"])
    assert visitor.status == 200 and "There is one system" not in page.text
    assert set(pd.read_csv(host[2] / "sums" / "answers.csv")["system"]) == {"GPT-A", "Model B"}
    visitor.fill("question", ask="each", scale="1-5", question="Right?", low='wrong "', high="right")
    (block,) = {block.scale.name: block for block in Study.load(host[2] / "sums").blocks}.values()
    assert (
        block.scale.labels == {1.0: 'wrong "', 5.0: "right"}
        and "quality" not in (host[2] / "sums" / "study.toml").read_text()
    )
    visitor.get("/start/check")
    assert "relstudy ask sums.csv -o sums --columns &#39;answer=GPT-A,answer=Model B&#39;" in visitor.html


def test_other_files_have_columns_of_their_own(visitor):
    rows = "".join(f"What is {k}?,A {k},B {k},C {k}\n" for k in range(4))
    visitor.upload(("one.csv", f"question,a,b,c\n{rows}".encode()), name="n")
    visitor.fill("systems", columns="1", systems=["a", "b"])
    page = visitor.upload(("two.csv", f"question,x,y,z\n{rows}".encode()), name="n")
    assert visitor.status == 200 and "x: 4 results" in page.text and "z: 4 results" in page.text


def test_a_list_of_searches_among_texts_is_doubted(visitor):
    texts = [(f"{k}.txt", f"How to {what} a file.".encode()) for k, what in enumerate(("read", "copy", "sort", "zip"))]
    page = visitor.upload(*texts, ("searches.txt", b"copy\nzip\n"), name="help", template="items")
    assert "searches.txt is one text. If it is a list of searches, put its lines into Searches." in page.text


def test_a_title_and_a_question_are_shown_before_they_are_written(host, visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    visitor.get("/start/question")
    assert (
        'placeholder="How good are these answers?"' in visitor.html and 'placeholder="How good is this' in visitor.html
    )
    page = visitor.fill("question", ask="each", scale="yes-no", title='Is "this" right?', then="stay")
    assert page.form().fields["title"] == 'Is "this" right?'
    assert Study.load(host[2] / "answers").title == 'Is "this" right?'
    assert "open on this computer only" in visitor.get("/start/raters").text


def test_what_differences_a_study_of_this_size_finds_is_simulated_on_demand(host, visitor, monkeypatch):
    visitor.upload(("holiday.zip", zipped({f"{k}.png": picture(10 * k) for k in range(12)})), template="items")
    visitor.fill("question", scale="1-5", queries="6", results="3", base="2", raters="2")
    asked = []

    def plan(words: list[str]) -> dict[str, Any]:
        asked.append(words)
        return {"drawn_sentence": "The 5 queries.", "sentence": "About 100 queries.", "queries": 100}

    monkeypatch.setattr("relstudy.studyapp.web.set_up.make_draft", lambda *given: asked.append([given[0].queries]))
    monkeypatch.setattr("relstudy.studyapp.web.draft._run", plan)
    page = visitor.fill("question", scale="1-5", queries="5", results="3", base="2", raters="2", then="simulate")
    assert visitor.status == 200
    assert "The 5 queries. About 100 queries. There are only 12 queries to draw; with these" in page.text
    assert asked == [[5], ["plan", str(host[2] / "holiday"), "--studies", "20", "--json"]]
    assert page.form().fields["queries"] == "5" and "Save and simulate studies" in page.text
    monkeypatch.undo()
    visitor.upload(("answers.csv", TABLE.encode()))
    assert "What differences will it find?" not in visitor.get("/start/question").text


def test_every_page_of_a_draft_is_seen_as_a_rater_meets_it_and_nothing_is_stored(host, visitor):
    app, key, folder = host
    visitor.upload(("answers.csv", TABLE.encode()))
    visitor.fill("question", ask="each", question="Is it right?", scale="1-5")
    page = visitor.get("/start/rater/preview/")
    assert visitor.status == 200 and "/start/rater/preview/consent" in page.links
    first = next(link for link in page.links if "/block-" in link)
    page = visitor.get(first)
    assert "Is it right?" in page.text and page.form().action.startswith("/start/rater/preview/")
    assert visitor.client.get("/start/rater/").headers["Location"] == "/start/rater/preview/"
    visitor.post(page.form().action, rating="3")
    assert visitor.status == 200 and "/start/rater/preview/" in visitor.html
    visitor.fill("question", ask="each", question="Is it kind?", scale="1-5")
    assert "Is it kind?" in visitor.get(first).text
    (place,) = folder.glob(".upload-*")
    shutil.rmtree(place)  # as another server on this folder does it, where it is an hour old
    assert "Is it kind?" in visitor.get(first).text
    draft.remove_leftovers(folder)
    assert not list(folder.glob(".upload-*")), "its own go when a server ends"
    assert not (folder / "answers" / "study.db").exists()
    stranger = Visitor(app)
    stranger.get("/start/rater/preview/")
    assert stranger.status == 403
    other = Visitor(app)
    other.get(f"/start/{key.key}")
    other.get("/start/rater/preview/")
    assert other.status == 404
    visitor.open()
    assert visitor.status == 200


def test_a_preview_of_a_draft_that_goes_meanwhile_is_refused(host, visitor, monkeypatch):
    """It was tried again, and a draft that went just then was an error of the server."""
    visitor.upload(("answers.csv", TABLE.encode()))
    monkeypatch.setattr(set_up, "MOMENT", 0.0)

    def gone(*_: Any) -> None:
        raise FileNotFoundError("study.toml")

    monkeypatch.setattr(draft_preview, "prepare", gone)
    page = visitor.get("/start/rater/preview/")
    assert visitor.status == 400 and "answers was thrown away in the meantime" in page.text
    assert not list(host[2].glob(".upload-*")), "each try on a full disk would leave its database"


def test_a_draft_that_is_opened_while_its_pages_are_prepared_keeps_none(host, visitor, monkeypatch):
    """They were kept under the name of a draft that was gone; by another worker, too, until the server ended."""
    visitor.upload(("answers.csv", TABLE.encode()))
    visitor.fill("question", ask="each", question="Is it right?", scale="1-5")
    ready = draft_preview.prepare

    def opened_meanwhile(folder: Path, store: Any) -> None:
        ready(folder, store)
        (folder / draft.DRAFT).unlink()

    monkeypatch.setattr(draft_preview, "prepare", opened_meanwhile)
    with (
        pytest.raises(RelstudyError, match="thrown away in the meantime"),
        draft_preview.preview_of(host[2] / "answers"),
    ):
        pass
    assert not list(host[2].glob(".upload-*"))


def test_a_preview_is_answered_though_its_draft_changes_meanwhile(host, visitor):
    """Its database was closed under the request: an error of the server."""
    visitor.upload(("answers.csv", TABLE.encode()))
    visitor.fill("question", ask="each", question="Is it right?", scale="1-5")
    folder = host[2] / "answers"
    with draft_preview.preview_of(folder) as app:
        os.utime(folder / draft.DRAFT, ns=(0, 1))
        with draft_preview.preview_of(folder) as new:
            assert new is not app and app.test_client().get("/preview/").status_code == 200
            assert len(list(host[2].glob(".upload-*"))) == 2
    assert len(list(host[2].glob(".upload-*"))) == 1


def test_the_pages_of_a_draft_go_with_it(host, visitor):
    for end in ("opened", "thrown away"):
        visitor.upload((f"{end[:4]}.csv", TABLE.encode()))
        visitor.fill("question", ask="each", question="Is it right?", scale="1-5")
        visitor.get("/start/rater/preview/")
        assert visitor.status == 200 and list(host[2].glob(".upload-*"))
        csrf = visitor.get("/start/check").forms[0].fields["csrf"]
        visitor.post("/start/open" if end == "opened" else "/start/again", csrf=csrf)
        assert not list(host[2].glob(".upload-*")), end


def test_scores_of_ones_own_systems_propose_pairs_too(host, visitor):
    names = [f"p{k}" for k in range(12)]
    visitor.upload(
        ("own.zip", zipped({f"{name}.png": picture(9 * k) for k, name in enumerate(names)})), template="items"
    )
    rows = [f"{q},{r},{(7 * i + j) % 12}\n" for i, q in enumerate(names) for j, r in enumerate(names) if q != r]
    table = "query_id,result_id,score\n" + "".join(rows)
    page = visitor.fill("systems", systems="colour", files=[(io.BytesIO(table.encode()), "clip.csv")])
    assert visitor.status == 200, page.text
    pairs = pd.read_csv(host[2] / "own" / "pairs.csv")
    assert {"colour", "clip"} <= set(pairs["source"].str.split("/").str[-1].str.removesuffix(".csv"))
    assert "--systems colour,scores/clip.csv" in visitor.get("/start/systems").text
    bad = [(io.BytesIO(b"query_id,result_id,score\nnobody,p1,3\n"), "bad.csv")]
    assert visitor.fill("systems", systems="colour", files=bad).text and visitor.status == 400


def test_another_kind_or_name_makes_the_draft_anew(host, visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    csrf = visitor.get("/start/").form().fields["csrf"]
    visitor.post("/start/", csrf=csrf, template="side-by-side", name="answers")
    assert visitor.status == 200 and 'ask = "which"' in (host[2] / "answers" / "study.toml").read_text()
    visitor.upload(("b.csv", TABLE.encode()), name="other")
    assert [path.name for path in host[2].iterdir() if path.is_dir()] == ["other"]


def test_a_form_of_another_draft_saves_nothing(host, visitor):
    empty = visitor.get("/start/").form().fields
    visitor.upload(("a.csv", TABLE.encode()), name="first")
    stale = {"question": visitor.get("/start/question").form().fields, "": visitor.get("/start/").form().fields}
    stale |= dict.fromkeys(("open", "again"), visitor.get("/start/check").forms[0].fields)
    visitor.upload(("b.csv", TABLE.encode()), name="second")
    before = (host[2] / "second" / "study.toml").read_bytes()
    for step, fields in stale.items():
        page = visitor.post(f"/start/{step}", **{**fields, "question": "Late?", "template": "answers"})
        assert visitor.status == 409 and "this form belongs to first, but you are now setting up second" in page.text
    sent = {**empty, "name": "third", "template": "answers", "files": [(io.BytesIO(TABLE.encode()), "c.csv")]}
    assert "this form belongs to a new study" in visitor.post("/start/", **sent).text and visitor.status == 409
    assert [path.name for path in host[2].iterdir() if path.is_dir()] == ["second"]
    assert (host[2] / "second" / "study.toml").read_bytes() == before and (host[2] / "second" / "stopped").exists()


def test_starting_over_leaves_nothing_and_a_name_is_taken_once(host, visitor):
    folder = host[2]
    visitor.upload(("a.csv", TABLE.encode()), name="mine")
    csrf = visitor.get("/start/check").forms[1].fields["csrf"]
    visitor.post("/start/again", csrf=csrf)
    assert not (folder / "mine").exists() and "Set up a study" in visitor.page.text
    visitor.upload(("a.csv", TABLE.encode()), name="mine")
    visitor.open()
    assert "there is a study mine already" in visitor.upload(("a.csv", TABLE.encode()), name="mine").text
    assert visitor.status == 400 and not list(folder.glob(".upload-*"))


def test_a_draft_is_thrown_away_though_a_preview_writes_into_it(host, visitor, monkeypatch):
    visitor.upload(("a.csv", TABLE.encode()), name="mine")
    folder, remove = host[2] / "mine", os.rmdir

    def written_meanwhile(path: Any, **more: Any) -> None:
        with suppress(FileNotFoundError):
            (folder / "secret.key").write_text("of a preview")
        remove(path, **more)

    csrf = visitor.get("/start/check").forms[1].fields["csrf"]
    monkeypatch.setattr(os, "rmdir", written_meanwhile)
    visitor.post("/start/again", csrf=csrf)
    assert visitor.status == 200 and [path for path in host[2].iterdir() if path.is_dir()] == []


def test_nobody_opens_what_another_made(host, visitor):
    app, key, folder = host
    visitor.upload(("a.csv", TABLE.encode()), name="mine")
    other = Visitor(app)
    csrf = other.get(f"/start/{key.key}").form().fields["csrf"]
    for address in ("/start/open", "/start/again"):
        other.post(address, csrf=csrf)
        assert other.status == 404 and (folder / "mine" / "stopped").exists()


def zipped(entries: dict[str, bytes], **modes: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = modes.get(name.partition(".")[0], stat.S_IFREG | 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return file.getvalue()


def picture(grey: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (grey,) * 3).save(file, "PNG")
    return file.getvalue()


def test_a_zip_of_folders_of_pictures_is_a_study_side_by_side(host, visitor):
    entries = {f"mine/{model}/two_dogs_{k}.png": picture(40 * k) for model in ("sd", "flux") for k in range(3)}
    page = visitor.upload(("pictures.zip", zipped(entries | {"__MACOSX/x.png": b"no"})), template="side-by-side")
    assert "3 couples to compare" in page.text and "system: the folder: flux and sd" in page.text
    table = pd.read_csv(host[2] / "pictures" / "collection.csv")
    assert sorted(path.name for path in (host[2] / "pictures" / "pictures").iterdir()) == sorted(
        Path(each).name for each in table["path"].dropna()
    )


ATTACKS = {
    "a way out": (zipped({"../../out.csv": TABLE.encode()}), "nothing was found in the zip"),
    "an absolute path": (zipped({"/etc/out.csv": TABLE.encode()}), "leads out of the archive"),
    "a link": (zipped({"link.csv": b"/etc/passwd"}, link=stat.S_IFLNK | 0o777), "nothing was found in the zip"),
    "no zip": (b"PK nonsense", "cannot be unpacked"),
    "no pictures": (zipped({"a/b.png": b"<svg onload=alert(1)>"}), "nothing was found in the zip"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_archives_that_attack_write_nothing(host, visitor, attack):
    content, message = ATTACKS[attack]
    assert message in visitor.upload(("a.zip", content)).text and visitor.status == 400
    assert not [path for path in host[2].iterdir() if path.is_dir()] and not list(host[2].parent.glob("*.csv"))


def test_archives_that_unpack_to_too_much_are_refused(visitor, monkeypatch):
    monkeypatch.setattr(uploads, "UNPACKED", 1 << 20)
    bomb = zipped({f"a/{k}.png": bytes(1 << 19) for k in range(4)})
    assert len(bomb) < 10_000 and "unpacks to more than 1 MB" in visitor.upload(("bomb.zip", bomb)).text
    monkeypatch.setattr(uploads, "FILES", 2)
    assert "or 2 files" in visitor.upload(("many.zip", zipped({f"a/{k}.png": b"" for k in range(3)}))).text


WRONG = {
    "no file": ((), {}, "choose files, a folder or a zip"),
    "no query": ((("a.csv", b"what,model\n1,2\n"),), {}, "no column holds the query"),
    "another type": ((("a.docx", b"PK"),), {}, "a.docx: choose a table"),
    "a reserved name": (
        (("a.csv", TABLE.encode()),),
        {"name": "start"},
        "'start' cannot be the name of a study: relstudy uses that name",
    ),
    "no name": ((("a.csv", TABLE.encode()),), {"name": "../.."}, "'../..' cannot be the name of a study"),
    "other letters": (
        (("a.csv", TABLE.encode()),),
        {"name": "ööö"},
        "'ööö' cannot be the name of a study: letters from a",
    ),
    "no kind": ((("a.csv", TABLE.encode()),), {"template": "dances"}, "choose what people rate"),
}


def test_a_file_in_other_letters_names_its_study_by_its_kind(host, visitor):
    visitor.upload(("ответы.csv", TABLE.encode()))
    assert visitor.status == 200 and (host[2] / "answers" / "draft.json").exists()


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_above_the_form_and_nothing_is_written(host, visitor, wrong):
    files, fields, message = WRONG[wrong]
    page = visitor.upload(*files, **fields)
    assert message in page.text and visitor.status == 400 and ".upload-" not in page.text
    assert not [path for path in host[2].iterdir() if path.is_dir()]


def test_what_is_wrong_in_a_later_step_changes_nothing(host, visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    before = (host[2] / "answers" / "study.toml").read_bytes()
    assert "a whole number from 1" in visitor.fill("question", scale="1-5", raters="many").text
    assert "a scale of the list" in visitor.fill("question", scale="0-7").text and visitor.status == 400
    assert (host[2] / "answers" / "study.toml").read_bytes() == before


def test_what_was_typed_beside_a_wrong_number_is_kept(visitor):
    visitor.upload(("answers.csv", TABLE.encode()))
    typed = {"title": "A title", "question": "Is it?", "low": "no", "raters": "0", "ask": "side-by-side"}
    page = visitor.fill("question", scale="1-9", **typed)
    assert visitor.status == 400 and '<option value="1-9" selected>' in visitor.html
    assert typed.items() <= page.form().fields.items()


def test_markup_in_a_table_is_shown_as_text(visitor):
    hostile = "question,model,answer\n<script>alert(1)</script>,x,<img src=x onerror=alert(1)>\n"
    visitor.upload(("a.csv", hostile.encode()))
    visitor.get("/start/check")
    html = visitor.html
    assert "<script>alert" not in html and "<img src=x" not in html and "&lt;script&gt;" in html


def test_more_than_can_be_taken_at_once_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(set_up, "UPLOAD", 2_000)
    key = SetUp.of(tmp_path)
    studies = HostedStudies([tmp_path], "http://localhost", secure=False, set_up=key)
    visitor = Visitor(host_app(studies))
    visitor.get(f"/start/{key.key}")
    page = visitor.upload(("a.csv", TABLE.encode() * 20))
    assert visitor.status == 413 and "can be uploaded at once" in page.text
    studies.close()


def test_below_a_hosts_path_the_pages_lead_on_below_it(tmp_path):
    key = SetUp.of(tmp_path)
    studies = HostedStudies([tmp_path], "https://lab.example.org/studies", secure=True, set_up=key)
    studies.begin_work()
    client = Client(mounted(host_app(studies), "/studies"), TestResponse)
    given = {"base_url": "https://lab.example.org"}
    entered = client.get(f"/studies/start/{key.key}", **given)
    assert entered.headers["Location"] == "/studies/start/" and "Secure" in entered.headers["Set-Cookie"]
    csrf = Page(client.get("/studies/start/", **given).get_data(as_text=True)).forms[0].fields["csrf"]
    fields = {"csrf": csrf, "template": "answers", "name": "mine"}
    made = client.post("/studies/start/", data=fields | {"files": (io.BytesIO(TABLE.encode()), "a.csv")}, **given)
    assert made.headers["Location"] == "/studies/start/systems"
    opened = client.post("/studies/start/open", data={"csrf": csrf}, **given)
    assert opened.headers["Location"].startswith("/studies/mine/admin/setup/")
    studies.close()


PRODUCTS = "query,system,id,title,image\n" + "".join(
    f"query {q},{system},P{q}{k},Product {q}{k},{{}}P{q}.png\n"
    for q in range(3)
    for system in ("old", "new")
    for k in (0, 1)
)


@pytest.mark.parametrize("given", ["a zip", "a zip with a folder", "its name left out", "files", "a table and a zip"])
def test_a_table_is_read_with_the_pictures_that_it_names(given, host, visitor):
    """The table was left out and its pictures were a system; chosen one by one they were an error of the server."""
    pictures = {f"P{q}.png": picture(40 * q) for q in range(3)}
    prefix = "pics/" if given == "a zip with a folder" else ""
    table = PRODUCTS.format(*[prefix] * 12).encode()
    within = "pics/" if given == "its name left out" else prefix
    inside = {f"{within}{name}": content for name, content in pictures.items()}
    if given == "files":
        visitor.upload(("shop.csv", table), *pictures.items(), name="shop")
    elif given == "a table and a zip":
        visitor.upload(("shop.csv", table), ("pics.zip", zipped(inside)), name="shop")
    else:
        visitor.upload(("shop.zip", zipped({"shop.csv": table, **inside})), name="shop")
    assert visitor.status == 200 and "old: 6 results" in visitor.page.text
    assert "relstudy ask shop.csv -o shop" in visitor.page.text
    items = pd.read_csv(host[2] / "shop" / "collection.csv", dtype=str)
    assert (items["kind"] == "image").sum() == 6 and items["title"].notna().sum() == 6


def test_no_cell_says_whether_a_file_of_the_server_is_there(host, visitor, tmp_path):
    """It was looked for on the disk, and a long one was an error of the server."""
    (tmp_path / "there.png").write_bytes(picture(40))
    for cell in (f"{tmp_path}/there.png", "../../there.png", f"{'é' * 190}.png"):
        table = f"query,system,image,note\nq,a,a.png,{cell}\nq,b,b.png,\n".encode()
        visitor.upload(("t.csv", table), ("z.zip", zipped({"a.png": picture(40), "b.png": picture(80)})), name="t")
        assert visitor.status == 200 and "a: 1 result" in visitor.page.text, cell


def test_pictures_that_no_table_names_are_refused(visitor):
    visitor.upload(("a.png", picture(40)), ("b.png", picture(80)))
    assert visitor.status == 400 and "no table names the files" in visitor.page.text


def test_a_host_needs_a_folder_to_which_studies_are_added(tmp_path):
    (tmp_path / "study.toml").write_text("")
    done = relstudy("host", tmp_path, "--set-up")
    assert done.exit_code == 2 and "needs a folder of studies" in done.output


def test_films_made_for_texts_are_played_and_never_say_whose_they_are(host, visitor):
    film = b"\0\0\0\x20ftypisom" + bytes(2_000)
    entries = {f"{system}/{name}.mp4": film + system.encode() for system in "ab" for name in ("p1", "p2")}
    texts = b"id,prompt\np1,a boat at sea\np2,rain in a city\n"
    page = visitor.upload(("films.zip", zipped(entries)), ("texts.csv", texts), template="films", name="films")
    assert visitor.status == 200 and "4 films" in page.text, page.text
    items = pd.read_csv(host[2] / "films" / "collection.csv")
    assert set(items.loc[items["role"] == "result", "kind"]) == {"video"}
    assert items["path"].dropna().str.match(r"films/r\d+\.mp4").all()
    question = Study.load(host[2] / "films").blocks[0].question
    assert question == "How well does the film match the text?"
    first = next(link for link in visitor.get("/start/rater/preview/").links if "/block-" in link)
    visitor.get(first)
    assert "<video" in visitor.html and ("a boat" in visitor.html or "rain in" in visitor.html)


def test_hash_codes_propose_pairs_by_their_hamming_distance(host, visitor):
    names = [f"p{k:02d}" for k in range(12)]
    zipped_pictures = zipped({f"{name}.png": picture(9 * k) for k, name in enumerate(names)})
    visitor.upload(("own.zip", zipped_pictures), template="codes")
    saved = io.BytesIO()
    np.save(saved, np.array([[int(digit) for digit in f"{1 << (k // 2):08b}"] for k in range(12)], dtype=np.uint8))
    ids = ("itq.ids.txt", "\n".join(names).encode())
    files = [(io.BytesIO(content), name) for name, content in (("itq.npy", saved.getvalue()), ids)]
    page = visitor.fill("systems", systems="colour", files=files)
    assert visitor.status == 200, page.text
    assert "--systems colour,vectors:vectors/itq.npy:hamming" in visitor.get("/start/systems").text
    scores = pd.read_csv(host[2] / "own" / "scores" / "vectors-itq-hamming.csv")
    assert set(scores["score"]) == {0.0, -2.0}, "pictures of one code, and of two that differ in two bits"
    more = "query_id,result_id,score\n" + "".join(f"{q},{r},1\n" for q in names for r in names if q != r)
    page = visitor.fill("systems", systems="colour", files=[(io.BytesIO(more.encode()), "other.csv")])
    assert visitor.status == 200, "a second visit adds to the first"
    assert "scores/other.csv,vectors:vectors/itq.npy:hamming" in visitor.get("/start/systems").text
    wrong = [(io.BytesIO(b"\x93NUMPY nonsense"), "bad.npy"), (io.BytesIO(b"p00"), "bad.ids.txt")]
    assert "bad.npy" in visitor.fill("systems", systems="colour", files=wrong).text and visitor.status == 400
    without = visitor.fill("systems", systems="colour", files=[(io.BytesIO(saved.getvalue()), "alone.npy")]).text
    assert "alone.ids.txt: file not found; one item id per line is needed" in without
    assert "relstudy: own" not in without, "the page's sentence is not a terminal's"
    assert "a table" in visitor.upload(("itq.npy", saved.getvalue()), template="answers").text


def test_a_rating_guide_is_made_of_real_pairs_that_nobody_rates(host, visitor):
    names = [f"p{k:02d}" for k in range(16)]
    visitor.upload(
        ("own.zip", zipped({f"{name}.png": picture(9 * k) for k, name in enumerate(names)})), template="items"
    )
    visitor.fill("question", scale="1-5", queries="5", results="4", base="4", raters="2")
    page = visitor.get("/start/check")
    assert "0 of 5 grades" in page.text and "not an example" in page.text
    csrf = page.forms[0].fields["csrf"]
    visitor.post("/start/guide", csrf=csrf, **{"grade-0": "5", "grade-1": "5", "grade-2": "1", "grade-3": "77"})
    assert visitor.status == 200 and "2 of 5 grades" in visitor.page.text
    study = Study.load(host[2] / "own")
    assert [each.rating for each in study.examples] == [5, 1]
    rated = {tuple(row) for row in pd.read_csv(host[2] / "own" / "pairs.csv")[["query_id", "result_id"]].to_numpy()}
    assert not {(each.query_id, each.result_id) for each in study.examples} & rated
    first = next(link for link in visitor.get("/start/rater/preview/").links if "/block-" in link)
    for address in (first, "/start/rater/preview/instructions"):
        page = visitor.get(address)
        assert "Examples for each grade" in page.text and visitor.html.count("data-item") >= 4
    shown = re.findall(r'src="(/start/rater/item/[^"]+)"', visitor.html)
    assert shown and all(visitor.client.get(each).status_code == 200 for each in shown)
    visitor.fill("question", scale="yes-no", queries="5", results="4", base="4", raters="2")
    assert [each.rating for each in Study.load(host[2] / "own").examples] == [1], "a grade that the scale has"
    assert visitor.post("/start/guide", **{"grade-0": "1"}) and visitor.status == 400
    visitor.upload(("answers.csv", TABLE.encode()))
    assert "not an example" not in visitor.get("/start/check").text


def test_a_table_names_no_file_beyond_the_uploads(host, visitor, tmp_path):
    (host[2] / "other").mkdir()
    for place in (tmp_path / "private.png", host[2] / "other" / "private.png"):
        place.write_bytes(picture(90))
    for named in (
        str(tmp_path / "private.png"),
        "../../other/private.png",
        "../../secret.key",
        "/none.png",
        "x" * 5_000,
    ):
        page = visitor.upload(
            ("a.csv", f"system,query,image\na,q 1,{named}\nb,q 1,{named}\n".encode()), template="search"
        )
        assert visitor.status == 400 and "is not a picture, film or sound among the files given" in page.text
    assert not (host[2] / "a").exists()


def test_a_save_that_ends_after_the_study_was_opened_leaves_it_alone(host, visitor, monkeypatch):
    visitor.upload(("answers.csv", TABLE.encode()))
    folder, make = host[2] / "answers", draft.make_study

    def opened_meanwhile(*given: Any, **more: Any) -> Any:
        made = make(*given, **more)
        monkeypatch.setattr(draft, "make_study", make)
        visitor.open()
        return made

    csrf = visitor.get("/start/question").form().fields["csrf"]
    monkeypatch.setattr(draft, "make_study", opened_meanwhile)
    late = {"csrf": csrf, "scale": "1-5", "ask": "each", "question": "Late?"}
    assert visitor.client.post("/start/question", data=late).status_code == 404
    assert not (folder / "draft.json").exists() and "Late?" not in (folder / "study.toml").read_text()


def test_a_study_that_was_opened_is_not_taken_back_by_another_name(host, visitor, monkeypatch):
    visitor.upload(("answers.csv", TABLE.encode()), name="first")
    make = draft.make_study

    def opened_meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(draft, "make_study", make)
        visitor.open()
        return make(*given, **more)

    monkeypatch.setattr(draft, "make_study", opened_meanwhile)
    csrf = visitor.get("/start/").form().fields["csrf"]
    monkeypatch.setattr(draft, "make_study", opened_meanwhile)
    sent = {"csrf": csrf, "name": "second", "template": "answers"}
    visitor.client.post("/start/", data={**sent, "files": [(io.BytesIO(TABLE.encode()), "a.csv")]})
    assert (host[2] / "first" / "study.toml").exists() and not (host[2] / "first" / "draft.json").exists()


def test_a_draft_is_its_makers_alone(host, visitor):
    app, key, folder = host
    visitor.upload(("answers.csv", TABLE.encode()), name="pilot")
    other = Visitor(app)
    other.get(f"/start/{key.key}")
    page = other.upload(("mine.csv", TABLE.replace("What", "Who").encode()), name="pilot")
    assert other.status == 400 and "somebody else is setting up pilot, or left it unfinished" in page.text
    assert "What is" in (folder / "pilot" / "collection.csv").read_text()
    visitor.fill("question", scale="1-5", ask="each")
    assert visitor.status == 200
    csrf = visitor.get("/start/check").forms[0].fields["csrf"]
    visitor.post("/start/again", csrf=csrf)
    other.upload(("mine.csv", TABLE.encode()), name="pilot")
    assert other.status == 200 and visitor.get("/start/check") and visitor.status == 404


def test_examples_go_with_the_items_that_they_are_of(host, visitor):
    visitor.upload(
        ("trip.zip", zipped({f"{k}.png": picture(10 * k) for k in range(14)})), name="trip", template="items"
    )
    visitor.fill("question", scale="1-5", queries="4", results="3", base="2")
    csrf = visitor.get("/start/check").forms[0].fields["csrf"]
    visitor.post("/start/guide", csrf=csrf, **{"grade-0": "5", "grade-1": "1"})
    assert len(Study.load(host[2] / "trip").examples) == 2
    visitor.upload(("answers.csv", TABLE.encode()), name="trip")
    assert visitor.status == 200 and not Study.load(host[2] / "trip").examples


NAMES = (".", "a\0.csv", "x" * 300 + ".csv", "a/" * 30 + "b.csv", "D:x.csv", "a/D:/x.csv")


@pytest.mark.parametrize("name", NAMES, ids=["a dot", "NUL", "long", "deep", "a drive", "a drive below"])
def test_names_that_cannot_be_are_a_sentence(host, visitor, name):
    csrf = visitor.get("/start/").form().fields["csrf"]
    visitor.post("/start/", csrf=csrf, files=[(io.BytesIO(b"x"), name)], name="n", template="answers")
    assert visitor.status == 400 and not (host[2] / "n").exists()


def test_a_damaged_zip_and_a_foreign_key_are_no_error_of_the_server(host, visitor):
    whole = bytearray(zipped({f"a/{k}.png": picture(k) for k in range(20)}))
    whole[60:90] = b"\xff" * 30
    page = visitor.upload(("a.zip", bytes(whole)), template="items")
    assert visitor.status == 400 and "a.zip cannot be unpacked" in page.text
    stranger = Visitor(host[0])
    stranger.get("/start/%C3%A9")
    assert stranger.status == 403


def test_raters_keep_threads_when_many_studies_are_set_up(host, visitor, monkeypatch):
    visitor.upload(
        ("trip.zip", zipped({f"{k}.png": picture(10 * k) for k in range(12)})), name="trip", template="items"
    )
    csrf = visitor.get("/start/question").form().fields["csrf"]
    with set_up._PLACES, set_up._PLACES:
        answer = visitor.client.get("/start/check")
        assert (
            answer.status_code == 503
            and answer.headers["Refresh"]
            and "no place for another at the moment" in answer.text
        )
        assert visitor.client.get("/start/rater/preview/").status_code == 503
        for address in ("other", "check"):
            stranger = Visitor(host[0])
            stranger.get(f"/start/{address}")
            assert stranger.status == 403
        threading.Timer(0.2, set_up._PLACES.release).start()
        form = {"csrf": csrf, "scale": "1-5", "queries": "4", "results": "3", "base": "2", "then": "stay"}
        answer = visitor.client.post("/start/question", data=form)
        assert answer.status_code == 302, "a form waits for a moment, since what was filled in would be lost"
        set_up._PLACES.acquire()
    page = visitor.get("/start/rater/preview/")
    assert visitor.status == 200 and page.text
    with set_up._PLACES, set_up._PLACES:
        assert visitor.client.get("/start/rater/preview/").status_code == 200, (
            "which is ready, and as quick as for a rater"
        )
    with draft.one_simulation():
        before = (host[2] / "trip" / "draft.json").read_bytes()
        page = visitor.fill("question", scale="1-5", queries="4", results="3", base="2", then="simulate")
        assert visitor.status == 400 and "another study is being simulated here" in page.text
        assert (host[2] / "trip" / "draft.json").read_bytes() == before
    visitor.get("/start/check")
    assert visitor.status == 200


def test_nothing_is_left_of_processes_that_were_ended(tmp_path, monkeypatch, commands):
    """A command whose server was ended ends by itself, and its uploads go with the next start."""
    for name, age in (("0123abcd-old", 7200), ("0123abcd-new", 0), ("of-somebody-else", 7200)):
        (tmp_path / f".upload-{name}").mkdir()
        os.utime(tmp_path / f".upload-{name}", (time.time() - age,) * 2)
    (tmp_path / ".upload-file").write_text("of somebody else")
    (tmp_path / "study").mkdir()
    (tmp_path / ".upload-link").symlink_to(tmp_path / "study")
    for name in (".upload-file", ".upload-link"):
        os.utime(tmp_path / name, (0, 0), follow_symlinks=False)
    draft.remove_leftovers(tmp_path)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {".upload-0123abcd-new", ".upload-of-somebody-else", ".upload-file", ".upload-link", "study"}
    for_ever = subprocess.Popen  # the command is one that never ends
    monkeypatch.setattr(
        draft.subprocess, "Popen", lambda _, **rest: for_ever([sys.executable, "-c", "while True: pass"], **rest)
    )
    monkeypatch.setattr(draft, "MOST_WORK", 1)
    with pytest.raises(RelstudyError, match="plan was ended"):
        commands(["plan"])


@pytest.mark.server
def test_a_server_that_is_ended_leaves_no_previews(tmp_path):
    """They lay in the system's temporary folder, which a worker that is ended does not clear."""
    (tmp_path / "studies").mkdir()
    (tmp_path / "temporary").mkdir()
    server = Server(
        tmp_path / "studies", command="host", extra=("--set-up",), environment={"TMPDIR": str(tmp_path / "temporary")}
    )
    try:
        browser = build_opener(HTTPCookieProcessor())
        browser.open(f"{server.address}/health", timeout=60)  # the link is printed before anything is served
        link = re.findall(r"/start/\S+", (tmp_path / "studies" / "serve.err").read_text())[-1]
        page = Page(browser.open(server.address + link, timeout=60).read().decode())
        fields = {"csrf": page.form().fields["csrf"], "template": "answers"}
        files = (io.BytesIO(TABLE.encode()), "answers.csv")
        sent = EnvironBuilder(method="POST", data={**fields, "files": files}).get_environ()
        headers = {"Content-Type": sent["CONTENT_TYPE"]}
        browser.open(Request(f"{server.address}/start/", sent["wsgi.input"].read(), headers), timeout=60)
        assert browser.open(f"{server.address}/start/rater/preview/", timeout=60).status == 200
    finally:
        server.stop()
    assert {path.name for path in (tmp_path / "studies").iterdir() if path.is_dir()} == {"answers"}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_comes_in_between_is_said(host, visitor, monkeypatch, commands):
    """A command that is killed, a lock that another holds, and a draft that is thrown away while it is made anew."""
    monkeypatch.setattr(draft, "WAITED", 0.05)
    visitor.upload(
        ("trip.zip", zipped({f"{k}.png": picture(10 * k) for k in range(12)})), name="trip", template="items"
    )
    csrf = visitor.get("/start/check").forms[0].fields["csrf"]
    with draft.alone(host[2]):
        page = visitor.post("/start/again", csrf=csrf)
        assert visitor.status == 400 and "another study is just being saved here" in page.text
    monkeypatch.setattr(draft, "_run", commands)
    monkeypatch.setattr(draft.sys, "executable", "/bin/false")
    page = visitor.fill("question", scale="1-5", queries="4", results="3", base="2")
    assert visitor.status == 400 and "sample was ended" in page.text
    monkeypatch.undo()
    (host[2] / "trip" / "pairs.csv").rename(host[2] / "trip" / "pairs.bak")  # between two states of the draft
    assert "pairs.csv: file not found" in visitor.get("/start/rater/preview/").text and visitor.status == 400
    (host[2] / "trip" / "pairs.bak").rename(host[2] / "trip" / "pairs.csv")
    trip = draft.Draft.of(host[2] / "trip")
    assert trip is not None
    shutil.rmtree(host[2] / "trip" / "uploads")
    with pytest.raises(RelstudyError, match="thrown away in the meantime"):
        draft.make_draft(trip, host[2])


def test_a_lock_that_another_holds_is_waited_for_and_then_said(host, visitor, monkeypatch):
    monkeypatch.setattr(draft, "WAITED", 0.05)
    visitor.upload(("answers.csv", TABLE.encode()))
    with draft.alone(host[2]):
        page = visitor.fill("question", scale="1-5", ask="each")
        assert visitor.status == 400 and "another study is just being saved here" in page.text
    visitor.fill("question", scale="1-5", ask="each")
    assert visitor.status == 200


def test_large_bodies_are_taken_from_visitors_alone(host, visitor):
    has_come = set_up.visitors_of(host[1])
    cookie = visitor.client.get_cookie("relstudy-set-up")
    assert cookie is not None and has_come(f"a=b; relstudy-set-up={cookie.value}")
    for other in ('prefs={"a": 1}', "flag", "x[1]=2", 'open="x'):
        assert has_come(f"{other}; relstudy-set-up={cookie.value}"), "which a browser sends of another program, too"
    assert not any(
        map(has_come, ("", "relstudy-set-up=x", "a=b", f"relstudy-set-up={cookie.value}x", "w=\xe4", "\x00;;="))
    )


def test_a_picture_of_too_many_pixels_is_not_decoded(visitor, monkeypatch):
    entries = {f"{model}/{k}.png": picture(50 + k) for model in "ab" for k in range(3)}
    visitor.upload(("made.zip", zipped(entries)), template="made-pictures")
    visitor.get("/start/check")
    assert SMALL in visitor.html
    monkeypatch.setattr(set_up, "MOST_PIXELS", 10)
    visitor.get("/start/check")
    assert visitor.status == 200 and SMALL not in visitor.html
