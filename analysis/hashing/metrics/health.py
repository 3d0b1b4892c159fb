"""Use that a database makes of its codes (Ding, Li and Li 2018, sections 2 and 3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relstudy.analysis.hashing.metrics.lgap import UniqueCodes


@dataclass(frozen=True)
class CodeHealth:
    """Use of the hash space.

    Parameters
    ----------
    points, distinct : points in the database, and distinct codes they fall on
    utilisation : distinct codes over the most there could be, min(points, 2**bits)
    collisions : points that share their code with another
    fullest : points in the fullest code
    entropy : of the codes, in bits; at most log2(points)
    bit_balance : mean over bits of |share of ones - 1/2|, 0 at best, 0.5 at worst
    """

    points: int
    distinct: int
    utilisation: float
    collisions: int
    fullest: int
    entropy: float
    bit_balance: float

    def as_json(self) -> dict[str, Any]:
        """The figures by name, as `relstudy hash health --json` prints them."""
        return asdict(self)


def code_health(unique: UniqueCodes) -> CodeHealth:
    """Utilisation, collisions, entropy and balance of a database's codes.

    Examples
    --------
    >>> from relstudy.analysis.hashing.codes.packed import Codes
    >>> codes = Codes.from_bits(np.array([[0, 0], [0, 0], [1, 1], [1, 0]], dtype=bool))
    >>> health = code_health(UniqueCodes.of(codes))
    >>> health.distinct, health.utilisation, health.collisions, health.entropy
    (3, 0.75, 2, 1.5)
    """
    counts = unique.multiplicity
    points = int(counts.sum())
    room = min(points, 2**unique.codes.bits)
    share = counts / points
    ones = counts @ unique.codes.unpacked() / points
    return CodeHealth(
        points=points,
        distinct=len(counts),
        utilisation=len(counts) / room,
        collisions=int(counts[counts > 1].sum()),
        fullest=int(counts.max()),
        entropy=float(-(share * np.log2(share)).sum()),
        bit_balance=float(np.abs(ones - 0.5).mean()),
    )
