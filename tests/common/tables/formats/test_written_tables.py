"""Tables are written as pandas writes them, byte for byte, whatever stands in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from relstudy.common.tables.formats import table_files as tables

NUMBERS = pd.DataFrame(
    {
        "id": pd.Series([f"r{row}" for row in range(7)], dtype="str"),
        "value": [0.1, -0.0, 0.0, np.nan, np.inf, 1e16, 1e-7],
        "count": np.arange(7) - 3,
        "base": np.arange(7) % 2 == 0,
        "gap": pd.Series(["ü", None, "", " x", "y ", "1", "nan"], dtype="str"),
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        NUMBERS,
        NUMBERS.iloc[:0],
        NUMBERS[["gap"]],
        NUMBERS.iloc[::-1],
        NUMBERS.assign(kind=pd.Categorical(["a", "b", "a", None, "b", "a", "c"])),
        NUMBERS.assign(gap=pd.array([1, None, 3, 4, 5, 6, 7], dtype="Int64")),
        NUMBERS.assign(value=NUMBERS["value"].astype("float32")),
        NUMBERS.assign(mixed=pd.Series([1, "a", None, 2.5, True, "b,c", 7], dtype=object)),
    ],
    ids=["numbers", "no rows", "one column", "backwards", "categories", "gaps in integers", "short floats", "mixed"],
)
@pytest.mark.parametrize("at_once", [3, 100])
def test_a_table_of_any_types_is_written_as_pandas_writes_it(
    frame: pd.DataFrame, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", at_once)
    tables.write_table(frame, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_bytes() == frame.to_csv(index=False).encode()


@pytest.mark.slow
@given(
    some.lists(
        some.tuples(some.text(some.characters(codec="utf-8"), max_size=4), some.floats(), some.integers(-9, 9)),
        min_size=1,
        max_size=6,
    )
)
def test_any_text_and_number_is_written_as_pandas_writes_it(rows: list[tuple[str, float, int]]) -> None:
    text, number, whole = zip(*rows, strict=True)
    frame = pd.DataFrame({"text": pd.Series(text, dtype="str"), "number": number, "whole": whole})
    lines = tables._plain_lines(frame)
    expected = frame.to_csv(index=False, header=False).encode()
    assert lines is None or bytes(lines) == expected
    if not any(mark in each for each in text for mark in ',"\r\n'):
        assert lines is not None, "nothing needs quotes, so it is written at once"
