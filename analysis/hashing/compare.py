"""Several hashing systems side by side, on the same queries."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from analysis.hashing.average_precision import average_precision, mean_average_precision
from analysis.hashing.ball import ramap
from analysis.hashing.conventions import Conventions
from analysis.hashing.counts import CountTable
from analysis.hashing.radius import area_under_curve, precision_recall_by_radius
from calibration.errors import RelstudyError
from calibration.estimates import Estimate


def compare(
    tables: dict[str, CountTable],
    *,
    radius: int = 2,
    conventions: Conventions | None = None,
    replicates: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Figures of each system, and paired differences of expected average precision with a bootstrap over queries.

    Parameters
    ----------
    tables : name -> counts, all of the same queries in the same order
    radius : of precision within the radius and RAMAP
    replicates, seed : of the bootstrap

    Returns
    -------
    Plain JSON: systems {NAME: ...}, comparisons [...], conventions
    """
    rules = conventions or Conventions()
    sizes = {name: table.queries for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        raise RelstudyError(f"the tables have different numbers of queries: {sizes}")
    if any(radius > table.bits for table in tables.values()):
        raise RelstudyError(f"radius {radius} is longer than the shortest code")
    systems, precision = {}, {}
    for name, table in tables.items():
        curve = precision_recall_by_radius(table, rules.beta, rules.empty_ball)
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
    rng = np.random.default_rng(seed)
    number = next(iter(sizes.values()))
    draws = rng.integers(0, number, (replicates, number))
    comparisons = []
    for first, second in combinations(tables, 2):
        difference = _difference(precision[first] - precision[second], draws)
        comparisons.append({"first": first, "second": second, "map_difference": difference.as_json()})
    return {"systems": systems, "comparisons": comparisons, "conventions": rules.as_json()}


def _difference(values: np.ndarray, draws: np.ndarray) -> Estimate:
    if np.isnan(values).all():
        return Estimate.missing("no query has a relevant code")
    replicates = np.nanmean(values[draws], axis=1)
    low, high = np.nanpercentile(replicates, [2.5, 97.5])
    return Estimate(float(np.nanmean(values)), float(low), float(high))
