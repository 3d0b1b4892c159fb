"""Baseline encoders in a file: what they learned and their settings."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

import numpy as np

from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.archive import Archive
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.common.errors import RelstudyError

ARCHIVE = Archive(
    what="encoder",
    version=1,
    article="an",
    command="relstudy hash encode itq --save",
    numbers="finite numbers",
    dtypes=("f4", "f8", "i4", "i8"),
)
NOT_NEEDED = {"losses_", "held_out_"}
"""What is learned about, not learned: it does not change a code."""


def save_encoder(encoder: Encoder, path: str | os.PathLike[str]) -> None:
    """Write a fitted baseline as .npz, whole or not at all."""
    if not encoder.width_:
        raise RelstudyError("an encoder is saved after it has learned")
    settings = {f.name: getattr(encoder, f.name) for f in fields(encoder) if f.init}
    name = next(name for name, kind in ENCODERS.items() if type(encoder) is kind)
    learned = {key: np.asarray(value) for key, value in vars(encoder).items() if key.endswith("_")}
    arrays = {key: value for key, value in learned.items() if key not in {"width_", *NOT_NEEDED}}
    ARCHIVE.write(path, {"encoder": name, "width": encoder.width_, "settings": settings}, arrays)


def load_encoder(path: str | os.PathLike[str]) -> Encoder:
    """Read what `save_encoder` wrote; it encodes at once, bit for bit as it did.

    Raises
    ------
    RelstudyError
        for a file that is not there, is something else, or is of another version
    """
    return ARCHIVE.read(path, _rebuilt)


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
    encoder = ENCODERS[header["encoder"]](**header["settings"])
    encoder.width_ = int(header["width"])
    for name, values in arrays.items():
        setattr(encoder, name, values)
    encoder.encode(np.zeros((1, encoder.width_)))  # what does not fit together fails here
    return encoder
