"""Items of every kind: only what is listed is shown, nothing of a hostile one survives, files come in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask import Flask

from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.studyapp.assignment.synchronisation import change_study, prepare
from relstudy.studyapp.collection.displayed_items import DisplayedItems, item_key
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.markup import clean_html, html_of_markdown, mark_words
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.pictures import PART
from relstudy.studyapp.web.security import HEADERS
from tests.studyapp.browse import Browser, joined
from tests.studyapp.items import TOML, write_items
from tests.studyapp.statements import statements_of

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=https://evil.example/x.png onerror=alert(1)>",
    '<a href="javascript:alert(1)" onclick="alert(1)">go</a>',
    '<svg onload=alert(1)><script>alert(1)</script><image href="https://evil.example/y"/></svg>',
    '<form action="https://evil.example/"><input name=rating-1 value=5><button>send</button></form>',
    '<iframe src="https://evil.example/"></iframe><object data="https://evil.example/"></object>',
    "<style>*{background:url(https://evil.example/z)} form{display:none}</style>",
    '<p style="position:fixed;inset:0;background:url(https://evil.example/w)" class="card" id="main">over</p>',
    "</div></li></ol></form></main><h1>Another page</h1>",
    '<link rel=stylesheet href="https://evil.example/s.css"><meta http-equiv=refresh content="0;url=//evil.example">',
    '<math><mtext></mtext><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;"></math>',
    '<video src="https://evil.example/v" autoplay></video><audio src=//evil.example/a autoplay></audio>',
    '<base href="https://evil.example/"><template><script>alert(1)</script></template>',
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    '<b data-go data-enlarge data-ask data-media name="csrf" tabindex="1" accesskey="x">bold</b>',
    "[x](javascript:alert(1)) ![y](https://evil.example/m.png) <https://evil.example/auto>",
    "<!--><script>alert(1)</script>-->", "{{ 7*7 }}{% raw %}", "&lt;script&gt;alert(1)&lt;/script&gt;",
]  # fmt: skip
ALLOWED = re.compile(
    r"</?(?:p|br|hr|div|span|section|article|blockquote|pre|code|kbd|samp|var|b|strong|i|em|u|s|su[bp]|small|mark|q|cite|"
    r"abbr|dfn|[uod]l|li|d[td]|h[3-6]|table|caption|thead|tbody|tfoot|tr|t[hd])"
    r"(?: (?:dir|lang|colspan|rowspan|scope)=\"[^\"<>]*\")*>"
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_of_hostile_html_and_markdown_only_plain_elements_are_left(hostile: str) -> None:
    for text in (
        hostile,
        f"<p>before {hostile} after</p>",
        html_of_markdown(f"before\n\n{hostile}\n\nafter"),
        hostile * 3,
    ):
        kept = clean_html(text)
        assert all(ALLOWED.fullmatch(tag) for tag in re.findall(r"<[^>]*>", kept)), kept
        assert not re.search(r"\son\w+=|style=|href=|src=|class=|id=|data-", re.sub(r"&lt;.*?&gt;", "", kept)), kept


def test_every_element_of_an_item_is_closed_before_the_page_goes_on() -> None:
    kept = clean_html("<div><ul><li><b>open <table><tr><td>cell")
    for tag in ("div", "ul", "li", "b", "table", "td"):
        assert kept.count(f"<{tag}>") == kept.count(f"</{tag}>") == 1


def test_marks_never_touch_elements_or_entities() -> None:
    html = '<p lang="amp">amp &amp; p &lt; lang</p>'
    assert mark_words(html, ["amp", "lang", "lt", "p"]) == (
        '<p lang="amp"><mark>amp</mark> &amp; <mark>p</mark> &lt; <mark>lang</mark></p>'
    )
    assert mark_words(clean_html("<i>x</i>"), ["i"]) == "<i>x</i>"


@contextmanager
def app_of(folder: Path) -> Iterator[tuple[Flask, Store]]:
    store = Store(f"sqlite:///{folder / 'study.db'}")
    prepare(folder, store)
    app = create_app(folder, store=store)
    app.testing = True
    yield app, store
    store.dispose()


def pages_of(app: Flask) -> list[str]:
    """The rating pages that a rater goes through, as they are sent."""
    browser, pages = joined(app), []
    while browser.address.startswith("/rate"):
        pages.append(browser.html)
        browser.rate()
    return pages


def test_only_what_is_listed_of_a_card_is_shown(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    with app_of(folder) as (app, store):
        pages = "".join(pages_of(app))
        with store.read() as connection:
            kept = repr(connection.exec_driver_sql("SELECT shown_items FROM versions").scalar())
    assert "Fjord &amp; Sons" in pages and "1 299 €" in pages and "Made by" in pages and "Rowing boat" in pages
    for secret in ("SECRETSYSTEM", "0.98765", "media/", "boat.png"):
        assert secret not in pages, secret
    assert "SECRETSYSTEM" not in kept and "0.98765" not in kept
    assert 'alt="A blue rowing boat" width="120" height="80"' in pages
    assert "What is looked for" in pages and "Ships on the sea are not meant." in pages


def test_a_card_without_its_picture_listed_has_none_and_its_file_is_not_sent(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s", TOML.replace('"picture", "title", ', '"maker2", ').replace("maker2", "title"))
    with app_of(folder) as (app, _):
        pages = "".join(pages_of(app))
        key = item_key(read_secret(folder), "a")
        browser = joined(app)
        assert f"/item/{key}" not in pages and browser.client.get(f"/item/{key}").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [" ".join(HOSTILE), "\n\n".join(reversed(HOSTILE))], ids=["one way", "the other"])
def test_hostile_items_of_every_kind_leave_the_page_as_it_is(tmp_path: Path, hostile: str) -> None:
    (tmp_path / "calm").mkdir()
    toml = TOML.replace("not_shown = true", 'not_shown = true\nhighlight = "query"')
    skeletons = []
    for name, text in (("calm", "plain words"), ("wild", hostile)):
        folder = write_items(tmp_path / name / "s", toml, text)
        (folder / "secret.key").write_text("ab" * 32)
        with app_of(folder) as (app, _):
            pages = pages_of(app)
        seen = [Seen(page) for page in pages]
        assert not {tag for page in seen for tag in page.tags} & {
            "svg",
            "iframe",
            "object",
            "embed",
            "math",
            "style",
            "base",
        }
        for page in seen:
            assert not [
                name for name in page.attributes if name.startswith("on") or name in ("style", "srcdoc", "ping")
            ]
            assert all(re.match(r"/(?!/)|#main$", address) for address in page.addresses), page.addresses
        assert "{{" not in text or any("{{ 7*7 }}" in page for page in pages)
        skeletons.append({tag: sum(page.tags.count(tag) for page in seen) for tag in STRUCTURE})
    assert skeletons[0] == skeletons[1]


class Seen(HTMLParser):
    """The elements, attributes and addresses of a page as a browser would find them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "poster")]


NEVER = {"svg", "iframe", "object", "embed", "math", "style", "base"}
STRUCTURE = (
    *(
        "form",
        "main",
        "ol",
        "script",
        "input",
        "button",
        "video",
        "audio",
        "fieldset",
        "textarea",
        "h1",
        "details",
        "img",
    ),
    *("link", "meta", "a", "label", "section"),
)


def test_the_policy_is_as_strict_as_it_was_but_for_media_of_the_study() -> None:
    directives = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert directives == {
        "default-src": "'none'", "img-src": "'self'", "media-src": "'self'", "style-src": "'self'",
        "script-src": "'self'", "connect-src": "'self'", "form-action": "'self'", "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }  # fmt: skip


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, str, bytes]]:
    """A rater's browser, the address of a film of two parts and a bit, and its bytes."""
    content = b"\0\0\0\x20ftypisom" + bytes(range(251)) * (2 * PART // 251 + 40)
    folder = write_items(tmp_path_factory.mktemp("film") / "s", film=content)
    with app_of(folder) as (app, _):
        yield joined(app), f"/item/{item_key(read_secret(folder), 'e')}", content


@pytest.mark.parametrize(
    ("asked", "begin", "end"),
    [
        ("bytes=0-", 0, PART - 1), ("bytes=0-1", 0, 1), ("bytes=5-9", 5, 9), (f"bytes={PART}-", PART, 2 * PART - 1),
        ("bytes=100-99999999", 100, PART + 99), ("bytes=-10", -10, -1),
    ],
)  # fmt: skip
def test_a_range_of_a_film_is_answered_by_a_part_of_at_most_one_mebibyte(
    film: tuple[Browser, str, bytes], asked: str, begin: int, end: int
) -> None:
    browser, address, content = film
    answer = browser.client.get(address, headers={"Range": asked})
    first, last = begin % len(content), end % len(content)
    assert answer.status_code == 206 and answer.mimetype == "video/mp4"
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{len(content)}"
    assert answer.data == content[first : last + 1] and len(answer.data) <= PART
    assert answer.headers["Accept-Ranges"] == "bytes" and "sandbox" in answer.headers["Content-Security-Policy"]


def test_parts_put_together_are_the_film(film: tuple[Browser, str, bytes]) -> None:
    browser, address, content = film
    got = b""
    while len(got) < len(content):
        got += browser.client.get(address, headers={"Range": f"bytes={len(got)}-"}).data
    assert got == content


def test_a_range_beyond_the_end_is_refused_and_odd_ones_get_the_whole(film: tuple[Browser, str, bytes]) -> None:
    browser, address, content = film
    beyond = browser.client.get(address, headers={"Range": f"bytes={len(content)}-"})
    assert beyond.status_code == 416 and beyond.headers["Content-Range"] == f"bytes */{len(content)}"
    for odd in ("bytes=0-1,5-9", "lines=1-2", "bytes=-", "bytes=a-b", "bytes=5-3"):
        assert browser.client.get(address, headers={"Range": odd}).status_code == 200
    assert browser.client.get(address).headers["Accept-Ranges"] == "bytes"


def test_no_answer_tells_a_files_name_and_a_part_is_of_the_file_as_it_was(film: tuple[Browser, str, bytes]) -> None:
    browser, address, _ = film
    whole, part = (browser.client.get(address, headers=each) for each in ({}, {"Range": "bytes=0-1"}))
    again = browser.client.get(address, headers={"If-None-Match": whole.headers["ETag"]})
    captions = browser.client.get(f"{address}/captions")
    assert [each.status_code for each in (whole, part, again, captions)] == [200, 206, 304, 200]
    assert all("Content-Disposition" not in each.headers for each in (whole, part, again, captions))
    assert part.headers["ETag"] == whole.headers["ETag"]
    for tag, status in ((part.headers["ETag"], 206), ('"other"', 200), ("Tue, 24 Nov 2026 15:00:00 GMT", 200)):
        answer = browser.client.get(address, headers={"Range": "bytes=0-1", "If-Range": tag})
        assert answer.status_code == status, tag
    assert browser.client.head(address, headers={"Range": "bytes=0-1"}).status_code == 200


def test_films_and_captions_are_for_raters_alone_and_take_one_look_at_the_database(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    with app_of(folder) as (app, store):
        address = f"/item/{item_key(read_secret(folder), 'e')}"
        for path in (address, f"{address}/captions"):
            assert app.test_client().get(path).status_code == 403
        browser = joined(app)
        captions = browser.client.get(f"{address}/captions")
        assert captions.mimetype == "text/vtt" and captions.data.startswith(b"WEBVTT")
        with statements_of(store) as sent:
            browser.client.get(address, headers={"Range": "bytes=0-"})
        assert len(sent) <= 3
        assert browser.client.get(f"/item/{item_key(read_secret(folder), 'f')}").status_code == 404
        assert browser.client.get(f"/item/{item_key(read_secret(folder), 'a')}/captions").status_code == 404


def test_items_of_old_versions_and_of_new_ones_are_read_from_their_rows(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    study, secret = Study.load(folder), read_secret(folder)
    items = DisplayedItems.load(folder, secret, study.displays)
    rows = items.rows(folder, items.by_id)
    again = DisplayedItems.of_rows(rows.values(), folder, secret)
    assert {name: item.look for name, item in again.by_id.items()} == {n: i.look for n, i in items.by_id.items()}
    assert len(rows["f"]) == 6 and len(rows["a"]) == 7  # nothing more to be shown: as it was always kept
    old = DisplayedItems.of_rows([["x", "text", "T", "words", "", "both"]], folder, secret)
    assert old["x"].more == {} and old["x"].fields == ()


def test_another_price_is_an_item_that_looks_otherwise(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    with app_of(folder) as (_, store):
        file = folder / "collection.csv"
        file.write_text(file.read_text().replace("49 €", "39 €"))
        assert change_study(folder, store)[1].items == 1
        file.write_text(file.read_text().replace("SECRETSYSTEM", "another"))
        assert change_study(folder, store)[1].version is None  # nobody sees it


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"title", "maker", "price"]', '"title", "maker", "price", "taste"]', "lists taste, which is not a column"),
        ('price = "price"', 'price = "cost"', "one of the fields picture, title, maker, price is allowed"),
        ("labels = { maker", "labels = { colour", "one of the fields"),
        ("[display.product]", '[display.other]\nfields = ["title"]\n[display.product]', "several displays"),
        ("results_per_page = 2", 'results_per_page = 2\nplayed = "twice"', "one of any, once is allowed"),
        ("results_per_page = 2", 'results_per_page = 2\nhighlight = "all"', "one of no, query is allowed"),
    ],
)
def test_faults_of_what_is_shown_are_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    folder = write_items(tmp_path / "s", TOML.replace(old, new))
    with pytest.raises(RelstudyError, match=re.escape(said)):
        prepare(folder, Store(f"sqlite:///{folder / 'study.db'}"))


def test_what_is_no_film_no_captions_and_no_span_is_refused_with_its_row(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    (folder / "media" / "sea.mp4").write_bytes(b"<html><script>")
    (folder / "media" / "sea.vtt").write_text("no captions")
    with pytest.raises(TableError) as refused:
        Collection.load(folder)
    assert "a sound or a film that browsers play is needed" in str(refused.value)
    assert "a file of captions in WebVTT is needed" in str(refused.value)


def test_collections_of_cards_ask_by_their_texts_and_answer_by_their_cards(tmp_path: Path) -> None:
    collection = Collection.load(write_items(tmp_path / "s"))
    assert [item.id for item in collection.queries("text")] == ["q"]
    assert set(collection.ids[collection.results("text")]) == set("abcdefgh")
    assert collection["b"].words == {"lakes", "a", "boat", "on", "the", "lake", "calm", "last", "words"}
    assert "system" not in collection["a"].words and "still" not in collection["q"].words
