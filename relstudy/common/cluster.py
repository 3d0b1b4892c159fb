"""Work in parts: one after another in this process, or by the workers of a dask cluster, with the same results.

    with at_work(ClusterOptions("dask", "tcp://host:8786")):
        for result in in_parts(prepare, data, parts):
            ...

`prepare(*data)` gives a function of a part. It is called once in each process that works, so that what all parts rest
on is made there once; the data go to each worker once, and every part goes to one. A part is the same computation
wherever it runs, so a worker that is lost costs the time of its parts and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import pickle
import pkgutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from relstudy.common.options.command_options import Command, taking
from relstudy.common.options.declaration import check_options, option
from relstudy.common.options.option_wording import CommandWords, in_words, words
from relstudy.common.options.option_wording import option as worded
from relstudy.common.runtime.console import say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

Part = TypeVar("Part")
Result = TypeVar("Result")

PATIENCE = 30
"""Seconds that a cluster may be without a worker, or workers without a first answer, before the work is given up."""
GLANCE = 1.0
"""Seconds between two looks at whether there are workers left."""
TRIES = 3
"""Times that parts are handed out again with nothing done in between, before the work is given up."""
A_WORKER = 2
"""Parts for each worker, so that none waits long for the slowest."""
NEEDED = f"{__name__}:PATIENCE"
"""Object that every worker must be able to import."""
WHO = "Who computes"


@dataclass(frozen=True)
class ClusterOptions:
    """Who computes what comes in parts; figures are the same whoever does."""

    engine: Literal["here", "dask"] = option(
        "here",
        "Who computes: this process, or the workers of a dask cluster, with the same figures.",
        heading=WHO,
    )
    scheduler: str | None = option(
        None,
        "Address of a dask scheduler whose workers compute, such as tcp://host:8786; it is trusted as this program is.",
        metavar="ADDRESS",
        shown="with the engine dask, a worker for each core of this machine is started",
        heading=WHO,
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.scheduler is not None and self.engine != "dask":
            raise RelstudyError(f"{worded('scheduler')} goes with {worded('engine', 'dask')}")


def in_parts(
    prepare: Callable[..., Callable[[Part], Result]], data: Sequence[Any], parts: Sequence[Part]
) -> Iterator[Result]:
    """The result of each part, in the order of the parts, as they are done.

    Parameters
    ----------
    prepare : a function of a module (so that workers can import it): from `data` to the function of a part
    data : what all parts rest on
    parts : of at least about a second of work each, where a cluster is to pay

    Raises
    ------
    RelstudyError
        on a cluster: within `PATIENCE` seconds, and a little for dask to notice, where no scheduler and no worker
        answers (any more), or a worker lacks this package; whatever else a part raises

    Examples
    --------
    >>> from functools import partial
    >>> list(in_parts(lambda base: partial(pow, base), [2], [3, 4]))
    [8, 16]
    """
    cluster = _CLUSTER.get()
    if cluster is not None:
        yield from cluster.results(prepare, data, parts)
    elif parts:
        work = prepare(*data)
        for part in parts:
            yield work(part)


def on_a_cluster() -> bool:
    """True where `in_parts` has workers."""
    return _CLUSTER.get() is not None


def workers_in_words() -> str | None:
    """Number and place of the workers of `in_parts`, as a sentence, or None.

    Examples
    --------
    >>> workers_in_words() is None
    True
    """
    cluster = _CLUSTER.get()
    return None if cluster is None else f"{count_of(cluster.workers(), 'dask worker')} of {cluster.where} at work."


def parts_wanted() -> int:
    """The number of parts that keeps all workers busy; 1 if there are none."""
    cluster = _CLUSTER.get()
    return 1 if cluster is None else max(A_WORKER * cluster.workers(), 1)


def cores() -> int:
    """The number of threads that this process may use: those of its task on a worker, else all cores."""
    return getattr(_task, "threads", 0) or os.cpu_count() or 1


@contextlib.contextmanager
def at_work(options: ClusterOptions | None) -> Iterator[None]:
    """Within, `in_parts` works as these options say.

    Raises
    ------
    RelstudyError
        where dask is not installed, no scheduler answers, it has no worker, or a worker lacks this package
    """
    if options is None or options.engine != "dask":
        yield
        return
    with _connected(options.scheduler) as cluster:
        before = _CLUSTER.set(cluster)
        try:
            yield
        finally:
            _CLUSTER.reset(before)


def on_cluster(scheduler: str | None = None) -> contextlib.AbstractContextManager[None]:
    """Within, what `calibrate`, `score` and results compute in parts is computed by workers of a dask cluster.

    Figures are the same to the last digit on processors of one kind with the same versions of packages; a worker that
    is lost costs time only. Workers need relstudy, but none of the files. It pays where the work takes minutes.

    Parameters
    ----------
    scheduler : address of a dask scheduler, such as "tcp://host:8786"; None starts a worker for each core of this
        machine (in a script, beneath `if __name__ == "__main__":`)

    Raises
    ------
    RelstudyError
        where dask is not installed, no scheduler answers, it has no worker, or a worker lacks this package

    Examples
    --------
    >>> import relstudy as rs
    >>> with rs.on_cluster("tcp://host:8786"):  # doctest: +SKIP
    ...     panel = rs.calibrate("ratings.csv")
    ...     result = rs.score("runs", panel)
    """
    return at_work(ClusterOptions("dask", scheduler))


@contextlib.contextmanager
def _connected(scheduler: str | None) -> Iterator[_Cluster]:
    try:
        import dask
        from distributed import Client, LocalCluster
        from distributed.comm import CommClosedError
    except ImportError:
        raise RelstudyError("a dask cluster needs the extra `dask`: pip install 'relstudy[dask]'") from None
    with contextlib.ExitStack() as stack:
        # A part may be large: it is sent once, and is not a slip that dask should warn of.
        stack.enter_context(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}))
        where = scheduler
        if where is None:
            try:
                local = LocalCluster(
                    n_workers=os.cpu_count() or 1, threads_per_worker=1, memory_limit=0, dashboard_address=None,
                    silence_logs=logging.ERROR,
                )  # fmt: skip
            except RuntimeError as error:
                raise RelstudyError(
                    f"dask cannot start workers on this machine ({error}); a script does it beneath "
                    'if __name__ == "__main__":'
                ) from None
            where = stack.enter_context(local).scheduler_address
        try:
            client = Client(where, timeout=5)
        except (OSError, TimeoutError, ValueError) as error:
            raise RelstudyError(f"no dask scheduler answers at {where} ({error})") from None
        try:
            cluster = _Cluster(client, where)
            cluster.check_workers()
            yield cluster
        finally:
            lost = (TimeoutError, OSError, CommClosedError)
            with contextlib.suppress(*lost):  # of a lost cluster no leave can be taken
                client.close(timeout=GLANCE)


class _Cluster:
    """The workers of a scheduler, and the data that they hold."""

    def __init__(self, client: Any, where: str) -> None:
        self.client, self.where = client, where
        self._held: dict[int, tuple[Any, Any]] = {}

    def workers(self) -> int:
        """The number of workers, each of which does one part at a time."""
        return len(self.client.nthreads())

    def check_workers(self) -> None:
        """Wait for the first worker, and refuse those that cannot import this package."""
        from distributed import wait

        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RelstudyError(
                f"the dask scheduler at {self.where} has no worker; start some with `dask worker`"
            ) from None
        workers = list(self.client.scheduler_info(n_workers=-1)["workers"])
        # A function of the standard library, so that any worker can take it.
        checks = [self.client.submit(pkgutil.resolve_name, NEEDED, workers=[each], pure=False) for each in workers]
        try:
            wait(checks, timeout=PATIENCE)
        except TimeoutError:
            raise self._silent() from None
        for worker, check in zip(workers, checks, strict=True):
            if check.status == "error":
                raise RelstudyError(
                    f"the dask worker at {worker} cannot import relstudy ({check.exception()}); install it there"
                )

    def results(
        self, prepare: Callable[..., Callable[[Part], Result]], data: Sequence[Any], parts: Sequence[Part]
    ) -> Iterator[Result]:
        """As `in_parts`. What is done is here; what was on the way to, or on, a lost worker is handed out again, the
        data too where no worker holds them any more."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError, FuturesCancelledError
        from distributed.comm import CommClosedError

        place, done, given = _Place(prepare, _threads_of_products(), type(words())), dict[int, Result](), 0
        futures: dict[Any, int] = {}
        fruitless = 0
        while given < len(parts):
            left = [number for number in range(given, len(parts)) if number not in done]
            try:
                shared = self._shared([place, *data])
                futures = {
                    self.client.submit(_on_worker, _Carried(parts[number]), *shared, pure=False): number
                    for number in left
                }
                for future in self._as_they_come(list(futures)):
                    done[futures.pop(future)] = self._fetched(future).value
                    fruitless = 0
                    while given in done:
                        yield done.pop(given)
                        given += 1
            except (FutureCancelledError, FuturesCancelledError, CommClosedError):
                fruitless += 1
                futures = {}
                self._held.clear()
                self._wait_for_others(fruitless)
            except KilledWorker as error:
                raise RelstudyError(f"the same part of the work has ended several dask workers ({error})") from None
            except (ImportError, MemoryError, OSError) as error:
                raise RelstudyError(f"the dask workers cannot do this work ({error})") from None

    def _shared(self, data: Sequence[Any]) -> list[Any]:
        """Futures of the data, of which each worker fetches a copy with its first part; data of earlier work that have
        no part in this are let go."""
        kept = {id(each): self._held[id(each)] for each in data if id(each) in self._held}
        self._held = kept
        for each in data:
            if id(each) not in kept:
                # A task and not dask's scatter: the scheduler knows how to make again what went with a worker, and
                # dask's own sending goes on for ever where a worker is lost on the way.
                kept[id(each)] = (each, self.client.submit(_kept, _Carried(each), pure=False))
        return [kept[id(each)][1] for each in data]

    def _addresses(self) -> set[str]:
        return set(self.client.scheduler_info(n_workers=-1)["workers"])

    def _as_they_come(self, futures: list[Any]) -> Iterator[Any]:
        """The futures as they are done; a fault of one is raised, and so is the loss of every worker for `PATIENCE`."""
        from distributed import wait
        from distributed.client import FutureCancelledError

        left, seen = set(futures), time.monotonic()
        futures.clear()  # workers let go of what has been fetched
        while left:
            try:
                done, left = wait(left, timeout=GLANCE, return_when="FIRST_COMPLETED")
            except TimeoutError:
                done = set()
            while done:
                future = done.pop()
                if future.status in ("cancelled", "lost"):
                    raise FutureCancelledError(future.key, "worker lost")
                yield future
            if self.client.status != "running":
                raise FutureCancelledError("all", "scheduler lost")
            if self._addresses():
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE:
                raise self._nobody_left()

    def _fetched(self, future: Any) -> Any:
        """What a future has. dask itself waits for ever where the last worker is lost while it is fetched."""
        patience = PATIENCE
        while True:
            try:
                return future.result(timeout=patience)
            except TimeoutError:
                if future.status == "error":
                    raise
                if not self._addresses():
                    raise self._nobody_left() from None
                patience *= 2  # it may be large, and on its way

    def _wait_for_others(self, fruitless: int) -> None:
        """Wait until there is a worker again, after results or data were lost."""
        until = time.monotonic() + PATIENCE
        while self.client.status == "running" and time.monotonic() < until and not self._addresses():
            time.sleep(GLANCE / 4)
        if self.client.status != "running":
            raise RelstudyError(f"the dask scheduler at {self.where} was lost on the way")
        if fruitless >= TRIES or not self._addresses():
            raise self._nobody_left()

    def _nobody_left(self) -> RelstudyError:
        return RelstudyError(
            f"all dask workers of {self.where} were lost, and none that lasts came back within {PATIENCE} seconds"
        )

    def _silent(self) -> RelstudyError:
        return RelstudyError(f"the workers of {self.where} do not answer within {PATIENCE} seconds")


_CLUSTER: ContextVar[_Cluster | None] = ContextVar("_CLUSTER", default=None)

# In a worker:
_task = threading.local()


class _Place:
    """Where a worker keeps what `prepare` gives, as long as the work has use for it: a copy elsewhere is empty.

    Parameters
    ----------
    prepare : as of `in_parts`
    threads : of products of matrices in this process: they decide which numbers are added first, and so the last digit
    reader : whose words messages have
    """

    def __init__(self, prepare: Callable[..., Callable[[Any], Any]], threads: int, reader: type[CommandWords]) -> None:
        self.prepare, self.threads, self.reader = prepare, threads, reader
        self.work: Callable[[Any], Any] | None = None
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Place, (self.prepare, self.threads, self.reader)

    def function(self, data: Sequence[Any]) -> Callable[[Any], Any]:
        """The function of a part, made when it is first asked for."""
        if self.work is None:
            self.work = self.prepare(*data)
        return self.work


class _Carried:
    """What goes from process to process, as bytes until it is used: the scheduler only hands it on.

    Its arrays arrive where numpy would have put them. dask leaves arrays at any byte of a message, and sums of numbers
    that no word of the machine holds have other last digits.
    """

    def __init__(self, value: Any = None, packed: Any = None) -> None:
        self._value, self._packed, self._lock = value, packed, threading.Lock()

    @property
    def value(self) -> Any:
        """What was packed; the bytes are let go when it is first asked for."""
        with self._lock:
            if self._packed is not None:
                self._value, self._packed = pickle.loads(self._packed), None
            return self._value

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from distributed.protocol.pickle import dumps

        with self._lock:
            packed = dumps(self._value) if self._packed is None else self._packed
        return _Carried, (None, pickle.PickleBuffer(packed) if protocol >= 5 else bytes(packed))


def _kept(data: _Carried) -> _Carried:
    return data


def _on_worker(part: _Carried, carried: _Carried, *data: _Carried) -> _Carried:
    from distributed import get_worker
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    place: _Place = carried.value
    _task.threads = int(get_worker().state.nthreads)
    # one part at a time, which may use all threads of the worker: what parts share need not bear two at once
    with place.lock, threadpool_limits(place.threads, user_api="blas"), in_words(place.reader):
        return _Carried(place.function([each.value for each in data])(part.value))


def _threads_of_products() -> int:
    from threadpoolctl import threadpool_info

    return max((int(each["num_threads"]) for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def with_cluster(command: Command) -> Command:
    """Give a command the options of `ClusterOptions`; what it does in parts is then done as they say."""

    @functools.wraps(command)
    def call(*, cluster: ClusterOptions, **arguments: Any) -> Any:
        with at_work(cluster):
            workers = workers_in_words()
            if workers is not None:
                say(workers)
            return command(**arguments)

    return taking(ClusterOptions, "cluster")(call)  # type: ignore[return-value]
