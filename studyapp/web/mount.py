"""Mount of a study: the path that its addresses begin with, such as /studies/mine.

Inside the app every address begins at the study ("/rate/1"). `at` puts the path before it where one leaves the app: in
templates as a filter, in redirections by `security.add_headers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from flask import request

WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def at(address: str) -> str:
    """An address of the study as browsers ask for it; one that leads elsewhere stays as it is."""
    return request.script_root + address if address.startswith("/") else address


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
