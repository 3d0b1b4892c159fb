"""Chat completions over HTTP, as many servers speak them: retries, the server's wish to wait, no key in any text."""

from __future__ import annotations

import email.utils
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relstudy.common.damage import NO_JSON
from relstudy.common.errors import RelstudyError
from relstudy.common.http import address, opener_for

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses after which the same question is worth asking again."""
LONGEST_WAIT = 300.0
LARGEST_REPLY = 1 << 20
"""Bytes of an answer that are read: a grade and its reason take a few thousand."""


class NoReply(Exception):
    """A pair that the server gave no answer for; the message is a phrase."""


@dataclass(frozen=True)
class Reply:
    """The body of an answer, and how long it took in seconds."""

    body: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class ChatClient:
    """A server of chat completions.

    Parameters
    ----------
    base_url : such as http://localhost:8000/v1
    model : its name there
    parameters : further fields of every request, such as temperature
    key : sent as a bearer token; it is in no message and no repr; None sends none
    timeout : seconds without a byte after which a request is given up
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

    def __post_init__(self) -> None:
        parts = address(self.base_url)
        if parts is None:
            raise RelstudyError(f"--base-url: {self.base_url!r} is no address; one such as http://localhost:8000/v1 is")
        if parts.username or parts.password:
            raise RelstudyError("--base-url: a name or password in an address would be written down; use a key")
        if parts.query or parts.fragment:
            raise RelstudyError("--base-url: what follows ? or # in an address would be written down; use a key")
        named = {"--base-url": self.base_url, "--model": self.model, "--parameter": json.dumps(dict(self.parameters))}
        for option, value in named.items():
            if self.key is not None and self.key in value:
                raise RelstudyError(
                    f"{option}: it contains the key, which would be written down; relstudy sends the key by itself"
                )

    @property
    def host(self) -> str:
        """Host that questions are sent to."""
        return urllib.parse.urlsplit(self.base_url).netloc

    def body(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """A request's body."""
        return {"model": self.model, "messages": messages, **self.parameters}

    def ask(self, messages: list[dict[str, Any]]) -> Reply:
        """Ask once, and again where that may help.

        Raises
        ------
        NoReply
            where this question got no answer
        RelstudyError
            where no question would get one: the key is refused, or the address or the model is not there
        """
        content = json.dumps(self.body(messages)).encode()
        reason = ""
        for attempt in range(self.attempts):
            started = time.monotonic()
            pause: float | None = None
            try:
                return Reply(self._post(content), time.monotonic() - started)
            except urllib.error.HTTPError as error:
                with error:
                    reason = self._refused(error)
                    pause = retry_after(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException) as error:
                reason = f"no answer: {getattr(error, 'reason', None) or type(error).__name__}"
            except NO_JSON:
                reason = "the answer is not JSON"
            if attempt + 1 < self.attempts:
                backoff = self.first_wait * 2**attempt * random.uniform(0.75, 1.25)
                self.wait(min(LONGEST_WAIT, backoff if pause is None else pause))
        raise NoReply(f"{reason} ({self.attempts} attempts)")

    def _post(self, content: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "relstudy"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        url = self.base_url.rstrip("/") + "/chat/completions"
        request = urllib.request.Request(url, content, headers, method="POST")
        with opener_for(url).open(request, timeout=self.timeout) as response:
            said = response.read(LARGEST_REPLY + 1)
        if len(said) > LARGEST_REPLY:
            raise NoReply(f"the answer is longer than {LARGEST_REPLY:,} bytes")
        body = json.loads(self._without_key(said))
        if not isinstance(body, dict):
            raise ValueError("no object")
        return body

    def _without_key(self, said: bytes) -> bytes:
        """A server's reply, which is kept, without the key, which some of them repeat."""
        return said if self.key is None else said.replace(self.key.encode(), b"[key]")

    def _refused(self, error: urllib.error.HTTPError) -> str:
        """Reason, as a phrase, for which a question may be asked again; raises where it may not."""
        reason = self._without_key(f"the server says {error.code} {error.reason}".encode()).decode()
        if error.code in (401, 403):
            raise RelstudyError(
                f"{self.host} refuses the key ({error.code}); study.toml names the environment variable that holds it "
                "([judges] key_variable)"
            )
        if error.code in (404, 405) or 300 <= error.code < 400:
            raise RelstudyError(
                f"{self.host} has no chat completions there, or no model {self.model!r} ({error.code}); check "
                "--base-url and --model"
            )
        if error.code not in AGAIN:
            raise NoReply(reason)
        return reason


def retry_after(header: str | None) -> float | None:
    """Seconds that a server wants to be left alone for; None where it doesn't say.

    Examples
    --------
    >>> retry_after("3"), retry_after(None), retry_after("soon")
    (3.0, None, None)
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - time.time())
