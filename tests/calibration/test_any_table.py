"""Whatever table comes in: sentences or finite numbers come out, never a traceback or NaN."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.errors import RelstudyError
from calibration.ratings import check_ratings
from calibration.study import calibrate, summary
from calibration.tables import Checked

VALUES = st.sampled_from(["1", "2", "3", "4", "5", "", "2.5", "-3", "1e6"])
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("qr"), st.sampled_from("uvwxyz"), VALUES, st.booleans()),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:3],
)


@given(ROWS, st.sampled_from([None, "pooled", "shrunk", "zscore", "mean", "none"]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_table_gives_strict_json_or_a_sentence(
    rows: list[tuple[str, str, str, str, bool]], method: str | None, with_block: bool
) -> None:
    frame = pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "rating", "base"])
    marked = frame.pop("base")
    if with_block:
        pairs = frame["query_id"] + frame["result_id"]
        frame["block"] = np.where(pairs.isin(set(pairs[marked])), "base", "unique")
    with warnings.catch_warnings():
        # A warning from below would be a number computed out of nothing.
        warnings.simplefilter("error", RuntimeWarning)
        try:
            result = calibrate(check_ratings(Checked(frame, "ratings.csv")), method)
        except RelstudyError as error:
            assert str(error)
            return
        figures = json.loads(json.dumps(summary(result), allow_nan=False))
    decided = frame["rating"] != ""
    assert figures["ratings"] == decided.sum()
    assert np.isfinite(result.calibrated[decided.to_numpy()]).all()
    assert np.isfinite(result.judgments["judgment"]).all()
    for name in ("within_item_variance", "leave_one_out_correlation"):
        for side in ("before", "after"):
            assert (figures[name][side] is None) == (f"{name}.{side}" in figures["reasons"])


@pytest.mark.parametrize("factor", [0.01, 1e6])
def test_the_unit_of_the_scale_does_not_matter(factor: float) -> None:
    from calibration.methods import fit_lines
    from calibration.simulation import simulate_panel

    panel = simulate_panel(8, 12, 20, seed=5).panel
    scaled = panel.with_rating(panel.rating * factor)
    for method in ("zscore", "shrunk", "pooled"):
        one, other = (fit_lines(p, method).calibrated(p) for p in (panel, scaled))
        assert np.allclose(one, other / factor, rtol=1e-5, atol=1e-5)
