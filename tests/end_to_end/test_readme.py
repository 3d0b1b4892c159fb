"""The README's own command blocks, run as a newcomer would run them, in a clone that has been set up."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.places import ROOT

pytestmark = pytest.mark.server

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)


def command_lines(block: str) -> list[list[str]]:
    return [shlex.split(line) for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def test_the_first_two_blocks_are_the_demo_and_the_tests_and_ci_runs_the_second() -> None:
    demo, test = (command_lines(block) for block in BLOCKS[:2])
    assert demo == [["sh", "run", "demo"]]
    assert test == [["sh", "run", "test"]]
    assert "\nsh run test\n" in (ROOT / ".ci" / "run").read_text()


def test_every_linked_file_is_there() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo that the first block leaves behind; the served pages are looked at, then stopped."""
    folder = tmp_path_factory.mktemp("newcomer")
    # The environment that runs the tests is set up already, so `run` goes straight to its last line.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with (folder / "out.txt").open("w") as out:
        server = subprocess.Popen(
            ["relstudy", *command_lines(BLOCKS[0])[0][2:], "--port", "0"],
            cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            addresses = _addresses(server, folder / "out.txt")
            pages = [urllib.request.urlopen(address, timeout=20).read().decode() for address in addresses]
        finally:
            os.killpg(server.pid, signal.SIGINT)
            code = server.wait(timeout=30)
    assert code == 0, (folder / "out.txt").read_text()
    assert len(pages) >= 2
    assert any("<title>" in page and "keywords" in page for page in pages)
    return folder


def _addresses(server: subprocess.Popen[bytes], out: Path) -> list[str]:
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and server.poll() is None:
        found = re.findall(r"http://[\w.:\[\]-]+\S*", out.read_text().partition("Recovered against true")[2])
        if len(found) >= 2:
            time.sleep(0.5)
            return found
        time.sleep(0.3)
    pytest.fail(f"the demo did not come to serve: {out.read_text()}")


@pytest.mark.slow
def test_every_other_command_block_runs_on_what_the_demo_left(workplace: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    lines = [line for block in BLOCKS[2:] for line in command_lines(block)]
    assert len(lines) > 5
    for line in lines:
        result = subprocess.run(line, cwd=workplace, env=environment, capture_output=True, text=True, timeout=900)
        assert result.returncode == 0, f"{shlex.join(line)}\n{result.stdout}\n{result.stderr}"
    assert (workplace / "colour.html").read_text().lstrip().startswith("<!doctype html>")
    assert (workplace / "demo" / "report" / "index.html").exists()


@pytest.mark.slow
def test_ground_truths_and_hash_codes_are_held_against_the_demos_panel(workplace: Path) -> None:
    script = [sys.executable, ROOT / "scripts" / "hashing_audit.py", workplace / "demo"]
    result = subprocess.run(script, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr
    for name in ("shared label", "epsilon-ball", "k-NN", "itq"):
        assert f"\n{name} " in result.stdout
    assert "agrees best with people" in result.stdout
