"""Retention of data that identify raters."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import sqlalchemy as sa

from relstudy.common.wording import count_of
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.tables import raters

KNOWN = raters.c.session_key != ""  # of who has been made nobody, the key is empty


def retention_notes(connection: sa.Connection, study: Study, folder: Path, today: date | None = None) -> Iterator[str]:
    """Sentences once the study's `keep_until` has passed (in UTC) while people are still identifiable."""
    day = today or datetime.now(UTC).date()
    if study.keep_until is None or day <= study.keep_until:
        return
    count = connection.execute(sa.select(sa.func.count()).select_from(raters).where(KNOWN)).scalar_one()
    if count:
        command = f"relstudy forget {shlex.quote(str(folder))} --all-people"
        yield (
            f"what says who {count_of(count, 'rater is', 'raters are')} was to be kept until {study.keep_until}, "
            f"which has passed; `{command}` takes it out of the database"
        )
