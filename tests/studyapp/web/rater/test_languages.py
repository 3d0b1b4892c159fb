"""The language of a rater's pages: chosen, else the browser's, else the study's own."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from werkzeug.test import Client

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.web.mount import mounted
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made

THREE = TOML.replace('title = "A test study"', 'title = "A test study"\nlanguages = ["de", "ar"]')


@pytest.mark.parametrize(
    ("accepts", "code", "direction"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "de", ""),
        ("ar", "ar", ' dir="rtl"'),
        ("fr", "en", ""),
        ("en-GB,en;q=0.9,de;q=0.8", "en", ""),
        ("", "en", ""),
        (f"de,{',' * 2000}", "en", ""),  # no browser sends so much, and to read 30 kB takes a third of a second
    ],
)
def test_pages_come_in_the_browsers_language_where_the_study_has_it(
    make_study: Callable[..., Made], accepts: str, code: str, direction: str
) -> None:
    made = make_study(THREE)
    answer = made.app.test_client().get("/consent", headers={"Accept-Language": accepts})
    assert f'<html lang="{code}"{direction} data-root' in answer.text


@pytest.mark.slow
def test_a_language_chosen_stays_from_consent_to_the_end_and_ratings_are_the_same(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(THREE)
    browser = Browser(made.app)
    browser.get(invite(made.store, Study.load(made.folder), 1)[0].path)
    assert browser.address == "/consent"
    browser.get("/language/de?back=/consent")
    assert browser.address == "/consent" and "Teilnahme" in browser.page.text
    browser.consent()
    assert "Seite 1 von" in browser.page.text and "unentschieden" in browser.page.text
    browser.get(f"/language/ar?back={browser.address}")
    assert browser.address == "/rate/1" and "الصفحة 1 من" in browser.page.text
    browser.rate_all()
    assert browser.address == "/thanks" and "رمز الإتمام" in browser.page.text
    assert made.rows() == 16


def test_the_consent_that_was_read_is_the_one_agreed_to_in_each_language(make_study: Callable[..., Made]) -> None:
    made = make_study(THREE)
    browser = Browser(made.app)
    browser.get("/language/de?back=/consent")
    german = browser.page.form()
    browser.get("/language/en?back=/consent")
    browser.send(german, agree="yes")
    assert browser.status == 409 and "The text was changed while you read it" in browser.page.text


ELSEWHERE = [
    *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", ""),
    *("/\t/evil.example", "/\n/evil.example", "/\r\n/evil.example", "/\t\\evil.example", "\t//evil.example"),
    *("/\0/evil.example", "/\x1f/evil.example", "/consent\r\nSet-Cookie: a=b", "/consent\n"),
    "/a\\..\\..//evil.example",
]


@pytest.mark.parametrize("back", ELSEWHERE)
def test_the_way_back_from_the_choice_stays_in_the_study(make_local: Callable[..., Made], back: str) -> None:
    client = make_local(THREE).app.test_client()
    answer = client.get("/language/de", query_string={"back": back})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert client.get("/language/fr").status_code == 404


@pytest.mark.parametrize("back", ELSEWHERE)
def test_the_way_back_stays_in_the_study_below_a_mount(make_local: Callable[..., Made], back: str) -> None:
    client = Client(mounted(make_local(THREE).app, "/studies/one"))
    answer = client.get("/studies/one/language/de", query_string={"back": back})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/studies/one/")


def test_the_way_in_keeps_a_query_in_any_bytes(make_local: Callable[..., Made]) -> None:
    client = make_local(THREE).app.test_client()
    answer = client.get("/", environ_overrides={"QUERY_STRING": "a=\xff&b=%0d%0aX:y&c=\xc3\xa9 \t"})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/consent?a=%FF&b=%0d%0aX:y&c=%C3%A9%20%09"
    page = client.get("/consent", environ_overrides={"QUERY_STRING": "a=\xff"})
    assert page.status_code == 200 and "/language/ar?back=/consent%3Fa%3D%25FF" in page.text


def test_a_study_in_one_language_offers_no_choice(make_study: Callable[..., Made]) -> None:
    client = make_study().app.test_client()
    answer = client.get("/consent", headers={"Accept-Language": "de"})
    assert '<html lang="en" data-root' in answer.text and 'class="languages"' not in answer.text


def test_the_parameters_of_a_crowd_link_survive_the_choice(make_study: Callable[..., Made]) -> None:
    toml = THREE.replace('rules = ["personal", "open"]', 'rules = ["prolific"]\ncompletion_code = "C1"')
    client = make_study(toml).app.test_client()
    asked = "/consent?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=t"
    page = client.get(asked).text
    link = page.split('hreflang="de"')[0].rsplit('href="', 1)[1].split('"')[0]
    assert client.get(link).headers["Location"] == asked


@pytest.mark.parametrize("path", ["/admin/login", "/admin/nothing"])
def test_the_researchers_pages_offer_no_choice_as_they_are_in_the_studys_own_language(
    make_local: Callable[..., Made], path: str
) -> None:
    answer = make_local(THREE).app.test_client().get(path, headers={"Accept-Language": "ar"})
    assert '<html lang="en" data-root' in answer.text and 'class="languages"' not in answer.text


ASKED = """
[[blocks.questions]]
id = "trust"
text = "Would you trust it?"
scale = "binary"
[[blocks.questions]]
id = "why"
text = "Why? Say it in a few words."
[[screening]]
id = "age"
text = "How old are you?"
kind = "number"
least = 18
[[questions]]
id = "ease"
text = "How was it?"
kind = "choice"
choices = ["Easy!", "Hard."]
"""


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("screening", ["How old are you?"]),
        ("block-1", ["Would you trust it?", "Why? Say it in a few words."]),
        ("questions", ["How was it?", "Easy!", "Hard."]),
    ],
)
def test_on_a_page_from_right_to_left_what_a_study_asks_keeps_its_own_direction(
    make_local: Callable[..., Made], page: str, words: list[str]
) -> None:
    """Else the mark at the end of an English question stands before it."""
    made = make_local(THREE.replace("results_per_page = 4\n", "results_per_page = 4\n" + ASKED, 1))
    made.app.config["PREVIEW"] = True
    shown = made.app.test_client().get(f"/preview/{page}", headers={"Accept-Language": "ar"}).text
    assert ' dir="rtl"' in shown
    assert all(re.search(f"<bdi[^>]*>{re.escape(asked)}</bdi>", shown) for asked in words)
    assert '<nav class="preview" dir="auto"' in shown, "the bar is in English"
