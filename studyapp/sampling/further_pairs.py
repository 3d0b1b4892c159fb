"""Pairs of a further round beside those of earlier rounds, with the probabilities of all rounds combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.results.serialization import NOT_KEPT
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.meaning.pairs_table import PAGE, read_pairs, round_column
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import open_collection
from relstudy.studyapp.sampling.first_round import number_pairs, one_table, pool_table
from relstudy.studyapp.sampling.population import Eligible
from relstudy.studyapp.sampling.query_draw import draw_results
from relstudy.studyapp.sampling.sampling_design import Design, Round, candidate_probabilities, population_of
from relstudy.studyapp.sampling.saved_scores import ScoreTableWriter
from relstudy.studyapp.sampling.sources import Source, foreign_tables, is_built_in, open_sources, scores_of
from relstudy.studyapp.systems.base import Progress, silent


@dataclass(frozen=True, eq=False)
class DrawnStudy:
    """A study whose pairs were drawn in rounds, with what they were drawn from.

    Parameters
    ----------
    collection : whose items ask and answer
    sources : the systems of all rounds, scoring as they did then
    design : of the rounds
    pairs : of the rounds, as `relstudy.common.tables.meaning.pairs_table` has them
    """

    collection: Collection
    sources: Sequence[Source]
    design: Design
    pairs: pd.DataFrame

    @classmethod
    def load(cls, folder: Path, progress: Progress = silent) -> DrawnStudy:
        """The study in `folder`."""
        collection, design = open_collection(folder), Design.load(folder)
        pairs = drawn_pairs(folder / "pairs.csv")
        return cls(collection, sources_of_rounds(folder, collection, design, progress), design, pairs)

    def with_round(self, this: Round, *more: Source) -> DrawnStudy:
        """The study with a round whose pairs are still to be drawn, and the systems that come with it."""
        return replace(self, sources=[*self.sources, *more], design=Design((*self.design.rounds, this)))

    def queries_of_last_draw(self, paradigm: str) -> tuple[list[Item], float, int, int]:
        """The last round's queries, their probability, how many there were to draw from, and the draw's number."""
        last = self.design.rounds[-1]
        if paradigm not in last.query_probability:
            raise RelstudyError(f"round {last.number} has no queries by {paradigm} to draw for again")
        draw = [each.number for each in self.design.rounds if each.query_draw == last.query_draw]
        rows = self.pairs["round"].isin(draw) & (self.pairs["paradigm"] == paradigm)
        queries = [self.collection[name] for name in self.pairs.loc[rows, "query_id"].unique()]
        return queries, last.query_probability[paradigm], last.population[paradigm], last.query_draw


@dataclass(frozen=True, eq=False)
class Extended:
    """A study with a further round.

    Parameters
    ----------
    pairs : all pairs of all rounds, with their combined probabilities
    design : with the new round as its last
    new : how many of the pairs are new
    smallest : smallest inclusion probability of any candidate of the queries concerned
    scores : what the systems said of these queries
    pool : as `Sample` has it, of the queries of all rounds of this way of asking
    collection : what was drawn from
    """

    pairs: pd.DataFrame
    design: Design
    new: int
    smallest: float
    scores: ScoreTableWriter
    pool: pd.DataFrame | None
    collection: Collection | None = field(default=None, kw_only=True, metadata=NOT_KEPT)


def extend(
    study: DrawnStudy,
    queries: Sequence[Item],
    paradigm: str,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Extended:
    """Draw the last round of a design.

    Parameters
    ----------
    study : with the new round (`DrawnStudy.with_round`)
    queries : of the new round
    paradigm : image or text

    Raises
    ------
    RelstudyError
        where the round proposes no pair that is not there already
    """
    collection, sources, design, pairs = study.collection, study.sources, study.design, study.pairs
    this = design.rounds[-1]
    number = this.number
    drawn = {query.id for query in queries}
    old = pairs[pairs["paradigm"] == paradigm]
    touched = [*queries, *(collection[name] for name in old["query_id"].unique() if name not in drawn)]
    old_of = dict(iter(old.groupby("query_id")))
    updated = pairs["inclusion_probability"].to_numpy(dtype=float).copy()
    firsts = _first_drawn(pairs, len(design.rounds) - 1)
    scores = ScoreTableWriter(collection.ids, len(touched))
    smallest = 1.0
    pools: list[pd.DataFrame] = []
    parts: list[dict[str, np.ndarray]] = []
    for step in progress(range(len(touched)), "Queries", len(touched)):
        query = touched[step]
        said = scores_of(query, sources)
        drawn_from = population_of(design.rounds[0], query, collection, said)
        shapes = {
            each.number: candidate_probabilities(each, query, collection, taking_part(each, sources), drawn_from)
            for each in design.rounds
        }
        chances = shapes[number]
        everywhere = design.combine({key: value.probability for key, value in shapes.items()}, query.kind)
        smallest = min(smallest, float(everywhere.min()))
        taken = np.empty(0, dtype=np.int64)
        old_pairs = old_of.get(query.id)
        if old_pairs is not None:
            taken = np.array([collection.position(name) for name in old_pairs["result_id"]], dtype=np.int64)
            given_query = {key: value.at(taken) for key, value in shapes.items()}
            rows = old_pairs.index.to_numpy()
            updated[rows] = design.combine(given_query, query.kind)
            for key, first_drawn in design.by_round(given_query, query.kind).items():
                firsts[key][rows] = first_drawn
        keep = taken
        if query.id in drawn:
            new = draw_results(this, query, chances, collection, rng)
            fresh = ~np.isin(new["position"], taken)
            new = {name: column[fresh] for name, column in new.items()}
            keep = np.r_[taken, new["position"]]
            given_query = {key: value.at(new["position"]) for key, value in shapes.items()}
            new["inclusion_probability"] = design.combine(given_query, query.kind)
            for key, first_drawn in design.by_round(given_query, query.kind).items():
                new[round_column(key)] = first_drawn
            parts.append({**new, "query": np.full(len(new["position"]), step)})
        scores.add(query.id, said, drawn_from.eligible, keep)
        if this.depth is not None:
            pools.append(pool_table(query, drawn_from.candidates, this.depth, collection))
    for name in pairs.loc[pairs["paradigm"] != paradigm, "query_id"].unique():
        query = collection[name]
        of_query = pairs.loc[pairs["query_id"] == name, "result_id"]
        keep = np.array([collection.position(item) for item in of_query], dtype=np.int64)
        said = scores_of(query, sources)
        scores.add(name, said, Eligible.of(query, collection), keep)
        if this.depth is not None:
            drawn_from = population_of(design.rounds[0], query, collection, said)
            pools.append(pool_table(query, drawn_from.candidates, this.depth, collection))
    added = one_table(parts).assign(block="unique")
    if added.empty:
        raise RelstudyError(
            "the new round proposes no pair that is not in pairs.csv already; draw more queries or results"
        )
    first = 1 + max((int(text) for text in pairs["pair_id"].str.extract(r"(\d+)$")[0].dropna()), default=0)
    old = pairs.assign(inclusion_probability=updated, **{round_column(key): each for key, each in firsts.items()})
    added = added.drop(columns=[name for name in ("pool", PAGE) if name not in pairs])
    whole = pd.concat([old, number_pairs(added, rng, first)], ignore_index=True)
    whole.loc[whole["paradigm"] == paradigm, "query_probability"] = design.query_probability(paradigm)
    pool = pd.concat(pools, ignore_index=True) if pools else None
    return Extended(whole, design, len(added), smallest, scores, pool, collection=collection)


def _first_drawn(pairs: pd.DataFrame, rounds: int) -> dict[int, np.ndarray]:
    """With which probability each pair was first drawn in each round so far, and 0 for the round to come."""
    if rounds == 1:
        by_round = {1: pairs["inclusion_probability"].to_numpy(dtype=float).copy()}
    else:
        # studies of which earlier rounds did not keep them learn them as far as this round's queries go
        unknown = np.full(len(pairs), np.nan)
        by_round = {
            number: np.array(pairs.get(round_column(number), unknown), dtype=float) for number in range(1, rounds + 1)
        }
    return {**by_round, rounds + 1: np.zeros(len(pairs))}


def drawn_pairs(path: Path) -> pd.DataFrame:
    """The pairs of earlier rounds; refuses a table from which a further round's probabilities cannot be computed."""
    pairs = read_pairs(path, "pair_id", "paradigm", "source", "inclusion_probability")
    unknown = int(pairs["inclusion_probability"].isna().sum())
    if unknown:
        raise RelstudyError(
            f"{path}: {count_of(unknown, 'pair has', 'pairs have')} no inclusion probability, and a further round "
            "rests on them all"
        )
    return pairs


def sources_of_rounds(
    folder: Path, collection: Collection, design: Design, progress: Progress = silent
) -> list[Source]:
    """The systems of the study, and those of all rounds so far, which must score as they did then."""
    asked = dict.fromkeys(
        stamp.rpartition(":")[0] for this in design.rounds for stamp in this.systems.values() if is_built_in(stamp)
    )
    shaped = [str(folder / sizes_file(this.number)) for this in design.rounds if this.judge]
    sources = open_sources(folder, collection, [*asked, *map(str, foreign_tables(folder)), *shaped], progress)
    design.check_stamps(sources)
    return sources


def sizes_file(number: int) -> str:
    """Path, within the study's folder, of the candidates' sizes of a round that a judge shaped."""
    return f"rounds/round-{number}.csv"


def taking_part(this: Round, sources: Sequence[Source]) -> list[Source]:
    """The systems that took part in a round."""
    return [source for source in sources if source.name in this.systems]
