"""Qualtrics, where people answer in one row each, and Prolific, which says who took part."""

from __future__ import annotations

import re

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.columns import RATING_USES, calibrate_command, column_called, remarks
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.checked import Checked
from relstudy.common.wording import count_of

TRIALS = ("1", "2", "9", "17")
"""Status of survey previews and tests, in an export of numbers."""
NO_QUESTION = r"_DO(_|$)|_TEXT$|_(First Click|Last Click|Page Submit|Click Count)$"
"""Names of columns that say how a question was shown or how long it took."""


def inspect_prolific(table: Checked) -> Inspection:
    status = next((name for name in table.frame if str(name).casefold() == "status"), None)
    counts = {} if status is None else table.frame[status].value_counts().to_dict()
    counted = ", ".join(f"{number} {name}" for name, number in counts.items())
    return Inspection(
        table.file,
        "Prolific",
        f"a demographic export of Prolific: {count_of(len(table.frame), 'submission')}"
        + (f" ({counted})" if counted else ""),
        (),
        ("it says who took part, and holds no ratings; compare its Participant id with the platform_id that "
         "relstudy export --people writes",),
    )  # fmt: skip


def inspect_qualtrics(table: Checked) -> Inspection:
    """One row a response; loop-and-merge columns (1_Q3) and the rows of a matrix (Q5_1) are one item each."""
    frame = table.frame
    response = next(str(name) for name in frame if str(name).casefold() == "responseid")
    notes = ["people answer in one row each; the columns of one question over several items are one item each"]
    unfinished = int(
        frame[column_called(frame, "finished")].astype("str").str.strip().str.casefold().isin(["false", "0"]).sum()
    )
    if unfinished:
        notes.append(f"{count_of(unfinished, 'response')} not finished: still in the table, so remove them or not")
    status = next((str(name) for name in frame if str(name).casefold() == "status"), None)
    if status is not None:
        texts = frame[status].astype("str").str.strip().str.casefold()
        trials = int((texts.str.contains("preview|test") | texts.isin(TRIALS)).sum())
        notes += [f"{count_of(trials, 'response')} by way of trial (Status preview or test): remove"] if trials else []
    questions = _questions_of_items(frame)
    items = max(questions.values(), key=len, default=[])
    if len(questions) > 1:
        others = ", ".join(f"{names[0]}, ..." for names in questions.values() if names is not items)
        notes.append(f"there are several such questions; the command takes {', '.join(items)} and not {others}")
    if not items:
        notes.append("no question was asked of several items, so there are no ratings to read")
        return Inspection(
            table.file, "Qualtrics", f"an export of Qualtrics with {len(frame)} responses", (), tuple(notes)
        )
    roles = {"rater_id": response}
    answers = read_answers(pd.concat([frame[name] for name in items], ignore_index=True))
    assert answers is not None
    columns = (
        ColumnRole(response, "rater_id", "one response is one person"),
        *(ColumnRole(name, "rating", "the same question of one item each") for name in items),
    )
    return Inspection(
        table.file,
        "Qualtrics",
        f"an export of Qualtrics: {answers.count} ratings of {len(items)} items by {len(frame)} people",
        columns,
        (*notes, *remarks(answers)),
        RATING_USES[:3],
        calibrate_command(table, roles, answers, items),
    )


def _questions_of_items(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Columns by question, of questions that were asked of several items and answered on one scale.

    A question keeps the name that its author gave it; loops count before it (1_Q3), rows of a matrix after it (Q3_1).
    """
    questions: dict[str, list[str]] = {}
    for name in map(str, frame):
        match = re.fullmatch(r"\d+_(.+)", name) or re.fullmatch(r"(.+)_\d+", name)
        if match and not re.search(NO_QUESTION, name):
            questions.setdefault(match[1], []).append(name)
    return {
        question: names
        for question, names in questions.items()
        if len(names) > 1
        and _one_scale(frame, names) is not None
        # a box that may be ticked has one answer, its own
        and any(frame[name][frame[name].astype("str").str.strip() != ""].nunique() > 1 for name in names)
    }


def _one_scale(frame: pd.DataFrame, names: list[str]) -> Answers | None:
    return read_answers(pd.concat([frame[name] for name in names], ignore_index=True))
