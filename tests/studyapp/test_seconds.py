"""Time on a page: the browser's own count where it can be true, else the server's, shared among the page's results."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from studyapp.export import ratings_table
from studyapp.store import assignments, raters
from studyapp.study import Study
from tests.studyapp.browse import Browser
from tests.studyapp.studies import Made


@pytest.mark.parametrize(
    ("told", "kept"),
    [("8", 8.0), ("0", 0.0), ("500", 20.0), ("-3", 20.0), ("nan", 20.0), ("inf", 20.0), ("soon", 20.0), ("", 20.0)],
)
def test_the_browsers_count_is_kept_unless_it_cannot_be_true(
    make_local: Callable[..., Made], told: str, kept: float
) -> None:
    made = make_local()
    browser = Browser(made.app)
    browser.join()
    with made.store.read() as connection:
        rater = connection.execute(sa.select(raters)).one()
        page = connection.execute(sa.select(assignments.c.id).where(assignments.c.position == 1)).scalar_one()
    signer = made.app.extensions["relstudy"].signer
    form = signer.form(f"rater:{rater.id}:{rater.session_key}", page, time.time() - 20)
    browser.post("/rate/1", {"form": form, "seconds": told, **{f"rating-{n}": "3" for n in range(1, 5)}})
    assert browser.address == "/rate/2"
    seconds = ratings_table(made.store, Study.load(made.folder))["seconds"]
    # the server's count goes on while the test runs: up to a minute on a busy machine
    assert all(kept / 4 <= value <= kept / 4 + (15 if kept == 20 else 0) for value in seconds)
