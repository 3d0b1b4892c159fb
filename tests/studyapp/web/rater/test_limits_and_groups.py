"""Who comes when a study takes nobody new is told so and led back; who is at work may finish the page at hand."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.web.admin.access import set_password
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_entry import with_entry
from tests.studyapp.web.rater.test_outcomes import CHECK

CROWD = 'rules = ["crowd", "open", "personal"]\nid_parameter = "who"\n'
BACK = CROWD + '[entry.outcomes]\nfull = "https://x.org/full?{id}"\nclosed = "https://x.org/closed?{id}"\n'
GROUPS = """
[[screening]]
id = "job"
text = "Your job?"
[[groups]]
name = "nurses"
quota = 1
when = { job = ["nurse"] }
[[groups]]
name = "others"
"""


def run(*command: str | Path) -> str:
    done = succeeds(*command)
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("link", ["/join?who=new", "/", "personal"])
def test_at_the_ceiling_newcomers_by_every_way_are_led_back_and_the_known_go_on(
    make_local: Callable[..., Made], link: str
) -> None:
    made = make_local(with_entry(BACK) + "[limits]\nraters = 1\n")
    if link == "personal":
        link = re.search(r"/enter/\S+", run("admin", "invite", made.folder, "-n", "1"))[0]  # type: ignore[index]
    joined(made.app, "/join?who=first")
    late = Browser(made.app)
    late.get(link)
    if "who" in link:  # to whom consent is shown, so that nobody learns which ids are known
        late.send(late.page.form(), agree="yes")
    assert late.status == 503 and "The study is full" in late.page.text
    assert not late.page.forms and ("who" not in link or "https://x.org/full?new" in late.page.links)
    elsewhere = joined(made.app, "/join?who=first")
    assert elsewhere.address == "/rate/1"
    assert "1 of 1 raters wanted: nobody new is admitted." in run("admin", "status", made.folder)


@pytest.mark.slow
def test_who_consented_in_time_and_begins_too_late_finds_no_place_and_gets_one_when_there_is(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(with_entry(BACK) + "[limits]\nraters = 1\n")
    slow, quick = Browser(made.app), Browser(made.app)
    slow.get("/join?who=slow")
    slow.send(slow.page.form(), agree="yes")
    form = slow.page.form()
    quick.join("/join?who=quick")
    slow.send(form)
    assert slow.address == "/no-place" and "https://x.org/full?slow" in slow.page.links
    said = run("admin", "status", made.folder)
    assert "2 raters: 1 at work and 1 consented and found no place." in said
    assert "Ended otherwise than completed: 1 full." in said
    people = people_table(made.store, Study.load(made.folder))
    assert people["outcome"].tolist() == ["full", ""], "nobody takes them for somebody at work"
    run("forget", made.folder, people_table(made.store, Study.load(made.folder))["rater_id"][1], "--yes")
    slow.get("/no-place")
    assert slow.address == "/instructions"
    slow.send(slow.page.form())
    assert slow.address == "/rate/1"
    assert "1 rater: 1 at work." in run("admin", "status", made.folder)
    assert people_table(made.store, Study.load(made.folder))["outcome"].tolist() == [""]


@pytest.mark.slow
def test_who_consents_and_begins_after_the_deadline_is_not_taken_for_somebody_at_work(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.time
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock() + 3600))
    made = make_local(with_entry(BACK) + f"[limits]\ndeadline = {at}\n")
    slow = Browser(made.app)
    slow.get("/join?who=slow")
    slow.send(slow.page.form(), agree="yes")
    assert "1 rater: 1 consented and not begun." in run("admin", "status", made.folder)
    monkeypatch.setattr(time, "time", lambda: clock() + 7200)
    slow.send(slow.page.form())
    assert slow.address == "/no-place" and "https://x.org/closed?slow" in slow.page.links
    assert "1 rater: 1 consented and found no place." in run("admin", "status", made.folder)
    assert people_table(made.store, Study.load(made.folder))["outcome"].tolist() == ["closed"]


@pytest.mark.slow
@pytest.mark.parametrize("places", ["[limits]\nraters = 1\n", '[[groups]]\nname = "all"\nquota = 1\n'])
def test_who_failed_the_checks_holds_no_place_and_who_passed_does(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, places: str
) -> None:
    """A researcher who wants one rater wants one whose ratings can be used."""
    made = make_study(
        with_entry(CROWD + "failed_checks_allowed = 0\n") + CHECK + places, base_queries=1, unique_queries=1, results=1
    )
    monkeypatch.setenv("DATABASE_URL", made.store.url.render_as_string(hide_password=False))
    careless = joined(made.app, "/join?who=careless")
    late = Browser(made.app)
    late.get("/join?who=late")
    late.send(late.page.form(), agree="yes")
    assert late.status == 503, "while the first is at work"
    careless.rate_all(lambda name, number: "1")
    assert careless.address == "/thanks" and "Your completion code" not in careless.page.text
    careful = joined(made.app, "/join?who=careful")
    assert careful.address == "/rate/1"
    said = run("admin", "status", made.folder)
    if "limits" in places:
        assert "1 of 1 raters wanted (besides 1 who failed the attention checks and hold no place): nobody new" in said
    else:
        assert re.search(r"group +finished +at work +failed checks +quota +blocks\s+all +0 +1 +1 +1 ", said), said
    careful.rate_all(lambda name, number: "5")
    assert careful.address == "/thanks"
    late.get("/join?who=late")
    late.send(late.page.form(), agree="yes")
    assert late.status == 503, "who passed has the place for good"
    set_password(made.folder, "a long password")
    owner = Browser(made.app)
    owner.log_in("a long password")
    words = "Besides these, 1 failed the attention checks" if "limits" in places else "Failed checks"
    assert words in owner.get("/admin/").text


@pytest.mark.slow
def test_after_the_deadline_who_is_at_work_finishes_the_page_and_newcomers_are_closed_out(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.time
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock() + 3600))
    made = make_local(with_entry(BACK) + f"[limits]\ndeadline = {at}\n")
    at_work, waiting = Browser(made.app), Browser(made.app)
    at_work.join("/join?who=p")
    waiting.get("/join?who=q")
    assert at[:10] in run("admin", "status", made.folder)
    monkeypatch.setattr(time, "time", lambda: clock() + 7200)
    at_work.rate()
    assert at_work.address == "/thanks" and made.rows() == 4
    assert "Your completion code" in at_work.page.text and "Rate some more" not in at_work.page.text
    waiting.send(waiting.page.form(), agree="yes")
    assert waiting.status == 503 and "https://x.org/closed?q" in waiting.page.links
    assert "passed; nobody new is admitted, and nothing is assigned" in run("admin", "status", made.folder)


@pytest.mark.slow
def test_with_as_many_ratings_as_wanted_every_page_at_hand_is_still_taken(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML + "[limits]\nratings = 8\n")
    people = [Browser(made.app) for _ in range(3)]
    for person in people:
        person.join()
    for person in people:
        person.rate()
        assert person.address == ("/rate/2" if person is people[0] else "/thanks")
    assert made.rows() == 12, "over by the page that the last one had at hand"
    people[0].rate()
    assert people[0].address == "/thanks" and made.rows() == 16


@pytest.mark.slow
def test_answers_links_and_balance_lead_into_groups(make_local: Callable[..., Made]) -> None:
    made = make_local(
        with_entry('rules = ["open", "crowd", "personal"]\nid_parameter = "who"\ngroup_parameter = "g"\n') + GROUPS
    )
    invited = re.search(r"/enter/\S+", run("admin", "invite", made.folder, "-n", "1", "--group", "others"))[0]  # type: ignore[index]
    for link, job, address in (
        ("/", "Nurse", "/rate/1"),
        ("/", "nurse", "/no-place"),
        ("/", "cook", "/rate/1"),
        ("/join?who=p&g=others", "nurse", "/rate/1"),
        ("/?g=others", "nurse", "/rate/1"),
        (invited, "nurse", "/rate/1"),
    ):
        browser = Browser(made.app)
        browser.get(link)
        browser.send(browser.page.form(), agree="yes")
        browser.send(browser.page.form(), **{"question-job": job})
        browser.send(browser.page.form())
        assert browser.address == address, (link, job)
    browser.rate_all()
    study = Study.load(made.folder)
    assert set(ratings_table(made.store, study)["group"]) == {"others"}, "the group of the one who rated"
    people = people_table(made.store, study)
    groups = people["group"].tolist()
    assert sorted(groups) == ["", "nurses", *["others"] * 4]
    assert re.search(r"nurses +1 +1 +base, unique", run("admin", "status", made.folder, "--raters").replace("0", " "))
    browser = Browser(made.app)
    browser.get("/?g=nobody")
    assert browser.status == 404


def test_an_unknown_group_is_invited_by_nobody(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML + GROUPS)
    done = relstudy("admin", "invite", made.folder, "-n", "1", "--group", "x")
    assert done.exit_code and "there is no group 'x' in this study; its groups: nurses, others" in done.output
