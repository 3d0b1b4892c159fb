"""Chat completions over HTTP, as many servers speak them: retries, servers that limit or are hopeless, no key kept."""

from __future__ import annotations

import http.client
import json
import math
import random
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from relstudy.common.runtime.control_characters import without_controls
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import AGAIN, LIMITED, address, exchange, retry_after
from relstudy.studyapp.judging.answers import server_error

LONGEST_WAIT = 300.0
LONGEST_PAUSE = 60.0
MOST_PAUSES = 12
"""Pauses in a row, about eight minutes in all, after which a server that answers nothing is given up."""
UNREACHED = 3
"""Attempts after which a server that has said nothing at all so far is given up."""
LARGEST_REPLY = 1 << 20
"""Bytes of an answer that are read: a grade and its reason take a few thousand."""
PART = 65_536
"""Bytes of an answer that are read at a time, and signs that are kept of one that cannot be read."""
SHOWN = 60
"""Bytes that a message shows of an answer that cannot be read."""
VERSION = "api-version"
"""The one thing that may follow ? in an address; servers that want it take the key in a header of their own."""
_SPENT = re.compile(r"insufficient|billing|credit|balance|payment", re.IGNORECASE)


class NoReply(Exception):
    """A pair that the server gave no answer for; the message is a phrase, `said` what came and cannot be read."""

    def __init__(self, message: str, said: str | None = None) -> None:
        super().__init__(message)
        self.said = said


@dataclass(frozen=True)
class Reply:
    """The body of an answer, and how long it took in seconds."""

    body: dict[str, Any]
    seconds: float


class Pace:
    """The rate at which all workers together ask a server that limits questions.

    Each time that it says "too many", all wait, twice as long as before unless it names a time, and half as many ask
    at once; each answer lets one more ask.

    Parameters
    ----------
    first_wait : seconds of the first pause
    wait : sleeps so many seconds

    Attributes
    ----------
    sent : requests so far
    unread : replies that called themselves good and could not be read
    """

    def __init__(self, first_wait: float, wait: Callable[[float], None]) -> None:
        self.first_wait, self.wait = first_wait, wait
        self.pauses = 0
        self.reached = False
        self.sent = self.unread = 0
        self._until = 0.0
        self._allowed = float("inf")
        self._running = 0
        self._turn = threading.Condition()

    @contextmanager
    def turn(self) -> Iterator[float]:
        """A worker's turn to send one request; gives the time at which it began."""
        with self._turn:
            self._turn.wait_for(lambda: self._running < self._allowed)
            self._running += 1
            self.sent += 1
            left = self._until - time.monotonic()
        try:
            if left > 0:
                self.wait(left)
            yield time.monotonic()
        finally:
            with self._turn:
                self._running -= 1
                self._turn.notify_all()

    def answered(self) -> None:
        """Note that the server answered a question."""
        with self._turn:
            self.reached, self.pauses = True, 0
            self._allowed += 1
            self._turn.notify_all()

    def threw_away(self) -> None:
        """Note that a reply could not be read, which is paid all the same."""
        with self._turn:
            self.unread += 1

    def limited(self, began: float, pause: float | None) -> bool:
        """Note that the server did not take a request that began then; False where waiting longer is no use.

        Requests that were on their way together are one sign, and not several.
        """
        with self._turn:
            self.reached = True
            if began >= self._until:
                wanted = self.first_wait * 2**self.pauses * random.uniform(0.75, 1.25)
                seconds = min(LONGEST_PAUSE, wanted) if pause is None else min(LONGEST_WAIT, pause)
                self._until = time.monotonic() + seconds
                self._allowed = max(1.0, min(self._allowed, self._running) // 2)
                self.pauses += 1
            return self.pauses <= MOST_PAUSES


@dataclass(frozen=True)
class ChatClient:
    """A server of chat completions.

    Parameters
    ----------
    base_url : such as http://localhost:8000/v1; ?api-version=... may follow
    model : its name there
    parameters : further fields of every request, such as temperature
    key : sent as a bearer token; it is in no message and no repr; None sends none
    timeout : seconds that a question and its whole answer may take
    attempts : how often a question is asked at most
    first_wait : seconds before the second attempt where the server names none; each later wait is twice as long
    wait : sleeps so many seconds
    """

    base_url: str
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    attempts: int = 6
    first_wait: float = 1.0
    wait: Callable[[float], None] = time.sleep
    pace: Pace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = address(self.base_url)
        if parts is None:
            raise RelstudyError(
                f"--base-url: {self.base_url!r} is not an address; one such as http://localhost:8000/v1 is"
            )
        if parts.username or parts.password:
            raise RelstudyError("--base-url: a name or password in an address would be written down; use a key")
        if parts.fragment or {name for name, _ in urllib.parse.parse_qsl(parts.query, True)} - {VERSION}:
            raise RelstudyError(
                f"--base-url: what follows ? or # in an address would be written down; use a key (?{VERSION}=... may "
                "stand there)"
            )
        named = {"--base-url": self.base_url, "--model": self.model, "--parameter": json.dumps(dict(self.parameters))}
        for option, value in named.items():
            if self.key is not None and self.key in value:
                raise RelstudyError(
                    f"{option}: it contains the key, which would be written down; relstudy sends the key by itself"
                )
        object.__setattr__(self, "pace", Pace(self.first_wait, self.wait))

    @property
    def host(self) -> str:
        """Host that questions are sent to."""
        return urllib.parse.urlsplit(self.base_url).netloc

    def body(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """A request's body."""
        return {"model": self.model, "messages": messages, **self.parameters}

    def ask(self, messages: list[dict[str, Any]], **more: Any) -> Reply:
        """Ask once, and again where that may help.

        Parameters
        ----------
        more : further fields of this request, before those of every request

        Raises
        ------
        NoReply
            where this question got no answer
        RelstudyError
            where no question would get one: nobody is there, the key is refused, nothing is left to pay with, or the
            address or the model is not there
        """
        content = json.dumps(self.body(messages) | more).encode()
        reason, attempt = "", 0
        while attempt < self.attempts:
            with self.pace.turn() as began:
                try:
                    reply = Reply(self._post(content), time.monotonic() - began)
                    self.pace.answered()
                    return reply
                except urllib.error.HTTPError as error:
                    with error:
                        reason = self._refused(error)
                        if error.code in LIMITED:
                            if not self.pace.limited(began, retry_after(error.headers.get("Retry-After"))):
                                raise NoReply(f"{reason} ({MOST_PAUSES} pauses)") from None
                            continue
                except (OSError, http.client.HTTPException) as error:
                    reason, late = self._unheard(error)
                    if not self.pace.reached and attempt + 1 >= UNREACHED:
                        cure = "--timeout waits longer" if late else "check --base-url, and whether the server runs"
                        raise RelstudyError(f"{self.host} cannot be reached ({reason}); {cure}") from None
                except _Failed as error:
                    self.pace.reached = True
                    reason = str(error)
            attempt += 1
            if attempt < self.attempts:
                self.wait(min(LONGEST_WAIT, self.first_wait * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)))
        raise NoReply(f"{reason} ({self.attempts} attempts)")

    def _post(self, content: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "relstudy"}
        parts = urllib.parse.urlsplit(self.base_url)
        if self.key is not None:
            headers |= {"api-key": self.key} if parts.query else {"Authorization": f"Bearer {self.key}"}
        url = urllib.parse.urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/chat/completions"))
        request = urllib.request.Request(url, content, headers, method="POST")
        with exchange(request, self.timeout) as response:
            said = b""
            while part := response.read1(PART):
                said += part
                if len(said) > LARGEST_REPLY:
                    self.pace.threw_away()
                    raise NoReply(f"the answer is longer than {LARGEST_REPLY:,} bytes", self._kept(said))
            if (missing := response.length) and missing > 0:
                raise http.client.IncompleteRead(said, missing)
        try:
            body = self.without_key(storable(json.loads(said)))
        except NO_JSON:
            body = None
        if not isinstance(body, dict):
            self.pace.threw_away()
            raise NoReply(self.without_key(_not_json(said)), self._kept(said))
        failed = server_error(body)
        if failed is not None:
            self.pace.threw_away()
            raise _Failed(f"the server says: {failed}")
        return body

    def _kept(self, said: bytes) -> str:
        """The start of what came, as the log keeps what cannot be read: bytes that are not UTF-8 as \\x.."""
        return str(self.without_key(said.decode("utf-8", "backslashreplace")))[:PART]

    def without_key(self, said: Any) -> Any:
        """The reply of a server, decoded, without the key, which some of them repeat."""
        if self.key is None:
            return said
        if isinstance(said, str):
            return said.replace(self.key, "[key]")
        if isinstance(said, list):
            return [self.without_key(each) for each in said]
        if isinstance(said, dict):
            return {self.without_key(name): self.without_key(value) for name, value in said.items()}
        return said

    def _unheard(self, error: Exception) -> tuple[str, bool]:
        """The reason why nothing was heard of the server, as a phrase, and whether it was for want of time."""
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            return f"no answer within {self.timeout:g} seconds", True
        return f"no answer: {reason if str(reason) else type(reason).__name__}", False

    def _refused(self, error: urllib.error.HTTPError) -> str:
        """Reason, as a phrase, for which a question may be asked again; raises where it may not."""
        try:
            said = self.without_key(_message(error.read(LARGEST_REPLY)))
        except (OSError, http.client.HTTPException):
            said = ""
        said = f"the server says {error.code} {error.reason}{said and ': '}{said}"
        reason = without_controls(self.without_key(said))
        if error.code in (401, 403):
            raise RelstudyError(
                f"{self.host} refuses the key: {reason}; study.toml names the environment variable that holds it "
                "([judges] key_variable)"
            )
        if error.code == 402 or (error.code == 429 and _SPENT.search(said) and not error.headers.get("Retry-After")):
            raise RelstudyError(
                f"{self.host} answers no more, since nothing is left to pay with: {reason}; the same command goes on "
                "from there when there is"
            )
        if error.code in (404, 405) or 300 <= error.code < 400:
            raise RelstudyError(
                f"{self.host} has no chat completions there, or no model {self.model!r}: {reason}; check --base-url "
                "and --model"
            )
        if error.code not in (*AGAIN, *LIMITED):
            raise NoReply(reason)
        return reason


def _not_json(said: bytes) -> str:
    """The reason why an answer cannot be read, with how it begins: asked again, the server would answer the same."""
    start = without_controls(said[:SHOWN].decode("utf-8", "replace"))
    begins = f"it begins {start!r}" if start else "it is empty"
    if said.lstrip().startswith(b"data:"):
        return f"the answer is a stream ({begins}); --parameter stream=false asks for a whole one"
    if said.startswith(b"\x1f\x8b"):
        return "the answer is compressed (gzip), which was not asked for"
    return f"the answer is not a JSON object ({begins})"


class _Failed(ValueError):
    """A reply that calls itself good and holds an error."""


def storable(said: Any) -> Any:
    """What a server said, decoded, as JSON and UTF-8 can hold it: Python's servers write NaN and -Infinity for the
    logarithm of nothing, and an answer that ends inside a character leaves half of it."""
    if isinstance(said, str):
        return said.encode("utf-8", "replace").decode()
    if isinstance(said, float):
        return said if math.isfinite(said) else None
    if isinstance(said, int) and not isinstance(said, bool):
        return said if abs(said) < 1 << 63 else None
    if isinstance(said, list):
        return [storable(each) for each in said]
    if isinstance(said, dict):
        return {storable(name): storable(value) for name, value in said.items()}
    return said


def _message(body: bytes) -> str:
    """The message in the body of an error, in one line, or empty."""
    try:
        said = json.loads(body)
    except NO_JSON:
        return ""
    error = said.get("error", said) if isinstance(said, dict) else said
    parts = [error.get(name) for name in ("message", "code", "type")] if isinstance(error, dict) else [error]
    words = [" ".join(part.split()) for part in parts if isinstance(part, str)]
    return ", ".join(dict.fromkeys(word for word in words if word))[:300]
