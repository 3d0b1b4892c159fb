"""Which population can a design estimate? Coverage by size of the collection, depth of the pool, queries and share.

    python evidence/coverage.py pool [--studies 300] [--items 320 2000 5000 16000] [--shape normal]

Two systems propose (their scores correlate .6 and .5 with what people value), a third (.6) is a newcomer. A study draws
queries and 20 results per query by the code of `relstudy sample --depth D`. Each pair gets one rating, of somebody
drawn for it alone: what people value plus noise of 0.4 of its standard deviation. A rating above the cut calls the pair
relevant; true is the share of people whose rating would be above it. Each cell shows the design's reach, as `relstudy
sample --good SHARE` says it before anyone rates, whether it allows figures over the whole pool, and how often 95 %
intervals cover the truth of the pool: normalised rank (NR), average precision (AP), the collection's correlation (r)
and pairwise accuracy within queries (SQ) of proposer and newcomer, and their difference. Queries come from 400, and
intervals speak of queries like them.

--shape uneven: queries differ in how much is relevant to them (sd .6), and the systems' noise has heavy tails
(Student's t with 4 degrees of freedom); the forecast still assumes the normal model.

With 300 studies per cell, a proportion of .95 has a standard error of .013; cells that the design does not allow get a
third of the studies. The last lines put the cells together by what the design said of them, and count the allowed
figures that lie outside 92 to 98 %.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import norm

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import LeftOut, whole_queries
from relstudy.analysis.resampling.spread import DIFFERENCE
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.design_reach import LEAST_REACH
from relstudy.common.sampling.probability_draws import systematic_sample
from relstudy.studyapp.sampling.forecast import forecast
from relstudy.studyapp.sampling.options import AssumptionOptions
from relstudy.studyapp.sampling.population import Eligible, ScoredItems, pool, whole_collection
from relstudy.studyapp.sampling.sampling_design import CandidateProbabilities, Round, probabilities_in

SEED = 414
QUERIES = 400
STRENGTH = (0.6, 0.5, 0.6)
REPLICATES = 300
INDICES = ("normalised_rank", "average_precision", "pearson", "same_query")
SHORT = ("NR", "AP", "r", "SQ")
NOISE = 0.4
SHARES = (0.05, 0.02, 0.005)
DEPTHS = {320: (20, 50, None), 2_000: (50, 200, None), 5_000: (100, 300, None), 16_000: (100, 300, 1_000)}


@dataclass(frozen=True, eq=False)
class QueryWorld:
    """One query: what people value, and each system's scores, over all items."""

    value: np.ndarray
    scores: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Cell:
    """A design over a world: each query's probabilities, and value and scores of its candidates.

    Parameters
    ----------
    cut : above which a rating calls a pair relevant
    seed : of the world and of its studies
    """

    seed: int
    cut: float
    chances: list[CandidateProbabilities]
    value: list[np.ndarray]
    scores: list[list[np.ndarray]]

    def share(self, value: np.ndarray) -> np.ndarray:
        """The share of people who would rate above the cut."""
        return np.asarray(norm.sf((self.cut - value) / NOISE))

    def truth(self) -> list[dict[str, float]]:
        """Each system's indices over the whole population."""
        value = np.concatenate(self.value)
        row, once = np.zeros(len(value), dtype=np.int64), np.ones((1, 1))
        retrieval = Retrieval(row, self.share(value), once, 1)
        judged = CorrelationBootstrap(row, value, once, spread=np.full(len(value), NOISE**2))
        ones = np.ones(len(value))
        query = np.repeat(np.arange(QUERIES), [len(each) for each in self.value])
        figures = []
        for own in self.scores:
            score = np.concatenate(own)
            found = retrieval.indices(score, ones) | judged.correlate(score, ("pearson",))
            values = {name: each.value for name, each in found.items()}
            figures.append(values | {"same_query": SameQuery(query, QUERIES, score, self.share(value), ones).value})
        return figures


def spread_of_queries(uneven: bool) -> float:
    """Standard deviation between queries of how much is valued."""
    return 0.6 if uneven else 0.3


def draw_query(items: int, number: int, uneven: bool, seed: int) -> QueryWorld:
    """One query of the world, the same whatever else is drawn."""
    rng = np.random.default_rng([seed, items, number])
    value = rng.normal(size=items) + spread_of_queries(uneven) * rng.normal()
    scores = []
    for strength in STRENGTH:
        noise = rng.standard_t(4, size=items) / np.sqrt(2) if uneven else rng.normal(size=items)
        scores.append(strength * value + np.sqrt(1 - strength**2) * noise)
    return QueryWorld(value, scores)


def make_cells(
    items: int, share: float, depths: Sequence[int | None], this: Round, uneven: bool, seed: int
) -> list[Cell]:
    """One cell a depth, over the same world."""
    cut = float(norm.isf(share) * np.sqrt(1 + spread_of_queries(uneven) ** 2 + NOISE**2))
    cells = [Cell(seed, cut, [], [], [[] for _ in STRENGTH]) for _ in depths]
    eligible = Eligible(np.arange(items), -1)
    for number in range(QUERIES):
        query = draw_query(items, number, uneven, seed)
        proposed = {name: ScoredItems(query.scores[name]) for name in (0, 1)}
        for cell, depth in zip(cells, depths, strict=True):
            lists = list(proposed.values())
            population = (
                whole_collection(eligible, lists)
                if depth is None
                else pool(eligible, lists, depth, lambda positions: positions)
            )
            named = {f"s{name}": listed for name, listed in proposed.items()}
            chances = probabilities_in(this, population, named)
            keep = chances.candidates
            cell.chances.append(chances)
            cell.value.append(query.value[keep])
            for own, score in zip(cell.scores, query.scores, strict=True):
                own.append(score[keep])
    return cells


def figures_of_study(cell: Cell, queries: int, study: int) -> dict[str, BootstrapStatistic] | None:
    """One study: every figure that the table shows, or None where nobody calls any pair relevant."""
    rng = np.random.default_rng([cell.seed, queries, study])
    chosen = rng.choice(QUERIES, queries)
    drawn = [systematic_sample(cell.chances[query].probability, rng) for query in chosen]
    row = np.repeat(np.arange(queries), [len(each) for each in drawn])
    value = np.concatenate([cell.value[query][each] for query, each in zip(chosen, drawn, strict=True)])
    rating = value + NOISE * rng.normal(size=len(value))
    relevant = rating > cell.cut
    weight = np.concatenate(
        [1 / cell.chances[query].probability[each] for query, each in zip(chosen, drawn, strict=True)]
    )
    if not relevant.any():
        return None
    times = whole_queries(row, queries, REPLICATES, study).times
    retrieval = Retrieval(row, relevant, times, queries, LeftOut.of(row))
    judged = CorrelationBootstrap(row, rating, times, weight, queries=queries, left_out=LeftOut.of(row))
    figures = {}
    for name, system in (("proposer", 0), ("newcomer", 2)):
        score = np.concatenate([cell.scores[system][query][each] for query, each in zip(chosen, drawn, strict=True)])
        found = retrieval.indices(score, weight, np.ones(len(weight))) | judged.correlate(score, ("pearson",))
        found["same_query"] = SameQuery(row, queries, score, relevant, weight).statistic(times, row)
        figures.update({f"{name} {index}": found[index] for index in INDICES})
    for index in INDICES:
        figures[f"difference {index}"] = figures[f"proposer {index}"] - figures[f"newcomer {index}"]
    return figures


def covers(figure: BootstrapStatistic, truth: float, queries: int) -> bool:
    """Whether the figure's 95 % interval holds the truth; a difference takes one standard error and Student's t."""
    if figure.clusters is None:
        return abs(figure.value - truth) <= figure.spread(DIFFERENCE, queries).reach()
    estimate = figure.estimate()
    return estimate.low is not None and estimate.high is not None and estimate.low <= truth <= estimate.high


def run_cell(cell: Cell, queries: int, studies: int) -> tuple[dict[str, float], dict[str, float]]:
    """Coverage and bias of every figure; a study without a relevant pair covers nothing."""
    truth = cell.truth()
    true = {f"{name} {index}": truth[k][index] for name, k in (("proposer", 0), ("newcomer", 2)) for index in INDICES}
    for index in INDICES:
        true[f"difference {index}"] = true[f"proposer {index}"] - true[f"newcomer {index}"]
    hits: dict[str, list[bool]] = {name: [] for name in true}
    errors: dict[str, list[float]] = {name: [] for name in true}
    for study in range(studies):
        figures = figures_of_study(cell, queries, study)
        for name, value in true.items():
            hits[name].append(figures is not None and covers(figures[name], value, queries))
            if figures is not None:
                errors[name].append(figures[name].value - value)
    return (
        {name: float(np.mean(each)) for name, each in hits.items()},
        {name: float(np.mean(each)) if each else float("nan") for name, each in errors.items()},
    )


def design_of(exponent: float, floor: float, results: int, seed: int = SEED) -> Round:
    """The round that all cells draw."""
    return Round(1, {}, results, exponent, floor, 1, {"image": 1.0}, {"image": QUERIES}, seed)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py pool", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--items", type=int, nargs="+", default=list(DEPTHS))
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 60, 100])
    parser.add_argument("--exponent", type=float, default=1.0)
    parser.add_argument("--floor", type=float, default=0.05)
    parser.add_argument("--results", type=int, default=20)
    parser.add_argument(
        "--relevant", type=float, nargs="+", default=list(SHARES), help="shares of all ratings above the cut"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--cells", type=Path, help="add each cell to this file, and sum up all that it holds")
    parser.add_argument("--shape", choices=("normal", "uneven"), default="normal")
    given = parser.parse_args(argv)
    this = design_of(given.exponent, given.floor, given.results, given.seed)
    rows: list[list[str]] = []
    said: list[tuple[float, dict[str, float]]] = []
    worlds = [(items, share) for items in given.items for share in given.relevant]
    for number in progress(range(len(worlds)), "worlds", len(worlds)):
        items, share = worlds[number]
        depths = DEPTHS.get(items, (100, None))
        cells = make_cells(items, share, depths, this, given.shape == "uneven", given.seed)
        for depth, cell in zip(depths, cells, strict=True):
            held = sum(float(cell.share(each).sum()) for each in cell.value) / (QUERIES * items * share)
            for queries in given.queries:
                foretold = forecast(queries, cell.chances[:40], AssumptionOptions(share, 0.5))
                allowed = foretold.reach >= LEAST_REACH
                covered, bias = run_cell(cell, queries, given.studies if allowed else -(-given.studies // 3))
                said.append((foretold.reach, covered))
                rows.append(
                    [
                        *(f"{items}", f"{share:.1%}", "all" if depth is None else f"{depth}"),
                        *(f"{foretold.candidates:.0f}", f"{min(held, 1):.0%}", f"{queries}", f"{foretold.reach:.0f}"),
                        "yes" if allowed else "no",
                        *(f"{100 * value:.0f}" for value in covered.values()),
                        *(f"{bias[f'{name} {index}']:+.3f}" for name in ("proposer", "newcomer") for index in INDICES),
                    ]
                )
    columns = [f"{index} {who}" for who in ("P", "N", "P-N") for index in SHORT]
    print(
        f"{given.studies} studies per cell, exponent {given.exponent:g}, floor {given.floor:g}, "
        f"{given.results} results per query, {given.shape} queries. "
        "Coverage of 95 % intervals in %, then bias; P proposer, N newcomer.\n"
    )
    head = ["items", "relevant", "depth", "pool", "holds", "queries", "reach", "allowed", *columns]
    print_table(rows, [*head, *(f"bias {name}" for name in columns[: 2 * len(SHORT)])])
    if given.cells is not None:
        with given.cells.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in said)
        said = [tuple(json.loads(line)) for line in given.cells.read_text(encoding="utf-8").splitlines()]
    sum_up(said, columns)


def sum_up(said: Sequence[tuple[float, dict[str, float]]], columns: Sequence[str]) -> None:
    """Print mean coverage by reach, and how many figures of the allowed cells lie outside 92 to 98 %."""
    print("\nBy reach, mean coverage in % (cells):")
    for low, high in pairwise((0, 5, 10, 20, 50, 100, np.inf)):
        these = [covered for reach, covered in said if low <= reach < high]
        if these:
            means = [100 * np.mean([covered[name] for covered in these]) for name in these[0]]
            text = ", ".join(f"{name} {mean:.1f}" for name, mean in zip(columns, means, strict=True))
            print(f"  {low:g} to {high:g} ({len(these)}): {text}")
    figures = np.array([share for reach, covered in said if reach >= LEAST_REACH for share in covered.values()])
    if len(figures):
        print(
            f"{len(figures)} figures of allowed cells: {figures.min():.1%} to {figures.max():.1%}, "
            f"{np.mean(figures < 0.92):.1%} of them below 92 %, {np.mean(figures > 0.98):.1%} above 98 %."
        )
