"""Pairs that raters saw and could not decide: which they are, and what they could change.

They are not missing at random, so no weight stands for them. Said instead is where they come from, by proposing system
and by rank in it, and between which ends the mean judgment lies whatever they would have been.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.wording import percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import OUTSIDE, one_row_per_source

RANKS = ((1, 10), (11, 100), (101, None))


@dataclass(frozen=True)
class Undecided:
    """Pairs with ratings of which none is a number.

    Parameters
    ----------
    pairs : how many they are
    rated : how many pairs anybody saw
    by_source, by_rank : undecided pairs and those that anybody saw, by proposing system and by rank in it
    mean : design-weighted mean of the judgments there are
    lowest, highest : the same if every undecided pair had the scale's lowest value, or its highest
    """

    pairs: int
    rated: int
    by_source: dict[str, tuple[int, int]]
    by_rank: dict[str, tuple[int, int]]
    mean: float
    lowest: float
    highest: float

    def sentence(self) -> str | None:
        """For a person, or None."""
        if not self.pairs:
            return None
        shares = [
            ", ".join(f"{name} {percent(few / all_of, 1)}" for name, (few, all_of) in by.items() if all_of)
            for by in (self.by_source, self.by_rank)
        ]
        return (
            f"{self.pairs} of {self.rated} pairs that were rated are undecided (by source: {shares[0]}; by rank: "
            f"{shares[1]}); the weighted mean judgment is {self.mean:.3f}, and even in the worst case "
            f"{self.lowest:.3f} to {self.highest:.3f}"
        )

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "pairs": self.pairs,
            "rated": self.rated,
            "by_source": {name: {"undecided": few, "rated": of} for name, (few, of) in self.by_source.items()},
            "by_rank": {name: {"undecided": few, "rated": of} for name, (few, of) in self.by_rank.items()},
            "mean_judgment": {"value": self.mean, "all_lowest": self.lowest, "all_highest": self.highest},
        }


def undecided_pairs(ratings: pd.DataFrame, judgments: Judgments, pairs: pd.DataFrame) -> Undecided | None:
    """The undecided pairs of a study; None where no judged pair has a known probability.

    Parameters
    ----------
    ratings : query_id, result_id, one row per rating, undecided ones too
    judgments : of the pairs that are not undecided
    pairs : as `pairs_table.read_pairs` gives them, with the probability of being drawn and judged
    """
    key = pairs[PAIR].astype("str")
    seen = pd.MultiIndex.from_frame(key).isin(pd.MultiIndex.from_frame(ratings[PAIR].astype("str")))
    table = key.assign(
        source=pairs["source"],
        rank=pairs["rank"],
        weight=1 / pairs["inclusion_probability"].to_numpy(dtype=float),
        inside=(pairs["pool"] != OUTSIDE) if "pool" in pairs else True,
    )[seen]
    judged = judgments.frame[[*PAIR, "judgment"]].assign(**{name: judgments.frame[name].astype("str") for name in PAIR})
    table = table.merge(judged, on=PAIR, how="left")
    blank = table["judgment"].isna()
    counted = table["inside"] & np.isfinite(table["weight"])
    if not (counted & ~blank).any():
        return None
    low, high = judgments.scale.scale.low, judgments.scale.scale.high
    weight = table.loc[counted, "weight"].to_numpy()
    means = [float(np.average(table.loc[counted, "judgment"].fillna(value), weights=weight)) for value in (low, high)]
    decided = counted & ~blank
    mean = float(np.average(table.loc[decided, "judgment"], weights=table.loc[decided, "weight"]))
    table["undecided"] = blank
    groups = one_row_per_source(table).groupby("source")["undecided"]
    by_source = {str(name): (int(flags.sum()), len(flags)) for name, flags in groups}
    return Undecided(int(blank.sum()), len(table), by_source, _by_rank(table), mean, min(means), max(means))


def _by_rank(table: pd.DataFrame) -> dict[str, tuple[int, int]]:
    rank = table["rank"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    bands = {
        (f"{first} to {last}" if last else f"from {first}"): (rank >= first) & (rank <= (last or np.inf))
        for first, last in RANKS
    }
    bands["at random"] = np.isnan(rank)
    undecided = table["undecided"].to_numpy(dtype=bool)
    return {name: (int(undecided[rows].sum()), int(rows.sum())) for name, rows in bands.items() if rows.any()}
