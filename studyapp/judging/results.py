"""judges/NAME.csv and NAME.json: what a judge said, one row per pair, and how it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.judges.several import mean_of_judges
from relstudy.analysis.judges.study import judge_file
from relstudy.analysis.judges.table import COLUMNS, NOT_ASKED, check_judge, judge_rows, read_judge
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.calibration.preferences import read_preferences
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, whole_files, write_json
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.file_kind import file_kind
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.study_folder import table_in
from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.judging.answer_log import AnswerLog
from relstudy.studyapp.judging.asking import Question, answered_by

FOLDER = "judges"


def judge_files(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """The table of a judge, what describes it, and the log of its answers."""
    table, description, log = (folder / FOLDER / f"{name}{ending}" for ending in (".csv", ".json", ".jsonl"))
    return table, description, log


def table_of_answers(questions: Sequence[Question], log: AnswerLog) -> pd.DataFrame:
    """Table of the answers, one row a question, with COLUMNS."""
    rows = []
    for each in questions:
        rows.append({"query_id": each.query_id, "result_id": each.result_id, **_cells(log, each)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _cells(log: AnswerLog, question: Question) -> dict[str, Any]:
    """What the log says of a question, by the columns of a judge's table after the pair."""
    record = log.records.get(question.key, {"status": NOT_ASKED})
    return {name: record.get(name) for name in COLUMNS[2:]} | {"model": answered_by(record)}


def table_of_couples(
    name: str, questions: Sequence[Question], couples: pd.DataFrame, scale: str, log: AnswerLog
) -> pd.DataFrame:
    """Table of the answers to which of two is better, as `relstudy calibrate preferences` reads them, by the judge."""
    rows = []
    for each, couple in zip(questions, couples.itertuples(index=False), strict=True):
        rows.append(
            {
                "rater_id": name,
                "query_id": couple.query_id,
                "result_id": couple.result_id,
                "other_id": couple.other_id,
                "left": each.result_id,
                "scale": scale,
                "source": couple.source,
                "inclusion_probability": couple.inclusion_probability,
                **_cells(log, each),
            }
        )
    return pd.DataFrame(rows)


def grades_of_couples(answers: Path, lists: bool) -> pd.DataFrame:
    """A judge's answers to which of two is better as its grades, with COLUMNS: the chance that it prefers a result, or
    a list, to an average one of its query. What it gave no answer to is left out."""
    table = read_table(answers)
    if table.frame["rating"].isna().all():
        return pd.DataFrame(columns=COLUMNS)
    found = read_preferences(table, lists).judgments.frame
    return found.rename(columns={"judgment": "rating"}).assign(status="ok").reindex(columns=COLUMNS)


def repeated_answers(questions: Sequence[Question], again: Sequence[Question], log: AnswerLog) -> dict[str, int] | None:
    """Number of pairs that were asked twice and answered both times, and number of these with the same grade."""
    first = {each.ids: log.records.get(each.key, {}).get("rating") for each in questions}
    second = []
    for each in again:
        said = log.records.get(each.key, {}).get("rating")
        turned = each.moved and each.right_id
        straight = (each.query_id, each.right_id, each.result_id) if turned else each.ids
        second.append((first.get(straight), -said if turned and said is not None else said))
    both = [(a, b) for a, b in second if a is not None and b is not None]
    return {"asked": len(both), "same": sum(a == b for a, b in both)} if both else None


def table_of_file(path: Path, name: str, collection: Collection | None) -> tuple[pd.DataFrame, list[str]]:
    """Any table of a judge's grades, TREC qrels, or a system's scores, as a judge's table; and what a person should
    know of how it was read.

    Raises
    ------
    RelstudyError
        where it holds several systems and none is called `name`
    TableError
        with every fault, ids that the collection lacks among them
    """
    frame, statuses, notes = _read(path, name)
    if collection is not None:
        table = Checked(frame, str(path))
        for column in PAIR:
            absent = np.array([each not in collection for each in frame[column]], dtype=bool)
            table.add(absent, column, "the id of an item in collection.csv is needed")
        table.raise_faults()
    given = {column: frame.get(column) for column in COLUMNS}
    more = ["inclusion_probability"] if "inclusion_probability" in frame else []
    return frame.assign(**{**given, "status": statuses})[[*COLUMNS, *more]], notes


def _read(path: Path, name: str) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    if file_kind(path) != "run":
        table = judge_rows(path)
        if "rating" in table.frame:
            judged = check_judge(table, name)
            ids = pd.DataFrame({"query_id": judged.query_id, "result_id": judged.result_id, "rating": judged.rating})
            others = table.frame.drop(columns=[column for column in ids if column in table.frame])
            return pd.concat([ids, others.reset_index(drop=True)], axis=1), judged.status, []
    scores = read_scores(path)
    systems = scores.systems
    if len(systems) > 1 and name not in systems:
        raise RelstudyError(
            f"{path}: it holds {len(systems)} systems, and none is called {name!r}; there are: {', '.join(systems)}"
        )
    frame = (scores if len(systems) == 1 else scores.only([name])).frame
    grades = frame.rename(columns={"score": "rating"})[[*PAIR, "rating"]]
    return grades, np.full(len(grades), "ok", dtype=object), [*scores.notes]


def write_judge(folder: Path, name: str, table: pd.DataFrame, description: dict[str, Any]) -> dict[str, Any]:
    """Write judges/NAME.csv and NAME.json; what is returned is what NAME.json says."""
    path, described, _ = judge_files(folder, name)
    counts = {str(status): int(many) for status, many in table["status"].value_counts().items()}
    numbers = {"rows": len(table), "answered": int(table["rating"].notna().sum()), "status": counts}
    content = {"name": name, **description, **numbers, "queries": int(table["query_id"].nunique())}
    write_table(table, path)
    write_json(content, described)
    return content


def mean_of_study(
    folder: Path, name: str, mean_of: Sequence[str], best: int | None, said: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """Write the judge `name`, the mean of others of the study in `folder`.

    Parameters
    ----------
    mean_of : names of the judges to choose from; none takes all of the study that are no means themselves
    best : how many to take, those that explain people's judgments best; None takes all
    said : what judges/NAME.json says of it beside its members

    Returns
    -------
    What judges/NAME.json says, and how many judges there were to choose from

    Raises
    ------
    RelstudyError
        if there is no such judge, there are too few, or judges/NAME.csv holds a judge that is not a mean
    """
    path, *_ = judge_files(folder, name)
    if path.is_file() and not _is_mean(path):
        raise RelstudyError(f"{path} holds a judge that is not a mean of others; give the mean another --judge")
    there = whole_files(folder / FOLDER, "*.csv")
    names = list(dict.fromkeys(mean_of)) or [each.stem for each in there if not _is_mean(each)]
    if name in names:
        raise RelstudyError(f"--mean-of {name}: a judge cannot be part of a mean with its own name")
    judges = [read_judge(judge_file(folder, each), each) for each in names]
    file = table_in(folder, "judgments.csv", "relstudy calibrate")
    pairs = JudgedPairs.of(read_study_tables(file).judgments)
    mean, members = mean_of_judges(judges, pairs, best)
    return write_judge(folder, name, mean, {"mean_of": members, **said}), len(judges)


def _is_mean(path: Path) -> bool:
    description = path.with_suffix(".json")
    return description.is_file() and "mean_of" in read_json(description)
