"""Columns of tables of results or answers, by the names that search and question-answering tools give them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

ROLES: dict[str, tuple[str, ...]] = {
    "query": (
        "query",
        "query_text",
        "question",
        "prompt",
        "user_input",
        "search_query",
        "topic",
        "q",
        "input",
        "instruction",
    ),
    "system": (
        "system",
        "model",
        "model_name",
        "system_name",
        "engine",
        "ranker",
        "retriever",
        "model_id",
        "run",
        "snapshot_name",
        "generator",
        "variant",
        "provider_id",
        "provider",
        "app_id",
        "app_name",
    ),
    "answer": (
        "filtered_resps",
        "resps",
        "answer",
        "response",
        "completion",
        "output",
        "generation",
        "model_answer",
        "actual_output",
        "result",
        "result_text",
    ),
    "text": (
        *("text", "snippet", "passage", "body", "content", "abstract", "description", "document", "contents"),
        *("product_description", "product_bullet_point"),
    ),
    "title": ("title", "name", "headline", "product_title", "product_name"),
    "image": ("image", "image_path", "picture", "thumbnail", "image_url"),
    "price": ("price",),
    "result": (
        *("result_id", "doc_id", "doc", "docno", "docid", "document_id", "item_id", "id", "product_id", "asin", "sku"),
    ),
    "rank": ("rank", "position", "rank_position", "doc_position"),
    "score": ("score", "relevance_score"),
    "sources": (
        "contexts",
        "context",
        "sources",
        "retrieved_contexts",
        "retrieved_context",
        "retrieval_context",
        "citations",
    ),
    "query_id": ("query_id", "qid", "question_id", "topic_id", "prompt_id"),
}
"""What a column is taken for, by its name; the first name that is there counts."""
BELOW = ("query", "answer", "text", "title")
"""Roles that the last part of a nested name tells, too, such as vars.question."""
LEFT_ALONE = {
    *(
        "reference",
        "ground_truth",
        "ground_truths",
        "expected_answer",
        "reference_answer",
        "gold",
        "gold_answer",
        "expected",
        "expected_output",
    ),
    *(
        "category",
        "topic_name",
        "type",
        "split",
        "lang",
        "language",
        "tags",
        "url",
        "link",
        "date",
        "timestamp",
        "latency",
    ),
    *("tokens", "cost", "metadata", "source", "difficulty", "team_name", "case_name", "case_id", "snapshot_time"),
    *("note", "notes", "comment", "comments", "remark", "remarks"),
}
"""Columns that are no model's answers, whatever they hold."""


RATED = {
    *("rating", "ratings", "judgment", "judgement", "grade", "label", "relevance", "relevant", "rater", "worker"),
    *("annotator", "assessor", "qrel", "vote", "votes", "score1", "winner", "preference", "stars"),
}
"""Words in the names of columns that say what people, or qrels, judged."""
SIDE = re.compile(r"(.+?)_?([ab]|\d+)")
"""What a column is called, and which of several it is."""
SENTENCE = 12
"""Characters, on average, of a column that holds answers rather than codes or names."""


def known_columns(names: Sequence[Any]) -> dict[str, Any]:
    """The column of each role, by its name.

    Examples
    --------
    >>> known_columns(["Question", "model", "Response"])
    {'query': 'Question', 'system': 'model', 'answer': 'Response'}
    """
    plain = {plain_column(name): name for name in reversed(list(names))}
    found = {role: plain[name] for role, known in ROLES.items() for name in reversed(known) if name in plain}
    left = [name for name in reversed(list(names)) if "." in str(name) and name not in found.values()]
    nested = {plain_column(str(name).rpartition(".")[2]): name for name in left}
    return {role: nested[name] for role in BELOW for name in reversed(ROLES[role]) if name in nested} | found


def a_row_a_side(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each answer where a column of its system stands beside each, as generator_1 beside output_1; the id of
    such a row is not one of a result. The table as it is where that is not so.

    Examples
    --------
    >>> row = {"prompt": ["a?"], "response_a": ["Yes."], "response_b": ["No."], "model_a": ["x"], "model_b": ["y"]}
    >>> a_row_a_side(pd.DataFrame(row)).to_numpy().tolist()
    [['a?', 'x', 'Yes.'], ['a?', 'y', 'No.']]
    """
    sides = {name: match for name in frame if (match := SIDE.fullmatch(plain_column(name)))}
    answers, systems = (
        {match[2]: name for name, match in sides.items() if match[1] in ROLES[role]} for role in ("answer", "system")
    )
    if len(answers) < 2 or answers.keys() != systems.keys() or {"answer", "system"} & set(frame):
        return frame
    ids = [name for name in frame if plain_column(name) in ROLES["result"]]
    others = frame.drop(columns=[*answers.values(), *systems.values(), *ids])
    rows = [others.assign(system=frame[systems[side]], answer=frame[answers[side]]) for side in answers]
    return pd.concat(rows).sort_index(kind="stable").reset_index(drop=True)


def model_columns(frame: pd.DataFrame, known: Mapping[str, Any]) -> list[Any]:
    """Columns that hold the answers of a model each: text that has no known role and no name of people's judgments, in
    at least half of the rows if it is in as many of another column."""
    others = [name for name in frame if name not in known.values() and plain_column(name) not in LEFT_ALONE]
    others = [name for name in others if not RATED & set(plain_column(name).split("_"))]
    texts = [name for name in others if pd.to_numeric(frame[name], errors="coerce").isna().any()]
    filled = {name: (frame[name].notna() & (frame[name].astype(str).str.strip() != "")).mean() for name in texts}
    return [name for name in texts if filled[name] >= 0.5 * max(filled.values())]


def is_results(frame: pd.DataFrame) -> bool:
    """True for a table of results or answers, rather than of ratings, judgments or scores.

    Examples
    --------
    >>> is_results(pd.DataFrame({"question": ["a?"], "model": ["x"], "answer": ["Yes."]}))
    True
    >>> is_results(pd.DataFrame({"query_id": ["a"], "result_id": ["x"], "rating": ["5"]}))
    False
    """
    known = known_columns(list(frame))
    if "query" not in known or _words(frame) & RATED:
        return False
    others = [name for name in frame if name not in known.values() and plain_column(name) not in LEFT_ALONE]
    others = [name for name in others if _holds(frame[name])]
    texts = model_columns(frame, known)
    if len(texts) < len(others):
        return False  # numbers of unknown meaning may be scores or grades
    if {"answer", "text", "title", "image"} & known.keys():
        return bool({"system", "answer", "rank", "score"} & known.keys())
    return len(texts) > 1 and all(_is_long(frame[name]) for name in texts)


def may_be_results(frame: pd.DataFrame) -> bool:
    """True for a table that names queries and holds texts for people to see; it may hold other figures beside them."""
    known = known_columns(list(frame))
    texts = [known[role] for role in ("answer", "text") if role in known]
    if not texts and not _words(frame) & RATED:
        texts = model_columns(frame, known)
    # a picture with its name says enough, however short that is
    pictured = {"image", "title"} <= known.keys() and _holds(frame[known["image"]]) and not _words(frame) & RATED
    return "query" in known and (pictured or any(_holds(frame[name]) and _is_long(frame[name]) for name in texts))


def _words(frame: pd.DataFrame) -> set[str]:
    """The words in the names of columns that are not empty."""
    return {word for name in frame if _holds(frame[name]) for word in plain_column(name).split("_")}


def _is_long(column: pd.Series) -> bool:
    return bool(column.astype(str).str.len().mean() >= SENTENCE)


def _holds(column: pd.Series) -> bool:
    """True for a column that is not empty; a tool's sheet to be filled in says nothing yet."""
    return bool((column.notna() & (column.astype(str).str.strip() != "")).any())


def plain_column(name: object) -> str:
    """A column's name in small letters, its other signs one underscore."""
    return re.sub(r"[^a-z0-9]+", "_", str(name).casefold()).strip("_")
