"""Measures estimated from a sample of judged pairs against the same of the whole collection, beside infAP and condensed
lists.

    OMP_NUM_THREADS=1 python evidence/sampled_measures.py designs                300 samples a cell, several minutes
    OMP_NUM_THREADS=1 python evidence/sampled_measures.py designs --samples 30   a look
    OMP_NUM_THREADS=1 python evidence/sampled_measures.py pools                  systems that took no part in a pool

A collection of 100 queries of 500 results is known as a whole. Each sample judges some results of 60 of the queries,
drawn by the ranks of two systems (exponent 1, floor .05; or .5 and .2), or all with one chance (0, 1), or by strata:
all that one of the two ranks in its first 10, 30 % of what one ranks in its first 50, 5 % of the rest. There "by
strata" is as infAP and infNDCG have it, "estimated" by chances alone (statAP). A newcomer took no part in the draw.

Of pools: what the two rank in their first 10 or 50 is a pool, of which some are drawn by their ranks, and nothing else
has a chance ("pool"); or it is not known which pool that was ("unknown", as of prels); or all that one ranks in its
first 10 and half of what one ranks in its first 50 ("pool strata"). "half, 15%" are strata of everything as above, with
half and 15 % in place of 30 % and 5 %. The truth is then that of the pool with the first of the system itself added, as
if it had taken part. A system akin to one that proposed ranks nearly as that does.

Printed: the truth over all 100 queries; of pools the share of its first 10 of which nothing judged speaks (of unknown
ones, seems to speak); the mean error; in how many samples `relstudy score` gives an interval, which it does not where
few results stand for most ("given"); how often Student's interval over queries holds the truth where it is given, and
its width. In brackets: of all samples, where it is hardly ever given. "cv" is how uncertain the number of relevant
results of a query is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import ir_measures
import numpy as np
from scipy import stats

from relstudy.analysis.indices.measures import parsed_measure
from relstudy.analysis.indices.sample_estimators import ON_RELEVANT, SampledList, Strata, estimated, uncertainty
from relstudy.analysis.scoring.sampled_measures import covered, uncounted, uncovered, unsure
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

MEASURES = ("P@10", "RBP(p=0.8,rel=1)", "R@50", "AP", "nDCG@10")
QUERIES, RESULTS, CHOSEN = 100, 500, 60
BY_STRATA = ("P@10", "AP", "nDCG@10")
SELDOM = 0.1
"""Share of samples below which an interval is hardly ever given."""
SHARES = (1.0, 0.3, 0.05)
"""Of each stratum."""


@dataclass(frozen=True)
class Design:
    """How results of a query are drawn.

    Parameters
    ----------
    name : as it is printed
    exponent, floor, number : of draws by rank
    shares : of each stratum, if they are drawn by strata
    pool : how many first results of both systems there are to be drawn from; None: all results
    known : whether the pool is known
    """

    name: str
    exponent: float = 1.0
    floor: float = 0.05
    number: int = 1
    shares: tuple[float, ...] = ()
    pool: int | None = None
    known: bool = True


DESIGNS = (
    *(Design(f"{e:g}, {f:g}", e, f, n) for e, f, n in (
        (1, 0.05, 6), (1, 0.05, 40), (1, 0.05, 100), (0.5, 0.2, 100), (0, 1, 40), (0, 1, 150),
    )),
    Design("strata", shares=SHARES),
)  # fmt: skip
POOLS = (
    Design("half, 15%", shares=(1.0, 0.5, 0.15)),
    Design("pool 10", 0.5, 0.2, 10, pool=10),
    Design("pool 50", 0.5, 0.2, 40, pool=50),
    Design("unknown 10", 0.5, 0.2, 10, pool=10, known=False),
    Design("unknown 50", 0.5, 0.2, 40, pool=50, known=False),
    Design("unknown all", 0.5, 0.2, 100, known=False),
    Design("pool strata", shares=(1.0, 0.5), pool=50),
)
SYSTEMS = {"proposer": 0, "newcomer": 2}
AKIN = {"akin": 3}


class World:
    """Grades of every result, and four systems' ranks of them."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        truth = random.normal(size=(QUERIES, RESULTS)) + 0.3 * random.normal(size=(QUERIES, 1))
        cuts = [np.quantile(truth, 1 - share) for share in (0.05, 0.025, 0.01)]
        self.gain = sum((truth > cut) * 1.0 for cut in cuts)
        noise = [random.normal(size=truth.shape) for _ in range(3)]
        self.score = [r * truth + np.sqrt(1 - r * r) * each for r, each in zip((0.8, 0.6, 0.7), noise, strict=True)]
        own = self.score[0] - 0.8 * truth
        self.score.append(0.8 * truth + 0.98 * own + np.sqrt(1 - 0.98**2) * 0.6 * random.normal(size=truth.shape))
        self.rank = [RESULTS - each.argsort(axis=1).argsort(axis=1) for each in self.score]

    def draw(self, design: Design, query: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The judged results of a query, and the chance of every one of its results."""
        inside = self.pooled(design, query)
        if design.shares:
            stratum = self.stratum(query)
            chance = np.zeros(RESULTS)
            drawn = []
            for number, share in enumerate(design.shares):
                those = np.flatnonzero(inside & (stratum == number))
                count = max(1, round(share * len(those)))
                chance[those] = count / len(those)
                drawn.append(random.choice(those, count, replace=False))
            return np.concatenate(drawn), chance
        if design.exponent == 0:
            chance = np.full(RESULTS, design.number / RESULTS)
        else:
            share = np.mean([rank_share(each[query], design.exponent)[0] for each in self.score[:2]], axis=0) * inside
            share = (1 - design.floor) * share / share.sum() + design.floor * inside / inside.sum()
            chance = np.zeros(RESULTS)
            chance[inside] = inclusion_probabilities(share[inside], min(design.number, inside.sum()))
        return systematic_sample(chance, random), chance

    def pooled(self, design: Design, query: int) -> np.ndarray:
        """The results of a query that have a chance, bool [results]."""
        best = np.minimum(self.rank[0][query], self.rank[1][query])
        return np.ones(RESULTS, dtype=bool) if design.pool is None else best <= design.pool

    def stratum(self, query: int) -> np.ndarray:
        """Of each result, by the better of its ranks in the two systems that propose."""
        best = np.minimum(self.rank[0][query], self.rank[1][query])
        return (best > 10) * 1 + (best > 50) * 1

    def listed(self, design: Design, system: int, query: int, drawn: np.ndarray, chance: np.ndarray) -> SampledList:
        """The judged results of a query in a system's ranking."""
        gain, rank = self.gain[query][drawn], self.rank[system][query]
        beyond = np.sort(rank[~self.pooled(design, query)]) if design.known else None
        return SampledList(rank[drawn], gain, (gain >= 1) * 1.0, chance[drawn], RESULTS, None, beyond)

    def by_strata(self, design: Design, system: int, query: int, drawn: np.ndarray, judged: SampledList) -> SampledList:
        """The same with the pool, whose strata were drawn from."""
        inside, stratum = self.pooled(design, query), self.stratum(query)
        pool = Strata(self.rank[system][query][inside], stratum[inside], stratum[drawn])
        return replace(judged, strata=pool, beyond=np.sort(self.rank[system][query][~inside]))

    def joined(self, design: Design, system: int) -> list[np.ndarray]:
        """The results of each query that would have a chance had the system taken part."""
        deep = RESULTS if design.pool is None else design.pool
        return [
            np.flatnonzero(self.pooled(design, query) | (self.rank[system][query] <= deep)) for query in range(QUERIES)
        ]


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
    alone = design in POOLS
    even = design.exponent == 0
    names = [*(f"estimated {name}" for name in MEASURES), *(f"by strata {name}" for name in BY_STRATA if design.shares)]
    names += [] if alone else ["condensed AP", "condensed nDCG@10", *(["infAP"] if even else [])]
    for who, system in (SYSTEMS | (AKIN if alone else {})).items():
        every = dict(enumerate(world.joined(design, system)))
        whole = dict(zip(MEASURES, of_these(world, system, every), strict=True))
        goal = np.array([whole[name.split()[-1].replace("infAP", "AP")] for name in names])
        found, spread, judged_of_each, blind = [], [], [], []
        for sample in range(samples):
            random = np.random.default_rng([seed, sample, design.number])
            queries = random.choice(QUERIES, CHOSEN, replace=False)
            drawn = {int(q): world.draw(design, q, random) for q in queries}
            judged = {q: each for q, (each, _) in drawn.items()}
            lists = [world.listed(design, system, q, *each) for q, each in drawn.items()]
            values = [[estimated(name, each) for name in MEASURES] for each in lists]
            pools = []
            if design.shares:
                pools = [
                    world.by_strata(design, system, q, each, one)
                    for (q, each), one in zip(judged.items(), lists, strict=True)
                ]
                by_strata = [[estimated(name, each) for name in BY_STRATA] for each in pools]
                values = [[*one, *other] for one, other in zip(values, by_strata, strict=True)]
            table = np.array(values)
            if not alone:
                table = np.c_[table, by_ir_measures(["AP", "nDCG@10"], world, system, judged, pool=False)]
            if even:
                table = np.c_[table, by_ir_measures(["infAP"], world, system, judged, pool=True)]
            cv = float(np.sqrt(np.nanmean([uncertainty("AP", each) ** 2 for each in lists])))
            spread.append(cv)
            judged_of_each.append(np.mean([len(each) for each in judged.values()]))
            of_each = [covered(pools if "strata" in name else lists, 10) for name in names]
            blind.append([0.0 if each is None else 1 - each.mean() for each in of_each])
            known = np.isfinite(table).sum(axis=0)
            mean, error = np.nanmean(table, axis=0), np.nanstd(table, axis=0, ddof=1) / np.sqrt(known)
            reach = stats.t.ppf(0.975, known - 1) * error
            given = [_given(name, pools if "strata" in name else lists, table[:, k]) for k, name in enumerate(names)]
            found.append(np.c_[mean - goal, np.abs(mean - goal) <= reach, 2 * reach, given])
        table = np.array(found)
        for k, name in enumerate(names):
            bias, _, width, given = table[:, k].mean(axis=0)
            seldom = given < SELDOM
            held = table[:, k, 1].mean() if seldom else table[table[:, k, 3] > 0, k, 1].mean()
            shown = f"[{100 * held:.0f}%]" if seldom else f"{100 * held:.0f}%"
            unspoken = [f"{100 * np.mean(blind, axis=0)[k]:.0f}%"] if alone else []
            figures = f"{goal[k]:.3f}", *unspoken, f"{bias:+.3f}", f"{100 * given:.0f}%", shown, f"{width:.3f}"
            yield design.name, f"{np.mean(judged_of_each):.0f}", who, f"{np.mean(spread):.2f}", name, *figures


def of_these(world: World, system: int, inside: dict[int, np.ndarray]) -> np.ndarray:
    """The measures over queries with only some results judged, and the others poor where they stand."""
    qrels = {str(q): {str(d): int(world.gain[q][d]) for d in those} for q, those in inside.items()}
    run = {str(q): {str(d): float(-world.rank[system][q][d]) for d in range(RESULTS)} for q in inside}
    parsed = [parsed_measure(name) for name in MEASURES]
    found = ir_measures.calc_aggregate(parsed, qrels, run)
    return np.array([found[each] for each in parsed])


def _given(name: str, lists: list[SampledList], values: np.ndarray) -> bool:
    """True where `relstudy score` gives the interval."""
    kind, _, bare = name.rpartition(" ")
    if kind not in ("estimated", "by strata"):
        return True
    counted = parsed_measure(bare).NAME in ON_RELEVANT and uncounted(bare, lists) is not None
    return not counted and unsure(bare, lists) is None and uncovered(bare, lists, values, best=3.0) is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("designs", "pools"))
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=34)
    chosen = parser.parse_args()
    error = 100 * np.sqrt(0.05 * 0.95 / chosen.samples)
    print(f"{chosen.samples} samples a cell of {CHOSEN} of {QUERIES} queries of {RESULTS} results each.")
    print(f"A share of 95 % has a standard error of {error:.1f} points.\n")
    pools = chosen.table == "pools"
    form = ("{:<11}" if pools else "{:<10}") + " {:>5}  {:<8}  {:>4}  {:<28} {:>6} {:>7} {:>5} {:>6} {:>6}"
    form += " {:>6}" if pools else ""
    unspoken = ["unseen"] if pools else []
    first = "design" if pools else "exp, floor"
    print(form.format(first, "drawn", "system", "cv", "figure", "truth", *unspoken, "error", "given", "holds", "width"))
    world = World(chosen.seed)
    for design in POOLS if pools else DESIGNS:
        for row in rows(world, design, chosen.samples, chosen.seed):
            print(form.format(*row), flush=True)


if __name__ == "__main__":
    main()
