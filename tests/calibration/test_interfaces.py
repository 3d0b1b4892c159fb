"""Several interfaces in one table: calibrated apart, set side by side, never mixed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from scipy import stats

from relstudy.calibration.interfaces import rating_times, read_interfaces
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from tests.calibration.interfaces import SECONDS, ratings_of
from tests.commands import relstudy


def run(*arguments: object) -> Result:
    return relstudy("calibrate", *arguments)


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    return ratings_of("1-5", "binary", "1-9")


@pytest.fixture(scope="module")
def calibrated(ratings: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("interfaces")
    ratings.to_csv(folder / "ratings.csv", index=False)
    result = run(folder / "ratings.csv", "-o", folder / "out", "--by", "scale", "--method", "shrunk")
    assert result.exit_code == 0, result.output
    return folder, result


@pytest.mark.slow
def test_a_table_of_several_scales_is_refused_with_the_way_out(calibrated: tuple[Path, Result]) -> None:
    folder, _ = calibrated
    result = run(folder / "ratings.csv", "-o", folder / "mixed")
    assert result.exit_code == 1 and "--by scale takes each by itself" in result.stderr
    assert not (folder / "mixed").exists()


@pytest.mark.slow
def test_each_part_is_what_calibrating_it_alone_gives(
    calibrated: tuple[Path, Result], ratings: pd.DataFrame, tmp_path: Path
) -> None:
    folder, _ = calibrated
    ratings[ratings["scale"] == "1-9"].to_csv(tmp_path / "nine.csv", index=False)
    assert run(tmp_path / "nine.csv", "-o", tmp_path, "--method", "shrunk").exit_code == 0
    for table in ("judgments.csv", "raters.csv", "calibrated.csv"):
        assert (folder / "out" / "1-9" / table).read_bytes() == (tmp_path / table).read_bytes()


@pytest.mark.slow
def test_parts_on_different_scales_never_stand_in_one_table(calibrated: tuple[Path, Result]) -> None:
    folder, result = calibrated
    assert {path.name for path in (folder / "out").iterdir()} == {"1-5", "1-9", "binary"}
    assert "The parts are not in one table: the scales differ (1-5: 1-5, 1-9: 1-9, binary: binary)" in result.stdout


@pytest.mark.slow
def test_the_variance_of_table_5_1_is_in_units_of_the_squared_range(calibrated: tuple[Path, Result]) -> None:
    folder, _ = calibrated
    done = run(folder / "ratings.csv", "-o", folder / "again", "--by", "scale", "--method", "shrunk", "--json")
    content = json.loads(done.stdout)
    part, row = content["parts"]["1-9"], content["side_by_side"]["1-9"]
    for when in ("before", "after"):
        given, standardised = part["within_item_variance"], row["standardised_variance"][when]
        assert standardised["value"] == pytest.approx(given[when] / 64)
        assert standardised["low"] == pytest.approx(given[f"{when}_interval"][0] / 64)
    # the same people saw the same pairs, and standardised scores differ by rounding to steps alone
    five = content["side_by_side"]["1-5"]["standardised_variance"]["before"]["value"]
    assert row["standardised_variance"]["before"]["value"] == pytest.approx(five, rel=0.35)


def test_times_are_compared_by_those_who_used_both_interfaces(ratings: pd.DataFrame) -> None:
    parts = {name: ratings[ratings["scale"] == name] for name in ("1-5", "1-9")}
    times = rating_times(parts)
    assert times is not None
    ratio = times["1-9"].ratio
    assert ratio is not None and ratio.low is not None and ratio.high is not None and ratio.value is not None
    assert ratio.low < SECONDS["1-9"] / SECONDS["1-5"] < ratio.high
    logs = [np.log(part.groupby("rater_id")["seconds"].median()) for part in parts.values()]
    paired = stats.ttest_rel(logs[1], logs[0]).confidence_interval()
    assert (ratio.low, ratio.high) == pytest.approx((np.exp(paired.low), np.exp(paired.high)))
    # raters differ far more than that: other people's times would leave it open
    strangers = {"1-5": parts["1-5"], "1-9": parts["1-9"].assign(rater_id="other " + parts["1-9"]["rater_id"])}
    loose = rating_times(strangers)
    assert loose is not None and loose["1-9"].both == 0
    apart = loose["1-9"].ratio
    assert apart is not None and apart.high is not None and apart.low is not None
    assert apart.high / apart.low > 1.5 * ratio.high / ratio.low
    # Welch's interval (1947) of raters whose times vary unlike
    quick, slow = (of.var() / len(of) for of in logs)
    freedom = (quick + slow) ** 2 / (quick**2 / (len(logs[0]) - 1) + slow**2 / (len(logs[1]) - 1))
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(quick + slow)
    centre = logs[1].mean() - logs[0].mean()
    assert (apart.low, apart.high) == pytest.approx((np.exp(centre - reach), np.exp(centre + reach)), rel=1e-9)


def test_the_sentence_on_times_names_whose_they_are(calibrated: tuple[Path, Result]) -> None:
    assert "A rating in 1-9 takes " in calibrated[1].stdout
    assert "times as long as in 1-5, by the 8 raters who did both." in calibrated[1].stdout


def test_parts_are_told_apart_by_the_ends_where_no_column_names_the_scale(ratings: pd.DataFrame) -> None:
    ends = ratings["scale"].map({"1-5": (1, 5), "binary": (0, 1), "1-9": (1, 9)})
    frame = ratings.drop(columns="scale").assign(
        scale_low=[end[0] for end in ends], scale_high=[end[1] for end in ends], scale_step=1
    )
    parts = read_interfaces(Checked(frame.astype(str), "ratings.csv"), "scale")
    assert {name: part.scale.scale.high for name, part in parts.items()} == {"0-1": 1, "1-5": 5, "1-9": 9}


def test_a_part_that_mixes_scales_is_refused(ratings: pd.DataFrame) -> None:
    frame = ratings.assign(interface="all")
    with pytest.raises(RelstudyError, match=r"mixes 1-5 \(232 rows\), binary"):
        read_interfaces(Checked(frame.astype(str), "ratings.csv"), "interface")


@pytest.mark.slow
def test_paradigms_on_one_scale_are_calibrated_apart_and_stand_in_one_table(
    ratings: pd.DataFrame, tmp_path: Path
) -> None:
    five = ratings[ratings["scale"] == "1-5"].reset_index(drop=True)
    five.to_csv(tmp_path / "ratings.csv", index=False)
    pairs = five[["query_id", "result_id"]].drop_duplicates()
    number = pairs["query_id"].str[1:].astype(int)
    pairs = pairs.assign(paradigm=np.where(number % 2 == 0, "image", "text"), inclusion_probability=0.25)
    extra = pd.DataFrame(
        {"query_id": "q1", "result_id": ["y1", "y2"], "paradigm": "text", "inclusion_probability": 0.25}
    )
    pd.concat([pairs, extra]).to_csv(tmp_path / "pairs.csv", index=False)
    done = run(
        *(tmp_path / "ratings.csv", "-o", tmp_path / "out", "--by", "paradigm", "--method", "mean"),
        *("--pairs", tmp_path / "pairs.csv", "--json"),
    )
    assert done.exit_code == 0, done.output
    parts = json.loads(done.stdout)["parts"]
    assert {name: part["drawn"]["not_judged"] for name, part in parts.items()} == {"image": 0, "text": 2}
    both = pd.read_csv(tmp_path / "out" / "judgments.csv")
    assert both["paradigm"].value_counts().to_dict() == {"image": 60, "text": 60}
    # the probability of being judged, too, is each paradigm's own
    assert both.groupby("paradigm")["inclusion_probability"].first().round(4).to_dict() == {
        "image": 0.25,
        "text": round(0.25 * 60 / 62, 4),
    }
