"""One study behind several worker processes on one listening socket."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from relstudy.common.runtime.console import say
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.serving_lock import (
    hold_as_server,
    leaving_nothing,
    one_prepares,
    require_sound_database,
)
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.answering import PlannedLooks
from relstudy.studyapp.web.app import create_app
from relstudy.studyapp.web.connections import announce, listen, make_worker, shown_address
from relstudy.studyapp.web.mount import mounted, path_of
from relstudy.studyapp.web.notifier import notifier_of
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.processes import run_workers, work_apart
from relstudy.studyapp.web.single_sign_on import require_proxy
from relstudy.studyapp.web.starting import end_deleting, keep_deleting, note_address, take_over


def run(folder: Path, server: ServerOptions, *, secure: bool | None = None, reset_admin: bool = False) -> None:
    """Prepare the database, listen, and serve until stopped.

    Parameters
    ----------
    folder : the study
    secure : whether cookies are for https only; None: whether the study's url begins with https
    reset_admin : forget the admin password, for which a link chooses a new one
    """
    # Held, also by the forked workers, until the last of them has ended.
    if not folder.is_dir():
        _run(folder, server, secure, reset_admin)
    with leaving_nothing(folder), contextlib.ExitStack() as stack:
        require_sound_database(folder)
        lock = hold_as_server(folder)
        if lock is not None:
            stack.enter_context(lock)
        _run(folder, server, secure, reset_admin)


def run_preview(folder: Path, server: ServerOptions) -> None:
    """Serve the pages alone, from the study's files; what this needs of a database is gone when it ends."""
    if not (folder / "secret.key").exists():
        os.environ.setdefault("RELSTUDY_SECRET", secrets.token_hex(32))  # so that none is written into the folder
    with tempfile.TemporaryDirectory(prefix="relstudy-") as name:
        store = Store(Path(name) / "preview.db")
        study = prepare(folder, store)
        app = create_app(folder, store=store, secure=False, only_preview=True)
        listener = listen(server.host, server.port)
        say(f"{study.title}, preview: http://{shown_address(listener, server)}/preview/")
        announce(listener, server)
        run_workers(lambda: make_worker(app, listener, server).run(), 1)
        store.dispose()


def _run(folder: Path, server: ServerOptions, secure: bool | None, reset_admin: bool) -> None:
    notifier = notifier_of(Study.load(folder), folder)
    require_proxy(Study.load(folder), server.trusted_proxy)
    with one_prepares(folder):
        study = work_apart(lambda: take_over(folder))
    if reset_admin:
        (folder / "admin.hash").unlink(missing_ok=True)
    # Made once: all workers, and those that replace them, serve the same study, whatever becomes of its files.
    app = create_app(folder, secure=secure)
    listener = listen(server.host, server.port)
    path = path_of(study.url)
    local = f"http://{shown_address(listener, server)}{path}"
    address = study.url or local
    note_address(folder, study, local)
    say(f"{study.title}: {address}/ (health: {address}/health, admin: {address}/admin/)")
    link = make_setup_link(folder)
    if link is not None:
        say(f"Choose the admin password, once, at {address}{link}")
    announce(listener, server)

    def work() -> None:
        keep_deleting(folder, app.extensions["relstudy"].gone)
        if notifier is not None:
            notifier.start()
        PlannedLooks(folder).start()
        make_worker(mounted(app, path), listener, server).run()

    run_workers(work, server.workers)
    end_deleting(folder)
