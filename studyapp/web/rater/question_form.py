"""A form of questions, before or after the ratings: what it shows, and what is wrong with what was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import request

from relstudy.studyapp.config.study_parts import Question, as_number
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
    given = {q.id: request.form.get(f"question-{q.id}", "").strip()[:LONGEST] for q in questions}
    return given, {q.id: error for q in questions if (error := _wrong(q, given[q.id]))}


def _wrong(question: Question, value: str) -> str:
    texts = current_site().texts
    if not value:
        return texts("questions.required") if question.required else ""
    if question.kind == "choice" and value not in question.choices:
        return texts("questions.choice")
    if question.kind == "number" and as_number(value) is None:
        return texts("questions.number")
    return ""
