"""The grade in a judge's reply: what counts as one, and what does not."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from relstudy.common.damage import NO_JSON
from relstudy.common.scales import Scale
from relstudy.studyapp.judging.prompt import CANNOT_SAY

_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_NO = re.compile(r"(i'?m sorry|i am sorry|sorry|i can(no|')t|i am unable|i'm unable|i won't)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """Grade of a pair, or the reason why there is none.

    Parameters
    ----------
    status : one of `relstudy.analysis.judges.table.STATUSES`
    rating : a value of the scale, or None
    confidence : 0 to 1, or None where the judge named none
    """

    status: str
    rating: float | None = None
    confidence: float | None = None


def read_reply(reply: dict[str, Any], scale: Scale) -> Answer:
    """The answer in the body of a chat completion.

    Examples
    --------
    >>> from relstudy.common.scales import SCALES
    >>> reply = {"choices": [{"message": {"content": '{"grade": 4, "confidence": 0.8}'}}]}
    >>> read_reply(reply, SCALES["1-5"])
    Answer(status='ok', rating=4.0, confidence=0.8)
    """
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Answer("unparsed")
    if refusal or choice.get("finish_reason") == "content_filter":
        return Answer("refused")
    return read_answer(content if isinstance(content, str) else "", scale)


def read_answer(text: str, scale: Scale) -> Answer:
    """The answer in a text, which must be one JSON object with a grade, and nothing else but a fence around it.

    Examples
    --------
    >>> from relstudy.common.scales import SCALES
    >>> [read_answer(text, SCALES["1-5"]).status for text in ('{"grade": 7}', "I would say 4", "I'm sorry, no.")]
    ['off_scale', 'unparsed', 'refused']
    """
    fenced = _FENCED.fullmatch(text.strip())
    try:
        answer = json.loads(fenced[1] if fenced else text)
    except NO_JSON:
        return Answer("refused" if _NO.match(text.strip()) else "unparsed")
    if not isinstance(answer, dict) or "grade" not in answer:
        return Answer("unparsed")
    grade = answer["grade"]
    if grade is None or (isinstance(grade, str) and grade.strip().lower() in (CANNOT_SAY, "undecided")):
        return Answer("refused")
    number = _number(grade)
    if number is None:
        return Answer("unparsed")
    on_scale = scale.low <= number <= scale.high if scale.continuous else number in scale.values
    if not on_scale:
        return Answer("off_scale")
    confidence = _number(answer.get("confidence"))
    return Answer("ok", number, confidence if confidence is not None and 0 <= confidence <= 1 else None)


def _number(value: Any) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf
