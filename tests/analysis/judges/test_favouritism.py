"""A small version of scripts/judge_favouring.py: which judges are said to favour a system."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from relstudy.analysis.scoring.options import ScoringOptions
from tests.places import ROOT

DATA = ROOT.parent / "shared" / "data"
pytestmark = [pytest.mark.real_data, pytest.mark.slow, pytest.mark.usefixtures("shared_data")]
STUDIES, SYSTEMS = 20, 5


def test_fair_judges_of_real_pictures_are_hardly_ever_named_and_one_that_leans_by_a_grade_nearly_always() -> None:
    spec = importlib.util.spec_from_file_location("judge_favouring", ROOT / "scripts" / "judge_favouring.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    world = script.collection("viescore", DATA)
    options = ScoringOptions(replicates=100, measures=(), method="none", directions={"*": "higher"})
    runs = [script.named(*world, SYSTEMS, seed, options) for seed in range(STUDIES)]
    named = {judge: sum(bool(run[judge]) for run in runs) for judge in script.JUDGES}
    assert named["the same of everything"] == 0
    # of 60 judges of which 5 % may be named by chance, more than eight come once in a hundred times
    assert named["noise .5"] + named["noise 1"] + named["noise 2"] <= 8
    first = sum(run["leans by 1"][:1] == ["+system 1"] for run in runs)
    assert (
        first >= 14
    )  # 92 % in sixty studies of another bound; fewer than 14 of 20 would then come once in 1,000 times
