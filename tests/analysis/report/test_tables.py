"""One table, three ways."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.analysis.report.tables import Column, Table, shown_interval, shown_number
from relstudy.common.results.estimates import Estimate

ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.slow
@given(rows=st.lists(st.tuples(ANY_TEXT, FINITE, FINITE), min_size=1, max_size=8))
@settings(max_examples=50)
def test_csv_gives_back_every_text_and_every_number_exactly(rows: list[tuple[str, float, float]]) -> None:
    table = Table(
        "t", "Any.", [Column("name"), Column("x"), Column("y")], [[n, x, Estimate(y, y, y)] for n, x, y in rows]
    )
    read = list(csv.reader(io.StringIO(table.csv())))
    assert read[0] == ["name", "x", "y", "y low", "y high"]
    assert [(n, float(x), float(y)) for n, x, y, _, _ in read[1:]] == rows


def test_csv_says_why_a_number_is_missing() -> None:
    rows = [["a", Estimate.missing("the mapping is constant")], ["b", Estimate(0.5, 0.4, 0.6)]]
    table = Table("t", "Two.", [Column("system"), Column("r")], rows)
    read = list(csv.reader(io.StringIO(table.csv())))
    assert read[0] == ["system", "r", "r low", "r high", "r reason"]
    assert read[1] == ["a", "", "", "", "the mapping is constant"]
    assert read[2] == ["b", "0.5", "0.4", "0.6", ""]


def test_a_reason_that_cells_of_several_columns_share_is_said_for_each_column() -> None:
    few = Estimate.missing("too few raters")
    rows = [["a", few, 1, few], ["b", few, few, 2], ["c", few, 3, 4]]
    lean, said = Table("t", "", [Column(name) for name in ("system", "r", "n", "m")], rows).reasons_once()
    assert [column.name for column in lean.columns] == ["system", "n", "m"] and said == {"too few raters"}
    assert lean.note == "Not shown: r (too few raters). – in n and m: too few raters."


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table("t", "Bad.", [Column("a"), Column("b")], [["x"]])


def test_the_best_value_is_marked_in_every_system_that_has_it_and_never_a_missing_one() -> None:
    rows = [["a", 0.5], ["b", Estimate(0.7)], ["c", 0.7], ["d", Estimate.missing("none")]]
    table = Table("t", "Best.", [Column("s"), Column("r")], rows, best=(("r", "max"),))
    assert table.marked() == {(1, 1), (2, 1)}
    assert table.latex().count(r"\textbf{0.70}") == 2


def test_a_lone_value_is_not_called_the_best() -> None:
    table = Table("t", "One.", [Column("s"), Column("r")], [["a", 0.5]], best=(("r", "max"),))
    assert table.marked() == set()


def test_numbers_are_rounded_with_a_true_minus_sign_and_no_minus_before_zero() -> None:
    assert shown_number(-0.126) == "−0.13"
    assert shown_number(-0.001) == "0.00"
    assert shown_number(12345.678, Column("", 1)) == "12,345.7"
    assert shown_number(0.0004, Column("", p_value=True)) == "< 0.001"
    assert shown_interval(Estimate(0.5, -0.1, 0.9), Column("")) == "−0.10 to 0.90"
