"""Print the numbers of docs/differences.md.

python scripts/differences.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.indices.normalised_rank import (
    normalised_rank_fifth_power,
    normalised_rank_plain,
    random_assignment,
)
from relstudy.analysis.indices.precision_recall import average_precision
from relstudy.analysis.scoring.judged import rank_power_weights
from relstudy.mapping.cross_fitting import around_training_means, correlation, cross_fit
from relstudy.mapping.scored_pairs import ScoredPairs, fit_mapping

EXAMPLE = Path(__file__).resolve().parent.parent / "data" / "example"
PAIR = ["query_id", "result_id"]


POWERS = {"1/5": 0.2, "1": 1.0, "5": 5.0}


def weights() -> None:
    """Average precision from samples drawn by a power of the rank, by weighting, beside that of the collection."""
    random = np.random.default_rng(0)
    queries, results, drawn, draws = 80, 400, 20, 200
    latent = random.normal(size=(queries, results))
    relevant = latent > 1.8
    scores = [s * latent + np.sqrt(1 - s * s) * random.normal(size=latent.shape) for s in (0.8, 0.6, 0.4)]
    judged = scores[1]
    rank = _ranks(judged)
    print(f"average precision of the whole collection    {average_precision(relevant.ravel(), judged.ravel()):.3f}")
    print(f"  mean of {draws} samples by three systems, the middle one scored; weights: one over the inclusion")
    print("  probability; the rank in all its pairs, to a power; the rank in the query, to the power drawn by; none")
    print("  drawn by     design   rank^1/5   rank^1   rank^5   in query   none")
    for name, power in POWERS.items():
        shape = np.mean([_shares(_ranks(score), power) for score in scores], axis=0)
        chosen_with = np.minimum(1.0, drawn * (0.95 * shape + 0.05 / results))
        found = []
        for _ in range(draws):
            taken = random.random(latent.shape) < chosen_with
            hit, score = relevant[taken], judged[taken]
            pooled = [rank_power_weights(score, each) for each in POWERS.values()]
            weightings = [1 / chosen_with[taken], *pooled, rank[taken] ** power, None]
            found.append([average_precision(hit, score, weight) for weight in weightings])
        design, *pooled, within, none = np.mean(found, axis=0)
        cells = f"{design:.3f}      {'    '.join(f'{value:.3f}' for value in pooled)}    {within:.3f}      {none:.3f}"
        print(f"  rank^-{name:<6} {cells}")


def _ranks(score: np.ndarray) -> np.ndarray:
    """Ranks within queries, from 1."""
    return (-score).argsort(axis=1).argsort(axis=1) + 1.0


def _shares(rank: np.ndarray, power: float) -> np.ndarray:
    share: np.ndarray = rank**-power
    return share / share.sum(axis=1, keepdims=True)


def ranks() -> None:
    """What normalised rank is at best, at random and at worst."""
    many, good = 500, 50
    relevant = np.arange(many) < good
    best, worst = -np.arange(many, dtype=float), np.arange(many, dtype=float)
    chance = random_assignment(relevant)
    plain = [normalised_rank_plain(relevant, best), chance["plain"], normalised_rank_plain(relevant, worst)]
    fifth = [normalised_rank_fifth_power(relevant, best), chance["fifth_power"]]
    fifth.append(normalised_rank_fifth_power(relevant, worst))
    print("normalised rank, 50 good of 500               best   random  worst")
    print(f"  Eq. 5.3                                     {plain[0]:.2f}   {plain[1]:.2f}    {plain[2]:.2f}")
    print(f"  Eq. 5.5                                     {fifth[0]:.2f}   {fifth[1]:.2f}    {fifth[2]:.2f}")
    print(f"  weighted, one minus area under ROC          0.00   {chance['weighted']:.2f}    1.00")


def folds() -> None:
    """Correlation of a mapping on its own pairs, and on queries it has not seen."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    print("correlation of an isotonic mapping            in sample  out of fold")
    for file in sorted((EXAMPLE / "scores").glob("*.csv")):
        pairs = pd.read_csv(file, dtype=dict.fromkeys(PAIR, str)).merge(judgments, on=PAIR)
        score, judgment = pairs["score"].to_numpy(), pairs["judgment"].to_numpy()
        query = pairs["query_id"].to_numpy()
        scored = ScoredPairs(score, judgment, query)
        in_sample = fit_mapping(scored, "isotonic").predict(score)
        out_of_fold = around_training_means(cross_fit(scored, "isotonic").predictions, scored)
        pair = [correlation(mapped, judgment) for mapped in (in_sample, out_of_fold)]
        print(f"  {file.stem:<43} {pair[0]:.3f}      {pair[1]:.3f}")


def maximum() -> None:
    """Whether anything monotone correlates better than the least-squares fit: ten thousand tries."""
    random = np.random.default_rng(1)
    score = np.sort(random.normal(size=200))
    judgment = score + 1.5 * random.normal(size=200)
    fitted = fit_mapping(ScoredPairs(score, judgment, np.arange(200)), "isotonic").predict(score)
    best = np.corrcoef(fitted, judgment)[0, 1]
    steps = np.maximum(np.diff(fitted), 0)
    tries = []
    for k in range(10_000):
        noise = random.exponential(size=len(steps)) * 10.0 ** random.uniform(-5, 1)
        step = steps + noise * (random.random(len(steps)) < 0.3) if k % 2 else random.exponential(size=len(steps)) ** 3
        tries.append(np.corrcoef(np.r_[0.0, np.cumsum(step)], judgment)[0, 1])
    print(f"correlation of the least-squares monotone fit {best:.4f}")
    print(f"  best of 10,000 other monotone functions     {max(tries):.4f}")


if __name__ == "__main__":
    weights()
    ranks()
    folds()
    maximum()
