"""The table of methods: each name has its function, and the type that checkers know has the same names."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from relstudy.calibration.methods import METHODS, Method
from relstudy.calibration.methods.by_name import fit_lines, fit_method
from relstudy.calibration.simulation import simulate_panel

QUICK = [name for name, entry in METHODS.items() if entry.gives_lines]


def test_type_checkers_know_the_names_of_all_methods() -> None:
    assert get_args(Method) == tuple(METHODS)


@pytest.mark.parametrize("method", QUICK)
def test_each_method_of_lines_is_fitted_by_its_name(method: str) -> None:
    panel = simulate_panel(4, 12, 6, seed=2).panel
    fitted = fit_method(panel, method)
    assert fitted.lines(panel).method == method
    assert np.isfinite(fitted.calibrated(panel.decided())).all()


def test_a_name_of_no_method_is_refused_with_the_names_there_are() -> None:
    panel = simulate_panel(2, 4, 0, seed=2).panel
    for method in ("ordinal", "medians"):
        names = "pooled, crossed, shrunk, zscore, mean, none, p910, p913"
        with pytest.raises(ValueError, match=f"'{method}' is not one of {names}$"):
            fit_lines(panel, method)
