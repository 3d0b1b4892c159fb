"""How often the demo's intervals hold the truth, over many samples of one collection.

    python -P evidence/benchmarks/demo.py [DRAWS] [--ratings 1 --ratings 3] [--seed 100] [--parts] [--panels]

Needs the folder of a finished demo (--folder, default demo). Each draw chooses pairs, the panel rates them without
pages (new noise, the same raters), and the study is calibrated and scored as `relstudy` does it. Printed for every
index: share of draws whose 95 % interval holds the truth, mean error, its standard error, and how many of these the
mean is from 0; with the panel's noisy ratings, so many a pair, and with judgments free of noise (0 ratings), which
leaves the error of sampling alone. The truth is this panel's; with ratings, intervals speak of any raters like them.

--parts prints mean errors alone and tells them apart: with the true chance of each drawn pair (sampling), with ratings
on the raters' true lines (and their noise), and calibrated (and what calibration adds).

--panels gives each draw a panel of its own, whose truth is counted again: what its raters happen to be like is then a
part of the errors, and their mean is no longer that of one panel.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pandas as pd

from relstudy.analysis.scoring.options import ScoringOptions as Scoring
from relstudy.analysis.scoring.run import score_systems
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.runtime.files import read_json
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.scales import SCALES
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters
from relstudy.studyapp.demo.recovery import Census, Recovered, census, system_rows
from relstudy.studyapp.demo.sizes import Size, available_systems
from relstudy.studyapp.example_pictures.collection import make_collection
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.options import SampleOptions
from relstudy.studyapp.sampling.sources import Source, open_sources

CUT = SCALES["1-5"].cut


def all_scores(collection: Collection, sources: list[Source]) -> pd.DataFrame:
    """Every system's score of every pair, in the precision that scores are kept in."""
    parts = []
    for source in sources:
        for query in collection:
            said = source.scored(query)
            if said is None:
                continue
            places = collection.results(query.kind)
            scores = said.at(places)
            kept = np.isfinite(scores) & (collection.ids[places] != query.id)
            ids = {"query_id": query.id, "result_id": collection.ids[places[kept]]}
            score = scores[kept].astype(np.float32).astype(float)
            parts.append(pd.DataFrame({"system": source.name, **ids, "score": score}))
    return pd.concat(parts, ignore_index=True)


class Study:
    """A finished demo's collection and systems, whose pairs are drawn and rated again.

    Parameters
    ----------
    folder : of the demo
    first : seed of the first draw
    panels : whether each draw has a panel of its own
    """

    def __init__(self, folder: Path, first: int, panels: bool) -> None:
        made = read_json(folder / "demo.json")
        self.known = make_collection(made["images"], made["seed"])
        self.collection = Collection.load(folder)
        self.sources = open_sources(folder, self.collection, list(available_systems()))
        self.scores = all_scores(self.collection, self.sources)
        self.first, self.panels = first, panels
        self._true: dict[int, tuple[dict[str, int], Census]] = {}

    def pairs(self, seed: int) -> pd.DataFrame:
        """The pairs of a draw."""
        size = Size()
        options = SampleOptions(queries=size.queries, results=size.results, base=size.base, seed=seed)
        return draw_sample_from(self.collection, self.sources, options).pairs

    def panel(self, seed: int) -> SimulatedPanel:
        """Who rates a draw: the demo's raters with noise of their own, or other raters each time."""
        return SimulatedPanel(draw_raters(Size().raters, seed if self.panels else 0), self.known, seed)

    def truth(self, seed: int) -> Census:
        """What the panel of a draw would say of all pairs.

        One panel's is counted once: the base pairs of other draws put raters on nearly the same lines.
        """
        return self._counted(seed)[1]

    def lowest_relevant(self, seed: int) -> dict[str, int]:
        """By rater, the lowest rating above the cut on the true lines of `truth`."""
        return self._counted(seed)[0]

    def _counted(self, seed: int) -> tuple[dict[str, int], Census]:
        drawn = seed if self.panels else self.first
        if drawn not in self._true:
            panel, pairs = self.panel(drawn), self.pairs(drawn)
            base = pairs[pairs["block"] == "base"]
            relevance = self.known.relevance(list(base["query_id"]), list(base["result_id"]))
            names = [each.name for each in panel.raters]
            lowest = dict(zip(names, panel.lowest_relevant(CUT, relevance), strict=True))
            self._true = {drawn: (lowest, census(self.known, panel, self.scores, CUT, base))}
        return self._true[drawn]


def parts_of(seed: int, study: Study, ratings: int) -> dict[str, Judgments]:
    """Judgments of the same pairs and ratings whose relevance is free of noise, by true lines, and calibrated."""
    keys = ["query_id", "result_id"]
    pairs, panel, everything = study.pairs(seed), study.panel(seed), study.truth(seed)
    found = judged(pairs, panel, ratings, everything).frame
    given = panel.rate(pairs, ratings).dropna(subset="rating")
    lowest = given["rater_id"].map(study.lowest_relevant(seed))
    by_line = (given["rating"] >= lowest).groupby([given[key] for key in keys]).mean()
    free = everything.judgments.set_index(keys)["relevant_share"]
    order = pd.MultiIndex.from_frame(found[keys])
    shares = {"sampling": free.loc[order], "true lines": by_line.loc[order], "calibrated": found["relevant_share"]}
    return {name: Judgments.of(found.assign(relevant_share=each.to_numpy())) for name, each in shares.items()}


def print_parts(draws: range, ratings: int, study: Study) -> None:
    """Mean errors of average precision and normalised rank, by what they come from."""
    errors = defaultdict(list)
    options = Scoring(relevance="share", replicates=1, measures=())
    for seed in progress(draws, "draws", len(draws)):
        everything = study.truth(seed)
        true = {each.name: each for each in everything.indices.systems}
        for part, judgments in parts_of(seed, study, ratings).items():
            scores = everything.scores.merge(judgments.frame[["query_id", "result_id"]], on=["query_id", "result_id"])
            for system in score_systems(judgments, scores, options=options).systems:
                for index in ("average_precision", "normalised_rank"):
                    value, right = (each.indices[index].value or 0.0 for each in (system, true[system.name]))
                    errors[index.replace("_", " "), system.name, part].append(value - right)
    rows = []
    for key, missed in errors.items():
        mean, error = float(np.mean(missed)), float(np.std(missed, ddof=1)) / np.sqrt(len(draws))
        rows.append([*key, f"{mean:+.4f}", f"{error:.4f}", f"{mean / error:+.1f}"])
    click.echo(f"{ratings} ratings per pair, {len(draws)} draws from seed {draws.start}{of_panels(study)}")
    print_table(rows, ["quantity", "system", "part", "mean error", "standard error", "mean in standard errors"])


def of_panels(study: Study) -> str:
    """Which panels rate, as the end of a line."""
    return ", each rated by a panel of its own" if study.panels else ""


def judged(pairs: pd.DataFrame, panel: SimulatedPanel, ratings: int, everything: Census) -> Judgments:
    """Judgments of the pairs, by so many ratings per pair and calibrating, or with none free of noise."""
    keys = ["query_id", "result_id"]
    design = pairs[[*keys, "inclusion_probability", "query_probability"]]
    if not ratings:
        return Judgments.of(design.merge(everything.judgments.drop(columns="inclusion_probability"), on=keys))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ratings.csv"
        write_table(panel.rate(pairs, ratings), file)
        found = calibrate(read_ratings(file), CalibrationOptions("pooled", handed_out="random", force=True))
    order = pd.MultiIndex.from_frame(found.judgments.frame[keys])
    frame = found.judgments.frame.assign(**design.set_index(keys).loc[order].reset_index(drop=True))
    return replace(found.judgments, frame=frame)


def one_draw(seed: int, study: Study, ratings: int) -> list[Recovered]:
    """Choose, rate, calibrate, score, and compare with all pairs."""
    everything = study.truth(seed)
    judgments = judged(study.pairs(seed), study.panel(seed), ratings, everything)
    of_pairs = everything.scores.merge(judgments.frame[["query_id", "result_id"]], on=["query_id", "result_id"])
    result = score_systems(judgments, of_pairs, options=Scoring(relevance="share", replicates=300))
    return system_rows(result.as_json()["systems"], everything)


@click.command()
@click.argument("draws", default=20)
@click.option("--folder", type=click.Path(path_type=Path, exists=True), default=Path("demo"))
@click.option("--ratings", multiple=True, type=click.IntRange(min=0), default=(1, 3, 0), help="Ratings a pair.")
@click.option("--seed", default=100, show_default=True, help="Of the first draw.")
@click.option("--parts", is_flag=True, help="Mean errors alone, by what they come from.")
@click.option("--panels", is_flag=True, help="A panel of its own for each draw.")
def main(draws: int, folder: Path, ratings: tuple[int, ...], seed: int, parts: bool, panels: bool) -> None:
    """Print the table."""
    study = Study(folder, seed, panels)
    if parts:
        for number in (each for each in ratings if each):
            print_parts(range(seed, seed + draws), number, study)
        return
    for number in ratings:
        held: dict[tuple[str, str], list[bool]] = defaultdict(list)
        errors: dict[tuple[str, str], list[float]] = defaultdict(list)
        for each in progress(range(seed, seed + draws), "draws", draws):
            for row in one_draw(each, study, number):
                held[row.quantity, row.system].append(bool(row.covered))
                errors[row.quantity, row.system].append((row.recovered or 0.0) - row.true)
        rows = []
        for key, missed in errors.items():
            mean, deviation = float(np.mean(missed)), float(np.std(missed, ddof=1)) / np.sqrt(draws)
            off = mean / deviation if deviation > 0 else 0.0
            rows.append([*key, f"{np.mean(held[key]):.2f}", f"{mean:+.4f}", f"{deviation:.4f}", f"{off:+.1f}"])
        click.echo((f"{number} ratings per pair" if number else "judgments free of noise") + of_panels(study))
        print_table(rows, ["quantity", "system", "held", "mean error", "standard error", "mean in standard errors"])
        click.echo(f"all: {np.mean([np.mean(values) for values in held.values()]):.3f} over {draws} draws\n")


if __name__ == "__main__":
    main()
