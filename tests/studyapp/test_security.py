"""Attempts to break in, each of which must fail."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from calibration.errors import RelstudyError
from studyapp.access import make_setup_link, set_password
from studyapp.app import BODY_LIMIT, create_app, log_to
from studyapp.export import people_table, ratings_table
from studyapp.people import forget, invite
from studyapp.store import raters
from studyapp.study import Study
from tests.studyapp.browse import Browser
from tests.studyapp.serving import serving
from tests.studyapp.studies import TOML, Made, write_study

PASSWORD = "correct horse battery"


def rows(made: Made) -> int:
    return len(ratings_table(made.store, Study.load(made.folder), history=True))


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local()


def filled(browser: Browser, value: str = "3") -> dict[str, str]:
    form = browser.page.form(browser.address)
    return {**form.fields, **dict.fromkeys(form.choices, value)}


def test_a_forged_rating_form_is_refused_with_its_status_and_saves_nothing(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    good = filled(browser)
    stamp, nonce, signature = good["form"].split(".")
    forgeries = ["", "x", "a.b.c", f"{stamp}.{nonce}.{'0' * 40}", f"1.{nonce}.{signature}", f"é.{nonce}.{signature}"]
    for forged in forgeries:
        browser.post("/rate/1", {**good, "form": forged})
        assert browser.status == 400, forged
        assert "does not belong to this page" in browser.page.text
    assert rows(made) == 0
    browser.post("/rate/1", good)
    assert rows(made) == 4, "the true form works, so the forgeries failed for their signature"


def test_a_form_of_one_page_does_not_serve_for_another_page_or_another_rater(made: Made) -> None:
    mine, other = Browser(made.app), Browser(made.app)
    mine.join()
    other.join()
    first = filled(mine)
    mine.rate()
    mine.post("/rate/2", first)
    assert mine.status == 400
    other.post("/rate/1", first)
    assert other.status == 400
    assert rows(made) == 4


def test_a_replayed_form_changes_nothing(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    sent = filled(browser, "3")
    for _ in range(3):
        browser.post("/rate/1", sent)
        assert browser.status == 200
    assert rows(made) == 4
    browser.get("/rate/1")
    browser.post("/rate/1", filled(browser, "5"))
    assert rows(made) == 8
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


@pytest.mark.parametrize("name", TRAVERSALS, ids=lambda name: name[:20])
def test_no_path_in_an_item_address_opens_a_file(made: Made, name: str) -> None:
    browser = Browser(made.app)
    browser.join()
    for prefix in ("/item/", "/static/"):
        browser.get(prefix + name)
        assert browser.status in (400, 404, 308), (prefix, browser.status)
        assert browser.response is not None
        body = browser.response.get_data()
        assert b"[study]" not in body and b"root:" not in body and b"SQLite" not in body


def test_a_picture_is_served_by_its_key_only_to_raters_and_never_sniffed(made: Made) -> None:
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


def test_a_file_that_is_no_picture_is_not_served_whatever_it_is_called(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    for name in ("q0", "q1"):
        (folder / "pictures" / f"{name}.png").write_text("<svg onload=alert(1)>", encoding="utf-8")
    from studyapp.app import prepare

    prepare(folder)
    browser = Browser(create_app(folder))
    page = browser.join()
    browser.get(f"/item/{page.items[0]}")
    assert browser.status == 404


def test_the_page_tells_neither_system_nor_ids(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    assert browser.response is not None
    html = browser.response.get_data(as_text=True)
    assert len(browser.page.items) == 5
    for secret in ("secret-system", "p0-", "p1-", "pictures/", "0.25"):
        assert secret not in html, secret
    assert not re.search(r"\b[qr]\d\b", html), "no item id"


def test_other_peoples_pages_cannot_be_reached_by_number(made: Made) -> None:
    mine, other = Browser(made.app), Browser(made.app)
    mine.join()
    mine.rate()
    other.join()
    other.get("/rate/2")
    assert other.address == "/rate/1", "own pages only, and only those handed out"
    other.get("/rate/999999999999999999999")
    assert other.address == "/rate/1" or other.status == 404


def test_a_session_cookie_that_was_tampered_with_is_nobodys(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    cookie = browser.client.get_cookie("relstudy-test")
    assert cookie is not None
    payload, rest = cookie.value.split(".", 1)
    for value in (payload[:-2] + "AA." + rest, "e30." + rest, rest, ""):
        thief = Browser(made.app)
        thief.client.set_cookie("relstudy-test", value)
        thief.get("/rate/1")
        assert thief.address == "/consent", value


def test_a_session_fixed_beforehand_gives_the_attacker_nothing(made: Made) -> None:
    """The attacker plants a cookie; the victim then enters; the planted cookie must stay worthless."""
    attacker, victim = Browser(made.app), Browser(made.app)
    attacker.get("/consent")
    planted = attacker.client.get_cookie("relstudy-test")
    assert planted is not None
    victim.client.set_cookie("relstudy-test", planted.value)
    victim.get(invite(made.store, Study.load(made.folder), 1)[0].path)
    victim.consent()
    victim.rate()
    assert victim.address == "/rate/2"
    replaced = victim.client.get_cookie("relstudy-test")
    assert replaced is not None and replaced.value != planted.value
    attacker.get("/rate/1")
    assert attacker.address == "/consent"


def test_a_forgotten_persons_browser_is_nobodys_even_when_their_number_is_given_to_another(made: Made) -> None:
    before, after = Browser(made.app), Browser(made.app)
    before.join()
    sent = filled(before)
    code = people_table(made.store, Study.load(made.folder))["rater_id"][0]
    forget(made.store, code)
    after.join()
    with made.store.read() as connection:
        assert connection.execute(sa.select(raters.c.id)).scalars().all() == [1], "SQLite gives the number again"
    before.get("/rate/1")
    assert before.address == "/consent"
    before.post("/rate/1", sent)
    assert before.status == 401
    before.post("/rate/1", filled(after))
    assert before.status == 401 and rows(made) == 0


def test_an_admin_session_fixed_beforehand_stays_locked_out(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    attacker, victim = Browser(made.app), Browser(made.app)
    attacker.get("/admin/login")
    planted = attacker.client.get_cookie("relstudy-test")
    assert planted is not None
    victim.client.set_cookie("relstudy-test", planted.value)
    victim.get("/admin/login")
    victim.send(victim.page.form("/admin/login"), password=PASSWORD)
    assert victim.address.startswith("/admin") and victim.address != "/admin/login"
    attacker.get("/admin/")
    assert attacker.address == "/admin/login"
    known = attacker.page.form("/admin/login").fields["csrf"]
    victim.post("/admin/logout", {"csrf": known})
    assert victim.status == 400, "the token that the attacker knew from the planted cookie is worth nothing"


def admin_routes(made: Made) -> list[tuple[str, str]]:
    found = []
    for rule in made.app.url_map.iter_rules():
        open_to_all = rule.endpoint.startswith("access.")
        if rule.rule.startswith("/admin") and not open_to_all:
            path = re.sub(r"<[^>]+>", "x", rule.rule)
            found += [(method, path) for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}]
    return found


def test_no_admin_page_answers_without_the_password(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    stranger = Browser(made.app)
    rater = Browser(made.app)
    rater.join()
    for browser in (stranger, rater):
        for method, path in admin_routes(made):
            response = browser.client.open(path, method=method)
            refused = response.status_code in (400, 401, 403, 404)
            sent_away = response.status_code == 302 and response.headers["Location"] == "/admin/login"
            assert refused or sent_away, (method, path, response.status_code)


def test_the_one_time_link_works_once_and_the_password_is_kept_as_a_hash_for_the_owner_alone(made: Made) -> None:
    link = make_setup_link(made.folder)
    assert link is not None
    browser = Browser(made.app)
    browser.get(link)
    browser.send(browser.page.form(link), password="short")
    assert browser.status == 422 and "at least 10 characters" in browser.page.text
    browser.get(link)
    browser.send(browser.page.form(link), password=PASSWORD)
    kept = made.folder / "admin.hash"
    assert PASSWORD not in kept.read_text() and kept.read_text().startswith("scrypt:")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE((made.folder / "secret.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((made.folder / "study.db").stat().st_mode) == 0o600
    used = made.folder / "admin.setup"
    assert not used.exists()
    used.write_text(hashlib.sha256(link.rpartition("/")[2].encode()).hexdigest())
    again = Browser(made.app)
    again.get(link)
    assert again.status == 404, "not even where the server was stopped before the link's file was gone"
    assert make_setup_link(made.folder) is None


def test_an_admin_session_ends_after_twelve_hours(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = admin_browser(made)
    now = time.time()
    for hours, address in ((11, "/admin/"), (13, "/admin/login")):
        monkeypatch.setattr(time, "time", lambda hours=hours: now + 3600 * hours)
        browser.get("/admin/")
        assert browser.address == address


def admin_browser(made: Made, browser: Browser | None = None) -> Browser:
    """A browser that has given the password."""
    set_password(made.folder, PASSWORD)
    browser = browser or Browser(made.app)
    browser.get("/admin/login")
    browser.send(browser.page.form("/admin/login"), password=PASSWORD)
    assert browser.address == "/admin/"
    return browser


def test_a_browser_is_the_researchers_or_a_raters_and_never_both(made: Made) -> None:
    browser = admin_browser(made)
    browser.join(invite(made.store, Study.load(made.folder), 1)[0].path)
    browser.get("/admin/")
    assert browser.address == "/admin/login", "who opens a rater's link gives up the admin pages"
    admin_browser(made, browser)
    browser.get("/rate/1")
    assert browser.address == "/consent", "and the other way round"


def test_one_raters_token_is_worth_nothing_in_anothers_form(made: Made) -> None:
    mine, other = Browser(made.app), Browser(made.app)
    for browser in (mine, other):
        browser.join()
        browser.get("/instructions")
    mine.send(other.page.form())
    assert mine.status == 400
    mine.get("/rate/1")
    assert mine.address == "/rate/1"


def test_nothing_is_rated_before_consent(made: Made) -> None:
    browser = Browser(made.app)
    browser.get(invite(made.store, Study.load(made.folder), 1)[0].path)
    assert browser.address == "/consent"
    browser.post("/rate/1", {"form": "x", "rating-1": "3"})
    assert browser.status == 401


def test_a_new_password_ends_old_admin_sessions(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    browser = Browser(made.app)
    browser.get("/admin/login")
    browser.send(browser.page.form("/admin/login"), password=PASSWORD)
    browser.get("/admin/login")
    assert browser.address != "/admin/login"
    set_password(made.folder, "another password")
    browser.get("/admin/login")
    assert browser.address == "/admin/login"


def test_guessing_the_admin_password_is_stopped_even_when_the_guess_would_be_right(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    guesser = Browser(made.app, REMOTE_ADDR="192.0.2.1")
    statuses = []
    for _ in range(12):
        guesser.get("/admin/login")
        form = guesser.page.form("/admin/login")
        guesser.send(form, password="wrong password")
        statuses.append(guesser.status)
    assert statuses == [403] * 10 + [429] * 2
    guesser.post("/admin/login", {**form.fields, "password": PASSWORD})
    assert guesser.status == 429 and "Too many attempts" in guesser.page.text
    owner = Browser(made.app, REMOTE_ADDR="192.0.2.2")
    owner.get("/admin/login")
    owner.send(owner.page.form("/admin/login"), password=PASSWORD)
    assert owner.status != 429, "others are not locked out"


def test_guessing_the_passphrase_is_stopped(make_local: Callable[..., Made]) -> None:
    entry = 'rules = ["passphrase"]\npassphrase = "green hills"'
    made = make_local(TOML.replace('rules = ["personal", "open"]', entry))
    guesser = Browser(made.app, REMOTE_ADDR="192.0.2.1")
    guesser.get("/")
    form = guesser.page.form()
    statuses = []
    for _ in range(12):
        guesser.send(form, agree="yes", passphrase="grey hills")
        statuses.append(guesser.status)
    assert statuses == [403] * 10 + [429] * 2
    guesser.send(form, agree="yes", passphrase="green hills")
    assert guesser.status == 429


def test_a_secret_that_could_be_guessed_is_refused(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELSTUDY_SECRET", "x" * 31)
    with pytest.raises(RelstudyError, match="RELSTUDY_SECRET is too short; at least 32"):
        create_app(made.folder)
    monkeypatch.delenv("RELSTUDY_SECRET")
    (made.folder / "secret.key").write_text("short")
    with pytest.raises(RelstudyError, match=r"secret\.key: the secret is too short"):
        create_app(made.folder)


def test_workers_share_the_limits_on_guessing(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    allowed = 0
    for app in [create_app(made.folder, store=made.store, workers=2) for _ in range(2)]:
        guesser = Browser(app, REMOTE_ADDR="192.0.2.1")
        for _ in range(12):
            guesser.get("/admin/login")
            guesser.send(guesser.page.form("/admin/login"), password="wrong password")
            allowed += guesser.status == 403
    assert allowed == 10


@pytest.mark.parametrize("address", ["/enter/guess", "/admin/setup/guess"])
def test_guessing_links_is_stopped(made: Made, address: str) -> None:
    browser = Browser(made.app, REMOTE_ADDR="192.0.2.1")
    statuses = []
    for number in range(32):
        browser.get(f"{address}{number}")
        statuses.append(browser.status)
    assert statuses == [404] * 30 + [429] * 2


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


def test_html_in_every_field_of_author_and_rater_stays_text(tmp_path: Path) -> None:
    from studyapp.app import prepare

    folder = write_study(tmp_path / "s", HTML_EVERYWHERE.replace("NASTY", NASTY))
    table = (folder / "collection.csv").read_text()
    quoted = '"' + NASTY.replace('"', '""') + '"'
    table = table.replace(",green hills", f",{quoted}").replace("On hills,Hills are high.", f"{quoted},{quoted}")
    (folder / "collection.csv").write_text(table, encoding="utf-8")
    prepare(folder)
    browser = Browser(create_app(folder))
    seen = []

    def look() -> None:
        assert browser.response is not None
        html = browser.response.get_data(as_text=True)
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


def test_an_oversized_body_is_refused_and_the_server_goes_on(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    fields = filled(browser)
    browser.post("/rate/1", {**fields, "x": "y" * (BODY_LIMIT + 1)})
    assert browser.status == 413 and "too large" in browser.page.text
    assert rows(made) == 0
    browser.post("/rate/1", {**fields, **{f"f{i}": "1" for i in range(900)}})
    assert browser.status in (200, 413)
    browser.get("/rate")
    assert browser.status == 200


def test_cookies_are_http_only_same_site_and_secure_behind_https(tmp_path: Path) -> None:
    from studyapp.app import prepare

    for url, secure in (("", False), ("https://study.example.org", True)):
        folder = write_study(tmp_path / str(secure), TOML.replace('id = "test"', f'id = "test"\nurl = "{url}"'))
        prepare(folder)
        response = create_app(folder).test_client().get("/consent")
        cookie = response.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert ("Secure" in cookie) is secure


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


def test_no_page_needs_inline_script_or_style_or_another_host(made: Made) -> None:
    browser = Browser(made.app)
    browser.join()
    for address in ("/consent", "/instructions", "/rate/1", "/thanks", "/admin/login"):
        browser.get(address)
        assert browser.response is not None
        html = browser.response.get_data(as_text=True)
        assert not re.search(r"<script(?![^>]*\bsrc=)", html), address
        assert not re.search(r"\s(style|on\w+)=", html), address
        assert not re.search(r"(src|href|action)=\"(https?:)?//", html), address


def test_neither_log_nor_database_holds_an_address_a_token_or_an_agent(tmp_path: Path) -> None:
    import io
    import logging

    from studyapp.app import prepare

    folder = write_study(tmp_path / "s")
    prepare(folder)
    from studyapp.store import Store

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


def test_a_body_that_is_announced_too_large_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    with serving(write_study(tmp_path / "s"), workers=1) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
            assert b" 413 " in connection.recv(4096)


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
