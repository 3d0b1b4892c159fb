"""Rows and columns that sum others up: no rater, no result, and asked about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy

TOTALS = (
    *(
        "Gesamt",
        "gesamt (n=8)",
        "Insgesamt",
        "Ø",
        "MW",
        "Mittelwert",
        "Durchschnitt",
        "Summe",
        "Total",
        "Average",
        "Mean",
    ),
    *(
        "mean rating",
        "Sum",
        "Moyenne",
        "moyenne (n = 3)",
        "Somme",
        "Promedio",
        "Media",
        "Σ",
        "SD",
        "Standardabweichung",
    ),
    *("Grand Total", "Gesamtergebnis", "Gesamtsumme", "Ø Bewertung", "AVG:", "Median", "Consensus"),
)


def long(total: str, column: str = "rater_id") -> pd.DataFrame:
    """Six ratings of each of three people, and rows of means beside them."""
    rng = np.random.default_rng(1)
    rows = [(r, "q1", f"d{d}", int(rng.integers(1, 6))) for r in ("anna", "ben", "cleo") for d in range(6)]
    frame = pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating"])
    if column == "rater_id":
        means = frame.groupby(["query_id", "result_id"], as_index=False)["rating"].mean().round()
        return pd.concat([frame, means.assign(rater_id=total)], ignore_index=True)
    means = frame.groupby(["rater_id", "query_id"], as_index=False)["rating"].mean().round()
    return pd.concat([frame, means.assign(result_id=total)], ignore_index=True)


@pytest.mark.parametrize("total", TOTALS)
def test_a_rater_who_reads_like_a_total_is_asked_about_and_not_calibrated(tmp_path: Path, total: str) -> None:
    long(total).to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert asked.command is None and any(
        question.startswith(f"{total} in rater_id reads") for question in asked.questions
    )
    done = relstudy("calibrate", tmp_path / "ratings.csv", "-o", tmp_path / "out", "--method", "mean")
    assert done.exit_code == 1 and not (tmp_path / "out").exists()
    assert f"column rater_id: {total} reads like a total of other ratings and not like a person" in done.output


def test_the_way_out_leaves_totals_out_or_takes_them_for_people(tmp_path: Path) -> None:
    long("Gesamt").to_csv(tmp_path / "ratings.csv", index=False)
    panel = rs.calibrate(tmp_path / "ratings.csv", method="mean", where="rater_id!=Gesamt")
    assert panel.raters["rater_id"].tolist() == ["anna", "ben", "cleo"]
    assert len(rs.calibrate(tmp_path / "ratings.csv", method="mean", trust_raters=True).raters) == 4
    with pytest.raises(
        RelstudyError, match=r"where='rater_id!=Gesamt' \(if a person all the same, say trust_raters=True\)"
    ):
        rs.calibrate(tmp_path / "ratings.csv", method="mean")


def test_people_and_results_whose_names_only_begin_so_are_none(tmp_path: Path) -> None:
    frame = long("Max").replace({"anna": "Meanne", "d3": "Total"})
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    panel = rs.calibrate(tmp_path / "ratings.csv", method="mean")
    assert len(panel.raters) == 4 and not any("total" in note for note in panel.notes)
    assert inspect_file(tmp_path / "ratings.csv").command is not None


@pytest.mark.parametrize("total", TOTALS)
def test_a_result_that_reads_like_a_total_is_asked_about_and_said(tmp_path: Path, total: str) -> None:
    long(total, "result_id").to_csv(tmp_path / "ratings.csv", index=False)
    asked = inspect_file(tmp_path / "ratings.csv")
    assert any(question.startswith(f"{total} in result_id reads like a total") for question in asked.questions)
    panel = rs.calibrate(tmp_path / "ratings.csv", method="mean")
    assert (
        f"{total} reads like a total of other rows, and is calibrated like the others: if so, leave it out"
        in panel.notes
    )


@pytest.mark.parametrize("total", TOTALS)
def test_a_wide_table_with_columns_and_rows_of_totals_is_asked_about(tmp_path: Path, total: str) -> None:
    frame = long("x").query("rater_id != 'x'").pivot(index="result_id", columns="rater_id", values="rating")
    frame[total] = frame.mean(axis=1).round()
    frame = pd.concat([frame, frame.mean().round().to_frame(total).T, frame.std().round().to_frame("SD.").T])
    frame.rename_axis("result").reset_index().to_csv(tmp_path / "wide.csv", index=False)
    asked = inspect_file(tmp_path / "wide.csv")
    wide = next(each for each in (asked, *asked.readings) if "panel" in each.sentence)
    assert [each.column for each in wide.columns if each.role == "rating"] == ["anna", "ben", "cleo"]
    assert wide.command is None and any(total in each and "in result" in each for each in wide.questions)


def test_rows_of_a_wide_table_that_are_totals_at_its_head_or_foot_are_found(tmp_path: Path) -> None:
    rows = ["result,anna,ben", "Mean,3.5,3", "a,4,5", "b,3,1", "c,5,5", "MW,3,3", "SD,1,1"]
    (tmp_path / "wide.csv").write_text("\n".join(rows) + "\n")
    asked = inspect_file(tmp_path / "wide.csv")
    assert any("Mean, MW and SD in result read like totals" in each for r in asked.readings for each in r.questions)
