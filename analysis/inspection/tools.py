"""Exports of other tools: Label Studio, Potato, Argilla, doccano, Quepid, Prolific, MTurk, Toloka, surveys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import pandas as pd

from relstudy.analysis.inspection.answers import answers_of_columns, read_answers
from relstudy.analysis.inspection.column_roles import (
    RATING_USES,
    calibrate_command,
    column_called,
    columns_of_answers,
    described,
    inspect_ratings,
    remarks,
    roles_of,
    to_run,
)
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.json_records import FLATTENED, NO, YES
from relstudy.common.tables.formats.row_filters import answered
from relstudy.common.tables.formats.survey_and_annotation_tools import (
    ARGILLA,
    LABEL_STUDIO,
    POTATO,
    PROLIFIC,
    QUEPID,
    TOOLS,
    Crowd,
    Tool,
)
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.reading import Reading
from relstudy.common.tables.meaning.wide_to_long import items_in_wording

ABOUT_ANSWERS = (
    *("created_at", "updated_at", "lead_time", "annotation_id", "annotator", "id", "agreement", "history"),
    *("annotator_origin", "annotator_origin_detail", "displayed_text"),
)
"""Columns of Label Studio and Potato that hold no answers."""
NO_ANSWERS = ("._spans", "._room", "._room_id", "_transcript")
"""The end of the names of such columns."""

CROWDS = {tool.name: tool.crowd for tool in TOOLS if tool.crowd}
SURVEYS = {tool.name: tool for tool in TOOLS if tool.person}
"""Tools that write one row a person."""
NO_QUESTION = r"_DO(_|$)|_TEXT$|_(First Click|Last Click|Page Submit|Click Count)$"
"""Names of columns that say how a question was shown or how long it took."""


def inspect_export(table: Checked, tool: str) -> Inspection | None:
    """The inspection of a tool's export; None where it is a table like any other."""
    names = {str(name).casefold() for name in table.frame}
    if not tool and {"query", "docid"} <= names and not names & QUEPID.lacking:
        return _quepid_book(table)
    if tool == PROLIFIC.name:
        return _prolific(table)
    if tool in SURVEYS:
        return _survey(table, SURVEYS[tool])
    if tool in CROWDS:
        return _crowd(table, tool, CROWDS[tool])
    if tool == QUEPID.name and "rating" not in names and "rank" in names:
        return _quepid_snapshot(table)
    if ARGILLA.wrote(names):
        return _flattened(table)
    return _annotations(table, tool) if tool in (LABEL_STUDIO.name, POTATO.name, ARGILLA.name) else None


def _annotations(table: Checked, tool: str) -> Inspection | None:
    """Tools that write one row an annotation, with one column a question, or one a label of it."""
    frame = table.frame
    roles = roles_of(frame)
    item = roles.get("result_id") or column_called(frame, "id")
    if "rater_id" not in roles or item is None:
        return None
    roles["result_id"] = item
    roles.setdefault("query_id", item)
    notes = [*_machines(frame), *_several(frame)]
    others = [str(name) for name in frame if name not in roles.values() and not str(name).endswith(NO_ANSWERS)]
    labels = _labels_of(frame, others)
    # where Potato held two labels of a question, a column of the question's name has the last: not all answers
    of_labels = {shared.rstrip(".:") for shared in labels}
    if roles.get("rating") in of_labels:
        del roles["rating"]
    if "rating" not in roles:
        asked = [name for name in _questions(frame, tool) if not _counts_rows(frame[name])]
        questions = [name for name in asked if name not in roles.values()]
        of_labels |= {each for columns in labels.values() for each in columns}
        answered = columns_of_answers(frame, questions)
        if labels and not (answered and answered[0] not in of_labels):
            return _choices_made(table, roles, tool, labels, notes)
        if not answered:
            sentence = f"an export of {tool} with {count_of(len(frame), 'row')}, and no column of answers on one scale"
            return Inspection(table.file, tool, sentence, described(roles, "by its name"), tuple(notes))
    else:
        answered = [roles["rating"]]
    readings = [inspect_ratings(table, {**roles, "rating": name}, tool) for name in answered]
    what = f"an export of {tool} with several answers a row ({', '.join(answered)})"
    return Inspection.of_several(table.file, readings, what, notes)


def _counts_rows(column: pd.Series) -> bool:
    """True for whole numbers that rise by one, as a data frame's index does."""
    numbers = pd.to_numeric(column, errors="coerce")
    return len(numbers) > 1 and bool((numbers.diff().iloc[1:] == 1).all())


def _several(frame: pd.DataFrame) -> list[str]:
    """Columns with more than one answer in a cell, one sentence each."""
    notes = []
    for name in frame:
        lists = frame[name].astype("str").str.strip()
        lists = lists[lists.str.fullmatch(r"\[[^{]+,.+\]")]
        if len(lists):
            cells = count_of(len(lists), "cell")
            notes.append(f"{name}: {cells} with more than one answer, as {lists.iloc[0][:40]}, which is not a rating")
    return notes


def _machines(frame: pd.DataFrame) -> list[str]:
    """The number of rows that Potato marks as a tool's or a language model's, as a sentence."""
    column = column_called(frame, "annotator_origin")
    if column is None:
        return []
    origins = frame[column].astype("str").str.strip().str.casefold()
    count = int((~origins.isin(["", "human"])).sum())
    return [f"{count_of(count, 'row')} by a machine (annotator_origin): still in the table, so remove them or not"]


def _questions(frame: pd.DataFrame, tool: str) -> list[str]:
    """Columns that may hold answers, by where the tool writes them."""
    places = {str(name).casefold(): place for place, name in enumerate(frame)}
    names = [name for name in map(str, frame) if name.casefold() not in ABOUT_ANSWERS and not name.endswith(NO_ANSWERS)]
    if tool == "Label Studio" and "id" in places and places["id"] < places["annotator"] - 1:
        after = [name for name in names if places[name.casefold()] > places["annotation_id"]]
        return after or [name for name in names if places["id"] < places[name.casefold()] < places["annotator"]]
    return names


def _quepid_snapshot(table: Checked) -> Inspection:
    return Inspection(
        table.file,
        "Quepid snapshot",
        "a snapshot of Quepid: results by rank, without scores or ratings",
        described(roles_of(table.frame), "named so"),
        ("a score table or a TREC run is needed to score a system; ranks alone can be written as a run",),
    )


def _quepid_book(table: Checked) -> Inspection | None:
    """One column per judge, where a cell may hold several judgements of one judge; None where no cell does."""
    frame = table.frame
    roles = {name: each for name, each in roles_of(frame).items() if name in PAIR}
    judges = [str(name) for name in frame if name not in roles.values()]
    texts = frame[judges].astype("str").apply(lambda column: column.str.strip())
    several = texts.apply(lambda column: column.str.fullmatch(r"-?[\d.]+(\|-?[\d.]+)+"))
    cells = sorted({cell for name in judges for cell in texts.loc[several[name], name]})
    answers = answers_of_columns(texts.mask(several, ""), judges)
    if not cells or answers is None or answers.words:
        return None
    number = count_of(int(several.to_numpy().sum()), "cell")
    note = (
        f"{number} with several judgements of one judge ({', '.join(cells[:3])}): the command leaves them out; the "
        "book's JSON has each of them"
    )
    answers = replace(answers, missing=(*answers.missing, *cells))
    why = "every other column of a book is a judge's"
    inspection = Inspection(
        table.file,
        "Quepid",
        f"a book of Quepid with one column per judge: {count_of(answers.count, 'judgement')} by "
        f"{count_of(len(judges), 'judge')}",
        (*described(roles, "by its name"), *(ColumnRole(name, "rating", why) for name in judges)),
        (note,),
        RATING_USES[:3],
    )
    return to_run(inspection, calibrate_command(table, roles, answers, judges), answers)


def _flattened(table: Checked) -> Inspection:
    """A dataset of Argilla as a table of lists, whose cells depend on what wrote them."""
    questions = [str(name) for name in table.frame if str(name).endswith(FLATTENED)]
    return Inspection(
        table.file,
        "Argilla",
        f"records of Argilla with lists of answers in the cells of {', '.join(questions)}",
        (),
        ("lists in cells cannot be read: export the records as JSON (records.to_json), and inspect that",),
    )


def _crowd(table: Checked, tool: str, crowd: Crowd) -> Inspection:
    """One row an assignment; what was shown and what was chosen stand under names that begin so."""
    frame = table.frame
    names = [str(name) for name in frame]
    notes = []
    status = column_called(frame, crowd.state)
    rejected = 0 if status is None else int((frame[status].astype("str").str.casefold() == "rejected").sum())
    if rejected:
        notes.append(f"{count_of(rejected, 'row')} of {status} Rejected: still in the table, so remove them or not")
    golden = frame[[name for name in names if name.startswith("GOLDEN:")]]
    if controls := int((golden.astype("str").apply(lambda column: column.str.strip()) != "").any(axis=1).sum()):
        notes.append(
            f"{count_of(controls, 'row')} of control tasks (GOLDEN): still in the table, so remove them or not"
        )
    inputs = [name for name in names if name.casefold().startswith(crowd.shown)]
    given = [name for name in names if name.casefold().startswith(crowd.chosen) and name != "Answer.taskAnswers"]
    labels = _labels_of(frame, given)
    of_labels = {name for columns in labels.values() for name in columns}
    answered = columns_of_answers(frame, [name for name in given if name not in of_labels])
    roles = {"rater_id": str(column_called(frame, crowd.worker))}
    sentence = f"{crowd.what} of {tool}: {count_of(len(frame), 'assignment')}"
    if numbered := _numbered(inputs, given):
        notes.append(
            f"each assignment shows several items ({', '.join(numbered[:4])}, ...): make one row per item of the table "
            "before it is read"
        )
        return Inspection(table.file, tool, sentence, described(roles, "by its name"), tuple(notes))
    by_name = roles_of(frame[inputs])
    for ours, at in (("query_id", 0), ("result_id", -1)):
        if ours in by_name:
            roles[ours] = by_name[ours]
        elif inputs:
            roles[ours] = inputs[at]
            which = "only" if len(inputs) == 1 else "last" if at else "first"
            notes.append(f"{inputs[at]} is taken for {ours}, being the {which} input: --columns names another")
    if "result_id" in roles and answered:
        readings = [inspect_ratings(table, {**roles, "rating": name}, tool) for name in answered]
        what = f"{sentence} with several answers ({', '.join(answered)})"
        return Inspection.of_several(table.file, readings, what, notes)
    if "result_id" in roles and labels:
        return _choices_made(table, roles, tool, labels, notes)
    if given and not inputs:
        notes.append(f"it does not hold what {listed_some(given)} were about: --items FILE says it, a row a question")
    return Inspection(table.file, tool, sentence, described(roles, "by its name"), tuple(notes))


def _numbered(inputs: list[str], answers: list[str]) -> list[str]:
    """Inputs of one name that are numbered as answers are: several items in one assignment."""

    def stems(names: list[str]) -> Counter[str]:
        return Counter(match[1] for name in names if (match := re.fullmatch(r"(.*?\D)\d+", name)))

    several = [stem for stem, count in stems(inputs).items() if count > 1]
    if not several or not any(count > 1 for count in stems(answers).values()):
        return []
    return [name for name in inputs if name.startswith(several[0])]


def _prolific(table: Checked) -> Inspection:
    """One row a submission, without ratings."""
    status = column_called(table.frame, "status")
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


def _survey(table: Checked, tool: Tool) -> Inspection:
    """One row a response; loop-and-merge columns (1_Q3), the rows of a matrix (Q5_1) or of an array (G1[lamp]) are one
    item each."""
    read = answered(table)
    left_out = read.notes[len(table.notes) :]
    questions = sorted(_questions_of_items(read.frame).values(), key=len, reverse=True)
    if not questions:
        sentence = f"an export of {tool.name} with {count_of(len(read.frame), 'response')}"
        note = "no question was asked of several items, so there are no ratings to read"
        return Inspection(table.file, tool.name, sentence, (), (*left_out, note))
    readings = [_question(read, tool, items) for items in questions]
    what = f"an export of {tool.name} with {len(readings)} questions on several items"
    return Inspection.of_several(table.file, readings, what, left_out)


def _question(table: Checked, tool: Tool, items: list[str]) -> Inspection:
    """The ratings that one question gives, which was asked of several items."""
    frame = table.frame
    response = str(column_called(frame, *tool.person))
    roles = {"rater_id": response}
    answers = answers_of_columns(frame, items)
    assert answers is not None
    columns = (
        ColumnRole(response, "rater_id", "one response is one person"),
        *(ColumnRole(name, "rating", "the same question of one item each") for name in items),
    )
    worded = _worded(table)
    is_worded = set(items) <= set(worded)
    note = "each column is taken as an item; --items FILE (column,query_id,result_id) says which pair it is"
    command = calibrate_command(table, roles, answers, () if set(items) == set(worded) else items)
    inspection = Inspection(
        table.file,
        tool.name,
        f"an export of {tool.name}: {count_of(answers.count, 'rating')} of {count_of(len(items), 'item')} by "
        f"{count_of(len(frame), 'person', 'people')}",
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
        and answers_of_columns(frame, names) is not None
        # a box that may be ticked has one answer, its own
        and any(frame[name][frame[name].astype("str").str.strip() != ""].nunique() > 1 for name in names)
    }


def _labels_of(frame: pd.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """Columns that say yes or no to one label each, by what their names share."""
    groups: dict[str, list[str]] = {}
    for name in names:
        match = re.fullmatch(r"(.+?(?::::|\.))([^.:]+)", name)
        if match:
            groups.setdefault(match[1], []).append(name)
    return {
        shared: columns
        for shared, columns in groups.items()
        if len(columns) > 1 and all(_says_whether(frame[name], name.removeprefix(shared)) for name in columns)
    }


def _says_whether(column: pd.Series, label: str) -> bool:
    texts = column.astype("str").mask(column.isna(), "").str.strip().str.casefold()
    number = re.sub(r"\D", "", label)
    return bool(texts.isin(["", *YES, *NO, "0", label.casefold(), number or "true"]).all())


def _choices_made(
    table: Checked, roles: dict[str, str], tool: str, labels: dict[str, list[str]], notes: Sequence[str]
) -> Inspection:
    """Ratings whose answers have a column each."""
    readings = [inspect_choices(table, roles, tool, columns, shared) for shared, columns in labels.items()]
    return Inspection.of_several(table.file, readings, f"an export of {tool} with {len(labels)} questions", notes)


def inspect_choices(
    table: Checked, roles: dict[str, str], tool: str, columns: list[str], shared: str = ""
) -> Inspection:
    """The inspection of ratings in which each answer has a column that says whether it was chosen.

    Parameters
    ----------
    shared : how the names of the columns begin, which is no part of the answers
    """
    pattern = f"{shared}*"
    matching = [str(name) for name in table.frame if fnmatchcase(str(name), pattern)]
    chosen = (pattern,) if matching == columns else tuple(columns)
    named = {ours: (theirs,) for ours, theirs in roles.items() if ours != "rating"} | {"rating": chosen}
    read = Reading(named).apply(table)
    several = {str(fault.value) for fault in read.faults}
    answers = read_answers(read.frame["rating"].mask(read.frame["rating"].isin(several), ""))
    notes = [f"each answer has a column that says whether it was chosen: {', '.join(columns)}"]
    if several:
        notes.append(f"some rows have chosen several answers ({', '.join(sorted(several))}): keep one of them in each")
    if answers is None:
        return Inspection(table.file, tool or "ratings", "ratings without an answer", (), tuple(notes))
    raters = table.frame[roles["rater_id"]].nunique()
    roles = {**{ours: theirs for ours, theirs in roles.items() if ours != "rating"}, "rating": ", ".join(chosen)}
    inspection = Inspection(
        table.file,
        tool or "ratings",
        f"{count_of(answers.count, 'rating')} by {count_of(raters, 'rater')}"
        + (f", exported from {tool}" if tool else ""),
        described(roles, "by its name and its values"),
        (*notes, *remarks(answers)),
        RATING_USES[:3],
    )
    return to_run(inspection, calibrate_command(table, roles, answers, chosen), answers)
