"""The grade in a judge's reply: what counts as one, and what does not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import Scale
from relstudy.studyapp.judging.prompt import CANNOT_SAY

_THOUGHT = re.compile(r"^\s*<(think(?:ing)?|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FINAL = re.compile(r"^[\s#*_>`-]*final score[\s*_`]*[:=][\s*_`]*(.+?)[\s*_`.]*$", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"\s*-?\d+(\.\d+)?\s*")
_NO = re.compile(r"(i'?m sorry|i am sorry|sorry|i can(no|')t|i am unable|i'm unable|i won't)\b", re.IGNORECASE)

LIKELY = 0.5
"""A grade is expected from the probabilities of tokens only where so much of them falls on grades of the scale."""


@dataclass(frozen=True)
class Answer:
    """Grade of a pair, or the reason why there is none.

    Parameters
    ----------
    status : one of `relstudy.analysis.judges.table.STATUSES`
    rating : a value of the scale (between two of them where it is expected from probabilities), or None
    confidence : 0 to 1, or None where the judge named none
    """

    status: str
    rating: float | None = None
    confidence: float | None = None


class AnswerForm:
    """The form in which a grade stands in an answer.

    Parameters
    ----------
    name : "json" (one object with a "grade", whatever stands around it), "final-score" (a line `final score: GRADE`),
        "number" (the grade alone), or a regular expression whose first group is the grade

    Raises
    ------
    RelstudyError
        where a regular expression is none, or has no group

    Examples
    --------
    >>> from relstudy.common.tables.meaning.scales import SCALES
    >>> AnswerForm("final-score").read("It is off topic. ##final score: 2", SCALES["1-5"])
    Answer(status='unparsed', rating=None, confidence=None)
    >>> AnswerForm("final-score").read("It is off topic.\\n##final score: 2", SCALES["1-5"]).rating
    2.0
    """

    def __init__(self, name: str = "json") -> None:
        self.name = name
        self._said: Callable[[str], list[dict[str, Any]]] = FORMS.get(name) or _by_expression(name)

    def read(self, text: str, scale: Scale) -> Answer:
        """The answer in a text; a block of thoughts at its beginning does not count.

        Where the form is there twice with different grades, there is none.

        Examples
        --------
        >>> from relstudy.common.tables.meaning.scales import SCALES
        >>> texts = ('Both show a lake. {"grade": 4}', '{"grade": 7}', "I would say 4", "I'm sorry, no.")
        >>> [AnswerForm("json").read(text, SCALES["1-5"]).status for text in texts]
        ['ok', 'off_scale', 'unparsed', 'refused']
        """
        said = _THOUGHT.sub("", text).strip()
        found = self._said(said)
        if not found or any(each["grade"] != found[0]["grade"] for each in found):
            return Answer("refused" if not found and _NO.match(said) else "unparsed")
        return _graded(found[0], scale)


def read_reply(reply: dict[str, Any], scale: Scale, form: AnswerForm, expected: bool = False) -> Answer:
    """The answer in the body of a chat completion.

    Parameters
    ----------
    expected : take the mean of the grades by the probabilities of tokens, where the reply has them

    Examples
    --------
    >>> from relstudy.common.tables.meaning.scales import SCALES
    >>> reply = {"choices": [{"message": {"content": '{"grade": 4, "confidence": 0.8}'}}]}
    >>> read_reply(reply, SCALES["1-5"], AnswerForm("json"))
    Answer(status='ok', rating=4.0, confidence=0.8)
    """
    if server_error(reply) is not None or not reply.get("choices"):
        return Answer("error")
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Answer("unparsed")
    if refusal or choice.get("finish_reason") == "content_filter":
        return Answer("refused")
    answer = form.read(_text_of(content), scale)
    mean = expected_grade(choice, answer, scale) if expected else None
    return answer if mean is None else replace(answer, rating=mean)


def server_error(reply: dict[str, Any]) -> str | None:
    """The error in a reply that calls itself good, in the server's words, or None.

    Examples
    --------
    >>> server_error({"error": {"message": "busy"}}), server_error({"choices": [], "error": None})
    ('busy', None)
    """
    error = reply.get("error")
    if not error or reply.get("choices"):
        return None
    said = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(said or "an error without a word").split())[:300]


def is_cut_off(reply: dict[str, Any]) -> bool:
    """True where an answer ended because it had no tokens left.

    Examples
    --------
    >>> is_cut_off({"choices": [{"finish_reason": "length"}]}), is_cut_off({})
    (True, False)
    """
    try:
        return bool(reply["choices"][0]["finish_reason"] == "length")
    except (KeyError, IndexError, TypeError):
        return False


def expected_grade(choice: dict[str, Any], answer: Answer, scale: Scale) -> float | None:
    """The mean of the scale's grades by the probabilities that the model gave them, where the answer's grade stands.

    None where the reply names no probabilities, grades take more than one token, or most of the probability falls on
    tokens that are no grade.

    Examples
    --------
    >>> from relstudy.common.tables.meaning.scales import SCALES
    >>> both = [{"token": "4", "logprob": math.log(0.75)}, {"token": "2", "logprob": math.log(0.25)}]
    >>> choice = {"logprobs": {"content": [{"token": "4", "top_logprobs": both}]}}
    >>> expected_grade(choice, Answer("ok", 4.0), SCALES["1-5"])
    3.5
    """
    if answer.rating is None or scale.continuous:
        return None
    try:
        tokens = [each for each in choice["logprobs"]["content"] if _number(each["token"]) == answer.rating]
        likely = {_number(each["token"]): math.exp(each["logprob"]) for each in tokens[-1]["top_logprobs"]}
    except (KeyError, IndexError, TypeError, OverflowError):
        return None
    grades = {value: share for value, share in likely.items() if value is not None and value in scale.values}
    total = sum(grades.values())
    return sum(value * share for value, share in grades.items()) / total if total >= LIKELY else None


def _text_of(content: Any) -> str:
    """The text of a message's content, which some servers give in parts."""
    if isinstance(content, list):
        parts = [each.get("text") for each in content if isinstance(each, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _graded(said: dict[str, Any], scale: Scale) -> Answer:
    grade = said["grade"]
    if grade is None or (isinstance(grade, str) and grade.strip().lower() in (CANNOT_SAY, "undecided")):
        return Answer("refused")
    number = _number(grade)
    if number is None:
        return Answer("unparsed")
    if not scale.has(number):
        return Answer("off_scale")
    confidence = _number(said.get("confidence"))
    return Answer("ok", number, confidence if confidence is not None and 0 <= confidence <= 1 else None)


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects with a grade in a text, whatever stands between them."""
    return [each for each in _decoded(text) if "grade" in each]


def _decoded(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(object_pairs_hook=_with_one_grade)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            return
        except ValueError:
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _with_one_grade(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object as JSON has it; with all grades in a list where it names several that differ, which is not a grade."""
    grades = [value for name, value in pairs if name == "grade"]
    return dict(pairs) | ({"grade": grades} if any(each != grades[0] for each in grades) else {})


def _final_scores(text: str) -> list[dict[str, Any]]:
    return [{"grade": said} for said in _FINAL.findall(text)]


def _alone(text: str) -> list[dict[str, Any]]:
    return [{"grade": text.rstrip(".")}] if _NUMBER.fullmatch(text.rstrip(".")) or _cannot(text) else []


def _cannot(text: str) -> bool:
    return text.strip(" .\"'").lower() == CANNOT_SAY


FORMS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "json": _objects,
    "final-score": _final_scores,
    "number": _alone,
}


def _by_expression(pattern: str) -> Callable[[str], list[dict[str, Any]]]:
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise RelstudyError(
            f"--answer {pattern}: {', '.join(FORMS)} or a regular expression is needed ({error})"
        ) from None
    if expression.groups < 1:
        raise RelstudyError(
            f"--answer {pattern}: {', '.join(FORMS)}, or a regular expression with the grade in its first group, such "
            "as 'score is (.+)', is needed"
        )
    return lambda text: [{"grade": each[1]} for each in expression.finditer(text)]


def _number(value: Any) -> float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf
