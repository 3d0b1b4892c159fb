"""People's figures with a judge's help, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.judges.allocation import least_errors
from relstudy.analysis.judges.estimator import Assisted, Terms, assist
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.spread import DIFFERENCE, LEAST_FREEDOM
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.commands import relstudy

REPLICATES = 100
INDICES = ("relevant_share", "precision_at_0.2", "recall_at_0.2", "average_precision", "normalised_rank", "pearson")


def scored(world: World, study: pd.DataFrame, judge: pd.DataFrame, **options: object) -> dict:
    given = {"method": "none", "measures": (), "replicates": REPLICATES, **options}
    return rs.score(world.scores, study, judge=judge, **given).summary()


@pytest.fixture(scope="module")
def helped(world: World, study: pd.DataFrame) -> dict:
    return scored(world, study, world.judge(0.5))


@pytest.mark.slow
def test_a_good_judge_shortens_every_interval(helped: dict) -> None:
    assisted = helped["systems"]["score"]["assisted"]
    for index in INDICES:
        assert assisted[index]["width_ratio"] < 0.8, index
        assert assisted[index]["low"] < assisted[index]["value"] < assisted[index]["high"]
        assert 0 < assisted[index]["lambda_sampled"] <= 1


def test_people_alone_are_the_figures_of_a_run_without_a_judge_their_intervals_no_shorter(helped: dict) -> None:
    for system in helped["systems"].values():
        for index in ("average_precision", "normalised_rank", "same_query"):
            people, plain = system["assisted"][index]["people"], system[index]
            assert people["value"] == pytest.approx(plain["value"])
            # the jackknife's variance where it is larger, and fewer degrees of freedom where queries differ much
            ratio = (people["high"] - people["low"]) / (plain["high"] - plain["low"])
            assert 1 - 1e-9 <= ratio < 1.25


def test_the_difference_of_two_systems_is_helped_too(helped: dict) -> None:
    assisted_ones = helped["comparisons"]
    for comparison in assisted_ones:
        alone = comparison["difference"]
        assisted = comparison["assisted"]
        assert assisted["people"] == pytest.approx(
            alone, abs=3e-3
        )  # here the jackknife's variance counts, where larger
        assert assisted["high"] - assisted["low"] <= alone["high"] - alone["low"] + 1e-9
        assert assisted["p_holm"] >= assisted["p_value"]
    widths = [each["assisted"]["width_ratio"] for each in assisted_ones]
    assert min(widths) < 0.9


@pytest.mark.slow
def test_the_verdict_is_named_by_who_judges(world: World, study: pd.DataFrame, helped: dict) -> None:
    """People alone as ever; with a judge that shortens the difference, and the judge alone, by the same rule."""
    verdict = helped["verdict"]
    by_who = verdict["by_who_judges"]
    assert list(by_who) == ["people alone", "people and judge", "judge alone"]
    assert by_who["people alone"]["headline"] == verdict["headline"]
    assert by_who["judge alone"]["choice"] == "score"  # follows the truth twice as closely, in every pair
    (compared,) = (each for each in helped["comparisons"] if each["index"] == verdict["primary"])
    apart = compared["assisted"]["low"] * compared["assisted"]["high"] > 0
    assert (len(by_who["people and judge"]["best"]) == 1) == apart
    upside_down = world.judge(0.5).assign(rating=lambda table: -table["rating"])
    turned = scored(world, study, upside_down)["verdict"]["by_who_judges"]
    assert turned["judge alone"]["choice"] == "score"  # a grade counts what people say of it
    unhelped = scored(world, study, world.judge(0.5), primary="nDCG@5")["verdict"]["by_who_judges"]
    assert list(unhelped) == ["people alone"]


@pytest.mark.slow
def test_the_judges_rows_are_counted(world: World, study: pd.DataFrame) -> None:
    judge = world.judge(0.5)
    judge.loc[::3, "rating"] = np.nan
    judge.loc[::3, "status"] = "refused"
    numbers = scored(world, study, judge)["judge"]
    assert numbers["rows"] == 1440 and numbers["answered"] == 960 and numbers["queries"] == 36
    assert numbers["status"] == {"ok": 960, "refused": 480}


@pytest.mark.slow
def test_a_judge_of_the_sampled_queries_alone_helps_within_queries(world: World, study: pd.DataFrame) -> None:
    judge = world.judge(0.5)
    part = judge[judge["query_id"].isin(study["query_id"])]
    assisted = scored(world, study, part)["systems"]["score"]["assisted"]
    assert {each["lambda_collection"] for each in assisted.values()} == {0.0}
    assert assisted["recall_at_0.2"]["width_ratio"] < 0.95


@pytest.mark.slow
def test_a_judge_of_the_judged_pairs_alone_changes_nothing(world: World, study: pd.DataFrame) -> None:
    judge = study[PAIR].merge(world.judge(0.1), on=PAIR)
    result = rs.score(world.scores, study, judge=judge, replicates=REPLICATES, method="none")
    assert set(result.assisted["width_ratio"].dropna()) == {1.0}
    assert any("cannot help" in note for note in result.notes)
    # shares are of the collection, not of the judged pairs, which are likelier where the system ranks them high
    summary = result.summary()["systems"]["score"]
    plain = next(each for each in summary["precision_recall"] if each["share"] == 0.2)
    assert summary["assisted"]["precision_at_0.2"]["value"] == pytest.approx(plain["precision"]["value"])


@pytest.mark.slow
def test_where_people_all_say_the_same_no_interval_is_a_point(world: World, study: pd.DataFrame) -> None:
    scale = {"relevance_cut": 0.5, "scale_low": 0.0, "scale_high": 1.0}
    none, every = (
        scored(world, study.assign(judgment=said, **scale), world.judge(0.5))["systems"]["score"]["assisted"]
        for said in (0.0, 1.0)
    )
    assert none["relevant_share"]["value"] == 0 and none["relevant_share"]["high"] > 0.01
    assert every["precision_at_0.2"]["low"] < 0.95
    assert every["average_precision"]["low"] is None
    assert every["average_precision"]["reason"] == "no interval: it is the same whichever queries are drawn"
    assert every["recall_at_0.2"]["high"] - every["recall_at_0.2"]["low"] > 0.01


@pytest.mark.slow
def test_a_judge_of_other_queries_does_not_move_the_share_that_is_retrieved(world: World, study: pd.DataFrame) -> None:
    richness = world.pairs.groupby("query_id")["people"].transform("mean")
    judge = world.judge(0.5)[richness > richness.median()]
    result = rs.score(world.scores, study, judge=judge, method="none", measures=(), replicates=20)
    both = study.merge(world.pairs, on=PAIR).sort_values("score", ascending=False)
    weight = 1 / both["inclusion_probability"]
    above = weight.cumsum().to_numpy() <= 0.2 * weight.sum()
    above[above.sum()] = True  # the pair that reaches the share
    recall = (weight * both["judgment"])[above].sum() / (weight * both["judgment"]).sum()
    people = result.summary()["systems"]["score"]["assisted"]["recall_at_0.2"]["people"]
    assert people["value"] == pytest.approx(recall, abs=1e-9)
    assert any("was not given all of the collection" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize("scores", [False, True], ids=["grades", "scores"])
def test_an_inverted_judge_is_as_good_as_the_judge(world: World, study: pd.DataFrame, scores: bool) -> None:
    judge = world.judge(0.5)
    if scores:
        judge["rating"] = world.pairs["truth"] + np.random.default_rng(4).normal(size=len(judge)) / 2
    assert len(judge["rating"].unique()) == (len(judge) if scores else 4)
    inverted = judge.assign(rating=-judge["rating"])
    both = [scored(world, study, each)["systems"]["score"]["assisted"] for each in (judge, inverted)]
    for index in INDICES:
        assert both[0][index]["value"] == pytest.approx(both[1][index]["value"], abs=1e-9)
        assert both[0][index]["width_ratio"] < 0.85


@pytest.mark.slow
def test_a_mapped_correlation_is_helped_and_stays_out_of_fold(world: World, study: pd.DataFrame) -> None:
    result = rs.score(world.scores, study, judge=world.judge(0.5), replicates=REPLICATES).summary()
    system = result["systems"]["score"]
    people = system["assisted"]["pearson"]["people"]["value"]
    assert people == pytest.approx(system["collection"]["pearson"]["value"])
    assert system["assisted"]["pearson"]["width_ratio"] < 0.9


@pytest.fixture
def files(world: World, study: pd.DataFrame, tmp_path: Path) -> Path:
    world.scores.to_csv(tmp_path / "scores.csv", index=False)
    study.to_csv(tmp_path / "judgments.csv", index=False)
    world.judge(0.5).to_csv(tmp_path / "model.csv", index=False)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    ran = relstudy(
        "score",
        str(folder / "scores.csv"),
        "-j",
        str(folder / "judgments.csv"),
        "--method",
        "none",
        "--replicates",
        "40",
        "--judge",
        str(folder / "model.csv"),
        *arguments,
    )
    return ran.exit_code, ran.output


@pytest.mark.slow
def test_the_command_prints_people_alone_beside_people_with_the_judge(files: Path) -> None:
    code, output = run(files)
    assert code == 0
    assert "with the judge" in output and "Judge model: 1,440 answers for 1,440 pairs of 36 queries" in output
    code, output = run(files, "--json", "-o", str(files / "tables"))
    content = json.loads(output[output.index("{\n") :])
    expected = {"value", "low", "high", "lambda_sampled", "lambda_collection", "width_ratio", "people"}
    assert set(content["systems"]["other"]["assisted"]["average_precision"]) == expected
    assert (files / "tables" / "assisted.csv").is_file()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda judge: judge.assign(query_id="z" + judge["query_id"]), "its table is of other pairs"),
        (lambda judge: judge.assign(rating=np.nan, status="refused"), "the judge answered for none of the 1440 pairs"),
        (
            lambda judge: judge.assign(status="perhaps"),
            "ok, refused, unparsed, off_scale, error or not_asked is allowed",
        ),
        (lambda judge: judge.assign(status="refused"), "ok goes with a rating, all else without"),
        (lambda judge: pd.concat([judge, judge[:1]]), "this pair appears there twice"),
        (lambda judge: judge.drop(columns="rating"), "this column is required"),
        (
            lambda judge: judge.assign(result_id="x" + judge["result_id"]).pipe(lambda more: pd.concat([judge, more])),
            "has no score for 1440 of the 2880 pairs that the judge model was given",
        ),
    ],
)
def test_a_wrong_judge_is_one_sentence(files: Path, spoil, sentence: str) -> None:
    spoil(pd.read_csv(files / "model.csv")).to_csv(files / "model.csv", index=False)
    code, output = run(files)
    assert code == 1
    assert sentence in output and "Traceback" not in output


@pytest.mark.slow
def test_a_figure_without_an_interval_has_its_reason_in_the_output(files: Path, study: pd.DataFrame) -> None:
    study[study["query_id"] == study["query_id"].iloc[0]].to_csv(files / "judgments.csv", index=False)
    code, output = run(files)
    assert code == 0
    assert "average_precision of score" in output and ": no interval: too few queries" in output


@pytest.mark.slow
def test_judgments_without_probabilities_are_refused(files: Path, study: pd.DataFrame) -> None:
    study[[*PAIR, "judgment"]].to_csv(files / "judgments.csv", index=False)
    code, output = run(files)
    assert code == 1
    assert "a judge can help only people's judgments that are a probability sample" in output
    assert "a column inclusion_probability beside the judgments cures it" in output


def test_the_interval_takes_the_larger_variance_and_fewer_degrees_of_freedom_where_queries_differ_much() -> None:
    random = np.random.default_rng(1)
    alike, one_apart = np.tile([0.49, 0.51], 6), np.r_[np.full(11, 0.5), 0.4]
    replicates = 0.5 + 0.001 * random.normal(size=400)

    def with_each_left_out(values: np.ndarray | None) -> Assisted:
        people = BootstrapStatistic(0.5, replicates, left_out=values)
        return assist(Terms(people, people), 12, DIFFERENCE)

    plain, even, odd = (with_each_left_out(each) for each in (None, alike, one_apart))
    assert plain.degrees == even.degrees == 11
    # the jackknife's variance: (n - 1) / n times the sum of squares about the mean
    assert even.standard_error == pytest.approx(np.sqrt(11 / 12 * 12 * 0.01**2))
    assert plain.standard_error < 0.0012
    # one query of twelve makes all of the variance
    assert odd.degrees == LEAST_FREEDOM


@pytest.mark.parametrize(("queries", "degrees"), [(2, 1), (3, 1), (4, 2)])
def test_a_weight_that_was_tuned_takes_a_degree_of_freedom_and_leaves_one_at_least(queries: int, degrees: int) -> None:
    noise, error = np.random.default_rng(0).normal(size=(2, 400)) / [[1000], [10]]
    people, judged = BootstrapStatistic(0.5, 0.5 + error + noise), BootstrapStatistic(0.4, 0.4 + error)
    helped = assist(Terms(people, judged, BootstrapStatistic(0.4, np.full(400, 0.4))), queries, DIFFERENCE)
    assert helped.degrees == degrees and (helped.weights[0] > 0.9) == (queries > 2)


def test_a_judge_that_no_judged_pair_contradicts_leaves_what_the_worth_of_its_grades_leaves_open(world: World) -> None:
    """Replicates show nothing of it: by hand for the share, whose derivative is one over the number of candidates."""
    study = world.study(4, queries=8, results=9)
    judge = read_judge(world.pairs[PAIR].assign(rating=world.pairs["people"]))
    universe = Universe.of(JudgedPairs.of(study), judge, ScoringOptions(replicates=2, measures=()))
    rows = universe.row_of_judged
    given = study["inclusion_probability"] / study["query_probability"]
    worth = universe.worth.relevance[rows]
    expected = np.sqrt(np.sum(worth * (1 - worth) * (1 / given - 1) / given)) / len(universe.sampled)
    least = least_errors(universe, ["relevant_share"], *[world.pairs["score"].to_numpy()] * 2)["relevant_share"]
    assert least == pytest.approx(expected) and 0 < least < 0.05
    scores = world.pairs[[*PAIR, "score"]]
    options = ScoringOptions(replicates=50, method="none", measures=(), directions={"*": "higher"})
    pairs = JudgedPairs.of(study)
    candidate = candidate_of(pairs, "score", scores, options)
    helped = assist_scores(Universe.of(pairs, judge, options), [candidate], {"score": scores}, ("relevant_share",))
    assert helped.systems["score"]["relevant_share"].standard_error >= least * (1 - 1e-9)


@pytest.mark.slow
def test_a_system_that_scores_few_of_the_queries_has_intervals_of_so_many(world: World, study: pd.DataFrame) -> None:
    """Those of people alone beside a judge are those without one, and not as of all 15 queries."""
    few = sorted(study["query_id"].unique())[:6]
    scores, judge = (table[table["query_id"].isin(few)] for table in (world.scores, world.judge(0.5)))
    options = {"method": "none", "replicates": 200, "measures": (), "allow_low_coverage": True}
    found = rs.score(scores, study, judge=judge, **options).summary()
    for system in found["systems"].values():
        for index in ("average_precision", "normalised_rank"):
            plain = {name: system[index][name] for name in ("value", "low", "high")}
            assert system["assisted"][index]["people"] == pytest.approx(plain)
    for each in found["comparisons"]:
        plain = {name: each["difference"][name] for name in ("value", "low", "high")}
        assert each["assisted"]["people"] == pytest.approx(plain)
