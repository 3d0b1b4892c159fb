"""The researcher in front of the admin pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.sessions import log_in, rate_by_http


class Overview:
    """The researcher's first page, whose clock stands still."""

    def __init__(self, served: Any, page: Page) -> None:
        self.served = served
        self.page = page
        page.clock.install(time=0)
        page.clock.pause_at(1)  # before the page is there: what a jump sets off would be taken for a later question
        log_in(page, served.base)
        self._asked: list[str] = []
        page.on("request", lambda request: self._asked.append(request.url.removeprefix(served.base)))

    def eleven_seconds_on(self) -> list[str]:
        """What the page asks for by itself in that time."""
        self._asked.clear()
        self.served.app.extensions.pop("relstudy-figures", None)
        self.page.clock.run_for(11_000)
        self.page.evaluate("fetch('/health').then(() => null)")  # by then, whatever was asked for before was seen
        return [address for address in self._asked if address != "/health"]


def test_the_overview_keeps_itself_up_to_date_until_told_not_to(
    rated_study: Callable[[], Any], new_page: Callable[..., Page]
) -> None:
    served = rated_study()
    page = new_page()
    overview = Overview(served, page)
    ratings = page.locator(".tile dd").first
    before = int(ratings.inner_text().split()[0])
    rate_by_http(served, 4, lambda number, values: values[0])
    assert overview.eleven_seconds_on() == ["/admin/"]
    expect(ratings).not_to_contain_text(f"{before} ")
    now = int(ratings.inner_text().split()[0])
    assert now > before
    served.app.extensions["relstudy"].set_state("closed")
    assert overview.eleven_seconds_on() == ["/admin/"]
    expect(page.locator(".head-row .badge")).to_have_text("closed")
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    page.get_by_label("Keep up to date").uncheck()
    assert overview.eleven_seconds_on() == []


def test_the_overview_never_changes_under_somebodys_hands_or_to_an_error_and_asks_nothing_out_of_sight(
    rated_study: Callable[[], Any], new_page: Callable[..., Page]
) -> None:
    served = rated_study()
    page = new_page()
    overview = Overview(served, page)
    figures = page.locator("[data-live=figures]")
    figures.locator("summary").first.click()
    page.evaluate("document.activeElement.blur()")
    assert overview.eleven_seconds_on() == [], "a table of figures is open"
    figures.locator("summary").first.click()
    assert overview.eleven_seconds_on() == [], "the focus is in the figures"
    page.evaluate("document.activeElement.blur()")
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    assert overview.eleven_seconds_on() == [], "nobody looks"
    page.evaluate("Object.defineProperty(document, 'hidden', { value: false })")
    page.evaluate(
        """() => {
            const seen = () => { window.broken ||= document.body.textContent.includes("out of order"); };
            new MutationObserver(seen).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    views = served.app.view_functions
    own = views["admin_overview.overview"]
    views["admin_overview.overview"] = lambda: ("<p data-live=figures>out of order</p>", 500)
    assert overview.eleven_seconds_on() == ["/admin/"]
    views["admin_overview.overview"] = own
    rate_by_http(served, 1, lambda number, values: values[0])
    before = page.locator(".tile dd").first.inner_text()
    assert overview.eleven_seconds_on() == ["/admin/"]
    expect(page.locator(".tile dd").first).not_to_have_text(before)
    assert not page.evaluate("window.broken")


def test_a_table_that_was_moved_stays_where_it_is_while_its_figures_change(
    rated_study: Callable[[], Any], new_page: Callable[..., Page]
) -> None:
    served = rated_study()
    page = new_page(360, 740)
    overview = Overview(served, page)
    table = page.get_by_role("region", name="Blocks")
    table.evaluate("box => { box.scrollLeft = 90; }")
    rate_by_http(served, 4, lambda number, values: values[0])
    before = page.locator(".tile dd").first.inner_text()
    assert overview.eleven_seconds_on() == ["/admin/"]
    expect(page.locator(".tile dd").first).not_to_have_text(before)
    assert table.evaluate("box => box.scrollLeft") == 90


def test_behind_every_chart_are_its_figures_as_a_table(
    rated_study: Callable[[], Any], new_page: Callable[..., Page]
) -> None:
    served = rated_study()
    page = new_page()
    log_in(page, served.base)
    charts = page.locator("section.panel:has(> svg.chart)")
    expect(charts).to_have_count(3)
    for chart in charts.all():
        name = chart.get_by_role("heading").inner_text()
        expect(chart.get_by_role("img", name=name).first).to_be_visible()
        chart.locator("summary").click()
        rows = chart.get_by_role("region", name=name).get_by_role("row")
        assert rows.count() > 1
        assert all(row.inner_text().strip() for row in rows.all())


def test_pausing_and_closing_ask_first_and_can_be_taken_back(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    page = new_page()
    log_in(page, served.base)
    badge = page.locator(".head-row .badge")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)

    def press(name: str, question: str) -> None:
        """Say no first, then yes."""
        before = len(sent)
        with page.expect_event("dialog") as asked:
            page.once("dialog", lambda dialog: dialog.dismiss())
            page.get_by_role("button", name=name).click()
        assert asked.value.message.startswith(question)
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name=name).click()
        expect(badge).to_have_text({"Pause": "paused", "Close": "closed"}[name])
        assert len(sent) == before + 1, "nothing was sent when the question was answered with no"

    def reopen() -> None:
        page.get_by_role("button", name="Reopen").click()
        expect(badge).to_have_text("open")

    press("Close", "Close the study?")
    reopen()
    press("Pause", "Pause the study?")
    reopen()
    press("Pause", "Pause the study?")
    press("Close", "Close the study?")
    reopen()


def test_new_links_can_be_copied_at_once(serve_study: Callable[..., Any], new_page: Callable[..., Page]) -> None:
    served = serve_study()
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    log_in(page, served.base)
    page.get_by_role("link", name="Raters").click()
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


def test_where_nothing_can_be_copied_the_links_are_marked_to_be_copied_by_hand(
    serve_study: Callable[..., Any], new_page: Callable[..., Page]
) -> None:
    served = serve_study()
    page = new_page()
    log_in(page, served.base)
    page.get_by_role("link", name="Raters").click()
    page.get_by_role("link", name="Invite").click()
    page.get_by_role("button", name="Make links").click()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # as by http
    page.get_by_role("button", name="Copy all").click()
    marked = "field => [field.selectionStart, field.selectionEnd, field === document.activeElement]"
    links = page.locator("#links")
    assert links.evaluate(marked) == [0, len(links.input_value()), True]
