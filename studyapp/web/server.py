"""One study behind several worker processes on one listening socket."""

from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from relstudy.common.console import say
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.serving_lock import hold_as_server, one_prepares, require_sound_database
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.app import create_app, log_to
from relstudy.studyapp.web.listening import listen, make_worker, shown_host
from relstudy.studyapp.web.mount import mounted, path_of
from relstudy.studyapp.web.notifier import notifier_of
from relstudy.studyapp.web.options import ServerOptions
from relstudy.studyapp.web.processes import run_workers, work_apart
from relstudy.studyapp.web.sign_on import require_proxy
from relstudy.studyapp.web.starting import keep_deleting, note_address, take_over


@dataclass(frozen=True)
class Serving:
    """Arguments of `relstudy serve`."""

    folder: Path
    server: ServerOptions
    secure: bool | None = None


def run(serving: Serving, *, reset_admin: bool = False) -> None:
    """Prepare the database, listen, and serve until stopped."""
    # Held, also by the forked workers, until the last of them has ended.
    lock = None
    if serving.folder.is_dir():
        require_sound_database(serving.folder)
        lock = hold_as_server(serving.folder)
    try:
        _run(serving, reset_admin=reset_admin)
    finally:
        if lock is not None:
            lock.close()


def run_preview(serving: Serving) -> None:
    """Serve the pages alone, from the study's files; what this needs of a database is gone when it ends."""
    if not (serving.folder / "secret.key").exists():
        os.environ.setdefault("RELSTUDY_SECRET", secrets.token_hex(32))  # so that none is written into the folder
    with tempfile.TemporaryDirectory(prefix="relstudy-") as name:
        store = Store(Path(name) / "preview.db")
        study = prepare(serving.folder, store)
        app = create_app(serving.folder, store=store, secure=False, only_preview=True)
        listener = listen(serving.server.host, serving.server.port)
        port = listener.getsockname()[1]
        say(f"{study.title}, preview: http://{shown_host(serving.server.host)}:{port}/preview/")
        print(f"listening on {shown_host(serving.server.host)}:{port}", flush=True)
        log_to(sys.stderr, logging.WARNING if serving.server.quiet else logging.INFO)
        run_workers(
            lambda: make_worker(app, listener, serving.server).run(),
            1,
        )
        store.dispose()


def _run(serving: Serving, *, reset_admin: bool) -> None:
    notifier = notifier_of(Study.load(serving.folder), serving.folder)
    require_proxy(Study.load(serving.folder), serving.server.trusted_proxy)
    with one_prepares(serving.folder):
        study = work_apart(lambda: take_over(serving.folder))
    if reset_admin:
        (serving.folder / "admin.hash").unlink(missing_ok=True)
    # Made once: all workers, and those that replace them, serve the same study, whatever becomes of its files.
    app = create_app(serving.folder, secure=serving.secure)
    listener = listen(serving.server.host, serving.server.port)
    port = listener.getsockname()[1]
    path = path_of(study.url)
    local = f"http://{shown_host(serving.server.host)}:{port}{path}"
    address = study.url or local
    note_address(serving.folder, study, local)
    say(f"{study.title}: {address}/ (health: {address}/health, admin: {address}/admin/)")
    link = make_setup_link(serving.folder)
    if link is not None:
        say(f"Choose the admin password, once, at {address}{link}")
    print(f"listening on {shown_host(serving.server.host)}:{port}", flush=True)
    log_to(sys.stderr, logging.WARNING if serving.server.quiet else logging.INFO)

    def work() -> None:
        keep_deleting(serving.folder, app.extensions["relstudy"].gone)
        if notifier is not None:
            notifier.start()
        make_worker(
            mounted(app, path),
            listener,
            serving.server,
        ).run()

    run_workers(work, serving.server.workers)
