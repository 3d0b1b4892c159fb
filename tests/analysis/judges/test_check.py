"""relstudy judge check: people are the measure of a judge."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.judges.check import JudgeCheck, check_judge_against
from relstudy.analysis.judges.favouritism import leanings
from relstudy.analysis.judges.judged_by_both import Universe, context_for
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.commands import relstudy, succeeds

OPTIONS = ScoringOptions(replicates=100, method="none", measures=(), directions={"*": "higher"})


def checked(world: World, study: pd.DataFrame, judge: pd.DataFrame, ratings: pd.DataFrame | None = None) -> JudgeCheck:
    pairs = JudgedPairs.of(study)
    third = 0.7 * world.pairs["score"] + np.random.default_rng(2).normal(size=len(world.pairs))
    values = {"score": world.pairs["score"], "other": world.pairs["other"], "third": third}
    scores = {name: world.pairs[PAIR].assign(score=value) for name, value in values.items()}
    candidates = [candidate_of(pairs, name, table, OPTIONS) for name, table in scores.items()]
    return check_judge_against(pairs, candidates, scores, read_judge(judge, "model"), OPTIONS, ratings)


@pytest.fixture(scope="module")
def good(world: World, study: pd.DataFrame) -> JudgeCheck:
    return checked(world, study, world.judge(0.5))


def test_the_table_of_grades_is_what_people_say_of_each(world: World, study: pd.DataFrame, good: JudgeCheck) -> None:
    both = study.merge(world.judge(0.5), on=PAIR)
    weight = 1 / both["inclusion_probability"]
    for row in good.grades.to_dict("records"):
        of_grade = both["rating"] == float(row["grade"])
        assert row["judged"] == of_grade.sum()
        assert row["relevant_share"] == pytest.approx(np.average(both["judgment"][of_grade], weights=weight[of_grade]))
    assert good.grades["pairs"].sum() == len(world.pairs)


def test_a_good_judge_explains_more_than_noise_and_is_worth_more(
    world: World, study: pd.DataFrame, good: JudgeCheck
) -> None:
    noise = checked(world, study, world.judge(0.5).assign(rating=np.random.default_rng(3).integers(0, 4, 1440)))
    assert good.explained["r_squared"].value > 0.4 and good.explained["r_squared"].low > 0.1
    assert noise.explained["r_squared"].value < 0.05
    assert abs(noise.explained["spearman"].value) < 0.3 < good.explained["spearman"].value
    width = good.expected.set_index("index")["width"]
    assert (width < 0.85).all() and (noise.expected["width"] > 0.85).all()
    # score helps with no other index, so none is promised
    assert set(width.index) == {"relevant_share", "precision_at_0.2", "recall_at_0.2", "average_precision",
                                "normalised_rank", "pearson"}  # fmt: skip
    # an interval of w times the width takes 1 / w^2 times the pairs
    assert good.expected["worth"].tolist() == pytest.approx((len(study) * (width**-2 - 1)).round().tolist(), abs=1)


def test_a_judge_that_is_the_system_is_called_circular_and_another_is_not(
    world: World, study: pd.DataFrame, good: JudgeCheck
) -> None:
    same = checked(world, study, world.pairs[PAIR].assign(rating=world.pairs["score"]))
    assert same.circular["score"] > 0.99
    assert any("may be of one kind" in each and "system score" in each for each in same.warnings)
    assert not any("may be of one kind" in each for each in good.warnings)


def test_a_judge_that_leans_to_a_system_is_seen(world: World, study: pd.DataFrame) -> None:
    seen = world.pairs["truth"] + np.random.default_rng(5).normal(size=len(world.pairs)) * 2
    leaning = np.where(world.pairs["other"].rank(pct=True) > 0.8, 3.0, np.digitize(seen, [-0.5, 0.4, 3]))
    bias = checked(world, world.study(8, queries=30, results=24), world.pairs[PAIR].assign(rating=leaning)).bias
    assert bias["other"].low > 0 > bias["score"].high
    assert sum(each.value for each in bias.values()) == pytest.approx(0)


def favours(check: JudgeCheck) -> list[str]:
    return [each for each in check.warnings if "favours" in each or "is hard on" in each]


def test_a_constant_judge_favours_no_system(world: World, study: pd.DataFrame) -> None:
    check = checked(world, study, world.judge(0.5).assign(rating=2.0))
    assert not favours(check)
    assert all(each.value == pytest.approx(0, abs=1e-12) for each in check.bias.values())


def times_accused(world: World, lean: float, noise: float, judges: int = 20) -> int:
    """How many judges, each beside a study of its own, are said to favour a system or be hard on one."""
    systems = {name: world.pairs[name].to_numpy() for name in ("score", "other")}
    accused = 0
    for seed in range(judges):
        error = noise * np.random.default_rng(seed + 100).normal(size=len(world.pairs))
        seen = world.pairs["people"] + error + lean * (world.pairs["other"].rank(pct=True) > 0.8)
        table = world.pairs[PAIR].assign(rating=np.digitize(seen, [-0.5, 0.4, 1.2]).astype(float))
        judge = read_judge(table, "model")
        context = context_for(JudgedPairs.of(world.study(seed)), judge, OPTIONS)
        accused += bool(leanings(Universe(judge, context), systems, {}, OPTIONS.level))
    return accused


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_a_judge_that_is_noisy_but_fair_is_hardly_ever_accused(world: World, noise: float) -> None:
    assert times_accused(world, 0.0, noise) <= 3  # of 20 at 5 % each: more come by chance once in 60 times


@pytest.mark.slow
def test_a_judge_that_leans_is_accused_more_often_than_not(world: World) -> None:
    """By two of its steps; 15 of 20 are, and fewer than ten then come less often than once in a hundred times."""
    assert times_accused(world, 2.0, 0.5) > 9


def test_a_favour_is_in_standard_deviations_of_peoples_judgments_whatever_their_scale(
    world: World, study: pd.DataFrame
) -> None:
    judge = world.judge(0.5)
    ten = study.assign(judgment=study["judgment"] * 10)
    small, large = checked(world, study, judge), checked(world, ten, judge)
    for name, figure in small.bias.items():
        assert large.bias[name].as_json() == pytest.approx(figure.as_json())


def test_the_judge_alone_is_not_turned_round_by_people(world: World, study: pd.DataFrame) -> None:
    """One upside down puts the best system last, whatever people make of its grades."""
    right, wrong = (checked(world, study, world.judge(0.3).assign(rating=rating)) for rating in _both_ways(world))
    assert right.order.value > 0 > wrong.order.value
    constant = checked(world, study, world.judge(0.3).assign(rating=1.0))
    assert constant.order.value is None and "the same of every pair" in str(constant.order.reason)


def _both_ways(world: World) -> tuple[pd.Series, pd.Series]:
    rating = world.judge(0.3)["rating"]
    return rating, 3 - rating


def test_refusals_are_told_by_what_people_say(world: World, study: pd.DataFrame) -> None:
    judge = world.judge(0.5)
    silent = (world.pairs["people"] == 1) & (np.arange(len(judge)) % 2 == 0)
    judge.loc[silent, "rating"] = np.nan
    judge.loc[silent, "status"] = "refused"
    by_people = checked(world, study, judge).refusals["by_people"]
    assert by_people["relevant"] > 0.3 and by_people["not relevant"] == 0


@pytest.mark.slow
def test_the_judge_stands_beside_a_person(world: World, study: pd.DataFrame) -> None:
    random = np.random.default_rng(4)
    truth = study[PAIR].merge(world.pairs, on=PAIR)["truth"]
    people = [study[PAIR].assign(rater_id=f"p{k}", calibrated=truth + random.normal(size=len(truth))) for k in range(4)]
    ratings = pd.concat(people)
    beside = checked(world, study, world.judge(0.1), ratings).beside
    assert beside.raters == 4 and beside.judge > beside.person and beside.difference.low > 0
    table = np.stack([each["calibrated"] for each in people])
    alike = [np.corrcoef(table[k], np.delete(table, k, axis=0).mean(axis=0))[0, 1] for k in range(4)]
    assert beside.person == pytest.approx(np.mean(alike))
    assert checked(world, study, world.judge(0.1)).beside.person is None


def test_without_a_probability_sample_only_the_check_is_left(world: World, study: pd.DataFrame) -> None:
    check = checked(world, study[[*PAIR, "judgment"]], world.judge(0.5))
    assert check.expected.empty and not check.bias
    assert check.explained["r_squared"].value > 0.3
    assert "no probability sample" in check.warnings[0]


@pytest.fixture
def folder(world: World, study: pd.DataFrame, tmp_path: Path) -> Path:
    (tmp_path / "scores").mkdir()
    (tmp_path / "judges").mkdir()
    world.scores.to_csv(tmp_path / "scores" / "both.csv", index=False)
    study.to_csv(tmp_path / "judgments.csv", index=False)
    world.judge(0.5).to_csv(tmp_path / "judges" / "model.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_the_command_prints_it_and_leaves_out_the_queries_of_the_prompt(folder: Path, study: pd.DataFrame) -> None:
    tuned = study["query_id"].unique()[:2].tolist()
    (folder / "judges" / "model.json").write_text(
        json.dumps({"tuned_on": tuned, "repeated": {"asked": 9, "same": 8}}), encoding="utf-8"
    )
    arguments = ["judge-check", str(folder), "--judge", "model", "--replicates", "50"]
    printed = succeeds(*arguments)
    for text in ("worth judged pairs", "same grade for 8 of 9", "tuned on 2 queries", "34 queries", "bias (best 20 %)"):
        assert text in printed.output
    content = json.loads(relstudy(*arguments, "--json").output)
    assert {"grades", "r_squared", "spearman", "beside_a_person", "bias", "order", "refusals", "expected"} <= set(
        content
    )
    missing = relstudy("judge-check", folder, "--judge", "nobody")
    assert missing.exit_code == 1 and "there are: model" in missing.output


@pytest.mark.slow
def test_ratings_that_are_not_those_of_the_judgments_have_no_part_and_a_note_says_so(
    folder: Path, study: pd.DataFrame
) -> None:
    others = [study[PAIR].head(20).assign(rater_id=f"p{k}", rating=3, calibrated=3.0) for k in range(2)]
    pd.concat(others).to_csv(folder / "calibrated.csv", index=False)
    arguments = ["judge-check", str(folder), "--judge", "model", "--replicates", "20", "--json"]
    content = json.loads(relstudy(*arguments).output)
    assert content["beside_a_person"]["raters"] == 0
    assert any("so that file has no part in this" in note for note in content["notes"])


@pytest.mark.slow
def test_the_report_shows_people_beside_people_with_the_judge(folder: Path) -> None:
    (folder / "judges" / "other.csv").write_text("query_id,result_id,rating\nnobody,nothing,1\n", encoding="utf-8")
    succeeds("report", folder, "--method", "none", "--replicates", "20", "--measure", "RR")
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "With an automatic judge" in page and "Judge model" in page
    assert "It adds nothing: the judge other was given none" in page
    assert "With its help intervals are" in page and "more judged pairs would make them; people judged 180" in page
    assert "people&#39;s beside them, speak of these raters alone" in page
    table = pd.read_csv(folder / "report" / "tables" / "judge-model.csv")
    assert table["System"].tolist() == [*["score", "other"] * 5, "all"] and (table["Width"] <= 1).all()
    assert table["Index"].iloc[:-1:2].tolist() == table["Index"].iloc[1:-1:2].tolist()
    assert table["Index"].tolist().count("Relevant share") == 1


@pytest.mark.slow
def test_a_system_without_all_scores_has_no_part_and_is_named(folder: Path, world: World) -> None:
    world.pairs[PAIR].assign(score=1.0 * world.pairs["truth"])[:-1].assign(system="short").to_csv(
        folder / "scores" / "short.csv", index=False
    )
    printed = relstudy("judge-check", folder, "--judge", "model", "--replicates", "20")
    assert printed.exit_code == 0 and "have no part in this: short" in printed.output


def test_judged_pairs_that_the_judge_was_not_given_are_counted_aloud(world: World, study: pd.DataFrame) -> None:
    judge = world.judge(0.5)
    unseen = judge.merge(study[PAIR].head(7), on=PAIR)[PAIR]
    part = judge[~pd.MultiIndex.from_frame(judge[PAIR]).isin(pd.MultiIndex.from_frame(unseen))]
    warned = checked(world, study[[*PAIR, "judgment"]], part).warnings[0]
    assert warned.startswith(f"The judge was given {len(study) - 7:,} of the {len(study):,} pairs that people judged")
