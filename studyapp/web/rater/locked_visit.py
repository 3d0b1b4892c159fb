"""A rater at work in a transaction of their own: nobody else moves them meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flask import abort, make_response, redirect

from relstudy.studyapp.assignment.raters import lock_rater
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.web.site import current_site


@contextmanager
def locked_visit(rater_id: int) -> Iterator[Visit]:
    """The rater, locked until the transaction ends.

    401 for one who has been deleted meanwhile; who is out of the study gets the last page.
    """
    here = current_site()
    with here.write() as connection:
        rater = lock_rater(connection, rater_id)
        if rater is None:
            abort(401, description="session")
        if rater.outcome is not None:
            abort(make_response(redirect("/ended", 303)))
        yield here.visit(connection, rater, time.time())
