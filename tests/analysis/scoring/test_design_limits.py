"""What the design has too few pairs has no interval and no test, whatever was drawn."""

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.design_limits import DesignLimits
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.scoring.saved import read_comparison, save_comparison
from relstudy.analysis.scoring.unjudged import outside_note
from relstudy.calibration.tables.study_tables import find_pool
from relstudy.common.sampling.design_reach import LEAST_REACH, REACH


def judged(**columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"query_id": np.repeat([f"q{n}" for n in range(20)], 12), "result_id": np.arange(240)})
    frame["result_id"] = frame["result_id"].map("r{}".format)
    value = rng.normal(size=240)
    frame["judgment"] = np.clip(np.round(3 + 1.2 * value), 1, 5)
    frame["inclusion_probability"] = rng.uniform(0.1, 0.9, 240)
    scores = [
        frame[["query_id", "result_id"]].assign(system=name, score=value + rng.normal(size=240)) for name in ("a", "b")
    ]
    return frame.assign(**columns), pd.concat(scores)


OPTIONS = ScoringOptions(replicates=100, measures=())


@pytest.mark.parametrize(
    ("reach", "drawn", "withheld"),
    [(LEAST_REACH, 240, False), (LEAST_REACH - 0.1, 240, True), (2 * LEAST_REACH - 1, 480, True), (np.nan, 960, False)],
)
def test_figures_over_the_whole_population_are_withheld_by_the_design(reach, drawn, withheld):
    frame, scores = judged(**{REACH: reach, "pairs_drawn": drawn})
    result = score_systems(frame, scores, options=OPTIONS)
    system = result["a"]
    for estimate in (system.indices["average_precision"], system.indices["normalised_rank"], system.points[3].recall):
        assert estimate.value is not None and (estimate.low is None) == withheld
        assert not withheld or "the design has too few pairs" in estimate.reason
    assert system.raw.pearson.low is not None and system.points[3].precision.low is not None
    for comparison in result.comparisons:
        limited = withheld and comparison.index != "pearson"
        assert (comparison.p_value is None) == limited and (comparison.difference.low is None) == limited
    for ordering in result.orderings:
        limited = withheld and ordering.index != "pearson"
        assert (not ordering.first) == limited and (not limited or "the design has too few pairs" in ordering.reason)
    notes = " ".join(result.notes)
    assert ("have no interval and no test" in notes) == withheld
    assert (f"{drawn - 240} of {drawn} pairs drawn are not judged" in notes) == (drawn > 240)


def test_pairs_that_nobody_could_decide_are_told_once():
    notes = {few: DesignLimits(drawn=60, judged=54, undecided=few).notes() for few in (0, 2, 6)}
    assert notes[0] == ["6 of 60 pairs drawn are not judged; the figures take the judged ones for all."]
    assert notes[2] == [
        "6 of 60 pairs drawn are not judged, 2 of them undecided; the figures take the judged ones for all."
    ]
    assert notes[6] == []  # score says that they are undecided


def test_what_was_drawn_decides_nothing():
    """The same judgments, whatever their weights and however few are relevant, under designs of one reach."""
    frame, scores = judged(**{REACH: 100.0})
    # one good match in each query, one of them of a thousand times the weight
    rare = frame.assign(judgment=np.where(np.arange(240) % 12 == 0, 5.0, 1.0))
    rare["inclusion_probability"] = np.where(np.arange(240) == 0, 0.001, 0.9)
    assert score_systems(rare, scores, options=OPTIONS)["a"].indices["average_precision"].low is not None


def test_a_saved_comparison_keeps_what_the_design_allows(tmp_path):
    frame, scores = judged(**{REACH: 3.0, "pool": "inside"})
    pairs = JudgedPairs.of(frame)
    candidates = [candidate_of(pairs, name, group, OPTIONS) for name, group in scores.groupby("system")]
    save_comparison(pairs, candidates, OPTIONS, tmp_path / "comparison.json")
    assert read_comparison(tmp_path / "comparison.json").pairs.design == pairs.design
    assert "figures speak of the pool" in " ".join(pairs.design.notes())


def test_results_outside_the_pool_are_counted_and_named(tmp_path):
    (tmp_path / "pool.csv").write_text("query_id,result_id,depth\nq1,a,2\nq1,b,2\nq2,c,2\n")
    pool = find_pool(tmp_path)
    assert pool is not None
    rows = [("q1", "a", 5.0), ("q1", "x", 4.0), ("q1", "b", 3.0), ("q2", "c", 1.0), ("q3", "y", 9.0)]
    scores = pd.DataFrame(rows, columns=["query_id", "result_id", "score"])
    note = outside_note(pool, "late", scores, True, ["q1", "q2"])
    assert note is not None and note.startswith("1 of the 3 results that late ranks first (2 a query) lie outside")
    assert "(q1 x)" in note
    # the two lowest of q1 are b and x
    assert "(q1 x)" in (outside_note(pool, "late", scores, False, ["q1"]) or "")
    assert outside_note(pool, "late", scores[scores["result_id"] != "x"], True, ["q1", "q2"]) is None
    assert find_pool(tmp_path / "elsewhere") is None
