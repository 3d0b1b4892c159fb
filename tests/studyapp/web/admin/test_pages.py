"""The researcher's pages: what they show, what they change, and that nobody else gets in."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from relstudy.common.runtime.wording import moment
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.slots import read_leases
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.accounts import make_token
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments
from relstudy.studyapp.demo.rating import read_page
from relstudy.studyapp.monitoring.export import IN_PARTS, ratings_table
from relstudy.studyapp.monitoring.statistics import statistics_of, study_statistics
from relstudy.studyapp.sampling.expected_gain import ExpectedGain, Widths
from relstudy.studyapp.web.admin import figures
from relstudy.studyapp.web.admin.access import set_password
from relstudy.studyapp.web.admin.figures import WAITED_FOR, recent_figures
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.studyapp.browse import Page, joined
from tests.studyapp.studies import TOML, write_study

PAGES = (
    *("/admin/", "/admin/study", "/admin/raters", "/admin/handout"),
    *("/admin/invite", "/admin/export", "/admin/log"),
)
PASSWORD = "correct horse battery"


class Lab:
    """A study, its database, an admin at a browser, and raters."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store.of_study(folder)
        prepare(folder, self.store)
        set_password(folder, PASSWORD)
        self.study = Study.load(folder)
        self.app = create_app(folder, store=self.store)

    def admin(self) -> FlaskClient:
        client = self.app.test_client()
        csrf = read_page(client.get("/admin/login").text).hidden["csrf"]
        answer = client.post("/admin/login", data={"csrf": csrf, "password": PASSWORD})
        assert answer.status_code == 303
        return client

    def post(self, admin: FlaskClient, path: str, **fields: str) -> tuple[int, str]:
        token = re.search(r'name="csrf" value="([\w-]+)"', admin.get("/admin/").text)
        assert token is not None
        answer = admin.post(path, data={"csrf": token[1], **fields})
        return answer.status_code, answer.text

    def rate(self, pages: int, choose: Callable[[int], str]) -> None:
        """Someone invited rates so many pages."""
        browser = joined(self.app, invite(self.store, self.study, 1)[0].path)
        browser.rate_pages(pages, choose)
        self.app.extensions.pop("relstudy-figures", None)


@pytest.fixture
def make_lab(tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    labs: list[Lab] = []

    def make(toml: str = TOML) -> Lab:
        labs.append(Lab(write_study(tmp_path / f"study{len(labs)}", toml)))
        return labs[-1]

    yield make
    for lab in labs:
        lab.store.dispose()


def _words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.slow
def test_nothing_is_changed_without_the_password_or_with_a_forged_form(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin, fields = lab.admin(), {"state": "closed", "count": "3"}
    for path in ("/admin/state", "/admin/invite", "/admin/forget/R1"):
        assert lab.app.test_client().post(path, data=fields).status_code == 401, path
        assert admin.post(path, data=fields).status_code == 400, path
        assert admin.post(path, data={**fields, "csrf": "0" * 40}).status_code == 400, path
    answer = relstudy("admin", "status", lab.folder, "--json")
    assert '"state": "open"' in answer.output
    assert '"raters": 0' in answer.output


@pytest.mark.slow
def test_an_empty_study_has_pages_without_figures(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    for path in PAGES:
        assert admin.get(path).status_code == 200
    assert "Nothing has been rated yet." in admin.get("/admin/").text


@pytest.mark.slow
def test_the_overview_shows_progress_by_block_and_agrees_with_the_command(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.rate(99, lambda number: str(1 + number % 5))
    lab.rate(99, lambda number: str(1 + (number + 1) % 5))
    lab.rate(1, lambda number: "undecided")
    words = _words(lab.admin().get("/admin/").text)
    assert "base 83 % 5 of 6 pages" in words
    assert "unique 67 % 4 of 6 pages" in words
    assert "Ratings 36 4 undecided" in words
    answer = succeeds("admin", "status", lab.folder, "--insight")
    for block in ("base", "unique"):
        line = next(line for line in answer.output.splitlines() if line.startswith(block))
        error = line.split()[-1]
        assert re.search(rf"{block} 1-5 .* {re.escape(error)}", words), (block, error)
    shown = re.findall(r"secret-system error (\S+),", words)
    told = next(line.split()[-1] for line in answer.output.splitlines() if "secret-system" in line)
    assert shown == [told]


@pytest.mark.slow
def test_pause_close_and_reopen_take_effect_for_raters(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    rater = lab.app.test_client()
    for state, status, words in (
        ("paused", 503, "The study is paused"),
        ("closed", 503, "The study is closed"),
        ("open", 200, "Taking part"),
    ):
        assert lab.post(admin, "/admin/state", state=state)[0] == 303
        answer = rater.get("/consent")
        assert (answer.status_code, words in answer.text) == (status, True), state
        assert f" {state} " in _words(admin.get("/admin/").text), "shown at once, however old other figures may be"
    assert lab.post(admin, "/admin/state", state="gone")[0] == 400


@pytest.mark.slow
def test_links_made_on_the_page_let_people_in_and_are_shown_once(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    status, html = lab.post(admin, "/admin/invite", count="3")
    paths = set(re.findall(r"/enter/[\w-]+", html))
    assert (status, len(paths)) == (200, 3)
    for path in paths:
        assert "Taking part" in lab.app.test_client().get(path, follow_redirects=True).text
    assert not re.findall(r"/enter/[\w-]+", admin.get("/admin/invite").text)
    for wrong in ("0", "501", "-1", "many", ""):
        assert lab.post(admin, "/admin/invite", count=wrong)[0] == 422


def test_a_form_that_is_sent_twice_makes_its_links_once(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    sent = {**Page(admin.get("/admin/invite").text).form("/admin/invite").fields, "count": "2"}
    first, second = (admin.post("/admin/invite", data=sent) for _ in range(2))
    paths = re.findall(r"/enter/[\w-]+", first.text)
    assert (first.status_code, second.status_code) == (200, 409) and "This form was sent twice" in second.text
    assert paths and paths == re.findall(r"/enter/[\w-]+", second.text)
    with lab.store.read() as connection:
        assert len(read_raters(connection)) == 2
    other = admin.post("/admin/invite", data={**sent, "count": "3"}).text
    assert not set(paths) & set(re.findall(r"/enter/[\w-]+", other)), "another number means others"


@pytest.mark.slow
def test_links_made_on_the_page_or_by_a_program_lead_into_the_group_that_was_chosen(
    make_lab: Callable[..., Lab],
) -> None:
    groups = "".join(f'\n[[groups]]\nname = "{name}"\nblocks = ["base", "unique"]\n' for name in ("nurses", "others"))
    lab = make_lab(TOML + groups)
    admin = lab.admin()
    assert "<option>nurses</option><option>others</option>" in admin.get("/admin/invite").text
    assert lab.post(admin, "/admin/invite", count="2", group="nurses")[0] == 200
    assert lab.post(admin, "/admin/invite", count="1", group="")[0] == 200
    status, html = lab.post(admin, "/admin/invite", count="1", group="doctors")
    assert status == 422 and "there is no group" in html
    token = make_token(lab.folder, "maker", "editor")
    answers = [
        lab.app.test_client().post(
            "/api/invites", json={"count": 1, "group": group}, headers={"Authorization": f"Bearer {token}"}
        )
        for group in ("others", "doctors", 3)
    ]
    assert [answer.status_code for answer in answers] == [201, 400, 400]
    with lab.store.read() as connection:
        groups_of = [rater.rater_group for rater in read_raters(connection)]
    assert groups_of == ["nurses", "nurses", None, "others"]


@pytest.mark.slow
def test_a_study_without_personal_links_says_so(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(TOML.replace('["personal", "open"]', '["prolific"]'))
    admin = lab.admin()
    text = admin.get("/admin/invite").text
    assert "does not admit people by personal link" in text
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in text
    assert lab.post(admin, "/admin/invite", count="1")[0] == 422


@pytest.mark.slow
def test_the_download_is_what_the_command_writes_however_many_rows_are_in_memory(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab()
    lab.rate(99, lambda number: str(1 + number % 5))
    admin = lab.admin()
    answer = admin.get("/admin/export/ratings.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="test-ratings.csv"'
    monkeypatch.setitem(IN_PARTS, "yield_per", 3)
    succeeds("export", lab.folder, "--people", lab.folder / "people.csv")
    assert answer.data == (lab.folder / "ratings.csv").read_bytes() and answer.data.count(b"\n") == 17
    assert admin.get("/admin/export/people.csv").data == (lab.folder / "people.csv").read_bytes()
    monkeypatch.undo()
    history = pd.read_csv(io.BytesIO(admin.get("/admin/export/ratings.csv?history=yes").data))
    assert "revision" in history
    assert pd.read_csv(io.BytesIO(admin.get("/admin/export/ratings.csv?scale=1-9").data)).empty
    with lab.store.write() as connection:
        connection.execute(sa.update(assignments).where(assignments.c.position == 4).values(surplus=True))
    for query, rows in (("", 16), ("?surplus=no", 12)):
        assert len(pd.read_csv(io.BytesIO(admin.get(f"/admin/export/ratings.csv{query}").data))) == rows


@pytest.mark.slow
def test_a_page_in_a_raters_hands_is_listed_until_it_expires(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.rate(3, lambda number: "3")
    held = read_leases(lab.store)
    assert held
    assert not any(lease.expired for lease in held)
    assert all(lease.expired for lease in read_leases(lab.store, now=time.time() + 31 * 60))
    words = _words(lab.admin().get("/admin/handout").text)
    times = f"{moment(held[0].handed_at)} {moment(held[0].leased_until)}"
    assert f"{held[0].rater_id} unique {held[0].pairs} {times}" in words
    answer = relstudy("admin", "status", lab.folder, "--leases")
    assert held[0].rater_id in answer.output


@pytest.mark.slow
def test_a_forgotten_rater_is_gone_from_every_page_and_the_export(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    lab.rate(2, lambda number: "3")
    lab.rate(2, lambda number: "4")
    admin = lab.admin()
    rater = re.findall(r"/admin/forget/(\w+)", admin.get("/admin/raters").text)[0]
    assert f"Erase {rater}" in admin.get(f"/admin/forget/{rater}").text
    assert lab.post(admin, f"/admin/forget/{rater}")[0] == 303
    assert rater not in admin.get("/admin/raters").text
    assert rater not in admin.get("/admin/export/ratings.csv").text
    assert lab.post(admin, f"/admin/forget/{rater}")[0] == 303, (
        "who is gone already is gone: what is left is tried again"
    )
    assert lab.post(admin, "/admin/forget/RNOBODY")[0] == 404


@pytest.mark.slow
def test_lines_that_a_chart_has_no_colour_for_are_in_its_table(make_lab: Callable[..., Lab]) -> None:
    blocks = "".join(f'[[blocks]]\nname = "again {number}"\npairs = "base"\n' for number in range(9))
    lab = make_lab(TOML + blocks)
    lab.rate(3, lambda number: "3")
    html = lab.admin().get("/admin/").text
    growth = html[html.index("<h2>Ratings over time") :].partition("</section>")[0]
    assert "and 3 more, in the table below" in growth
    assert all(f"again {number}</th>" in growth for number in range(9)) and growth.count("<path") == 8 + 8


def test_the_bar_leads_to_what_is_asked_to_raters_progress_and_results(make_lab: Callable[..., Lab]) -> None:
    admin = make_lab().admin()
    bar = re.findall(r'href="(/admin/\w*)"[^>]*>([^<]+)</a>', admin.get("/admin/invite").text)
    assert bar == [
        *(("/admin/study", "Set up"), ("/admin/raters", "Raters"), ("/admin/", "Progress")),
        *(("/admin/answer", "Results"), ("/admin/log", "Log")),
        *(("/admin/raters", "Raters"), ("/admin/invite", "Invite")),
    ]
    page = admin.get("/admin/study").text
    assert "How raters get in" in page and "of everyone" in page and "a pair" in page
    assert page.count('aria-current="page"') == 1


@pytest.mark.slow
def test_figures_are_worked_out_once_for_many_looks(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab()
    admin = lab.admin()
    looks: list[int] = []
    work_out = figures.study_statistics
    monkeypatch.setattr(figures, "study_statistics", lambda *given: looks.append(1) or work_out(*given))
    monkeypatch.setattr(figures, "WAITED_FOR", 600.0)  # a busy machine must not work them out behind the page
    for path in ("/admin/", "/admin/raters", "/admin/handout", "/admin/"):
        admin.get(path)
    assert len(looks) == 1
    later = time.monotonic() + 3600
    monkeypatch.setattr(time, "monotonic", lambda: later)
    admin.get("/admin/")
    assert len(looks) == 2


@pytest.mark.slow
def test_what_the_base_block_tells_of_a_rater_is_told_at_the_end(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    equal = "same rating on every base pair"
    lab.rate(3, lambda number: "3" if number <= 2 else str(7 - number))
    assert equal not in admin.get("/admin/raters").text
    lab.rate(99, lambda number: "3" if number <= 2 else str(7 - number))
    assert admin.get("/admin/raters").text.count(equal) == 1


@pytest.mark.slow
def test_a_failed_attention_check_is_a_flag_and_the_fillers_beside_it_are_none(make_lab: Callable[..., Lab]) -> None:
    check = '[[attention]]\nblock = "base"\nquery_id = "q0"\nresult_id = "q1"\nexpected = [5]\n'
    lab = make_lab(TOML + check)
    admin = lab.admin()
    lab.rate(99, lambda number: "5")
    assert "attention checks failed" not in admin.get("/admin/raters").text
    lab.rate(99, lambda number: "4")
    assert "attention checks failed: 1" in _words(admin.get("/admin/raters").text)


@pytest.mark.slow
def test_raters_are_listed_fifty_a_page(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    invite(lab.store, lab.study, 120)
    admin = lab.admin()
    seen: list[str] = []
    for number in (1, 2, 3):
        found = re.findall(r"/admin/forget/(\w+)", admin.get(f"/admin/raters?page={number}").text)
        assert len(found) == (50 if number < 3 else 20)
        seen += found
    assert len(set(seen)) == 120
    for odd in ("0", "-3", "99", "x"):
        assert admin.get(f"/admin/raters?page={odd}").status_code == 200


@pytest.mark.slow
def test_markup_in_a_block_a_source_or_a_title_stays_text(make_lab: Callable[..., Lab]) -> None:
    evil = "<img src=x onerror=alert(1)>"
    lab = make_lab(TOML.replace('"A test study"', f'"{evil}"').replace('name = "base"', f'name = "{evil}"'))
    pairs = (lab.folder / "pairs.csv").read_text().replace("secret-system", evil)
    folder = lab.folder.parent / "evil"
    lab.folder.rename(folder)
    (folder / "pairs.csv").write_text(pairs)
    (folder / "study.db").unlink()
    lab = Lab(folder)
    lab.rate(99, lambda number: str(1 + number % 5))
    admin = lab.admin()
    for path in PAGES:
        html = admin.get(path).text
        assert "<img" not in html, path
        assert "&lt;img src=x onerror=alert(1)&gt;" in html, path
        assert "style=" not in html, path


@pytest.mark.slow
def test_static_files_are_compressed_and_change_their_address_with_their_content(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    client = lab.app.test_client()
    address = re.search(r'href="(/static/study\.css\?v=\w{12})"', client.get("/consent").text)
    assert address is not None
    plain = client.get(address[1])
    small = client.get(address[1], headers={"Accept-Encoding": "gzip"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert len(small.data) < len(plain.data) / 3
    assert "Content-Encoding" not in plain.headers
    again = client.get(address[1], headers={"Accept-Encoding": "gzip", "If-None-Match": small.headers["ETag"]})
    assert again.status_code == 304
    assert "Content-Encoding" not in client.get("/consent", headers={"Accept-Encoding": "gzip"}).headers


@pytest.mark.slow
def test_the_figures_rest_on_the_same_ratings_as_the_export(make_lab: Callable[..., Lab]) -> None:
    """Also where a rating was changed, which makes two revisions of it."""
    lab = make_lab()
    lab.rate(99, lambda number: str(1 + number % 5))
    lab.rate(4, lambda number: "undecided" if number == 3 else "2")
    browser = joined(lab.app, invite(lab.store, lab.study, 1)[0].path)
    for rating in ("1", "5"):
        browser.get("/rate/1")
        browser.rate_pages(1, lambda number, rating=rating: rating)  # type: ignore[misc]
    table = ratings_table(lab.store, lab.study)
    assert table["revisions"].max() == 2
    moments = pd.to_datetime(table["rated_at"], format="ISO8601", utc=True) - pd.Timestamp(0, tz="UTC")
    told = statistics_of(table.assign(at=moments / pd.Timedelta(seconds=1)), lab.study)
    found = study_statistics(lab.store, lab.study)
    assert found.sources == told.sources
    assert found.seconds == told.seconds
    assert found.median_seconds == pytest.approx(told.median_seconds, abs=0.01)  # the export keeps milliseconds
    assert {name: view.agreement for name, view in found.raters.items()} == pytest.approx(
        {name: view.agreement for name, view in told.raters.items()}, nan_ok=True
    )
    assert found.growth_of_blocks["base"][-1] == told.growth_of_blocks["base"][-1]


@pytest.mark.slow
def test_numbers_of_many_digits_are_written_as_the_commands_write_them(make_lab: Callable[..., Lab]) -> None:
    lab, many = make_lab(), 1_234_567
    lab.rate(2, lambda _: "3")
    admin = lab.admin()
    admin.get("/admin/")
    cache = lab.app.extensions["relstudy-figures"]
    status, statistics = cache["figures"].figures
    counts = ("ratings", "undecided", "total_pairs", "pages_done", "pages_leased", "pages_open", "surplus_pages")
    blocks = [replace(block, **dict.fromkeys(counts, many)) for block in status.blocks]
    people = [replace(person, pages=many, ratings=many, undecided=many) for person in status.people]
    figures_of_many = (
        replace(status, ratings=many, raters=many, consented=many, blocks=blocks, people=people),
        replace(
            statistics,
            growth_of_blocks={name: [many] * len(row) for name, row in statistics.growth_of_blocks.items()},
            seconds={name: [many] * len(row) for name, row in statistics.seconds.items()},
            sources=[replace(use, ratings=many) for use in statistics.sources],
        ),
    )
    cache["figures"] = replace(cache["figures"], figures=figures_of_many, until=time.monotonic() + 600)
    for page in (
        "/admin/",
        *PAGES[2:4],
        f"/admin/forget/{people[0].rater_id}",
        f"/admin/set-aside/{people[0].rater_id}",
    ):
        text = admin.get(page).text
        assert "1,234,567" in _words(text), page
        assert str(many) not in text and "e+06" not in text, page


@pytest.mark.slow
@pytest.mark.parametrize("languages", ["", '\nlanguages = ["de"]'])
def test_figures_that_take_long_are_worked_out_behind_the_page_which_shows_the_last_ones(
    make_lab: Callable[..., Lab], languages: str
) -> None:
    lab = make_lab(TOML.replace('title = "A test study"', f'title = "A test study"{languages}'))
    admin = lab.admin()
    admin.get("/admin/")
    cache = lab.app.extensions["relstudy-figures"]
    joined(lab.app, invite(lab.store, lab.study, 1)[0].path)
    slow = cache["figures"] = replace(cache["figures"], seconds=WAITED_FOR + 1, until=time.monotonic())
    with lab.app.test_request_context():
        assert recent_figures() == slow.figures
        deadline = time.monotonic() + 30
        while cache["figures"] is slow and time.monotonic() < deadline:
            time.sleep(0.02)
        status, _ = recent_figures()
    assert status.raters == slow.figures[0].raters + 1


@pytest.mark.slow
def test_the_overview_shows_what_a_round_that_a_judge_shaped_is_to_gain(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab()
    admin = lab.admin()
    assert "Where people add most" not in admin.get("/admin/").text
    widths = (Widths("keywords", 0.2, 0.15, 0.1), Widths("<colour>", None, None, None))
    (lab.folder / "rounds").mkdir()
    ExpectedGain(1, "model", "average_precision", 40, widths).write(lab.folder)
    text = admin.get("/admin/").text
    assert "Round 1 asks 40 more pairs where the grades of judge model leave most open for average precision" in text
    cells = re.findall(r'<tr><th scope="row">keywords</th>(.*)</tr>', text)
    assert re.findall(r"[\d.]+(?=</td>)", cells[0]) == ["0.200", "0.150", "0.100"]
    assert "&lt;colour&gt;" in text and "<colour>" not in text
    (lab.folder / "rounds" / "round-1.json").write_text('{"round": 1}')
    assert admin.get("/admin/").status_code == 200


@pytest.mark.slow
def test_the_first_look_at_many_ratings_waits_for_no_figures_and_shows_them_as_soon_as_they_are_there(
    make_lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab()
    lab.rate(1, lambda _: "3")
    admin, go_on, work_out = lab.admin(), threading.Event(), figures.study_statistics
    monkeypatch.setattr(figures, "FEW", 0)
    monkeypatch.setattr(figures, "study_statistics", lambda *given: go_on.wait(30) and work_out(*given))
    for address in ("/admin/", "/admin/raters"):
        answer = admin.get(address)
        assert answer.status_code == 202 and answer.headers["Refresh"] == "2", answer.text
        assert "being worked out" in answer.text
    go_on.set()
    deadline = time.monotonic() + 30
    while (answer := admin.get("/admin/")).status_code == 202 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert answer.status_code == 200 and "being worked out" not in answer.text
