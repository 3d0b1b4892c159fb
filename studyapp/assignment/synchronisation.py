"""pairs.csv and study.toml -> the database's pairs, pages and slots. Run at every start; only adds what is new."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.asked import keep_asked
from relstudy.studyapp.assignment.checks import add_check_pages
from relstudy.studyapp.assignment.new_draw import clear_draw, has_ratings
from relstudy.studyapp.collection.displayed import DisplayedItems
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.store import LEASED, OPEN, UNDECIDED, Store, pages, pairs, settings, slots
from relstudy.studyapp.sampling.ratable_pairs import Pair, known_pair_ids, known_pairs, pairs_to_rate


def prepare(folder: str | Path, store: Store | None = None) -> Study:
    """Bring a study's database up to date with its files; run once before serving."""
    study = Study.load(folder)
    items = DisplayedItems.load(Path(folder), read_secret(folder))
    database = store or Store.of_study(folder)
    database.migrate()
    sync_database(database, study, items)
    if store is None:
        database.dispose()
    return study


def sync_database(store: Store, study: Study, items: DisplayedItems) -> None:
    """Make the database hold what the study's files say; nothing that was rated is touched.

    New pairs become new pages; a pair that left pairs.csv is handed out no more. Where a pair's id stands for another
    pair now, a study that nobody has rated in begins anew; with ratings it is refused, since they stand under that id.
    """
    wanted = {
        pair.pair_id: pair for pair in [*pairs_to_rate(study.folder / "pairs.csv", items), *known_pairs(study, items)]
    }
    with store.write() as connection:
        if not store.is_sqlite:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(4242424243)"))
        _claim(connection, study, store)
        keep_asked(connection, study)
        stored = {row.pair_id: row for row in connection.execute(sa.select(pairs))}
        changed = _changed(stored, wanted)
        if changed:
            if has_ratings(connection):
                raise RelstudyError(changed)
            clear_draw(connection)
            stored = {}
        for block in study.blocks:
            _add_pages(connection, study, block, wanted)
        checks = add_check_pages(connection, study, items, wanted)
        _keep_pairs(connection, stored, wanted)
        _set_active(connection, set(wanted), checks, {block.name for block in study.blocks})
        for block in study.blocks:
            if block.unique:
                _add_slots(connection, study, block)


def _claim(connection: sa.Connection, study: Study, store: Store) -> None:
    """A database holds one study: two with pairs of the same names would mix their ratings."""
    if require_own(connection, study, store) is None:
        connection.execute(sa.insert(settings).values(key="study", value=study.id))


def require_own(connection: sa.Connection, study: Study, store: Store) -> str | None:
    """Id of the study that the database holds, None while it is empty; another study's database is refused."""
    holder = connection.execute(sa.select(settings.c.value).where(settings.c.key == "study")).scalar_one_or_none()
    if holder not in (None, study.id):
        raise RelstudyError(
            f"the database {store.shown} holds the study {holder!r}, and this folder's is {study.id!r}; "
            "give each study a database of its own, or the id back"
        )
    return holder


def _changed(stored: dict[str, Any], wanted: dict[str, Pair]) -> str:
    """What to say of the first pair id that the database has for another pair; empty where there is none."""
    for pair_id, row in stored.items():
        pair = wanted.get(pair_id)
        if pair and (pair.query_id, pair.result_id, pair.block) != (row.query_id, row.result_id, row.block):
            return (
                f"pairs.csv: pair {pair_id!r} is query {pair.query_id!r}, result {pair.result_id!r}, block "
                f"{pair.block!r}, but the study's database has it as {row.query_id!r}, {row.result_id!r}, "
                f"{row.block!r}; ratings may stand under this id, so give the new pair a new one"
            )
    return ""


def _keep_pairs(connection: sa.Connection, stored: dict[str, Any], wanted: dict[str, Pair]) -> None:
    new = [pair for pair in wanted.values() if pair.pair_id not in stored]
    if new:
        connection.execute(sa.insert(pairs), [{**vars(pair), "active": True} for pair in new])
    for pair_id, row in stored.items():
        pair = wanted.get(pair_id)
        now: dict[str, object] = {"active": pair is not None}
        if pair is not None:  # a further round of sampling changes the probability of pairs drawn before
            now |= {
                name: getattr(pair, name) for name in ("inclusion_probability", "query_probability", "source", "rank")
            }
        if any(getattr(row, name) != value for name, value in now.items()):
            connection.execute(sa.update(pairs).where(pairs.c.pair_id == pair_id).values(now))


def _add_pages(connection: sa.Connection, study: Study, block: Block, wanted: dict[str, Pair]) -> None:
    """Group the block's pairs that are on no page yet: one query a page, results drawn at random."""
    paged: set[tuple[str, str]] = set()
    for row in connection.execute(sa.select(pages.c.kind, pages.c.pair_ids).where(pages.c.block == block.name)):
        paged.update((row.kind, pair_id) for pair_id in row.pair_ids)
    known_pairs_by_id = known_pair_ids(study)
    by_query: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    rows = []
    for pair in wanted.values():
        kind = "practice" if pair.block == "practice" else "pair"
        if (kind, pair.pair_id) in paged:
            continue
        if kind == "practice":
            if known_pairs_by_id[pair.pair_id].block == block.name:
                rows.append((kind, pair.query_id, [pair.pair_id]))
        elif pair.block == block.pairs and block.paradigm in (None, pair.paradigm):
            by_query[(kind, pair.query_id, pair.paradigm)].append(pair.pair_id)
    generator = random.Random(f"{study.seed}:{block.name}:{len(paged)}")
    for (kind, query_id, _), pair_ids in by_query.items():
        generator.shuffle(pair_ids)
        size = block.results_per_page
        rows.extend((kind, query_id, pair_ids[start : start + size]) for start in range(0, len(pair_ids), size))
    if rows:
        connection.execute(
            sa.insert(pages),
            [
                {"block": block.name, "kind": kind, "query_id": query_id, "pair_ids": pair_ids, "active": True}
                for kind, query_id, pair_ids in rows
            ],
        )


def _set_active(connection: sa.Connection, wanted: set[str], checks: set[int], blocks: set[str]) -> None:
    """A page is handed out while its block and all its pairs are in the study; of checks, the pages in use."""
    for row in connection.execute(sa.select(pages)).all():
        active = row.id in checks if row.kind == "check" else row.block in blocks and wanted.issuperset(row.pair_ids)
        if active != row.active:
            connection.execute(sa.update(pages).where(pages.c.id == row.id).values(active=active))


def _add_slots(connection: sa.Connection, study: Study, block: Block) -> None:
    """Give every page of unique pairs its k slots; take back slots that are too many and not in use."""
    have: dict[int, int] = defaultdict(int)
    in_block = (slots.c.block == block.name) & (slots.c.state != UNDECIDED)
    counts = sa.select(slots.c.page_id, sa.func.count()).where(in_block).group_by(slots.c.page_id)
    for page_id, count in connection.execute(counts):
        have[page_id] = count
    generator = random.Random(f"{study.seed}:{block.name}:slots:{sum(have.values())}")
    query = sa.select(pages.c.id, pages.c.active).where(pages.c.block == block.name, pages.c.kind == "pair")
    new = []
    for page in connection.execute(query).all():
        target = block.ratings_per_pair if page.active else 0
        for _ in range(target - have[page.id]):
            new.append(
                {
                    "page_id": page.id,
                    "block": block.name,
                    "order_key": generator.getrandbits(62),
                    "state": OPEN,
                    "leased_until": 0.0,
                }
            )
        if have[page.id] > target:
            spare = (
                sa.select(slots.c.id)
                .where(slots.c.page_id == page.id, slots.c.state.in_([OPEN, LEASED]))
                .order_by(slots.c.state)
                .limit(have[page.id] - target)
            )
            connection.execute(sa.delete(slots).where(slots.c.id.in_(spare)))
    if new:
        connection.execute(sa.insert(slots), new)


def count_pages(connection: sa.Connection) -> dict[tuple[str, str], int]:
    """Active pages by block and kind."""
    query = (
        sa.select(pages.c.block, pages.c.kind, sa.func.count())
        .where(pages.c.active)
        .group_by(pages.c.block, pages.c.kind)
    )
    return {(block, kind): count for block, kind, count in connection.execute(query)}
