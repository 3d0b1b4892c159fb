"""Noise by level: the noise ceiling, intervals of judgments by fifths of truth, r without noise, and yes-sayers.

    python evidence/coverage.py levels [--studies 40] [--ratings 1 2 5] [--worlds rare slider] [--yes-sayers]

Five worlds. What raters see of a pair is skewed (a gamma variable) around a query's level with heavy tails (Student's
t). A rating is beta-binomial about the logistic of that, so no normal errors and no common thresholds; a slider takes
the beta variable itself. Each rater has a leniency, a spread and a noise of their own. Three of four systems propose
pairs, whose inclusion probabilities are unequal (exponent 1, floor 0.05).

True ceiling: the correlation between what the average rater gives and judgments of so many ratings, in the whole
collection, with raters' mean levels taken out. `above` is the share of studies in which the best system's r exceeds the
ceiling that was said. Coverage is that of judgment_low to judgment_high of pairs outside the base block, by fifths of
the true mean rating. r is of the raw scores of the first system; "no noise" is r over the ceiling, with its error.

With --oracle the same coverage, of central intervals of the posterior by somebody who knows how raters answer and how
pairs are spread: no interval of such a level does better. Central intervals hold the truth in their share of all pairs,
and not in each fifth, since what people agree about is known better than that.

With --yes-sayers a quarter of the raters give the highest answer four times in five: the share of studies that say so,
and coverage of the truth by 95 % intervals as scored, and with --careless drop; honest raters named, in %.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

import relstudy as rs
from relstudy.analysis.indices.pairwise_accuracy import SameQuery
from relstudy.analysis.indices.precision_recall import Retrieval
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample

SEED, SYSTEMS, PROPOSERS = 2611, ("s1", "s2", "s3", "s4"), 3
SKILL, GRID, CROWD, YES = (0.65, 0.6, 0.5, 0.3), 200, 2_000, 0.25
PAIRS, MANY = 20_000, 20_000
"""Pairs and raters of the third table: the standard error of a fifth is at most .8 %."""
FIGURES = ("average_precision", "same_query", "normalised_rank")


@dataclass(frozen=True)
class Shape:
    """A world: its queries, those drawn, results a query, share relevant, tails (degrees of freedom), steps of the
    scale (0: a slider), raters, base pairs, results drawn a query, and the concentration of a rating."""

    queries: int
    drawn: int
    sizes: tuple[int, int]
    relevant: float
    tails: float
    steps: int
    raters: int
    base: int
    results: int
    concentration: float


WORLDS = {
    "rare": Shape(900, 60, (100, 400), 0.02, 3, 4, 10, 40, 20, 4.0),
    "few": Shape(300, 14, (40, 90), 0.30, 30, 8, 6, 20, 12, 6.0),
    "binary": Shape(1_000, 150, (50, 150), 0.10, 5, 1, 15, 40, 8, 3.0),
    "slider": Shape(600, 40, (60, 200), 0.35, 8, 0, 8, 24, 10, 5.0),
    "usual": Shape(800, 50, (60, 240), 0.15, 6, 4, 12, 40, 12, 5.0),
}


@dataclass(frozen=True, eq=False)
class World:
    """A collection of a shape."""

    shape: Shape
    query: np.ndarray
    seen: np.ndarray
    scores: dict[str, np.ndarray]

    @classmethod
    def of(cls, shape: Shape) -> World:
        """The collection, with its own seed."""
        random = np.random.default_rng([SEED, shape.queries])
        sizes = np.exp(random.uniform(*np.log(shape.sizes), shape.queries)).astype(int)
        query = np.repeat(np.arange(shape.queries), sizes)
        level = np.clip(0.6 * random.standard_t(shape.tails, shape.queries), -4, 4)
        value = level[query] + random.gamma(1.5, 1 / np.sqrt(1.5), len(query)) - np.sqrt(1.5)
        seen = 2.2 * (value - np.quantile(value, 1 - shape.relevant))
        common, z = random.normal(size=len(query)), (value - value.mean()) / value.std()
        scores = {}
        for name, skill in zip(SYSTEMS, SKILL, strict=True):
            error = 0.6 * common + 0.8 * random.normal(size=len(query))
            scores[name] = np.round(skill * z + np.sqrt(1 - skill**2) * error, 2)
        return cls(shape, query, seen, scores)

    @property
    def scale(self) -> tuple[str, float, float]:
        """Its name, lowest value and cut."""
        steps = self.shape.steps
        if steps == 0:
            return "0-100", 0.0, 50.0
        return ("binary", 0.0, 0.5) if steps == 1 else (f"1-{steps + 1}", 1.0, 1.5 + steps / 2)

    def raters(self, number: int, random: np.random.Generator) -> np.ndarray:
        """Leniency, log spread and log concentration, float [3, raters]."""
        return np.array([[0.7], [0.2], [0.3]]) * random.normal(size=(3, number))

    def rate(self, seen: np.ndarray, raters: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Ratings of what raters see; raters float [3, ratings]."""
        middle = np.clip(special.expit(raters[0] + np.exp(raters[1]) * seen), 1e-4, 1 - 1e-4)
        concentration = self.shape.concentration * np.exp(raters[2])
        felt = random.beta(concentration * middle, concentration * (1 - middle))
        if self.shape.steps == 0:
            return np.round(100 * felt)
        return self.scale[1] + random.binomial(self.shape.steps, felt)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean rating, share above the cut, and variance of a rating less its rater's level, of each pair."""
        random = np.random.default_rng(SEED)
        grid = np.linspace(self.seen.min(), self.seen.max(), GRID)
        raters = self.raters(CROWD, random)
        given = self.rate(np.tile(grid, CROWD), np.repeat(raters, GRID, axis=1), random).reshape(CROWD, GRID)
        level = given - given.mean(axis=1, keepdims=True)
        of_grid = given.mean(axis=0), (given > self.scale[2]).mean(axis=0), level.var(axis=0)
        mean, share, noise = (np.interp(self.seen, grid, each) for each in of_grid)
        return mean, share, noise

    def ceiling(self, ratings: int) -> float:
        """The true noise ceiling of judgments of so many ratings."""
        mean, _, noise = self.moments
        return float(np.sqrt(mean.var() / (mean.var() + noise.mean() / ratings)))

    @cached_property
    def truth(self) -> dict[tuple[str, str], float]:
        """Figures of the whole collection, by system and index; pearson with error-free judgments."""
        mean, share, _ = self.moments
        retrieval = Retrieval(np.zeros(len(share), dtype=np.int64), share, np.ones((1, 1)), guard=False)
        found, each = {}, np.ones(len(share))
        for name, score in self.scores.items():
            indices = retrieval.indices(score, each)
            found.update({(name, index): indices[index].value for index in ("average_precision", "normalised_rank")})
            found[name, "same_query"] = SameQuery(self.query, self.shape.queries, score, share, each).value
            found[name, "pearson"] = float(np.corrcoef(mean, score)[0, 1])
        return found

    def draw(self, ratings: int, seed: int, yes: bool = False) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
        """Pairs, ratings and each pair's row of the collection; yes: a quarter of the raters are yes-sayers."""
        shape, random = self.shape, np.random.default_rng([SEED, ratings, seed])
        start = np.searchsorted(self.query, np.arange(shape.queries + 1))
        rows, chances = [], []
        for query in np.sort(random.choice(shape.queries, shape.drawn, replace=False)):
            part = slice(start[query], start[query + 1])
            size = np.mean([rank_share(self.scores[name][part], 1.0)[0] for name in SYSTEMS[:PROPOSERS]], axis=0)
            chance = inclusion_probabilities(0.95 * size + 0.05 / len(size), shape.results)
            drawn = systematic_sample(chance, random)
            rows.append(start[query] + drawn)
            chances.append(chance[drawn])
        row, share = np.concatenate(rows), shape.drawn / shape.queries
        pairs = pd.DataFrame({"pair_id": [f"p{k}" for k in range(len(row))], **self.ids(row), "block": "unique"})
        pairs["query_probability"], pairs["inclusion_probability"] = share, share * np.concatenate(chances)
        base = random.permutation(len(row))[: shape.base]
        pairs.loc[base, "block"] = "base"
        others = np.setdiff1d(np.arange(len(row)), base)
        who = np.argsort(random.random((len(others), shape.raters)), axis=1)[:, :ratings]
        pair = np.r_[np.repeat(base, shape.raters), np.repeat(others, ratings)]
        rater = np.r_[np.tile(np.arange(shape.raters), len(base)), who.ravel()]
        rating = self.rate(self.seen[row[pair]], self.raters(shape.raters, random)[:, rater], random)
        if yes:
            high = 100.0 if shape.steps == 0 else self.scale[1] + shape.steps
            always = (rater < round(YES * shape.raters)) & (random.random(len(rater)) < 0.8)
            rating = np.where(always, high, rating)
        table = pairs.loc[pair, ["query_id", "result_id", "block"]].assign(
            rater_id=[f"rater {k}" for k in rater], rating=rating, scale=self.scale[0], handed_out="random"
        )
        return pairs, table.reset_index(drop=True), row

    def ids(self, row: np.ndarray) -> dict[str, list[str]]:
        """query_id and result_id of rows of the collection."""
        return {"query_id": [f"q{k}" for k in self.query[row]], "result_id": [f"r{k}" for k in row]}

    def score(self, row: np.ndarray, panel: rs.CalibratedPanel, seed: int, replicates: int) -> rs.Scores:
        """The raw scores against a panel's judgments."""
        frames = [pd.DataFrame({**self.ids(row), "system": name, "score": s[row]}) for name, s in self.scores.items()]
        options = {"method": "none", "direction": "higher", "measures": [], "replicates": replicates, "seed": seed}
        return rs.score(pd.concat(frames, ignore_index=True), panel, **options)


def run_cell(world: World, ratings: int, studies: int) -> list[str]:
    """A row of the first table."""
    mean = world.moments[0]
    held, said = [], []
    for seed in progress(range(studies), "studies", studies):
        pairs, table, row = world.draw(ratings, seed)
        panel = rs.calibrate(table, pairs=pairs)
        judged = panel.judgments
        true = mean[judged["result_id"].str[1:].astype(int)]
        shift = float((judged["judgment"] - true).mean())  # the raters of this study are not the average rater
        moved = np.clip(true + shift, panel.calibration.panel.low, panel.calibration.panel.high)
        inside = (judged["judgment_low"] - 1e-9 <= moved) & (moved <= judged["judgment_high"] + 1e-9)
        unique = (judged["n_ratings"] <= ratings).to_numpy()
        held.append(pd.DataFrame({"true": true, "held": inside.to_numpy()})[unique])
        found = world.score(row, panel, seed, 20)
        ceiling = found.verdict.as_json()["reachable_correlation"]
        r = {each.name: each.indices["pearson"].value for each in found.result.systems}
        said.append((ceiling, max(r.values()) > ceiling, r["s1"], r["s1"] / ceiling))
    fifth = pd.concat(held)
    fifth["fifth"] = np.minimum(fifth["true"].rank(method="first", pct=True) * 5, 4.999).astype(int)
    coverage = fifth.groupby("fifth")["held"].mean()
    ceiling, above, r, free = np.array(said, dtype=float).T
    return [
        *(f"{each:.3f}" for each in (world.ceiling(ratings), ceiling.mean())),
        f"{100 * above.mean():.0f}",
        *(f"{100 * each:.1f}" for each in coverage),
        *(f"{each:.3f}" for each in (world.truth["s1", "pearson"], r.mean(), free.mean())),
        f"{free.std() / np.sqrt(studies):.3f}",
    ]


def run_oracle(world: World, ratings: int, pairs: int, level: float) -> list[str]:
    """Coverage by fifths of the truth of intervals by whoever knows the world; a row of the third table."""
    random = np.random.default_rng([SEED, ratings])
    _, _, row = world.draw(1, 0)
    grid = np.quantile(world.seen[row], (np.arange(GRID) + 0.5) / GRID)
    raters = world.raters(MANY, random)
    given = world.rate(np.tile(grid, MANY), np.repeat(raters, GRID, axis=1), random).reshape(MANY, GRID)
    values, code = np.unique(given, return_inverse=True)
    chance = np.zeros((len(values), GRID))
    np.add.at(chance, (code.reshape(given.shape), np.arange(GRID)), 1 / MANY)
    mean = np.maximum.accumulate(given.mean(axis=0))  # of so many raters it may fall by chance
    place = random.integers(0, GRID, pairs)
    told = np.ones((pairs, GRID))
    for _ in range(ratings):
        rating = world.rate(grid[place], world.raters(pairs, random), random)
        told *= np.maximum(chance[np.minimum(np.searchsorted(values, rating), len(values) - 1)], 1e-9)
    below = np.cumsum(told, axis=1) / told.sum(axis=1, keepdims=True)
    tail = (1 - level) / 2
    low = mean[np.argmax(below >= tail, axis=1)]
    high = mean[np.argmax(below >= 1 - tail, axis=1)]
    held = (low - 1e-9 <= mean[place]) & (mean[place] <= high + 1e-9)
    fifth = place * 5 // GRID
    return [f"{100 * held.mean():.1f}", *(f"{100 * held[fifth == each].mean():.1f}" for each in range(5))]


def run_yes_sayers(world: World, ratings: int, studies: int) -> list[str]:
    """A row of the second table."""
    said, named, honest = [], [], []
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    number = round(YES * world.shape.raters)
    for seed in progress(range(studies), "studies", studies):
        pairs, table, row = world.draw(ratings, seed, yes=True)
        for how in ("weigh", "drop"):
            panel = rs.calibrate(table, pairs=pairs, careless=how)
            found = world.score(row, panel, seed, 200)
            careless = panel.calibration.judgments.careless
            if how == "weigh":
                said.append(careless is not None and any(careless.finding in str(each) for each in found.notes))
            else:
                who = () if careless is None else careless.raters
                named.append(sum(int(each.split()[1]) < number for each in who) / number)
            for each in found.result.systems:
                for index in FIGURES:
                    estimate, true = each.indices[index], world.truth[each.name, index]
                    if estimate.low is not None and estimate.high is not None:
                        held[how, index].append(estimate.low <= true <= estimate.high)
        pairs, table, _ = world.draw(ratings, seed)
        careless = rs.calibrate(table, pairs=pairs).calibration.judgments.careless
        honest.append(0.0 if careless is None else len(careless.raters) / world.shape.raters)
    cells = [f"{100 * np.mean(held[how, index]):.0f}" for index in FIGURES for how in ("weigh", "drop")]
    return [f"{100 * np.mean(said):.0f}", f"{100 * np.mean(named):.0f}", *cells, f"{100 * np.mean(honest):.1f}"]


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py levels", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--ratings", type=int, nargs="+", default=[1, 2, 5], help="ratings per pair")
    parser.add_argument("--worlds", nargs="+", choices=[*WORLDS], default=[*WORLDS])
    parser.add_argument("--yes-sayers", action="store_true")
    parser.add_argument("--oracle", action="store_true")
    given = parser.parse_args(argv)
    if given.oracle:
        found = [
            [name, str(ratings), f"{100 * level:g} %", *run_oracle(World.of(WORLDS[name]), ratings, PAIRS, level)]
            for name in given.worlds
            for ratings in given.ratings
            for level in (0.95, 0.98)
        ]
        print_table(found, ["world", "ratings", "level", "all", "lowest fifth", "2", "3", "4", "highest"])
        return
    of_cell = run_yes_sayers if given.yes_sayers else run_cell
    rows = []
    for name in given.worlds:
        world = World.of(WORLDS[name])
        for ratings in given.ratings:
            rows.append([name, str(ratings), *of_cell(world, ratings, given.studies)])
    header = ["ceiling", "said", "above %", "lowest fifth", "2", "3", "4", "highest", "r", "said", "no noise", "error"]
    if given.yes_sayers:
        short = {"average_precision": "AP", "same_query": "same query", "normalised_rank": "norm. rank"}
        header = [
            "said %",
            "named %",
            *(text for each in FIGURES for text in (short[each], "dropped")),
            "honest named %",
        ]
    print_table(rows, ["world", "ratings", *header])
