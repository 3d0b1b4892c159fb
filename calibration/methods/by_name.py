"""Calibration by the method's name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from relstudy.calibration.methods import METHODS, MethodEntry
from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.panel import Panel


class Fitted(Protocol):
    """A method fitted to a panel."""

    def calibrated(self, panel: Panel) -> np.ndarray:
        """The panel's ratings on the common scale, float array (N); undecided stays NaN."""

    def lines(self, panel: Panel) -> Lines:
        """Each rater's line, or the one that comes nearest to what the method does with their ratings."""


def fit_method(panel: Panel, method: str) -> Fitted:
    """Any of METHODS fitted to a panel; raises as `fit_lines` does."""
    if method in METHODS and not METHODS[method].gives_lines:
        fitted: Fitted = _function_of(METHODS[method])(panel)
        return fitted
    return fit_lines(panel, method)


def fit_lines(panel: Panel, method: str) -> Lines:
    """Each rater's line by a method that gives lines: any of METHODS that gives them.

    Raises
    ------
    RelstudyError
        when the method rests on a base block and there is none
    ValueError
        when the name is not one of these

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "pair_id": list("pqpq"), "rating": [1, 3, 3, 5]})
    >>> fit_lines(Panel.from_frame(frame), "mean").offset.tolist()
    [1.0, -1.0]
    """
    lined = {name: entry for name, entry in METHODS.items() if entry.gives_lines}
    if method not in lined:
        raise ValueError(f"{method!r} is not one of {', '.join(lined)}")
    unit = unit_of(panel)
    lines: Lines = _function_of(lined[method])(panel if unit == 1 else panel.with_rating(panel.rating / unit))
    variance = None if lines.offset_variance is None else lines.offset_variance * unit**2
    rater_variance = None if lines.rater_variance is None else lines.rater_variance * unit**2
    return replace(lines, offset=lines.offset * unit, offset_variance=variance, rater_variance=rater_variance)


def _function_of(entry: MethodEntry) -> Callable[[Panel], Any]:
    module, _, function = entry.function.partition(":")
    found: Callable[[Panel], Any] = getattr(import_module(f"relstudy.calibration.methods.{module}"), function)
    return found


def unit_of(panel: Panel) -> float:
    """Divisor of ratings before a line is fitted: a power of two near a quarter of their range.

    The methods take a spread or a sum of squares below 1e-9 for rounding error; without a common unit that
    would mean one thing for ratings from 1 to 5 and another for ratings from 0 to 1e-6. Division by a power of two is
    exact, and ratings from 1 to 5 are divided by 1.
    """
    length = float(np.fmax.reduce(panel.rating, initial=-np.inf) - np.fmin.reduce(panel.rating, initial=np.inf))
    return 2.0 ** round(math.log2(length / 4)) if 0 < length < np.inf else 1.0
