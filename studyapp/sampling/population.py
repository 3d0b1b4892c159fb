"""Population of a query's pairs: the whole collection, or the pool of what the systems rank highest.

Only results that a system scores are written down; all others are a number, since they are all alike to a draw.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from relstudy.studyapp.collection.items import Collection, Item

TieKeys = Callable[[np.ndarray], np.ndarray]
# constants of the splitmix64 generator, which spreads neighbouring numbers over all 64 bits
_SPREAD = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Scores of the items by one system for one query.

    Parameters
    ----------
    scores : float [items scored], NaN where an item is not scored after all
    positions : of these items in the collection, int64, ascending; None: the scores are of all items
    higher : whether a higher score is better; of a distance a lower one is
    """

    scores: np.ndarray
    positions: np.ndarray | None = None
    higher: bool = True

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The scores of some items, or NaN."""
        if self.positions is None:
            return np.asarray(self.scores[positions], dtype=float)
        if not len(self.positions):
            return np.full(len(positions), np.nan)
        at = np.minimum(np.searchsorted(self.positions, positions), len(self.positions) - 1)
        return np.where(self.positions[at] == positions, self.scores[at], np.nan)

    def upward(self, scores: np.ndarray) -> np.ndarray:
        """Scores of its own, turned so that higher is better."""
        return scores if self.higher else -scores

    def among(self, eligible: Eligible) -> tuple[np.ndarray, np.ndarray]:
        """Positions and scores of the items that are scored and may answer, positions ascending."""
        positions = eligible.all() if self.positions is None else self.positions[eligible.holds(self.positions)]
        scores = self.at(positions)
        scored = ~np.isnan(scores)
        return (positions, scores) if scored.all() else (positions[scored], scores[scored])


@dataclass(frozen=True, eq=False)
class Eligible:
    """The items that may answer a query: never the query itself.

    Parameters
    ----------
    results : positions of the items that answer queries of this kind, int64, ascending
    query : the query's own position
    """

    results: np.ndarray
    query: int

    @classmethod
    def of(cls, query: Item, collection: Collection) -> Eligible:
        """The items of a collection that may be drawn as results of this query."""
        return cls(collection.results(query.paradigm), collection.position(query.id))

    def __len__(self) -> int:
        return len(self.results) - int(self.holds_item(self.query))

    def holds_item(self, position: int) -> bool:
        """True if an item answers queries of this kind."""
        at = int(np.searchsorted(self.results, position))
        return at < len(self.results) and int(self.results[at]) == position

    def holds(self, positions: np.ndarray) -> np.ndarray:
        """Mask of the items that may answer, bool."""
        at = np.minimum(np.searchsorted(self.results, positions), len(self.results) - 1)
        return np.asarray((self.results[at] == positions) & (positions != self.query))

    def all(self) -> np.ndarray:
        """Positions of all of them."""
        return self.results[self.results != self.query]

    def draw_others(self, number: int, than: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A simple random sample of those that are not listed, without a list of them.

        Parameters
        ----------
        number : how many, at most as many as there are
        than : positions of those that are listed, ascending
        """
        left = len(self) - len(than)
        if number > left:
            raise ValueError(f"{number} of {left} results cannot be drawn")
        if 2 * number > left or len(self.results) < 4 * (number + len(than) + 1):
            return np.sort(rng.choice(np.setdiff1d(self.all(), than), size=number, replace=False))
        drawn: dict[int, None] = {}
        while len(drawn) < number:
            position = int(self.results[rng.integers(len(self.results))])
            at = int(np.searchsorted(than, position))
            if position != self.query and not (at < len(than) and int(than[at]) == position):
                drawn[position] = None
        return np.sort(np.fromiter(drawn, np.int64, number))


@dataclass(frozen=True, eq=False)
class Population:
    """The candidates of one query, of which probabilities and figures speak.

    Parameters
    ----------
    eligible : all items that may answer
    candidates : positions of those that are listed, int64, ascending
    others : how many more candidates there are, which no system scores
    outside : how many items may answer and are no candidates, since they lie outside the pool
    depth : of the pool; None: all items that may answer are candidates
    """

    eligible: Eligible
    candidates: np.ndarray
    others: int = 0
    outside: int = 0
    depth: int | None = None

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self.candidates) + self.others


def whole_collection(eligible: Eligible, lists: Sequence[ScoredItems]) -> Population:
    """All items that may answer; those that no system scores are not listed."""
    dense = [each for each in lists if each.positions is None]
    if dense:
        everything = eligible.all()
        if any(not np.isnan(each.scores[everything]).any() for each in dense):
            return Population(eligible, everything)
    listed = [each.among(eligible)[0] for each in lists]
    candidates = np.unique(np.concatenate(listed)) if listed else np.empty(0, dtype=np.int64)
    return Population(eligible, candidates, others=len(eligible) - len(candidates))


def pool(eligible: Eligible, lists: Sequence[ScoredItems], depth: int, tie_keys: TieKeys) -> Population:
    """The union of the systems' first results.

    Parameters
    ----------
    lists : of the systems that make the pool
    depth : how many results of each
    tie_keys : from positions to keys; of equal scores at the cut, those of the lowest keys come in
    """
    best = []
    for each in lists:
        positions, scores = each.among(eligible)
        best.append(_best(positions, each.upward(scores), depth, tie_keys))
    candidates = np.unique(np.concatenate(best)) if best else np.empty(0, dtype=np.int64)
    return Population(eligible, candidates, outside=len(eligible) - len(candidates), depth=depth)


def _best(positions: np.ndarray, scores: np.ndarray, depth: int, tie_keys: TieKeys) -> np.ndarray:
    if len(positions) <= depth:
        return positions
    cut = np.partition(scores, len(scores) - depth)[len(scores) - depth]
    above, tied = positions[scores > cut], positions[scores == cut]
    room = depth - len(above)
    if len(tied) > room:
        tied = tied[np.argpartition(tie_keys(tied), room)[:room]]
    return np.concatenate([above, tied])


def tie_order(collection: Collection, query: Item) -> TieKeys:
    """Keys of items for one query that neither a system nor the order of the file has a part in, uint64."""

    def keys(positions: np.ndarray) -> np.ndarray:
        mixed = collection.id_hashes[positions] ^ (np.uint64(zlib.crc32(query.id.encode())) << np.uint64(32))
        for shift, factor in zip((np.uint64(30), np.uint64(27)), _SPREAD, strict=True):
            mixed = (mixed ^ (mixed >> shift)) * factor
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))

    return keys
