"""Baselines that turn vectors into binary codes: fitted on training data only, applied to anything.

Encoders are imported when they are looked up, so that a command's help waits for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relstudy.analysis.hashing.encoders.base import Encoder

UNSUPERVISED = {
    "lsh": "projections:LSH",
    "pcah": "projections:PCAH",
    "pca-rr": "projections:PCARR",
    "itq": "projections:ITQ",
    "sh": "spectral:SpectralHashing",
    "sklsh": "kernel:SKLSH",
    "spherical": "spherical:SphericalHashing",
    "density-sensitive": "density:DensitySensitive",
}
"""Name -> module and class in this package."""
SUPERVISED = {
    "ksh": "kernel:KSH",
    "grh": "graph:GRH",
}


class _Encoders(Mapping[str, "type[Encoder]"]):
    """Classes by name."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> type[Encoder]:
        module, _, kind = self._places[name].partition(":")
        found: type[Encoder] = getattr(import_module(f"{__name__}.{module}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


ENCODERS: Mapping[str, type[Encoder]] = _Encoders({**UNSUPERVISED, **SUPERVISED})
