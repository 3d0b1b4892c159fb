"""The siege of scripts/siege.py, in small: what is acknowledged is exported, whatever happens to the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.siege import STAGES, Size, besiege


@pytest.mark.slow
@pytest.mark.server
def test_honest_raters_lose_nothing_while_the_study_is_besieged(tmp_path: Path) -> None:
    outcome = besiege(
        tmp_path / "s", f"sqlite:///{tmp_path / 's' / 'study.db'}", Size(raters=3, seconds=0.3, queries=60)
    )
    assert outcome.troubles == []
    assert (outcome.exported, outcome.wrong, outcome.double) == (outcome.acknowledged, 0, 0)
    assert [stage.name for stage in outcome.stages] == list(STAGES)
    stages = {stage.name: stage for stage in outcome.stages}
    assert stages["kills"].done["workers killed"] >= 1 and stages["half-open"].done["sockets"] > 1024
    assert all(stage.acknowledged > 0 for stage in outcome.stages), "somebody is served in every stage"
