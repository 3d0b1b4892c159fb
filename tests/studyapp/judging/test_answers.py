"""Which answers are read, in whatever form they come, and which are none."""

from __future__ import annotations

import math

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import SCALES
from relstudy.studyapp.judging.answers import Answer, AnswerForm, expected_grade, read_reply

SCALE = SCALES["1-5"]
FINAL = "The query asks for a lake.\nM: high\nT: high\n##final score: 2"

# the name of the form, what a model said, and its grade
SHAPES = {
    "an object alone": ("json", '{"grade": 4, "confidence": 0.8}', 4),
    "in a fence": ("json", '```json\n{"grade": 4}\n```', 4),
    "after a block of thoughts": ("json", '<think>Maybe {"grade": 1}? No.</think>\n{"grade": 4}', 4),
    "after a reason": ("json", 'Both show a lake at dusk, so {"grade": 4}', 4),
    "before an afterthought": ("json", '{"grade": "4"}\nI hope this helps {or not}.', 4),
    "as UMBRELA asks for it": ("final-score", FINAL, 2),
    "a number alone": ("number", " 2\n", 2),
    "where an expression finds it": (r"^Relevance: (\S+)/5", "Some words.\nRelevance: 3/5, I think", 3),
}
NONE = {
    "two that differ": ("json", '{"grade": 4} or rather {"grade": 5}', "unparsed"),
    "a sentence with a digit": ("json", "I would say 4", "unparsed"),
    "a sentence for a number": ("number", "It is a 2", "unparsed"),
    "two final scores": ("final-score", "##final score: 2\n##final score: 3", "unparsed"),
    "thoughts without an end": ("json", '<think>Perhaps {"grade": 4}', "unparsed"),
    "off the scale": ("final-score", "final score: 9", "off_scale"),
    "cannot say": ("number", "cannot say.", "refused"),
    "cannot say as a score": ("final-score", "##final score: cannot say", "refused"),
    "a refusal": ("json", "I'm sorry, I can't help with that.", "refused"),
    "braces without end": ("json", '{"a":' * 50_000, "unparsed"),
}


@pytest.mark.parametrize(("form", "text", "grade"), SHAPES.values(), ids=SHAPES)
def test_an_answer_is_read_in_each_of_eight_shapes(form: str, text: str, grade: float) -> None:
    answer = AnswerForm(form).read(text, SCALE)
    assert (answer.status, answer.rating) == ("ok", grade)


@pytest.mark.parametrize(("form", "text", "status"), NONE.values(), ids=NONE)
def test_what_is_no_grade_is_none_in_any_form(form: str, text: str, status: str) -> None:
    answer = AnswerForm(form).read(text, SCALE)
    assert (answer.status, answer.rating) == (status, None)


def test_a_content_in_parts_and_one_beside_its_reasoning_are_read() -> None:
    parts = [{"type": "text", "text": '{"grade":'}, {"type": "text", "text": " 5}"}]
    for message in ({"content": parts}, {"content": '{"grade": 5}', "reasoning_content": '{"grade": 1}'}):
        assert read_reply({"choices": [{"message": message}]}, SCALE, AnswerForm()).rating == 5


def test_an_error_that_calls_itself_an_answer_is_an_error() -> None:
    assert read_reply({"error": {"message": "overloaded"}}, SCALE, AnswerForm()) == Answer("error")


@pytest.mark.parametrize("form", ["score: .+", "score: ("])
def test_an_expression_without_a_group_or_that_is_none_is_refused(form: str) -> None:
    with pytest.raises(RelstudyError, match="json, final-score, number"):
        AnswerForm(form)


def tokens(*shares: tuple[str, float], before: str = '{"grade": ') -> dict:
    """A choice with the probabilities of the token where its grade stands, which is the first of `shares`."""
    likely = [{"token": token, "logprob": math.log(share)} for token, share in shares]
    content = [{"token": before, "top_logprobs": []}, {"token": shares[0][0], "top_logprobs": likely}]
    return {"message": {"content": f"{before}{shares[0][0]}}}"}, "logprobs": {"content": content}}


@pytest.mark.parametrize(
    ("shares", "mean"),
    [
        ([("4", 0.6), ("5", 0.3), ("the", 0.1)], (4 * 0.6 + 5 * 0.3) / 0.9),
        ([("4", 0.5), (" 3", 0.3), ("9", 0.2)], (4 * 0.5 + 3 * 0.3) / 0.8),
        ([("4", 0.3), ("the", 0.7)], None),
    ],
)
def test_a_grade_is_expected_from_the_probabilities_of_grades_alone(
    shares: list[tuple[str, float]], mean: float | None
) -> None:
    expected = expected_grade(tokens(*shares), Answer("ok", 4.0), SCALE)
    assert expected == (None if mean is None else pytest.approx(mean))
    reply = {"choices": [tokens(*shares)]}
    assert read_reply(reply, SCALE, AnswerForm(), expected=True).rating == pytest.approx(mean or 4.0)
    assert read_reply(reply, SCALE, AnswerForm()).rating == 4.0


@pytest.mark.parametrize("logprobs", [None, {"content": None}, {"content": []}, {"content": [{"token": "4"}]}, "no"])
def test_without_probabilities_the_grade_that_was_named_stands(logprobs: object) -> None:
    assert expected_grade({"logprobs": logprobs}, Answer("ok", 4.0), SCALE) is None
