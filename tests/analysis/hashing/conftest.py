"""Look-ups are timed for as long as a test needs: that there is a time, not how steady it is."""

from __future__ import annotations

import pytest

from relstudy.analysis.hashing.lookup import sweep


@pytest.fixture(autouse=True)
def shortly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "LEAST_TIMED", 0.0)
