"""Surveys from their export to judgments: trials and unfinished responses out, each column a pair."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.inspection.files import inspect_file
from tests.analysis.inspection.printed import rows_by
from tests.commands import relstudy, succeeds

COLUMNS = [f"Q5_{number}" for number in range(1, 5)]
PAIRS = [("red lamp", "d1"), ("red lamp", "d2"), ("oak chair", "d1"), ("oak chair", "d3")]
PEOPLE = ((1, 4, 2, 5), (2, 5, 1, 4), (1, 5, 2, 4), (2, 4, 2, 5), (1, 4, 1, 5), (2, 5, 2, 4))
PREVIEWS = ((5, 1, 5, 1), (5, 1, 4, 1), (4, 1, 5, 2))


def survey(path: Path, wording: bool = True) -> Path:
    """Six people and three previews, as Qualtrics exports them; one more did not finish."""
    head = ["StartDate", "Status", "Finished", "ResponseId", "Group", *COLUMNS]
    said = [f"How well does it match? - {query} | {result}" if wording else "How well?" for query, result in PAIRS]
    rows = [head, ["Start Date", "Response Type", "Finished", "Response ID", "Group", *said]]
    rows.append([json.dumps({"ImportId": f"QID{number}"}) for number in range(len(head))])
    rows += [["d", "IP Address", "True", f"R_{n}", "lay", *map(str, row)] for n, row in enumerate(PEOPLE)]
    rows += [["d", "Survey Preview", "True", f"P_{n}", "lay", *map(str, row)] for n, row in enumerate(PREVIEWS)]
    rows.append(["d", "IP Address", "False", "U_1", "lay", "5", "1", "", ""])
    pd.DataFrame(rows).to_csv(path, index=False, header=False)
    return path


def calibrated(path: Path, *options: str) -> dict[str, object]:
    """What calibrate says of it."""
    command = ["calibrate", str(path), "-o", str(path.parent / "out"), "--json", *options]
    done = succeeds(*command)
    summary: dict[str, object] = json.loads(done.stdout)
    return summary


def test_previews_and_unfinished_responses_are_left_out_of_what_is_calibrated(tmp_path: Path) -> None:
    """Three previews among six people took alpha from .7 to .3."""
    options = ("--columns", f"ResponseId=rater_id,{','.join(f'{name}=rating' for name in COLUMNS)}", "--scale", "1-5")
    summary = calibrated(survey(tmp_path / "s.csv"), *options)
    assert summary["raters"] == 6
    clean = pd.read_csv(tmp_path / "s.csv", skiprows=[1, 2]).iloc[:6]
    clean.to_csv(tmp_path / "clean.csv", index=False)
    assert calibrated(tmp_path / "clean.csv", *options)["krippendorff_alpha"] == summary["krippendorff_alpha"]
    taken = calibrated(tmp_path / "s.csv", *options, "--where", "Status==Survey Preview")
    assert taken["raters"] == 3, "who asks for them gets them"


def test_columns_become_pairs_by_a_small_table(tmp_path: Path) -> None:
    path = survey(tmp_path / "s.csv", wording=False)
    rows = [f"{name},{query},{result}" for name, (query, result) in zip(COLUMNS, PAIRS, strict=True)]
    (tmp_path / "items.csv").write_text("\n".join(["column,query_id,result_id", *rows]) + "\n")
    calibrated(path, "--columns", "ResponseId=rater_id", "--items", str(tmp_path / "items.csv"), "--scale", "1-5")
    judged = pd.read_csv(tmp_path / "out" / "judgments.csv")
    assert list(zip(judged["query_id"], judged["result_id"], strict=True)) == PAIRS
    frame = rs.read_ratings(path, columns={"ResponseId": "rater_id"}, items=tmp_path / "items.csv").frame
    assert len(frame) == 24


def test_columns_become_pairs_by_the_wording_of_the_survey(tmp_path: Path) -> None:
    inspection = inspect_file(survey(tmp_path / "s.csv"))
    assert inspection.command is not None and inspection.command.endswith("--items wording")
    rows = rows_by(inspection.command)
    assert rows[:2] == [("R_0", "red lamp", "d1", 1), ("R_0", "red lamp", "d2", 4)]
    assert len(rows) == 24


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--where", "Stat=1"), "'Stat=1' is not understood; Finished==1 would be right"),
        (("--where", "Colour==red"), "names 'Colour', and there is no such column"),
        (("--where", "Group==experts"), "no row is left where Group==experts"),
        (("--where", "Group>2 and Finished==True"), None),
        (("--items", "wording"), "no column's wording holds a query and a result"),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_a_sentence(
    tmp_path: Path, options: tuple[str, ...], message: str | None
) -> None:
    path = survey(tmp_path / "s.csv", wording=False)
    base = ["calibrate", str(path), "-o", str(tmp_path / "out"), "--columns", "ResponseId=rater_id,Q5_*=rating"]
    done = relstudy(*base, *options)
    assert done.exit_code == 1
    assert message is None or message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_survey_of_nothing_but_previews_is_refused(tmp_path: Path) -> None:
    path = survey(tmp_path / "s.csv")
    text = path.read_text().replace("IP Address", "Survey Test")
    path.write_text(text)
    base = ["calibrate", str(path), "-o", str(tmp_path / "out"), "--columns", "ResponseId=rater_id,Q5_*=rating"]
    done = relstudy(*base)
    assert done.exit_code == 1 and "every response is marked as no answer" in done.stderr
