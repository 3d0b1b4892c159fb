"""relstudy calibrate as a person meets it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import relstudy as rs
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.rater_comparison import compare_rater
from relstudy.calibration.simulation import SimulatedPanel, simulate_panel
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pair_assignment import HandOut
from tests.commands import relstudy
from tests.places import ROOT

TABLES = ("judgments.csv", "raters.csv", "calibrated.csv")


def frame_of(panel: Panel) -> pd.DataFrame:
    frame = panel.pairs.iloc[panel.pair].reset_index(drop=True)
    frame.insert(0, "rater_id", panel.raters.to_numpy()[panel.rater])
    frame["rating"] = panel.rating
    frame["block"] = np.where(panel.base[panel.pair], "base", "unique")
    return frame


@pytest.fixture(scope="module")
def simulated() -> SimulatedPanel:
    return simulate_panel(12, 20, 40, seed=11)


@pytest.fixture
def ratings(simulated: SimulatedPanel, tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    frame_of(simulated.panel).to_csv(path, index=False)
    return path


def run(*arguments: object) -> Result:
    return relstudy("calibrate", *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pooled", "crossed", "shrunk", "zscore", "mean", "none"])
def test_every_method_writes_the_three_tables_and_strict_json(ratings: Path, tmp_path: Path, method: str) -> None:
    result = run(ratings, "-o", tmp_path / "out", "--method", method, "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["method"] == method
    assert {"raters", "base_pairs", "ratings", "undecided", "icc", "flags"} <= set(figures)
    assert set(figures["krippendorff_alpha"]) == {"nominal", "ordinal", "interval"}
    for name in ("within_item_variance", "leave_one_out_correlation"):
        assert {"before", "after"} <= set(figures[name])
    assert all((tmp_path / "out" / name).is_file() for name in TABLES)


@pytest.mark.slow
def test_the_default_says_aloud_which_method_it_chose_and_why(ratings: Path, tmp_path: Path) -> None:
    result = run(ratings, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert re.search(
        r"^Assignment looks random \(p 0\.\d+\), so all ratings are used \(method pooled\)\.$", result.stdout, re.M
    )
    told = json.loads(run(ratings, "-o", tmp_path / "out", "--json").stdout)
    assert (told["method"], told["method_reason"][:24]) == ("pooled", "assignment looks random ")
    assert told["balance"]["how"] == "others"
    assert result.stdout.index("\nCalibration ") < result.stdout.index("\nleave-one-out correlation")
    assert result.stdout.index("\nleave-one-out correlation") < result.stdout.index("\nvariance within a pair")
    assert "[" not in result.stdout  # one style of intervals in every command: "0.1 to 0.2"
    assert result.stdout.splitlines()[-1].startswith("Next: relstudy fit ")
    (tmp_path / "study").mkdir()
    shutil.copy(ratings, tmp_path / "study" / "ratings.csv")
    following = run(tmp_path / "study").stdout.splitlines()[-1]
    assert following.startswith("Next: put the systems' score tables into ") and following.endswith("study"), (
        "it has none yet"
    )


@pytest.mark.slow
def test_a_record_of_random_hand_out_is_believed_and_a_record_of_fixed_hand_out_too(
    ratings: Path, tmp_path: Path
) -> None:
    frame = pd.read_csv(ratings)
    for value, method in (("at random over the pool", "pooled"), (HandOut.FIXED, "crossed")):
        frame.assign(handed_out=value).to_csv(ratings, index=False)
        figures = json.loads(run(ratings, "-o", tmp_path / "out", "--json").stdout)
        assert figures["method"] == method
    result = run(ratings, "-o", tmp_path / "out", "--method", "pooled")
    assert result.exit_code == 1
    assert "pooled rests on pairs assigned at random, and these are recorded as fixed" in result.stderr


@pytest.mark.slow
def test_pairs_dealt_by_their_worth_make_the_default_fall_back_and_pooled_refuse(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    frame_of(simulate_panel(12, 20, 40, handed_out=HandOut.FIXED, seed=3).panel).to_csv(path, index=False)
    result = run(path, "-o", tmp_path / "out")
    assert "Assignment does not look random (p < 0.0001)" in result.stdout
    refused = run(path, "-o", tmp_path / "out2", "--method", "pooled")
    assert refused.exit_code == 1
    assert "these do not look it (compared by" in refused.stderr
    assert not (tmp_path / "out2").exists()
    assert run(path, "-o", tmp_path / "out2", "--method", "pooled", "--force").exit_code == 0


@pytest.mark.slow
def test_judgments_carry_inclusion_probabilities_from_the_ratings_or_the_pairs(ratings: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(ratings)
    pairs = frame[["query_id", "result_id"]].drop_duplicates().assign(inclusion_probability=0.125)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    out = tmp_path / "out"
    result = run(ratings, "-o", out, "--pairs", tmp_path / "pairs.csv")
    assert "inclusion probabilities are not known" not in result.stdout
    assert (pd.read_csv(out / "judgments.csv")["inclusion_probability"] == 0.125).all()
    frame.assign(inclusion_probability=0.25, query_probability=0.5).to_csv(ratings, index=False)
    run(ratings, "-o", out)
    judgments = pd.read_csv(out / "judgments.csv")
    assert (judgments["inclusion_probability"] == 0.25).all()
    assert (judgments["query_probability"] == 0.5).all()
    pairs.iloc[1:].to_csv(tmp_path / "pairs.csv", index=False)
    result = run(ratings, "-o", out, "--pairs", tmp_path / "pairs.csv")
    assert "1 of 180 pairs have no known inclusion probability" in result.stdout


@pytest.mark.slow
def test_calibrated_values_may_leave_the_scale_unless_clipped(ratings: Path, tmp_path: Path) -> None:
    run(ratings, "-o", tmp_path / "free", "--method", "zscore")
    run(ratings, "-o", tmp_path / "clipped", "--method", "zscore", "--clip")
    free = pd.read_csv(tmp_path / "free" / "calibrated.csv")["calibrated"]
    clipped = pd.read_csv(tmp_path / "clipped" / "calibrated.csv")["calibrated"]
    assert free.min() < 1
    assert (clipped.min(), clipped.max()) == (1, 5)
    assert np.allclose(clipped, free.clip(1, 5))


def test_undecided_ratings_stay_in_the_table_without_a_number(ratings: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(ratings)
    frame.loc[frame.index[::7], "rating"] = np.nan
    frame.to_csv(ratings, index=False)
    result = run(ratings, "-o", tmp_path / "out", "--json")
    figures = json.loads(result.stdout)
    calibrated = pd.read_csv(tmp_path / "out" / "calibrated.csv")
    assert figures["undecided"] == calibrated["calibrated"].isna().sum() == frame["rating"].isna().sum()
    assert figures["ratings"] + figures["undecided"] == len(frame)


def test_figures_that_cannot_be_computed_are_null_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("rater_id,query_id,result_id,rating\na,q,x,3\na,q,y,4\n")
    figures = json.loads(run(path, "-o", tmp_path / "out", "--json").stdout)
    assert figures["within_item_variance"]["before"] is None
    assert figures["reasons"]["within_item_variance.before"] == "no pair has two ratings"
    assert figures["krippendorff_alpha"]["ordinal"] is None
    raters = pd.read_csv(tmp_path / "out" / "raters.csv")
    assert raters["agreement"].isna().all()


def test_a_wrong_table_ends_with_exit_code_1_its_faults_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("rater_id,query_id,result_id,rating\na,q,x,three\n")
    result = run(path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"relstudy: {path}, row 2, column rating: 'three' is not allowed")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a folder to write to, with -o; try: relstudy calibrate"),
        (["-o", "OUT", "--method", "magic"], "'glad' or 'mace', not 'magic'"),
        (["-o", "OUT", "--binary", "x.csv"], "--binary goes with --figures"),
        (["-o", "OUT", "--scores", "x.csv"], "--scores goes with --compare"),
    ],
)
def test_wrong_usage_ends_with_exit_code_2(ratings: Path, arguments: list[str], message: str) -> None:
    result = run(ratings, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_file_where_the_folder_should_be_is_named(ratings: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    result = run(ratings, "-o", tmp_path / "out")
    assert (result.exit_code, "this is a file; -o needs a folder" in result.stderr) == (1, True)


@pytest.mark.slow
def test_figures_are_written_as_well_formed_svg(ratings: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(ratings)
    frame.assign(rating=(frame["rating"] > 3).astype(int), scale="binary").to_csv(tmp_path / "binary.csv", index=False)
    result = run(ratings, "-o", tmp_path / "out", "--figures", "--binary", tmp_path / "binary.csv")
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "out" / "figures").iterdir())
    assert names == ["binary-by-graded.svg", "rater-lines.svg", "raters.svg", "variance-by-mean.svg"]
    for name in names:
        root = ElementTree.parse(tmp_path / "out" / "figures" / name).getroot()
        assert root.get("aria-label")
    result = run(ratings, "-o", tmp_path / "out", "--figures", "--binary", ratings)
    assert "ratings on the binary scale (0 or 1) are needed" in result.stderr


def test_help_shows_an_example_and_loads_no_heavy_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from click.testing import CliRunner; from relstudy.studyapp.cli import main;"
        "r = CliRunner().invoke(main, ['calibrate', '--help']); assert r.exit_code == 0;"
        "assert 'Examples:' in r.output;"
        "print([m for m in ('pandas', 'numpy', 'pymc', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.slow
def test_calibrate_does_not_wait_for_distributions_it_does_not_draw_from() -> None:
    import subprocess
    import sys

    example = Path(__file__).parents[2] / "data" / "example" / "ratings.csv"
    code = (
        "import sys, tempfile; from relstudy.studyapp.cli import main;"
        f"main(['calibrate', {str(example)!r}, '-o', tempfile.mkdtemp()], standalone_mode=False);"
        "print([m for m in ('scipy.stats', 'sklearn', 'matplotlib', 'cvxpy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]", ran.stderr


# One rater against the rest


@pytest.mark.slow
def test_a_rater_is_compared_with_all_the_others_and_systems_on_both_sides(
    ratings: Path, simulated: SimulatedPanel, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    scores = simulated.panel.pairs.assign(
        good=simulated.quality + rng.normal(0, 0.5, len(simulated.quality)),
        noise=rng.normal(size=len(simulated.quality)),
    )
    scores.to_csv(tmp_path / "scores.csv", index=False)
    result = run(ratings, "--compare", "r0003", "--scores", tmp_path / "scores.csv", "--json")
    assert result.exit_code == 0, result.output
    comparison = json.loads(result.stdout)
    # by hand, from the calibrated ratings
    assert run(ratings, "-o", tmp_path).exit_code == 0
    table = pd.read_csv(tmp_path / "calibrated.csv")
    agreement, bias, shared = {}, {}, {}
    for rater, own in table.groupby("rater_id"):
        others = table[table["rater_id"] != rater].groupby(PAIR)[["rating", "calibrated"]].mean()
        both = own.set_index(PAIR).join(others.add_suffix("_of_others"), how="inner")
        shared[rater], agreement[rater] = len(both), both["calibrated"].corr(both["calibrated_of_others"])
        bias[rater] = [float((both[name] - both[f"{name}_of_others"]).mean()) for name in ("rating", "calibrated")]
    assert comparison["share"] == pytest.approx((table["rater_id"] == "r0003").mean())
    assert comparison["shared_pairs"] == shared["r0003"]
    assert [comparison[name]["value"] for name in ("bias_before", "bias_after")] == pytest.approx(bias["r0003"])
    assert comparison["agreement"]["value"] == pytest.approx(agreement["r0003"])
    assert comparison["rank"] == sorted(agreement.values(), reverse=True).index(agreement["r0003"]) + 1
    joined = table.merge(scores.astype(dict.fromkeys(PAIR, str)), on=PAIR)
    joined["weight"] = 1 / joined.groupby([joined["rater_id"] == "r0003", *PAIR])["rating"].transform("size")
    for name, system in comparison["systems"].items():
        for side, part in joined.groupby(np.where(joined["rater_id"] == "r0003", "rater", "others")):
            covariance = np.cov(*part[[name, "calibrated"]].rank().to_numpy().T, aweights=part["weight"])
            expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
            assert system[side]["value"] == pytest.approx(expected), (name, side)
    words = run(ratings, "--compare", "r0003", "--scores", tmp_path / "scores.csv").stdout
    assert "Rater r0003 gave 8." in words
    assert "difference" in words


def test_an_unknown_rater_is_named(ratings: Path) -> None:
    result = run(ratings, "--compare", "nobody")
    assert result.exit_code == 1
    assert "there is no rater 'nobody'; the 12 raters are r0000, r0001" in result.stderr


def test_a_score_table_without_numbers_is_refused(ratings: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query_id,result_id,title\nq,x,hello\n")
    result = run(ratings, "--compare", "r0003", "--scores", tmp_path / "s.csv")
    assert "there is no column score and no other column of numbers" in result.stderr


# A group of people against the others


@pytest.fixture
def two_minds(tmp_path: Path) -> Path:
    """Six experts who rate what `deep` finds and six laypeople who rate what `plain` finds, the same 120 pairs."""
    rng = np.random.default_rng(5)
    pairs = pd.DataFrame(
        {"query_id": np.repeat([f"q{k}" for k in range(20)], 6), "result_id": [f"d{k}" for k in range(120)]}
    )
    deep, plain = rng.normal(size=(2, 120))
    pairs.assign(deep=deep, plain=plain).to_csv(tmp_path / "scores.csv", index=False)
    rows = []
    for number in range(12):
        taste = deep if number < 6 else plain
        rating = np.clip(np.round(3 + taste + rng.normal(0, 0.4, 120)), 1, 5).astype(int)
        rows.append(pairs.assign(rater_id=f"r{number:02d}", rating=rating))
    pd.concat(rows).to_csv(tmp_path / "minds.csv", index=False)
    group = np.where(np.arange(12) < 6, "expert", "layperson")
    people = pd.DataFrame({"rater_id": [f"r{k:02d}" for k in range(12)], "group": group, "question_age": 30})
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_a_group_of_people_is_compared_with_the_others_and_ranks_systems_differently(two_minds: Path) -> None:
    given = ["--people", two_minds / "people.csv", "--compare", "group=expert", "--scores", two_minds / "scores.csv"]
    done = run(two_minds / "minds.csv", *given, "--json")
    assert done.exit_code == 0, done.output
    compared = json.loads(done.stdout)
    assert compared["people"] == {"group": 6, "others": 6}
    assert compared["shared_pairs"] == 120
    (order,) = compared["orders"]
    assert (order["first"], order["second"]) == ("deep", "plain")
    assert order["rater"] > 0.5 and order["others"] < -0.5
    assert order["difference"]["value"] == pytest.approx(order["rater"] - order["others"])
    assert order["difference"]["low"] > 1
    # by hand: the difference of rank correlations with either group's single ratings
    rated, scores = pd.read_csv(two_minds / "minds.csv"), pd.read_csv(two_minds / "scores.csv")
    joined = rated.merge(scores, on=["query_id", "result_id"])
    lead = {
        side: part[["rating", "deep", "plain"]].corr("spearman")["rating"].pipe(lambda of: of["deep"] - of["plain"])
        for side, part in joined.groupby(joined["rater_id"] < "r06")
    }
    assert order["rater"] == pytest.approx(lead[True], abs=0.05)  # calibrated ratings have other ties than given ones
    assert order["others"] == pytest.approx(lead[False], abs=0.05)
    words = run(two_minds / "minds.csv", *given).stdout
    assert "6 raters of group=expert, against 6 others" in words
    assert "group=expert and the others see deep and plain differently" in words


@pytest.mark.slow
def test_the_figures_of_one_rater_are_those_of_a_group_of_one(two_minds: Path) -> None:
    pd.DataFrame({"rater_id": [f"r{k:02d}" for k in range(12)], "me": ["yes"] + ["no"] * 11}).to_csv(
        two_minds / "me.csv", index=False
    )
    scores = ["--scores", two_minds / "scores.csv", "--json"]
    one = json.loads(run(two_minds / "minds.csv", "--compare", "r00", *scores).stdout)
    group = json.loads(
        run(two_minds / "minds.csv", "--people", two_minds / "me.csv", "--compare", "me=yes", *scores).stdout
    )
    for name in ("share", "shared_pairs", "bias_before", "bias_after", "systems", "orders"):
        assert one[name] == group[name]


@pytest.mark.slow
def test_ratings_are_calibrated_by_what_is_said_of_people(two_minds: Path) -> None:
    done = run(two_minds / "minds.csv", "-o", two_minds / "out", "--people", two_minds / "people.csv", "--by", "group")
    assert done.exit_code == 0, done.output
    assert (two_minds / "out" / "expert" / "judgments.csv").is_file()
    assert len(pd.read_csv(two_minds / "out" / "layperson" / "raters.csv")) == 6


@pytest.mark.parametrize(
    ("people", "group", "said"),
    [
        ("rater_id,group\nr00,expert\n", "group=novice", "group is 'novice' of nobody; it is: '', 'expert'"),
        ("rater_id,group\nr00,expert\n", "age=3", "the ratings have no column 'age'; there are:"),
        ("rater_id,group\nr00,a\nr00,b\n", "group=a", "rater 'r00' has two rows; one row a person is needed"),
        ("rater_id,group\nx,a\n", "group=a", "none of its people is among the raters"),
        ("name,group\nr00,a\n", "group=a", "rater_id: this column is required"),
        ("rater_id,group\nr00,a\n", "query_id=q0", "query_id says 20 things of rater r00"),
    ],
)
def test_a_group_that_is_none_is_refused_in_a_sentence(two_minds: Path, people: str, group: str, said: str) -> None:
    (two_minds / "some.csv").write_text(people)
    done = run(two_minds / "minds.csv", "--people", two_minds / "some.csv", "--compare", group)
    assert done.exit_code == 1
    assert said in done.stderr


@pytest.mark.slow
def test_against_names_the_method_that_is_ahead_and_what_it_is_ahead_in(tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    frame_of(simulate_panel(40, 10, 40, seed=11).panel).to_csv(ratings, index=False)
    said = run(ratings, "-o", tmp_path, "--method", "none", "--against", "crossed", "--against", "glad").stdout
    assert "Single ratings agree better with the others' of their pair after crossed than after none, by 0.0" in said
    assert "after glad" not in said and "No other method is ahead" not in said
    said = run(ratings, "-o", tmp_path, "--method", "crossed", "--against", "none").stdout
    assert "No other method is ahead of crossed by more than chance, over 1 compared." in said
    rows = json.loads(run(ratings, "-o", tmp_path, "--method", "none", "--against", "crossed", "--json").stdout)
    used, other = rows["against"]
    assert used["method"] == "none" and used["correlation"] == rows["leave_one_out_correlation"]["after"]
    assert other["correlation"] - used["correlation"] == pytest.approx(-other["difference"], abs=1e-12)
    refused = run(ratings, "--compare", "r1", "--against", "none")
    assert refused.exit_code == 2 and "--against goes without --by and --compare" in refused.output


def test_one_shared_pair_and_one_other_rater_are_said_to_be_one() -> None:
    ratings = pd.DataFrame({"rater_id": list("aab"), "query_id": "q", "result_id": list("xyx"), "rating": [1, 2, 3]})
    result = rs.calibrate(ratings.assign(group=list("eeo")), method="none", scale="1-5").calibration
    assert (
        compare_rater(result, "a").sentences()[0] == "Rater a gave 66.7 % of the ratings and shares 1 pair with others."
    )
    assert (
        compare_rater(result, "group=e").sentences()[0].startswith("1 rater of group=e, against 1 other: gave 66.7 %")
    )


@pytest.mark.slow
def test_two_groups_that_do_not_differ_are_told_apart_as_often_as_the_level_says() -> None:
    sys.path.insert(0, str(ROOT / "evidence" / "simulations"))
    try:
        from rater_groups import ratings
    finally:
        sys.path.pop(0)
    wrong = 0
    for seed in range(60):
        study = calibrate(check_ratings(Checked(ratings(6, seed), "ratings.csv")))
        wrong += bool(compare_rater(study, "group=a").bias_before.excludes_zero)
    assert wrong <= 8  # 3 of 60 are expected; 9 or more in one of 300 such tests


def test_a_group_that_is_more_lenient_is_compared_as_rated_over_raters() -> None:
    simulated = simulate_panel(12, 30, 30, seed=4)
    panel = simulated.panel
    group = np.where(panel.rater < 6, "a", "b")
    frame = pd.DataFrame(
        {"rater_id": panel.rater, "query_id": "q", "result_id": panel.pair, "group": group}
    ).assign(rating=np.clip(panel.rating + (group == "a"), 1, 5))  # fmt: skip
    found = compare_rater(calibrate(check_ratings(Checked(frame.astype(str), "ratings.csv"))), "group=a")
    assert found.bias_before.low is not None and found.bias_before.low > 0
    assert found.bias_after.ends is None and "calibration removes" in (found.bias_after.reason or "")
    assert "over raters like these" in found.sentences()[1]
