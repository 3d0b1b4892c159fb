"""Baseline encoders in a file: what they learned and their settings, read without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import fields
from typing import Any

import numpy as np

from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import replacing

VERSION = 1
WHAT = "encoder"
NOT_NEEDED = {"losses_", "held_out_"}
"""What is learned about, not learned: it does not change a code."""


def save_encoder(encoder: Encoder, path: str | os.PathLike[str]) -> None:
    """Write a fitted baseline as .npz, whole or not at all."""
    if not encoder.width_:
        raise RelstudyError("an encoder is saved after it has learned")
    settings = {f.name: getattr(encoder, f.name) for f in fields(encoder) if f.init}
    name = next(name for name, kind in ENCODERS.items() if type(encoder) is kind)
    header = {"version": VERSION, "what": WHAT, "encoder": name, "width": encoder.width_, "settings": settings}
    learned = {key: np.asarray(value) for key, value in vars(encoder).items() if key.endswith("_")}
    arrays = {key: value for key, value in learned.items() if key not in {"width_", *NOT_NEEDED}}
    with replacing(path) as beside, open(beside, "wb") as handle:
        np.savez(handle, allow_pickle=False, header=np.array(json.dumps(header, sort_keys=True)), **arrays)


def load_encoder(path: str | os.PathLike[str]) -> Encoder:
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
    if any(array.dtype.kind not in "fi" or not np.isfinite(array).all() for array in arrays.values()):
        raise RelstudyError(f"{file}: an {WHAT} holds finite numbers")
    try:
        return _rebuilt(header, arrays)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise _not_an_encoder(file) from None


def _rebuilt(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
    encoder = ENCODERS[header["encoder"]](**header["settings"])
    encoder.width_ = int(header["width"])
    for name, values in arrays.items():
        setattr(encoder, name, values)
    encoder.encode(np.zeros((1, encoder.width_)))  # what does not fit together fails here
    return encoder


def _not_an_encoder(file: str) -> RelstudyError:
    return RelstudyError(f"{file}: this is not an {WHAT}; `relstudy hash encode itq --save` writes one")
