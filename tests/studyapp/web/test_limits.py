"""Guesses that come together, clocks that differ, and what a stranger typed."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.attempts import Limit
from relstudy.studyapp.database.tables import attempts
from relstudy.studyapp.monitoring.export import _no_formula, people_table
from relstudy.studyapp.web.admin.access import make_setup_link, set_password
from relstudy.studyapp.web.app import PASSPHRASES
from relstudy.studyapp.web.rater import entry
from tests.studyapp.browse import Browser, joined
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made
from tests.studyapp.web.rater.test_ending import QUESTIONS

PASSWORD = "a long password"


def at_once(count: int, work: Callable[[], int]) -> Counter[int]:
    statuses: list[int] = []
    threads = [threading.Thread(target=lambda: statuses.append(work())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(statuses)


@pytest.mark.slow
def test_passwords_sent_together_are_no_more_guesses_than_one_after_the_other(make_local: Callable[..., Made]) -> None:
    made = make_local()
    set_password(made.folder, PASSWORD)

    def guess() -> int:
        browser = Browser(made.app)
        browser.log_in("wrong password")
        return browser.status

    assert at_once(24, guess) == {403: 10, 429: 14}


@pytest.mark.slow
def test_a_set_up_link_is_used_once_though_many_use_it_at_once(make_local: Callable[..., Made]) -> None:
    made = make_local()
    link = make_setup_link(made.folder)
    assert link is not None
    ready = threading.Barrier(8)

    def choose() -> int:
        browser = Browser(made.app)
        browser.get(link)
        form = browser.page.form(link)
        ready.wait(60)
        browser.post(link, {**form.fields, "password": PASSWORD}, follow=False)
        return browser.status

    assert at_once(8, choose) == {303: 1, 404: 7}


def test_a_set_up_link_that_is_used_up_meanwhile_is_unknown(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who opened it at that moment had an error of the server."""
    made = make_local()
    link, now = make_setup_link(made.folder), time.time()
    assert link is not None

    def used_up() -> float:
        (made.folder / "admin.setup").unlink(missing_ok=True)
        return now

    monkeypatch.setattr(time, "time", used_up)
    browser = Browser(made.app)
    browser.get(link)
    assert browser.status == 404


@pytest.mark.slow
def test_a_network_of_ipv6_addresses_is_one_client(make_local: Callable[..., Made]) -> None:
    made = make_local()
    set_password(made.folder, PASSWORD)
    statuses = []
    for number in range(12):
        browser = Browser(made.app, REMOTE_ADDR=f"2001:db8:1:2::{number:x}")
        browser.log_in("wrong password")
        statuses.append(browser.status)
    assert statuses == [403] * 10 + [429] * 2


def with_passphrase(passphrase: str) -> str:
    return TOML.replace('rules = ["personal", "open"]', f'rules = ["passphrase"]\npassphrase = "{passphrase}"')


class Waits:
    """Lets time pass where the app waits, and adds it up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, clock, running = 0.0, time.time, time.monotonic
        monkeypatch.setattr(time, "time", lambda: clock() + self.seconds)
        monkeypatch.setattr(time, "monotonic", lambda: running() + self.seconds)
        monkeypatch.setattr(entry.time, "sleep", self.wait)

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


def type_in(made: Made, passphrase: str, browser: Browser | None = None) -> Browser:
    """Somebody types a passphrase, in a fresh browser where none is given."""
    browser = browser or Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes", passphrase=passphrase)
    return browser


@pytest.mark.slow
def test_ten_wrong_passphrases_at_an_address_delay_nobody_and_more_do_not_shut_out_who_knows_it(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, waits = make_study(with_passphrase("green hills")), Waits(monkeypatch)
    guesser = Browser(made.app)
    statuses = Counter(type_in(made, f"grey hills {n}", guesser).status for n in range(10))
    assert statuses == {403: 10} and waits.seconds == 0
    assert type_in(made, "green hills").address == "/instructions" and waits.seconds == 0
    began, guesses = time.time(), 50
    statuses = Counter(type_in(made, f"grey hills {n}", guesser).status for n in range(guesses))
    assert statuses == {403: guesses}, "looked at, but one every two seconds"
    looked_at = PASSPHRASES - 10
    assert time.time() - began >= (guesses - looked_at) * entry.PACE
    before = waits.seconds
    assert type_in(made, "green hills").address == "/instructions", "the next after them, in a fresh browser"
    assert waits.seconds - before <= entry.MOST_WAIT
    assert type_in(made, "green hills", Browser(made.app, REMOTE_ADDR="192.0.2.9")).address == "/instructions"


@pytest.mark.slow
def test_one_thread_waits_for_a_passphrase_and_who_comes_meanwhile_is_asked_to_send_it_again(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, waits = make_local(with_passphrase("green hills")), Waits(monkeypatch)
    for n in range(PASSPHRASES):
        type_in(made, f"grey hills {n}")
    told: list[tuple[int, str, str]] = []

    def meanwhile(seconds: float) -> None:
        for passphrase in ("grey hills", "green hills"):
            other = type_in(made, passphrase)
            assert other.response is not None
            told.append((other.status, other.response.headers["Retry-After"], other.page.text))
        waits.wait(seconds)

    monkeypatch.setattr(entry.time, "sleep", meanwhile)
    assert type_in(made, "wrong").status == 403
    (first, second) = told
    assert first == second and first[:2] == (429, "4"), "what was not looked at says nothing"
    assert "send it again in a few seconds" in first[2] and "Passphrase" in first[2]
    monkeypatch.setattr(entry.time, "sleep", waits.wait)
    waits.wait(float(first[1]))
    assert type_in(made, "green hills").address == "/instructions"


@pytest.mark.slow
def test_a_passphrase_that_nobody_guesses_lets_in_whatever_others_tried(make_local: Callable[..., Made]) -> None:
    made = make_local(with_passphrase("quiet river lamp"))
    guesser = Browser(made.app)
    guesser.get("/")
    form = guesser.page.form()
    statuses = Counter()
    for n in range(100):
        guesser.send(form, agree="yes", passphrase=f"grey river {n}")
        statuses[guesser.status] += 1
    assert statuses == {403: 100}
    assert type_in(made, "quiet river lamp").address == "/instructions"
    with made.store.read() as connection:
        kinds = set(connection.execute(sa.select(attempts.c.what)).scalars())
    assert kinds == {"join"}, "and costs no transactions"


@pytest.mark.slow
def test_raters_who_mistype_the_passphrase_do_not_lock_the_researcher_out(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local(with_passphrase("green hills"))
    Waits(monkeypatch)
    set_password(made.folder, PASSWORD)
    for _ in range(PASSPHRASES + 1):
        type_in(made, "grey hills")
    owner = Browser(made.app)
    owner.log_in(PASSWORD)
    assert owner.address == "/admin/"


@pytest.mark.slow
def test_the_limiter_is_as_quick_with_many_clients_as_with_few(make_local: Callable[..., Made]) -> None:
    made = make_local()
    limit = Limit(made.store, "guess", 3, 600, b"x" * 32)
    now = time.time()
    others = [{"what": "guess", "client": f"{number:024x}", "made_at": now} for number in range(20_000)]
    with made.store.write() as connection:
        connection.execute(sa.insert(attempts), others)
    plans = []
    sa.event.listen(made.store.engine, "before_cursor_execute", lambda *call: plans.append((call[2], call[3])))
    limit.attempt("somebody")
    looked = next((sql, values) for sql, values in plans if sql.startswith("SELECT count"))
    with made.store.engine.connect() as connection:
        steps = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {looked[0]}", looked[1]).all()
    assert "ix_attempts_what_client (what=? AND client=?)" in str(steps), "no look through all of them"


@pytest.mark.slow
def test_attempts_are_forgotten_when_they_count_no_more_and_hold_no_address(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    first, then = (Limit(made.store, "guess", 1, 600, b"x" * 32) for _ in range(2))
    assert first.attempt("192.0.2.1") and not first.attempt("192.0.2.1") and not then.attempt("192.0.2.1")
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + 601)
    later = Limit(made.store, "guess", 1, 600, b"x" * 32)
    assert later.attempt("192.0.2.1")
    monkeypatch.setattr(time, "time", lambda: clock() - 86_400)
    assert Limit(made.store, "guess", 1, 600, b"x" * 32).attempt("192.0.2.1"), "a clock put back shuts nobody out"
    with made.store.read() as connection:
        kept = connection.execute(sa.select(attempts)).all()
    assert len(kept) == 1 and "192.0.2.1" not in str(kept)


@pytest.mark.slow
def test_a_storm_of_refused_guesses_costs_no_transactions(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_local()
    limit = Limit(made.store, "guess", 2, 600, b"x" * 32)
    assert [limit.attempt("a") for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(made.store, "write", None)
    monkeypatch.setattr(made.store, "read_one", None)
    assert not any(limit.attempt("a") for _ in range(1000))


@pytest.mark.parametrize("seconds", [-3.0, -86_400.0])
def test_a_session_begun_on_a_machine_whose_clock_is_ahead_goes_on(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    made = make_local()
    browser = joined(made.app)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + seconds)
    browser.get("/rate")
    assert browser.address == "/rate/1"
    assert len(people_table(made.store, Study.load(made.folder))) == 1


def test_leases_of_a_clock_that_was_put_back_hold_up_nobody(make_local: Callable[..., Made]) -> None:
    desk = Desk(make_local(toml(page=4, lease=30), base_queries=0, unique_queries=2))
    day = 86_400.0
    assert desk.next(desk.newcomer("ahead"), now=day) == 1
    assert desk.work_through(desk.newcomer("later"), now=60.0) == 2


@pytest.mark.slow
def test_what_a_stranger_typed_is_no_formula_in_the_table_of_people(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML + QUESTIONS)
    browser = joined(made.app)
    browser.rate_all()
    browser.send(browser.page.form(), **{"question-eyes": "full", "question-say": '=HYPERLINK("http://x")'})
    assert people_table(made.store, Study.load(made.folder))["question_say"][0] == '\'=HYPERLINK("http://x")'


@pytest.mark.parametrize("before", ["", "x;", "x; ", "x\t", "x\n", "x\r\n", 'x;"', "\t", ";;"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝"])
def test_a_cell_that_a_spreadsheet_splits_off_begins_no_formula(before: str, sign: str) -> None:
    shown = _no_formula(f"{before}{sign}cmd|A1")
    cells = [cell.strip(' "') for cell in re.split(r"[;\t\r\n]", shown)]
    assert not any(cell.startswith(("=", "+", "-", "@", "＝")) for cell in cells), shown
    assert shown.replace("'", "") == f"{before}{sign}cmd|A1"
