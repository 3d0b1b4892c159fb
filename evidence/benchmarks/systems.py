"""How long the systems need to index pictures of 192 x 128, and to answer a query.

    python evidence/benchmarks/systems.py [--pictures 1000] [--systems gift,simplicity,romm-all]

Pictures are the demo's, a thousand at most, shrunk. Peer, in the same run: a 256-bin RGB histogram per picture as
scikit-image computes it, the least that any system must do (read, decode, look at every pixel). The ratio is of
processor seconds, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# This file has a module's name beside packages' names, so its folder must not come first.
sys.path[0] = str(Path(__file__).resolve().parents[2])

SIZE = (192, 128)


def make_pictures(folder: Path, number: int) -> None:
    """The demo's collection at 192 x 128."""
    from PIL import Image

    from relstudy.studyapp.example_pictures.collection import make_collection, write_collection

    write_collection(make_collection(number, 0), folder)
    for path in (folder / "pictures").iterdir():
        with Image.open(path) as picture:
            picture.resize(SIZE, Image.Resampling.LANCZOS).save(path, quality=90)


def least(folder: Path) -> float:
    """Seconds to read every picture and take its histogram with scikit-image."""
    from skimage import exposure, io

    start = time.perf_counter()
    for path in sorted((folder / "pictures").iterdir()):
        exposure.histogram(io.imread(path), nbins=256, channel_axis=-1)
    return time.perf_counter() - start


def cpu() -> float:
    """Processor seconds of this process and of those it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.systems import SYSTEMS, fit
    from relstudy.studyapp.systems.base import silent

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=1_000)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_pictures(folder, given.pictures)
        before = cpu()
        peer = least(folder)
        peer_cpu = cpu() - before
        collection = Collection.load(folder)
        queries = [item for item in collection if item.kind == "image"][:: max(1, given.pictures // 100)]
        print(f"{given.pictures} pictures of {SIZE[0]} x {SIZE[1]}, {os.cpu_count()} processors")
        print(f"{'system':14}  {'index s':>8}  {'processor s':>11}  {'ratio':>6}  {'ms a query':>10}")
        print(f"{'(histogram)':14}  {peer:8.1f}  {peer_cpu:11.1f}  {1:6.1f}")
        for system_name in given.systems.split(","):
            for kept in (folder / "scores" / ".index").glob("*.npz"):
                kept.unlink()
            start, before = time.perf_counter(), cpu()
            system = fit(system_name, collection, folder, silent)
            indexed, used = time.perf_counter() - start, cpu() - before
            start = time.perf_counter()
            for query in queries:
                scores = system.score(query)
                assert scores is not None and np.isfinite(scores).any()
            answered = (time.perf_counter() - start) / len(queries)
            print(
                f"{system_name:14}  {indexed:8.1f}  {used:11.1f}  {used / peer_cpu:6.1f}  {1e3 * answered:10.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
