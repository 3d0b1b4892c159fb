"""A study that is still rated says so, and says what looking at it does to the error."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import relstudy as rs
from relstudy.analysis.resampling.group_sequential import (
    chance_to_decide,
    error_of_looks,
    error_over_looks,
    median_unbiased,
    next_bound,
    spending_bounds,
)
from relstudy.analysis.verdict.facts import StudyFacts
from tests.commands import relstudy, succeeds
from tests.places import ROOT
from tests.simulations import simulation

FEW = ("--replicates", 50, "--method", "none")
GOLDEN = {
    "obrien-fleming": [4.877, 3.357, 2.680, 2.290, 2.031],
    "pocock": [2.438, 2.427, 2.410, 2.397, 2.386],
}
"""Lan and DeMets' spending at five equally spaced looks, two-sided .05 (Jennison and Turnbull 2000; gsDesign)."""
ARMITAGE = {1: 0.05, 2: 0.083, 3: 0.107, 4: 0.126, 5: 0.142, 10: 0.193}
"""Armitage, McPherson and Rowe 1969, table 2: repeated tests at .05."""


@pytest.mark.parametrize("rule", GOLDEN)
def test_bounds_are_those_of_the_literature(rule):
    assert spending_bounds(np.arange(1, 6) / 5, rule=rule) == pytest.approx(GOLDEN[rule], abs=0.0006)  # three digits


@pytest.mark.parametrize("looks", ARMITAGE)
def test_the_error_of_repeated_tests_is_that_of_the_literature(looks):
    assert error_of_looks(np.arange(1, looks + 1) / looks) == pytest.approx(ARMITAGE[looks], abs=0.0006)


def test_the_error_of_uneven_looks_is_that_of_simulated_walks():
    """Of 40,000 walks, whose share has a standard error of .002."""
    fractions = np.array([0.0016, 0.008, 0.04, 0.2, 1.0])
    steps = np.random.default_rng(5).normal(size=(40_000, 5)) * np.sqrt(np.diff(np.r_[0.0, fractions]))
    crossed = (np.abs(steps.cumsum(axis=1) / np.sqrt(fractions)) > 1.96).any(axis=1).mean()
    assert error_of_looks(fractions) == pytest.approx(crossed, abs=4 * 0.002)
    assert error_of_looks(np.arange(1, 6) / 5) + 0.05 < error_of_looks(fractions) < 1 - 0.95**5


@pytest.mark.parametrize("fractions", [[0.1, 0.15, 0.7, 1.0], [0.5, 0.51, 1.0], [1.0]])
@pytest.mark.parametrize("rule", GOLDEN)
def test_bounds_at_odd_times_spend_the_error_and_no_more(fractions, rule):
    assert error_over_looks(fractions, spending_bounds(fractions, 0.05, rule)) == pytest.approx(0.05, abs=1e-6)


def test_bounds_hold_the_error_in_simulated_walks():
    """Of 40,000 walks 5 % cross a bound, give or take .0011 (four of these)."""
    fractions = np.array([0.2, 0.35, 0.8, 1.0])
    steps = np.random.default_rng(11).normal(size=(40_000, 4)) * np.sqrt(np.diff(np.r_[0.0, fractions]))
    statistic = steps.cumsum(axis=1) / np.sqrt(fractions)
    crossed = (np.abs(statistic) >= spending_bounds(fractions)).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=4 * 0.0011)
    assert norm.cdf(-spending_bounds([1.0])[0]) == pytest.approx(0.025)


def test_a_look_that_nobody_planned_costs_no_more_than_what_is_left():
    fractions, bounds = [0.3, 0.6, 1.0], [2.5]
    for looks in (2, 3):
        bounds.append(next_bound(fractions[:looks], bounds))
    assert bounds[1] > 10, "by .6 O'Brien-Fleming spends less than the first look did"
    assert error_over_looks(fractions, bounds) == pytest.approx(0.05, abs=1e-6)
    assert next_bound([0.5, 0.5], [2.7]) == 2.7, "nothing new was rated"


def test_looks_without_new_information_change_nothing():
    assert next_bound([0.0], []) == next_bound([0.0, 0.0], [12.0]) == 12, "answers of the base block alone"
    assert next_bound([0.0, 0.5], [12.0]) == pytest.approx(spending_bounds([0.5])[0])
    assert median_unbiased([0.0, 0.5, 0.5, 1.0], [12.0, 2.963, 2.963], 2.5) == median_unbiased([0.5, 1.0], [2.963], 2.5)
    assert median_unbiased([0.5, 0.5], [2.963], 3.1) == pytest.approx(3.1), "the first look with these answers"


@pytest.mark.parametrize(("rule", "error"), [("obrien-fleming", 0.052), ("pocock", 0.056)])
def test_information_that_lags_behind_the_answers_costs_little(rule, error):
    """The information (inverse variance) in 150 studies of 60 queries, at .2, .4, .6, .8 and all of the answers."""
    bounds = spending_bounds(np.arange(1, 6) / 5, rule=rule)
    assert error_over_looks([0.08, 0.25, 0.5, 0.77, 1.0], bounds) == pytest.approx(error, abs=0.0005)


def stopped(drift: float, number: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walks at three looks with a drift: the look at which each stopped, its statistic there, and the bounds."""
    fractions = np.array([0.4, 0.7, 1.0])
    steps = np.random.default_rng(seed).normal(size=(number, 3)) * np.sqrt(np.diff(np.r_[0.0, fractions]))
    walks = (steps + drift * np.diff(np.r_[0.0, fractions])).cumsum(axis=1) / np.sqrt(fractions)
    bounds = spending_bounds(fractions)
    crossed = np.abs(walks) >= bounds
    at = np.where(crossed.any(axis=1), crossed.argmax(axis=1), 2)
    return at, walks[np.arange(number), at], bounds


def test_the_corrected_lead_is_too_large_as_often_as_too_small():
    """Of 150 walks with a drift of 3, half; four standard errors of that share are .16. The mean is nearer."""
    fractions = np.array([0.4, 0.7, 1.0])
    at, statistic, bounds = stopped(3.0, 150, 3)
    corrected = [median_unbiased(fractions[: k + 1], bounds[:k], z) for k, z in zip(at, statistic, strict=True)]
    lead, plain = np.array(corrected) / np.sqrt(fractions[at]), statistic / np.sqrt(fractions[at])
    assert np.mean(lead > 3.0) == pytest.approx(0.5, abs=0.16)
    assert (lead <= plain + 1e-9).all() and np.mean(lead) < np.mean(plain) - 0.05
    assert median_unbiased([1.0], [], -2.5) == pytest.approx(-2.5)


def test_the_chance_to_decide_is_that_of_simulated_walks():
    """Of 40,000 walks from half of the information on, whose share has a standard error of .0025."""
    at_half, drift = 1.5, 1.5 / np.sqrt(0.5)
    rest = np.random.default_rng(8).normal(drift * 0.5, np.sqrt(0.5), 40_000)
    crossed = np.mean(at_half * np.sqrt(0.5) + rest > 1.97)
    assert chance_to_decide(0.5, at_half, 1.97) == pytest.approx(crossed, abs=4 * 0.0025)


def copied(folder: Path) -> Path:
    """The example with three systems, and without mappings, which looks do not depend on."""
    left_out = shutil.ignore_patterns("mappings", "gift-texture.csv", "simplicity.csv")
    return Path(shutil.copytree(ROOT / "data" / "example", folder, ignore=left_out))


def rated(folder: Path, ratings: int) -> None:
    """The study's judgments as they were after so many ratings."""
    part = folder / "part.csv"
    pd.read_csv(folder / "ratings.csv").head(ratings).to_csv(part, index=False)
    succeeds("calibrate", part, "-o", folder, "--pairs", folder / "pairs.csv")


@pytest.mark.slow
def test_a_running_study_says_so_far_and_counts_the_looks_at_new_ratings(tmp_path):
    folder = copied(tmp_path / "ex")
    assert "So far" not in succeeds("score", folder, *FEW).output, "one pair is undecided, and none is left to rate"

    rated(folder, 700)
    first = succeeds("score", folder, *FEW).output.splitlines()
    assert any(line.startswith("So far, with 414 of 560 pairs judged: use keywords. ") for line in first[:6])
    assert "Looked at" not in " ".join(succeeds("score", folder, *FEW).output.split()), "the same ratings"
    succeeds("calibrate", folder / "part.csv", "-o", folder, "--pairs", folder / "pairs.csv", "--method", "mean")
    assert "Looked at" not in succeeds("score", folder, *FEW).output, "calibrated in another way"

    rated(folder, 900)
    said = json.loads(succeeds("score", folder, *FEW, "--json").stdout)["verdict"]
    assert said["headline"].startswith("So far, with 502 of 560 pairs judged: ")
    assert said["looks"] == (
        "Looked at 2 times while ratings came in: the error of this statement is about 7 %, not 5 %."
    ), "at 700 and at 900 ratings"
    succeeds("report", folder, *FEW)
    page = (folder / "report" / "index.html").read_text()
    assert said["headline"][:40] in page and said["looks"] in page
    assert len(pd.read_csv(folder / "looks.csv")) == 2
    (folder / "ratings.json").write_text('{"state": "closed"}')
    said = json.loads(succeeds("score", folder, *FEW, "--json").stdout)["verdict"]
    assert said["headline"].startswith("Closed with 502 of 560 pairs judged: ")


@pytest.mark.slow
def test_planned_looks_are_held_to_bounds(tmp_path):
    """The bounds are those of the literature for the answers at each look, and every interval is as wide."""
    folder = copied(tmp_path / "ex")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + "[looks]\nplanned = 3\n")
    said = []
    for ratings in (700, 1000, 1264):
        rated(folder, ratings)
        said.append(json.loads(succeeds("score", folder, *FEW, "--json").stdout))
    looks = [each["verdict"]["look"] for each in said]
    assert [each["number"] for each in looks] == [1, 2, 3]
    assert looks[-1]["answers"] == looks[-1]["wanted"] == 1072, "536 pairs outside the base block, two answers each"
    assert [each["bound"] for each in looks] == pytest.approx(
        spending_bounds([each["fraction"] for each in looks]), abs=1e-4
    )
    assert [each["conventions"]["level"] for each in said] == [each["level"] for each in looks]
    assert said[0]["verdict"]["headline"].startswith("So far, at look 1 of 3: ")
    assert "the chance that keywords and gift" in said[0]["verdict"]["looks"]
    assert "All answers are in: over all looks a claim is wrong in at most 5 %" in said[-1]["verdict"]["looks"]
    assert len(pd.read_csv(folder / "looks.csv")) == 3

    succeeds("report", folder, *FEW)
    files = {file.stem: file for file in sorted((folder / "scores").glob("*.csv"))}
    named = succeeds("score", *files.values(), "-j", folder / "judgments.csv", *FEW, "--json").stdout
    found = rs.score(files, folder / "judgments.csv", replicates=50, method="none")
    assert json.loads(named)["verdict"]["look"] == found.verdict.as_json()["look"] == looks[-1]
    assert len(pd.read_csv(folder / "looks.csv")) == 3, "the same ratings are one look, whoever reads them"
    refused = relstudy("score", folder, "--level", 0.9)
    assert refused.exit_code == 1 and "looks.error" in refused.output


@pytest.mark.slow
def test_pairs_of_a_further_round_leave_the_bounds_of_new_ratings_open(tmp_path):
    """As many pairs again: half of the answers wanted are in, where an earlier look had two thirds of fewer."""
    folder = copied(tmp_path / "ex")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + "[looks]\nplanned = 3\n")
    rated(folder, 1000)
    first = json.loads(succeeds("score", folder, *FEW, "--json").stdout)["verdict"]["look"]
    pairs = pd.read_csv(folder / "pairs.csv")
    more = pairs[pairs["block"] != "base"].copy()
    more["pair_id"], more["query_id"] = "more" + more["pair_id"], "more" + more["query_id"]
    pd.concat([pairs, more]).to_csv(folder / "pairs.csv", index=False)
    rated(folder, 1264)
    second = json.loads(succeeds("score", folder, *FEW, "--json").stdout)["verdict"]["look"]
    assert second["fraction"] == 0.5 < first["fraction"] and second["wanted"] == 2 * first["wanted"]
    assert second["bound"] == pytest.approx(next_bound([first["answers"] / 2144, 0.5], [first["bound"]]), abs=0.1)


@pytest.mark.slow
def test_a_look_at_the_base_block_alone_says_nothing_of_chances(tmp_path):
    folder = copied(tmp_path / "ex")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + "[looks]\nplanned = 3\n")
    given = pd.read_csv(folder / "ratings.csv")
    given[given["block"] == "base"].to_csv(folder / "base.csv", index=False)
    succeeds("calibrate", folder / "base.csv", "-o", folder, "--pairs", folder / "pairs.csv")
    said = succeeds("score", folder, *FEW).output
    assert "0 of the 1,072 answers wanted are in (0 %). Go on. Intervals" in " ".join(said.split())
    assert "Warning" not in said and "chance that" not in said


@pytest.mark.slow
def test_a_study_that_may_stop_says_so_and_what_the_lead_is_without_the_luck(tmp_path):
    folder = copied(tmp_path / "ex")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + "[looks]\nplanned = 2\n")
    rated(folder, 1000)
    (folder / "scores" / "gift.csv").unlink()
    said = json.loads(succeeds("score", folder, "--json").stdout)["verdict"]
    assert said["headline"] == "You can stop at look 1 of 2. Use keywords: it is ahead of gift-colour."
    assert "the others need not be collected. keywords is ahead of gift-colour by" in said["looks"]
    assert "corrected for stopping where the lead is large" in said["looks"]


@pytest.mark.parametrize(("looks", "said"), [((500, 1000), "about 8 %, not 5 %"), ((1000, 1001), "still about 5 %")])
def test_the_price_of_looks_follows_the_ratings_at_each(looks, said):
    assert StudyFacts(looks=looks).price_of_looks(0.95).endswith(f"the error of this statement is {said}.")
    assert StudyFacts(looks=looks[:1]).price_of_looks(0.95) is None


@pytest.mark.slow
def test_a_log_of_looks_that_a_kill_left_empty_or_doubled_is_read(tmp_path):
    folder = copied(tmp_path / "ex")
    rated(folder, 700)
    (folder / "looks.csv").touch()
    succeeds("score", folder, *FEW)
    log = (folder / "looks.csv").read_text()
    assert log.startswith("at,state,ratings,fraction,bound\n") and len(log.splitlines()) == 2
    (folder / "looks.csv").write_text(log + log)  # two commands at once, both of which wrote the first look
    assert "Looked at" not in succeeds("score", folder, *FEW).output


@pytest.mark.slow
@pytest.mark.parametrize("edited", ["0.4,-1", "inf,inf", "2,0", "-1,3", ","])
def test_a_bound_that_is_none_counts_as_a_look_of_before_the_plan(tmp_path, edited):
    folder = copied(tmp_path / "ex")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + "[looks]\nplanned = 3\n")
    (folder / "looks.csv").write_text(f"at,state,ratings,fraction,bound\n2026-01-01,abc,500,{edited}\n")
    look = json.loads(succeeds("score", folder, *FEW, "--json").stdout)["verdict"]["look"]
    assert look["number"] == 2 and 1.9 < look["bound"] < 12


@pytest.mark.slow
@pytest.mark.parametrize(("left", "so_far"), [(406, True), (559, False)])
def test_judgments_alone_tell_that_a_study_is_not_over(tmp_path, left, so_far):
    """One pair of 560 may be one that people could not decide; 154 are not judged yet."""
    for name in ("scores", "study.toml", "pairs.csv"):
        source = ROOT / "data" / "example" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    pd.read_csv(ROOT / "data" / "example" / "judgments.csv").head(left).to_csv(tmp_path / "judgments.csv", index=False)
    lines = succeeds("score", tmp_path, *FEW).output.splitlines()
    assert any(line.startswith("So far, with 406 of 560 pairs judged: ") for line in lines[:6]) == so_far


def test_no_system_is_recommended_below_one_that_is_excluded():
    """Three systems: C is A with one more inversion in some queries, so it is surely behind A; B is independent of A
    and may be as good, with a figure below C's."""
    seen = 0
    for seed in range(7, 20):
        judgments, scores = _independent_rival(seed)
        found = rs.score(scores, judgments, measures=[], direction="higher", replicates=100, seed=1)
        figure = {each.name: each.estimate(found.result.primary.index).value for each in found.result.systems}
        best = found.verdict.as_json()["best"]
        below = [name for name in figure if name not in best and figure[name] > min(figure[one] for one in best)]
        if below:
            seen += 1
            assert found.verdict.headline.startswith(f"Use {best[0]}. "), found.verdict.headline
    assert seen


def _independent_rival(seed: int, queries: int = 150) -> tuple[pd.DataFrame, pd.DataFrame]:
    chance, judgments, scores = np.random.default_rng(seed), [], []
    good = np.repeat([1.0, 0.0], 5)
    for query in range(queries):
        a, b = 2 * good + chance.normal(0, 1.2, 10), 2 * good + chance.normal(0, 1.35, 10)
        c = a.copy()
        first = next((one for one in np.argsort(a[:5]) if (a[one] > a[5:]).any()), None)
        if first is not None and chance.random() < 0.4:
            below = 5 + np.flatnonzero(a[5:] < a[first])
            other = below[np.argmax(a[below])]
            c[[first, other]] = c[[other, first]]
        for result in range(10):
            pair = (f"q{query:03}", f"r{query:03}-{result}")
            judgments.append((*pair, 1 + 4 * good[result]))
            scores += [(name, *pair, score[result]) for name, score in zip("ABC", (a, b, c), strict=True)]
    return (
        pd.DataFrame(judgments, columns=["query_id", "result_id", "judgment"]),
        pd.DataFrame(scores, columns=["system", "query_id", "result_id", "score"]),
    )


@pytest.mark.slow
def test_bounds_tell_equal_systems_apart_no_more_often_than_tests_at_each_look(monkeypatch, capsys):
    """A small version of `python evidence/coverage.py looks`; two studies tell the order of the errors alone."""
    module = simulation("looks")
    small = (module.Cell("topics", steps="twelve of 5"), module.Cell("by query", 3))
    monkeypatch.setattr(module, "CELLS", {"small": small})
    monkeypatch.setitem(module.STEPS, "even", (0.5, 1.0))
    monkeypatch.setitem(module.STEPS, "twelve of 5", (0.5, 1.0, 1.2))
    monkeypatch.setattr(module, "ProcessPoolExecutor", lambda mp_context: ThreadPoolExecutor(1))
    module.main(["--studies", "2", "--queries", "20"])
    rows = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()[-4:-2]]
    assert [row[:3] for row in rows] == [["topics", "2", "twelve of 5"], ["by query", "3", "even"]]
    each, last, bounds, held, _, _, at, _ = np.array([[float(cell) for cell in row[4:12]] for row in rows]).T
    assert (bounds <= each).all() and (last <= each).all() and (held >= 0.5).all()
    assert ((at > 0) & (at <= 1.2)).all()


@pytest.mark.parametrize("world", ["normal", "topics", "unlike lists", "noisy raters"])
def test_a_worse_system_of_a_simulation_is_as_much_worse_as_is_asked(world):
    """Within a tenth: the noise is found in 5,000 queries, whose effect of .4 has a standard error of .014."""
    module = simulation("looks")
    made = module.Cell(world).made
    assert module.true_difference(made, (1.0, module.worse_noise(made, 0.4)))[1] == pytest.approx(0.4, rel=0.1)
    assert abs(module.true_difference(made, (1.0, 1.0))[1]) < 4 / np.sqrt(20_000)


@pytest.mark.slow
def test_each_way_of_asking_ends_with_a_sign_and_a_share_of_the_ratings():
    """A small version of `python evidence/coverage.py loop`: a difference that all ways find."""
    module = simulation("loop")
    found = module.one_study(module.WAYS, 30, 3, (1.0, 4.0), module.JUDGE, module.SEED, 0)
    assert (found[:, 0] == 1).all(), dict(zip(module.WAYS, found[:, 0], strict=True))
    assert (found[:, 1] > 0).all() and (found[1:, 1] <= 1).all() and found[0, 1] == 1


def test_the_next_pair_of_a_minimal_test_collection_is_the_one_that_moves_the_difference():
    """Two systems that differ in one exchange, of ranks 1 and 2: those two pairs decide, whatever else is relevant."""
    module = simulation("loop")
    rank, good = np.array([[[1, 2, 3, 4]], [[2, 1, 3, 4]]]), np.array([[True, False, False, True]])
    assert module.minimal_test_collection(rank, good, 4) == (1, 2)
