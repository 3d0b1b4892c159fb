"""One encoder of the two papers: learned, measured, and kept in a folder."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.encoders.deep.encoders import DeepEncoder
from relstudy.analysis.hashing.lookup.bucket_index import BucketIndex, segments
from relstudy.analysis.hashing.lookup.sweep import timed
from relstudy.analysis.hashing.metrics.ball import ramap
from relstudy.analysis.hashing.metrics.health import code_health
from relstudy.analysis.hashing.metrics.lgap import UniqueCodes, largest_bins, local_group_average_precision
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.metrics.radius import precision_recall_by_radius
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.runtime.console import say
from relstudy.common.runtime.files import write_json

RADIUS = 2
"""Of mLGAP: Ding, Li and Li name none for their table; their worked example has 2."""
SHOWN = (0, 1, 2, 4, 8, 12)


@dataclass(frozen=True)
class Sizes:
    """What was run; the defaults are the papers' numbers of items and epochs.

    `recipe`, "paper" or None, is whether rate, batch and patience are the paper's, too; else they are the encoder's, or
    as given.
    """

    items: str = "pictures"
    training: int = 50_000
    queries: int = 10_000
    epochs: int = 750
    training_mdsh: int = 5_000
    epochs_mdsh: int = 400
    seeds: int = 5
    shortest: bool = False
    hidden: int = 500
    learning_rate: float | None = None
    batch: int | None = None
    patience: int | None = None
    recipe: str | None = None

    def pace(self, kind: type[DeepEncoder]) -> dict[str, Any]:
        """Settings of learning for an encoder, but for the number of epochs."""
        recipe = {} if self.recipe is None else kind.paper
        given = {name: getattr(self, name) for name in ("learning_rate", "batch", "patience")}
        chosen = {"hold_out": False} | recipe | {name: value for name, value in given.items() if value is not None}
        chosen.pop("epochs", None)
        return chosen

    def said(self) -> str:
        """The settings that are not the encoder's own, as the end of a folder's name."""
        given = {name: getattr(self, name) for name in ("recipe", "learning_rate", "batch", "patience")}
        return "".join(f"-{name}-{value}" for name, value in given.items() if value is not None)


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
    if getattr(encoder, "norm", "l2") != "l2":
        name += f"-{encoder.norm}"  # type: ignore[attr-defined]
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


def effort(run: dict[str, Any]) -> list[str]:
    return [f"{run['epochs']:.0f}", f"{run['seconds'] / 60:.1f}", f"{run['processor_seconds'] / 60:.1f}"]


def claim(sentence: str, holds: bool) -> None:
    print(f"  {'found' if holds else 'NOT FOUND'}: {sentence}")
