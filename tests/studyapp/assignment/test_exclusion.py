"""Who is set aside keeps their ratings and loses their places; who is taken back gets what is still free."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.enrolment import read_raters
from relstudy.studyapp.assignment.erasure import forget
from relstudy.studyapp.assignment.exclusion import set_aside, take_back
from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import DONE, LEASED, OPEN, pages, slots
from relstudy.studyapp.monitoring.export import ratings_in_parts, ratings_table
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.admin.access import set_password
from tests.commands import relstudy
from tests.studyapp.browse import Browser, joined
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made


def codes(desk: Desk) -> dict[int, str]:
    with desk.store.read() as connection:
        return {rater.id: rater.rater_id for rater in read_raters(connection)}


def states(desk: Desk) -> dict[int, int]:
    """How many slots are in each state."""
    with desk.store.read() as connection:
        return dict(connection.execute(sa.select(slots.c.state, sa.func.count()).group_by(slots.c.state)).all())  # type: ignore[arg-type]


@pytest.mark.slow
def test_places_go_to_others_ratings_stay_and_both_come_back(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=4), base_queries=0, unique_queries=3)
    desk = Desk(made)
    one = desk.newcomer("one")
    for _ in range(2):
        desk.answer(one, desk.next(one))
    desk.next(one)
    assert states(desk) == {DONE: 2, LEASED: 1}
    assert set_aside(made.store, codes(desk)[one]) == 3
    assert states(desk) == {OPEN: 3}
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 8 and set(table["set_aside"]) == {1}
    with ratings_in_parts(made.store, Study.load(made.folder)) as (_, response):
        assert response is not None and response.missing == response.drawn
    other = desk.newcomer("other")
    desk.answer(other, desk.next(other))
    mine = sa.select(pages.c.id).where(pages.c.query_id.in_(set(table["query_id"])))
    with made.store.read() as connection:
        is_free = (slots.c.state == OPEN) & slots.c.page_id.in_(mine)
        free = connection.execute(sa.select(sa.func.count()).where(is_free)).scalar_one()
    # of the two pages, one that the other has rated or holds meanwhile is surplus now
    assert free < 2 and take_back(made.store, made.folder, codes(desk)[one]) == (free, 2 - free)
    table = ratings_table(made.store, Study.load(made.folder))
    assert set(table["set_aside"]) == {0} and table["surplus"].sum() == 4 * (2 - free)
    # nothing is over k, and the one who is back rates on where there is something left
    desk.work_through(one)
    desk.work_through(other)
    table = ratings_table(made.store, Study.load(made.folder))
    assert table[table["surplus"] == 0].groupby("pair_id").size().tolist() == [1] * 12


def test_an_answer_that_came_too_late_counts_in_place_of_who_is_set_aside(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=4, lease=1), base_queries=0, unique_queries=1)
    desk = Desk(made)
    late, quick = desk.newcomer("late"), desk.newcomer("quick")
    position = desk.next(late)
    desk.answer(quick, desk.next(quick, now=100.0), now=100.0)
    desk.answer(late, position, now=101.0)
    assert dict(desk.surplus()) == {late: True, quick: False}
    assert set_aside(made.store, codes(desk)[quick]) == 0
    assert dict(desk.surplus())[late] is False and states(desk) == {DONE: 1}
    assert take_back(made.store, made.folder, codes(desk)[quick]) == (0, 1)
    assert dict(desk.surplus()) == {late: False, quick: True}


@pytest.mark.parametrize("answered_meanwhile", [True, False])
def test_who_was_undecided_and_decides_once_taken_back_is_no_rating_too_many(
    make_study: Callable[..., Made], answered_meanwhile: bool
) -> None:
    made = make_study(toml(page=4), base_queries=0, unique_queries=1)
    desk = Desk(made)
    one, other = desk.newcomer("one"), desk.newcomer("other")
    desk.answer(one, desk.next(one), rating=None)
    set_aside(made.store, codes(desk)[one])
    if answered_meanwhile:
        desk.answer(other, desk.next(other))
    take_back(made.store, made.folder, codes(desk)[one])
    desk.answer(one, 1, form="changed")
    assert states(desk) == {DONE: 1}, "the place is taken, and nobody is asked for more"
    assert dict(desk.surplus())[one] is answered_meanwhile


@pytest.mark.slow
def test_it_is_said_who_cannot_be_set_aside_or_taken_back(make_study: Callable[..., Made]) -> None:
    made = make_study()
    desk = Desk(made)
    newcomer = desk.newcomer("one")
    code = codes(desk)[newcomer]
    for nobody in ("RNOBODY", "R\0"):
        with pytest.raises(RelstudyError, match="no rater 'R"):
            set_aside(made.store, nobody)
        with pytest.raises(RelstudyError, match="no rater 'R"):
            forget(made.store, made.folder, nobody)
    with pytest.raises(RelstudyError, match="is not excluded"):
        take_back(made.store, made.folder, code)
    set_aside(made.store, code)
    with pytest.raises(RelstudyError, match="out of the study already"):
        set_aside(made.store, code)


@pytest.mark.slow
def test_whoever_is_at_work_gets_the_last_page_with_a_way_back_and_goes_on_when_taken_back(
    make_local: Callable[..., Made],
) -> None:
    made = make_local(
        toml(page=4) + '[entry.outcomes]\nset_aside = "https://back.example.org/?who={id}"\n',
        base_queries=0,
        unique_queries=2,
    )
    browser = joined(made.app)
    form, filled = browser.page.form(browser.address), browser.filled()
    (code,) = codes(Desk(made)).values()
    set_aside(made.store, code)
    browser.post(form.action, filled)
    assert browser.status == 409 and "not saved" in browser.page.text and made.rows() == 0
    for path in ("/rate", "/rate/1", "/questions", "/thanks", "/instructions", "/"):
        browser.get(path)
        assert browser.address == "/ended" and "Your part has ended" in browser.page.text, path
    assert any(link.startswith("https://back.example.org/?who=") for link in browser.page.links)
    take_back(made.store, made.folder, code)
    browser.get("/rate")
    assert browser.address == "/rate/1"
    assert browser.rate_all() == 2 and made.rows() == 8


@pytest.mark.slow
def test_set_aside_and_answers_at_once_leave_no_page_over_k_and_none_lost(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=1, k=1), base_queries=0, unique_queries=6)
    desk = Desk(made)
    people = [desk.newcomer(str(number)) for number in range(3)]
    code = codes(desk)[people[0]]
    failures: list[BaseException] = []

    def work(rater: int) -> None:
        browserless = Desk(made)
        try:
            while position := browserless.next(rater):
                browserless.answer(rater, position)
        except AssertionError:
            pass  # the page went with the one who was set aside
        except BaseException as error:
            failures.append(error)

    def swing() -> None:
        try:
            for _ in range(6):
                set_aside(made.store, code)
                take_back(made.store, made.folder, code)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(rater,)) for rater in people] + [threading.Thread(target=swing)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for rater in people:
        desk.work_through(rater)
    table = ratings_table(made.store, Study.load(made.folder))
    counted = table[table["surplus"] == 0].groupby("pair_id").size()
    assert set(counted) == {1} and len(counted) == 24 and states(desk) == {DONE: 24}


@pytest.mark.slow
def test_the_command_and_the_researchers_page_do_the_same(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(page=4), base_queries=0, unique_queries=2)
    desk = Desk(made)
    desk.work_through(desk.newcomer("one"))
    (code,) = codes(desk).values()
    done = relstudy("set-aside", made.folder, code)
    assert done.exit_code == 0 and "2 pages of unique pairs are open to others again" in done.stdout, done.output
    set_password(made.folder, "correct horse battery")
    admin = Browser(made.app)
    admin.get("/admin/")
    admin.send(admin.page.form("/admin/login"), password="correct horse battery")
    page = admin.get("/admin/raters")
    assert f"Include again {code}" in page.text and "excluded" in page.text
    admin.get(f"/admin/set-aside/{code}")
    admin.send(admin.page.form(f"/admin/set-aside/{code}"))
    assert f"Exclude {code}" in admin.get("/admin/raters").text and states(desk) == {DONE: 2}
    admin.get(f"/admin/set-aside/{code}")
    admin.send(admin.page.form(f"/admin/set-aside/{code}"))
    assert states(desk) == {OPEN: 2}
    assert admin.post(f"/admin/set-aside/{code}", {"way": "aside"}) and admin.status == 400


@pytest.mark.slow
def test_who_is_set_aside_before_they_consent_is_not_taken_from_those_at_work(make_local: Callable[..., Made]) -> None:
    made = make_local(base_queries=0, unique_queries=1)
    study = Study.load(made.folder)
    Browser(made.app).join()
    set_aside(made.store, invite(made.store, study, 1)[0].rater_id)
    status = study_status(made.store, study)
    assert (status.raters, status.consented, status.ended, status.at_work) == (2, 1, 0, 1)


def test_a_page_that_has_left_the_study_is_nobody_elses_when_who_rated_it_is_set_aside(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(toml(page=4), base_queries=0, unique_queries=2)
    joined(made.app).rate()
    ((code, rated),) = set(
        ratings_table(made.store, Study.load(made.folder))[["rater_id", "query_id"]].itertuples(index=False)
    )
    pairs = made.folder / "pairs.csv"
    lines = pairs.read_text(encoding="utf-8").splitlines(keepends=True)
    pairs.write_text("".join(line for line in lines if f",{rated}," not in line), encoding="utf-8")
    prepare(made.folder, made.store)
    assert set_aside(made.store, code) == 1, "the page of the other query, which was handed out ahead"
    other = joined(made.app)
    assert other.rate_all() == 1 and other.address == "/thanks"
    assert take_back(made.store, made.folder, code) == (1, 0)
    table = ratings_table(made.store, Study.load(made.folder))
    assert len(table) == 8 and table["surplus"].sum() == 0
