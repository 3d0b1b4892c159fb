"""Who gets in, and that one person stays one rater."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.invitations import crowd_link, invite
from relstudy.studyapp.assignment.versions import write_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made


def with_entry(text: str) -> str:
    return TOML.replace('rules = ["personal", "open"]', text)


PROLIFIC = with_entry(
    'rules = ["prolific"]\ncompletion_url = "https://app.prolific.com/submissions/complete?cc={code}"\n'
    'completion_code = "C1FIXED"'
)


def count_raters(made: Made) -> int:
    with made.store.read() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(raters)).scalar_one()


@pytest.mark.slow
def test_a_personal_link_makes_its_holder_the_same_rater_in_every_browser(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry('rules = ["personal"]'))
    path = invite(made.store, Study.load(made.folder), 1)[0].path
    first, second = Browser(made.app), Browser(made.app)
    first.join(path)
    first.rate()
    assert first.address == "/rate/2"
    second.get(path)
    assert second.address == "/rate/2", "resumes where the other browser was"
    assert count_raters(made) == 1


def test_without_a_link_a_study_by_personal_link_lets_nobody_in(make_local: Callable[..., Made]) -> None:
    browser = Browser(make_local(with_entry('rules = ["personal"]')).app)
    for address in ("/", "/consent", "/rate", "/rate/1", "/instructions", "/thanks", "/questions"):
        browser.get(address)
        assert browser.status == 403 and "by personal link only" in browser.page.text, address
    browser.get("/enter/guessed-token")
    assert browser.status == 404 and "This link is not valid" in browser.page.text


def test_the_token_itself_is_not_in_the_database(make_local: Callable[..., Made]) -> None:
    made = make_local()
    path = invite(made.store, Study.load(made.folder), 1)[0].path
    token = path.rpartition("/")[2]
    assert len(token) >= 24, "at least 144 bits"
    with made.store.read() as connection:
        rows = connection.execute(sa.select(raters)).mappings().all()
    assert token not in str(rows)


@pytest.mark.slow
def test_open_enrolment_gives_one_rater_however_often_the_consent_is_sent_or_gone_back_to(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(with_entry('rules = ["open"]'))
    browser = Browser(made.app)
    browser.get("/")
    form = browser.page.form()
    browser.send(form, agree="yes")
    browser.post("/consent", {**form.fields, "agree": "yes"})
    assert browser.status == 200
    browser.get("/consent")
    browser.get("/")
    assert count_raters(made) == 1
    browser.get("/instructions")
    browser.send(browser.page.form())
    browser.get("/")
    assert browser.address == "/rate/1"
    assert count_raters(made) == 1


def test_two_consents_sent_at_once_from_one_browser_make_one_rater(make_study: Callable[..., Made]) -> None:
    made = make_study(with_entry('rules = ["open"]'))
    browser, twin = Browser(made.app), Browser(made.app)
    browser.get("/")
    form = browser.page.form()
    twin.cookie = browser.cookie
    browser.post("/consent", {**form.fields, "agree": "yes"})
    twin.post("/consent", {**form.fields, "agree": "yes"})
    assert browser.address == twin.address == "/instructions"
    assert count_raters(made) == 1


def test_consent_withheld_enrols_nobody(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form())
    assert browser.address == "/consent"
    assert count_raters(made) == 0


def test_the_passphrase_opens_and_a_wrong_one_says_so(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry('rules = ["passphrase"]\npassphrase = "green hills"'))
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes", passphrase="grey hills")
    assert browser.status == 403 and "not the passphrase" in browser.page.text
    assert count_raters(made) == 0
    browser.send(browser.page.form(), agree="yes", passphrase="green hills")
    assert browser.address == "/instructions"


@pytest.mark.slow
def test_a_prolific_participant_is_one_person_in_every_session_and_ends_at_the_platform(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(PROLIFIC)
    link = "/join?PROLIFIC_PID=5f0aaaaaaaaaaaaaaaaaaaaa&STUDY_ID=s1&SESSION_ID="
    browser = joined(made.app, link + "one")
    browser.rate()
    other = joined(made.app, link + "two")
    assert other.address == "/rate/2"
    browser.get(link + "one")
    assert browser.address == "/rate/2"
    other.rate_all()
    assert "C1FIXED" in other.page.text
    assert "https://app.prolific.com/submissions/complete?cc=C1FIXED" in other.page.links
    with made.store.read() as connection:
        row = connection.execute(sa.select(raters)).one()
    assert row.identity == "5f0aaaaaaaaaaaaaaaaaaaaa" and row.parameters == {"STUDY_ID": "s1", "SESSION_ID": "one"}
    assert row.rater_id not in row.identity, "the export's id is not the platform's"


def test_consent_counts_from_when_it_was_first_given(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC)
    first, second = Browser(made.app), Browser(made.app)
    for browser in (first, second):
        browser.get("/join?PROLIFIC_PID=a")
    given = []
    for browser in (first, second):
        browser.send(browser.page.form(), agree="yes")
        with made.store.read() as connection:
            given.append(connection.execute(sa.select(raters.c.consented_at)).scalar_one())
    assert given[0] == given[1]


def test_crowd_parameters_of_any_name_work_and_a_link_without_them_is_refused(make_local: Callable[..., Made]) -> None:
    text = 'rules = ["crowd"]\nid_parameter = "workerId"\nkeep_parameters = ["batch"]'
    made = make_local(with_entry(text))
    browser = Browser(made.app)
    browser.get("/join?batch=7")
    assert browser.status == 400 and "workerId" in browser.page.text
    for unusable in ("%00", "a%0Ab", "%20", "x" * 201):
        browser.get(f"/join?workerId={unusable}")
        assert browser.status == 400, unusable
    browser.join("/join?workerId=w1&batch=7")
    assert browser.address == "/rate/1"
    Browser(made.app).join("/join?workerId=w2&batch=7")
    assert count_raters(made) == 2
    assert crowd_link(Study.load(made.folder)) == "/join?workerId=${workerId}&batch=${batch}"


@pytest.mark.slow
def test_a_different_crowd_worker_in_the_same_browser_is_a_different_rater(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC)
    browser = joined(made.app, "/join?PROLIFIC_PID=a")
    browser.rate()
    browser.get("/join?PROLIFIC_PID=b")
    assert browser.address == "/consent"
    browser.consent()
    assert browser.address == "/rate/1"
    browser.join("/join?PROLIFIC_PID=a")
    assert browser.address == "/rate/2"


def test_the_crowd_link_for_prolific_has_its_placeholders(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC)
    assert crowd_link(Study.load(made.folder)) == (
        "/join?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )


@pytest.mark.slow
def test_a_study_can_start_paused(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML.replace('id = "test"', 'id = "test"\npaused = true'))
    browser = Browser(made.app)
    browser.get("/")
    assert browser.status == 503 and "The study is paused" in browser.page.text


@pytest.mark.slow
def test_every_process_sees_a_pause_within_a_second(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    browser = Browser(made.app)
    browser.get("/consent")
    assert browser.status == 200
    with made.store.write() as connection:
        write_state(connection, "paused")
    later = time.monotonic() + 1.1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    browser.get("/consent")
    assert browser.status == 503


@pytest.mark.slow
def test_a_closed_study_takes_no_more_ratings_and_goes_on_when_it_is_opened_again(
    make_local: Callable[..., Made],
) -> None:
    made = make_local()
    browser = joined(made.app)
    with made.store.write() as connection:
        write_state(connection, "closed")
    browser.rate()
    assert browser.status == 409 and "has been closed" in browser.page.text and made.rows() == 0
    with made.store.write() as connection:
        write_state(connection, "open")
    browser.send(browser.page.form("/rate/1"))
    assert browser.address == "/rate/2" and made.rows() == 4


@pytest.mark.slow
@pytest.mark.parametrize("state", ["paused"])
def test_a_paused_study_says_so_keeps_what_is_under_way_and_hands_out_nothing(
    make_local: Callable[..., Made], state: str
) -> None:
    made = make_local()
    browser = joined(made.app)
    made.app.extensions["relstudy"].set_state(state)
    browser.rate()
    with made.store.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one() == 4, "saved all the same"
    newcomer = Browser(made.app)
    newcomer.get("/")
    assert newcomer.status == 503 and f"The study is {state}" in newcomer.page.text
    while browser.address.startswith("/rate/"):
        browser.rate()
    assert browser.status == 503 and f"The study is {state}" in browser.page.text
    made.app.extensions["relstudy"].set_state("open")
    browser.get("/rate")
    assert browser.address.startswith("/rate/")
    assert browser.rate_all() > 0 and browser.address == "/thanks"
