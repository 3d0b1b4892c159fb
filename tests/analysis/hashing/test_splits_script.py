"""The ten splits of docs/hashing-encoders.md, smaller."""

from __future__ import annotations

import pytest

from evidence import hashing_splits

pytestmark = pytest.mark.slow


def test_settings_are_taken_on_validation_and_figures_are_means_over_splits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"lsh": [{}], "sklsh": [{"width": 1e-6}, {"width": 30}]}
    monkeypatch.setattr(hashing_splits, "SETTINGS", settings)
    hashing_splits.main(["--times", "2", "--bits", "8"])
    shown = capsys.readouterr().out
    assert "8 bits, mean (sd) of 2 splits" in shown
    # a kernel far narrower than any distance gives codes of chance, which validation must not take
    assert "width 30: 2" in shown
    assert "lsh - sklsh: +" in shown
