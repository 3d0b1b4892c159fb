"""The true positives of a query as pictures, by Hamming distance (Ding, Li and Li 2018, figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import SubFigure

from relstudy.analysis.hashing.codes.packed import Codes, check_lengths
from relstudy.analysis.hashing.truth.relevance import Truth
from relstudy.common.charts.figures import INK, MUTED, drawing, svg


@dataclass(frozen=True)
class Ring:
    """The items at the distances `above` < d <= `within` from a query.

    Parameters
    ----------
    above, within : Hamming distances; above is -1 where the ring is the whole ball
    codes : how many codes lie there
    hits : rows of the relevant ones, nearest first, then by row
    """

    above: int
    within: int
    codes: int
    hits: np.ndarray = field(repr=False)

    @property
    def name(self) -> str:
        """As in the figure: `distance 0 to 1`, `distance 2`."""
        low = self.above + 1
        return f"distance {low}" if low == self.within else f"distance {low} to {self.within}"


def rings(query: Codes, row: int, database: Codes, truth: Truth, within: Sequence[int]) -> list[Ring]:
    """The codes around one query, ring by ring.

    Parameters
    ----------
    query : the queries' codes
    row : which of them, from 0
    within : rising distances; (1, 2) is the balls of figure 7

    Examples
    --------
    >>> from relstudy.analysis.hashing.truth.relevance import ListedTruth
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 1], [1, 1]], dtype=bool))
    >>> truth = ListedTruth.from_lists([[0, 2]], 3)
    >>> [(ring.name, ring.codes, ring.hits.tolist()) for ring in rings(codes, 0, codes, truth, (1, 2))]
    [('distance 0 to 1', 2, [0]), ('distance 2', 1, [2])]
    """
    check_lengths(query, database)
    distances = database.distances_from(query.rows()[row])
    relevant = np.zeros(len(database), dtype=bool)
    relevant[truth.of(row)] = True
    rings_of_row, above = [], -1
    for far in within:
        inside = (distances > above) & (distances <= far)
        hits = np.flatnonzero(inside & relevant)
        rings_of_row.append(Ring(above, far, int(inside.sum()), hits[np.argsort(distances[hits], kind="stable")]))
        above = far
    return rings_of_row


def shown_of(ring: Ring, most: int) -> np.ndarray:
    """At most so many of its true positives, evenly spaced, so that the near and the far ones both stand there."""
    if len(ring.hits) <= most:
        return ring.hits
    return ring.hits[np.linspace(0, len(ring.hits) - 1, most).round().astype(int)]


def hit_pictures(
    query: np.ndarray, pictures: np.ndarray, around: Sequence[Ring], most: int, *, alone: bool = False
) -> str:
    """The query's picture, and below it a row of true positives for each ring.

    Parameters
    ----------
    query : its picture (height, width, 3), uint8
    pictures : of the database (n, height, width, 3), uint8
    most : pictures in a row
    """
    with drawing(0.75 * most + 0.4, 1.05 * (len(around) + 1)) as figure:
        first, *others = figure.subfigures(len(around) + 1, 1, squeeze=False)[:, 0]
        _row(first, "query", [query], most)
        for part, ring in zip(others, around, strict=True):
            shown = shown_of(ring, most)
            title = f"{ring.name}: {ring.codes} codes, {len(ring.hits)} true positives, {len(shown)} shown"
            _row(part, title, [pictures[row] for row in shown], most)
        return svg(figure, "True positives of a query by Hamming distance", alone=alone)


def _row(part: SubFigure, title: str, shown: Sequence[np.ndarray], most: int) -> None:
    part.suptitle(title, x=0.01, ha="left", fontsize=9, color=INK if shown else MUTED)
    places = part.subplots(1, most, squeeze=False)[0]
    for axes in places:
        axes.set_axis_off()
    for axes, picture in zip(places, shown, strict=False):
        axes.imshow(np.asarray(picture, dtype=np.uint8), interpolation="nearest")
