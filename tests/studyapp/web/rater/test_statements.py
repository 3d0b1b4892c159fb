"""What a page costs the database: a statement more is a decision, and no accident."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.studyapp.browse import Browser
from tests.studyapp.statements import statements_of_a_page
from tests.studyapp.studies import Made

UNIQUE = """\
[study]
id = "test"
title = "A test study"
[entry]
rules = ["open"]
[[blocks]]
name = "unique"
pairs = "unique"
pairs_per_rater = "all"
"""


def test_a_rated_page_and_the_next_take_no_more_statements_than_counted_here(make_study: Callable[..., Made]) -> None:
    made = make_study(UNIQUE, unique_queries=12)
    browser = Browser(made.app)
    browser.join()
    for _ in range(2):  # what is worked out once is known by then
        browser.rate()
    at_once, apart = statements_of_a_page(browser, made.store)
    most = {"sqlite": (11, 15), "postgresql": (10, 13)}[made.store.engine.dialect.name]
    assert (len(at_once), len(apart)) == most, "\n".join([*at_once, "", *apart])


@pytest.mark.slow
def test_the_number_of_statements_does_not_grow_with_the_pages_a_rater_has_rated(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(UNIQUE, unique_queries=24)
    browser = Browser(made.app)
    browser.join()
    browser.rate()  # of the first page on, one is handed out ahead
    early = statements_of_a_page(browser, made.store)
    for _ in range(12):
        browser.rate()
    late = statements_of_a_page(browser, made.store)
    assert [len(sent) for sent in late] == [len(sent) for sent in early]
