"""The pinned packages of a deployment are those that pyproject.toml asks for."""

from __future__ import annotations

import sys

import pytest

from tests.places import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import lock_requirements


def test_every_requirement_of_the_deployed_app_has_a_pin_that_meets_it() -> None:
    assert lock_requirements.faults() == []
    assert len(lock_requirements.pinned()) == lock_requirements.LOCK.read_text().count("--hash=sha256:")


def test_a_pin_that_is_too_old_or_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pins = lock_requirements.pinned()
    monkeypatch.setattr(
        lock_requirements, "pinned", lambda: {k: v for k, v in pins.items() if k != "nh3"} | {"flask": "2.0"}
    )
    assert sorted(fault.split(" ")[0] for fault in lock_requirements.faults()) == ["flask", "nh3"]
