"""The consent page says how long taking part takes: by ratings, else by the setting, else in pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.database.tables import ratings
from tests.studyapp.browse import Browser, joined
from tests.studyapp.studies import TOML, Made

pytestmark = pytest.mark.slow


def said(made: Made) -> str:
    made.app.extensions.pop("relstudy-pace", None)
    return Browser(made.app).get("/consent").text


def rate_with(made: Made, raters: int, seconds: float) -> None:
    for _ in range(raters):
        browser = joined(made.app)
        browser.rate_all(lambda name, number: "3")
    with made.store.write() as connection:
        connection.execute(sa.update(ratings).values(seconds=seconds))


def test_without_ratings_the_page_gives_the_setting_or_else_the_number_of_pages(
    make_local: Callable[..., Made],
) -> None:
    plain = make_local()
    assert "There are" in said(plain) and " min." not in said(plain)
    assert "It takes about 15 min." in said(make_local(TOML.replace("[study]", "[study]\nminutes = 15")))


def test_with_ratings_their_median_time_says_it_whatever_the_setting(make_local: Callable[..., Made]) -> None:
    made = make_local(TOML.replace("[study]", "[study]\nminutes = 15"))
    rate_with(made, 2, seconds=60)
    with made.store.read() as connection:
        each = connection.execute(sa.select(sa.func.count()).select_from(ratings)).scalar_one() / 2
    assert each * 2 >= 20
    assert f"It takes about {each:.0f} min." in said(made)  # a minute for each rating of one visit


def test_a_clock_of_programs_says_nothing_about_people(make_local: Callable[..., Made]) -> None:
    made = make_local()
    rate_with(made, 2, seconds=0.01)
    assert " min." not in said(made)
