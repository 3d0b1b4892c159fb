"""Whatever table comes in: sentences or finite numbers come out, never a traceback or NaN."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relstudy.calibration.methods.by_name import fit_lines
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.pipeline import calibrate, summary
from relstudy.calibration.rater_profiles import rater_profiles
from relstudy.calibration.reliability.within_pair_variance import leave_one_out_correlation
from relstudy.calibration.simulation import simulate_panel
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked

VALUES = st.sampled_from(["1", "2", "3", "4", "5", "", "2.5", "-3", "1e6"])
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("qr"), st.sampled_from("uvwxyz"), VALUES, st.booleans()),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:3],
)


ALL_BUT_ALIKE = [
    *(("a", query, result, "1", False) for query, result in ("qu", "qw", "qx", "ru", "rv")),
    *(
        ("b", "q", "u", "1", False),
        ("b", "r", "u", "1", False),
        ("c", "q", "u", "1", False),
        ("d", "q", "v", "2", False),
    ),
]
"""Raters who agree once calibrated, in all but the last digits."""


@pytest.mark.slow
@example(ALL_BUT_ALIKE, "pooled", False)
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
            result = calibrate(check_ratings(Checked(frame, "ratings.csv")), CalibrationOptions(method))
        except RelstudyError as error:
            assert str(error)
            return
        figures = json.loads(json.dumps(summary(result), allow_nan=False))
    decided = frame["rating"] != ""
    assert figures["ratings"] == decided.sum()
    assert np.isfinite(result.calibrated[decided.to_numpy()]).all()
    assert np.isfinite(result.judgments.frame["judgment"]).all()
    for name in ("within_item_variance", "leave_one_out_correlation"):
        for side in ("before", "after"):
            assert (figures[name][side] is None) == (f"{name}.{side}" in figures["reasons"])


@pytest.mark.parametrize("factor", [1e-9 / 3, 0.01 / 3, 1e6 / 3, 1e90])
def test_the_unit_of_the_scale_does_not_matter_and_a_constant_rater_is_constant_on_every_scale(factor: float) -> None:
    panel = simulate_panel(8, 12, 20, seed=5).panel
    panel = panel.with_rating(np.where(panel.rater == 3, 3.0, panel.rating))
    scaled = panel.with_rating(panel.rating * factor)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for method in ("mean", "zscore", "shrunk", "pooled"):
            one, other = (fit_lines(p, method) for p in (panel, scaled))
            assert np.allclose(one.calibrated(panel), other.calibrated(scaled) / factor, rtol=1e-9)
            assert one.slope[3] == pytest.approx(other.slope[3], rel=1e-9)
        agreement = [leave_one_out_correlation(p, "pooled").value for p in (panel, scaled)]
        assert agreement[0] == pytest.approx(agreement[1], abs=1e-12)
        profiles = [rater_profiles(p, fit_lines(p, "pooled")) for p in (panel, scaled)]
        assert profiles[0]["flags"].tolist() == profiles[1]["flags"].tolist()
        assert profiles[0]["agreement"].isna().tolist() == profiles[1]["agreement"].isna().tolist()
