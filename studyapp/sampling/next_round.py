"""A further round of pairs, shaped by what the mappings predict (Shirahatti and Barnard 2005, section 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.indices.uniformity import uniformity_table
from relstudy.calibration.judgments import read_judgments
from relstudy.common.errors import RelstudyError
from relstudy.common.pairs_table import PAGE, read_pairs, round_column
from relstudy.common.probabilities import PAIR
from relstudy.mapping.fitted import FittedMapping, read_mappings
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.sampling.design import Design, Round, candidate_probabilities, population_of, scores_of
from relstudy.studyapp.sampling.drawing import simple_random_sample
from relstudy.studyapp.sampling.first_round import number_pairs, one_table, pool_table
from relstudy.studyapp.sampling.kept_scores import ScoreTableWriter
from relstudy.studyapp.sampling.population import Eligible
from relstudy.studyapp.sampling.query_draw import draw_results
from relstudy.studyapp.sampling.response_model import Judged, RoundPlan, plan_round
from relstudy.studyapp.sampling.sources import Source, foreign_tables, is_built_in, open_sources
from relstudy.studyapp.systems.base import Progress, silent

REFERENCE_QUERIES = 200


@dataclass(frozen=True)
class NextOptions:
    """What to draw in a further round.

    Parameters
    ----------
    queries : how many queries to draw anew
    same_queries : draw for the last round's queries instead
    results : results per query, on average
    floor : share given to all candidates alike
    categories : values of the scale that responses are given on
    paradigm : image or text
    seed : of the draw
    """

    queries: int = 100
    same_queries: bool = False
    results: float = 20
    floor: float = 0.05
    categories: Sequence[float] = (1, 2, 3, 4, 5)
    paradigm: str = "image"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class EarlierRounds:
    """The rounds drawn so far, and what people answered in them.

    Parameters
    ----------
    design : of the rounds so far
    pairs : of the rounds so far, as `relstudy.common.pairs_table` has them
    judgments : query_id, result_id, judgment of those that were rated
    mappings : by system, from its score to the judgments' scale
    """

    design: Design
    pairs: pd.DataFrame
    judgments: pd.DataFrame
    mappings: dict[str, FittedMapping]


@dataclass(frozen=True, eq=False)
class NextRound:
    """A further round.

    Parameters
    ----------
    pairs : all pairs of all rounds, with their combined probabilities
    design : with the new round as its last
    plan : the new round's shapes, and the responses to expect
    new : how many of the pairs are new
    before : uniformity of the judgments so far (`relstudy.analysis.indices.uniformity.uniformity_table`)
    smallest : smallest inclusion probability of any candidate of the queries concerned
    scores : what the systems said of these queries
    pool : as `Sample` has it, of the queries of all rounds of this way of asking
    """

    pairs: pd.DataFrame
    design: Design
    plan: RoundPlan
    new: int
    before: pd.DataFrame
    smallest: float
    scores: ScoreTableWriter
    pool: pd.DataFrame | None = None


def draw_next_round(
    folder: Path, mappings: Path, judgments: Path, options: NextOptions, progress: Progress = silent
) -> NextRound:
    """Draw a further round for the study in `folder`; nothing is written.

    Parameters
    ----------
    mappings : folder of NAME.json files, as `relstudy fit` writes them
    judgments : judgments of the pairs so far
    """
    collection = Collection.load(folder)
    design = Design.load(folder)
    pairs = _drawn_pairs(folder / "pairs.csv")
    asked = dict.fromkeys(
        stamp.rpartition(":")[0] for this in design.rounds for stamp in this.systems.values() if is_built_in(stamp)
    )
    sources = open_sources(folder, collection, [*asked, *map(str, foreign_tables(folder))], progress)
    design.check_stamps(sources)
    judged = read_judgments(judgments).frame[[*PAIR, "judgment"]]
    earlier = EarlierRounds(design, pairs, judged, read_mappings(mappings))
    return draw_next_round_from(collection, sources, earlier, options, progress)


def draw_next_round_from(
    collection: Collection,
    sources: Sequence[Source],
    earlier: EarlierRounds,
    options: NextOptions,
    progress: Progress = silent,
) -> NextRound:
    """Draw a further round from a collection in memory.

    Parameters
    ----------
    collection : whose items ask and answer
    sources : the systems of the earlier rounds, scoring as they did then
    earlier : what was drawn and judged so far; a system without a mapping proposes nothing in the new round
    options : what to draw
    progress : shows how far the queries have come

    Raises
    ------
    RelstudyError
        when no mapping is of one of the systems, fewer than 50 pairs are judged, or no new pair is proposed
    """
    design, pairs, judgments, mappings = earlier.design, earlier.pairs, earlier.judgments, earlier.mappings
    mapped = [source for source in sources if source.name in mappings]
    if not mapped:
        raise RelstudyError(
            f"no mapping belongs to a system of this study; there are mappings of "
            f"{', '.join(sorted(mappings)) or 'none'} and systems {', '.join(source.name for source in sources)}"
        )
    rated = pairs.merge(judgments, on=PAIR)
    rated = rated[rated["paradigm"] == options.paradigm]
    if len(rated) < 50:
        raise RelstudyError(
            f"{len(rated)} of the study's pairs by {options.paradigm} have a judgment; at least 50 are needed to "
            "predict responses"
        )
    last = design.rounds[-1]
    number = last.number + 1
    rng = np.random.default_rng([options.seed, number])
    queries, probability, population, draw = _queries(collection, design, pairs, options, rng)
    plan = _plan(collection, sources, design.rounds[0], rated, mappings, options, progress)
    this = Round(
        number=number,
        systems={source.name: source.stamp for source in mapped},
        results=options.results,
        exponent=last.exponent,
        floor=options.floor,
        query_draw=draw,
        query_probability={options.paradigm: probability},
        population={options.paradigm: population},
        seed=options.seed,
        given=_given(collection, design, options.paradigm),
        shapes=plan.shapes,
        depth=last.depth,
        pool=last.pool,
        outside=last.outside,
        strata=last.strata,
    )
    design = Design((*design.rounds, this))
    drawn = {query.id for query in queries}
    old = pairs[pairs["paradigm"] == options.paradigm]
    touched = [*queries, *(collection[name] for name in old["query_id"].unique() if name not in drawn)]
    old_of = dict(iter(old.groupby("query_id")))
    updated = pairs["inclusion_probability"].to_numpy(dtype=float).copy()
    firsts = _first_drawn(pairs, last.number)
    scores = ScoreTableWriter(collection.ids, len(touched))
    smallest = 1.0
    pools: list[pd.DataFrame] = []
    parts: list[dict[str, np.ndarray]] = []
    for step in progress(range(len(touched)), "Queries", len(touched)):
        query = touched[step]
        said = scores_of(query, sources)
        drawn_from = population_of(design.rounds[0], query, collection, said)
        shapes = {
            each.number: candidate_probabilities(each, query, collection, sources_of(each, sources), drawn_from)
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
    for name in pairs.loc[pairs["paradigm"] != options.paradigm, "query_id"].unique():
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
    whole.loc[whole["paradigm"] == options.paradigm, "query_probability"] = design.query_probability(options.paradigm)
    before = uniformity_table(rated, options.categories, column="judgment")
    whole_pool = pd.concat(pools, ignore_index=True) if pools else None
    return NextRound(whole, design, plan, len(added), before, smallest, scores, whole_pool)


def _first_drawn(pairs: pd.DataFrame, rounds: int) -> dict[int, np.ndarray]:
    """With which probability each pair was first drawn in each round so far, and 0 for the round to come."""
    if rounds == 1:
        known = {1: pairs["inclusion_probability"].to_numpy(dtype=float).copy()}
    else:
        # studies of which earlier rounds did not keep them learn them as far as this round's queries go
        unknown = np.full(len(pairs), np.nan)
        known = {
            number: np.array(pairs.get(round_column(number), unknown), dtype=float) for number in range(1, rounds + 1)
        }
    return {**known, rounds + 1: np.zeros(len(pairs))}


def _drawn_pairs(path: Path) -> pd.DataFrame:
    """The pairs of earlier rounds; refuses a table of which a further round's probabilities cannot be told."""
    pairs = read_pairs(path, "pair_id", "paradigm", "source", "inclusion_probability")
    unknown = int(pairs["inclusion_probability"].isna().sum())
    if unknown:
        raise RelstudyError(
            f"{path}: {unknown} pairs have no inclusion probability, and a further round rests on them all"
        )
    return pairs


def sources_of(this: Round, sources: Sequence[Source]) -> list[Source]:
    """The systems that took part in a round."""
    return [source for source in sources if source.name in this.systems]


def _queries(
    collection: Collection, design: Design, pairs: pd.DataFrame, options: NextOptions, rng: np.random.Generator
) -> tuple[list[Item], float, int, int]:
    """The round's queries, their probability, how many there were to draw from, and the draw's number."""
    last = design.rounds[-1]
    given = _given(collection, design, options.paradigm)
    if options.same_queries:
        if options.paradigm not in last.query_probability:
            raise RelstudyError(f"round {last.number} has no queries by {options.paradigm} to draw for again")
        draw = [each.number for each in design.rounds if each.query_draw == last.query_draw]
        rows = pairs["round"].isin(draw) & (pairs["paradigm"] == options.paradigm)
        queries = [collection[name] for name in pairs.loc[rows, "query_id"].unique()]
        return queries, last.query_probability[options.paradigm], last.population[options.paradigm], last.query_draw
    draw_number = max(each.query_draw for each in design.rounds) + 1
    if given:
        return [collection[name] for name in given], 1.0, len(given), draw_number
    eligible = collection.queries(options.paradigm)
    number = min(options.queries, len(eligible))
    queries = [eligible[index] for index in simple_random_sample(len(eligible), number, rng)]
    return queries, number / len(eligible), len(eligible), draw_number


def _given(collection: Collection, design: Design, paradigm: str) -> list[str]:
    """Ids of the queries of this paradigm that the first round was given as a list; empty where queries were drawn."""
    first = design.rounds[0]
    return [name for name in first.given if collection[name].kind == paradigm]


def _plan(
    collection: Collection,
    everyone: Sequence[Source],
    first: Round,
    rated: pd.DataFrame,
    mappings: dict[str, FittedMapping],
    options: NextOptions,
    progress: Progress,
) -> RoundPlan:
    sources = [source for source in everyone if source.name in mappings]
    eligible = collection.queries(options.paradigm)
    # a fixed stream, so that the reference does not move with the draw
    reference = simple_random_sample(len(eligible), REFERENCE_QUERIES, np.random.default_rng(20040818))
    candidates, others = [], []
    for step in progress(range(len(reference)), "Candidates", len(reference)):
        query = eligible[reference[step]]
        said = scores_of(query, sources)
        population = population_of(first, query, collection, scores_of(query, everyone) if first.depth else said)
        candidates.append({name: each.at(population.candidates) for name, each in said.items()})
        others.append(population.others)
    rated = rated.reset_index(drop=True)
    score = {source.name: np.full(len(rated), np.nan) for source in sources}
    for name, frame in rated.groupby("query_id"):
        judged_positions = [collection.position(item) for item in frame["result_id"]]
        for system, values in scores_of(collection[str(name)], sources).items():
            score[system][frame.index.to_numpy()] = values.at(np.array(judged_positions, dtype=np.int64))
    answering = {name for scores in candidates for name in scores}
    judged = Judged(
        {name: values for name, values in score.items() if name in answering},
        rated["judgment"].to_numpy(dtype=float),
        1 / rated["inclusion_probability"].to_numpy(dtype=float),
    )
    return plan_round(
        {name: mappings[name] for name in judged.scores},
        judged,
        candidates,
        options.categories,
        options.results,
        options.floor,
        others,
    )
