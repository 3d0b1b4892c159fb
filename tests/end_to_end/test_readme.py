"""The README's own command blocks, run as a newcomer would run them, in a clone that has been set up."""

from __future__ import annotations

import re
import shlex
import time
import urllib.request

import pytest
from click.testing import CliRunner

from relstudy.studyapp.cli import main
from tests.docs.plans import in_seconds
from tests.end_to_end.conftest import BLOCKS, README, Demo, command_lines
from tests.places import ROOT

pytestmark = [pytest.mark.server, pytest.mark.laid_out]


def test_the_first_two_blocks_are_the_demo_and_the_tests_and_ci_runs_the_second() -> None:
    demo, test = (command_lines(block) for block in BLOCKS[:2])
    assert demo == [["sh", "run", "demo"]]
    assert test == [["sh", "run", "test"]]
    assert "\nsh run test\n" in (ROOT / ".ci" / "run").read_text()


def test_every_linked_file_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_serves_app_and_report_and_ctrl_c_ends_it_cleanly(demo: Demo) -> None:
    assert demo.health == {"status": "ok"}
    assert "Which pictures match?" in demo.pages["The app"]
    assert "Recovered against true" in demo.pages["The report"]
    assert "keywords" in demo.pages["The report"]
    assert demo.code == 0, demo.output
    assert "Stopped." in demo.output
    assert _stops_answering(demo.addresses["The app"] + "health")


def test_the_demo_names_each_stage_and_what_it_recovered(demo: Demo) -> None:
    count = 11
    for number in range(1, count + 1):
        assert f"[{number}/{count}]" in demo.output
    table = demo.output.partition("Recovered against true")[2]
    assert "rater offsets: correlation" in table and "average precision" in table
    assert (demo.workplace / "demo" / "report" / "index.html").stat().st_size > 50_000


@pytest.mark.slow
def test_every_other_command_block_runs_on_what_the_demo_left(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: that the installed command starts is seen by the demo, and nine starts take half a minute."""
    monkeypatch.chdir(demo.workplace)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    lines = [line for block in BLOCKS[2:] for line in command_lines(block)]
    assert len(lines) > 5
    page = demo.workplace / "demo" / "report" / "index.html"
    before = page.stat().st_mtime_ns
    for line in lines:
        assert line[0] == "relstudy"
        result = CliRunner().invoke(main, in_seconds(line)[1:], prog_name="relstudy")
        assert result.exit_code == 0, f"{shlex.join(line)}\n{result.output}\n{result.exception!r}"
    assert (demo.workplace / "colour.html").read_text().lstrip().startswith("<!doctype html>")
    assert page.stat().st_mtime_ns > before
    assert "Recovered against true" in page.read_text(encoding="utf-8")


def _stops_answering(address: str, seconds: float = 30) -> bool:
    """Whether the address soon refuses: what served it may outlive the command by a moment."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            return True
        time.sleep(0.1)
    return False
