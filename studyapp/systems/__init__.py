"""Retrieval systems that propose pairs and can be compared, behind one interface: `System` in `base`.

Modules are imported only when a system of theirs is asked for, since some need the extra `relstudy[systems]`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.systems.base import Progress, System

SYSTEMS: dict[str, tuple[str, str]] = {
    "keywords": ("keywords:Keywords", "keyword overlap over the smaller set"),
    "colour": ("colour:Colour", "global colour histogram"),
    "gift": ("gift:Gift", "colours and textures as words, inverted file"),
    "gift-colour": ("gift:Gift", "the colour half of gift"),
    "gift-texture": ("gift:Gift", "the texture half of gift"),
    "simplicity": ("simplicity:Simplicity", "integrated region matching"),
    "gift-weighted": ("gift:Gift", "gift with histograms weighted by frequency, too"),
    "simplicity-classes": (
        "simplicity:Simplicity", "region matching with locations, textured pictures apart from others",
    ),
    "romm-all": ("concepts:Concepts", "concepts learned from regions of all pictures"),
    "romm-test": ("concepts:Concepts", "concepts learned from regions of other pictures"),
    "rwmm-all": ("concepts:Concepts", "concepts learned from regions and keywords of all pictures"),
    "rwmm-test": ("concepts:Concepts", "concepts learned from regions and keywords of other pictures"),
    "romm-calib": ("concepts:Concepts", "concepts learned in four parts of the pictures apart"),
    **{
        f"{name}-likelihood": ("concepts:Concepts", f"{name} by Eq. 3.4 itself")
        for name in ("romm-all", "romm-test", "rwmm-all", "rwmm-test", "romm-calib")
    },
    "annotation-all": ("annotation:Annotation", "words predicted from a picture's regions"),
    "annotation-test": ("annotation:Annotation", "words predicted by a model that has not seen the picture"),
    "bm25": ("bm25:BM25", "BM25 over titles, texts and keywords"),
}  # fmt: skip
"""Module and class of each built-in system, and what it is in a few words."""
VECTORS = "vectors:"


def make(name: str, folder: Path = Path(".")) -> System:
    """An unfitted system by its name; for vectors:FILE.npy[:cosine|dot|l2|hamming], FILE is seen from `folder`.

    Examples
    --------
    >>> make("keywords").name
    'keywords'
    """
    if name.startswith(VECTORS):
        from relstudy.studyapp.systems.vectors import Vectors

        return Vectors.parse(name.removeprefix(VECTORS), folder)
    if name not in SYSTEMS:
        raise RelstudyError(f"there is no built-in system {name!r}; there are: {', '.join(SYSTEMS)}, vectors:FILE.npy")
    module, _, attribute = SYSTEMS[name][0].partition(":")
    build = getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
    system: System = build() if hasattr(build, "name") else build(name)  # several systems of one class are told by name
    return system


def fit(name: str, collection: Collection, folder: Path, progress: Progress) -> System:
    """A system by its name, fitted to the collection of the study in `folder`."""
    return make(name, folder).fit(collection, progress)
