"""Exports of other tools: Label Studio, Potato, Argilla, doccano, Quepid, Prolific, MTurk, Qualtrics."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.columns import (
    RATING_USES,
    calibrate_command,
    described,
    inspect_ratings,
    remarks,
    roles_of,
)
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.reading import Reading
from relstudy.common.records import NO, YES
from relstudy.common.tables import Checked

ABOUT_ANSWERS = ("created_at", "updated_at", "lead_time", "annotation_id", "annotator", "id")
"""Columns of Label Studio that hold no answers."""


def tool_of(names: set[str]) -> str:
    """Whose export a table is, by its columns in lower case; "" where that is not known."""
    if {"participant id", "submission id"} <= names or {"participant id", "completion code"} <= names:
        return "Prolific"
    if {"responseid", "finished"} <= names:
        return "Qualtrics"
    if {"assignmentid", "workerid"} <= names:
        return "MTurk"
    if {"annotation_id", "annotator"} <= names:
        return "Label Studio"
    if "instance_id" in names and names & {"user", "user_id"}:
        return "Potato"
    if {"query", "docid"} <= names and names & {"rating", "rank"}:
        return "Quepid"
    return ""


def inspect_export(table: Checked, tool: str) -> Inspection | None:
    """What the export of a tool holds; None where it is a table like any other."""
    names = {str(name).casefold() for name in table.frame}
    if tool == "Prolific":
        return _prolific(table)
    if tool == "Qualtrics":
        return _qualtrics(table)
    if tool == "MTurk":
        return _mturk(table)
    if tool == "Quepid" and "rating" not in names and "rank" in names:
        return _quepid_snapshot(table)
    if tool in ("Label Studio", "Potato", "Argilla"):
        return _annotations(table, tool)
    return None


def _annotations(table: Checked, tool: str) -> Inspection | None:
    """Tools that write one row an annotation, with one column a question, or one a label of it."""
    frame = table.frame
    roles = roles_of(frame)
    item = roles.get("result_id") or next((str(name) for name in frame if str(name).casefold() == "id"), None)
    if "rater_id" not in roles or item is None:
        return None
    roles["result_id"] = item
    roles.setdefault("query_id", item)
    notes = []
    if "rating" not in roles:
        questions = [name for name in _questions(frame, tool) if name not in roles.values()]
        labels = _labels(frame, [str(name) for name in frame if name not in roles.values()])
        answered = [name for name in questions if read_answers(frame[name]) is not None]
        if labels and not (answered and answered[0] not in {each for columns in labels.values() for each in columns}):
            return _choices(table, roles, tool, labels)
        if not answered:
            return None
        roles["rating"] = answered[0]
        if len(answered) > 1:
            notes = [f"there are several answers ({', '.join(answered)}); the command takes {answered[0]}"]
    return inspect_ratings(table, roles, tool, notes)


def _questions(frame: pd.DataFrame, tool: str) -> list[str]:
    """Columns that may hold answers, by where the tool writes them."""
    names = [str(name) for name in frame]
    if tool == "Label Studio" and "id" in names and names.index("id") < names.index("annotator") - 1:
        between = names[names.index("id") + 1 : names.index("annotator")]
        after = names[names.index("annotation_id") + 1 :]
        found = [name for name in after if name not in ABOUT_ANSWERS] or between
        return [name for name in found if name not in ABOUT_ANSWERS]
    return [name for name in names if name not in ABOUT_ANSWERS and not name.endswith(("._spans", "displayed_text"))]


def _labels(frame: pd.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """Columns that say yes or no to one label each, by what their names share."""
    groups: dict[str, list[str]] = {}
    for name in names:
        found = re.fullmatch(r"(.+?(?::::|\.))([^.:]+)", name)
        if found:
            groups.setdefault(found[1], []).append(name)
    return {
        shared: columns
        for shared, columns in groups.items()
        if len(columns) > 1 and all(_says_whether(frame[name], name.removeprefix(shared)) for name in columns)
    }


def _says_whether(column: pd.Series, label: str) -> bool:
    texts = column.astype("str").mask(column.isna(), "").str.strip().str.casefold()
    number = re.sub(r"\D", "", label)
    return bool(texts.isin(["", *YES, *NO, "0", label.casefold(), number or "true"]).all())


def _choices(table: Checked, roles: dict[str, str], tool: str, labels: dict[str, list[str]]) -> Inspection:
    """Ratings whose answers have a column each."""
    shared, columns = next(iter(labels.items()))
    pattern = f"{shared}*"
    named = {ours: (theirs,) for ours, theirs in roles.items() if ours != "rating"} | {"rating": (pattern,)}
    read = Reading(named).apply(table)
    answers = read_answers(read.frame["rating"])
    notes = [f"each answer has a column that says whether it was chosen: {', '.join(columns)}"]
    if len(labels) > 1:
        others = ", ".join(each for each in labels if each != shared)
        notes.append(f"there are several questions; the command takes {shared} and not {others}")
    if answers is None:
        return Inspection(table.file, tool, f"an export of {tool} without an answer", (), tuple(notes))
    raters = table.frame[roles["rater_id"]].nunique()
    roles = {**{ours: theirs for ours, theirs in roles.items() if ours != "rating"}, "rating": pattern}
    return Inspection(
        table.file,
        tool,
        f"{answers.count} ratings by {raters} raters, exported from {tool}",
        described(roles, "by its name, and what stands in it"),
        (*notes, *remarks(answers)),
        RATING_USES[:3],
        calibrate_command(table, roles, answers),
    )


def _quepid_snapshot(table: Checked) -> Inspection:
    return Inspection(
        table.file,
        "Quepid snapshot",
        "a snapshot of Quepid: results by rank, without scores or ratings",
        described(roles_of(table.frame), "named so"),
        ("a score table or a TREC run is needed to score a system; ranks alone can be written as a run",),
    )


def _prolific(table: Checked) -> Inspection:
    status = next((name for name in table.frame if str(name).casefold() == "status"), None)
    counts = {} if status is None else table.frame[status].value_counts().to_dict()
    counted = ", ".join(f"{number} {name}" for name, number in counts.items())
    return Inspection(
        table.file,
        "Prolific",
        f"a demographic export of Prolific: {len(table.frame)} submissions" + (f" ({counted})" if counted else ""),
        (),
        ("it says who took part, and holds no ratings; compare its Participant id with the platform_id that "
         "relstudy export --people writes",),
    )  # fmt: skip


def _qualtrics(table: Checked) -> Inspection:
    """One row a response; loop-and-merge columns (1_Q3) and the rows of a matrix (Q5_1) are one item each."""
    frame = table.frame
    response = next(str(name) for name in frame if str(name).casefold() == "responseid")
    notes = ["people answer in one row each; the columns of one question over several items are one item each"]
    unfinished = int(
        frame[_named(frame, "finished")].astype("str").str.strip().str.casefold().isin(["false", "0"]).sum()
    )
    if unfinished:
        notes.append(f"{unfinished} responses are not finished; they are still in the table, so remove them or not")
    status = next((str(name) for name in frame if str(name).casefold() == "status"), None)
    if status is not None:
        previews = int(frame[status].astype("str").str.contains("preview", case=False).sum())
        notes += [f"{previews} responses are previews of the survey: remove them"] if previews else []
    items = _items_of_a_question(frame)
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


def _named(frame: pd.DataFrame, plain: str) -> str:
    return next(str(name) for name in frame if str(name).casefold() == plain)


def _items_of_a_question(frame: pd.DataFrame) -> list[str]:
    """The columns of the question that was asked of most items, where its answers are on one scale."""
    questions: dict[str, list[str]] = {}
    for name in map(str, frame):
        loop, matrix = re.fullmatch(r"\d+_(Q\w+)", name), re.fullmatch(r"(Q\w*?)_\d+", name)
        if loop or matrix:
            questions.setdefault((loop or matrix)[1], []).append(name)  # type: ignore[index]
    rated = [names for names in questions.values() if len(names) > 1 and _one_scale(frame, names) is not None]
    return max(rated, key=len, default=[])


def _one_scale(frame: pd.DataFrame, names: list[str]) -> Answers | None:
    return read_answers(pd.concat([frame[name] for name in names], ignore_index=True))


def _mturk(table: Checked) -> Inspection:
    """One row an assignment; what was shown stands in Input.*, what was chosen in Answer.*."""
    frame = table.frame
    names = [str(name) for name in frame]
    notes = []
    status = next((name for name in names if name.casefold() == "assignmentstatus"), None)
    rejected = 0 if status is None else int((frame[status].astype("str").str.casefold() == "rejected").sum())
    if rejected:
        notes.append(
            f"{rejected} rows have AssignmentStatus Rejected; they are still in the table, so remove them or not"
        )
    inputs = [name for name in names if name.casefold().startswith("input.")]
    given = [name for name in names if name.casefold().startswith("answer.") and name != "Answer.taskAnswers"]
    labels = _labels(frame, given)
    of_labels = {name for columns in labels.values() for name in columns}
    answered = [name for name in given if name not in of_labels and read_answers(frame[name]) is not None]
    roles = {"rater_id": _named(frame, "workerid")}
    sentence = f"batch results of MTurk: {len(frame)} assignments"
    if numbered := _numbered(inputs, given):
        notes.append(
            f"each assignment shows several items ({', '.join(numbered[:4])}, ...): make one row an item of the table "
            "before it is read"
        )
        return Inspection(table.file, "MTurk", sentence, described(roles, "by its name"), tuple(notes))
    by_name = roles_of(frame)
    for ours, at in (("query_id", 0), ("result_id", -1)):
        if ours in by_name:
            roles[ours] = by_name[ours]
        elif inputs:
            roles[ours] = inputs[at]
    if "result_id" in roles and answered:
        roles["rating"] = answered[0]
        if len(answered) > 1:
            notes.append(f"there are several answers ({', '.join(answered)}); the command takes {answered[0]}")
        return inspect_ratings(table, roles, "MTurk", notes)
    if "result_id" in roles and labels:
        choices = _choices(table, roles, "MTurk", labels)
        return Inspection(**{**vars(choices), "notes": (*notes, *choices.notes)})
    return Inspection(table.file, "MTurk", sentence, described(roles, "by its name"), tuple(notes))


def _numbered(inputs: list[str], answers: list[str]) -> list[str]:
    """Inputs of one name that are numbered as answers are: several items in one assignment."""

    def stems(names: list[str]) -> Counter[str]:
        return Counter(found[1] for name in names if (found := re.fullmatch(r"(.*?\D)\d+", name)))

    several = [stem for stem, count in stems(inputs).items() if count > 1]
    if not several or not any(count > 1 for count in stems(answers).values()):
        return []
    return [name for name in inputs if name.startswith(several[0])]
