"""Whoever comes from a platform has a way back, whatever becomes of their visit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.exclusion import set_aside
from relstudy.studyapp.config.outcomes import OUTCOMES
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import people_table
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import Made
from tests.studyapp.web.rater.test_entry import with_entry

URL = "https://app.example.org/done?cc={code}&pid={id}&session={SESSION_ID}"
CODES = {name: name.replace("_", "").upper() for name in OUTCOMES} | {"paused": "https://app.example.org/later?s={id}"}
ENTRY = f'rules = ["prolific"]\ncompletion_url = "{URL}"\ncompletion_code = "DONE"\n'
ALL = "[entry.outcomes]\n" + "".join(f'{name} = "{code}"\n' for name, code in CODES.items())
CHECK = '[[attention]]\nblock = "base"\nquery_id = "q0"\nresult_id = "q1"\nexpected = [5]\n'
SCREENING = '[[screening]]\nid = "age"\ntext = "How old are you?"\nkind = "number"\nleast = 18\n'
PRACTICE = '[qualification]\npass_mark = 1\n[[practice]]\nquery_id = "q0"\nresult_id = "q0"\nexpected = [5]\n'
JOIN = "/join?PROLIFIC_PID=p%26q&STUDY_ID=s&SESSION_ID=t7"
FIRST = JOIN.replace("p%26q", "first")
Maker = Callable[..., Made]


def back(code: str) -> str:
    """The address that a code of `CODES`, or an address, leads back to."""
    return (
        (code if code.startswith("https") else URL.replace("{code}", code))
        .replace("{id}", "p%26q")
        .replace("{SESSION_ID}", "t7")
    )


def arrive(made: Made) -> Browser:
    browser = Browser(made.app)
    browser.get(JOIN)
    return browser


def declines(make: Maker, outcomes: str) -> Browser:
    browser = arrive(make(with_entry(ENTRY + outcomes)))
    browser.send(browser.page.form("/decline"))
    return browser


def fails_the_check(make: Maker, outcomes: str) -> Browser:
    made = make(
        with_entry(f"{ENTRY}failed_checks_allowed = 0\n{outcomes}") + CHECK, base_queries=1, unique_queries=1, results=1
    )
    browser = arrive(made)
    browser.consent()
    browser.rate_all()
    return browser


def comes_when_all_is_rated(make: Maker, outcomes: str) -> Browser:
    made = make(with_entry(ENTRY + outcomes), base_queries=0, unique_queries=1)
    first = joined(made.app, FIRST)
    first.rate_all()
    browser = arrive(made)
    browser.consent()
    return browser


def decides_on_nothing(make: Maker, outcomes: str) -> Browser:
    browser = arrive(make(with_entry(ENTRY + outcomes), base_queries=1, unique_queries=1, results=1))
    browser.consent()
    browser.rate_all(lambda name, number: "undecided")
    return browser


def comes_while(state: str) -> Callable[[Maker, str], Browser]:
    def comes(make: Maker, outcomes: str) -> Browser:
        made = make(with_entry(ENTRY + outcomes))
        made.app.extensions["relstudy"].set_state(state)
        return arrive(made)

    return comes


def does_not_fit(make: Maker, outcomes: str) -> Browser:
    browser = arrive(make(with_entry(ENTRY + outcomes) + SCREENING))
    browser.send(browser.page.form(), agree="yes")
    browser.send(browser.page.form(), **{"question-age": "17"})
    return browser


def fails_the_practice(make: Maker, outcomes: str) -> Browser:
    browser = arrive(make(with_entry(ENTRY + outcomes) + PRACTICE, base_queries=1, unique_queries=0, results=1))
    browser.consent()
    browser.rate(lambda name, number: "1")
    return browser


def withdraws(make: Maker, outcomes: str) -> Browser:
    toml = with_entry(ENTRY + outcomes).replace('id = "test"', 'id = "test"\nwithdrawal = "delete"')
    browser = arrive(make(toml))
    browser.consent()
    browser.get("/withdraw")
    browser.send(browser.page.form(), sure="yes")
    return browser


def is_set_aside(make: Maker, outcomes: str) -> Browser:
    made = make(with_entry(ENTRY + outcomes))
    browser = arrive(made)
    browser.consent()
    set_aside(made.store, str(people_table(made.store, Study.load(made.folder))["rater_id"][0]))
    browser.get("/rate")
    return browser


ENDINGS = {
    "set_aside": is_set_aside,
    "withdrew": withdraws,
    "failed_practice": fails_the_practice,
    "screened_out": does_not_fit,
    "no_consent": declines,
    "failed_checks": fails_the_check,
    "full": comes_when_all_is_rated,
    "undecided": decides_on_nothing,
    "paused": comes_while("paused"),
    "closed": comes_while("closed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_ending_leads_back_with_its_own_code_or_address(make_local: Maker, outcome: str) -> None:
    browser = ENDINGS[outcome](make_local, ALL)
    assert browser.page.links.count(back(CODES[outcome])) == 1, (browser.address, browser.page.links)
    assert not any(back("DONE") in link for link in browser.page.links)
    browser.get(browser.address)
    assert back(CODES[outcome]) in browser.page.links, "and does so again when the page is loaded again"


@pytest.mark.slow
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_without_an_address_every_ending_says_in_words_where_to_go(make_local: Maker, outcome: str) -> None:
    browser = ENDINGS[outcome](make_local, "")
    assert "go back to the page of the platform" in browser.page.text
    assert not any(link.startswith("http") for link in browser.page.links)


def test_who_declines_leaves_nothing_and_the_browser_is_nobodys_again(make_local: Maker) -> None:
    made = make_local(with_entry(ENTRY + ALL))
    browser = arrive(made)
    browser.send(browser.page.form("/decline"))
    assert len(people_table(made.store, Study.load(made.folder))) == 0
    browser.get("/rate")
    assert browser.address == "/ended", "and nobody's page but the last one is shown"
    browser.get(JOIN)
    assert browser.address == "/consent", "and the same person may think again"


@pytest.mark.slow
@pytest.mark.parametrize(("rating", "outcome", "code"), [("5", "completed", "DONE"), ("1", "failed_checks", "")])
def test_a_code_needs_no_more_failed_checks_than_allowed(
    make_local: Maker, rating: str, outcome: str, code: str
) -> None:
    toml = with_entry(f"{ENTRY}failed_checks_allowed = 0\n{ALL}") + CHECK
    made = make_local(toml, base_queries=1, unique_queries=3, results=1)
    browser = arrive(made)
    browser.consent()
    browser.rate_all(lambda name, number: rating)
    assert (back("DONE") in browser.page.links) == bool(code)
    assert ("Rate some more" in browser.page.text) == bool(code), "more pages would not bring the code"
    study = Study.load(made.folder)
    assert people_table(made.store, study)["outcome"].tolist() == [outcome]
    assert study_status(made.store, study).outcomes == {outcome: 1}


def test_one_check_may_be_failed_where_the_study_says_so(make_local: Maker) -> None:
    made = make_local(
        with_entry(f"{ENTRY}failed_checks_allowed = 1\n") + CHECK, base_queries=1, unique_queries=1, results=1
    )
    browser = arrive(made)
    browser.consent()
    browser.rate_all(lambda name, number: "1")
    assert back("DONE") in browser.page.links


@pytest.mark.parametrize("pid", ["{{%PROLIFIC_PID%}}", "${workerId}", "{id}", "%7B%7B%25PROLIFIC_PID%25%7D%7D"])
def test_a_placeholder_that_the_platform_did_not_fill_in_is_nobody(make_local: Maker, pid: str) -> None:
    made = make_local(with_entry(ENTRY))
    answer = made.app.test_client().get("/join", query_string=f"PROLIFIC_PID={pid}")
    assert answer.status_code == 400 and "PROLIFIC_PID" in answer.text


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("[entry.outcomes]\nfull = 'X'\n", r"line 10, entry.outcomes.full.*a code where completion_url holds \{code\}"),
        ("failed_checks_allowed = 0\n", r"line 9, entry.failed_checks_allowed: .*the study has none"),
        ("failed_checks_allowed = -1\n", r"line 9, entry.failed_checks_allowed: -1 is not allowed"),
    ],
)
def test_a_rule_that_cannot_work_is_told_with_its_line(entry: str, told: str) -> None:
    with pytest.raises(RelstudyError, match=told):
        Study.parse(with_entry(f'rules = ["open"]\n{entry}'))


@pytest.mark.parametrize("path", ["/", "/consent"])
def test_who_goes_back_after_declining_still_has_the_way_back(make_local: Maker, path: str) -> None:
    browser = declines(make_local, ALL)
    browser.get(path)
    assert browser.status == 200 and browser.address == "/ended" and back(CODES["no_consent"]) in browser.page.links
