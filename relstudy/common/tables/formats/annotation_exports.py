"""JSON exports of annotation tools as rows with the tool's own names of columns: Label Studio, Potato, Argilla,
Prodigy, doccano, Quepid, the Rated Ranking Evaluator, and Elasticsearch's ranking evaluation.

`--columns` then takes those names for relstudy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.formats.json_records import (
    FLATTENED,
    NO,
    YES,
    Record,
    Records,
    cell_text,
    flat,
    objects,
    unwrapped,
)
from relstudy.common.tables.formats.survey_and_annotation_tools import ARGILLA, LABEL_STUDIO, POTATO


def exported(content: Any) -> Records | None:
    """The records of a tool's export; None where the content is not known to be one."""
    if isinstance(content, dict):
        readers = [read for key, read in _BY_KEY.items() if key in content]
        return readers[0](content) if readers else None
    rows: list[Record] = content
    keys = set(rows[0])
    if "annotations" in keys and isinstance(rows[0]["annotations"], list):
        return _label_studio(rows)
    if LABEL_STUDIO.wrote(keys):
        return Records("Label Studio", [{name: unwrapped(value) for name, value in row.items()} for row in rows])
    if POTATO.wrote(keys) and {"user_id", "labels"} <= keys:
        return Records("Potato", [_potato_row(row["user_id"], row["instance_id"], row["labels"]) for row in rows])
    if "responses" in keys or ARGILLA.wrote(keys) or _questions(rows):
        return _argilla(rows)
    if {"_input_hash", "answer"} <= keys:
        return _prodigy(rows)
    if "label" in keys and isinstance(rows[0]["label"], list):
        return Records("doccano", [flat({**row, "label": unwrapped(row["label"])}) for row in rows])
    return None


def _label_studio(tasks: list[Record]) -> Records:
    """One row an annotation: the task's data, who annotated, and what each control holds."""
    rows, cancelled = [], 0
    for task in tasks:
        data = task.get("data")
        shared = {"id": task.get("id"), **(flat(data) if isinstance(data, dict) else {})}
        for annotation in objects(task.get("annotations")):
            if annotation.get("was_cancelled"):
                cancelled += 1
                continue
            by = annotation.get("completed_by")
            annotator = by.get("email", by.get("id")) if isinstance(by, dict) else by
            given: dict[str, list[Any]] = {}
            for each in objects(annotation.get("result")):
                given.setdefault(str(each.get("from_name")), []).append(unwrapped(each.get("value")))
            # a control that was used on several regions has several answers, and none of them is the item's
            answers = {name: values[0] if len(values) == 1 else values for name, values in given.items()}
            rows.append({**shared, "annotator": annotator, "annotation_id": annotation.get("id"), **answers})
    notes = (f"{count_of(cancelled, 'annotation')} skipped (was_cancelled) and left out",) if cancelled else ()
    return Records("Label Studio", rows, notes)


def _potato_state(content: Record) -> Records:
    """One rater's answers, one row per item."""
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


def _prodigy(tasks: list[Record]) -> Records:
    """One row a task; where options could be chosen, `accept` has the one that was, else `answer` says yes or no."""
    has_options = any("accept" in task for task in tasks)
    kept = [task for task in tasks if task.get("answer") in (("accept",) if has_options else ("accept", "reject"))]
    rows = [{name: unwrapped(value) for name, value in task.items() if name != "options"} for task in kept]
    if has_options:
        rows = [{name: value for name, value in row.items() if name != "answer"} for row in rows]
    skipped = len(tasks) - len(kept)
    notes = (f"{count_of(skipped, 'task')} skipped or rejected (answer) and left out",) if skipped else ()
    return Records("Prodigy", rows, notes)


def _argilla(records: list[Record]) -> Records:
    """One row a response that was submitted; one without a status counts as such, and a note says so.

    Responses come by person (Argilla 1), by question and then by person (Argilla 2; Argilla 1's datasets have the
    questions beside the fields), or flattened: lists of answers, of people and of statuses, under QUESTION.responses,
    QUESTION.responses.users and QUESTION.responses.status.
    """
    questions = _questions(records)
    rows = []
    statuses: set[str | None] = set()
    for record in records:
        fields = record.get("fields")
        if fields is None:
            fields = {name: value for name, value in record.items() if not isinstance(value, dict | list)}
        shared = {"id": record.get("id"), **(flat(fields) if isinstance(fields, dict) else {})}
        by_user: dict[str, Record] = {}
        for user, question, answer, status in _argilla_answers(record, questions):
            statuses.add(status)
            if status in (None, "submitted"):
                by_user.setdefault(user, {})[question] = unwrapped(answer)
        rows += [{**shared, "user_id": user, **answers} for user, answers in by_user.items()]
    notes = ["only responses that were submitted are read"] if statuses - {None} else []
    if None in statuses:
        notes.append("some responses do not say whether they were submitted; drafts and discarded may be among them")
    return Records("Argilla", rows, tuple(notes))


def _questions(records: list[Record]) -> list[str]:
    """Names under which records hold a list of people's answers."""
    names = dict.fromkeys(name for record in records for name in record if name != "responses")
    answer = {"user_id", "value", "status"}
    return [
        name
        for name in names
        if any(answer <= set(each) for record in records for each in objects(record.get(name))[:1])
    ]


def _argilla_answers(record: Record, questions: Iterable[str]) -> Iterable[tuple[str, str, Any, str | None]]:
    """Person, question, answer and status (None where it is not given) of each answer of a record."""
    responses = record.get("responses", [])
    for question in questions:
        for response in objects(record.get(question)):
            yield str(response.get("user_id")), question, response.get("value"), response.get("status")
    for response in objects(responses):
        values = response.get("values")
        for question, answer in values.items() if isinstance(values, dict) else ():
            yield str(response.get("user_id")), question, answer, response.get("status")
    for question, given in responses.items() if isinstance(responses, dict) else ():
        for response in objects(given):
            yield str(response.get("user_id")), question, response.get("value"), response.get("status")
    for name, answers in record.items():
        users, statuses = record.get(f"{name}.users"), record.get(f"{name}.status")
        if name.endswith(FLATTENED) and isinstance(answers, list) and isinstance(users, list):
            given = statuses if isinstance(statuses, list) else [None] * len(users)
            for answer, user, status in zip(answers, users, given, strict=False):
                yield str(user), name.removesuffix(FLATTENED), answer, status


def _ranked_evaluator(content: Record) -> Records:
    """Ratings of the Rated Ranking Evaluator: per query, documents by rating or ratings by document."""
    rows = []
    groups = (group for topic in objects(content["topics"]) for group in objects(topic.get("query_groups")))
    for group in groups:
        queries = objects(group.get("queries"))
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


def _rank_eval(content: Record) -> Records:
    """Ratings of a request to Elasticsearch's or OpenSearch's ranking evaluation."""
    rows = [
        {"query": request.get("id"), "docid": each.get("_id"), "rating": each.get("rating")}
        for request in objects(content["requests"])
        for each in objects(request.get("ratings"))
    ]
    return Records("Elasticsearch", rows)


def _workbench(content: Record) -> Records:
    """A judgment list of OpenSearch's Search Relevance Workbench."""
    rows = [
        {"query": of_query.get("query"), "docid": each.get("docId"), "rating": each.get("rating")}
        for of_query in objects(content["judgmentRatings"])
        for each in objects(of_query.get("ratings"))
    ]
    return Records("OpenSearch", rows)


def _quepid_book(content: Record) -> Records:
    """One row a judgement of a Quepid book."""
    rows, unrateable = [], 0
    for pair in objects(content["query_doc_pairs"]):
        for judgement in objects(pair.get("judgements")):
            if judgement.get("unrateable") or judgement.get("judge_later"):
                unrateable += 1
            row = {"query": pair.get("query_text"), "docid": pair.get("doc_id")}
            rows.append({**row, "judge": judgement.get("user_email", "anonymous"), "rating": judgement.get("rating")})
    notes = (f"{count_of(unrateable, 'judgement is', 'judgements are')} unrateable or put off",) if unrateable else ()
    return Records("Quepid", rows, notes)


_BY_KEY: dict[str, Callable[[Record], Records]] = {
    "instance_id_to_label_to_value": _potato_state,
    "query_doc_pairs": _quepid_book,
    "requests": _rank_eval,
    "judgmentRatings": _workbench,
    "topics": _ranked_evaluator,
}
"""Files that are one object, by a key that only they have."""
