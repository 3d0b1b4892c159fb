"""Planning: variances recovered, power that grows as theory says, sizes that keep their promise."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import stats

from relstudy.analysis.indices.known import index_of
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.picture import power_curve
from relstudy.analysis.planning.power import (
    fit_power,
    plan_study,
    simulate,
)
from relstudy.analysis.planning.sources import Pilot, assumed_studies, piloted_studies
from relstudy.analysis.planning.studies import Assumed, Piloted
from relstudy.analysis.planning.study_plan import PowerPoint
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.calibration.components import Variances, variances_of
from relstudy.calibration.judgments import Judgments
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.cli import main

SPREAD = Variances(query=0.4, result=1.0, rater=0.3, noise=0.7)


def pilot(seed: int, queries: int = 60, results: int = 10, raters: int = 12, each: int = 4) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    offset = SPREAD.rater * random.normal(size=raters)
    rows = []
    for q in range(queries):
        level = SPREAD.query * random.normal()
        for r in range(results):
            truth = 3 + level + SPREAD.result * random.normal()
            for rater in random.choice(raters, each, replace=False):
                rows.append((f"h{rater}", f"q{q}", f"r{r}", truth + offset[rater] + SPREAD.noise * random.normal()))
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"])


@pytest.mark.slow
def test_variances_are_recovered_from_ratings_made_with_them() -> None:
    found = np.mean([list(variances_of(pilot(seed)).as_json().values()) for seed in range(8)], axis=0)
    # eight pilots of 60 queries and 12 raters: standard errors near .015, .01, .025, .004
    assert found == pytest.approx([SPREAD.query, SPREAD.result, SPREAD.rater, SPREAD.noise], abs=0.06)


def test_noise_without_repeated_pairs_is_refused_in_words() -> None:
    single = pilot(0).drop_duplicates(["query_id", "result_id"])
    with pytest.raises(RelstudyError, match="pairs rated by several raters are needed; state --noise instead"):
        variances_of(single)


def test_undecided_ratings_count_as_nothing() -> None:
    ratings = pilot(1)
    undecided = pd.concat([ratings, ratings.iloc[:50].assign(rater_id="late", rating=np.nan)])
    assert variances_of(undecided) == variances_of(ratings)


@pytest.mark.slow
def test_equal_systems_are_told_apart_no_oftener_than_the_test_allows() -> None:
    same = Assumed(SPREAD, 0.5, 0.5, results=10)
    point, differences = simulate(same, 40, PlanOptions(studies=300))
    # half of the false finds point to the side that came out ahead; binomial standard error .009
    assert point.power < 0.06
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(300)


@pytest.mark.slow
def test_power_grows_with_queries_and_the_planned_size_keeps_its_promise() -> None:
    source = Assumed(SPREAD, 0.55, 0.4, results=10)
    plan = plan_study(source, PlanOptions(power=0.8, studies=100, seed=1))
    powers = [point.power for point in plan.points]
    assert powers[0] < powers[-1]
    assert plan.queries is not None
    check, _ = simulate(source, plan.queries, PlanOptions(studies=200, seed=99))
    # 200 studies: standard error .028, and the plan rests on 400 of its own
    assert check.power == pytest.approx(0.8, abs=0.1)
    assert plan.pairs == plan.queries * 10
    assert plan.raters == -(-plan.pairs // 200)  # of 300 ratings, 100 are of the base block
    assert plan.ratings == plan.pairs + plan.raters * 100
    low, high = plan.interval
    assert low is not None and high is not None
    assert low < plan.queries < high


@pytest.mark.slow
def test_less_noise_needs_fewer_queries_and_more_ratings_a_pair_do_the_same() -> None:
    loud = Variances(0.4, 1.0, 0.3, 2.0)
    once = plan_study(Assumed(loud, 0.6, 0.4, results=10), PlanOptions(studies=60))
    often = plan_study(Assumed(loud, 0.6, 0.4, results=10, ratings_each=4), PlanOptions(studies=60))
    assert once.queries is not None and often.queries is not None and often.ratings is not None
    assert often.queries < once.queries
    assert often.load is not None
    assert often.load.unique == often.pairs * 4


@pytest.mark.slow
@pytest.mark.parametrize("index", ["average_precision", "normalised_rank"])
def test_indices_of_retrieval_are_planned_for_too(index: str) -> None:
    plan = plan_study(Assumed(SPREAD, 0.7, 0.3, results=10, weight_spread=1.0), PlanOptions(index, studies=40))
    assert plan.queries is not None
    assert plan.queries > 0
    assert f"in {index_of(index).term} (" in plan.sentence()


@pytest.mark.slow
def test_systems_that_do_not_differ_end_with_a_sentence_that_says_no_size_is_enough() -> None:
    plan = plan_study(Assumed(SPREAD, 0.5, 0.5, results=5), PlanOptions(studies=30), sizes=[10, 20])
    assert plan.queries is None or plan.queries > 200
    never = plan_study(Assumed(SPREAD, 0.5, 0.499999, alike=0.999, results=5), PlanOptions(studies=30), sizes=[4])
    assert isinstance(never.sentence(), str)


def test_fitted_power_recovers_the_curve_it_was_made_from() -> None:
    points = [PowerPoint(n, float(stats.norm.cdf(0.21 * np.sqrt(n) - 1.96)), 10**6) for n in (30, 80, 200)]
    assert fit_power(points, 0.05) == pytest.approx(0.21, abs=1e-3)


def test_a_pilot_is_redrawn_in_whole_queries() -> None:
    random = np.random.default_rng(0)
    query = np.repeat(np.arange(8), [3, 5, 4, 6, 2, 5, 5, 4])
    tag = query + np.arange(len(query)) / 100
    source = Piloted(query, tag, np.ones(len(query)), tag > 3, tag, -tag)
    study = source.draw(50, random)
    for number in range(50):
        own = study.judgment[study.query == number]
        name = int(own[0])
        assert own.tolist() == tag[query == name].tolist()
    assert source.results == pytest.approx(len(query) / 8)


def test_a_pilot_in_which_nothing_differs_is_refused() -> None:
    query, score = np.repeat(np.arange(5), 4), np.tile(np.arange(4.0), 5)
    source = Piloted(query, np.full(20, 3.0), np.ones(20), np.zeros(20, bool), score, -score)
    with pytest.raises(RelstudyError, match="in no simulated study can the two systems be compared by pearson"):
        plan_study(source, PlanOptions(studies=20))


def test_a_pilot_of_a_single_query_and_two_systems_alike_are_refused() -> None:
    """All studies made of one query are the same, and a difference that is always found was said never to be."""
    pairs = {"query_id": ["q"] * 4, "result_id": list("abcd")}
    judgments = Judgments.of(pd.DataFrame({**pairs, "judgment": [1.0, 2, 4, 5]}))
    parts = [pd.DataFrame({**pairs, "system": name, "score": [1.0, 2, 3, last]}) for name, last in (("a", 4), ("b", 0))]
    with pytest.raises(RelstudyError, match="judged pairs that both systems score are of a single query"):
        piloted_studies(Pilot(judgments, pd.concat(parts)))
    with pytest.raises(RelstudyError, match=r"both systems are assumed to correlate 0\.4"):
        assumed_studies(Assumptions(correlations=(0.4, 0.4)))


def test_a_pilot_with_one_system_is_told_that_another_is_needed(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,result_id,new\nq,x,1\nq,y,2\n")
    words = ["plan", "--judgments", str(tmp_path / "s.csv"), "--scores", str(tmp_path / "s.csv")]
    assert "two systems in one table are needed, and it holds new alone" in CliRunner().invoke(main, words).stderr


def test_impossible_assumptions_are_refused() -> None:
    with pytest.raises(RelstudyError, match=r"standard deviation of noise is a number from 0, not -1\.0"):
        Variances(0.4, 1.0, 0.3, -1.0)
    with pytest.raises(RelstudyError, match="correlation first lies between -1 and 1"):
        Assumed(SPREAD, 1.2, 0.3)
    with pytest.raises(RelstudyError, match="share of relevant pairs lies between 0 and 1"):
        Assumed(SPREAD, 0.2, 0.3, relevant_share=0)
    with pytest.raises(RelstudyError, match="the index is one of pearson"):
        PlanOptions("map")


@pytest.mark.slow
def test_the_command_prints_a_sentence_a_table_and_a_curve(tmp_path: Path) -> None:
    file = tmp_path / "power.svg"
    result = CliRunner().invoke(
        main, ["plan", "--correlations", "0.7,0.3", "--results", "8", "--studies", "20", "-o", str(file)]
    )
    assert result.exit_code == 0, result.output
    assert "find the better of two systems in 8 of 10 studies" in result.stdout.splitlines()[0]
    assert "one rating 0.800" in result.stdout
    assert ElementTree.parse(file).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_the_command_takes_variances_from_pilot_ratings(tmp_path: Path) -> None:
    pilot(3, queries=15).round({"rating": 3}).to_csv(tmp_path / "pilot.csv", index=False)
    arguments = [
        "plan",
        "--ratings",
        str(tmp_path / "pilot.csv"),
        "--correlations",
        "0.7,0.2",
        "--studies",
        "20",
        "--json",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    expected = variances_of(pilot(3, queries=15).round({"rating": 3}))
    assert content["variances"]["noise"] == pytest.approx(expected.noise)
    assert re.match(
        r"About \S+ queries \(95 %: .*\) find the better of two systems in 8 of 10 studies", content["sentence"]
    )


@pytest.mark.real_data
def test_the_command_redraws_a_real_pilot(shared_data: Path) -> None:
    folder = shared_data / "tifa160_likert"
    base = ["plan", "--judgments", str(folder / "ratings.csv"), "--studies", "20", "--json"]
    scores = ["--scores", str(folder / "system_scores_dsg_release.csv")]
    result = CliRunner().invoke(main, [*base, *scores, "--systems", "dsg|pali-17b,vq2a|pali-17b"])
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["difference"] == pytest.approx(0.5638 - 0.1954, abs=0.06)
    many = CliRunner().invoke(main, [*base, *scores])
    assert many.exit_code == 2
    assert "two systems are compared; --scores holds 9" in many.stderr


@pytest.mark.slow
def test_the_picture_says_in_words_what_it_shows() -> None:
    plan = plan_study(Assumed(SPREAD, 0.7, 0.3, results=8), PlanOptions(studies=20), sizes=[10, 30])
    assert plan.sentence().split(",")[0] in power_curve(plan)


def test_the_base_block_counts_among_the_ratings_and_takes_raters() -> None:
    load = workload(3000, 2, base=100, per_rater=250, cost_per_rating=0.05)
    # 6,000 ratings of unique pairs at 150 a person are 40 people, who rate 100 base pairs each.
    assert (load.raters, load.unique, load.base, load.ratings) == (40, 6000, 4000, 10_000)
    assert load.cost == pytest.approx(500)
    with pytest.raises(RelstudyError, match="a base block of 300 pairs leaves nothing of 300 ratings per rater"):
        workload(10, 1, base=300, per_rater=300)


def test_power_is_averaged_over_what_a_pilot_leaves_uncertain() -> None:
    steepness = Steepness.of_pilot(0.35, 0.0, 40, stated=False)
    drawn = np.random.default_rng(0).normal(0.35, np.sqrt(steepness.piloted), 200_000)
    for queries in (30, 80, 300):
        expected = stats.norm.cdf(drawn * np.sqrt(queries) - stats.norm.isf(0.025)).mean()
        assert float(steepness.power(queries, 0.05)) == pytest.approx(expected, abs=0.004)  # four errors of the draws
    sure = Steepness(0.35, 0.0)
    assert (sure.queries(0.8, 0.05, 20_000) or 0) < (steepness.queries(0.8, 0.05, 20_000) or 0)
    # Six pilot queries may have seen nothing: no size promises .8.
    assert Steepness.of_pilot(0.3, 0.0, 6, stated=False).queries(0.8, 0.05, 20_000) is None
    assert Steepness.of_pilot(0.3, 0.0, 6, stated=True).queries(0.8, 0.05, 20_000) is not None


@pytest.mark.slow
def test_a_study_planned_from_a_pilot_keeps_its_promise_on_average_over_what_may_be_true() -> None:
    random = np.random.default_rng(1)
    kept, at_its_word = [], []
    for seen in random.uniform(0.4, 0.9, 60):
        steepness = Steepness.of_pilot(seen, 0.0, 40, stated=False)
        sizes = [each.queries(0.8, 0.05, 20_000) or 0 for each in (steepness, Steepness(seen, 0.0))]
        true = random.normal(seen, np.sqrt(steepness.piloted), 2000)
        for size, powers in zip(sizes, (kept, at_its_word), strict=True):
            powers.append(stats.norm.cdf(true * np.sqrt(size) - stats.norm.isf(0.025)).mean())
    # The standard error over all draws is below .005. Taken at its word, a pilot of 40 queries keeps .75.
    assert np.mean(kept) == pytest.approx(0.8, abs=0.015)
    assert np.mean(at_its_word) < 0.77


@pytest.mark.slow
def test_a_stated_difference_is_planned_for_instead_of_the_pilots_own() -> None:
    random = np.random.default_rng(2)
    query = np.repeat(np.arange(60), 10)
    truth = random.normal(size=600)
    first, second = (truth + noise * random.normal(size=600) for noise in (1.0, 1.6))
    source = Piloted(query, truth, np.ones(600), truth > 1, first, second)
    own = plan_study(source, PlanOptions(studies=40))
    half = plan_study(source, PlanOptions(studies=40, difference=own.difference / 2))
    assert own.queries is not None and half.queries is not None
    assert half.queries > 3 * own.queries
    assert half.difference == pytest.approx(own.difference / 2)
    assert "averaged over what 60 pilot queries leave uncertain" in own.sentence()
    assert own.as_json()["queries_interval"][0] <= own.queries
