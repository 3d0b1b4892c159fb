"""Planning: variances recovered, power that grows as theory says, sizes that keep their promise."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.picture import power_curve
from relstudy.analysis.planning.power import (
    fit_power,
    plan_study,
    simulate,
)
from relstudy.analysis.planning.route import ScoredStudy
from relstudy.analysis.planning.simulated_studies import Assumed, Piloted
from relstudy.analysis.planning.sources import Pilot, assumed_studies, piloted_studies
from relstudy.analysis.planning.study_design import design_of_study
from relstudy.analysis.planning.study_plan import PowerPoint
from relstudy.analysis.planning.workload import Steepness, workload
from relstudy.calibration.reliability.variance_components import Variances, variances_of
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds

SPREAD = Variances(query=0.4, result=1.0, rater=0.3, noise=0.7)


def assumed(first: float, second: float, **changes: Any) -> Assumed:
    """Studies of eight results a query from a small collection, whose base block is small."""
    small = {"results": 8, "candidates": 60, "base": 20, "exponent": 0.5, "floor": 0.3, "ratings_per_rater": 120}
    return assumed_studies(Assumptions(correlations=(first, second), **(small | changes)))[0]


NOISES = (("new", 0.5), ("old", 2.0))
QUICK = PlanOptions(studies=20, base=20, ratings_per_rater=120)


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
    nearly = assumed(0.5, 0.499999)
    point, differences = simulate(nearly, 20, replace(QUICK, studies=60))
    # half of the false finds point to the side that came out ahead; binomial standard error .02
    assert point.power < 0.1
    assert point.verdict is not None and point.verdict < 0.1
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(60)


@pytest.mark.slow
def test_power_grows_with_queries_and_the_plan_counts_what_it_asks_of_people() -> None:
    plan = plan_study(assumed(0.7, 0.4), QUICK)
    powers = [point.power for point in plan.points]
    assert powers[0] < powers[-1]
    assert plan.queries is not None
    assert plan.pairs == plan.queries * 8
    assert plan.raters == -(-plan.pairs // 100)  # of 120 ratings, 20 are of the base block
    assert plan.ratings == plan.pairs + plan.raters * 20
    low, high = plan.interval
    assert low is not None and high is not None
    assert low < plan.queries < high


def test_no_result_and_no_rating_is_counted_that_cannot_be() -> None:
    """20 results a query of 10 that there are, and 6 ratings a pair by 3 raters, were counted and paid for."""
    few, _ = assumed_studies(Assumptions(results=20, candidates=10, ratings_each=6), raters=3)
    assert (few.results, few.ratings_each) == (10, 3)
    pooled, _ = assumed_studies(Assumptions(results=20, depth=2))
    study = pooled.world(40, np.random.default_rng(0)).draw(40, np.random.default_rng(0))
    assert 2 <= pooled.results <= 4 and len(study.pairs) == pytest.approx(40 * pooled.results, rel=0.1)
    assert assumed_studies(Assumptions(results=20))[0].results == 20


def errors(source: Assumed, studies: int = 8) -> float:
    """Mean standard error of the difference in the correlation, studies of 30 queries."""
    found = []
    for seed in range(studies):
        random = np.random.default_rng(seed)
        study = source.world(30, random).draw(30, random)
        found.append(ScoredStudy.of(study, seed, replicates=100).comparison(index_of("pearson")).error[0])
    return float(np.mean(found))


@pytest.mark.slow
def test_the_weights_of_the_design_change_the_answer() -> None:
    """They changed no word: correlations of judged pairs were planned for, and score compares the collection's."""
    alike = {"floor": 0.05, "leniency": 0.0, "noise": 0.3}  # few raters would hide it in what they add
    flat, steep = (assumed(0.6, 0.4, weight_spread=spread, **alike) for spread in (0.0, 1.2))
    assert [each.weight_spread for each in (flat, steep)] == pytest.approx([0.0, 1.2], abs=0.1)
    assert errors(steep) > 1.1 * errors(flat)  # an effective sample of 1 / (1 + 1.2^2) of the size would give 1.6
    with pytest.raises(RelstudyError, match="weights cannot vary by 50 of their mean"):
        assumed(0.6, 0.4, weight_spread=50.0)


def test_a_pilots_weights_change_the_answer() -> None:
    random = np.random.default_rng(3)
    query, truth = np.repeat(np.arange(40), 8), random.normal(size=320)
    scores = [truth + noise * random.normal(size=320) for noise in (1.0, 1.5)]
    weight = np.exp(1.2 * random.normal(size=320))
    flat, steep = (Piloted(query, truth, each, truth > 1, *scores) for each in (np.ones(320), weight))
    index = index_of("pearson")
    found = [each.draw(40, np.random.default_rng(1)).comparison(index, 0) for each in (flat, steep)]
    assert found[0].better[0] != found[1].better[0]
    assert found[1].error[0] > 1.2 * found[0].error[0]


@pytest.mark.slow
def test_noise_and_careless_raters_cost_power() -> None:
    plain = errors(assumed(0.7, 0.4, ratings_each=2))
    assert errors(assumed(0.7, 0.4, ratings_each=2, careless=0.4)) > 1.1 * plain
    assert errors(assumed(0.7, 0.4, ratings_each=2, noise=2.0)) > 1.1 * plain


def test_the_judged_pairs_are_relevant_as_often_as_stated() -> None:
    source = assumed(0.6, 0.4, relevant_share=0.3)
    study = source.world(60, np.random.default_rng(0)).draw(60, np.random.default_rng(1))
    # 480 pairs of 60 queries: standard error about .03
    assert float((study.ratings["rating"] > 3.5).mean()) == pytest.approx(0.3, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("index", ["average_precision", "same_query", "P@5"])
def test_other_indices_are_planned_for_too_and_several_systems(index: str) -> None:
    source = assumed_studies(
        Assumptions(correlations=(0.8, 0.2, 0.2), results=8, candidates=60, base=20, exponent=0.5, floor=0.5)
    )[0]
    least = source.least_queries(index_of(index))
    plan = plan_study(source, PlanOptions(index, studies=20, base=20), sizes=[max(40 if index == "P@5" else 20, least)])
    assert plan.points[-1].power > 0.5
    assert plan.verdict_sentence() is None or "names the better system in" in plan.verdict_sentence()


@pytest.mark.slow
def test_what_is_cheapest_is_said_where_it_is_asked_for() -> None:
    plan = plan_study(assumed(0.9, 0.1, results=6), replace(QUICK, advise=True), sizes=[6])
    names = ["queries", "results a query", "ratings a pair", "raters"]
    assert [each.what.split(" ", 1)[-1] for each in plan.more[1:]] == names
    planned, queries, *_, raters = plan.more
    assert queries.ratings > planned.ratings and raters.raters == round(1.5 * planned.raters)
    said = plan.cheapest_sentence()
    assert said is not None and ("more ratings" in said or "no difference" in said)
    assert plan.as_json()["more"][0]["what"] == "as planned"


@pytest.mark.slow
def test_systems_that_do_not_differ_end_with_a_sentence_that_says_no_size_is_enough() -> None:
    never = plan_study(assumed(0.5, 0.499999), QUICK, sizes=[6])
    assert never.queries is None or never.queries > 100
    assert isinstance(never.sentence(), str)


@pytest.mark.slow
def test_a_studys_own_design_is_what_is_planned(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        '[analysis]\nprimary = "average_precision"\nmatters = 0.02\n[[blocks]]\nname = "u"\npairs = "unique"\n'
        'paradigm = "image"\nscale = "1-9"\nratings_per_pair = 2\npairs_per_rater = 60\n'
    )
    first = {"results": 7, "exponent": 0.5, "floor": 0.25, "depth": None, "population": {"image": 55}}
    (tmp_path / "design.json").write_text(json.dumps({"rounds": [first]}))
    (tmp_path / "pairs.csv").write_text(
        "pair_id,query_id,result_id,paradigm,source,rank,block,round,query_probability,inclusion_probability\n"
        + "".join(f"p{k},q,r{k},image,s,1,{'base' if k < 15 else 'unique'},1,0.5,0.1\n" for k in range(20))
    )
    design = design_of_study(tmp_path)
    assert design.choices == {
        "primary": "average_precision", "index": "average_precision", "ratings_each": 2, "rating_scale": "1-9",
        "results": 7, "exponent": 0.5, "floor": 0.25, "candidates": 55, "base": 15, "ratings_per_rater": 75,
    }  # fmt: skip
    plan = rs.plan(study=tmp_path, correlations=(0.9, 0.1), studies=20)
    assert plan.study_plan.index == "average_precision"
    assert any("the design is the study's own: study.toml" in note for note in plan.notes)
    assert any("smallest difference that matters to this study, 0.02" in each for each in plan.remarks())
    itself = replace(plan.study_plan, matters=abs(plan.study_plan.difference))
    assert f"takes about {itself.queries} queries." in (itself.matters_sentence() or "")
    assert "takes more than 20,000 queries." in (replace(itself, matters=1e-6).matters_sentence() or "")
    # the design has average precision of so many queries, though fewer would find so large a difference
    assert itself.queries == itself.least > 20
    assert itself.interval[0] == itself.queries
    assert itself.sentence().endswith(f" Fewer than {itself.queries} have no test of pooled AP.")
    assert design.under({"index": "pearson", "results": None})["index"] == "pearson"
    assert itself.drawn == design.queries == 1 and itself.smallest is None
    takes = f"1 query drawn: by these assumptions, a test of pooled AP takes at least {itself.least}."
    assert takes in itself.sentences()
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace('paradigm = "image"\n', ""))
    (tmp_path / "pairs.csv").write_text((tmp_path / "pairs.csv").read_text().replace(",image,", ",text,"))
    assert design_of_study(tmp_path).queries == 1, "a block without a paradigm asks for all pairs"
    (tmp_path / "study.toml").write_text(text)
    drawn = replace(itself, drawn=itself.queries, least=1)
    assert drawn.smallest is not None and drawn.smallest <= abs(drawn.difference)
    found = drawn.steepness.of_stated(drawn.smallest / abs(drawn.difference)).power(float(itself.queries), drawn.alpha)
    assert float(found) == pytest.approx(drawn.power, abs=1e-6)
    said = succeeds("plan", tmp_path, "--correlations", "0.9,0.1", "--studies", "20", "--index", "pearson").output
    assert "the design is the study's own" in said
    assert "matters" not in said, "0.02 is of average precision"


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
    with pytest.raises(
        RelstudyError, match="systems cannot be compared by correlation; score has no test of it: all judgments are"
    ):
        plan_study(source, PlanOptions(studies=20))


def test_a_pilot_of_a_single_query_and_two_systems_alike_are_refused() -> None:
    """All studies made of one query are the same, and a difference that is always found was said never to be."""
    pairs = {"query_id": ["q"] * 4, "result_id": list("abcd")}
    judgments = Judgments.of(pd.DataFrame({**pairs, "judgment": [1.0, 2, 4, 5]}))
    parts = [pd.DataFrame({**pairs, "system": name, "score": [1.0, 2, 3, last]}) for name, last in (("a", 4), ("b", 0))]
    with pytest.raises(RelstudyError, match="judged pairs that both systems score are of a single query"):
        piloted_studies(Pilot(StudyTables(judgments), pd.concat(parts)))
    with pytest.raises(RelstudyError, match=r"both systems are assumed to correlate 0\.4"):
        assumed_studies(Assumptions(correlations=(0.4, 0.4)))


def test_a_pilot_with_one_system_is_told_that_another_is_needed(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,result_id,new\nq,x,1\nq,y,2\n")
    words = ["plan", "--judgments", str(tmp_path / "s.csv"), "--scores", str(tmp_path / "s.csv")]
    assert "two systems are needed, and new is alone; --scores may be repeated" in relstudy(*words).stderr


@pytest.mark.slow
def test_a_pilots_two_systems_may_have_a_table_each(tmp_path: Path) -> None:
    """Of two tables the first was dropped without a word."""
    random = np.random.default_rng(4)
    pairs = pd.DataFrame({"query_id": np.repeat([f"q{k}" for k in range(30)], 6), "result_id": range(180)})
    truth = random.normal(size=180)
    pairs.assign(judgment=truth).to_csv(tmp_path / "j.csv", index=False)
    tables = [pairs.assign(system=name, score=truth + noise * random.normal(size=180)) for name, noise in NOISES]
    pd.concat(tables).to_csv(tmp_path / "both.csv", index=False)
    for (name, _), table in zip(NOISES, tables, strict=True):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["plan", "--judgments", tmp_path / "j.csv", "--scale", "-4-4", "--studies", 20, "--json"]
    one = succeeds(*words, "--scores", tmp_path / "both.csv").stdout
    two = succeeds(*words, "--scores", tmp_path / "new.csv", "--scores", tmp_path / "old.csv").stdout
    assert json.loads(one) == json.loads(two)
    content = json.loads(two)
    assert content["sentences"][0].startswith(
        f"If the pilot's own difference, {content['simulated_difference']:.3f} in correlation, is the true one, the ver"
    )
    (tmp_path / "study.toml").write_text('[analysis]\nprimary = "correlation"\nmatters = 0.05\n', encoding="utf-8")
    with_study = json.loads(succeeds(*words, "--scores", tmp_path / "both.csv").stdout)["sentences"]
    idle = ("--noise", 0.2, "--results", 4, "--advise")
    stated = json.loads(succeeds(*words, "--scores", tmp_path / "both.csv", "--difference", 0.05, *idle).stdout)
    assert stated["notes"][0] == (
        "--advise, --noise and --results say nothing here, since studies are made of the pilot's own queries"
    )
    with pytest.raises(RelstudyError, match="difference goes with a pilot's judgments and scores, and there are none"):
        rs.plan(difference=0.05)
    assert stated["difference"] == 0.05 and stated["simulated_difference"] == content["simulated_difference"]
    assert stated["sentences"] == with_study and stated["queries"] > content["queries"]
    assert with_study[1].endswith(f"matters to this study, 0.05, takes about {stated['queries']} queries.")


def test_impossible_assumptions_are_refused() -> None:
    with pytest.raises(RelstudyError, match=r"standard deviation of noise is a number from 0, not -1\.0"):
        Variances(0.4, 1.0, 0.3, -1.0)
    with pytest.raises(RelstudyError, match=r"a correlation must be between -1 and 1, not 1\.2"):
        assumed(1.2, 0.3)
    with pytest.raises(RelstudyError, match=r"a correlation must be between -1 and 1, not -1\.2"):
        assumed(-1.2, 0.3)
    with pytest.raises(RelstudyError, match="relevant"):
        assumed(0.2, 0.3, relevant_share=0)
    with pytest.raises(RelstudyError, match="'stars' is not a scale"):
        assumed(0.2, 0.3, rating_scale="stars")
    with pytest.raises(RelstudyError, match="the index is one of pearson"):
        PlanOptions("map")


@pytest.mark.slow
def test_the_command_prints_a_sentence_a_table_and_a_curve(tmp_path: Path) -> None:
    file = tmp_path / "power.svg"
    result = succeeds("plan", "--correlations", "0.7,0.3", "--results", "8", "--studies", "20", "-o", file)
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
    result = succeeds(*arguments)
    content = json.loads(result.stdout)
    expected = variances_of(pilot(3, queries=15).round({"rating": 3}))
    assert content["variances"]["noise"] == pytest.approx(expected.noise)
    assert expected.study is not None
    assert content["generalizability"]["phi"]["value"] == pytest.approx(expected.study.coefficient("phi").value)
    printed = relstudy(*arguments[:-1])
    assert expected.study.sentence() in printed.stdout.splitlines()
    assert re.match(
        r"About \S+ queries \(95 %: .*\) find the better of two systems in 8 of 10 studies", content["sentence"]
    )


@pytest.mark.real_data
def test_the_command_redraws_a_real_pilot(shared_data: Path) -> None:
    folder = shared_data / "tifa160_likert"
    base = ["plan", "--judgments", str(folder / "ratings.csv"), "--studies", "20", "--json"]
    scores = ["--scores", str(folder / "system_scores_dsg_release.csv")]
    result = succeeds(*base, *scores, "--systems", "dsg|pali-17b,vq2a|pali-17b")
    content = json.loads(result.stdout)
    assert content["difference"] == pytest.approx(0.5638 - 0.1954, abs=0.06)
    many = relstudy(*base, *scores)
    assert many.exit_code == 2
    assert "two systems are compared; --scores holds 9" in many.stderr


@pytest.mark.slow
def test_the_picture_says_in_words_what_it_shows() -> None:
    plan = plan_study(assumed(0.7, 0.3), QUICK, sizes=[10, 30])
    assert plan.sentence().split(",")[0] in power_curve(plan)


def test_the_base_block_counts_among_the_ratings_and_takes_raters() -> None:
    load = workload(3000, 2, base=100, per_rater=250, cost_per_rating=0.05)
    # 6,000 ratings of unique pairs at 150 a person are 40 people, who rate 100 base pairs each.
    assert (load.raters, load.unique, load.base, load.ratings) == (40, 6000, 4000, 10_000)
    assert load.cost == pytest.approx(500)
    with pytest.raises(RelstudyError, match="a base block of 300 pairs leaves nothing of 300 ratings per rater"):
        workload(10, 1, base=300, per_rater=300)


def test_power_is_averaged_over_what_a_pilot_leaves_uncertain() -> None:
    steepness = Steepness(0.35, spread=1 / 80, mean=1 / 40)
    drawn = np.random.default_rng(0).normal(0.35, np.sqrt(steepness.piloted), 200_000)
    for queries in (30, 80, 300):
        expected = stats.norm.cdf(drawn * np.sqrt(queries) - stats.norm.isf(0.025)).mean()
        assert float(steepness.power(queries, 0.05)) == pytest.approx(expected, abs=0.004)  # four errors of the draws
    sure = Steepness(0.35, 0.0)
    assert (sure.queries(0.8, 0.05, 20_000) or 0) < (steepness.queries(0.8, 0.05, 20_000) or 0)
    # Six pilot queries may have seen nothing: no size promises .8.
    seen = Steepness(0.3, spread=1 / 12, mean=1 / 6)
    assert seen.queries(0.8, 0.05, 20_000) is None
    assert seen.of_stated(1.0).queries(0.8, 0.05, 20_000) is not None


def test_no_more_queries_are_planned_than_there_may_be():
    """A pilot of few degrees of freedom needs queries for a test, too: 40 of them were named where 30 are the most."""
    steep = Steepness(5.0, each=0.05)
    assert steep.queries(0.8, 0.05, 100) == steep.queries(0.8, 0.05, 40) == 40
    assert steep.queries(0.8, 0.05, 39) is None and steep.interval(0.8, 0.05, 30) == (None, None)


@pytest.mark.parametrize("freedom", [6, 12, 39])
def test_a_price_keeps_its_promise_on_average_over_the_spreads_that_a_pilot_may_have_seen(freedom: int) -> None:
    """Few raters, or few queries that decide, leave few degrees of freedom: of six .71 was kept where .80 was promised,
    and .72 where the spread of 40 queries was taken to be known by 39."""
    true, seen = 0.06, 0.06 * np.sqrt(stats.chi2(freedom).ppf((np.arange(400) + 0.5) / 400) / freedom)

    def kept(spread: float | None) -> float:
        powers = []
        for error in seen:
            promised = Steepness.of_pilot(0.1, error, freedom, 40, stated=True)
            size = (promised if spread is None else replace(promised, spread=spread)).queries(0.8, 0.05, 20_000)
            assert size is not None
            powers.append(float(Steepness(0.1 / (true * np.sqrt(40)), each=(freedom + 1) / 40).power(size, 0.05)))
        return float(np.mean(powers))

    # a normal distribution stands for that of one over the spread; the mean over 400 quantiles is exact to .001
    assert kept(None) == pytest.approx(0.8, abs=0.03)
    assert kept(0.0) < kept(None)
    assert freedom > 6 or kept(1 / 80) < 0.725


@pytest.mark.slow
def test_a_study_planned_from_a_pilot_keeps_its_promise_on_average_over_what_may_be_true() -> None:
    random = np.random.default_rng(1)
    kept, at_its_word = [], []
    for seen in random.uniform(0.4, 0.9, 60):
        steepness = Steepness(seen, spread=1 / 80, mean=1 / 40)
        sizes = [each.queries(0.8, 0.05, 20_000) or 0 for each in (steepness, Steepness(seen))]
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
    matters = replace(own, matters=own.difference / 2).matters_sentence() or ""
    assert f"takes about {half.queries} queries." in matters
    assert "averaged over what 60 pilot queries leave uncertain" in own.sentence()
    assert own.as_json()["queries_interval"][0] <= own.queries


@pytest.mark.slow
def test_a_stated_difference_is_planned_for_where_the_pilots_own_is_too_small_to_be_found() -> None:
    """It was passed over: of two systems that are nearly alike no size was said to find any difference."""
    random = np.random.default_rng(5)
    query, truth = np.repeat(np.arange(60), 10), random.normal(size=600)
    one, other = (truth + 1.2 * random.normal(size=600) for _ in range(2))

    def source(better: float) -> Piloted:
        return Piloted(query, truth, np.ones(600), truth > 1, one + better * truth, other)

    few = PlanOptions(studies=40)
    apart = [(better, simulate(source(better), 40, few)[1].mean()) for better in np.linspace(-0.3, 0.3, 31)]
    alike = source(min(apart, key=lambda each: abs(each[1]))[0])
    own = plan_study(alike, few)
    assert own.queries is None and own.sentence().endswith(
        "60 pilot queries leave too much uncertain to promise more; a larger pilot, or a stated difference, can."
    )
    assert own.as_json()["pilot_queries"] == 60
    stated = plan_study(alike, PlanOptions(studies=40, difference=0.1))
    assert stated.difference == 0.1 and stated.simulated == own.simulated
    # as many as where the pilot's own difference is so large as to be seen
    beside = plan_study(source(0.3), PlanOptions(studies=40, difference=0.1))
    assert stated.queries == pytest.approx(beside.queries, rel=0.35)
    assert stated.interval[0] < stated.queries < stated.interval[1]
    assert f"takes about {stated.queries} queries" in (replace(stated, matters=0.1).matters_sentence() or "")
