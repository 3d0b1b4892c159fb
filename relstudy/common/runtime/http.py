"""Requests that carry a key, a token or a signature: what they may be sent to, that nothing redirects them, and when
they are worth sending again."""

from __future__ import annotations

import email.utils
import http.client
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine, to which http is as good as https."""
BRACKETED = r"\[[^][]+\](:[0-9]*)?"
"""An address of IPv6 in an address of the web, and its port."""
AGAIN = (408, 409, 425, 500, 502, 504)
"""Statuses after which the same request is worth sending again."""
LIMITED = (429, 503, 529)
"""Statuses of a server that has too much to do, and wants to be left alone for a while."""


def address(url: str) -> urllib.parse.SplitResult | None:
    """An address of the web in its parts; None where it is none, or one that cannot be sent as it stands.

    Examples
    --------
    >>> address("https://a.org/x").hostname
    'a.org'
    >>> [address(url) for url in ("a.org", "ftp://a.org", "https://[::1", "https://a..org", "http://[::1].a.org")]
    [None, None, None, None, None]
    """
    try:
        parts = urllib.parse.urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        urllib.parse.unquote(parts.hostname or "").encode("idna")
    except (
        ValueError
    ):  # brackets that do not close, a port that is not a number or above 65,535, an empty part of a name
        return None
    # Of [::1].example.org Python takes ::1 for the name, and asks for the whole.
    host = parts.netloc.rpartition("@")[2]
    valid = valid and ("[" not in host or re.fullmatch(BRACKETED, host) is not None)
    return parts if valid and url.isascii() and url.isprintable() and " " not in url else None


def is_private(url: str) -> bool:
    """True where nobody on the way can read what is sent to an address, and it holds no name or password itself.

    Examples
    --------
    >>> [is_private(url) for url in ("https://a.org/x", "http://localhost:8000", "http://a.org", "https://u:p@a.org")]
    [True, True, False, False]
    """
    parts = address(url)
    if parts is None or parts.username is not None or parts.password is not None:
        return False
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def can_be_sent(secret: str) -> bool:
    """True where a key or token can stand in a header.

    Examples
    --------
    >>> can_be_sent("rst_1"), can_be_sent("rst 1"), can_be_sent("schlüssel"), can_be_sent("")
    (True, False, False, False)
    """
    return bool(secret) and secret.isascii() and secret.isprintable() and " " not in secret


@contextmanager
def exchange(
    request: urllib.request.Request, seconds: float, *, whole: bool = True
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a request: no redirection is followed, and this machine is asked without a proxy.

    Parameters
    ----------
    seconds : that the whole exchange may take, headers and content; a socket's own limit is for each part
    whole : False lets each part of the content take as long, for what may be large

    Raises
    ------
    TimeoutError
        where the answer is not there after so many seconds
    OSError, http.client.HTTPException
        if there is no answer, or another than a good one (`urllib.error.HTTPError`)
    """
    sockets: list[socket.socket] = []
    late = threading.Event()

    def end() -> None:
        late.set()
        for each in sockets:
            try:
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # below TLS, whose own shutdown another thread may use
            except OSError:
                continue  # it is closed

    near = urllib.parse.urlsplit(request.full_url).hostname in LOOPBACK
    handlers = (_Plain(sockets), _Secure(sockets), *([urllib.request.ProxyHandler({})] if near else []))
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        with urllib.request.build_opener(_NoRedirection, *handlers).open(request, timeout=seconds) as answer:
            if not whole:
                timer.cancel()
            yield answer
        if late.is_set():
            raise TimeoutError
    except (OSError, http.client.HTTPException) as error:
        if late.is_set() and not isinstance(error, urllib.error.HTTPError):
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()


class _Plain(urllib.request.HTTPHandler):
    """Handler that notes the sockets it opens."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        super().__init__()
        self.sockets = sockets

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_noting(http.client.HTTPConnection, self.sockets), request)


class _Secure(urllib.request.HTTPSHandler):
    """Handler that notes the sockets it opens."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        super().__init__()
        self.sockets = sockets

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_noting(http.client.HTTPSConnection, self.sockets), request)


def _noting(kind: type[http.client.HTTPConnection], sockets: list[socket.socket]) -> Any:
    """That kind of connection, which adds its socket to the others."""

    class Noting(kind):  # type: ignore[misc, valid-type]
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    return Noting


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Handler that refuses redirections, so that what is sent never follows to another host."""

    def http_error_302(self, *_: Any, **__: Any) -> None:
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


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
