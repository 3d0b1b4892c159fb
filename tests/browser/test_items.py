"""Items of every kind in a real browser: nothing of a hostile one runs or loads, nothing moves, keys and axe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from relstudy.studyapp.monitoring.export import ratings_table
from tests.browser.sessions import Served, serve
from tests.studyapp.items import TOML, write_items, write_sound
from tests.studyapp.web.rater.test_items import HOSTILE

ServeItems = Callable[..., Served]
MARKED = TOML.replace("not_shown = true", 'not_shown = true\nhighlight = "query"')
FOREIGN = "main :is(svg, iframe, object, style, [onclick], a[href^=http])"
FIXED = """() => [...document.querySelectorAll("main [data-item] *")]
  .filter((each) => ["fixed", "sticky"].includes(getComputedStyle(each).position)).map((each) => each.outerHTML)"""
SHIFTS = """() => {
  window.moved = 0;
  window.movers = [];
  if (window.watching) window.watching.disconnect();  // the script stays from page to page, and so would this
  window.watching = new PerformanceObserver((list) => { for (const each of list.getEntries()) {
      if (each.hadRecentInput) continue;  // what a key has changed is not a shift
      window.moved += each.value;
      window.movers.push(...each.sources.map((source) => source.node && (source.node.outerHTML || source.node.data)));
    }
  });
  window.watching.observe({ type: "layout-shift", buffered: true });
}"""


@pytest.fixture
def serve_items(tmp_path: Path) -> Iterator[ServeItems]:
    """Serve a study of items of every kind: `serve_items(toml, hostile)`."""
    with ExitStack() as stack:

        def start(toml: str = TOML, hostile: str = "", *, sound: float = 0.5) -> Served:
            folder = write_items(tmp_path / "study", toml, hostile)
            write_sound(folder / "media" / "sea.wav", sound)
            return stack.enter_context(serve(folder))

        yield start


def begin(page: Page, served: Served) -> None:
    page.goto(served.link())
    page.get_by_role("checkbox").check()
    for _ in range(2):
        page.locator("form button.primary").click()
    page.wait_for_url("**/rate/1")


def on_pages(page: Page, look: Callable[[int], None]) -> None:
    """Go through the study, two results on a page."""
    for number in range(1, 5):
        page.wait_for_url(f"**/rate/{number}")
        page.wait_for_load_state("networkidle")
        look(number)
        page.keyboard.press("4")
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    page.wait_for_url("**/thanks")


def test_nothing_of_hostile_items_runs_or_loads(serve_items: ServeItems, new_page: Callable[..., Page]) -> None:
    served = serve_items(
        TOML.replace("not_shown = true", 'not_shown = true\nhighlight = "query"'), "\n\n".join(HOSTILE)
    )
    page = new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.on("popup", lambda popup: pytest.fail("a window was opened"))
    begin(page, served)
    forms: list[int] = []

    def look(number: int) -> None:
        forms.append(page.locator("form").count())
        assert (
            page.locator("main svg, main iframe, main object, main style, main [onclick], main a[href^=http]").count()
            == 0
        )
        box = page.locator("form.rating").bounding_box()
        assert box is not None and box["width"] > 300 and page.locator("main h1").count() == 1
        assert page.evaluate(FIXED) == []

    on_pages(page, look)
    foreign = [url for url in asked if not url.startswith(served.base)]
    assert not foreign and set(forms) == {1}
    table = ratings_table(served.store, served.study)
    assert sorted(table["rating"]) == [3.0] * 4 + [4.0] * 4  # what the rater chose, and nothing that a form sent


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_of_items_stand_still_fit_and_are_accessible(
    serve_items: ServeItems, new_page: Callable[..., Page], width: int, scheme: Any
) -> None:
    served = serve_items(MARKED)
    page = new_page(width, 800, color_scheme=scheme)
    ahead, before = set[str](), list[set[str]]()  # media asked for so far, and by the end of each page
    page.on("request", lambda request: ahead.add(request.url) if request.resource_type == "media" else None)
    begin(page, served)

    def look(number: int) -> None:
        if number == 1:
            page.reload()
        played = page.locator("[data-media]").all()
        assert number == 1 or {f"{served.base}{each.get_attribute('src')}" for each in played} <= before[-1]
        page.evaluate(SHIFTS)
        page.wait_for_timeout(150)
        assert page.evaluate("window.moved") < 0.01, page.evaluate("window.movers")  # a tenth of what is called good
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
        assert found.violations_count == 0, found.generate_report()
        before.append(set(ahead))

    on_pages(page, look)


def test_a_long_text_scrolls_in_its_own_column_by_keyboard(
    serve_items: ServeItems, new_page: Callable[..., Page]
) -> None:
    page = new_page()
    begin(page, serve_items())
    for _ in range(4):
        column = page.locator("[data-scroll]")
        if column.count():
            break
        page.keyboard.press("4")
        page.keyboard.press("3")
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
    column.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('[data-scroll]').scrollTop > 100")
    assert page.evaluate("document.activeElement.hasAttribute('data-scroll')")
    box = page.locator(".result:has([data-scroll]) fieldset.scale").bounding_box()
    assert box is not None and box["y"] < 900  # its scale stays in sight


def test_a_sound_has_to_be_played_to_its_end_where_the_study_asks_for_that(
    serve_items: ServeItems, new_page: Callable[..., Page]
) -> None:
    page = new_page()
    begin(page, serve_items(TOML.replace("not_shown = true", 'not_shown = true\nplayed = "once"')))
    for _ in range(4):
        if page.locator("audio").count():
            break
        page.keyboard.press("4")
        page.keyboard.press("3")
        page.keyboard.press("Enter")  # a film that cannot be played asks for nothing: no dead end
        page.wait_for_timeout(500)
    before = page.url
    page.keyboard.press("4")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Please play every sound and film to its end first.")
    page.locator("audio").evaluate("audio => audio.play()")
    page.wait_for_function("() => 'done' in document.querySelector('audio').dataset")
    page.locator("form button.primary").click()
    page.wait_for_function("before => location.href !== before", arg=before)
