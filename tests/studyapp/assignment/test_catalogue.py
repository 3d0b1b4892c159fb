"""A study's pages and pairs: kept where everybody is given them, else read page by page, and counted in SQL."""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.catalogue import BlockSize, Catalogue, PairRow, read_block_sizes, read_page
from relstudy.studyapp.assignment.sequence import find_rater_page
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import pages, pairs
from relstudy.studyapp.monitoring.export import ratings_table
from tests.studyapp.browse import joined
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made, write_study


def test_the_database_counts_the_active_pages_and_the_pairs_that_have_not_left(make_study: Callable[..., Made]) -> None:
    made = make_study(unique_queries=6)
    with made.store.write() as connection:
        gone = sa.select(sa.func.min(pairs.c.pair_id)).where(pairs.c.block == "unique").scalar_subquery()
        connection.execute(sa.update(pairs).where(pairs.c.pair_id == gone).values(active=False))
        idle = sa.select(sa.func.max(pages.c.id)).where(pages.c.kind == "pair").scalar_subquery()
        connection.execute(sa.update(pages).where(pages.c.id == idle).values(active=False))
    with made.store.read() as connection:
        catalogue, sizes = Catalogue(Study.load(made.folder), connection), read_block_sizes(connection)
        counted = {}
        for block in ("base", "unique"):
            of_block = sa.select(pages.c.id).where(pages.c.block == block, pages.c.active)
            read = [read_page(connection, key) for key in connection.execute(of_block).scalars().all()]
            counted[block] = BlockSize(len(read), sum(len(page.pairs) for page in read))
    assert sizes == counted == {"base": BlockSize(2, 8), "unique": BlockSize(5, 19)}
    assert [catalogue.count_pages(block) for block in ("base", "unique", "none")] == [2, 5, 0]
    assert catalogue.results_on_page == 27 / 7


def test_what_a_server_keeps_of_a_studys_pages_does_not_grow_with_its_unique_pairs(tmp_path: Path) -> None:
    kept = []
    for queries in (10, 40):
        folder = write_study(tmp_path / str(queries), base_queries=2, unique_queries=queries)
        store = Store(f"sqlite:///{folder / 'study.db'}")
        study = prepare(folder, store)
        with store.read() as connection:
            catalogue = Catalogue(study, connection)
        store.dispose()
        assert catalogue.count_pages("unique") == queries
        kept.append(len(pickle.dumps(vars(catalogue))))
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    "pair_id", ['"', "a\\b", "\\u0041", "日本 🙂", "it's", "[1,2]", "null", "12", "1.0", "a\tb", "قارن"]
)
def test_a_pair_is_found_by_any_id_that_pairs_csv_may_hold(make_study: Callable[..., Made], pair_id: str) -> None:
    made = make_study(toml(), base_queries=0, unique_queries=1, results=1)
    path = made.folder / "pairs.csv"
    with open(path, encoding="utf-8", newline="") as source:
        header, row = csv.reader(source)
    with open(path, "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([header, [pair_id, *row[1:]]])
    prepare(made.folder, made.store)
    desk = Desk(made)
    rater = desk.newcomer("a")
    position = desk.next(rater)
    with made.store.read() as connection:
        page = find_rater_page(connection, rater, position)
    assert page is not None and page.shown == (PairRow(pair_id, "q0", "r0"),)


def test_a_raters_page_comes_with_its_pairs_and_those_of_the_next_in_the_raters_own_order(
    make_study: Callable[..., Made],
) -> None:
    desk = Desk(make_study(toml(page=4), base_queries=0, unique_queries=6))
    rater = desk.newcomer("a")
    desk.answer(rater, desk.next(rater))
    desk.next(rater)  # from the second page on, one is handed out ahead
    with desk.store.read() as connection:
        page = find_rater_page(connection, rater, 2)
    assert page is not None and page.assignment is not None and page.after is not None
    assert [pair.pair_id for pair in page.shown] == page.assignment.pair_ids
    assert [pair.pair_id for pair in page.upcoming] == page.after.pair_ids and len(page.beyond) == 0
    for pair in (*page.shown, *page.upcoming):
        query, _, result = pair.pair_id[1:].partition("-")
        assert (pair.query_id, pair.result_id, pair.other_id) == (f"q{query}", f"r{result}", None)


def test_a_pair_that_has_left_the_study_is_not_handed_out_and_still_shown_to_who_rated_it(
    make_study: Callable[..., Made],
) -> None:
    made = make_study(toml(page=4, k=2), base_queries=0, unique_queries=1)
    desk = Desk(made)
    early, late = desk.newcomer("a"), desk.newcomer("b")
    desk.answer(early, desk.next(early))
    path = made.folder / "pairs.csv"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if not line.startswith("p0-1")))
    prepare(made.folder, made.store)
    desk = Desk(made)
    with made.store.read() as connection:
        before = find_rater_page(connection, early, 1)
    assert before is not None and {pair.pair_id for pair in before.shown} == {f"p0-{n}" for n in range(4)}
    position = desk.next(late)
    with made.store.read() as connection:
        now = find_rater_page(connection, late, position)
    assert now is not None and {pair.pair_id for pair in now.shown} == {"p0-0", "p0-2", "p0-3"}


def test_a_page_in_a_raters_hands_whose_pairs_leave_in_turn_is_never_empty(make_local: Callable[..., Made]) -> None:
    made = make_local(toml(page=2), base_queries=0, unique_queries=1, results=2)
    browser = joined(made.app)
    path = made.folder / "pairs.csv"
    header, first, second = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for row in (first, second):
        path.write_text(header + row, encoding="utf-8")
        prepare(made.folder, made.store)
    browser.get("/rate")
    browser.rate()
    assert (browser.status, browser.address) == (200, "/thanks")
    assert ratings_table(made.store, Study.load(made.folder))["pair_id"].tolist() == ["p0-1"]
