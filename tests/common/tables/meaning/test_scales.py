"""The scale: from its columns, its name or the values, with the cut and the gains that follow from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.scale_detection import known_scale, on_the_steps, scale_of_values
from relstudy.common.tables.meaning.scales import SCALES, Scale, scale_named, stated_scale


@pytest.mark.parametrize(
    ("name", "low", "high", "step", "cut"),
    [
        ("1-5", 1, 5, 1, 3.5),
        ("binary", 0, 1, 1, 0.5),
        ("Yes/No", 0, 1, 1, 0.5),
        ("1-9", 1, 9, 1, 5.5),
        ("0-6", 0, 6, 1, 3.5),
        ("0 to 100", 0, 100, 1, 50.5),
        ("-3..3", -3, 3, 1, 0.5),
        ("0.5-4.5", 0.5, 4.5, None, 2.5),
    ],
)
def test_a_scale_is_known_by_its_name(name: str, low: float, high: float, step: float | None, cut: float) -> None:
    scale = scale_named(name)
    assert scale is not None
    assert (scale.low, scale.high, scale.step, scale.cut) == (low, high, step, cut)


@pytest.mark.parametrize("name", ["stars", "5-1", "", "1-", "good"])
def test_a_name_without_two_ends_tells_no_scale(name: str) -> None:
    assert scale_named(name) is None
    with pytest.raises(RelstudyError, match="is not understood; two ends such as 1-5 or 0-100, or binary, are needed"):
        stated_scale(name)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1, 2, 5], 1, 5),
        ([2, 3, 4], 1, 4),
        ([0, 1], 0, 1),
        ([0, 2], 0, 2),
        ([0, 3], 0, 3),
        ([3, 61, 88], 0, 100),
        ([-2, 0, 1], -2, 1),
        ([120, 180], 120, 180),
        ([1.5, 4.5], 1, 5),
        ([0.2, 0.9], 0, 1),
        ([1.2, 6.7], 1, 7),
        ([1.2, 7.7], 1, 9),
        ([-4.5, 312.2], -4.5, 312.2),
        ([3, 3], 1, 3),
        ([1, 1], 1, 2),
        ([0, 0], 0, 1),
    ],
)
def test_without_a_name_or_columns_the_values_tell_and_it_is_said(values: list[float], low: float, high: float) -> None:
    inferred = scale_of_values(values, "ratings")
    assert (inferred.scale.low, inferred.scale.high, inferred.how) == (low, high, "values")
    assert inferred.note == f"taken from the ratings, which run from {min(values):g} to {max(values):g}"


def test_calibrated_judgments_may_leave_the_scale_by_half_a_step() -> None:
    assert scale_of_values([0.6, 2.2, 5.4], "judgments", slack=0.5).scale == SCALES["1-5"]
    assert scale_of_values([0.6, 2.2, 5.6], "judgments", slack=0.5).scale.name == "1-7"
    # 1 of 200 is further out, as calibrated judgments are
    assert scale_of_values([*np.linspace(0.9, 5.1, 199), 5.9], "judgments", slack=0.5).scale == SCALES["1-5"]


def test_the_columns_come_before_the_name_and_what_is_stated_before_both() -> None:
    frame = pd.DataFrame({"rating": [1.0, 2.0], "scale": "0-3", "scale_low": "0", "scale_high": "6", "scale_step": "2"})
    values = frame["rating"].to_numpy()
    read = known_scale(Checked(frame, "t"), values, "ratings")
    assert (read.scale.name, read.scale.values, read.how) == ("0-6", (0, 2, 4, 6), "stated")
    named = known_scale(Checked(frame[["rating", "scale"]], "t"), values, "ratings")
    assert (named.scale.values, named.how) == ((0, 1, 2, 3), "named")
    stated = known_scale(Checked(frame, "t"), values, "ratings", stated_scale("0-10"))
    assert (stated.scale.high, stated.how) == (10, "stated")


def test_a_scale_survives_its_columns() -> None:
    for scale in (*SCALES.values(), Scale("slider", (0, 100), continuous=True), Scale("few", (1.5, 2.5, 10.0))):
        frame = pd.DataFrame({"rating": [scale.low], "scale": scale.name, **scale.columns()})
        read = known_scale(Checked(frame.astype(str).replace("None", ""), "t"), frame["rating"].to_numpy(), "ratings")
        assert (read.scale.low, read.scale.high, read.scale.step) == (scale.low, scale.high, scale.step)
        assert read.scale.name == scale.name


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"scale_low": [1, 0], "scale_high": [5, 5]}, "row 3, column scale_low: '0' is not allowed; rows of one table"),
        ({"scale_low": [5, 5], "scale_high": [1, 1]}, "scale_low must be below scale_high"),
        ({"scale_low": ["x", "1"], "scale_high": [5, 5]}, "row 2, column scale_low: 'x' is not allowed; a number"),
    ],
)
def test_columns_that_name_no_one_scale_are_refused(columns: dict[str, list[object]], message: str) -> None:
    table = Checked(pd.DataFrame({"rating": [1.0, 2.0], **columns}), "t.csv")
    known_scale(table, np.array([1.0, 2.0]), "ratings")
    with pytest.raises(TableError) as caught:
        table.raise_faults()
    assert message in str(caught.value)


def test_half_points_refine_the_steps_and_anything_finer_makes_the_scale_continuous() -> None:
    assert on_the_steps(SCALES["1-5"], np.array([1.0, 3.5])).step == 0.5
    assert on_the_steps(SCALES["1-5"], np.array([1.0, 5.0])) is SCALES["1-5"]
    fine = on_the_steps(SCALES["1-5"], np.array([1.0, np.pi]))
    assert (fine.step, fine.low, fine.high, fine.gain_step) == (None, 1, 5, 0.04)


@pytest.mark.parametrize(
    ("values", "slack", "ends"),
    [
        (np.arange(0, 3.1, 0.5), 0.0, (0, 3)),
        (np.arange(0.5, 5.1, 0.5), 0.0, (0, 5)),
        (np.arange(0, 6.1, 1.5), 0.0, (0, 6)),
        (np.arange(0, 10) / 3, 0.75, (0, 3)),
        (np.arange(0, 8.1, 0.5), 0.0, (0, 10)),
        (np.array([0.4, 1.7, 3.2, 5.3]), 0.75, (1, 5)),
        (np.array([0.0, 0.2, 0.93]), 0.75, (0, 1)),
    ],
)
def test_grades_with_halves_are_on_the_scale_from_zero_that_they_fill_and_not_on_ten_points(
    values: np.ndarray, slack: float, ends: tuple[float, float]
) -> None:
    """Half-grades of 0-3 were put on 0-10, where no pair is relevant."""
    scale = scale_of_values(values, "ratings", slack).scale
    assert (scale.low, scale.high) == ends


@pytest.mark.parametrize(
    ("columns", "stated", "name", "said"),
    [
        ({"scale": "0-0.5-1"}, None, "1-4", "; '0-0.5-1' in the column scale names none)"),
        ({"scale": "1-9"}, "1-5", "1-5", "The scale is 1-5 (as stated, where the table says 1 to 9)."),
        ({"scale_low": 0, "scale_high": 6}, "1-5", "1-5", "The scale is 1-5 (as stated, where the table says 0 to 6)."),
        ({"scale_low": 0, "scale_high": 6, "scale": "1-9"}, None, "0-6", "where the column scale says '1-9')."),
        ({"scale_low": 0, "scale_high": 6, "scale": "stars"}, None, "stars", ""),
    ],
)
def test_a_scale_against_what_the_table_says_is_told(
    columns: dict[str, object], stated: str | None, name: str, said: str
) -> None:
    table = Checked(pd.DataFrame({"rating": [1.0, 4.0]}).assign(**columns), "ratings.csv")
    known = known_scale(table, np.array([1.0, 4.0]), "ratings", stated_scale(stated) if stated else None)
    assert known.scale.name == name
    assert said in " ".join(known.assumed()) and bool(said) == bool(known.assumed())
