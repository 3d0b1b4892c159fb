"""Ask a judge for the pairs that it has not answered: over HTTP, several at a time, or by files of JSON lines."""

from __future__ import annotations

import datetime
import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from relstudy.common.damage import NO_JSON
from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing
from relstudy.common.scales import Scale
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.judging.answer_log import AnswerLog, Asked
from relstudy.studyapp.judging.answers import read_reply
from relstudy.studyapp.judging.client import ChatClient, NoReply
from relstudy.studyapp.judging.prompt import Prompt, content_hash


@dataclass(frozen=True)
class Question:
    """A pair to be asked about; `repeat` is above 0 where it is asked again, to see whether the judge says the same."""

    key: str
    query_id: str
    result_id: str
    repeat: int = 0


@dataclass(frozen=True)
class Prices:
    """Of a million tokens in and out, in any currency; None where unknown."""

    into: float | None = None
    out: float | None = None

    def cost(self, tokens_in: float, tokens_out: float) -> float | None:
        """Cost of so many tokens; None where a price is unknown."""
        return None if self.into is None or self.out is None else (tokens_in * self.into + tokens_out * self.out) / 1e6


@dataclass(frozen=True)
class Interview:
    """A judge, its questions, and the scales of their answers.

    Parameters
    ----------
    asked : what all questions have in common
    prompts : by the kind of the query
    scales : by the kind of the query
    """

    asked: Asked
    prompts: dict[str, Prompt]
    scales: dict[str, Scale]
    collection: Collection
    prices: Prices = Prices()

    def questions(self, pairs: Sequence[tuple[str, str]], repeat: int = 0) -> list[Question]:
        """The questions of pairs of ids."""
        hashes = {item: content_hash(self.collection[item]) for item in {each for pair in pairs for each in pair}}
        return [
            Question(self.asked.key(hashes[query], hashes[result], repeat), query, result, repeat)
            for query, result in pairs
        ]

    def messages(self, question: Question) -> list[dict[str, Any]]:
        """Messages that are sent for a question."""
        query, result = self.collection[question.query_id], self.collection[question.result_id]
        return self.prompts[query.kind].messages(query, result)

    def tokens(self, questions: Sequence[Question]) -> int:
        """About how many tokens the questions have."""
        items = ((self.collection[each.query_id], self.collection[each.result_id]) for each in questions)
        return sum(self.prompts[query.kind].tokens(query, result) for query, result in items)

    def record(self, question: Question, body: dict[str, Any] | None, seconds: float | None = None) -> dict[str, Any]:
        """A line of the log for an answer; None for no answer."""
        common: dict[str, Any] = {
            "key": question.key,
            "query_id": question.query_id,
            "result_id": question.result_id,
            **({"repeat": question.repeat} if question.repeat else {}),
            **self.asked.as_json(),
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": seconds,
        }
        if body is None:
            return {**common, "status": "error"}
        answer = read_reply(body, self.scales[self.collection[question.query_id].kind])
        usage = body.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        into, out = (counts.get(name) for name in ("prompt_tokens", "completion_tokens"))
        cost = self.prices.cost(into, out) if isinstance(into, int) and isinstance(out, int) else None
        said = {"status": answer.status, "rating": answer.rating, "confidence": answer.confidence, "cost": cost}
        return {**common, **said, "answer": body}


def ask(
    interview: Interview,
    client: ChatClient,
    questions: Sequence[Question],
    log: AnswerLog,
    workers: int = 8,
    on_record: Callable[[dict[str, Any]], None] = lambda record: None,
) -> bool:
    """Ask every question, and keep each answer as it comes.

    At the first interrupt no further question is asked, and the answers that are on their way are awaited and kept.

    Parameters
    ----------
    log : open to be added to
    workers : how many questions are on their way at a time, at least 1
    on_record : called with each record that was kept

    Returns
    -------
    Whether all were asked

    Raises
    ------
    RelstudyError
        where the server would answer no question at all; what was answered before is kept
    """
    stopped = threading.Event()

    def work(question: Question) -> dict[str, Any]:
        try:
            reply = client.ask(interview.messages(question))
        except NoReply as error:
            record = {**interview.record(question, None), "reason": str(error)}
        else:
            record = interview.record(question, reply.body, round(reply.seconds, 3))
        log.add(record)
        return record

    left = iter(questions)
    running: set[Future[dict[str, Any]]] = set()
    failure: BaseException | None = None
    with interruptions(stopped.set), ThreadPoolExecutor(workers) as pool:
        while True:
            if failure is None and not stopped.is_set():
                running |= {pool.submit(work, each) for each in islice(left, workers - len(running))}
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED, timeout=0.5)
            for each in done:
                error = each.exception()
                if error is not None:
                    failure = failure or error
                else:
                    on_record(each.result())
    if failure is not None:
        raise failure
    return next(left, None) is None


@contextmanager
def interruptions(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at Ctrl-C or a wish to end, instead of ending at once; a second one ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.getsignal(each) for each in signals}

    def first(*_: Any) -> None:
        stop()
        for each in signals:
            signal.signal(each, before[each])

    for each in signals:
        signal.signal(each, first)
    try:
        yield
    finally:
        for each in signals:
            signal.signal(each, before[each])


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
    matched = [(by_key[key], body) for key, body in results if key in by_key]
    if not matched:
        raise RelstudyError(
            f"{path}: none of its {len(results)} answers is to a question of this judge; the same --model, --prompt, "
            "parameters and collection as at --export-batch are needed"
        )
    new = [(question, body) for question, body in matched if not log.answered(question.key)]
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
