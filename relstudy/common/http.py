"""Requests that carry a key, a token or a signature: what they may be sent to, and that nothing redirects them."""

from __future__ import annotations

import urllib.parse
import urllib.request
from typing import Any

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine, to which http is as good as https."""


def address(url: str) -> urllib.parse.SplitResult | None:
    """An address of the web in its parts; None where it is none, or one that cannot be sent as it stands.

    Examples
    --------
    >>> address("https://a.org/x").hostname
    'a.org'
    >>> [address(url) for url in ("a.org", "ftp://a.org", "https://[::1", "https://a.org:x", "https://a.org/ü")]
    [None, None, None, None, None]
    """
    try:
        parts = urllib.parse.urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number or above 65,535
        return None
    return parts if valid and url.isascii() and url.isprintable() and " " not in url else None


def is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent to an address, and it holds no name or password itself.

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
    """Whether a key or token can stand in a header.

    Examples
    --------
    >>> can_be_sent("rst_1"), can_be_sent("rst 1"), can_be_sent("schlüssel"), can_be_sent("")
    (True, False, False, False)
    """
    return bool(secret) and secret.isascii() and secret.isprintable() and " " not in secret


def opener_for(url: str) -> urllib.request.OpenerDirector:
    """Opens requests to an address: no redirection is followed, and this machine is asked without a proxy."""
    near = urllib.parse.urlsplit(url).hostname in LOOPBACK
    return urllib.request.build_opener(_NoRedirection, *([urllib.request.ProxyHandler({})] if near else []))


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """What is sent must not follow to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
