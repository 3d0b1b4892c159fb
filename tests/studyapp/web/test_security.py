"""Attempts to break in, each of which must fail."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wsgi import FileWrapper

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.app import BODY_LIMIT, create_app
from relstudy.studyapp.web.log import log_to
from relstudy.studyapp.web.security import HEADERS
from tests.studyapp.browse import Browser, joined
from tests.studyapp.serving import serving
from tests.studyapp.studies import TOML, Made, write_study

PASSWORD = "correct horse battery"


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local()


@pytest.mark.slow
def test_a_forged_rating_form_is_refused_with_its_status_and_saves_nothing(made: Made) -> None:
    browser = joined(made.app)
    good = browser.filled()
    stamp, nonce, signature = good["form"].split(".")
    forgeries = ["", "x", "a.b.c", f"{stamp}.{nonce}.{'0' * 40}", f"1.{nonce}.{signature}", f"é.{nonce}.{signature}"]
    for forged in forgeries:
        browser.post("/rate/1", {**good, "form": forged})
        assert browser.status == 400, forged
        assert "does not belong to this page" in browser.page.text
    assert made.rows() == 0
    browser.post("/rate/1", good)
    assert made.rows() == 4, "the true form works, so the forgeries failed for their signature"


@pytest.mark.slow
def test_a_form_of_one_page_does_not_serve_for_another_page_or_another_rater(made: Made) -> None:
    mine, other = Browser(made.app), Browser(made.app)
    mine.join()
    other.join()
    first = mine.filled()
    mine.rate()
    mine.post("/rate/2", first)
    assert mine.status == 400
    other.post("/rate/1", first)
    assert other.status == 400
    assert made.rows() == 4


@pytest.mark.slow
def test_a_replayed_form_changes_nothing(made: Made) -> None:
    browser = joined(made.app)
    sent = browser.filled("3")
    for _ in range(3):
        browser.post("/rate/1", sent)
        assert browser.status == 200
    assert made.rows() == 4
    browser.get("/rate/1")
    browser.post("/rate/1", browser.filled("5"))
    assert made.rows() == 8
    browser.post("/rate/1", sent)
    table = ratings_table(made.store, Study.load(made.folder))
    assert table["rating"].tolist() == [5.0] * 4, "the old form does not undo the later change"


def test_every_form_without_its_csrf_token_is_refused(made: Made) -> None:
    browser = Browser(made.app)
    browser.get("/consent")
    browser.post("/consent", {"agree": "yes"})
    assert browser.status == 400
    browser.get("/consent")
    browser.send(browser.page.form(), agree="yes")
    browser.post("/instructions", {})
    assert browser.status == 400
    browser.get("/instructions")
    browser.send(browser.page.form())
    for address in ("/more", "/questions", "/leave"):
        browser.post(address, {"csrf": "0" * 40})
        assert browser.status == 400, address
    browser.post("/admin/login", {"password": PASSWORD})
    assert browser.status == 400
    link = make_setup_link(made.folder)
    assert link is not None
    browser.post(link, {"password": PASSWORD})
    assert browser.status == 400 and make_setup_link(made.folder) is not None, "no password was set"


TRAVERSALS = (
    *("../study.toml", "..%2Fstudy.toml", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd", "/etc/passwd"),
    *("..\\study.db", "q0", "pictures/q0.png", "%00", "a" * 5000, "q0%00.png", "%c0%ae%c0%ae/secret.key"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAVERSALS, ids=lambda name: name[:20])
def test_no_path_in_an_item_address_opens_a_file(made: Made, name: str) -> None:
    browser = joined(made.app)
    for prefix in ("/item/", "/static/"):
        browser.get(prefix + name)
        assert browser.status in (400, 404, 308), (prefix, browser.status)
        assert browser.response is not None
        body = browser.response.get_data()
        assert b"[study]" not in body and b"root:" not in body and b"SQLite" not in body


def test_a_picture_is_served_by_its_key_only_to_raters_and_never_sniffed(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    browser = Browser(made.app)
    page = browser.join()
    address = f"/item/{page.items[0]}"
    browser.get(address)
    assert browser.status == 200 and browser.response is not None
    assert browser.response.headers["Content-Type"] == "image/png"
    assert browser.response.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in browser.response.headers["Content-Security-Policy"]
    stranger = Browser(made.app)
    stranger.get(address)
    assert stranger.status == 403
    monkeypatch.setattr(logging.getLogger("relstudy"), "propagate", True)
    for picture in (made.folder / "pictures").iterdir():
        picture.unlink()
    browser.get(address)
    assert browser.status == 404 and "Traceback" not in caplog.text
    assert re.search(r'"event": "picture", "trouble": ".*No such file.*/pictures/q\d', caplog.text)


@pytest.mark.slow
def test_a_picture_is_handed_to_the_server_as_a_file_also_where_a_part_of_it_is_asked_for(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a part Waitress is given pieces, and a thread waits until their receiver takes them: for ever, if need be.
    browser = Browser(made.app)
    address = f"/item/{browser.join().items[0]}"
    answered: list[object] = []
    answer = made.app.wsgi_app

    def watched(environ: Any, start_response: Any) -> Any:
        answered.append(answer(environ, start_response))
        return answered[-1]

    monkeypatch.setattr(made.app, "wsgi_app", watched)
    for headers in ({}, {"Range": "bytes=0-"}, {"Range": "bytes=2-3"}, {"Range": "bytes=9999999-"}):
        response = browser.client.get(address, headers=headers, environ_overrides={"wsgi.file_wrapper": FileWrapper})
        assert response.status_code == 200 and "Accept-Ranges" not in response.headers
        assert isinstance(answered[-1], FileWrapper), headers
    tag = response.headers["ETag"]
    assert browser.client.get(address, headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.slow
def test_a_file_that_is_no_picture_is_not_served_whatever_it_is_called(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    from relstudy.studyapp.assignment.synchronisation import prepare

    prepare(folder)
    app = create_app(folder)
    for name in ("q0", "q1"):  # a picture when the study was checked, and something else since
        (folder / "pictures" / f"{name}.png").write_text("<svg onload=alert(1)>", encoding="utf-8")
    browser = Browser(app)
    page = browser.join()
    browser.get(f"/item/{page.items[0]}")
    assert browser.status == 404


@pytest.mark.slow
def test_the_page_tells_neither_system_nor_ids(made: Made) -> None:
    browser = joined(made.app)
    html = browser.html
    assert len(browser.page.items) == 5
    for secret in ("secret-system", "p0-", "p1-", "pictures/", "0.25"):
        assert secret not in html, secret
    assert not re.search(r"\b[qr]\d\b", html), "no item id"


NASTY = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'{{7*7}}{% raw %}"
HTML_EVERYWHERE = """
[study]
id = "test"
title = '''NASTY'''
contact = '''NASTY'''
consent = '''NASTY'''
instructions = '''NASTY'''
thanks = '''NASTY'''
[entry]
rules = ["crowd"]
id_parameter = "w"
completion_code = '''NASTY'''
completion_url = "https://example.org/?c={code}"
[scales.odd]
values = [1, 2]
labels = { 1 = '''NASTY''', 2 = '''NASTY''' }
[[blocks]]
name = '''NASTY'''
pairs = "base"
scale = "odd"
question = '''NASTY'''
[[practice]]
query_id = "words"
result_id = "essay"
expected = [1]
feedback = '''NASTY'''
[[questions]]
id = "a"
text = '''NASTY'''
required = true
[[questions]]
id = "b"
kind = "choice"
text = '''NASTY'''
choices = ['''NASTY''']
[texts]
"rate.next" = '''NASTY'''
"thanks.heading" = '''NASTY'''
"""


@pytest.mark.slow
def test_html_in_every_field_of_author_and_rater_stays_text(tmp_path: Path) -> None:
    from relstudy.studyapp.assignment.synchronisation import prepare

    folder = write_study(tmp_path / "s", HTML_EVERYWHERE.replace("NASTY", NASTY))
    table = (folder / "collection.csv").read_text()
    quoted = '"' + NASTY.replace('"', '""') + '"'
    table = table.replace(",green hills", f",{quoted}").replace("On hills,Hills are high.", f"{quoted},{quoted}")
    (folder / "collection.csv").write_text(table, encoding="utf-8")
    prepare(folder)
    browser = Browser(create_app(folder))
    seen = []

    def look() -> None:
        html = browser.html
        seen.append(browser.address)
        assert "<script>alert" not in html and "<img src=x" not in html, browser.address
        assert "49" not in browser.page.text, "no template in a field is run"
        if NASTY[2:10] in browser.page.text:
            seen.append("nasty")

    browser.get("/join?w=1")
    look()
    browser.send(browser.page.form(), agree="yes")
    look()
    browser.send(browser.page.form())
    while browser.address.startswith(("/rate", "/practice")):
        look()
        if browser.address.startswith("/practice"):
            browser.get("/rate")
        else:
            browser.rate(lambda name, number: "1")
    assert browser.address == "/questions"
    look()
    browser.send(browser.page.form(), **{"question-a": NASTY, "question-b": NASTY + "x"})
    assert browser.status == 422
    look()
    browser.send(browser.page.form(), **{"question-a": NASTY, "question-b": NASTY})
    look()
    assert browser.address == "/thanks"
    browser.get("/join")
    look()
    assert seen.count("nasty") == len(seen) / 2, "every page showed the text, as text"


@pytest.mark.slow
def test_an_oversized_body_is_refused_and_the_server_goes_on(made: Made) -> None:
    browser = joined(made.app)
    fields = browser.filled()
    browser.post("/rate/1", {**fields, "x": "y" * (BODY_LIMIT + 1)})
    assert browser.status == 413 and "too large" in browser.page.text
    assert made.rows() == 0
    browser.post("/rate/1", {**fields, **{f"f{i}": "1" for i in range(900)}})
    assert browser.status in (200, 413)
    browser.get("/rate")
    assert browser.status == 200


@pytest.mark.slow
def test_cookies_are_http_only_same_site_and_secure_behind_https(tmp_path: Path) -> None:
    from relstudy.studyapp.assignment.synchronisation import prepare

    for url, secure in (("", False), ("https://study.example.org", True)):
        folder = write_study(tmp_path / str(secure), TOML.replace('id = "test"', f'id = "test"\nurl = "{url}"'))
        prepare(folder)
        response = create_app(folder).test_client().get("/consent")
        cookie = response.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert ("Secure" in cookie) is secure


@pytest.mark.slow
def test_every_answer_carries_the_strict_headers(made: Made) -> None:
    browser = Browser(made.app)
    for address in ("/consent", "/health", "/nowhere", "/admin/login", "/static/study.css"):
        browser.get(address)
        assert browser.response is not None
        headers = browser.response.headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy, address
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Frame-Options"] == "DENY"
        assert ("no-store" in headers["Cache-Control"]) is not address.startswith("/static/"), address


@pytest.mark.slow
def test_no_page_needs_inline_script_or_style_or_another_host(made: Made) -> None:
    browser = joined(made.app)
    for address in ("/consent", "/instructions", "/rate/1", "/thanks", "/admin/login"):
        browser.get(address)
        html = browser.html
        assert not re.search(r"<script(?![^>]*\bsrc=)", html), address
        assert not re.search(r"\s(style|on\w+)=", html), address
        assert not re.search(r"(src|href|action)=\"(https?:)?//", html), address


@pytest.mark.slow
def test_neither_log_nor_database_holds_an_address_a_token_or_an_agent(tmp_path: Path) -> None:
    import io
    import logging

    from relstudy.studyapp.assignment.synchronisation import prepare

    folder = write_study(tmp_path / "s")
    prepare(folder)
    from relstudy.studyapp.database.store import Store

    link = invite(Store.of_study(folder), Study.load(folder), 1)[0].path
    lines = io.StringIO()
    log_to(lines, logging.INFO)
    try:
        browser = Browser(create_app(folder), REMOTE_ADDR="203.0.113.77", HTTP_USER_AGENT="TellTale/1.0")
        browser.join(link)
        browser.rate()
        browser.get("/enter/wrong-token")
    finally:
        logging.getLogger("relstudy").handlers.clear()
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert {"method": "GET", "route": "/enter/<token>", "status": 302}.items() <= logged[0].items()
    kept = b"".join(path.read_bytes() for path in folder.glob("study.db*")) + lines.getvalue().encode()
    token = link.rpartition("/")[2]
    for tell in ("203.0.113.77", "TellTale", token, "wrong-token"):
        assert tell.encode() not in kept, tell


@pytest.mark.slow
@pytest.mark.server
def test_what_is_announced_too_large_is_refused_before_it_is_sent_with_the_strict_headers(tmp_path: Path) -> None:
    with serving(write_study(tmp_path / "s"), workers=1) as address:
        host, port = address.removeprefix("http://").split(":")
        for status, line in ((413, "Content-Length: 1000000000"), (431, f"Cookie: {'x' * 40_000}")):
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(f"POST /consent HTTP/1.1\r\nHost: x\r\n{line}\r\n\r\n".encode())
                answer = b""
                while b"\r\n\r\n" not in answer and (part := connection.recv(4096)):
                    answer += part
            head = answer.decode().partition("\r\n\r\n")[0].split("\r\n")
            assert f" {status} " in head[0] and {": ".join(each) for each in HEADERS.items()} <= set(head)


@pytest.mark.slow
@pytest.mark.server
def test_a_request_that_says_two_lengths_is_refused_and_what_follows_it_is_no_request(tmp_path: Path) -> None:
    hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    lengths = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(hidden)
    with serving(write_study(tmp_path / "s"), workers=1) as address:
        host, port = address.removeprefix("http://").split(":")
        for head in (
            b"POST /consent HTTP/1.1\r\nHost: x\r\n" + lengths,
            b"POST /consent HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n",
        ):
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(head + b"\r\n" + hidden)
                answer = b""
                with contextlib.suppress(ConnectionResetError):  # what was not read is thrown away
                    while part := connection.recv(4096):
                        answer += part
            assert answer.count(b"HTTP/1.") == 1 and b" 400 Bad Request" in answer.partition(b"\r\n")[0], answer


@pytest.mark.slow
@pytest.mark.server
def test_a_slow_sender_holds_up_nobody(tmp_path: Path) -> None:
    """Forty connections that send one byte and wait, against one worker with two threads."""
    folder = write_study(tmp_path / "s")
    with serving(folder, workers=1, threads=2) as address, contextlib.ExitStack() as stack:
        host, port = address.removeprefix("http://").split(":")

        def connect() -> socket.socket:
            return stack.enter_context(socket.create_connection((host, int(port)), timeout=60))

        slow = [connect() for _ in range(40)]
        for connection in slow:
            connection.sendall(b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na")
        quick = connect()
        quick.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while part := quick.recv(4096):
            answer += part
        assert b"200 OK" in answer and b'"status":"ok"' in answer
        for connection in slow:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)  # still being waited for: nothing was answered, nothing cut off
