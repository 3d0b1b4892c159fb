"""The options of vectors as systems, for the commands and functions that take scores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from relstudy.common.options.declaration import option

Measure = Literal["cosine", "dot", "euclidean"]


@dataclass(frozen=True)
class VectorOptions:
    """How vectors score pairs; `relstudy.mapping.scores.vectors.Similarity` does it."""

    ids: str | os.PathLike[str] | None = option(
        None, "Ids of vectors (.npy), one a line.", metavar="PATH", typed=str, shown="the .ids.txt beside them"
    )
    queries: str | os.PathLike[str] | None = option(
        None,
        "Vectors (.npy) of the queries, where they are not results too.",
        argument="query_vectors",
        metavar="PATH",
        typed=str,
    )
    measure: Measure = option("cosine", "Similarity of vectors.", argument="similarity")
