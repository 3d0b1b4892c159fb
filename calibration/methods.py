"""Calibration by the method's name."""

from __future__ import annotations

from calibration import linear, shrinkage
from calibration.linear import METHODS, Lines
from calibration.panel import Panel


def fit_lines(panel: Panel, method: str) -> Lines:
    """Each rater's line by a method that gives lines: none, mean, zscore, shrunk or pooled.

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
    functions = {
        "none": linear.none,
        "mean": linear.mean,
        "zscore": linear.zscore,
        "shrunk": shrinkage.shrunk,
        "pooled": shrinkage.pooled,
    }
    if method not in functions:
        raise ValueError(f"{method!r} is not one of {', '.join(functions)}")
    return functions[method](panel)


__all__ = ["METHODS", "fit_lines"]
