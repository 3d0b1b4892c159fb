"""Tables of distances: the nearest results are proposed and listed first, and the command says how it takes scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.studyapp.commands.lists import ranked_lists
from tests.commands import relstudy, succeeds

ITEMS = [f"i{number}" for number in range(12)]
COLLECTION = pd.DataFrame({"item_id": ITEMS, "kind": "text", "text": "words"})
SCORES = pd.DataFrame(
    [("near", q, r, float(n)) for q in ITEMS for n, r in enumerate(ITEMS)],
    columns=["system", "query_id", "result_id", "score"],
)


def drawn(direction: str | None, higher: bool = True, **options: int) -> pd.DataFrame:
    scores = SCORES if higher else SCORES.assign(score=-SCORES["score"])
    table = scores if direction is None else scores.assign(direction=direction)
    return rs.sample(COLLECTION, table, results=4, base=4, **options).pairs


@pytest.mark.parametrize("options", [{}, {"depth": 6}], ids=["whole", "pool"])
def test_a_distance_proposes_its_nearest_as_its_negative_would_its_highest(options: dict[str, int]) -> None:
    pd.testing.assert_frame_equal(drawn("lower", higher=False, **options), drawn(None, **options))
    assert not drawn("lower", **options).equals(drawn(None, **options))


def test_a_table_read_the_other_way_round_is_not_taken_for_the_one_pairs_were_drawn_by() -> None:
    stamps = {
        rs.sample(COLLECTION, SCORES.assign(direction=direction), results=4, base=4)
        .drawn.design.rounds[0]
        .systems["near"]
        for direction in ("higher", "lower")
    }
    assert len(stamps) == 2


@pytest.fixture
def study(tmp_path: Path) -> Path:
    COLLECTION.to_csv(tmp_path / "collection.csv", index=False)
    (tmp_path / "scores").mkdir()
    SCORES.assign(direction="lower").to_csv(tmp_path / "scores" / "near.csv", index=False)
    return tmp_path


def test_a_distance_is_listed_from_the_nearest(study: Path) -> None:
    listed = ranked_lists(study, "i3", top=3)["near"]
    assert [each.score for each in listed] == sorted(SCORES["score"].unique())[:3]


@pytest.mark.parametrize(
    ("direction", "said"),
    [("lower", "Lower scores are better, as the table says: near."), (None, "Higher scores are taken to be better")],
)
def test_sample_says_which_scores_it_takes_for_better(study: Path, direction: str | None, said: str) -> None:
    table = SCORES if direction is None else SCORES.assign(direction=direction)
    table.to_csv(study / "scores" / "near.csv", index=False)
    done = succeeds("sample", study, "--systems", "near.csv", "--results", "4", "--base", "4", "--preview")
    assert said in done.stdout
    assert np.isin("near", done.stdout.replace(",", " ").split()).any()


def test_sample_says_what_it_left_out_of_a_score_table(study: Path) -> None:
    wide = SCORES.pivot(index=["query_id", "result_id"], columns="system", values="score").assign(remark="words")
    wide.to_csv(study / "scores" / "near.csv")
    arguments = ["sample", str(study), "--systems", "near.csv", "--results", "4", "--base", "4", "--preview"]
    done = relstudy(*arguments)
    assert "columns left out because they do not hold numbers: remark" in done.stdout, done.stderr
    drawn = rs.sample(study, "near.csv", results=4, base=4)
    assert any("do not hold numbers: remark" in note for note in drawn.summary()["notes"])
