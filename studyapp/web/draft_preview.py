"""The pages of a study that is being set up, as raters would meet them.

Their database is of this process alone, and lies where leftovers are removed.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from flask import Flask

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.draft import DRAFT, OURS

MOST = 4
"""Drafts whose pages are kept ready."""


@dataclass(eq=False)
class Kept:
    """The app of a draft, and what goes with it."""

    made: int
    app: Flask
    store: Store
    place: tempfile.TemporaryDirectory[str]
    requests: int = 1
    """Those that are being answered; the first is the one for which it was made."""
    is_out: bool = False
    """True once another state of the draft, or none, is in its place."""

    def fits(self, made: int) -> bool:
        """True if it is of this state of its draft, and nobody took its folder for a leftover."""
        return self.made == made and Path(self.place.name).is_dir()

    def close_when_unused(self) -> None:
        """Let go of the database, if no request needs it any longer."""
        if self.is_out and not self.requests:
            self.store.dispose()
            self.place.cleanup()


_kept: OrderedDict[Path, Kept] = OrderedDict()
_turn = threading.Lock()


def is_ready(folder: Path) -> bool:
    """True if the pages of a draft, as it is now, need not be prepared first."""
    kept = _kept.get(folder)
    try:
        return kept is not None and kept.fits(_made(folder))
    except FileNotFoundError:
        return False


@contextmanager
def preview_of(folder: Path) -> Iterator[Flask]:
    """The app that shows the pages of a draft as it is now; its database stays for as long as the block runs.

    Raises
    ------
    RelstudyError
        where the draft is just being made anew, or is gone
    """
    try:
        made = _made(folder)
        kept = _ready(folder, made) or _put(folder, _prepared(folder, made))
    except FileNotFoundError:
        raise RelstudyError(f"{folder.name} was thrown away in the meantime") from None
    try:
        forget()
        if not (folder / DRAFT).is_file():
            raise RelstudyError(f"{folder.name} was thrown away in the meantime")
        yield kept.app
    finally:
        with _turn:
            kept.requests -= 1
            kept.close_when_unused()


def forget() -> None:
    """Let go of the pages of drafts that were opened or thrown away, also by another worker."""
    with _turn:
        for folder in [each for each in _kept if not (each / DRAFT).is_file()]:
            _take_out(_kept.pop(folder))


def _ready(folder: Path, made: int) -> Kept | None:
    with _turn:
        kept = _kept.get(folder)
        if kept is None or not kept.fits(made):
            return None
        kept.requests += 1
        _kept.move_to_end(folder)
        return kept


def _put(folder: Path, kept: Kept) -> Kept:
    with _turn:
        if folder in _kept:
            _take_out(_kept.pop(folder))
        _kept[folder] = kept
        while len(_kept) > MOST:
            _take_out(_kept.popitem(last=False)[1])
    return kept


def _take_out(kept: Kept) -> None:
    kept.is_out = True
    kept.close_when_unused()


def _prepared(folder: Path, made: int) -> Kept:
    with ExitStack() as undone:
        place = tempfile.TemporaryDirectory(prefix=OURS, dir=folder.parent)
        undone.callback(place.cleanup)
        store = Store(Path(place.name) / "preview.db")
        undone.callback(store.dispose)
        prepare(folder, store)
        kept = Kept(made, create_app(folder, store=store, secure=False, only_preview=True), store, place)
        undone.pop_all()  # a disk that is full would else be filled by every try
    return kept


def _made(folder: Path) -> int:
    return (folder / DRAFT).stat().st_mtime_ns
