"""What a study's folder holds for a judge: people's judgments and ratings, and systems with a score for its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.analysis.judges.table import JudgeTable, read_judge
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.rated import BESIDE, judgments_with_ratings, read_calibrated
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.calibration.judgments import read_judgments
from relstudy.common.errors import RelstudyError
from relstudy.common.probabilities import PAIR
from relstudy.common.study_folder import score_files, table_in
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.score_table import COLUMNS, ScoreTable
from relstudy.mapping.scores.table import read_score_files


@dataclass(frozen=True, eq=False)
class JudgedStudy:
    """A judge with what it is held against.

    Parameters
    ----------
    scores : by system, its table
    ratings : calibrated ratings, one a row, or None
    notes : what a person should know, one sentence each
    """

    judge: JudgeTable
    pairs: JudgedPairs
    candidates: list[Candidate]
    scores: Mapping[str, pd.DataFrame]
    ratings: pd.DataFrame | None
    notes: tuple[str, ...]


def judge_file(folder: Path, name: str) -> Path:
    """The table of a study's judge, or of a file.

    Raises
    ------
    RelstudyError
        where there is no such judge
    """
    path = folder / "judges" / f"{name}.csv" if not Path(name).is_file() else Path(name)
    if not path.is_file():
        there = sorted(each.stem for each in (folder / "judges").glob("*.csv"))
        known = f"there are: {', '.join(there)}" if there else "`relstudy judge` makes one"
        raise RelstudyError(f"{path}: there is no such judge; {known}")
    return path


def read_judged_study(
    folder: Path,
    judge: Path | JudgeTable,
    options: ScoringOptions,
    judgments: Path | None = None,
    fitted: Mapping[str, FittedMapping] | None = None,
) -> JudgedStudy:
    """Read a judge's table, if it is not read yet, and what is in FOLDER to hold it against.

    Systems without a score for every pair that the judge was given, or the judge itself under its name, have no part;
    a note names them.

    Raises
    ------
    RelstudyError
        where there are no judgments, or a table has faults
    """
    table = read_judge(judge)
    path = judgments or table_in(folder, "judgments.csv", "relstudy calibrate")
    judged = judgments_with_ratings(read_judgments(path), path)
    pairs = JudgedPairs.of(judged)
    files = score_files(folder)
    scores = read_score_files(files) if files else ScoreTable(pd.DataFrame(columns=COLUMNS))
    by_system, lacking = {}, []
    wanted = pd.MultiIndex.from_arrays([table.query_id, table.result_id])
    for name, rows in scores.by_system():
        have = pd.MultiIndex.from_frame(rows[PAIR])
        if wanted.isin(have).all():
            by_system[name] = rows
        else:
            lacking.append(name)
    notes = list(scores.notes)
    if lacking:
        notes.append(
            f"Systems without a score for every pair that the judge was given have no part in this: "
            f"{', '.join(lacking)} (relstudy systems scores all queries with --all-queries)."
        )
    candidates: list[Candidate] = []
    if by_system:
        known = {name: each for name, each in (fitted or {}).items() if name in by_system}
        candidates, more = candidates_of([(str(folder / "scores"), scores.only(by_system))], pairs, options, known)
        notes += more
    ratings = path.parent / BESIDE
    rated = read_calibrated(ratings) if ratings.is_file() else None
    return JudgedStudy(table, pairs, candidates, by_system, rated, tuple(notes))
