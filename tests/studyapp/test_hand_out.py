"""Handing out unique pairs: at random, once, k times where asked, never twice to one rater, whatever comes together."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
import sqlalchemy as sa

from studyapp.answers import submit
from studyapp.app import prepare
from studyapp.catalogue import Catalogue
from studyapp.enrolment import enrol, lock_rater
from studyapp.export import ratings_table
from studyapp.handout import next_step
from studyapp.sequence import look, start
from studyapp.store import DONE, Store, assignments, slots
from studyapp.study import Study
from tests.studyapp.browse import Browser
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made, write_study


@pytest.mark.parametrize("k", [1, 3])
def test_every_pair_gets_exactly_k_ratings_and_never_two_from_one_rater(
    make_study: Callable[..., Made], k: int
) -> None:
    desk = Desk(make_study(toml(k=k), base_queries=0, unique_queries=5))
    raters = [desk.newcomer(f"rater {number}") for number in range(k + 2)]
    going = list(raters)
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


def test_a_lease_that_expires_passes_the_pair_on_and_the_late_answer_is_kept_as_surplus(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(lease=30, page=4), base_queries=0, unique_queries=2))
    slow, quick = desk.newcomer("slow"), desk.newcomer("quick")
    position = desk.next(slow, now=0)
    assert desk.next(quick, now=29 * 60) == 0, "both pages are with the first rater until the lease ends"
    quick = desk.newcomer("quick again")
    assert desk.work_through(quick, now=31 * 60) == 2
    desk.answer(slow, position, now=32 * 60)
    assert desk.surplus() == [(slow, True), (quick, False), (quick, False)] or sorted(desk.surplus()) == [
        (slow, True),
        (quick, False),
        (quick, False),
    ]
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
        assert connection.execute(sa.select(slots.c.state)).scalars().all() == [DONE]


def test_a_reservation_that_is_never_answered_comes_back_to_a_fresh_rater(make_study: Callable[..., Made]) -> None:
    """The complaint: reservations never released, pairs stuck for good."""
    desk = Desk(make_study(toml(lease=1, page=1), base_queries=0, unique_queries=3))
    for number in range(20):
        desk.next(desk.newcomer(f"leaves at once {number}", now=number * 120.0), now=number * 120.0)
    assert desk.work_through(desk.newcomer("stays", now=10_000), now=10_000) == 12


def test_fresh_raters_are_not_handed_the_same_item_while_others_wait(make_study: Callable[..., Made]) -> None:
    """The complaint: the same item handed to every fresh user."""
    desk = Desk(make_study(toml(page=1), base_queries=0, unique_queries=6))
    held = []
    for number in range(12):
        desk.next(desk.newcomer(str(number)))
    with desk.store.read() as connection:
        held = list(connection.execute(sa.select(assignments.c.page_id)).scalars())
    assert len(held) == len(set(held)) == 24


def test_pages_are_handed_out_at_random_over_the_pool_and_not_in_file_order(make_study: Callable[..., Made]) -> None:
    first_queries = []
    orders = []
    for seed in range(3):
        text = toml(page=4).replace("lease_minutes", f"seed = {seed}\nlease_minutes")
        desk = Desk(make_study(text, base_queries=0, unique_queries=12))
        rater = desk.newcomer("a")
        order = []
        while position := desk.next(rater):
            desk.answer(rater, position)
            order.append(position)
        table = ratings_table(desk.store, desk.study)
        queries = list(dict.fromkeys(table["query_id"]))
        assert sorted(queries) == sorted(f"q{i}" for i in range(12))
        orders.append(queries)
        first_queries.append(queries[0])
    assert all(order != [f"q{i}" for i in range(12)] for order in orders)
    assert len({tuple(order) for order in orders}) == 3


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
    second.send(second.page.form("/more"))
    assert second.rate_all() == 1
    assert second.address == "/thanks"
    second.send(second.page.form("/more"))
    assert second.address == "/thanks" and "nothing more to rate" in second.page.text
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table[table["block"] == "unique"]) == 24
    assert not table[table["block"] == "unique"].duplicated("pair_id").any()


def test_checks_repeats_and_practice_come_in_their_places_and_are_marked_in_the_export(
    make_study: Callable[..., Made],
) -> None:
    extra = """repeats = 2
[[practice]]
query_id = "q0"
result_id = "r1"
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
    browser = Browser(made.app)
    browser.join()
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


def _rush(url: str, folder: str, seed: int, together: Barrier, counts: multiprocessing.Queue[int]) -> None:
    """One of several processes: several raters, each to the end."""
    study = Study.load(folder)
    store = Store(url)
    with store.read() as connection:
        catalogue = Catalogue(connection)
    together.wait(300)
    done = 0
    raters = []
    for number in range(2):
        with store.write() as connection:
            rater = enrol(connection, study, "open", f"{seed}-{number}", {}, time.time())
            start(connection, study, catalogue, rater, time.time())
            raters.append(rater.id)
    chance = random.Random(seed)
    while raters:
        rater_id = chance.choice(raters)
        with store.write() as connection:
            row = lock_rater(connection, rater_id)
            step = next_step(connection, study, catalogue, row, time.time())
            if step.name != "rate":
                raters.remove(rater_id)
                continue
            held = look(connection, rater_id, step.position)
            assert held is not None and held.assignment is not None
            answers = dict.fromkeys(held.assignment.pair_ids, 2.0)
            submit(connection, row, held.assignment, answers, 0.1, "f", time.time())
            done += 1
    store.dispose()
    counts.put(done)


def test_several_processes_on_one_database_hand_out_exactly_k_each_and_lose_nothing(
    tmp_path: Path, database: Callable[[Path], str]
) -> None:
    k = 2
    folder = write_study(tmp_path / "s", toml(k=k, page=2), base_queries=0, unique_queries=30)
    url = database(folder)
    store = Store(url)
    prepare(folder, store)
    context = multiprocessing.get_context("spawn")
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


def test_base_pages_come_first_in_an_order_of_each_raters_own(make_study: Callable[..., Made]) -> None:
    made = make_study(TOML, base_queries=8, unique_queries=4)
    for _ in range(3):
        browser = Browser(made.app)
        browser.join()
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
