"""A study to look at in headless Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import CHROMIUM, FLAGS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def launch_at(playwright: Any) -> Callable[[Path], Any]:
    """Start a browser that keeps what it knows in a folder, as one at home does."""

    def launch(folder: Path) -> Any:
        return playwright.chromium.launch_persistent_context(str(folder), executable_path=CHROMIUM, args=FLAGS)

    return launch


def watch(page: Any, complaints: list[str]) -> None:
    """Note what the browser complains of: script errors, and everything that the content security policy stops."""
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text)
            if "Content Security Policy" in message.text or "Uncaught" in message.text
            else None
        ),
    )


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A page in a fresh browser: `new_page(width, height, javascript=False, ...)`. It must not complain."""
    complaints: list[str] = []
    contexts = []

    def make(width: int = 1280, height: int = 900, *, javascript: bool = True, **options: Any) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, java_script_enabled=javascript, **options
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        watch(page, complaints)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def serve_study(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Serve a small study: `serve_study(toml, busy_seconds=...)`."""
    from tests.browser.sessions import MIXED, serve, write_study

    with ExitStack() as stack:

        def start(toml: str = MIXED, *, busy_seconds: float = 5.0, **sizes: int) -> Any:
            folder = write_study(tmp_path / "study", toml, **sizes)
            return stack.enter_context(serve(folder, busy_seconds=busy_seconds))

        yield start


@pytest.fixture
def take_seat(serve_study: Callable[..., Any], new_page: Callable[..., Any]) -> Callable[..., Any]:
    """Put a rater in front of the first page of a study: `take_seat(toml, still=True, javascript=False, width=360)`.

    `still` stops the page's clock, so that nothing it does later is done before the test says so.
    """
    from tests.browser.sessions import PLAIN, Rater, Seat

    def start(toml: str = PLAIN, *, busy_seconds: float = 5.0, still: bool = False, **options: Any) -> Any:
        served = serve_study(toml, busy_seconds=busy_seconds)
        page = new_page(**options)
        if still:
            page.clock.install(time=0)
        seat = Seat(served, Rater(page, served.names), served.link())
        seat.rater.enter(seat.link)
        if still:
            page.clock.pause_at(3_600_000)
        return seat

    return start


@pytest.fixture
def rated_study(serve_study: Callable[..., Any]) -> Callable[[], Any]:
    """A served study in which a few people have rated, one is half through, and one was only invited."""
    from tests.browser.sessions import rate_by_http

    def start() -> Any:
        served = serve_study()
        for person, (pages, shift) in enumerate([(99, 0), (99, 1), (99, 2), (12, 0), (0, 0)]):
            rate_by_http(
                served,
                pages,
                lambda number, values, lean=shift, who=person: values[(number + lean + who) % len(values)],
            )
        return served

    return start
