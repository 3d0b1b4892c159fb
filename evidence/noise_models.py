"""How noise depends on a pair's level: models beside each other on panels of people.

    python evidence/noise_models.py [--data ../shared/data] [--folds 10]

Ratings are calibrated once. Each is then predicted by a model fitted without it and without a tenth of the others,
from what is left of its pair's ratings. Printed is the mean log likelihood of a rating's category (nats, 0 is best),
less that of one noise for all pairs, with its standard error over pairs; and the seconds of one fit.

    one noise       normal about the pair's mean, which is shrunk as far as its number of ratings asks for
    smooth          the same with a variance whose log is a polynomial of degree 2 in the level (Bland and Altman 1999)
    ordinal         one set of thresholds and a free distribution of pairs: what `relstudy calibrate` uses
    own thresholds  the same with thresholds of each rater's own, shrunk towards the common ones
    raters' noise   normal, with a bias and an inconsistency of each rater (Li et al. 2020, as in sureal)
    and ambiguity   the same with an ambiguity of each query's pairs besides (Li and Bampis 2017, as in sureal)

The last two alternate between pairs' means, raters' bias and the two parts of the variance until they settle.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtr

import relstudy as rs
from evidence.calibration_default import PANELS
from relstudy.calibration.noise_by_level import _categories, _Levels, _spread_over_noise
from relstudy.calibration.panel import Panel
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.console import print_table, progress

LEAST = 1e-4
"""Share of every prediction that is spread evenly over the categories: no model loses everything by one rating."""
ROUNDS, SHRUNK = 40, 5.0
AGREED = ("shop search, 13 people",)
"""No two people differ about a pair: they talked about it, and there is no noise."""


@dataclass(frozen=True, eq=False)
class Rated:
    """Ratings as numbers: pair, rater, query, category (int arrays [ratings]), and the value of each category."""

    pair: np.ndarray
    rater: np.ndarray
    query: np.ndarray
    category: np.ndarray
    value: np.ndarray

    def part(self, rows: np.ndarray) -> Rated:
        """Some of the ratings."""
        return Rated(self.pair[rows], self.rater[rows], self.query[rows], self.category[rows], self.value)

    def votes(self, pairs: int) -> np.ndarray:
        """Counts by pair and category."""
        votes = np.zeros((pairs, len(self.value)))
        np.add.at(votes, (self.pair, self.category), 1.0)
        return votes


Predictor = Callable[[Rated, Rated, Panel], np.ndarray]
"""Probabilities of the categories of the second's ratings, float [ratings, categories], by a fit to the first's."""


def by_normal(rated: Rated, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Probability of each category of a normal variable, float [ratings, categories]."""
    edges = (rated.value[1:] + rated.value[:-1]) / 2
    below = ndtr((edges - mean[:, None]) / np.sqrt(variance)[:, None])
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def levels_of(rated: Rated, pairs: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Shrunken mean of each pair, the variance of what is not known of it, and that of a rating."""
    x = rated.value[rated.category]
    count = np.bincount(rated.pair, minlength=pairs)
    mean = np.bincount(rated.pair, x, pairs) / np.maximum(count, 1)
    inside = x - mean[rated.pair]
    noise = float(inside @ inside) / max(len(x) - np.count_nonzero(count), 1)
    rated_pairs = count > 0
    between = max(mean[rated_pairs].var() - noise * (1 / count[rated_pairs]).mean(), 0.01 * noise)
    kept = between / (between + noise / np.maximum(count, 1e-9))
    return x.mean() + kept * (mean - x.mean()), between * (1 - kept), noise


def one_noise(known: Rated, asked: Rated, panel: Panel) -> np.ndarray:
    return by_level(known, asked, panel, terms=1)


def smooth(known: Rated, asked: Rated, panel: Panel) -> np.ndarray:
    return by_level(known, asked, panel, terms=3)


def by_level(known: Rated, asked: Rated, panel: Panel, terms: int) -> np.ndarray:
    """Normal, with a polynomial of so many terms in the level as the variance's log, of greatest likelihood where each
    known rating is predicted by the others of its pair."""
    level, open_part, noise = levels_of(known, panel.n_pairs)
    x, count = known.value[known.category], np.bincount(known.pair, minlength=panel.n_pairs)
    several = count[known.pair] > 1
    others = count[known.pair][several] - 1
    total = np.bincount(known.pair, x, panel.n_pairs)[known.pair] - x
    between = max(float(level.var()), 0.01 * noise)
    kept = between / (between + noise / others)
    of_others = x.mean() + kept * (total[several] / others - x.mean())
    middle, half = known.value.mean(), np.ptp(known.value) / 2

    def variance(coefficients: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(np.vander((at - middle) / half, terms) @ coefficients, -9, 9)) * noise

    def loss(coefficients: np.ndarray) -> float:
        chances = by_normal(known, of_others, between * (1 - kept) + variance(coefficients, of_others))
        own = chances[np.arange(len(others)), known.category[several]]
        return -float(np.log((1 - LEAST) * np.maximum(own, 0.0) + LEAST / len(known.value)).sum())

    found = minimize(loss, np.zeros(terms), method="Nelder-Mead").x
    return by_normal(asked, level[asked.pair], (open_part + variance(found, level))[asked.pair])


def fitted_levels(known: Rated, panel: Panel) -> tuple[_Levels, np.ndarray]:
    """The model of `relstudy calibrate` without strata, and each pair's votes."""
    votes = known.votes(panel.n_pairs)
    patterns, times = np.unique(votes[votes.sum(axis=1) > 0], axis=0, return_counts=True)
    flat = np.zeros(len(patterns), dtype=int)
    spread = _spread_over_noise(panel)
    return _Levels.fitted(flat, patterns, times.astype(float), spread), votes


def ordinal(known: Rated, asked: Rated, panel: Panel) -> np.ndarray:
    model, votes = fitted_levels(known, panel)
    return model.posterior(np.zeros(len(votes), dtype=int), votes)[asked.pair] @ model.chances().T


def own_thresholds(known: Rated, asked: Rated, panel: Panel) -> np.ndarray:
    model, _ = fitted_levels(known, panel)
    raters, (size, grid) = panel.n_raters, model.chances().shape
    own = np.tile(model.thresholds, (raters, 1))
    prior = model.prior[0]
    for _ in range(ROUNDS):
        chances = np.stack([model.chances(each) for each in own])
        posterior = of_pairs(known, chances, prior, panel.n_pairs)
        prior = np.bincount(known.pair, minlength=panel.n_pairs).clip(max=1) @ posterior
        prior = prior / prior.sum()
        counts = np.zeros((raters, size, grid))
        np.add.at(counts, (known.rater, known.category), posterior[known.pair])
        moved = np.array([shrunken(model, each, of_rater) for each, of_rater in zip(own, counts, strict=True)])
        if np.abs(moved - own).max() < 1e-3:
            break
        own = moved
    chances = np.stack([model.chances(each) for each in own])
    posterior = of_pairs(known, chances, prior, panel.n_pairs)
    return np.einsum("ng,ncg->nc", posterior[asked.pair], chances[asked.rater])


def of_pairs(known: Rated, chances: np.ndarray, prior: np.ndarray, pairs: int) -> np.ndarray:
    """Posterior of each pair's place, float [pairs, grid]; chances float [raters, categories, grid]."""
    logs = np.zeros((pairs, len(prior)))
    np.add.at(logs, known.pair, np.log(chances)[known.rater, known.category])
    likely = np.exp(logs - logs.max(axis=1, keepdims=True)) * prior
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def shrunken(model: _Levels, own: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A rater's thresholds after one step, with as much weight as SHRUNK ratings a threshold on the common ones."""
    step = _Levels(model.grid, own, model.prior)._thresholds_of(counts + 1e-6)
    weight = counts.sum() / (counts.sum() + SHRUNK * len(own))
    return np.asarray(np.maximum.accumulate(model.thresholds + weight * (step - model.thresholds)))


def raters_noise(known: Rated, asked: Rated, panel: Panel, ambiguity: bool = False) -> np.ndarray:
    x = known.value[known.category]
    raters, queries = panel.n_raters, int(max(known.query.max(), asked.query.max())) + 1
    level, _, noise = levels_of(known, panel.n_pairs)
    centre, between = float(x.mean()), max(float(level.var()), 0.01 * noise)
    bias, of_rater, of_query = np.zeros(raters), np.full(raters, noise), np.zeros(queries)
    for _ in range(ROUNDS):
        weight = 1 / (of_rater[known.rater] + of_query[known.query])
        mass = np.bincount(known.pair, weight, panel.n_pairs) + 1 / between
        level = (np.bincount(known.pair, weight * (x - bias[known.rater]), panel.n_pairs) + centre / between) / mass
        left = x - level[known.pair]
        bias = np.bincount(known.rater, weight * left, raters)
        bias /= np.bincount(known.rater, weight, raters) + SHRUNK / noise
        bias -= bias.mean()
        square = (left - bias[known.rater]) ** 2 + 1 / mass[known.pair]
        before = of_rater
        rest = np.maximum(square - of_query[known.query], 0.0) if ambiguity else square
        of_rater = _mean_by(known.rater, rest, raters, noise)
        if ambiguity:
            rest = np.maximum(square - of_rater[known.rater], 0.0)
            of_query = _mean_by(known.query, rest, queries, 0.0)
        if np.abs(of_rater - before).max() < 1e-4 * noise:
            break
    variance = (1 / mass)[asked.pair] + of_rater[asked.rater] + of_query[asked.query]
    return by_normal(asked, level[asked.pair] + bias[asked.rater], variance)


def _mean_by(code: np.ndarray, values: np.ndarray, size: int, towards: float) -> np.ndarray:
    """Means by group, shrunk as if SHRUNK more values were as given."""
    total = np.bincount(code, values, size) + SHRUNK * towards
    return np.asarray(total / (np.bincount(code, minlength=size) + SHRUNK))


def and_ambiguity(known: Rated, asked: Rated, panel: Panel) -> np.ndarray:
    return raters_noise(known, asked, panel, ambiguity=True)


MODELS: dict[str, Predictor] = {
    "one noise": one_noise,
    "smooth": smooth,
    "ordinal": ordinal,
    "own thresholds": own_thresholds,
    "raters' noise": raters_noise,
    "and ambiguity": and_ambiguity,
}


def row_of(path: Path, base: str | None, folds: int) -> list[str]:
    """A panel's cells."""
    ratings = read_ratings(path, base_column=base)
    of = rs.calibrate(ratings).calibration
    panel = of.panel
    decided = panel.with_rating(of.calibrated).decided()
    category = _categories(panel.rating[~np.isnan(panel.rating)], decided.rating)
    value = np.bincount(category, decided.rating) / np.bincount(category)
    query = np.unique(panel.pairs["query_id"].astype(str), return_inverse=True)[1][decided.pair]
    rated = Rated(decided.pair, decided.rater, query, category, value)
    fold = np.random.default_rng(0).permutation(len(category)) % folds
    told = {name: np.full(len(category), np.nan) for name in MODELS}
    seconds = dict.fromkeys(MODELS, 0.0)
    for k in progress(range(folds), path.parent.name, folds):
        known = rated.part(fold != k)
        rows = np.flatnonzero((fold == k) & (np.bincount(known.pair, minlength=panel.n_pairs)[rated.pair] > 0))
        for name, predict in MODELS.items():
            begun = time.process_time()
            chances = predict(known, rated.part(rows), decided)
            seconds[name] += time.process_time() - begun
            own = np.maximum(chances[np.arange(len(rows)), category[rows]], 0.0)
            told[name][rows] = np.log((1 - LEAST) * own + LEAST / len(value))
    used = ~np.isnan(told["one noise"])
    cells = [f"{used.sum():,}", f"{told['one noise'][used].mean():.4f}"]
    for name in list(MODELS)[1:]:
        gain = told[name][used] - told["one noise"][used]
        by_pair = np.bincount(decided.pair[used], gain - gain.mean(), panel.n_pairs)
        cells.append(f"{gain.mean():+.4f} ± {np.sqrt((by_pair**2).sum()) / used.sum():.4f}")
    return cells + [f"{each / folds:.2f}" for each in seconds.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--folds", type=int, default=10)
    given = parser.parse_args()
    rows = [
        [title, *row_of(given.data / file, base, given.folds)] for title, file, base in PANELS if title not in AGREED
    ]
    size = 3 + len(MODELS) - 1
    print_table([row[:size] for row in rows], ["panel", "ratings", *MODELS])
    print("\nProcessor seconds of a fit and its predictions\n")
    print_table([[row[0], *row[size:]] for row in rows], ["panel", *MODELS])


if __name__ == "__main__":
    main()
