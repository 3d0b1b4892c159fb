"""What "relevant" means: a share of people or a judgment above a cut, and where the ratings are looked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.indices import precision_recall as pr
from relstudy.analysis.indices.normalised_rank import (
    normalised_rank_fifth_power,
    normalised_rank_plain,
    random_assignment,
)
from relstudy.analysis.indices.per_query import within_queries
from relstudy.analysis.resampling.bootstrap import query_counts
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.relevance import relevance_of
from relstudy.analysis.scoring.run import score_systems
from relstudy.api.calibrating import calibrate
from relstudy.api.calibrating import read_ratings as read
from relstudy.api.scoring import score
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds
from tests.simulations import simulation

TIGHT = 1e-12
"""Sums of a few hundred products in double precision, in another order."""


def shares(seed: int, pairs: int = 60, steps: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Shares of up to three ratings, scores with ties, weights and queries."""
    random = np.random.default_rng(seed)
    many = random.integers(1, 4, pairs)
    share = random.binomial(many, 0.3) / many
    return (
        share,
        random.integers(0, steps, pairs) / 3.0,
        np.exp(random.normal(0, 1.5, pairs)),
        random.integers(0, 6, pairs),
    )


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([3, 9, 10**9]))
@settings(max_examples=40, deadline=None)
def test_indices_of_shares_are_their_double_sums_in_every_replicate(seed: int, steps: int) -> None:
    """Brute force over all couples of pairs: precision counts shares, and no pair is held against itself."""
    share, score, weight, query = shares(seed, steps=steps)
    counts = query_counts(6, 20, seed)
    found = pr.Retrieval(query, share, counts).indices(score, weight)
    for column in (-1, 0, 7, 19):
        w = weight * (1.0 if column < 0 else counts[query, column])
        above = score[None, :] >= score[:, None]
        hits, misses = w * share, w * (1 - share)
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.nansum(hits * (above @ hits) / (above @ w)) / hits.sum()
        wrong = (score[None, :] > score[:, None]) + 0.5 * (score[None, :] == score[:, None])
        couples = np.outer(hits, misses)
        np.fill_diagonal(couples, 0.0)
        expected = {"average_precision": precision, "normalised_rank": (couples * wrong).sum() / couples.sum()}
        for index, figure in found.items():
            value = figure.value if column < 0 else figure.replicates[column]
            assert value == pytest.approx(expected[index], abs=TIGHT, nan_ok=True)


def test_indices_of_shares_within_a_query_are_those_of_the_query_alone() -> None:
    share, score, weight, query = shares(3, 300)
    precision, area = within_queries(query, score, share, weight, 6)
    for number in range(6):
        own = query == number
        alone = pr.Retrieval(np.zeros(own.sum(), dtype=int), share[own], np.ones((1, 1))).indices(
            score[own], weight[own]
        )
        assert precision[number] == pytest.approx(alone["average_precision"].value, abs=1e-9)
        assert 1 - area[number] == pytest.approx(alone["normalised_rank"].value, abs=1e-9)


def test_the_curve_and_operating_points_of_shares_are_weighted_ratios() -> None:
    share, score, weight, query = shares(5, 400, 10**9)
    curve = pr.precision_recall_curve(share, score, weight)
    points = pr.Retrieval(query, share, query_counts(6, 5)).operating_points(score, weight, (0.2, 1.0))
    for k in (0, 57, 399):
        taken = score >= curve.threshold[k]
        hits = (weight * share)[taken].sum()
        assert curve.precision[k] == pytest.approx(hits / weight[taken].sum(), abs=TIGHT)
        assert curve.recall[k] == pytest.approx(hits / (weight * share).sum(), abs=TIGHT)
    taken = score >= points.threshold[0]
    assert points.precision[0].value == pytest.approx((weight * share)[taken].sum() / weight[taken].sum(), abs=TIGHT)
    assert points.recall[0].value == pytest.approx((weight * share)[taken].sum() / (weight * share).sum(), abs=TIGHT)
    assert points.precision[1].value == pytest.approx(float(np.average(share, weights=weight)), abs=TIGHT)


@pytest.mark.slow
def test_random_baselines_of_shares_are_means_over_random_orders() -> None:
    share, _, _, _ = shares(1, 200)
    random = np.random.default_rng(2)
    orders = [random.permutation(200).astype(float) for _ in range(600)]
    drawn = np.array([[normalised_rank_plain(share, o), normalised_rank_fifth_power(share, o)] for o in orders])
    chance = random_assignment(share)
    for values, name in zip(drawn.T, ("plain", "fifth_power"), strict=True):
        assert values.mean() == pytest.approx(chance[name], abs=4 * values.std() / np.sqrt(600))
    by_share = random.permutation(200) * 1e-6 + share
    assert normalised_rank_fifth_power(share, by_share) == pytest.approx(0, abs=TIGHT)
    assert normalised_rank_fifth_power(share, -by_share) == pytest.approx(1, abs=TIGHT)


@pytest.fixture
def ratings() -> pd.DataFrame:
    """Three of six raters on each of 60 pairs of 12 queries, without offsets."""
    random = np.random.default_rng(4)
    pair = np.repeat(np.arange(60), 3)
    quality = random.normal(3, 1, 60)
    return pd.DataFrame(
        {
            "rater_id": [f"r{(p + k) % 6}" for p, k in zip(pair, np.tile([0, 1, 2], 60), strict=True)],
            "query_id": [f"q{p // 5}" for p in pair],
            "result_id": [f"x{p}" for p in pair],
            "rating": np.clip(np.round(quality[pair] + random.normal(0, 0.7, 180)), 1, 5),
            "scale": "1-5",
            "inclusion_probability": 0.5,
        }
    )


@pytest.fixture
def folder(ratings: pd.DataFrame, tmp_path: Path) -> Path:
    """A study's folder: judgments.csv, calibrated.csv and one system's scores."""
    panel = calibrate(read(ratings), method="none")
    panel.judgments.to_csv(tmp_path / "judgments.csv", index=False)
    panel.ratings.to_csv(tmp_path / "calibrated.csv", index=False)
    scores = panel.judgments[["query_id", "result_id"]].assign(
        system="one", score=panel.judgments["judgment"] + np.random.default_rng(1).normal(0, 1, 60)
    )
    scores.to_csv(tmp_path / "one.csv", index=False)
    return tmp_path


def answer(*arguments: object) -> dict:
    done = succeeds("score", *arguments, "--json", "--replicates", "20", "--method", "none")
    return json.loads(done.stdout)


def above(ratings: pd.DataFrame, cut: float) -> float:
    return float((ratings["rating"] > cut).groupby([ratings["query_id"], ratings["result_id"]]).mean().sum())


@pytest.mark.slow
def test_judgments_carry_the_share_of_their_ratings_above_the_cut(ratings: pd.DataFrame, folder: Path) -> None:
    written = pd.read_csv(folder / "judgments.csv").set_index(["query_id", "result_id"])
    by_hand = (ratings["rating"] > 3.5).groupby([ratings["query_id"], ratings["result_id"]]).mean()
    np.testing.assert_allclose(written["relevant_share"], by_hand.reindex(written.index), atol=TIGHT)
    assert (written["relevance_cut"] == 3.5).all()
    found = answer(folder / "one.csv", "-j", folder / "judgments.csv")
    assert found["pairs"]["relevant"] == pytest.approx(above(ratings, 3.5))
    assert found["conventions"]["relevance"] == "share"
    assert "what 7 of 10 people would call a good match counts 0.7" in found["conventions"]["relevant"]


@pytest.mark.slow
def test_another_cut_takes_the_ratings_beside_the_judgments(ratings: pd.DataFrame, folder: Path) -> None:
    by_itself = answer(folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 2.5)
    assert by_itself["pairs"]["relevant"] == pytest.approx(above(ratings, 2.5))
    (folder / "calibrated.csv").rename(folder / "elsewhere.csv")
    stated = answer(
        folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 2.5, "--ratings", folder / "elsewhere.csv"
    )
    assert stated == by_itself
    api = score(
        folder / "one.csv",
        folder / "judgments.csv",
        threshold=2.5,
        ratings=folder / "elsewhere.csv",
        replicates=20,
        method="none",
    )
    assert json.loads(json.dumps(api.summary())) == stated


@pytest.mark.slow
def test_another_cut_without_ratings_is_the_mean_and_says_so_or_is_refused(folder: Path) -> None:
    (folder / "calibrated.csv").unlink()
    found = answer(folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 2.5)
    assert found["conventions"]["relevance"] == "mean"
    assert found["conventions"]["relevant"] == (
        "judgment > 2.5, since the judgments' shares are of the cut 3.5, and another needs the ratings "
        "(calibrated.csv beside the judgments or a stated table of ratings gives them)"
    )
    arguments = [str(folder / "one.csv"), "-j", str(folder / "judgments.csv"), "--threshold", "2.5"]
    refused = relstudy("score", *arguments, "--relevance", "share")
    assert refused.exit_code == 1
    assert "relevance cannot be the share of ratings: the judgments' shares are of the cut 3.5" in refused.stderr
    # the cut is 3.5 and the judgments say so: the old rule by its name
    old = answer(folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 3, "--relevance", "mean")
    written = pd.read_csv(folder / "judgments.csv")
    assert old["pairs"]["relevant"] == (written["judgment"] > 3).sum()
    assert old["conventions"]["relevant"] == "judgment > 3"


@pytest.mark.slow
def test_ratings_of_other_judgments_are_refused_where_named_and_left_out_where_found(folder: Path) -> None:
    table = pd.read_csv(folder / "calibrated.csv")
    table.assign(calibrated=6 - table["calibrated"]).to_csv(folder / "calibrated.csv", index=False)
    found = answer(folder / "one.csv", "-j", folder / "judgments.csv")
    assert any(note.startswith("calibrated.csv: these are not the ratings that") for note in found["notes"])
    arguments = [str(folder / "one.csv"), "-j", str(folder / "judgments.csv")]
    refused = relstudy("score", *arguments, "--ratings", folder / "calibrated.csv")
    assert refused.exit_code == 1
    assert "these are not the ratings that the judgments were made of" in refused.stderr


@pytest.mark.slow
def test_judgments_without_ratings_and_qrels_take_the_mean_rule_and_say_so(folder: Path) -> None:
    plain = pd.read_csv(folder / "judgments.csv")[["query_id", "result_id", "judgment"]]
    (folder / "other").mkdir()
    plain.to_csv(folder / "other" / "judgments.csv", index=False)
    found = answer(folder / "one.csv", "-j", folder / "other" / "judgments.csv")
    assert found["conventions"]["relevant"] == "judgment > 3.5, since the judgments come without shares or ratings"
    lines = [f"{q} 0 {r} {int(j > 3)}" for q, r, j in plain.itertuples(index=False)]
    (folder / "a.qrels").write_text("\n".join(lines))
    found = answer(folder / "one.csv", "-j", folder / "a.qrels")
    assert found["conventions"]["relevant"] == "judgment > 0.5, since qrels hold grades and no ratings"


@pytest.mark.slow
def test_a_table_of_ratings_given_as_judgments_tells_the_share_for_any_cut(
    ratings: pd.DataFrame, tmp_path: Path
) -> None:
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    scores = ratings[["query_id", "result_id"]].drop_duplicates()
    scores.assign(system="one", score=range(60)).to_csv(tmp_path / "one.csv", index=False)
    for cut in (3.5, 1.5):
        found = answer(tmp_path / "one.csv", "-j", tmp_path / "ratings.csv", "--threshold", cut)
        assert found["pairs"]["relevant"] == pytest.approx(above(ratings, cut))


@pytest.mark.slow
def test_a_saved_comparison_keeps_the_shares_of_its_own_cut(folder: Path) -> None:
    scores = pd.read_csv(folder / "one.csv")
    scores.assign(system="two", score=-scores["score"]).to_csv(folder / "two.csv", index=False)
    cut = ("-j", folder / "judgments.csv", "--threshold", 2.5)
    answer(folder / "one.csv", *cut, "--save", folder / "saved.json")
    (folder / "calibrated.csv").rename(folder / "kept.csv")
    apart = answer(folder / "two.csv", "--against", folder / "saved.json")
    with_judgments = answer(folder / "two.csv", "-j", folder / "judgments.csv", "--against", folder / "saved.json")
    (folder / "kept.csv").rename(folder / "calibrated.csv")
    whole = answer(folder / "one.csv", folder / "two.csv", *cut)
    for part in ("systems", "comparisons", "conventions", "pairs"):
        assert apart[part] == with_judgments[part] == whole[part]


@pytest.mark.slow
def test_a_comparison_saved_before_there_were_shares_is_scored_as_it_was(folder: Path) -> None:
    answer(
        folder / "one.csv",
        "-j",
        folder / "judgments.csv",
        "--threshold",
        3,
        "--relevance",
        "mean",
        "--save",
        folder / "s.json",
    )
    content = json.loads((folder / "s.json").read_text())
    before = {name: value for name, value in content.items() if name != "checksum"} | {"version": 2}
    before["options"] = {name: value for name, value in content["options"].items() if name != "relevance"}
    for name in ("relevant_share", "relevance_cut"):
        del before["judgments"][name]
    (folder / "s.json").write_text(json.dumps(before))
    pd.read_csv(folder / "one.csv").assign(system="two").to_csv(folder / "two.csv", index=False)
    found = answer(folder / "two.csv", "--against", folder / "s.json")
    assert (found["conventions"]["relevance"], found["conventions"]["threshold"]) == ("mean", 3.0)


@pytest.mark.slow
def test_a_cut_that_much_lies_at_is_said(folder: Path) -> None:
    found = answer(folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 3)
    assert any(
        "of the calibrated ratings lie within a tenth of a step of the cut 3," in note for note in found["notes"]
    )
    found = answer(folder / "one.csv", "-j", folder / "judgments.csv")
    assert not any("lie within a tenth" in note for note in found["notes"])
    mean = answer(folder / "one.csv", "-j", folder / "judgments.csv", "--threshold", 3, "--relevance", "mean")
    assert any("of the judgments lie within a tenth of a step of the cut 3," in note for note in mean["notes"])


def test_shares_outside_0_to_1_and_two_cuts_are_faults_of_the_table(folder: Path) -> None:
    table = pd.read_csv(folder / "judgments.csv")
    table.loc[0, "relevant_share"] = 1.2
    table.loc[1, "relevance_cut"] = 3
    table.to_csv(folder / "judgments.csv", index=False)
    done = relstudy("score", folder / "one.csv", "-j", folder / "judgments.csv")
    assert done.exit_code == 1
    assert "relevant_share" in done.stderr and "relevance_cut" in done.stderr


def test_some_shares_unknown_is_the_mean_rule_with_the_reason() -> None:
    ids = {"query_id": list("aabb"), "result_id": list("wxyz")}
    pairs = JudgedPairs.of(pd.DataFrame(ids | {"judgment": [5.0, 1, 4, 2], "relevant_share": [1.0, 0, np.nan, 0]}))
    relevance = relevance_of(pairs)
    assert relevance.sentence() == "judgment > 3.5, since 1 of 4 pairs have no relevant_share"
    assert relevance.values.tolist() == [1, 0, 1, 0]
    with pytest.raises(RelstudyError, match="relevance: choose 'auto', 'share' or 'mean', not 'most'"):
        ScoringOptions(relevance="most")


def test_condensed_measures_take_what_most_raters_call_relevant() -> None:
    ids = {"query_id": ["q"] * 3, "result_id": list("abc")}
    judgments = pd.DataFrame(ids | {"judgment": [3.6, 3.4, 1.0], "relevant_share": [0.5, 0.6, 0.0]})
    scores = pd.DataFrame(ids | {"system": "one", "score": [3.0, 2.0, 1.0]})
    options = ScoringOptions(replicates=5, measures=("P@1", "P@2"), directions={"*": "higher"})
    measures = score_systems(judgments, scores, options=options)["one"].measures
    assert [measures[f"condensed {name}"].value for name in ("P@1", "P@2")] == [0.0, 0.5]


@pytest.mark.slow
def test_with_one_rating_a_pair_the_default_rule_covers_what_it_estimates_and_the_old_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The table of docs/scoring.md with fewer studies."""
    module = simulation("relevance")
    monkeypatch.setattr(module, "REPLICATES", 50)
    # rule -> truth, held by intervals of these raters, by those of any, bias
    rows = {row[2]: [float(cell) for cell in row[3:7]] for row in module.table(12, 1, 0.0)}
    # 95 % in 12 studies has a standard error of 6 points; the mean of 12 errors of .02 one of .006
    assert min(rows["share > 3.5"][1:3]) >= 0.75
    assert abs(rows["share > 3.5"][3]) < 0.025
    assert rows["mean > 3"][1] < 0.4
    assert rows["mean > 3"][3] > 0.04
