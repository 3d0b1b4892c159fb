"""`rs.calibrate_by`, `rs.fit_by`, `direction` and `.compare` do what `--by`, `--direction` and `--compare` do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from tests.api.test_public_functions import printed

RNG = np.random.default_rng(9)
PAIRS = [(f"q{query}", f"x{query}{result}") for query in range(8) for result in range(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings of four raters, half of the queries by text; judgments, scores, and pairs that say which is which."""
    path = tmp_path_factory.mktemp("by")
    pairs = pd.DataFrame(PAIRS, columns=["query_id", "result_id"])
    paradigm = np.where(pairs["query_id"] < "q4", "image", "text")
    worth = RNG.integers(1, 6, len(pairs))
    pairs.assign(paradigm=paradigm, inclusion_probability=0.5).to_csv(path / "pairs.csv", index=False)
    rated = [pairs.assign(rater_id=f"r{rater}", rating=np.clip(worth + RNG.integers(-1, 2, len(worth)), 1, 5),
                          scale="1-5", seconds=2.0 + rater, block="base") for rater in range(4)]  # fmt: skip
    pd.concat(rated).to_csv(path / "ratings.csv", index=False)
    pairs.assign(judgment=worth).to_csv(path / "judgments.csv", index=False)
    pairs.assign(near=worth + RNG.normal(size=len(worth)), far=-worth.astype(float)).to_csv(
        path / "scores.csv", index=False
    )
    return path


@pytest.mark.slow
def test_calibrate_by_is_the_command_and_its_parts_stand_in_one_table(folder: Path) -> None:
    parts = rs.calibrate_by(folder / "ratings.csv", "paradigm", pairs=folder / "pairs.csv", method="mean")
    options = ["--pairs", folder / "pairs.csv", "-o", folder / "out", "--by", "paradigm", "--method", "mean"]
    assert parts.summary() == printed("calibrate", folder / "ratings.csv", *options)
    assert parts.summary() == rs.calibrate_by(folder, "paradigm", method="mean").summary()
    assert parts.table[["paradigm", "pairs"]].values.tolist() == [["image", 16], ["text", 16]]
    written = pd.read_csv(folder / "out" / "judgments.csv")
    assert parts.judgments["judgment"].tolist() == pytest.approx(written["judgment"].tolist(), abs=1e-12)
    assert parts["text"].judgments["inclusion_probability"].tolist() == [0.5] * 16


def test_parts_that_share_pairs_do_not_stand_in_one_table(folder: Path) -> None:
    ratings = pd.read_csv(folder / "ratings.csv").assign(day=lambda frame: frame["rater_id"] > "r1")
    with pytest.raises(rs.RelstudyError, match=r"some pairs were rated in several parts; rs\.join puts scales on one"):
        _ = rs.calibrate_by(ratings, "day", method="mean").judgments


@pytest.mark.slow
def test_fit_by_is_the_command_with_directions_where_a_group_has_the_system(folder: Path, tmp_path: Path) -> None:
    judgments, scores = folder / "judgments.csv", folder / "scores.csv"
    groups = rs.fit_by(scores, judgments, "paradigm", method="isotonic", folds=4, direction={"far": "lower"})
    options = ["--by", "paradigm", "--method", "isotonic", "--folds", 4, "--direction", "far=lower"]
    assert groups.summary() == printed("fit", scores, "-j", judgments, "-o", tmp_path / "command", *options)
    groups.save(tmp_path / "ours")
    for file in ("image/near.json", "text/far.json"):
        assert (tmp_path / "ours" / file).read_text() == (tmp_path / "command" / file).read_text()
    assert groups.table.columns[:3].tolist() == ["paradigm", "system", "method"]
    alone = rs.fit(scores, judgments, method="isotonic", folds=4, direction="lower", only=["far"])
    values = alone["far"].predict([-5.0, -1.0])
    assert values[0] > values[1]
    with pytest.raises(rs.RelstudyError, match="there is no column 'colour' in the judgments"):
        rs.fit_by(scores, judgments, "colour")


@pytest.mark.slow
def test_one_rater_against_the_others_is_the_command(folder: Path) -> None:
    panel = rs.calibrate(folder / "ratings.csv", method="mean")
    options = ["--method", "mean", "--compare", "r1", "--scores", folder / "scores.csv"]
    told = printed("calibrate", folder / "ratings.csv", *options)
    compared = panel.compare("r1", folder / "scores.csv")
    # its notes name arguments where the command's name options
    assert len(compared.pop("notes")) == len(told.pop("notes")) and compared == told
    assert panel.compare("r1")["systems"] == {}


@pytest.mark.slow
def test_raters_who_were_set_aside_are_taken_where_that_is_said_and_never_silently_not(folder: Path) -> None:
    ratings = pd.read_csv(folder / "ratings.csv").assign(set_aside=lambda frame: frame["rater_id"] == "r3")
    ratings["paradigm"] = np.where(ratings["query_id"] < "q4", "image", "text")
    for asked, raters in ((False, [3, 3]), (True, [4, 4])):
        parts = rs.calibrate_by(ratings, "paradigm", method="mean", with_set_aside=asked)
        assert parts.table["raters"].tolist() == raters
    read = rs.read_ratings(ratings)
    for said in ({"with_set_aside": True}, {"trust_raters": True}, {"base_column": "block"}):
        with pytest.raises(rs.RelstudyError, match="and these ratings were read already; give it to read_ratings"):
            rs.calibrate(read, **said)


@pytest.mark.slow
def test_groups_are_told_by_a_table_of_pairs_where_the_judgments_are_no_file() -> None:
    pairs = {"query_id": list("aabb") * 10, "result_id": range(40)}
    panel = rs.calibrate(pd.DataFrame({**pairs, "rater_id": "ann", "rating": [1, 5, 2, 4, 3] * 8}))
    asked = pd.DataFrame({**pairs, "paradigm": ["text", "text", "image", "image"] * 10})
    scores = pd.DataFrame({**pairs, "new": range(40)})
    few = {"by": "paradigm", "replicates": 2, "method": "none"}
    assert rs.score(scores, panel, pairs=asked, **few).groups["paradigm"].tolist() == ["image", "text"]
    assert list(rs.fit_by(scores, panel, "paradigm", pairs=asked, method="isotonic")) == ["image", "text"]
    for wrong, said in (
        ({"pairs": asked.drop(columns="paradigm")}, "^by: there is no column 'paradigm' in the judgments"),
        ({"pairs": asked, "by": None}, "pairs goes with by"),
        ({"pairs": "nowhere.csv"}, "nowhere.csv: file not found"),
    ):
        with pytest.raises(rs.RelstudyError, match=said):
            rs.score(scores, panel, **{**few, **wrong})


def test_systems_are_chosen_and_left_out_where_each_has_a_table_of_its_own(folder: Path) -> None:
    scores = pd.read_csv(folder / "scores.csv")
    tables = {name: scores[["query_id", "result_id", name]] for name in ("near", "far")}
    assert list(rs.fit(tables, folder / "judgments.csv", method="isotonic", folds=2, only=["near"])) == ["near"]
    with pytest.raises(rs.RelstudyError, match=r"the scores: there is no system 'other' .* there are: far, near"):
        rs.fit(tables, folder / "judgments.csv", method="isotonic", leave_out=["other"])
