"""What systems share is prepared once, however many there are: a small version of benchmarks/size.py, by counts."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.resampling import bootstrap
from relstudy.analysis.scoring import judged
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems


def _tables(systems: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(0)
    pairs = pd.DataFrame({"query_id": np.repeat([f"q{q}" for q in range(12)], 8), "result_id": [*"abcdefgh"] * 12})
    worth = random.integers(1, 6, len(pairs)).astype(float)
    scores = [
        pairs.assign(system=f"s{number}", score=worth + random.normal(size=len(pairs))) for number in range(systems)
    ]
    return pairs.assign(judgment=worth), pd.concat(scores, ignore_index=True)


@pytest.mark.parametrize("systems", [2, 6])
def test_qrels_are_handed_over_and_draws_behind_directions_made_once(
    systems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[Any] = []
    drawn: list[int] = []
    evaluator, counts = ir_measures.evaluator, bootstrap.query_counts

    def counted_evaluator(*given: Any) -> Any:
        handed.append(given)
        return evaluator(*given)

    def counted_draws(*given: Any) -> np.ndarray:
        drawn.append(given[1])
        return counts(*given)

    monkeypatch.setattr(ir_measures, "evaluator", counted_evaluator)
    monkeypatch.setattr(judged, "query_counts", counted_draws)
    options = ScoringOptions(replicates=300, measures=("nDCG@5", "P@5"))
    judgments, scores = _tables(systems)
    result = score_systems(judgments, scores, options=options)
    assert len(result.systems) == systems
    assert 0 < len(handed) <= 2, "one for measures that take relevant or not, one for those of grades"
    assert drawn == [200], "the draws that directions are found by"
