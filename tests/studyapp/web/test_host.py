"""Many studies on one port: apart from each other, added and stopped while the host runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.config.accounts import make_token
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.secure_delete import unfinished_deletions
from relstudy.studyapp.database.serving_lock import nobody_serves
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.monitoring.traces import left_of_the_forgotten
from relstudy.studyapp.web import hosted
from relstudy.studyapp.web.host import host_app
from relstudy.studyapp.web.hosted import HostedStudies
from relstudy.studyapp.web.mount import mounted
from relstudy.studyapp.web.security import Sessions
from tests.commands import relstudy
from tests.studyapp.browse import Browser
from tests.studyapp.cluster import Cluster
from tests.studyapp.serving import Server
from tests.studyapp.studies import write_study

SIZES = {"base_queries": 1, "unique_queries": 1, "results": 2}


class Visitor(Browser):
    """A browser at a host."""

    def __init__(self, studies: HostedStudies) -> None:
        self.client = Client(host_app(studies))
        self.environ = {}

    def begin(self, name: str) -> None:
        self.get(f"/{name}/")
        self.send(self.page.form(), agree="yes")
        assert self.address == f"/{name}/instructions", self.address
        self.send(self.page.form())


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[..., HostedStudies]]:
    """A host of studies in tmp_path/studies, of the names that are given."""
    made: list[HostedStudies] = []

    def make(*names: str, url: str = "http://localhost") -> HostedStudies:
        for name in names:
            write_study(tmp_path / "studies" / name, **SIZES)
        made.append(HostedStudies([tmp_path / "studies"], url, secure=False))
        return made[-1]

    yield make
    for studies in made:
        studies.close()


def ratings(folder: Path) -> int:
    return len(ratings_table(Store.of_study(folder), Study.load(folder)))


@pytest.mark.slow
def test_two_studies_of_one_id_do_not_throw_each_others_raters_out(
    host: Callable[..., HostedStudies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELSTUDY_SECRET", "s" * 40)  # so that even the cookies' names are the same
    rater = Visitor(host("one", "two"))
    for name in ("one", "two"):
        rater.begin(name)
    for name in ("one", "two", "one"):
        rater.get(f"/{name}/rate")
        assert rater.address.startswith(f"/{name}/rate/"), rater.address
        rater.rate()
    assert [ratings(tmp_path / "studies" / name) for name in ("one", "two")] == [4, 2]


@pytest.mark.slow
def test_a_host_finishes_deletions_that_a_reader_held_up_and_searches_the_studies_folders(
    host: Callable[..., HostedStudies], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted, "DELETE_AGAIN", 0.02)
    studies, folder = host("one"), tmp_path / "studies" / "one"
    Visitor(studies).begin("one")
    store = Store.of_study(folder)
    code = people_table(store, Study.load(folder))["rater_id"][0]
    (folder / "mine.csv").write_text(f"rater_id\n{code}\n", encoding="utf-8")
    with store.read() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM raters").all()
        assert forget(store, folder, code).readable
        studies.begin_work()
        time.sleep(0.2)
        assert unfinished_deletions(store)
    until = time.monotonic() + 30
    while (unfinished_deletions(store) or not left_of_the_forgotten(folder, store).looked) and time.monotonic() < until:
        time.sleep(0.02)
    left = left_of_the_forgotten(folder, store)
    assert [(trace.kind, Path(trace.where).name) for trace in left.traces] == [("people", "mine.csv")]
    store.dispose()


@pytest.mark.slow
def test_a_broken_study_is_told_and_stops_no_other(
    host: Callable[..., HostedStudies],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    visitor = Visitor(host("sound", "broken"))
    whole = (tmp_path / "studies/broken/study.toml").read_text()
    (tmp_path / "studies/broken/study.toml").write_text("[study]\nid = ")
    visitor.get("/broken/")
    assert visitor.status == 503 and "cannot be reached" in visitor.page.text
    assert visitor.response is not None and visitor.response.headers["Retry-After"] == "5"
    assert "broken is not served" in capsys.readouterr().err
    visitor.post("/broken/rate/1", {"rating-1": "3"})
    assert visitor.status == 503
    assert capsys.readouterr().err == "", "it is not tried, and told, again with every request"
    assert "Taking part" in visitor.get("/sound/").text
    (tmp_path / "studies/broken/study.toml").write_text(whole)
    monkeypatch.setattr(hosted, "TRY_AGAIN", 0.0)
    visitor = Visitor(host())
    assert "Taking part" in visitor.get("/broken/").text


@pytest.mark.slow
def test_studies_are_added_stopped_and_replaced_while_the_host_runs(
    host: Callable[..., HostedStudies], tmp_path: Path
) -> None:
    studies = host("first")
    studies.begin_work()
    visitor, folder = Visitor(studies), tmp_path / "studies" / "late"
    assert visitor.get("/late/").text and visitor.status == 404
    write_study(folder, **SIZES)
    visitor.begin("late")
    with pytest.raises(RelstudyError, match="a server is running"), nobody_serves(folder, Store.of_study(folder)):
        pass
    (folder / "stopped").touch()
    studies.let_go()
    assert visitor.get("/late/").text and visitor.status == 404
    with nobody_serves(folder, Store.of_study(folder)):
        pass  # as `relstudy admin restore` asks
    (folder / "stopped").unlink()
    visitor.get("/late/")
    assert visitor.address == "/late/rate/1", "who had begun goes on"
    shutil.move(folder, tmp_path / "elsewhere")
    write_study(folder, **SIZES)
    studies.let_go()
    assert "Taking part" in visitor.get("/late/").text, "another study under the same name knows nobody yet"


@pytest.mark.slow
def test_guessing_at_one_study_locks_nobody_out_of_another(host: Callable[..., HostedStudies], tmp_path: Path) -> None:
    visitor = Visitor(host("one", "two"))
    statuses = [visitor.client.get("/one/enter/wrong").status_code for _ in range(31)]
    assert statuses == [404] * 30 + [429]
    folder = tmp_path / "studies/two"
    link = invite(Store.of_study(folder), Study.load(folder), 1) if visitor.get("/two/health").text else []
    assert "Taking part" in visitor.get(f"/two{link[0].path}").text


@pytest.mark.slow
def test_one_secret_for_all_studies_makes_no_session_or_form_of_one_anothers(
    host: Callable[..., HostedStudies], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who writes one study's [sso] would sign on there as anybody, and take the session to the others.
    monkeypatch.setenv("RELSTUDY_SECRET", "0" * 32)
    studies = host("one", "two")
    one, two = (hosted.app for hosted in map(studies.get, ("one", "two")) if hosted is not None)
    browser = Browser(one)
    browser.get("/consent")
    for app, holds in ((one, True), (two, False)):
        serializer = Sessions().get_signing_serializer(app)
        assert serializer is not None and serializer.loads_unsafe(browser.cookie)[0] is holds
        token = browser.page.form().fields["csrf"]
        visit = f"visit:{serializer.loads_unsafe(browser.cookie)[1]['nonce']}"
        assert app.extensions["relstudy"].signer.csrf_holds(visit, token) is holds
    assert one.config["SESSION_COOKIE_NAME"] != two.config["SESSION_COOKIE_NAME"]


@pytest.mark.slow
def test_the_host_has_a_path_of_its_own_and_names_no_study(host: Callable[..., HostedStudies]) -> None:
    client = Client(mounted(host_app(host("one")), "/studies"))
    page = client.get("/studies/one/", follow_redirects=True)
    assert page.request.path == "/studies/one/consent" and 'action="/studies/one/decline"' in page.text
    assert "Path=/studies/one;" in page.headers["Set-Cookie"] + ";"
    front = client.get("/studies/")
    assert front.status_code == 200 and "one" not in front.text.split("<body")[1].replace("one of", "")
    assert client.get("/studies/health").json == {"status": "ok", "studies": 1}
    for address in ("/studies/none/", "/studies/..%2fone/", "/studies/.hidden/", "/studies/static/nothing"):
        assert client.get(address).status_code == 404
    assert client.get("/studies/static/study.css").status_code == 200


@pytest.mark.postgresql
def test_each_study_has_a_postgresql_database_of_its_name_which_is_made_when_missing(
    host: Callable[..., HostedStudies], tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", cluster.url("host-{name}"))
    visitor = Visitor(host("one", "two"))
    for name in ("one", "two"):
        visitor.begin(name)
    visitor.rate()
    assert [ratings(tmp_path / "studies" / name) for name in ("one", "two")] == [0, 2]


@pytest.mark.postgresql
def test_a_second_study_in_one_postgresql_database_is_refused_and_the_first_goes_on(
    host: Callable[..., HostedStudies],
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DATABASE_URL", cluster.new_database())
    studies = host("one", "two")
    toml = studies.places[0] / "two/study.toml"
    toml.write_text(toml.read_text().replace('id = "test"', 'id = "other"'))
    visitor = Visitor(studies)
    visitor.begin("one")
    visitor.get("/two/")
    assert visitor.status == 503 and "holds" in capsys.readouterr().err
    assert visitor.get("/one/rate").text and visitor.status == 200


@pytest.mark.server
def test_the_command_serves_what_is_there_and_what_is_put_there_and_says_so(tmp_path: Path) -> None:
    place = tmp_path / "studies"
    write_study(place / "one", **SIZES)
    write_study(place / "not a name", **SIZES)
    (place / "broken").mkdir()
    (place / "broken/study.toml").write_text("nonsense")
    server = Server(place, command="host", workers=2)

    def status(path: str) -> int:
        try:
            return int(urllib.request.urlopen(server.address + path, timeout=60).status)
        except urllib.error.HTTPError as error:
            return error.code

    try:
        told = (place / "serve.err").read_text()
        assert "broken is not served" in told and "not a name is not served" in told and "/one/admin/setup/" in told
        assert (status("/one/health"), status("/broken/health"), status("/two/health")) == (200, 503, 404)
        write_study(place / "two", **SIZES)
        assert status("/two/health") == 200
        workers = subprocess.run(["pgrep", "-P", str(server.child.pid)], capture_output=True, text=True).stdout.split()
        assert len(workers) == 2
        subprocess.run(["kill", "-9", *workers], check=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                assert (status("/one/health"), status("/two/health")) == (200, 200)
                break
            except OSError:
                assert time.monotonic() < deadline
    finally:
        server.stop()
    assert sys.platform == "win32" or (place / "two/study.db").exists()


@pytest.mark.slow
def test_invitations_lead_to_the_hosts_address_whatever_host_a_request_names(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "studies" / "one", **SIZES)
    token = make_token(folder, "maker", "editor")
    studies = HostedStudies([tmp_path / "studies"], "https://lab.example.org/s", secure=True, url_is_given=True)
    try:
        asked = {"headers": {"Authorization": f"Bearer {token}", "Host": "evil.example"}, "json": {"count": 1}}
        answer = Client(mounted(host_app(studies), "/s")).post("/s/one/api/invites", **asked)
        assert answer.json is not None, answer.text
        assert answer.json["invites"][0]["link"].startswith("https://lab.example.org/s/one/enter/")
        assert "https://lab.example.org/s/one/enter/" in relstudy("admin", "invite", folder, "-n", "1").output
    finally:
        studies.close()
