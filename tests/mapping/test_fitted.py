"""Fitted mappings: monotone, exact through JSON, applied with numpy alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.fitted import FittedMapping, drop_inner_knots, read_mappings
from tests.commands import relstudy
from tests.places import EXAMPLE

finite = st.floats(-1e6, 1e6)


@st.composite
def mappings(draw: st.DrawFn) -> FittedMapping:
    knots = np.unique(draw(arrays(float, st.integers(1, 12), elements=finite)))
    values = np.sort(draw(arrays(float, len(knots), elements=finite)))
    increasing = draw(st.booleans())
    return FittedMapping(knots, values if increasing else values[::-1], increasing=increasing, method="x", system="s")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(mappings(), arrays(float, 20, elements=finite))
def test_json_round_trip_is_exact_and_predictions_keep_the_order_and_range(
    mapping: FittedMapping, scores: np.ndarray
) -> None:
    again = FittedMapping.from_json(json.loads(json.dumps(mapping.to_json(), allow_nan=False)))
    assert again == mapping
    predicted = mapping.predict(scores)
    assert predicted.tolist() == again.predict(scores).tolist()
    steps = np.diff(predicted[np.argsort(scores)])
    assert ((steps if mapping.increasing else -steps) >= 0).all()
    assert predicted.min() >= mapping.values.min() and predicted.max() <= mapping.values.max()
    np.testing.assert_array_equal(mapping.predict(mapping.knots), mapping.values)


@settings(max_examples=60, deadline=None)
@given(mappings(), arrays(float, 20, elements=finite))
def test_dropping_knots_inside_flat_stretches_changes_no_prediction(mapping: FittedMapping, scores: np.ndarray) -> None:
    flat = np.round(mapping.values, -6)
    knots, values = drop_inner_knots(mapping.knots, flat)
    np.testing.assert_array_equal(np.interp(scores, knots, values), np.interp(scores, mapping.knots, flat))


def test_scores_out_of_range_are_clipped_or_refused_as_asked() -> None:
    assert FittedMapping([0, 1], [1, 5]).predict([-9, 9]).tolist() == [1, 5]
    strict = FittedMapping([0, 1], [1, 5], out_of_bounds="raise", system="bm25")
    assert strict.predict([0.0, 1.0]).tolist() == [1, 5]
    with pytest.raises(RelstudyError, match=r"1\.5 is outside the range 0 to 1 .* of system 'bm25'"):
        strict.predict([1.5])
    with pytest.raises(RelstudyError, match="nan cannot be mapped"):
        strict.predict([np.nan])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"knots": [0, 0]}, "ascend strictly"),
        ({"values": [2, 1]}, "never fall"),
        ({"increasing": False}, "never rise"),
        ({"values": [1]}, "as many values as knots"),
        ({"values": [1, float("nan")]}, "finite"),
        ({"low": [1]}, "as many low as knots"),
        ({"out_of_bounds": "nan"}, "'clip' or 'raise'"),
        ({"knots": ["a", "b"]}, "lists of numbers"),
        ({"kind": "other"}, "not a fitted mapping"),
        ({"version": 9}, "version 9"),
    ],
)
def test_a_wrong_mapping_file_is_refused_in_words(tmp_path: Path, change: dict, message: str) -> None:
    content = FittedMapping([0, 1], [1, 5]).to_json() | change
    path = tmp_path / "m.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RelstudyError, match=message) as caught:
        FittedMapping.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.slow
def test_a_mapping_file_is_applied_without_cvxpy_pymc_scipy_or_matplotlib(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    FittedMapping([0, 1], [1, 5]).write(path)
    program = (
        "import sys; from relstudy.mapping.fitted import FittedMapping; "
        f"print(FittedMapping.read({str(path)!r}).predict([0.5])); "
        "print([m for m in ('cvxpy', 'pymc', 'scipy', 'matplotlib', 'sklearn', 'pytensor') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[:2] == ["[3.]", "[]"]


@pytest.mark.slow
def test_a_folder_of_mappings_is_read_alike_by_score_and_report(tmp_path: Path) -> None:
    """Each had a reader of its own, and of two mappings of one system took the last."""
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study)
    (study / "mappings" / "zz.json").write_text((study / "mappings" / "gift.json").read_text())
    commands = (
        ("score", study / "scores" / "gift.csv", "-j", study / "judgments.csv", "--mappings", study / "mappings"),
        ("report", study),
    )
    for message, text in (("a second mapping of system 'gift'", None), ("this is not a fitted mapping", "{}")):
        if text is not None:
            (study / "mappings" / "zz.json").write_text(text)
        for command in commands:
            result = relstudy(*command)
            assert (result.exit_code, message in result.stderr) == (1, True), (command[0], result.stderr)


def test_a_mapping_without_a_name_is_its_files(tmp_path: Path) -> None:
    FittedMapping([0, 1], [1, 5]).write(tmp_path / "gift.json")
    assert read_mappings(tmp_path)["gift"].system == "gift"
    assert set(read_mappings(tmp_path / "gift.json")) == {"gift"}
    with pytest.raises(RelstudyError, match="there is no mapping"):
        read_mappings(tmp_path / "absent")


@pytest.mark.parametrize("band", ["90 %", None, 2, True])
def test_a_share_of_the_band_that_is_none_is_refused(band: object) -> None:
    content = FittedMapping([0.0, 1.0], [1.0, 5.0], low=[0.5, 4.0], high=[1.5, 6.0]).to_json()
    with pytest.raises(RelstudyError, match=r"new.json: band is damaged"):
        FittedMapping.from_json({**content, "band": band}, "new.json")
