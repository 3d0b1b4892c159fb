"""Connections as a worker takes them: a deadline for requests, and a share for each address."""

from __future__ import annotations

import socket
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from waitress.channel import HTTPChannel

from relstudy.studyapp.web.addresses import customer


@dataclass(frozen=True)
class Shares:
    """How many connections each address has, and may have.

    Parameters
    ----------
    most : of one address; 0: any number
    proxy : an address that speaks for many, and may have all
    """

    most: int
    proxy: str | None = None
    held: defaultdict[str, set[HTTPChannel]] = field(default_factory=lambda: defaultdict(set))

    def take(self, channel: HTTPChannel, whose: str) -> bool:
        """Count a connection; whether it may stay."""
        self.held[whose].add(channel)
        return not self.most or whose == self.proxy or len(self.held[whose]) <= self.most

    def give_back(self, channel: HTTPChannel, whose: str) -> None:
        """A connection has ended."""
        self.held[whose].discard(channel)
        if not self.held[whose]:
            del self.held[whose]


class Connection(HTTPChannel):
    """A connection whose request must be there whole within `channel_timeout` of its first byte.

    Waitress closes those that are silent for so long; who sends a byte now and then would stay for ever. One more than
    the address may have is closed at once.
    """

    began: float | None = None
    last_activity: float

    def __init__(self, server: Any, sock: socket.socket, addr: Any, adj: Any, map: Any, shares: Shares) -> None:
        self.shares, self.whose = shares, customer(str(addr[0]))
        super().__init__(server, sock, addr, adj, map=map)
        if not shares.take(self, self.whose):
            self.close()

    def del_channel(self, map: Any = None) -> None:
        """The connection has ended; Waitress' hook."""
        self.shares.give_back(self, self.whose)
        super().del_channel(map)

    def received(self, data: bytes) -> bool:
        """Take what has come; time runs from the request's first byte until it is whole."""
        wanted = bool(super().received(data))
        if self.request is None:
            self.began = None
        else:
            self.began = self.last_activity if self.began is None else self.began
            self.last_activity = self.began
        return wanted
