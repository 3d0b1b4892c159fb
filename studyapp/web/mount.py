"""Mount of a study: the path that its addresses begin with, such as /studies/mine.

Inside the app every address begins at the study ("/rate/1"). `at` puts the path before it where one leaves the app: in
templates as a filter, in redirections by `security.add_headers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, urlsplit

from flask import request

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_WITHIN = re.compile(r"/(?!/)[^\\\x00-\x1f\x7f]*")
_IN_QUERIES = "%/:?#[]@!$&'()*+,;="  # characters of a query that stay as they are (RFC 3986)


def at(address: str) -> str:
    """An address of the study as browsers ask for it; one that leads elsewhere stays as it is."""
    return request.script_root + address if address.startswith("/") else address


def is_within(address: str) -> bool:
    """True if an address that anybody may have written leads to a page of the study.

    Browsers leave out tabs and line breaks and take a backslash for a slash, and two slashes begin another host.

    Examples
    --------
    >>> [is_within(address) for address in ("/rate/1?a=b", "//evil.example", "/\\t/evil.example", "/\\\\evil.example")]
    [True, False, False, False]
    """
    return _WITHIN.fullmatch(address) is not None


def is_only_here(address: str) -> bool:
    """True if an address is one of this machine to itself, which opens nothing on another.

    Examples
    --------
    >>> is_only_here("http://localhost:8000/"), is_only_here("http://192.168.1.5:8000/")
    (True, False)
    """
    return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")


def asked_query() -> str:
    """The query of this request with a question mark before it, or "". Bytes that are no text are
    written as addresses write them."""
    query = quote(request.query_string, safe=_IN_QUERIES)
    return f"?{query}" if query else ""


def path_of(url: str) -> str:
    """The path in a study's public address, without a slash at the end.

    Examples
    --------
    >>> path_of("https://lab.example.org/studies/mine"), path_of("https://lab.example.org"), path_of("")
    ('/studies/mine', '', '')
    """
    return urlsplit(url).path.rstrip("/")


def mounted(app: WsgiApp, path: str) -> WsgiApp:
    """The app under a path, whether the proxy in front passes the path on or takes it off.

    Addresses without the path are answered too, so that health can be asked for behind the proxy.
    """
    if not path:
        return app

    def under_path(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked = environ.get("PATH_INFO", "")
        if asked == path or asked.startswith(f"{path}/"):
            asked = asked[len(path) :]
        return app({**environ, "SCRIPT_NAME": path, "PATH_INFO": asked or "/"}, start_response)

    return under_path
