"""The server's log: a JSON line for each request and each event, and never an address that may hold a token."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from typing import Any, TextIO

from flask import Flask, Response, g, request

log = logging.getLogger("relstudy")


def log_event(event: str, level: int = logging.ERROR, **about: object) -> None:
    """Add a line about something that happened, which the researcher should know of."""
    log.log(level, json.dumps({"event": event, **about}))


class StudyFlask(Flask):
    """Logs what went wrong under its route: the address asked for may hold a token."""

    def log_exception(self, exc_info: Any) -> None:
        """The traceback, under method and route."""
        self.logger.error("Exception on %s [%s]", request.url_rule, request.method, exc_info=exc_info)


def log_requests(app: Flask) -> None:
    """One JSON line per request: the route, never the address asked for, because that may hold a token."""

    @app.before_request
    def _begin() -> None:
        g.began = time.perf_counter()

    @app.after_request
    def _end(response: Response) -> Response:
        if log.isEnabledFor(logging.INFO):
            line = {
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "method": request.method,
                "route": str(request.url_rule) if request.url_rule else None,
                "status": response.status_code,
                "ms": round(1000 * (time.perf_counter() - g.began), 1) if "began" in g else None,
                "worker": os.getpid(),
            }
            log.info(json.dumps(line))
        return response


def log_to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send the app's log lines to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.handlers[:] = [handler]
    log.setLevel(level)
    log.propagate = False
