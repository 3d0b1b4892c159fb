"""A study with a judge's key, and clients that wait shortly and say how long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.studyapp.judging.stub import KEY, change_default
from tests.studyapp.studies import TOML, write_study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight picture queries of four results each: 32 pairs in pairs.csv."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    return write_study(tmp_path / "study", TOML + '\n[judges]\nkey_variable = "JUDGE_KEY"\n')


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of each pause, which is waited for; a busy machine adds nothing to them."""
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        time.sleep(seconds)

    change_default(monkeypatch, time.sleep, sleep)
    return waited
