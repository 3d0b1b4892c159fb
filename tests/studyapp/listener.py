"""A program that a study's webhook is sent to."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from relstudy.studyapp.web.notifier import signature

SECRET = "our secret"


@dataclass
class Listener:
    """A program that is told.

    Parameters
    ----------
    url : its address
    answers : its next statuses, then 204
    refuses_every : the so many-th message is refused as well; 0: none
    heard : what it was sent, taken or not
    """

    url: str = ""
    answers: list[int] = field(default_factory=list)
    refuses_every: int = 0
    heard: list[dict[str, Any]] = field(default_factory=list)

    @property
    def events(self) -> list[str]:
        """The cursors of the events in the order in which they came, each the first time."""
        return list(dict.fromkeys(event["cursor"] for said in self.heard for event in said["events"]))

    def answer(self) -> int:
        """The status of the message that was heard last."""
        if self.answers:
            return self.answers.pop(0)
        return 503 if self.refuses_every and len(self.heard) % self.refuses_every == 0 else 204


@contextlib.contextmanager
def listening() -> Iterator[Listener]:
    """A program at an address of this machine, which believes no message without the right signature."""
    here = Listener()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            stamp = self.headers["X-Relstudy-Timestamp"]
            assert self.headers["X-Relstudy-Signature"] == signature(SECRET, stamp, body)
            here.heard.append(json.loads(body))
            self.send_response(here.answer())
            self.send_header("Location", "http://[::1")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    here.url = f"http://127.0.0.1:{server.server_address[1]}/changes"
    yield here
    server.shutdown()
    server.server_close()
