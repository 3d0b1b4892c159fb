"""Qualtrics, where people answer in one row each, and Prolific, which says who took part."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.columns import RATING_USES, calibrate_command, remarks, to_run
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.checked import Checked
from relstudy.common.errors import RelstudyError
from relstudy.common.one_a_row import items_in_wording
from relstudy.common.survey_rows import answered
from relstudy.common.wording import count_of

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


SURVEYS = {"Qualtrics": ("responseid",), "LimeSurvey": ("id", "response id")}
"""Survey tools, and what each calls the column of one person's id."""


def inspect_survey(table: Checked, tool: str) -> Inspection:
    """One row a response; loop-and-merge columns (1_Q3), the rows of a matrix (Q5_1) or of an array (G1[lamp]) are one
    item each."""
    read = answered(table)
    left_out = read.notes[len(table.notes) :]
    questions = sorted(_questions_of_items(read.frame).values(), key=len, reverse=True)
    if not questions:
        sentence = f"an export of {tool} with {count_of(len(read.frame), 'response')}"
        note = "no question was asked of several items, so there are no ratings to read"
        return Inspection(table.file, tool, sentence, (), (*left_out, note))
    readings = [_question(read, tool, items) for items in questions]
    what = f"an export of {tool} with {len(readings)} questions on several items"
    several = Inspection.of_several(table.file, readings, what)
    return replace(several, notes=(*left_out, *several.notes))


def _question(table: Checked, tool: str, items: list[str]) -> Inspection:
    """The ratings that one question gives, which was asked of several items."""
    frame = table.frame
    response = next(str(name) for name in frame if str(name).casefold() in SURVEYS[tool])
    roles = {"rater_id": response}
    answers = read_answers(pd.concat([frame[name] for name in items], ignore_index=True))
    assert answers is not None
    columns = (
        ColumnRole(response, "rater_id", "one response is one person"),
        *(ColumnRole(name, "rating", "the same question of one item each") for name in items),
    )
    worded = _worded(table)
    is_worded = set(items) <= set(worded)
    note = "each column is taken for an item of its own; --items FILE (column,query_id,result_id) says which pair it is"
    command = calibrate_command(table, roles, answers, () if set(items) == set(worded) else items)
    inspection = Inspection(
        table.file,
        tool,
        f"an export of {tool}: {answers.count} ratings of {len(items)} items by {len(frame)} people",
        columns,
        (
            "people answer in one row each; the columns of one question over several items are one item each",
            "the wording of each column holds its pair" if is_worded else note,
            *remarks(answers),
        ),
        RATING_USES[:3],
    )
    return to_run(inspection, f"{command} --items wording" if is_worded else command, answers)


def _worded(table: Checked) -> dict[str, tuple[str, str]]:
    """The pair of each column whose wording holds it; none where none does."""
    try:
        return items_in_wording(table)
    except RelstudyError:
        return {}


def _questions_of_items(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Columns by question, of questions that were asked of several items and answered on one scale.

    A question keeps the name that its author gave it; loops count before it (1_Q3), rows of a matrix after it (Q3_1).
    """
    questions: dict[str, list[str]] = {}
    for name in map(str, frame):
        match = re.fullmatch(r"\d+_(.+)", name) or re.fullmatch(r"(.+)(?:_\d+| ?\[.+\])", name)
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
