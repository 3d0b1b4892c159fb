"""Researchers' accounts: own passwords, what each role may do, and the log of who did what."""

from __future__ import annotations

import json
import logging
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.security import generate_password_hash
from werkzeug.test import Client

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.versions import write_address
from relstudy.studyapp.config.accounts import (
    change_role,
    choose_password,
    invite_account,
    read_accounts,
    remove_account,
)
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.audit_log import read_entries
from relstudy.studyapp.web.admin.access import make_setup_link, set_password
from relstudy.studyapp.web.app import HostAccess, create_app
from relstudy.studyapp.web.host import host_app
from relstudy.studyapp.web.hosted import HostedStudies
from relstudy.studyapp.web.mount import WsgiApp
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Browser
from tests.studyapp.studies import Made, write_study

PASSWORD = "correct horse battery"
OTHER = "staple of a barn"


@pytest.fixture
def made(make_local: Callable[..., Made]) -> Made:
    made = make_local(base_queries=1, unique_queries=1, results=2)
    set_password(made.folder, PASSWORD)
    return made


def newcomer(made: Made, name: str, role: str) -> Browser:
    """A researcher who has chosen a password by the one-time link."""
    link = f"/admin/setup/{invite_account(made.folder, name, role)}"
    browser = Browser(made.app)
    assert f"For the account {name}." in browser.get(link).text
    browser.send(browser.page.form(link), password=OTHER)
    assert browser.address == "/admin/", browser.page.text
    return browser


def log_in(made: Made, name: str, password: str) -> Browser:
    browser = Browser(made.app)
    browser.send(browser.get("/admin/login").form(), account=name, password=password)
    return browser


def act(browser: Browser, path: str, **fields: str) -> int:
    """Post with this visit's token, whether or not a page offers it."""
    token = browser.get("/admin/").form("/admin/logout").fields["csrf"]
    browser.post(path, {"csrf": token, **fields}, follow=False)
    return browser.status


@pytest.mark.slow
def test_each_role_may_do_what_it_says_and_no_more(made: Made) -> None:
    rater = invite(made.store, Study.load(made.folder), 1)[0].rater_id
    browsers = {role: newcomer(made, role, role) for role in ("viewer", "editor")}
    browsers["owner"] = log_in(made, "", PASSWORD)
    newcomer(made, "second", "owner").get("/admin/log")
    reached = {
        role: [
            *(browser.client.get(f"/admin/{page}").status_code for page in ("", "raters", "export/ratings.csv")),
            *(browser.client.get(f"/admin/{page}").status_code for page in ("export/people.csv", "log")),
            *(act(browser, path, **fields) for path, fields in [("/admin/state", {"state": "paused"})]),
            act(browser, "/admin/invite", count="1"),
        ]
        for role, browser in browsers.items()
    }
    assert reached == {
        "viewer": [200, 200, 200, 403, 403, 403, 403],
        "editor": [200, 200, 200, 200, 403, 303, 200],
        "owner": [200, 200, 200, 200, 200, 303, 200],
    }
    viewed = browsers["viewer"].get("/admin/raters")
    assert not any("/forget/" in link for link in viewed.links) and "viewer (viewer)" in viewed.text
    for page in ("", f"forget/{rater}", f"set-aside/{rater}"):
        assert [form.action for form in browsers["viewer"].get(f"/admin/{page}").forms] == ["/admin/logout"]
    assert act(browsers["viewer"], f"/admin/forget/{rater}") == 403
    assert act(browsers["editor"], f"/admin/forget/{rater}") == 303


def test_the_link_to_choose_a_password_has_the_address_at_which_the_study_was_served_last(made: Made) -> None:
    def link(name: str) -> str:
        return str(json.loads(succeeds("account", made.folder, name, "--invite", "--json").stdout)["link"])

    assert link("anna").startswith("http://localhost:8000/admin/setup/")
    with made.store.write() as connection:
        write_address(connection, "https://rate.example.org")
    assert link("ben").startswith("https://rate.example.org/admin/setup/")


@pytest.mark.slow
def test_the_log_tells_who_did_what_on_pages_and_by_commands(made: Made) -> None:
    rater = invite(made.store, Study.load(made.folder), 1)[0].rater_id
    editor, viewer = newcomer(made, "anna", "editor"), newcomer(made, "ben", "viewer")
    act(editor, "/admin/state", state="paused")
    act(editor, "/admin/forget/nobody")
    act(editor, f"/admin/forget/{rater}")
    act(viewer, "/admin/state", state="open")
    viewer.get("/admin/export/ratings.csv")
    succeeds("account", made.folder, "ben", "--remove")
    told = [(entry.who, entry.did, entry.about) for entry in reversed(read_entries(made.store))]
    assert told[:-1] == [
        ("anna", "log in", ""),
        ("ben", "log in", ""),
        ("anna", "set state", "paused"),
        ("anna", "forget", rater),
        ("ben", "download ratings", ""),
    ]
    assert told[-1][0].startswith("command line (") and told[-1][1:] == ("remove account", "ben")
    page = log_in(made, "", PASSWORD).get("/admin/log")
    assert re.search(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d anna forget {rater}", page.text)
    assert read_entries(made.store, 1)[0].did == "log in", "who only reads the log adds nothing to it"
    shown = relstudy("log", made.folder, "-n", "3").output
    assert "log in" in shown and "remove account" in shown and "paused" not in shown


@pytest.mark.slow
def test_an_account_ends_changes_and_logs_out_at_once_and_alone(made: Made) -> None:
    anna, ben, owner = newcomer(made, "anna", "editor"), newcomer(made, "ben", "editor"), log_in(made, "", PASSWORD)
    change_role(made.folder, "anna", "viewer")
    assert act(anna, "/admin/state", state="paused") == 403
    copied = Browser(made.app)
    copied.cookie = ben.cookie
    ben.send(ben.get("/admin/").form("/admin/logout"))
    for browser, address in ((copied, "/admin/login"), (anna, "/admin/"), (owner, "/admin/")):
        browser.get("/admin/")
        assert browser.address == address
    remove_account(made.folder, "anna")
    anna.get("/admin/")
    assert anna.address == "/admin/login"


@pytest.mark.slow
def test_a_password_is_its_accounts_alone_and_kept_as_a_hash(made: Made) -> None:
    newcomer(made, "anna", "editor")
    invite_account(made.folder, "ben", "viewer")
    assert [log_in(made, *given).status for given in (("anna", PASSWORD), ("", OTHER), ("ben", ""), ("x", OTHER))] == [
        403
    ] * 4
    assert log_in(made, "anna", OTHER).address == "/admin/"
    kept = made.folder / "accounts.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and OTHER not in kept.read_text()
    assert read_accounts(made.folder)["anna"].password.startswith("pbkdf2:"), "scrypt where nobody tests"


@pytest.mark.slow
def test_a_link_for_a_password_works_once_and_a_new_one_ends_the_old(made: Made) -> None:
    old, new = (f"/admin/setup/{invite_account(made.folder, 'anna', 'viewer')}" for _ in range(2))
    browser = Browser(made.app)
    assert browser.get(old).text and browser.status == 404
    form = browser.get(new).form(new)
    browser.send(form, password=OTHER)
    assert browser.address == "/admin/"
    again = Browser(made.app)
    assert again.get(new).text and again.status == 404


@pytest.mark.parametrize("name", ["owner", "", "a b", "../x", "x" * 65])
def test_an_account_has_a_name_of_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(RelstudyError, match="cannot be an account's name"):
        invite_account(tmp_path, name, "viewer")


DAMAGED = (
    '[{"name": "anna", "role": "king"}]',
    '[{"name": "anna", "role": "owner", "password": 5}]',
    '[{"name": "anna", "role": "owner", "token": "\\u00e9"}]',
    "[" * 100_000,
    "{}",
    '""',
)


@pytest.mark.slow
def test_a_damaged_list_of_accounts_is_told_in_the_log_and_lets_nobody_in(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("relstudy"), "propagate", True)
    client = made.app.test_client()
    for content in DAMAGED:
        (made.folder / "accounts.json").write_text(content)
        with pytest.raises(RelstudyError, match=r"accounts\.json: this is not a list of accounts"):
            read_accounts(made.folder)
        asked = [client.get(path) for path in ("/admin/login", "/admin/setup/a-token-of-anna")]
        asked.append(client.get("/api/status", headers={"Authorization": "Bearer rst_anna"}))
        assert [answer.status_code for answer in asked] == [503] * 3
        assert all("damaged" in answer.text and "accounts" not in answer.text for answer in asked)
    assert client.get("/consent").status_code == 200, "raters go on"
    told = {id(each) for each in caplog.records if "accounts.json: this is not a list of accounts" in each.getMessage()}
    assert len(told) == 3 * len(DAMAGED)
    assert "a-token-of-anna" not in caplog.text and "Traceback" not in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["weird$salt$00", "scrypt:99999999:8:1$salt$00", "é"])
def test_a_password_that_is_kept_damaged_lets_nobody_in_and_is_told_in_the_log(
    made: Made, kept: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("relstudy"), "propagate", True)
    monkeypatch.setattr(made.app, "testing", False)
    (made.folder / "admin.hash").write_text(kept, encoding="utf-8")
    browser = Browser(made.app)
    browser.log_in("a long password")
    assert browser.status == 503 and "admin.hash" in caplog.text and "Traceback" not in caplog.text


def test_a_list_of_accounts_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "accounts.json").mkdir()
    with pytest.raises(RelstudyError, match=r"accounts\.json: cannot be read \(Is a directory\)"):
        read_accounts(tmp_path)


@pytest.mark.slow
def test_what_goes_wrong_is_logged_under_its_route_and_not_with_a_links_token(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("relstudy.studyapp.web.rater.entry.token_identity", lambda token: 1 / 0)
    made.app.testing = False
    assert made.app.test_client().get("/enter/a-token-of-anna").status_code == 500
    assert "Exception on /enter/<token> [GET]" in caplog.text and "ZeroDivisionError" in caplog.text
    assert "a-token-of-anna" not in caplog.text


def log_in_at(app: WsgiApp, name: str, account: str, password: str) -> str:
    """What a stranger's browser is answered at a study of a host: status and path."""
    client = Client(app)
    token = re.findall(r'name="csrf" value="([^"]+)"', client.get(f"/{name}/admin/login").text)[0]
    given = {"csrf": token, "account": account, "password": password}
    answer = client.post(f"/{name}/admin/login", data=given, follow_redirects=True)
    return f"{answer.status_code} {answer.request.path}"


@pytest.mark.slow
def test_an_account_of_a_host_opens_all_its_studies_and_guesses_count_for_all_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_study(tmp_path / "studies" / name, base_queries=1, unique_queries=1, results=2)
    studies = HostedStudies([tmp_path / "studies"], "http://localhost", secure=False)
    app = host_app(studies)

    try:
        studies.get("one")
        made = relstudy("account", tmp_path / "studies", "anna", "--invite", "--role", "owner")
        link = re.findall(r"http://localhost(/one/admin/setup/\S+)", made.output)[0]
        chooser = Client(app)
        token = re.findall(r'name="csrf" value="([^"]+)"', chooser.get(link).text)[0]
        assert chooser.post(link, data={"csrf": token, "password": OTHER}).location == "/one/admin/"
        assert [log_in_at(app, name, "anna", OTHER) for name in ("one", "two")] == [
            "200 /one/admin/",
            "200 /two/admin/",
        ]
        wrong = [log_in_at(app, name, "anna", "guess") for name in ("one", "two") * 6]
        assert [answer.split()[0] for answer in wrong] == ["403"] * 10 + ["429"] * 2
        assert "make account" in relstudy("log", tmp_path / "studies").output
    finally:
        studies.close()


@pytest.mark.slow
def test_who_guesses_at_one_studys_accounts_locks_nobody_out_of_another_or_of_the_hosts(tmp_path: Path) -> None:
    place = tmp_path / "studies"
    for name in ("one", "two"):
        set_password(write_study(place / name, base_queries=1, unique_queries=1, results=2), PASSWORD)
    choose_password(place, invite_account(place, "anna", "owner"), generate_password_hash(OTHER))
    studies = HostedStudies([place], "http://localhost", secure=False)
    app = host_app(studies)
    try:
        names = ["owner", *(f"nobody{number}" for number in range(4)), "more"]
        guesses = [log_in_at(app, "one", name, "guess") for name in names for _ in range(11)]
        assert [answer.split()[0] for answer in guesses] == (["403"] * 10 + ["429"]) * 5 + ["429"] * 11
        assert log_in_at(app, "one", "owner", PASSWORD).startswith("429")
        assert log_in_at(app, "two", "owner", PASSWORD) == "200 /two/admin/"
        assert log_in_at(app, "one", "anna", OTHER) == "200 /one/admin/", "an account of the host's"
    finally:
        studies.close()


@pytest.mark.slow
def test_a_hosts_link_for_a_password_opens_no_account_of_that_name_in_a_study(made: Made) -> None:
    place = made.folder.parent
    app = create_app(made.folder, store=made.store, host=HostAccess(place, made.store))
    taken = invite_account(made.folder, "anna", "owner")
    choose_password(made.folder, taken, "scrypt:of another person")
    link = f"/admin/setup/{invite_account(place, 'anna', 'viewer')}"
    browser = Browser(app)
    browser.send(browser.get(link).form(link), password=OTHER)
    assert browser.address == "/admin/login", "the study's anna has a password of her own"
    assert read_accounts(place)["anna"].password and not read_accounts(place)["anna"].setup


@pytest.mark.slow
def test_a_damaged_one_time_link_lets_nobody_in_and_is_told_in_the_log(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("relstudy"), "propagate", True)
    monkeypatch.setattr(made.app, "testing", False)
    (made.folder / "admin.hash").unlink(missing_ok=True)
    link = make_setup_link(made.folder)
    (made.folder / "admin.setup").write_bytes(b"\xff" * 64)
    assert link is not None and made.app.test_client().get(link).status_code == 503
    assert "admin.setup: this file is damaged; remove it" in caplog.text and "Traceback" not in caplog.text
