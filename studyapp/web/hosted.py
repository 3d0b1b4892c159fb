"""The studies of a host: found in their folders, opened when they are asked for, closed when they are taken away.

Each has its own database, cookies, limits and locks; a fault of one is reported for that one.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from flask import Flask

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.accounts import read_accounts
from relstudy.studyapp.config.secret import read_secret
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.errors import DATABASE_ERRORS
from relstudy.studyapp.database.serving_lock import hold_as_server, one_prepares, require_sound_database
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.monitoring.traces import go_on_deleting
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.admin.further_studies import SetUp
from relstudy.studyapp.web.answering import PlannedLooks
from relstudy.studyapp.web.app import HostAccess, create_app
from relstudy.studyapp.web.notifier import Notifier, notifier_of
from relstudy.studyapp.web.single_sign_on import require_proxy
from relstudy.studyapp.web.starting import DELETE_AGAIN, note_address, take_over

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
RESERVED = ("static", "health", "start")  # addresses of the host itself
STOPPED = "stopped"  # a study in whose folder a file of this name lies is not served
KEPT_CONNECTIONS = 1  # to PostgreSQL, by each study in each worker
TRY_AGAIN = 5.0  # seconds until a study that could not be opened is tried again
LOOK = 1.0  # seconds between two looks whether a study was taken away


@dataclass
class HostedStudy:
    """A study that is being served; `is_folder` distinguishes its folder from another that takes its place."""

    folder: Path
    is_folder: tuple[int, int]
    study: Study
    app: Flask
    store: Store
    mark: IO[str] | None = None
    behind: tuple[Notifier | PlannedLooks, ...] = ()


class HostedStudies:
    """The studies of a host, by name.

    Parameters
    ----------
    places : folders, each a study or a folder of studies; a study has the name of its folder
    url : the host's public address
    secure : whether cookies are for https only
    trusted_proxy : address of the proxy in front, if any
    set_up : where further studies are set up in the browser
    url_is_given : whether somebody said that address; else links made on a page lead where the page was asked for
    """

    def __init__(
        self,
        places: Sequence[Path],
        url: str,
        secure: bool,
        *,
        url_is_given: bool = False,
        trusted_proxy: str | None = None,
        set_up: SetUp | None = None,
    ) -> None:
        self.places = [place.resolve() for place in places]
        self.url = url.rstrip("/")
        self.secure = secure
        self.url_is_given = url_is_given
        self.trusted_proxy = trusted_proxy
        self.set_up = set_up
        self._open: dict[str, HostedStudy] = {}
        self._refused: dict[str, float] = {}  # when each may be tried again
        self._trying: set[str] = set()
        self._turn = threading.Lock()
        self._at_work = False
        self._ended = threading.Event()
        self.access = self._host_access()

    def _host_access(self) -> HostAccess | None:
        """Accounts for all studies, in the first folder of studies; None where single studies are served alone."""
        folder = next((given for given in self.places if not (given / "study.toml").exists()), None)
        if folder is None:
            return None
        read_secret(folder)
        read_accounts(folder)
        store = Store.of_host(folder)
        store.migrate()
        store.dispose()
        return HostAccess(folder, store, self.set_up)

    def listed(self) -> dict[str, Path]:
        """The studies that there are now; of two of one name the first."""
        studies: dict[str, Path] = {}
        for given in self.places:
            for folder in [given] if (given / "study.toml").exists() else sorted(given.glob("*/")):
                if (folder / "study.toml").exists() and not (folder / STOPPED).exists():
                    studies.setdefault(folder.name, folder)
        return studies

    def folder_of(self, name: str) -> Path | None:
        """Folder of the study with a name, or None."""
        if not NAME.fullmatch(name) or name in RESERVED:
            return None
        for given in self.places:
            folder = given if (given / "study.toml").exists() else given / name
            if folder.name == name and (folder / "study.toml").exists() and not (folder / STOPPED).exists():
                return folder
        return None

    def get(self, name: str) -> HostedStudy | None:
        """The study of a name, opened if it is not yet, or None.

        Raises
        ------
        RelstudyError
            where it cannot be served now; another request tries again after `TRY_AGAIN` seconds
        """
        hosted = self._open.get(name)
        if hosted is not None:
            return hosted
        folder = self.folder_of(name)
        if folder is None:
            return None
        with self._turn:
            if name in self._open:
                return self._open[name]
            if name in self._trying or time.monotonic() < self._refused.get(name, 0.0):
                raise RelstudyError(f"{name} is not served yet")
            self._trying.add(name)
        try:
            hosted = self._begin(name, folder)
        except Exception as error:  # one study's fault must not become another's
            self._refused[name] = time.monotonic() + TRY_AGAIN
            say(f"{name} is not served: {getattr(error, 'orig', error)}")
            if not isinstance(error, (RelstudyError, *DATABASE_ERRORS, OSError)):
                logging.getLogger("relstudy").exception("study %s", name)
            raise RelstudyError(f"{name} is not served") from error
        finally:
            self._trying.discard(name)
        self._open[name] = hosted
        return hosted

    def _begin(self, name: str, folder: Path) -> HostedStudy:
        """Take the study's files over, and make its app."""
        address = f"{self.url}/{name}"
        require_sound_database(folder)
        mark = hold_as_server(folder)
        store = None
        try:
            with one_prepares(folder):
                files = Study.load(folder)
                require_proxy(files, self.trusted_proxy)
                notifier = notifier_of(files, folder)
                study = take_over(folder)
                note_address(folder, study, address)
                is_new = not self._at_work or not (folder / "admin.setup").exists()
                link = make_setup_link(folder) if is_new and not self._has_owner() else None
            store = Store.of_study(folder, kept=KEPT_CONNECTIONS)
            stated = address if self.url_is_given else ""
            app = create_app(folder, store=store, secure=self.secure, host=self.access, address=stated, name=name)
        except BaseException:
            if store is not None:
                store.dispose()
            if mark is not None:
                mark.close()
            raise
        say(f"{study.title}: {address}/ (admin: {address}/admin/)")
        if study.url and study.url != address:
            say(f"Warning: {folder}/study.toml names {study.url}, to which invitations lead; it is {address} here.")
        if link is not None:
            say(f"Choose the admin password of {name}, once, at {address}{link}")
        if mark is not None and not self._at_work:  # each worker has a mark of its own, which ends when it lets go
            mark.close()
            mark = None
        status = folder.stat()
        behind: tuple[Notifier | PlannedLooks, ...] = (*([] if notifier is None else [notifier]), PlannedLooks(folder))
        if self._at_work:
            for each in behind:
                each.start()
        return HostedStudy(folder, (status.st_dev, status.st_ino), study, app, store, mark, behind)

    def _has_owner(self) -> bool:
        """True if somebody can open every study with an account of the host."""
        accounts = read_accounts(self.access.folder).values() if self.access else ()
        return any(account.role == "owner" and account.password for account in accounts)

    def begin_work(self) -> None:
        """In a worker: hold what is open, and look from time to time whether it is still there."""
        self._at_work = True
        for name, hosted in list(self._open.items()):
            try:
                hosted.mark = hold_as_server(hosted.folder)
            except (RelstudyError, OSError):  # being restored, or gone; it is opened when that has ended
                self._close(name)
                continue
            for each in hosted.behind:
                each.start()
        for work in (self._watch, self._delete):
            threading.Thread(target=work, daemon=True).start()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            with contextlib.suppress(OSError):
                self.let_go()

    def _delete(self) -> None:
        while not self._ended.wait(DELETE_AGAIN):
            for hosted in list(self._open.values()):
                with contextlib.suppress(*DATABASE_ERRORS, OSError, RelstudyError):  # the next attempt is soon
                    go_on_deleting(hosted.folder, hosted.store, hosted.app.extensions["relstudy"].gone)

    def let_go(self) -> None:
        """Close the studies that were taken away, stopped, or replaced by another folder."""
        for name, hosted in list(self._open.items()):
            try:
                status = hosted.folder.stat()
                stays = (status.st_dev, status.st_ino) == hosted.is_folder and not (hosted.folder / STOPPED).exists()
            except FileNotFoundError:
                stays = False
            if not stays:
                self._close(name)
                say(f"{name} is no longer served")

    def _close(self, name: str) -> None:
        hosted = self._open.pop(name)
        for each in hosted.behind:
            each.stop()
        hosted.store.dispose()
        if hosted.mark is not None:
            hosted.mark.close()

    def close(self) -> None:
        """Close every study, and look no more."""
        self._ended.set()
        for name in list(self._open):
            self._close(name)
        if self.access is not None:
            self.access.store.dispose()

    @property
    def served(self) -> int:
        """Number of studies that are open in this process."""
        return len(self._open)
