"""Time on a page: the browser's own count where it can be true, else the server's, shared among the page's results."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.sequence import find_rater_page
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.web.rater.rating_page import asked_on
from tests.studyapp.browse import joined
from tests.studyapp.studies import Made


def send_first_page(made: Made, *told: str) -> None:
    """A rater sends the first page, shown 20 seconds ago, once for each count of seconds, changing all answers."""
    browser = joined(made.app)
    with made.store.read() as connection:
        rater = connection.execute(sa.select(raters)).one()
        held = find_rater_page(connection, rater.id, 1)
    assert held is not None and held.assignment is not None
    page = held.assignment
    signer = made.app.extensions["relstudy"].signer
    for rating, seconds in enumerate(told, start=1):
        with pytest.MonkeyPatch.context() as clock:
            clock.setattr(time, "time_ns", lambda: int(1e9 * (time.time() - 20)))
            with made.app.test_request_context():
                form = signer.form(f"rater:{rater.id}:{rater.session_key}", page.id, asked_on(page.block, held.shown))
        answers = {f"rating-{n}": str(rating) for n in range(1, 5)}
        browser.post("/rate/1", {"form": form, "seconds": seconds, **answers})
        assert browser.address == "/rate/2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "kept"),
    [("8", 8.0), ("0", 0.0), ("500", 20.0), ("-3", 20.0), ("nan", 20.0), ("inf", 20.0), ("soon", 20.0), ("", 20.0)],
)
def test_the_browsers_count_is_kept_unless_it_cannot_be_true(
    make_local: Callable[..., Made], told: str, kept: float
) -> None:
    made = make_local()
    send_first_page(made, told)
    seconds = ratings_table(made.store, Study.load(made.folder))["seconds"]
    # the server's count goes on while the test runs: up to a minute on a busy machine
    assert all(kept / 4 <= value <= kept / 4 + (15 if kept == 20 else 0) for value in seconds)


@pytest.mark.slow
def test_time_is_added_up_over_changes_and_the_history_has_each(make_local: Callable[..., Made]) -> None:
    made = make_local()
    send_first_page(made, "8", "4", "2")
    study = Study.load(made.folder)
    table = ratings_table(made.store, study)
    assert table["seconds"].tolist() == [3.5] * 4 and table["revisions"].tolist() == [3] * 4
    assert ratings_table(made.store, study, history=True)["seconds"].tolist() == [2.0] * 4 + [1.0] * 4 + [0.5] * 4
