"""Deep encoders in a file: weights and settings."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

import numpy as np

from relstudy.analysis.hashing.encoders.archive import Archive
from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, DeepEncoder
from relstudy.analysis.hashing.encoders.deep.items import Standard

ARCHIVE = Archive(
    what="deep encoder",
    version=1,
    article="a",
    command="relstudy hash encode dsh --save",
    numbers="finite 32-bit numbers",
    dtypes=("f4",),
)
NOT_KEPT = ("watch", "checkpoint", "width_", "shape_", "nested_")


def save_encoder(encoder: DeepEncoder, path: str | os.PathLike[str]) -> None:
    """Write a fitted encoder as .npz, whole or not at all."""
    settings = {f.name: getattr(encoder, f.name) for f in fields(encoder) if f.name not in NOT_KEPT}
    name = next(name for name, kind in DEEP_ENCODERS.items() if type(encoder) is kind)
    arrays = {"mean": encoder.standard_.mean, "scale": encoder.standard_.scale}
    arrays |= {f"weights_{part}": values for part, values in encoder.weights_.items()}
    ARCHIVE.write(path, {"encoder": name, "shape": encoder.shape_, "settings": settings}, arrays)


def load_encoder(path: str | os.PathLike[str]) -> DeepEncoder:
    """Read what `save_encoder` wrote; it encodes at once, bit for bit as it did.

    Raises
    ------
    RelstudyError
        for a file that is not there, is something else, or is of another version
    """
    return ARCHIVE.read(path, _rebuilt)


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> DeepEncoder:
    encoder = DEEP_ENCODERS[header["encoder"]](**header["settings"])
    encoder.shape_ = tuple(header["shape"])
    encoder.width_ = encoder.shape_[0]
    encoder.standard_ = Standard(arrays.pop("mean"), arrays.pop("scale"))
    encoder.weights_ = {name.removeprefix("weights_"): values for name, values in arrays.items()}
    from relstudy.analysis.hashing.encoders.deep.network import new_weights

    wanted = new_weights(encoder.shape_, encoder.hidden, encoder.bits, 0)
    if {name: values.shape for name, values in encoder.weights_.items()} != {n: w.shape for n, w in wanted.items()}:
        raise TypeError("the layers do not have the widths of its settings")
    return encoder
