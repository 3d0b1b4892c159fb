"""The admin pages' figures and leases are the same on both databases."""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.slots import read_leases
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import LEASED, slots
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.statistics import statistics_of, study_statistics
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.browse import joined
from tests.studyapp.desk import toml
from tests.studyapp.studies import Made


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
    extra = """repeats = 2
[[practice]]
query_id = "q0"
result_id = "q0"
expected = [4]
[[attention]]
query_id = "q1"
result_id = "r0"
expected = [1]
"""
    made = make_study(toml(page=2, per_rater="8", extra=extra), base_queries=0, unique_queries=6)
    browser = joined(made.app)
    browser.rate_all()
    study = Study.load(made.folder)
    block = study_status(made.store, study).blocks[0]
    told = study_statistics(made.store, study)
    assert len(ratings_table(made.store, study)) == 1 + 8 + 2 + 4
    assert (block.ratings, sum(block.distribution.values())) == (8, 8)
    assert (sum(told.seconds["unique"]), told.sources[0].ratings, told.growth_of_blocks["unique"][-1]) == (8, 8, 8)


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
