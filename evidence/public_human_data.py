"""Tables 5.3 to 5.9 of Shirahatti and Barnard 2005 on public ratings by people.

    python evidence/public_human_data.py [SET ...] [--data FOLDER] [--keep FOLDER] [--folds 5]

SET is tifa160, viescore, diras or haystack; default: all. FOLDER holds their plain tables (default: ../shared/data;
docs/how-to/public-human-data.md says where they come from). Each becomes a study's folder, which --keep leaves behind
for `relstudy report`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.analysis.report.inputs import page_tables
from relstudy.analysis.report.paper.page import paper_page
from relstudy.analysis.report.paper.reading import paper_study
from relstudy.analysis.report.tables import Cell, Column, Table, shown_number
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.tables.judgments import write_judgments
from relstudy.calibration.tables.ratings import check_ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.console import print_table, progress
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SHOWN = tuple(f"table-5-{number}" for number in range(3, 10))


@dataclass(frozen=True)
class Plain:
    """Ratings, scores (a column per system), and who chose each pair (None where nobody says)."""

    ratings: pd.DataFrame
    scores: pd.DataFrame
    source: pd.DataFrame | None = None


def tifa160(folder: Path) -> Plain:
    """Pictures made from 160 prompts by five programs, five raters; the program is what chose the pair."""
    data = folder / "tifa160_likert"
    ratings = pd.read_csv(data / "ratings.csv", dtype=str, keep_default_na=False)
    tifa = pd.read_csv(data / "system_scores_tifa_release.csv")[[*PAIR, "clipscore_vitb32", "tifa_mplug-large", "bleu"]]
    dsg = pd.read_csv(data / "system_scores_dsg_release.csv")[[*PAIR, "dsg|pali-17b"]]
    source = ratings.drop_duplicates(PAIR)[[*PAIR, "t2i_model"]].rename(columns={"t2i_model": "source"})
    return Plain(ratings, tifa.merge(dsg, on=PAIR), source)


def viescore(folder: Path) -> Plain:
    """Pictures made from 197 prompts by five programs, three raters; the systems are vision-language models."""
    data = folder / "viescore_judges"
    ratings = pd.read_csv(data / "ratings.csv", dtype=str, keep_default_na=False)
    ratings = ratings[ratings["rater_id"].str.startswith("generate")].reset_index(drop=True)
    judges = pd.read_csv(data / "judges.csv")
    named = judges[judges["judge"].isin(["gpt4o_1shot", "gemini_0shot", "llava_0shot", "blip2_0shot"])]
    return Plain(ratings, named.pivot(index=PAIR, columns="judge", values="rating").reset_index())


def diras(folder: Path) -> Plain:
    """Paragraphs of climate reports for 11 questions, two annotators; GPT-4's probability and a text embedding."""
    data = folder / "diras_chatreport"
    judges = pd.read_csv(data / "judges.csv")
    probability = judges["gpt4_confidence"].where(judges["gpt4_guess"] == "yes", 1 - judges["gpt4_confidence"])
    scores = judges[[*PAIR, "embedding_cosine"]].assign(gpt4=probability)
    return Plain(pd.read_csv(data / "ratings.csv", dtype=str, keep_default_na=False), scores)


def haystack(folder: Path) -> Plain:
    """Products for 137 shop queries, 13 raters of whom one gave half; three search engines, and what each returned."""
    data = folder / "haystack_rating_party"
    runs = pd.read_csv(data / "system_runs.csv", dtype=dict.fromkeys(PAIR, str))
    scores = runs.pivot_table(index=PAIR, columns="system", values="score", aggfunc="max").reset_index()
    source = runs.groupby(PAIR)["system"].agg(lambda names: ";".join(sorted(set(names)))).rename("source").reset_index()
    return Plain(pd.read_csv(data / "ratings.csv", dtype=str, keep_default_na=False), scores, source)


SETS: dict[str, Callable[[Path], Plain]] = {f.__name__: f for f in (tifa160, viescore, diras, haystack)}


def as_study(plain: Plain, folder: Path) -> None:
    """Write what `relstudy report` reads: judgments.csv, calibrated.csv, pairs.csv and scores/."""
    result = calibrate(check_ratings(Checked(plain.ratings, "ratings.csv"), trust_raters=True))
    write_judgments(result.judgments, folder / "judgments.csv")
    write_table(result.calibrated_ratings(), folder / "calibrated.csv")
    for name in plain.scores.columns.difference(PAIR):
        scores = plain.scores[[*PAIR, name]].rename(columns={name: "score"}).dropna().assign(system=name)
        write_table(scores, folder / "scores" / f"{str(name).replace('|', '-')}.csv")
    if plain.source is not None:
        judged = result.judgments.frame[PAIR].astype(str)
        write_table(judged.merge(plain.source.astype(str), on=PAIR), folder / "pairs.csv")


def paper_tables(folder: Path, folds: int) -> list[Table]:
    """Tables 5.3 to 5.9 of a study's folder."""
    options = ScoringOptions(folds=folds, replicates=300, low_coverage=True)
    run = score_study(read_study_folder(folder), options)
    tables = page_tables(run.study, folder)
    page = paper_page(paper_study(run, tables), [], progress)
    return [table for table in page.tables() if table.name.startswith(SHOWN)]


def show(table: Table) -> None:
    """A table as text, intervals behind their numbers."""
    print(table.caption)
    names = [column.name for column in table.columns]
    print_table(
        [[text(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows], names
    )
    print()


def text(cell: Cell, column: Column) -> str:
    """A cell in plain letters."""
    if not isinstance(cell, Estimate):
        return shown_number(cell, column) if isinstance(cell, float) else str(cell)
    if cell.low is None or cell.high is None:
        return shown_number(cell.value, column)
    return f"{shown_number(cell.value, column)} [{shown_number(cell.low, column)}, {shown_number(cell.high, column)}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], metavar="SET")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--keep", type=Path, help="folder for the studies")
    parser.add_argument("--folds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        for name in arguments.sets or SETS:
            folder = (arguments.keep or Path(passing)) / name
            plain = SETS[name](arguments.data)
            as_study(plain, folder)
            ratings = plain.ratings[plain.ratings["rating"] != ""]
            print(f"{name}: {len(ratings):,} ratings by {ratings['rater_id'].nunique()} people\n")
            for table in paper_tables(folder, arguments.folds):
                show(table)


if __name__ == "__main__":
    main()
