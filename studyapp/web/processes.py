"""Several worker processes, looked after by a parent that starts the fallen again; and one for a single task."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TypeVar, cast

from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError

QUICK_DEATH = 2.0  # seconds; a worker that dies sooner is started again only after a pause
TOO_MANY = 5  # quick deaths in a row end a server of which no worker is left
LONGEST_PAUSE = 10.0  # seconds between such starts
PATIENCE = 10.0  # seconds for workers to end before they are made to
_CLOSED_TERMINAL = getattr(signal, "SIGHUP", None)
_STOPPING = (signal.SIGTERM, signal.SIGINT, *([_CLOSED_TERMINAL] if _CLOSED_TERMINAL else []))
Result = TypeVar("Result")


def run_workers(work: Callable[[], None], workers: int) -> None:
    """Work in so many processes, or in this one where the system knows no fork."""
    if hasattr(os, "fork"):
        supervise(work, workers)
    else:
        work()


def supervise(work: Callable[[], None], workers: int) -> None:
    """Keep so many processes at work until a signal ends them all, a closed terminal's among them.

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
        if number != _CLOSED_TERMINAL or signal.getsignal(number) != signal.SIG_IGN:  # which nohup asks for
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


def work_apart(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises, done by a process of its own, so that its memory is given back; by this one where
    the system knows no fork.

    Raises
    ------
    RelstudyError
        when that process ends before its work does
    """
    if not hasattr(os, "fork"):
        return work()
    alive_read, alive_write = os.pipe()
    done_read, done_write = os.pipe()

    def send_result() -> None:
        try:
            outcome: tuple[Result | None, Exception | None, str] = work(), None, ""
        except Exception as error:
            outcome = None, error, traceback.format_exc()
        with os.fdopen(done_write, "wb") as out:
            pickle.dump(outcome, out)

    child = _fork(send_result, alive_read, alive_write)
    os.close(alive_read)
    os.close(done_write)
    with os.fdopen(done_read, "rb") as source:
        sent = source.read()
    os.close(alive_write)
    status = os.waitpid(child, 0)[1]
    if status or not sent:
        raise RelstudyError(f"a process ended before its work was done ({_ending(status)})")
    result, error, where = pickle.loads(sent)
    if error is not None:
        error.add_note(where)  # an error is sent without its traceback
        raise error
    return cast(Result, result)


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
        for number in _STOPPING:
            signal.signal(number, signal.SIG_IGN)
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
