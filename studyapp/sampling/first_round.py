"""Choose a study's pairs: draw queries, draw results for each, and set the base block apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.results.serialization import NOT_KEPT
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.design_reach import REACH
from relstudy.common.sampling.probability_draws import base_block, base_queries, simple_random_sample
from relstudy.common.tables.meaning.pairs_table import COLUMNS, INSIDE, PAGE, ROUND
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import LargeCollection, open_collection
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.sampling.forecast import Forecast, forecast
from relstudy.studyapp.sampling.options import AssumptionOptions, SampleOptions
from relstudy.studyapp.sampling.preview import Expectation
from relstudy.studyapp.sampling.query_draw import draw_results
from relstudy.studyapp.sampling.sampling_design import Design, Round, candidate_probabilities
from relstudy.studyapp.sampling.saved_scores import ScoreTableWriter
from relstudy.studyapp.sampling.sources import (
    Source,
    directions_of,
    notes_of,
    open_sources,
    silent_systems,
    tells_apart,
)
from relstudy.studyapp.systems.base import Progress, silent

SMALL_COLLECTION = 1_000
"""Up to so many results per query, what the design can estimate is only said, unless the share of good is stated."""


def base_pages(study: Study | None) -> dict[str, int]:
    """Results on a page of the base block, by paradigm."""
    blocks = [block for block in study.blocks if not block.unique] if study else []
    return {
        kind: block.results_per_page
        for block in reversed(blocks)
        for kind in ([block.paradigm] if block.paradigm else ["image", "text"])
    }


@dataclass(frozen=True, eq=False)
class Sample:
    """The first round.

    Parameters
    ----------
    pairs : as `relstudy.common.tables.meaning.pairs_table` has them
    design : from which the probability of any pair can be computed again
    expectation : what the preview is computed from
    scores : what the systems said of the queries drawn
    roles : what the collection's items were taken for, as `Collection.roles` gives it
    pool : query_id, result_id, depth of all results that pairs could be drawn from, where they are a pool
    directions : of each system of a score table, which scores are better, as the table says; None where it doesn't
    notes : how the score tables were read, one sentence each
    collection : what was drawn from
    """

    pairs: pd.DataFrame
    design: Design
    expectation: Expectation
    scores: ScoreTableWriter
    roles: dict[str, Any]
    pool: pd.DataFrame | None = None
    directions: Mapping[str, str | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    collection: Collection | None = field(default=None, metadata=NOT_KEPT)

    def queries(self, paradigm: str) -> int:
        """Number of queries of this way of asking that were drawn."""
        return int(self.pairs.loc[self.pairs["paradigm"] == paradigm, "query_id"].nunique())

    def forecasts(self, assumed: AssumptionOptions) -> dict[str, Forecast]:
        """Forecasts of the estimates, by way of asking, under assumptions on the collection."""
        return {
            paradigm: forecast(self.queries(paradigm), kept, assumed)
            for paradigm, kept in self.expectation.kept.items()
        }

    def with_reach(self, assumed: AssumptionOptions) -> Sample:
        """The same with the design's reach written beside the pairs, so that later steps can withhold what the design
        cannot estimate.

        It is written for a pool, for large collections, and where the share of good matches is stated; without these,
        an assumption that nobody made would decide.
        """
        forecasts = self.forecasts(assumed)
        large = any(each.candidates > SMALL_COLLECTION for each in forecasts.values())
        if assumed.good is None and self.design.rounds[0].depth is None and not large:
            return self
        reach = self.pairs["paradigm"].map({paradigm: round(each.reach, 3) for paradigm, each in forecasts.items()})
        return replace(self, pairs=self.pairs.assign(**{REACH: reach}))


def draw_sample(folder: Path, options: SampleOptions, progress: Progress = silent) -> Sample:
    """Draw the first round for the study in `folder`; nothing is written.

    Raises
    ------
    RelstudyError
        when the collection allows no query, a candidate would have no chance, or the base block is larger than the
        sample
    """
    collection = open_collection(folder)
    sources = open_sources(folder, collection, options.systems, progress)
    drawn = draw_sample_from(collection, sources, options, progress)
    if options.systems is None and isinstance(collection, LargeCollection):
        note = (
            f"{len(collection):,} items are read in a stream, and no built-in system scores them all unless it is named"
        )
        return replace(drawn, notes=(*drawn.notes, note + f" ({option('systems')})."))
    return drawn


def draw_sample_from(
    collection: Collection, sources: Sequence[Source], options: SampleOptions, progress: Progress = silent
) -> Sample:
    """Draw the first round from a collection in memory.

    Parameters
    ----------
    collection : whose items ask and answer
    sources : the systems that propose pairs, at least one
    options : what to draw
    progress : shows how far the queries have come

    Raises
    ------
    RelstudyError
        when the collection allows no query, a candidate would have no chance, or the base block is larger than the
        sample
    """
    rng = np.random.default_rng([options.seed, 1])
    drawn_queries, probability, population = draw_queries(collection, options, rng)
    this = Round(
        number=1,
        systems={source.name: source.stamp for source in sources},
        results=options.results,
        exponent=options.exponent,
        floor=options.floor,
        query_draw=1,
        query_probability=probability,
        population=population,
        seed=options.seed,
        given=[query.id for query in drawn_queries] if options.given is not None else [],
        depth=options.depth,
        pool=[] if options.depth is None else [source.name for source in sources],
        outside=0 if options.depth is None else options.outside,
        strata=options.strata,
        from_each=results_from_each(options, len(sources)),
    )
    scores = ScoreTableWriter(collection.ids, len(drawn_queries))
    expectation = Expectation()
    parts, pools = [], []
    ordering_systems: set[str] = set()
    for number in progress(range(len(drawn_queries)), "Queries", len(drawn_queries)):
        query = drawn_queries[number]
        chances = candidate_probabilities(this, query, collection, sources)
        ordering_systems |= {name for name, said in chances.scores.items() if tells_apart(said, chances.candidates)}
        expectation.add(chances, query.paradigm, this.query_probability[query.paradigm])
        rows = draw_results(this, query, chances, collection, rng)
        scores.add(query.id, chances.scores, chances.population.eligible, rows["position"])
        parts.append({**rows, "query": np.full(len(rows["position"]), number)})
        if options.depth is not None:
            pools.append(pool_table(query, chances.candidates, options.depth, collection))
    pairs = one_table(parts)
    pairs["inclusion_probability"] = pairs["query_probability"] * pairs.pop("given_query")
    pairs["block"] = "unique"
    for paradigm in pairs["paradigm"].unique():
        rows_of = np.flatnonzero((pairs["paradigm"] == paradigm) & (pairs["pool"] == INSIDE))
        members = _base_members(pairs.iloc[rows_of], str(paradigm), options, rng)
        pairs.loc[rows_of[members], "block"] = "base"
    pairs = number_pairs(pairs, rng, first=1)
    if options.depth is None:
        pairs = pairs.drop(columns="pool")
    if not this.from_each:
        pairs = pairs.drop(columns=PAGE)
    whole_pool = pd.concat(pools, ignore_index=True) if pools else None
    ordering, notes = directions_of(sources), (*notes_of(sources), *silent_systems(sources, ordering_systems))
    roles = collection.roles()
    return Sample(pairs, Design((this,)), expectation, scores, roles, whole_pool, ordering, notes, collection)


def _base_members(pairs: pd.DataFrame, paradigm: str, options: SampleOptions, rng: np.random.Generator) -> np.ndarray:
    """Which pairs of one way of asking everyone rates: those of whole queries, of whole pages of one result from each
    system, or full pages of queries drawn, as the options say."""
    of_query = pairs["query"].to_numpy()
    if options.base_queries is not None:
        return base_queries(of_query, options.base_queries, rng)
    if options.base > len(pairs):
        raise RelstudyError(
            f"the base block of {options.base} pairs is larger than the whole sample of {len(pairs)} pairs by "
            f"{paradigm}; draw more queries or results, or take a smaller base block: "
            + option("base", str(max(len(pairs) // 3, 1)))
        )
    if options.one_from_each:
        key = pd.factorize(pd.MultiIndex.from_frame(pairs[["query", PAGE]]))[0]
        pages = -(-options.base * (key.max() + 1) // len(key))
        return base_queries(key, pages, rng)
    page = options.page.get(paradigm, 4 if paradigm == "image" else 1)
    return base_block(of_query, options.base, page, rng)


def results_from_each(options: SampleOptions, systems: int) -> int:
    """Number of results that each system draws by itself; 0 where they draw together."""
    if not options.one_from_each:
        return 0
    if options.strata > 1:
        raise RelstudyError("with one result from each system on a page, results are not spread over strata")
    if options.results % systems:
        raise RelstudyError(
            f"{options.results} results of a query do not share out evenly among {systems} systems; "
            f"{max(options.results // systems, 1) * systems} would"
        )
    return options.results // systems


def pool_table(query: Item, candidates: np.ndarray, depth: int, collection: Collection) -> pd.DataFrame:
    """One query's rows of pool.csv."""
    return pd.DataFrame({"query_id": query.id, "result_id": collection.ids[candidates], "depth": depth})


def draw_queries(
    collection: Collection, options: SampleOptions, rng: np.random.Generator
) -> tuple[list[Item], dict[str, float], dict[str, int]]:
    """The queries, and for each paradigm their probability and how many there were to draw from."""
    drawn: list[Item] = []
    probability: dict[str, float] = {}
    population: dict[str, int] = {}
    if options.given is not None:
        wanted = [collection[name] for name in dict.fromkeys(options.given)]
        for item in wanted:
            if item.role == "result":
                raise RelstudyError(f"item {item.id!r} cannot be a query: its role in collection.csv is result")
        for kind in dict.fromkeys(item.paradigm for item in wanted):
            of_kind = [item for item in wanted if item.paradigm == kind]
            drawn += of_kind
            probability[kind], population[kind] = 1.0, len(of_kind)
    else:
        for kind in collection.paradigms():
            eligible = collection.queries(kind)
            text = kind == "text" and options.text_queries is not None
            number = min(options.text_queries if text else options.queries, len(eligible))  # type: ignore[type-var]
            if number:
                drawn += [eligible[index] for index in simple_random_sample(len(eligible), number, rng)]
                probability[kind], population[kind] = number / len(eligible), len(eligible)
    if not drawn and options.given is None and options.queries == 0 and not options.text_queries:
        raise RelstudyError(f"no queries are asked for: {option('queries')} and {option('text_queries')} are 0")
    if not drawn:
        raise RelstudyError(
            "there is no query: at least one item with role query or both, and two that can answer, are needed"
        )
    for item in drawn:
        if len(collection.results(item.paradigm)) < 2:
            raise RelstudyError(
                f"query {item.id!r} has no results to choose from; at least two items that can answer are needed"
            )
    return drawn, probability, population


def one_table(parts: Sequence[dict[str, np.ndarray]]) -> pd.DataFrame:
    """The pairs of all queries in one table."""
    pairs = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    return pairs.assign(rank=pairs["rank"].astype("Int64"), **{PAGE: pairs[PAGE].astype("Int64")})


def number_pairs(pairs: pd.DataFrame, rng: np.random.Generator, first: int) -> pd.DataFrame:
    """Put queries and pairs in random order (so that neither ids nor rows reveal a rank) and number them."""
    turn = rng.permutation(int(pairs["query"].max()) + 1)[pairs["query"].to_numpy()]
    order = np.lexsort((rng.random(len(pairs)), turn, pairs["block"].to_numpy() != "base"))
    pairs = pairs.iloc[order].reset_index(drop=True)
    width = max(4, len(str(first + len(pairs) - 1)))
    pairs["pair_id"] = [f"p{number:0{width}d}" for number in range(first, first + len(pairs))]
    return pairs[[*COLUMNS, *(name for name in pairs if name in ("pool", REACH, PAGE) or ROUND.fullmatch(str(name)))]]
