"""A form of questions, before or after the ratings: what it shows, and what is wrong with what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import request

from relstudy.studyapp.config.study_parts import BETWEEN, OF_CHOICES, Question, as_number
from relstudy.studyapp.web.site import current_site
from relstudy.studyapp.web.views import QuestionView

LONGEST = 4000


def question_views(
    questions: Sequence[Question], answers: Mapping[str, str], errors: Mapping[str, str]
) -> tuple[QuestionView, ...]:
    """The questions as their template is given them; `answers` and `errors` are by id."""
    return tuple(
        QuestionView(
            f"question-{q.id}", q.text, q.kind, q.choices, q.required, answers.get(q.id, ""), errors.get(q.id, "")
        )
        for q in questions
    )


def read_answers(questions: Sequence[Question]) -> tuple[dict[str, str], dict[str, str]]:
    """Typed answers by the questions' ids, and messages on those that are wrong."""
    given = {q.id: _typed(q) for q in questions}
    return given, {q.id: error for q in questions if (error := _wrong(q, given[q.id]))}


def _typed(question: Question) -> str:
    """The answer as it is kept: of several choices those made, in the order in which they are offered."""
    field = f"question-{question.id}"
    if question.kind != "several":
        return request.form.get(field, "").strip()[:LONGEST]
    made = {each.strip() for each in request.form.getlist(field)}
    offered = [choice for choice in question.choices if choice in made]
    return BETWEEN.join([*offered, *sorted(made - {"", *offered})])[:LONGEST]


def _wrong(question: Question, value: str) -> str:
    texts = current_site().texts
    if not value:
        return texts("questions.required") if question.required else ""
    made = value.split(BETWEEN) if question.kind == "several" else [value]
    if question.kind in OF_CHOICES and not set(made) <= set(question.choices):
        return texts("questions.choice")
    if question.kind == "number" and as_number(value) is None:
        return texts("questions.number")
    return ""
