"""A page that left the study and is part of it again gets its k ratings, and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.exclusion import set_aside, take_back
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.monitoring.export import ratings_table
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made


class _OnePage:
    """A study of two pages, one of which was rated and has left."""

    def __init__(self, made: Made, also_set_aside: bool = False, also_by_another: bool = False) -> None:
        self.made, self.desk = made, Desk(made)
        self.one = self.desk.newcomer("one")
        self.desk.answer(self.one, self.desk.next(self.one))
        if also_set_aside:
            set_aside(made.store, self.code())
        if also_by_another:
            self.others_get()
        self._file = made.folder / "pairs.csv"
        self._pairs = self._file.read_text(encoding="utf-8")
        query = ratings_table(made.store, self.desk.study)["query_id"][0]
        lines = self._pairs.splitlines(keepends=True)
        self._take("".join(line for line in lines if f",{query}," not in line))

    def _take(self, pairs: str) -> None:
        self._file.write_text(pairs, encoding="utf-8")
        prepare(self.made.folder, self.made.store)
        self.desk = Desk(self.made)

    def comes_back(self) -> None:
        self._take(self._pairs)

    def code(self) -> str:
        with self.made.store.read() as connection:
            return next(rater.rater_id for rater in read_raters(connection) if rater.id == self.one)

    def others_get(self) -> int:
        return self.desk.work_through(self.desk.newcomer("other"))


def test_who_is_undecided_after_it_left_is_followed_by_another_once_it_is_back(make_local: Callable[..., Made]) -> None:
    page = _OnePage(make_local(toml(page=4), base_queries=0, unique_queries=2))
    page.desk.answer(page.one, 1, rating=None, form="changed")
    page.comes_back()
    assert page.others_get() == 2


def test_who_decides_again_after_it_left_counts(make_local: Callable[..., Made]) -> None:
    page = _OnePage(make_local(toml(page=4), base_queries=0, unique_queries=2))
    page.desk.answer(page.one, 1, rating=None, form="changed")
    page.desk.answer(page.one, 1, rating=2.0, form="again")
    assert page.desk.surplus() == [(page.one, False)]
    page.comes_back()
    assert page.others_get() == 1


def test_who_was_taken_back_after_it_left_has_their_place_once_it_is_back(make_local: Callable[..., Made]) -> None:
    page = _OnePage(make_local(toml(page=4), base_queries=0, unique_queries=2))
    set_aside(page.made.store, page.code())
    assert take_back(page.made.store, page.made.folder, page.code()) == (1, 0)
    page.desk.answer(page.one, 1, rating=2.0, form="changed")
    assert page.desk.surplus() == [(page.one, False)]
    page.comes_back()
    assert page.others_get() == 1


@pytest.mark.parametrize("also_by_another", [False, True])
def test_who_was_set_aside_before_it_left_counts_where_nobody_else_rated_it_since(
    make_local: Callable[..., Made], also_by_another: bool
) -> None:
    made = make_local(toml(page=4), base_queries=0, unique_queries=2)
    page = _OnePage(made, also_set_aside=True, also_by_another=also_by_another)
    assert take_back(made.store, made.folder, page.code()) == ((0, 1) if also_by_another else (1, 0))
    page.comes_back()
    assert page.others_get() == (0 if also_by_another else 1)
