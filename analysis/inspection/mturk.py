"""Batch results of Mechanical Turk: one row an assignment."""

from __future__ import annotations

import re
from collections import Counter

from relstudy.analysis.inspection.choices import choices_made, labels_of
from relstudy.analysis.inspection.columns import column_called, columns_of_answers, described, inspect_ratings, roles_of
from relstudy.analysis.inspection.finding import Inspection
from relstudy.common.checked import Checked
from relstudy.common.wording import count_of


def inspect_mturk(table: Checked) -> Inspection:
    """One row an assignment; what was shown stands in Input.*, what was chosen in Answer.*."""
    frame = table.frame
    names = [str(name) for name in frame]
    notes = []
    status = next((name for name in names if name.casefold() == "assignmentstatus"), None)
    rejected = 0 if status is None else int((frame[status].astype("str").str.casefold() == "rejected").sum())
    if rejected:
        notes.append(
            f"{count_of(rejected, 'row')} of AssignmentStatus Rejected: still in the table, so remove them or not"
        )
    inputs = [name for name in names if name.casefold().startswith("input.")]
    given = [name for name in names if name.casefold().startswith("answer.") and name != "Answer.taskAnswers"]
    labels = labels_of(frame, given)
    of_labels = {name for columns in labels.values() for name in columns}
    answered = columns_of_answers(frame, [name for name in given if name not in of_labels])
    roles = {"rater_id": column_called(frame, "workerid")}
    sentence = f"batch results of MTurk: {count_of(len(frame), 'assignment')}"
    if numbered := _numbered(inputs, given):
        notes.append(
            f"each assignment shows several items ({', '.join(numbered[:4])}, ...): make one row per item of the table "
            "before it is read"
        )
        return Inspection(table.file, "MTurk", sentence, described(roles, "by its name"), tuple(notes))
    by_name = roles_of(frame)
    for ours, at in (("query_id", 0), ("result_id", -1)):
        if ours in by_name:
            roles[ours] = by_name[ours]
        elif inputs:
            roles[ours] = inputs[at]
            which = "only" if len(inputs) == 1 else "last" if at else "first"
            notes.append(f"{inputs[at]} is taken for {ours}, being the {which} input: --columns names another")
    if "result_id" in roles and answered:
        if len(answered) > 1:
            readings = [inspect_ratings(table, {**roles, "rating": name}, "MTurk") for name in answered]
            what = f"{sentence} with several answers ({', '.join(answered)})"
            return Inspection.of_several(table.file, readings, what, notes)
        return inspect_ratings(table, {**roles, "rating": answered[0]}, "MTurk", notes)
    if "result_id" in roles and labels:
        return choices_made(table, roles, "MTurk", labels, notes)
    return Inspection(table.file, "MTurk", sentence, described(roles, "by its name"), tuple(notes))


def _numbered(inputs: list[str], answers: list[str]) -> list[str]:
    """Inputs of one name that are numbered as answers are: several items in one assignment."""

    def stems(names: list[str]) -> Counter[str]:
        return Counter(match[1] for name in names if (match := re.fullmatch(r"(.*?\D)\d+", name)))

    several = [stem for stem, count in stems(inputs).items() if count > 1]
    if not several or not any(count > 1 for count in stems(answers).values()):
        return []
    return [name for name in inputs if name.startswith(several[0])]
