"""Print the numbers of docs/evidence/differences.md.

python evidence/differences.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

import relstudy as rs
from relstudy.analysis.indices.normalised_rank import (
    normalised_rank_fifth_power,
    normalised_rank_plain,
    random_assignment,
)
from relstudy.analysis.indices.precision_recall import average_precision
from relstudy.analysis.scoring.judged_pairs import rank_power_weights
from relstudy.common.tables.meaning.pairs_table import source_members
from relstudy.mapping.changepoint.bins import design_effect
from relstudy.mapping.cross_fitting import around_training_means, correlation, cross_fit
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs, fit_mapping

DATA = Path(__file__).resolve().parent.parent / "data"
EXAMPLE = DATA / "example"
GOLDEN = DATA.parent / "analysis" / "report" / "paper" / "printed.csv"
PAIR = ["query_id", "result_id"]


POWERS = {"1/5": 0.2, "1": 1.0, "5": 5.0}


def weights(draws: int = 200) -> None:
    """Average precision from samples drawn by a power of the rank, by weighting, beside that of the collection."""
    random = np.random.default_rng(0)
    relevant, scores = _collection(random)
    judged = scores[1]
    rank = _ranks(judged)
    print(f"average precision of the whole collection    {average_precision(relevant.ravel(), judged.ravel()):.3f}")
    print(f"  mean of {draws} samples by three systems, the middle one scored; weights: one over the inclusion")
    print("  probability; the rank in all its pairs, to a power; the rank in the query, to the power drawn by; none")
    print("  drawn by     design   rank^1/5   rank^1   rank^5   in query   none")
    for name, power in POWERS.items():
        chosen_with = _chosen_with(scores, power)
        found = []
        for _ in range(draws):
            taken = random.random(relevant.shape) < chosen_with
            hit, score = relevant[taken], judged[taken]
            pooled = [rank_power_weights(score, each) for each in POWERS.values()]
            weightings = [1 / chosen_with[taken], *pooled, rank[taken] ** power, None]
            found.append([average_precision(hit, score, weight) for weight in weightings])
        design, *pooled, within, none = np.mean(found, axis=0)
        cells = f"{design:.3f}      {'    '.join(f'{value:.3f}' for value in pooled)}    {within:.3f}      {none:.3f}"
        print(f"  rank^-{name:<6} {cells}")


def order_by_weights(draws: int = 100) -> None:
    """Whether a good, a middling and a poor system come in their true order under each weighting."""
    random = np.random.default_rng(0)
    relevant, scores = _collection(random)
    truth = [average_precision(relevant.ravel(), score.ravel()) for score in scores]
    print("order of a good, a middling and a poor system by average precision")
    print(f"  mean of {draws} samples; how often in the true order; Kendall's tau with the true order, mean")
    print("  drawn by     weights    good    middling  poor    true order  tau")
    print(f"  {'the whole collection':<23} {truth[0]:.3f}   {truth[1]:.3f}     {truth[2]:.3f}")
    for name, power in POWERS.items():
        chosen_with = _chosen_with(scores, power)
        found: dict[str, list[list[float]]] = {"design": [], "rank^5": []}
        for _ in range(draws):
            taken = random.random(relevant.shape) < chosen_with
            hit, judged = relevant[taken], [score[taken] for score in scores]
            found["design"].append([average_precision(hit, score, 1 / chosen_with[taken]) for score in judged])
            found["rank^5"].append([average_precision(hit, score, rank_power_weights(score, 5.0)) for score in judged])
        for weighting, values in found.items():
            good, middling, poor = np.mean(values, axis=0)
            right = np.mean([one > two > three for one, two, three in values])
            tau = np.mean([kendalltau(each, truth).statistic for each in values])
            figures = f"{good:.3f}   {middling:.3f}     {poor:.3f}"
            print(f"  rank^-{name:<6} {weighting:<10} {figures}   {right:>6.0%}      {tau:+.2f}")


def order_of_the_example() -> None:
    """Kendall's tau between the orders of the example's systems by design weights and by the fifth power of ranks."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    middle = (judgments["judgment"].max() + judgments["judgment"].min()) / 2
    found = []
    for file in sorted((EXAMPLE / "scores").glob("*.csv")):
        rows = judgments.merge(pd.read_csv(file, dtype=dict.fromkeys(PAIR, str)), on=PAIR)
        good, score = rows["judgment"].to_numpy() > middle, rows["score"].to_numpy()
        by_design = 1 / rows["inclusion_probability"].to_numpy()
        found.append([average_precision(good, score, each) for each in (by_design, rank_power_weights(score, 5.0))])
    tau = kendalltau(*np.transpose(found)).statistic
    print(f"Kendall's tau between the example's systems by design weights and by rank^5  {tau:+.2f}")


def _collection(random: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which pairs of 80 queries and 400 results are relevant, and the scores of a good, a middling, a poor system."""
    latent = random.normal(size=(80, 400))
    return latent > 1.8, [s * latent + np.sqrt(1 - s * s) * random.normal(size=latent.shape) for s in (0.8, 0.6, 0.4)]


def _chosen_with(scores: list[np.ndarray], power: float, drawn: int = 20) -> np.ndarray:
    """The probability with which each pair is drawn: the mean of the systems' shares, with a floor."""
    shape = np.mean([_shares(_ranks(score), power) for score in scores], axis=0)
    return np.asarray(np.minimum(1.0, drawn * (0.95 * shape + 0.05 / shape.shape[1])))


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


def selections() -> None:
    """Tables 5.3 to 5.6: each selection fitted by itself, in sample and out of fold, or one fit to all pairs."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    pairs = pd.read_csv(EXAMPLE / "pairs.csv", dtype=dict.fromkeys(PAIR, str))[[*PAIR, "source"]]
    print("correlation, mean over the pairs that each system selected")
    print("                                              each fitted alone         one fit")
    print("                                              in sample   out of fold   out of fold")
    for name in ("gift", "keywords"):
        scores = pd.read_csv(EXAMPLE / "scores" / f"{name}.csv", dtype=dict.fromkeys(PAIR, str))
        rows = judgments.merge(scores, on=PAIR).merge(pairs, on=PAIR)
        members = {source: chosen for source, chosen in source_members(rows["source"]).items() if source != "random"}
        whole = ScoredPairs(rows["score"], rows["judgment"], rows["query_id"])
        once = around_training_means(cross_fit(whole, "isotonic").predictions, whole)
        found = []
        for chosen in members.values():
            part = whole.among(chosen)
            alone = around_training_means(cross_fit(part, "isotonic").predictions, part)
            mapped = (fit_mapping(part, "isotonic").predict(part.scores), alone, once[chosen])
            found.append([correlation(each, part.judgments) for each in mapped])
        cells = "         ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
        print(f"  {name:<43} {cells}")


def methods() -> None:
    """Correlations by the methods of the paper's page beside those by the paper's own.

    To two digits: a local search may end elsewhere where a processor adds in another order.
    """
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    print("correlation of mapped scores, in sample and out of fold (five folds)")
    print("                                              in the paper's tables   by its own method")
    for method, own in (("correlation", "local-bagged"), ("bayes", "bayes-conjugate")):
        most = 0.0
        for name in ("gift", "keywords"):
            scores = pd.read_csv(EXAMPLE / "scores" / f"{name}.csv", dtype=dict.fromkeys(PAIR, str))
            rows = judgments.merge(scores, on=PAIR)
            pairs = ScoredPairs(rows["score"], rows["judgment"], rows["query_id"])
            found = [_both_figures(pairs, each) for each in (method, own)]
            most = max(most, *(abs(one - other) for one, other in zip(*found, strict=True)))
            cells = "              ".join(" ".join(f"{value:.2f}" for value in each) for each in found)
            print(f"  {f'{name}, {method}, {own}':<43} {cells}")
        print(f"  furthest apart, {method:<27} {most:.2f}")


def _both_figures(pairs: ScoredPairs, method: str) -> list[float]:
    settings = FitSettings(folds=5)
    in_sample = fit_mapping(pairs, method, settings).predict(pairs.scores)
    out_of_fold = around_training_means(cross_fit(pairs, method, settings).predictions, pairs, settings)
    return [correlation(mapped, pairs.judgments) or 0.0 for mapped in (in_sample, out_of_fold)]


def worth() -> None:
    """How many independent pairs the example's pairs are worth to a mapping, by the design effect of their queries."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    print("design effect of queries on the levels of a mapping")
    for file in sorted((EXAMPLE / "scores").glob("*.csv")):
        rows = judgments.merge(pd.read_csv(file, dtype=dict.fromkeys(PAIR, str)), on=PAIR)
        score, judgment = rows["score"].to_numpy(), rows["judgment"].to_numpy()
        effect = design_effect(score, judgment, None, rows["query_id"].to_numpy())
        print(f"  {file.stem:<43} {effect:.2f}, {len(rows)} pairs count as {len(rows) / effect:.0f}")


def program() -> None:
    """Whether pool-adjacent-violators and the quadratic program give one function."""
    judgments = pd.read_csv(EXAMPLE / "judgments.csv", dtype=dict.fromkeys(PAIR, str))
    rows = judgments.merge(pd.read_csv(EXAMPLE / "scores" / "keywords.csv", dtype=dict.fromkeys(PAIR, str)), on=PAIR)
    pairs = ScoredPairs(rows["score"], rows["judgment"], rows["query_id"])
    fast, slow = (fit_mapping(pairs, method).predict(pairs.scores) for method in ("isotonic", "quadratic"))
    apart = float(np.abs(fast - slow).max())
    print(f"isotonic and quadratic program, furthest apart  {'under 1e-6' if apart < 1e-6 else f'{apart:.1e}'}")


def orders() -> None:
    """How alike the paper's own tables 5.7 and 5.8 order its systems."""
    golden = pd.read_csv(GOLDEN, dtype={"table": str})
    tables = [golden[golden["table"] == number].pivot(index="row", columns="column") for number in ("5.7", "5.8")]
    ranks = tables[1]["value"]["normalized rank"]
    tau = kendalltau(tables[0]["value"]["correlation"][ranks.index], -ranks).statistic
    print(f"Kendall's tau between the orders of the paper's tables 5.7 and 5.8  {tau:.2f}")


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


def cuts() -> None:
    """Average precision of the example's systems by our cut and by the paper's."""
    scores = {file.stem: file for file in sorted((EXAMPLE / "scores").glob("*.csv"))}
    papers_rule = rs.ScoringOptions(replicates=1, relevance="mean", threshold=3)
    ours, papers = (
        rs.score(scores, EXAMPLE / "judgments.csv", options=options).table.set_index("system")["average_precision"]
        for options in (rs.ScoringOptions(replicates=1), papers_rule)
    )
    print("average precision of the example: shares of ratings above 3.5, judgments above 3")
    for name, value in ours.items():
        print(f"  {name:41s} {value:.3f} {papers[name]:.3f}")


def with_itself() -> None:
    """Pairwise accuracy of the example's systems, with no pair compared with itself, and with each."""
    judged = pd.read_csv(EXAMPLE / "judgments.csv")
    print("pairwise accuracy of the example, no pair beside itself, and each beside itself")
    for file in sorted((EXAMPLE / "scores").glob("*.csv")):
        pairs = judged.merge(pd.read_csv(file), on=PAIR)
        share, weight = pairs["relevant_share"].to_numpy(), 1 / pairs["inclusion_probability"].to_numpy()
        score = pairs["score"].to_numpy()
        above = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        both = np.outer(weight * share, weight * (1 - share))
        others = ~np.eye(len(score), dtype=bool)
        cells = [f"{(above * both * kept).sum() / (both * kept).sum():.4f}" for kept in (others, True)]
        print(f"  {file.stem:<43} {'  '.join(cells)}")


if __name__ == "__main__":
    weights()
    order_by_weights()
    order_of_the_example()
    ranks()
    folds()
    selections()
    methods()
    worth()
    program()
    maximum()
    orders()
    cuts()
    with_itself()
