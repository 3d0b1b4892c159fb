"""Measures estimated from a sample of judged pairs against the same of the whole collection, beside infAP and condensed
lists.

    OMP_NUM_THREADS=1 python scripts/sampled_measures.py                300 samples a cell, several minutes
    OMP_NUM_THREADS=1 python scripts/sampled_measures.py --samples 30   a look

A collection of 100 queries of 500 results is known as a whole. Each sample judges some results of 60 of the queries,
drawn by the ranks of two systems (exponent 1, floor .05; or .5 and .2), or all with one chance (0, 1). Printed: the
truth over all 100 queries; the mean error; how often Student's interval over queries holds the truth; its width. "cv"
is how uncertain the number of relevant results of a query is; above .3 `relstudy score` gives no recall, AP and nDCG,
which stand here in brackets. A newcomer took no part in the draw.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import ir_measures
import numpy as np
from scipy import stats

from relstudy.analysis.indices.measures import parsed_measure
from relstudy.analysis.indices.sampled import LARGEST, ON_RELEVANT, SampledList, estimated, uncertainty
from relstudy.common.drawing import inclusion_probabilities, rank_share, systematic_sample

MEASURES = ("P@10", "RBP(p=0.8,rel=1)", "R@50", "AP", "nDCG@10")
QUERIES, RESULTS, CHOSEN = 100, 500, 60
DESIGNS = ((1.0, 0.05, 6), (1.0, 0.05, 40), (1.0, 0.05, 100), (0.5, 0.2, 100), (0.0, 1.0, 40), (0.0, 1.0, 150))
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

    def chances(self, exponent: float, floor: float, drawn: int) -> list[np.ndarray]:
        """Each query's inclusion probabilities."""
        if exponent == 0:
            return [np.full(RESULTS, drawn / RESULTS)] * QUERIES
        shares = [
            np.mean([rank_share(each[q], exponent)[0] for each in self.score[:2]], axis=0) for q in range(QUERIES)
        ]
        return [inclusion_probabilities((1 - floor) * each + floor / RESULTS, drawn) for each in shares]

    def listed(self, system: int, query: int, drawn: np.ndarray, chance: np.ndarray) -> SampledList:
        """The judged results of a query in a system's ranking."""
        gain = self.gain[query][drawn]
        return SampledList(self.rank[system][query][drawn], gain, (gain >= 1) * 1.0, chance[drawn], RESULTS)


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


def rows(world: World, design: tuple[float, float, int], samples: int, seed: int) -> Iterator[tuple[str, ...]]:
    """A row a system and measure."""
    exponent, floor, drawn = design
    chances = world.chances(exponent, floor, drawn)
    for who, system in SYSTEMS.items():
        every = {query: np.arange(RESULTS) for query in range(QUERIES)}
        truth = by_ir_measures(list(MEASURES), world, system, every, pool=False).mean(axis=0)
        names = [*(f"estimated {name}" for name in MEASURES), "condensed AP", "condensed nDCG@10"]
        names += ["infAP"] if exponent == 0 else []
        goal = np.r_[truth, truth[3], truth[4], truth[3]][: len(names)]
        found, spread = [], []
        for sample in range(samples):
            random = np.random.default_rng([seed, sample, drawn])
            queries = random.choice(QUERIES, CHOSEN, replace=False)
            judged = {int(q): systematic_sample(chances[q], random) for q in queries}
            lists = [world.listed(system, q, each, chances[q]) for q, each in judged.items()]
            values = np.array([[estimated(name, each, False).value for name in MEASURES] for each in lists])
            values = np.c_[values, by_ir_measures(["AP", "nDCG@10"], world, system, judged, pool=False)]
            if exponent == 0:
                values = np.c_[values, by_ir_measures(["infAP"], world, system, judged, pool=True)]
            spread.append(np.nanmean([uncertainty("AP", each) ** 2 for each in lists]))
            known = np.isfinite(values).sum(axis=0)
            mean, error = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1) / np.sqrt(known)
            reach = stats.t.ppf(0.975, known - 1) * error
            found.append(np.c_[mean - goal, np.abs(mean - goal) <= reach, 2 * reach])
        cv = float(np.sqrt(np.mean(spread)))
        for name, true, (bias, held, width) in zip(names, goal, np.mean(found, axis=0), strict=True):
            bare = name.removeprefix("estimated ")
            withheld = name != bare and parsed_measure(bare).NAME in ON_RELEVANT and cv > LARGEST
            shown = f"[{name}]" if withheld else name
            shares = f"{true:.3f}", f"{bias:+.3f}", f"{100 * held:.0f}%", f"{width:.3f}"
            yield f"{exponent:g}, {floor:g}", str(drawn), who, f"{cv:.2f}", shown, *shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=34)
    chosen = parser.parse_args()
    error = 100 * np.sqrt(0.05 * 0.95 / chosen.samples)
    print(f"{chosen.samples} samples a cell of {CHOSEN} of {QUERIES} queries of {RESULTS} results each.")
    print(f"A share of 95 % has a standard error of {error:.1f} points.\n")
    form = "{:<10} {:>5}  {:<8}  {:>4}  {:<28} {:>6} {:>7} {:>5} {:>6}"
    print(form.format("exp, floor", "drawn", "system", "cv", "figure", "truth", "error", "holds", "width"))
    world = World(chosen.seed)
    for design in DESIGNS:
        for row in rows(world, design, chosen.samples, chosen.seed):
            print(form.format(*row), flush=True)


if __name__ == "__main__":
    main()
