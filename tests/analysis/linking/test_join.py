"""Judgments on several scales, joined on one: the map, its check, the probabilities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from relstudy.analysis.linking import link
from relstudy.analysis.linking.joined import Joined, join_judgments
from relstudy.analysis.linking.link import agreement
from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from tests.commands import relstudy

NOISE = 0.3


def graded(quality: np.ndarray) -> np.ndarray:
    """What a pair of a quality from 0 to 1 is worth on 1-5: far from a straight line in the judgments on 1-9."""
    return 1 + 4 * quality**2


def judgments(
    numbers: np.ndarray, quality: np.ndarray, scale: str, rng: np.random.Generator, **more: object
) -> Judgments:
    low, high = map(int, scale.split("-"))
    values = graded(quality) if scale == "1-5" else low + (high - low) * quality
    return Judgments.of(
        pd.DataFrame(
            {
                "query_id": [f"q{number // 6}" for number in numbers],
                "result_id": [f"x{number}" for number in numbers],
                "judgment": values + rng.normal(0, NOISE, len(numbers)),
                "relevant_share": (graded(quality) > 3.5).astype(float),
                "relevance_cut": 3.5 if scale == "1-5" else 5.5,
                "standard_error": NOISE,
                "scale_low": low,
                "scale_high": high,
                "scale_step": 1,
                **more,
            }
        )
    )


@pytest.fixture(scope="module")
def quality() -> np.ndarray:
    return np.random.default_rng(5).uniform(size=300)


@pytest.fixture(scope="module")
def joined(quality: np.ndarray) -> Joined:
    rng = np.random.default_rng(6)
    five, nine = np.arange(0, 180), np.arange(60, 300)
    tables = {"five": judgments(five, quality[five], "1-5", rng), "nine": judgments(nine, quality[nine], "1-9", rng)}
    return join_judgments(tables)


@pytest.mark.slow
def test_pairs_judged_on_the_second_scale_alone_land_where_the_first_would_have_them(
    joined: Joined, quality: np.ndarray
) -> None:
    mapped = joined.judgments.frame[joined.judgments.frame["interface"] == "nine"]
    assert len(mapped) == 120 and len(joined.judgments) == 300
    truth = graded(quality[mapped["result_id"].str[1:].astype(int)])
    error = np.sqrt(np.mean((mapped["judgment"] - truth) ** 2))
    claimed = mapped["standard_error"].iloc[0]
    # the claim counts the noise of the first table too: sqrt(error^2 + .3^2), give or take a tenth for 120 pairs
    assert claimed == pytest.approx(np.hypot(error, NOISE), rel=0.1) and error < claimed
    way = joined.links["nine"]
    assert way.stretched.low is not None and way.error.high is not None and way.error.high < way.stretched.low


@pytest.mark.slow
def test_a_better_judgment_is_never_mapped_below_a_worse_one(joined: Joined) -> None:
    mapped = joined.judgments.frame.query("interface == 'nine'").sort_values("judgment_given")
    assert (np.diff(mapped["judgment"]) >= 0).all() and (np.diff(mapped["relevant_share"]) >= 0).all()


@pytest.mark.slow
def test_what_is_relevant_on_the_second_scale_is_what_the_first_calls_relevant(
    joined: Joined, quality: np.ndarray
) -> None:
    mapped = joined.judgments.frame.query("interface == 'nine'")
    true = graded(quality[mapped["result_id"].str[1:].astype(int)]) > 3.5
    # by the second scale's own cut, 5.5, pairs from quality .5625 on would be; the first has them from .79
    assert mapped["relevant_share"].sum() == pytest.approx(true.sum(), abs=8)
    assert (mapped["judgment_given"] > 5.5).sum() > true.sum() + 15


@pytest.mark.slow
def test_a_pair_judged_on_both_scales_keeps_the_first_one_s_judgment(joined: Joined) -> None:
    both = joined.judgments.frame.set_index("result_id").loc[[f"x{number}" for number in range(60, 180)]]
    assert (both["interface"] == "five").all() and (both["judgment"] == both["judgment_given"]).all()
    assert "120 judgments of pairs that an earlier table holds are left out" in joined.notes


def test_correlation_without_noise_is_spearman_s_formula() -> None:
    rng = np.random.default_rng(1)
    true = rng.normal(size=400)
    frame = pd.DataFrame(
        {
            "query_id": np.arange(400) // 4,
            "judgment": 3 + true + rng.normal(0, 0.8, 400),
            "judgment_other": 2 * true + rng.normal(0, 1.5, 400),
            "standard_error": 0.8,
            "standard_error_other": 1.5,
        }
    )
    pearson, spearman, without = agreement(frame)
    r = frame["judgment"].corr(frame["judgment_other"])
    reliable = [1 - 0.8**2 / frame["judgment"].var(ddof=0), 1 - 1.5**2 / frame["judgment_other"].var(ddof=0)]
    assert pearson.value == pytest.approx(r)
    assert spearman.value == pytest.approx(frame["judgment"].corr(frame["judgment_other"], method="spearman"))
    assert without.value == pytest.approx(min(r / np.sqrt(np.prod(reliable)), 1))
    assert without.low is not None and pearson.value is not None and pearson.value < without.low < 1
    nothing = agreement(frame.drop(columns="standard_error"))[2]
    assert nothing.value is None and nothing.reason is not None


@pytest.fixture
def isotonic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the choice among methods is not what is tested."""
    monkeypatch.setattr(link, "METHODS", ("isotonic",))


@pytest.mark.usefixtures("isotonic_alone")
def test_one_draw_dealt_to_two_interfaces_has_the_probabilities_of_that_draw(quality: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    chance = 0.05 + 0.25 * quality
    drawn = np.arange(300)
    pairs = pd.DataFrame(
        {
            "query_id": [f"q{number // 6}" for number in drawn],
            "result_id": [f"x{number}" for number in drawn],
            "inclusion_probability": chance,
        }
    )
    # a third on the first scale, a third on the second, a sixth on both, a sixth not judged yet
    dealt = np.digitize(rng.random(300), [1 / 3, 2 / 3, 5 / 6])
    parts = {
        name: judgments(
            drawn[inside], quality[inside], scale, rng, inclusion_probability=chance[inside] * inside.mean()
        )
        for name, scale, inside in (
            ("five", "1-5", np.isin(dealt, [0, 2])),
            ("nine", "1-9", np.isin(dealt, [1, 2])),
        )
    }
    assert join_judgments(parts).judgments.unknown == np.count_nonzero(dealt < 3)
    frame = join_judgments(parts, Checked(pairs, "pairs.csv")).judgments.frame
    number = frame["result_id"].str[1:].astype(int)
    # judged at all, whichever way: the chance to be drawn, times the share of the draw that anybody judged
    assert frame["inclusion_probability"].to_numpy() == pytest.approx(chance[number] * np.mean(dealt < 3))
    # and so the weights add up to the collection behind the draw, as those of all drawn pairs do: on average over who
    # judged what, here within three standard errors of that share
    share = np.mean(dealt < 3)
    error = np.sqrt(np.sum((1 / chance) ** 2) * (1 - share) / share)
    assert (1 / frame["inclusion_probability"]).sum() == pytest.approx(np.sum(1 / chance), abs=3 * error)


@pytest.mark.usefixtures("isotonic_alone")
def test_probabilities_of_different_designs_are_left_empty_and_it_is_said(quality: np.ndarray) -> None:
    rng, numbers = np.random.default_rng(0), np.arange(60)
    one = judgments(numbers, quality[:60], "1-5", rng, inclusion_probability=0.2)
    same = judgments(numbers, quality[:60], "1-9", rng, inclusion_probability=0.2)
    other = judgments(numbers, quality[:60], "1-9", rng, inclusion_probability=0.3)
    assert (join_judgments({"a": one, "b": same}).judgments.probability == 0.2).all()
    apart = join_judgments({"a": one, "b": other})
    assert apart.judgments.unknown == 60
    assert "a and b have different ones for 60 of 60 common pairs" in " ".join(apart.notes)


def test_too_few_common_pairs_are_refused_with_their_number(quality: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    one = judgments(np.arange(30), quality[:30], "1-5", rng)
    other = judgments(np.arange(20, 50), quality[20:50], "1-9", rng)
    with pytest.raises(RelstudyError, match="b and a share 10 pairs of 2 queries; at least 20 pairs of 5 queries"):
        join_judgments({"a": one, "b": other})
    # 24 pairs are enough, their four queries are not
    both = {
        "a": judgments(np.arange(24), quality[:24], "1-5", rng),
        "b": judgments(np.arange(24), quality[:24], "1-9", rng),
    }
    with pytest.raises(RelstudyError, match="b and a share 24 pairs of 4 queries"):
        join_judgments(both)


@pytest.fixture(scope="module")
def folder(quality: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("join")
    rng = np.random.default_rng(2)
    for name, scale, numbers in (("1-5", "1-5", np.arange(40)), ("1-9", "1-9", np.arange(10, 60))):
        (path / name).mkdir()
        judgments(numbers, quality[numbers], scale, rng).frame.to_csv(path / name / "judgments.csv", index=False)
    return path


def run(*arguments: object) -> Result:
    return relstudy("calibrate", "join", *arguments)


@pytest.mark.usefixtures("isotonic_alone")
def test_the_command_reads_folders_and_writes_judgments_and_maps(folder: Path) -> None:
    done = run(folder / "1-5", folder / "1-9", "-o", folder / "out")
    assert done.exit_code == 0, done.output
    assert "RMSE if only stretched" in done.stdout and "judgments by table: 1-5 40, 1-9 20" in done.stdout
    assert done.stderr.startswith("wrote ") and done.stderr.count("\n") == 1, "what was decided is printed"
    table = pd.read_csv(folder / "out" / "judgments.csv")
    assert set(table["scale_high"]) == {5} and len(table) == 60
    assert json.loads((folder / "out" / "1-9.json").read_text())["increasing"] is True


def test_the_command_writes_nothing_where_it_cannot_join(folder: Path) -> None:
    for arguments, sentence in (
        ([folder / "1-5"], "there is one table"),
        ([folder / "1-5", folder / "1-5"], "two tables are called '1-5'"),
    ):
        done = run(*arguments, "-o", folder / "none")
        assert done.exit_code == 1 and sentence in done.stderr and not (folder / "none").exists()


@pytest.mark.usefixtures("isotonic_alone")
def test_a_scale_that_was_assumed_and_what_was_left_out_of_a_table_is_told(folder: Path) -> None:
    table = pd.read_csv(folder / "1-9" / "judgments.csv")
    bare = table[["query_id", "result_id", "judgment"]]
    pd.concat([bare, bare[:1]]).to_csv(folder / "bare.csv", index=False)
    done = run(folder / "1-5", folder / "bare.csv", "-o", folder / "out")
    assert "bare: No scale is stated, so 1-9 is assumed (taken from the judgments" in done.stdout, done.output
    assert "bare: 1 row with the judgment of an earlier row on the same pair: merged" in done.stdout
