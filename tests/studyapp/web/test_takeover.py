"""Nobody becomes somebody else by knowing an id, by an old cookie, or by a link that somebody else made them click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import Made, write_study
from tests.studyapp.web.rater.test_entry import PROLIFIC, with_entry

PASSWORD = "a long password"


def people(made: Made) -> int:
    return len(people_table(made.store, Study.load(made.folder)))


@pytest.mark.slow
def test_a_known_platform_id_shows_and_changes_no_answers_in_another_browser(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC)
    owner, other = Browser(made.app), Browser(made.app, REMOTE_ADDR="192.0.2.9")
    owner.join("/join?PROLIFIC_PID=known&SESSION_ID=one")
    owner.rate()
    other.join("/join?PROLIFIC_PID=known&SESSION_ID=guessed")
    assert other.address == "/rate/2", "the same person may go on elsewhere"
    other.get("/rate/1")
    assert other.address == "/rate/2" and "/rate/1" not in other.page.links
    owner.get("/rate/1")
    assert owner.address == "/rate/1", "nor does it keep its rater from going back"
    assert people(made) == 1
    assert len(ratings_table(made.store, Study.load(made.folder), history=True)) == 4


@pytest.mark.slow
def test_who_consents_by_an_id_before_its_rater_begins_neither_sees_nor_changes_what_they_give(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(PROLIFIC.replace('contact = "', 'withdrawal = "delete"\ncontact = "'), base_queries=0)
    owner, early, late = (Browser(made.app, REMOTE_ADDR=f"192.0.2.{number}") for number in range(3))
    for browser in (early, owner):
        browser.get("/join?PROLIFIC_PID=known&SESSION_ID=one")
        browser.send(browser.page.form(), agree="yes")
    owner.send(owner.page.form())
    late.join("/join?PROLIFIC_PID=known&SESSION_ID=guessed")
    strangers = [(browser, browser.get("/rate/1") and browser.filled("5")) for browser in (early, late)]
    owner.rate()
    for browser, form in strangers:
        browser.post("/rate/1", form)
        assert browser.status == 409, "a form that was opened before"
        browser.post("/rate/1", {name: "3" if value == "5" else value for name, value in form.items()})
        browser.get("/rate/1")
        assert browser.address == "/rate/2", "nor when the answers were guessed"
    early.get("/withdraw")
    early.send(early.page.form(), sure="yes")
    table = ratings_table(made.store, Study.load(made.folder), history=True)
    assert table["rating"].tolist() == [3.0] * 4, "marked as withdrawn, and not gone"


@pytest.mark.slow
def test_a_browser_that_came_by_an_id_goes_back_to_its_own_pages(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC.replace("pairs_per_rater = 8", "pairs_per_rater = 16"), base_queries=0)
    owner, phone = Browser(made.app), Browser(made.app)
    for browser in (owner, phone):
        browser.join("/join?PROLIFIC_PID=known")
        browser.rate()
    phone.get("/rate/2")
    assert phone.address == "/rate/2" and phone.page.form("/rate/2").fields["rating-1"] == "3"
    phone.rate(lambda name, number: "4")
    assert made.rows() == 12


@pytest.mark.slow
def test_a_known_platform_id_is_answered_like_an_unknown_one(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC)
    Browser(made.app).join("/join?PROLIFIC_PID=known")
    answers = set()
    for name in ("known", "unknown"):
        guesser = Browser(made.app)
        page = guesser.get(f"/join?PROLIFIC_PID={name}")
        answers.add((guesser.status, guesser.address, page.text))
    assert len(answers) == 1


@pytest.mark.slow
def test_guessing_platform_ids_is_stopped(make_local: Callable[..., Made]) -> None:
    text = 'rules = ["crowd"]\nid_parameter = "w"\njoins_per_address = 5'
    made = make_local(with_entry(text))
    statuses = []
    for number in range(7):
        guesser = Browser(made.app)
        guesser.get(f"/join?w={number % 2}")
        guesser.send(guesser.page.form(), agree="yes")
        statuses.append(guesser.status)
    assert statuses == [200] * 5 + [429] * 2


@pytest.mark.slow
def test_the_link_of_somebody_else_replaces_an_open_session_only_when_told_to(make_local: Callable[..., Made]) -> None:
    made = make_local(PROLIFIC.replace('"prolific"', '"personal", "prolific"'))
    study = Study.load(made.folder)
    mine, theirs = (invitation.path for invitation in invite(made.store, study, 2))
    browser = joined(made.app, mine)
    browser.rate()
    for link in (theirs, "/join?PROLIFIC_PID=x"):
        browser.get(link)
        browser.get("/rate")
        assert browser.address == "/rate/2", "still whom they were"
    browser.get(theirs)
    browser.send(browser.page.form(theirs))
    assert browser.address == "/consent"
    browser.consent()
    assert browser.address == "/rate/1"
    browser.get(mine)
    browser.send(browser.page.form(mine))
    assert browser.address == "/rate/2"


@pytest.mark.slow
def test_a_way_in_that_was_closed_is_closed_for_those_on_their_way(make_local: Callable[..., Made]) -> None:
    made = make_local(with_entry('rules = ["open"]'))
    late = Browser(made.app)
    late.get("/")
    form = late.page.form()
    for entry, status in (('rules = ["personal"]', 403), ('rules = ["passphrase"]\npassphrase = "green hills"', 403)):
        (made.folder / "study.toml").write_text(with_entry(entry), encoding="utf-8")
        prepare(made.folder, made.store)
        late.send(form, agree="yes")
        assert (late.status, people(made)) == (status, 0)
    late.get("/")
    late.send(late.page.form(), agree="yes", passphrase="green hills")
    assert late.address == "/instructions"


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/", "/consent", "/instructions"])
def test_looking_at_the_study_does_not_log_the_researcher_out(make_local: Callable[..., Made], address: str) -> None:
    made = make_local()
    set_password(made.folder, PASSWORD)
    browser = Browser(made.app)
    browser.log_in(PASSWORD)
    browser.get(address)
    browser.get("/admin/")
    assert (browser.status, browser.address) == (200, "/admin/")


@pytest.mark.slow
def test_studies_of_one_id_on_one_host_do_not_share_a_cookie(tmp_path: Path) -> None:
    folders = [write_study(tmp_path / name) for name in ("one", "two")]
    for folder in folders:
        prepare(folder)
    names = {create_app(folder).config["SESSION_COOKIE_NAME"] for folder in folders}
    assert len(names) == 2
