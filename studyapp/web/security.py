"""Forms that cannot be forged, headers that keep pages to themselves, and limits on guessing."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import deque

from flask import Flask, Response
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import URLSafeTimedSerializer

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_HEADERS = [*HEADERS.items(), ("Cache-Control", "no-store")]


def add_headers(app: Flask) -> None:
    """Send the security headers with every answer; pages are never cached."""

    @app.after_request
    def _headers(response: Response) -> Response:
        own = {name.lower() for name in response.headers.keys()}  # noqa: SIM118 (a multidict of headers)
        response.headers.extend([pair for pair in _HEADERS if pair[0].lower() not in own])
        return response


class Sessions(SecureCookieSessionInterface):
    """Flask's signed cookies, with the signer made once and not for each request."""

    _serializer: URLSafeTimedSerializer | None = None

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """The app's signer; its key does not change while the app runs."""
        if self._serializer is None:
            self._serializer = super().get_signing_serializer(app)
        return self._serializer


class Signer:
    """Signs what goes into a form, for one purpose and one person.

    Examples
    --------
    >>> signer = Signer(b"0" * 32)
    >>> token = signer.csrf("rater:1")
    >>> signer.csrf_holds("rater:1", token), signer.csrf_holds("rater:2", token)
    (True, False)
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:40]

    def csrf(self, who: str) -> str:
        """The token that this person's forms carry."""
        return self._sign(f"csrf|{who}")

    def csrf_holds(self, who: str, token: str) -> bool:
        return hmac.compare_digest(self.csrf(who).encode(), token.encode())

    def form(self, who: str, assignment: int, shown_at: float) -> str:
        """One showing of one page to one rater: when, a nonce, and the signature."""
        body = f"{int(shown_at * 1000)}.{secrets.token_hex(4)}"
        return f"{body}.{self._sign(f'form|{who}|{assignment}|{body}')}"

    def form_shown_at(self, who: str, assignment: int, token: str) -> float | None:
        """When the page of this form was shown; None when the form was not made for this rater and page."""
        body, _, signature = token.rpartition(".")
        expected = self._sign(f"form|{who}|{assignment}|{body}")
        if not hmac.compare_digest(expected.encode(), signature.encode()):
            return None
        return int(body.partition(".")[0]) / 1000


class Limit:
    """At most so many failures per client in a stretch of time; kept in memory only.

    The client's address is hashed with a salt that lives as long as the process, and never stored.

    Examples
    --------
    >>> limit = Limit(failures=2, seconds=60)
    >>> [limit.reached("a") or limit.fail("a") for _ in range(3)]
    [None, None, True]
    """

    def __init__(self, failures: int, seconds: float) -> None:
        self.failures = failures
        self.seconds = seconds
        self._salt = secrets.token_bytes(16)
        self._times: dict[bytes, deque[float]] = {}
        self._turn = threading.Lock()

    def _key(self, client: str) -> bytes:
        return hashlib.blake2b(client.encode(), key=self._salt, digest_size=12).digest()

    def reached(self, client: str) -> bool:
        """Whether this client must wait."""
        with self._turn:
            times = self._times.get(self._key(client))
            return times is not None and len(self._recent(times)) >= self.failures

    def fail(self, client: str) -> None:
        """Note a failure."""
        with self._turn:
            if len(self._times) > 10_000:
                self._times = {key: times for key, times in self._times.items() if self._recent(times)}
            self._recent(self._times.setdefault(self._key(client), deque())).append(time.monotonic())

    def _recent(self, times: deque[float]) -> deque[float]:
        oldest = time.monotonic() - self.seconds
        while times and times[0] < oldest:
            times.popleft()
        return times
