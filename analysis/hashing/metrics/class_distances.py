"""Distances of codes within a class and to other classes (Ding, Li and Li 2018, Eq. 7 and 8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.counting.counts import count
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth
from relstudy.common.charts.figures import MUTED, SERIES, drawing, svg
from relstudy.common.runtime.errors import RelstudyError

BLOCK = 1 << 12
"""Codes that are measured against all others at once."""
MOST_NAMED = 30
"""Classes whose names fit under the picture."""


@dataclass(frozen=True)
class ClassDistances:
    """One class.

    Parameters
    ----------
    name : as in the labels
    points, codes : its points, and the distinct codes they fall on
    diameter : h_s of Eq. 7, the greatest Hamming distance between two of its codes
    nearest : h_d of Eq. 8, the smallest one to a code of another class; None if there is no other class
    perfect : share of its points that have every point of another class farther away than all of their own, so that
        their average precision is 1
    """

    name: str
    points: int
    codes: int
    diameter: int
    nearest: int | None
    perfect: float

    @property
    def apart(self) -> bool:
        """True where h_s < h_d: then every query of the class has an average precision of 1."""
        return self.nearest is None or self.diameter < self.nearest

    def as_json(self) -> dict[str, Any]:
        """The figures by name, and `apart`."""
        return {**asdict(self), "apart": self.apart}


def class_distances(codes: Codes, labels: Labels) -> list[ClassDistances]:
    """Eq. 7 and 8 for each class, by name.

    Parameters
    ----------
    codes : n of them
    labels : one class for each

    Raises
    ------
    RelstudyError
        where a code has several labels, or their number differs

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]], dtype=bool))
    >>> found = class_distances(codes, Labels(classes=np.array([0, 0, 1])))
    >>> [(each.diameter, each.nearest, each.apart) for each in found]
    [(1, 2, True), (0, 2, True)]
    """
    if labels.classes is None:
        raise RelstudyError("distances within and between classes need one class for each code, not several labels")
    if len(labels) != len(codes):
        raise RelstudyError(f"{len(labels)} labels do not fit {len(codes)} codes")
    numbers, kinds = np.unique(labels.classes, return_inverse=True)
    names = [labels.names[number] for number in numbers] if labels.names else numbers.tolist()
    keys = np.column_stack([codes.rows(), kinds.astype(np.uint64)])
    _, first, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
    within, between = _extremes(codes.take(first), kinds[first])
    classes = []
    for kind, name in enumerate(names):
        members = kinds[first] == kind
        nearest = int(between[members].min())
        points = times[members]
        classes.append(
            ClassDistances(
                str(name),
                int(points.sum()),
                int(members.sum()),
                int(within[members].max()),
                nearest if nearest <= codes.bits else None,
                float(points[within[members] < between[members]].sum() / points.sum()),
            )
        )
    return classes


def _extremes(codes: Codes, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each code the greatest distance to its class, and the smallest to another; bits + 1 if there is none."""
    within, between = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.int64)
    everything = Labels(classes=kinds)
    for start in range(0, len(codes), BLOCK):
        rows = slice(start, start + BLOCK)
        table = count(codes.take(rows), codes, LabelTruth(Labels(classes=kinds[rows]), everything))
        within[rows] = codes.bits - (table.relevant[:, ::-1] > 0).argmax(axis=1)
        others = table.total > table.relevant
        between[rows] = np.where(others.any(axis=1), others.argmax(axis=1), codes.bits + 1)
    return within, between


def class_distances_figure(classes: list[ClassDistances], bits: int, *, alone: bool = False) -> str:
    """h_s and h_d of each class (Ding, Li and Li 2018, figure 3, of codes that were measured)."""
    with drawing(max(4.4, min(9.6, 1.6 + 0.35 * len(classes))), 3.2) as figure:
        axes = figure.subplots()
        where = np.arange(len(classes))
        within = [each.diameter for each in classes]
        between = [np.nan if each.nearest is None else each.nearest for each in classes]
        axes.vlines(where, within, between, color=MUTED, lw=1)
        axes.plot(where, within, "o", color=SERIES[0], label="farthest of the same class, h_s")
        axes.plot(where, between, "D", color=SERIES[1], ms=5, label="nearest of another class, h_d")
        if len(classes) <= MOST_NAMED:
            long = max(len(each.name) for each in classes) > 3
            axes.set_xticks(where, [each.name for each in classes], rotation=90 if long else 0)
        else:
            axes.set_xticks([])
        axes.set(xlabel="class", ylabel="Hamming distance", ylim=(-0.03 * bits, 1.03 * bits))
        figure.legend(loc="outside upper left", ncols=2)
        return svg(figure, "Distances within and between classes", alone=alone)
