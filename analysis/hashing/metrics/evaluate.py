"""Every figure of a count table under named conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import average_precision_within, grouped_average_precision
from relstudy.analysis.hashing.metrics.ball import lookup_cost, ramap_by_radius
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.metrics.first_ranks import TIES, check_cut, hit_probability
from relstudy.analysis.hashing.metrics.mean_average_precision import (
    TieInterval,
    mean_average_precision,
    mean_over_queries,
)
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.hashing.metrics.ranking_curve import RankingPoint, ranking_curve
from relstudy.common.options.option_wording import either
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

NO_RADIUS = "no Hamming radius, so no figure by one"
LITERAL = "begins at radius 1 as printed, so that codes shifted by one bit score higher"


def evaluate(
    table: CountTable,
    *,
    k: Sequence[int] = (),
    radius: Sequence[int] = (),
    conventions: Conventions | None = None,
) -> dict[str, Any]:
    """All figures that the count table holds, as plain JSON.

    Parameters
    ----------
    table : counts of M queries over codes of Q bits
    k : cut-offs, each at least 1
    radius : radii from 0 to Q; none means all
    conventions : see `Conventions`; they are repeated in the result

    Examples
    --------
    >>> result = evaluate(CountTable(np.array([[2, 4, 4]]), np.array([[2, 2, 1]])), k=[3])
    >>> round(result["map"]["expected"], 4), result["precision_at_k"]["3"]["pessimistic"]
    (0.8431, 0.6666666666666666)
    """
    rules = conventions or Conventions()
    table = rules.queries_counted(table)
    for cut in k:
        check_cut(cut)
    if radius:
        table.need_radii()
    if any(not 0 <= r <= table.bits for r in radius):
        raise RelstudyError(f"a radius must be from 0 to the code length {table.bits}")
    without = int((table.relevant.sum(axis=1) == 0).sum())
    at_k = [RankingPoint.of(table, cut, rules.no_relevant) for cut in k]
    return {
        "queries": table.queries,
        "codes": table.codes,
        "bits": table.bits if table.by_rank is None else None,
        "queries_without_relevant": without,
        "queries_without_hit": {str(cut): float((1 - hit_probability(table, cut)).sum()) for cut in k},
        "map": mean_average_precision(table, None, "relevant", rules.no_relevant).as_json(),
        "map_grouped": mean_over_queries(grouped_average_precision(table), rules.no_relevant),
        "map_at_k": {
            str(cut): mean_average_precision(table, cut, rules.denominator, rules.no_relevant, rules.no_hit).as_json()
            for cut in k
        },
        "precision_at_k": {str(point.n): point.precision.as_json() for point in at_k},
        "recall_at_k": {str(point.n): point.recall.as_json() for point in at_k},
        "ranking": [point.as_json() for point in ranking_curve(table, rules.no_relevant)],
        "map_within_radius": {
            str(r): TieInterval(
                *(mean_over_queries(average_precision_within(table, r, tie), rules.no_relevant) for tie in TIES)
            ).as_json()
            for r in radius
        },
        **_by_radius(table, radius, rules),
        "notes": notes_on(table, rules),
        "conventions": {
            **rules.as_json(),
            "auprc_literal": LITERAL,
            "truth": table.truth,
            "exclude_self": bool(table.about.get("exclude_self", False)),
            **({} if table.by_rank is None else {"distance": f"{table.by_rank}; {NO_RADIUS}"}),
        },
    }


def figures_over_ties(figures: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """The figures of `evaluate` that hang on the order of ties, by the names of tables: mAP, mAP@k, P@k, R@k, mAP@H<=r.

    Examples
    --------
    >>> list(figures_over_ties(evaluate(CountTable(np.array([[2, 1]]), np.array([[1, 0]])), k=[2], radius=[1])))
    ['mAP', 'mAP@2', 'P@2', 'R@2', 'mAP@H<=1']
    """
    names = {"map_at_k": "mAP@", "precision_at_k": "P@", "recall_at_k": "R@", "map_within_radius": "mAP@H<="}
    at = {f"{name}{cut}": figure for key, name in names.items() for cut, figure in figures[key].items()}
    return {"mAP": figures["map"], **at}


def notes_on(table: CountTable, rules: Conventions) -> list[str]:
    """Notes on what was assumed of codes and labels, and on the queries, one sentence each.

    Parameters
    ----------
    table : of the queries that the rules count
    """
    notes = table.notes
    without = int((table.relevant.sum(axis=1) == 0).sum())
    if without:
        counted = "are left out of" if rules.no_relevant == "skip" else "count 0 in"
        notes.append(
            f"{without:,} of {count_of(table.queries, 'query', 'queries')} have no relevant code; they {counted} mean "
            "average precision and the means of recall and F."
        )
    found_at_0 = table.by_rank is None and bool((table.relevant[:, 0] > 0).all())
    if found_at_0 and not table.about.get("exclude_self", False):
        notes.append(
            "Every query has a relevant code at distance 0: where queries are in the database, each finds itself, "
            f"which raises every figure; {either('--exclude-self', 'without_self(counts)')} takes that out."
        )
    return notes


def _by_radius(table: CountTable, radius: Sequence[int], rules: Conventions) -> dict[str, Any]:
    """The figures that exist for Hamming distances alone."""
    if table.by_rank is not None:
        return {"radius": [], "auprc": {}, "ramap": {}, "lookup": []}
    curve = precision_recall_by_radius(table, rules.beta, rules.empty_ball, rules.no_relevant)
    costs = lookup_cost(table)
    ramaps = ramap_by_radius(curve.precision_macro, table.bits)
    shown = list(radius) or list(range(table.bits + 1))
    return {
        "radius": [
            {
                "r": r,
                "precision_micro": _number(curve.precision_micro[r]),
                "recall_micro": _number(curve.recall_micro[r]),
                "f1_micro" if rules.beta == 1 else "f_micro": _number(curve.f_micro[r]),
                "precision_macro": _number(curve.precision_macro[r]),
                "recall_macro": _number(curve.recall_macro[r]),
                "f1_macro" if rules.beta == 1 else "f_macro": _number(curve.f_macro[r]),
                "empty_balls": int(curve.empty_balls[r]),
            }
            for r in shown
        ],
        "auprc": {
            rule: area_under_curve(curve.precision_micro, curve.recall_micro, rule)
            for rule in ("sum", "trapezoid", "matlab", "matlab-1", "literal")
        },
        "ramap": {str(r): ramaps[r] for r in shown},
        "lookup": [costs[r] for r in shown],
    }


def _number(value: np.floating | float) -> float | None:
    return None if np.isnan(value) else float(value)
