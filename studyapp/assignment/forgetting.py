"""Forgetting people: one rater with everything they left, or who all raters are."""

from __future__ import annotations

import secrets
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.raters import Rater, end_visit, find_by_code, lock_rater, read_raters
from relstudy.studyapp.assignment.retention import KNOWN
from relstudy.studyapp.assignment.set_aside import give_back
from relstudy.studyapp.assignment.versions import read_state
from relstudy.studyapp.database.erasure import finish_deletions, mark_deletion
from relstudy.studyapp.database.store import Store, Transaction
from relstudy.studyapp.database.tables import assignments, events, raters, ratings
from relstudy.studyapp.database.tombstones import FORGOTTEN, UNNAMED, WITHDREW, buried, bury, hash_of


def forget(store: Store, folder: Path, rater_id: str) -> int:
    """Remove a rater and everything they left; their share of the unique pairs goes back to the pool.

    Returns how many ratings went: 0 for who was removed before. `finish_deletions` says whether anything can still be
    read in the database's files; `relstudy.studyapp.monitoring.traces` looks for copies.

    Raises
    ------
    RelstudyError
        when there is no such rater
    """
    with store.write() as connection:
        rater = find_by_code(connection, rater_id)
        if rater is None or lock_rater(connection, rater.id) is None:
            if hash_of(rater_id) in buried(folder)[FORGOTTEN]:
                removed = 0
            else:
                raise RelstudyError(f"there is no rater {rater_id!r} in this study")
        else:
            removed = _remove(connection, rater)
            mark_deletion(connection)
            bury(folder, FORGOTTEN, [rater_id])
    finish_deletions(store)
    return removed


def _remove(connection: Transaction, rater: Rater) -> int:
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


def forget_all_people(store: Store, folder: Path) -> int:
    """Take out of the database who the raters are; their ratings stay under the raters' codes.

    Ways in, platform ids, kept parameters, links, completion codes and answers to questions go. Nobody can go on after
    that. Returns how many raters were known.

    Raises
    ------
    RelstudyError
        while the study is not closed
    """
    with store.write() as connection:
        if read_state(connection) != "closed":
            raise RelstudyError("raters may still be at work; close the study first: relstudy status FOLDER --close")
        known = connection.execute(sa.select(raters.c.id, raters.c.rater_id).where(KNOWN)).all()
        for row in known:
            _unname(connection, row.id)
        if known:
            mark_deletion(connection)
            bury(folder, UNNAMED, [row.rater_id for row in known])
    finish_deletions(store)
    return len(known)


def _unname(connection: Transaction, rater: int) -> None:
    gone = {"entry": "forgotten", "identity": secrets.token_hex(16), "parameters": {}, "session_key": ""}
    empty = {"completion_code": "", "answers": sa.null(), "screening": sa.null()}
    connection.execute(sa.update(raters).where(raters.c.id == rater).values(**gone, **empty))


def forget_again(store: Store, folder: Path) -> dict[str, list[str]]:
    """Do to a copy of the database what was done to its people since: remove, make nameless, mark as withdrawn.

    Returns
    -------
    Codes of the raters to whom it had to be done, by what was done
    """
    hashes = buried(folder)
    done: dict[str, list[str]] = {FORGOTTEN: [], UNNAMED: [], WITHDREW: []}
    with store.write() as connection:
        for rater in read_raters(connection):
            code = hash_of(rater.rater_id)
            if code in hashes[FORGOTTEN]:
                _remove(connection, rater)
                done[FORGOTTEN].append(rater.rater_id)
                continue
            if code in hashes[UNNAMED] and rater.session_key:
                _unname(connection, rater.id)
                done[UNNAMED].append(rater.rater_id)
            if code in hashes[WITHDREW] and rater.outcome != WITHDREW:
                end_visit(connection, rater, WITHDREW)
                give_back(connection, rater.id)
                done[WITHDREW].append(rater.rater_id)
    return done
