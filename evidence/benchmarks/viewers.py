"""People who watch a film of a study while others rate: each asks for its parts at the film's own pace."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier

from evidence.benchmarks.load import OurRater

PART = 1 << 20
PACE = 4.0  # seconds of a part: a film of 2 Mbit a second
STALLED = 20  # viewers who ask for a part and take nothing of it


@dataclass
class Watched:
    """Seconds that each part took, bytes that came, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    bytes: int = 0
    errors: Counter[str] = field(default_factory=Counter)


def _part(viewer: OurRater, address: str, begin: int) -> tuple[int, bytes]:
    """Status and bytes of the part that begins there."""
    cookies = "; ".join(f"{name}={value}" for name, value in viewer.visitor.cookies.items())
    viewer.visitor.connection.request("GET", address, headers={"Cookie": cookies, "Range": f"bytes={begin}-"})
    answer = viewer.visitor.connection.getresponse()
    return answer.status, answer.read()


def _watch(
    port: int,
    numbers: list[int],
    address: str,
    size: int,
    seconds: float,
    ready: Barrier,
    results: multiprocessing.Queue[Watched],
) -> None:
    watched = Watched()
    viewers: dict[int, OurRater] = {}

    def enter(number: int) -> None:
        try:
            viewers[number] = OurRater(port, number)
        except Exception as error:
            watched.errors[f"entering: {error!r}"[:120]] += 1

    def play(number: int) -> None:
        if number not in viewers:
            return
        place = (number * PART) % size
        next_at = time.perf_counter() + PACE * (number % 100) / 100  # not all in the same moment
        while next_at < end:
            time.sleep(max(0.0, next_at - time.perf_counter()))
            began = time.perf_counter()
            try:
                status, content = _part(viewers[number], address, place)
            except Exception as error:
                watched.errors[repr(error)[:120]] += 1
                viewers[number].visitor.connection.close()
            else:
                if status != 206:
                    watched.errors[f"part {status}"] += 1
                watched.seconds.append(time.perf_counter() - began)
                watched.bytes += len(content)
                place = (place + len(content)) % size
            next_at = max(next_at + PACE, time.perf_counter())

    for each in (enter, play):
        if each is play:
            stalled = [_stall(port, viewers[number], address) for number in list(viewers)[: STALLED // 2]]
            ready.wait(600)
            end = time.perf_counter() + seconds
        threads = [threading.Thread(target=each, args=(number,)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for connection in stalled:
        connection.close()
    results.put(watched)


def _stall(port: int, viewer: OurRater, address: str) -> socket.socket:
    """A connection that has asked for a part, and reads nothing."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    cookies = "; ".join(f"{name}={value}" for name, value in viewer.visitor.cookies.items())
    lines = [f"GET {address} HTTP/1.1", "Host: x", f"Cookie: {cookies}", "Range: bytes=0-", "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


class Viewers:
    """Viewers in two processes of their own, who begin when `begin` is called.

    Parameters
    ----------
    count : how many, beside those who stall
    address, size : of the film
    """

    def __init__(self, port: int, count: int, address: str, size: int, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._ready, self._results = context.Barrier(3), context.Queue()
        numbers = [list(range(10_000 + half, 10_000 + count, 2)) for half in range(2)]
        self._processes = [
            context.Process(target=_watch, args=(port, each, address, size, seconds, self._ready, self._results))
            for each in numbers
        ]
        for process in self._processes:
            process.start()

    def begin(self) -> None:
        """Wait until all are in, and let them begin."""
        self._ready.wait(600)

    def end(self) -> Watched:
        """What all saw, once they have ended."""
        total = Watched()
        for _ in self._processes:
            part = self._results.get(timeout=900)
            total.seconds += part.seconds
            total.bytes += part.bytes
            total.errors.update(part.errors)
        for process in self._processes:
            process.join(10)
        return total
