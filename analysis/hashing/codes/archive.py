"""Arrays with a JSON header in one .npz file: versioned, written whole or not at all, read without pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relstudy.common.runtime.compression import refuse_swelling_zip
from relstudy.common.runtime.damaged_files import DAMAGED_ARRAYS
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import replacing


def held_by(path: str | os.PathLike[str]) -> str | None:
    """Name of what an archive holds, such as "count table"; None for any other file of arrays, or a damaged one."""
    try:
        refuse_swelling_zip(os.fspath(path))
        with np.load(path, allow_pickle=False) as stored:
            return str(json.loads(str(stored["header"]))["what"])
    except FileNotFoundError:
        raise RelstudyError(f"{os.fspath(path)}: file not found") from None
    except (OSError, *DAMAGED_ARRAYS):
        return None


@dataclass(frozen=True)
class Archive:
    """One kind of such a file.

    Parameters
    ----------
    what : name of what it holds, such as "count table"; kept in the file
    command : the command that writes such files, for messages
    article : before `what`, for messages
    version : of the form, kept in the file
    numbers : description of its arrays, for messages
    dtypes : beginnings of the NumPy types that its arrays may have: i, u and f of any size, or f4 alone
    compressed : whether the arrays are compressed
    """

    what: str
    command: str
    article: str = "a"
    version: int = 1
    numbers: str = "whole numbers"
    dtypes: tuple[str, ...] = ("i", "u")
    compressed: bool = True

    def write(self, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Write header and arrays, whole or not at all."""
        text = json.dumps({"version": self.version, "what": self.what, **header}, sort_keys=True)
        save: Any = np.savez_compressed if self.compressed else np.savez
        with replacing(path) as beside, open(beside, "wb") as handle:
            save(handle, allow_pickle=False, header=np.array(text), **arrays)

    def read(self, path: str | os.PathLike[str], *needed: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Header, without `what` and `version`, and arrays as `write` wrote them.

        Parameters
        ----------
        needed : names of arrays that it must hold

        Raises
        ------
        RelstudyError
            for a file that is not there, is something else or of another version, or holds other numbers
        """
        file = os.fspath(path)
        try:
            refuse_swelling_zip(file)
            with np.load(file, allow_pickle=False) as stored:
                header = json.loads(str(stored["header"]))
                what = header.pop("what")
                arrays = {name: stored[name] for name in stored.files if name != "header"}
        except FileNotFoundError:
            raise RelstudyError(f"{file}: file not found") from None
        except (OSError, *DAMAGED_ARRAYS):
            raise self.another(file) from None
        if not arrays.keys() >= set(needed):
            raise self.another(file)
        if what != self.what:
            raise RelstudyError(
                f"{file}: this is a {what}, not {self.article} {self.what}; `{self.command}` writes one"
            )
        version = header.pop("version", None)
        if version != self.version:
            raise RelstudyError(f"{file}: version {version} of the {self.what} is not known here, {self.version} is")
        if not all(self._allows(array) for array in arrays.values()):
            raise RelstudyError(f"{file}: {self.article} {self.what} holds {self.numbers}")
        return header, arrays

    def _allows(self, array: np.ndarray) -> bool:
        return array.dtype.str[1:].startswith(self.dtypes) and bool(np.isfinite(array).all())

    def another(self, path: str | os.PathLike[str]) -> RelstudyError:
        """The error for a file that holds something else."""
        return RelstudyError(f"{os.fspath(path)}: this is not {self.article} {self.what}; `{self.command}` writes one")
