"""Attention checks: nobody can tell their pages from others, and no pair of the sample is rated by way of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, pages
from relstudy.studyapp.monitoring.export import ratings_table
from relstudy.studyapp.monitoring.status import study_status
from relstudy.studyapp.web.app import create_app
from tests.studyapp.browse import Browser, joined
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made, write_study

CHECKS = """
[[attention]]
query_id = "q0"
result_id = "q0"
expected = [5]
[[attention]]
query_id = "words"
result_id = "q1"
expected = [4, 5]
"""
BASE_AND_UNIQUE = """
[study]
id = "t"
title = "t"
[entry]
rules = ["open"]
[[blocks]]
name = "base"
pairs = "base"
[[blocks]]
name = "unique"
pairs = "unique"
pairs_per_rater = 24
[[attention]]
block = "base"
query_id = "q0"
result_id = "q0"
expected = [5]
[[attention]]
block = "unique"
query_id = "q9"
result_id = "q9"
expected = [5]
"""
IMAGES_ONLY = CHECKS.replace('"words"', '"q1"')


def kinds(store: Store) -> dict[tuple[int, int], str]:
    """What each place of each rater's sequence really is."""
    with store.read() as connection:
        query = sa.select(assignments.c.rater, assignments.c.position, assignments.c.kind)
        return {(rater, position): kind for rater, position, kind in connection.execute(query)}


def bare(browser: Browser) -> str:
    """A page as sent, without what differs from page to page anyhow: keys, signatures and the page's number."""
    html = browser.html
    html = re.sub(
        r"[0-9a-f]{8}-1-[0-9a-f]{12}\.[\w-]{6,12}\.[\w-]{43}|(?<=\")[\w-]{43}(?=\")|/item/[0-9a-f]{20}|(?<=\")[0-9a-f]{20}(?=\")",
        "*",
        html,
    )
    html = re.sub(r'data-preload="[* ]*"', "", html)  # what the page after this one shows, be it a check or not
    html = re.sub(r"Page \d+ (?:of|·)| data-pace=\"[\d.]+\"|/rate/\d+|value=\"\d+\"( aria-label=\"\d+)?", "#", html)
    headers = [(name, re.sub(r"\d+", "#", value)) for name, value in browser.response.headers if name != "Date"]
    return f"{browser.status} {headers}\n{html}"


@pytest.mark.slow
def test_the_page_of_a_check_is_sent_exactly_like_any_other_page(make_study: Callable[..., Made]) -> None:
    made = make_study(BASE_AND_UNIQUE, base_queries=6, unique_queries=40)
    seen: dict[tuple[str, str], set[str]] = {}
    for rater in range(1, 5):
        browser = joined(made.app)
        total = 0
        while browser.address.startswith("/rate/"):
            position = int(browser.address.rpartition("/")[2])
            total = int(re.findall(r"Page \d+ of (\d+)", browser.page.text)[0])
            place = "first" if position == 1 else "last" if position == total else "between"
            seen.setdefault((place, kinds(made.store)[rater, position]), set()).add(bare(browser))
            browser.rate()
        assert total == 6 + 1 + 6 + 1, "checks are counted as pages"
    assert len(seen["between", "pair"]) == 1, "what differs between ordinary pages is taken out"
    assert seen["between", "check"] == seen["between", "pair"]


@pytest.mark.slow
def test_a_check_may_be_any_page_of_its_block_and_any_result_of_its_page(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(toml(page=4, per_rater="8", k=1000, extra=IMAGES_ONLY), base_queries=0, unique_queries=5))
    for number in range(80):
        desk.work_through(desk.newcomer(str(number)))
    with desk.store.read() as connection:
        query = sa.select(assignments.c.position, assignments.c.pair_ids).where(assignments.c.kind == "check")
        rows = connection.execute(query).all()
    # 160 checks, each on one of 4 pages and at one of 4 places: that one of them stays empty has a chance below 1e-19.
    assert {row.position for row in rows} == {1, 2, 3, 4}
    places = {place for row in rows for place, pair_id in enumerate(row.pair_ids) if pair_id.startswith("check:")}
    assert places == {0, 1, 2, 3}


@pytest.mark.slow
def test_a_check_in_the_base_block_may_be_any_of_its_pages(make_study: Callable[..., Made]) -> None:
    desk = Desk(make_study(BASE_AND_UNIQUE, base_queries=3, unique_queries=7))
    for number in range(100):
        desk.newcomer(str(number))
    found = {position for (_, position), kind in kinds(desk.store).items() if kind == "check"}
    assert found == {1, 2, 3, 4}  # each stays empty with a chance below 1e-12


@pytest.mark.slow
def test_the_checks_of_a_block_come_in_an_order_of_each_raters_own(make_local: Callable[..., Made]) -> None:
    desk = Desk(make_local(toml(page=4, k=1000, extra=IMAGES_ONLY), base_queries=0, unique_queries=5))
    raters = [desk.newcomer(str(number)) for number in range(20)]
    for rater in raters:
        desk.work_through(rater)
    with desk.store.read() as connection:
        query = sa.select(assignments.c.rater, assignments.c.page_id).where(assignments.c.kind == "check")
        rows = connection.execute(query.order_by(assignments.c.position)).all()
    # two checks: that 20 raters have them in one order has a chance of 2e-6, and the seeds are drawn
    assert len({tuple(row.page_id for row in rows if row.rater == rater) for rater in raters}) == 2


@pytest.mark.slow
def test_a_check_page_has_as_many_results_as_the_others_where_a_query_has_fewer_than_fit(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(toml(page=4, extra=IMAGES_ONLY), base_queries=0, unique_queries=6, results=2)
    with made.store.read() as connection:
        sizes = Counter(len(pair_ids) for pair_ids in connection.execute(sa.select(pages.c.pair_ids)).scalars())
    assert sizes == {2: 6 + 2}


@pytest.mark.slow
def test_no_pair_of_the_sample_is_rated_by_way_of_a_check_and_nobody_sees_a_pair_twice(
    make_study: Callable[..., Made],
) -> None:
    extra = IMAGES_ONLY + '[[attention]]\nquery_id = "q1"\nresult_id = "q0"\nexpected = [1]\n'
    desk = Desk(make_study(toml(k=2, page=2, extra=extra), base_queries=0, unique_queries=6))
    for number in range(4):
        desk.work_through(desk.newcomer(str(number)))
    table = ratings_table(desk.store, desk.study)
    assert Counter(table.loc[table["block"] == "unique", "pair_id"]) == {
        f"p{q}-{r}": 2 for q in range(6) for r in range(4)
    }
    checks = table[table["block"] == "check"]
    assert set(checks["pair_id"]).isdisjoint(table.loc[table["block"] == "unique", "pair_id"])
    assert (checks["handed_out"] == "").all() and checks["inclusion_probability"].isna().all()
    known, fillers = checks[checks["passed"] != ""], checks[checks["passed"] == ""]
    assert len(known) == len(fillers) > 0
    drawn = {(f"q{q}", f"r{r}") for q in range(6) for r in range(4)}
    assert drawn.isdisjoint(zip(fillers["query_id"], fillers["result_id"], strict=True))
    assert not table.duplicated(["rater_id", "query_id", "result_id"]).any()
    people = study_status(desk.store, desk.study).people
    assert sum(person.checks for person in people) == len(known), "fillers are neither passed nor failed"
    assert sum(person.checks_passed for person in people) == (known["passed"] == "yes").sum() == 0


@pytest.mark.slow
def test_a_text_query_is_checked_beside_results_such_as_text_queries_have(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", toml(page=2, extra=CHECKS), base_queries=0, unique_queries=3)
    lines = (folder / "pairs.csv").read_text().splitlines()
    (folder / "collection.csv").open("a").write("more,text,,More hills,Hills everywhere.\ntrees,text,,,green trees\n")
    lines += ["t0,trees,essay,text,,1,0.5,unique", "t1,trees,more,text,,1,0.5,unique"]
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")
    prepare(folder)
    browser = joined(create_app(folder))
    browser.rate_all()
    store = Store.of_study(folder)
    table = ratings_table(store, Study.load(folder))
    store.dispose()
    filler = table[(table["block"] == "check") & (table["query_id"] == "words") & (table["passed"] == "")]
    assert filler["result_id"].isin(["essay", "more"]).tolist() == [True]


@pytest.mark.slow
def test_a_filler_that_is_drawn_in_a_later_round_makes_way_for_another(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", toml(page=2, extra=IMAGES_ONLY), base_queries=0, unique_queries=6)
    store = Store.of_study(folder)
    prepare(folder, store)
    prepare(folder, store)

    def check_pages() -> list[tuple[list[str], bool]]:
        with store.read() as connection:
            query = sa.select(pages.c.pair_ids, pages.c.active).where(pages.c.kind == "check").order_by(pages.c.id)
            return [(row.pair_ids, row.active) for row in connection.execute(query)]

    first, second = check_pages()
    assert first[1] and second[1], "a second start changes nothing"
    filler = first[0][1].rpartition(":")[2]
    with (folder / "pairs.csv").open("a") as table:
        table.write(f"late,q0,{filler},image,more,1,0.5,unique\nlater,q0,q5,image,more,1,0.5,unique\n")
    prepare(folder, store)
    old, same, new = check_pages()
    assert (old, same) == ((first[0], False), second)
    assert new[1] and new[0][0] == first[0][0] and new[0][1] not in (first[0][1], "filler:unique:q0:q5")
    store.dispose()


@pytest.mark.slow
def test_a_finished_rater_is_not_called_back_for_a_check_that_was_added_later(make_study: Callable[..., Made]) -> None:
    made = make_study(toml(page=4, per_rater="8"), base_queries=0, unique_queries=6)
    browser = joined(made.app)
    assert browser.rate_all() == 2
    (made.folder / "study.toml").write_text(toml(page=4, per_rater="8", extra=IMAGES_ONLY))
    prepare(made.folder, made.store)
    again = Browser(create_app(made.folder, store=made.store))
    again.cookie = browser.cookie
    again.get("/")
    assert again.address == "/thanks"
    newcomer = joined(again.client.application)
    assert newcomer.rate_all() == 2 + 2


def test_a_check_that_nothing_in_the_collection_could_hide_is_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", toml(page=4, extra=IMAGES_ONLY), base_queries=0, unique_queries=3)
    with pytest.raises(
        RelstudyError, match=r"check 'q0', 'q0' of block 'unique' would be recognised: .* at least 4 .* 2 "
    ):
        prepare(folder)


def test_a_check_of_another_kind_than_its_block_is_refused(tmp_path: Path) -> None:
    extra = 'paradigm = "image"\n' + CHECKS
    folder = write_study(tmp_path / "s", toml(page=2, extra=extra), base_queries=0, unique_queries=6)
    with pytest.raises(RelstudyError, match=r"check 'words', 'q1' of block 'unique' would be recognised: its query is"):
        prepare(folder)
