"""Fixtures for every test: real data where it is, and the reason where it is not."""

from __future__ import annotations

import gc
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from werkzeug.security import generate_password_hash

from relstudy.common.charts.figures import RC
from tests.chromium import chromium as chromium
from tests.chromium import playwright as playwright
from tests.places import ROOT, Write

IN_CI = os.environ.get("CI", "").lower() == "true"

# The gate draws the same examples every time; elsewhere Hypothesis goes on searching.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile("ci" if IN_CI else "search")

SLOW_EXAMPLES = (
    *(
        "mapping.OgiveMapping",
        "planning.plan",
        "planning.Plan.plot",
        "joining.JoinedJudgments.plot",
        "hashing.api.look_up",
    ),
    *("compiling.compile_scoring", "preferences.read_preferences", "comparing.preferences"),
    "comparing.Preferences.plot",
)
"""Docstrings' examples that take seconds, which cannot bear the mark `slow` themselves."""

NEEDED_IN_CI = ("browser", "postgresql", "real_data")

_passed: Counter[str] = Counter()
_skipped: list[str] = []


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real ratings, runs and hashes beside the project; absent, the test is skipped (in CI: fails)."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        message = "needs the real data in ../shared/data, which is not here"
        if IN_CI:
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of the test's: `write(text, name)`."""

    def written(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.fixture(autouse=True)
def pictures_as_they_come(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests of what a picture looks like have it laid out, which takes twice as long as drawing it."""
    if request.node.get_closest_marker("laid_out") is None:
        monkeypatch.setitem(RC, "figure.constrained_layout.use", False)


class OnlyModulesWithExamples:
    """A module without an example is not imported to look for one, and tests have none.

    Without it every collection would import PyMC and much else that no quick test needs.
    """

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        is_module = collection_path.suffix == ".py" and not collection_path.is_relative_to(ROOT / "tests")
        return True if is_module and b">>>" not in collection_path.read_bytes() else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OnlyModulesWithExamples())
    os.nice = lambda step: 0  # a command that gives way to others would do so for all tests after it, too
    # a hash that takes as long as one should would be waited for at each of a thousand passwords
    generate_password_hash.__defaults__ = ("pbkdf2:sha256:1000", 16)
    os.setpriority = lambda *_: None  # and what gives way to tests waits for all of them


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not look at it after each test."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a whole demo come first, in the worker that has made it.

    Left to the end, they were taken over by the workers that had nothing else to do, and each made a demo of its own.
    """
    items.sort(key=lambda item: not item.nodeid.startswith("tests/end_to_end/"))
    for item in items:
        if item.nodeid.endswith(SLOW_EXAMPLES):
            item.add_marker(pytest.mark.slow)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    needed = [marker for marker in NEEDED_IN_CI if marker in report.keywords]
    if report.when == "call" and report.passed:
        _passed.update(needed)
    if report.skipped and needed:
        _skipped.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a whole run fails when a kind of test that must run did not run, or any of that kind was skipped."""
    is_worker = hasattr(session.config, "workerinput")
    is_whole = not session.config.option.keyword and not session.config.option.markexpr and not _selected(session)
    if not IN_CI or is_worker or not is_whole:
        return
    absent = [marker for marker in NEEDED_IN_CI if not _passed[marker]]
    if absent or _skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nCI must run every kind of test. Passed none of: {absent or 'none'}; skipped: {_skipped or 'none'}")


def _selected(session: pytest.Session) -> bool:
    return session.config.args != session.config.getini("testpaths")
