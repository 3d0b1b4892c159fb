"""A study's folder as a judge needs it: people's judgments and ratings, and systems with a score for its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.judges.table import JudgeTable, judge_rows, read_judge
from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import whole_files
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.study_folder import score_files, table_in
from relstudy.mapping.fitted import FittedMapping
from relstudy.mapping.scores.score_files import read_score_files
from relstudy.mapping.scores.score_table import COLUMNS, ScoreTable


@dataclass(frozen=True, eq=False)
class HumanStudy:
    """The measure of a study's judges: people's judgments, and the scores of its systems.

    Parameters
    ----------
    judgments : with the calibrated ratings behind them, where these are known
    scores : of all pairs, empty if there is no score table
    file : what messages call the scores
    matters : the difference that study.toml states, in points of its primary index; None where it states none
    """

    judgments: Judgments
    scores: ScoreTable
    file: str
    matters: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the reading of judgments and scores."""
        return (*self.judgments.all_notes, *self.scores.notes)


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
        if there is no such judge
    """
    path = folder / "judges" / f"{name}.csv" if not Path(name).is_file() else Path(name)
    if not path.is_file():
        there = [each.stem for each in whole_files(folder / "judges", "*.csv")]
        hint = f"there are: {', '.join(there)}" if there else "`relstudy judge` makes one"
        raise RelstudyError(f"{path}: there is no such judge; {hint}")
    return path


def confidences(path: Path, judge: JudgeTable) -> np.ndarray | None:
    """The judge's own certainty of each row, float [rows], NaN where it stated none; None without that column.

    Parameters
    ----------
    path : the file
    judge : its table, as `read_judge` gives it
    """
    table = judge_rows(path)
    if "confidence" not in table.frame:
        return None
    ids = pd.MultiIndex.from_arrays([table.texts(name) for name in PAIR])
    row = ids.get_indexer(judge.ids)
    return np.where(
        row >= 0, pd.to_numeric(table.frame["confidence"], errors="coerce").to_numpy(dtype=float)[row], np.nan
    )


def read_human_study(folder: Path, judgments: Path | None = None) -> HumanStudy:
    """Read the judgments and all score tables of FOLDER.

    Parameters
    ----------
    judgments : another judgments table

    Raises
    ------
    RelstudyError
        if there are no judgments, or a table has faults
    """
    path = judgments or table_in(folder, "judgments.csv", "relstudy calibrate")
    study = read_study_tables(path, folder=folder)
    return replace(human_study(folder, study.judgments), matters=study.decision.matters)


def human_study(folder: Path, judgments: Judgments) -> HumanStudy:
    """Judgments that were read already, and all score tables of FOLDER."""
    files = score_files(folder)
    scores = read_score_files(files) if files else ScoreTable(pd.DataFrame(columns=COLUMNS))
    return HumanStudy(judgments, scores.by_study(judgments.own_ids), str(folder / "scores"))


def judged_study(
    human: HumanStudy,
    judge: Path | JudgeTable,
    options: ScoringOptions,
    fitted: Mapping[str, FittedMapping] | None = None,
) -> JudgedStudy:
    """A judge, whose table is read if it is not yet, beside people and systems.

    Systems without a score for every pair that the judge was given, or the judge itself under its name, have no part;
    a note names them.

    Raises
    ------
    RelstudyError
        where the judge's table has faults, or a system scores too few of the judged pairs
    """
    table = read_judge(judge)
    pairs = JudgedPairs.of(human.judgments)
    by_system, lacking = {}, []
    for name, rows in human.scores.by_system():
        have = pd.MultiIndex.from_frame(rows[PAIR])
        if table.ids.isin(have).all():
            by_system[name] = rows
        else:
            lacking.append(name)
    notes = []
    if lacking:
        notes.append(
            f"Systems without a score for every pair that the judge was given have no part in this: "
            f"{', '.join(lacking)} (relstudy systems scores all queries with --all-queries)."
        )
    candidates: list[Candidate] = []
    if by_system:
        given = {name: each for name, each in (fitted or {}).items() if name in by_system}
        candidates, more = candidates_of([(human.file, human.scores.only(by_system))], pairs, options, given)
        notes += more
    return JudgedStudy(table, pairs, candidates, by_system, human.judgments.ratings, tuple(notes))
