"""Relevance lists in a file, so that a truth made once serves many counts."""

from __future__ import annotations

import os

import numpy as np

from relstudy.analysis.hashing.codes.archive import load_archive, save_archive
from relstudy.analysis.hashing.truth.relevance import ListedTruth
from relstudy.common.errors import RelstudyError

WHAT = "table of relevance lists"


def save_truth(truth: ListedTruth, path: str | os.PathLike[str]) -> None:
    """Write the lists as .npz: two integer arrays and a JSON header."""
    save_archive(path, WHAT, {"kind": truth.kind, "codes": truth.codes}, starts=truth.starts, members=truth.members)


def load_truth(path: str | os.PathLike[str]) -> ListedTruth:
    """Read relevance lists; anything else is refused in one sentence."""
    header, (starts, members) = load_archive(path, WHAT, "relstudy hash truth", "starts", "members")
    codes = header.get("codes", -1)
    if (
        len(starts) == 0
        or starts[0] != 0
        or starts[-1] != len(members)
        or bool((np.diff(starts) < 0).any())
        or bool(((members < 0) | (members >= codes)).any())
    ):
        raise RelstudyError(f"{os.fspath(path)}: the lists are damaged; make them again with `relstudy hash truth`")
    return ListedTruth(starts, members, codes, str(header["kind"]))
