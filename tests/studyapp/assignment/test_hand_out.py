"""Handing out unique pairs: at random, once, k times where asked, never twice to one rater, whatever comes together."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import Showing, submit
from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.enrolment import Visit, enrol, lock_rater
from relstudy.studyapp.assignment.next_page import add_pages, next_step, open_page
from relstudy.studyapp.assignment.sequence import find_rater_page, hold_page, start
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import DONE, LEASED, assignments, raters, slots
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.cluster import Cluster
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made, write_study


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3])
def test_every_pair_gets_exactly_k_ratings_and_never_two_from_one_rater(
    make_study: Callable[..., Made], k: int
) -> None:
    desk = Desk(make_study(toml(k=k), base_queries=0, unique_queries=5))
    people = [desk.newcomer(f"rater {number}") for number in range(k + 2)]
    going = list(people)
    chance = random.Random(1)
    while going:
        rater = chance.choice(going)
        position = desk.next(rater)
        if position:
            desk.answer(rater, position)
        else:
            going.remove(rater)
    table = ratings_table(desk.store, desk.study)
    assert Counter(table["pair_id"]) == {f"p{q}-{r}": k for q in range(5) for r in range(4)}
    assert not table.duplicated(["rater_id", "pair_id"]).any()
    assert table["surplus"].sum() == 0


@pytest.mark.slow
def test_a_lease_that_expires_passes_the_pair_on_and_the_late_answer_is_kept_as_surplus(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(lease=30, page=4), base_queries=0, unique_queries=2))
    slow, quick = desk.newcomer("slow"), desk.newcomer("quick")
    position = desk.next(slow, now=0)
    assert desk.work_through(quick, now=60) == 1, "who has answered nothing holds one page"
    assert desk.work_through(quick, now=31 * 60) == 1
    desk.answer(slow, position, now=32 * 60)
    assert sorted(desk.surplus()) == [(slow, True), (quick, False), (quick, False)]
    table = ratings_table(desk.store, desk.study)
    assert len(table) == 12 and table["surplus"].sum() == 4


def test_a_late_answer_counts_while_nobody_else_has_answered_and_then_the_other_one_is_surplus(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(lease=30, page=4), base_queries=0, unique_queries=1))
    slow, other = desk.newcomer("slow"), desk.newcomer("other")
    late = desk.next(slow, now=0)
    second = desk.next(other, now=31 * 60)
    desk.answer(slow, late, now=32 * 60)
    desk.answer(other, second, now=33 * 60)
    assert sorted(desk.surplus()) == [(slow, False), (other, True)]
    with desk.store.read() as connection:
        query = sa.select(slots.c.state, assignments.c.rater).join(
            assignments, assignments.c.id == slots.c.assignment_id
        )
        assert connection.execute(query).all() == [(DONE, slow)]


def test_a_late_answer_takes_an_open_place_before_it_takes_one_that_somebody_is_rating(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(k=2, lease=30, page=4), base_queries=0, unique_queries=1))
    slow, other, third = (desk.newcomer(name) for name in ("slow", "other", "third"))
    late = desk.next(slow, now=0)
    second = desk.next(other, now=31 * 60)
    desk.answer(slow, late, now=32 * 60)
    assert desk.next(third, now=33 * 60) == 0, "one place is answered and one is being rated"
    desk.answer(other, second, now=34 * 60)
    assert sorted(desk.surplus()) == [(slow, False), (other, False)]


@pytest.mark.slow
def test_a_lease_that_ends_is_noticed_though_later_ones_go_on(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(lease=5, page=4, per_rater="4"), base_queries=0, unique_queries=3))
    done, leaves, stays, last = (desk.newcomer(name) for name in ("done", "leaves", "stays", "last"))
    desk.answer(done, desk.next(done, now=0), now=0)
    assert desk.next(leaves, now=2.5 * 60) and desk.next(stays, now=5.1 * 60)
    assert desk.next(last, now=7.4 * 60) == 0
    assert desk.next(last, now=7.6 * 60) == 1


@pytest.mark.slow
def test_opening_a_page_renews_its_lease_but_never_somebody_elses(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(lease=5, page=4), base_queries=0, unique_queries=1))
    slow, other = desk.newcomer("slow"), desk.newcomer("other")

    def show(rater: int, minute: float) -> float:
        with desk.store.write() as connection:
            open_page(desk.visit(connection, rater, minute * 60), 1)
            return float(connection.execute(sa.select(slots.c.leased_until)).scalar_one()) / 60

    assert desk.next(slow, now=0) == 1
    assert show(slow, 3) == 8
    assert desk.next(other, now=9 * 60) == 1
    assert show(slow, 10) == 14
    assert show(other, 12) == 17


@pytest.mark.slow
def test_who_has_answered_a_page_holds_one_beyond_the_one_being_rated(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4), base_queries=0, unique_queries=5))
    rater, held = desk.newcomer("a"), []
    for position in range(1, 6):
        assert desk.next(rater) == position
        with desk.store.read() as connection:
            held.append(connection.execute(sa.select(slots.c.id).where(slots.c.state == LEASED)).all())
        desk.answer(rater, position)
    assert [len(each) for each in held] == [1, 2, 2, 2, 1]


@pytest.mark.slow
def test_those_who_answer_nothing_hold_no_pool_and_who_answers_is_given_longer(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(lease=30, page=4), base_queries=0, unique_queries=8))

    def leased(rater: int, position: int) -> float:
        with desk.store.write() as connection:
            open_page(desk.visit(connection, rater, 0), position)
            held = find_rater_page(connection, rater, position)
        assert held is not None and held.leased_until is not None
        return held.leased_until / 60

    stays = desk.newcomer("stays")
    times = []
    for position in range(1, 9):
        assert desk.next(stays) == position
        times.append(leased(stays, position))
        desk.answer(stays, position)
    assert times == [5, 10, 15, 20, 25, 30, 30, 30]
    assert desk.next(desk.newcomer("comes after")) == 0


@pytest.mark.slow
def test_a_reservation_that_is_never_answered_comes_back_to_a_fresh_rater(make_study: Callable[..., Made]) -> None:
    """The complaint: reservations never released, pairs stuck for good."""
    desk = Desk(make_study(toml(lease=1, page=1), base_queries=0, unique_queries=3))
    for number in range(20):
        desk.next(desk.newcomer(f"leaves at once {number}", now=number * 120.0), now=number * 120.0)
    assert desk.work_through(desk.newcomer("stays", now=10_000), now=10_000) == 12


@pytest.mark.slow
def test_fresh_raters_are_not_handed_the_same_item_while_others_wait(make_study: Callable[..., Made]) -> None:
    """The complaint: the same item handed to every fresh user."""
    desk = Desk(make_study(toml(page=1), base_queries=0, unique_queries=6))
    for number in range(12):
        desk.next(desk.newcomer(str(number)))
    with desk.store.read() as connection:
        held = list(connection.execute(sa.select(assignments.c.page_id)).scalars())
    assert len(held) == len(set(held)) == 12


def test_a_page_shows_its_results_in_an_order_of_each_raters_own(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(k=10, page=4), base_queries=0, unique_queries=1))
    orders = set()
    for number in range(10):
        rater = desk.newcomer(str(number))
        desk.next(rater)
        with desk.store.read() as connection:
            held = find_rater_page(connection, rater, 1)
        assert held is not None and held.assignment is not None
        orders.add(tuple(held.assignment.pair_ids))
    assert len(orders) > 1  # 24 orders: that ten raters share one has a chance of 4e-13


@pytest.mark.slow
def test_pages_are_handed_out_at_random_over_the_pool_and_not_in_file_order(make_study: Callable[..., Made]) -> None:
    orders = []
    for seed in range(3):
        text = toml(page=4).replace("lease_minutes", f"seed = {seed}\nlease_minutes")
        desk = Desk(make_study(text, base_queries=0, unique_queries=12))
        desk.work_through(desk.newcomer("a"))
        queries = list(dict.fromkeys(ratings_table(desk.store, desk.study)["query_id"]))
        assert sorted(queries) == sorted(f"q{i}" for i in range(12))
        orders.append(queries)
    assert all(order != [f"q{i}" for i in range(12)] for order in orders)
    assert len({tuple(order) for order in orders}) == 3


@pytest.mark.slow
def test_a_raters_share_of_the_pool_does_not_depend_on_when_they_come(make_study: Callable[..., Made]) -> None:
    """Pooled calibration rests on this: late raters must not get the tail of the file."""
    desk = Desk(make_study(toml(per_rater="40", page=1), base_queries=0, unique_queries=40))
    for number in range(4):
        desk.work_through(desk.newcomer(str(number)))
    table = ratings_table(desk.store, desk.study)
    place = table["pair_id"].str.extract(r"p(\d+)-")[0].astype(float)
    means = place.groupby(table["rater_id"]).mean()
    # 40 draws of 160 without replacement from 0..39: standard error 11.5 / sqrt(40) * sqrt(0.75) = 1.6
    assert ((means - 19.5).abs() < 5 * 1.6).all()
    assert table.groupby("rater_id").size().tolist() == [40, 40, 40, 40]


@pytest.mark.slow
def test_rate_some_more_hands_out_more_and_says_so_when_there_is_nothing_left(make_study: Callable[..., Made]) -> None:
    made = make_study()
    first, second = Browser(made.app), Browser(made.app)
    first.join()
    assert first.rate_all() == 2 + 2
    first.send(first.page.form("/more"))
    assert first.address == "/rate/5"
    assert first.rate_all() == 1
    second.join()
    assert second.rate_all() == 2 + 2
    more = second.page.form("/more")
    second.send(more)
    assert second.rate_all() == 1
    assert second.address == "/thanks" and "Rate some more" not in second.page.text
    second.send(more)
    assert second.address == "/thanks" and "nothing more to rate" in second.page.text
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table[table["block"] == "unique"]) == 24
    assert not table[table["block"] == "unique"].duplicated("pair_id").any()


@pytest.mark.slow
def test_checks_repeats_and_practice_come_in_their_places_and_are_marked_in_the_export(
    make_study: Callable[..., Made],
) -> None:
    extra = """repeats = 2
[[practice]]
query_id = "q0"
result_id = "q0"
expected = [4, 5]
feedback = "The same hill <b>again</b>."
[[attention]]
query_id = "q1"
result_id = "r0"
expected = [1]
[[attention]]
query_id = "q2"
result_id = "r0"
expected = [3]
"""
    made = make_study(toml(page=2, per_rater="8", extra=extra), base_queries=0, unique_queries=6)
    browser = joined(made.app)
    assert "Practice" in browser.page.text
    browser.rate()
    assert browser.address == "/practice/1"
    assert "The same hill <b>again</b>." in browser.page.text, "shown as text, not as markup"
    browser.get("/rate")
    assert browser.rate_all() == 4 + 2 + 2
    table = ratings_table(made.store, Study.load(made.folder))
    assert Counter(table["block"]) == {"practice": 1, "unique": 8, "check": 4, "repeat": 4}
    assert sorted(table[table["block"] == "check"]["passed"]) == ["", "", "no", "yes"], "each check beside a filler"
    repeated = table[table["block"] == "repeat"]
    originals = table[table["block"] == "unique"].set_index("pair_id")["position"]
    assert (repeated["position"].to_numpy() > originals[repeated["pair_id"]].to_numpy()).all()
    assert (table.set_index("block").loc["unique", "passed"] == "").all()


def test_a_page_is_repeated_once_at_most_and_only_after_it_was_answered(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4, per_rater="12", extra="repeats = 3"), base_queries=0, unique_queries=3))
    rater = desk.newcomer("a")
    answered: list[int] = []
    repeated: list[int] = []
    while position := desk.next(rater):
        for page_id, kind in _pages_of(desk.store, rater):
            assert kind == "pair" or page_id in answered
        desk.answer(rater, position)
        page_id, kind = _pages_of(desk.store, rater)[position - 1]
        (answered if kind == "pair" else repeated).append(page_id)
    assert len(answered) == 3 and sorted(repeated) == sorted(answered)


def test_a_page_that_has_left_the_study_is_not_repeated(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(page=4, per_rater="4", extra="repeats = 1"), base_queries=0, unique_queries=2)
    browser = joined(made.app)
    browser.rate()
    _leave(made, ratings_table(made.store, Study.load(made.folder))["query_id"][0])
    browser.get("/rate")
    assert (browser.status, browser.address) == (200, "/thanks")


def test_a_page_that_has_left_the_study_is_given_to_nobody_though_its_answer_is_taken_back(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(toml(page=4), base_queries=0, unique_queries=2)
    desk = Desk(made)
    rater = desk.newcomer("a")
    desk.answer(rater, desk.next(rater))
    _leave(made, ratings_table(made.store, desk.study)["query_id"][0])
    desk.answer(rater, 1, rating=None, form="changed")
    other = joined(made.app)
    assert other.rate_all() == 1 and other.address == "/thanks"


def _leave(made: Made, query: str) -> None:
    """All pairs of a query leave the study."""
    pairs = made.folder / "pairs.csv"
    lines = pairs.read_text(encoding="utf-8").splitlines(keepends=True)
    pairs.write_text("".join(line for line in lines if f",{query}," not in line), encoding="utf-8")
    prepare(made.folder, made.store)


def _pages_of(store: Store, rater: int) -> list[tuple[int, str]]:
    """Page and kind, in the rater's order."""
    query = sa.select(assignments.c.page_id, assignments.c.kind).where(assignments.c.rater == rater)
    with store.read() as connection:
        return [(row.page_id, row.kind) for row in connection.execute(query.order_by(assignments.c.position))]


def test_the_end_stays_when_it_was_first_reached_and_more_pages_are_locked_in_their_turn(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(page=4, per_rater="4", extra="more = 4"), base_queries=0, unique_queries=3))
    rater = desk.newcomer("a")
    desk.answer(rater, desk.next(rater, now=10), now=10)
    assert desk.next(rater, now=20) == 0
    with desk.store.write() as connection:
        add_pages(desk.visit(connection, rater))
    position = desk.next(rater, now=30)
    desk.answer(rater, position, now=30)
    assert desk.next(rater, now=40) == 0
    with desk.store.read() as connection:
        row = connection.execute(sa.select(raters).where(raters.c.id == rater)).one()
    assert (row.finished_at, row.locked_to) == (20, position)


@pytest.fixture
def crowded(tmp_path: Path, cluster: Cluster) -> Iterator[Desk]:
    """A desk on PostgreSQL, where transactions really meet; who has to wait is refused after a third of a second."""
    folder = write_study(tmp_path / "s", toml(page=4), base_queries=0, unique_queries=8)
    store = Store(cluster.new_database(), busy_seconds=0.3)
    prepare(folder, store)
    yield Desk(Made(folder, store, create_app(folder, store=store)))
    store.dispose()
    cluster.take_back()


@pytest.mark.postgresql
def test_two_raters_at_once_get_different_pages_and_neither_waits_for_the_other(crowded: Desk) -> None:
    first, second = crowded.newcomer("first"), crowded.newcomer("second")
    with crowded.store.write() as connection:
        next_step(crowded.visit(connection, first))
        assert crowded.next(second) == 1
    pages = {rater: {page for page, _ in _pages_of(crowded.store, rater)} for rater in (first, second)}
    assert len(pages[first]) == len(pages[second]) == 1 and not pages[first] & pages[second]


@pytest.mark.postgresql
@pytest.mark.parametrize("hold", [lock_rater, lambda connection, rater: hold_page(connection, rater, 1)[1]])
def test_one_raters_requests_go_one_after_the_other(
    crowded: Desk, hold: Callable[[sa.Connection, int], object]
) -> None:
    rater, other = crowded.newcomer("a"), crowded.newcomer("b")
    with crowded.store.write() as connection:
        assert hold(connection, rater)
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            crowded.next(rater)
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            crowded.answer(rater, 1)
        assert crowded.next(other) == 1


def _rush(url: str, folder: str, seed: int, together: Barrier, counts: multiprocessing.Queue[int]) -> None:
    """One of several processes: several raters, each to the end."""
    study = Study.load(folder)
    store = Store(url)
    with store.read() as connection:
        catalogue = Catalogue(study, connection)
    together.wait(300)
    done = 0
    going = []
    for number in range(2):
        with store.write() as connection:
            rater = enrol(connection, study, "open", f"{seed}-{number}", {}, time.time())
            start(Visit(connection, study, catalogue, rater, time.time()))
            going.append(rater.id)
    chance = random.Random(seed)
    while going:
        rater_id = chance.choice(going)
        with store.write() as connection:
            row = lock_rater(connection, rater_id)
            assert row is not None
            visit = Visit(connection, study, catalogue, row, time.time())
            step = next_step(visit)
            if step.name != "rate":
                going.remove(rater_id)
                continue
            held = find_rater_page(connection, rater_id, step.position)
            assert held is not None and held.assignment is not None
            answers = dict.fromkeys(held.assignment.pair_ids, 2.0)
            submit(visit, held.assignment, answers, Showing("f", 0.1))
            done += 1
    store.dispose()
    counts.put(done)


@pytest.mark.slow
def test_several_processes_on_one_database_hand_out_exactly_k_each_and_lose_nothing(
    tmp_path: Path, database: Callable[[Path], str]
) -> None:
    k = 2
    folder = write_study(tmp_path / "s", toml(k=k, page=2), base_queries=0, unique_queries=30)
    url = database(folder)
    store = Store(url)
    prepare(folder, store)
    # processes that know nothing of one another, forked from one that has imported what all of them need
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    counts: multiprocessing.Queue[int] = context.Queue()
    together = context.Barrier(3)
    workers = [context.Process(target=_rush, args=(url, str(folder), seed, together, counts)) for seed in range(3)]
    for worker in workers:
        worker.start()
    done = sum(counts.get(timeout=300) for _ in workers)
    for worker in workers:
        worker.join(10)
    table = ratings_table(store, Study.load(folder))
    store.dispose()
    assert done == 60 * k
    assert len(table) == 120 * k
    assert set(Counter(table["pair_id"]).values()) == {k}
    assert not table.duplicated(["rater_id", "pair_id"]).any()
    assert table["surplus"].sum() == 0


@pytest.mark.slow
def test_base_pages_come_first_in_an_order_of_each_raters_own(make_study: Callable[..., Made]) -> None:
    made = make_study(TOML, base_queries=8, unique_queries=4)
    for _ in range(3):
        browser = joined(made.app)
        browser.rate_all()
    table = ratings_table(made.store, Study.load(made.folder))
    orders = set()
    for _, mine in table.groupby("rater_id"):
        blocks = mine.drop_duplicates("position")["block"].tolist()
        assert blocks == sorted(blocks), "base before unique"
        base = mine[mine["block"] == "base"]
        assert set(base["query_id"]) == {f"q{i}" for i in range(8)}
        orders.add(tuple(base.drop_duplicates("position")["query_id"]))
    assert len(orders) == 3
