"""Two systems compared: size of the tests whoever proposed the pairs, and how often a worse newcomer passes.

    python evidence/coverage.py comparison [--studies 300] [--queries 60] [--items 2000]

A collection of --items; every study draws new queries (normal qualities of all items, and a query's own level) and
20 results each, as `relstudy sample` does: by the given exponents and floors. Systems follow quality with the stated
correlation within a query. Three designs: both systems proposed the pairs, only the first (old) one, or two others.
Judgments are quality plus noise of a third of its standard deviation, relevant above the 97th percentile. For each
index: how often two equally good systems are told apart at .05 (correlation over the judged pairs alone, and of the
whole collection), and the share of null intervals without 0, which is the same. Where the design's reach is too short,
relstudy withholds the tests of average precision and normalised rank; their sizes then stand in brackets. The last
columns: how often a newcomer of correlation 0.55 comes out level with or above an old system of 0.60, when only the old
one proposed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import LeftOut, whole_queries
from relstudy.analysis.resampling.spread import PAIRED
from relstudy.analysis.scoring.comparison import p_value
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.design_reach import beyond_reach, reach_of
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

RESULTS, REPLICATES, SEED, RELEVANT = 20, 200, 2011, 0.03
SHAPES = ((1.0, 0.05), (0.5, 0.2))
DESIGNS = {"both proposed": (0, 1), "the first proposed": (0,), "two others proposed": (2, 3)}
LIMITED = ("average_precision", "normalised_rank")
INDICES = ("judged pearson", "pearson", "average_precision", "normalised_rank")


def study(
    skills: tuple[float, float],
    proposers: Sequence[int],
    queries: int,
    items: int,
    random: np.random.Generator,
    shape: tuple[float, float] = SHAPES[0],
) -> tuple[dict[str, BootstrapStatistic], float]:
    """First minus second in every index, from one study, and the design's reach.

    Parameters
    ----------
    skills : the two systems' correlations with quality, within a query
    proposers : the systems that proposed, by number
    shape : exponent and floor
    """
    exponent, floor = shape
    rarest = []
    columns: list[tuple[np.ndarray, ...]] = []
    skill = np.array([*skills, 0.6, 0.6])[:, None]
    for _ in range(queries):
        quality = random.normal(size=items)
        level = 0.4 * random.normal()
        score = skill * quality + np.sqrt(1 - skill**2) * random.normal(size=(4, items))
        share = np.mean([rank_share(score[system], exponent)[0] for system in proposers], axis=0)
        probability = inclusion_probabilities((1 - floor) * share + floor / items, RESULTS)
        rarest.append(probability.min())
        drawn = systematic_sample(probability, random)
        judgment = quality[drawn] + level + random.normal(size=len(drawn)) / 3
        columns.append((judgment, probability[drawn], score[0, drawn], score[1, drawn]))
    query = np.repeat(np.arange(queries), [len(column[0]) for column in columns])
    judgment, probability, first, second = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    draws = whole_queries(query, queries, REPLICATES, int(random.integers(2**31)))
    weight, left_out = 1 / probability, LeftOut.of(query)
    differences = {}
    for name, weights in (("judged pearson", None), ("pearson", weight)):
        prepared = CorrelationBootstrap(draws.row, judgment, draws.times, weights, left_out=left_out)
        a, b = (prepared.correlate(score, ("pearson",))["pearson"] for score in (first, second))
        differences[name] = a - b
    relevant = judgment > 1.88 * np.sqrt(1 + 0.4**2 + 1 / 9)
    retrieval = Retrieval(draws.row, relevant, draws.times, queries, left_out)
    left, right = (retrieval.indices(score, weight, np.ones(len(weight))) for score in (first, second))
    differences |= {index: left[index] - right[index] for index in LIMITED}
    return differences, reach_of(queries, RELEVANT * items, float(np.mean(rarest)))


def table(shape: tuple[float, float], studies: int, queries: int, items: int) -> list[list[str]]:
    """A row a design."""
    rows = []
    for number, (name, proposers) in enumerate(DESIGNS.items()):
        rejected = dict.fromkeys(INDICES, 0)
        mean = dict.fromkeys(INDICES, 0.0)
        passes = dict.fromkeys(INDICES[:2], 0)
        reach = 0.0
        for one in progress(range(studies), name, studies):
            random = np.random.default_rng([SEED, number, one])
            null, reach = study((0.6, 0.6), proposers, queries, items, random, shape)
            for index, difference in null.items():
                rejected[index] += p_value(difference, difference.spread(PAIRED, queries)) < 0.05
                mean[index] += difference.value / studies
            if proposers == (0,):
                random = np.random.default_rng([SEED, 9, one])
                worse, _ = study((0.6, 0.55), proposers, queries, items, random, shape)
                for index in passes:
                    passes[index] += worse[index].value <= 0
        cells = [f"{shape[0]:g}", f"{shape[1]:g}", f"{reach:.0f}", name]
        for index in INDICES:
            size = f"{rejected[index] / studies:.1%}"
            withheld = index in LIMITED and beyond_reach(reach) is not None
            cells += [f"{mean[index]:+.3f}", f"({size})" if withheld else size]
        cells += [f"{passes[index] / studies:.0%}" if proposers == (0,) else "" for index in passes]
        rows.append(cells)
    return rows


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py comparison", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--items", type=int, default=2000)
    given = parser.parse_args(argv)
    print(
        f"{given.studies} studies of {given.queries} queries and {RESULTS} of {given.items:,} results, seed {SEED}. "
        "Mean difference of two equal systems,\nfirst minus second, and how often it is called significant at .05; "
        "last, how often a worse newcomer passes by\njudged and by the collection's correlation. In brackets: not "
        "tested, since the design's reach is below 20.\n"
    )
    rows = [row for shape in SHAPES for row in table(shape, given.studies, given.queries, given.items)]
    header = [
        "exponent",
        "floor",
        "reach",
        "",
        *(text for index in INDICES for text in (index.replace("_", " "), "size")),
    ]
    print_table(rows, [*header, "passes, judged", "passes"])
