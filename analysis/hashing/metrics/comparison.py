"""Several hashing systems side by side, on the same queries."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.ball import ramap
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.mean_interval import mean_interval
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.common.errors import RelstudyError


def compare(
    tables: dict[str, CountTable],
    *,
    radius: int = 2,
    conventions: Conventions | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Figures of each system, and paired differences of expected average precision with a bootstrap over queries.

    Parameters
    ----------
    tables : name -> counts, all of the same queries in the same order
    radius : of precision within the radius and RAMAP
    seed : of the bootstrap

    Returns
    -------
    Plain JSON: systems {NAME: ...}, comparisons [...], conventions
    """
    rules = conventions or Conventions()
    _check_same_question(tables)
    if any(radius > table.bits for table in tables.values()):
        raise RelstudyError(f"radius {radius} is longer than the shortest code")
    systems, precision = {}, {}
    for name, table in tables.items():
        curve = precision_recall_by_radius(table, rules.beta, rules.empty_ball, rules.no_relevant)
        precision[name] = average_precision(table, "expected", None, "relevant")
        within = curve.precision_macro[radius]
        systems[name] = {
            "bits": table.bits,
            "map": mean_average_precision(table, None, "relevant", rules.no_relevant).as_json(),
            f"precision_radius_{radius}": None if np.isnan(within) else float(within),
            "empty_balls": int(curve.empty_balls[radius]),
            "auprc": area_under_curve(curve.precision_micro, curve.recall_micro, rules.area),
            f"ramap_{radius}": ramap(table, radius, rules.empty_ball),
        }
    comparisons = []
    for first, second in combinations(tables, 2):
        difference = precision[first] - precision[second]
        if rules.no_relevant == "zero":
            difference = np.nan_to_num(difference, nan=0.0)
        estimate = mean_interval(difference[~np.isnan(difference)], "no query has a relevant code", seed)
        comparisons.append({"first": first, "second": second, "map_difference": estimate.as_json()})
    return {
        "systems": systems,
        "comparisons": comparisons,
        "conventions": {**rules.as_json(), "truth": next(iter(tables.values())).truth},
    }


def _check_same_question(tables: dict[str, CountTable]) -> None:
    name, one = next(iter(tables.items()))
    for other, table in tables.items():
        if table.queries != one.queries:
            what = f"{one.queries} and {table.queries} queries"
        elif table.codes != one.codes:
            what = f"{one.codes} and {table.codes} database codes"
        elif table.truth != one.truth:
            what = f"ground truth by {one.truth} and by {table.truth}"
        elif (table.relevant.sum(axis=1) != one.relevant.sum(axis=1)).any():
            what = "queries with different numbers of relevant codes"
        else:
            continue
        raise RelstudyError(f"{name} and {other} do not compare: they were counted from {what}")
