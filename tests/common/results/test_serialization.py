"""What is kept in a file comes back as it was: every type of a field, every number to its last bit."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from relstudy.common.results.result import Summary
from relstudy.common.results.serialization import kept, restored


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, eq=False)
class Leaf:
    number: float
    colour: Colour | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Tree:
    leaves: Mapping[str, Leaf]
    by_pair: dict[tuple[str, int], float]
    either: int | str | Leaf
    choice: Literal["a", "b"] = "a"
    folder: Path | None = None
    day: date | None = None
    anything: dict[str, Any] = field(default_factory=dict)


def again(form: Any, value: Any) -> Any:
    """The value after it stood in a file."""
    return restored(form, json.loads(json.dumps(kept(value), allow_nan=False)))


@given(st.floats() | st.integers(), st.text())
def test_a_number_and_a_text_come_back_to_the_last_bit(number: float, text: str) -> None:
    leaf = again(Leaf, Leaf(number, Colour.RED, (text, "b")))
    same = math.isnan(number) if math.isnan(leaf.number) else leaf.number == number
    assert same and leaf.colour is Colour.RED and leaf.names == (text, "b")


@given(arrays.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]), arrays.array_shapes()))
def test_an_array_comes_back_with_its_type_and_shape(array: np.ndarray) -> None:
    read = again(np.ndarray, array)
    assert read.dtype == array.dtype and read.shape == array.shape
    np.testing.assert_array_equal(read, array)
    read[...] = 0  # it is not a view of what cannot be written


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan], "c": ["x", None], "d": [True, False]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"mixed": pd.Series([1, "x"], dtype=object)}, index=pd.Index(["p", "q"], name="system")),
        pd.DataFrame({"a": [1.0, math.inf]}, index=[7, 3]),
        pd.DataFrame({"a": pd.Series([], dtype="float64")}),
        pd.DataFrame(),
        pd.DataFrame(index=[4, 5]),
    ],
)
def test_a_table_comes_back_with_its_types_and_its_index(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(again(pd.DataFrame, frame), frame, check_column_type=False)


def test_dataclasses_come_back_by_the_types_of_their_fields() -> None:
    tree = Tree(
        {"one": Leaf(0.1)}, {("q", 1): 0.5}, "text", "b", Path("here"), date(2026, 1, 31), {"k": [1, {"n": math.inf}]}
    )
    read = again(Tree, tree)
    assert read.leaves["one"].number == 0.1 and read.by_pair == {("q", 1): 0.5} and read.either == "text"
    assert (read.choice, read.folder, read.day, read.anything) == (tree.choice, tree.folder, tree.day, tree.anything)
    assert again(Tree, Tree({}, {}, Leaf(2.0))).either.number == 2.0
    assert again(Tree, Tree({}, {}, 3)).either == 3


@pytest.mark.parametrize(
    "content",
    [
        {"number": "0.1"},
        {"number": True},
        {"number": 0.1, "colour": "blue"},
        {"number": 0.1, "names": "ab"},
        {"number": 0.1, "further": 1},
        {"colour": None},
        [0.1],
        None,
    ],
)
def test_what_does_not_fit_the_types_is_refused(content: Any) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        restored(Leaf, content)


def test_an_array_unpacks_to_no_more_than_its_shape_says() -> None:
    packed = base64.b64encode(zlib.compress(bytes(1 << 24))).decode()
    with pytest.raises(ValueError, match=r"cannot reshape|buffer size"):
        restored(np.ndarray, {"@array": "<f8", "shape": [2], "bytes": packed})
    with pytest.raises(ValueError, match="OBJECT"):
        restored(np.ndarray, {"@array": "|O", "shape": [1], "bytes": packed})


def test_what_no_file_can_hold_is_named() -> None:
    with pytest.raises(TypeError, match="a function cannot be kept in a file"):
        kept({"call": again})


def test_a_summary_is_its_figures_and_its_text() -> None:
    summary = Summary({"a": 1}, "one < two")
    assert summary == {"a": 1} and str(summary) == repr(summary) == "one < two"
    assert json.loads(json.dumps(summary)) == {"a": 1} and "one &lt; two" in summary._repr_html_()
