"""The systems' own scores as a free judge: the regression, the candidates, the estimate and where it is off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special
from scipy.stats import rankdata

import relstudy as rs
from relstudy.analysis.judges.grades import JudgedSample, expected_by_grade
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.regression import FOLDS, PENALTIES, _fitted, expected_by_features
from relstudy.analysis.judges.run import AssistedScores, assist_by_systems, assist_scores
from relstudy.analysis.judges.systems import CannotHelp, systems_judge, universe_of
from relstudy.analysis.scoring.candidate import Candidate, candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.commands import relstudy, succeeds
from tests.simulations import simulation

SCALE = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
OPTIONS = ScoringOptions(replicates=100, method="none", measures=(), directions={"*": "higher"})
INDICES = ("relevant_share", "precision_at_0.2", "average_precision", "normalised_rank", "pearson")


@pytest.fixture(scope="module")
def world() -> World:
    return World.made(queries=50, results=40)


@pytest.fixture(scope="module")
def study(world: World) -> pd.DataFrame:
    return world.study(8, queries=20).assign(**SCALE)


def tables(world: World, *names: str) -> dict[str, pd.DataFrame]:
    return {name: world.pairs[PAIR].assign(score=world.pairs[name]) for name in names or ("score", "other")}


def given(study: pd.DataFrame, scores: dict[str, pd.DataFrame]) -> tuple[JudgedPairs, list[Candidate]]:
    pairs = JudgedPairs.of(study)
    return pairs, [candidate_of(pairs, name, rows, OPTIONS) for name, rows in scores.items()]


def helped(study: pd.DataFrame, scores: dict[str, pd.DataFrame], decided: float = 1.0, **more: Any) -> AssistedScores:
    pairs, candidates = given(study, scores)
    helper = systems_judge(candidates, scores, **more)
    return assist_by_systems(helper, pairs, candidates, OPTIONS, decided=decided, indices=INDICES)


def test_the_regression_is_that_of_its_penalised_likelihood() -> None:
    """Minimised by brute force: C times the weighted log loss of the shares, plus half the squared slopes."""
    random = np.random.default_rng(2)
    x, share, weight = random.normal(size=(60, 3)), random.uniform(size=60).round(1), random.uniform(0.2, 3, 60)
    share[:5] = [0, 1, 0, 1, 1]

    def loss(parameters: np.ndarray) -> float:
        logit = x @ parameters[:3] + parameters[3]
        likelihood = share * special.log_expit(logit) + (1 - share) * special.log_expit(-logit)
        return float(0.1 * -(weight @ likelihood) + 0.5 * parameters[:3] @ parameters[:3])

    best = optimize.minimize(loss, np.zeros(4), tol=1e-12).x
    slope, intercept = _fitted(x, share, weight, np.ones(60, dtype=bool), 0.1)
    # scikit-learn stops at a gradient of 1e-4
    np.testing.assert_allclose([*slope, intercept], best, atol=2e-3)


def test_where_people_all_say_the_same_the_share_is_that_with_half_a_pair_of_either_kind_beside_them() -> None:
    weight = np.array([0.5, 1.0, 2.0])
    for said, share in ((1.0, 4 / 4.5), (0.0, 0.5 / 4.5)):
        slope, intercept = _fitted(np.ones((3, 2)), np.full(3, said), weight, np.ones(3, dtype=bool), 0.1)
        assert slope.tolist() == [0, 0] and special.expit(intercept) == pytest.approx(share)


def test_a_pair_is_expected_without_its_own_querys_judgments() -> None:
    random = np.random.default_rng(3)
    query, x = np.repeat(np.arange(20), 8), random.normal(size=(200, 2))
    of_row = np.r_[query, np.full(40, -1)]
    sample = JudgedSample(np.arange(160), query, random.uniform(1, 9, 160))
    said = (x[:160, 0] + random.normal(size=160) > 0.5) * 1.0
    turned = said.copy()
    turned[query == 7] = 1 - said[query == 7]
    before, after = (expected_by_features(x, of_row, sample, each[None])[0] for each in (said, turned))
    slopes = [special.logit(each[of_row == 7]) for each in (before, after)]
    # the common intercept moves all rows alike; how the query's own rows differ does not move at all
    np.testing.assert_allclose(np.ptp(slopes[1] - slopes[0]), 0.0, atol=1e-9)
    assert np.ptp((special.logit(after) - special.logit(before))[of_row == 6]) > 1e-4
    assert np.ptp((special.logit(after) - special.logit(before))[of_row == -1]) > 1e-4


def test_cross_fitting_is_that_of_its_source_by_hand() -> None:
    """Zrnic and Candès 2024: a labelled pair by the model of the other folds, an unlabelled one by the mean of all
    models; here with one intercept for all and the penalty of the least loss on queries left out."""
    random = np.random.default_rng(6)
    query, x = np.repeat(np.arange(10), 12), random.normal(size=(150, 2))
    said = special.expit(x[:120, 0] + random.normal(size=120)).round(1)
    sample = JudgedSample(np.arange(120), query, random.uniform(1, 5, 120))
    of_row = np.r_[query, np.full(30, -1)]
    weight = np.sqrt(sample.weight) / np.sqrt(sample.weight).mean()
    fold = (np.random.default_rng(0).permutation(10) % FOLDS)[query]
    low, high = said.min(), said.max()
    share = (said - low) / (high - low)
    losses = {}
    for penalty in PENALTIES:
        models = [_fitted(x[:120], share, weight, fold != part, penalty) for part in range(FOLDS)]
        out = special.expit([x[k] @ models[fold[k]][0] + models[fold[k]][1] for k in range(120)])
        losses[penalty] = -weight @ (share * np.log(out) + (1 - share) * np.log(1 - out))
    models = [_fitted(x[:120], share, weight, fold != part, min(losses, key=losses.get)) for part in range(FOLDS)]
    intercept = np.mean([each for _, each in models])
    by_model = special.expit(np.stack([x @ slope for slope, _ in models]) + intercept)
    expected = low + (high - low) * np.r_[by_model[fold, np.arange(120)], by_model[:, 120:].mean(axis=0)]
    found = expected_by_features(x, of_row, sample, said[None])[0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_values_that_are_all_alike_are_expected_everywhere() -> None:
    sample = JudgedSample(np.arange(6), np.repeat([0, 1, 2], 2), np.ones(6))
    values = np.stack([np.full(6, 0.0), np.full(6, 3.0)])
    expected = expected_by_features(np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) // 2 - 1, sample, values)
    np.testing.assert_array_equal(expected, np.repeat([[0.0], [3.0]], 9, axis=1))


def test_a_judge_whose_scores_fall_where_people_see_more_is_followed_downwards() -> None:
    rating, query = np.random.default_rng(0).permutation(60).astype(float), np.repeat(np.arange(6), 10)
    values = 1 - rating / 60
    sample = JudgedSample(np.arange(60), query, np.ones(60))
    expected = expected_by_grade(rating, query, sample, values[None], values)[0]
    assert np.corrcoef(expected, values)[0, 1] > 0.9


def test_of_one_query_alone_the_mean_of_what_was_said_is_expected_everywhere() -> None:
    sample = JudgedSample(np.arange(4), np.zeros(4, dtype=int), np.array([1.0, 1.0, 1.0, 2.0]))
    features, values = np.random.default_rng(0).normal(size=(6, 2)), np.array([[0.0, 0.0, 0.0, 5.0]])
    expected = expected_by_features(features, np.zeros(6, dtype=int), sample, values)
    np.testing.assert_allclose(expected, 2.0)  # 5 by two parts in five of the weight


def test_features_are_normal_scores_and_log_ranks_best_first_whatever_the_direction() -> None:
    ids = {"query_id": list("aaabb"), "result_id": list("vwxyz")}
    score = np.array([3.0, 1.0, 1.0, 5.0, 2.0])
    judgments = pd.DataFrame({**ids, "judgment": [1.0, 0, 0, 1, 0], "inclusion_probability": 0.5, **SCALE})
    pairs = JudgedPairs.of(judgments)
    up, down = pd.DataFrame(ids).assign(score=score), pd.DataFrame(ids).assign(score=10 - 2 * score)
    stated = ScoringOptions(measures=(), directions={"up": "higher", "down": "lower"})
    candidates = [candidate_of(pairs, "up", up, stated), candidate_of(pairs, "down", down, stated)]
    features = systems_judge(candidates, {"up": up, "down": down}).features

    def standard(values: np.ndarray) -> np.ndarray:
        return (values - values.mean()) / values.std()

    normal = special.ndtri((rankdata(score) - 0.5) / 5)
    expected = np.stack([standard(normal), standard(np.log([1, 2.5, 2.5, 1, 2]))], axis=1)
    np.testing.assert_allclose(features, np.c_[expected, expected], atol=1e-6)  # float32


@pytest.mark.slow
def test_a_mean_is_the_difference_estimator_by_brute_force(world: World, study: pd.DataFrame) -> None:
    """H(s; y) + l2 [H(U_s; m) - H(s; m)] + l1 [H(U; m) - H(U_s; m)] with m of the regression, summed by hand."""
    scores = tables(world)
    pairs, candidates = given(study, scores)
    figure = helped(study, scores).systems["score"]["relevant_share"]
    judge = systems_judge(candidates, scores)
    m = universe_of(judge, context_for(pairs, judge.table, OPTIONS)).worth.relevance
    by_pair = dict(zip(zip(judge.table.query_id, judge.table.result_id, strict=True), m, strict=True))
    of_sample = np.array([by_pair[pair] for pair in study[PAIR].itertuples(index=False, name=None)])
    weight = 1 / study["inclusion_probability"].to_numpy()
    people, judged = (np.average(each, weights=weight) for each in (study["judgment"], of_sample))
    sampled, whole = m[np.isin(judge.table.query_id, study["query_id"].unique())].mean(), m.mean()
    within, between = figure.weights
    assert within > 0.2 and between > 0.2
    expected = people + within * (sampled - judged) + between * (whole - sampled)
    assert figure.estimate.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_scores_that_know_something_shorten_and_noise_widens_nothing(world: World, study: pd.DataFrame) -> None:
    found = helped(study, tables(world))
    assert found.systems["score"]["relevant_share"].width_ratio < 0.95
    random = np.random.default_rng(4)
    noise = {name: rows.assign(score=random.normal(size=len(rows))) for name, rows in tables(world).items()}
    for figures in helped(study, noise).systems.values():
        assert all(each.width_ratio <= 1 + 1e-9 for each in figures.values())


@pytest.mark.slow
def test_in_a_world_whose_truth_is_known_help_shortens_and_garbage_widens_nothing() -> None:
    """A small version of `python evidence/coverage.py assisted`: 3 studies of 25 queries."""
    script = simulation("assisted")
    for kind in ("independent", "garbage"):
        world = script.make_world(6, kind)
        tallies = script.run_cell(world, 25, 3, kind)["systems"]
        widths = {key: each.width for key, each in tallies.items() if each.rows}
        assert max(widths.values()) <= 1.02, kind
        if kind == "independent":
            assert widths["one", "relevant_share"] < 0.8 and widths["one", "pearson"] < 0.85


@pytest.mark.slow
def test_a_judge_beside_the_systems_is_at_least_as_good(world: World, study: pd.DataFrame) -> None:
    from relstudy.analysis.judges.table import read_judge

    judge = read_judge(world.judge(0.5), "model")
    both = helped(study, tables(world), judge=judge)
    alone = helped(study, tables(world)).systems["score"]["relevant_share"]
    assert both.systems["score"]["relevant_share"].width_ratio < 0.8 * alone.width_ratio
    pairs, candidates = given(study, tables(world))
    of_judge = assist_scores(Universe.of(pairs, judge, OPTIONS), candidates, tables(world), INDICES)
    ratios = [
        both.systems[name][index].width / figure.width
        for name, figures in of_judge.systems.items()
        for index, figure in figures.items()
    ]
    ratios += [both.differences[key].width / figure.width for key, figure in of_judge.differences.items()]
    # at least one is shorter by the scores, and none longer
    assert max(ratios) <= 1 and min(ratios) < 1
    assert both.alone[0]["score"]["pearson"] == of_judge.alone[0]["score"]["pearson"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("few queries", "19 judged queries are fewer than 20"),
        ("judged alone", "hold the judged pairs alone"),
        ("another population", "were drawn from about"),
        ("no sample", "no probability sample"),
        ("missing", "no system has a score for all"),
    ],
)
def test_it_is_off_where_the_tables_are_not_what_was_sampled_from(
    world: World, study: pd.DataFrame, change: str, reason: str
) -> None:
    scores = tables(world)
    if change == "judged alone":
        scores = {name: study[PAIR].merge(rows, on=PAIR) for name, rows in scores.items()}
    elif change == "few queries":
        study = study[study["query_id"] != study["query_id"].iloc[0]].reset_index(drop=True)
    elif change == "another population":  # every query has as many results again that nobody could have drawn
        more = {name: rows.assign(result_id="other " + rows["result_id"]) for name, rows in scores.items()}
        scores = {name: pd.concat([rows, more[name]], ignore_index=True) for name, rows in scores.items()}
    elif change == "no sample":
        study = study.drop(columns=["inclusion_probability", "query_probability"])
    else:
        scores = {name: rows.drop(index=rows.index[number]) for number, (name, rows) in enumerate(scores.items())}
    with pytest.raises(CannotHelp, match=reason):
        helped(study, scores)


@pytest.mark.slow
def test_the_pool_says_what_could_be_drawn(world: World, study: pd.DataFrame) -> None:
    scores = tables(world)
    extended = {
        name: pd.concat([rows, rows.assign(result_id="other " + rows["result_id"])], ignore_index=True)
        for name, rows in scores.items()
    }
    pool = pd.MultiIndex.from_frame(world.pairs[PAIR])
    with_pool = helped(study, extended, population=pool).table()
    pd.testing.assert_frame_equal(with_pool, helped(study, scores).table())


def test_figures_of_few_hits_stand_by_people_alone(world: World, study: pd.DataFrame) -> None:
    """However well scores and a handful of pairs agree: the width of such a figure came to nothing in real data."""
    pairs, candidates = given(study, tables(world))
    found = assist_by_systems(systems_judge(candidates, tables(world)), pairs, candidates, OPTIONS).systems["score"]
    few = {name: each for name, each in found.items() if name in ("precision_at_0.02", "recall_at_0.02")}
    assert few and all(each.weights == (0.0, 0.0) and each.estimate == each.people for each in few.values())
    assert found["relevant_share"].weights != (0.0, 0.0)


def test_a_system_without_all_candidates_stands_by_people_alone(world: World, study: pd.DataFrame) -> None:
    scores = tables(world)
    scores["new"] = study[PAIR].merge(scores["other"], on=PAIR)
    found = helped(study, scores)
    assert set(found.systems) == {"score", "other"}
    assert "new lacks scores of some of the 2,000 candidates: people alone." in found.notes


@pytest.mark.slow
def test_raters_have_their_part_in_what_is_helped(world: World, study: pd.DataFrame) -> None:
    """With a panel's ratings intervals speak of any raters, as without help; of these raters alone they are shorter."""
    random = np.random.default_rng(5)
    panel = study.loc[study.index.repeat(3), PAIR].assign(
        rater_id=np.tile(["a", "b", "c"], len(study)), calibrated=np.nan
    )
    lenient = {"a": -0.35, "b": 0.0, "c": 0.35}
    value = (
        study["judgment"].repeat(3).to_numpy() + panel["rater_id"].map(lenient) + 0.3 * random.normal(size=len(panel))
    )
    panel["calibrated"] = value.to_numpy()
    mean = panel.groupby(PAIR, sort=False)["calibrated"].mean().reset_index(drop=True)
    share = (
        (panel["calibrated"] > 0.5).groupby([panel[name] for name in PAIR], sort=False).mean().reset_index(drop=True)
    )
    study = study.assign(judgment=mean.to_numpy(), relevant_share=share.to_numpy(), scale_low=-2.0, scale_high=3.0)
    wide = world.scores
    asked = {"method": "none", "measures": [], "replicates": 100, "assist": "systems", "direction": "higher"}
    every, these = (rs.score(wide, study, ratings=panel, raters=who, **asked) for who in ("any", "these"))
    first, second = (each.assisted.set_index(["system", "index"]) for each in (every, these))
    width = [each["high"] - each["low"] for each in (first, second)]
    assert (width[0] > 1.05 * width[1])["score", "average_precision"]
    plain = every.result["score"].indices["average_precision"]
    alone = first.loc[("score", "average_precision")]
    assert [alone["people_low"], alone["people_high"]] == pytest.approx([plain.low, plain.high])


@pytest.mark.slow
def test_score_says_what_helped_and_why_it_does_not(world: World, study: pd.DataFrame, tmp_path: Path) -> None:
    judgments, scores, narrow = (tmp_path / name for name in ("judgments.csv", "scores.csv", "narrow.csv"))
    study.to_csv(judgments, index=False)
    world.scores.to_csv(scores, index=False)
    study[PAIR].merge(world.scores, on=PAIR).to_csv(narrow, index=False)
    command = ["score", "-j", str(judgments), "--method", "none", "--replicates", "50", "--assist", "systems"]
    done = succeeds(*command, scores)
    assert "with systems' scores" in done.output and "2,000 pairs of 50 queries" in done.output
    done = succeeds(*command, narrow)
    assert "The systems' scores do not help: the score tables hold the judged pairs alone" in done.output
    # also where seven systems leave no room for notes: it was asked for
    several = study[PAIR].merge(world.scores, on=PAIR)
    several.assign(**{f"s{k}": several["score"] * (k - 2.5) for k in range(5)}).to_csv(narrow, index=False)
    done = relstudy(*command, narrow)
    assert done.output.count("The systems' scores do not help") == 1 and "notes: --verbose" in done.output
    told = json.loads(relstudy(*command, scores, "--json").output)
    assert told["systems"]["score"]["assisted"]["average_precision"]["people"]["value"] == pytest.approx(
        told["systems"]["score"]["average_precision"]["value"]
    )
