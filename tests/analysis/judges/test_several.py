"""Several judges as one: the mean of the better few."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import relstudy as rs
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World
from tests.commands import relstudy


@pytest.fixture(scope="module")
def world() -> World:
    return World.made(queries=24, results=25)


@pytest.fixture(scope="module")
def study(world: World) -> pd.DataFrame:
    return world.study(8, queries=12, results=10)


@pytest.fixture(scope="module")
def judges(world: World) -> dict[str, pd.DataFrame]:
    """Three judges with errors of their own, one upside down and on a scale of its own, and one that knows nothing."""
    made = {f"good {seed}": world.judge(0.9, seed) for seed in (1, 2, 3)}
    made["good 3"] = made["good 3"].assign(rating=10 - 2 * made["good 3"]["rating"])
    return made | {"noise": world.judge(50, 4)}


def test_the_mean_of_the_better_few_explains_more_than_any_of_them(
    study: pd.DataFrame, judges: dict[str, pd.DataFrame]
) -> None:
    mean = rs.mean_judge(judges, study, best=3)
    members = mean.attrs["members"]
    assert {each["judge"]: each["turned"] for each in members} == {"good 1": False, "good 2": False, "good 3": True}
    explained = rs.judge(mean, study, replicates=5).summary()["r_squared"]["value"]
    assert explained > 0.05 + max(each["r_squared"] for each in members)


def test_a_mean_is_of_ranks_of_the_pairs_that_all_were_given_and_of_the_answers_there_are(study: pd.DataFrame) -> None:
    pairs = study[PAIR]
    one = pairs.assign(rating=np.arange(len(pairs)) % 2)
    other = pairs.assign(rating=np.where(np.arange(len(pairs)) < 2, np.nan, 7.0))[:-2]
    silent = pairs.assign(rating=np.where(np.arange(len(pairs)) < 1, np.nan, 1.0))
    mean = rs.mean_judge({"one": one, "other": other}, study)
    assert len(mean) == len(pairs) - 2
    turned = next(each["turned"] for each in mean.attrs["members"] if each["judge"] == "one")
    of_one = np.array([0.75, 0.25] if turned else [0.25, 0.75])
    # `other` says the same of all that it answers: the middle
    assert mean["rating"][:4].tolist() == pytest.approx(
        [*of_one, *(of_one + 0.5) / 2], abs=2e-3
    )  # 179 is not an even number
    nobody = rs.mean_judge({"other": other, "silent": silent}, study)
    assert nobody["status"].tolist()[:2] == ["refused", "ok"] and np.isnan(nobody["rating"][0])


@pytest.fixture
def folder(study: pd.DataFrame, judges: dict[str, pd.DataFrame], tmp_path: Path) -> Path:
    (tmp_path / "judges").mkdir()
    study.to_csv(tmp_path / "judgments.csv", index=False)
    for name, each in judges.items():
        each.to_csv(tmp_path / "judges" / f"{name.replace(' ', '-')}.csv", index=False)
    return tmp_path


def mean_of(folder: Path, *arguments: str) -> Result:
    return relstudy("judge", folder, *arguments)


@pytest.mark.slow
def test_the_command_writes_a_judge_like_any_other_and_leaves_means_out_of_means(folder: Path) -> None:
    done = mean_of(folder, "--judge", "three", "--best", "3")
    assert done.exit_code == 0, done.output
    assert "The mean of 3 of 4 judges: good-" in done.output and "in reverse" in done.output
    described = json.loads((folder / "judges" / "three.json").read_text(encoding="utf-8"))
    assert len(described["mean_of"]) == 3 and "noise" not in str(described["mean_of"])
    again = mean_of(folder, "--judge", "other", "--best", "4")
    assert "The mean of 4 of 4 judges" in again.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--judge", "x", "--best", "9"), "a mean needs 9 judges or more; this study has 4"),
        (("--judge", "x", "--mean-of", "nobody"), "there is no such judge; there are: good-1, good-2, good-3, noise"),
        (("--judge", "noise", "--best", "2"), "holds a judge that is not a mean of others"),
        (("--judge", "x", "--best", "2", "--model", "m"), "exclude each other"),
    ],
)
def test_what_is_no_mean_is_one_sentence(folder: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = mean_of(folder, *arguments)
    assert done.exit_code in (1, 2) and sentence in done.output and "Traceback" not in done.output


def test_judges_without_a_pair_in_common_have_no_mean(study: pd.DataFrame) -> None:
    halves = {"one": study[PAIR][::2].assign(rating=1.0), "two": study[PAIR][1::2].assign(rating=1.0)}
    with pytest.raises(rs.RelstudyError, match="no pair was given to all of these judges"):
        rs.mean_judge(halves, study)
