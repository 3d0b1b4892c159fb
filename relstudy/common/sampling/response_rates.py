"""Drawn pairs that are judged, and the probability of a pair to be both.

A round that is not rated yet lends its pairs no judgment, so a pair of an earlier round is not as likely to be judged
as it is to be drawn. Response rates of the rounds (weighting classes: Little and Rubin 2019, section 3.3) multiply the
probabilities with which the pair is first drawn in each. The base block is a random part of its round, so its pairs
and the unique ones have one rate together; it is counted by block all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.common.sampling.design_reach import REACH
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import INSIDE, ROUND

DRAWN = "pairs_drawn"
"""Column of judgments, one value throughout: how many pairs were drawn, where some of them are not judged."""


FROM_DESIGN = ("pool", REACH, DRAWN)
"""Columns that go from the pairs to the ratings and the judgments, beside the probabilities."""


@dataclass(frozen=True)
class ResponseCount:
    """Numbers of pairs drawn and judged in one class of pairs."""

    round: int
    block: str
    drawn: int
    judged: int

    def as_json(self) -> dict[str, Any]:
        return {"round": self.round, "block": self.block, "drawn": self.drawn, "judged": self.judged}


@dataclass(frozen=True, eq=False)
class Response:
    """Drawn pairs, judged and missing.

    Parameters
    ----------
    counts : by round and block
    probability : of each drawn pair to be drawn and judged, float [pairs], NaN where the probability to be drawn is
    """

    counts: tuple[ResponseCount, ...]
    probability: np.ndarray

    @property
    def drawn(self) -> int:
        return sum(count.drawn for count in self.counts)

    @property
    def missing(self) -> int:
        """Number of drawn pairs that are not judged."""
        return self.drawn - sum(count.judged for count in self.counts)

    def sentence(self) -> str | None:
        """Sentence on the pairs that are not judged, by round and block; None where all are."""
        if not self.missing:
            return None
        parts = [
            f"round {count.round} {count.block}: {count.drawn - count.judged} of {count.drawn}"
            for count in self.counts
            if count.judged < count.drawn
        ]
        are = "is" if self.missing == 1 else "are"
        return (
            f"{self.missing} of {self.drawn} sampled pairs {are} not judged ({'; '.join(parts)}); they are treated as "
            "missing at random within a round"
        )

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "drawn": self.drawn,
            "not_judged": self.missing,
            "by_round_and_block": [count.as_json() for count in self.counts],
        }


def response_of(pairs: pd.DataFrame, judged: pd.DataFrame) -> Response:
    """Lay the judged pairs beside those that were drawn.

    Parameters
    ----------
    pairs : as `relstudy.common.tables.meaning.pairs_table.read_pairs` gives them
    judged : query_id, result_id of the pairs that have a judgment

    Notes
    -----
    With p_r the probability that a pair is drawn in round r for the first time and s_r the share of that round's pairs
    that are judged, it is drawn and judged with probability sum(s_r p_r). Each way of asking, and what is drawn from
    outside a pool, is a class of its own.

    Examples
    --------
    >>> pairs = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "y"], "paradigm": "", "block": "unique",
    ...                       "round": [1, 2], "inclusion_probability": [0.6, 0.6],
    ...                       "round_1_probability": [0.5, 0.5], "round_2_probability": [0.1, 0.1]})
    >>> response_of(pairs, pairs[:1]).probability.tolist()
    [0.5, 0.5]
    """
    numbered = pd.concat([pairs[PAIR], judged[PAIR]]).astype("str").groupby(PAIR, sort=False).ngroup().to_numpy()
    is_judged = np.isin(numbered[: len(pairs)], numbered[len(pairs) :])
    table = pd.DataFrame({"round": pairs["round"], "block": pairs["block"], "judged": is_judged})
    numbers = table.groupby(["round", "block"])["judged"].agg(["size", "sum"])
    counts = tuple(
        ResponseCount(int(number), str(block), int(drawn), int(some))
        for (number, block), drawn, some in zip(numbers.index, numbers["size"], numbers["sum"], strict=True)
    )
    probability = pairs["inclusion_probability"].to_numpy(dtype=float).copy()
    pool = pairs.get("pool", INSIDE)
    classes = pairs[["paradigm"]].assign(pool=pool).groupby(["paradigm", "pool"], dropna=False).ngroup().to_numpy()
    rounds = pairs["round"].to_numpy()
    firsts = {
        int(match[1]): pairs[name].to_numpy(dtype=float)
        for name in [str(column) for column in pairs]
        if (match := ROUND.fullmatch(name))
    }
    for one in np.unique(classes):
        rows = classes == one
        probability[rows] = _judged_probability(
            probability[rows], rounds[rows], is_judged[rows], {number: each[rows] for number, each in firsts.items()}
        )
    return Response(counts, probability)


def _judged_probability(
    drawn: np.ndarray, rounds: np.ndarray, judged: np.ndarray, firsts: dict[int, np.ndarray]
) -> np.ndarray:
    """The probability of being drawn and judged of the pairs of one class."""
    rates = {int(number): float(judged[rounds == number].mean()) for number in np.unique(rounds)}
    overall = drawn * float(judged.mean())
    if len(set(rates.values())) == 1 or not firsts:
        return overall
    # a round of which no pair is of this class has nothing to be judged
    by_round = np.sum([rates.get(number, 0.0) * each for number, each in firsts.items()], axis=0)
    # of a pair that nobody has judged the probability may be 0: a round that is not rated could alone have drawn it
    result: np.ndarray = np.where(np.isfinite(by_round) & (by_round > 0), by_round, np.where(judged, overall, drawn))
    return result
