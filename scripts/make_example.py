"""Make data/example: a tiny finished study, by the project's own demo at its smallest.

    python scripts/make_example.py
    python scripts/make_example.py --same-ratings       calibrate and fit again what the panel said then

The second is for a change of what `calibrate` or `fit` writes; the first draws other pairs when the sampling changes.
What was recovered against the truth (truth/) needs the whole collection and is kept from the demo.

The pictures and the database are left out; what remains is every table that `calibrate`, `fit`, `score` and `report`
read and write. Scores are kept for the judged pairs only.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import pandas as pd

from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.scales import SCALE_COLUMNS
from relstudy.mapping.scores.score_files import read_scores, write_scores
from relstudy.studyapp.cli import main as relstudy
from relstudy.studyapp.demo.pipeline import run_demo
from relstudy.studyapp.demo.sizes import Size
from relstudy.studyapp.sampling.saved_scores import note_computed

EXAMPLE = Path(__file__).resolve().parent.parent / "data" / "example"
SIZE = Size(images=120, queries=40, results=14, base=24, ratings_per_pair=2, raters=8)
FILES = ("study.toml", "collection.csv", "pairs.csv", "ratings.csv", "judgments.csv", "raters.csv", "calibrated.csv")
RATINGS = [
    "rater_id",
    "pair_id",
    "query_id",
    "result_id",
    "scale",
    "rating",
    "block",
    "handed_out",
    *SCALE_COLUMNS,
]
PAIR = ["query_id", "result_id"]
SYSTEMS = ("keywords", "gift", "gift-colour", "gift-texture", "simplicity")


def main() -> None:
    """Run the demo in a folder of its own, keep its tables, and only then put them in the example's place."""
    with tempfile.TemporaryDirectory() as place:
        demo, kept = Path(place) / "demo", Path(place) / "example"
        run_demo(demo, SIZE, seed=7, systems=SYSTEMS)
        keep(demo, kept)
        shutil.rmtree(EXAMPLE, ignore_errors=True)
        shutil.copytree(kept, EXAMPLE)


def calibrate_and_fit_anew() -> None:
    """Put the example's judgments and mappings in their places again, from the ratings that are there."""
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "example"
        shutil.copytree(EXAMPLE, study)
        tables = [str(study / "scores" / f"{name}.csv") for name in SYSTEMS]
        judgments, mappings = str(study / "judgments.csv"), str(study / "mappings")
        for command in (
            ["calibrate", str(study / "ratings.csv"), "--pairs", str(study / "pairs.csv"), "-o", str(study)],
            ["fit", *tables, "--judgments", judgments, "-o", mappings],
        ):
            relstudy(command, standalone_mode=False)
        for name in ("judgments.csv", "raters.csv", "calibrated.csv"):
            _keep(study / name, EXAMPLE / name)
        shutil.copytree(study / "mappings", EXAMPLE / "mappings", dirs_exist_ok=True)


def keep(demo: Path, kept: Path) -> None:
    """Copy the tables of a finished demo; scores of the judged pairs only."""
    for name in FILES:
        _keep(demo / name, kept / name)
    for name in ("mappings", "truth"):
        shutil.copytree(demo / name, kept / name, ignore=shutil.ignore_patterns("*.parquet", "pairs.csv"))
    judged = pd.read_csv(demo / "judgments.csv", dtype=str)[PAIR]
    tables = [kept / "scores" / f"{name}.csv" for name in SYSTEMS]
    for table in tables:
        scores = read_scores(next((demo / "scores").glob(f"{table.stem}.*"))).frame
        write_scores(scores.merge(judged, on=PAIR).assign(direction="higher"), table)
    note_computed(tables)  # a draw in a copy computes these systems itself, and does not take the tables for others'


def _keep(source: Path, target: Path) -> None:
    if source.suffix != ".csv":
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return
    table = pd.read_csv(source, dtype=str, keep_default_na=False)
    # how fast a simulated rater answers says nothing
    table = table.drop(columns=["median_seconds"], errors="ignore")
    if source.name in ("ratings.csv", "calibrated.csv"):
        table = table[[name for name in (*RATINGS, "calibrated") if name in table]]
    write_table(table, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make data/example.")
    parser.add_argument("--same-ratings", action="store_true", help="calibrate and fit again; draw and ask nobody")
    calibrate_and_fit_anew() if parser.parse_args().same_ratings else main()
