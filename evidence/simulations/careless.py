"""Raters who do not look: bias, coverage and width with their ratings kept, weighed and dropped.

    python evidence/coverage.py careless [--studies 60] [--shares 0 0.1 0.2 0.4] [--ratings 1 2] [--seed 3108]
    python evidence/coverage.py careless --known 400     what the draw alone does, were the share of every pair known

A collection of 200 queries of 60 to 400 results, a good and a weak system (correlations 0.6 and 0.3 with what people
value), 8 % of honest ratings above the cut. A study draws 60 queries and 16 results each (exponent 0.5, floor 0.2); 12
raters (leniency 0.4, spread 0.2, noise 0.5 points) rate 40 pairs all of them, and every other pair has so many ratings;
5 % are undecided. So many of the raters do not look: one gives values at random, the next the same always, the next
the ends in turn, the next anything in a fifth of the time. The way is that of `relstudy calibrate --careless HOW` and
`relstudy score`, 200 replicates.

True is what endlessly many honest raters say of the whole collection, with judgments of as many ratings as honest ones
are there on average. Bias is in the interval's own standard errors, mean of both systems' and of their difference's;
coverage of 95 % intervals is over the same three; width is over that of the same study without careless raters, kept.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.analysis.indices.registry import index_of
from relstudy.analysis.planning.route import ScoredStudy
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People, World
from relstudy.analysis.resampling.spread import PAIRED
from relstudy.analysis.scoring.comparison import difference_estimate
from relstudy.calibration.options import CalibrationOptions
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import systematic_sample

SEED, QUERIES, COLLECTION = 3108, 60, 200
SHARES, HOW = (0.0, 0.1, 0.2, 0.4), ("keep", "weigh", "drop")
INDICES = ("pearson", "average_precision", "normalised_rank")
SHAPE = NormalShape((0.6, 0.3), items=(60, 400))
PEOPLE = People(leniency=0.4, stretch=0.2, noise=0.5, undecided=0.05, relevant=0.08)


def world_of(share: float, ratings: int, people: People = PEOPLE) -> World:
    """The collection, of which so large a share of the raters does not look."""
    made = SHAPE.collection(COLLECTION, np.random.default_rng(SEED))
    return World(made, Drawing(16, 0.5, 0.2), replace(people, careless=share, ratings_each=ratings))


def honest_ratings(share: float, ratings: int) -> float:
    """How many honest ratings a pair has that has any, harmonic mean."""
    number = np.arange(1, ratings + 1)
    given = stats.binom.pmf(number, ratings, (1 - share) * (1 - PEOPLE.undecided))
    return float(given.sum() / (given / number).sum())


def figures_of(scored: ScoredStudy, true: dict[tuple[str, str], float]) -> dict[str, list[tuple[float, bool, float]]]:
    """By index, of each system and of the difference: error in standard errors, whether it is covered, width."""
    first, second = (each.name for each in scored.candidates)
    found = {}
    for name in INDICES:
        figures = scored.figures(index_of(name))
        apart = (figures[0] - figures[1]).over_raters()
        difference = difference_estimate(apart, apart.spread(PAIRED, QUERIES), 0.95)
        estimates = [*(scored.context.estimate(each) for each in figures), difference]
        truths = [true[first, name], true[second, name], true[first, name] - true[second, name]]
        rows = []
        for each, truth in zip(estimates, truths, strict=True):
            assert each.value is not None and each.low is not None and each.high is not None
            width = each.high - each.low
            rows.append(((each.value - truth) / (width / 3.92), each.low <= truth <= each.high, width))
        found[name] = rows
    return found


def drawn_alone(studies: int, seed: int) -> np.ndarray:
    """Bias of the normalised rank of the good and the weak system in its own standard deviations, were it known what
    share of honest raters calls each drawn pair relevant, float [systems]."""
    world = world_of(0.0, 1)
    share, true, start = world.moments[0], world.truth(), world.collection.start
    errors = []
    for number in progress(range(studies), "draws", studies):
        random = np.random.default_rng([seed, 0, number])
        chosen = random.choice(COLLECTION, QUERIES, replace=False)
        parts = [slice(start[each], start[each + 1]) for each in chosen]
        row = np.concatenate([each.start + systematic_sample(world.probability[each], random) for each in parts])
        drawn = Retrieval(np.zeros(len(row), dtype=np.int64), share[row], np.ones((1, 1)), guard=False)
        scores, weight = world.collection.scores, 1 / world.probability[row]
        errors.append(
            [
                drawn.indices(each[row], weight, np.ones(len(row)))["normalised_rank"].value
                - true[name, "normalised_rank"]
                for name, each in scores.items()
            ]
        )
    bias: np.ndarray = np.mean(errors, axis=0) / np.std(errors, axis=0)
    return bias


def cell(share: float, ratings: int, ways: Sequence[str], studies: int, seed: int) -> dict[str, dict[str, np.ndarray]]:
    """By way and index: [studies, figure, (bias, covered, width)]; and under "named" how many raters were, rightly and
    wrongly, and how many there were."""
    world = world_of(share, ratings)
    true = replace(world, people=replace(world.people, careless=0.0)).truth(honest_ratings(share, ratings))
    rows: dict[str, dict[str, list[object]]] = {how: defaultdict(list) for how in (*ways, "named")}
    for number in progress(range(studies), f"{share:.0%}, {ratings} each", studies):
        study = world.draw(QUERIES, np.random.default_rng([seed, ratings, number]))
        for how in ways:
            scored = ScoredStudy.of(study, number, CalibrationOptions(careless=how))
            for name, figures in figures_of(scored, true).items():
                rows[how][name].append(figures)
            if how == "weigh":
                care = scored.calibration.raters.set_index("rater_id")
                named = set() if "care" not in care else set(care.index[care["care"] < 0.5])
                right = len(named & set(study.careless))
                rows["named"]["raters"].append((right, len(named) - right, len(study.careless)))
    return {how: {name: np.array(each, dtype=float) for name, each in found.items()} for how, found in rows.items()}


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py careless", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES))
    parser.add_argument("--ratings", type=int, nargs="+", default=[1, 2], help="ratings per pair")
    parser.add_argument("--ways", nargs="+", choices=HOW, default=list(HOW))
    parser.add_argument("--seed", type=int, default=SEED, help="of the studies; the collection stays")
    parser.add_argument("--known", type=int, help="so many draws, were the share of every pair known")
    given = parser.parse_args(argv)
    if given.known:
        good, weak = drawn_alone(given.known, given.seed)
        print(
            f"{given.known} draws, seed {given.seed}: bias of the normalised rank {good:+.2f} (good) and {weak:+.2f} "
            f"(weak) of its standard deviation, standard error {given.known**-0.5:.2f}."
        )
        return
    rows = []
    for ratings in given.ratings:
        honest: dict[str, np.ndarray] = {}
        for share in given.shares:
            found = cell(share, ratings, given.ways, given.studies, given.seed)
            honest = honest or found[given.ways[0]]
            right, wrong, there = found["named"]["raters"].mean(axis=0) if "weigh" in given.ways else (0, 0, 0)
            for how in given.ways:
                cells = [str(ratings), f"{share:.0%}", how]
                for name in INDICES:
                    bias, held, width = np.moveaxis(found[how][name], 2, 0)
                    wide = width.mean() / honest[name][:, :, 2].mean()
                    good, weak, _ = bias.mean(axis=0)
                    cells += [f"{good:+.2f}", f"{weak:+.2f}", f"{held.mean():.0%}", f"{wide:.2f}"]
                known = [f"{right:.2f} of {there:.2f}", f"{wrong:.2f}"] if how == "weigh" else ["", ""]
                rows.append([*cells, *known])
    error = np.sqrt(0.95 * 0.05 / given.studies)
    print(
        f"{given.studies} studies a cell, seed {given.seed}. Standard error of a bias about {given.studies**-0.5:.2f}; "
        f"of a coverage {error / np.sqrt(3):.1%} to {error:.1%}, since the three figures of a study go together.\n"
    )
    names = [title for index in ("r", "AP", "rank") for title in (f"{index} good", "weak", "covered", "width")]
    print_table(rows, ["ratings", "careless", "", *names, "named rightly", "wrongly"])
