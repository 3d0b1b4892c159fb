"""relstudy calibrate --with-judge: a judge as one more rater, marked, with no part in the judgments."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.commands import relstudy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three people who rate twelve pairs, one of them a point more strictly; a judge of these and of others."""
    random = np.random.default_rng(1)
    truth = np.repeat([2.0, 3.0, 4.0], 4)
    ids = {"query_id": np.repeat(["q1", "q2", "q3"], 4), "result_id": [f"r{k}" for k in range(12)]}
    rated = [
        pd.DataFrame(ids | {"rater_id": name, "rating": np.clip(truth + random.integers(0, 2, 12) - strict, 1, 5)})
        for name, strict in (("a", 0), ("b", 1), ("c", 0))
    ]
    pd.concat(rated).astype({"rating": int}).to_csv(tmp_path / "ratings.csv", index=False)
    judge = pd.DataFrame(ids | {"rating": truth})
    judge.loc[0, "rating"] = np.nan
    more = pd.DataFrame({"query_id": ["q9"], "result_id": ["r9"], "rating": [5.0]})
    (tmp_path / "judges").mkdir()
    pd.concat([judge, more]).to_csv(tmp_path / "judges" / "model.csv", index=False)
    return tmp_path


def calibrated(folder: Path, out: str, *arguments: str) -> str:
    given = [str(folder / "ratings.csv"), "-o", str(folder / out), "--method", "zscore", "--scale", "1-5", *arguments]
    done = relstudy("calibrate", *given)
    assert "Traceback" not in done.output
    return done.output


def test_a_judge_is_one_more_rater_and_in_no_judgment(folder: Path) -> None:
    said = calibrated(folder, "both", "--with-judge", str(folder / "judges" / "model.csv"))
    assert "Judge model is one more rater, judge:model, of 11 of the 12 pairs" in said
    raters = pd.read_csv(folder / "both" / "raters.csv").set_index("rater_id")
    assert raters["kind"].to_dict() == {"a": "person", "b": "person", "c": "person", "judge:model": "judge"}
    assert raters.loc["judge:model", "n_ratings"] == 11
    judgments = pd.read_csv(folder / "both" / "judgments.csv")
    ratings = pd.read_csv(folder / "both" / "calibrated.csv")
    assert set(judgments["n_ratings"]) == {3} and len(judgments) == 12
    assert set(ratings["rater_id"]) == {"a", "b", "c"}
    ratings["weight"] = ratings["rater_id"].map(raters["weight"])
    means = {pair: np.average(of["calibrated"], weights=of["weight"]) for pair, of in ratings.groupby(PAIR)}
    assert judgments.set_index(PAIR)["judgment"].to_dict() == pytest.approx(means)


def test_without_it_no_judge_is_a_rater(folder: Path) -> None:
    assert "Judge" not in calibrated(folder, "people")
    assert "kind" not in pd.read_csv(folder / "people" / "raters.csv")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda judge: judge.assign(rating=judge["rating"] + 3), "are off the scale 1-5 that people rated on, such as"),
        (lambda judge: judge[judge["query_id"] == "q9"], "answered for none of the pairs that people rated"),
        (lambda judge: pd.concat([judge, judge[:1]]), "this pair appears there twice"),
        (lambda judge: judge.drop(columns="rating"), "this column is required"),
    ],
)
def test_a_judge_that_cannot_rate_is_one_sentence(folder: Path, change, sentence: str) -> None:
    path = folder / "judges" / "model.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    assert sentence in calibrated(folder, "both", "--with-judge", str(path))
