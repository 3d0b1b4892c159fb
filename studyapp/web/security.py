"""Forms that cannot be forged, and headers that keep pages to themselves."""

from __future__ import annotations

import functools
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import itsdangerous
from flask import Flask, Response, request
from flask.sessions import SecureCookieSessionInterface

from relstudy.studyapp.web.mount import WsgiApp, at

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every answer that has none of its own of that name."""


def add_headers(app: Flask) -> None:
    """Send the security headers with every answer; pages are never cached."""
    app.after_request(_redirect_below_mount)
    answer: WsgiApp = app.wsgi_app

    def with_headers(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            given = {name.lower() for name, _ in headers}
            return start_response(
                status, headers + [each for each in HEADERS.items() if each[0].lower() not in given], *error
            )

        return answer(environ, start)

    app.wsgi_app = with_headers  # type: ignore[method-assign]


def _redirect_below_mount(response: Response) -> Response:
    """The pages redirect within the study, whose mount is put before it here. The router, which knows the mount,
    redirects to the host that the request named, and anybody may name any: the path is enough."""
    if "Location" not in response.headers:
        return response
    target = urlsplit(response.location or "")
    if target.scheme and target.netloc == request.host:  # which is empty where the request names none that can be
        response.location = urlunsplit(("", "", "/" + target.path.lstrip("/"), target.query, ""))
    elif response.location and not target.netloc:
        response.location = at(response.location)
    return response


class Sessions(SecureCookieSessionInterface):
    """Flask's signed cookies, for the study's own path, with the signer made once and not for each request."""

    _serializer: itsdangerous.URLSafeTimedSerializer | None = None

    def get_cookie_path(self, app: Flask) -> str:
        """Path of the study's cookie, which nothing else on this host sees."""
        return request.script_root or "/"

    def get_signing_serializer(self, app: Flask) -> itsdangerous.URLSafeTimedSerializer | None:
        """The app's signer; its key does not change while the app runs."""
        if self._serializer is None:
            self._serializer = super().get_signing_serializer(app)
            if self._serializer is not None:
                self._serializer.signer = _AnyClockSigner
        return self._serializer


class _KeptKeySigner(itsdangerous.TimestampSigner):
    """Works out its key once, and not for each signature."""

    _key: bytes | None = None

    def derive_key(self, secret_key: str | bytes | None = None) -> bytes:
        if self._key is None:  # there is but one secret
            self._key = super().derive_key(secret_key)
        return self._key


class _AnyClockSigner(itsdangerous.TimestampSigner):
    """Takes what a machine has signed whose clock is ahead: only what is too old has expired."""

    def unsign(self, signed_value: Any, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        value, signed_at = super().unsign(signed_value, return_timestamp=True)
        if max_age is not None and time.time() - signed_at.timestamp() > max_age:
            raise itsdangerous.SignatureExpired("too old", payload=value, date_signed=signed_at)
        return (value, signed_at) if return_timestamp else value


@dataclass(frozen=True)
class ShownForm:
    """When a page was shown, under which version of the study, and a hash of what it asked."""

    at: float
    version: int
    asked: str


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
        # A page's form is signed when it is shown and read when it is sent; a rater's other forms again and again.
        self._page = functools.lru_cache(maxsize=2048)(self._page_signer)
        self.csrf = functools.lru_cache(maxsize=2048)(self._csrf_token)

    def _csrf_token(self, who: str) -> str:
        """The token that this person's forms carry."""
        key = hmac.digest(self._secret, f"csrf|{who}".encode(), "sha256")
        return itsdangerous.encoding.base64_encode(hmac.digest(key, b"", "sha256")).decode()

    def csrf_holds(self, who: str, token: str) -> bool:
        """True if a form's token is this person's."""
        return hmac.compare_digest(self.csrf(who).encode(), token.encode())

    def key_of(self, *words: str) -> bytes:
        """The same key for the same words, such as those of a form that may be sent twice."""
        return hmac.digest(self._secret, repr(("key", *words)).encode(), "sha256")

    def form(self, who: str, assignment: int, asked: str) -> str:
        """One showing of one page to one rater: a random number, what it asks, the time, and the signature."""
        return self._page(who, assignment).sign(f"{secrets.token_hex(4)}-{asked}").decode()

    def shown_form(self, who: str, assignment: int, token: str) -> ShownForm | None:
        """Content of a signed form; None when it was not made for this rater and page."""
        try:
            value, shown_at = self._page(who, assignment).unsign(token.encode(), return_timestamp=True)
        except itsdangerous.BadSignature:
            return None
        _, version, asked = value.decode().split("-")
        return ShownForm(shown_at.timestamp(), int(version), asked)

    def _page_signer(self, who: str, assignment: int) -> _MillisecondSigner:
        return _MillisecondSigner(self._secret, f"form|{who}|{assignment}", **_SIGNATURE)


_SIGNATURE: Any = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}


class _MillisecondSigner(_KeptKeySigner):
    """Its times are the start of the time on a page, which whole seconds would blur."""

    def get_timestamp(self) -> int:
        return time.time_ns() // 1_000_000

    def timestamp_to_datetime(self, ts: int) -> datetime:
        return datetime.fromtimestamp(ts / 1000, UTC)
