"""The order of a session: times in whatever form they are unambiguous, and a line where they are not, or two columns
order differently."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.calibration.tables.session import order_note, session_order
from relstudy.calibration.tables.timestamps import read_moments
from relstudy.common.tables.checked_table import Checked
from tests.calibration.test_drift import on_scale, world
from tests.commands import succeeds

START = pd.Timestamp("2024-02-09T21:00:00", tz="UTC")


def timed(seed: int = 6) -> pd.DataFrame:
    """Ratings that fall over the session, with the moment of each in place of its position."""
    frame = world(np.random.default_rng(seed), 0.8, 0.3)
    moment = START + pd.to_timedelta(frame["position"] * 7200 + frame["rater_id"].str[1:].astype(int), unit="s")
    rating = np.clip(np.rint(frame["rating"]), 1, 5)
    return frame.drop(columns=["position", "truth"]).assign(rating=rating, rated_at=moment)


FORMS = {
    "ISO 8601": lambda at: at.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "German": lambda at: at.dt.strftime("%d.%m.%Y %H:%M:%S"),
    "German, with the zone": lambda at: at.dt.tz_convert("Europe/Berlin").dt.strftime("%d.%m.%Y, %H:%M:%S Uhr MEZ"),
    "American": lambda at: at.dt.strftime("%m/%d/%Y %I:%M:%S %p"),
    "British": lambda at: at.dt.strftime("%d/%m/%Y %H:%M:%S"),
    "seconds": lambda at: at.map(lambda each: str(int(each.timestamp()))),
    "milliseconds": lambda at: at.map(lambda each: str(1000 * int(each.timestamp()))),
    "a mail's": lambda at: at.dt.strftime("%a, %d %b %Y %H:%M:%S GMT"),
    "a browser's": lambda at: at.dt.strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"),
    "MTurk's": lambda at: at.dt.tz_convert("-08:00").dt.strftime("%a %b %d %H:%M:%S PST %Y"),
    "digits alone": lambda at: at.dt.strftime("%Y%m%d%H%M%S"),
}


@pytest.mark.parametrize("form", [name for name in FORMS if name != "ISO 8601"])
def test_times_order_sessions_alike_however_they_are_written_and_a_line_says_how_they_were_read(form: str) -> None:
    frame = timed()
    plain, other = (
        check_ratings(Checked(frame.assign(rated_at=FORMS[each](frame["rated_at"])), "ratings.csv"))
        for each in ("ISO 8601", form)
    )
    assert not any("rated_at" in note for note in plain.notes)
    assert session_order(other.frame).tolist() == session_order(plain.frame).tolist()
    (said,) = [note for note in other.notes if "rated_at" in note]
    assert "rated_at is read 720 as" in said and "(row 2: " in said and " is 2024-02-" in said


def test_a_column_of_mixed_forms_is_read_cell_by_cell() -> None:
    frame = timed()
    which = np.arange(len(frame)) % len(FORMS)
    written = np.select(
        [which == number for number in range(len(FORMS))],
        [FORMS[each](frame["rated_at"]) for each in FORMS],
        default="",
    )
    zoned = np.isin(which, [list(FORMS).index(each) for each in ("German", "American", "British", "digits alone")])
    known = frame[~zoned].assign(rated_at=written[~zoned])
    read = check_ratings(Checked(known, "ratings.csv"))
    expected = session_order(frame[~zoned].assign(rated_at=FORMS["ISO 8601"](frame["rated_at"])))
    assert session_order(read.frame).tolist() == expected.tolist()
    assert any("seconds since 1970" in note and "month in words" in note for note in read.notes)


def test_a_day_that_may_be_a_month_is_not_read_and_one_sentence_names_the_row() -> None:
    frame = pd.DataFrame({"rater_id": list("aab"), "query_id": "q", "result_id": list("xyx"), "rating": [1, 2, 3]})
    asked = check_ratings(Checked(frame.assign(rated_at=["", "03/04/2024 10:00", "04/05/2024"]), "ratings.csv"))
    (said,) = [note for note in asked.notes if "rated_at" in note]
    assert said == (
        "rated_at of 2 ratings is not read as a time, so they have no place in a session: '03/04/2024 10:00' in row 3 "
        "may be 3 April or 4 March, and no other row settles it"
    )
    assert asked.frame["rated_at"].tolist()[1:] == ["03/04/2024 10:00", "04/05/2024"]
    assert read_moments(pd.Series(["03/04/2024", "13/04/2024"])).texts.tolist() == ["2024-04-03", "2024-04-13"]
    assert read_moments(pd.Series(["03/04/2024", "04/13/2024"])).texts.tolist() == ["2024-03-04", "2024-04-13"]
    both = read_moments(pd.Series(["03/04/2024", "04/13/2024", "13/04/2024"]))
    assert both.texts[0] == "03/04/2024" and both.unread
    assert read_moments(pd.Series(["03.04.2024"])).texts[0] == "2024-04-03"


@pytest.mark.parametrize(
    "cell", ["yesterday", "45335.38", "09:10", "17", "31.02.2024", "13.02.2024 25:10", "Tue 13 Foo 2024"]
)
def test_what_is_no_known_time_is_said_with_its_row(cell: str) -> None:
    moments = read_moments(pd.Series(["2024-02-13T09:10:00Z", cell]))
    assert moments.texts[1] == cell
    (said,) = moments.notes("rated_at", pd.Series(["2024-02-13T09:10:00Z", cell]), np.array([2, 3]))
    assert said.endswith(f"no place in a session: {cell!r} in row 3 is not a time that is known")


def test_a_rater_whose_times_have_a_zone_in_some_rows_alone_has_no_order_by_them() -> None:
    times = ["2024-02-13T09:10", "2024-02-13T09:20Z", "2024-02-13T09:10", "2024-02-13T09:20"]
    frame = pd.DataFrame({"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"), "rating": [1, 2, 3, 4]})
    read = check_ratings(Checked(frame.assign(rated_at=times), "ratings.csv"))
    order = session_order(read.frame)
    assert np.isnan(order[:2]).all() and order[2:].tolist() == [0.0, 1.0]
    assert any("rated_at of 1 rater (a; first in row 2) has a time zone in some rows" in n for n in read.notes)


def test_where_position_and_time_order_differently_a_line_says_which_one_orders() -> None:
    frame = world(np.random.default_rng(6), 0.8, 0.3)
    alike = START + pd.to_timedelta(frame["position"] * 60, unit="s")
    against = START - pd.to_timedelta(frame["position"] * 60, unit="s")
    both = frame.assign(rated_at=alike.where(frame["rater_id"] != "r3", against))
    assert order_note(frame.assign(rated_at=alike)) is None and order_note(frame) is None
    assert order_note(both) == (
        "position orders each rater's session, and not rated_at, by which ratings of 1 rater come in another order: r3"
    )
    panel = rs.calibrate(on_scale(both), method="mean")
    assert any("position orders each rater's session" in note for note in panel.notes)
    assert any("to last by position; " in note for note in panel.notes)


@pytest.mark.slow
def test_drift_is_a_key_of_the_json_and_an_attribute_of_the_panel_and_its_line_is_the_same_from_both_doors(
    tmp_path: Path,
) -> None:
    frame = timed().assign(rated_at=lambda rows: FORMS["German"](rows["rated_at"]))
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    panel = rs.calibrate(tmp_path / "ratings.csv", method="mean", drift="remove")
    assert panel.drift is not None
    assert panel.drift["taken_out"] and panel.drift["ordered_by"] == "rated_at" and panel.drift["slope"] < 0
    told = succeeds(
        *(
            "calibrate",
            tmp_path / "ratings.csv",
            "-o",
            tmp_path / "out",
            "--method",
            "mean",
            "--drift",
            "remove",
            "--json",
        )
    )
    assert json.loads(told.stdout)["drift"] == panel.drift == panel.as_json()["drift"]
    kept = rs.calibrate(tmp_path / "ratings.csv", method="mean")
    (line,) = [note for note in kept.notes if "first to last" in note]
    assert line.endswith("left in (drift keep, not remove)") and kept.drift is not None and not kept.drift["taken_out"]
    assert rs.calibrate(frame.drop(columns="rated_at"), method="mean").drift is None


def test_seconds_and_positions_that_are_no_numbers_or_below_0_are_said_and_not_used() -> None:
    frame = world(np.random.default_rng(6)).drop(columns="truth").head(120)
    frame = frame.assign(position=frame["position"].astype(str), seconds="9")
    frame.loc[3, "position"], frame.loc[4, "position"] = "4/60", "-99"
    frame.loc[5, "seconds"], frame.loc[7, "seconds"] = "0:12", "-99"
    read = check_ratings(Checked(frame, "ratings.csv"))
    assert np.isnan(session_order(read.frame)[[3, 4]]).all() and session_order(read.frame)[0] == 0
    said = [note for note in read.notes if note.startswith(("position", "seconds"))]
    assert said == [
        "position of 2 ratings is not a number of 0 or more, and is not used: '4/60' in row 5",
        "seconds of 2 ratings is not a number of 0 or more, and is not used: '0:12' in row 7",
    ]
    assert pd.to_numeric(read.frame["seconds"], errors="coerce").min() == 9
