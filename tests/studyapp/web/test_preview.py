"""The preview shows every page as a rater would meet it, to the researcher alone, and stores nothing."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import metadata
from relstudy.studyapp.demo.rating import read_page
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.mount import mounted
from tests.studyapp.browse import Browser
from tests.studyapp.serving import Server
from tests.studyapp.studies import TOML, Made, write_study

PASSWORD = "correct horse battery"
EVERYTHING = (
    TOML.replace(
        '["personal", "open"]', '["passphrase", "prolific"]\npassphrase = "open sesame"\nfailed_checks_allowed = 0'
    ).replace('id = "test"', 'id = "test"\nwithdrawal = "delete"')
    + """
[[practice]]
block = "base"
query_id = "q0"
result_id = "q7"
expected = [5]
feedback = "These are alike."
[[attention]]
block = "unique"
query_id = "q6"
result_id = "q5"
expected = [1]
[qualification]
pass_mark = 1.0
attempts = 2
[[screening]]
id = "age"
text = "How old are you?"
kind = "number"
least = 18
[[questions]]
id = "say"
text = "Anything else?"
kind = "long"
[entry.outcomes]
no_consent = "https://back.example.org/no?who={id}"
"""
)


def stored(store: Store) -> dict[str, list[Any]]:
    """Every row of every table."""
    with store.read() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(sa.select(table))] for table in metadata.sorted_tables
        }


def researcher(made: Made) -> Any:
    set_password(made.folder, PASSWORD)
    client = made.app.test_client()
    csrf = read_page(client.get("/admin/login").text).hidden["csrf"]
    assert client.post("/admin/login", data={"csrf": csrf, "password": PASSWORD}).status_code == 303
    return client


@pytest.mark.slow
def test_every_page_is_shown_and_labelled_and_nothing_is_stored(make_study: Callable[..., Made]) -> None:
    made = make_study(EVERYTHING)
    client = researcher(made)
    before, forms = stored(made.store), 0
    listed = re.findall(r'href="/preview/([\w-]+)"', client.get("/preview/").text)
    assert listed == [
        *("consent", "screening", "instructions", "practice-1", "practice-1-told", "again"),
        *("block-1", "block-2", "block-2-check", "wait", "questions"),
        *("completed", "failed_checks", "full", "undecided", "withdraw"),
        *("no_consent", "screened_out", "failed_practice", "set_aside", "withdrew"),
        *("paused", "closed"),
    ]
    for name, following in zip(listed, [*listed[1:], ""], strict=True):
        answer = client.get(f"/preview/{name}")
        assert answer.status_code == 200 and "Nothing is assigned, and nothing is stored." in answer.text, name
        # whatever can be pressed on it leads on in the preview, to the platform, or out to the researcher
        for address in re.findall(r'(?:href|action)="(/[^"]*)"', answer.text):
            assert re.match(r"/(preview|item|static|admin)/", address), (name, address)
        forms += answer.text.count("<form")
        sent = client.post(f"/preview/{name}", data={"rating-1": "5", "agree": "yes", "question-say": "mine"})
        assert (sent.status_code, sent.location) == (303, f"/preview/{following}"), name
    assert forms > 8
    assert stored(made.store) == before
    assert client.get("/preview/nothing").status_code == 404


@pytest.mark.slow
def test_pages_are_those_that_a_rater_gets(make_local: Callable[..., Made]) -> None:
    made = make_local(EVERYTHING)
    client = researcher(made)
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes", passphrase="open sesame")
    browser.send(browser.page.form(), **{"question-age": "33"})
    browser.send(browser.page.form())

    def bare(html: str) -> str:
        """The page without the preview's bar, where its links lead, and what differs from showing to showing."""
        html = re.sub(r'<nav class="preview".*?</nav>', "", html, flags=re.DOTALL)
        html = re.sub(r'(action|data-preload)="[^"]*"|href="/(preview/)?instructions"|value="[\w.-]{20,}"', "", html)
        html = re.sub(r'href="[^"]*"(?=>Withdraw)', "", html)
        return " ".join(html.split())

    consent = client.get("/preview/consent").text
    assert 'action="/decline"' not in consent, "whoever saw the page first"
    assert bare(client.get("/preview/practice-1").text) == bare(browser.client.get("/rate/1").text)
    assert "These are alike." in client.get("/preview/practice-1-told").text
    picture = re.search(r'src="(/item/[^"]+)"', client.get("/preview/block-1").text)
    assert picture is not None and client.get(picture[1]).status_code == 200
    assert "back.example.org/no?who=PREVIEW" in client.get("/preview/no_consent").text


@pytest.mark.slow
def test_nobody_else_sees_the_preview_and_the_overview_leads_to_it(make_local: Callable[..., Made]) -> None:
    made = make_local()
    for path in ("/preview/", "/preview/consent"):
        answer = made.app.test_client().get(path)
        assert answer.status_code in (302, 303) and answer.location == "/admin/login"
    assert 'href="/preview/"' in researcher(made).get("/admin/").text


def test_under_a_path_the_preview_stays_below_it(make_local: Callable[..., Made]) -> None:
    made = make_local()
    made.app.wsgi_app = mounted(made.app.wsgi_app, "/mine")  # type: ignore[method-assign]
    made.app.config["PREVIEW"] = True
    text = made.app.test_client().get("/mine/preview/consent").text
    assert 'href="/mine/preview/instructions"' in text and 'action="/mine/preview/no_consent"' in text


def test_a_server_of_the_preview_alone_lets_nobody_rate(make_local: Callable[..., Made]) -> None:
    made = make_local()
    client = create_app(made.folder, store=made.store, only_preview=True).test_client()
    before = stored(made.store)
    for path in ("/", "/consent", "/join?PROLIFIC_PID=x", "/admin/", "/rate/1"):
        assert client.get(path).location == "/preview/"
    assert client.post("/consent", data={"agree": "yes"}).location == "/preview/"
    assert client.get("/preview/block-1").status_code == 200
    assert stored(made.store) == before
    assert client.get("/health").status_code == 200


@pytest.mark.server
def test_serve_preview_shows_files_as_they_are_and_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "study")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    server = Server(folder, extra=("--preview",))
    try:
        with urllib.request.urlopen(f"{server.address}/preview/block-1", timeout=30) as answer:
            assert answer.status == 200 and b"Nothing is assigned" in answer.read()
    finally:
        server.stop()
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.name != "serve.err"}
    assert after == before
