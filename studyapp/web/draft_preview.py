"""The pages of a study that is being set up, as raters would meet them.

Their database is of this process alone, and lies where leftovers are removed.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from contextlib import ExitStack
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


@dataclass(frozen=True)
class Kept:
    """The app of a draft, and what goes with it."""

    made: int
    app: Flask
    store: Store
    place: tempfile.TemporaryDirectory[str]

    def fits(self, made: int) -> bool:
        """True if it is of this state of its draft, and nobody took its folder for a leftover."""
        return self.made == made and Path(self.place.name).is_dir()

    def close(self) -> None:
        """Let go of the database."""
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


def preview_of(folder: Path) -> Flask:
    """The app that shows the pages of a draft as it is now.

    Raises
    ------
    RelstudyError
        where the draft is just being made anew, or is gone
    """
    try:
        made = _made(folder)
        with _turn:
            kept = _kept.get(folder)
        if kept is None or not kept.fits(made):
            kept = _prepared(folder, made)
    except FileNotFoundError:
        raise RelstudyError(f"{folder.name} was thrown away in the meantime") from None
    with _turn:
        before = _kept.pop(folder, kept)
        _kept[folder] = kept
        if before is not kept:
            before.close()
        while len(_kept) > MOST:
            _kept.popitem(last=False)[1].close()
    forget()
    if folder not in _kept:
        raise RelstudyError(f"{folder.name} was thrown away in the meantime")
    return kept.app


def forget() -> None:
    """Let go of the pages of drafts that were opened or thrown away, also by another worker."""
    with _turn:
        for folder in [each for each in _kept if not (each / DRAFT).is_file()]:
            _kept.pop(folder).close()


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
