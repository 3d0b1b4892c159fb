"""What systems share is prepared once, however many: a small version of evidence/benchmarks/size.py, by counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.indices import correlation, kernels
from relstudy.analysis.resampling import bootstrap
from relstudy.analysis.scoring import judged_pairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.mapping.scores.score_table import ScoreTable


def _tables(systems: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(0)
    pairs = pd.DataFrame({"query_id": np.repeat([f"q{q}" for q in range(12)], 8), "result_id": [*"abcdefgh"] * 12})
    worth = random.integers(1, 6, len(pairs)).astype(float)
    scores = [
        pairs.assign(system=f"s{number}", score=worth + random.normal(size=len(pairs))) for number in range(systems)
    ]
    return pairs.assign(judgment=worth), pd.concat(scores, ignore_index=True)


def test_whole_qrels_are_handed_over_once_for_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    evaluator = ir_measures.evaluator

    def counted(*given: Any) -> Any:
        handed.append(given)
        return evaluator(*given)

    monkeypatch.setattr(ir_measures, "evaluator", counted)
    judgments, scores = _tables(4)
    lines = [f"{row.query_id} 0 {row.result_id} {row.judgment:.0f}" for row in judgments.itertuples()]
    (tmp_path / "j.qrels").write_text("\n".join(lines) + "\n")
    # a query's rows need not stand together, and a run may hold queries that nobody judged
    mixed = pd.concat([scores.sample(frac=1, random_state=1), scores[:3].assign(query_id="other")])
    runs = ScoreTable(mixed, dict.fromkeys(scores["system"], "higher"), tuple(scores["system"].unique()))
    options = ScoringOptions(replicates=50, measures=("nDCG@5", "P@5", "AP"))
    result = score_systems(read_judgments(tmp_path / "j.qrels"), runs, options=options)
    assert len(handed) == 1
    qrels = judgments.rename(columns={"result_id": "doc_id", "judgment": "relevance"}).astype({"relevance": int})
    for system in result.systems:
        run = scores[scores["system"] == system.name].rename(columns={"result_id": "doc_id"})
        theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 5, ir_measures.AP], qrels, run)
        assert {str(name): system.indices[str(name)].value for name in theirs} == pytest.approx(
            {str(name): value for name, value in theirs.items()}, abs=1e-12  # sums in another order
        )  # fmt: skip


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
    monkeypatch.setattr(judged_pairs, "query_counts", counted_draws)
    options = ScoringOptions(replicates=300, measures=("nDCG@5", "P@5"))
    judgments, scores = _tables(systems)
    assert score_systems(judgments, scores, options=options).systems[0].direction.higher
    assert not drawn, "where scores rise with the judgments nothing is tested"
    handed.clear()
    result = score_systems(judgments, scores.assign(score=-scores["score"]), options=options)
    assert [system.direction.higher for system in result.systems] == [False] * systems
    assert 0 < len(handed) <= 2, "one for measures that take relevant or not, one for those of grades"
    assert drawn == [200], "the draws that directions are found by"


def test_ranks_are_tabled_once_for_all_systems_and_each_has_the_figures_that_it_has_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judgments, scores = _tables(3)
    scores.loc[scores["system"] == "s1", "score"] = scores["score"].round()  # one with equal scores
    options = ScoringOptions(replicates=300)
    alone = [score_systems(judgments, rows, options=options) for _, rows in scores.groupby("system")]
    tabled: list[int] = []
    made = kernels.ranks_by_level

    def counted(*given: Any) -> Any:
        tabled.append(int(given[-1].any(axis=0).sum()))
        return made(*given)

    monkeypatch.setattr(kernels, "ranks_by_level", counted)
    monkeypatch.setattr(correlation, "MOST_KEPT", 0)
    together = score_systems(judgments, scores, options=options)
    assert sum(tabled) == 300 + 12 + 1, "all replicates, each query left out, and the data"
    for one in alone:
        name = one.systems[0].name
        for index, figure in one[name].figures.items():
            np.testing.assert_array_equal(together[name].figures[index].replicates, figure.replicates, err_msg=index)
