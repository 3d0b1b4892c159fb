"""The whole way, stage by stage, on a collection whose true relevance is known.

Stages after the first are the commands that a person would type; the demo runs the same code in its own process.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibration.console import progress
from calibration.errors import RelstudyError
from calibration.tables import read_json, write_json, write_table, write_text
from studyapp.cli import COMMANDS
from studyapp.collection import Collection
from studyapp.demo.collection import DemoCollection, make_collection, write_collection
from studyapp.demo.panel import Panel, draw_raters
from studyapp.demo.recovered import (
    Recovered,
    census,
    judgment_rows,
    rater_rows,
    recovered_table,
    system_rows,
)
from studyapp.demo.server import serving
from studyapp.demo.show import BarsOnly, Stages
from studyapp.demo.visit import Answer, visit_all
from studyapp.items import item_key
from studyapp.people import invite
from studyapp.secret import read_secret
from studyapp.store import Store
from studyapp.study import Study
from studyapp.systems import fit, make

MARK = "demo.json"
KIND = "relstudy demo"
STAGES = 9
THRESHOLD = 3.0
# In the order of preference; those that need the extra come last, and only where it is installed.
CORE_SYSTEMS = ("keywords", "colour")
EXTRA_SYSTEMS = ("gift-texture", "simplicity")
# What the demo writes into its folder, and may therefore replace.
OWN_FILES = (
    *(MARK, "study.toml", "collection.csv", "pairs.csv", "design.json", "study.db", "study.db-wal", "study.db-shm"),
    *(
        "study.db.lock",
        "secret.key",
        "admin.hash",
        "admin.setup",
        "ratings.csv",
        "ratings.json",
        "judgments.csv",
        "raters.csv",
    ),
    *("calibrated.csv", "scores.json", "comparison.json", "demo.log"),
)
OWN_FOLDERS = ("pictures", "scores", "mappings", "report", "truth", "figures")


@dataclass(frozen=True)
class Size:
    """How large a demo is.

    Parameters
    ----------
    images : pictures in the collection
    wishes : queries by text
    queries, results : drawn for the sample, and results for each
    base : pairs that everyone rates
    ratings_per_pair : k of the unique pairs
    raters : of the panel
    """

    images: int = 320
    wishes: int = 0
    queries: int = 100
    results: int = 20
    base: int = 60
    ratings_per_pair: int = 3
    raters: int = 12


SIZES = {"small": Size(), "full": Size(images=1000, wishes=16, queries=160, results=24, base=100, raters=16)}

STUDY = """\
# The study of `relstudy demo`. docs/app.md explains every setting.
[study]
id = "demo"
title = "Which pictures match?"
contact = "demo@example.org"
consent = '''
You will see one picture at the top and up to four others below it. Please say how well each of them matches the one
at the top. There are no right or wrong answers: what counts is what you see.

You can stop at any time, and come back to where you were. What is kept are your ratings and how long each page took,
under a code that does not say who you are.
'''
instructions = '''
Rate each picture from 1 (poor match) to 5 (good match). Think of someone who looks for pictures like the one at the top:
would they be glad to find this one? What is in a picture counts, where and when it plays, and the mood.

Choose undecided where you cannot say. It is better than a guess.
'''
thanks = "Thank you. Every rating you gave is saved."

[handout]
seed = {seed}

[entry]
rules = ["personal", "open"]

[[blocks]]
name = "base"
pairs = "base"
paradigm = "image"
scale = "1-5"
question = "How well does each picture match the one at the top?"

[[blocks]]
name = "unique"
pairs = "unique"
paradigm = "image"
scale = "1-5"
question = "How well does each picture match the one at the top?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
"""
TEXT_BLOCKS = """
[[blocks]]
name = "words, base"
pairs = "base"
paradigm = "text"
scale = "1-5"
question = "How well does the picture match these words?"

[[blocks]]
name = "words, unique"
pairs = "unique"
paradigm = "text"
scale = "1-5"
question = "How well does the picture match these words?"
ratings_per_pair = {ratings_per_pair}
pairs_per_rater = "all"
"""


@dataclass(frozen=True)
class Outcome:
    """What a demo came to.

    Parameters
    ----------
    folder : the study
    report : its report page
    rows : recovered against true
    stages : title, command, outcome and seconds of each stage
    ratings, raters, systems : what the study is made of
    """

    folder: Path
    report: Path
    rows: list[Recovered]
    stages: list[dict[str, Any]]
    ratings: int
    raters: int
    systems: list[str]

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "folder": str(self.folder),
            "report": str(self.report),
            "systems": self.systems,
            "raters": self.raters,
            "ratings": self.ratings,
            "seconds": round(sum(stage["seconds"] for stage in self.stages), 1),
            "stages": self.stages,
            "recovered": [row.as_json() for row in self.rows],
        }


def run_demo(
    folder: Path, size: Size, *, seed: int = 0, systems: tuple[str, ...] | None = None, quiet: bool = False
) -> Outcome:
    """Go the whole way in FOLDER.

    Parameters
    ----------
    folder : absent, empty, or the folder of an earlier demo, which is then made anew
    size : how large
    seed : of pictures, panel and sample
    systems : built-in systems to compare; default: keywords and colour, and two more where the extra is installed
    quiet : show nothing

    Raises
    ------
    RelstudyError
        when the folder holds something else, or a stage fails
    """
    names = systems or available_systems()
    for name in names:
        make(name)
    claim(folder, size, seed)
    show = Stages(STAGES, quiet=quiet)
    with without_database_url():
        try:
            collection = _paint(folder, size, seed, show)
            panel = Panel(draw_raters(size.raters, seed), collection, seed)
            everything = _score_all(folder, names, show)
            _sample(folder, size, seed, names, show)
            people, count = _rate(folder, panel, show)
            with show.stage("Export the ratings", command=f"relstudy export {folder}") as stage:
                found = run_command("export", str(folder), show=show)
                stage.outcome = f"{found['ratings']:,} ratings, {found['undecided']} undecided"
            _calibrate(folder, show)
            _fit(folder, names, show)
            found = _score(folder, names, show)
            rows = _compare(folder, collection, panel, people, everything, found)
            _report(folder, show)
        finally:
            write_text("\n".join(show.log) + "\n", folder / "demo.log")
    stages = [
        {"title": s.title, "command": s.command, "outcome": s.outcome, "seconds": round(s.seconds, 2)}
        for s in show.done
    ]
    return Outcome(folder, folder / "report" / "index.html", rows, stages, count, size.raters, list(names))


def claim(folder: Path, size: Size, seed: int) -> None:
    """Take the folder for a demo: it must be absent, empty, or an earlier demo's, whose own files then go."""
    if folder.exists() and not folder.is_dir():
        raise RelstudyError(f"{folder}: this is a file; the demo needs a folder")
    if folder.is_dir() and any(folder.iterdir()):
        mark = folder / MARK
        if not mark.is_file() or _kind(mark) != KIND:
            raise RelstudyError(
                f"{folder}: this folder is not empty and no earlier demo made it; name another, such as {folder}-2"
            )
        for name in OWN_FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in OWN_FILES:
            (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_json({"kind": KIND, "seed": seed, "images": size.images, "raters": size.raters}, folder / MARK)


def _kind(mark: Path) -> object:
    content = read_json(mark)
    return content.get("kind") if isinstance(content, dict) else None


def available_systems() -> tuple[str, ...]:
    """The core's two systems, and two more where the extra `relstudy[systems]` is installed."""
    from studyapp.systems import SYSTEMS

    extra = all(importlib.util.find_spec(module) for module in ("skimage", "pywt"))
    return (*CORE_SYSTEMS, *(name for name in EXTRA_SYSTEMS if extra and name in SYSTEMS))


@contextlib.contextmanager
def without_database_url() -> Iterator[None]:
    """The demo lives in its own SQLite file, whatever DATABASE_URL says."""
    kept = os.environ.pop("DATABASE_URL", None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ["DATABASE_URL"] = kept


def run_command(name: str, *arguments: str, show: Stages | None = None) -> Any:
    """Run a subcommand of `relstudy` in this process with --json, and return what it prints.

    Its notes go to the demo's log; its progress bars are let through.
    """
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(importlib.import_module(module), attribute)
    output, notes = io.StringIO(), BarsOnly(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(notes):
        command.main(args=[*arguments, "--json"], prog_name=f"relstudy {name}", standalone_mode=False)
    if show is not None:
        show.log.extend(f"    {line}" for line in notes.lines)
    return json.loads(output.getvalue())


def _paint(folder: Path, size: Size, seed: int, show: Stages) -> DemoCollection:
    with show.stage("Paint the collection", units=size.images) as stage:
        collection = make_collection(size.images, seed, size.wishes)
        write_collection(collection, folder, workers=min(os.cpu_count() or 1, 4), done=stage.advance)
        blocks = STUDY + (TEXT_BLOCKS if size.wishes else "")
        write_text(blocks.format(seed=seed, ratings_per_pair=size.ratings_per_pair), folder / "study.toml")
        words = f", {size.wishes} queries by text" if size.wishes else ""
        stage.outcome = f"{size.images} pictures with keywords{words}"
    return collection


def _score_all(folder: Path, names: tuple[str, ...], show: Stages) -> pd.DataFrame:
    """Every system's score of every pair, for the truth over all pairs."""
    with show.stage("Let the systems score every pair", units=len(names)) as stage:
        collection = Collection.load(folder)
        parts = []
        for name in names:
            system = fit(name, collection, folder, progress)
            for query in collection:
                scores = system.score(query)
                if scores is None:
                    continue
                places = collection.results(query.kind)
                places = places[np.isfinite(scores[places]) & (collection.ids[places] != query.id)]
                parts.append((name, query.id, collection.ids[places], scores[places]))
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
    arguments = [str(folder), "--systems", ",".join(names), "--queries", str(size.queries)]
    arguments += ["--results", str(size.results), "--base", str(size.base), "--seed", str(seed)]
    arguments += ["--raters", str(size.raters)]
    with show.stage("Choose pairs", command=" ".join(["relstudy sample", *arguments])) as stage:
        found = run_command("sample", *arguments, show=show)
        stage.outcome = (
            f"{found['base_pairs']} base and {found['unique_pairs']:,} unique pairs, "
            f"smallest inclusion probability {found['smallest_inclusion_probability']:.2g}"
        )


def _rate(folder: Path, panel: Panel, show: Stages) -> tuple[dict[str, int], int]:
    """The panel rates through the real pages; rater_id -> place in the panel, and how many ratings there were."""
    study = Study.load(folder)
    pairs = pd.read_csv(folder / "pairs.csv", dtype=str)
    base = int((pairs["block"] == "base").sum())
    per_pair = max(block.ratings_per_pair for block in study.blocks if block.unique)
    expected = base * len(panel.raters) + (len(pairs) - base) * per_pair
    command = f"relstudy invite {folder} -n {len(panel.raters)}; relstudy serve {folder}"
    with (
        show.stage("The panel rates in the web app", command=command, units=expected) as stage,
        serving(folder) as address,
        contextlib.closing(_Database(folder)) as database,
    ):
        invitations = invite(database.store, study, len(panel.raters))
        secret = read_secret(folder)
        items = {item_key(secret, item): item for item in panel.collection.query_ids}
        answers = [_answers(panel, place, items) for place in range(len(invitations))]
        ends = visit_all(address, [made.path for made in invitations], answers, stage.advance)
        unfinished = [
            made.rater_id for made, end in zip(invitations, ends, strict=True) if made.completion_code not in end
        ]
        if unfinished:
            raise RelstudyError(f"simulated rater {unfinished[0]} reached the end without a completion code")
        stage.outcome = f"{len(panel.raters)} raters, {expected:,} ratings, each from consent to completion code"
    return {made.rater_id: place for place, made in enumerate(invitations)}, expected


class _Database:
    """The study's database, closed at the end."""

    def __init__(self, folder: Path) -> None:
        self.store = Store.of_study(folder)

    def close(self) -> None:
        self.store.dispose()


def _answers(panel: Panel, place: int, items: dict[str, str]) -> Answer:
    def answer(query: str, result: str, offered: list[str]) -> str:
        values = [float(value) for value in offered if value != "undecided"]
        rating = panel.answer(place, items[query], items[result], values)
        return "undecided" if rating is None else next(text for text in offered if text == f"{rating:g}")

    return answer


def _calibrate(folder: Path, show: Stages) -> None:
    arguments = [str(folder / "ratings.csv"), "-o", str(folder), "--pairs", str(folder / "pairs.csv")]
    with show.stage("Put the raters on one scale", command=" ".join(["relstudy calibrate", *arguments])) as stage:
        found = run_command("calibrate", *arguments, show=show)
        variance, agreement = found["within_item_variance"], found["leave_one_out_correlation"]
        stage.outcome = (
            f"variance among raters {_figure(variance['before'])} -> {_figure(variance['after'])}, "
            f"correlation with the others {_figure(agreement['before'])} -> {_figure(agreement['after'])}"
        )


def _figure(found: Any) -> str:
    value = found["value"] if isinstance(found, dict) else found
    return "unknown" if value is None else f"{value:.3f}"


def _fit(folder: Path, names: tuple[str, ...], show: Stages) -> None:
    command = f"relstudy fit {folder}/scores/NAME.csv --judgments {folder}/judgments.csv -o {folder}/mappings"
    with show.stage("Map scores to people's scale", command=command, units=len(names)) as stage:
        chosen = []
        for name in names:
            arguments = ["--judgments", str(folder / "judgments.csv"), "-o", str(folder / "mappings")]
            found = run_command("fit", str(score_file(folder, name)), *arguments, show=show)
            chosen.append(f"{name} {found['systems'][name]['best']}")
            stage.advance(1)
        stage.outcome = f"best out of fold: {', '.join(chosen)}"


def score_file(folder: Path, name: str) -> Path:
    """Where `relstudy sample` kept a system's scores."""
    found = [folder / "scores" / f"{name}{ending}" for ending in (".csv", ".parquet")]
    return next((path for path in found if path.exists()), found[0])


def _score(folder: Path, names: tuple[str, ...], show: Stages) -> dict[str, Any]:
    files = [str(score_file(folder, name)) for name in names]
    arguments = ["--judgments", str(folder / "judgments.csv"), "--mappings", str(folder / "mappings")]
    arguments += ["--save", str(folder / "comparison.json"), "--threshold", f"{THRESHOLD:g}"]
    command = f"relstudy score {folder}/scores/*.csv {' '.join(arguments)}"
    with show.stage("Score the systems", command=command) as stage:
        found: dict[str, Any] = run_command("score", *files, *arguments, show=show)
        write_json(found, folder / "scores.json")
        ranks = {name: found["systems"][name]["normalised_rank"]["value"] for name in names}
        best = min(names, key=lambda name: ranks[name])
        stage.outcome = f"{best} ranks best: normalised rank {ranks[best]:.3f}"
    return found


def _compare(
    folder: Path,
    collection: DemoCollection,
    panel: Panel,
    people: dict[str, int],
    everything: pd.DataFrame,
    found: dict[str, Any],
) -> list[Recovered]:
    """Recovered against true; written to FOLDER/truth."""
    keys: dict[str, Any] = {"query_id": str, "result_id": str}
    pairs = pd.read_csv(folder / "pairs.csv", dtype=keys)
    judgments = pd.read_csv(folder / "judgments.csv", dtype=keys)
    raters = pd.read_csv(folder / "raters.csv", dtype={"rater_id": str})
    ratings = pd.read_csv(folder / "ratings.csv", dtype=keys)
    rows, table = rater_rows(raters, judgments, panel, people, pairs[pairs["block"] == "base"])
    rows += judgment_rows(judgments, ratings, panel)
    rows += system_rows(found["systems"], census(collection, panel, everything, THRESHOLD))
    truth = folder / "truth"
    write_table(recovered_table(rows), truth / "recovered.csv")
    write_table(table, truth / "raters.csv")
    relevance = collection.relevance(list(pairs["query_id"]), list(pairs["result_id"]))
    known = pairs[["pair_id", "query_id", "result_id"]].assign(relevance=relevance, expected=panel.consensus(relevance))
    write_table(known, truth / "pairs.csv")
    return rows


def _report(folder: Path, show: Stages) -> None:
    with show.stage("Write the report", command=f"relstudy report {folder}") as stage:
        run_command("report", str(folder), show=show)
        stage.outcome = str(folder / "report" / "index.html")
