"""Requests that carry a key, a token or a signature: what they may be sent to, that nothing redirects them, and when
they are worth sending again."""

from __future__ import annotations

import email.utils
import re
import time
import urllib.parse
import urllib.request
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


def opener_for(url: str) -> urllib.request.OpenerDirector:
    """Opens requests to an address: no redirection is followed, and this machine is asked without a proxy."""
    near = urllib.parse.urlsplit(url).hostname in LOOPBACK
    return urllib.request.build_opener(_NoRedirection, *([urllib.request.ProxyHandler({})] if near else []))


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
