"""Several worker processes on one listening socket, looked after by a parent that starts the fallen anew."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import click

from relstudy.common.console import say
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.shown import say_not_shown, stored_not_shown
from relstudy.studyapp.assignment.study_state import write_address
from relstudy.studyapp.assignment.synchronisation import change_study
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.serving_lock import hold_as_server
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.app import BODY_LIMIT, create_app, log_to
from relstudy.studyapp.web.mount import WsgiApp, mounted, path_of

QUICK_DEATH = 2.0  # seconds; a worker that dies sooner is started again only after a pause
TOO_MANY = 5  # quick deaths in a row end a server of which no worker is left
LONGEST_PAUSE = 10.0  # seconds between such starts
PATIENCE = 10.0  # seconds for workers to end before they are made to
REQUEST_SECONDS = 30  # for a request to be there whole
MOST_CONNECTIONS = 8000  # in each worker; half-open ones cost little until they are closed
_STOPPING = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Serving:
    """What `relstudy serve` was asked for."""

    folder: Path
    host: str
    port: int
    workers: int
    threads: int
    trusted_proxy: str | None = None
    secure: bool | None = None
    quiet: bool = False


def run(serving: Serving, *, reset_admin: bool = False) -> None:
    """Prepare the database, listen, and serve until told to stop."""
    # Held, also by the forked workers, until the last of them has ended.
    held = hold_as_server(serving.folder) if serving.folder.is_dir() else None
    try:
        _run(serving, reset_admin=reset_admin)
    finally:
        if held is not None:
            held.close()


def _run(serving: Serving, *, reset_admin: bool) -> None:
    study = _take_over(serving.folder)
    if reset_admin:
        (serving.folder / "admin.hash").unlink(missing_ok=True)
    # Made once: all workers, and those that replace them, serve the same study, whatever becomes of its files.
    app = create_app(serving.folder, secure=serving.secure)
    listener = _listen(serving.host, serving.port)
    port = listener.getsockname()[1]
    path = path_of(study.url)
    local = f"http://{_shown(serving.host)}:{port}{path}"
    address = study.url or local
    _note_address(serving.folder, study, local)
    say(f"{study.title}: {address}/ (health: {address}/health, admin: {address}/admin/)")
    link = make_setup_link(serving.folder)
    if link is not None:
        say(f"Choose the admin password, once, at {address}{link}")
    print(f"listening on {_shown(serving.host)}:{port}", flush=True)
    log_to(sys.stderr, logging.WARNING if serving.quiet else logging.INFO)
    if hasattr(os, "fork"):
        supervise(lambda: _work(serving, mounted(app, path), listener), serving.workers)
    else:
        _work(serving, mounted(app, path), listener)


def _take_over(folder: Path) -> Study:
    """Make the study's files what is served, and say what that changes.

    Raises
    ------
    RelstudyError
        where it would take something from raters at work or from what was rated; nobody asked for that by serving
    """
    store = Store.of_study(folder)
    try:
        store.migrate()
        study, changes = change_study(folder, store, lambda changes: not changes.takes)
        if changes.takes:
            raise RelstudyError(
                f"{folder}: the study's files are not what is served, and to change to them takes something away: "
                f"{'; '.join(changes.sentences())}. `relstudy change {folder}` does it, or put the files back"
            )
    finally:
        store.dispose()
    if not changes.first and changes.version is not None:
        for sentence in changes.sentences() or ["nothing that raters see"]:
            click.echo(f"changed: {sentence}")
        click.echo(f"every server goes on with version {changes.version} of the study")
    return study


def _note_address(folder: Path, study: Study, address: str) -> None:
    """Keep the address for invitations, and warn of pairs that no page will show."""
    store = Store.of_study(folder)
    try:
        with store.write() as connection:
            write_address(connection, address)
            for sentence in say_not_shown(stored_not_shown(connection, study)):
                say(f"Mind: {sentence}.")
    finally:
        store.dispose()


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise RelstudyError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from None
    listener.listen(1024)
    return listener


def _work(serving: Serving, app: WsgiApp, listener: socket.socket) -> None:
    """One worker: serves until it is told to stop."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    make_worker(app, listener, serving.threads, serving.trusted_proxy).run()


def make_worker(app: WsgiApp, listener: socket.socket, threads: int, trusted_proxy: str | None = None) -> Any:
    """Waitress as every worker runs it.

    Parameters
    ----------
    trusted_proxy : the address of the proxy in front. Of its X-Forwarded-For, -Proto and -Host the last entries are
        believed, which it wrote itself; whatever anybody else sends of them is dropped.
    """
    import waitress

    from relstudy.studyapp.web.deadline import DeadlineChannel

    proxy: dict[str, object] = {}
    if trusted_proxy:
        proxy = {
            "trusted_proxy": trusted_proxy,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"},
        }
    # Waitress reads a request whole before a thread sees it, so that a slow sender holds up nobody.
    server = waitress.create_server(
        app,
        sockets=[listener],
        threads=threads,
        channel_timeout=REQUEST_SECONDS,
        cleanup_interval=5,
        connection_limit=_most_connections(),
        asyncore_use_poll=True,  # select() ends at 1,024 descriptors
        max_request_body_size=2 * BODY_LIMIT,
        max_request_header_size=32 * 1024,
        ident=None,
        clear_untrusted_proxy_headers=True,
        **proxy,
    )
    server.channel_class = DeadlineChannel
    return server


def _most_connections() -> int:
    """As many as the system lets a process have open, up to `MOST_CONNECTIONS`, with some left for files."""
    try:
        import resource
    except ImportError:  # Windows
        return 400
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + 200
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(100, min(MOST_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200))


def supervise(work: Callable[[], None], workers: int) -> None:
    """Keep so many processes at work until SIGTERM or SIGINT ends them all.

    A worker that ends is replaced; after one that could not even start, only after a pause that grows. None outlives
    this process.

    Raises
    ------
    RelstudyError
        when workers keep failing at the start and none is at work
    """
    alive_read, alive_write = os.pipe()
    children: dict[int, float] = {}
    stopped_at: list[float] = []

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped_at.append(time.monotonic())
        _send(children, signal.SIGTERM)

    for number in _STOPPING:
        signal.signal(number, stop)
    failures, next_start = 0, 0.0
    while True:
        # A signal waits until the new child is noted, and the child until it has a handler of its own: one that came
        # between was lost, and the server ran on.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        while not stopped_at and len(children) < workers and time.monotonic() >= next_start:
            children[_fork(work, alive_read, alive_write)] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        ended = _ended_child()
        if ended is None:
            if stopped_at and not children:
                return
            if stopped_at and time.monotonic() - stopped_at[0] > PATIENCE:
                _send(children, signal.SIGKILL)
            time.sleep(0.05)
            continue
        child, status = ended
        lived = time.monotonic() - children.pop(child, 0.0)
        if stopped_at:
            continue
        say(f"worker {child} ended ({_ending(status)}); another takes its place")
        failures = failures + 1 if lived < QUICK_DEATH and os.WIFEXITED(status) else 0
        if failures >= TOO_MANY and not children:
            raise RelstudyError("the workers keep failing at the start; the lines above say why")
        next_start = time.monotonic() + min(LONGEST_PAUSE, 0.2 * failures)


def _send(children: Iterable[int], number: signal.Signals) -> None:
    for child in list(children):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)


def _ended_child() -> tuple[int, int] | None:
    """Process id and wait status of a worker that has ended; None while all are at work, or none is left."""
    try:
        child, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (child, status) if child else None


def _ending(status: int) -> str:
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"


def _fork(work: Callable[[], None], alive_read: int, alive_write: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        os.close(alive_write)
        threading.Thread(target=_end_with_parent, args=(alive_read,), daemon=True).start()
        work()
        code = 0
    except RelstudyError as error:
        say(f"relstudy: {error}")
    except BaseException:
        logging.getLogger("relstudy").exception("worker")
    finally:
        os._exit(code)


def _end_with_parent(alive_read: int) -> None:
    """The pipe's other end closes when the parent is gone, however it went."""
    os.read(alive_read, 1)
    os._exit(0)
