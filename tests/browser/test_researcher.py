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
    page.clock.install()
    log_in(page, served.base)
    ratings = page.locator(".tile dd").first
    before = int(ratings.inner_text().split()[0])

    def later() -> None:
        served.app.extensions.pop("relstudy-figures", None)
        page.clock.run_for(11_000)

    rate_by_http(served, 4, lambda number, values: values[0])
    later()
    expect(ratings).not_to_contain_text(f"{before} ")
    now = int(ratings.inner_text().split()[0])
    assert now > before
    page.get_by_label("Keep up to date").uncheck()
    rate_by_http(served, 4, lambda number, values: values[0])
    later()
    page.wait_for_timeout(300)
    assert int(ratings.inner_text().split()[0]) == now


def test_closing_asks_first_and_a_closed_study_can_be_reopened(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    page = new_page()
    log_in(page, served.base)
    badge = page.locator("[data-live=state]")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Close").click()
    expect(badge).to_have_text("open")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Close").click()
    expect(badge).to_have_text("closed")
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
