"""Integer arrays with a JSON header in one .npz file, versioned, written beside and renamed, read without pickle."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from relstudy.common.damage import DAMAGED_ARRAYS
from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing

VERSION = 1


def save_archive(path: str | os.PathLike[str], kind: str, header: dict[str, Any], **arrays: np.ndarray) -> None:
    """Write arrays of whole numbers and a header under the name of what they are."""
    text = json.dumps({"version": VERSION, "what": kind, **header}, sort_keys=True)
    with replacing(path) as beside, open(beside, "wb") as handle:
        np.savez_compressed(handle, **{"header": np.array(text), **arrays})  # type: ignore[arg-type]


def load_archive(
    path: str | os.PathLike[str], kind: str, made_by: str, *names: str
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Read what `save_archive` wrote, as int64.

    Parameters
    ----------
    kind : what the file must be, such as "count table"
    made_by : the command that writes such files, for the error
    names : the arrays

    Raises
    ------
    RelstudyError
        for anything else, another version, or numbers that are not whole
    """
    file = os.fspath(path)
    try:
        with np.load(file, allow_pickle=False) as arrays:
            header = json.loads(str(arrays["header"]))
            loaded = [arrays[name] for name in names]
            what = header.pop("what")
    except FileNotFoundError:
        raise RelstudyError(f"{file}: there is no such file") from None
    except (OSError, *DAMAGED_ARRAYS):
        raise RelstudyError(f"{file}: this is not a {kind}; `{made_by}` writes one") from None
    if what != kind:
        raise RelstudyError(f"{file}: this is a {what}, not a {kind}; `{made_by}` writes one")
    version = header.pop("version", None)
    if version != VERSION:
        raise RelstudyError(f"{file}: version {version} of the {kind} is not known here, {VERSION} is")
    if any(array.dtype.kind not in "iu" for array in loaded):
        raise RelstudyError(f"{file}: a {kind} holds whole numbers")
    return header, [array.astype(np.int64) for array in loaded]
