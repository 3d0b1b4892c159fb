"""How long a draw takes and how much memory, by size of the collection; and what the weights recover.

    python evidence/benchmarks/sampling.py [--items 16000] [--queries 400] [--results 40]
    python evidence/benchmarks/sampling.py --paper
    python evidence/benchmarks/sampling.py --bias
    python evidence/benchmarks/sampling.py --rounds

Scale: items with keywords and vectors from a seed, four systems (keywords, two sets of vectors, BM25), scored one query
at a time, written as a study would be. Peers, in the same run: the same draw over a full table of all pairs (for a
collection small enough), as one would write it with NumPy.

Paper: the same with the paper's four systems (keywords, GIFT, SIMPLIcity, ROMM) over pictures that were indexed before;
the features are made up.

Bias: precision and recall of four systems whose relevance is known, by three weightings, mean of 200 draws; then how
many of such means lie within two standard errors of the demo's truth.
Rounds: uniformity error of the demo's simulated panel before and after a round from mappings.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# This file has a module's name beside packages' names, so its folder must not come first.
sys.path[0] = str(Path(__file__).resolve().parents[2])


def make_study(folder: Path, items: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    words = np.array([f"word{number}" for number in range(400)])
    chosen = words[(400 * rng.random((items, 6)) ** 2).astype(int)]
    ids = [f"i{number:05d}" for number in range(items)]
    pd.DataFrame(
        {"item_id": ids, "text": [" ".join(row) for row in chosen], "keywords": [";".join(row) for row in chosen]}
    ).to_csv(folder / "collection.csv", index=False)
    (folder / "scores").mkdir()
    for name in ("one", "two"):
        np.save(folder / "scores" / f"{name}.npy", rng.standard_normal((items, 64)).astype(np.float32))
        (folder / "scores" / f"{name}.ids.txt").write_text("\n".join(ids) + "\n")


def ours(items: int, queries: int, results: int) -> tuple[float, int]:
    """Seconds for load, fit, draw and write; number of pairs."""
    from relstudy.studyapp.commands.sample import write
    from relstudy.studyapp.sampling.first_round import draw_sample
    from relstudy.studyapp.sampling.options import SampleOptions

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_study(folder, items)
        start = time.perf_counter()
        systems = ["keywords", "bm25", "vectors:one.npy", "vectors:two.npy"]
        chosen = draw_sample(folder, SampleOptions(systems=systems, text_queries=queries, results=results))
        write(folder, chosen)
        return time.perf_counter() - start, len(chosen.pairs)


def make_pictures_study(folder: Path, items: int, seed: int = 0) -> None:
    """Pictures of one pixel with keywords, and the features of the paper's systems made up, as if indexed before."""
    from PIL import Image

    from relstudy.studyapp.collection.items import Collection

    rng = np.random.default_rng(seed)
    (folder / "pictures").mkdir()
    Image.new("RGB", (1, 1)).save(folder / "pictures" / "first.png")
    pixel = (folder / "pictures" / "first.png").read_bytes()
    paths = [f"pictures/i{number:05d}.png" for number in range(items)]
    for path in paths:
        (folder / path).write_bytes(pixel)
    words = np.array([f"word{number}" for number in range(400)])[(400 * rng.random((items, 6)) ** 2).astype(int)]
    pd.DataFrame(
        {"item_id": [Path(path).stem for path in paths], "path": paths, "keywords": [";".join(row) for row in words]}
    ).to_csv(folder / "collection.csv", index=False)
    # six regions to a picture, of eight at most
    area = np.hstack([rng.dirichlet(np.ones(6), size=items), np.zeros((items, 2))]).astype(np.float32)
    features = {
        "gift-1": {
            "histogram": rng.dirichlet(np.ones(166), size=items).astype(np.float32),
            "modes": (166 * rng.random((items, 340)) ** 3).astype(np.uint8),
            "energy": rng.lognormal(size=(items, 12 * 256)).astype(np.float32),
        },
        "simplicity-1": {
            "area": area,
            "features": rng.normal(scale=20, size=(items, 8, 6)).astype(np.float32),
            "shape": (1 + rng.random((items, 8, 3))).astype(np.float32),
        },
        "segments-1": {"area": area, "features": rng.normal(size=(items, 8, 24)).astype(np.float32)},
    }
    index = folder / "scores" / ".index"
    index.mkdir(parents=True)
    fingerprint = np.array(Collection.load(folder).fingerprint)
    for name, arrays in features.items():
        np.savez(index / f"{name}.npz", fingerprint=fingerprint, **arrays)


def paper_systems(items: int, queries: int, results: int) -> None:
    """As `ours`, with the paper's four systems; indexing is not counted."""
    from relstudy.studyapp.commands.sample import write
    from relstudy.studyapp.sampling.first_round import draw_sample
    from relstudy.studyapp.sampling.options import SampleOptions

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_pictures_study(folder, items)
        start, used = time.perf_counter(), time.process_time()
        systems = ["keywords", "gift", "simplicity", "romm-all"]
        chosen = draw_sample(folder, SampleOptions(systems=systems, queries=queries, results=results))
        write(folder, chosen)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{items} pictures, {len(chosen.pairs)} pairs: {time.perf_counter() - start:.1f} s "
            f"({time.process_time() - used:.1f} processor s), {peak:.0f} MB at most"
        )


def full_table(items: int, queries: int, results: int) -> float:
    """Seconds for the same kind of draw when every system's scores of all pairs are held at once (scores given)."""
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    size = np.zeros((items, items))
    weights = 1 / np.arange(1, items + 1)
    weights /= weights.sum()
    for _ in range(4):
        vectors = rng.standard_normal((items, 64)).astype(np.float32)
        rank = (-(vectors @ vectors.T)).argsort(axis=1).argsort(axis=1)
        size += weights[rank] / 4
    size = 0.95 * size + 0.05 / items
    for query in rng.choice(items, queries, replace=False):
        rng.choice(items, results, replace=False, p=size[query] / size[query].sum())
    return time.perf_counter() - start


class Matrix:
    """A system whose scores are written down."""

    stamp = "fixed"

    def __init__(self, name: str, collection: Any, scores: np.ndarray) -> None:
        self.name, self._collection, self._scores = name, collection, scores

    def scored(self, query: Any) -> Any:
        from relstudy.studyapp.sampling.population import ScoredItems

        return ScoredItems(self._scores[self._collection.position(query.id)])


def at_cut(good: np.ndarray, score: np.ndarray, weight: np.ndarray, cut: float) -> tuple[float, float]:
    """Precision and recall where every pair that scores at least `cut` is retrieved."""
    from relstudy.analysis.indices.precision_recall import precision_recall_curve

    curve = precision_recall_curve(good, score, weight)
    point = np.flatnonzero(curve.threshold >= cut)[-1]
    return float(curve.precision[point]), float(curve.recall[point])


class World:
    """All pairs of a collection: which are relevant, each system's scores, and a draw's design over half the queries.

    Parameters
    ----------
    relevant : bool [queries, items], each item a query too
    systems : score tables [queries, items] by name
    results : drawn per query
    """

    def __init__(self, relevant: np.ndarray, systems: dict[str, np.ndarray], results: int) -> None:
        from relstudy.studyapp.collection.items import Collection, Item
        from relstudy.studyapp.sampling.sampling_design import Round, candidate_probabilities

        number = len(relevant)
        collection = Collection([Item(f"i{place}", "image") for place in range(number)])
        sources = [Matrix(name, collection, scores) for name, scores in systems.items()]
        this = Round(1, {}, results, 1.0, 0.05, 1, {"image": 0.5}, {"image": number}, 0)
        self.relevant, self.systems, self.results = relevant, systems, results
        self.shapes = [candidate_probabilities(this, query, collection, sources) for query in collection]
        self.others = ~np.eye(number, dtype=bool)
        self.cut = {name: float(np.quantile(scores[self.others], 0.98)) for name, scores in systems.items()}

    def truth(self) -> np.ndarray:
        """Precision and recall over all pairs, [systems, 2]."""
        every = self.others
        return np.array(
            [
                at_cut(self.relevant[every], scores[every], np.ones(every.sum()), self.cut[name])
                for name, scores in self.systems.items()
            ]
        )

    def drawn_share(self) -> float:
        """Share of relevant pairs among those drawn."""
        hits = sum(
            (found.probability * self.relevant[q, found.candidates]).sum() for q, found in enumerate(self.shapes)
        )
        return float(hits) / (len(self.shapes) * self.results)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One draw: [systems, design / rank to the fifth / no weights, precision and recall]."""
        from relstudy.analysis.scoring.judged_pairs import rank_power_weights
        from relstudy.common.sampling.probability_draws import simple_random_sample, systematic_sample

        queries = simple_random_sample(len(self.shapes), len(self.shapes) // 2, rng)
        chosen = [systematic_sample(self.shapes[query].probability, rng) for query in queries]
        rows = np.repeat(queries, [len(places) for places in chosen])
        columns = np.concatenate([self.shapes[q].candidates[c] for q, c in zip(queries, chosen, strict=True)])
        probability = np.concatenate([self.shapes[q].probability[c] for q, c in zip(queries, chosen, strict=True)])
        found = []
        for name, scores in self.systems.items():
            good, score = self.relevant[rows, columns], scores[rows, columns]
            weights = (1 / probability, rank_power_weights(score), np.ones(len(score)))
            found.append([at_cut(good, score, weight, self.cut[name]) for weight in weights])
        return np.array(found)


def bias(number: int = 400, draws: int = 200) -> None:
    """Means over draws of precision and recall at the best 2 % of all pairs, by weighting."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(number, number))
    systems = {f"{c:g}": c * latent + np.sqrt(1 - c * c) * rng.normal(size=latent.shape) for c in (0.9, 0.6, 0.45, 0.3)}
    world = World(latent > 2, systems, 40)
    print(
        f"{world.relevant[world.others].mean():.1%} of all pairs relevant, {world.drawn_share():.1%} of those drawn; "
        f"mean of {draws} draws"
    )
    print(f"{'strength':>8}  {'':9}  {'truth':>7}  {'design':>7}  {'se':>7}  {'rank^5':>7}  {'equal':>7}")
    truth = world.truth()
    found = np.array([world.draw(rng) for _ in range(draws)])
    mean, error = found.mean(axis=0), found[:, :, 0].std(axis=0, ddof=1) / np.sqrt(draws)
    for row, name in enumerate(systems):
        for column, what in enumerate(("precision", "recall")):
            by_rule = "  ".join(f"{mean[row, rule, column]:7.4f}" for rule in (1, 2))
            print(
                f"{name:>8}  {what:9}  {truth[row, column]:7.4f}  {mean[row, 0, column]:7.4f}  "
                f"{error[row, column]:7.4f}  {by_rule}"
            )


def within_two_errors(number: int = 300, draws: int = 200, sets: int = 24) -> None:
    """How often a mean over draws lies within two standard errors of the demo's truth, over sets of draws."""
    from relstudy.studyapp.collection.items import Collection, Item, split_keywords
    from relstudy.studyapp.example_pictures.collection import make_collection
    from relstudy.studyapp.systems.keywords import Keywords

    demo = make_collection(number, 0)
    items = [
        Item(row.item_id, "image", keywords=split_keywords(row.keywords)) for row in demo.items.itertuples(index=False)
    ]
    keywords = Keywords().fit(Collection(items))
    systems = {"keywords": np.array([keywords.score(item) for item in items])}
    rng = np.random.default_rng(0)
    latent = (demo.truth - demo.truth.mean()) / demo.truth.std()
    for strength in (0.85, 0.6, 0.35):
        systems[f"{strength:g}"] = strength * latent + np.sqrt(1 - strength**2) * rng.standard_normal(latent.shape)
    world = World(demo.truth > 3, systems, 30)
    truth = world.truth()
    found = np.array([[world.draw(np.random.default_rng([one, draw])) for draw in range(draws)] for one in range(sets)])
    error = found.std(axis=1, ddof=1) / np.sqrt(draws)
    off = np.abs(found.mean(axis=1) - truth[None, :, None]) / error
    near = off < 2
    figures = truth.size
    print(f"\nThe demo's truth, {number} pictures, {sets} sets of {draws} draws, {figures} figures a set:")
    for rule, what in enumerate(("design weights", "rank to the fifth", "no weights")):
        held = near[:, :, rule]
        print(
            f"  {what}: {held.sum()} of {held.size} means within two standard errors of the truth; in "
            f"{held.all(axis=(1, 2)).sum()} of {sets} sets all {figures} are"
        )
    design = found[:, :, :, 0].reshape(-1, *truth.shape)
    share = np.abs(design.mean(axis=0) - truth) / design.std(axis=0, ddof=1)
    print(f"  largest mean error under design weights: {share.max():.3f} of a draw's standard deviation")


def rounds(number: int = 1_000) -> None:
    """Table 5.2 on the demo's panel: keyword overlap and colours, 100 queries of 20 results in each round."""
    from sklearn.isotonic import IsotonicRegression

    from relstudy.calibration.reliability.scale_use import uniformity_table
    from relstudy.mapping.fitted import FittedMapping
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
    from relstudy.studyapp.example_pictures.collection import make_collection, write_collection
    from relstudy.studyapp.sampling.first_round import draw_sample_from
    from relstudy.studyapp.sampling.further_pairs import DrawnStudy
    from relstudy.studyapp.sampling.next_round import draw_next_round_from
    from relstudy.studyapp.sampling.options import NextOptions, SampleOptions
    from relstudy.studyapp.sampling.sources import open_sources

    with tempfile.TemporaryDirectory() as name:
        demo = make_collection(number, 0)
        write_collection(demo, Path(name))
        collection = Collection.load(Path(name))
        sources = open_sources(Path(name), collection, ["keywords", "colour"])
        panel = SimulatedPanel(draw_raters(12), demo)
        first = draw_sample_from(collection, sources, SampleOptions())
        judged = panel.rate(first.pairs).groupby(["query_id", "result_id"], as_index=False)["rating"].mean().dropna()
        judged = judged.rename(columns={"rating": "judgment"})
        mappings = {}
        for source in sources:
            score = np.concatenate(
                [
                    source.scored(collection[query]).scores[[collection.position(item) for item in group["result_id"]]]
                    for query, group in judged.groupby("query_id", sort=True)
                ]
            )
            fitted = IsotonicRegression().fit(score, judged.sort_values("query_id", kind="stable")["judgment"])
            knots, place = np.unique(fitted.X_thresholds_, return_index=True)
            mappings[source.name] = FittedMapping(knots, fitted.y_thresholds_[place], system=source.name)
        later = draw_next_round_from(
            DrawnStudy(collection, sources, first.design, first.pairs), judged, mappings, NextOptions()
        )
        rated = panel.rate(later.pairs).merge(later.pairs[["pair_id", "source", "round"]], on="pair_id")
        table = uniformity_table(rated[rated["block"] == "unique"], [1, 2, 3, 4, 5])
        print(table.round(3).to_string(index=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=16_000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--results", type=int, default=40)
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--rounds", action="store_true")
    given = parser.parse_args()
    if given.paper:
        paper_systems(given.items, min(given.queries, given.items), given.results)
        return
    if given.bias:
        bias()
        within_two_errors()
        return
    if given.rounds:
        rounds()
        return
    print(f"{'items':>6}  {'pairs':>6}  {'relstudy s':>10}  {'peak MB so far':>14}  {'full table s':>12}  {'ratio':>6}")
    for items in sorted({1_000, min(4_000, given.items), given.items}):
        seconds, pairs = ours(items, min(given.queries, items), given.results)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if items <= 4_000:
            peer = full_table(items, min(given.queries, items), given.results)
            beside = f"{peer:12.1f}  {peer / seconds:6.1f}"
        else:
            beside = f"{'(' + format(items**2 * 8 / 1e9, '.1f') + ' GB)':>12}  {'':>6}"
        print(f"{items:6d}  {pairs:6d}  {seconds:10.1f}  {peak:14.0f}  {beside}", flush=True)


if __name__ == "__main__":
    main()
