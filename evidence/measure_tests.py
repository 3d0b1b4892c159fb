"""How often tests of measures reject the equality of equal systems, and of unequal ones, beside the paired t test.

    OMP_NUM_THREADS=1 python evidence/measure_tests.py size      9,000 studies a row, three minutes of a processor
    OMP_NUM_THREADS=1 python evidence/measure_tests.py uneven    the same where queries count and differ unlike
    OMP_NUM_THREADS=1 python evidence/measure_tests.py family    Holm and Tukey over six systems
    OMP_NUM_THREADS=1 python evidence/measure_tests.py power

Measures by query are made as those of real runs are: how hard a query is moves all systems, each system moves by
itself, and the scale ends at 0 and 1. "graded" has the shape of nDCG; "steps" is precision at 10, whose differences are
often 0; of "weighted" some queries count more than others (by exp(x), x standard normal), as by their traffic, and of
"heavy vary" those that count more differ more (by the weight to the power .3). Of "few heavy" three queries hold four
fifths of the weight, and of "one heavy" one holds half. Differences of "skewed" are lognormal (exp(x) less its mean),
so that a long tail is on one side; both systems are equal on average.

Of ten queries all signs are taken, so random signs are exact: given how large the differences are, they reject with the
largest p that these allow up to .05. "can" is the mean of it: no test of all signs rejects more often and keeps its
level in every study.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import special

from relstudy.analysis.resampling.multiplicity import holm
from relstudy.analysis.resampling.paired_tests import PairedDifference, TukeyRange, bootstrap, sign_flips

QUERIES = (10, 25, 50)
LEVEL = 0.05
DRAWS = 1024
"""Enough to take all signs of ten queries."""
TESTS = ("t", "signs", "bootstrap")
KINDS = {
    "size": ("graded", "steps", "weighted"),
    "power": ("graded", "steps", "weighted"),
    "uneven": ("weighted steps", "heavy vary", "few heavy", "one heavy", "skewed", "weighted skewed"),
}


def measured(kind: str, queries: int, gains: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A measure of each query and system, float [queries, systems], systems ahead by `gains` on the logit scale."""
    logit = -0.4 + 1.2 * random.normal(size=(queries, 1)) + gains + 0.8 * random.normal(size=(queries, len(gains)))
    share = special.expit(logit)
    return random.binomial(10, share) / 10 if kind.endswith("steps") else share


def differing(
    kind: str, queries: int, gain: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Two systems' differences by query, and how much each query counts; None: all alike."""
    values = measured(kind, queries, np.array([gain, 0.0]), random)
    weight = np.exp(random.normal(size=queries)) if kind.startswith(("weighted", "heavy")) else None
    if kind.endswith(" heavy"):
        few, share = (3, 0.8) if kind == "few heavy" else (1, 0.5)
        weight = np.r_[np.full(few, share / few), np.full(queries - few, (1 - share) / (queries - few))]
    differences = values[:, 0] - values[:, 1]
    if kind.endswith("skewed"):
        differences = random.lognormal(size=queries) - np.exp(0.5)
    if kind == "heavy vary":
        assert weight is not None
        differences = differences * weight**0.3
    return differences, weight


def p_values(differences: np.ndarray, seed: int, weight: np.ndarray | None) -> dict[str, float]:
    """p of one difference by each test; 1 where queries do not differ."""
    column = differences[:, None]
    found = {
        "t": PairedDifference.of(differences, weight).p,
        "signs": float(sign_flips(column, DRAWS, seed, weight)[0]),
        "bootstrap": float(bootstrap(column, DRAWS, seed, weight)[0]),
    }
    return {name: 1.0 if np.isnan(p) else p for name, p in found.items()}


def attainable(differences: np.ndarray) -> float:
    """The largest p up to the level that all signs of these differences can give, or 0."""
    queries = len(differences)
    bits = (np.arange(2**queries)[:, None] >> np.arange(queries)) & 1
    sums = np.sort(np.round(np.abs((2.0 * bits - 1.0) @ differences), 9))
    p = 1 - np.searchsorted(sums, sums) / len(sums)
    return float(p[p <= LEVEL].max(initial=0.0))


def rejected(kind: str, queries: int, gain: float, studies: int, seed: int) -> dict[str, float]:
    """Share of studies in which each test rejects the equality of two systems; and what random signs can."""
    random = np.random.default_rng([seed, queries, int(1000 * gain)])
    hits = dict.fromkeys((*TESTS, "can"), 0.0)
    for study in range(studies):
        differences, weight = differing(kind, queries, gain, random)
        for name, p in p_values(differences, study, weight).items():
            hits[name] += p <= LEVEL
        if 2**queries <= DRAWS and gain == 0:
            hits["can"] += attainable(differences if weight is None else differences * weight)
    return {name: hit / studies for name, hit in hits.items()}


def family(queries: int, gains: np.ndarray, studies: int, seed: int) -> tuple[float, float, float, float]:
    """Share of studies with a false statement by Holm and by Tukey; share of true differences that each finds."""
    random = np.random.default_rng([seed, queries, len(np.unique(gains))])
    number = len(gains)
    rows, columns = np.triu_indices(number, 1)
    true = gains[rows] != gains[columns]
    false_holm = false_tukey = found_holm = found_tukey = 0.0
    for study in range(studies):
        values = measured("graded", queries, gains, random)
        differences = values[:, rows] - values[:, columns]
        by_holm = holm([PairedDifference.of(each).p for each in differences.T]) <= LEVEL
        tukey = TukeyRange.of(values, DRAWS, study)
        by_tukey = np.array([tukey.p(float(each.mean())) <= LEVEL for each in differences.T])
        false_holm += (by_holm & ~true).any()
        false_tukey += (by_tukey & ~true).any()
        if true.any():
            found_holm += by_holm[true].mean()
            found_tukey += by_tukey[true].mean()
    power = (found_holm / studies, found_tukey / studies) if true.any() else (float("nan"), float("nan"))
    return false_holm / studies, false_tukey / studies, *power


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("size", "uneven", "power", "family"))
    parser.add_argument("--studies", type=int)
    parser.add_argument("--seed", type=int, default=34)
    chosen = parser.parse_args()
    if chosen.table == "family":
        studies = chosen.studies or 1000
        print(f"{studies} studies a row, six systems, {DRAWS} draws; 5 % has a standard error of "
              f"{100 * np.sqrt(0.05 * 0.95 / studies):.1f} points.\n")  # fmt: skip
        print("systems         queries  any false: Holm  Tukey   differences found: Holm  Tukey")
        for name, gains in (("equal", np.zeros(6)), ("one better", np.r_[0.6, np.zeros(5)])):
            for queries in QUERIES:
                a, b, c, d = family(queries, gains, studies, chosen.seed)
                power = "       –       –" if np.isnan(c) else f"{100 * c:7.1f}% {100 * d:6.1f}%"
                print(f"{name:<15} {queries:>7} {100 * a:>15.1f}% {100 * b:>5.1f}% {power:>31}", flush=True)
        return
    equal = chosen.table != "power"
    studies = chosen.studies or ({"size": 9000, "uneven": 3000}.get(chosen.table, 1000))
    gains = (0.0,) if equal else (0.2, 0.4, 0.8)
    share = 0.05 if equal else 0.5
    error = 100 * np.sqrt(share * (1 - share) / studies)
    print(f"{studies} studies a row, {DRAWS} draws: share rejected at {LEVEL}.")
    print(f"{100 * share:.0f} % has a standard error of {error:.1f} points.\n")
    width = max(map(len, KINDS[chosen.table])) + 1
    print(f"{'measure':<{width}} gain  queries       t   signs  {'(can)  ' if equal else ''}bootstrap")
    for kind in KINDS[chosen.table]:
        for gain in gains:
            for queries in QUERIES:
                found = rejected(kind, queries, gain, studies, chosen.seed)
                can = f"{100 * found['can']:.1f}%" if found["can"] else ""
                can = f" {can:>6}" if equal else ""
                cells = (
                    f"{100 * found['t']:>6.1f}% {100 * found['signs']:>6.1f}%{can} {100 * found['bootstrap']:>9.1f}%"
                )
                print(f"{kind:<{width}} {gain:>4.1f} {queries:>8} {cells}", flush=True)


if __name__ == "__main__":
    main()
