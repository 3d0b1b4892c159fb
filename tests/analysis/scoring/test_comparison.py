"""Systems against each other, and a comparison kept for systems that come later."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import relstudy as rs
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.comparison import first_shares, order_agreement
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.mapped_scores import map_scores
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_candidates, score_systems
from relstudy.analysis.scoring.saved import (
    comparison_json,
    read_comparison,
    save_comparison,
)
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.made import tables

FEW = ScoringOptions(replicates=200, measures=())


def test_a_clearly_better_system_is_first_and_the_difference_is_significant() -> None:
    judgments, scores = tables(systems=(0.95, 0.5, 0.2), queries=40)
    result = score_systems(judgments, scores, options=FEW)
    for ordering in result.orderings:
        assert ordering.systems == ("s0", "s1", "s2")
        assert ordering.first["s0"] > 0.95
        assert sum(ordering.first.values()) == pytest.approx(1)
    chosen = next(c for c in result.comparisons if (c.first, c.second, c.index) == ("s0", "s2", "normalised_rank"))
    assert chosen.better == "s0"
    assert chosen.difference.high is not None and chosen.difference.high < 0
    assert chosen.p_family is not None and chosen.p_value is not None and chosen.p_value <= chosen.p_family < 0.05
    assert all(agreement.tau.value == 1.0 for agreement in result.agreement)


def test_a_system_against_its_copy_differs_by_nothing() -> None:
    judgments, scores = tables(systems=(0.7,))
    twice = pd.concat([scores, scores.assign(system="copy")])
    result = score_systems(judgments, twice, options=FEW)
    for comparison in result.comparisons:
        assert (comparison.difference.value, comparison.difference.low, comparison.difference.high) == (0, 0, 0)
        assert comparison.p_family == 1.0
        assert comparison.better is None
    assert all(ordering.first == {"s0": 0.5, "copy": 0.5} for ordering in result.orderings)


def test_a_paired_difference_is_tighter_than_unpaired_intervals_suggest() -> None:
    judgments, scores = tables(systems=(0.7,), queries=40)
    near = scores.assign(
        system="near", score=scores["score"] + 0.05 * np.random.default_rng(1).normal(size=len(scores))
    )
    result = score_systems(judgments, pd.concat([scores, near]), options=FEW)
    paired = result.comparisons[0].difference
    alone = result["s0"].raw.pearson
    assert paired.high - paired.low < 0.5 * (alone.high - alone.low)


@pytest.mark.slow
def test_systems_of_different_coverage_are_compared_on_the_pairs_both_score() -> None:
    judgments, scores = tables(systems=(0.7, 0.6))
    kept = pd.concat([scores[scores["system"] == "s0"].iloc[30:], scores[scores["system"] == "s1"].iloc[:280]])
    result = score_systems(judgments, kept, options=FEW)
    inner = judgments.iloc[30:280]
    same = score_systems(inner, kept, options=FEW)
    for mine, theirs in zip(result.comparisons, same.comparisons, strict=True):
        assert mine.pairs == 250
        assert mine.difference.value == pytest.approx(theirs.difference.value, abs=1e-12)
    assert result.orderings[0].pairs == 250


def test_first_place_is_left_open_where_too_few_pairs_are_common() -> None:
    judgments, scores = tables(systems=(0.7, 0.6))
    kept = pd.concat([scores[scores["system"] == "s0"].iloc[:170], scores[scores["system"] == "s1"].iloc[130:]])
    ordering = score_systems(judgments, kept, options=FEW).orderings[0]
    assert ordering.first == {}
    assert ordering.reason == "only 40 of 300 judged pairs are scored by all systems"


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_agreement_of_orders_equals_scipys_tau_b(seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right = random.integers(0, 4, (2, 6, 3)).astype(float)
    ours = order_agreement(left, right)
    for column in range(3):
        expected = stats.kendalltau(left[:, column], right[:, column])[0]
        assert ours[column] == pytest.approx(expected, nan_ok=True)


def test_ties_for_first_place_are_shared_out() -> None:
    assert first_shares(np.array([[1.0, np.nan], [1.0, np.nan], [0.0, np.nan]])).tolist() == [0.5, 0.5, 0]
    assert first_shares(np.full((2, 3), np.nan)) is None


def test_judgments_in_another_order_are_put_in_that_of_the_saved_systems_scores(tmp_path: Path) -> None:
    judgments, _ = tables(systems=(0.9,))
    save_comparison(JudgedPairs.of(judgments), [], FEW, tmp_path / "saved.json")
    saved = read_comparison(tmp_path / "saved.json")
    given = saved.complete(Judgments.of(judgments.sample(frac=1, random_state=1)))
    for name in ("query_id", "result_id", "judgment", "inclusion_probability"):
        assert given.frame[name].tolist() == judgments[name].tolist()


@pytest.mark.slow
def test_a_new_system_is_placed_among_saved_ones_exactly_as_if_all_were_scored_together(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9, 0.5, 0.7))
    scores = scores.drop(index=[0, 1, 2])
    pairs = JudgedPairs.of(judgments)
    every = {str(n): map_scores(pairs, candidate_of(pairs, str(n), g, FEW)) for n, g in scores.groupby("system")}
    save_comparison(pairs, [every["s0"], every["s1"]], FEW, tmp_path / "saved.json")
    saved = read_comparison(tmp_path / "saved.json")
    saved.complete(Judgments.of(judgments.sample(frac=1, random_state=1)))
    new = map_scores(saved.pairs, candidate_of(saved.pairs, "s2", scores[scores["system"] == "s2"], saved.options))
    apart = score_candidates(saved.pairs, [*saved.candidates, new], saved.options).as_json()
    together = score_candidates(pairs, list(every.values()), FEW).as_json()
    assert json.dumps(apart) == json.dumps(together)


def test_a_saved_comparison_names_measures_as_the_first_files_did(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9,))
    pairs = JudgedPairs.of(judgments)
    options = ScoringOptions(replicates=2, measures=("P@5", "AP"))
    save_comparison(pairs, [candidate_of(pairs, "s0", scores, options)], options, tmp_path / "saved.json")
    assert json.loads((tmp_path / "saved.json").read_text())["options"]["graded"] == ["P@5", "AP"]
    assert read_comparison(tmp_path / "saved.json").options.measures == ("P@5", "AP")


@pytest.mark.slow
def test_a_saved_comparison_keeps_the_finite_population_of_queries(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9, 0.5))
    judgments = judgments.assign(query_probability=0.5, inclusion_probability=judgments["inclusion_probability"] / 2)
    pairs = JudgedPairs.of(judgments)
    candidates = [candidate_of(pairs, str(name), group, FEW) for name, group in scores.groupby("system")]
    save_comparison(pairs, candidates[:1], FEW, tmp_path / "saved.json")
    saved = read_comparison(tmp_path / "saved.json")
    apart = score_candidates(saved.pairs, [*saved.candidates, candidates[1]], saved.options)
    assert apart.conventions["population"] == "finite population of queries: f = 0.5, corrected"
    assert json.dumps(apart.as_json()) == json.dumps(score_candidates(pairs, candidates, FEW).as_json())
    with pytest.raises(RelstudyError, match="made with other judgments"):
        saved.complete(Judgments.of(judgments.assign(query_probability=0.6)))


def test_a_comparison_is_refused_with_other_judgments_or_damaged(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9,))
    pairs = JudgedPairs.of(judgments)
    content = comparison_json(pairs, [candidate_of(pairs, "s0", scores, FEW)], FEW)
    file = tmp_path / "saved.json"
    file.write_text(json.dumps(content))
    changed = judgments.assign(judgment=judgments["judgment"] + 0.1)
    with pytest.raises(RelstudyError, match="made with other judgments"):
        read_comparison(file).complete(Judgments.of(changed))
    file.write_text(json.dumps(content | {"version": 99}))
    with pytest.raises(RelstudyError, match="version 99 of a saved comparison is not known"):
        read_comparison(file)
    content["judgments"]["judgment"][0] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(RelstudyError, match="not those it was made with"):
        read_comparison(file)
    del content["systems"][0]["score"]
    content["judgments"]["judgment"][0] -= 1
    file.write_text(json.dumps(content))
    with pytest.raises(RelstudyError, match="damaged"):
        read_comparison(file)
    file.write_text("{}")
    with pytest.raises(RelstudyError, match="this is not a saved comparison"):
        read_comparison(file)


def test_a_saved_comparison_that_was_changed_is_refused(tmp_path: Path) -> None:
    judgments, scores = tables(systems=(0.9,))
    pairs = JudgedPairs.of(judgments)
    file = tmp_path / "saved.json"
    save_comparison(pairs, [candidate_of(pairs, "s0", scores, FEW)], FEW, file)
    content = json.loads(file.read_text())
    content["systems"][0]["score"][0] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(RelstudyError, match="was changed since it was written"):
        read_comparison(file)


@pytest.mark.parametrize(("queries", "reach"), [(8, 0.3694), (20, 0.1684), (100, 0.0362)])
def test_systems_that_differ_in_no_query_may_differ_in_others(queries, reach):
    """Of n queries none differs: the share of those that do is below 1 - .025 ** (1 / n) (Clopper and Pearson).

    With [looks] a study of few ratings was told to stop, since the two were the same "for practical purposes".
    """
    assert reach == pytest.approx(1 - 0.025 ** (1 / queries), abs=5e-5)
    ids = {
        "query_id": np.repeat([f"q{k}" for k in range(queries)], 2),
        "result_id": [f"r{k}" for k in range(2 * queries)],
    }
    judgments = pd.DataFrame(ids | {"judgment": np.tile([5.0, 1.0], queries)})
    one = pd.DataFrame(ids | {"score": np.tile([0.9, 0.1], queries)})
    other = one.assign(score=one["score"] + 0.1 * np.random.default_rng(1).random(2 * queries))
    stated = {"measures": [], "direction": "higher", "replicates": 50, "primary": "same_query"}
    found = rs.score({"one": one, "other": other}, judgments, **stated)
    difference = next(each for each in found.result.comparisons if each.index == "same_query").difference
    assert difference.ends == pytest.approx((-reach, reach), abs=5e-5) and difference.value == 0
    assert ("the same for practical purposes" in found.verdict.headline) == (reach < 0.05)
    copies = rs.score({"one": one, "copy": one}, judgments, **stated)
    assert next(each for each in copies.result.comparisons if each.index == "same_query").difference.ends == (0, 0)
