"""The rating that counts is the last one given, and everybody who reads ratings reads the same."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.answers import Showing, read_answers, submit
from relstudy.studyapp.assignment.enrolment import read_rater
from relstudy.studyapp.assignment.sequence import find_rater_page
from relstudy.studyapp.database.tables import assignments, ratings
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.statistics import study_statistics
from relstudy.studyapp.monitoring.status import study_status
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made

PAGES = 6


@pytest.mark.slow
def test_export_status_statistics_and_the_page_itself_agree_on_the_ratings_that_count(
    make_study: Callable[..., Made],
) -> None:
    """Ratings changed and changed back, undecided and decided, by two raters in turn, out of the order of pages."""
    desk = Desk(make_study(toml(page=2, per_rater="12"), base_queries=0, unique_queries=8))
    chance = random.Random(4)
    people = [desk.newcomer(name) for name in ("a", "b")]
    expected: dict[tuple[int, int, str], float | None] = {}
    seconds: dict[tuple[int, int, str], float] = {}
    moment = 0.0
    visits = [(rater, position) for position in range(1, PAGES + 1) for rater in people]
    visits += chance.choices(visits, k=30)
    for form, (rater, position) in enumerate(visits):
        moment += 1
        if form < len(people) * PAGES:
            assert desk.next(rater, moment) == position
        with desk.store.write() as connection:
            page = find_rater_page(connection, rater, position)
            assert page is not None and page.assignment is not None
            answers = {pair_id: chance.choice([None, 1.0, 2.0, 5.0]) for pair_id in page.assignment.pair_ids}
            spent = chance.choice([0.25, 1.5, 8.0])
            submit(desk.visit(connection, rater, moment), page.assignment, answers, Showing(f"form {form}", spent))
        for pair_id, rating in answers.items():
            key = rater, position, pair_id
            if key not in expected or expected[key] != rating:  # what was sent again unchanged is no new rating
                seconds[key] = seconds.get(key, 0.0) + spent
            expected[key] = rating
    rated = [rating for rating in expected.values() if rating is not None]

    table = ratings_table(desk.store, desk.study)
    codes = {rater: desk_code(desk, rater) for rater in people}
    kept = {
        (row.rater_id, row.position, row.pair_id): (None if np.isnan(row.rating) else row.rating, row.seconds)
        for row in table.itertuples()
    }
    assert kept == {
        (codes[rater], position, pair_id): (rating, seconds[rater, position, pair_id])
        for (rater, position, pair_id), rating in expected.items()
    }
    assert len(ratings_table(desk.store, desk.study, history=True)) == count_rows(desk) > len(table)
    assert table["pair_id"].tolist() == [pair_id for _, _, pair_id in expected], "in the order of the first answers"

    status = study_status(desk.store, desk.study)
    block = status.blocks[0]
    assert (status.ratings, block.ratings, block.undecided) == (
        len(expected),
        len(expected),
        len(expected) - len(rated),
    )
    assert block.distribution == {str(value): rated.count(value) for value in range(1, 6)}
    assert block.median_seconds == round(float(np.median(list(seconds.values()))), 2)

    figures = study_statistics(desk.store, desk.study)
    assert figures.sources[0].ratings == len(rated)
    shares = [rated.count(value) / len(rated) for value in range(1, 6)]
    np.testing.assert_allclose(list(figures.sources[0].shares.values()), shares, rtol=1e-12)  # sums of a few floats
    assert block.uniformity_error == figures.sources[0].error
    assert figures.median_seconds == {"unique": block.median_seconds}

    for rater, position in {(rater, position) for rater, position, _ in expected}:
        with desk.store.read() as connection:
            page = find_rater_page(connection, rater, position)
            assert page is not None and page.assignment is not None
            shown, _ = read_answers(connection, page.assignment)
        assert shown == {pair: rating for (who, at, pair), rating in expected.items() if (who, at) == (rater, position)}


def desk_code(desk: Desk, rater: int) -> str:
    with desk.store.read() as connection:
        row = read_rater(connection, rater)
    assert row is not None
    return row.rater_id


def count_rows(desk: Desk) -> int:
    with desk.store.read() as connection:
        query = sa.select(sa.func.count()).select_from(ratings.join(assignments))
        return int(connection.execute(query).scalar_one())
