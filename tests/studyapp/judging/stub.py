"""A server of chat completions on the loopback that does what servers do: waits, fails, refuses, talks nonsense."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from relstudy.studyapp.judging.client import ChatClient

KEY = "sk-very-secret-0123456789"
Answer = Callable[[int, str], "Said"]
"""From how often this question was asked before, and its text, to what the server says."""


@dataclass(frozen=True)
class Said:
    """One response: a grade as JSON by default."""

    content: str = '{"grade": 4, "confidence": 0.9}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    message: dict[str, Any] = field(default_factory=dict)
    delay: float = 0.0
    finish_reason: str = "stop"

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        message = {"role": "assistant", "content": self.content, **self.message}
        usage = {"prompt_tokens": 1000, "completion_tokens": 10}
        return json.dumps(
            {"choices": [{"message": message, "finish_reason": self.finish_reason}], "usage": usage}
        ).encode()


@dataclass
class Stub:
    """What the server was asked, and what it is to say."""

    answer: Answer = lambda before, text: Said()
    questions: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_a_time: int = 0
    url: str = ""
    _now: int = 0
    _asked: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def times_asked(self) -> Counter[str]:
        """How often each question came."""
        return self._asked

    def respond(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        text = json.dumps(body["messages"])
        with self._lock:
            before = self._asked[text]
            self._asked[text] += 1
            self.questions.append(body)
            self.keys.add(handler.headers.get("Authorization"))
            self.paths.append(handler.path)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self._now += 1
            self.most_at_a_time = max(self.most_at_a_time, self._now)
        said = self.answer(before, text)
        time.sleep(said.delay)
        with self._lock:
            self._now -= 1
        content = said.body()
        with contextlib.suppress(OSError):
            handler.send_response(said.status)
            for name, value in {"Content-Length": str(len(content)), **said.headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(content)


def change_default(monkeypatch: pytest.MonkeyPatch, old: object, new: object) -> None:
    """Give clients another default: how they sleep, or how long they wait first."""
    defaults = ChatClient.__init__.__defaults__ or ()
    assert old in defaults
    changed = tuple(new if each == old else each for each in defaults)
    monkeypatch.setattr(ChatClient.__init__, "__defaults__", changed)


@contextlib.contextmanager
def serving(answer: Answer | None = None) -> Iterator[Stub]:
    """A stub that serves until the block ends."""
    stub = Stub() if answer is None else Stub(answer)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            stub.respond(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
