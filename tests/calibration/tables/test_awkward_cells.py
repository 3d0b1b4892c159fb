"""Cells that people write in more than one way: read where they can mean one thing, else asked about."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.rater_comparison import read_plain_scores
from relstudy.common.options.option_wording import list_entry
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scale_detection import odd_values
from tests.commands import succeeds


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
        f"'5 %' has a percent sign and {cells[0]!r} has none: are they on one scale? Write them the same way first",
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


def mapped(numbers: Sequence[int], cells: Sequence[str]) -> list[str]:
    return [cells[number - 1] for number in numbers]


FIVE = [1 + number % 5 for number in range(24)]


@pytest.mark.parametrize(
    "cells",
    [
        ["1,200", "2,200", "3,200", "4,200", "5,200"],
        ["01. Mai", "2", "03. Mai", "4", "05. Mai"],
        ["1-May", "2", "3-May", "4", "5"],
        ["01.05.2024", "2", "03.05.2024", "4", "5"],
        ["1", "2;2", "3", "3;4", "5"],
        ["1", "2, 3", "3", "4", "5"],
        ["5 (mangelhaft)", "4 (ausreichend)", "3 (befriedigend)", "2 (gut)", "1 (sehr gut)"],
        ["5 = Poor", "4 = Fair", "3 = OK", "2 = Good", "1 = Excellent"],
        ["4 - disagree", "3", "2", "1 - agree", "1 - agree"],
    ],
)
def test_cells_that_only_begin_with_a_number_or_may_be_another_are_asked_about(
    tmp_path: Path, cells: Sequence[str]
) -> None:
    by_rater(mapped(FIVE, cells)).to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert asked.command is None and asked.draft is not None and "=NUMBER" in asked.draft
    with pytest.raises(RelstudyError, match="is not allowed"):
        rs.calibrate(tmp_path / "ratings.csv")


@pytest.mark.parametrize(
    "cells",
    [
        ["1 (sehr schlecht)", "2 (schlecht)", "3", "4 (gut)", "5 (sehr gut)"],
        ["1 = Poor", "2 = Fair", "3 = OK", "4 = Good", "5 = Excellent"],
        ["1. off topic", "2", "3", "4", "5, very good"],
    ],
)
def test_numbers_before_words_that_agree_with_them_are_read(tmp_path: Path, cells: Sequence[str]) -> None:
    by_rater(mapped(FIVE, cells)).to_csv(tmp_path / "ratings.csv", index=False)
    read = inspect_file(tmp_path / "ratings.csv")
    assert read.command is not None and read.command.endswith("--scale 1-5")


def test_plus_and_minus_are_a_scale_and_minus_is_no_answer_elsewhere(tmp_path: Path) -> None:
    by_rater(mapped(FIVE, ["--", "-", "o", "+", "++"])).to_csv(tmp_path / "ratings.csv", index=False)
    read = inspect_file(tmp_path / "ratings.csv")
    assert read.command is not None and "--=-2" in read.command and "--missing" not in read.command
    by_rater(mapped(FIVE, ["-", "2", "3", "4", "5"])).to_csv(tmp_path / "ratings.csv", index=False)
    assert "--missing -" in str(inspect_file(tmp_path / "ratings.csv").command)


@pytest.mark.parametrize("marks", [(-99, -88), (98, 99), (-9, -8), (-99, -98, -97), (-2, -1), (777, 999)])
def test_several_marks_for_no_answer_are_asked_about(tmp_path: Path, marks: Sequence[int]) -> None:
    cells = [marks[number // 6 % len(marks)] if number % 6 == 0 else grade for number, grade in enumerate(FIVE)]
    frame = pd.concat([by_rater(cells), by_rater(FIVE[::-1]).assign(query_id="r")])
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    read = inspect_file(tmp_path / "ratings.csv")
    assert read.command is not None and "--scale 1-5" in read.command
    assert all(str(mark) in read.command.split("--missing")[1] for mark in marks)
    with pytest.raises(RelstudyError, match="may mean that there was no answer"):
        rs.calibrate(tmp_path / "ratings.csv")


@pytest.mark.parametrize("values", [[-2, -1, 0, 1, 2], [-2, -1, 1, 2], [-10, -5, 0, 5, 10], [0, 25, 50, 75, 100]])
def test_values_of_a_scale_are_no_marks(values: Sequence[float]) -> None:
    assert odd_values(np.array(values)) == []


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        ([1, 2, 99], [99]),
        ([1, 99], []),
        ([1, 2, 3, 4, 99, 999, 9_999, 99_999], [99_999, 9_999, 999]),
        ([1, 2, 3, 4, 5, 9], [9]),
        ([1, 5, 6, 7, 8, 9], [1]),
    ],
)
def test_a_mark_stands_beside_two_values_at_least_and_there_are_three_at_most(
    values: Sequence[float], marks: Sequence[float]
) -> None:
    assert odd_values(np.array(values)) == marks


def test_a_rater_on_another_scale_is_said(tmp_path: Path) -> None:
    frame = pd.concat([by_rater(FIVE), by_rater(FIVE).assign(query_id="r")])
    frame["rating"] = np.where(frame["rater_id"] == "bob", 20 * frame["rating"], frame["rating"])
    said = [note for note in rs.calibrate(frame, method="none").notes if "one scale?" in note]
    assert said == [
        "ratings of 2 raters (ann and cy) are at most 5 and go up to 100 or more with each of the others: are they on "
        "one scale?"
    ]
    assert not any("one scale?" in note for note in rs.calibrate(by_rater(FIVE), method="none").notes)
    binary = by_rater([1 if number < 8 else grade for number, grade in enumerate(FIVE)])
    assert not any("one scale?" in note for note in rs.calibrate(binary, method="none").notes)


def test_people_are_counted_by_trimmed_ids_and_near_ones_and_rounded_ones_are_said(tmp_path: Path) -> None:
    frame = by_rater(FIVE)
    blanks = ["", " "] * 12
    frame.assign(rater_id=frame["rater_id"] + blanks).to_csv(tmp_path / "ratings.csv", index=False)
    assert "24 ratings by 3 raters" in inspect_file(tmp_path / "ratings.csv").sentence
    frame["rater_id"] = frame["rater_id"].replace({"ann": "Ann Berg", "bob": "ann  berg"})
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    note = "raters with nearly the same id are taken as different people: Ann Berg and ann  berg"
    assert note in inspect_file(tmp_path / "ratings.csv").notes
    assert note in rs.calibrate(tmp_path / "ratings.csv", method="none").notes
    frame["rater_id"] = "4.38E+09"
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    assert any("4.38E+09 in rater_id was rounded" in each for each in inspect_file(tmp_path / "ratings.csv").notes)


def test_a_column_under_relstudys_own_name_is_taken_before_one_of_another_case(tmp_path: Path) -> None:
    by_rater(FIVE).assign(Rating=50).to_csv(tmp_path / "ratings.csv", index=False)
    read = inspect_file(tmp_path / "ratings.csv")
    assert read.command is not None and "--columns" not in read.command


def test_points_between_thousands_are_said_in_a_table_with_semicolons(tmp_path: Path) -> None:
    by_rater([f"{grade}.200" for grade in FIVE]).to_csv(tmp_path / "ratings.csv", index=False, sep=";")
    note = "1.200 in rating is read with a decimal point; if it is 1200, leave that out"
    assert note in inspect_file(tmp_path / "ratings.csv").notes
    assert note in rs.calibrate(tmp_path / "ratings.csv", method="none").notes


def test_ids_that_look_alike_and_columns_that_a_tool_numbered_are_said(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    frame = by_rater(FIVE).replace({"d1": composed, "d2": decomposed})
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    notes = rs.calibrate(tmp_path / "ratings.csv", method="none").notes
    looks = "ids that look the same are written with different characters and taken as different ones"
    assert f"{looks}: {composed} and {decomposed} in result_id" in notes
    wide = by_rater(FIVE).pivot(index="result_id", columns="rater_id", values="rating")
    wide.assign(**{"ann.1": wide["bob"]}).reset_index().to_csv(tmp_path / "wide.csv", index=False)
    (note,) = {
        each for r in inspect_file(tmp_path / "wide.csv").readings for each in r.notes if "nearly the same id" in each
    }
    assert note.endswith(": ann and ann.1")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_empty_columns_behind_the_last_name_are_no_columns_and_filled_ones_are_refused(
    tmp_path: Path, separator: str
) -> None:
    rows = by_rater([f"{grade}.5" for grade in FIVE]).assign(result_id="007").drop_duplicates("rater_id")
    lines = rows.to_csv(index=False, sep=separator).splitlines()
    (tmp_path / "ratings.csv").write_text("\n".join(line + 2 * separator for line in lines) + "\n")
    read = rs.read_ratings(tmp_path / "ratings.csv").frame
    assert read["result_id"].tolist() == ["007"] * 3 and read["rating"].tolist() == [1.5, 4.5, 2.5]
    lines[2] += separator + "note" + separator
    (tmp_path / "ratings.csv").write_text("\n".join(each if "note" in each else each + 2 * separator for each in lines))
    with pytest.raises(RelstudyError, match="2 columns have no name, and row 3 has something in one of them"):
        rs.read_ratings(tmp_path / "ratings.csv")


def test_spreadsheets_under_any_name_are_said_to_be_such(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.csv", "w") as packed:
        packed.writestr("[Content_Types].xml", "<x/>")
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    (tmp_path / "c.xls").write_text("<html><table><tr><td>rater_id</td></tr></table></html>\n")
    for name in ("a.csv", "b.xls", "c.xls"):
        with pytest.raises(
            RelstudyError, match=r"this (is a spreadsheet|workbook cannot be read).*save the sheet as CSV"
        ):
            inspect_file(tmp_path / name)


@pytest.mark.parametrize("as_parquet", [False, True])
@pytest.mark.parametrize(
    ("name", "said", "empty"), [("block", "base", "unique"), ("common", True, False), ("set_aside", False, False)]
)
def test_a_cell_without_a_value_is_an_empty_one(
    tmp_path: Path, name: str, said: object, empty: object, as_parquet: bool
) -> None:
    """An empty cell of CSV was allowed where it was missing in a frame or in Parquet, and there refused as ''."""
    rated = by_rater(list(np.tile([1, 2, 3, 4, 5, 4, 3, 2], 3)))
    several = rated["result_id"].isin(["d0", "d1"])
    missing = rated.assign(**{name: pd.Series([said if each else None for each in several], dtype=object)})
    full = rated.assign(**{name: [said if each else empty for each in several]})
    how = {"base_column": name} if name == "common" else {}
    if as_parquet:
        missing.to_parquet(tmp_path / "ratings.parquet")
    read = rs.read_ratings(tmp_path / "ratings.parquet" if as_parquet else missing, **how)
    assert read.frame["base"].tolist() == rs.read_ratings(full, **how).frame["base"].tolist()


def test_a_column_of_scores_with_a_gap_is_a_system_in_parquet_as_in_csv(tmp_path: Path) -> None:
    """Of Parquet it was left out without a word."""
    frame = pd.DataFrame({"query_id": "q", "result_id": ["x", "y"], "one": [0.5, 0.25], "two": [0.5, None]})
    frame.to_parquet(tmp_path / "scores.parquet")
    frame.to_csv(tmp_path / "scores.csv", index=False)
    of_csv, of_parquet = (read_plain_scores(tmp_path / f"scores.{ending}") for ending in ("csv", "parquet"))
    assert set(of_csv["system"]) == {"one", "two"}
    pd.testing.assert_frame_equal(of_parquet, of_csv)


@pytest.mark.parametrize("name", ["rating\n(1-5)", "rating\r\n(1-5)", 'the "rating", 1-5\n(new)'])
def test_the_command_for_a_name_of_two_lines_runs(tmp_path: Path, name: str) -> None:
    """As spreadsheets and forms have them; the list of columns ended with the first line."""
    rated = by_rater(list(np.tile([1, 2, 3, 4, 5, 4, 3, 2], 3))).rename(columns={"rating": name})
    rated.to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    entry = list_entry(f"rating={name}")
    assert entry in "".join(filter(None, (each.command for each in (asked, *asked.readings))))
    succeeds("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", "--columns", entry)
