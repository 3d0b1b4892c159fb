"""The tables and figures of Ding, Li and Li 2018 and Jiang, Li and Li 2019, beside what our encoders give on CIFAR-10.

    python scripts/dispersion_papers.py --work out [--data FOLDER] [--items features] [--training 10000] [--epochs 20]

Prints table 1 (12 and 24 bits) and the use of codes of figure 8 of Ding, Li and Li 2018; figures 4 to 7 (48 and 64
bits, m = 0, 4, 8 and 12) and tables 2 and 3 of Jiang, Li and Li 2019. The defaults are the papers' sizes; on a CPU that
takes days, so give smaller ones, and the output says which it was. `--small` is a minute.

FOLDER holds images.tar.xz with train/CLASS/*.jpg and test/CLASS/*.jpg (default: ../shared/data/cifar10_jpeg). Encoders
learn from pictures by three convolutions and two full layers, or with `--items features` by the two full layers from
gradients and colours of the pictures; `--features x.npy` takes vectors of your own instead, one for each picture in the
order of the sorted paths. A pre-trained AlexNet, as Jiang, Li and Li have it, does not come with this; docs/hashing.md
says how its features are saved, and `--features alexnet.npy --items features --hidden 0` learns a hash layer on them.

What is finished stays in the --work folder, and a run that was interrupted goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.commands.inputs import vectors_in
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.demonstration.extension import extended
from relstudy.analysis.hashing.encoders import LSH
from relstudy.analysis.hashing.encoders.deep.encoders import DSH, MDSH, DeepEncoder, DispersedDSH
from relstudy.analysis.hashing.lookup.bucket_index import BucketIndex, segments
from relstudy.analysis.hashing.lookup.sweep import timed
from relstudy.analysis.hashing.metrics.ball import ramap, ramap_from_precision
from relstudy.analysis.hashing.metrics.conventions import PRESETS
from relstudy.analysis.hashing.metrics.health import code_health
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes, largest_bins, local_group_average_precision
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.console import print_table, say
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import write_json
from scripts.hashing_features import DATA, gradient_features, read_pictures

TABLE_1 = {(12, "dsh"): (0.2633, 0.6012), (24, "dsh"): (0.2889, 0.6407),
           (12, "dispersed"): (0.2796, 0.3008), (24, "dispersed"): (0.3461, 0.3124)}  # fmt: skip
"""(mLGAP, mAP) as printed."""
TABLE_2 = (0.1792, 0.1644, 0.1624, 0.1521, 0.1501)
TABLE_3 = {"precision": (0.1896, 0.1651, 0.1433, 0.1261), "recall": (0.0090, 0.0637, 0.2147, 0.4609)}
TABLE_3_RAMAP = {"LSH": (0.1896, 0.1040, 0.0706, 0.0533), "LSHSE s=1": (0.1896, 0.1030, 0.0697, 0.0525),
                 "LSHSE s=8": (0.1896, 0.0996, 0.0668, 0.0501), "LSHDE s=1": (0.0, 0.0095, 0.0075, 0.0059)}  # fmt: skip
SHIFTS = (0, 4, 8, 12)
RADIUS = 2
"""Of mLGAP: Ding, Li and Li name none for their table; their worked example has 2."""
SHOWN = (0, 1, 2, 4, 8, 12)
PARTS = ("lsh", "table1", "figures")


@dataclass(frozen=True)
class Sizes:
    """What was run; the defaults are the papers'."""

    items: str = "pictures"
    training: int = 50_000
    queries: int = 10_000
    epochs: int = 750
    training_mdsh: int = 5_000
    epochs_mdsh: int = 400
    seeds: int = 5
    shortest: bool = False
    hidden: int = 500


@dataclass(frozen=True)
class Data:
    """60,000 pictures, what is learned from, vectors for LSH, classes, and which belong to the official test part."""

    learned: np.ndarray
    features: np.ndarray
    classes: np.ndarray
    testing: np.ndarray


def balanced(rows: np.ndarray, classes: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """So many of these rows, equally many of each class."""
    kinds = np.unique(classes)
    mixed = rng.permutation(rows)
    return np.sort(np.concatenate([mixed[classes[mixed] == kind][: size // len(kinds)] for kind in kinds]))


def measured(
    encoder: DeepEncoder, data: Data, training: np.ndarray, queries: np.ndarray, database: np.ndarray, folder: Path
) -> dict[str, Any]:
    """What the tables and figures need of one encoder, learned now or read from the folder."""
    name = f"{type(encoder).__name__}-{encoder.bits}-{getattr(encoder, 'shift', '')}-{encoder.seed}"
    if encoder.hidden != Sizes.hidden:
        name += f"-hidden-{encoder.hidden}"
    kept = folder / f"{name}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    folder.mkdir(parents=True, exist_ok=True)
    epochs = []

    def watch(epoch: Any) -> None:
        epochs.append(epoch)
        say(f"{time.strftime('%H:%M:%S')} {name}: epoch {epoch.number} of {epoch.of}, loss {epoch.loss:.4f}")

    encoder.watch, encoder.checkpoint = watch, folder / f"{name}.checkpoint.npz"
    clock, processor = time.perf_counter(), time.process_time()
    encoder.fit(data.learned[training], data.classes[training])
    query_codes, codes = encoder.encode(data.learned[queries]), encoder.encode(data.learned[database])
    seconds, processor_seconds = time.perf_counter() - clock, time.process_time() - processor
    truth = LabelTruth(Labels(classes=data.classes[queries]), Labels(classes=data.classes[database]))
    table, unique = count(query_codes, codes, truth), UniqueCodes.of(codes)
    curve = precision_recall_by_radius(table, empty_ball="zero")
    ties = mean_average_precision(table, None, "relevant")
    result = {
        "map": ties.expected,
        "map_over_ties": [ties.pessimistic, ties.optimistic],
        "mlgap": float(local_group_average_precision(table, largest_bins(query_codes, unique), RADIUS).mean()),
        "ramap": [ramap(table, r, "zero") for r in SHOWN],
        "precision": [float(curve.precision_macro[r]) for r in SHOWN],
        "empty": [int(curve.empty_balls[r]) for r in SHOWN],
        "health": code_health(unique).as_json(),
        "use": np.sort(unique.multiplicity)[::-1].tolist() if encoder.bits == 12 else None,
        "look_up_ms": look_up_times(query_codes.take(slice(0, 20)), codes),
        "epochs": epochs[-1].number if epochs else 0,
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "load": os.getloadavg()[1],
    }
    write_json(result, kept)
    return result


def look_up_times(queries: Codes, database: Codes, radii: int = 4) -> list[float]:
    """Milliseconds of the processor a query to search the balls of radius 0, 1, ... in an inverted index."""
    index = BucketIndex.of(database, segments(database.bits, database.bits, 1))
    return [1000 * timed(lambda r=r: index.look_up(queries, r))[1] / len(queries) for r in range(radii)]


def table_1(data: Data, sizes: Sizes, work: Path) -> None:
    rng = np.random.default_rng(0)
    official, testing = np.flatnonzero(~data.testing), np.flatnonzero(data.testing)
    training = balanced(official, data.classes, sizes.training, rng)
    queries = balanced(testing, data.classes, sizes.queries, rng)
    lengths = (12,) if sizes.shortest else (12, 24)
    folder = work / f"table1-{sizes.items}-{len(training)}-{len(queries)}-{sizes.epochs}"
    print(f"Ding, Li and Li 2018, table 1: {len(training):,} training items, which are the database too, "
          f"{len(queries):,} queries, at most {sizes.epochs} epochs, learned from {sizes.items}")  # fmt: skip
    rows, runs = [], {}
    for bits in lengths:
        for name, kind in (("dsh", DSH), ("dispersed", DispersedDSH)):
            run = measured(
                kind(bits, epochs=sizes.epochs, hold_out=False, hidden=sizes.hidden),
                data,
                training,
                queries,
                training,
                folder,
            )
            runs[bits, name] = run
            printed = TABLE_1[bits, name]
            cells = [f"{value:.4f}" for value in (printed[1], run["map"], printed[0], run["mlgap"])]
            health = run["health"]
            rows.append([str(bits), name, *cells, str(health["distinct"]), f"{health['entropy']:.2f}", *_effort(run)])
    header = ["bits", "objective", "mAP, paper", "mAP", "mLGAP, paper", f"mLGAP@{RADIUS}", "codes used", "entropy"]
    print_table(rows, [*header, "epochs", "minutes", "CPU minutes"])
    for bits in lengths:
        first, second = runs[bits, "dsh"], runs[bits, "dispersed"]
        _claim(f"{bits} bits: dispersing lowers mAP", second["map"] < first["map"])
        _claim(f"{bits} bits: dispersing raises mLGAP", second["mlgap"] > first["mlgap"])
    _claim(
        "12 bits: dispersing uses more of the 4,096 codes (figure 8)",
        runs[12, "dispersed"]["health"]["distinct"] > runs[12, "dsh"]["health"]["distinct"],
    )
    draw_figure_8({name: runs[12, name]["use"] for name in ("dsh", "dispersed")}, folder / "figure_8.png")


def figures_4_to_7(data: Data, sizes: Sizes, work: Path) -> None:
    folder = work / f"mdsh-{sizes.items}-{sizes.training_mdsh}-{sizes.epochs_mdsh}"
    everything = np.arange(len(data.classes))
    print(f"\nJiang, Li and Li 2019, figures 4 to 7: {sizes.training_mdsh:,} training items, 1,000 queries, the other "
          f"{len(everything) - 1000:,} as database, at most {sizes.epochs_mdsh} epochs, {sizes.seeds} seeds, "
          f"learned from {sizes.items}")  # fmt: skip
    drawn = {}
    for bits in (48, 64):
        means = {}
        for shift in SHIFTS:
            runs = []
            for seed in range(sizes.seeds):
                rng = np.random.default_rng(seed)
                queries = balanced(everything, data.classes, 1000, rng)
                database = np.setdiff1d(everything, queries)
                training = balanced(database, data.classes, sizes.training_mdsh, rng)
                encoder = MDSH(bits, seed, epochs=sizes.epochs_mdsh, hold_out=False, shift=shift, hidden=sizes.hidden)
                runs.append(measured(encoder, data, training, queries, database, folder))
            names = ("map", "ramap", "precision", "empty", "look_up_ms", "epochs", "seconds", "processor_seconds")
            means[shift] = {name: np.mean([run[name] for run in runs], axis=0) for name in names}
        drawn[bits] = means
        _mdsh_tables(bits, means)
    draw_figures_4_to_7(drawn, work / "figures_4_to_7.png")


def own_features(file: str, pictures: int) -> np.ndarray:
    """Vectors of a file, one for each picture."""
    features = vectors_in(str(file))
    if len(features) != pictures:
        raise RelstudyError(f"{file} has {len(features)} vectors for {pictures} pictures; one for each is needed")
    return features


def _mdsh_tables(bits: int, means: dict[int, dict[str, Any]]) -> None:
    print(f"\n{bits} bits; m = 0 is that paper's DSH")
    radii = [str(r) for r in SHOWN]
    efforts = [_effort(run) for run in means.values()]
    for name, title, form in (
        ("ramap", "RAMAP@R (figure 4)", "{:.2e}"),
        ("empty", "queries with empty bins (figure 5)", "{:.0f}"),
        ("precision", "precision within R (figure 6)", "{:.4f}"),
    ):
        rows = [[f"m={m}", f"{run['map']:.4f}", *map(form.format, run[name])] for m, run in means.items()]
        print_table(rows, [title, "mAP", *radii])
    rows = [[f"m={m}", *(f"{t:.3f}" for t in run["look_up_ms"])] for m, run in means.items()]
    print_table(rows, ["processor ms a query (figure 7)", "R=0", "1", "2", "3"])
    print(
        "epochs, minutes and CPU minutes: "
        + "; ".join(f"m={m}: {', '.join(e)}" for m, e in zip(means, efforts, strict=True))
    )
    maps = [run["map"] for run in means.values()]
    _claim(f"{bits} bits: mAP within .05 for all m (the paper: very close)", max(maps) - min(maps) < 0.05)
    for position, radius in enumerate(SHOWN[:3]):
        values = [run["ramap"][position] for run in means.values()]
        _claim(f"{bits} bits: RAMAP@{radius} falls from DSH over 4 and 8 to 12", values == sorted(values, reverse=True))
        empty = [run["empty"][position] for run in means.values()]
        _claim(f"{bits} bits: empty bins at R = {radius} rise from DSH over 4 and 8 to 12", empty == sorted(empty))


def tables_2_and_3(data: Data, bits: int = 8) -> None:
    rng = np.random.default_rng(0)
    everything = np.arange(len(data.classes))
    queries = balanced(everything, data.classes, 1000, rng)
    database = np.setdiff1d(everything, queries)
    encoder = LSH(bits).fit(data.features[database])
    first, second = encoder.encode(data.features[queries]), encoder.encode(data.features[database])
    truth = LabelTruth(Labels(classes=data.classes[queries]), Labels(classes=data.classes[database]))
    pairs = {"LSH": (first, second)}
    pairs |= {f"LSHSE s={tail}": extended(first, second, tail, same=True) for tail in (1, 8)}
    pairs["LSHDE s=1"] = extended(first, second, 1, same=False)
    tables = {name: count(*pair, truth) for name, pair in pairs.items()}
    print(f"\nJiang, Li and Li 2019, tables 2 and 3: LSH of {bits} bits on features of the pictures, 1,000 queries, "
          f"database of {len(database):,}")  # fmt: skip
    cuts = [len(database) * step // 59 for step in (5, 10, 15, 20, 25)]
    rules = PRESETS["ramap"]
    rows = [["paper", *(f"{value:.4f}" for value in TABLE_2)]]
    ranked = {}
    for name, table in tables.items():
        ranked[name] = [mean_average_precision(table, k, rules.denominator).expected or 0.0 for k in cuts]
        rows.append([name, *(f"{value:.4f}" for value in ranked[name])])
    print_table(rows, ["mAP of the first", *(f"{k:,}" for k in cuts)])
    rows, ramaps = [], {}
    for name, table in tables.items():
        curve = precision_recall_by_radius(table, empty_ball="zero")
        for what, values in (("precision", curve.precision_macro), ("recall", curve.recall_macro)):
            if name == "LSH":
                rows.append([f"{what}, paper", *(f"{value:.4f}" for value in TABLE_3[what])])
            rows.append([f"{what}, {name}", *(f"{value:.4f}" for value in values[:4])])
        ramaps[name] = [ramap_from_precision(curve.precision_macro[: r + 1], table.bits) for r in range(4)]
    for name, values in ramaps.items():
        rows.append([f"RAMAP, paper, {name}", *(f"{value:.4f}" for value in TABLE_3_RAMAP[name])])
        rows.append([f"RAMAP, {name}", *(f"{value:.4f}" for value in values)])
    print_table(rows, ["figure", "R=0", "1", "2", "3"])
    _claim(
        "mAP does not tell the three codes apart",
        all(np.allclose(r, ranked["LSH"], atol=1e-9) for r in ranked.values()),
    )
    names = ["LSH", "LSHSE s=1", "LSHSE s=8", "LSHDE s=1"]
    falls = all(ramaps[a][r] > ramaps[b][r] for r in (1, 2, 3) for a, b in pairwise(names))
    _claim("RAMAP@R: LSH above same- above different-extension, R = 1 to 3", falls)


def draw_figure_8(uses: dict[str, list[int]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    for axis, (name, counts) in zip(axes, uses.items(), strict=True):
        axis.fill_between(np.arange(len(counts)), counts, step="post")
        axis.set(
            title=f"{name}: {len(counts):,} of 4,096 codes",
            xlabel="codes, the fullest first",
            yscale="log",
            xlim=(0, 4096),
        )
    axes[0].set_ylabel("pictures in a code")
    figure.savefig(path, dpi=120)


def draw_figures_4_to_7(drawn: dict[int, dict[int, dict[str, Any]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels: list[tuple[str, str, Callable[[dict[str, Any]], Any]]] = [
        ("RAMAP@R", "figure 4", lambda run: run["ramap"]),
        ("queries with empty bins", "figure 5", lambda run: run["empty"]),
        ("precision within R", "figure 6", lambda run: run["precision"]),
        ("processor ms a query", "figure 7", lambda run: run["look_up_ms"]),
    ]
    figure, axes = plt.subplots(len(drawn), 4, figsize=(14, 6), layout="constrained")
    for line, (bits, means) in zip(axes, drawn.items(), strict=True):
        for axis, (title, number, values) in zip(line, panels, strict=True):
            for shift, run in means.items():
                label = ("DSH" if shift == 0 else f"{shift}-DSH") + f", mAP {run['map']:.3f}"
                shown = values(run)
                axis.plot(SHOWN if len(shown) == len(SHOWN) else range(len(shown)), shown, marker="o", label=label)
            axis.set(xlabel="R")
            axis.set_title(f"{number}, {bits} bits: {title}", fontsize=9)
            if number in ("figure 4", "figure 7"):
                axis.set_yscale("log")
        line[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)


def _effort(run: dict[str, Any]) -> list[str]:
    return [f"{run['epochs']:.0f}", f"{run['seconds'] / 60:.1f}", f"{run['processor_seconds'] / 60:.1f}"]


def _claim(sentence: str, holds: bool) -> None:
    print(f"  {'found' if holds else 'NOT FOUND'}: {sentence}")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--items", choices=["pictures", "features"], default=Sizes.items)
    parser.add_argument(
        "--features", type=Path, help="vectors of the pictures (.npy), instead of gradients and colours"
    )
    for name in ("training", "queries", "epochs", "training_mdsh", "epochs_mdsh", "seeds", "hidden"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(Sizes, name))
    parser.add_argument("--shortest", action="store_true", help="12 bits alone in table 1")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts alone")
    parser.add_argument("--every", type=int, default=1, help="only every nth picture of each class")
    parser.add_argument("--small", action="store_true", help="1,500 training items, few epochs, from features")
    arguments = parser.parse_args(words)
    given = {name: getattr(arguments, name) for name in asdict(Sizes())}
    small = Sizes("features", 1500, 500, 20, 1000, 10, 1, arguments.shortest)
    sizes = small if arguments.small else Sizes(**given)
    arguments.work.mkdir(parents=True, exist_ok=True)
    every = 20 if arguments.small else arguments.every
    pictures, classes, testing = read_pictures(arguments.data / "images.tar.xz", arguments.work, every)
    if arguments.features is not None:
        features = own_features(arguments.features, len(pictures))
    elif sizes.items == "features" or "lsh" in arguments.only:
        features = gradient_features(pictures)
    else:
        features = pictures
    data = Data(pictures if sizes.items == "pictures" else features, features, classes, testing)
    if "lsh" in arguments.only:
        tables_2_and_3(data)
    if "table1" in arguments.only:
        table_1(data, sizes, arguments.work)
    if "figures" in arguments.only:
        figures_4_to_7(data, sizes, arguments.work)


if __name__ == "__main__":
    main()
