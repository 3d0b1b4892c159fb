"""A small version of evidence/judges.py: width and coverage on pairs that two annotators and a model judged."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.analysis.judges.script import judges_script
from tests.places import ROOT

DATA = ROOT.parent / "shared" / "data"
pytestmark = [pytest.mark.real_data, pytest.mark.slow]
STUDIES, REPLICATES = 12, 100


@pytest.fixture(scope="module")
def script() -> ModuleType:
    if not (DATA / "diras_chatreport").is_dir():
        pytest.skip("the judged passages are not on this machine")
    return judges_script()


def test_a_good_judge_of_the_whole_collection_takes_a_third_off_and_alone_a_circular_one_is_wrong(
    script: ModuleType,
) -> None:
    world = script.WORLDS["diras"](DATA, copies=8)
    truth = world.truth()
    good = script.simulate(world, ["gpt-4"], STUDIES, REPLICATES)["gpt-4"]
    covered = []
    for index in ("relevant_share", "precision_at_0.2", "recall_at_0.2", "average_precision", "normalised_rank"):
        _, low, high = good["relstudy"][index].T
        _, people_low, people_high = good["people alone"][index].T
        assert np.mean(high - low) / np.mean(people_high - people_low) < 0.65, index
        assert (high - low <= people_high - people_low + 1e-12).all()
        covered += [np.mean((low <= truth[index]) & (truth[index] <= high))]
    # 60 intervals of 95 %, five to a study: fewer than 80 % would be three standard errors of the studies off
    assert np.mean(covered) > 0.8
    circular = script.simulate(world, ["circular"], 4, REPLICATES)["circular"]
    _, low, _ = circular["judge alone"]["relevant_share"].T
    assert (low > truth["relevant_share"]).all()
