"""Work in parts gives the same here and on a cluster, in order, also where workers are killed on the way."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

from relstudy.common.cluster import ClusterOptions, _Carried, at_work, cores, in_parts, parts_wanted
from relstudy.common.options.option_wording import called_in_python, option
from relstudy.common.runtime.errors import RelstudyError


class Weighing:
    """Sums weighted again for each seed, and where that was done."""

    def __init__(self, values: np.ndarray, pause: float) -> None:
        self.values, self.pause, self.made = values, pause, 0

    def __call__(self, seed: int) -> tuple[float, int, int]:
        time.sleep(self.pause)
        self.made += 1
        if seed < 0:
            raise RelstudyError(f"seed {seed} is below 0")
        weight = np.random.default_rng(seed).standard_exponential(len(self.values))
        return float(self.values @ weight), os.getpid(), cores()


@pytest.fixture(scope="module")
def distributed() -> Iterator[ModuleType]:
    dask = pytest.importorskip("distributed", reason="needs the extra `dask`")
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    yield dask
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


VALUES = np.random.default_rng(3).normal(size=4000)
SEEDS = list(range(24))


def sums(values: np.ndarray = VALUES, pause: float = 0.0) -> list[float]:
    return [total for total, _, _ in in_parts(Weighing, [values, pause], SEEDS)]


def test_a_part_is_done_when_it_is_asked_for_and_what_all_rest_on_is_made_once() -> None:
    made: list[str] = []

    def prepare(base: int) -> Callable[[int], int]:
        made.append("prepared")
        return lambda part: made.append(f"part {part}") or base + part  # type: ignore[func-returns-value]

    results = in_parts(prepare, [10], [1, 2])
    assert not made
    assert (next(results), made) == (11, ["prepared", "part 1"])
    assert (list(results), made) == ([12], ["prepared", "part 1", "part 2"])
    assert list(in_parts(prepare, [10], [])) == []
    assert made.count("prepared") == 1


def test_a_scheduler_goes_with_the_engine_dask() -> None:
    with pytest.raises(RelstudyError, match="--scheduler goes with --engine dask"):
        ClusterOptions(scheduler="tcp://there:8786")


def test_without_dask_its_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(RelstudyError, match=r"a dask cluster needs the extra `dask`: pip install 'relstudy\[dask\]'"),
        at_work(ClusterOptions("dask")),
    ):
        raise AssertionError


@pytest.mark.slow
def test_workers_that_are_started_for_it_give_the_same_bits_in_order(distributed: ModuleType) -> None:
    alone = sums()
    with at_work(ClusterOptions("dask")):
        found = list(in_parts(Weighing, [VALUES, 0.0], SEEDS))
        again = sums()
    assert [total for total, _, _ in found] == again == alone
    assert os.getpid() not in {process for _, process, _ in found}
    assert {threads for _, _, threads in found} == {1}
    assert cores() == os.cpu_count()


@pytest.mark.slow
def test_a_long_sum_has_the_digits_it_has_here_with_as_many_threads_as_here(distributed: ModuleType) -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    long = np.random.default_rng(4).normal(size=400_000)  # products of more than 10,000 numbers are cut up by threads
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        alone = sums(long)
        with at_work(ClusterOptions("dask")):
            assert sums(long) == alone


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_is_killed_costs_time_only(distributed: ModuleType, workers: int) -> None:
    alone, found = sums(), []
    with (
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        at_work(ClusterOptions("dask", cluster.scheduler_address)),
    ):
        victim = next(iter(cluster.workers.values())).pid
        for total in in_parts(Weighing, [VALUES, 0.05], SEEDS):
            found.append(total[0])
            if len(found) == 3:
                os.kill(victim, signal.SIGKILL)
    assert found == alone


@pytest.mark.slow
def test_a_fault_that_a_worker_finds_is_raised_here_and_the_work_may_go_on(distributed: ModuleType) -> None:
    alone = sums()
    with at_work(ClusterOptions("dask")):
        with pytest.raises(RelstudyError, match="seed -1 is below 0"):
            list(in_parts(Weighing, [VALUES, 0.0], [1, -1, 2]))
        assert sums() == alone


class Adding:
    """The sum of all numbers, and the numbers."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __call__(self, part: np.ndarray) -> tuple[list[float], np.ndarray]:
        return [float(self.values.sum()), float(part.sum())], part


@pytest.mark.slow
def test_a_plain_sum_has_the_digits_it_has_here_of_data_of_parts_and_of_results(distributed: ModuleType) -> None:
    """numpy adds numbers in another order where they begin between two words of the machine, as dask leaves them."""
    long, parts = np.random.default_rng(1).normal(size=100_001), list(np.random.default_rng(2).normal(size=(6, 5001)))
    alone = list(in_parts(Adding, [long], parts))
    with at_work(ClusterOptions("dask")):
        there = list(in_parts(Adding, [long], parts))
    assert [sums for sums, _ in there] == [sums for sums, _ in alone]
    assert [part.sum() for _, part in there] == [part.sum() for _, part in alone]


class Unreadable:
    """What cannot be unpacked."""

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return int, ("no number",)


@pytest.mark.parametrize("protocol", [4, 5])
def test_what_is_carried_is_unpacked_where_it_is_used_and_once(distributed: ModuleType, protocol: int) -> None:
    def sent(carried: _Carried) -> _Carried:
        buffers: list[pickle.PickleBuffer] = []
        packed = pickle.dumps(carried, protocol, buffer_callback=buffers.append if protocol == 5 else None)
        found = pickle.loads(packed, buffers=buffers)
        assert isinstance(found, _Carried)
        return found

    handed_on = sent(sent(_Carried(Unreadable())))
    with pytest.raises(ValueError, match="no number"):
        _ = handed_on.value
    worker = sent(sent(_Carried([1, 2])))
    assert worker.value == [1, 2] and worker.value is worker.value
    assert sent(worker).value == [1, 2]


class Alone:
    """Says whether another part was begun meanwhile."""

    def __init__(self) -> None:
        self.begun = 0

    def __call__(self, part: int) -> bool:
        self.begun += 1
        before = self.begun
        time.sleep(0.05)
        return self.begun == before


@pytest.mark.slow
def test_a_worker_of_several_threads_does_one_part_at_a_time(distributed: ModuleType) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=4, processes=False, dashboard_address=None) as cluster,
        at_work(ClusterOptions("dask", cluster.scheduler_address)),
    ):
        assert all(in_parts(Alone, [], range(8)))
        assert parts_wanted() == 2


class Naming:
    def __call__(self, part: str) -> str:
        return option(part, "worst")


@pytest.mark.slow
def test_what_a_worker_says_has_the_words_of_who_reads_it(distributed: ModuleType) -> None:
    with at_work(ClusterOptions("dask")):
        assert list(in_parts(Naming, [], ["policy"])) == ["--policy worst"]
        assert called_in_python(lambda: list(in_parts(Naming, [], ["policy"])))() == ["policy='worst'"]


@pytest.mark.slow
def test_data_go_to_the_workers_once_and_are_let_go(distributed: ModuleType) -> None:
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        (worker,) = cluster.workers.values()
        large = np.zeros(1_000_000)

        def held() -> int:
            return sum(getattr(each.value, "nbytes", 0) == large.nbytes for each in dict(worker.data).values())

        with at_work(ClusterOptions("dask", cluster.scheduler_address)):
            sums(large)
            assert held() == 1
            sums(large)
            assert held() == 1
            sums(np.zeros(10))
        until = time.monotonic() + 60
        while held() and time.monotonic() < until:
            time.sleep(0.1)
        assert held() == 0
