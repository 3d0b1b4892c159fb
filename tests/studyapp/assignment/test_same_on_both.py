"""The same study, seed and sequence of raters is handed out page by page alike on SQLite and on PostgreSQL."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment import enrolment
from relstudy.studyapp.assignment.exclusion import set_aside, take_back
from relstudy.studyapp.assignment.next_page import add_pages
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, pages, raters, slots
from relstudy.studyapp.web.app import create_app
from tests.studyapp.cluster import Cluster
from tests.studyapp.desk import Desk, toml
from tests.studyapp.studies import Made, write_study

STEPS = 60
BASE = '[[blocks]]\nname = "base"\npairs = "base"\nresults_per_page = 2\nrepeats = 1\n'
COUPLES = '[[blocks]]\nname = "couples"\nask = "which"\nratings_per_pair = 2\npairs_per_rater = 4\nrepeats = 1\n'
CHECK = '[[attention]]\nblock = "unique"\nquery_id = "q4"\nresult_id = "words"\nexpected = [1]\n'
PRACTICE = '[[practice]]\nblock = "unique"\nquery_id = "q0"\nresult_id = "q0"\nexpected = [3, 5]\n'
QUALIFICATION = "[qualification]\npass_mark = 0.5\nattempts = 2\n"


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.parametrize("seed", range(6))
def test_a_sequence_of_raters_is_given_the_same_pages_on_both_databases(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    told = []
    for name, url in (("file", f"sqlite:///{tmp_path / 'study.db'}"), ("server", cluster.new_database())):
        numbers = random.Random(seed)
        drawn = SimpleNamespace(
            randbits=numbers.getrandbits,
            choice=numbers.choice,
            token_hex=lambda size, numbers=numbers: f"{numbers.getrandbits(8 * size):x}",
        )
        monkeypatch.setattr(enrolment, "secrets", drawn)
        store = Store(url)
        store.migrate()
        told.append(_told(tmp_path / name, store, seed))
        store.dispose()
    cluster.take_back()
    for step, (on_file, on_server) in enumerate(zip(*told, strict=True)):
        assert on_file == on_server, f"step {step}"


def _told(folder: Path, store: Store, seed: int) -> list[Any]:
    """What happens at each step, and which pages and places there are after it."""
    chance = random.Random(seed)
    lines = _write(folder, chance)
    prepare(folder, store)
    made = Made(folder, store, create_app(folder, store=store))
    desk, people, now, told = Desk(made), [], 1000.0, [_all_of(store)]
    for step in range(STEPS):
        now += chance.choice([1, 60, 200, 2000])
        does, rater = chance.random(), chance.choice(people or [0])
        done: Any = None
        if not rater or does < 0.12:
            people.append(desk.newcomer(f"r{step}", now))
        elif does < 0.82:
            done = desk.next(rater, now)
            late, rating = chance.choice([0, 0, 4000]), chance.choice([None, 1.0, 3.0, 5.0])
            if done and chance.random() < 0.8:
                now += 30 + late
                desk.answer(rater, done, now, rating, form=f"f{step}")
        elif does < 0.9:
            with store.read() as connection:
                person = connection.execute(sa.select(raters.c.rater_id, raters.c.outcome).filter_by(id=rater)).one()
            if person.outcome is None:
                done = set_aside(store, person.rater_id)
            elif person.outcome == "set_aside":
                done = take_back(store, folder, person.rater_id)
        elif does < 0.94:
            with store.write() as connection:
                add_pages(desk.visit(connection, rater, now))
        else:
            done = _change(folder, lines, chance)
            try:
                prepare(folder, store)
            except RelstudyError as error:
                done = str(error)
            desk = Desk(made)
        told.append((done, *_all_of(store)))
    return told


def _write(folder: Path, chance: random.Random) -> list[str]:
    """A study of some shape; the lines of its pairs."""
    write_study(
        folder,
        toml(
            chance.choice([1, 2, 3]),
            chance.choice(['"all"', "4", "8"]),
            chance.choice([5, 30]),
            chance.choice([1, 2, 4]),
        )
        + "repeats = 1\nmore = 4\n"
        + "".join(part for part in (BASE, COUPLES, CHECK, PRACTICE) if chance.random() < 0.7),
        base_queries=3,
        unique_queries=chance.choice([4, 8]),
    )
    study, file = folder / "study.toml", folder / "pairs.csv"
    if PRACTICE in study.read_text() and chance.random() < 0.5:
        study.write_text(study.read_text() + QUALIFICATION)
    head, *rows = file.read_text().splitlines()
    lines = [f"{head},other_id", *(f"{row}," for row in rows)]
    if COUPLES in study.read_text():
        lines += [f"c{q}-{r},q{q},r{r},image,s,,.5,unique,r{r + 1}" for q in range(3, 6) for r in range(3)]
    file.write_text("\n".join(lines) + "\n")
    return lines


def _change(folder: Path, lines: list[str], chance: random.Random) -> None:
    """Some pairs leave, others come back, and each page may be wanted by another number of raters."""
    (folder / "pairs.csv").write_text(
        "\n".join([lines[0], *(row for row in lines[1:] if chance.random() < 0.8)]) + "\n"
    )
    study = folder / "study.toml"
    k = chance.choice([1, 2, 3])
    study.write_text(re.sub(r"ratings_per_pair = \d", f"ratings_per_pair = {k}", study.read_text()))


def _all_of(store: Store) -> tuple[Any, ...]:
    given = sa.select(
        *(raters.c.identity, raters.c.seed, assignments.c.position, assignments.c.block, assignments.c.kind),
        *(assignments.c.page_id, assignments.c.pair_ids, assignments.c.answered_at, assignments.c.surplus),
    )
    places = sa.select(slots.c.page_id, slots.c.order_key, slots.c.state, slots.c.leased_until)
    queries = (
        given.join(raters, raters.c.id == assignments.c.rater).order_by(raters.c.id, assignments.c.position),
        places.order_by(slots.c.page_id, slots.c.order_key),
        sa.select(pages.c.block, pages.c.kind, pages.c.pair_ids, pages.c.active).order_by(pages.c.id),
    )
    with store.read() as connection:
        return tuple([tuple(row) for row in connection.execute(query)] for query in queries)
