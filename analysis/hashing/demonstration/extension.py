"""Codes that no ranking measure tells apart, by bits appended to all (Jiang, Li and Li 2019, section 4.1)."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.hashing.codes.packed import Codes


def extended(queries: Codes, database: Codes, bits: int, *, same: bool) -> tuple[Codes, Codes]:
    """Append `bits` ones to the queries, and to the database ones (`same`, Eq. 2) or zeros (different, Eq. 3).

    Same-extension leaves every distance as it is and wastes the bits; different-extension adds `bits` to all of them.
    Average precision sees neither, precision and recall by radius see only the second, RAMAP sees both.

    Examples
    --------
    >>> codes = Codes.from_bits(np.array([[0, 1]], dtype=bool))
    >>> [int(a.distances(b)[0, 0]) for a, b in (extended(codes, codes, 3, same=s) for s in (True, False))]
    [0, 3]
    """

    def with_tail(codes: Codes, ones: bool) -> Codes:
        return Codes.from_bits(np.hstack([codes.unpacked(), np.full((len(codes), bits), ones)]))

    return with_tail(queries, True), with_tail(database, same)
