"""Which column is which by its name, what stands in it, and the command that reads it so."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import pandas as pd

from relstudy.analysis.inspection.answers import Answers, read_answers
from relstudy.analysis.inspection.finding import ColumnRole, Inspection
from relstudy.common.checked import Checked
from relstudy.common.option_words import list_entry
from relstudy.common.scales import SCALE_COLUMNS

NAMES = {
    "rater_id": (
        *(
            "rater_id",
            "rater",
            "raterid",
            "worker",
            "workerid",
            "worker_id",
            "annotator",
            "annotator_id",
            "annotatorid",
        ),
        *("user", "user_id", "username", "participant", "participant_id", "prolific_pid", "prolific_id", "subject"),
        *(
            "subject_id",
            "judge",
            "judge_id",
            "user_email",
            "assessor",
            "assessor_id",
            "coder",
            "evaluator",
            "completed_by",
        ),
    ),
    "query_id": (
        *("query_id", "query", "queryid", "qid", "q", "topic", "topic_id", "prompt", "prompt_id", "input.query"),
        *("query_text", "search_term", "keyword", "question", "question_id"),
        *(f"{what}{one}" for one in ("_a", "_1", "1", "_left") for what in ("image", "img", "item", "stimulus")),
    ),
    "result_id": (
        *("result_id", "result", "docid", "doc_id", "docno", "doc", "document", "document_id", "item", "item_id"),
        *("itemid", "product", "sku", "asin", "pid", "passageid", "paragraph"),
        *("image", "image_id", "video", "video_id", "passage", "passage_id", "product_id", "instance_id", "stimulus"),
        *("stimulus_id", "url", "input.result", "input.document", "input.image_url", "input.image", "input.docid"),
        *(f"{what}{two}" for two in ("_b", "_2", "2", "_right") for what in ("image", "img", "item", "stimulus")),
    ),
    "rating": (
        *("rating", "label", "grade", "relevance", "rel", "answer", "response", "choice", "overall_score", "quality"),
        *("sentiment", "similarity", "value", "score"),
    ),
}
NO_RATER = re.compile(
    r"(final|mean|avg|average|median|mos|sd|std|var|total|count|consensus|majority|scale|block|rank|position|round|"
    r"repetition|seconds|duration|time|age|index|idx|row|iter|iteration|q0|id|.*_id$)(?![a-z])",
    re.IGNORECASE,
)
"""Names of columns that are no rater's: summaries, and how a row came about."""
RATING_USES = ("judgments on one scale", "rater profiles", "agreement (alpha, ICC, kappa)", "a noise-free comparison")
SCORE_USES = ("correlation with judgments", "average precision", "normalised rank", "a mapping onto people's scale")


def roles_of(frame: pd.DataFrame) -> dict[str, str]:
    """Columns by relstudy's names, the first known name that the table has."""
    plain = {str(name).casefold().strip().replace(" ", "_"): str(name) for name in frame.columns}
    roles: dict[str, str] = {}
    for ours, names in NAMES.items():
        for name in names:
            if name in plain and plain[name] not in roles.values():
                if ours == "rating" and read_answers(frame[plain[name]]) is None:
                    continue
                roles[ours] = plain[name]
                break
    is_rated = {"rater_id", "rating"} <= set(roles) and "result_id" not in roles
    # an id that no two rows share numbers the rows, and no item
    if is_rated and "id" in plain and frame[plain["id"]].duplicated().any():
        roles["result_id"] = plain["id"]
    return roles


def column_called(frame: pd.DataFrame, plain: str) -> str:
    """The column of that name, whatever its case."""
    return next(str(name) for name in frame if str(name).casefold() == plain)


def answered_first(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The columns that hold answers: those of numbers first, then words that tell their order, then other words."""
    read = {name: answers for name in names if (answers := read_answers(frame[name])) is not None}
    return sorted(read, key=lambda name: bool(read[name].words) * (2 - read[name].sure))


def described(roles: dict[str, str], why: str) -> tuple[ColumnRole, ...]:
    """What each column was taken for, by relstudy's names of them."""
    return tuple(
        ColumnRole(theirs, ours, "relstudy's own name" if theirs == ours else why) for ours, theirs in roles.items()
    )


def remarks(answers: Answers) -> list[str]:
    """What needs a person's eye in a column of answers, one sentence each."""
    notes = []
    if answers.missing:
        notes.append(f"taken for no answer: {', '.join(map(repr, answers.missing))}")
    for value in answers.odd:
        notes.append(
            f"{value} stands far from all other ratings: is it no answer? The command below says so with --missing; if "
            "it is a rating, leave that out and state the --scale"
        )
    if answers.words and not answers.sure:
        notes.append("the words do not tell their order: check the numbers in --values before you run the command")
    return notes


def calibrate_command(table: Checked, roles: dict[str, str], answers: Answers, columns: Iterable[str] = ()) -> str:
    """The command that reads the ratings; `columns` where there are several of them."""
    named: dict[str, tuple[str, ...]] = {ours: (theirs,) for ours, theirs in roles.items() if ours != theirs}
    if columns:
        named["rating"] = tuple(columns)
    stated = stated_options(named, answers, table)
    return " ".join(["relstudy calibrate", shlex.quote(table.file), "-o out", *stated])


def stated_options(named: dict[str, tuple[str, ...]], answers: Answers, table: Checked) -> list[str]:
    """The options --columns, --values, --scale and --missing, those that are needed."""
    options = []
    if named:
        entries = [list_entry(f"{ours}={theirs}") for ours, several in named.items() for theirs in several]
        options.append(f"--columns {shlex.quote(','.join(entries))}")
    if answers.words:
        entries = [list_entry(f"{text}={number:g}") for text, number in answers.words.items()]
        options.append(f"--values {shlex.quote(','.join(entries))}")
    if answers.scale is not None and "scale" not in table.frame and SCALE_COLUMNS[0] not in table.frame:
        options.append(f"--scale {answers.scale.low:g}-{answers.scale.high:g}")
    if answers.missing or answers.odd:
        options.append(f"--missing {shlex.quote(','.join(map(list_entry, (*answers.missing, *answers.odd))))}")
    return options


def inspect_ratings(table: Checked, roles: dict[str, str], tool: str, notes: Iterable[str] = ()) -> Inspection:
    """One row per rating."""
    answers = read_answers(table.frame[roles["rating"]])
    assert answers is not None
    raters = table.frame[roles["rater_id"]].nunique()
    for one, other in (("query_id", "result_id"), ("result_id", "query_id")):
        if one in roles and other not in roles:
            roles = {**roles, other: roles[one]}
    sentence = f"{answers.count} ratings by {raters} raters" + (f", exported from {tool}" if tool else "")
    return Inspection(
        table.file,
        tool or "ratings",
        sentence,
        described(roles, "by its name and its values"),
        (*notes, *remarks(answers)),
        RATING_USES[:3],
        calibrate_command(table, roles, answers),
    )
