"""How long a study keeps what says who its raters are, and the end of it."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.errors import RelstudyError
from relstudy.common.wording import count_of
from relstudy.studyapp.assignment.study_state import read_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store, shred
from relstudy.studyapp.database.tables import raters

_KNOWN = raters.c.session_key != ""  # of who has been made nobody, the key is empty


def count_known(connection: sa.Connection) -> int:
    """Raters of whom it is still stored who they are."""
    return int(connection.execute(sa.select(sa.func.count()).select_from(raters).where(_KNOWN)).scalar_one())


def retention_notes(connection: sa.Connection, study: Study, folder: Path, today: date | None = None) -> Iterator[str]:
    """What to say once the study's `keep_until` has passed (in UTC) while people are still known."""
    day = today or datetime.now(UTC).date()
    if study.keep_until is None or day <= study.keep_until:
        return
    known = count_known(connection)
    if known:
        command = f"relstudy forget {shlex.quote(str(folder))} --all-people"
        yield (
            f"what says who {count_of(known, 'rater is', 'raters are')} was to be kept until {study.keep_until}, "
            f"which has passed; `{command}` takes it out of the database"
        )


def forget_all_people(store: Store) -> int:
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
        keys = list(connection.execute(sa.select(raters.c.id).where(_KNOWN)).scalars())
        for key in keys:
            gone = {"entry": "forgotten", "identity": secrets.token_hex(16), "parameters": {}, "session_key": ""}
            empty = {"completion_code": "", "answers": sa.null(), "screening": sa.null()}
            connection.execute(sa.update(raters).where(raters.c.id == key).values(**gone, **empty))
    shred(store)
    return len(keys)
