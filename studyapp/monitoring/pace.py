"""How long a rating takes in a study, by its latest ones."""

from __future__ import annotations

from statistics import median

import sqlalchemy as sa

from relstudy.common.times import LEAST_SECONDS
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import ratings

LATEST = 500  # ratings looked at: enough for a median, and a short read of the newest rows in a study of any size
FEWEST = 20  # ratings before a pace counts: five pages of four, about one person's first minutes


def seconds_per_rating(store: Store) -> float | None:
    """Median seconds of the latest ratings; None while there are few, and where programs rated."""
    latest = sa.select(ratings.c.seconds).order_by(ratings.c.id.desc()).limit(LATEST)
    with store.read_one() as connection:
        taken = [seconds for seconds in connection.execute(latest).scalars() if seconds is not None]
    middle = median(taken) if len(taken) >= FEWEST else 0.0
    return middle if middle >= LEAST_SECONDS else None
