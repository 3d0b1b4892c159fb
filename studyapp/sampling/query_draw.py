"""Draw one query's results, by the mixture of the systems or by each of them for itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from relstudy.common.sampling.probability_draws import probability_strata, sparse_systematic_sample, systematic_sample
from relstudy.common.tables.meaning.pairs_table import INSIDE, OUTSIDE, PAGE, RANDOM, SOURCE_SEPARATOR
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.sampling.population import Population
from relstudy.studyapp.sampling.sampling_design import CandidateProbabilities, Round


def draw_results(
    this: Round, query: Item, chances: CandidateProbabilities, collection: Collection, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """One query's pairs as columns, with the probability given the query and each result's position in the collection.

    `source` is drawn among the systems in proportion to their parts of the pair's size, as if the pair had come from a
    mixture of one draw per system; `rank` is the rank in that system among the candidates, NaN for "random". Where
    systems draw by themselves, `source` names all that drew the pair, `rank` is the best of theirs, and `page` the
    number of the page. Results from outside the pool come last.
    """
    drawn = (
        draw_together(this, chances, rng)
        if chances.by_system is None
        else draw_from_each(chances, chances.by_system, rng)
    )
    entries, positions = drawn.entries, drawn.positions
    inside = len(entries)
    beyond = np.empty(0, dtype=np.int64)
    if chances.population.outside:
        wanted = min(this.outside, chances.population.outside)
        beyond = chances.population.eligible.draw_others(wanted, chances.candidates, rng)
    number = inside + len(beyond)
    return {
        "query_id": np.full(number, query.id, dtype=object),
        "result_id": collection.ids[np.r_[positions, beyond]],
        "paradigm": np.full(number, query.kind, dtype=object),
        "source": np.r_[drawn.source, np.full(len(beyond), RANDOM, dtype=object)],
        "rank": np.r_[drawn.rank, np.full(len(beyond), np.nan)],
        PAGE: np.r_[drawn.page, np.full(len(beyond), np.nan)],
        "given_query": np.r_[chances.probability[entries], np.full(len(beyond), chances.outside)],
        "query_probability": np.full(number, this.query_probability[query.kind]),
        "round": np.full(number, this.number),
        "position": np.r_[positions, beyond],
        "pool": np.repeat(np.array([INSIDE, OUTSIDE], dtype=object), [inside, len(beyond)]),
    }


@dataclass(frozen=True, eq=False)
class Drawn:
    """Results drawn of a query's candidates, arrays of one length.

    Parameters
    ----------
    entries : which entry of the candidates a result belongs to, int64
    positions : its position in the collection, int64
    source : the system that proposed it, or several joined by ";", text
    rank : its rank there among the candidates, the best one of several, NaN for "random"
    page : number of its page, from 1; NaN where pages are not decided by the draw
    """

    entries: np.ndarray
    positions: np.ndarray
    source: np.ndarray
    rank: np.ndarray
    page: np.ndarray


def draw_together(this: Round, chances: CandidateProbabilities, rng: np.random.Generator) -> Drawn:
    """Draw by the mixture of the systems; the proposer is drawn by their parts of a pair's size."""
    stratum = None
    if this.strata > 1:
        stratum = probability_strata(chances.probability, chances.times, this.strata)
    entries, positions = draw_entries(chances.population, chances.probability, rng, stratum)
    cumulated = np.cumsum(chances.parts[:, entries], axis=0)
    proposer = (cumulated < rng.random(len(entries)) * cumulated[-1]).sum(axis=0)
    ranks = np.vstack([chances.ranks[:, entries], np.full(len(entries), np.nan)])
    source = np.array(chances.names, dtype=object)[proposer]
    rank = ranks[proposer, np.arange(len(entries))]
    return Drawn(entries, positions, source, rank, np.full(len(entries), np.nan))


def draw_from_each(chances: CandidateProbabilities, by_system: np.ndarray, rng: np.random.Generator) -> Drawn:
    """Every system draws by itself (Shirahatti and Barnard 2005, appendix A.1.1), and page k shows its k-th result.

    A result that several systems drew is shown once, on the first of its pages; the others then hold fewer results.

    Parameters
    ----------
    by_system : the probability that each system draws each candidate, float64 [systems, entries]
    """
    draws = [draw_entries(chances.population, probability, rng) for probability in by_system]
    system = np.repeat(np.arange(len(by_system)), [len(entries) for entries, _ in draws])
    entries, positions = (np.concatenate([draw[part] for draw in draws]) for part in (0, 1))
    shown = np.concatenate([1.0 + rng.permutation(len(entries)) for entries, _ in draws])
    result, first, of = np.unique(positions, return_index=True, return_inverse=True)
    rank, page = np.full(len(result), np.inf), np.full(len(result), np.inf)
    np.minimum.at(rank, of, chances.ranks[system, entries])
    np.minimum.at(page, of, shown)
    proposers = [SOURCE_SEPARATOR.join(chances.names[each] for each in system[of == at]) for at in range(len(result))]
    return Drawn(entries[first], result, np.array(proposers, dtype=object), rank, page)


def draw_entries(
    population: Population, probability: np.ndarray, rng: np.random.Generator, stratum: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw from a query's candidates: the entry that each result drawn belongs to, and its position."""
    if not population.others:
        drawn = systematic_sample(probability, rng, stratum)
        return drawn, population.candidates[drawn]
    drawn, number = sparse_systematic_sample(probability, population.others, rng, stratum)
    others = population.eligible.draw_others(number, population.candidates, rng)
    entries = np.r_[drawn, np.full(number, len(population.candidates), dtype=np.int64)]
    return entries, np.r_[population.candidates[drawn], others]
