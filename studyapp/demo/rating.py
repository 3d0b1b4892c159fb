"""The panel rates: every simulated rater goes through the real pages, from the personal link to the completion code."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.collection.displayed_items import item_key
from relstudy.studyapp.collection.lists import read_lists
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import NOT_SHOWN
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.demo.panel import SimulatedPanel
from relstudy.studyapp.demo.server import serving
from relstudy.studyapp.demo.show import Stages

Answer = Callable[[str, list[str], list[str], str], str]
"""From the query's key, the keys of what one result shows, the values offered and the further question's id (empty: the
block's own) to the value to choose."""


@dataclass
class Page:
    """A page as a rater sees it: its forms, and the position of each item.

    Parameters
    ----------
    address : path it was fetched from
    hidden : hidden fields of the page's main form
    choices : field -> values offered by its buttons
    boxes : ticked-by-hand boxes, field -> value
    action : where the form goes
    query : key of the query's item, or ""
    results : result number -> keys of its items: one, or all of a couple's two sides
    text : all visible text
    """

    address: str
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    boxes: dict[str, str] = field(default_factory=dict)
    action: str = ""
    query: str = ""
    results: dict[str, list[str]] = field(default_factory=dict)
    pictures: list[str] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    """Reads one page; only the first form that posts counts."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.page = Page(address)
        self._result = ""
        self._in_form = False
        self._done = False
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = {name: value or "" for name, value in attrs}
        if tag == "form" and at.get("method", "").lower() == "post" and not self._done:
            self._in_form = True
            self.page.action = at.get("action", "")
        if "data-result" in at:
            self._result = at["data-result"]
        if "data-item" in at:
            if self._result:
                self.page.results.setdefault(self._result, []).append(at["data-item"])
            else:
                self.page.query = self.page.query or at["data-item"]
        if tag == "img":
            self.page.pictures.append(at.get("src", ""))
        if tag == "input" and self._in_form and at.get("name"):
            name, value = at["name"], at.get("value", "")
            kind = at.get("type", "text")
            if kind == "hidden":
                self.page.hidden[name] = value
            elif kind == "radio":
                self.page.choices.setdefault(name, []).append(value)
            elif kind == "checkbox":
                self.page.boxes[name] = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._in_form:
            self._in_form, self._done = False, True

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._words.append(data.strip())

    def finished(self) -> Page:
        self.page.text = " ".join(self._words)
        return self.page


def read_page(html: str, address: str = "/") -> Page:
    """Read a page's form and items.

    Examples
    --------
    >>> page = read_page('<form method="post"><input type="hidden" name="csrf" value="x">'
    ...                  '<b data-item="q"></b><p data-result="1"><b data-item="r"></b>'
    ...                  '<input type="radio" name="rating-1" value="5"></p></form>')
    >>> page.query, page.results, page.hidden, page.choices
    ('q', {'1': ['r']}, {'csrf': 'x'}, {'rating-1': ['5']})
    """
    reader = _Reader(address)
    reader.feed(html)
    return reader.finished()


class Visitor:
    """One rater's browser.

    Parameters
    ----------
    base : address of the app, such as http://127.0.0.1:8000
    """

    PATIENCE = 30.0

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        if parts.hostname is None:
            raise RelstudyError(f"{base!r} is not an address of an app; http://HOST:PORT is allowed")
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=self.PATIENCE)
        self._cookies: dict[str, str] = {}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def get(self, path: str) -> tuple[str, bytes]:
        """Fetch a page, following redirections; the address it ends at, and its body."""
        return self._request("GET", path, None)

    def post(self, path: str, fields: dict[str, str]) -> tuple[str, bytes]:
        """Send a form, following redirections."""
        return self._request("POST", path, fields)

    def page(self, path: str) -> Page:
        """Fetch and read a page."""
        address, body = self.get(path)
        return read_page(body.decode(), address)

    def submit(self, page: Page, fields: dict[str, str]) -> Page:
        """Send a page's form with its hidden fields and these, and read the page it leads to."""
        address, body = self.post(urljoin(page.address, page.action or page.address), {**page.hidden, **fields})
        return read_page(body.decode(), address)

    def _request(self, method: str, path: str, fields: dict[str, str] | None) -> tuple[str, bytes]:
        for _ in range(8):
            headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
            body = None
            if fields is not None:
                body = urlencode(fields)
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            self._connection.request(method, path, body=body, headers=headers)
            response = self._connection.getresponse()
            content = response.read()
            for line in response.headers.get_all("Set-Cookie") or []:
                for name, morsel in SimpleCookie(line).items():
                    self._cookies[name] = morsel.value
            if response.status in (301, 302, 303, 307):
                target = urlsplit(urljoin(path, response.headers["Location"]))
                path = target.path + (f"?{target.query}" if target.query else "")
                method, fields = "GET", None
                continue
            if response.status != 200:
                words = read_page(content.decode(errors="replace")).text[:300]
                raise RelstudyError(f"{method} {path}: the app answered {response.status}: {words}")
            return path, content
        raise RelstudyError(f"{path}: the app redirects without end")


def visit(
    base: str, link: str, answer: Answer, on_page: Callable[[int], None] | None = None, most: int = 100_000
) -> str:
    """Take part from a personal link to the last page.

    Parameters
    ----------
    base : address of the app
    link : path of the personal link
    answer : what to choose
    on_page : called with the number of ratings after each page
    most : pages after which to give up

    Returns
    -------
    str
        the text of the last page
    """
    visitor = Visitor(base)
    try:
        page = visitor.page(link)
        for picture in page.pictures[:1]:
            visitor.get(picture)
        for _ in range(most):
            if page.address.startswith("/thanks"):
                return page.text
            if page.address.startswith("/wait"):  # the rest is with the other raters, and may come back
                time.sleep(0.5)
                page = visitor.page("/rate")
                continue
            fields = dict(page.boxes)
            for number, keys in page.results.items():
                name = f"rating-{number}"
                for field in (each for each in page.choices if each == name or each.startswith(f"{name}-")):
                    fields[field] = answer(page.query, keys, page.choices[field], field[len(name) + 1 :])
            page = visitor.submit(page, fields)
            if on_page is not None:
                on_page(len(page.results))
        raise RelstudyError(f"{link}: not at the end after {most} pages")
    finally:
        visitor.close()


def visit_all(
    base: str, links: list[str], answers: list[Answer], on_page: Callable[[int], None] | None = None
) -> list[str]:
    """All raters at once, one thread each; the last pages' texts in the order of the links.

    Raises
    ------
    RelstudyError
        with the first rater's trouble, when any rater could not finish
    """
    ends: list[str] = [""] * len(links)
    troubles: list[Exception] = []

    def take_part(index: int) -> None:
        try:
            ends[index] = visit(base, links[index], answers[index], on_page)
        except (RelstudyError, OSError, KeyError, http.client.HTTPException) as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=take_part, args=(index,), daemon=True) for index in range(len(links))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if troubles:
        raise RelstudyError(f"{len(troubles)} of {len(links)} simulated raters could not finish: {troubles[0]}")
    return ends


def rate(
    folder: Path, panel: SimulatedPanel, show: Stages, whom: Sequence[int] | None = None
) -> tuple[dict[str, int], int]:
    """The panel rates the last round through the real pages.

    Parameters
    ----------
    whom : indices of the raters who take part, who have not done so before; None for all

    Returns
    -------
    rater_id -> index in the panel, and how many ratings there were
    """
    whom = range(len(panel.raters)) if whom is None else whom
    study = Study.load(folder)
    pairs = read_pairs(folder / "pairs.csv")
    base = pairs["block"] == "base"
    per_pair = max(block.ratings_per_pair for block in study.blocks if block.unique)
    new = int((~base & (pairs["round"] == pairs["round"].max())).sum())
    new += len(read_pairs(folder / "pairs.csv", couples=True))
    expected = int(base.sum()) * len(whom) + new * per_pair
    command = f"relstudy admin invite {quoted(folder)} -n {len(whom)}; relstudy serve {quoted(folder)}"
    with (
        show.stage("The panel rates in the web app", command=command, units=expected) as stage,
        serving(folder) as address,
        Store.of_study(folder) as store,
    ):
        invitations = invite(store, study, len(whom))
        secret = read_secret(folder)
        shown: dict[str, tuple[str, ...]] = {name: (name,) for name in panel.collection.ids}
        shown |= {each.id: each.results for each in read_lists(folder).values()}
        items = {item_key(secret, name): results for name, results in shown.items()}
        answers = [_answers(panel, index, items) for index in whom]
        given: list[int] = []  # what nobody could decide comes to another rater, so it may be a few more than expected

        def on_page(count: int) -> None:
            given.append(count)
            stage.advance(count)

        ends = visit_all(address, [invitation.path for invitation in invitations], answers, on_page)
        unfinished = [
            invitation.rater_id
            for invitation, end in zip(invitations, ends, strict=True)
            if invitation.completion_code not in end
        ]
        if unfinished:
            raise RelstudyError(f"simulated rater {unfinished[0]} reached the end without a completion code")
        stage.outcome = f"{len(whom)} raters, {sum(given):,} ratings, each from consent to completion code"
    return {invitation.rater_id: index for index, invitation in zip(whom, invitations, strict=True)}, sum(given)


def _answers(panel: SimulatedPanel, rater: int, items: dict[str, tuple[str, ...]]) -> Answer:
    """The answers of a rater; `items` are the results behind each key, several of a list."""

    def answer(query: str, keys: list[str], offered: list[str], question: str) -> str:
        values = [float(value) for value in offered if value not in ("undecided", NOT_SHOWN)]
        (query_id,) = items[query]
        if len(keys) > 1:  # of a list its own key stands before those of its results
            sides = [items[keys[0]], items[keys[len(keys) // 2]]]
            rating = panel.prefer(rater, query_id, *sides)
        else:
            rating = panel.answer(rater, query_id, items[keys[0]][0], values, question)
        return "undecided" if rating is None else next(text for text in offered if text == f"{rating:g}")

    return answer
