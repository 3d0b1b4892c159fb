"""Whoever comes from a platform has a way back, whatever becomes of their visit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.config.study import Study
from tests.studyapp.browse import Browser
from tests.studyapp.studies import Made
from tests.studyapp.web.rater.test_entry import with_entry

URL = "https://app.example.org/done?cc={code}&pid={id}&session={SESSION_ID}"
PROLIFIC = f"""rules = ["prolific"]
completion_url = "{URL}"
completion_code = "DONE"
[entry.outcomes]
no_consent = "NOCONSENT"
full = "FULL"
undecided = "UNDECIDED"
paused = "https://app.example.org/later"
closed = "CLOSED"
"""
JOIN = "/join?PROLIFIC_PID=p%26q&STUDY_ID=s&SESSION_ID=t7"
pytestmark = pytest.mark.slow


def back(code: str) -> str:
    return f"https://app.example.org/done?cc={code}&pid=p%26q&session=t7"


def people(made: Made) -> int:
    from relstudy.studyapp.monitoring.export import people_table

    return len(people_table(made.store, Study.load(made.folder)))


def test_who_declines_is_led_back_and_nothing_of_them_is_kept(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry(PROLIFIC))
    browser = Browser(made.app)
    browser.get(JOIN)
    browser.send(browser.page.form("/decline"))
    assert browser.status == 200 and back("NOCONSENT") in browser.page.links and people(made) == 0
    browser.get("/rate")
    assert browser.status == 403, "the browser is nobody's again"


def test_who_completes_and_who_decides_on_nothing_have_addresses_of_their_own(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry(PROLIFIC))
    for rating, code in (("3", "DONE"), ("undecided", "UNDECIDED")):
        browser = Browser(made.app)
        browser.join(JOIN if code == "DONE" else JOIN.replace("p%26q", "other"))
        browser.rate_all(lambda name, number, rating=rating: rating)  # type: ignore[misc]
        assert browser.address == "/thanks"
        expected = back(code) if code == "DONE" else back(code).replace("p%26q", "other")
        assert expected in browser.page.links, browser.page.links


def test_a_study_that_is_closed_paused_or_full_leads_back(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry(PROLIFIC), base_queries=0, unique_queries=1)
    first = Browser(made.app)
    first.join(JOIN.replace("p%26q", "first"))
    first.rate_all()
    late = Browser(made.app)
    late.join(JOIN)
    assert late.address == "/thanks" and back("FULL") in late.page.links
    for state, address in (("paused", "https://app.example.org/later"), ("closed", back("CLOSED"))):
        with made.app.test_request_context():
            made.app.extensions["relstudy"].set_state(state)
        browser = Browser(made.app)
        browser.get(JOIN)
        assert browser.status == 503 and address in browser.page.links


@pytest.mark.parametrize("pid", ["{{%PROLIFIC_PID%}}", "${workerId}", "{id}", "%7B%7B%25PROLIFIC_PID%25%7D%7D"])
def test_a_placeholder_that_the_platform_did_not_fill_in_is_nobody(make_local: Callable[..., Made], pid: str) -> None:
    made = make_local(with_entry(PROLIFIC))
    answer = made.app.test_client().get("/join", query_string=f"PROLIFIC_PID={pid}")
    assert answer.status_code == 400 and "PROLIFIC_PID" in answer.text


def test_an_outcomes_code_needs_a_place_in_the_address(make_local: Callable[..., Made]) -> None:
    with pytest.raises(RelstudyError, match=r"outcomes.full.*a code where completion_url holds \{code\}"):
        Study.parse(with_entry('rules = ["open"]\n[entry.outcomes]\nfull = "X"\n'))
