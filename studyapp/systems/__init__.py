"""Retrieval systems that propose pairs and can be compared, behind one interface: `System` in `base`.

Modules are imported only when a system of theirs is asked for, since some need the extra `relstudy[systems]`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from relstudy.common.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.systems.base import Progress, System

SYSTEMS: dict[str, tuple[str, str]] = {
    "keywords": ("relstudy.studyapp.systems.keywords:Keywords", "keyword overlap over the smaller set"),
    "colour": ("relstudy.studyapp.systems.colour:Colour", "global colour histogram"),
    "gift": ("relstudy.studyapp.systems.gift:Gift", "colours and textures as words, inverted file"),
    "gift-colour": ("relstudy.studyapp.systems.gift:Gift", "the colour half of gift"),
    "gift-texture": ("relstudy.studyapp.systems.gift:Gift", "the texture half of gift"),
    "simplicity": ("relstudy.studyapp.systems.simplicity:Simplicity", "integrated region matching"),
    "gift-weighted": ("relstudy.studyapp.systems.gift:Gift", "gift with histograms weighted by frequency, too"),
    "simplicity-classes": (
        "relstudy.studyapp.systems.simplicity:Simplicity",
        "region matching with locations, textured pictures apart from others",
    ),
    "romm-all": ("relstudy.studyapp.systems.concepts:Concepts", "concepts learned from regions of all pictures"),
    "romm-test": ("relstudy.studyapp.systems.concepts:Concepts", "concepts learned from regions of other pictures"),
    "rwmm-all": (
        "relstudy.studyapp.systems.concepts:Concepts",
        "concepts learned from regions and keywords of all pictures",
    ),
    "rwmm-test": (
        "relstudy.studyapp.systems.concepts:Concepts",
        "concepts learned from regions and keywords of other pictures",
    ),
    "romm-calib": (
        "relstudy.studyapp.systems.concepts:Concepts",
        "concepts learned in four parts of the pictures apart",
    ),
    **{
        f"{name}-likelihood": ("relstudy.studyapp.systems.concepts:Concepts", f"{name} by Eq. 3.4 itself")
        for name in ("romm-all", "romm-test", "rwmm-all", "rwmm-test", "romm-calib")
    },
    "annotation-all": ("relstudy.studyapp.systems.annotation:Annotation", "words predicted from a picture's regions"),
    "annotation-test": (
        "relstudy.studyapp.systems.annotation:Annotation",
        "words predicted by a model that has not seen the picture",
    ),
    "bm25": ("relstudy.studyapp.systems.bm25:BM25", "BM25 over titles, texts and keywords"),
}
# several systems of one class, distinguished by name
FAMILIES = ("gift", "romm", "rwmm", "simplicity", "annotation")
VECTORS = "vectors:"


def make(name: str, folder: Path = Path(".")) -> System:
    """An unfitted system by its name; for vectors:FILE.npy[:cosine|dot|l2], FILE is seen from `folder`.

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
    build = getattr(importlib.import_module(module), attribute)
    system: System = build(name) if any(name.startswith(f) for f in FAMILIES) else build()
    return system


def fit(name: str, collection: Collection, folder: Path, progress: Progress) -> System:
    """A system by its name, fitted to the collection of the study in `folder`."""
    return make(name, folder).fit(collection, progress)
