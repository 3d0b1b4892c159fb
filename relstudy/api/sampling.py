"""Which pairs to ask people about: `sample`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.api.inputs import Source as TableSource
from relstudy.api.inputs import path_or_frame, scores_of, table_of
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError
from relstudy.common.shown import Shown
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.commands.sample_output import cost_of, summarise
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.sampling import first_round
from relstudy.studyapp.sampling.sources import Source, open_sources, sources_of

Systems = TableSource | Mapping[str, TableSource] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Shown):
    """Pairs drawn with known probability.

    Parameters
    ----------
    drawn : pairs, design and expectation, as the command holds them
    folder : the study's folder, where there is one
    study : its study.toml, where there is one
    good, skill : what was assumed of the collection
    """

    drawn: first_round.Sample
    folder: Path | None = None
    study: Study | None = None
    good: float = 0.02
    skill: float = 0.5

    @property
    def pairs(self) -> pd.DataFrame:
        """One row per pair: pair_id, query_id, result_id, paradigm, source (the system that proposed it), rank,
        inclusion_probability, query_probability, block (base or unique), round; what pairs.csv holds."""
        return self.drawn.pairs

    def summary(
        self,
        *,
        raters: int = 12,
        seconds: float | None = None,
        good: float | None = None,
        skill: float | None = None,
    ) -> dict[str, Any]:
        """What `relstudy sample --json` prints: how many pairs, hours of work, and the share of good matches to expect.

        Parameters
        ----------
        raters : people among whom the work is divided
        seconds : seconds per rating; None takes the median of the folder's ratings.csv, else 6
        good : assumed share of all pairs that are good matches; None: as the draw assumed
        skill : assumed correlation of a system's scores with what people value; None: as the draw assumed
        """
        check_arguments(Sample.summary, locals())
        cost = cost_of(self.folder, self.study, raters, seconds)
        good, skill = self.good if good is None else good, self.skill if skill is None else skill
        return summarise(self.drawn, self.study, cost, good, skill)

    def heading(self) -> str:
        """How many pairs of how many queries."""
        base = int((self.pairs["block"] == "base").sum())
        return f"{len(self.pairs):,} pairs ({base:,} base) of {self.pairs['query_id'].nunique():,} queries"

    def overview(self) -> pd.DataFrame:
        """The pairs."""
        return self.pairs[["pair_id", "query_id", "result_id", "source", "rank", "inclusion_probability", "block"]]

    def remarks(self) -> Sequence[str]:
        """The smallest probability, which decides the largest weight, and how score tables were read."""
        return (f"smallest inclusion probability {self.drawn.expectation.smallest:.3g}", *self.drawn.notes)


def sample(
    collection: TableSource,
    systems: Systems | None = None,
    *,
    queries: int = 100,
    text_queries: int | None = None,
    given: Sequence[str | int] | None = None,
    results: int = 20,
    exponent: float = 1.0,
    floor: float = 0.05,
    base: int = 100,
    seed: int = 0,
    depth: int | None = None,
    outside: int = 1,
    strata: int = 1,
    one_from_each: bool = False,
    good: float | None = None,
    skill: float = 0.5,
) -> Sample:
    """Choose pairs with known inclusion probabilities, as `relstudy sample` does; nothing is written.

    Parameters
    ----------
    collection : a study's folder, the path of a collection.csv, or a DataFrame with item_id, and kind, path, text,
        title, keywords, role where they are known
    systems : names of built-in systems and paths of score tables; or a score table (path or DataFrame), or one for each
        system's name. None takes the built-in systems that apply, and every table in the folder's scores/
    queries : queries by image to draw; all where there are fewer
    text_queries : queries by text to draw; None: as `queries`
    given : ids of the queries to use instead, all of them
    results : results to draw for each query
    exponent : p of the shaping function rank**-p, at least 0
    floor : share drawn from all candidates alike, 0 to 1
    base : pairs that everyone rates, for each paradigm
    seed : the same seed draws the same pairs
    depth : draw from a pool, the union of the systems' first so many results; figures then speak of the pool
    outside : with a pool, results per query, in addition, from outside it
    strata : strata by probability that each query's results are spread over
    one_from_each : every system draws its part of the results by itself, and a page shows one from each (column `page`)
    good : share of all pairs that are good matches, as far as can be told before anyone rates; None: 0.02
    skill : likewise, correlation of a system's scores with what people value

    Raises
    ------
    RelstudyError
        where the collection has faults or allows no query, a system is not known, or the base block exceeds the sample

    Examples
    --------
    >>> words = ["sky", "sky", "sea", "sea", "sea", "sky"]
    >>> items = pd.DataFrame({"item_id": list("abcdef"), "text": "words", "keywords": words})
    >>> drawn = sample(items, ["keywords"], queries=3, results=2, base=2)
    >>> len(drawn.pairs), drawn.pairs["block"].value_counts().to_dict()
    (6, {'unique': 4, 'base': 2})
    """
    check_arguments(sample, locals())
    if min(queries, results) < 1 or min(base, text_queries or 0, exponent) < 0 or not 0 <= floor <= 1:
        raise RelstudyError(
            "at least one query and one result, a base block and an exponent from 0, and a floor from 0 to 1 are needed"
        )
    if (
        (depth is not None and depth < 1)
        or outside < 0
        or strata < 1
        or not (good is None or 0 < good < 1)
        or not 0 <= skill < 1
    ):
        raise RelstudyError(
            "a depth and strata from 1, results outside the pool from 0, good between 0 and 1, and a skill from 0 to "
            "below 1 are needed"
        )
    items, folder = _collection(collection)
    study = Study.load(folder) if folder is not None and (folder / "study.toml").exists() else None
    options = first_round.SampleOptions(
        queries=queries,
        text_queries=text_queries,
        given=None if given is None else [str(each) for each in given],
        results=results,
        exponent=exponent,
        floor=floor,
        base=base,
        page=first_round.base_pages(study),
        seed=seed,
        depth=depth,
        outside=outside,
        strata=strata,
        one_from_each=one_from_each,
    )
    drawn = first_round.draw_sample_from(items, _sources(systems, items, folder or Path()), options)
    assumed = first_round.ASSUMED_GOOD if good is None else good
    return Sample(drawn.with_reach(good, skill), folder, study, assumed, skill)


def _collection(collection: TableSource) -> tuple[Collection, Path | None]:
    if isinstance(collection, pd.DataFrame):
        return Collection.of(table_of(collection, "the collection"), Path()), None
    path = Path(path_or_frame(collection, "the collection"))
    if path.is_dir():
        return Collection.load(path), path
    return Collection.of(table_of(path, "the collection"), path.parent), path.parent


def _sources(systems: Systems | None, collection: Collection, folder: Path) -> Sequence[Source]:
    if isinstance(systems, pd.DataFrame | Mapping):
        table, name = scores_of(systems)
        content = pd.util.hash_pandas_object(table.frame, index=False).to_numpy()
        stamp = hashlib.sha256(np.ascontiguousarray(content).tobytes()).hexdigest()[:16]
        return sources_of(table, collection, stamp, name)
    if systems is None:
        return open_sources(folder, collection, None)
    named = list(systems) if isinstance(systems, Sequence) and not isinstance(systems, str) else [systems]
    return open_sources(folder, collection, [os.fspath(path_or_frame(system, "the systems")) for system in named])
