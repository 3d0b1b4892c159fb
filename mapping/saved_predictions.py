"""Predictions out of fold that are kept with a mapping, so that no later step fits the folds again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Mapped scores of the pairs that a mapping was fitted to, each by a fit that saw no pair of its query.

    Parameters
    ----------
    predictions : method -> mapped scores, float [pairs], in the order of (query_id, result_id)
    noise : method -> share of the predictions' variance that is the fits' own (`cross_fitting.fits_noise`)
    fingerprint : of pairs, scores and judgments (`fingerprint`); predictions are good for these alone
    folds, seed : of the folds by query; the seed also of random methods
    weights : "equal" or "design", of the pairs in the fits
    direction : "higher" or "lower" where it was stated which scores are better, "auto" where each fit found out
    """

    predictions: Mapping[str, np.ndarray]
    noise: Mapping[str, float]
    fingerprint: str
    folds: int = 10
    seed: int = 0
    weights: str = "equal"
    direction: str = "auto"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; every number survives the round trip exactly."""
        return {
            "fingerprint": self.fingerprint,
            "folds": self.folds,
            "seed": self.seed,
            "weights": self.weights,
            "direction": self.direction,
            "noise": dict(self.noise),
            "predictions": {name: np.asarray(values).tolist() for name, values in self.predictions.items()},
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> OutOfFold:
        """From what `to_json` gave; raises KeyError, TypeError or ValueError where it is something else."""
        predictions = {str(name): np.array(values, dtype=float) for name, values in content["predictions"].items()}
        if any(values.ndim != 1 or not np.isfinite(values).all() for values in predictions.values()):
            raise ValueError("out_of_fold must hold finite numbers")
        noise = {str(name): float(share) for name, share in content.get("noise", {}).items()}
        return cls(
            predictions,
            noise,
            str(content["fingerprint"]),
            int(content["folds"]),
            int(content["seed"]),
            str(content["weights"]),
            str(content["direction"]),
        )

    def unfit(self, fingerprint: str, method: str, folds: int, seed: int, direction: str) -> str | None:
        """The reason why the predictions are not those asked for, as a clause; None where they are."""
        if fingerprint != self.fingerprint:
            return "judgments or scores are not those that the saved one was fitted to"
        if not self.noise:
            return "the saved one is of an earlier version, without the fits' noise"
        if method not in self.predictions:
            return f"the saved one is by {', '.join(self.predictions) or 'no method'}, not by {method}"
        if (folds, seed) != (self.folds, self.seed):
            return f"the saved one is of {self.folds} folds, seed {self.seed}"
        if direction != self.direction:
            words = {"auto": "no stated direction"}
            return f"the saved one is for {words.get(self.direction, f'{self.direction} is better')}"
        return None


def order_of_pairs(query_id: Sequence[str] | np.ndarray, result_id: Sequence[str] | np.ndarray) -> np.ndarray:
    """Positions of the pairs in the order of (query_id, result_id), by code points; int [pairs].

    Examples
    --------
    >>> order_of_pairs(["b", "a", "a"], ["x", "z", "y"]).tolist()
    [2, 1, 0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {"query_id": query_id, "result_id": result_id}
    pairs = pa.table({name: pa.array([str(each) for each in ids], pa.string()) for name, ids in columns.items()})
    order = pc.sort_indices(pairs, sort_keys=[(name, "ascending") for name in columns])
    return np.asarray(order.to_numpy(), dtype=np.int64)


def fingerprint(
    query_id: Sequence[str] | np.ndarray,
    result_id: Sequence[str] | np.ndarray,
    score: np.ndarray,
    judgment: np.ndarray,
) -> str:
    """A short hash of scored and judged pairs, whatever their order.

    Examples
    --------
    >>> one = fingerprint(["a", "b"], ["x", "y"], np.array([0.5, 1.0]), np.array([3.0, 4.0]))
    >>> one == fingerprint(["b", "a"], ["y", "x"], np.array([1.0, 0.5]), np.array([4.0, 3.0]))
    True
    >>> one == fingerprint(["a", "b"], ["x", "y"], np.array([0.5, 1.0]), np.array([3.0, 4.5]))
    False
    """
    order = order_of_pairs(query_id, result_id)
    digest = hashlib.sha256()
    for names in (query_id, result_id):
        digest.update("\x1f".join(str(names[i]) for i in order).encode())
        digest.update(b"\x1e")
    for numbers in (score, judgment):
        digest.update(np.ascontiguousarray(np.asarray(numbers, dtype="<f8")[order] + 0.0).tobytes())
    return digest.hexdigest()[:16]
