"""A fitted encoder's file: a header as JSON and arrays beside it in one .npz, written whole and read without pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from relstudy.common.damage import DAMAGED_ARRAYS
from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Archive:
    """One kind of such a file: what it says it holds, its version, the article before it, who writes one."""

    what: str
    version: int
    article: str
    command: str
    numbers: str
    """How its arrays are described: `finite numbers`."""
    dtypes: tuple[str, ...]
    """NumPy's kinds and sizes that its arrays may have: f and i of any size, or f4 alone."""

    def write(self, path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Write header and arrays, whole or not at all."""
        full = {"version": self.version, "what": self.what, **header}
        with replacing(path) as beside, open(beside, "wb") as handle:
            np.savez(handle, allow_pickle=False, header=np.array(json.dumps(full, sort_keys=True)), **arrays)

    def read(
        self, path: str | os.PathLike[str], rebuilt: Callable[[dict[str, Any], dict[str, np.ndarray]], Kind]
    ) -> Kind:
        """Read what `write` wrote and hand header and arrays to `rebuilt`.

        Raises
        ------
        RelstudyError
            for a file that is not there, is something else, is of another version, or that `rebuilt` cannot put
            together
        """
        file = os.fspath(path)
        try:
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                arrays = {name: archive[name] for name in archive.files if name != "header"}
        except FileNotFoundError:
            raise RelstudyError(f"{file}: there is no such file") from None
        except (OSError, *DAMAGED_ARRAYS):
            raise self._something_else(file) from None
        if not isinstance(header, dict) or header.get("what") != self.what:
            raise self._something_else(file)
        if header.get("version") != self.version:
            known = f"version {header.get('version')} of the {self.what} is not known here, {self.version} is"
            raise RelstudyError(f"{file}: {known}")
        if any(array.dtype.str[1:] not in self.dtypes or not np.isfinite(array).all() for array in arrays.values()):
            raise RelstudyError(f"{file}: {self.article} {self.what} holds {self.numbers}")
        try:
            return rebuilt(header, arrays)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            raise self._something_else(file) from None

    def _something_else(self, file: str) -> RelstudyError:
        return RelstudyError(f"{file}: this is not {self.article} {self.what}; `{self.command}` writes one")
