"""How often anything false is said of equal systems: by single tests, by Holm within each index, by families.

    python evidence/coverage.py families [--studies 400]

Systems are equally good: their scores follow what a result is worth with the same correlation (0.6) within a query and
errors with a part in common, in eight steps, so that ties abound; queries differ in level (skewed) and have 16 judged
pairs, likelier good ones with smaller weights. Each is scored by the four indices of every run with the project's own
replicates (300) and standard errors. Families: the index that decides (pairwise accuracy within queries) over all
pairs of systems; the other three over all pairs; and with eight groups of queries, all four indices in all groups.

Any: the share of studies in which at least one difference of the family is called more than chance at 5 %, which is
false by construction; by single tests, by Holm's correction within each index (and group), and corrected as one family.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import LeftOut, whole_queries
from relstudy.analysis.resampling.multiplicity import centred, family_corrected, holm
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.common.runtime.console import print_table, progress

SEED, REPLICATES, PAIRS, SKILL, LEVEL = 5113, 300, 16, 0.6, 0.95
CELLS = (("6 systems", 6, 60, 1), ("20 systems", 20, 60, 1), ("8 groups of 6 systems", 6, 240, 8))
PRIMARY = "same_query"


def figures(
    query: np.ndarray, score: np.ndarray, judgment: np.ndarray, weight: np.ndarray, seed: int
) -> dict[str, BootstrapStatistic]:
    """The four indices of one system."""
    queries = int(query.max()) + 1
    draws = whole_queries(query, queries, REPLICATES, seed)
    relevant, without = (judgment > 3.5) * 1.0, LeftOut.of(query)
    lists = SameQuery(query, queries, score, relevant, weight).statistic(draws.times, draws.row)
    retrieval = Retrieval(draws.row, relevant, draws.times, queries, without).indices(score, weight)
    correlation = CorrelationBootstrap(draws.row, judgment, draws.times, weight, queries=queries, left_out=without)
    return {
        PRIMARY: lists,
        "pearson": correlation.correlate(score, ("pearson",))["pearson"],
        "average_precision": retrieval["average_precision"],
        "normalised_rank": retrieval["normalised_rank"],
    }


def tests(of_system: Sequence[dict[str, BootstrapStatistic]], queries: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By index, p of every pair of systems and the differences' centred replicates."""
    found = {}
    for index in of_system[0]:
        differences = [of_system[a][index] - of_system[b][index] for a, b in combinations(range(len(of_system)), 2)]
        clusters = of_system[0][index].clusters or queries
        p = np.array([each.spread(DIFFERENCE, clusters).p_value() for each in differences])
        found[index] = p, np.stack([centred(each.replicates) for each in differences])
    return found


def study(systems: int, queries: int, groups: int, random: np.random.Generator) -> dict[str, tuple[bool, bool, bool]]:
    """By family, whether anything is said: by single tests, by Holm within each index and group, by the family."""
    query = np.repeat(np.arange(queries), PAIRS)
    level = 0.7 * random.standard_exponential(queries)
    worth = random.gamma(2.0, size=len(query)) / 1.4 - 1.4 + level[query]
    weight = 1.0 / (0.1 + 0.8 * np.clip((worth + 2) / 6, 0, 1))
    judgment = np.clip(np.round(3 + 1.1 * worth + 0.8 * random.normal(size=len(query))), 1, 5)
    common = random.normal(size=len(query))
    steps = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    errors = [0.6 * common + 0.8 * random.normal(size=len(query)) for _ in range(systems)]
    scores = [np.digitize(SKILL * worth + np.sqrt(1 - SKILL**2) * error, steps).astype(float) for error in errors]
    seed = int(random.integers(2**31))
    parts = []
    for group in range(groups):
        inside = query % groups == group
        of_system = [
            figures(query[inside] // groups, score[inside], judgment[inside], weight[inside], seed) for score in scores
        ]
        parts.append(tests(of_system, queries // groups))
    if groups > 1:
        return {"all groups, all indices": _said([each for part in parts for each in part.values()])}
    return {
        "the index that decides": _said([parts[0][PRIMARY]]),
        "all other indices": _said([each for index, each in parts[0].items() if index != PRIMARY]),
    }


def _said(of_index: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[bool, bool, bool]:
    alpha = 1 - LEVEL
    p, drawn = (np.concatenate(each) for each in zip(*of_index, strict=True))
    by_index = any((holm(each) < alpha).any() for each, _ in of_index)
    return bool((p < alpha).any()), by_index, bool((family_corrected(p, drawn) < alpha).any())


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py families", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=400)
    given = parser.parse_args(argv)
    rows = []
    for number, (label, systems, queries, groups) in enumerate(CELLS):
        said: dict[str, list[tuple[bool, bool, bool]]] = {}
        for one in progress(range(given.studies), label, given.studies):
            for family, each in study(systems, queries, groups, np.random.default_rng([SEED, number, one])).items():
                said.setdefault(family, []).append(each)
        for family, each in said.items():
            rows.append([label, str(queries), family, *(f"{share:.1%}" for share in np.mean(each, axis=0))])
    print(
        f"{given.studies} studies a row, seed {SEED}: the share in which anything is called more than chance, where "
        f"all is chance. A share of 5 % has a standard error of {np.sqrt(0.05 * 0.95 / given.studies):.1%}.\n"
    )
    print_table(rows, ["equal systems", "queries", "family", "single tests", "Holm by index", "one family"])
