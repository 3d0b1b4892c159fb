"""Places: quotas of groups, ceilings and the deadline, with many who begin at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import quotas
from relstudy.studyapp.assignment.enrolment import Rater, Visit, end_visit, enrol, find_rater, lock_rater
from relstudy.studyapp.assignment.quotas import Place, Taken, count_places, take_place
from relstudy.studyapp.assignment.sequence import start
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import assignments, pages, raters
from relstudy.studyapp.monitoring.export import ratings_table
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import TOML, Made

GROUPS = '[[groups]]\nname = "a"\nquota = 3\n[[groups]]\nname = "b"\nquota = 5\n'
HOUR = 3600.0


def begin(desk: Desk, name: str, now: float = 0.0) -> Place:
    """Somebody begins, or finds no place."""
    with desk.store.write() as connection:
        rater = lock_rater(connection, enrol(connection, desk.study, "open", name, {}, now).id)
        assert rater is not None
        visit, place = take_place(Visit(connection, desk.study, desk.catalogue, rater, now))
        if not place.outcome:
            start(visit)
    return place


def rater_called(desk: Desk, name: str) -> Rater:
    """Who began under this name."""
    with desk.store.read() as connection:
        rater = find_rater(connection, "open", name)
    assert rater is not None
    return rater


def groups_begun(desk: Desk) -> Counter[str]:
    with desk.store.read() as connection:
        query = sa.select(raters.c.rater_group).where(raters.c.started_at.is_not(None))
        return Counter(connection.execute(query).scalars())


def test_no_quota_is_exceeded_by_any_number_who_begin_at_once(
    make_study: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(make_study(toml(extra=GROUPS), base_queries=0, unique_queries=1, results=1))
    find, all_at_once = quotas.find_place, threading.Barrier(4)

    def find_together(visit: Visit) -> Place:
        place = find(visit)
        with suppress(threading.BrokenBarrierError):  # which it is as soon as one has to wait for another's turn
            all_at_once.wait(0.2)
        return place

    monkeypatch.setattr(quotas, "find_place", find_together)
    with ThreadPoolExecutor(4) as threads:
        given = list(threads.map(lambda number: begin(desk, f"r{number}"), range(12)))
    assert groups_begun(desk) == {"a": 3, "b": 5}
    assert Counter(place.outcome for place in given) == {"": 8, "full": 4}


def test_groups_fill_evenly_and_only_who_finished_or_is_at_work_counts(make_local: Callable[..., Made]) -> None:
    desk = Desk(make_local(toml(extra=GROUPS.replace("quota", "# ")), base_queries=0, unique_queries=1, results=1))
    assert [begin(desk, f"r{number}").group for number in range(5)] == ["a", "b", "a", "b", "a"]
    leave = [rater_called(desk, name) for name in ("r0", "r2")]
    with desk.store.write() as connection:
        for rater in leave:
            end_visit(connection, rater, "failed_practice")
    assert [begin(desk, f"s{number}").group for number in range(2)] == ["a", "a"], "b has two, a has one left"
    assert begin(desk, "late", 25 * HOUR).group == "a", "after a day of nothing nobody is at work"
    with desk.store.read() as connection:
        taken = count_places(connection, desk.study, 25 * HOUR)
    assert {name: group.total for name, group in taken.items()} == {"a": 1}


@pytest.mark.parametrize(
    ("limits", "outcomes"),
    [
        ("raters = 2", ["", "", "full", "full"]),
        ("deadline = 1970-01-01T02:30:00Z", ["", "", "", "closed"]),
        ("ratings = 4", ["", "", "full", "full"]),
    ],
)
def test_who_comes_after_a_limit_is_turned_away(
    make_local: Callable[..., Made], limits: str, outcomes: list[str]
) -> None:
    desk = Desk(make_local(toml(page=4, extra=f"[limits]\n{limits}\n"), base_queries=0, unique_queries=3))
    given = []
    for hour in range(4):
        given.append(begin(desk, f"r{hour}", hour * HOUR).outcome)
        if hour == 1:
            rater = rater_called(desk, "r1").id
            desk.answer(rater, desk.next(rater))
    assert given == outcomes


def test_a_group_is_asked_its_own_blocks_alone(make_local: Callable[..., Made]) -> None:
    only = '[[groups]]\nname = "all"\n[[groups]]\nname = "some"\nblocks = ["base"]\n'
    desk = Desk(make_local(TOML + only, base_queries=1, unique_queries=2, results=1))
    pages = {}
    for name in ("one", "other"):
        group = begin(desk, name).group
        pages[group] = desk.work_through(rater_called(desk, name).id)
    assert pages == {"all": 3, "some": 1}


@pytest.mark.parametrize(
    ("pools", "handed_out"), [((["u1", "u2"], ["u1", "u2"]), "random"), ((["u1"], ["u2"]), "fixed")]
)
def test_pairs_of_groups_with_pools_of_their_own_are_not_handed_out_at_random(
    make_local: Callable[..., Made], pools: tuple[list[str], list[str]], handed_out: str
) -> None:
    blocks = "".join(f'[[blocks]]\nname = "{name}"\npairs = "unique"\n' for name in ("u1", "u2"))
    groups = "".join(
        f'[[groups]]\nname = "{pool[0]}-{n}"\nblocks = {["base", *pool]}\n' for n, pool in enumerate(pools)
    )
    head = TOML[: TOML.index("[[blocks]]")] + '[[blocks]]\nname = "base"\npairs = "base"\n'
    made = make_local(head + blocks + groups, base_queries=1, unique_queries=1, results=1)
    desk = Desk(made)
    begin(desk, "one")
    desk.work_through(rater_called(desk, "one").id)
    table = ratings_table(made.store, desk.study)
    assert set(table.loc[table["block"] == "unique", "handed_out"]) == {handed_out}


def test_a_group_with_raters_is_not_taken_away(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(extra=GROUPS), base_queries=0, unique_queries=1, results=1)
    begin(Desk(made), "r")
    (made.folder / "study.toml").write_text(toml(extra=GROUPS.replace('"a"', '"c"')), encoding="utf-8")
    with pytest.raises(RelstudyError, match="the group 'a' is gone and has 1 rater; put it back"):
        change_study(made.folder, made.store)


@pytest.mark.parametrize(
    ("table", "refusal"),
    [
        ('[[groups]]\nname = "a"\nblocks = ["x"]', r"line 24, groups.blocks: 'x' is not allowed; blocks of the study"),
        ('[[groups]]\nname = "a"\nblocks = ["base"]', r"line 22, groups: the block 'unique' is in no group"),
        ('[[groups]]\nname = "a"\nquota = 0', r"line 24, groups.quota: 0 is not allowed"),
        (
            '[[groups]]\nname = "a"\n[[groups]]\nname = "a"',
            r"line 25, groups.name: 'a' is not allowed; another group",
        ),
        (
            '[[groups]]\nname = "a"\nwhen = { age = ["1"] }',
            r"line 24, groups.when: 'age' is not allowed; the id of a screening",
        ),
        (
            '[[groups]]\nname = "a"\n[[groups]]\nname = "b"\nblocks = ["unique"]',
            r"line 26, groups.blocks: groups 'a' and 'b' rate unique pairs on the scale 1-5, and not all .* of base",
        ),
        ("[limits]\nraters = 0", "line 23, limits.raters: 0 is not allowed"),
        (
            "[limits]\ndeadline = 2027-01-31",
            "line 23, limits.deadline: '2027-01-31' is not allowed; a time with its offset",
        ),
        ('[limits]\ndeadline = "tomorrow"', "line 23, limits.deadline: 'tomorrow' is not allowed"),
        ("[limits]\ndeadline = 2027-01-31T12:00:00", "line 23, limits.deadline: .* a time with its offset"),
    ],
)
def test_groups_and_limits_that_cannot_work_are_refused_with_their_line(table: str, refusal: str) -> None:
    with pytest.raises(RelstudyError, match=refusal):
        Study.parse(f"{TOML}\n{table}\n")


def test_far_below_the_ceiling_of_ratings_nothing_is_counted_and_at_it_every_rating(
    make_local: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(make_local(toml(extra="[limits]\nratings = 5\n"), base_queries=0, unique_queries=3, results=2))
    counted: list[int] = []
    count = quotas.count_ratings
    monkeypatch.setattr(quotas, "count_ratings", lambda connection: counted.append(count(connection)) or counted[-1])
    rater, over = desk.newcomer("one"), []
    while position := desk.next(rater):
        desk.answer(rater, position)
        with desk.store.read() as connection:
            over.append(quotas.is_over(connection, desk.study, 0.0))
    assert over == ["", "", "", "", "full"] and set(counted) == {5}


def test_places_are_counted_without_reading_what_those_who_finished_were_given(make_local: Callable[..., Made]) -> None:
    desk = Desk(make_local(toml(extra=GROUPS), base_queries=0, unique_queries=1, results=1))
    begin(desk, "r0")
    with desk.store.write() as connection:
        connection.execute(sa.update(raters).values(finished_at=1.0))

    def steps() -> int:
        """How many steps SQLite takes."""
        taken: list[int] = []
        with desk.store.read() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.set_progress_handler(lambda: taken.append(1), 1)
            assert count_places(connection, desk.study, 0.0)["a"] == Taken(1, 0)
            driver.set_progress_handler(None, 1)
        return len(taken)

    before = steps()
    with desk.store.write() as connection:
        page = connection.execute(sa.select(pages.c.id)).scalars().first()
        row = {"rater": 1, "page_id": page, "block": "b", "pair_ids": [], "answered_at": 1.0}
        many = [{**row, "position": number, "kind": f"kind{number}"} for number in range(100, 200)]
        connection.execute(sa.insert(assignments), many)
    assert steps() == before
