"""State that the routes of one running study share."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from flask import current_app, g, has_request_context, request, session
from jinja2 import Environment

from relstudy.studyapp.assignment.catalogue import Catalogue
from relstudy.studyapp.assignment.enrolment import Rater, Visit
from relstudy.studyapp.assignment.sequence import RaterPage, hold_page, look_at_page
from relstudy.studyapp.assignment.versions import (
    Head,
    Version,
    join_version,
    read_head,
    read_version,
    shown_state,
    write_state,
)
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.config.language import Language
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.database.attempts import Limit
from relstudy.studyapp.database.store import Store, Transaction
from relstudy.studyapp.web.security import Signer
from relstudy.studyapp.web.single_sign_on import SignOn
from relstudy.studyapp.web.version_templates import templates_of

LANGUAGE = "language"
"""The session's key of the language that somebody chose."""
LONGEST_WISH = 1000
"""Characters of a browser's list of languages; a longer one is not read, which would take longer than the page."""


@dataclass(frozen=True)
class InLanguage:
    """A version of the study as raters read it in one language."""

    of_version: Study
    language: Language
    app_templates: Environment

    @functools.cached_property
    def study(self) -> Study:
        return self.of_version.in_language(self.language)

    @functools.cached_property
    def texts(self) -> Texts:
        return Texts(self.study.texts)

    @functools.cached_property
    def templates(self) -> Environment:
        """The app's templates with this version's settings and texts."""
        return templates_of(self.study, self.texts, self.app_templates, self.language.direction)


@dataclass(frozen=True)
class Served:
    """A version of the study, with what is worked out from it once."""

    version: Version
    app_templates: Environment

    @functools.cached_property
    def in_languages(self) -> dict[str, InLanguage]:
        """The study in each of its languages, the study's own first."""
        study = self.version.study
        languages = study.languages or (Language(study.language, study.language),)
        return {each.code: InLanguage(study, each, self.app_templates) for each in languages}

    def planned_pages(self, group: str | None) -> int:
        """Number of pages that a rater of a group has from first to last, as long as the pool lasts; None: in any
        group."""
        return self._planned.get(group, self._planned[None])

    @functools.cached_property
    def _planned(self) -> dict[str | None, int]:
        study = self.version.study
        by_group: dict[str | None, int] = {
            group.name: self._count(study.blocks_of(group.name)) for group in study.groups
        }
        return {None: max(by_group.values(), default=self._count(study.blocks)), **by_group}

    def _count(self, blocks: tuple[Block, ...]) -> int:
        catalogue = self.version.catalogue
        total = 0
        for block in blocks:
            pages = catalogue.count_pages(block.name)
            if block.unique and block.pages_per_rater is not None:
                pages = min(pages, block.pages_per_rater)
            extra = len(catalogue.of(block.name, "practice")) + len(catalogue.of(block.name, "check"))
            total += pages + extra + min(block.repeats, pages)
        return total

    @functools.cached_property
    def results_on_page(self) -> float:
        """Average number of results on a page."""
        return self.version.catalogue.results_on_page


@dataclass
class Site:
    """A study as it is served: its settings, database, items and texts.

    Each request is answered by one version of the study: the one that the database had when the request first asked,
    or, where it writes, the one that its transaction sees.

    `gone` holds ids that platforms gave people who were deleted by this process, until copies were searched for them.
    """

    folder: Path
    secret: bytes
    store: Store
    signer: Signer
    link_limit: Limit
    password_limit: Limit
    passphrase_limit: Limit
    join_limit: Limit
    at_start: Study
    templates: Environment
    address: str = ""
    account_folders: tuple[Path, ...] = ()
    gone: list[frozenset[str]] = field(default_factory=list, repr=False)
    sign_on: SignOn | None = None
    _served: Served | None = field(default=None, repr=False)
    _state: tuple[float, str] = field(default=(0.0, ""), repr=False)

    @property
    def served(self) -> Served:
        """The version of the study that answers this request."""
        served = g.get("served")
        if served is None:
            with self.store.read_one() as connection:
                head = read_head(connection)
            served = self._kept(head)
            if served is None:
                with self.store.read() as connection:
                    served = self._read(connection)
            g.served = served
        return cast(Served, served)

    def answer_without_database(self) -> None:
        """Answer this request by what is known of the study: the database is away."""
        if "served" not in g:
            nothing = Version(0, self.at_start, DisplayedItems([]), Catalogue())
            g.served = self._served or Served(nothing, self.templates)

    @property
    def offered(self) -> dict[str, InLanguage]:
        """The study in each of the languages that this request may be answered in, its own first.

        The researcher's pages are in the study's own, and so is what is worked out behind them.
        """
        languages = self.served.in_languages
        for_raters = has_request_context() and not request.path.startswith("/admin")
        return languages if for_raters else dict([next(iter(languages.items()))])

    @property
    def language(self) -> InLanguage:
        """The study in the language of this request: the one chosen, else the browser's, else the study's own."""
        offered = self.offered
        own = next(iter(offered))
        if len(offered) == 1:
            return offered[own]
        chosen = session.get(LANGUAGE)
        if chosen not in offered:
            is_long = len(request.headers.get("Accept-Language", "")) > LONGEST_WISH
            # the study's own first: a browser that takes several alike gets that one
            chosen = own if is_long else request.accept_languages.best_match(list(offered), default=own)
        return offered[chosen or own]

    @property
    def study(self) -> Study:
        return self.language.study

    @property
    def version(self) -> int:
        return self.served.version.number

    @property
    def items(self) -> DisplayedItems:
        return self.served.version.items

    @property
    def catalogue(self) -> Catalogue:
        return self.served.version.catalogue

    @property
    def texts(self) -> Texts:
        return self.language.texts

    @contextlib.contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction in which, and after which, this request sees one version and one state of the study."""
        with self.store.write() as connection:
            self._join(connection, join_version(connection))
            yield connection

    @contextlib.contextmanager
    def write_page(self, rater: int, position: int) -> Iterator[tuple[Transaction, RaterPage | None]]:
        """The same, with a rater, who is held, and the page at a position, read in the same look."""
        with self.store.write() as connection:
            head, page = hold_page(connection, rater, position)
            self._join(connection, head)
            yield connection, page

    def read_page(self, rater: int, position: int) -> RaterPage | None:
        """A rater with the page at a position, as of the version that answers this request from then on."""
        with self.store.read_one() as connection:
            head, page = look_at_page(connection, rater, position)
        kept = self._kept(head)
        if kept is not None:
            g.setdefault("served", kept)
        return page

    def _join(self, connection: Transaction, head: Head) -> None:
        g.served = self._kept(head) or self._read(connection)
        g.state = shown_state(head.state, self.study)

    def _kept(self, head: Head) -> Served | None:
        """The version that the database has, where this process has read it already.

        What is kept is read once: another thread may replace it between two looks, also by the version before.
        """
        kept = self._served
        return kept if kept is not None and kept.version.number == head.version else None

    def _read(self, connection: Transaction) -> Served:
        """The newest version, which is kept."""
        served = self._served = Served(read_version(connection, self.folder, self.secret), self.templates)
        return served

    def visit(self, connection: Transaction, rater: Rater, now: float) -> Visit:
        """A rater at work in a transaction of this study's database."""
        return Visit(connection, self.study, self.catalogue, rater, now, self.version)

    @property
    def state(self) -> str:
        """open, paused or closed: as the request's transaction saw it, else at most a second old."""
        if "state" in g:
            return cast(str, g.state)
        read_at, state = self._state
        if time.monotonic() - read_at > 1 or not state:
            with self.store.read_one() as connection:
                state = shown_state(read_head(connection).state, self.study)
            self._state = (time.monotonic(), state)
        return state

    def set_state(self, state: str) -> None:
        """Open, pause or close the study; every process sees it within a second."""
        with self.store.write() as connection:
            write_state(connection, state)
        self._state = (0.0, "")


def current_site() -> Site:
    """The site of the request at hand."""
    return cast(Site, current_app.extensions["relstudy"])
