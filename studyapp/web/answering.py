"""The answer of a study is computed by a process of its own, when a researcher asks and at the looks that are planned.

No rater waits for it: a server only starts that process and shows what it kept (`monitoring.kept_answer`).
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from relstudy.calibration.tables.decision import LookPlan, read_decision
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.versions import read_state
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.saved_answer import KeptAnswer, begin, is_computing
from relstudy.studyapp.monitoring.status import Status, may_have_ratings, study_status

LOOK = 60.0
"""Seconds between two counts of the answers that are in."""
SHARE = 50
"""Counting takes at most one second in so many."""


def start_computing(folder: Path) -> None:
    """Start a process that computes the answer and keeps it, unless one is at work."""
    if is_computing(folder):
        return
    begin(folder)
    command = [sys.executable, "-m", "relstudy", "admin", "status", str(folder.resolve()), "--answer", "--json"]
    nothing = subprocess.DEVNULL
    started = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
    threading.Thread(target=started.wait, daemon=True).start()


def share_of_answers(status: Status) -> float:
    """Share of the pages of unique pairs that are rated, or 0."""
    unique = [block for block in status.blocks if block.pages_wanted]
    wanted = sum(block.pages_wanted or 0 for block in unique)
    return sum(min(block.pages_done, block.pages_wanted or 0) for block in unique) / wanted if wanted else 0.0


def is_due(plan: LookPlan, share: float, kept: KeptAnswer | None) -> bool:
    """True once as many answers are in as the next planned look wants.

    Examples
    --------
    >>> is_due(LookPlan(5), 0.19, None), is_due(LookPlan(5), 0.2, None)
    (False, True)
    """
    before = 0.0 if kept is None else kept.fraction
    return int(share * plan.planned + 1e-9) > int(before * plan.planned + 1e-9)


@dataclass(frozen=True)
class PlannedLooks:
    """Has the answer of a study computed at the looks that it plans.

    Parameters
    ----------
    folder : of the study
    """

    folder: Path
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _seen: dict[str, int] = field(default_factory=dict, repr=False)

    def start(self) -> None:
        """Begin to count, in a thread of this process."""
        threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        """Stop counting."""
        self._ended.set()

    def _look(self) -> None:
        wait = LOOK
        while not self._ended.wait(wait):
            began = time.monotonic()
            with contextlib.suppress(*DATABASE_ERRORS, OSError, RelstudyError):  # the next count is soon
                self.look()
            wait = max(LOOK, SHARE * (time.monotonic() - began))

    def look(self) -> bool:
        """Start to compute the answer if a planned look is due, or the study was closed or opened again since; says
        whether it was."""
        plan = read_decision(self.folder / "study.toml").looks
        if plan is None:
            return False
        store = Store.of_study(self.folder, kept=1)
        try:
            kept, newest = KeptAnswer.of(self.folder), may_have_ratings(store)
            with store.read() as connection:
                closed = read_state(connection) == "closed"
            if kept is not None and kept.closed != closed:
                start_computing(self.folder)
                return True
            if newest == self._seen.get("newest"):
                return False  # nothing was rated since the last count, which costs more than this
            self._seen["newest"] = newest
            share = share_of_answers(study_status(store, Study.load(self.folder)))
        finally:
            store.dispose()
        due = is_due(plan, share, kept)
        if due:
            start_computing(self.folder)
        return due
