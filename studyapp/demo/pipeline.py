"""The whole way, stage by stage, on a collection whose true relevance is known.

Stages after the first are the commands that a person would type; the demo runs the same code in its own process.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.precompile import compiling_meanwhile
from relstudy.common.runtime.console import progress
from relstudy.common.runtime.files import write_json, write_text
from relstudy.common.runtime.wording import as_argument, percent, quoted
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.common.tables.meaning.scales import SCALES
from relstudy.common.tables.meaning.study_folder import question_folder
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.lists import LISTS
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.demo.folder import claim, write_study
from relstudy.studyapp.demo.panel import SimulatedPanel, draw_raters, with_careless
from relstudy.studyapp.demo.rating import rate
from relstudy.studyapp.demo.recovery import (
    Census,
    Recovered,
    census,
    judgment_rows,
    rater_rows,
    recovered_table,
    system_rows,
)
from relstudy.studyapp.demo.show import Stage, Stages, run_command, without_database_url
from relstudy.studyapp.demo.simulated_judge import judged_stage
from relstudy.studyapp.demo.sizes import Size, available, available_systems
from relstudy.studyapp.example_pictures.collection import DemoCollection, make_collection, write_collection
from relstudy.studyapp.systems import fit, make

INTERFACES = {"binary": 6, "1-9": 5}
"""Raters of each scale beside 1-5, as many as in the paper's table 5.1."""


@dataclass(frozen=True)
class Outcome:
    """A finished demo: where its files are, who rated how much, and how near the estimates came to the truth.

    Parameters
    ----------
    folder : the study
    report : its report page
    rows : recovered against true
    stages : title, command, outcome and seconds of each stage
    ratings, raters : how many there were
    systems : those that chose the pairs
    variants : those that were scored afterwards
    judged : figures of people alone, of a simulated judge alone, and of both, against true
    """

    folder: Path
    report: Path
    rows: list[Recovered]
    stages: list[dict[str, Any]]
    ratings: int
    raters: int
    systems: list[str]
    variants: list[str]
    judged: list[Recovered]

    def as_json(self) -> dict[str, Any]:
        """Content of `relstudy demo --json`."""
        return {
            "folder": str(self.folder),
            "report": str(self.report),
            "systems": self.systems,
            "variants": self.variants,
            "raters": self.raters,
            "ratings": self.ratings,
            "seconds": round(sum(stage["seconds"] for stage in self.stages), 1),
            "stages": self.stages,
            "recovered": [row.as_json() for row in self.rows],
            "judge": [row.as_json() for row in self.judged],
        }


def run_demo(
    folder: Path,
    size: Size,
    *,
    seed: int = 0,
    systems: tuple[str, ...] | None = None,
    variants: tuple[str, ...] | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run a whole study in FOLDER: collection, sample, ratings, calibration, mappings, scores and report.

    Parameters
    ----------
    folder : absent, empty, or the folder of an earlier demo, which is then made again
    size : how large
    seed : of the choice of pictures, panel and sample
    systems : built-in systems that choose the pairs; default: keywords and colour, and two more where the extra is
        installed
    variants : built-in systems that choose no pairs and are scored afterwards; default: those of the size where the
        extra is installed, none where `systems` are named
    quiet : show nothing

    Raises
    ------
    RelstudyError
        when the folder holds something else, or a stage fails
    """
    if variants is None:
        variants = available(size.variants) if systems is None else ()
    names = systems or size.choosing or available_systems()
    for name in (*names, *variants):
        make(name)
    claim(folder, size, seed)
    show = Stages(10 + bool(variants) + 3 * size.cards + 5 * (size.rounds - 1) + size.paper, quiet=quiet)
    with without_database_url():
        try:
            with compiling_meanwhile():
                collection = _collect(folder, size, seed, show)
                panel = SimulatedPanel(with_careless(draw_raters(size.raters * size.rounds, seed)), collection, seed)
                everything = _score_all(folder, names, show)
                _sample(folder, size, seed, names, show)
                if size.cards:
                    _couples(folder, names, seed, show)
                people, count = rate(folder, panel, show, range(size.raters))
            _learn(folder, names, show)
            for later in range(1, size.rounds):
                sample_again(folder, size, seed + later, show)
                others = range(later * size.raters, (later + 1) * size.raters)
                more, further = rate(folder, panel, show, others)
                people, count = people | more, count + further
                _learn(folder, names, show)
            scored = _score(folder, names, show)
            rows, whole = _compare(folder, collection, panel, people, everything, scored)
            files = [str(score_file(folder, name)) for name in names]
            judged = judged_stage(folder, collection, whole, files, names, seed, show)
            if size.cards:
                _learn_further(folder, show)
                _learn_preferences(folder, show)
            if variants:
                _score_variants(folder, variants, show)
            interfaces = other_interfaces(folder, panel, show) if size.paper else []
            _report(folder, interfaces, size.paper and size.wishes > 0, show)
        finally:
            write_text("\n".join(show.log) + "\n", folder / "demo.log")
    stages = [
        {"title": s.title, "command": s.command, "outcome": s.outcome, "seconds": round(s.seconds, 2)}
        for s in show.done
    ]
    page = folder / "report" / "index.html"
    return Outcome(folder, page, rows, stages, count, len(panel.raters), list(names), list(variants), judged)


def _collect(folder: Path, size: Size, seed: int, show: Stages) -> DemoCollection:
    with show.stage("Lay out the collection", units=size.images) as stage:
        collection = make_collection(size.images, seed, size.wishes)
        collection = collection.as_cards() if size.cards else collection
        write_collection(collection, folder, done=stage.advance)
        write_study(folder, size, seed)
        words = f", {size.wishes} queries by text" if size.wishes else ""
        stage.outcome = f"{size.images} pictures with keywords{words}"
    return collection


def _score_all(folder: Path, names: tuple[str, ...], show: Stages) -> pd.DataFrame:
    """Every system's score of every pair of the collection, from which the true indices are computed."""
    with show.stage("Let the systems score every pair", units=len(names)) as stage:
        collection = Collection.load(folder)
        parts = []
        for name in names:
            system = fit(name, collection, folder, progress)
            for query in (item for item in collection if item.role != "result"):
                scores = system.score(query)
                if scores is None:
                    continue
                positions = collection.results(query.paradigm)
                positions = positions[np.isfinite(scores[positions]) & (collection.ids[positions] != query.id)]
                parts.append((name, query.id, collection.ids[positions], scores[positions]))
            stage.advance(1)
        counts = [len(part[2]) for part in parts]
        frame = pd.DataFrame(
            {
                "system": np.repeat([part[0] for part in parts], counts),
                "query_id": np.repeat([part[1] for part in parts], counts),
                "result_id": np.concatenate([part[2] for part in parts]),
                # as `relstudy sample` keeps them, so that a cut means the same pairs in both
                "score": np.concatenate([part[3] for part in parts]).astype(np.float32).astype(float),
            }
        )
        stage.outcome = f"{', '.join(names)}: {len(frame):,} scores"
    return frame


def _sample(folder: Path, size: Size, seed: int, names: tuple[str, ...], show: Stages) -> None:
    arguments = [as_argument(folder), "--systems", ",".join(names), "--queries", str(size.queries)]
    arguments += ["--results", str(size.results), "--base", str(size.base), "--seed", str(seed)]
    arguments += ["--raters", str(size.raters)]
    with show.stage("Choose pairs", command=shlex.join(["relstudy", "sample", *arguments])) as stage:
        drawn = run_command("sample", *arguments, show=show)
        stage.outcome = (
            f"{drawn['base_pairs']} base and {drawn['unique_pairs']:,} unique pairs, "
            f"smallest inclusion probability of any candidate {drawn['smallest_inclusion_probability']:.2g}"
        )


def _couples(folder: Path, names: tuple[str, ...], seed: int, show: Stages) -> None:
    """Couples to be compared side by side, and, if there are two systems, of their lists."""
    arguments = [str(folder), "--systems", ",".join(names), "--seed", str(seed), "--each"]
    ways = [["3"], *([["1", "--lists", "3"]] if len(names) > 1 else [])]
    command = "; ".join(shlex.join(["relstudy", "sample", "couples", *arguments, *way]) for way in ways)
    with show.stage("Choose couples", command=command, units=len(ways)) as stage:
        drawn = []
        for way in ways:
            drawn.append(run_command("sample couples", *arguments, *way, show=show)["couples"])
            stage.advance(1)
        stage.outcome = " and ".join(
            f"{many} of {what}" for many, what in zip(drawn, ("results", "lists"), strict=False)
        )


def _learn_preferences(folder: Path, show: Stages) -> None:
    """Judgments from which of two is better, in folders of their own."""
    command = f"relstudy calibrate preferences {quoted(folder)} -o {quoted(folder)}/couples"
    with show.stage("Say which of two is better", command=command, units=2) as stage:
        results = run_command("calibrate preferences", str(folder), "-o", str(folder / "couples"), show=show)
        stage.outcome = f"{results['answers']} answers on {results['results']} results"
        stage.advance(1)
        if (folder / LISTS).is_file():
            lists = run_command("calibrate preferences", str(folder), "--lists", "-o", str(folder / "lists"), show=show)
            row = lists["systems"][0]
            stage.outcome += (
                f"; lists of {row['system']} preferred to those of {row['other']} in {percent(row['preferred'])}"
            )


def _learn(folder: Path, names: tuple[str, ...], show: Stages) -> None:
    """Judgments and mappings from all ratings that there are."""
    with show.stage("Export the ratings", command=f"relstudy export {quoted(folder)}") as stage:
        exported = run_command("export", str(folder), show=show)
        stage.outcome = f"{exported['ratings']:,} ratings, {exported['undecided']} undecided"
    _calibrate(folder, show)
    _fit(folder, names, show)


def _learn_further(folder: Path, show: Stages) -> None:
    """Judgments of the further questions, each in a folder of its own."""
    names = list(Study.load(folder).result_questions)
    named = quoted(folder)
    command = f"relstudy export {named} --question NAME; relstudy calibrate {named}/questions/NAME/ratings.csv"
    with show.stage("Export the further questions", command=command, units=len(names)) as stage:
        for name in names:
            exported = run_command("export", str(folder), "--question", name, show=show)
            target = question_folder(folder, name)
            arguments = [str(target / "ratings.csv"), "-o", str(target), "--pairs", str(folder / "pairs.csv")]
            run_command("calibrate", *arguments, show=show)
            stage.advance(1)
            stage.outcome += f"{name}: {exported['ratings']:,} answers"


def _calibrate(folder: Path, show: Stages) -> None:
    arguments = [str(folder / "ratings.csv"), "-o", str(folder), "--pairs", str(folder / "pairs.csv")]
    with show.stage("Put the raters on one scale", command=shlex.join(["relstudy", "calibrate", *arguments])) as stage:
        calibrated = run_command("calibrate", *arguments, show=show)
        variance, agreement = calibrated["within_item_variance"], calibrated["leave_one_out_correlation"]
        stage.outcome = (
            f"variance among raters {_figure(variance['before'])} -> {_figure(variance['after'])}, "
            f"correlation with the others {_figure(agreement['before'])} -> {_figure(agreement['after'])}"
        )
        careless = [note.partition(":")[0] for note in calibrated["notes"] if "no sign of agreement" in note]
        stage.outcome += "".join(f"; {each}" for each in careless)


def _figure(estimate: Any) -> str:
    value = estimate["value"] if isinstance(estimate, dict) else estimate
    return "unknown" if value is None else f"{value:.3f}"


def _fit(folder: Path, names: tuple[str, ...], show: Stages) -> None:
    with show.stage("Map scores to people's scale", command=_fit_command(folder), units=len(names)) as stage:
        chosen = [f"{name} {_fit_one(folder, name, show, stage)['best']}" for name in names]
        stage.outcome = f"best out of fold: {', '.join(chosen)}"


def _fit_command(folder: Path) -> str:
    named = quoted(folder)
    return f"relstudy fit {named}/scores/NAME.csv --judgments {named}/judgments.csv -o {named}/mappings"


def _fit_one(folder: Path, name: str, show: Stages, stage: Stage) -> dict[str, Any]:
    """Fit one system's mapping; what `relstudy fit --json` says of it."""
    arguments = ["--judgments", str(folder / "judgments.csv"), "-o", str(folder / "mappings")]
    fitted = run_command("fit", str(score_file(folder, name)), *arguments, show=show)
    stage.advance(1)
    mapping: dict[str, Any] = fitted["systems"][name]
    return mapping


def _score_variants(folder: Path, names: tuple[str, ...], show: Stages) -> None:
    """Fit systems that chose no pairs, from judgments that are there already; nobody is asked again."""
    command = f"relstudy systems {quoted(folder)} {' '.join(names)}; {_fit_command(folder)}"
    with show.stage("Score systems that chose no pairs", command=command, units=len(names)) as stage:
        run_command("systems", str(folder), *names, show=show)
        mappings = {name: _fit_one(folder, name, show, stage) for name in names}
        figures = (f"{name} {_figure(mapping[mapping['best']]['out_of_fold'])}" for name, mapping in mappings.items())
        stage.outcome = f"correlation out of sample: {', '.join(figures)}"


def score_file(folder: Path, name: str) -> Path:
    """Path at which `relstudy sample` kept a system's scores."""
    files = [folder / "scores" / f"{name}{ending}" for ending in (".csv", ".parquet")]
    return next((file for file in files if file.exists()), files[0])


def _score(folder: Path, names: tuple[str, ...], show: Stages) -> dict[str, Any]:
    files = [str(score_file(folder, name)) for name in names]
    arguments = ["--judgments", str(folder / "judgments.csv"), "--mappings", str(folder / "mappings")]
    arguments += ["--save", str(folder / "comparison.json")]
    command = f"relstudy score {quoted(folder)}/scores/*.csv {shlex.join(arguments)}"
    with show.stage("Score the systems", command=command) as stage:
        scored: dict[str, Any] = run_command("score", *files, *arguments, show=show)
        write_json(scored, folder / "scores.json")
        stage.outcome = scored["verdict"]["headline"].rstrip(".")
    return scored


def _compare(
    folder: Path,
    collection: DemoCollection,
    panel: SimulatedPanel,
    people: dict[str, int],
    everything: pd.DataFrame,
    scored: dict[str, Any],
) -> tuple[list[Recovered], Census]:
    """Set the study's estimates beside the truth; writes FOLDER/truth/recovered.csv, raters.csv and pairs.csv."""
    keys: dict[str, Any] = {"query_id": str, "result_id": str}
    pairs = read_pairs(folder / "pairs.csv")
    judgments = pd.read_csv(folder / "judgments.csv", dtype=keys)
    raters = pd.read_csv(folder / "raters.csv", dtype={"rater_id": str})
    ratings = pd.read_csv(folder / "ratings.csv", dtype=keys)
    base = pairs[pairs["block"] == "base"]
    rows, table = rater_rows(raters, judgments, panel, people, base)
    rows += judgment_rows(judgments, ratings, panel)
    cut = scored["conventions"]["threshold"]
    whole = census(collection, panel, everything, cut, base)
    rows += system_rows(scored["systems"], whole)
    truth = folder / "truth"
    write_table(recovered_table(rows), truth / "recovered.csv")
    write_table(table, truth / "raters.csv")
    relevance = collection.relevance(list(pairs["query_id"]), list(pairs["result_id"]))
    true_pairs = pairs[["pair_id", "query_id", "result_id"]].assign(
        relevance=relevance, expected=panel.consensus(relevance)
    )
    write_table(true_pairs, truth / "pairs.csv")
    return rows, whole


def _report(folder: Path, interfaces: list[Path], by_paradigm: bool, show: Stages) -> None:
    """The report, and the paper's tables if there are other interfaces."""
    paper = [part for other in interfaces for part in ("--interface", str(other))]
    arguments = [str(folder), *(["--by", "paradigm"] if by_paradigm else [])]
    arguments += ["--paper-tables", *paper] if paper else []
    with show.stage("Write the report", command=shlex.join(["relstudy", "report", *arguments])) as stage:
        run_command("report", *arguments, show=show)
        stage.outcome = str(folder / "report" / "index.html")


def sample_again(folder: Path, size: Size, seed: int, show: Stages) -> None:
    """Draw a further round, shaped by what the mappings predict (section 5.4)."""
    arguments = [as_argument(folder), "--from-mappings", "--queries", str(size.queries), "--results", str(size.results)]
    arguments += ["--seed", str(seed)]
    with show.stage("Choose pairs for even answers", command=shlex.join(["relstudy", "sample", *arguments])) as stage:
        run_command("sample", *arguments, show=show)
        pairs = read_pairs(folder / "pairs.csv")
        stage.outcome = f"{int((pairs['round'] > 1).sum()):,} further pairs"


def other_interfaces(folder: Path, panel: SimulatedPanel, show: Stages) -> list[Path]:
    """Raters of the panel rate base pairs on other scales, without pages; the folders of their calibrations.

    These are the base pairs of queries by text if there are any, as in the paper, else all.
    """
    pairs = read_pairs(folder / "pairs.csv")
    base = pairs[pairs["block"] == "base"]
    by_text = base["paradigm"] == "text"
    base = base[by_text] if by_text.any() else base
    folders = [folder / "interfaces" / name for name in INTERFACES]
    command = f"relstudy calibrate {quoted(folder)}/interfaces/SCALE/ratings.csv -o {quoted(folder)}/interfaces/SCALE"
    with show.stage("Rate the base pairs on other scales", command=command, units=len(folders)) as stage:
        asked = raters_asked(panel)
        for target, (name, raters) in zip(folders, asked.items(), strict=True):
            file = target / "ratings.csv"
            write_table(ratings_on(panel, base, name, raters), file)
            run_command("calibrate", str(file), "-o", str(target), show=show)
            stage.advance(1)
        stage.outcome = ", ".join(f"{name}: {raters} raters" for name, raters in asked.items())
    return folders


def raters_asked(panel: SimulatedPanel) -> dict[str, int]:
    """Number of the panel's raters who answer on each scale: as many as in the paper, or all if there are fewer."""
    return {name: min(raters, len(panel.raters)) for name, raters in INTERFACES.items()}


def ratings_on(panel: SimulatedPanel, pairs: pd.DataFrame, scale: str, raters: int) -> pd.DataFrame:
    """The first raters' answers to all these pairs on a scale of SCALES."""
    rows = [
        (
            panel.raters[rater].name,
            query,
            result,
            scale,
            panel.answer(rater, query, result, SCALES[scale].values),
            "base",
        )
        for rater in range(raters)
        for query, result in zip(pairs["query_id"], pairs["result_id"], strict=True)
    ]
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "scale", "rating", "block"])
