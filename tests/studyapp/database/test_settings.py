"""Settings that several servers write at the same time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from relstudy.studyapp.assignment.versions import read_address, write_address
from relstudy.studyapp.database.store import Store
from tests.studyapp.cluster import Cluster


@pytest.mark.postgresql
@pytest.mark.parametrize("is_first", [True, False])
def test_two_servers_may_write_a_setting_at_once_and_the_later_counts(cluster: Cluster, is_first: bool) -> None:
    store = Store(cluster.copy_of_tables())

    def write(address: str) -> None:
        with store.write() as connection:
            write_address(connection, address)

    if not is_first:
        write("http://before")
    with ThreadPoolExecutor(1) as other:
        with store.write() as connection:
            write_address(connection, "http://one")
            later = other.submit(write, "http://two")
            deadline, waiting = time.monotonic() + 4, sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            while not connection.execute(waiting).scalar_one() and time.monotonic() < deadline:
                time.sleep(0.01)
        later.result()
    with store.read() as connection:
        assert read_address(connection) == "http://two"
    store.dispose()
    cluster.take_back()
