"""Tables that come as JSON or JSON lines: one record a row, and the exports of Label Studio, Potato, Argilla, Quepid.

Each tool nests its answers in its own way; here they become the rows of a table with the tool's own names of columns,
which `--columns` then takes for relstudy's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.errors import RelstudyError
from relstudy.common.tables import Checked
from relstudy.common.utf8 import decoded

ENDINGS = (".json", ".jsonl", ".ndjson")
ANSWERS = ("rating", "number", "choices", "text", "value", "label")
"""Keys under which Label Studio, Argilla and MTurk keep what was answered."""
FLATTENED = ".responses"
"""What Argilla ends the name of a question with where it flattens a record."""
YES, NO = ("true", "yes", "on", "x", "1"), ("false", "no", "off")
Record = dict[str, Any]


@dataclass(frozen=True)
class Records:
    """The records of a file.

    Parameters
    ----------
    tool : whose export they are; "JSON" where that is not known
    rows : values by column, one record a row
    notes : what a person should be told, as sentences
    """

    tool: str
    rows: list[Record]
    notes: tuple[str, ...] = ()

    def table(self, file: str) -> Checked:
        """The records as a table of text; rows are counted from 1."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        columns = {name: [cell_text(row.get(name)) for row in self.rows] for name in names}
        table = Checked(pd.DataFrame(columns, dtype="str"), file, np.arange(1, len(self.rows) + 1))
        table.notes = (*self.notes, "records of JSON are counted as rows, from 1")
        return table


def is_json(path: str | os.PathLike[str]) -> bool:
    """Whether a file is JSON or JSON lines by its ending."""
    return os.fspath(path).lower().endswith(ENDINGS)


def read_records(path: str | os.PathLike[str]) -> Records:
    """The records of a JSON or JSON lines file, as the tool that wrote it means them.

    Raises
    ------
    RelstudyError
        when the file cannot be read or is no JSON, or holds no records
    """
    file = os.fspath(path)
    content = _content(file)
    records = _records(content)
    if not records.rows or not any(records.rows):
        raise RelstudyError(f"{file}: there are no records in this JSON; a list of objects, or one a line, is needed")
    return records


def unwrapped(value: Any) -> Any:
    """What was answered, out of the objects that tools wrap it in.

    Examples
    --------
    >>> unwrapped([{"rating": 4}]), unwrapped({"choices": ["good"]}), unwrapped({"1": False, "2": True})
    (4, 'good', '2')
    """
    while True:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and value and all(isinstance(each, bool) for each in value.values()):
            chosen = [name for name, is_chosen in value.items() if is_chosen]
            return chosen[0] if len(chosen) == 1 else chosen or None
        elif isinstance(value, dict) and (keys := [name for name in ANSWERS if name in value]):
            value = value[keys[0]]
        else:
            return value


def cell_text(value: Any) -> str:
    """A value as a table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _content(file: str) -> Any:
    try:
        text = decoded(Path(file).read_bytes(), file, "file")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except IsADirectoryError:
        raise RelstudyError(f"{file}: this is a folder; a table is needed") from None
    except OSError as error:
        raise RelstudyError(f"{file}: cannot be read ({error.strerror})") from None
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as whole:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].lstrip().startswith("{"):
            raise RelstudyError(f"{file}: this is not JSON ({whole})") from None
    records = []
    for number, line in lines:
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError) as error:
            raise RelstudyError(f"{file}, line {number}: this is not JSON ({error})") from None
    return records


def _records(content: Any) -> Records:
    """Records by the form of what the file holds."""
    if isinstance(content, dict):
        for key, read in _BY_KEY.items():
            if key in content:
                return read(content)
        return _by_query(content) or Records("JSON", [_flat(content)])
    rows = [record for record in content if isinstance(record, dict)] if isinstance(content, list) else []
    if not rows or len(rows) < len(content):
        return Records("JSON", [])
    keys = set(rows[0])
    if "annotations" in keys and isinstance(rows[0]["annotations"], list):
        return _label_studio(rows)
    if {"annotation_id", "annotator"} <= keys:
        return Records("Label Studio", [{name: unwrapped(value) for name, value in row.items()} for row in rows])
    if {"instance_id", "user_id", "labels"} <= keys:
        return Records("Potato", [_potato_row(row["user_id"], row["instance_id"], row["labels"]) for row in rows])
    if "responses" in keys or any(name.endswith(f"{FLATTENED}.users") for name in keys):
        return _argilla(rows)
    if "label" in keys and isinstance(rows[0]["label"], list):
        return Records("doccano", [_flat({**row, "label": unwrapped(row["label"])}) for row in rows])
    return Records("JSON", [_flat(row) for row in rows])


def _by_query(content: Record) -> Records | None:
    """Grades, or scores, by query and then by result, as evaluation libraries keep them; None for anything else."""
    by_query = {query: values for query, values in content.items() if isinstance(values, dict)}
    numbers = [number for values in by_query.values() for number in values.values()]
    if len(by_query) < len(content) or not numbers or not all(type(number) in (int, float) for number in numbers):
        return None
    name = "rating" if all(float(number).is_integer() for number in numbers) else "score"
    pairs = [(query, result, number) for query, values in by_query.items() for result, number in values.items()]
    rows = [{"query_id": query, "result_id": result, name: number} for query, result, number in pairs]
    return Records("JSON", rows, (f"queries, of results with a number each: taken for a {name}",))


def _flat(record: Record, prefix: str = "") -> Record:
    """Nested objects as columns named with a point between."""
    row: Record = {}
    for name, value in record.items():
        if isinstance(value, dict) and value:
            row |= _flat(value, f"{prefix}{name}.")
        else:
            row[f"{prefix}{name}"] = value
    return row


def _objects(value: Any) -> list[Record]:
    """The objects of a list; nothing where it is none."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _label_studio(tasks: list[Record]) -> Records:
    """One row an annotation: the task's data, who annotated, and what each control holds."""
    rows, cancelled = [], 0
    for task in tasks:
        data = task.get("data")
        known = {"id": task.get("id"), **(_flat(data) if isinstance(data, dict) else {})}
        for annotation in _objects(task.get("annotations")):
            if annotation.get("was_cancelled"):
                cancelled += 1
                continue
            by = annotation.get("completed_by")
            annotator = by.get("email", by.get("id")) if isinstance(by, dict) else by
            results = _objects(annotation.get("result"))
            answers = {str(each.get("from_name")): unwrapped(each.get("value")) for each in results}
            rows.append({**known, "annotator": annotator, "annotation_id": annotation.get("id"), **answers})
    notes = (f"{cancelled} annotations that were skipped (was_cancelled) are left out",) if cancelled else ()
    return Records("Label Studio", rows, notes)


def _potato_state(content: Record) -> Records:
    """One rater's answers, one row an item."""
    answers, user = content["instance_id_to_label_to_value"], content.get("user_id")
    items = answers.items() if isinstance(answers, dict) else ()
    return Records("Potato", [_potato_row(user, item, labels) for item, labels in items])


def _potato_row(user: Any, item: Any, labels: Any) -> Record:
    """A row with one column a schema; labels come as {schema: {label: value}} or as [[{schema, name}, value], ...]."""
    by_schema: dict[str, dict[str, Any]] = {}
    if isinstance(labels, dict):
        for schema, values in labels.items():
            by_schema[schema] = values if isinstance(values, dict) else {"": values}
    elif isinstance(labels, list):
        for entry in labels:
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
                schema, name = str(entry[0].get("schema")), str(entry[0].get("name", ""))
                by_schema.setdefault(schema, {})[name] = entry[1]
    return {
        "user_id": user,
        "instance_id": item,
        **{name: _potato_answer(values) for name, values in by_schema.items()},
    }


def _potato_answer(labels: dict[str, Any]) -> Any:
    """The label that was chosen, or the number or text that was given under it."""
    texts = {name: cell_text(value).strip() for name, value in labels.items()}
    given = {name: text for name, text in texts.items() if text and text.casefold() not in NO}
    answers = [name if name and text.casefold() in YES else text for name, text in given.items()]
    return answers[0] if len(answers) == 1 else answers or None


def _argilla(records: list[Record]) -> Records:
    """One row a response that was submitted; one without a status counts as such, and a note says so.

    Responses come by person (Argilla 1), by question and then by person (Argilla 2), or flattened: lists of answers,
    of people and of statuses, under QUESTION.responses, QUESTION.responses.users and QUESTION.responses.status.
    """
    rows = []
    statuses: set[str | None] = set()
    for record in records:
        fields = record.get("fields")
        if fields is None:
            fields = {name: value for name, value in record.items() if not isinstance(value, dict | list)}
        known = {"id": record.get("id"), **(_flat(fields) if isinstance(fields, dict) else {})}
        by_user: dict[str, Record] = {}
        for user, question, answer, status in _argilla_answers(record):
            statuses.add(status)
            if status in (None, "submitted"):
                by_user.setdefault(user, {})[question] = unwrapped(answer)
        rows += [{**known, "user_id": user, **answers} for user, answers in by_user.items()]
    notes = ["only responses that were submitted are read"] if statuses - {None} else []
    if None in statuses:
        notes.append("some responses do not say whether they were submitted; drafts and discarded may be among them")
    return Records("Argilla", rows, tuple(notes))


def _argilla_answers(record: Record) -> Iterable[tuple[str, str, Any, str | None]]:
    """Person, question, answer and status (None where it is not told) of each answer of a record."""
    responses = record.get("responses", [])
    for response in _objects(responses):
        values = response.get("values")
        for question, answer in values.items() if isinstance(values, dict) else ():
            yield str(response.get("user_id")), question, answer, response.get("status")
    for question, given in responses.items() if isinstance(responses, dict) else ():
        for response in _objects(given):
            yield str(response.get("user_id")), question, response.get("value"), response.get("status")
    for name, answers in record.items():
        users, statuses = record.get(f"{name}.users"), record.get(f"{name}.status")
        if name.endswith(FLATTENED) and isinstance(answers, list) and isinstance(users, list):
            told = statuses if isinstance(statuses, list) else [None] * len(users)
            for answer, user, status in zip(answers, users, told, strict=False):
                yield str(user), name.removesuffix(FLATTENED), answer, status


def _ranked_evaluator(content: Record) -> Records:
    """Ratings of the Rated Ranking Evaluator: per query, documents by rating or ratings by document."""
    rows = []
    groups = (group for topic in _objects(content["topics"]) for group in _objects(topic.get("query_groups")))
    for group in groups:
        queries = _objects(group.get("queries"))
        placeholders = queries[0].get("placeholders") if queries else None
        query = placeholders.get("$query") if isinstance(placeholders, dict) else None
        documents = group.get("relevant_documents")
        for key, value in documents.items() if isinstance(documents, dict) else ():
            if isinstance(value, list):
                rows += [{"query": query or group.get("name"), "docid": doc, "rating": key} for doc in value]
            else:
                gain = value.get("gain") if isinstance(value, dict) else value
                rows.append({"query": query or group.get("name"), "docid": key, "rating": gain})
    return Records("RRE", rows)


def _quepid_book(content: Record) -> Records:
    """One row a judgement of a Quepid book."""
    rows, unrateable = [], 0
    for pair in _objects(content["query_doc_pairs"]):
        for judgement in _objects(pair.get("judgements")):
            if judgement.get("unrateable") or judgement.get("judge_later"):
                unrateable += 1
            row = {"query": pair.get("query_text"), "docid": pair.get("doc_id")}
            rows.append({**row, "judge": judgement.get("user_email", "anonymous"), "rating": judgement.get("rating")})
    notes = (f"{unrateable} judgements are unrateable or put off",) if unrateable else ()
    return Records("Quepid", rows, notes)


_BY_KEY: dict[str, Callable[[Record], Records]] = {
    "instance_id_to_label_to_value": _potato_state,
    "query_doc_pairs": _quepid_book,
    "topics": _ranked_evaluator,
}
"""Files that are one object, by a key that only they have."""


def chosen_label(row: Iterable[tuple[str, str]], several_filled: bool) -> list[str]:
    """The labels that a row chooses, where each label has a column.

    Parameters
    ----------
    row : labels with their cells
    several_filled : whether rows of the table have more than one cell filled, so that a cell must say yes to count
    """
    texts = [(label, cell.strip().casefold()) for label, cell in row]
    if several_filled:
        return [label for label, cell in texts if cell in YES]
    return [label for label, cell in texts if cell and cell not in NO]
