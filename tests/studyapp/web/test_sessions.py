"""Who somebody is: sessions, passwords and links that must not be forged, kept, shared or guessed."""

from __future__ import annotations

import hashlib
import re
import shutil
import stat
import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.accounts import invite_account
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.export import people_table
from relstudy.studyapp.web import app as app_module
from relstudy.studyapp.web.admin import access
from relstudy.studyapp.web.admin.access import make_setup_link, set_password
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import Made

PASSWORD = "correct horse battery"


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    return make_local()


@pytest.mark.slow
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
    browser = joined(made.app)
    payload, rest = browser.cookie.split(".", 1)
    for value in (payload[:-2] + "AA." + rest, "e30." + rest, rest, ""):
        thief = Browser(made.app)
        thief.cookie = value
        thief.get("/rate/1")
        assert thief.address == "/consent", value


@pytest.mark.slow
def test_a_session_fixed_beforehand_gives_the_attacker_nothing(made: Made) -> None:
    """The attacker plants a cookie; the victim then enters; the planted cookie must stay worthless."""
    attacker, victim = Browser(made.app), Browser(made.app)
    attacker.get("/consent")
    planted = attacker.cookie
    victim.cookie = planted
    victim.get(invite(made.store, Study.load(made.folder), 1)[0].path)
    victim.consent()
    victim.rate()
    assert victim.address == "/rate/2"
    assert victim.cookie != planted
    attacker.get("/rate/1")
    assert attacker.address == "/consent"


@pytest.mark.slow
def test_a_forgotten_persons_browser_is_nobodys_even_when_their_number_is_given_to_another(made: Made) -> None:
    before, after = Browser(made.app), Browser(made.app)
    before.join()
    sent = before.filled()
    code = people_table(made.store, Study.load(made.folder))["rater_id"][0]
    forget(made.store, made.folder, code)
    after.join()
    with made.store.read() as connection:
        assert connection.execute(sa.select(raters.c.id)).scalars().all() == [1], "SQLite gives the number again"
    before.get("/rate/1")
    assert before.address == "/consent"
    before.post("/rate/1", sent)
    assert before.status == 401
    before.post("/rate/1", after.filled())
    assert before.status == 401 and made.rows() == 0


@pytest.mark.slow
def test_an_admin_session_fixed_beforehand_stays_locked_out(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    attacker, victim = Browser(made.app), Browser(made.app)
    attacker.get("/admin/login")
    planted = attacker.cookie
    victim.cookie = planted
    victim.log_in(PASSWORD)
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


@pytest.mark.slow
def test_no_admin_page_answers_without_the_password(made: Made) -> None:
    set_password(made.folder, PASSWORD)
    stranger = Browser(made.app)
    rater = joined(made.app)
    for browser in (stranger, rater):
        for method, path in admin_routes(made):
            response = browser.client.open(path, method=method)
            refused = response.status_code in (400, 401, 403, 404)
            sent_away = response.status_code == 302 and response.headers["Location"] == "/admin/login"
            assert refused or sent_away, (method, path, response.status_code)


@pytest.mark.slow
def test_the_one_time_link_works_once_and_the_password_is_kept_as_a_hash_for_the_owner_alone(made: Made) -> None:
    link = make_setup_link(made.folder)
    assert link is not None
    browser = Browser(made.app)
    browser.get(link)
    browser.send(browser.page.form(link), password="short")
    assert browser.status == 422 and "at least 12 characters" in browser.page.text
    browser.get(link)
    browser.send(browser.page.form(link), password=PASSWORD)
    kept = made.folder / "admin.hash"
    assert PASSWORD not in kept.read_text() and kept.read_text().startswith("pbkdf2:")
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


@pytest.mark.slow
def test_an_admin_session_ends_after_twelve_hours(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = admin_browser(made)
    now = time.time()
    for minutes in range(50, 60 * 13, 50):  # never idle for an hour
        monkeypatch.setattr(time, "time", lambda minutes=minutes: now + 60 * minutes)
        browser.get("/admin/")
        assert browser.address == ("/admin/" if minutes < 60 * 12 else "/admin/login")


@pytest.mark.slow
def test_an_admin_session_ends_after_an_hour_without_a_page(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that renew themselves on an open page are no sign of a person."""
    browser = admin_browser(made)
    now = time.time()
    for minutes in (20, 40, 62):
        monkeypatch.setattr(time, "time", lambda minutes=minutes: now + 60 * minutes)
        fetched = browser.client.get("/admin/", headers={"Sec-Fetch-Mode": "cors"})
        assert fetched.status_code == (200 if minutes < 60 else 302)


@pytest.mark.slow
def test_a_raters_cookie_that_was_copied_is_worth_nothing_after_they_left(made: Made) -> None:
    rater, thief = Browser(made.app), Browser(made.app)
    rater.join()
    cookie = rater.cookie
    rater.post("/leave", {"csrf": rater.page.form("/rate/1").fields["csrf"]})
    thief.cookie = cookie
    thief.get("/rate")
    assert not thief.address.startswith("/rate")


@pytest.mark.slow
def test_a_setup_link_expires(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    link = make_setup_link(made.folder)
    token = invite_account(made.folder, "anna", "viewer")
    assert link is not None
    client, now = made.app.test_client(), time.time()
    for path in (link, f"/admin/setup/{token}"):
        assert client.get(path).status_code == 200
    monkeypatch.setattr(time, "time", lambda: now + 8 * 86400)
    for path in (link, f"/admin/setup/{token}"):
        assert client.get(path).status_code == 404


def test_liveness_and_readiness_are_apart(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """/health answered 200 on a full disk, where no rating can be saved."""
    client = made.app.test_client()
    assert [client.get(f"/health{each}").status_code for each in ("", "/ready", "/live")] == [200] * 3
    full = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(app_module.shutil, "disk_usage", lambda _: full)
    assert [client.get(f"/health{each}").status_code for each in ("", "/ready", "/live")] == [503, 503, 200]


@pytest.mark.slow
def test_a_copied_admin_cookie_is_worth_nothing_after_the_researcher_has_logged_out(made: Made) -> None:
    browser, thief = admin_browser(made), Browser(made.app)
    cookie = thief.cookie = browser.cookie
    thief.get("/admin/")
    assert thief.address == "/admin/"
    browser.send(browser.page.form("/admin/logout"))
    thief.cookie = cookie
    thief.get("/admin/")
    assert thief.address == "/admin/login"
    again = admin_browser(made)
    again.get("/admin/")
    assert again.address == "/admin/", "whoever gives the password after that is let in"


@pytest.mark.slow
def test_who_is_not_the_researcher_can_log_nobody_out(made: Made) -> None:
    browser, stranger = admin_browser(made), Browser(made.app)
    stranger.post("/admin/logout", {"csrf": "x"})
    browser.get("/admin/")
    assert browser.address == "/admin/"


@pytest.mark.slow
def test_a_form_that_another_site_sends_takes_no_cookie_away(made: Made) -> None:
    rater, form = Browser(made.app), {"csrf": made.app.extensions["relstudy"].signer.csrf("visit:")}
    rater.join()
    rater.post("/admin/logout", {})
    rater.get("/rate")
    assert rater.address == "/rate/1", "who is not a researcher has nothing to log out of"
    for path in ("/admin/logout", "/leave", "/decline"):  # browsers send no cookie along, and obey an answer's
        answer = made.app.test_client().post(path, data=form)
        assert "Set-Cookie" not in answer.headers, path


@pytest.mark.parametrize("path", ["/admin", "//admin", "/admin?next=//elsewhere.example"])
def test_no_redirection_follows_the_host_that_a_request_names(made: Made, path: str) -> None:
    headers = {"Host": "elsewhere.example", "X-Forwarded-Host": "elsewhere.example"}
    answer = made.app.test_client().get(path, headers=headers)
    assert answer.status_code in (301, 302, 308)
    address = answer.headers["Location"]
    assert re.fullmatch(r"/(?:[^/].*)?", address), address


def admin_browser(made: Made, browser: Browser | None = None) -> Browser:
    """A browser that has given the password."""
    set_password(made.folder, PASSWORD)
    browser = browser or Browser(made.app)
    browser.log_in(PASSWORD)
    assert browser.address == "/admin/"
    return browser


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_new_password_ends_old_admin_sessions(made: Made) -> None:
    browser = admin_browser(made)
    set_password(made.folder, "another password")
    browser.get("/admin/login")
    assert browser.address == "/admin/login"


@pytest.mark.slow
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
    owner.log_in(PASSWORD)
    assert owner.status != 429, "others are not locked out"


@pytest.mark.slow
def test_wrong_passwords_count_by_account_and_for_an_address_with_all_its_accounts(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "check_password_hash", lambda kept, given: given == PASSWORD)
    made.app.extensions["relstudy"].password_limit.failures = 2
    set_password(made.folder, PASSWORD)
    browser = Browser(made.app)
    browser.get("/admin/login")
    form = browser.page.form("/admin/login")

    def log_in(account: str, password: str = "a guess") -> int:
        browser.post("/admin/login", {**form.fields, "account": account, "password": password}, follow=False)
        return browser.status

    assert [log_in("anna") for _ in range(20)] == [403] * 2 + [429] * 18
    assert [log_in(name) for name in ("", "owner", "owner", " owner")] == [403, 403, 429, 429], "no name is the owner's"
    assert [log_in(f"name{number}") for number in range(7)] == [403] * 6 + [429], "ten from one address"


@pytest.mark.slow
def test_who_gets_in_has_not_guessed(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "check_password_hash", lambda kept, given: given == PASSWORD)
    made.app.extensions["relstudy"].password_limit.failures = 1
    set_password(made.folder, PASSWORD)
    browser = Browser(made.app)
    for _ in range(6):
        browser.log_in(PASSWORD)
        assert browser.address == "/admin/"
        del browser.cookie


@pytest.mark.slow
def test_a_secret_that_could_be_guessed_is_refused(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELSTUDY_SECRET", "x" * 31)
    with pytest.raises(RelstudyError, match="RELSTUDY_SECRET is too short; at least 32"):
        create_app(made.folder)
    monkeypatch.delenv("RELSTUDY_SECRET")
    (made.folder / "secret.key").write_text("short")
    with pytest.raises(RelstudyError, match=r"secret\.key: the secret is too short"):
        create_app(made.folder)


@pytest.mark.slow
def test_all_workers_count_guesses_together_and_one_that_ends_takes_no_count_along(
    make_study: Callable[..., Made],
) -> None:
    made = make_study()
    set_password(made.folder, PASSWORD)
    allowed = 0
    for number in range(3):
        app = create_app(made.folder, store=Store(made.store.url.render_as_string(hide_password=False)))
        guesser = Browser(app, REMOTE_ADDR="192.0.2.1")
        for _ in range(5):
            guesser.log_in("wrong password")
            allowed += guesser.status == 403
        assert allowed == min(10, 5 * (number + 1))
        app.extensions["relstudy"].store.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/enter/guess", "/admin/setup/guess"])
def test_guessing_links_is_stopped(made: Made, address: str) -> None:
    browser = Browser(made.app, REMOTE_ADDR="192.0.2.1")
    statuses = []
    for number in range(32):
        browser.get(f"{address}{number}")
        statuses.append(browser.status)
    assert statuses == [404] * 30 + [429] * 2
    assert "Taking part" in browser.get(invite(made.store, Study.load(made.folder), 1)[0].path).text
    chooser = Browser(made.app, REMOTE_ADDR="192.0.2.1")
    chooser.get(f"/admin/setup/{invite_account(made.folder, 'anna', 'viewer')}")
    assert chooser.status == 200, "who has a link is let in, whatever others at this address have tried"
