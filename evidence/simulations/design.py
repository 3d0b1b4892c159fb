"""How often 95 % intervals from one sampled study cover the truth of the whole collection.

    python evidence/coverage.py design [--studies 300] [--queries 100] [--results 20] [--open]

The collection is the demo's: scenes drawn from a seed, and the true relevance of every picture to every other. Four
systems score all pairs with different skill. A study draws queries by simple random sampling and results by the
sampling design of `relstudy sample` (exponent 1, floor 0.05); its judgments are the true ones, so that what is tested
is the design, the weights and the bootstrap. Precision and recall are those where the share is retrieved of the whole
collection, at a score that a study does not know; where equal scores are retrieved together, those at that score.
--open leaves out that the queries are a known share of the collection's.
The tables in docs/scoring.md are what this prints.

A star marks proportions so near 1 (or 0) that an interval can err at one end only: more than 2.5 % of the studies hold
not one miss (or hit), and the interval of such a study must reach to 1 (or 0). Of the 5 % only half is left, so 97.5 to
100 % is what a right interval reaches there.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from relstudy.analysis.indices.precision_recall import Retrieval, thresholds_at
from relstudy.analysis.resampling.draws import LeftOut, two_stages, whole_queries
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.sampling.probability_draws import (
    inclusion_probabilities,
    rank_share,
    simple_random_sample,
    systematic_sample,
)
from relstudy.studyapp.example_pictures.collection import make_collection
from relstudy.studyapp.example_pictures.truth import closeness, to_scale

IMAGES = 320
SKILL = (0.9, 0.7, 0.5, 0.3)
SHARES = (0.02, 0.05, 0.1, 0.3)
REPLICATES = 1000
SEED = 0


def population() -> tuple[np.ndarray, list[np.ndarray]]:
    """True relevance [queries, results] above 3, and each system's scores."""
    near = closeness(make_collection(IMAGES).scenes)
    others = ~np.eye(IMAGES, dtype=bool)
    closest = near[others].reshape(IMAGES, -1)
    relevant = to_scale(near)[others].reshape(IMAGES, -1) > 3
    standard = (closest - closest.mean()) / closest.std()
    random = np.random.default_rng(SEED + 1)
    scores = [c * standard + np.sqrt(1 - c * c) * random.normal(size=standard.shape) for c in SKILL]
    scores[-1] = np.round(scores[-1] * 2) / 2  # heavy ties
    return relevant, scores


def design(scores: list[np.ndarray], results: int) -> np.ndarray:
    """Inclusion probability of every result given its query, [queries, results]."""
    rows = []
    for query in range(len(scores[0])):
        share = np.mean([rank_share(score[query], 1.0)[0] for score in scores], axis=0)
        rows.append(inclusion_probabilities(0.95 * share + 0.05 / len(share), results))
    return np.array(rows)


def one_kind(hit: np.ndarray) -> bool:
    """Whether all are hits or all are misses."""
    return bool(hit.all() or not hit.any())


def main(argv: Sequence[str]) -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="coverage.py design", description=__doc__, formatter_class=raw)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--results", type=int, default=20)
    parser.add_argument("--open", action="store_true", help="as if the queries' probability were not known")
    arguments = parser.parse_args(argv)
    relevant, scores = population()
    probability = design(scores, arguments.results)
    truth = [
        (average_precision_score(relevant.ravel(), s.ravel()), 1 - roc_auc_score(relevant.ravel(), s.ravel()))
        for s in scores
    ]
    cuts = [thresholds_at(score.ravel(), np.ones(score.size), SHARES) for score in scores]
    covered: dict[tuple[str, int], list[bool]] = defaultdict(list)
    error: dict[tuple[str, int], list[float]] = defaultdict(list)
    true: dict[tuple[str, int], list[float]] = defaultdict(list)
    certain: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for number in progress(range(arguments.studies), "studies", arguments.studies):
        random = np.random.default_rng([SEED, number])
        chosen = simple_random_sample(IMAGES, arguments.queries, random)
        drawn = [systematic_sample(probability[query], random) for query in chosen]
        cluster = np.repeat(np.arange(len(chosen)), [len(each) for each in drawn])
        query, result = chosen[cluster], np.concatenate(drawn)
        weight = 1 / probability[query, result]
        one = np.full(len(weight), arguments.queries / IMAGES)  # a pair of the collection, on the scale of the weights
        hit = relevant[query, result]
        if arguments.open:
            draws = whole_queries(cluster, len(chosen), REPLICATES, number)
        else:
            share = np.full(len(chosen), arguments.queries / IMAGES)
            draws = two_stages(cluster, share, probability[query, result], REPLICATES, number)
        bench = Retrieval(draws.row, hit, draws.times, len(chosen), LeftOut.of(cluster, draws.step))
        for system, score in enumerate(scores):
            own = score[query, result]
            indices = bench.indices(own, weight, one)
            points = bench.operating_points(own, weight, SHARES)
            figures = [
                ("average precision", indices["average_precision"], truth[system][0]),
                ("normalised rank", indices["normalised_rank"], truth[system][1]),
            ]
            for place, cut in enumerate(SHARES):
                tied = np.count_nonzero(score == points.threshold[place]) > 1
                retrieved = score >= (points.threshold if tied else cuts[system])[place]
                hits = np.count_nonzero(retrieved & relevant)
                figures.append((f"precision at {cut:.0%}", points.precision[place], hits / retrieved.sum()))
                figures.append((f"recall at {cut:.0%}", points.recall[place], hits / relevant.sum()))
                drawn_in = own >= points.threshold[place]
                certain[f"precision at {cut:.0%}", system].append(one_kind(hit[drawn_in]))
                certain[f"recall at {cut:.0%}", system].append(one_kind(drawn_in[hit]))
            for name, figure, value in figures:
                estimate = figure.estimate()
                low, high = estimate.low, estimate.high
                assert low is not None and high is not None
                covered[name, system].append(low <= value <= high)
                error[name, system].append(figure.value - value)
                true[name, system].append(value)
    names = ["average precision", "normalised rank"]
    names += [f"{kind} at {share:.0%}" for kind in ("precision", "recall") for share in SHARES]
    rows = []
    for name in names:
        cells = [name]
        for system in range(len(scores)):
            key = (name, system)
            star = "*" if np.mean(certain.get(key, [False])) > 0.025 else " "
            cells += [f"{np.mean(true[key]):.3f}", f"{100 * np.mean(covered[key]):.1f}{star}"]
        rows.append(cells)
    print(
        f"{arguments.studies} studies of {arguments.queries} of {IMAGES} queries, "
        f"{arguments.results} of {IMAGES - 1} results each; {relevant.mean():.1%} of all pairs relevant. "
        f"Mean truth, and coverage of 95 % intervals in %"
        f"{', as if the share of the queries were not known' if arguments.open else ''}.\n"
    )
    print_table(rows, ["", *(text for s in "ABCD" for text in (f"true {s}", f"% {s}"))])
    bias = max(abs(np.mean(v)) / max(np.std(v), 1e-12) for v in error.values() if np.std(v) > 0)
    print(f"\n* an interval can err at one end only.\nLargest mean error: {bias:.2f} of a standard deviation.")
