"""What scoring does with good data, thin data and data that allow no answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from relstudy.analysis.scoring.groups import Grouping, Groups, score_by
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.mapping_used import MappedScores, MappingUsed
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.analysis.scoring.unjudged import beyond_notes
from relstudy.api.scoring import score
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.made import tables

FEW = ScoringOptions(replicates=100, measures=())


@pytest.mark.slow
def test_json_keeps_the_contract_and_is_strict() -> None:
    judgments, scores = tables()
    content = score_systems(judgments, scores).as_json()
    json.dumps(content, allow_nan=False)
    assert set(content) >= {"systems", "pairs", "conventions", "comparisons"}
    for system in content["systems"].values():
        for figure in (
            *(system["raw"][name] for name in ("pearson", "spearman", "kendall")),
            *(system["mapped"][name] for name in ("pearson", "spearman", "kendall")),
            system["average_precision"],
            system["normalised_rank"],
            system["coverage"],
        ):
            assert {"value", "low", "high"} <= set(figure)
        assert "mapping" in system["mapped"]
    assert content["systems"]["s0"]["raw"]["pearson"]["low"] < content["systems"]["s0"]["raw"]["pearson"]["value"]
    names = ["estimated nDCG@10", "estimated P@10", "estimated AP", "condensed RR"]
    assert list(content["systems"]["s0"]["measures"]) == names


def test_a_correlation_of_few_queries_takes_students_t_of_their_number() -> None:
    judgments, scores = tables(queries=8)
    system = score_systems(judgments, scores, options=ScoringOptions(replicates=200, measures=()))["s1"]
    assert system.collection is not None
    for figure, name in ((system.raw.pearson, "raw_pearson"), (system.collection.pearson, "pearson")):
        replicates = system.figures[name].replicates
        assert figure.value is not None
        # on Fisher's scale, 7 degrees of freedom, variance times 8 / 7 (docs/scoring.md, intervals)
        reach = stats.t.ppf(0.975, 7) * replicates.std(ddof=1) * np.sqrt(8 / 7) / (1 - figure.value**2)
        assert figure.low == pytest.approx(np.tanh(np.arctanh(figure.value) - reach))
        assert figure.high == pytest.approx(np.tanh(np.arctanh(figure.value) + reach))


@pytest.mark.slow
def test_scoring_twice_gives_the_same_numbers_and_another_seed_other_intervals() -> None:
    judgments, scores = tables()
    first, again = (json.dumps(score_systems(judgments, scores, options=FEW).as_json()) for _ in range(2))
    assert first == again
    other = score_systems(judgments, scores, options=ScoringOptions(replicates=100, seed=1, measures=()))
    mine = score_systems(judgments, scores, options=FEW)
    assert other["s0"].raw.pearson.value == mine["s0"].raw.pearson.value
    assert other["s0"].raw.pearson.low != mine["s0"].raw.pearson.low


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_changes_nothing(random: object) -> None:
    judgments, scores = tables(seed=3)
    seed = int(random.randrange(2**31))  # type: ignore[attr-defined]
    mixed = score_systems(
        judgments.sample(frac=1, random_state=seed), scores.sample(frac=1, random_state=seed + 1), options=FEW
    )
    plain = score_systems(judgments, scores, options=FEW)
    for system in plain.systems:
        for mine, other in (
            (system.indices["average_precision"], mixed[system.name].indices["average_precision"]),
            (system.indices["normalised_rank"], mixed[system.name].indices["normalised_rank"]),
            (system.raw.pearson, mixed[system.name].raw.pearson),
            (system.raw.kendall, mixed[system.name].raw.kendall),
        ):
            assert (mine.value, mine.low, mine.high) == pytest.approx((other.value, other.low, other.high), abs=1e-10)


def test_a_rising_change_of_scale_changes_no_index_of_order() -> None:
    judgments, scores = tables(systems=(0.7,))
    curved = scores.assign(score=np.exp(3 * scores["score"]))
    plain, other = (score_systems(judgments, each, options=FEW)["s0"] for each in (scores, curved))
    for name in ("average_precision", "normalised_rank"):
        assert plain.indices[name] == other.indices[name]
    assert plain.raw.kendall == other.raw.kendall


def test_a_distance_is_ranked_the_other_way_and_this_is_said() -> None:
    judgments, scores = tables(systems=(0.7,))
    plain = score_systems(judgments, scores, options=FEW)["s0"]
    turned = score_systems(judgments, scores.assign(score=-scores["score"]), options=FEW)
    assert turned["s0"].indices["average_precision"].value == plain.indices["average_precision"].value
    assert turned["s0"].raw.pearson.value == pytest.approx(-plain.raw.pearson.value)
    assert any("ranked by ascending score" in note for note in turned.notes)
    stated = score_systems(
        judgments,
        scores.assign(score=-scores["score"]),
        options=ScoringOptions(replicates=10, directions={"s0": "higher"}, measures=()),
    )
    assert stated["s0"].indices["normalised_rank"].value == pytest.approx(1 - plain.indices["normalised_rank"].value)


def test_coverage_below_half_is_refused_unless_allowed() -> None:
    judgments, scores = tables(systems=(0.7,))
    few = scores.iloc[:100]
    with pytest.raises(RelstudyError, match=r"scores 100 of 300 judged pairs \(33 %\), less than half"):
        score_systems(judgments, few, options=FEW)
    result = score_systems(judgments, few, options=ScoringOptions(replicates=50, low_coverage=True, measures=()))
    assert result["s0"].coverage.fraction == pytest.approx(1 / 3)
    assert any("100 of 300 judged pairs" in note for note in result.notes)


def test_a_system_of_other_ids_is_refused_with_the_likely_reason() -> None:
    judgments, scores = tables(systems=(0.7,))
    with pytest.raises(RelstudyError, match="scores none of the 300 judged pairs; check that query_id and result_id"):
        score_systems(judgments, scores.assign(result_id="x" + scores["result_id"]), options=FEW)


def test_dropped_pairs_leave_the_figures_of_the_scored_pairs() -> None:
    judgments, scores = tables(systems=(0.7,))
    kept = scores.iloc[40:]
    dropped = score_systems(judgments, kept, options=FEW)["s0"]
    alone = score_systems(judgments.iloc[40:], kept, options=FEW)["s0"]
    assert dropped.indices["average_precision"].value == pytest.approx(
        alone.indices["average_precision"].value, abs=1e-12
    )
    assert dropped.raw.pearson.value == pytest.approx(alone.raw.pearson.value, abs=1e-12)
    assert dropped.coverage.examples[0] == ("q00", "r0")


def test_policy_worst_ranks_unscored_pairs_below_all_others_and_ties_them() -> None:
    judgments, scores = tables(systems=(0.7,))
    kept = scores.iloc[40:]
    worst = score_systems(judgments, kept, options=ScoringOptions(replicates=50, policy="worst", measures=()))["s0"]
    filled = scores.assign(score=scores["score"].where(np.arange(len(scores)) >= 40, -1e6))
    by_hand = score_systems(judgments, filled, options=FEW)["s0"]
    assert worst.indices["average_precision"].value == pytest.approx(
        by_hand.indices["average_precision"].value, abs=1e-12
    )
    assert worst.indices["normalised_rank"].value == pytest.approx(by_hand.indices["normalised_rank"].value, abs=1e-12)
    assert worst.coverage.policy == "worst"


@pytest.mark.slow
def test_where_the_worst_score_is_nought_what_is_not_scored_can_still_be_mapped() -> None:
    """The number next to 0 is 5e-324, which no column of a mapping can be divided by: eigenvalues did not converge."""
    judgments, scores = tables(systems=(0.7,))
    whole = scores.assign(score=(scores["score"] - scores["score"].median()).clip(lower=0))
    options = {"policy": "worst", "method": "correlation", "measures": (), "replicates": 50}
    result = score(whole.iloc[40:], judgments, **options).result["s0"]
    assert result.mapped.pearson.value is not None
    below = whole.assign(score=whole["score"].where(np.arange(len(whole)) >= 40, -1.0))
    by_hand = score(below, judgments, **options).result["s0"]
    assert result.indices["average_precision"].value == by_hand.indices["average_precision"].value


def test_no_relevant_pair_leaves_retrieval_empty_with_the_reason_and_keeps_correlation() -> None:
    judgments, scores = tables(systems=(0.7,))
    system = score_systems(judgments, scores, options=ScoringOptions(threshold=99, replicates=50))["s0"]
    assert system.indices["average_precision"].as_json() == {
        "value": None,
        "low": None,
        "high": None,
        "reason": "no pair is relevant",
    }
    assert system.indices["normalised_rank"].reason == "no pair is relevant"
    assert system.raw.pearson.value is not None
    assert system.points == ()
    notes = score_systems(judgments, scores, options=ScoringOptions(threshold=99, replicates=50)).notes
    assert any(note.startswith("No judged pair is relevant (judgment > 99, since the judgments come") for note in notes)


def test_only_relevant_pairs_leave_normalised_rank_empty_with_the_reason() -> None:
    judgments, scores = tables(systems=(0.7,))
    system = score_systems(judgments, scores, options=ScoringOptions(threshold=-99, replicates=50, measures=()))["s0"]
    assert system.indices["normalised_rank"].reason == "all pairs are relevant"
    assert system.indices["average_precision"].value == 1.0


def test_a_constant_score_has_no_correlation_and_a_normalised_rank_of_one_half() -> None:
    judgments, scores = tables(systems=(0.7,))
    system = score_systems(judgments, scores.assign(score=1.0), options=FEW)["s0"]
    assert system.raw.pearson.reason == "all scores are equal"
    assert system.indices["normalised_rank"].value == pytest.approx(0.5)


def test_a_constant_mapping_is_named_as_the_reason() -> None:
    judgments, scores = tables(systems=(0.7,))
    mapped = {"s0": MappedScores(np.full(len(judgments), 3.0), MappingUsed("isotonic", 10, 0))}
    system = score_systems(judgments, scores, mapped, FEW)["s0"]
    assert system.mapped.pearson.reason == "the mapping is constant: no monotone relation was found"


def test_pairs_of_unknown_probability_leave_weighted_figures_empty_with_their_number() -> None:
    judgments, scores = tables(systems=(0.7,))
    judgments.loc[[3, 5], "inclusion_probability"] = np.nan
    result = score_systems(judgments, scores, options=FEW)
    assert result["s0"].indices["average_precision"].reason == "2 of 300 pairs have no inclusion probability"
    assert result["s0"].raw.spearman.value is not None
    assert any("2 of 300 pairs have no inclusion probability" in note for note in result.notes)
    equal = score_systems(judgments, scores, options=ScoringOptions(weights="equal", replicates=50, measures=()))
    assert equal["s0"].indices["average_precision"].value is not None


def test_judgments_without_probabilities_weigh_alike_and_say_so() -> None:
    judgments, scores = tables(systems=(0.7,))
    plain = judgments.drop(columns="inclusion_probability")
    result = score_systems(plain, scores, options=FEW)
    assert result.conventions["weights"] == "equal: the judgments carry no inclusion probability"
    equal = score_systems(judgments, scores, options=ScoringOptions(weights="equal", replicates=100, measures=()))
    assert result["s0"].indices["average_precision"].value == equal["s0"].indices["average_precision"].value


@pytest.mark.parametrize("power", [5.0, 1.0, 0.2])
def test_the_papers_weights_follow_its_pseudo_code(power: float) -> None:
    judgments, scores = tables(systems=(0.7,))
    order = np.argsort(-scores["score"].to_numpy())
    relevant = (judgments["judgment"].to_numpy() > 3.5)[order]
    weight = np.arange(1, len(order) + 1) ** power
    precision, recall = np.cumsum(weight * relevant) / np.cumsum(weight), np.cumsum(weight * relevant)
    recall /= recall[-1]
    expected = np.sum(np.diff(recall, prepend=0) * precision)
    options = ScoringOptions(weights="rank-power", power=power, replicates=10, measures=())
    result = score_systems(judgments, scores, options=options)
    system = result["s0"]
    assert f"to the power {power:g} " in result.conventions["weights"]
    assert system.indices["average_precision"].value == pytest.approx(expected, abs=1e-12)


def test_a_single_query_gives_figures_but_no_interval_and_says_why() -> None:
    judgments, scores = tables(queries=1, results=40, systems=(0.7,))
    system = score_systems(judgments, scores, options=FEW)["s0"]
    assert system.raw.pearson.value is not None
    assert system.raw.pearson.low is None
    assert system.raw.pearson.reason == "no interval: the pairs are of a single query"


def test_few_queries_are_warned_of() -> None:
    judgments, scores = tables(queries=4, systems=(0.7,))
    assert any("Only 4 queries" in note for note in score_systems(judgments, scores, options=FEW).notes)


def test_queries_of_which_no_pair_is_judged_are_counted_once_for_systems_alike() -> None:
    judgments, scores = tables(queries=4, systems=(0.7, 0.2))
    strange = scores.assign(query_id="other " + scores["query_id"].astype(str))
    table, pairs = pd.concat([scores, strange.iloc[::2]]), JudgedPairs.of(judgments)
    candidates, _ = candidates_of([("scores", table)], pairs, FEW)

    def notes(table: pd.DataFrame) -> list[str]:
        return beyond_notes(
            [(each, table[table["system"] == each.name]) for each in candidates], Judgments.of(judgments)
        )

    assert notes(table) == ["s0 and s1 score 4 queries of which no pair is judged; they have no part."]
    unjudged = scores.assign(result_id="other " + scores["result_id"].astype(str))
    assert notes(pd.concat([scores, unjudged])) == []  # of judged queries, so it is in every study


def test_judged_pairs_without_a_score_and_queries_without_any_are_counted() -> None:
    judgments, scores = tables(queries=4, systems=(0.7,))
    first = scores["query_id"] == scores["query_id"].iloc[0]
    options = replace(FEW, measures=("P@3",))
    notes = " ".join(score_systems(judgments, scores[~first], options=options).notes)
    assert "(75.0 %), nothing for 1 query; the others are left out, but count as not retrieved in P@3." in notes


def test_a_wrong_choice_is_refused_in_words() -> None:
    with pytest.raises(RelstudyError, match="weights: choose 'design', 'equal' or 'rank-power', not 'x'"):
        ScoringOptions(weights="x")
    with pytest.raises(RelstudyError, match="power 1 goes with --weights rank-power, not with design"):
        ScoringOptions(power=1)
    with pytest.raises(RelstudyError, match="threshold: a number is needed, not nan"):
        ScoringOptions(threshold=float("nan"))
    with pytest.raises(RelstudyError, match="policy: choose 'auto', 'drop' or 'worst', not 'x'"):
        ScoringOptions(policy="x")
    with pytest.raises(
        RelstudyError, match=r"direction: a dict of 'auto', .* is needed, not a dict in which 's0' is 'up'"
    ):
        ScoringOptions(directions={"s0": "up"})


def test_per_query_rows_hold_every_query_of_every_system() -> None:
    judgments, scores = tables()
    table = score_systems(judgments, scores, options=FEW).per_query
    assert len(table) == 2 * 20
    assert table["pairs"].eq(15).all()
    assert table["average_precision"].dropna().between(0, 1).all()


@pytest.mark.slow
def test_the_share_of_undecided_pairs_is_said_by_each_systems_score(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    ids = pd.DataFrame(
        {"query_id": np.repeat([f"q{k}" for k in range(6)], 10), "result_id": [f"r{k}" for k in range(60)]}
    )
    quality = random.uniform(1, 5, 60)
    rating = np.where(np.argsort(np.argsort(quality)) >= 54, np.nan, np.round(quality))  # people doubt the best six
    ratings = pd.concat([ids.assign(rater_id=f"rater {k}", rating=rating, calibrated=rating) for k in range(3)])
    ratings.to_csv(tmp_path / "calibrated.csv", index=False)
    judged = ids.assign(judgment=rating, inclusion_probability=0.5)[np.isfinite(rating)]
    judged.to_csv(tmp_path / "judgments.csv", index=False)
    scores = pd.concat([ids.assign(system="up", score=quality), ids.assign(system="down", score=-quality)])
    choices = {"replicates": 20, "measures": (), "method": "none", "direction": {"down": "lower"}}
    said = score(scores, tmp_path / "judgments.csv", **choices)
    note = (
        "6 of 60 pairs were left undecided by everyone and are not used (in the best, middle and last third by score: "
    )
    by_score = "up 30.0 %, 0.0 %, 0.0 %; down 30.0 %, 0.0 %, 0.0 %)"
    assert f"{note}{by_score}." in said.notes


def test_figures_that_stay_at_a_tied_score_are_a_line_of_the_output_and_of_their_system_alone() -> None:
    judgments, scores = tables(queries=8)
    one = scores["system"] == "s0"
    scores.loc[one, "score"] = scores.loc[one, "score"].round()
    result = score_systems(judgments, scores, options=FEW)
    said = [note for note in result.notes if "the same score" in note]
    assert len(said) == 1
    assert said[0].startswith(
        "s0 gives many pairs the same score, as ranks do, and equal scores are retrieved together: its precision and "
        "recall at "
    )
    points = {round(point["share"], 3): point for point in result.as_json()["systems"]["s0"]["precision_recall"]}
    assert points[0.1]["tied"]
    assert points[0.1]["retrieved"] > 0.15
    assert not points[1.0]["tied"]  # all pairs are retrieved, whatever is tied
    assert not any(point.tied for point in result["s1"].points)


def test_a_figure_that_is_missing_is_a_line_of_the_output_with_its_reason_once() -> None:
    judgments, scores = tables(queries=8)
    judgments["judgment"] = np.where(judgments["query_id"] == "q00", judgments["judgment"], 1.0)
    few = score_systems(judgments, scores, options=replace(FEW, replicates=40))
    assert "Some figures are without an interval, since too many bootstrap replicates have no value:" in " ".join(
        few.notes
    )
    judgments["judgment"] = 5.0
    notes = score_systems(judgments, scores, options=FEW).notes
    assert "Some figures are left empty, since all judgments are equal: correlation of s0 and s1." in notes
    assert sum("Every judged pair is relevant" in note for note in notes) == 1


def test_a_group_says_what_it_leaves_out() -> None:
    judgments, scores = tables(queries=6)
    groups = np.where(np.arange(len(judgments)) < 2, "two", "others")
    pairs = JudgedPairs.of(judgments)
    options = replace(FEW, measures=("nDCG@10",))
    few = scores[(scores["system"] == "s0") | (scores["result_id"].str[1:].astype(int) % 2 == 0)]
    candidates, _ = candidates_of([("few", few)], pairs, options)
    results = score_by(pairs, candidates, Grouping("half", groups), options)
    assert set(results) == {"others"}
    assert any(note.startswith("nDCG@10 is left out: of some queries only a part") for note in results["others"].notes)
    assert Groups("block", False, results, ("two",)).notes() == [
        "No figures for two: no system scores three judged pairs there.",
        f"The {len(results['others'].comparisons)} differences within groups are one family: p is corrected over all "
        "together.",
    ]
    groups[:4] = "two"
    two = score_by(pairs, candidates, Grouping("half", groups), options)["two"]
    assert "s1 scores fewer than three judged pairs here, and no figure is given." in two.notes


def test_queries_whose_draw_tells_no_variance_are_counted_in_a_line() -> None:
    judgments, scores = tables(queries=12)
    first = judgments["query_id"] == "q00"
    judgments["query_probability"] = 0.5
    judgments["inclusion_probability"] = 0.25
    judgments.loc[first, "inclusion_probability"] = 0.5
    judgments.loc[first.idxmax(), "inclusion_probability"] = 0.2
    notes = score_systems(judgments, scores, options=FEW).notes
    assert any(
        note.startswith("Intervals are not corrected for the part of 1 query in the collection") for note in notes
    )


def test_what_a_single_query_and_unknown_errors_leave_out_is_told() -> None:
    judgments, scores = tables(queries=1)
    result = score_systems(judgments, scores, options=replace(FEW, replicates=10))
    assert "s0 and s1 cannot be mapped out of fold: the pairs scored are of a single query." in result.notes
    assert result.conventions["explained"].endswith("the standard errors of the judgments are not known")


def test_the_table_of_scores_names_mappings_in_words() -> None:
    judgments, scores = tables(systems=(0.7,), queries=12, results=10)
    mapping = score(scores, judgments, replicates=20, measures=()).table["mapping"][0]
    assert mapping == "isotonic, out of fold (10 folds by query, seed 0)"
