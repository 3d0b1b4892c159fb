"""Pictures that a table names by their addresses on the web, fetched where somebody asks for it (`ask --fetch`).

An address leads to a public machine, also after it was redirected: the name is resolved once, and that machine is
asked. Size, number, time and type, by the first bytes, are bounded; one that fails refuses all, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from relstudy.common.runtime.console import progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.studyapp.collection.kinds import HEAD, image_type

MOST, LARGEST, ALTOGETHER = 5_000, 10 << 20, 1 << 30
"""Pictures, and bytes of one and of all."""
REDIRECTS = 3
TIMEOUT = 20.0
"""Seconds without a byte."""
ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp"}
EXCHANGE = 60.0
"""Seconds for one picture."""
_AT_ONCE = 1 << 16


def fetch_pictures(addresses: Sequence[str], folder: Path) -> dict[str, str]:
    """Fetch pictures into a folder; gives the name of each one's file.

    Raises
    ------
    RelstudyError
        if there are too many, or one cannot be had, is too large or not a picture, or is not on a public machine
    """
    wanted = list(dict.fromkeys(addresses))
    if len(wanted) > MOST:
        raise RelstudyError(f"{len(wanted):,} pictures, and up to {MOST:,} are fetched; save them and name their files")
    names, failed, left = {}, [], ALTOGETHER
    for address in progress(wanted, "fetching pictures"):
        try:
            content = _fetched(address, min(LARGEST, left))
        except (OSError, http.client.HTTPException, ValueError) as error:
            failed.append(f"{address} ({error})")
            continue
        left -= len(content)
        kind = image_type(content[:HEAD])
        if kind is None:
            failed.append(f"{address} (not a JPEG, PNG, GIF or WebP)")
            continue
        names[address] = f"{hashlib.sha256(address.encode()).hexdigest()[:24]}{ENDINGS[kind]}"
        (folder / names[address]).write_bytes(content)
    if failed:
        raise RelstudyError(f"{count_of(len(failed), 'picture')} cannot be fetched, such as {failed[0]}")
    return names


def is_public(address: str) -> bool:
    """True for the address of a machine that anybody may reach.

    Examples
    --------
    >>> is_public("93.184.215.14"), is_public("127.0.0.1"), is_public("169.254.169.254"), is_public("::1")
    (True, False, False, False)
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_global and not found.is_multicast


def _fetched(address: str, most: int) -> bytes:
    """The content at an address, or at where it leads."""
    for _ in range(REDIRECTS + 1):
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not an address by http or https")
        connection = _connection(parts.hostname, parts.port, secure=parts.scheme == "https")
        try:
            path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            connection.request("GET", path, headers={"User-Agent": "relstudy", "Accept": "image/*"})
            answer = connection.getresponse()
            if answer.status in (301, 302, 303, 307, 308):
                address = urljoin(address, answer.getheader("Location") or "")
                continue
            if answer.status != 200:
                raise ValueError(f"status {answer.status}")
            content, until = bytearray(), time.monotonic() + EXCHANGE
            while part := answer.read1(_AT_ONCE):
                if time.monotonic() > until:
                    raise ValueError(f"not there after {EXCHANGE:.0f} seconds")
                content += part
                if len(content) > most:
                    raise ValueError(f"over {most >> 20} MB")
            return bytes(content)
        finally:
            connection.close()
    raise ValueError("it leads on and on")


def _connection(host: str, port: int | None, *, secure: bool) -> http.client.HTTPConnection:
    """A connection to a machine of that name which is public; certificates are those of the name."""
    number = port or (443 if secure else 80)
    found = {str(each[4][0]) for each in socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)}
    if not found or not all(map(is_public, found)):
        raise ValueError("not on a public machine")
    reached = socket.create_connection((sorted(found)[0], number), TIMEOUT)
    if not secure:
        plain = http.client.HTTPConnection(host, number, timeout=TIMEOUT)
        plain.sock = reached
        return plain
    connection = http.client.HTTPSConnection(host, number, timeout=TIMEOUT)
    try:
        connection.sock = ssl.create_default_context().wrap_socket(reached, server_hostname=host)
    except (OSError, ValueError):
        reached.close()
        raise
    return connection
