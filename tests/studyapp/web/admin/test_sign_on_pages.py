"""Researchers who sign on by their institution: whom it lets in, and what nobody can forge."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey, RSAKey
from werkzeug.test import Client

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.accounts import change_role, make_token, read_accounts, remove_account
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.audit_log import read_entries
from relstudy.studyapp.web import connections
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.host import host_app
from relstudy.studyapp.web.hosted import HostedStudies
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.single_sign_on import PROXIED, require_proxy
from tests.commands import relstudy
from tests.studyapp.browse import Browser
from tests.studyapp.studies import TOML, Made, write_study
from tests.studyapp.web.admin.provider import Provider

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
HEAD = re.compile(r"(\[study\]\n)")


def with_sso(table: str, url: str = "http://localhost") -> str:
    return HEAD.sub(rf'\1url = "{url}"\n', TOML, count=1) + f"\n[sso]\n{table}\n"


def of_provider(provider: Provider, more: str = "") -> str:
    return with_sso(
        f'issuer = "{provider.issuer}"\nclient_id = "relstudy"\nsecret_variable = "SSO_SECRET"\n'
        f'allow = ["anna@example.org", "@lab.example.org"]\nlabel = "Example University"\n{more}'
    )


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("SSO_SECRET", "s3cret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # which this machine is asked without
    running = Provider()
    yield running
    running.stop()


@pytest.fixture
def made(make_local: Callable[..., Made], provider: Provider) -> Made:
    made = make_local(of_provider(provider), base_queries=1, unique_queries=1, results=2)
    set_password(made.folder, PASSWORD)
    return made


def to_provider(browser: Browser) -> str:
    """The address that the login page's link leads to."""
    assert "/admin/sso" in browser.get("/admin/login").links
    browser.response = browser.client.get("/admin/sso")
    assert browser.status == 302, browser.page.text
    return str(browser.response.headers["Location"])


def sign_on(made: Made, provider: Provider) -> Browser:
    browser = Browser(made.app)
    browser.get(provider.authorize(to_provider(browser)))
    return browser


def is_in(browser: Browser) -> bool:
    return browser.client.get("/admin/").status_code == 200


def test_who_is_allowed_comes_in_by_code_pkce_state_and_nonce_as_a_viewer(made: Made, provider: Provider) -> None:
    browser = sign_on(made, provider)
    assert browser.address == "/admin/" and "anna@example.org" in browser.page.text
    asked = provider.asked[0]
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert asked["redirect_uri"] == "http://localhost/admin/sso/back" and asked["scope"] == "openid email"
    assert len(asked["state"]) >= 20 and len(asked["nonce"]) >= 20 and len(asked["code_challenge"]) == 43
    assert read_accounts(made.folder)["anna@example.org"].role == "viewer"
    assert browser.client.get("/admin/log").status_code == 403
    assert any(entry.who == "anna@example.org" and entry.about == "by sign-on" for entry in read_entries(made.store))


def test_the_owner_gives_roles_and_takes_them_as_of_any_account(made: Made, provider: Provider) -> None:
    browser = sign_on(made, provider)
    change_role(made.folder, "anna@example.org", "owner")
    assert browser.client.get("/admin/log").status_code == 200, "from now on"
    assert "anna@example.org" in relstudy("account", made.folder).output
    remove_account(made.folder, "anna@example.org")
    assert not is_in(browser), "at once"
    assert sign_on(made, provider).address == "/admin/", "who is allowed has an account again"


@pytest.mark.parametrize(
    ("email", "verified", "enters"),
    [
        ("Anna@Example.org", True, True),
        ("ben@lab.example.org", True, True),
        ("ben@example.org", True, False),
        ("ben@x.lab.example.org", True, False),
        ("anna@example.org", False, False),
        ("anna@example.org", "true", False),
        ("anna@example.org", None, False),
        ("a@b@lab.example.org", True, False),
        ("ben\n@lab.example.org", True, False),
        ("owner", True, False),
        (None, True, False),
        (["anna@example.org"], True, False),
    ],
)
def test_only_verified_addresses_that_are_allowed_enter(
    made: Made, provider: Provider, email: str, verified: object, enters: bool
) -> None:
    provider.email, provider.verified = email, verified
    browser = sign_on(made, provider)
    assert is_in(browser) == enters
    if not enters:
        assert browser.status == 403 and "may not look at this study" in browser.page.text
        assert read_accounts(made.folder) == {}


FORGED: dict[str, Callable[[Provider], object]] = {
    "another provider's token": lambda it: it.claims.update(iss="http://127.0.0.1:1"),
    "a token for another client": lambda it: it.claims.update(aud="another"),
    "a token for another client, given to ours": lambda it: it.claims.update(aud="another", azp="relstudy"),
    "a token that is over": lambda it: it.claims.update(exp=int(time.time()) - 3600),
    "another visit's token": lambda it: it.claims.update(nonce="another"),
    "a token without a nonce": lambda it: it.claims.update(nonce=None),
    "another key": lambda it: setattr(it, "signed_by", RSAKey.generate_key(2048, {"kid": "k1"})),
    "a secret as a key": lambda it: (
        setattr(it, "signed_by", OctKey.import_key("a secret that others may know, too", {"kid": "k1"})),
        setattr(it, "algorithm", "HS256"),
        it.metadata.update(id_token_signing_alg_values_supported=["RS256", "HS256", "none"]),
    ),
    "no token": lambda it: it.answers.update({"/token": (200, {"access_token": "a", "token_type": "Bearer"})}),
    "a refusal": lambda it: it.answers.update({"/token": (400, {"error": "invalid_grant"})}),
    "no JSON": lambda it: it.answers.update({"/token": (200, b"<html>")}),
    "a redirection": lambda it: it.answers.update({"/token": (302, f"{it.issuer}/elsewhere")}),
    "no keys": lambda it: it.answers.update({"/keys": (500, {})}),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_is_not_of_this_provider_client_and_visit_is_refused(what: str, made: Made, provider: Provider) -> None:
    browser = Browser(made.app)
    back = provider.authorize(to_provider(browser))
    FORGED[what](provider)
    if provider.metadata:
        made.app.extensions["relstudy"].sign_on.client.server_metadata.clear()
    browser.get(back)
    assert browser.status in (400, 403, 502, 503) and not is_in(browser)
    assert "That did not work" in browser.page.text and "/admin/login" in browser.page.links


def test_an_answer_counts_for_the_browser_that_asked_and_once(made: Made, provider: Provider) -> None:
    victim, attacker = Browser(made.app), Browser(made.app)
    to_provider(victim)
    back = provider.authorize(to_provider(attacker))
    victim.get(back)
    assert victim.status == 400 and not is_in(victim), "nobody is signed on as somebody else"
    attacker.get(back)
    assert is_in(attacker)
    again = Browser(made.app)
    again.get(back)
    assert again.status == 400 and not is_in(again)
    changed = Browser(made.app)
    changed.get(provider.authorize(to_provider(changed))[:-1])
    assert changed.status == 400 and not is_in(changed)


def test_a_session_ends_when_the_address_is_not_allowed_any_more(made: Made, provider: Provider) -> None:
    browser = sign_on(made, provider)
    text = (made.folder / "study.toml").read_text(encoding="utf-8")
    for change, still in ((("anna@", "clara@"), False), (("[sso]", "[sso]"), True)):
        (made.folder / "study.toml").write_text(text.replace(*change), encoding="utf-8")
        app = create_app(made.folder, store=made.store)
        app.testing = True
        later = Browser(app)
        for cookie in browser.client._cookies.values():  # type: ignore[attr-defined]
            later.client.set_cookie(cookie.key, cookie.value, domain=cookie.domain, path=cookie.path)
        assert is_in(later) == still
    (made.folder / "study.toml").write_text(text.partition("[sso]")[0], encoding="utf-8")
    assert not Study.load(made.folder).sso


def test_a_logout_ends_the_session_here_and_offers_the_providers(made: Made, provider: Provider) -> None:
    browser, elsewhere = sign_on(made, provider), sign_on(made, provider)
    page = browser.send(browser.get("/admin/").form("/admin/logout"))
    assert not is_in(browser) and not is_in(elsewhere), "in every browser"
    link = next(link for link in page.links if link.startswith(provider.issuer))
    assert parse_qs(urlsplit(link).query)["post_logout_redirect_uri"] == ["http://localhost/admin"]


def test_a_provider_that_is_away_or_another_one_is_a_sentence_and_passwords_go_on(
    made: Made, provider: Provider
) -> None:
    provider.metadata["issuer"] = "https://elsewhere.example.org"
    browser = Browser(made.app)
    browser.get("/admin/sso")
    assert browser.status == 502 and "not the one that this study is set up for" in browser.page.text
    provider.stop()
    browser.get("/admin/sso")
    assert browser.status == 503 and "does not answer" in browser.page.text
    browser.get("/admin/sso/back?error=access_denied&state=x")
    assert browser.status == 403 and "not signed on there" in browser.page.text
    browser.send(browser.get("/admin/login").form(), password=PASSWORD)
    assert browser.address == "/admin/"
    provider.server = type(provider.server)(("127.0.0.1", 0), provider.server.RequestHandlerClass)
    threading.Thread(target=provider.server.serve_forever, daemon=True).start()


def test_a_programs_token_of_the_same_name_stays_a_programs(made: Made, provider: Provider) -> None:
    make_token(made.folder, "anna@example.org", "owner")
    assert not is_in(sign_on(made, provider))


HALVES = {
    "": "is needed, one of the two",
    'issuer = "https://a.org"\nallow = ["@b.org"]': "the issuer's name for this study is required",
    'issuer = "https://a.org"\nclient_id = "x"': "a list of e-mail addresses and domains is",
    'issuer = "https://a.org"\nclient_id = "x"\nallow = ["b.org"]': "a list of e-mail addresses and domains is",
    'issuer = "http://a.org"\nclient_id = "x"\nallow = ["@b.org"]': "an address with https:// is allowed",
    'issuer = "https://a.org"\nclient_id = "x"\nallow = ["@b.org"]\nsecret_variable = "it\'s this"': "never the secret",
    'issuer = "https://a.org"\nheader = "X-E"\nclient_id = "x"\nallow = ["@b.org"]': "one of the two",
    'header = "X-E"\nclient_id = "x"\nallow = ["@b.org"]': "belong to an issuer",
    'header = "X E"\nallow = ["@b.org"]': "the name of a header is allowed",
    'header = "X-E"\nallow = ["@b.org"]\nrole = "king"': "king",
}


@pytest.mark.parametrize("table", HALVES)
def test_half_a_configuration_is_a_sentence(table: str) -> None:
    with pytest.raises(RelstudyError, match=re.escape(HALVES[table])) as refused:
        Study.parse(with_sso(table or 'role = "viewer"\nallow = ["@b.org"]'))
    assert "it's this" not in str(refused.value)


def test_a_study_without_an_address_cannot_be_led_back_to() -> None:
    table = '\n[sso]\nissuer = "https://a.org"\nclient_id = "x"\nallow = ["@b.org"]\n'
    with pytest.raises(RelstudyError, match=r"\[study\] url is required"):
        Study.parse(TOML + table)


@pytest.mark.parametrize("lacking", ["secret", "library", "proxy"])
def test_serve_refuses_what_is_not_there(
    lacking: str, make_local: Callable[..., Made], provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(of_provider(provider))
    study = Study.load(made.folder)
    if lacking == "secret":
        monkeypatch.delenv("SSO_SECRET")
        with pytest.raises(RelstudyError, match=r"SSO_SECRET, which study\.toml names for the secret"):
            create_app(made.folder, store=made.store)
    elif lacking == "library":
        monkeypatch.setitem(sys.modules, "authlib.integrations.flask_client", None)
        with pytest.raises(RelstudyError, match=r'pip install "relstudy\[sso\]"'):
            create_app(made.folder, store=made.store)
    else:
        study = Study.parse(with_sso('header = "X-Forwarded-Email"\nallow = ["@b.org"]'))
        with pytest.raises(RelstudyError, match="which anybody could send: name the proxy"):
            require_proxy(study, None)
        require_proxy(study, "127.0.0.1")


@pytest.fixture
def behind(make_local: Callable[..., Made]) -> Made:
    return make_local(
        with_sso('header = "X-Forwarded-Email"\nallow = ["@lab.example.org"]\nrole = "editor"'),
        base_queries=1, unique_queries=1, results=2,
    )  # fmt: skip


def test_a_proxys_header_lets_in_whom_it_names_as_long_as_it_names_them(behind: Made) -> None:
    browser = Browser(behind.app, HTTP_X_FORWARDED_EMAIL="Ben@lab.example.org", **{PROXIED: "yes"})
    assert "/admin/sso" in browser.get("/admin/login").links
    assert browser.client.get("/admin/sso", environ_overrides=browser.environ).status_code == 303
    assert "ben@lab.example.org" in browser.get("/admin/").text
    browser.environ["HTTP_X_FORWARDED_EMAIL"] = "clara@lab.example.org"
    browser.get("/admin/")
    assert browser.address == "/admin/login", "another person sits there now"
    del browser.environ[PROXIED]
    browser.environ["HTTP_X_FORWARDED_EMAIL"] = "ben@lab.example.org"
    browser.get("/admin/")
    assert browser.address == "/admin/login", "not from the proxy"
    for address in ("ben@example.org", "", "x"):
        stranger = Browser(behind.app, HTTP_X_FORWARDED_EMAIL=address, **{PROXIED: "yes"})
        stranger.get("/admin/sso")
        assert stranger.status == 403
    assert Browser(behind.app, **{PROXIED: "yes"}).client.get("/admin/sso/back").status_code == 404


def test_a_header_is_believed_of_the_proxys_own_connection_alone(behind: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real connections, of the proxy's address and of another one, through the server as it runs."""
    monkeypatch.setattr(connections, "_most_connections", lambda: 100)
    listener = connections.listen("127.0.0.1", 0)
    server = connections.make_worker(behind.app, listener, ServerOptions(threads=2, trusted_proxy="127.0.0.3"))
    threading.Thread(target=server.run, daemon=True).start()

    def status(source: str, *headers: str) -> int:
        with socket.create_connection(listener.getsockname(), 20, (source, 0)) as one:
            lines = ["GET /admin/sso HTTP/1.1", "Host: localhost", "Connection: close", *headers]
            one.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(one.recv(4096).split()[1])

    ben = "X-Forwarded-Email: ben@lab.example.org"
    for_others = ("X-Forwarded-For: 127.0.0.3", f"{PROXIED}: yes", f"HTTP_{PROXIED}: yes")
    assert status("127.0.0.3", ben) == 303
    assert status("127.0.0.3", ben, "X-Forwarded-For: 203.0.113.9") == 303
    assert status("127.0.0.2", ben) == 403
    assert status("127.0.0.2", ben, *for_others) == 403
    assert status("127.0.0.3", "X_Forwarded_Email: ben@lab.example.org") == 403
    server.task_dispatcher.shutdown()
    server.close()


@pytest.mark.server
def test_serve_ends_in_a_sentence_where_a_header_has_no_proxy(behind: Made) -> None:
    command = [sys.executable, "-m", "relstudy", "serve", str(behind.folder), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "--trusted-proxy" in done.stderr and "Traceback" not in done.stderr


def test_under_a_host_each_study_has_its_own_way_back_and_lets_nobody_into_another(
    tmp_path: Path, provider: Provider
) -> None:
    for name in ("one", "two"):
        folder = write_study(tmp_path / "studies" / name, base_queries=1, unique_queries=1, results=2)
        (folder / "study.toml").write_text(of_provider(provider))
    studies = HostedStudies([tmp_path / "studies"], "http://localhost", secure=False, url_is_given=True)
    browser = Browser.__new__(Browser)
    browser.client, browser.environ = Client(host_app(studies)), {}
    assert "/one/admin/sso" in browser.get("/one/admin/login").links
    to = browser.client.get("/one/admin/sso").headers["Location"]
    back = provider.authorize(to)
    assert provider.asked[0]["redirect_uri"] == "http://localhost/one/admin/sso/back"
    two = browser.client.get(back.replace("/one/", "/two/").removeprefix("http://localhost"))
    assert two.status_code == 400, "a code for one study is none for the other"
    browser.get(back.removeprefix("http://localhost"))
    assert browser.address == "/one/admin/" and "anna@example.org" in browser.page.text
    assert browser.client.get("/two/admin/").status_code in (302, 303), "nobody is in there"
    assert "anna@example.org" in read_accounts(tmp_path / "studies" / "one")
    assert "anna@example.org" not in read_accounts(tmp_path / "studies" / "two")
    studies.close()
