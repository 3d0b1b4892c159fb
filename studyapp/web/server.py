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
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from relstudy.common.console import say
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.web.admin.access import make_setup_link
from relstudy.studyapp.web.app import BODY_LIMIT, create_app, log_to

QUICK_DEATH = 2.0  # seconds; a worker that dies sooner is started again only after a pause
TOO_MANY = 5  # quick deaths in a row end the server


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
    study = prepare(serving.folder)
    if reset_admin:
        (serving.folder / "admin.hash").unlink(missing_ok=True)
    listener = _listen(serving.host, serving.port)
    port = listener.getsockname()[1]
    address = study.url or f"http://{_shown(serving.host)}:{port}"
    say(f"{study.title}: {address}/ (health: {address}/health, admin: {address}/admin/)")
    link = make_setup_link(serving.folder)
    if link is not None:
        say(f"Choose the admin password, once, at {address}{link}")
    print(f"listening on {_shown(serving.host)}:{port}", flush=True)
    if hasattr(os, "fork"):
        _supervise(serving, listener)
    else:
        _work(serving, listener)


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


def _work(serving: Serving, listener: socket.socket) -> None:
    """One worker: serves until it is told to stop."""
    import waitress

    log_to(sys.stderr, logging.WARNING if serving.quiet else logging.INFO)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    app = create_app(serving.folder, secure=serving.secure, workers=serving.workers)
    proxy: dict[str, object] = {}
    if serving.trusted_proxy:
        proxy = {
            "trusted_proxy": serving.trusted_proxy,
            "trusted_proxy_headers": {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"},
        }
    # Waitress reads a request whole before a thread sees it, so that a slow sender holds up nobody.
    waitress.serve(
        app,
        sockets=[listener],
        threads=serving.threads,
        channel_timeout=30,
        cleanup_interval=10,
        connection_limit=1000,
        max_request_body_size=2 * BODY_LIMIT,
        max_request_header_size=32 * 1024,
        ident=None,
        clear_untrusted_proxy_headers=True,
        **proxy,
    )


def _supervise(serving: Serving, listener: socket.socket) -> None:
    alive_read, alive_write = os.pipe()
    children: dict[int, float] = {}
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    quick_deaths = 0
    while True:
        while not stopping.is_set() and len(children) < serving.workers:
            children[_fork(serving, listener, alive_read, alive_write)] = time.monotonic()
        if not children:
            break
        try:
            child, status = os.wait()
        except InterruptedError:
            continue
        born = children.pop(child, 0.0)
        if stopping.is_set():
            continue
        say(f"worker {child} ended ({_ending(status)}); another takes its place")
        if time.monotonic() - born < QUICK_DEATH and os.WIFEXITED(status):
            quick_deaths += 1
            if quick_deaths >= TOO_MANY:
                stop(signal.SIGTERM, None)
                raise RelstudyError("the workers keep failing at the start; the lines above say why")
            time.sleep(0.2 * quick_deaths)
        else:
            quick_deaths = 0


def _ending(status: int) -> str:
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"


def _fork(serving: Serving, listener: socket.socket, alive_read: int, alive_write: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        os.close(alive_write)
        threading.Thread(target=_end_with_parent, args=(alive_read,), daemon=True).start()
        _work(serving, listener)
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
