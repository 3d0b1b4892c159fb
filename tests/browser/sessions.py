"""Studies, servers and people for the browser tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import waitress
from flask import Flask
from flask.typing import ResponseReturnValue
from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page, expect

from relstudy.studyapp.assignment import invitations
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.collection.displayed_items import item_key
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.demo.rating import read_page
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.mount import mounted, path_of
from tests.commands import succeeds

PASSWORD = "a password for tests"

PLAIN = """
[study]
id = "plain"
title = "Pictures"

[entry]
rules = ["personal"]

[[blocks]]
name = "base"
pairs = "base"
paradigm = "image"

[[blocks]]
name = "unique"
pairs = "unique"
pairs_per_rater = 4
"""

MIXED = """
[study]
id = "mixed"
title = "Pictures and words"
contact = "lab@example.org"

[entry]
rules = ["personal", "passphrase"]
passphrase = "open sesame"
completion_url = "https://platform.example/done?code={code}"

[[blocks]]
name = "pictures"
pairs = "base"
paradigm = "image"

[[blocks]]
name = "yes or no"
pairs = "base"
paradigm = "text"
scale = "binary"
question = "Is this about the query?"

[[blocks]]
name = "one to nine"
pairs = "base"
paradigm = "text"
scale = "1-9"
question = "How well does this match the query?"

[[blocks]]
name = "more pictures"
pairs = "unique"
pairs_per_rater = 8
more = 4

[[practice]]
block = "pictures"
query_id = "q0"
result_id = "q0"
expected = [4, 5]
feedback = "It is the same picture."

[[questions]]
id = "ease"
text = "How was it?"
kind = "choice"
choices = ["easy", "hard"]
required = true

[[questions]]
id = "remark"
text = "Anything else?"
kind = "long"
"""


def one_by_one(scale: str, further: str = "") -> str:
    """A study of text queries with one result on a page, rated on a scale."""
    blocks = f'[[blocks]]\nname = "words"\npairs = "base"\nparadigm = "text"\nscale = "{scale}"\n'
    head = '[study]\nid = "words"\ntitle = "Words"\n[entry]\nrules = ["personal"]\n'
    return f'{head}{further}\n{blocks}question = "Does this match?"\n'


def write_study(folder: Path, toml: str = MIXED, *, unique_queries: int = 6) -> Path:
    """Two base queries by image, two by text (a picture and a document each), and unique queries by image."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    items = ["item_id,kind,path,title,text"]
    pairs = ["pair_id,query_id,result_id,paradigm,source,rank,inclusion_probability,block"]
    for number in range(2 + unique_queries + 8):
        name = f"q{number}" if number < 2 + unique_queries else f"r{number - 2 - unique_queries}"
        _draw(pictures / f"{name}.png", number)
        items.append(f"{name},image,pictures/{name}.png,,")
    items.append('w0,text,,,"boats, on a lake"')
    items.append("w1,text,,Birds,birds that fly at night")
    items.append('essay,text,,Sailing at dawn,"The harbour was quiet when the first boats left.\n\nBy noon it rained."')
    for query in range(2 + unique_queries):
        for place in range(4):
            block = "base" if query < 2 else "unique"
            source = "keywords" if place % 2 else "colour"
            pairs.append(f"p{query}-{place},q{query},r{(query + place) % 8},image,{source},{place + 1},0.25,{block}")
    for query in range(2):
        for result in ("r0", "essay"):
            pairs.append(f"w{query}-{result},w{query},{result},text,keywords,1,0.5,base")
    (folder / "collection.csv").write_text("\n".join(items) + "\n", encoding="utf-8")
    (folder / "pairs.csv").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    return folder


def _draw(path: Path, number: int) -> None:
    picture = Image.new("RGB", (240, 160), (40 + number * 11 % 180, 90, 150))
    pen = ImageDraw.Draw(picture)
    pen.ellipse((30 + number * 8, 40, 90 + number * 8, 100), fill=(240, 200, 40 + number * 9 % 200))
    pen.rectangle((0, 120, 240, 160), fill=(30, 90 + number * 7 % 120, 60))
    picture.save(path)


@dataclass
class Served:
    """A study that is being served."""

    folder: Path
    base: str
    store: Store
    study: Study
    app: Flask
    names: dict[str, str] = field(default_factory=dict)

    def link(self) -> str:
        """A new personal link."""
        return self.base + invitations.invite(self.store, self.study, 1)[0].path

    def export(self) -> pd.DataFrame:
        """What `relstudy export` writes."""
        return exported(self.folder)


def exported(folder: Path) -> pd.DataFrame:
    """What `relstudy export` writes, read back."""
    table = folder / "out" / "ratings.csv"
    table.parent.mkdir(exist_ok=True)
    succeeds("export", folder, "-o", table)
    return pd.read_csv(table, dtype={"pair_id": str, "query_id": str, "result_id": str})


def item_names(folder: Path) -> dict[str, str]:
    """Opaque key -> item id."""
    secret = read_secret(folder)
    items = pd.read_csv(folder / "collection.csv", dtype=str)["item_id"]
    return {item_key(secret, item): item for item in items}


@contextmanager
def serve(folder: Path, *, busy_seconds: float = 5.0) -> Iterator[Served]:
    """Serve a study with the production server, in a thread, on a port that the system chooses."""
    store = Store.of_study(folder, busy_seconds)
    prepare(folder, store)
    set_password(folder, PASSWORD)
    app, study = create_app(folder, store=store), Study.load(folder)
    path = path_of(study.url)
    server = waitress.create_server(mounted(app, path), host="127.0.0.1", port=0, threads=8)

    def run() -> None:
        with suppress(OSError):  # the loop may be looking at the socket just when it is closed
            server.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        base = f"http://127.0.0.1:{server.effective_port}{path}"
        yield Served(folder, base, store, study, app, item_names(folder))
    finally:
        server.close()
        thread.join(5)
        store.dispose()


class Rater:
    """Someone in front of the study's pages, who notes down what they rate.

    `typed` maps (query id, result id, scale's highest value) to what was chosen last.
    """

    def __init__(self, page: Page, names: dict[str, str]) -> None:
        self.page = page
        self.names = names
        self.typed: dict[tuple[str, str, str], str] = {}

    def pairs(self) -> list[tuple[str, str, str]]:
        """What the page shows, in its order."""
        query = self.names[self.page.locator(".query [data-item]").first.get_attribute("data-item") or ""]
        results = self.page.locator("[data-result] [data-item]").all()
        top = self.page.locator("[data-result='1'] input[type=radio]:not([value=undecided])").last
        highest = top.get_attribute("value") or ""
        return [(query, self.names[result.get_attribute("data-item") or ""], highest) for result in results]

    @property
    def is_practice(self) -> bool:
        return self.page.locator(".top .badge").count() > 0

    def press(self, *keys: str) -> None:
        """Rate the page's results one after the other with a key each."""
        for pair, key in zip(self.pairs(), keys, strict=True):
            self.page.keyboard.press(key)
            self.note(pair, key)

    def note(self, pair: tuple[str, str, str], key: str) -> None:
        if not self.is_practice:
            undecided = key in "uU" or (key == "0" and pair[2] != "1")
            self.typed[pair] = "undecided" if undecided else key

    def click(self, *values: str) -> None:
        """Rate the page's results one after the other with a click each."""
        for place, (pair, value) in enumerate(zip(self.pairs(), values, strict=True), start=1):
            self.page.locator(f"[data-result='{place}'] label:has(input[value='{value}'])").click()
            self.note(pair, "u" if value == "undecided" else value)

    def go_on(self) -> None:
        """Press Enter and wait for another page, and for its script, which the next key needs."""
        before = self.page.url
        self.page.keyboard.press("Enter")
        self.page.wait_for_function(
            "before => location.href !== before && document.readyState === 'complete'", arg=before
        )

    def send(self) -> None:
        """Click the form's button and wait for another page."""
        before = self.page.url
        self.page.locator("form button.primary").click()
        self.page.wait_for_url(lambda url: url != before)

    def enter(self, link: str) -> None:
        """From a personal link over consent and instructions to the first page to rate."""
        self.page.goto(link)
        self.begin()

    def begin(self) -> None:
        """From the consent page over the instructions to the first page to rate."""
        self.page.get_by_role("checkbox").check()
        self.send()
        self.send()
        self.page.wait_for_url("**/rate/1")

    def shown(self) -> list[str]:
        """What is chosen on the page."""
        return [radio.get_attribute("value") or "" for radio in self.page.locator("input:checked[type=radio]").all()]

    def check_export(self, table: pd.DataFrame) -> None:
        """The export holds exactly what was typed, practice aside."""
        own = table[table["block"] != "practice"]
        found = {
            (row["query_id"], row["result_id"], {"1-5": "5", "binary": "1", "1-9": "9"}[row["scale"]]): (
                "undecided" if pd.isna(row["rating"]) else f"{row['rating']:g}"
            )
            for row in own.to_dict("records")
        }
        assert found == self.typed
        assert len(own) == len(found)


@dataclass
class Seat:
    """A rater in front of the first page of a study of pictures, four on a page."""

    served: Served
    rater: Rater
    link: str

    @property
    def page(self) -> Page:
        return self.rater.page

    @property
    def alert(self) -> Locator:
        return self.page.get_by_role("alert")

    @contextmanager
    def answered_by(self, view: Callable[..., ResponseReturnValue], endpoint: str) -> Iterator[None]:
        """Something else answers instead of the study."""
        views = self.served.app.view_functions
        own, views[endpoint] = views[endpoint], view
        yield
        views[endpoint] = own

    def refused(self, status: int) -> None:
        """Press Enter, and see the page refused with this status, and kept as it was."""
        typed = self.rater.shown()
        with self.page.expect_response(lambda response: response.request.method == "POST") as refusal:
            self.page.keyboard.press("Enter")
        assert refusal.value.status == status
        expect(self.alert).to_contain_text("Not saved yet")
        assert self.rater.shown() == typed

    def save_after_all(self) -> None:
        """Try again, which saves what was typed, once."""
        self.page.get_by_role("button", name="Try again").click()
        self.saved()

    def saved(self) -> None:
        """The second page has come, and the export holds the first."""
        self.page.wait_for_url("**/rate/2")
        table = self.served.export()
        self.rater.check_export(table)
        assert set(table["revisions"]) == {1}


def log_in(page: Page, base: str) -> None:
    """To the admin pages."""
    page.goto(f"{base}/admin/login")
    page.locator("#password").fill(PASSWORD)
    page.locator("form button.primary").click()
    expect(page.locator("h1")).to_be_visible()


def rate_by_http(served: Served, pages: int, choose: Callable[[int, list[str]], str]) -> None:
    """Someone invited rates so many pages without a browser; `choose` picks from the values, undecided last."""
    link = served.link()
    if not pages:
        return
    visitor = served.app.test_client()
    answer = visitor.get(link.removeprefix(served.base), follow_redirects=True)
    for number in range(pages + 3):
        page = read_page(answer.text)
        if not page.action and answer.request.path.startswith("/practice/"):
            answer = visitor.get("/rate", follow_redirects=True)
            continue
        fields = page.hidden | page.boxes
        for name, values in page.choices.items():
            fields[name] = choose(number, values)
        if answer.request.path in ("/thanks", "/questions"):
            return
        answer = visitor.post(page.action or answer.request.path, data=fields, follow_redirects=True)
        assert answer.status_code == 200, answer.text
