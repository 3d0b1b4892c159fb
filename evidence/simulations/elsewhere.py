"""A world shaped unlike the others, with undecided pairs, through calibrate and score: coverage and bias.

    python evidence/coverage.py elsewhere [--studies 40] [--queries 40 100] [--ratings 1 3]

A collection of 400 queries of 800 to 3,200 results. Ratings from 1 to 5 are beta-binomial about a mean that depends on
the pair and on the rater's leniency; queries differ in how much is relevant, and to every twentieth nothing is. Three
systems' errors have Student's t with 4 degrees of freedom and a part in common: `fine` and `tied` propose pairs, `new`
does not; `tied` gives seven scores or so, `new` tenths. A study draws queries, and 16 results each by the code of
`relstudy sample` (exponent 0.5, floor 0.2), so that pairs weigh unequally; 12 new raters all rate 40 pairs,
and every other pair has so many ratings, at random. 15 % of answers are undecided: at random, or the more the more
people disagree about the pair (up to four in ten). `relstudy.calibrate` and `relstudy.score` do the rest, with their
defaults but for 200 replicates and scores that are not mapped.

True is the value in the whole collection for endlessly many raters on their true lines, with judgments of as many
ratings; precision and recall at a share of it, and where so many scores are tied that the output says so, at the score
where the study cut. Pairs that nobody decides have no part in a study's figures. At random they are no other than the
rest. Else intervals speak of what is decided: each pair of the collection counts as much as its chance to be decided.
The last columns say how far that is from the whole collection, and how often the mean judgment of the whole collection
lies between the extremes that calibrate prints.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special, stats

import relstudy as rs
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.calibration.rater_profiles import LEAST_CARE
from relstudy.calibration.undecided import undecided_pairs
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.design_reach import REACH, reach_of
from relstudy.studyapp.sampling.population import Eligible, ScoredItems, whole_collection
from relstudy.studyapp.sampling.query_draw import draw_together
from relstudy.studyapp.sampling.sampling_design import CandidateProbabilities, Round, probabilities_in

SEED, QUERIES, RESULTS, RATERS, BASE = 1223, 400, 16, 12, 40
SIZES, UNDECIDED, CUT, REPLICATES = (800, 3_200), 0.15, 3.5, 200
CONCENTRATION, LENIENCY, LENIENCIES = 5.0, 0.35, 100
SYSTEMS, PROPOSERS = ("fine", "tied", "new"), ("fine", "tied")
SHARES = (0.02, 0.1)
RATED = np.arange(1.0, 6.0)
INDICES = ("pearson", "average_precision", "normalised_rank", "same_query")
"""Those whose truth `Truth` works out."""
SHOWN = (*INDICES, *(f"{k} {s:g}" for s in SHARES for k in ("p", "r")))


def chances_of(middle: np.ndarray, lenient: np.ndarray | float) -> np.ndarray:
    """Probability of each rating, float [..., 5], for pairs of a middle (0 to 1) and a rater's leniency (logits)."""
    with np.errstate(divide="ignore"):
        mean = special.expit(special.logit(middle) + lenient)[..., None]
    a, b = CONCENTRATION * mean, CONCENTRATION * (1 - mean)
    with np.errstate(invalid="ignore"):
        chance = stats.betabinom.pmf(np.arange(5), 4, np.maximum(a, 1e-9), np.maximum(b, 1e-9))
    return np.asarray(chance)


def undecided_of(middle: np.ndarray, weight: np.ndarray, at_random: bool) -> np.ndarray:
    """Probability that an answer to each pair is undecided; 15 % of answers to pairs that weigh so."""
    if at_random:
        return np.full(middle.shape, UNDECIDED)
    disagree = 4 * middle * (1 - middle)
    return np.minimum(UNDECIDED * disagree / np.average(disagree, weights=weight), 0.9)


@dataclass(frozen=True, eq=False)
class World:
    """The collection, one row a pair: its query, middle and scores, and each query's probabilities."""

    query: np.ndarray
    middle: np.ndarray
    score: dict[str, np.ndarray]
    chances: list[CandidateProbabilities]
    at_random: bool

    @cached_property
    def start(self) -> np.ndarray:
        return np.searchsorted(self.query, np.arange(QUERIES + 1))

    @cached_property
    def probability(self) -> np.ndarray:
        return np.concatenate([each.probability for each in self.chances])

    @cached_property
    def undecided(self) -> np.ndarray:
        return undecided_of(self.middle, self.probability, self.at_random)

    @cached_property
    def share_and_moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each pair: share of raters above the cut, mean and variance of a calibrated rating, raters on true lines.

        A rater's true line takes out how far the rater's mean over what is rated and decided lies from all raters'.
        """
        lenient = LENIENCY * stats.norm.ppf((np.arange(LENIENCIES) + 0.5) / LENIENCIES)
        grid = np.r_[0.0, special.expit(np.linspace(-7, 7, 200)), 1.0]
        counts = np.histogram(self.middle, np.r_[grid, 2.0], weights=self.probability * (1 - self.undecided))[0]
        chance = np.stack([chances_of(grid, each) for each in lenient])  # raters, grid, ratings
        means = (chance @ RATED) @ counts / counts.sum()
        on_line = RATED - (means - means.mean())[:, None]
        of_grid = [
            np.mean((chance * values[:, None]).sum(axis=2), axis=0)
            for values in ((on_line > CUT) * 1.0, on_line, on_line**2)
        ]
        share, mean, square = (np.interp(self.middle, grid, each) for each in of_grid)
        return share, mean, square - mean**2

    def truth(self, ratings: int, decided: bool) -> Truth:
        """What intervals of studies with so many ratings a pair hold; of what is decided, or of all pairs."""
        share, mean, noise = self.share_and_moments
        number = np.arange(1, ratings + 1)[:, None]
        given = stats.binom.pmf(number, ratings, 1 - self.undecided)
        known = given.sum(axis=0)
        noise = noise * (given / number).sum(axis=0) / known
        return Truth(self, known if decided else np.ones(len(mean)), share, mean, noise)


@dataclass(frozen=True, eq=False)
class Truth:
    """Figures of the whole collection, in which pairs weigh so."""

    world: World
    weight: np.ndarray
    share: np.ndarray
    mean: np.ndarray
    noise: np.ndarray

    @cached_property
    def judgment(self) -> float:
        return float(np.average(self.mean, weights=self.weight))

    @cached_property
    def retrieval(self) -> Retrieval:
        return Retrieval(np.zeros(len(self.share), dtype=np.int64), self.share, np.ones((1, 1)), guard=False)

    @cached_property
    def figures(self) -> dict[tuple[str, str], float]:
        found = {}
        for name in SYSTEMS:
            score, w = self.world.score[name], self.weight
            indices = self.retrieval.indices(score, w)
            found.update({(name, each): indices[each].value for each in ("average_precision", "normalised_rank")})
            found[name, "same_query"] = SameQuery(self.world.query, QUERIES, score, self.share, w).value
            x, y = score - np.average(score, weights=w), self.mean - self.judgment
            spread = np.average(x * x, weights=w) * np.average(y * y + self.noise, weights=w)
            found[name, "pearson"] = float(np.average(x * y, weights=w) / np.sqrt(spread))
            points = self.retrieval.operating_points(score, w, SHARES)
            for share, precision, recall in zip(SHARES, points.precision, points.recall, strict=True):
                found[name, f"p {share:g}"], found[name, f"r {share:g}"] = precision.value, recall.value
        return found

    def at(self, system: str, threshold: float) -> tuple[float, float]:
        """Precision and recall where all pairs with at least this score are retrieved."""
        weight = self.weight * (self.world.score[system] >= threshold - 1e-9)
        hits = float(weight @ self.share)
        return hits / float(weight.sum()), hits / float(self.weight @ self.share)


def make_world(at_random: bool, sizes: tuple[int, int] = SIZES, seed: int = SEED) -> World:
    """The collection and the design."""
    random = np.random.default_rng(seed)
    this = Round(1, {}, RESULTS, 0.5, 0.2, 1, {"image": 1.0}, {"image": QUERIES}, seed)
    middles, scores, chances = [], {name: [] for name in SYSTEMS}, []
    number = np.linspace(*sizes, QUERIES).astype(int)[random.permutation(QUERIES)]
    for query in range(QUERIES):
        value = random.normal(size=number[query])
        common, *own = random.standard_t(4, size=(4, number[query])) / np.sqrt(2)
        middle = special.expit(1.25 * value - 2.5 + 0.6 * random.normal())
        middles.append(middle if query % 20 else np.zeros(number[query]))
        made = [0.6 * value + 0.8 * (0.6 * common + 0.8 * each) for each in own]
        made[1] = np.clip(np.round(made[1] / 0.5) * 0.5, 0, 3)
        made[2] = np.round(0.8 * made[2] + 0.6 * random.standard_t(4, size=number[query]) / np.sqrt(2), 1)
        for name, score in zip(SYSTEMS, made, strict=True):
            scores[name].append(score)
        listed = {name: ScoredItems(scores[name][-1]) for name in PROPOSERS}
        population = whole_collection(Eligible(np.arange(number[query]), -1), list(listed.values()))
        chances.append(probabilities_in(this, population, listed))
    score = {name: np.concatenate(each) for name, each in scores.items()}
    return World(np.repeat(np.arange(QUERIES), number), np.concatenate(middles), score, chances, at_random)


def draw_study(world: World, queries: int, ratings: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The pairs drawn, everybody's ratings, and the systems' scores of the pairs."""
    random = np.random.default_rng([SEED, queries, ratings, seed])
    chosen = np.sort(random.choice(QUERIES, queries, replace=False))
    this = Round(1, {}, RESULTS, 0.5, 0.2, 1, {"image": 1.0}, {"image": QUERIES}, seed)
    drawn = [draw_together(this, world.chances[query], random) for query in chosen]
    row = np.concatenate([world.start[query] + each.entries for query, each in zip(chosen, drawn, strict=True)])
    number = len(row)
    ids = {"query_id": [f"q{query}" for query in world.query[row]], "result_id": [f"r{each}" for each in row]}
    rarest = float(np.mean([each.probability.min() for each in world.chances]))
    pairs = pd.DataFrame(
        {
            "pair_id": [f"p{k}" for k in range(number)],
            **ids,
            "paradigm": "image",
            "source": np.concatenate([each.source for each in drawn]),
            "rank": np.concatenate([each.rank for each in drawn]),
            "block": "unique",
            "round": 1,
            "query_probability": queries / QUERIES,
            "inclusion_probability": world.probability[row] * queries / QUERIES,
            REACH: reach_of(queries, float(world.share_and_moments[0].sum()) / QUERIES, rarest),
        }
    )
    base = random.permutation(number)[:BASE]
    pairs.loc[base, "block"] = "base"
    others = np.setdiff1d(np.arange(number), base)
    who = np.argsort(random.random((len(others), RATERS)), axis=1)[:, :ratings]
    pair = np.r_[np.repeat(base, RATERS), np.repeat(others, ratings)]
    rater = np.r_[np.tile(np.arange(RATERS), BASE), who.ravel()]
    lenient = LENIENCY * random.normal(size=RATERS)
    chance = chances_of(world.middle[row[pair]], lenient[rater]).cumsum(axis=1)
    rating = 1.0 + (random.random((len(pair), 1)) > chance[:, :4]).sum(axis=1)
    rating[random.random(len(pair)) < world.undecided[row[pair]]] = np.nan
    table = pairs.loc[pair, ["query_id", "result_id", "block"]].assign(
        rater_id=[f"rater {k}" for k in rater], rating=rating, scale="1-5", handed_out="random"
    )
    order = random.permutation(len(table))
    scores = [pd.DataFrame({**ids, "system": name, "score": world.score[name][row]}) for name in SYSTEMS]
    return pairs, table.iloc[order].reset_index(drop=True), pd.concat(scores, ignore_index=True)


def study(
    world: World, queries: int, ratings: int, seed: int, **options: object
) -> tuple[rs.CalibratedPanel, rs.Scores]:
    """One study through the public way."""
    pairs, given, scores = draw_study(world, queries, ratings, seed)
    panel = rs.calibrate(given, pairs=pairs)
    return panel, score(scores, panel, seed, **options)


def score(scores: pd.DataFrame, panel: rs.CalibratedPanel, seed: int, **options: object) -> rs.Scores:
    """The systems against what the panel said; `options` go before the simulation's own."""
    asked = {"method": "none", "direction": "higher", "measures": [], "replicates": REPLICATES, "seed": seed}
    return rs.score(scores, panel, **(asked | options))


def figures_of(found: rs.Scores, truth: Truth) -> dict[tuple[str, str], tuple[Estimate, float]]:
    """Each figure's estimate, and what is true."""
    result, true = found.result, truth.figures
    figures = {}
    for system in result.systems:
        for index in INDICES:
            figures[system.name, index] = (system.indices[index], true[system.name, index])
        for point in system.points:
            if round(point.share, 6) not in SHARES:
                continue
            kinds = [f"{kind} {round(point.share, 6):g}" for kind in ("p", "r")]
            values = [true[system.name, kind] for kind in kinds]
            if point.tied:
                values = list(truth.at(system.name, point.threshold))
            for kind, estimate, value in zip(kinds, (point.precision, point.recall), values, strict=True):
                figures[system.name, kind] = (estimate, value)
    for each in result.comparisons:
        if each.index not in INDICES:
            continue
        value = true[each.first, each.index] - true[each.second, each.index]
        figures[f"{each.first} - {each.second}", each.index] = (each.difference, value)
    return figures


def holds(estimate: Estimate, true: float) -> bool:
    """Whether the interval holds the truth; none holds nothing."""
    return estimate.low is not None and estimate.high is not None and estimate.low <= true <= estimate.high


@dataclass(frozen=True)
class Row:
    """A system or a difference: per figure, in how many studies its interval held the truth, and the mean error."""

    name: str
    held: dict[str, float]
    error: dict[str, float]


@dataclass(frozen=True)
class Cell:
    """Studies of one design.

    Parameters
    ----------
    rows : systems, then differences
    blank : mean share of undecided pairs
    between : share of studies in which the whole collection's mean judgment lies between the extremes printed
    said : share of studies in which `score` printed the undecided pairs by each system's score
    careless : share of raters, all of whom look, that `calibrate` names as careless
    """

    rows: list[Row]
    blank: float
    between: float
    said: float
    careless: float


def run_cell(world: World, queries: int, ratings: int, studies: int, **options: object) -> Cell:
    """Coverage and bias of every figure."""
    truth = world.truth(ratings, decided=True)
    judgment = world.truth(ratings, decided=False).judgment
    held, errors = defaultdict(list), defaultdict(list)
    between, blank, said, careless = [], [], [], []
    for seed in progress(range(studies), "studies", studies):
        panel, found = study(world, queries, ratings, seed, **options)
        for key, (estimate, true) in figures_of(found, truth).items():
            held[key].append(holds(estimate, true))
            errors[key].append((np.nan if estimate.value is None else estimate.value) - true)
        of, raters = panel.calibration, panel.raters
        careless.append(float((raters["care"] < LEAST_CARE).mean()) if "care" in raters else 0.0)
        undecided = None if of.drawn is None else undecided_pairs(of.ratings.frame, of.judgments, of.drawn.pairs)
        blank.append(0.0 if undecided is None else undecided.pairs / undecided.rated)
        if undecided is not None and undecided.pairs:
            between.append(undecided.lowest <= judgment <= undecided.highest)
            said.append(any("third by score" in note for note in found.notes))
    rows = []
    for name in dict.fromkeys(name for name, _ in held):
        of_name = {index: (held[name, index], errors[name, index]) for index in SHOWN if (name, index) in held}
        rows.append(
            Row(
                name,
                {index: float(np.mean(each)) for index, (each, _) in of_name.items()},
                {index: float(np.nanmean(each)) for index, (_, each) in of_name.items()},
            )
        )
    means = [float(np.mean(each)) for each in (blank, between, said, careless)]
    return Cell(rows, *means)


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py elsewhere", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--queries", type=int, nargs="+", default=[40, 100])
    parser.add_argument("--ratings", type=int, nargs="+", default=[1, 3], help="ratings per pair")
    given = parser.parse_args(argv)
    worlds = {at_random: make_world(at_random) for at_random in (True, False)}
    print(
        f"{given.studies} studies per row, seed {SEED}: coverage of 95 % intervals in %, and mean error; p and r are "
        "precision and recall."
    )
    for ratings in given.ratings:
        print(f"\n{ratings} rating{'s' if ratings > 1 else ''} per pair\n")
        print_block(worlds, ratings, given.queries, given.studies)


def print_block(worlds: Mapping[bool, World], ratings: int, queries: Sequence[int], studies: int) -> None:
    """Studies with so many ratings a pair."""
    rows, below = [], []
    shares = defaultdict(list)
    for at_random, world in worlds.items():
        how = "at random" if at_random else "not at random"
        whole, decided = (world.truth(ratings, decided=each).figures for each in (False, True))
        shift = max((abs(decided[key] - whole[key]), *key) for key in whole)
        for number in queries:
            cell = run_cell(world, number, ratings, studies)
            for each in cell.rows:
                cells = [how, str(number), each.name]
                for index in SHOWN:
                    known = index in each.held
                    cells += [f"{100 * each.held[index]:.0f}", f"{each.error[index]:+.3f}"] if known else ["", ""]
                rows.append(cells)
                for index, share in each.held.items():
                    shares[index].append(share)
            farthest = f"{shift[0]:.3f} ({shift[2].replace('_', ' ')} of {shift[1]})" if not at_random else "0"
            below.append([how, str(number), f"{cell.blank:.1%}", f"{cell.between:.0%}", f"{cell.said:.0%}", farthest])
            below[-1].append(f"{cell.careless:.1%}")
    names = ["correlation", "AP", "norm. rank", "same query", *SHOWN[len(INDICES) :]]
    print_table(rows, ["undecided", "queries", "system", *(text for name in names for text in (name, "error"))])
    figures = np.concatenate(list(shares.values()))
    means = ", ".join(f"{name} {np.mean(shares[index]):.1%}" for name, index in zip(names, SHOWN, strict=True))
    print(
        f"\nMean coverage: {means}. Of {len(figures)} figures {np.mean(figures < 0.92):.0%} are below 92 %, "
        f"{np.mean(figures > 0.98):.0%} above 98 %.\n"
    )
    header = ["undecided", "queries", "pairs", "mean between extremes", "said by score", "decided differ from all by"]
    print_table(below, [*header, "honest raters called careless"])
