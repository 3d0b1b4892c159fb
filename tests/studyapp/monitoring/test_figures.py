"""The admin pages' figures and leases are the same on both databases."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.assignment.eligibility import outcome_of
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.slots import read_leases
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import was_shown
from relstudy.studyapp.database.tables import LEASED, assignments, raters, ratings, slots
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.statistics import statistics_of, study_statistics
from relstudy.studyapp.monitoring.status import BlockStatus, RaterStatus, study_status
from relstudy.studyapp.sampling.ratable_pairs import known_pair_ids
from tests.studyapp.browse import joined
from tests.studyapp.desk import toml
from tests.studyapp.studies import Made

CHECKED = """repeats = 2
[[practice]]
query_id = "q0"
result_id = "q0"
expected = [4]
[[attention]]
query_id = "q1"
result_id = "r0"
expected = [1]
"""


@pytest.mark.slow
def test_figures_rest_on_the_ratings_of_the_export_and_leases_are_listed(make_study: Callable[..., Made]) -> None:
    made = make_study()
    study = Study.load(made.folder)
    for person, pages in enumerate((99, 99, 2)):
        browser = joined(made.app, invite(made.store, study, 1)[0].path)
        browser.rate_pages(pages, lambda number, person=person: str(1 + (number + person) % 5))  # type: ignore[misc]
    table = ratings_table(made.store, study)
    moments = pd.to_datetime(table["rated_at"], format="ISO8601", utc=True) - pd.Timestamp(0, tz="UTC")
    told = statistics_of(table.assign(at=moments / pd.Timedelta(seconds=1)), study)
    found = study_statistics(made.store, study)
    assert found.sources == told.sources
    assert found.agreement[0].alpha[-1] == pytest.approx(told.agreement[0].alpha[-1])
    assert study_status(made.store, study).ratings == len(table)
    held = read_leases(made.store)
    assert len(held) == 2, "the page being rated and the one after it"
    assert not any(lease.expired for lease in held)
    assert all(lease.expired for lease in read_leases(made.store, now=held[-1].leased_until + 1))
    with made.store.write() as connection:
        last = connection.execute(sa.select(sa.func.max(slots.c.id)).where(slots.c.state == LEASED)).scalar_one()
        connection.execute(sa.update(slots).where(slots.c.id == last).values(leased_until=7.0))
    assert read_leases(made.store)[0].leased_until == 7.0, "the one that ends first on top"
    for later, expired in ((0, 1), (3600, 2)):
        unique = study_status(made.store, study, time.time() + later).blocks[1]
        assert (unique.name, unique.pages_leased, unique.pages_expired) == ("unique", 2, expired)


@pytest.mark.slow
def test_checks_repeats_and_practice_are_in_no_figure_of_a_block(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=2, per_rater="8", extra=CHECKED), base_queries=0, unique_queries=6)
    browser = joined(made.app)
    browser.rate_all()
    study = Study.load(made.folder)
    block = study_status(made.store, study).blocks[0]
    told = study_statistics(made.store, study)
    assert len(ratings_table(made.store, study)) == 1 + 8 + 2 + 4
    assert (block.ratings, sum(block.distribution.values())) == (8, 8)
    assert (sum(told.seconds["unique"]), told.sources[0].ratings, told.growth_of_blocks["unique"][-1]) == (8, 8, 8)


@pytest.mark.slow
def test_status_is_what_going_through_the_ratings_one_by_one_gives(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=2, per_rater="8", extra=CHECKED), base_queries=2, unique_queries=6)
    study = Study.load(made.folder)
    for pages in (99, 99, 2, 0):
        browser = joined(made.app)
        browser.rate()  # the practice
        browser.get("/rate")
        browser.rate_pages(pages, lambda number: str(1 + number % 5))
    joined(made.app)
    drawn, cases = random.Random(33), itertools.cycle([None, 1.0, 2.0, None, 5.0])
    in_order = sa.select(ratings).join(assignments, assignments.c.id == ratings.c.assignment_id)
    in_order = in_order.order_by(assignments.c.kind, ratings.c.id)  # so that 15 pairs meet every case
    with made.store.write() as connection:  # some undecided, some not shown, and every third one changed later
        for number, row in enumerate(connection.execute(in_order).all()):
            hidden = {"not_shown": True} if number % 5 == 0 else None
            new = {"rating": next(cases), "seconds": drawn.expovariate(1 / 7), "further": hidden}
            connection.execute(sa.update(ratings).where(ratings.c.id == row.id).values(**new))
            if number % 3 == 0:
                again = {name: cell for name, cell in row._asdict().items() if name != "id"}
                again |= {"revision": 2, "rating": 3.0, "seconds": 2.25, "further": None, "rated_at": time.time()}
                connection.execute(sa.insert(ratings).values(**again))
    every = select_ratings(assignments.c.block, assignments.c.kind, raters.c.rater_id)
    with made.store.read() as connection:
        rows, people = connection.execute(every).all(), read_raters(connection)
    status, known = study_status(made.store, study), known_pair_ids(study)
    assert status.ratings == len(rows) and len(status.people) == len(people) == 5
    for block in status.blocks:
        rated = [row for row in rows if row.block == block.name and row.kind == "pair"]
        given = [row.rating for row in rated if row.rating is not None]
        assert told(block) == counted(rated)
        assert block.distribution == {f"{value:g}": given.count(value) for value in study.blocks[0].scale.values}
    for person, rater in zip(status.people, people, strict=True):
        own = [row for row in rows if row.rater_id == person.rater_id]
        checks = [row for row in own if row.kind == "check" and row.pair_id in known and was_shown(row.further)]
        passed = sum(known[row.pair_id].is_met(row.rating, row.further) for row in checks)
        assert told(person) == counted([row for row in own if row.kind == "pair"])
        assert (person.pages, person.checks) == (len({row.assignment_id for row in own}), len(checks))
        assert person.checks_passed == passed
        assert person.last_rated_at == max((row.rated_at for row in own), default=None)
        assert person.outcome == outcome_of(study, rater, own)
    assert {"finished", "rating"} <= {person.state for person in status.people}
    assert status.blocks[0].undecided and status.blocks[0].could_not_be_shown


def told(status: BlockStatus | RaterStatus) -> tuple[object, ...]:
    return status.ratings, status.undecided, status.could_not_be_shown, status.median_seconds


def counted(rated: Sequence[Any]) -> tuple[object, ...]:
    hidden = sum(not was_shown(row.further) for row in rated)
    undecided = sum(row.rating is None for row in rated) - hidden
    return len(rated), undecided, hidden, round(median(row.seconds for row in rated), 2) if rated else None


@pytest.mark.slow
def test_the_place_of_a_result_is_the_one_at_which_its_rater_saw_it(make_study: Callable[..., Made]) -> None:
    made = make_study(base_queries=3, unique_queries=0)
    for _ in range(3):
        browser = joined(made.app, invite(made.store, Study.load(made.folder), 1)[0].path)
        while browser.address.startswith("/rate/"):
            browser.rate(lambda name, number: str(int(name.rpartition("-")[2])))  # each rating is its place
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 36
    assert table["place"].tolist() == table["rating"].astype(int).tolist()
    orders = {tuple(page.sort_values("place")["result_id"]) for _, page in table.groupby(["rater_id", "position"])}
    assert len(orders) > 1
