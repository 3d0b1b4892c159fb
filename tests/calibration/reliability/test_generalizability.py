"""Generalizability: Brennan's printed example, the likelihood as one matrix, coverage on tables of known variances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from evidence.simulations.generalizability import VARIANCES, of_ratings, ratings
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.generalizability import (
    Generalizability,
    Layout,
    beyond_normal,
    generalizability,
    of_panel,
    study_of,
)
from relstudy.calibration.reliability.intraclass import intraclass
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError


def of_mean_squares(persons: int, items: int, squares: tuple[float, float, float]) -> pd.DataFrame:
    """A crossed table whose mean squares (persons, items, rest) are these."""
    random = np.random.default_rng(0)
    one, other, rest = random.normal(size=persons), random.normal(size=items), random.normal(size=(persons, items))
    one, other = one - one.mean(), other - other.mean()
    rest = rest - rest.mean(axis=0) - rest.mean(axis=1, keepdims=True) + rest.mean()
    one *= np.sqrt(squares[0] * (persons - 1) / items / (one @ one))
    other *= np.sqrt(squares[1] * (items - 1) / persons / (other @ other))
    rest *= np.sqrt(squares[2] * (persons - 1) * (items - 1) / np.sum(rest**2))
    values = one[:, None] + other + rest
    person, item = np.indices(values.shape)
    return pd.DataFrame({"person": person.ravel(), "item": item.ravel(), "score": values.ravel()})


def brennan() -> Generalizability:
    """Brennan 2001, synthetic data set 4 as persons by items: tables 6.2 and 6.5."""
    return generalizability(of_mean_squares(10, 12, (10.2963, 11.6273, 2.7872)), "score", ["person"], "item")


def test_brennan_s_example_has_the_variances_that_he_prints() -> None:
    # four digits are printed; the search for the likelihood's top ends a little beside it
    assert brennan().variances[[1, 2, 0]] == pytest.approx([0.6258, 0.8840, 2.7872], abs=2e-4)


def test_brennan_s_example_has_the_coefficients_and_intervals_that_he_prints() -> None:
    study = brennan()
    for which, printed in (("erho2", (0.729, 0.541, 0.876)), ("phi", (0.672, 0.457, 0.845))):
        found = study.coefficient(which, level=0.8)  # type: ignore[arg-type]
        assert (found.value, found.low, found.high) == pytest.approx(printed, abs=6e-4)


def test_intervals_of_few_or_of_light_tails_are_those_of_normal_values() -> None:
    """Brennan's are of ten persons and twelve items, whose fourth cumulants nobody can see."""
    table = of_mean_squares(10, 12, (10.2963, 11.6273, 2.7872))
    codes = table["person"].to_numpy(), table["item"].to_numpy()
    assert (beyond_normal(table["score"].to_numpy(), *codes) == 0).all()
    study = study_of(table["score"].to_numpy(), (*codes, None), ("person", "item", ""))
    assert np.array_equal(study.covariance, brennan().covariance)
    even = np.repeat(np.linspace(0, 1, 40), 5)
    values = even + 0.01 * np.random.default_rng(1).normal(size=200)
    assert beyond_normal(values, np.repeat(np.arange(40), 5), np.tile(np.arange(5), 40))[1] == 0


@pytest.mark.parametrize(("groups", "each"), [(0, 200), (100, 2), (40, 5)])
def test_a_fourth_cumulant_over_the_number_of_objects_is_added_to_their_variance_s(groups: int, each: int) -> None:
    """Exponential worths have a fourth cumulant of 6; noise and raters are small."""
    random, found = np.random.default_rng(4), []
    number = max(groups, 1) * each
    group = np.repeat(np.arange(groups), each) if groups else None
    thing, condition = np.repeat(np.arange(number), 3), np.tile(np.arange(3), number)
    for _ in range(300):
        values = random.exponential(size=number)[thing] + 0.1 * random.normal(size=3 * number)
        found.append(beyond_normal(values, thing, condition, group)[1] * number)
    # a k-statistic of 200 such values has a standard deviation of some 10
    assert np.mean(found) == pytest.approx(6.0, abs=4 * np.std(found) / 300**0.5) and np.std(found) < 12


@pytest.mark.parametrize("raters", [2, 3, 8])
def test_a_fourth_cumulant_over_the_number_of_values_is_added_to_that_of_noise(raters: int) -> None:
    """Exponential noise has a fourth cumulant of 6; worths and raters are normal."""
    random, found = np.random.default_rng(5), []
    thing, condition = np.repeat(np.arange(200), raters), np.tile(np.arange(raters), 200)
    for _ in range(200):
        worth, lenience = random.normal(size=200), random.normal(size=raters)
        values = worth[thing] + lenience[condition] + random.exponential(size=200 * raters)
        found.append(beyond_normal(values, thing, condition)[0] * 200 * raters)
    # of pairs of two, an eighth of the fourth cumulant is seen and multiplied
    assert np.mean(found) == pytest.approx(6.0, abs=4 * np.std(found) / 200**0.5) and np.std(found) < 12


@pytest.mark.slow
def test_intervals_are_wider_where_few_ratings_lie_far_out_and_three_raters_keep_theirs() -> None:
    """Lognormal noise; docs/evidence/calibration.md has how often these intervals hold the truth."""
    for seed in range(5):
        study = of_ratings(ratings(seed, 20, 5, 3, None, steps=False, noise="lognormal"))
        covariance = study.covariance - np.diag(study.beyond)
        narrow = replace(study, covariance=covariance, beyond=np.zeros(5)).coefficient("erho2")
        wide, of_values = study.coefficient("erho2"), study.coefficient("phi")
        assert wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]
        assert of_values.low is not None, seed


@pytest.mark.slow
def test_intervals_are_wider_where_few_results_lie_far_out() -> None:
    table = ratings(1, 20, 5, 6, None, steps=False, worths="lognormal")
    study = of_ratings(table)
    thing, condition, query = (table[name].to_numpy() for name in ("result_id", "rater_id", "query_id"))
    _, normal = Layout(table["rating"].to_numpy(), thing, condition, query[::6]).fit()
    narrow, wide = replace(study, covariance=normal).coefficient("erho2"), study.coefficient("erho2")
    assert narrow.value == wide.value and wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]


@pytest.mark.slow
def test_one_table_says_where_the_figures_of_systems_and_the_ratings_behind_them_vary() -> None:
    """As the measure is called, or as ir-measures has it, and the ratings' part as the panel says it."""
    people = ratings(2, 12, 6, 5, 3, steps=True)
    people["query_id"], people["rater_id"] = people["query_id"].map("q{}".format), people["rater_id"].map("r{}".format)
    people["result_id"] = people["result_id"].map("d{}".format)
    panel = rs.calibrate(people, method="none", careless="keep")
    random = np.random.default_rng(5)
    pairs = panel.judgments[["query_id", "result_id", "judgment"]]
    noisy = {
        name: pairs[["query_id", "result_id"]].assign(score=pairs["judgment"] + random.normal(0, noise, len(pairs)))
        for name, noise in (("good", 0.3), ("fair", 1.0), ("poor", 3.0))
    }
    scores = rs.score(noisy, panel, method="none", measures=["nDCG@10"], unjudged="skip", replicates=20)
    study = scores.generalizability("nDCG@10")
    assert study.as_json() == scores.generalizability("condensed nDCG@10").as_json()
    behind = panel.generalizability()
    assert list(study.table["source"]) == ["system", "query", "rest", *(f"ratings: {each}" for each in behind)]
    behind_them = study.table["source"].str.startswith("ratings")
    # sums of shares, to rounding
    assert study.table["share"].groupby(behind_them).sum().tolist() == pytest.approx([1, 1], abs=1e-12)
    assert study["ratings: rater"]["variance"] == pytest.approx(behind["rater"]["variance"], abs=1e-6)
    assert study.needed("phi", 0.9)[0] == study.coefficients["for 0.9"][1]
    with pytest.raises(RelstudyError, match="'AP' is not a measure by query of these scores"):
        scores.generalizability("AP")


def test_the_likelihood_is_that_of_one_matrix_of_all_values() -> None:
    """Incomplete, in groups of unequal size, one variance below 0."""
    table = ratings(3, 6, 4, 5, 3, steps=False).iloc[:-7]
    thing, condition = (np.unique(table[name], return_inverse=True)[1] for name in ("result_id", "rater_id"))
    query = np.zeros(thing.max() + 1, dtype=int)
    query[thing] = table["query_id"]
    layout = Layout(table["rating"].to_numpy(), thing, condition, query)
    variances = np.array([0.5, 0.7, 0.1, -0.02, 0.05])
    of_group = query[thing]
    cell = of_group * 10 + condition
    same = [np.eye(len(thing)), *(1.0 * (codes[:, None] == codes) for codes in (thing, condition, of_group, cell))]
    whole = sum(variance * each for variance, each in zip(variances, same, strict=True))
    inverse, ones = np.linalg.inv(whole), np.ones(len(thing))
    information = ones @ inverse @ ones
    left = inverse @ layout.value - inverse @ ones * (ones @ inverse @ layout.value) / information
    logs, squares, gradient = layout.parts(variances)
    project = inverse - np.outer(inverse @ ones, inverse @ ones) / information
    assert gradient[0] == pytest.approx([np.trace(project @ each) for each in same], rel=1e-9)
    assert gradient[1] == pytest.approx([-left @ each @ left for each in same], rel=1e-9)
    assert logs == pytest.approx(np.linalg.slogdet(whole)[1] + np.log(information), rel=1e-9)
    assert squares == pytest.approx(layout.value @ left, rel=1e-9)


def panel_of_any_shape(random: np.random.Generator) -> Layout:
    """Variances from a thousandth to ten, some of them 0; steps of half a point and ends in half of the panels."""
    objects, raters = int(random.integers(20, 800)), int(random.integers(2, 25))
    each = int(random.integers(2, min(raters, 5) + 1))
    groups = np.unique(random.integers(0, objects // 3, objects), return_inverse=True)[1]
    sizes = np.exp(random.normal(-0.5, 1, 5)) * (random.random(5) > 0.25)
    thing = np.repeat(np.arange(objects), each)
    rater = np.concatenate([random.permutation(raters)[:each] for _ in range(objects)])
    rater = np.unique(rater, return_inverse=True)[1]
    kinds = (np.arange(len(thing)), thing, rater, groups[thing], groups[thing] * raters + rater)
    effects = [random.normal(size=kind.max() + 1)[kind] for kind in kinds]
    value = np.array([max(sizes[0], 0.2), *sizes[1:]]) @ effects
    return Layout(np.clip(np.round(2 * value) / 2, -2, 2) if random.random() < 0.5 else value, thing, rater, groups)


@pytest.mark.slow
def test_no_other_variances_are_likelier_in_panels_of_any_shape() -> None:
    """In one panel of twenty the search stopped where it began, or far from the greatest likelihood."""
    random = np.random.default_rng(7)
    for _ in range(40):
        layout = panel_of_any_shape(random)
        found, free = layout.fit()[0] / layout.unit**2, layout.free()
        _, _, gradient = layout.parts(found)
        slope = gradient.sum(axis=0)[free]
        for at, each in zip(found[free], slope, strict=True):
            # the deviance that a doubled variance would gain, or one as large as the noise's in place of 0
            assert each * at == pytest.approx(0, abs=1e-2) if at > 0 else each * found[0] > -1e-2


def test_little_noise_in_few_ratings_is_not_taken_for_none() -> None:
    """A first step took all noise away, where sums cancel, and a quarter of such panels was refused."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        thing, groups = np.repeat(np.arange(40), 2), np.arange(40) % 4
        rater = np.concatenate([random.permutation(4)[:2] for _ in range(40)])
        kinds = (np.arange(80), thing, rater, groups[thing])
        value = np.array([0.2, 0.5, 1.0, 1.0]) @ [random.normal(size=kind.max() + 1)[kind] for kind in kinds]
        assert 0.01 < Layout(value, thing, rater, groups).fit()[0][0] < 0.1


def test_what_the_values_cannot_tell_apart_is_not_inverted() -> None:
    """One object a group: its variance and the group's are known as a sum alone. Rounding gave errors of 1e5."""
    random = np.random.default_rng(0)
    thing, condition = np.repeat(np.arange(30), 5), np.tile(np.arange(5), 30)
    value = random.normal(size=30)[thing] + 0.4 * random.normal(size=5)[condition] + random.normal(size=150)
    _, covariance = Layout(value, thing, condition, np.arange(30)).fit()
    assert np.abs(covariance).max() < 1


def test_the_information_is_that_of_one_matrix_of_all_values() -> None:
    table = ratings(3, 8, 4, 5, 3, steps=False)
    study = of_ratings(table)
    codes = [np.zeros(0), table["result_id"], table["rater_id"], table["query_id"]]
    codes = [np.asarray(each) for each in codes]
    same = [np.eye(len(table)), *((each[:, None] == each).astype(float) for each in codes[1:])]
    same.append(same[2] * same[3])
    whole = sum(variance * each for variance, each in zip(study.variances, same, strict=True))
    inverse = np.linalg.inv(whole)
    level = inverse.sum(axis=0)
    project = inverse - np.outer(level, level) / level.sum()
    free = np.flatnonzero(np.diag(study.covariance) > 0)
    information = np.array([[0.5 * np.trace(project @ same[i] @ project @ same[j]) for j in free] for i in free])
    # second differences in steps of a thousandth of a variance
    query = table.groupby("result_id")["query_id"].first().to_numpy()
    _, covariance = Layout(table["rating"].to_numpy(), codes[1], codes[2], query).fit()
    assert covariance[np.ix_(free, free)] == pytest.approx(np.linalg.inv(information), rel=0.02, abs=1e-4)


@pytest.mark.slow
def test_variances_are_found_and_intervals_hold_the_truth() -> None:
    """60 tables; the script has 200. More than seven of 60 miss with a chance of .01."""
    found, held = [], {"erho2": 0, "phi": 0}
    v = VARIANCES
    worth, error = v["query"] + v["result"], v["taste"] + v["rest"]
    for seed in range(60):
        study = of_ratings(ratings(seed, 12, 4, 8, 3, steps=False))
        found.append(study.variances)
        for which, wrong in (("erho2", error), ("phi", error + v["rater"])):
            estimate = study.coefficient(which)  # type: ignore[arg-type]
            truth = 3 * worth / (3 * worth + wrong)
            held[which] += bool(estimate.low is not None and estimate.low <= truth <= (estimate.high or 1))
    # a rater's variance of eight raters is known to half of itself a table, a query's of twelve likewise
    assert np.mean(found, axis=0) == pytest.approx([0.5, 0.8, 0.15, 0.3, 0.05], abs=0.07)
    assert min(held.values()) >= 53


@pytest.mark.real_data
def test_on_a_panel_without_gaps_they_are_the_intraclass_correlations_of_means(shared_data: Path) -> None:
    """Eρ² is ICC(C,k), and Φ is ICC(2,k) (McGraw and Wong 1996), where queries have no part: 72 films by 24 people."""
    rated = read_ratings(shared_data / "video_mos" / "vqeghd3_ratings.csv")
    panel = Panel.from_frame(rated.frame)
    study = study_of(panel.rating, (panel.pair, panel.rater, None), ("result_id", "rater_id", ""))
    icc = intraclass(panel)
    assert study.coefficient("erho2").value == pytest.approx(icc.consistency_mean.value, abs=1e-6)
    assert study.coefficient("phi").value == pytest.approx(icc.two_mean.value, abs=1e-6)
    assert of_panel(panel).components["rater x query"] > 0


def test_more_values_are_needed_for_more_and_as_many_reach_it() -> None:
    study = brennan()
    number, few, many = study.needed("erho2", 0.9)
    assert number is not None and few is not None and many is not None and few < number < many
    assert (study.coefficient("erho2", number).value or 0) >= 0.9 > (study.coefficient("erho2", number - 1).value or 1)
    assert (study.needed("phi", 0.9)[0] or 0) > number
    with pytest.raises(RelstudyError, match="between 0 and 1 is aimed at, not 1"):
        study.needed("phi", 1.0)


def test_two_raters_give_a_coefficient_of_values_without_an_interval() -> None:
    study = of_ratings(ratings(1, 10, 5, 2, None, steps=False))
    assert study.coefficient("erho2").low is not None
    assert study.coefficient("phi").low is None and study.coefficient("phi").reason is not None
    assert "raters do not show how others would differ" in str(study.coefficient("phi").reason)


def test_a_large_table_is_read_by_raters_and_whole_queries_at_random_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = ratings(2, 30, 4, 12, None, steps=False)
    whole = of_ratings(table)
    assert whole.notes == ()
    monkeypatch.setattr("relstudy.calibration.reliability.generalizability.MOST_CONDITIONS", 6)
    monkeypatch.setattr("relstudy.calibration.reliability.generalizability.MOST_WORK", 11 * 25**3 + 1)
    part = of_ratings(table)
    assert part.sizes == (44, 6, 11, 264) and part.each == whole.each == pytest.approx(12)
    assert part.notes == ("variances are of 264 of 1,440 values, taken at random as whole pairs and raters",)


def test_more_queries_than_systems_give_what_one_matrix_gives() -> None:
    """Few of one kind and many of the other are the same table, whichever is summed out."""
    table = of_mean_squares(10, 12, (10.2963, 11.6273, 2.7872))
    study = brennan()
    persons, items = table["person"].to_numpy(), table["item"].to_numpy()
    variances, covariance = Layout(table["score"].to_numpy(), persons, items).fit()
    # the search for the likelihood's top ends a little beside it
    assert study.variances == pytest.approx(variances, abs=2e-4)
    assert study.covariance - np.diag(study.beyond) == pytest.approx(covariance, abs=2e-3)


def test_values_without_noise_and_tables_of_one_rater_are_refused() -> None:
    table = ratings(2, 5, 3, 2, None, steps=False)
    for refused, why in (
        (table[table["rater_id"] == 0], "at least two of pair and rater"),
        (table.assign(rating=table["result_id"] * 1.0), "never differ, so that noise"),
        (table.drop_duplicates("result_id").assign(rater_id=range(15)), "a pair with several values is needed"),
    ):
        with pytest.raises(RelstudyError, match=why):
            of_ratings(refused)


def test_ratings_that_pairs_raters_and_queries_explain_to_the_last_digit_are_refused_in_any_order() -> None:
    """The likelihood rises for ever as the noise goes to 0, and where a search ends is of no meaning."""
    given = {"a": (5, 4, None, None), "b": (4, 3, 1, 5), "c": (3, 2, 4, 5)}
    alike = pd.DataFrame(
        [
            (rater, f"q{query}", f"r{result}", float(value))
            for rater, values in given.items()
            for query, value in enumerate(values)
            for result in range(4)
            if value is not None
        ],
        columns=["rater_id", "query_id", "result_id", "rating"],
    )
    steps = alike["rater_id"].map({"a": 0, "b": 1, "c": 2})
    added = alike.assign(rating=steps + alike["result_id"].str[1:].astype(int) + 1.0)
    for table in (alike, added):
        for seed in range(3):
            panel = rs.calibrate(table.sample(frac=1, random_state=seed), scale="1-9")
            with pytest.raises(RelstudyError, match="explain every value to its last digit"):
                panel.generalizability()


def test_a_calibrated_panel_says_the_same_in_python_and_in_json() -> None:
    table = ratings(2, 8, 4, 5, None, steps=True).astype({"query_id": str, "result_id": str, "rater_id": str})
    panel = rs.calibrate(table, method="none", careless="keep")
    study = of_ratings(table)
    assert panel.generalizability().coefficient("phi") == study.coefficient("phi")
    printed = panel.as_json()["generalizability"]
    assert printed["erho2"]["value"] == study.coefficient("erho2").value
    assert set(printed["variances"]) == {"query", "pair", "rater", "rater x query", "rest"}
    assert printed["sentence"] == study.sentence() and "Eρ²" in study.sentence()
