"""Ask a judge for the pairs that it has not answered, several at a time; may be stopped and taken up at any time."""

from __future__ import annotations

import datetime
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

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
        """What so many tokens cost; None where a price is unknown."""
        return None if self.into is None or self.out is None else (tokens_in * self.into + tokens_out * self.out) / 1e6


@dataclass(frozen=True)
class Interview:
    """Who is asked what.

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
        """What is sent for a question."""
        query, result = self.collection[question.query_id], self.collection[question.result_id]
        return self.prompts[query.kind].messages(query, result)

    def tokens(self, questions: Sequence[Question]) -> int:
        """About how many tokens the questions have."""
        items = ((self.collection[each.query_id], self.collection[each.result_id]) for each in questions)
        return sum(self.prompts[query.kind].tokens(query, result) for query, result in items)

    def record(self, question: Question, body: dict[str, Any] | None, seconds: float | None = None) -> dict[str, Any]:
        """A line of the log for an answer; None for no answer."""
        known: dict[str, Any] = {
            "key": question.key,
            "query_id": question.query_id,
            "result_id": question.result_id,
            **({"repeat": question.repeat} if question.repeat else {}),
            **self.asked.as_json(),
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": seconds,
        }
        if body is None:
            return {**known, "status": "error"}
        answer = read_reply(body, self.scales[self.collection[question.query_id].kind])
        usage = body.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        into, out = (counts.get(name) for name in ("prompt_tokens", "completion_tokens"))
        cost = self.prices.cost(into, out) if isinstance(into, int) and isinstance(out, int) else None
        said = {"status": answer.status, "rating": answer.rating, "confidence": answer.confidence, "cost": cost}
        return {**known, **said, "answer": body}


def ask(
    interview: Interview,
    client: ChatClient,
    questions: Sequence[Question],
    log: AnswerLog,
    workers: int = 8,
    tell: Callable[[dict[str, Any]], None] = lambda record: None,
) -> bool:
    """Ask every question, and keep each answer as it comes.

    At the first interrupt no further question is asked, and the answers that are on their way are awaited and kept.

    Parameters
    ----------
    log : open to be added to
    workers : how many questions are on their way at a time, at least 1
    tell : called with each record that was kept

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
                    tell(each.result())
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
