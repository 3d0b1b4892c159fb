"""Counting by Hamming radius: ours against numpy, faiss and the argsort evaluators, in one run.

    python evidence/benchmarks/hashing.py [--queries 1000] [--codes 1000000] [--bits 64 128] [--distributed 10000000]
        [--folder 100000]
    python evidence/benchmarks/hashing.py --without-avx512 [--queries 1000] [--codes 1000000] [--bits 64 128]

Prints a table: billions of query-code pairs per second, the whole job's seconds, and how many times ours is faster, for
a million codes and for CIFAR-10's 59,000. The same loop in C is compiled by gcc, where it is installed.
Methods that would take minutes are measured on fewer queries and extrapolated; the table says so. Then mAP at k over
thousands of ties; the same count on a dask cluster; and with `--folder 100000` the memory and time of `hash encode dsh`
on so many pictures in a folder, one epoch, which takes minutes. faiss and dask are left out where the extras of those
names are not installed. `--without-avx512` compiles as for a processor that has AVX2 alone, and prints what each of the
two kernels and faiss count a second of a processor's time there, in alternating runs, and by the clock on one core and
on all. The first line says how busy the machine was:
times are worth something on an idle one alone.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numba
import numpy as np
from PIL import Image

# A neighbour of this file has the package's name, so its folder must not come first.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from relstudy.analysis.hashing.codes.packed import Codes  # noqa: E402
from relstudy.analysis.hashing.counting.counts import count  # noqa: E402
from relstudy.analysis.hashing.counting.distributed import count_files  # noqa: E402
from relstudy.analysis.hashing.counting.shards import Job  # noqa: E402
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision  # noqa: E402
from relstudy.analysis.hashing.truth.labels import Labels  # noqa: E402
from relstudy.analysis.hashing.truth.relevance import LabelTruth  # noqa: E402

CLASSES = 10
FIELD_CODES, FIELD_BITS = 59_000, (48, 64, 128)
"""CIFAR-10's database and the code lengths of most papers, where a class is small beside a joint histogram."""


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    model = next(
        (line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown"
    )
    vector = "with" if "avx512_vpopcntdq" in text else "without"
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{model}, {os.cpu_count()} cores, {vector} AVX-512 popcount, load {load:.1f}"


def made(number: int, bits: int, seed: int) -> tuple[Codes, np.ndarray]:
    """Codes around ten class centres, 30 % of the bits flipped: realistic overlap and ties."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(1).random((CLASSES, bits)) < 0.5
    labels = rng.integers(0, CLASSES, number)
    parts = []
    for start in range(0, number, 100_000):
        block_labels = labels[start : start + 100_000]
        parts.append(
            Codes.from_bits(
                centres[block_labels] ^ (rng.random((len(block_labels), bits), dtype=np.float32) < 0.3)
            ).columns
        )
    return Codes(np.concatenate(parts, axis=1), bits), labels


def seconds(work: Callable[[], object], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def argsort_map(
    queries: np.ndarray, database: np.ndarray, query_labels: np.ndarray, database_labels: np.ndarray
) -> float:
    """The widespread evaluator: products of -1/+1 codes and of one-hot labels, a full argsort a query."""
    bits = database.shape[1]
    values = []
    for query, label in zip(queries, query_labels, strict=True):
        shared = (label @ database_labels.T > 0).astype(np.float32)
        relevant = shared[np.argsort(0.5 * (bits - query @ database.T))]
        ranks = np.flatnonzero(relevant) + 1
        values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return float(np.mean(values))


def has_faiss() -> bool:
    return importlib.util.find_spec("faiss") is not None


def faiss_counts(
    queries: Codes, database: Codes, query_labels: np.ndarray, database_labels: np.ndarray
) -> Callable[[], np.ndarray]:
    """A function that gives both histograms of each query by faiss.hammings and numpy.bincount."""
    import faiss

    octets = [np.ascontiguousarray(each.rows()).view(np.uint8) for each in (queries, database)]
    n, codes, bits = octets[0].shape[0], octets[1].shape[0], queries.bits

    def count_all() -> np.ndarray:
        distances = np.empty((n, codes), np.int32)
        pointers = [faiss.swig_ptr(array) for array in (*octets, distances)]
        faiss.hammings(pointers[0], pointers[1], n, codes, octets[0].shape[1], pointers[2])
        counts = np.empty((n, 2, bits + 1), np.int64)
        for i in range(n):
            counts[i, 0] = np.bincount(distances[i], minlength=bits + 1)
            counts[i, 1] = np.bincount(distances[i][database_labels == query_labels[i]], minlength=bits + 1)
        return counts

    return count_all


PLAIN_C = """
#include <stdint.h>
void counts(const uint64_t *codes, const int64_t *labels, long n, const uint64_t *queries, const int64_t *wanted,
            long m, long words, long side, int64_t *out) {
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) {
            long distance = 0;
            for (long w = 0; w < words; w++)
                distance += __builtin_popcountll(codes[j * words + w] ^ queries[i * words + w]);
            out[2 * i * side + distance]++;
            out[(2 * i + 1) * side + distance] += labels[j] == wanted[i];
        }
}
"""


def plain_c() -> Any:
    """The loop that anybody would write, as gcc compiles it for this processor; None without gcc."""
    if shutil.which("gcc") is None:
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "counts.c").write_text(PLAIN_C)
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", "counts.so", "counts.c"], cwd=folder, check=True
    )
    function = ctypes.CDLL(str(folder / "counts.so")).counts
    shutil.rmtree(folder)
    array, number = np.ctypeslib.ndpointer(flags="C_CONTIGUOUS"), ctypes.c_long
    function.argtypes = [array, array, number, array, array, number, number, number, array]
    return function


def c_counts(
    function: Any, queries: Codes, database: Codes, query_labels: np.ndarray, database_labels: np.ndarray
) -> Callable[[], np.ndarray]:
    """A function that gives both histograms of each query by the plain loop."""
    rows = [np.ascontiguousarray(each.rows()) for each in (database, queries)]

    def count_all() -> np.ndarray:
        counts = np.zeros((len(rows[1]), 2, queries.bits + 1), np.int64)
        sizes = len(rows[0]), len(rows[1]), rows[0].shape[1], queries.bits + 1
        function(rows[0], database_labels, sizes[0], rows[1], query_labels, *sizes[1:], counts)
        return counts

    return count_all


def compare(number: int, codes: int, bits: int) -> None:
    queries, query_labels = made(number, bits, 2)
    database, database_labels = made(codes, bits, 3)
    truth = LabelTruth(Labels(classes=query_labels), Labels(classes=database_labels))

    def some(n: int) -> tuple[Codes, LabelTruth]:
        return queries.take(slice(0, n)), LabelTruth(Labels(classes=query_labels[:n]), Labels(classes=database_labels))

    few, few_truth = some(8)
    count(few, database, few_truth)
    table = count(queries, database, truth)
    rows = [("relstudy, all cores", number, seconds(lambda: count(queries, database, truth), 5))]
    cores = numba.get_num_threads()
    numba.set_num_threads(1)
    rows.append(("relstudy, one core", number, seconds(lambda: count(queries, database, truth), 3)))
    numba.set_num_threads(cores)
    function = plain_c()
    if function is None:
        print("gcc is not installed")
    else:
        n = min(40, number)
        by_c = c_counts(function, queries.take(slice(0, n)), database, query_labels[:n], database_labels)
        counted = by_c()
        assert (counted[:, 0] == table.total[:n]).all() and (counted[:, 1] == table.relevant[:n]).all()
        rows.append(("plain C, one core", n, seconds(by_c, 3)))
    n = min(20, number)
    part, part_truth = some(n)
    check = count(part, database, part_truth, engine="numpy")
    assert (check.total == table.total[:n]).all() and (check.relevant == table.relevant[:n]).all()
    rows.append(("relstudy, numpy", n, seconds(lambda: count(part, database, part_truth, engine="numpy"), 2)))
    if not has_faiss():
        print("faiss is not installed: pip install 'relstudy[faiss]'")
    else:
        n = min(40, number)
        by_faiss = faiss_counts(queries.take(slice(0, n)), database, query_labels, database_labels)
        counted = by_faiss()
        assert (counted[:, 0] == table.total[:n]).all() and (counted[:, 1] == table.relevant[:n]).all()
        rows.append(("faiss.hammings + bincount", n, seconds(by_faiss, 2)))
    n = min(3, number)
    signs = [np.where(c.unpacked(), np.float32(1), np.float32(-1)) for c in (queries.take(slice(0, n)), database)]
    hot = np.eye(CLASSES, dtype=np.float32)
    rows.append(
        ("argsort evaluator", n, seconds(lambda: argsort_map(*signs, hot[query_labels[:n]], hot[database_labels]), 1))
    )
    ours = rows[0][2] / number
    print(f"\n{number} queries x {codes} codes, {bits} bits")
    print(f"{'method':28s} {'Gpair/s':>8s} {'whole job, s':>13s} {'ours is':>10s}  measured on")
    for name, measured, taken in rows:
        note = "all queries" if measured == number else f"{measured} queries, extrapolated"
        rate, job, ratio = measured * codes / taken / 1e9, taken * number / measured, taken / measured / ours
        print(f"{name:28s} {rate:8.3f} {job:13.2f} {ratio:8.1f} x  {note}")


def without_avx512(options: argparse.Namespace) -> None:
    """Both kernels in a process that compiles as for AVX2 alone; threads that wait take no processor."""
    from llvmlite.binding import get_host_cpu_features

    features = [
        f"{'+' if there and not name.startswith('avx512') else '-'}{name}"
        for name, there in get_host_cpu_features().items()
    ]
    told = {
        "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ",".join(features), "OMP_WAIT_POLICY": "passive",
        "FAISS_OPT_LEVEL": "avx2",
    }  # fmt: skip
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        os.environ.update(told)  # before the child starts, which imports numba
        print("\nGpair a second: of a processor's time, and by the clock on one core and on all")
        names = ("popcount", "nibbles", "faiss", "one core", f"all {cores}", "faiss, one", f"faiss, {cores}")
        print(f"{'codes':>9s} {'bits':>5s} {' '.join(f'{name:>10s}' for name in names)}")
        for codes, bits in [
            *((options.codes, bits) for bits in options.bits),
            *((FIELD_CODES, bits) for bits in FIELD_BITS),
        ]:
            rates = pool.submit(_rates, options.queries, codes, bits).result()
            print(f"{codes:9d} {bits:5d} {' '.join(f'{rate:10.2f}' for rate in rates)}", flush=True)
    if not has_faiss():
        print("faiss is not installed: pip install 'relstudy[faiss]'")


def _rates(number: int, codes: int, bits: int) -> list[float]:
    """Both kernels and faiss by the processor's time, in turns; then nibbles and faiss by the clock, on one core and on
    all; NaN where faiss is not installed."""
    from relstudy.analysis.hashing.counting import kernels, nibbles

    if not nibbles.is_faster(number, bits):
        raise SystemExit(f"hash count takes popcount for {number} queries of {bits} bits on this processor")
    (queries, query_labels), (database, labels) = made(number, bits, 2), made(codes, bits, 3)
    columns = database.take(np.argsort(labels, kind="stable")).columns
    starts = np.r_[0, np.cumsum(np.bincount(labels, minlength=CLASSES))]
    given = columns, starts, queries.rows(), query_labels, bits
    ways: list[Callable[[], Any]] = [lambda: kernels.count_by_class(*given), lambda: nibbles.count_by_class(*given)]
    work = [number * codes / 1e9] * 2
    tables = [way() for way in ways]
    assert all((one == other).all() for one, other in zip(*tables, strict=True))
    cores, few = os.cpu_count() or 1, min(40, number)
    if has_faiss():
        import faiss

        ways.append(faiss_counts(queries.take(slice(0, few)), database, query_labels, labels))
        work.append(few * codes / 1e9)
        counted = ways[2]()
        assert all((counted[:, place] == tables[1][place][:few]).all() for place in range(2))

    def fastest(clock: Callable[[], float], threads: int, ways: list[Callable[[], Any]]) -> list[float]:
        numba.set_num_threads(threads)
        if has_faiss():
            faiss.omp_set_num_threads(threads)
        taken = [float("inf")] * len(ways)
        for _ in range(15):
            for place, way in enumerate(ways):
                start = clock()
                way()
                taken[place] = min(taken[place], clock() - start)
        return taken

    missing = [float("nan")] * (3 - len(ways))
    of_processor = [*(each / taken for each, taken in zip(work, fastest(time.process_time, 1, ways), strict=True))]
    by_clock = []
    for threads in (1, cores):
        taken = fastest(time.perf_counter, threads, ways[1:])
        by_clock.append([each / one for each, one in zip(work[1:], taken, strict=True)] + missing)
    return [*of_processor, *missing, *(each[0] for each in by_clock), *(each[1] for each in by_clock)]


def cut_through_ties(queries: int = 1000, codes: int = FIELD_CODES, bits: int = 8) -> None:
    """mAP at k with division by hits, where the cut falls into groups of thousands."""
    (own, own_labels), (database, labels) = made(queries, bits, 2), made(codes, bits, 3)
    table = count(own, database, LabelTruth(Labels(classes=own_labels), Labels(classes=labels)))
    taken = [seconds(lambda k=k: mean_average_precision(table, k, "hits"), 3) for k in (5_000, 25_000)]  # type: ignore[misc]
    print(f"\nmAP over hits, {queries} queries x {codes} codes, {bits} bits: "
          f"at 5000 {taken[0]:.3f} s, at 25000 {taken[1]:.3f} s")  # fmt: skip


def folder_of_pictures(number: int) -> None:
    """Peak memory and time of a command that learns from pictures in a folder and encodes them."""
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as place:
        for row in range(number):
            folder = Path(place) / "pictures" / f"class{row % CLASSES}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(folder / f"{row:06}.jpg")
        words = ["dsh", "--bits", "12", "--epochs", "1", "--train", "pictures", "--encode", "pictures", "codes.npy"]
        start = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-m", "relstudy", "hash", "encode", *words], cwd=place)
        _, status, used = os.wait4(child.pid, 0)
        taken = time.perf_counter() - start
    if status:
        raise SystemExit("hash encode failed on the folder of pictures")
    print(f"\nhash encode dsh, {number} pictures in a folder, 12 bits, 1 epoch and all encoded: "
          f"{used.ru_maxrss / 1e6:.2f} GB at the highest, {number * 32 * 32 * 3 / 1e9:.2f} GB of them the pixels; "
          f"{taken / 60:.1f} minutes, {(used.ru_utime + used.ru_stime) / 60:.1f} of the processor")  # fmt: skip


def memory(job: Job) -> float:
    """MiB by which a fresh process grows at most while it counts; pages of the files count too (Linux)."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_growth, job).result()


def _growth(job: Job) -> float:
    few = Codes.from_bits(np.zeros((8, 64), dtype=bool))
    zeros = Labels(classes=np.zeros(8, dtype=np.int32))
    count(few, few, LabelTruth(zeros, zeros))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _resident("VmRSS")
    count_files(job)
    return (_resident("VmHWM") - before) / 1024


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def distributed(codes: int, number: int) -> None:
    """The same job threaded here and on two local dask workers, from memory-mapped files."""
    try:
        from distributed import LocalCluster
    except ImportError:
        print("\ndask is not installed: pip install 'relstudy[dask]'")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, size, seed in (("q", number, 2), ("db", codes, 3)):
            made_codes, labels = made(size, 64, seed)
            np.save(f"{folder}/{name}.npy", made_codes.rows().view(np.uint8))
            np.save(f"{folder}/y{name}.npy", labels.astype(np.int32))
            del made_codes
        job = Job(f"{folder}/q.npy", (f"{folder}/db.npy",), f"{folder}/yq.npy", (f"{folder}/ydb.npy",), None, "packed")
        alone = count_files(job)
        here = seconds(lambda: count_files(job), 2)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            address = cluster.scheduler_address
            together = count_files(job, engine="dask", scheduler=address)
            there = seconds(lambda: count_files(job, engine="dask", scheduler=address), 2)
        grown = memory(job)
        same = bool((together.total == alone.total).all() and (together.relevant == alone.relevant).all())
    megabytes = codes * 8 / 2**20
    print(
        f"\n{number} queries x {codes} codes, 64 bits, from files: threads {here:.2f} s, two workers {there:.2f} s, ",
        end="",
    )
    print(
        f"ratio {there / here:.2f}, bit-identical: {same}; memory grew by {grown:.0f} MiB "
        f"for {megabytes:.0f} MiB of codes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--codes", type=int, default=1_000_000)
    parser.add_argument("--bits", type=int, nargs="*", default=[64, 128])
    parser.add_argument(
        "--distributed", type=int, default=10_000_000, help="codes for the cluster run; 0 leaves it out"
    )
    parser.add_argument("--folder", type=int, default=0, help="pictures in a folder for hash encode (Linux, macOS)")
    parser.add_argument("--without-avx512", action="store_true", help="two kernels, compiled as for AVX2 alone")
    options = parser.parse_args()
    print(processor())
    if options.without_avx512:
        without_avx512(options)
        return
    for bits in options.bits:
        compare(options.queries, options.codes, bits)
    for bits in FIELD_BITS:
        compare(options.queries, FIELD_CODES, bits)
    cut_through_ties()
    if options.distributed:
        distributed(options.distributed, options.queries)
    if options.folder:
        folder_of_pictures(options.folder)


if __name__ == "__main__":
    main()
