"""axe-core finds nothing against WCAG 2.2 AA on any page, light or dark, wide or narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from relstudy.studyapp.assignment.enrolment import code
from relstudy.studyapp.assignment.next_page import Step
from relstudy.studyapp.config.accounts import invite_account
from relstudy.studyapp.database.attempts import Limit
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.monitoring.traces import go_on_deleting
from relstudy.studyapp.web.rater import ending
from tests.browser.sessions import PASSWORD, PLAIN, Rater, log_in
from tests.studyapp.browse import Browser, joined
from tests.studyapp.web.admin.provider import Provider

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
LOOKS = {"light": (1280, 900), "dark": (360, 740)}


def faults(page: Page) -> list[str]:
    """What axe-core finds, with the elements it means."""
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{page.url} {fault['id']} ({fault['impact']}): {[node['html'][:160] for node in fault['nodes'][:3]]}"
        for fault in found["violations"]
    ]


class Tour:
    """Goes from page to page and collects what axe-core finds on each."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: list[str] = []
        self.seen: list[str] = []

    def look(self, name: str) -> None:
        self.seen.append(name)
        self.found += [f"{name}: {fault}" for fault in faults(self.page)]
        if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.found.append(f"{name}: wider than the window")


@pytest.fixture(params=LOOKS.items(), ids=LOOKS)
def tour(new_page: Callable[..., Page], request: pytest.FixtureRequest) -> Iterator[Tour]:
    """A tour in each look, on which nothing may be found."""
    scheme, size = request.param
    tour = Tour(new_page(*size, reduced_motion="reduce", color_scheme=scheme))
    yield tour
    assert not tour.found


def test_no_rater_page_has_a_barrier(
    serve_study: Callable[..., Any], tour: Tour, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_study()
    page = tour.page
    rater = Rater(page, served.names)
    # As if others had all that is left: here the page is looked at; when it comes is seen in test_pool.
    monkeypatch.setattr(ending, "next_step", lambda visit, **_: Step("wait"))
    page.goto(f"{served.base}/enter/{code(20)}")
    tour.look("refused link")
    page.goto(served.base)
    tour.look("passphrase")
    page.locator("#passphrase").fill("wrong one")
    page.get_by_role("checkbox").check()
    page.locator("form button.primary").click()
    page.get_by_role("alert").wait_for()
    tour.look("wrong passphrase")
    page.locator("#passphrase").fill("open sesame")
    page.get_by_role("checkbox").check()
    rater.send()
    tour.look("instructions")
    rater.send()
    tour.look("practice")
    rater.click("1")
    rater.send()
    tour.look("feedback")
    page.locator("[data-go]").click()
    page.wait_for_url("**/rate/*")
    for name, address in (("wait", f"{served.base}/wait"), ("another's link", served.link())):
        page.goto(address)
        tour.look(name)
        page.locator("a.button.primary").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/rate/*")
    monkeypatch.undo()
    scales = set()
    while not page.url.endswith("/questions"):
        top = rater.pairs()[0][2]
        if top not in scales:
            scales.add(top)
            tour.look(f"rating up to {top}")
        if top == "5" and "lacking" not in tour.seen:
            page.locator("form button.primary").click()
            page.get_by_role("alert").wait_for()
            tour.look("lacking")
            page.locator("[data-enlarge]").first.click()
            tour.look("enlarged")
            page.keyboard.press("Escape")
        rater.click(*["1"] * len(rater.pairs()))
        rater.send()
    tour.look("questions")
    page.get_by_text("easy").click()
    rater.send()
    tour.look("thanks")
    served.app.extensions["relstudy"].set_state("closed")
    page.context.clear_cookies()
    page.goto(f"{served.base}/consent")
    tour.look("closed")
    served.app.extensions["relstudy"].set_state("open")
    page.goto(served.base)
    page.get_by_role("button", name="do not want").press("Enter")
    page.wait_for_url("**/ended")
    tour.look("declined")
    assert {"rating up to 1", "rating up to 5", "rating up to 9"} <= set(tour.seen)


ENTRY = """
[study]
id = "entry"
title = "The way in and out"
withdrawal = "keep"
[entry]
rules = ["crowd"]
id_parameter = "who"
[entry.outcomes]
screened_out = "https://platform.example/no"
[[screening]]
id = "age"
text = "How old are you?"
kind = "number"
least = 18
[[groups]]
name = "everyone"
quota = 1
[limits]
raters = 1
[qualification]
pass_mark = 1
attempts = 2
[[blocks]]
pairs = "base"
[[practice]]
query_id = "q0"
result_id = "q0"
expected = [5]
"""


def test_no_page_on_the_way_in_or_out_has_a_barrier(serve_study: Callable[..., Any], tour: Tour) -> None:
    served = serve_study(ENTRY)
    page = tour.page

    def arrive(who: str, age: str) -> None:
        page.goto(f"{served.base}/join?who={who}")
        page.get_by_role("checkbox").press("Space")
        page.get_by_role("button", name="Continue").press("Enter")
        page.wait_for_url("**/screening")
        page.get_by_label("How old").press_sequentially(age)
        tour.look(f"screening at {age}")
        page.get_by_role("button", name="Continue").press("Enter")

    arrive("p", "17")
    page.wait_for_url("**/ended")
    tour.look("screened out")
    assert page.get_by_role("link", name="Finish").get_attribute("href") == "https://platform.example/no"
    arrive("q", "18")
    page.wait_for_url("**/instructions")
    tour.look("how to qualify")
    page.get_by_role("link", name="Withdraw").press("Enter")
    page.wait_for_url("**/withdraw")
    tour.look("withdraw")
    page.get_by_role("link", name="Stay").press("Enter")
    page.wait_for_url("**/instructions")
    page.get_by_role("button", name="Start").press("Enter")
    for end in ("**/again", "**/ended"):
        page.wait_for_url("**/rate/1")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_url("**/practice/1" if end == "**/again" else end)
        if end == "**/again":
            page.keyboard.press("Enter")
            page.wait_for_url(end)
            tour.look("again")
            page.get_by_role("button", name="Begin again").press("Enter")
    tour.look("practice not passed")
    log_in(page, served.base)
    tour.look("groups and limits")
    page.goto(f"{served.base}/admin/raters")
    tour.look("raters with outcomes")


LEFT = """
[study]
id = "left"
title = "What is left"
[entry]
rules = ["crowd"]
id_parameter = "who"
failed_checks_allowed = 0
[[groups]]
name = "everyone"
quota = 1
[limits]
raters = 1
[[blocks]]
name = "pictures"
pairs = "base"
paradigm = "image"
[[attention]]
block = "pictures"
query_id = "q0"
result_id = "q1"
expected = [5]
"""


def test_what_is_said_of_the_forgotten_and_of_places_has_no_barrier_and_needs_no_mouse(
    serve_study: Callable[..., Any], tour: Tour
) -> None:
    served = serve_study(LEFT)
    slow, careless = Browser(served.app), Browser(served.app)
    slow.get("/join?who=slow")
    slow.send(slow.page.form(), agree="yes")
    careless.join("/join?who=careless")
    careless.rate_all(lambda name, number: "1")
    joined(served.app, "/join?who=careful")
    slow.send(slow.page.form())
    code = study_status(served.store, served.study).people[1].rater_id
    served.export()
    for name, text in (("bonuses.csv", "careless,1.50\n"), ("dump.pgdump", "PGDMP")):
        (served.folder / name).write_text(text, encoding="utf-8")
    page = tour.page
    log_in(page, served.base)
    expect(page.get_by_text("Besides these, 1 failed the attention checks")).to_be_visible()
    expect(page.get_by_text("1 found no place")).to_be_visible()
    tour.look("overview")
    page.goto(f"{served.base}/admin/raters")
    expect(page.get_by_role("cell", name="found no place")).to_be_visible()
    with served.store.read() as connection:
        connection.execute(sa.select(raters.c.id)).all()  # as a database browser reads for long
        page.get_by_role("link", name=f"Erase {code}").press("Enter")
        page.get_by_role("button", name="Remove").press("Enter")
        page.wait_for_url("**/admin/raters")
        expect(page.get_by_text("In the database's own files")).to_be_visible()
        tour.look("still readable")
    go_on_deleting(served.folder, served.store, served.app.extensions["relstudy"].gone)
    page.reload()
    left = page.get_by_role("listitem").filter(has_text="until you delete")
    expect(left).to_have_count(2)
    expect(page.get_by_text("dump.pgdump cannot be looked into")).to_be_visible()
    expect(page.get_by_text("In the database's own files")).to_have_count(0)
    tour.look("left in files")
    for path in (served.folder / "out" / "ratings.csv", served.folder / "bonuses.csv", served.folder / "dump.pgdump"):
        path.unlink()
    page.reload()
    expect(page.get_by_text("Nothing of them is left")).to_be_visible()
    tour.look("nothing left")


def test_who_is_asked_to_send_the_passphrase_again_can_do_so_by_keyboard(
    serve_study: Callable[..., Any], tour: Tour, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve_study()
    page = tour.page
    monkeypatch.setattr(Limit, "take_turn", lambda *_: None)
    page.goto(f"{served.base}/consent")
    page.get_by_role("checkbox").press("Space")
    page.get_by_label("Passphrase").press_sequentially("open sesame")
    page.get_by_label("Passphrase").press("Enter")
    expect(page.get_by_text("send it again in a few seconds")).to_be_visible()
    tour.look("not looked at")
    monkeypatch.undo()
    page.get_by_label("Passphrase").press("Enter")  # what was typed is still there
    page.wait_for_url("**/instructions")


def test_no_admin_page_has_a_barrier(rated_study: Callable[[], Any], tour: Tour) -> None:
    served = rated_study()
    page = tour.page
    page.goto(f"{served.base}/admin/login")
    tour.look("password")
    log_in(page, served.base)
    assert page.locator("svg.chart[role=img]").count() >= 6
    tour.look("overview")
    page.locator("summary").first.click()
    tour.look("overview with figures")
    for name in ("answer", "raters", "handout", "invite", "export"):
        page.goto(f"{served.base}/admin/{name}")
        tour.look(name)
    page.goto(f"{served.base}/admin/invite")
    page.locator("#count").fill("3")
    page.get_by_role("button", name="Make links").click()
    page.get_by_role("status").wait_for()
    tour.look("links")
    page.goto(f"{served.base}/admin/raters")
    for name in ("set-aside", "forget"):
        page.goto(f"{served.base}/admin/raters")
        page.locator(f"a.button[href*='/{name}/']").first.click()
        page.wait_for_url(f"**/{name}/*")
        tour.look(name)
    for name in ("", "consent", "block-1", "wait", "completed", "closed"):
        page.goto(f"{served.base}/preview/{name}")
        tour.look(f"preview {name}")


def test_axe_would_have_found_a_barrier(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.set_content("<html lang=en><title>x</title><main><h1>x</h1><img src='data:,'><input></main>")
    assert {fault.split()[1] for fault in faults(page)} >= {"image-alt", "label"}


def test_no_page_of_a_researcher_with_an_account_has_a_barrier_and_all_go_by_keyboard(
    serve_study: Callable[..., Any], tour: Tour
) -> None:
    served = serve_study(PLAIN)
    page = tour.page
    token = invite_account(served.folder, "a.viewer@example.org", "viewer")
    page.goto(f"{served.base}/admin/setup/{token}")
    tour.look("own password")
    page.get_by_label("Choose a password").press_sequentially("staple of a barn")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/")
    for name in ("", "raters", "invite", "export"):
        page.goto(f"{served.base}/admin/{name}")
        tour.look(f"viewer's {name}")
    page.goto(f"{served.base}/admin/log")
    tour.look("not for this role")
    page.goto(f"{served.base}/admin/")
    page.get_by_role("button", name="Log out").press("Enter")
    page.wait_for_url("**/admin/login")
    tour.look("login by name")
    page.get_by_label("Name").press_sequentially("nobody")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong password")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    tour.look("wrong password")
    page.get_by_label("Name").fill("")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/")
    page.goto(f"{served.base}/admin/log")
    assert "a.viewer@example.org" in page.inner_text("table")
    tour.look("log")


def test_no_page_of_a_sign_on_has_a_barrier_and_all_go_by_keyboard(serve_study: Callable[..., Any], tour: Tour) -> None:
    provider = Provider()
    head = PLAIN.replace("[study]\n", '[study]\nurl = "http://localhost"\n', 1)
    served = serve_study(
        f'{head}\n[sso]\nissuer = "{provider.issuer}"\nclient_id = "relstudy"\nallow = ["anna@example.org"]\n'
        'label = "Example University of Applied Sciences"\n'
    )
    served.app.extensions["relstudy"].sign_on.back = f"{served.base}/admin/sso/back"  # whose port was not known
    page = tour.page
    try:
        page.goto(f"{served.base}/admin/login")
        tour.look("login")
        link = page.get_by_role("link", name="Sign on with Example University of Applied Sciences")
        while not link.evaluate("link => link === document.activeElement"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/admin/")
        assert "anna@example.org" in page.inner_text("nav")
        tour.look("overview")
        page.get_by_role("button", name="Log out").press("Enter")
        page.get_by_role("link", name="Log out there too").wait_for()
        tour.look("logged out")
        provider.email = "ben@example.org"
        page.goto(f"{served.base}/admin/sso")
        page.get_by_role("link", name="Begin again").wait_for()
        assert "may not look at this study" in page.inner_text("main")
        tour.look("refused")
    finally:
        provider.stop()
