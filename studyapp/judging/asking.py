"""Ask a judge for the pairs that it has not answered: over HTTP, several at a time, or by files of JSON lines."""

from __future__ import annotations

import datetime
import json
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from relstudy.common.runtime.control_characters import without_controls
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing
from relstudy.common.runtime.wording import count_of, listed_some
from relstudy.common.tables.meaning.scales import Scale
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.config.study_parts import JudgeSettings
from relstudy.studyapp.judging.answer_log import AnswerLog
from relstudy.studyapp.judging.answers import Answer, AnswerForm, is_cut_off, read_reply, server_error
from relstudy.studyapp.judging.client import ChatClient, NoReply, storable
from relstudy.studyapp.judging.prompt import Prompt, content_hash, text_hash

ANSWER_TOKENS = 25
"""Of an answer, in an estimate of costs."""


@dataclass(frozen=True)
class Question:
    """A pair to be asked about; `repeat` is above 0 where it is asked again, to see whether the judge says the same,
    and `moved` where the texts of its items then stand in another place. With `right_id` it is a couple, of which
    `result_id` stands on the left; moved, its sides are exchanged."""

    key: str
    query_id: str
    result_id: str
    repeat: int = 0
    moved: bool = False
    right_id: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The query, and its result or the two of a couple."""
        return (self.query_id, self.result_id, *([self.right_id] if self.right_id else []))


@dataclass(frozen=True)
class Interview:
    """A judge and its questions.

    Parameters
    ----------
    client : of the server that is asked
    prompts : by the kind of the query
    settings : of the study, with prices
    form : in which an answer names its grade
    lists : the results of each list that is compared
    """

    client: ChatClient
    prompts: dict[str, Prompt]
    collection: Collection
    settings: JudgeSettings
    form: AnswerForm
    lists: Mapping[str, tuple[str, ...]]

    @cached_property
    def common(self) -> dict[str, Any]:
        """What all questions have in common, and stands in every line of the log: model, parameters, the prompts'
        hash."""
        prompt = text_hash("\x1e".join(self.prompts[kind].hash for kind in sorted(self.prompts)))
        return {"model": self.client.model, "parameters": dict(self.client.parameters), "prompt": prompt}

    def key(self, query: str, results: str, repeat: int = 0, moved: bool = False) -> str:
        """The key of an answer: of what is common, and of the contents by their hashes.

        Parameters
        ----------
        repeat : 0, or the number of the repetition that shows how consistent the judge is
        moved : whether the items' texts stand in another place than usual
        """
        model, parameters, prompt = self.common.values()
        parts = [model, json.dumps(parameters, sort_keys=True), prompt, query, results]
        return text_hash("\x1f".join([*parts, *([str(repeat)] if repeat else []), *(["moved"] if moved else [])]))

    def items(self, name: str) -> list[Item]:
        """The item of that id, or those of a list."""
        return [self.collection[each] for each in self.lists.get(name, (name,))]

    def questions(self, pairs: Sequence[tuple[str, ...]], repeat: int = 0, moved: bool = False) -> list[Question]:
        """The questions of pairs of ids, or of a query and the two of a couple."""
        names = {each for pair in pairs for each in pair}
        hashes = {name: "\x1e".join(content_hash(item) for item in self.items(name)) for name in names}
        return [
            Question(
                self.key(hashes[query], "\x1f".join(hashes[each] for each in (result, *right)), repeat, moved),
                query,
                result,
                repeat,
                moved,
                *right,
            )
            for query, result, *right in pairs
        ]

    def again(self, questions: Sequence[Question], share: float) -> tuple[list[Question], list[Question]]:
        """A share of the questions as they are to be asked a second time: the same, and, of pairs with texts, with
        these in another place; of couples with the sides exchanged."""
        chosen = sorted(questions, key=lambda each: each.key)[: round(share * len(questions))]
        pairs = [each.ids for each in chosen]
        texts = [
            (pair[0], *pair[:0:-1])
            for pair in pairs
            if len(pair) > 2 or any(self.collection[item].path is None for item in pair)
        ]
        return self.questions(pairs, repeat=1), self.questions(texts, moved=True)

    def messages(self, question: Question) -> list[dict[str, Any]]:
        """Messages that are sent for a question."""
        items, moved = [self.items(name) for name in question.ids], question.moved and not question.right_id
        return self.prompts[items[0][0].paradigm].messages(*items, moved=moved)

    def tokens(self, questions: Sequence[Question]) -> int:
        """About how many tokens the questions have."""
        items = ([item for name in each.ids for item in self.items(name)] for each in questions)
        return sum(self.prompts[each[0].paradigm].tokens(each) for each in items)

    def record(self, question: Question, body: dict[str, Any] | None, seconds: float | None = None) -> dict[str, Any]:
        """A line of the log for an answer; None for no answer."""
        common: dict[str, Any] = {
            "key": question.key,
            "query_id": question.query_id,
            "result_id": question.result_id,
            **({"right_id": question.right_id} if question.right_id else {}),
            **({"repeat": question.repeat} if question.repeat else {}),
            **({"moved": True} if question.moved else {}),
            **self.common,
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": seconds,
        }
        if body is None:
            return {**common, "status": "error"}
        answer, tokens = self.read(question.query_id, body), tokens_of(body)
        cost = None if tokens is None else self.settings.cost(*tokens)
        reason = {"reason": server_error(body) or "it came without an answer"} if answer.status == "error" else {}
        counted = {} if tokens is None else {"tokens": list(tokens)}
        return {**common, **_said(answer), **reason, **counted, "cost": cost, "answer": body}

    def scale_of(self, query_id: str) -> Scale:
        """The scale of answers to questions of this query."""
        return self.prompts[self.collection[query_id].paradigm].scale

    def read(self, query_id: str, body: dict[str, Any]) -> Answer:
        """The reading of an answer."""
        expected = bool(self.client.parameters.get("logprobs"))
        return read_reply(body, self.scale_of(query_id), self.form, expected)

    def read_anew(self, log: AnswerLog) -> int:
        """Read every kept answer again, in memory alone; how many of them say something else than when they came."""
        changed = 0
        for key, record in log.records.items():
            if isinstance(record.get("answer"), dict) and record.get("query_id") in self.collection:
                said = _said(self.read(record["query_id"], record["answer"]))
                changed += any(record.get(name) != value for name, value in said.items())
                log.records[key] = record | said
        return changed


def tokens_of(body: Mapping[str, Any]) -> tuple[int, int] | None:
    """How many tokens a question and its answer had, as the server counts them; None where it does not say."""
    usage = body.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else []
    into, *out = [each for each in counts if isinstance(each, int) and not isinstance(each, bool) and each >= 0] or [0]
    return (into, out[0]) if out else None


def _said(answer: Answer) -> dict[str, Any]:
    return {"status": answer.status, "rating": answer.rating, "confidence": answer.confidence}


def answered_by(record: Mapping[str, Any]) -> str | None:
    """The model that a server says an answer is of; None where it does not say."""
    body = record.get("answer")
    model = body.get("model") if isinstance(body, dict) else None
    return " ".join(without_controls(model).split())[:LONGEST_NAME] if isinstance(model, str) and model else None


@dataclass
class Audit:
    """What a run asked, and what came of it."""

    questions: int = 0
    answers: int = 0
    models: Counter[str] = field(default_factory=Counter)
    tokens: tuple[int, int] = (0, 0)
    cost: float | None = None
    cut_off: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count the record of a question."""
        self.questions += 1
        self.answers += record["status"] == "ok"
        self.cut_off += bool(record.get("cut_off")) + (record["status"] == "error" and "answer" in record)
        if "answer" in record:
            self.models[answered_by(record) or "a model that the server does not name"] += 1
        into, out = record.get("tokens", (0, 0))
        self.tokens = (self.tokens[0] + into, self.tokens[1] + out)
        if record.get("cost") is not None:
            self.cost = (self.cost or 0.0) + record["cost"]

    def sentence(self, client: ChatClient) -> str:
        """The audit in a sentence."""
        whose = [f"{model} ({many:,})" if len(self.models) > 1 else model for model, many in self.models.most_common()]
        by = f" by {listed_some(whose, MOST_MODELS)}" if whose else ""
        tokens = f"; {self.tokens[0]:,} tokens in, {self.tokens[1]:,} out" if any(self.tokens) else ""
        cost = f", cost {self.cost:.2f}" if self.cost is not None else ""
        thrown = count_of(client.pace.unread + self.cut_off, "reply", "replies")
        return (
            f"This run: {count_of(self.questions, 'question')} in {count_of(client.pace.sent, 'request')}, "
            f"{count_of(self.answers, 'grade')}{by}{tokens}{cost}; {thrown} thrown away."
        )


LONGEST_NAME, MOST_MODELS = 100, 4
FEWEST_IN_VAIN = 3
"""Questions without an answer, one after the other, before a server with fewer workers is given up."""
MORE_TOKENS = 4
"""Times the tokens of an answer that was cut off, for the second try."""
LEAST_TOKENS = 2048


def ask(
    interview: Interview,
    questions: Sequence[Question],
    log: AnswerLog,
    workers: int,
    on_record: Callable[[dict[str, Any]], None],
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
        where the server would answer no question at all, or answered none of as many in a row as there are workers;
        what was answered before is kept
    """
    stopped = threading.Event()

    def work(question: Question) -> dict[str, Any]:
        record = _asked(interview, question)
        log.add(record)
        return record

    left = iter(questions)
    running: set[Future[dict[str, Any]]] = set()
    failure: BaseException | None = None
    in_vain, patience = 0, max(FEWEST_IN_VAIN, workers)
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
                    record = each.result()
                    on_record(record)
                    in_vain = in_vain + 1 if record["status"] == "error" else 0
                    if in_vain >= patience and failure is None:
                        failure = RelstudyError(_hopeless(interview.client, in_vain, record))
    if failure is not None:
        raise failure
    return next(left, None) is None


def _asked(interview: Interview, question: Question) -> dict[str, Any]:
    """The line of the log for a question, asked a second time with more tokens where the answer was cut off."""
    client, messages = interview.client, interview.messages(question)
    try:
        reply = client.ask(messages)
        record = interview.record(question, reply.body, round(reply.seconds, 3))
        if record["status"] == "unparsed" and is_cut_off(reply.body):
            longer = client.ask(messages, **_more_tokens(client.parameters, reply.body))
            second = interview.record(question, longer.body, round(reply.seconds + longer.seconds, 3))
            costs = (record["cost"], second["cost"])
            if "tokens" in record and "tokens" in second:
                second["tokens"] = [sum(each) for each in zip(record["tokens"], second["tokens"], strict=True)]
            return {**second, "cost": None if None in costs else sum(costs), "cut_off": True}
    except NoReply as error:
        said = {} if error.said is None else {"said": error.said}
        return {**interview.record(question, None), "reason": str(error), **said}
    return record


def _more_tokens(parameters: Mapping[str, Any], body: dict[str, Any]) -> dict[str, int]:
    """The field of a request that lets an answer be longer than one that was cut off."""
    name = "max_completion_tokens" if "max_completion_tokens" in parameters else "max_tokens"
    usage = body.get("usage")
    used = usage.get("completion_tokens") if isinstance(usage, dict) else None
    counts = [each for each in (parameters.get(name), used) if isinstance(each, int)]
    return {name: max(LEAST_TOKENS, MORE_TOKENS * max(counts, default=0))}


def _hopeless(client: ChatClient, in_vain: int, record: dict[str, Any]) -> str:
    reason = record.get("reason") or "its answers hold errors"
    cure = "; --parameter NAME=VALUE sets a field of the requests" if " 400 " in reason or " 422 " in reason else ""
    return (
        f"{client.host} answered none of {in_vain} questions in a row, so no further ones are asked: {reason}{cure}. "
        "What was answered is kept; the same command goes on from there"
    )


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
MOST_LINES = 50_000
MOST_BYTES = 100_000_000
"""The most that batch interfaces take in one file."""


def export_batch(interview: Interview, questions: Sequence[Question], path: Path) -> list[Path]:
    """Write one request a line, each known by its answer's key; the files, several where one would be too large.

    Further files are called after the first: questions.jsonl, questions-2.jsonl and so on.
    """
    files: list[Path] = []
    left = iter(questions)
    line = next(left, None)
    while line is not None or not files:
        file = path if not files else path.with_name(f"{path.stem}-{len(files) + 1}{path.suffix}")
        lines = size = 0
        with replacing(file) as beside, beside.open("wb") as handle:
            while line is not None:
                body = interview.client.body(interview.messages(line))
                content = {"custom_id": line.key, "method": "POST", "url": ADDRESS, "body": body}
                text = json.dumps(content, ensure_ascii=False).encode() + b"\n"
                if lines and (lines >= MOST_LINES or size + len(text) > MOST_BYTES):
                    break
                handle.write(text)
                lines, size, line = lines + 1, size + len(text), next(left, None)
        files.append(file)
    return files


def spread(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """At most so many of the questions, over queries by chance: one of each query before a second of any."""
    if limit is None or limit >= len(questions):
        return list(questions)
    by_chance = sorted(questions, key=lambda each: each.key)
    seen: Counter[str] = Counter()
    turns = []
    for each in by_chance:
        turns.append(seen[each.query_id])
        seen[each.query_id] += 1
    order = sorted(range(len(by_chance)), key=lambda k: (turns[k], by_chance[k].key))
    return [by_chance[k] for k in order[:limit]]


def import_batch(interview: Interview, questions: Sequence[Question], paths: Sequence[Path], log: AnswerLog) -> None:
    """Keep the answers of files of results.

    Parameters
    ----------
    questions : those that the file may answer
    log : open to be added to

    Raises
    ------
    RelstudyError
        where a line is not a result, or none of them answers a question of this judge; then nothing is kept
    """
    by_key = {each.key: each for each in questions}
    results = [each for path in paths for each in _results(path)]
    matched = [(by_key[key], body) for key, body in results if key in by_key]
    if not matched:
        raise RelstudyError(
            f"{', '.join(map(str, paths))}: none of {len(results)} answers is to a question of this judge; the same "
            "--model, --prompt, parameters and collection as at --export-batch are needed"
        )
    for question, body in matched:
        if not log.answered(question.key):
            log.add(interview.record(question, interview.client.without_key(storable(body))))


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
