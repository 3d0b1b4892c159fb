"""Nobody empties the pool for the others: by coming in numbers, by never opening a page, by answers that say
nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from relstudy.studyapp.assignment.slots import read_leases
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.export import people_table, ratings_table
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import Browser, joined
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made


class Clock:
    """Lets time pass for the app."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def minutes(self, count: float) -> None:
        self.ahead += 60 * count


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    running, given = time.time, Clock()
    monkeypatch.setattr(time, "time", lambda: running() + given.ahead)
    yield given


def begin_without_opening(made: Made) -> Browser:
    """Someone who consents and starts, and never looks at a page."""
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes")
    browser.post("/instructions", browser.page.form().fields, follow=False)
    return browser


def code_of(made: Made, number: int) -> str:
    return str(people_table(made.store, Study.load(made.folder))["completion_code"][number])


@pytest.mark.slow
def test_pages_that_nobody_opens_come_back_and_nobody_is_finished_meanwhile(
    make_study: Callable[..., Made], clock: Clock
) -> None:
    made = make_study(toml(page=4), base_queries=0, unique_queries=6)
    for _ in range(6):
        begin_without_opening(made)
    honest = joined(made.app)
    assert honest.address == "/wait", "all pages are reserved, none is rated"
    assert code_of(made, 6) not in honest.page.text
    honest.get("/thanks")
    assert honest.address == "/wait"
    clock.minutes(3)
    honest.get("/rate")
    assert honest.rate_all() == 6
    assert honest.address == "/thanks" and code_of(made, 6) in honest.page.text
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 24 and table["surplus"].sum() == 0


@pytest.mark.slow
def test_twenty_visitors_who_answer_nothing_leave_pages_to_who_comes_meanwhile(
    make_study: Callable[..., Made], clock: Clock
) -> None:
    """Each holds one page for five minutes; what is left is half of a pool of forty, and then all of it."""
    made = make_study(toml(page=4), base_queries=0, unique_queries=40)
    for _ in range(20):
        visitor = begin_without_opening(made)
        visitor.get("/rate")
        assert visitor.address == "/rate/1"
    block = study_status(made.store, Study.load(made.folder)).blocks[0]
    assert (block.pages_wanted, block.pages_leased, block.pages_open) == (40, 20, 20)
    honest = joined(made.app)
    assert honest.rate_all() == 20 and honest.address == "/wait"
    clock.minutes(3.5)
    honest.get("/rate")
    assert honest.address == "/wait", "who reads slowly keeps the first page for five minutes"
    clock.minutes(1.6)
    honest.get("/rate")
    assert honest.rate_all() == 20 and honest.address == "/thanks"
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 160 and table["surplus"].sum() == 0


@pytest.mark.slow
def test_leases_grow_with_the_pages_that_a_rater_has_answered(make_local: Callable[..., Made]) -> None:
    desk = Desk(make_local(toml(page=4, lease=30), base_queries=0, unique_queries=9))
    rater, held = desk.newcomer("one"), []
    for _ in range(8):
        position = desk.next(rater)
        page = {lease.handed_at: lease.leased_until for lease in read_leases(desk.store)}
        held.append(max(page.values()) / 60)
        desk.answer(rater, position)
    assert held == [5, 10, 15, 20, 25, 30, 30, 30]


def test_nobody_is_told_to_wait_who_has_something_to_rate(make_local: Callable[..., Made]) -> None:
    browser = joined(make_local(toml(page=4), base_queries=0, unique_queries=2).app)
    browser.get("/wait")
    assert browser.address == "/rate/1", "by its address alone the page is not true"


@pytest.mark.slow
def test_who_waits_may_finish_instead(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(page=4, per_rater="8"), base_queries=0, unique_queries=2)
    first = begin_without_opening(made)
    honest = joined(made.app)
    honest.rate()
    assert honest.address == "/wait"
    honest.send(honest.page.form("/finish"))
    assert honest.address == "/thanks" and code_of(made, 1) in honest.page.text
    first.get("/rate")
    first.post("/finish", {"csrf": honest.page.form("/leave").fields["csrf"]})
    assert first.status == 400


def test_who_has_rated_nothing_and_finishes_gets_no_code(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(page=4), base_queries=0, unique_queries=1)
    begin_without_opening(made)
    browser = joined(made.app)
    browser.send(browser.page.form("/finish"))
    assert browser.address == "/thanks" and code_of(made, 1) not in browser.page.text
    assert "rated nothing" in browser.page.text


@pytest.mark.slow
def test_finishing_is_for_those_who_wait(make_local: Callable[..., Made]) -> None:
    made = make_local()
    browser = Browser(made.app)
    browser.get("/")
    browser.send(browser.page.form(), agree="yes")
    token = browser.page.form().fields["csrf"]
    browser.post("/finish", {"csrf": token})
    assert browser.address == "/instructions"
    browser.post("/instructions", {"csrf": token})
    browser.post("/finish", {"csrf": token})
    assert browser.address == "/rate/1"


@pytest.mark.slow
def test_a_page_that_went_to_somebody_else_before_it_was_opened_makes_room_for_another(
    make_study: Callable[..., Made], clock: Clock
) -> None:
    """Nobody rates a page for nothing: the slow rater gets another page, not a surplus one."""
    made = make_study(toml(page=4, per_rater="8"), base_queries=0, unique_queries=4)
    slow = begin_without_opening(made)
    clock.minutes(3)
    quick = joined(made.app)
    assert quick.rate_all() == 2
    slow.get("/rate")
    assert slow.rate_all() == 2
    table = ratings_table(made.store, Study.load(made.folder))
    assert Counter(table["pair_id"]) == {f"p{query}-{result}": 1 for query in range(4) for result in range(4)}
    assert table["surplus"].sum() == 0
    assert sorted(table["position"].unique()) == [1, 2]


@pytest.mark.slow
def test_a_page_that_is_open_is_kept_for_as_long_as_the_study_says(
    make_study: Callable[..., Made], clock: Clock
) -> None:
    made = make_study(toml(page=4, lease=4.5), base_queries=0, unique_queries=1)
    slow = joined(made.app)
    clock.minutes(4)
    quick = joined(made.app)
    assert quick.address == "/wait"
    slow.rate()
    quick.get("/rate")
    assert quick.address == "/thanks"
    assert ratings_table(made.store, Study.load(made.folder))["surplus"].sum() == 0


@pytest.mark.slow
def test_a_page_without_one_decided_answer_is_asked_again_elsewhere_twice_at_most(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(page=4, k=1), base_queries=0, unique_queries=2))
    for number in range(3):
        rater = desk.newcomer(f"undecided {number}")
        while position := desk.next(rater):
            desk.answer(rater, position, rating=None)
    block = study_status(desk.store, desk.study).blocks[0]
    assert (block.pages_wanted, block.pages_done, block.pages_open) == (2, 2, 0)
    assert desk.work_through(desk.newcomer("late")) == 0, "three have looked at each page; that is enough"
    assert len(ratings_table(desk.store, desk.study)) == 3 * 8


@pytest.mark.slow
def test_a_page_asked_again_has_its_ratings_with_the_first_decided_answer(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4, k=1), base_queries=0, unique_queries=1))
    first, second = desk.newcomer("first"), desk.newcomer("second")
    desk.answer(first, desk.next(first), rating=None)
    assert study_status(desk.store, desk.study).blocks[0].pages_open == 1
    assert desk.work_through(second) == 1
    assert desk.work_through(desk.newcomer("third")) == 0
    table = ratings_table(desk.store, desk.study)
    assert table["surplus"].sum() == 0 and table["rating"].notna().sum() == 4


@pytest.mark.slow
def test_who_decides_after_all_takes_the_place_that_was_opened_for_another(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4, k=1), base_queries=0, unique_queries=2))
    first = desk.newcomer("first")
    position = desk.next(first)
    desk.answer(first, position, rating=None)
    desk.answer(first, position, rating=2.0, form="changed")
    assert desk.work_through(first) == 1
    assert desk.work_through(desk.newcomer("second")) == 0
    block = study_status(desk.store, desk.study).blocks[0]
    assert (block.pages_wanted, block.pages_done) == (2, 2)
    assert desk.surplus() == [(first, False), (first, False)]


@pytest.mark.slow
def test_who_decides_after_somebody_else_has_is_surplus(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4, k=1), base_queries=0, unique_queries=2))
    first, second = desk.newcomer("first"), desk.newcomer("second")
    position = desk.next(first)
    desk.answer(first, position, rating=None)
    assert desk.next(second) and desk.work_through(second) >= 1
    desk.answer(first, position, rating=2.0, form="changed")
    table = ratings_table(desk.store, desk.study)
    counted = table[(table["surplus"] == 0) & table["rating"].notna()]
    assert not counted.duplicated("pair_id").any()


@pytest.mark.slow
def test_forgetting_who_was_undecided_leaves_each_page_its_number_of_ratings(make_study: Callable[..., Made]) -> None:
    from relstudy.studyapp.assignment.erasure import forget

    made = make_study(toml(page=4, k=1), base_queries=0, unique_queries=1)
    desk = Desk(made)
    first = desk.newcomer("first")
    desk.answer(first, desk.next(first), rating=None)
    forget(desk.store, made.folder, ratings_table(desk.store, desk.study)["rater_id"][0])
    assert study_status(desk.store, desk.study).blocks[0].pages_open == 1
    assert desk.work_through(desk.newcomer("second")) == 1
    assert desk.work_through(desk.newcomer("third")) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needed", "decided", "earned"), [("", 0, False), ("", 2, True), ("0", 0, True), ("1", 3, False)]
)
def test_a_completion_code_needs_as_many_decided_answers_as_the_study_says(
    make_local: Callable[..., Made], needed: str, decided: int, earned: bool
) -> None:
    setting = (
        f'rules = ["personal", "open"]\ncode_needs_decided = {needed}' if needed else 'rules = ["personal", "open"]'
    )
    made = make_local(TOML.replace('rules = ["personal", "open"]', setting))
    browser = joined(made.app)
    browser.rate_all(lambda name, number: "4" if number <= decided else "undecided")
    assert browser.address == "/thanks"
    assert (code_of(made, 0) in browser.page.text) is earned
    assert ("undecided" in browser.page.text) is not earned


@pytest.mark.slow
def test_one_client_enrols_so_many_raters_and_no_more(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML.replace('rules = ["personal", "open"]', 'rules = ["open"]\njoins_per_address = 5'))
    for _ in range(5):
        assert Browser(made.app).join().form()
    sixth = Browser(made.app)
    sixth.get("/")
    sixth.send(sixth.page.form(), agree="yes")
    assert sixth.status == 429
    assert len(people_table(made.store, Study.load(made.folder))) == 5
    assert Browser(made.app, REMOTE_ADDR="192.0.2.7").join().form(), "others come in as before"
