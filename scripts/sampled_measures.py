"""Measures estimated from a sample of judged pairs against the same of the whole collection, beside infAP and condensed
lists.

    OMP_NUM_THREADS=1 python scripts/sampled_measures.py                300 samples a cell, several minutes
    OMP_NUM_THREADS=1 python scripts/sampled_measures.py --samples 30   a look

A collection of 100 queries of 500 results is known as a whole. Each sample judges some results of 60 of the queries,
drawn by the ranks of two systems (exponent 1, floor .05; or .5 and .2), or all with one chance (0, 1), or by strata:
all that one of the two ranks in its first 10, 30 % of what one ranks in its first 50, 5 % of the rest. There "by
strata" is as infAP and infNDCG have it, "estimated" by chances alone (statAP). A newcomer took no part in the draw.

Printed: the truth over all 100 queries; the mean error; in how many samples `relstudy score` gives an interval, which
it does not where few results stand for most ("given"); how often Student's interval over queries holds the truth where
it is given, and its width. In brackets: of all samples, where it is hardly ever given. "cv" is how uncertain the number
of relevant results of a query is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import ir_measures
import numpy as np
from scipy import stats

from relstudy.analysis.indices.measures import parsed_measure
from relstudy.analysis.indices.sampled import LARGEST, ON_RELEVANT, SampledList, Strata, estimated, uncertainty
from relstudy.analysis.scoring.sampled import unsure
from relstudy.common.drawing import inclusion_probabilities, rank_share, systematic_sample

MEASURES = ("P@10", "RBP(p=0.8,rel=1)", "R@50", "AP", "nDCG@10")
QUERIES, RESULTS, CHOSEN = 100, 500, 60
BY_STRATA = ("P@10", "AP", "nDCG@10")
SHARES = (1.0, 0.3, 0.05)
"""Of each stratum."""
SELDOM = 0.1
"""Share of samples below which an interval is hardly ever given."""
DESIGNS = ((1.0, 0.05, 6), (1.0, 0.05, 40), (1.0, 0.05, 100), (0.5, 0.2, 100), (0.0, 1.0, 40), (0.0, 1.0, 150), None)
"""Exponent, floor and results of a query; None: strata."""
Design = tuple[float, float, int] | None
SYSTEMS = {"proposer": 0, "newcomer": 2}


class World:
    """Grades of every result, and three systems' ranks of them."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        truth = random.normal(size=(QUERIES, RESULTS)) + 0.3 * random.normal(size=(QUERIES, 1))
        cuts = [np.quantile(truth, 1 - share) for share in (0.05, 0.025, 0.01)]
        self.gain = sum((truth > cut) * 1.0 for cut in cuts)
        noise = [random.normal(size=truth.shape) for _ in range(3)]
        self.score = [r * truth + np.sqrt(1 - r * r) * each for r, each in zip((0.8, 0.6, 0.7), noise, strict=True)]
        self.rank = [RESULTS - each.argsort(axis=1).argsort(axis=1) for each in self.score]

    def draw(self, design: Design, query: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The judged results of a query, and the chance of every one of its results."""
        if design is None:
            stratum = self.stratum(query)
            chance = np.empty(RESULTS)
            drawn = []
            for number, share in enumerate(SHARES):
                inside = np.flatnonzero(stratum == number)
                count = max(1, round(share * len(inside)))
                chance[inside] = count / len(inside)
                drawn.append(random.choice(inside, count, replace=False))
            return np.concatenate(drawn), chance
        exponent, floor, number = design
        if exponent == 0:
            chance = np.full(RESULTS, number / RESULTS)
        else:
            share = np.mean([rank_share(each[query], exponent)[0] for each in self.score[:2]], axis=0)
            chance = inclusion_probabilities((1 - floor) * share + floor / RESULTS, number)
        return systematic_sample(chance, random), chance

    def stratum(self, query: int) -> np.ndarray:
        """Of each result, by the better of its ranks in the two systems that propose."""
        best = np.minimum(self.rank[0][query], self.rank[1][query])
        return (best > 10) * 1 + (best > 50) * 1

    def listed(self, system: int, query: int, drawn: np.ndarray, chance: np.ndarray, strata: bool) -> SampledList:
        """The judged results of a query in a system's ranking."""
        gain, rank = self.gain[query][drawn], self.rank[system][query]
        pool = Strata(rank, self.stratum(query), self.stratum(query)[drawn]) if strata else None
        return SampledList(rank[drawn], gain, (gain >= 1) * 1.0, chance[drawn], RESULTS, pool)


def by_ir_measures(
    names: list[str], world: World, system: int, judged: dict[int, np.ndarray], pool: bool
) -> np.ndarray:
    """Measures over queries of ir-measures, what is not judged in the qrels as -1, or without `pool` nowhere."""
    qrels, run = {}, {}
    for query, drawn in judged.items():
        grades = dict.fromkeys(range(RESULTS), -1) if pool else {}
        grades |= {int(d): int(world.gain[query][d]) for d in drawn}
        qrels[str(query)] = {str(d): grade for d, grade in grades.items()}
        run[str(query)] = {str(d): float(-world.rank[system][query][d]) for d in grades}
    values = ir_measures.iter_calc([parsed_measure(name) for name in names], qrels, run)
    found: dict[str, list[float]] = {str(parsed_measure(name)): [] for name in names}
    for each in values:
        found[str(each.measure)].append(each.value)
    return np.array(list(found.values())).T


def rows(world: World, design: Design, samples: int, seed: int) -> Iterator[tuple[str, ...]]:
    """A row a system and measure."""
    even = design is not None and design[0] == 0
    names = [*(f"estimated {name}" for name in MEASURES), *(f"by strata {name}" for name in BY_STRATA if not design)]
    names += ["condensed AP", "condensed nDCG@10", *(["infAP"] if even else [])]
    every = {query: np.arange(RESULTS) for query in range(QUERIES)}
    for who, system in SYSTEMS.items():
        whole = dict(
            zip(MEASURES, by_ir_measures(list(MEASURES), world, system, every, False).mean(axis=0), strict=True)
        )
        goal = np.array([whole[name.split()[-1].replace("infAP", "AP")] for name in names])
        found, spread, judged_of_each = [], [], []
        for sample in range(samples):
            random = np.random.default_rng([seed, sample, design[2] if design else 1])
            queries = random.choice(QUERIES, CHOSEN, replace=False)
            drawn = {int(q): world.draw(design, q, random) for q in queries}
            judged = {q: each for q, (each, _) in drawn.items()}
            lists = [world.listed(system, q, *each, False) for q, each in drawn.items()]
            values = [[estimated(name, each, False).value for name in MEASURES] for each in lists]
            if design is None:
                pools = [world.listed(system, q, *each, True) for q, each in drawn.items()]
                by_strata = [[estimated(name, each, False).value for name in BY_STRATA] for each in pools]
                values = [[*one, *other] for one, other in zip(values, by_strata, strict=True)]
            table = np.c_[np.array(values), by_ir_measures(["AP", "nDCG@10"], world, system, judged, pool=False)]
            if even:
                table = np.c_[table, by_ir_measures(["infAP"], world, system, judged, pool=True)]
            cv = float(np.sqrt(np.nanmean([uncertainty("AP", each) ** 2 for each in lists])))
            spread.append(cv)
            judged_of_each.append(np.mean([len(each) for each in judged.values()]))
            known = np.isfinite(table).sum(axis=0)
            mean, error = np.nanmean(table, axis=0), np.nanstd(table, axis=0, ddof=1) / np.sqrt(known)
            reach = stats.t.ppf(0.975, known - 1) * error
            given = [_given(name, lists, cv) for name in names]
            found.append(np.c_[mean - goal, np.abs(mean - goal) <= reach, 2 * reach, given])
        table = np.array(found)
        for k, name in enumerate(names):
            bias, _, width, given = table[:, k].mean(axis=0)
            seldom = given < SELDOM
            held = table[:, k, 1].mean() if seldom else table[table[:, k, 3] > 0, k, 1].mean()
            shown = f"[{100 * held:.0f}%]" if seldom else f"{100 * held:.0f}%"
            figures = f"{goal[k]:.3f}", f"{bias:+.3f}", f"{100 * given:.0f}%", shown, f"{width:.3f}"
            which = "strata" if design is None else f"{design[0]:g}, {design[1]:g}"
            yield which, f"{np.mean(judged_of_each):.0f}", who, f"{np.mean(spread):.2f}", name, *figures


def _given(name: str, lists: list[SampledList], cv: float) -> bool:
    """True where `relstudy score` gives the interval."""
    kind, _, bare = name.rpartition(" ")
    if kind not in ("estimated", "by strata"):
        return True
    if parsed_measure(bare).NAME in ON_RELEVANT:
        return cv <= LARGEST
    return kind == "by strata" or unsure(bare, lists) is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=34)
    chosen = parser.parse_args()
    error = 100 * np.sqrt(0.05 * 0.95 / chosen.samples)
    print(f"{chosen.samples} samples a cell of {CHOSEN} of {QUERIES} queries of {RESULTS} results each.")
    print(f"A share of 95 % has a standard error of {error:.1f} points.\n")
    form = "{:<10} {:>5}  {:<8}  {:>4}  {:<28} {:>6} {:>7} {:>5} {:>6} {:>6}"
    print(form.format("exp, floor", "drawn", "system", "cv", "figure", "truth", "error", "given", "holds", "width"))
    world = World(chosen.seed)
    for design in DESIGNS:
        for row in rows(world, design, chosen.samples, chosen.seed):
            print(form.format(*row), flush=True)


if __name__ == "__main__":
    main()
