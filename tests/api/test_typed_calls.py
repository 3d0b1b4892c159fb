"""A type checker refuses what the functions refuse: unknown arguments, words that are not of the list, wrong types."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

FOLDER = Path(__file__).parent / "typed"


@pytest.fixture(scope="module")
def refused() -> dict[str, set[int]]:
    """The lines of each file that mypy finds at fault."""
    files = sorted(FOLDER.glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found: dict[str, set[int]] = {file.name: set() for file in files}
    for name, line in re.findall(r"^\S*?(\w+\.py):(\d+): error:", done.stdout, flags=re.MULTILINE):
        found[name].add(int(line))
    return found


@pytest.mark.slow
def test_every_wrong_call_is_refused_before_it_runs(refused: dict[str, set[int]]) -> None:
    lines = (FOLDER / "wrong_calls.py").read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    assert len(wrong) > 20
    assert refused["wrong_calls.py"] == wrong


@pytest.mark.slow
def test_no_right_call_is_refused(refused: dict[str, set[int]]) -> None:
    assert refused["right_calls.py"] == set()
