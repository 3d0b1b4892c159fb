"""How often 95 % intervals of E rho^2 and Phi hold the truth, on tables made of known variances.

    python evidence/coverage.py generalizability [--tables 200]
    python evidence/coverage.py generalizability --panels ../shared/data

Results within queries are rated by raters, all by all or each by three of them, as normal numbers or in steps from 1 to
5; and systems are measured on queries. Queries and results, raters, or the noise of a rating may be of other shapes
than normal. Variances are those of query, result, rater, rater x query and one rating; where ratings are in steps, the
truth is theirs, summed over the normal numbers behind them. The error of a share of 200 is 1.5 points at 95 %. With
--panels instead: the variances and coefficients of panels of people.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import gamma, ndtr, ndtri

from evidence.calibration_default import PANELS
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.generalizability import Generalizability, generalizability, of_panel
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError

SHAPES: dict[str, Callable[[np.random.Generator, int | tuple[int, int]], np.ndarray]] = {
    "normal": lambda random, size: random.normal(size=size),
    "lognormal": lambda random, size: (
        (np.exp(0.8 * random.normal(size=size)) - np.exp(0.32)) / np.sqrt(np.exp(1.28) - np.exp(0.64))
    ),
    "t5": lambda random, size: random.standard_t(5, size) / np.sqrt(5 / 3),
    "exponential": lambda random, size: random.exponential(size=size) - 1,
    "Laplace": lambda random, size: random.laplace(size=size) / np.sqrt(2),
    "Weibull .8": lambda random, size: (
        (random.weibull(0.8, size) - gamma(2.25)) / np.sqrt(gamma(3.5) - gamma(2.25) ** 2)
    ),
    "one in ten": lambda random, size: ((random.random(size) < 0.1) - 0.1) / 0.3,
}
"""Of mean 0 and variance 1."""
VARIANCES = {"query": 0.3, "result": 0.8, "rater": 0.15, "taste": 0.05, "rest": 0.5}
SYSTEMS = {"system": 0.002, "query": 0.03, "rest": 0.012}


def ratings(
    seed: int | np.random.Generator,
    queries: int,
    results: int,
    raters: int,
    each: int | None,
    steps: bool,
    worths: str = "normal",
    lenience: str = "normal",
    noise: str = "normal",
) -> pd.DataFrame:
    """A table of ratings, as VARIANCES has it; `each` of the raters rate a pair, None for all.

    Parameters
    ----------
    worths, lenience, noise : the shape of queries and results, of raters and their tastes, and of what is left of one
        rating, of SHAPES
    """
    of_worth, of_rater = SHAPES[worths], SHAPES[lenience]
    random = np.random.default_rng(seed)
    sd = {name: np.sqrt(value) for name, value in VARIANCES.items()}
    query = np.repeat(np.arange(queries), results)
    worth = 3 + sd["query"] * of_worth(random, queries)[query] + sd["result"] * of_worth(random, len(query))
    values = worth[:, None] + sd["rater"] * of_rater(random, raters)
    values = values + sd["taste"] * of_rater(random, (queries, raters))[query]
    values = values + sd["rest"] * SHAPES[noise](random, (len(query), raters))
    seen = np.ones(values.shape, dtype=bool)
    if each is not None:
        seen = random.random(values.shape).argsort(axis=1).argsort(axis=1) < each
    row, rater = np.nonzero(seen)
    rating = np.clip(np.round(values), 1, 5) if steps else values
    columns = {"query_id": query[row], "result_id": row, "rater_id": rater, "rating": rating[row, rater]}
    return pd.DataFrame(columns)


def measures(seed: int, systems: int, queries: int) -> pd.DataFrame:
    """A table of a measure of systems by query, as SYSTEMS has it."""
    random = np.random.default_rng(seed)
    sd = {name: np.sqrt(value) for name, value in SYSTEMS.items()}
    values = sd["system"] * random.normal(size=(systems, 1)) + sd["query"] * random.normal(size=queries)
    values = values + sd["rest"] * random.normal(size=(systems, queries))
    system, query = np.indices(values.shape)
    return pd.DataFrame({"system": system.ravel(), "query_id": query.ravel(), "value": values.ravel()})


def in_steps() -> dict[str, float]:
    """The coefficients of one rating in steps: of what a pair's, or a rater's, ratings are in the mean, over all."""
    v, edges = VARIANCES, np.array([1.5, 2.5, 3.5, 4.5])
    place = ndtri((np.arange(2000) + 0.5) / 2000)

    def expected(known: float, power: int = 1) -> np.ndarray:
        """The mean of a step, or its square, by what is known of its normal number, whose variance that is."""
        rest = sum(v.values()) - known
        above = ndtr((3 + place[:, None] * known**0.5 - edges) / rest**0.5)
        return 1 + above @ np.diff(np.arange(1, 6) ** power)

    worth, rater = expected(v["query"] + v["result"]), expected(v["rater"])
    total = float(expected(v["rater"], 2).mean() - rater.mean() ** 2)
    return {"erho2": float(worth.var() / (total - rater.var())), "phi": float(worth.var() / total)}


def of_ratings(table: pd.DataFrame) -> Generalizability:
    return generalizability(table, "rating", ["query_id", "result_id"], "rater_id", "query_id")


def of_measures(table: pd.DataFrame) -> Generalizability:
    return generalizability(table, "value", ["system"], "query_id")


def covered(
    make: Callable[[int], pd.DataFrame],
    study: Callable[[pd.DataFrame], Generalizability],
    truth: dict[str, float],
    number: int,
) -> list[str]:
    """Cells of a row: for each coefficient its truth, mean estimate, share of intervals that hold it, the same
    of those that take all values for normal, and withheld."""
    cells = []
    found = [study(make(seed)) for seed in range(number)]
    for which in ("erho2", "phi"):
        estimates = [each.coefficient(which) for each in found]
        single = truth[which]
        held, told, if_normal = [], [], []
        for each, estimate in zip(found, estimates, strict=True):
            wanted = each.each * single / (1 + (each.each - 1) * single)
            told.append((estimate.value, wanted))
            if estimate.low is not None and estimate.high is not None:
                held.append(estimate.low <= wanted <= estimate.high)
            covariance = each.covariance - np.diag(each.beyond)
            normal = replace(each, covariance=covariance, beyond=np.zeros(5)).coefficient(which)
            if normal.low is not None and normal.high is not None:
                if_normal.append(normal.low <= wanted <= normal.high)
        mean = np.mean([value for value, _ in told])
        shares = [f"{np.mean(each):.1%}" if each else "–" for each in (held, if_normal)]
        cells += [f"{np.mean([w for _, w in told]):.3f}", f"{mean:.3f}", *shares, str(number - len(held))]
    return cells


def print_panels(data: Path) -> None:
    """A row a panel: shares of variance, coefficients of one rating and of the mean, and the raters needed for .9."""
    print("| panel | " + " | ".join(("query", "pair", "rater", "rater x query", "rest")), end="")
    print(" | a pair has | Eρ² | Φ | raters for Φ .9 |\n" + "|---" * 10 + "|")
    for title, file, _ in PANELS:
        rated = read_ratings(data / file)
        scale = rated.scale.scale
        try:
            study = of_panel(Panel.from_frame(rated.frame, scale.low, scale.high))
        except RelstudyError as error:
            print(f"| {title} | {error} |" + " |" * 8)
            continue
        total = sum(study.components.values())
        shares = [study.components.get(name) for name in ("query", "pair", "rater", "rater x query", "rest")]
        cells = ["–" if each is None else f"{each / total:.1%}" for each in shares]
        cells += [f"{study.each:.3g}", *(_cell(study.coefficient(which)) for which in ("erho2", "phi"))]
        print(f"| {title} | {' | '.join(cells)} | {study.needed('phi', 0.9)[0]} |", flush=True)


def _cell(found: Estimate) -> str:
    between = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return "–" if found.value is None else f"{found.value:.3f}{between}"


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py generalizability", description=__doc__, formatter_class=raw)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--rows", type=int, nargs="*", help="numbers of the rows to print, from 0; else all")
    parser.add_argument("--panels", type=Path, help="a folder of panels of people, whose variances are printed instead")
    given = parser.parse_args(argv)
    if given.panels is not None:
        print_panels(given.panels)
        return
    number = given.tables
    of_each = ["mean estimate", "covered", "as if normal", "without"]
    head = ["table", "Eρ²", *of_each, "Φ", *of_each]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    v = VARIANCES
    worth, error = v["query"] + v["result"], v["taste"] + v["rest"]
    normal = {"erho2": worth / (worth + error), "phi": worth / (worth + error + v["rater"])}
    stepped = in_steps()
    all_normal = ("normal", "normal", "normal")
    rows = (
        (20, 3, None, False, all_normal),
        (20, 6, None, False, all_normal),
        (60, 12, 3, False, all_normal),
        (60, 12, 3, True, all_normal),
        (20, 4, None, True, all_normal),
        (10, 20, 2, False, all_normal),
        (20, 6, None, False, ("t5", "normal", "normal")),
        (20, 6, None, False, ("lognormal", "normal", "normal")),
        (60, 12, 3, False, ("exponential", "normal", "normal")),
        (20, 6, None, False, ("Laplace", "normal", "normal")),
        (20, 6, None, False, ("Weibull .8", "normal", "normal")),
        (60, 12, 3, False, ("one in ten", "normal", "normal")),
        (20, 6, None, False, ("normal", "exponential", "normal")),
        (60, 30, 3, False, ("exponential", "exponential", "normal")),
        (20, 3, None, False, ("normal", "normal", "t5")),
        (20, 6, None, False, ("normal", "normal", "t5")),
        (20, 3, None, False, ("normal", "normal", "lognormal")),
        (20, 6, None, False, ("normal", "normal", "lognormal")),
        (60, 12, 3, False, ("normal", "normal", "lognormal")),
        (10, 20, 2, False, ("normal", "normal", "lognormal")),
        (20, 6, None, False, ("normal", "normal", "exponential")),
        (60, 12, 3, False, ("t5", "normal", "t5")),
    )
    of_systems = ((4, 50), (10, 50), (20, 25))
    asked = range(len(rows) + len(of_systems)) if given.rows is None else given.rows
    for queries, raters, each, steps, shapes in (rows[row] for row in asked if row < len(rows)):
        whose = f"{queries} queries x 5 results, {raters} raters, " + ("all by all" if each is None else f"{each} each")
        cells = covered(
            partial(ratings, queries=queries, results=5, raters=raters, each=each, steps=steps,
                    worths=shapes[0], lenience=shapes[1], noise=shapes[2]),
            of_ratings,
            stepped if steps else normal,
            number,
        )  # fmt: skip
        other = "worths {}, raters {}, noise {}".format(*shapes)
        how = "steps" if steps else "normal" if shapes == all_normal else other
        print(f"| {whose}, {how} | {' | '.join(cells)} |", flush=True)
    s = SYSTEMS
    single = {
        "erho2": s["system"] / (s["system"] + s["rest"]),
        "phi": s["system"] / (s["system"] + s["rest"] + s["query"]),
    }
    for systems, queries in (of_systems[row - len(rows)] for row in asked if row >= len(rows)):
        cells = covered(lambda seed, a=systems, b=queries: measures(seed, a, b), of_measures, single, number)  # type: ignore[misc]
        print(f"| {systems} systems x {queries} queries | {' | '.join(cells)} |", flush=True)
