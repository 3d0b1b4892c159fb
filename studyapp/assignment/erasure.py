"""Forgetting people: one rater with everything they left, or who all raters are; and the note that this is due."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, quoted
from relstudy.studyapp.assignment.enrolment import Rater, end_visit, find_by_code, lock_rater, read_raters
from relstudy.studyapp.assignment.exclusion import give_back
from relstudy.studyapp.assignment.versions import read_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import PLATFORM_RULES
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.secure_delete import finish_deletions, mark_deletion
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, events, raters, ratings
from relstudy.studyapp.database.tombstones import (
    FORGOTTEN,
    TO_DELETE,
    TO_MARK,
    UNNAMED,
    WITHDREW,
    buried,
    bury,
    hash_of,
)

_NAMED = raters.c.session_key != ""  # of who has been made nobody, the key is empty
_FORGOTTEN = sa.select(events.c.rater_id).where(events.c.kind == FORGOTTEN)
_NAMELESS = sa.select(raters.c.rater_id).where(~_NAMED)
_WITHDRAWN = sa.select(raters.c.rater_id).where(raters.c.outcome == WITHDREW)


class UnknownRaterError(RelstudyError):
    """There is no rater of this code in the study, and there was none."""


@dataclass(frozen=True)
class Gone:
    """The deleted things, and the facts on them that a search for copies needs.

    Parameters
    ----------
    count : ratings of the rater, or raters who are nameless now
    ids : ids that a platform gave these people, which stand in its lists too; kept by nobody who does not search
    readable : where it is still readable in the database's files, and until when; empty where it is not
    """

    count: int
    ids: frozenset[str] = field(default=frozenset(), repr=False)
    readable: str = ""


def forget(store: Store, folder: Path, rater_id: str) -> Gone:
    """Remove a rater and everything they left; their share of the unique pairs goes back to the pool.

    Of who was removed before, nothing is left to delete but what is still readable in the database's files.
    `relstudy.studyapp.monitoring.traces` looks for copies.

    Raises
    ------
    UnknownRaterError
        when there is no such rater
    """
    with store.write() as connection:
        rater = find_by_code(connection, rater_id)
        if rater is not None and lock_rater(connection, rater.id) is not None:
            gone = Gone(_remove(connection, rater), _platform_ids([(rater.entry, rater.identity)]))
            mark_deletion(connection)
            bury(folder, FORGOTTEN, [rater_id])
        elif hash_of(rater_id) in forgotten_hashes(connection, folder)[FORGOTTEN]:
            gone = Gone(0)
        else:
            raise UnknownRaterError(f"there is no rater {rater_id!r} in this study")
    return replace(gone, readable=finish_deletions(store))


def _platform_ids(ways: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Ids of people whom a platform knows by them, by the rule they came by and their identity."""
    return frozenset(identity for entry, identity in ways if entry in PLATFORM_RULES)


def forgotten_hashes(connection: sa.Connection, folder: Path) -> dict[str, set[str]]:
    """Hashes of raters' codes by what was done to them: those of the folder's file, and those of the database itself.

    Raises
    ------
    RelstudyError
        where the file is damaged
    """
    hashes = buried(folder)
    hashes[FORGOTTEN] |= set(connection.execute(_FORGOTTEN).scalars())
    for kind, query in ((UNNAMED, _NAMELESS), (WITHDREW, _WITHDRAWN)):
        hashes[kind] |= {hash_of(code) for code in connection.execute(query).scalars()}
    return hashes


def _remove(connection: sa.Connection, rater: Rater) -> int:
    """Remove a rater's rows; how many ratings these were. An event with the hash of their code is left."""
    of_rater = sa.select(assignments.c.id).where(assignments.c.rater == rater.id)
    give_back(connection, rater.id)
    theirs = sa.select(ratings.c.id).where(ratings.c.assignment_id.in_(of_rater))
    about = events.c.rating_id.in_(theirs) | (events.c.rater_id == rater.rater_id)
    connection.execute(sa.delete(events).where(about))
    removed = connection.execute(sa.delete(ratings).where(ratings.c.assignment_id.in_(of_rater))).rowcount
    connection.execute(sa.delete(assignments).where(assignments.c.rater == rater.id))
    connection.execute(sa.delete(raters).where(raters.c.id == rater.id))
    connection.execute(sa.insert(events).values(kind="forgotten", rater_id=hash_of(rater.rater_id)))
    return removed


def forgotten_so_far(store: Store, folder: Path) -> dict[str, set[str]]:
    """`forgotten_hashes` before a backup takes the database's place: of the file alone if there is no whole one."""
    if not store.is_whole:
        return buried(folder)
    try:
        with store.read() as connection:
            return forgotten_hashes(connection, folder)
    except DATABASE_ERRORS:
        return buried(folder)
    finally:
        store.dispose()  # a connection of our own would look like a server's


def retention_notes(connection: sa.Connection, study: Study, folder: Path) -> Iterator[str]:
    """Sentences once the study's `keep_until` has passed (in UTC) while people are still identifiable."""
    if study.keep_until is None or datetime.now(UTC).date() <= study.keep_until:
        return
    count = connection.execute(sa.select(sa.func.count()).select_from(raters).where(_NAMED)).scalar_one()
    if count:
        command = f"relstudy admin erase {quoted(folder)} --all-people"
        yield (
            f"what says who {count_of(count, 'rater is', 'raters are')} was to be kept until {study.keep_until}, "
            f"which has passed; `{command}` takes it out of the database"
        )


def forget_all_people(store: Store, folder: Path) -> Gone:
    """Take out of the database who the raters are; their ratings stay under the raters' codes.

    Ways in, platform ids, kept parameters, links, completion codes and answers to questions go. Nobody can go on after
    that.

    Raises
    ------
    RelstudyError
        while the study is not closed
    """
    with store.write() as connection:
        if read_state(connection) != "closed":
            close = "relstudy admin status FOLDER --close"
            raise RelstudyError(f"raters may still be at work; close the study first: {close}")
        columns = (raters.c.id, raters.c.rater_id, raters.c.entry, raters.c.identity)
        people = connection.execute(sa.select(*columns).where(_NAMED)).all()
        for row in people:
            _unname(connection, row.id)
        if people:
            mark_deletion(connection)
            bury(folder, UNNAMED, [row.rater_id for row in people])
    return Gone(len(people), _platform_ids((row.entry, row.identity) for row in people), finish_deletions(store))


def _unname(connection: sa.Connection, rater: int) -> None:
    gone = {"entry": "forgotten", "identity": secrets.token_hex(16), "parameters": {}, "session_key": ""}
    empty = {"completion_code": "", "answers": sa.null(), "screening": sa.null()}
    connection.execute(sa.update(raters).where(raters.c.id == rater).values(**gone, **empty))


def forget_again(store: Store, folder: Path, hashes: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Do to a copy of the database what was done to its people since: remove, make nameless, mark as withdrawn.

    Parameters
    ----------
    store : the copy
    folder : of the study, whose file gets those whom only the database knew to be gone
    hashes : of those people, by what was done (`forgotten_hashes`)

    Returns
    -------
    Codes of the raters to whom it had to be done, by what was done
    """
    with store.write() as connection:
        return _forget_again(connection, folder, hashes, read_raters(connection))


def _forget_again(
    connection: sa.Connection, folder: Path, hashes: Mapping[str, set[str]], people: Iterable[Rater]
) -> dict[str, list[str]]:
    done: dict[str, list[str]] = {FORGOTTEN: [], UNNAMED: [], WITHDREW: []}
    for rater in people:
        code, key = hash_of(rater.rater_id), hash_of(rater.session_key)
        if code in hashes[FORGOTTEN] or key in hashes[TO_DELETE]:
            _remove(connection, rater)
            done[FORGOTTEN].append(rater.rater_id)
            continue
        if code in hashes[UNNAMED] and rater.session_key:
            _unname(connection, rater.id)
            done[UNNAMED].append(rater.rater_id)
        if (code in hashes[WITHDREW] or key in hashes[TO_MARK]) and rater.outcome != WITHDREW:
            end_visit(connection, rater, WITHDREW)
            give_back(connection, rater.id)
            done[WITHDREW].append(rater.rater_id)
    in_file = buried(folder)
    for kind, codes in done.items():
        bury(folder, kind, [code for code in codes if hash_of(code) not in in_file[kind]])
    return done


def complete_withdrawals(store: Store, folder: Path) -> Gone:
    """Do for those who withdrew while the database could not be written what they were told that would be done.

    Returns
    -------
    How many raters it concerned, with the platform's ids of those who were deleted

    Raises
    ------
    RelstudyError
        where the file of the forgotten is damaged
    """
    wishes = {kind: hashes for kind, hashes in buried(folder).items() if kind in (TO_DELETE, TO_MARK)}
    if not wishes:
        return Gone(0)
    hashes = defaultdict(set, wishes)
    with store.read_one() as connection:
        people = connection.execute(sa.select(raters.c.id, raters.c.session_key, raters.c.outcome)).all()
    keys = {row.id: hash_of(row.session_key) for row in people}
    to_mark = {row.id for row in people if keys[row.id] in hashes[TO_MARK] and row.outcome != WITHDREW}
    waiting = [row.id for row in people if row.id in to_mark or keys[row.id] in hashes[TO_DELETE]]
    if not waiting:
        return Gone(0)
    with store.write() as connection:
        held = [rater for each in waiting if (rater := lock_rater(connection, each)) is not None]
        done = _forget_again(connection, folder, hashes, held)
        if done[FORGOTTEN]:
            mark_deletion(connection)
    deleted = [(rater.entry, rater.identity) for rater in held if rater.rater_id in done[FORGOTTEN]]
    return Gone(sum(map(len, done.values())), _platform_ids(deleted), finish_deletions(store))
