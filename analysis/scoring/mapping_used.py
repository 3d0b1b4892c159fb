"""A system's mapped scores, the mapping behind them, and its separation from the data it is scored on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from relstudy.mapping.fitted import FittedMapping


class MappingOrigin(StrEnum):
    """Where predictions out of fold come from."""

    FITTED = "fitted"
    KEPT = "kept with the mapping"
    ANEW = "predicted anew"


@dataclass(frozen=True)
class MappingUsed:
    """The mapping behind a system's mapped scores.

    Parameters
    ----------
    method : how it was fitted
    folds, seed : of the folds by query
    origin : fitted here without a given mapping; or with one, whose predictions out of fold were kept or are made again
    why_anew : why the given mapping's predictions could not be used, as a clause; empty where they could
    weights : "equal" or "design", of the pairs in the fits
    noise : share of the mapped scores' variance that is the fits' own, which widens the correlation's interval

    Examples
    --------
    >>> MappingUsed("isotonic", 10, 0).sentence()
    'isotonic, out of fold (10 folds by query, seed 0)'
    """

    method: str
    folds: int
    seed: int
    origin: MappingOrigin = MappingOrigin.FITTED
    why_anew: str = ""
    weights: str = "equal"
    noise: float = 0.0

    def sentence(self) -> str:
        """Method, folds, seed, weights and the origin of the predictions, as a clause for the conventions."""
        weights = "" if self.weights == "equal" else f", {self.weights} weights"
        text = f"{self.method}, out of fold ({self.folds} folds by query, seed {self.seed}{weights})"
        if self.origin is MappingOrigin.FITTED:
            return text
        text += "; the mapping given may have seen these judgments, so it only serves the figure in sample"
        if self.origin is MappingOrigin.KEPT:
            return f"{text}; predictions kept with the mapping"
        return f"{text}; predicted again: {self.why_anew}"

    def as_json(self) -> dict[str, Any]:
        """The fields as plain JSON, as a saved comparison keeps them."""
        return {
            "method": self.method,
            "folds": self.folds,
            "seed": self.seed,
            "origin": self.origin.value,
            "why_anew": self.why_anew,
            "weights": self.weights,
            "noise": self.noise,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> MappingUsed:
        """From what `as_json` gave."""
        return cls(**{**content, "origin": MappingOrigin(content["origin"])})


@dataclass(frozen=True, eq=False)
class MappedScores:
    """A system's scores on the human scale.

    Parameters
    ----------
    values : float [judged pairs], NaN where unscored; each from a mapping that has not seen the pair's query
    mapping : what was fitted and how it was kept from the data it is scored on
    in_sample : float [judged pairs] from the mapping fitted on these very pairs, or None
    fitted : the mapping fitted on all judged pairs, for pictures and for pairs that nobody judged
    """

    values: np.ndarray
    mapping: MappingUsed
    in_sample: np.ndarray | None = None
    fitted: FittedMapping | None = None
