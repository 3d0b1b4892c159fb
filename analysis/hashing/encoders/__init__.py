"""Baselines that turn vectors into binary codes: fitted on training data only, applied to anything.

Unsupervised: LSH, PCAH, PCA-RR, ITQ, spectral hashing, SKLSH, spherical hashing, density-sensitive hashing.
Supervised: KSH, GRH.
"""

from relstudy.analysis.hashing.encoders.base import Encoder
from relstudy.analysis.hashing.encoders.density import DensitySensitive
from relstudy.analysis.hashing.encoders.graph import GRH
from relstudy.analysis.hashing.encoders.kernel import KSH, SKLSH
from relstudy.analysis.hashing.encoders.projections import ITQ, LSH, PCAH, PCARR
from relstudy.analysis.hashing.encoders.spectral import SpectralHashing
from relstudy.analysis.hashing.encoders.spherical import SphericalHashing

ENCODERS: dict[str, type[Encoder]] = {
    "lsh": LSH,
    "pcah": PCAH,
    "pca-rr": PCARR,
    "itq": ITQ,
    "sh": SpectralHashing,
    "sklsh": SKLSH,
    "spherical": SphericalHashing,
    "density-sensitive": DensitySensitive,
    "ksh": KSH,
    "grh": GRH,
}

__all__ = [
    "ENCODERS",
    "GRH",
    "ITQ",
    "KSH",
    "LSH",
    "PCAH",
    "PCARR",
    "SKLSH",
    "DensitySensitive",
    "Encoder",
    "SpectralHashing",
    "SphericalHashing",
]
