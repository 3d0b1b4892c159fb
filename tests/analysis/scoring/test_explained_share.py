"""The share of the differences between judgments that systems explain, of what any could."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.api.calibrating import calibrate
from relstudy.api.scoring import score
from tests.analysis.made import tables


def study(queries: int = 40, noise: float = 0.6) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judgments with known errors, a system that knows every true value, and one that knows nothing."""
    random = np.random.default_rng(3)
    number = 10 * queries
    ids = {"query_id": np.repeat([f"q{k}" for k in range(queries)], 10), "result_id": [f"d{k}" for k in range(number)]}
    truth = random.normal(size=number)
    judgments = pd.DataFrame(ids | {"judgment": 3 + truth + noise * random.normal(size=number)})
    judgments["standard_error"] = noise
    systems = {"omniscient": truth, "blind": random.normal(size=number)}
    return judgments, pd.concat([pd.DataFrame(ids | {"system": name, "score": x}) for name, x in systems.items()])


def test_a_system_that_knows_the_truth_explains_all_that_could_be() -> None:
    judgments, scores = study()
    result = score_systems(judgments, scores, options=ScoringOptions(replicates=300, measures=()))
    known, blind = result["omniscient"].explained, result["blind"].explained
    # noise of .36 in a variance of 1.36; 400 pairs tell the share within .04
    assert known.reachable.value == pytest.approx(1 / 1.36, abs=0.06)
    assert known.reachable.low < 1 / 1.36 < known.reachable.high
    assert known.share.value == pytest.approx(result["omniscient"].indices["pearson"].value ** 2)
    assert known.of_reachable.value == pytest.approx(1, abs=0.08)
    assert blind.of_reachable.low == 0 and blind.of_reachable.high < 0.05
    assert result.as_json()["systems"]["blind"]["explained"]["share"]["value"] == blind.share.value


def test_what_could_be_explained_is_the_ceiling_of_the_calibration() -> None:
    random = np.random.default_rng(1)
    rows = [
        (f"r{rater}", f"q{pair // 5:02}", f"d{pair % 5}", np.clip(np.round(quality + random.normal(0, 0.6)), 1, 5))
        for pair, quality in enumerate(random.uniform(1, 5, 100))
        for rater in (range(6) if pair < 20 else random.choice(6, 3, replace=False))
    ]
    table = pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"])
    panel = calibrate(table, method="mean")
    scores = panel.judgments[["query_id", "result_id"]].assign(system="one", score=random.normal(size=100))
    ceiling = score(scores, panel, raters="these", replicates=100).result["one"].explained.reachable
    stated = panel.summary()["reachable_share"]
    # there the variance is divided by n - 1
    assert ceiling.value == pytest.approx(stated["value"], abs=0.01)
    assert 0.7 < ceiling.low < ceiling.value < ceiling.high < 1


def test_without_standard_errors_nothing_is_said_of_what_could_be() -> None:
    judgments, scores = study()
    result = score_systems(judgments.drop(columns="standard_error"), scores, options=ScoringOptions(replicates=20))
    found = result["omniscient"].explained
    assert found.share.value is not None
    assert found.of_reachable.reason == "the standard errors of the judgments are not known"


def test_more_than_could_be_explained_has_no_interval_and_says_why() -> None:
    """Its lower end was above 1, and its upper end 1: errors of half a step were stated where there is no noise."""
    judgments, table = tables(systems=(0.9, 0.5))
    found = score_systems(
        judgments.assign(standard_error=0.5), table, options=ScoringOptions(replicates=50, measures=())
    )
    high, low = (system.explained.of_reachable for system in found.systems)
    assert high.value > 1 and high.low is None and "standard errors are larger" in str(high.reason)
    assert low.value < 1 and low.low < low.value < low.high
