"""A small version of evidence/judge_favouring.py: which judges are said to favour a system, and among which results."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.scoring.options import ScoringOptions
from tests.places import ROOT

OPTIONS = ScoringOptions(replicates=200, measures=(), method="none", directions={"*": "higher"})
STUDIES = 8


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judge_favouring", ROOT / "evidence" / "judge_favouring.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_fair_judges_are_hardly_ever_named_and_one_that_favours_the_top_of_a_list_mostly(script: ModuleType) -> None:
    world = script.of_pictures(100, 60)
    runs = [script.named(*world, 5, seed, OPTIONS) for seed in range(STUDIES)]
    # of 80 fair judges, of which 5 % may be named by chance, more than ten come less often than once in a hundred times
    assert sum(bool(run[judge]) for run in runs for judge in script.FAIR) <= 10
    assert not any(run["the same of everything"] for run in runs)
    # 86 % at a hundred queries; of eight, fewer than four then come once in two hundred times
    assert sum(run["first ten, highest"] == ["+system 1"] for run in runs) >= 4


def test_a_judge_that_lifts_the_first_ten_of_one_system_is_named_with_them() -> None:
    """The shared results of a second system that ranks the same ones first are no favour of its own."""
    random = np.random.default_rng(4)
    queries, results = 80, 40
    query, result = (each.ravel() for each in np.indices((queries, results)))
    truth = np.clip(np.round(3 + 1.2 * random.normal(size=len(query))), 1, 5)
    said = np.clip(np.round(truth + 0.5 * random.normal(size=len(query))), 1, 5)
    scores = {name: truth + 2 * random.normal(size=len(query)) for name in ("own", "other")}
    scores["like own"] = scores["own"] + 0.3 * random.normal(size=len(query))
    place = pd.Series(-scores["own"]).groupby(query).rank()
    pairs = pd.DataFrame({"query_id": query, "result_id": 100 * query + result}).astype(str)
    chance = 0.3 + 0.5 * (place <= 10)
    drawn = random.random(len(query)) < chance
    judgments = pairs.assign(judgment=said, inclusion_probability=chance)[drawn]
    systems = {name: pairs.assign(score=each) for name, each in scores.items()}
    for lifted in (False, True):
        judge = pairs.assign(rating=np.where(lifted & (place <= 10), 5.0, truth))
        check = rs.judge(judge, judgments, systems, replicates=200).check
        assert [(each.system, each.among) for each in check.leanings] == [("own", "first 10 results")] * lifted
        assert [each for each in check.warnings if "favours" in each] == [
            each.sentence(check.judge.name) for each in check.leanings
        ]
