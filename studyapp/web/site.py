"""What the routes of one running study share."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import cast

from flask import current_app

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.raters import Rater
from relstudy.studyapp.assignment.study_state import read_state, write_state
from relstudy.studyapp.assignment.visit import Visit
from relstudy.studyapp.collection.displayed import DisplayedItems
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.database.store import Store, Transaction
from relstudy.studyapp.web.security import Limit, Signer


@dataclass
class Site:
    """A study as it is served: its settings, database, items and texts."""

    study: Study
    store: Store
    items: DisplayedItems
    signer: Signer
    texts: Texts
    link_limit: Limit
    password_limit: Limit
    passphrase_limit: Limit
    join_limit: Limit | None
    _catalogue: Catalogue | None = field(default=None, repr=False)
    _state: tuple[float, str] = field(default=(0.0, ""), repr=False)

    @property
    def catalogue(self) -> Catalogue:
        """The study's active pages and its pairs, read from the database once."""
        if self._catalogue is None:
            with self.store.read() as connection:
                self._catalogue = Catalogue(connection)
        return self._catalogue

    def visit(self, connection: Transaction, rater: Rater, now: float) -> Visit:
        """A rater at work in a transaction of this study's database."""
        return Visit(connection, self.study, self.catalogue, rater, now)

    @functools.cached_property
    def planned_pages(self) -> int:
        """How many pages a rater has from first to last, as long as the pool lasts."""
        catalogue = self.catalogue
        total = 0
        for block in self.study.blocks:
            pages = len(catalogue.of(block.name, "pair"))
            if block.unique and block.pages_per_rater is not None:
                pages = min(pages, block.pages_per_rater)
            extra = len(catalogue.of(block.name, "practice")) + len(catalogue.of(block.name, "check"))
            total += pages + extra + min(block.repeats, pages)
        return total

    @property
    def state(self) -> str:
        """open, paused or closed; at most a second old."""
        read_at, state = self._state
        if time.monotonic() - read_at > 1 or not state:
            with self.store.read() as connection:
                state = read_state(connection)
            self._state = (time.monotonic(), state)
        return "paused" if state == "open" and self.study.paused else state

    def set_state(self, state: str) -> None:
        """Open, pause or close the study; every process sees it within a second."""
        with self.store.write() as connection:
            write_state(connection, state)
        self._state = (0.0, "")


def current_site() -> Site:
    """The site of the request at hand."""
    return cast(Site, current_app.extensions["relstudy"])
