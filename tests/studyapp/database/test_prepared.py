"""Prepared statements: what SQLAlchemy would find, and its errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from relstudy.studyapp.database.prepared import Prepared
from relstudy.studyapp.database.tables import pages
from tests.studyapp.studies import Made


def test_a_prepared_statement_finds_and_changes_what_sqlalchemy_does(make_study: Callable[..., Made]) -> None:
    made = make_study()
    row = {"block": "x", "kind": "pair", "query_id": "q", "pair_ids": ["a", "b"], "active": True}
    insert = Prepared(sa.insert(pages).returning(pages.c.id))
    several = Prepared(sa.insert(pages))
    found = Prepared(sa.select(pages).where(pages.c.block == sa.bindparam("name")).order_by(pages.c.id))
    idle = Prepared(sa.update(pages).where(pages.c.id == sa.bindparam("page")).values(active=False))
    with made.store.write() as connection:
        first = insert.row(connection, row).id
        several.run_each(connection, [{**row, "query_id": "r"}, {**row, "query_id": "s", "pair_ids": []}])
        assert idle.run(connection, {"page": first}) == 1 and idle.run(connection, {"page": -1}) == 0
        asked = connection.execute(sa.select(pages).where(pages.c.block == "x").order_by(pages.c.id)).all()
        rows = found.rows(connection, {"name": "x"})
        assert [tuple(each) for each in rows] == [tuple(each) for each in asked]
        assert rows[0].pair_ids == ["a", "b"] and rows[0].active is False and rows[1].active is True
        assert found.row(connection, {"name": "nothing"}) is None


def test_an_error_of_the_driver_is_sqlalchemys_and_undoes_the_transaction(make_study: Callable[..., Made]) -> None:
    made = make_study()
    twice = {"id": 1_000_000, "block": "x", "kind": "pair", "query_id": "q", "pair_ids": [], "active": True}
    insert = Prepared(sa.insert(pages))
    with pytest.raises(sa.exc.IntegrityError), made.store.write() as connection:
        insert.run_each(connection, [twice, twice])
    with made.store.read() as connection:
        assert connection.execute(sa.select(pages).where(pages.c.block == "x")).all() == []
