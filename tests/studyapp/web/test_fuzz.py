"""Requests that no page of ours would send: every route answers, in words, and never breaks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, write_study

EXTRA = """
[[questions]]
id = "age"
text = "Age?"
kind = "number"
[[practice]]
query_id = "q0"
result_id = "q0"
expected = [3]
"""
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def app() -> Iterator[Flask]:
    with tempfile.TemporaryDirectory() as folder:
        path = write_study(
            Path(folder), TOML.replace('"open"]', '"open", "crowd"]\nid_parameter = "w"\njoins_per_address = 0') + EXTRA
        )
        prepare(path)
        set_password(path, PASSWORD)
        made = create_app(path)
        # Guesses are limited, and the limit would hide what lies behind it.
        made.extensions["relstudy"].link_limit.failures = 10**9
        made.extensions["relstudy"].password_limit.failures = 10**9
        yield made
        made.extensions["relstudy"].store.dispose()


text = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "0", "-1", "1", "2", "99999999999999999999", "undecided", "yes", "../..", "\x00", "%s", "'--", "NaN"]
    ),
)
fields = st.dictionaries(
    st.one_of(
        st.sampled_from(
            [
                "csrf",
                "form",
                "agree",
                "rating-1",
                "rating-2",
                "rating-9",
                "question-age",
                "seconds",
                "password",
                "state",
                "w",
            ]
        ),
        st.text(max_size=10),
    ),
    text,
    max_size=6,
)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_request_breaks_a_route_or_saves_what_was_not_rated(app: Flask, data: st.DataObject) -> None:
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "static"]
    rule = data.draw(st.sampled_from(sorted(rules, key=str)))
    path = rule.rule
    for argument in rule.arguments:
        start = path.index("<")
        value = data.draw(text, label=argument)
        path = path[:start] + quote(value, safe="") + path[path.index(">") + 1 :]
    browser = Browser(app)
    who = data.draw(st.sampled_from(["nobody", "rater", "admin", "forger"]))
    token = ""
    if who == "rater":
        token = browser.join().form().fields["csrf"]
    elif who == "admin":
        browser.log_in(PASSWORD)
    elif who == "forger":
        browser.client.set_cookie(
            app.config["SESSION_COOKIE_NAME"], data.draw(st.text("abc._-=é\n", max_size=40)).replace("\n", "")
        )
    method = data.draw(st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"]))
    query = data.draw(fields, label="query")
    form = data.draw(fields, label="form") if method in ("POST", "PUT") else None
    if form is not None and token and data.draw(st.booleans()):
        form["csrf"] = token
    kind = data.draw(st.sampled_from([None, "application/json", "multipart/form-data; boundary=x", "text/plain"]))
    body = (
        {"data": form}
        if kind is None or form is None
        else {"data": str(form).encode("utf-8", "replace"), "content_type": kind}
    )
    store: Store = app.extensions["relstudy"].store
    before = count(store)
    answer = browser.client.open(path or "/", method=method, query_string=query, **body)
    assert answer.status_code < 500, answer.text[:500]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Traceback" not in answer.get_data().decode(errors="replace")
    assert count(store) == before, "no rating without the page's own form"


def count(store: Store) -> int:
    with store.read() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one())


scale_or_not = st.one_of(st.sampled_from(["1", "2", "3", "4", "5", "undecided"]), text)


@pytest.mark.slow
@given(st.lists(st.lists(scale_or_not, min_size=4, max_size=4), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_page_is_saved_whole_and_exactly_as_chosen_or_not_at_all(app: Flask, pages: list[list[str]]) -> None:
    made: Store = app.extensions["relstudy"].store
    browser = joined(app)
    browser.rate(lambda name, number: "3")
    browser.get("/rate")
    allowed = {"1", "2", "3", "4", "5", "undecided"}
    expected: list[str] = []
    for chosen in pages:
        if not browser.address.startswith("/rate/"):
            break
        before = count(made)
        form = browser.page.form(browser.address)
        sent = {f"rating-{number}": value for number, value in enumerate(chosen, start=1)}
        browser.post(browser.address, {**form.fields, **sent})
        if set(chosen) <= allowed:
            assert browser.status == 200 and count(made) == before + 4
            expected += chosen
        else:
            assert browser.status == 422 and count(made) == before
            browser.get("/rate")
    table = ratings_table(made, Study.load(app.extensions["relstudy"].folder))
    mine = table[(table["rater_id"] == table["rater_id"].iloc[-1]) & (table["block"] != "practice")]
    kept = ["undecided" if rating != rating else f"{rating:g}" for rating in mine["rating"]]
    assert kept[-len(expected) :] == expected or not expected
