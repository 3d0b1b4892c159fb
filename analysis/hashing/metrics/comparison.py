"""Several hashing systems side by side: on the same queries, or over several random splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtrit

from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.ball import ramap_by_radius
from relstudy.analysis.hashing.metrics.by_length import by_length
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.metrics.evaluate import notes_on
from relstudy.analysis.hashing.metrics.first_ranks import check_cut, precision_at
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.mean_interval import mean_interval, same_draws
from relstudy.analysis.hashing.metrics.radius import area_under_curve, precision_recall_by_radius
from relstudy.analysis.resampling.spread import percentile_interval
from relstudy.common.options.option_wording import either
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError


def compare(
    tables: Mapping[str, CountTable],
    *,
    radius: int = 2,
    conventions: Conventions | None = None,
    seed: int = 0,
    k: Sequence[int] = (),
) -> dict[str, Any]:
    """Figures of each system, and paired differences with a bootstrap over queries.

    The differences are those of expected average precision, of the area under the curve over radii, and of micro
    precision within the radius.

    Parameters
    ----------
    tables : name -> counts, all of the same queries in the same order
    radius : of precision within the radius and RAMAP
    seed : of the bootstrap
    k : cut-offs of mAP, each at least 1

    Returns
    -------
    Plain JSON: systems {NAME: ...}, comparisons [...], by_length [...] (see `by_length`), notes, conventions
    """
    rules = conventions or Conventions()
    _check_same_question(tables)
    _check_choices(tables.values(), radius, k)
    tables = {name: rules.queries_counted(table) for name, table in tables.items()}
    cuts = {"map": None, **{f"map_at_{cut}": cut for cut in k}}
    precision = {
        figure: {name: _over_queries(table, cut, rules) for name, table in tables.items()}
        for figure, cut in cuts.items()
    }

    def difference(figure: str, first: str, second: str) -> Estimate:
        if not all(_keeps_all(tables[name], cuts[figure], rules) for name in (first, second)):
            return Estimate.missing(UNPAIRED)
        return _mean(precision[figure][first] - precision[figure][second], seed)

    pooled = {name: _pooled(table, radius, rules, seed) for name, table in tables.items()}
    systems = {}
    for name, table in tables.items():
        systems[name] = _figures(table, radius, rules, k)
        systems[name]["map_interval"] = _mean(precision["map"][name], seed).as_json()
    comparisons = [
        {
            "first": first,
            "second": second,
            **{f"{figure}_difference": difference(figure, first, second).as_json() for figure in precision},
            **{
                f"{figure}_difference": _pooled_difference(
                    values, pooled[second][figure], tables[first].queries
                ).as_json()
                for figure, values in pooled[first].items()
            },
        }
        for first, second in combinations(tables, 2)
    ]
    return {
        "systems": systems,
        "comparisons": comparisons,
        "by_length": _by_length(tables, k, rules, seed, difference),
        "notes": _notes(tables, rules),
        "conventions": {
            **rules.as_json(),
            "truth": next(iter(tables.values())).truth,
            "interval": "95 %, bootstrap over queries",
        },
    }


def _by_length(
    tables: Mapping[str, CountTable],
    k: Sequence[int],
    rules: Conventions,
    seed: int,
    of_mean_precision: Callable[[str, str, str], Estimate],
) -> list[dict[str, Any]]:
    def mean(table: CountTable, cut: int | None) -> float | None:
        denominator = "relevant" if cut is None else rules.denominator
        return mean_average_precision(table, cut, denominator, rules.no_relevant, rules.no_hit).expected

    def precision(table: CountTable, cut: int) -> float:
        return float(precision_at(table, cut).mean())

    means: dict[str, Callable[[CountTable], float | None]] = {"mAP": partial(mean, cut=None)}
    means |= {f"mAP@{cut}": partial(mean, cut=cut) for cut in k}
    means |= {f"P@{cut}": partial(precision, cut=cut) for cut in k}

    def difference(figure: str, first: str, second: str) -> Estimate:
        name, _, cut = figure.partition("@")
        if name == "P":
            return _mean(precision_at(tables[first], int(cut)) - precision_at(tables[second], int(cut)), seed)
        return of_mean_precision(f"map_at_{cut}" if cut else "map", first, second)

    return by_length(tables, means, difference)


def compare_splits(
    splits: Mapping[str, Mapping[str, CountTable]],
    *,
    radius: int = 2,
    conventions: Conventions | None = None,
    k: Sequence[int] = (),
) -> dict[str, Any]:
    """Mean and spread of each figure over random splits, and paired differences of mAP within splits.

    Moran 2016, section 3.5, repeats every experiment on ten splits.

    Parameters
    ----------
    splits : split -> name -> counts; the same systems in each split, at least two splits

    Returns
    -------
    Plain JSON: systems {NAME: {FIGURE: {mean, sd}}}, comparisons with a 95 % interval by Student's t over splits,
    splits, conventions
    """
    rules = conventions or Conventions()
    names = list(next(iter(splits.values())))
    for split, tables in splits.items():
        if set(tables) != set(names):
            raise RelstudyError(f"split {split} has tables of {', '.join(tables)} and another of {', '.join(names)}")
        _check_same_question(tables)
        _check_choices(tables.values(), radius, k)
    if len(splits) < 2:
        raise RelstudyError("a spread over splits needs at least two splits")
    rows = {
        name: [_plain(_figures(rules.queries_counted(tables[name]), radius, rules, k)) for tables in splits.values()]
        for name in names
    }
    systems = {
        name: {figure: _spread([row[figure] for row in figures]) for figure in figures[0]}
        for name, figures in rows.items()
    }
    comparisons = []
    for first, second in combinations(names, 2):
        pairs = [(one["map"], other["map"]) for one, other in zip(rows[first], rows[second], strict=True)]
        differences = [one - other for one, other in pairs if one is not None and other is not None]
        comparisons.append({"first": first, "second": second, "map_difference": _over_splits(differences).as_json()})
    return {
        "systems": systems,
        "comparisons": comparisons,
        "splits": list(splits),
        "conventions": {
            **rules.as_json(),
            "truth": next(iter(next(iter(splits.values())).values())).truth,
            "interval": "95 %, Student's t over splits (they share rows, so it is somewhat too narrow)",
        },
    }


def _notes(tables: Mapping[str, CountTable], rules: Conventions) -> list[str]:
    """The notes that hold for every system, and then those of single ones under their names."""
    by_system = {name: notes_on(table, rules) for name, table in tables.items()}
    every = [note for note in next(iter(by_system.values())) if all(note in notes for notes in by_system.values())]
    own = [f"{name}: {note}" for name, notes in by_system.items() for note in notes if note not in every]
    return [*every, *own]


def _figures(table: CountTable, radius: int, rules: Conventions, k: Sequence[int]) -> dict[str, Any]:
    at_k = {
        f"map_at_{cut}": mean_average_precision(
            table, cut, rules.denominator, rules.no_relevant, rules.no_hit
        ).as_json()
        for cut in k
    }
    ranked = {"map": mean_average_precision(table, None, "relevant", rules.no_relevant).as_json(), **at_k}
    if table.by_rank is not None:
        names = (f"precision_radius_{radius}", f"precision_micro_{radius}", "empty_balls", "auprc", f"ramap_{radius}")
        return {"bits": None, **ranked, **dict.fromkeys(names)}
    curve = precision_recall_by_radius(table, rules.beta, rules.empty_ball, rules.no_relevant)
    within, micro = curve.precision_macro[radius], curve.precision_micro[radius]
    return {
        "bits": table.bits,
        **ranked,
        f"precision_radius_{radius}": None if np.isnan(within) else float(within),
        f"precision_micro_{radius}": None if np.isnan(micro) else float(micro),
        "empty_balls": int(curve.empty_balls[radius]),
        "auprc": area_under_curve(curve.precision_micro, curve.recall_micro, rules.area),
        f"ramap_{radius}": ramap_by_radius(curve.precision_macro, table.bits)[radius],
    }


def _over_queries(table: CountTable, k: int | None, rules: Conventions) -> np.ndarray:
    """Expected average precision of each query, NaN where it is left out of the mean."""
    values = average_precision(table, "expected", k, "relevant" if k is None else rules.denominator)
    return np.nan_to_num(values, nan=0.0) if rules.no_relevant != "skip" else values


def _mean(values: np.ndarray, seed: int) -> Estimate:
    return mean_interval(values[~np.isnan(values)], "no query has a relevant code", seed)


UNPAIRED = "queries without a hit are left out system by system, so queries are not paired"


def _keeps_all(table: CountTable, k: int | None, rules: Conventions) -> bool:
    """True where the mean leaves out no query for want of a hit among its first k, in whatever order ties stand."""
    if k is None or rules.no_hit != "skip":
        return True
    worst = average_precision(table, "pessimistic", k, rules.denominator)
    return bool((worst[~np.isnan(worst)] > 0).all())


def _pooled(table: CountTable, radius: int, rules: Conventions, seed: int) -> dict[str, np.ndarray]:
    """Area under the curve over radii and micro precision within a radius, float [1 + replicates].

    Both pool all queries, so they are computed again from each bootstrap draw of queries; the first value is that of
    the queries themselves. The draws depend on the number of queries alone, so two systems have the same ones.
    """
    names = ("auprc", f"precision_micro_{radius}")
    if table.by_rank is not None:
        return dict.fromkeys(names, np.array([np.nan]))
    draws = same_draws(table.queries, seed)
    times = np.column_stack([np.ones(table.queries), draws]).T
    seen, hits = (times @ np.cumsum(counts, axis=1) for counts in (table.total, table.relevant))
    precision = np.divide(hits, seen, out=np.full(seen.shape, np.nan), where=seen > 0)
    recall = np.divide(hits, hits[:, -1:], out=np.full(hits.shape, np.nan), where=hits[:, -1:] > 0)
    areas = [area_under_curve(p, r, rules.area) for p, r in zip(precision, recall, strict=True)]
    return dict(zip(names, (np.array(areas, dtype=float), precision[:, radius]), strict=True))


def _pooled_difference(one: np.ndarray, other: np.ndarray, queries: int) -> Estimate:
    if len(one) != len(other) or len(one) == 1:
        return Estimate.missing("no Hamming radius, so no figure by one")
    value, *drawn = one - other
    if np.isnan(value):
        return Estimate.missing("no query has a relevant code, or no code lies within the radius")
    usable = np.array(drawn)[~np.isnan(drawn)]
    return Estimate(float(value)) if queries == 1 else Estimate(float(value), *percentile_interval(usable))


def _plain(figures: dict[str, Any]) -> dict[str, float | None]:
    return {name: value["expected"] if isinstance(value, dict) else value for name, value in figures.items()}


def _spread(values: list[float | None]) -> dict[str, float | None]:
    numbers = np.array([value for value in values if value is not None], dtype=float)
    if len(numbers) < len(values):
        return {"mean": None, "sd": None}
    return {"mean": float(numbers.mean()), "sd": float(numbers.std(ddof=1))}


def _over_splits(differences: list[float]) -> Estimate:
    if len(differences) < 2:
        return Estimate.missing("fewer than two splits have a query with a relevant code")
    mean = float(np.mean(differences))
    half = float(stdtrit(len(differences) - 1, 0.975) * np.std(differences, ddof=1) / np.sqrt(len(differences)))
    return Estimate(mean, mean - half, mean + half)


def _check_choices(tables: Any, radius: int, k: Sequence[int]) -> None:
    if radius < 0:
        raise RelstudyError(f"a radius is a whole number from 0, not {radius}")
    if any(radius > table.bits for table in tables):
        raise RelstudyError(f"radius {radius} is longer than the shortest code")
    for cut in k:
        check_cut(cut)


def _check_same_question(tables: Mapping[str, CountTable]) -> None:
    name, one = next(iter(tables.items()))
    for other, table in tables.items():
        fingerprints = {each.about.get("truth_sha256") for each in (one, table)} - {None}
        if table.queries != one.queries:
            what = f"{one.queries} and {table.queries} queries"
        elif table.codes != one.codes:
            what = f"{one.codes} and {table.codes} database codes"
        elif table.truth != one.truth:
            what = f"ground truth by {one.truth} and by {table.truth}"
        elif len(fingerprints) == 2:
            several = either("--splits compares over several", "compare those of one split")
            what = f"different queries, such as those of two random splits ({several})"
        elif (table.relevant.sum(axis=1) != one.relevant.sum(axis=1)).any():
            what = "queries with different numbers of relevant codes"
        else:
            continue
        raise RelstudyError(f"{name} and {other} do not compare: they were counted from {what}")
