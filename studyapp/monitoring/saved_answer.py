"""FOLDER/answer: the answer of a study that is still rated, as `relstudy admin status --answer` last computed it.

The server shows what is kept here and computes nothing of it. The study's own tables are left alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.file_lock import Held, locked
from relstudy.common.runtime.files import read_json, write_text

ANSWER, KEPT, PAGE, RUNNING, STARTED = "answer", "answer.json", "index.html", "running", "started"
RESULTS = "results.zip"
STARTING = 5.0
"""Seconds within which a process that was started holds its lock."""


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """What the ratings said when it was last computed.

    Parameters
    ----------
    at : when, ISO 8601 in UTC
    ratings : how many there were
    headline : the advice, or why there is none
    sentences : what it rests on
    look : number, planned, answers, wanted, fraction and bound, where looks are planned
    settled : whether the study can stop
    closed : whether the study was closed
    hidden : whether figures are withheld until then (looks.blind)
    widths : ratings, and half the width of the interval of the leading difference, at this and earlier answers
    seconds : that a rating takes, the median of the latest; None while there are few
    next_round : where further ratings tell most, a sentence and the commands for it; empty where nothing is known of it
    """

    at: str
    ratings: int
    headline: str
    sentences: tuple[str, ...] = ()
    look: dict[str, Any] | None = None
    settled: bool = False
    closed: bool = False
    hidden: bool = False
    widths: tuple[tuple[int, float], ...] = field(default=())
    seconds: float | None = None
    next_round: tuple[str, ...] = ()

    @property
    def fraction(self) -> float:
        """Share of the answers wanted that were in; 0 where looks are not planned."""
        return 0.0 if self.look is None else float(self.look["fraction"])

    @property
    def to_go(self) -> int:
        """How many of the answers wanted are still to come; 0 where looks are not planned, or none need to come."""
        is_over = self.closed or self.settled
        return 0 if self.look is None or is_over else int(self.look["wanted"]) - int(self.look["answers"])

    @property
    def hours(self) -> float | None:
        """Hours of people's time that these take; None while it is not known how long a rating takes."""
        return None if self.seconds is None else self.to_go * self.seconds / 3600

    @classmethod
    def of(cls, folder: Path) -> KeptAnswer | None:
        """The answer kept in a study's folder; None if there is none, or not one of these."""
        file = folder / ANSWER / KEPT
        try:
            content = read_json(file) if file.is_file() else None
            if not isinstance(content, dict):
                return None
            return cls(
                **{
                    **content,
                    "sentences": tuple(content["sentences"]),
                    "widths": tuple(map(tuple, content["widths"])),
                    "next_round": tuple(content["next_round"]),
                }
            )
        except (RelstudyError, TypeError, KeyError, ValueError):  # of another version, or by hand: it is computed again
            return None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    def write(self, folder: Path) -> None:
        """Keep it in the study's folder."""
        write_text(json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n", folder / ANSWER / KEPT)


def page_of(folder: Path) -> Path:
    """The page of the answer in a study's folder."""
    return folder / ANSWER / PAGE


def results_of(folder: Path) -> Path:
    """The zip file of the report, its tables and the judgments, as they were when the answer was computed."""
    return folder / ANSWER / RESULTS


@contextmanager
def computing(folder: Path) -> Iterator[bool]:
    """A stretch in which nobody else computes the answer; yields False where somebody does."""
    (folder / ANSWER).mkdir(exist_ok=True)
    (folder / ANSWER / RUNNING).touch()
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / ANSWER / RUNNING))
        except Held:
            yield False
        else:
            yield True


def begin(folder: Path) -> None:
    """Note that a process which computes the answer is being started."""
    (folder / ANSWER).mkdir(exist_ok=True)
    (folder / ANSWER / STARTED).touch()


def is_computing(folder: Path) -> bool:
    """True while a process computes the answer, or has just been started for it."""
    started, kept = (_time(folder / ANSWER / name) for name in (STARTED, KEPT))
    if kept <= started and time.time() - started < STARTING:
        return True
    if not (folder / ANSWER / RUNNING).exists():
        return False
    with computing(folder) as free:
        return not free


def _time(file: Path) -> float:
    """When a file was last written, or 0."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
