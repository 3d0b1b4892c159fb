"""Raters, ours and Potato's: each submits a page of four ratings and waits for the next."""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import multiprocessing
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.synchronize import Barrier
from typing import Any
from urllib.parse import urlencode

GENERATORS = 2
PAGE = "X-Relstudy-Page"  # asks for the next page in the answer, and there holds its address


@dataclass
class Tally:
    """What a generator saw.

    Seconds from submit to next page (of all pages), how many pages were there before the time was up, errors, and the
    pages acknowledged, by rater.
    """

    seconds: list[float] = field(default_factory=list)
    in_time: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[int, list[str]] = field(default_factory=dict)


class Visitor:
    """One rater's connection: keeps it open where the server lets it, and carries cookies."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookies: dict[str, str] = {}

    def request(
        self, method: str, path: str, body: str | None = None, kind: str = "", more: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        """Status, the address that the answer leads to or names ("" for none), and its text."""
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **(more or {})}
        if body is not None:
            headers["Content-Type"] = kind or "application/x-www-form-urlencoded"
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            # The server closed an idle connection; a browser opens another.
            self.connection.close()
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
        text = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, answer.headers.get("Location") or answer.headers.get(PAGE) or "", text


class OurRater:
    """Submits as study.js does, and reads the next page in the answer."""

    def __init__(self, port: int, number: int, studies: int = 0) -> None:
        self.visitor = Visitor(port)
        self.root = f"/s{number % studies}" if studies else ""
        status, _, html = self.visitor.request("GET", f"{self.root}/consent")
        assert status == 200, status
        agreed = urlencode({"csrf": hidden(html, "csrf"), "agree": "yes"})
        _, path, _ = self.visitor.request("POST", f"{self.root}/consent", agreed)
        _, _, html = self.visitor.request("GET", path)
        _, path, _ = self.visitor.request("POST", path, urlencode({"csrf": hidden(html, "csrf")}))
        self.path = path
        _, _, self.html = self.visitor.request("GET", path)
        self.choice = str(1 + number % 5)

    def page(self) -> tuple[str, str]:
        """Submit and get the next page; (what went wrong or "", the name of the page submitted)."""
        fields = {name: hidden(self.html, name) for name in ("csrf", "form")} | {"seconds": "0.00"}
        fields |= {f"rating-{n}": self.choice for n in range(1, 5)}
        script = {"Accept": "text/html", PAGE: "next"}
        status, path, html = self.visitor.request("POST", self.path, urlencode(fields), more=script)
        if status not in (200, 303) or not path.startswith(f"{self.root}/rate/"):
            return f"submit {status} {path}", ""
        done, self.path, self.html = self.path, path, html
        if status == 303:
            status, _, self.html = self.visitor.request("GET", path)
        return ("" if status == 200 else f"next {status}"), done

    def reload(self) -> bool:
        _, path, _ = self.visitor.request("GET", f"{self.root}/rate")
        status, _, self.html = self.visitor.request("GET", path or self.path)
        self.path = path or self.path
        return status == 200 and 'name="form"' in self.html


class PotatoRater:
    """As its page does: /updateinstance, then /annotate with action next_instance."""

    def __init__(self, port: int, number: int) -> None:
        self.visitor = Visitor(port)
        login = urlencode({"action": "login", "email": f"rater{number}", "pass": ""})
        status, _, _ = self.visitor.request("POST", "/auth", login)
        assert status == 302, status
        _, _, self.html = self.visitor.request("GET", "/annotate")
        self.choice = str(1 + number % 5)

    def page(self) -> tuple[str, str]:
        name = hidden(self.html, "instance_id")
        answer = {
            "instance_id": name,
            "annotations": {f"r{n}:::{self.choice}": "true" for n in range(1, 5)},
            "span_annotations": [],
        }
        status, _, text = self.visitor.request("POST", "/updateinstance", json.dumps(answer), "application/json")
        if status != 200 or json.loads(text).get("status") != "success":
            return f"submit {status}", ""
        status, _, self.html = self.visitor.request("POST", "/annotate", urlencode({"action": "next_instance"}))
        if status != 200 or 'id="instance_id"' not in self.html:
            return f"next {status}", name
        return "", name

    def reload(self) -> bool:
        status, _, self.html = self.visitor.request("GET", "/annotate")
        return status == 200 and 'id="instance_id"' in self.html


def reload(rater: OurRater | PotatoRater) -> bool:
    """Do as a person does after an error: load the page again, so that the number of raters stays what it was."""
    for _ in range(5):
        with contextlib.suppress(OSError, http.client.HTTPException):
            if rater.reload():
                return True
    return False


def hidden(html: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'<input[^>]*name="{name}"[^>]*value="([^"]*)"', html)
    if found is None:
        raise ValueError(f"no field {name}")
    return found[1]


def generate(
    kind: str,
    port: int,
    numbers: list[int],
    seconds: float,
    ready: Barrier,
    results: multiprocessing.Queue[Tally],
    studies: int,
    think: float,
) -> None:
    """One generator process: a thread for each of its raters."""
    tally = Tally()
    make: Any = functools.partial(OurRater, studies=studies) if kind == "ours" else PotatoRater
    raters: dict[int, Any] = {}
    counts: list[int] = []

    def enter(number: int) -> None:
        try:
            raters[number] = make(port, number)
        except Exception as error:
            tally.errors[f"entering: {error!r}"[:120]] += 1

    def work(number: int) -> None:
        mine: list[float] = []
        done: list[str] = []
        in_time, draw = 0, random.Random(number)
        while time.perf_counter() < end and number in raters:
            time.sleep(think * draw.uniform(0.5, 1.5))
            began = time.perf_counter()
            try:
                trouble, name = raters[number].page()
            except Exception as error:
                trouble, name = repr(error)[:120], ""
            if name:
                done.append(name)
            if trouble:
                tally.errors[trouble] += 1
                if not reload(raters[number]):
                    break
            now = time.perf_counter()
            if name:
                mine.append(now - began)
                in_time += now <= end
        tally.seconds.extend(mine)
        counts.append(in_time)
        tally.acknowledged[number] = done

    for each in (enter, work):
        if each is work:
            ready.wait(600)
            end = time.perf_counter() + seconds
        threads = [threading.Thread(target=each, args=(number,)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tally.in_time = sum(counts)
    results.put(tally)


def load(
    kind: str,
    port: int,
    raters: int,
    seconds: float,
    studies: int = 0,
    begin: Callable[[], object] = lambda: None,
    think: float = 0.0,
) -> Tally:
    """All generators at once; their tallies together. With `studies`, raters are spread over /s0/, /s1/ and so on.

    They think for `think` seconds before each page, on average. `begin` is called when all have their first page.
    """
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(GENERATORS + 1)
    results: multiprocessing.Queue[Tally] = context.Queue()
    processes = [
        context.Process(
            target=generate,
            args=(kind, port, list(range(g, raters, GENERATORS)), seconds, ready, results, studies, think),
        )
        for g in range(GENERATORS)
    ]
    for process in processes:
        process.start()
    ready.wait(600)
    begin()
    total = Tally()
    for _ in processes:
        part = results.get(timeout=seconds + 900)
        total.seconds += part.seconds
        total.in_time += part.in_time
        total.errors.update(part.errors)
        total.acknowledged.update(part.acknowledged)
    for process in processes:
        process.join(10)
    return total
