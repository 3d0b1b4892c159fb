"""Questions and answers as files of JSON lines, by custom_id, as batch interfaces take and give them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from relstudy.common.damage import NO_JSON
from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing
from relstudy.studyapp.judging.answer_log import AnswerLog
from relstudy.studyapp.judging.asking import Interview, Question
from relstudy.studyapp.judging.client import ChatClient

ADDRESS = "/v1/chat/completions"


def export_batch(interview: Interview, client: ChatClient, questions: Sequence[Question], path: Path) -> None:
    """Write one request a line; each is known by its answer's key."""
    with replacing(path) as beside, beside.open("w", encoding="utf-8") as handle:
        for each in questions:
            body = client.body(interview.messages(each))
            line = {"custom_id": each.key, "method": "POST", "url": ADDRESS, "body": body}
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")


def import_batch(interview: Interview, questions: Sequence[Question], path: Path, log: AnswerLog) -> int:
    """Keep the answers of a file of results; how many were new.

    Parameters
    ----------
    questions : those that the file may answer
    log : open to be added to

    Raises
    ------
    RelstudyError
        where a line is no result, or none of them answers a question of this judge; then nothing is kept
    """
    by_key = {each.key: each for each in questions}
    results = list(_results(path))
    known = [(by_key[key], body) for key, body in results if key in by_key]
    if not known:
        raise RelstudyError(
            f"{path}: none of its {len(results)} answers is to a question of this judge; the same --model, --prompt, "
            "parameters and collection as at --export-batch are needed"
        )
    new = [(question, body) for question, body in known if not log.answered(question.key)]
    for question, body in new:
        log.add(interview.record(question, body))
    return len(new)


def _results(path: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RelstudyError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            result = json.loads(line)
            key = result["custom_id"]
        except (*NO_JSON, KeyError, TypeError):
            raise RelstudyError(
                f"{path}, line {number}: a result of a batch is needed, JSON with a custom_id"
            ) from None
        response = result.get("response") or {}
        body = response.get("body") if isinstance(response, dict) else None
        failed = result.get("error") or not isinstance(body, dict) or response.get("status_code", 200) != 200
        yield str(key), None if failed else body
