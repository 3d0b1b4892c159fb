"""Measures of lists where only some of each query's results were drawn and judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import relstudy as rs

pytestmark = pytest.mark.slow


def drawn(share: float) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Judgments of a share of 60 results a query, scores of a system for all, and its nDCG@10 over the whole."""
    random = np.random.default_rng(4)
    pairs = pd.DataFrame(
        [(f"q{query}", f"d{result}") for query in range(30) for result in range(60)], columns=["query_id", "result_id"]
    )
    truth = random.normal(size=len(pairs))
    judged = pairs.assign(judgment=np.clip(np.round(0.6 + truth), 0, 3), inclusion_probability=share)
    scores = pairs.assign(mine=truth + random.normal(size=len(pairs)))
    whole = rs.score(scores, judged.assign(inclusion_probability=1.0), measures=["nDCG@10"], scale="0-3", replicates=20)
    value = whole.as_json()["systems"]["mine"]["measures"]["condensed nDCG@10"]["value"]
    taken = random.random(len(pairs)) < share
    return judged[taken], scores, value


def test_of_results_drawn_by_lot_a_measure_is_empty_with_the_reason_unless_it_is_asked_for() -> None:
    """Of 600 of 50,000 pairs nDCG@10 was .342 with an interval, where it is .588."""
    judgments, scores, truth = drawn(0.15)
    left = rs.score(scores, judgments, measures=["nDCG@10", "RR"], scale="0-3", replicates=20)
    figures = left.as_json()["systems"]["mine"]["measures"]
    for name, reason in (("condensed RR", "only a sample"), ("estimated nDCG@10", "is too uncertain")):
        assert figures[name]["value"] is None and reason in figures[name]["reason"]
    asked = rs.score(scores, judgments, measures=["nDCG@10"], scale="0-3", replicates=20, unjudged="skip")
    condensed = asked.as_json()["systems"]["mine"]["measures"]["condensed nDCG@10"]["value"]
    assert abs(condensed - truth) > 0.05, "so far off, which is why it has to be asked for"


def test_of_queries_drawn_whole_a_measure_is_given() -> None:
    judgments, scores, truth = drawn(1.0)
    whole = judgments.assign(inclusion_probability=0.2, query_probability=0.2)
    given = rs.score(scores, whole, measures=["nDCG@10"], scale="0-3", replicates=20)
    assert given.as_json()["systems"]["mine"]["measures"]["condensed nDCG@10"]["value"] == pytest.approx(
        truth, abs=1e-12
    )
