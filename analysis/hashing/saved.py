"""Count tables and encoders from their files, for `relstudy.read`."""

from __future__ import annotations

from typing import Any

from relstudy.analysis.hashing.codes.archive import held_by
from relstudy.analysis.hashing.counting.counts import CountTable
from relstudy.common.runtime.errors import RelstudyError


def load_saved(file: str) -> Any:
    """A count table or an encoder from its file."""
    held = held_by(file)
    if held == "count table":
        return CountTable.load(file)
    if held == "encoder":
        from relstudy.analysis.hashing.encoders.saved import load_encoder

        return load_encoder(file)
    raise RelstudyError(f"{file}: this is not a count table and no encoder")
