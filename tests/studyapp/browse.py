"""A rater's browser without a screen: follows links and fills in the forms that the pages really hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse


class Form:
    """One form of a page: where it goes and its fields."""

    def __init__(self, action: str, method: str) -> None:
        self.action = action
        self.method = method
        self.fields: dict[str, str] = {}
        self.choices: dict[str, list[str]] = {}


class Page(HTMLParser):
    """The forms, the text and the item keys of an HTML page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.items: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "data-item" in values:
            self.items.append(values["data-item"])
        if tag == "a":
            self.links.append(values.get("href", ""))
        if tag == "form":
            self.forms.append(Form(values.get("action", ""), values.get("method", "get").lower()))
        if not self.forms:
            return
        form = self.forms[-1]
        if tag in ("input", "button", "textarea", "select") and "name" in values:
            name = values["name"]
            kind = values.get("type", "text")
            if kind in ("radio", "checkbox"):
                form.choices.setdefault(name, []).append(values.get("value", "on"))
                if "checked" in values:
                    form.fields[name] = values.get("value", "on")
            elif tag == "input":
                form.fields[name] = values.get("value", "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def form(self, action: str | None = None) -> Form:
        posts = [form for form in self.forms if form.method == "post" and action in (None, form.action)]
        assert posts, f"no form {action or ''} on the page: {self.text[:300]}"
        return posts[0]


class Browser:
    """One person's browser at the app."""

    parsed: tuple[TestResponse | None, Page] | None = None

    def __init__(self, app: Flask, **environ: str) -> None:
        self.client = app.test_client()
        self.environ = environ
        self.address = ""
        self.response: TestResponse | None = None

    def get(self, address: str) -> Page:
        self.response = self.client.get(address, follow_redirects=True, environ_overrides=self.environ)
        self.address = self.response.request.path
        return self.page

    def post(self, address: str, fields: dict[str, Any], *, follow: bool = True) -> Page:
        self.response = self.client.post(address, data=fields, follow_redirects=follow, environ_overrides=self.environ)
        self.address = self.response.request.path
        return self.page

    @property
    def status(self) -> int:
        assert self.response is not None
        return self.response.status_code

    @property
    def html(self) -> str:
        assert self.response is not None
        return self.response.get_data().decode(errors="replace")

    @property
    def page(self) -> Page:
        """The page shown, which is parsed once."""
        if self.parsed is None or self.parsed[0] is not self.response:
            self.parsed = self.response, Page(self.html)
        return self.parsed[1]

    @property
    def cookie(self) -> str:
        """The session's cookie, which another browser may be given, or this one may lose."""
        cookie = self.client.get_cookie(self.client.application.config["SESSION_COOKIE_NAME"])
        assert cookie is not None
        return cookie.value

    @cookie.setter
    def cookie(self, value: str) -> None:
        self.client.set_cookie(self.client.application.config["SESSION_COOKIE_NAME"], value)

    @cookie.deleter
    def cookie(self) -> None:
        self.client.delete_cookie(self.client.application.config["SESSION_COOKIE_NAME"])

    def send(self, form: Form, **values: str) -> Page:
        return self.post(form.action or self.address, {**form.fields, **values})

    def filled(self, value: str = "3") -> dict[str, str]:
        """The fields of the page to rate that is shown, with one answer for every result."""
        form = self.page.form(self.address)
        return {**form.fields, **dict.fromkeys(form.choices, value)}

    def log_in(self, password: str, **account: str) -> Page:
        """Give a password on the researcher's page."""
        return self.send(self.get("/admin/login").form("/admin/login"), password=password, **account)

    def consent(self) -> Page:
        """From the consent page to the first page to rate."""
        self.send(self.page.form(), agree="yes")
        assert self.status == 200 and self.address == "/instructions", (self.status, self.address)
        return self.send(self.page.form())

    def join(self, address: str = "/") -> Page:
        self.get(address)
        assert self.address == "/consent", self.address
        return self.consent()

    def rate(self, choose: Callable[[str, int], str] = lambda name, number: "3") -> Page:
        """Rate every result of the page shown."""
        form = self.page.form(self.address)
        names = sorted(name for name in form.choices if name.startswith("rating-"))
        values = {name: choose(name, number) for number, name in enumerate(names, start=1)}
        return self.send(form, **values)

    def rate_pages(self, most: int, choose: Callable[[int], str]) -> None:
        """Rate at most so many pages, all results of a page alike; `choose` is given the page's number."""
        for number in range(1, most + 1):
            if self.address == "/thanks":
                break
            rating = choose(number)
            self.rate(lambda name, place, rating=rating: rating)  # type: ignore[misc]
            assert self.status == 200, self.page.text

    def rate_all(self, choose: Callable[[str, int], str] = lambda name, number: "3") -> int:
        """Rate page after page until there are no more; says how many."""
        count = 0
        while self.address.startswith(("/rate", "/practice")):
            if self.address.startswith("/practice"):
                self.get("/rate")
                continue
            self.rate(choose)
            assert self.status == 200, self.page.text
            count += 1
            assert count < 1000
        return count


def joined(app: Flask, address: str = "/", **environ: str) -> Browser:
    """The browser of a person who came by an address and has consented."""
    browser = Browser(app, **environ)
    browser.join(address)
    return browser
