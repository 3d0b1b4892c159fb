"""The README's demo, run once for every test of this folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)
SERVED = ("The app", "The admin pages", "The report")
# Every stage is gone through with a fifth of the pictures and half the raters as well as with all of them, in a third
# of the time; what the stages recover is asked of the demo in tests/studyapp/demo.
SMALLER = ("--images", "60", "--raters", "6")


def command_lines(block: str) -> list[list[str]]:
    return [shlex.split(line) for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def installed() -> dict[str, str]:
    """The environment of somebody who has set up: `relstudy` is on the path."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@dataclass(frozen=True)
class Demo:
    """What the first command of the README left behind.

    Parameters
    ----------
    workplace : the folder it was typed in; the study is `workplace / "demo"`
    output : all that it printed
    pages : text of what was served, by name
    health : what the app said of itself
    code : exit code after Ctrl-C
    """

    workplace: Path
    output: str
    pages: dict[str, str]
    addresses: dict[str, str]
    health: dict[str, str]
    code: int


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo as a newcomer runs it; the served pages are looked at, then Ctrl-C is pressed."""
    folder = tmp_path_factory.mktemp("newcomer")
    printed = folder / "out.txt"
    # The environment that runs the tests is set up already, so `run` goes straight to its last line.
    with printed.open("w") as out:
        server = subprocess.Popen(
            ["relstudy", *command_lines(BLOCKS[0])[0][2:], *SMALLER, "--port", "0"],
            cwd=folder, env=installed(), stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            addresses = _addresses(server, printed)
            pages = {name: _read(address) for name, address in addresses.items()}
            health = json.loads(_read(addresses["The app"] + "health"))
        finally:
            os.killpg(server.pid, signal.SIGINT)
            code = server.wait(timeout=120)
    return Demo(folder, printed.read_text(), pages, addresses, health, code)


def _read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def _addresses(server: subprocess.Popen[bytes], out: Path) -> dict[str, str]:
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and server.poll() is None:
        lines = out.read_text().splitlines()
        addresses = {name: line.split()[-1] for line in lines for name in SERVED if line.startswith(name)}
        if len(addresses) == len(SERVED) and any(line.startswith("Ctrl-C") for line in lines):
            return addresses
        time.sleep(0.3)
    pytest.fail(f"the demo did not come to serve: {out.read_text()}")
