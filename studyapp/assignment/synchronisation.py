"""pairs.csv, collection.csv and study.toml -> the version of the study that every server serves."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.attention_checks import add_check_pages
from relstudy.studyapp.assignment.draw_state import clear_draw, has_ratings
from relstudy.studyapp.assignment.handed_pages import complete_base, trim_pages, withdraw_pages
from relstudy.studyapp.assignment.rated_blocks import keep_rated_blocks
from relstudy.studyapp.assignment.versions import (
    TAKEN_OVER,
    add_version,
    hold_versions,
    read_head,
    read_item_rows,
    read_study,
)
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.database.settings import read_setting, write_setting
from relstudy.studyapp.database.store import Store, newest_revision
from relstudy.studyapp.database.tables import LEASED, OPEN, UNDECIDED, pages, pairs, raters, ratings, slots
from relstudy.studyapp.sampling.ratable_pairs import STORED, Pair, known_pair_ids, known_pairs, pairs_to_rate

AT_ONCE = 10_000
"""Rows that one statement inserts."""
_NOT_ASKED = ("folder", "text", "judges", "collection")  # raters see nothing of them


@dataclass(frozen=True)
class Changes:
    """Effects of a new version of a study on those who are at work on the one before.

    Parameters
    ----------
    version : number of the version that follows; None where the files say what is served already
    first : nothing was served before
    settings : what of study.toml is another, such as "[entry] completion_url"
    items : how many items of pairs that were there look otherwise
    added : new pairs, by pool (base, unique, practice, check)
    removed : ids of pairs that leave
    removed_ratings : ratings that those pairs have, and that stay
    trimmed, withdrawn : pages in raters' hands that lose a pair, or are taken back; as below, not of raters who are out
        of the study or set aside
    base_raters : raters at work who get base pages that they did not have
    finished : raters who have finished, and get nothing
    """

    version: int | None = None
    first: bool = False
    settings: tuple[str, ...] = ()
    items: int = 0
    added: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    removed_ratings: int = 0
    trimmed: int = 0
    withdrawn: int = 0
    base_raters: int = 0
    finished: int = 0

    @property
    def takes(self) -> bool:
        """True if something is taken from raters who are at work, or from what was rated."""
        return bool(self.removed_ratings or self.trimmed or self.withdrawn)

    @property
    def any(self) -> bool:
        """True if anything of what is served changes."""
        return bool(self.settings or self.items or self.added or self.removed or self.trimmed or self.withdrawn)

    def sentences(self) -> list[str]:
        """One sentence for each thing that changes.

        Examples
        --------
        >>> Changes(2, added=(("base", 4),), base_raters=3, finished=1).sentences()
        ['4 new base pairs: 3 raters at work get them last; 1 who finished does not']
        >>> Changes(2, removed=("p1",), removed_ratings=2).sentences()
        ['1 pair leaves the study (p1); its ratings, which stay and are exported: 2']
        """
        said = [f"study.toml: {', '.join(self.settings)}"] if self.settings else []
        if self.items:
            said.append(f"{_count(self.items, 'item')} will look otherwise than before")
        said += [f"{_count(count, f'new {pool} pair')}{self._who_gets(pool)}" for pool, count in self.added]
        if self.removed:
            named = ", ".join(self.removed[:5]) + (", ..." if len(self.removed) > 5 else "")
            leave = f"{_count(len(self.removed), 'pair')} leave{'s' * (len(self.removed) == 1)} the study ({named})"
            whose = "its" if len(self.removed) == 1 else "their"
            said.append(f"{leave}; {whose} ratings, which stay and are exported: {self.removed_ratings}")
        if self.trimmed:
            said.append(f"pages in raters' hands that lose a pair: {self.trimmed}")
        if self.withdrawn:
            said.append(f"pages in raters' hands that are taken back before they were answered: {self.withdrawn}")
        return said

    def _who_gets(self, pool: str) -> str:
        if pool == "unique":
            return ": they join the pool"
        if pool == "practice":
            return ": raters who have begun do not get them"
        if pool != "base":
            return ""
        if not self.base_raters:
            at_work = ": raters who begin from now on get them"
        else:
            at_work = f": {_count(self.base_raters, 'rater')} at work get{'s' * (self.base_raters == 1)} them last"
        do = "does" if self.finished == 1 else "do"
        return at_work + (f"; {self.finished} who finished {do} not" if self.finished else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def differing_settings(old: Study, new: Study) -> tuple[str, ...]:
    """Settings of study.toml that differ, in the file's own names."""
    names = []
    for field in fields(Study):
        before, now = getattr(old, field.name), getattr(new, field.name)
        if field.name in _NOT_ASKED or before == now:
            continue
        if field.name == "blocks":
            names += _differing_blocks(before, now)
        elif field.name == "entry":
            names += [f"[entry] {part.name}" for part in fields(now) if _differs(before, now, part.name)]
        else:
            names.append(field.name)
    return tuple(names)


def _differing_blocks(before: Any, now: Any) -> list[str]:
    old, new = ({block.name: block for block in blocks} for blocks in (before, now))
    names = [f"block {name!r} is new" for name in new if name not in old]
    names += [f"block {name!r} is gone" for name in old if name not in new]
    for name in [name for name in new if name in old]:
        parts = [part.name for part in fields(new[name]) if _differs(old[name], new[name], part.name)]
        names += [f"block {name!r}: {part}" for part in parts]
    return names or ["the order of the blocks"]


def _differs(before: Any, now: Any, name: str) -> bool:
    return bool(getattr(before, name) != getattr(now, name))


def prepare(folder: str | Path, store: Store | None = None) -> Study:
    """Make what a study's files say the version that is served; run once before serving."""
    if store is None:
        with Store.of_study(folder) as database:
            return prepare(folder, database)
    store.migrate()
    return change_study(folder, store)[0]


class _Undone(Exception):
    """Ends a transaction of which only the effects were asked for."""


def change_study(
    folder: str | Path, store: Store, allow: Callable[[Changes], bool] = lambda changes: True
) -> tuple[Study, Changes]:
    """Make what a study's files say the version that is served, by every server, from one moment to the next.

    Nothing that was rated is touched. New pairs become new pages; base pairs reach raters who are at work; a pair that
    left pairs.csv leaves its page, and the others of the page go on; pages whose block or pool is another are taken
    back. Where a pair's id stands for another pair now, a study that nobody has rated in begins again; with ratings it
    is refused, since they stand under that id.

    Parameters
    ----------
    allow : is shown what the change does, and says whether it shall be; if not, nothing changes

    Returns
    -------
    The study and what the change does to what was there
    """
    files = StudyFiles(Path(folder))
    with store.read() as connection:
        if require_own(connection, files.study, store) is not None and _taken_over(connection) == files.mark:
            return files.study, Changes()
    files.require_practice_apart()
    changes = Changes()
    try:
        with store.write() as connection:
            hold_versions(connection)
            changes = serve_files(connection, store, files)
            if not allow(changes):
                raise _Undone
    except _Undone:
        pass
    return files.study, changes


class StudyFiles:
    """A study's files, read to be served: `study` (study.toml), `items` (of its collection), and its pairs.

    Parameters
    ----------
    folder : the study
    pairs_file : the table of its pairs; default: FOLDER/pairs.csv
    """

    def __init__(self, folder: Path, pairs_file: Path | None = None) -> None:
        self.study = Study.load(folder)
        self.items = DisplayedItems.load(folder, read_secret(folder), self.study.displays)
        self._pairs_file = pairs_file or folder / "pairs.csv"

    @functools.cached_property
    def mark(self) -> str:
        """Hash of all that a version is made of, and of what makes it: while it is the same there is nothing to be
        done."""
        mark = hashlib.sha256(f"{newest_revision()} {self.study.text} {self.study!r}".encode())
        rows = self.items.rows(self.study.folder, self.items.by_id)
        mark.update(json.dumps([row for _, row in sorted(rows.items())]).encode())
        mark.update(self._pairs_file.read_bytes() if self._pairs_file.is_file() else b"")
        return mark.hexdigest()

    @functools.cached_property
    def drawn(self) -> list[Pair]:
        """The pairs of the table."""
        return pairs_to_rate(self._pairs_file, self.items)

    @functools.cached_property
    def with_answers(self) -> list[Pair]:
        """The practice pairs and attention checks of study.toml."""
        return known_pairs(self.study, self.items)

    def require_practice_apart(self) -> None:
        """Refuse practice on, and examples of, a pair that is rated later: its answer would be known by then."""
        ids = {(pair.query_id, frozenset((pair.result_id, pair.other_id))): pair.pair_id for pair in self.drawn}
        for pair in self.with_answers:
            drawn_id = ids.get((pair.query_id, frozenset((pair.result_id, pair.other_id))))
            if pair.block == "practice" and drawn_id is not None:
                raise RelstudyError(
                    f"study.toml: the practice pair {pair.query_id!r}, {pair.result_id!r} is the pair {drawn_id!r} of "
                    "pairs.csv, which would be rated after its answer was shown; practise on another pair"
                )
        for each in self.study.examples:
            drawn_id = ids.get((each.query_id, frozenset((each.result_id, None))))
            if drawn_id is not None:
                raise RelstudyError(
                    f"study.toml: the example {each.query_id!r}, {each.result_id!r} is the pair {drawn_id!r} of "
                    "pairs.csv, which people rate; choose another"
                )


def serve_files(connection: sa.Connection, store: Store, files: StudyFiles) -> Changes:
    """Make a study's files the version that is served, in a transaction that holds the versions; what it changes."""
    _claim(connection, files.study, store)
    wanted = {pair.pair_id: pair for pair in [*files.drawn, *files.with_answers]}
    changes = _change(connection, files.study, files.items, wanted)
    write_setting(connection, TAKEN_OVER, f"{files.mark} {read_head(connection).version}")
    return changes


def _taken_over(connection: sa.Connection) -> str | None:
    """The hash of what was taken over last, while its version is the newest; None where nobody knows."""
    mark, _, version = (read_setting(connection, TAKEN_OVER) or " ").partition(" ")
    return mark if version == str(read_head(connection).version) else None


def _change(connection: sa.Connection, study: Study, items: DisplayedItems, wanted: dict[str, Pair]) -> Changes:
    before = read_study(connection, study.folder)
    keep_rated_blocks(connection, study)
    stored: dict[str, Any] = {row.pair_id: row for row in connection.execute(sa.select(pairs))}
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
    _set_active(connection, study, wanted, checks)
    taken = {"trimmed": trim_pages(connection, set(wanted)), "withdrawn": withdraw_pages(connection)}
    for block in study.blocks:
        if block.unique:
            _add_slots(connection, study, block)
    base_raters = complete_base(connection, study, set(wanted), time.time())
    was = {pair_id for pair_id, row in stored.items() if row.active}
    removed = was - wanted.keys()
    earlier = {row[0]: row for row in read_item_rows(connection)}
    both = (*wanted.values(), *stored.values())
    ids = {item for pair in both for item in (pair.query_id, pair.result_id, pair.other_id) if item is not None}
    shown = set(items.whole(ids)) | set(study.named_items)
    rows = {name: row for name, row in earlier.items() if name in shown} | items.rows(study.folder, sorted(shown))
    finished = sa.select(sa.func.count(raters.c.finished_at)).where(raters.c.outcome.is_(None))
    changes = Changes(
        first=before is None,
        settings=() if before is None else differing_settings(before, study),
        items=sum(_look_of(row) != _look_of(rows[name]) for name, row in earlier.items() if name in rows),
        added=_count_added([pair for pair in wanted.values() if pair.pair_id not in was]),
        removed=tuple(sorted(removed)),
        removed_ratings=_count_ratings(connection, removed),
        base_raters=base_raters,
        finished=connection.execute(finished).scalar_one(),
        **taken,
    )
    if before is None or before.text != study.text or earlier != rows or changes.any:
        return replace(changes, version=add_version(connection, study, list(rows.values())))
    return changes


def _look_of(row: list[Any]) -> list[Any]:
    """The part of an item's row that raters see: everything but its role."""
    return [*row[:5], *row[6:]]


def _count_added(new: list[Pair]) -> tuple[tuple[str, int], ...]:
    counts = Counter(pair.block for pair in new)
    return tuple((pool, counts[pool]) for pool in ("base", "unique", "practice", "check") if counts[pool])


def _count_ratings(connection: sa.Connection, removed: Set[str]) -> int:
    """Number of ratings of pairs that leave the study; of more pairs than a statement could name."""
    gone = sa.select(ratings.c.pair_id).join(pairs, pairs.c.pair_id == ratings.c.pair_id).where(~pairs.c.active)
    return sum(pair_id in removed for pair_id in connection.execute(gone).scalars())


def _claim(connection: sa.Connection, study: Study, store: Store) -> None:
    """A database holds one study: two with pairs of the same names would mix their ratings."""
    if require_own(connection, study, store) is None:
        write_setting(connection, "study", study.id)


def require_own(connection: sa.Connection, study: Study, store: Store) -> str | None:
    """Id of the study that the database holds, None while it is empty; another study's database is refused."""
    holder = read_setting(connection, "study")
    if holder not in (None, study.id):
        raise RelstudyError(
            f"the database {store.shown} holds the study {holder!r}, and this folder's is {study.id!r}; "
            "give each study its own database, or restore the id"
        )
    return holder


def _changed(stored: dict[str, Any], wanted: dict[str, Pair]) -> str:
    """Message about the first pair id that the database has for another pair, or empty."""
    for pair_id, row in stored.items():
        pair = wanted.get(pair_id)
        if pair and _shown(pair) != _shown(row):
            return (
                f"pairs.csv: pair {pair_id!r} is query {pair.query_id!r}, result {pair.result_id!r}, block "
                f"{pair.block!r}, but the study's database has it as {row.query_id!r}, {row.result_id!r}, "
                f"{row.block!r}; there may be ratings with this id, so give the new pair a new one"
            )
    return ""


def _shown(pair: Any) -> tuple[Any, ...]:
    return (pair.query_id, pair.result_id, pair.other_id, pair.block)


def _keep_pairs(connection: sa.Connection, stored: dict[str, Any], wanted: dict[str, Pair]) -> None:
    new = (pair for pair in wanted.values() if pair.pair_id not in stored)
    _insert(connection, pairs, ({**{name: getattr(pair, name) for name in STORED}, "active": True} for pair in new))
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
    """Group the block's pairs that are on no page yet: one query a page, results as their column `page` says, else at
    random."""
    paged: set[tuple[str, str]] = set()
    for row in connection.execute(sa.select(pages.c.kind, pages.c.pair_ids).where(pages.c.block == block.name)):
        paged.update((row.kind, pair_id) for pair_id in row.pair_ids)
    known_pairs_by_id = known_pair_ids(study)
    by_query: dict[tuple[str, str, str, int | None], list[str]] = defaultdict(list)
    rows = []
    for pair in wanted.values():
        kind = "practice" if pair.block == "practice" else "pair"
        if (kind, pair.pair_id) in paged:
            continue
        if kind == "practice":
            if known_pairs_by_id[pair.pair_id].block == block.name:
                rows.append((kind, pair.query_id, [pair.pair_id]))
        elif _asks_for(block, pair):
            by_query[(kind, pair.query_id, pair.paradigm, pair.page)].append(pair.pair_id)
    generator = random.Random(f"{study.seed}:{block.name}:{len(paged)}")
    for (kind, query_id, *_), pair_ids in by_query.items():
        generator.shuffle(pair_ids)
        size = block.results_per_page
        rows.extend((kind, query_id, pair_ids[start : start + size]) for start in range(0, len(pair_ids), size))
    _insert(
        connection,
        pages,
        (
            {"block": block.name, "kind": kind, "query_id": query_id, "pair_ids": pair_ids, "active": True}
            for kind, query_id, pair_ids in rows
        ),
    )


def _set_active(connection: sa.Connection, study: Study, wanted: dict[str, Pair], checks: set[int]) -> None:
    """A page is handed out while its block asks for one of its pairs; of checks, the pages in use."""
    blocks = {block.name: block for block in study.blocks}
    for row in connection.execute(sa.select(pages)).all():
        block, left = blocks.get(row.block), [wanted[pair_id] for pair_id in row.pair_ids if pair_id in wanted]
        if row.kind == "check":
            active = row.id in checks
        elif block is None or not left:
            active = False
        else:
            active = row.kind == "practice" or _asks_for(block, left[0])
        if active != row.active:
            connection.execute(sa.update(pages).where(pages.c.id == row.id).values(active=active))


def _asks_for(block: Block, pair: Pair) -> bool:
    return block.ask == pair.ask and pair.block == block.pairs and block.paradigm in (None, pair.paradigm)


def _add_slots(connection: sa.Connection, study: Study, block: Block) -> None:
    """Give every page of unique pairs its k slots; take back slots that are too many and not in use."""
    have: dict[int, int] = defaultdict(int)
    in_block = (slots.c.block == block.name) & (slots.c.state != UNDECIDED)
    counts = sa.select(slots.c.page_id, sa.func.count()).where(in_block).group_by(slots.c.page_id)
    for page_id, count in connection.execute(counts):
        have[page_id] = count
    generator = random.Random(f"{study.seed}:{block.name}:slots:{sum(have.values())}")
    of_pairs = (pages.c.block == block.name) & (pages.c.kind == "pair")
    query = sa.select(pages.c.id, pages.c.active).where(of_pairs).order_by(pages.c.id)
    new: list[tuple[int, int]] = []
    for page in connection.execute(query).all():
        target = block.ratings_per_pair if page.active else 0
        new += [(page.id, generator.getrandbits(62)) for _ in range(target - have[page.id])]
        if have[page.id] > target:
            spare = (
                sa.select(slots.c.id)
                .where(slots.c.page_id == page.id, slots.c.state.in_([OPEN, LEASED]))
                .order_by(slots.c.state, slots.c.id)
                .limit(have[page.id] - target)
            )
            connection.execute(sa.delete(slots).where(slots.c.id.in_(spare)))
    _insert(
        connection,
        slots,
        (
            {"page_id": page_id, "block": block.name, "order_key": key, "state": OPEN, "leased_until": 0.0}
            for page_id, key in new
        ),
    )


def _insert(connection: sa.Connection, table: sa.Table, rows: Iterator[dict[str, Any]]) -> None:
    """Put rows into a table, in parts: those of a million pairs at once took 900 MB."""
    while part := list(itertools.islice(rows, AT_ONCE)):
        connection.execute(sa.insert(table), part)
