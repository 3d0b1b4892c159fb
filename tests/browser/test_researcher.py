"""The researcher in front of the admin pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.sessions import log_in, rate_by_http


def test_the_overview_keeps_itself_up_to_date_until_told_not_to(
    rated_study: Callable[[], Any], new_page: Callable[..., Page]
) -> None:
    served = rated_study()
    page = new_page()
    page.clock.install(time=0)
    log_in(page, served.base)
    page.clock.pause_at(3_600_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(served.base)))
    ratings = page.locator(".tile dd").first
    before = int(ratings.inner_text().split()[0])

    def eleven_seconds_on() -> list[str]:
        """What the page asks for by itself in that time."""
        asked.clear()
        served.app.extensions.pop("relstudy-figures", None)
        page.clock.run_for(11_000)
        page.evaluate("fetch('/health').then(() => null)")  # by then, whatever the page asked for before was seen
        return [address for address in asked if address != "/health"]

    rate_by_http(served, 4, lambda number, values: values[0])
    assert eleven_seconds_on() == ["/admin/"]
    expect(ratings).not_to_contain_text(f"{before} ")
    now = int(ratings.inner_text().split()[0])
    assert now > before
    page.get_by_label("Keep up to date").uncheck()
    assert eleven_seconds_on() == []


def test_closing_asks_first_and_a_closed_study_can_be_reopened(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    page = new_page()
    log_in(page, served.base)
    badge = page.locator("[data-live=state]")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Close").click()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Close").click()
    expect(badge).to_have_text("closed")
    assert len(sent) == 1, "nothing was sent when the question was answered with no"
    page.get_by_role("button", name="Reopen").click()
    expect(badge).to_have_text("open")


def test_new_links_can_be_copied_at_once(serve_study: Callable[..., Any], new_page: Callable[..., Page]) -> None:
    served = serve_study()
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    log_in(page, served.base)
    page.get_by_role("link", name="Invite").click()
    page.locator("#count").fill("3")
    page.get_by_role("button", name="Make links").click()
    page.get_by_role("button", name="Copy all").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").strip().splitlines()
    assert len(copied) == 3
    rater, link, code = copied[0].split(",")
    assert (len(rater), len(code)) == (8, 8)
    page.goto(link)
    expect(page.locator("h1")).to_have_text("Taking part")
