"""How often the demo's intervals hold the truth, over many samples of one collection.

    python -P benchmarks/demo.py [DRAWS]

Needs the folder of a finished demo (--folder, default demo). Each draw chooses pairs anew, the panel rates them without
pages (new noise, the same raters), and the study is calibrated and scored as `relstudy` does it. Printed for every
index: share of draws whose 95 % interval holds the truth, mean error, and standard deviation of the error; once with
the panel's noisy ratings, and once with judgments free of noise, which leaves the error of sampling alone.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

import click
import numpy as np
import pandas as pd

from relstudy.analysis.scoring.run import ScoringOptions as Scoring
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.ratings import read_ratings
from relstudy.common.console import print_table, progress
from relstudy.common.hand_out import HandOut
from relstudy.common.scales import SCALES
from relstudy.common.tables import read_json, write_table
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.demo.recovered import Census, Recovered, census, system_rows
from relstudy.studyapp.demo.sizes import Size, available_systems
from relstudy.studyapp.rendered.collection import DemoCollection, make_collection
from relstudy.studyapp.sampling.first_round import SampleOptions, draw_sample_from
from relstudy.studyapp.sampling.sources import Source, open_sources

CUT = SCALES["1-5"].cut


def all_scores(collection: Collection, sources: list[Source]) -> pd.DataFrame:
    """Every system's score of every pair, in the precision that scores are kept in."""
    parts = []
    for source in sources:
        for query in collection:
            scores = source.score(query)
            if scores is None:
                continue
            places = collection.results(query.kind)
            places = places[np.isfinite(scores[places]) & (collection.ids[places] != query.id)]
            kept = scores[places].astype(np.float32).astype(float)
            ids = {"query_id": query.id, "result_id": collection.ids[places]}
            parts.append(pd.DataFrame({"system": source.name, **ids, "score": kept}))
    return pd.concat(parts, ignore_index=True)


def judged(pairs: pd.DataFrame, panel: SimulatedPanel, size: Size, everything: Census, *, noise: bool) -> pd.DataFrame:
    """Judgments of the pairs, by rating and calibrating, or free of noise."""
    keys = ["query_id", "result_id"]
    design = pairs[[*keys, "inclusion_probability", "query_probability"]]
    if not noise:
        return design.merge(everything.judgments.drop(columns="inclusion_probability"), on=keys)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        write_table(panel.rate(pairs, size.ratings_per_pair), file)
        found = calibrate(read_ratings(file), "pooled", handed_out=HandOut.RANDOM, force=True)
    return found.judgments.merge(design, on=keys)


def one_draw(
    seed: int,
    collection: Collection,
    sources: list[Source],
    known: DemoCollection,
    everything: Census,
    *,
    noise: bool,
) -> list[Recovered]:
    """Choose, rate, calibrate, score, and compare with all pairs."""
    size = Size()
    panel = SimulatedPanel(draw_raters(size.raters, 0), known, seed)
    options = SampleOptions(queries=size.queries, results=size.results, base=size.base, seed=seed)
    judgments = judged(draw_sample_from(collection, sources, options).pairs, panel, size, everything, noise=noise)
    of_pairs = everything.scores.merge(judgments[["query_id", "result_id"]], on=["query_id", "result_id"])
    result = score_systems(judgments, of_pairs, options=Scoring(relevance="share", replicates=300))
    return system_rows(result.as_json()["systems"], everything)


@click.command()
@click.argument("draws", default=20)
@click.option("--folder", type=click.Path(path_type=Path, exists=True), default=Path("demo"))
def main(draws: int, folder: Path) -> None:
    """Print the table."""
    made = read_json(folder / "demo.json")
    known = make_collection(made["images"], made["seed"])
    collection = Collection.load(folder)
    sources = open_sources(folder, collection, list(available_systems()))
    panel = SimulatedPanel(draw_raters(Size().raters, 0), known)
    size = Size()
    options = SampleOptions(queries=size.queries, results=size.results, base=size.base, seed=100)
    pairs = draw_sample_from(collection, sources, options).pairs
    # the base pairs of other draws put raters on nearly the same lines
    everything = census(known, panel, all_scores(collection, sources), CUT, pairs[pairs["block"] == "base"])
    for noise in (True, False):
        held: dict[tuple[str, str], list[bool]] = defaultdict(list)
        errors: dict[tuple[str, str], list[float]] = defaultdict(list)
        for seed in progress(range(100, 100 + draws), "draws", draws):
            for row in one_draw(seed, collection, sources, known, everything, noise=noise):
                held[row.quantity, row.system].append(bool(row.covered))
                errors[row.quantity, row.system].append((row.recovered or 0.0) - row.true)
        rows = [
            [*key, f"{np.mean(held[key]):.2f}", f"{np.mean(errors[key]):+.4f}", f"{np.std(errors[key]):.4f}"]
            for key in held
        ]
        click.echo("with the panel's noise" if noise else "with judgments free of noise")
        print_table(rows, ["quantity", "system", "held", "mean error", "standard deviation"])
        click.echo(f"all: {np.mean([np.mean(values) for values in held.values()]):.3f} over {draws} draws\n")


if __name__ == "__main__":
    main()
