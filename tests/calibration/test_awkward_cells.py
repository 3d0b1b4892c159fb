"""Cells that people write in more than one way: read where they can mean one thing, else asked about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.errors import RelstudyError


def by_rater(cells: Sequence[object]) -> pd.DataFrame:
    """Three raters of eight pairs, whose ratings these are."""
    results = [f"d{number}" for number in range(8)] * 3
    return pd.DataFrame(
        {"rater_id": np.repeat(["ann", "bob", "cy"], 8), "query_id": "q", "result_id": results, "rating": cells}
    )


SHARES = [5 * number for number in range(20)] + [20, 40, 60, 80]


@pytest.mark.parametrize(
    "plain",
    [lambda share: f"{share}", lambda share: f"{share / 100}", lambda share: f"{share / 100}".replace(".", ",")],
)
def test_numbers_with_a_percent_sign_among_numbers_without_are_asked_about_and_refused(
    tmp_path: Path, plain: object
) -> None:
    assert callable(plain)
    cells = [f"{share} %" if number % 2 else plain(share) for number, share in enumerate(SHARES)]
    by_rater(cells).to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert asked.command is None and asked.draft is not None and "TABLE_WRITTEN_ALIKE" in asked.draft
    assert asked.questions == (
        f"'5 %' has a percent sign and {cells[0]!r} has none: are they on one scale? Write them alike first",
    )
    with pytest.raises(
        RelstudyError, match=r"column rating: '5 %' in row 3 has a percent sign and .* in row 2 has none"
    ):
        rs.calibrate(tmp_path / "ratings.csv")


def test_so_are_raters_in_columns_of_whom_some_write_the_sign(tmp_path: Path) -> None:
    wide = by_rater(SHARES).pivot(index="result_id", columns="rater_id", values="rating")
    wide.assign(ann=wide["ann"].astype(str) + "%").reset_index().to_csv(tmp_path / "wide.csv", index=False)
    asked = inspect_file(tmp_path / "wide.csv")
    assert any("has a percent sign" in each for r in (asked, *asked.readings) for each in r.questions)
    with pytest.raises(RelstudyError, match=r"has a percent sign and '.*' in row 2 has none"):
        rs.calibrate(tmp_path / "wide.csv", columns=dict.fromkeys(("ann", "bob", "cy"), "rating"))


def test_percentages_beside_words_for_no_answer_are_read(tmp_path: Path) -> None:
    cells = [f"{share} %" for share in SHARES]
    cells[3] = "k. A."
    by_rater(cells).to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert asked.command is not None and asked.command.endswith("--scale 0-100 --missing 'k. A.'")
    panel = rs.calibrate(tmp_path / "ratings.csv", method="none", missing="k. A.")
    assert panel.judgments["judgment"].max() <= 100 and panel.as_json()["undecided"] == 1


@pytest.mark.parametrize(
    "word", ["k. A.", "keine Angabe", "weiß nicht", "sans réponse", "NSP", "#N/A", "n.v.", "no sabe"]
)
def test_words_for_no_answer_of_other_languages_are_taken_for_none(tmp_path: Path, word: str) -> None:
    cells = [word, *(1 + number % 5 for number in range(23))]
    by_rater(cells).to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert asked.command is not None and not asked.questions and f"taken for no answer: {word!r}" in asked.notes


@pytest.mark.parametrize("of", ["of", "/", "von", "out of", "sur"])
def test_points_out_of_one_number_are_read_and_out_of_several_asked_about(tmp_path: Path, of: str) -> None:
    by_rater([f"{1 + number % 5} {of} 5" for number in range(24)]).to_csv(tmp_path / "ratings.csv", index=False)
    read = inspect_file(tmp_path / "ratings.csv")
    assert read.command is not None and f"2 {of} 5=2" in read.command and "--scale 1-5" in read.command
    cells = [f"{1 + number % 5} {of} 5" if number % 2 else f"{2 + 2 * (number % 5)} {of} 10" for number in range(24)]
    by_rater(cells).to_csv(tmp_path / "ratings.csv", index=False)
    assert inspect_file(tmp_path / "ratings.csv").command is None
