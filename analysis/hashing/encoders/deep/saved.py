"""Deep encoders in a file: weights and settings, read without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import fields
from typing import Any

import numpy as np

from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, DeepEncoder
from relstudy.analysis.hashing.encoders.deep.items import Standard
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import replacing

VERSION = 1
WHAT = "deep encoder"
NOT_KEPT = ("watch", "checkpoint", "width_", "shape_", "nested_")


def save_encoder(encoder: DeepEncoder, path: str | os.PathLike[str]) -> None:
    """Write a fitted encoder as .npz, whole or not at all."""
    settings = {f.name: getattr(encoder, f.name) for f in fields(encoder) if f.name not in NOT_KEPT}
    header = {
        "version": VERSION,
        "what": WHAT,
        "encoder": _name_of(encoder),
        "shape": encoder.shape_,
        "settings": settings,
    }
    arrays = {"mean": encoder.standard_.mean, "scale": encoder.standard_.scale}
    arrays |= {f"weights_{name}": values for name, values in encoder.weights_.items()}
    with replacing(path) as beside, open(beside, "wb") as handle:
        np.savez(handle, allow_pickle=False, header=np.array(json.dumps(header, sort_keys=True)), **arrays)


def load_encoder(path: str | os.PathLike[str]) -> DeepEncoder:
    """Read what `save_encoder` wrote; it encodes at once, bit for bit as it did.

    Raises
    ------
    RelstudyError
        for a file that is not there, is something else, or is of another version
    """
    file = os.fspath(path)
    try:
        with np.load(file, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: archive[name] for name in archive.files if name != "header"}
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except (ValueError, KeyError, OSError, EOFError, AttributeError, TypeError, zipfile.BadZipFile):
        raise _not_an_encoder(file) from None
    if not isinstance(header, dict) or header.get("what") != WHAT:
        raise _not_an_encoder(file)
    if header.get("version") != VERSION:
        raise RelstudyError(f"{file}: version {header.get('version')} of the {WHAT} is not known here, {VERSION} is")
    if any(array.dtype != np.float32 or not np.isfinite(array).all() for array in arrays.values()):
        raise RelstudyError(f"{file}: a {WHAT} holds finite 32-bit numbers")
    try:
        return _rebuilt(header, arrays)
    except (KeyError, TypeError):
        raise _not_an_encoder(file) from None


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> DeepEncoder:
    encoder = DEEP_ENCODERS[header["encoder"]](**header["settings"])
    encoder.shape_ = tuple(header["shape"])
    encoder.width_ = encoder.shape_[0]
    encoder.standard_ = Standard(arrays.pop("mean"), arrays.pop("scale"))
    encoder.weights_ = {name.removeprefix("weights_"): values for name, values in arrays.items()}
    if encoder.weights_["code"].shape != (encoder.hidden, encoder.bits):
        raise TypeError("the last layer does not have the width of the code")
    return encoder


def _name_of(encoder: DeepEncoder) -> str:
    return next(name for name, kind in DEEP_ENCODERS.items() if type(encoder) is kind)


def _not_an_encoder(file: str) -> RelstudyError:
    return RelstudyError(f"{file}: this is not a {WHAT}; `relstudy hash encode dsh --save` writes one")
