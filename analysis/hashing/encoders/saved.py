"""Fitted encoders in a file: what they learned and their settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple

from relstudy.analysis.hashing.codes.archive import Archive
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, DeepEncoder
from relstudy.common.runtime.errors import RelstudyError


class _Family(NamedTuple):
    archive: Archive
    kinds: Mapping[str, type[Encoder]]


BASELINES = _Family(
    Archive(
        "encoder",
        "relstudy hash encode itq --save",
        article="an",
        numbers="finite numbers",
        dtypes=("f4", "f8", "i4", "i8"),
        compressed=False,
    ),
    ENCODERS,
)
DEEP = _Family(
    Archive(
        "deep encoder",
        "relstudy hash encode dsh --save",
        numbers="finite 32-bit numbers",
        dtypes=("f4",),
        compressed=False,
    ),
    DEEP_ENCODERS,
)


def save_encoder(encoder: Encoder, path: str | os.PathLike[str]) -> None:
    """Write a fitted encoder as .npz, whole or not at all."""
    if not encoder.width_:
        raise RelstudyError("an encoder is saved after it has learned")
    archive, kinds = DEEP if isinstance(encoder, DeepEncoder) else BASELINES
    name = next((name for name, kind in kinds.items() if type(encoder) is kind), None)
    if name is None:
        raise RelstudyError(f"a {type(encoder).__name__} is not kept in a file; these are: {', '.join(kinds)}")
    settings = {field.name: getattr(encoder, field.name) for field in fields(encoder) if field.init and field.compare}
    shape, arrays = encoder.learned()
    archive.write(path, {"encoder": name, **shape, "settings": settings}, arrays)


def load_encoder(path: str | os.PathLike[str], *, deep: bool = False) -> Encoder:
    """Read what `save_encoder` wrote; it encodes at once, bit for bit as it did.

    Parameters
    ----------
    deep : whether it is a deep encoder

    Raises
    ------
    RelstudyError
        for a file that is not there, is something else, or is of another version
    """
    archive, kinds = DEEP if deep else BASELINES
    header, arrays = archive.read(path)
    try:
        encoder = kinds[header["encoder"]](**header["settings"])
        encoder.restore(header, arrays)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise archive.another(path) from None
    return encoder
