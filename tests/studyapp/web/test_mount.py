"""A study under a path of a host, and what is believed of a proxy in front."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp import web
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.connections import make_worker
from relstudy.studyapp.web.mount import WsgiApp, mounted, path_of
from relstudy.studyapp.web.options import ServerOptions
from tests.studyapp.browse import Browser, Page
from tests.studyapp.studies import TOML, Made

PATH = "/studies/mine"
ADDRESSES = re.compile(r'(?:href|src|action|data-root)="([^"]*)"')
SMALL = {"base_queries": 1, "unique_queries": 3}


class MountedBrowser(Browser):
    """A browser at an app under a path; every address that it is shown must be below the path."""

    def __init__(self, app: WsgiApp) -> None:
        self.client = Client(app)
        self.environ = {}
        self.seen: set[str] = set()

    def consent_below(self) -> None:
        """From the consent page to the first page to rate."""
        self.send(self.page.form(), agree="yes")
        assert self.address == f"{PATH}/instructions", self.address
        self.send(self.page.form())

    @property
    def page(self) -> Page:
        assert self.response is not None
        for answer in (*self.response.history, self.response):
            location = answer.headers.get("Location")
            assert location is None or location.startswith(f"{PATH}/"), location
            for cookie in answer.headers.getlist("Set-Cookie"):
                assert f"Path={PATH};" in f"{cookie};"
        html = self.response.get_data().decode()
        found = {address for address in ADDRESSES.findall(html) if not address.startswith(("https:", "#"))}
        found |= set(" ".join(re.findall(r'data-preload="([^"]*)"', html)).split())
        assert all(address.startswith(f"{PATH}/") for address in found), found
        self.seen |= found
        return Page(html)


def stripping(app: WsgiApp) -> WsgiApp:
    """A proxy that takes the path off."""

    def proxy(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        assert environ["PATH_INFO"].startswith(PATH)
        return app({**environ, "PATH_INFO": environ["PATH_INFO"][len(PATH) :]}, start_response)

    return proxy


@pytest.mark.slow
@pytest.mark.parametrize("proxy", [lambda app: app, stripping])
def test_a_whole_session_stays_below_the_path(
    make_local: Callable[..., Made], proxy: Callable[[WsgiApp], WsgiApp]
) -> None:
    url = f"https://lab.example.org{PATH}"
    made = make_local(TOML.replace('title = "A test study"', f'title = "A"\nurl = "{url}/"'), **SMALL)
    rater = MountedBrowser(proxy(mounted(made.app, path_of(url))))
    rater.get(f"{PATH}/")
    assert rater.address == f"{PATH}/consent"
    rater.consent_below()
    first = rater.address
    sent = rater.client.post(first, data=rater.filled(), headers={"X-Relstudy-Page": "next"})
    assert sent.status_code == 200 and sent.headers["X-Relstudy-Page"] == f"{PATH}/rate/2"
    rater.get(f"{PATH}/rate")
    while rater.address.startswith(f"{PATH}/rate/"):
        rater.rate()
    assert rater.address == f"{PATH}/thanks"
    rater.send(rater.page.form(f"{PATH}/more"))
    assert rater.address.startswith(f"{PATH}/rate/")
    for address in [seen for seen in rater.seen if "/item/" in seen or "/static/" in seen]:
        assert rater.client.get(address).status_code == 200, address
    assert rater.get(f"{PATH}/nowhere").links[1:] == [f"{PATH}/"]


@pytest.mark.slow
def test_the_researchers_pages_and_personal_links_stay_below_the_path(make_local: Callable[..., Made]) -> None:
    made = make_local(**SMALL)
    app = mounted(made.app, PATH)
    researcher, rater = MountedBrowser(app), MountedBrowser(app)
    assert researcher.client.get(f"{PATH}/admin").location == f"{PATH}/admin/"
    page = researcher.get(f"{PATH}{make_setup_link(made.folder)}")
    researcher.send(page.form(), password="a long password")
    assert researcher.address == f"{PATH}/admin/"
    for tab in [link for link in researcher.page.links if "/admin/" in link]:
        researcher.get(tab)
        assert researcher.status == 200 and researcher.address == tab
    page = researcher.send(researcher.get(f"{PATH}/admin/invite").form(f"{PATH}/admin/invite"), count="1")
    assert re.search(rf"http://localhost{PATH}/enter/\S+", page.text)
    link, other = (PATH + invitation.path for invitation in invite(made.store, Study.load(made.folder), 2))
    rater.get(link)
    rater.consent_below()
    assert rater.address == f"{PATH}/rate/1"
    assert f"{PATH}/rate" in rater.get(other).links
    forget = next(link for link in researcher.get(f"{PATH}/admin/raters").links if "/forget/" in link)
    researcher.send(researcher.get(forget).form(forget))
    assert researcher.address == f"{PATH}/admin/raters"
    researcher.send(researcher.page.form(f"{PATH}/admin/logout"))
    assert researcher.address == f"{PATH}/admin/login"


def test_no_template_has_an_address_that_leaves_out_the_path() -> None:
    own = re.compile(
        r'(?:href|src|action)="(?!#|\{\{ asset\(|\{\{ page\.completion_url \}\}|[^"]*\| at \}\}[^"]*")[^"]*"'
    )
    templates = Path(web.__file__).parent / "templates"
    assert [(path.name, found) for path in templates.rglob("*.html") for found in own.findall(path.read_text())] == []


def test_health_is_answered_with_and_without_the_path(make_local: Callable[..., Made]) -> None:
    client = Client(mounted(make_local(**SMALL).app, PATH))
    assert [client.get(address).status_code for address in (f"{PATH}/health", "/health")] == [200, 200]
    assert client.get(f"{PATH}s/health").status_code == 404


@pytest.mark.parametrize("url", ["https://lab.example.org/a?b=1", "https://lab.example.org/a/../b", "https://x/a b"])
def test_an_address_that_is_no_place_for_a_study_is_refused(url: str) -> None:
    with pytest.raises(RelstudyError, match="a path of letters"):
        Study.parse(f'[study]\nid = "a"\ntitle = "a"\nurl = "{url}"\n')


@contextlib.contextmanager
def echoing(trusted_proxy: str | None) -> Iterator[Callable[[str, dict[str, str]], dict[str, Any]]]:
    """A worker that answers with what an app is told of a request; asked from an address with headers."""

    def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        names = ("REMOTE_ADDR", "HTTP_HOST", "wsgi.url_scheme", "SCRIPT_NAME", "SERVER_PORT")
        told = {name: environ.get(name) for name in names}
        body = json.dumps(told).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    worker = make_worker(mounted(echo, PATH), listener, ServerOptions(threads=1, trusted_proxy=trusted_proxy))
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()

    def ask(source: str, headers: dict[str, str]) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", port, 30, source_address=(source, 0))
        connection.request("GET", f"{PATH}/", headers={"Host": "own.example", **headers})
        told: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return told

    try:
        yield ask
    finally:
        with contextlib.suppress(OSError):
            worker.close()
        thread.join(30)


FORGED = {
    "X-Forwarded-For": "192.0.2.66, 192.0.2.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "elsewhere.example",
    "X-Forwarded-Prefix": "/elsewhere",
    "X-Forwarded-Port": "99",
    "Forwarded": "for=192.0.2.66;host=elsewhere.example;proto=https",
}
OWN = ("own.example", "http", PATH)


def _told(told: dict[str, Any]) -> tuple[str, str, str]:
    return told["HTTP_HOST"], told["wsgi.url_scheme"], told["SCRIPT_NAME"]


@pytest.mark.slow
def test_forwarded_headers_are_believed_of_the_named_proxy_alone() -> None:
    with echoing("127.0.0.1") as ask:
        stranger, told = ask("127.0.0.2", FORGED), ask("127.0.0.1", FORGED)
    assert stranger["REMOTE_ADDR"] == "127.0.0.2" and _told(stranger) == OWN
    assert stranger["SERVER_PORT"] != "99"
    # The last address is the one the proxy added; what a client wrote before it is not believed.
    assert told["REMOTE_ADDR"] == "192.0.2.7"
    assert _told(told) == ("elsewhere.example", "https", PATH)


@pytest.mark.slow
def test_without_a_named_proxy_no_forwarded_header_is_believed() -> None:
    with echoing(None) as ask:
        told = ask("127.0.0.1", FORGED)
    assert told["REMOTE_ADDR"] == "127.0.0.1" and _told(told) == OWN


def test_a_redirection_keeps_to_the_path_whatever_host_is_named(make_local: Callable[..., Made]) -> None:
    client = Client(mounted(make_local(**SMALL).app, PATH))
    for host in ("localhost", "evil.example", "[", "a@evil.example", "a b"):
        assert client.get(f"{PATH}/admin", headers={"Host": host}).location == f"{PATH}/admin/", host
