"""Preferences between two: Bradley and Terry's model with Davidson's ties, and each rater's lean to a side.

A rater r who sees results a (left) and b (right) of one query answers left, equal or right in the proportions

    exp(s / 2) : exp(tie_r) : exp(-s / 2),    s = quality_a - quality_b + lean_r

(Bradley and Terry 1952; ties as in Davidson 1970, the advantage of a side as in Davidson and Beaver 1977). A rater's
lean and readiness to call two equal are drawn about the panel's, and qualities about their query's mean, all normally;
the spreads are those of greatest evidence (Laplace's approximation). So a rater with few answers is taken for an
average one, and a result that won each of its two couples for a good one and not for an infinitely good one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, log_softmax

LEFT, EQUAL, RIGHT = -1, 0, 1
STEPS = 60
SIMULATED = 6
SPREADS = (0.02, 10.0)
"""Between these a spread is looked for, in log odds; the least is as good as none."""


@dataclass(frozen=True)
class Couples:
    """Answers of R raters to N couples of I results.

    Parameters
    ----------
    rater, left, right : int arrays (N), codes in 0..R-1 and 0..I-1
    answer : int array (N): -1 the left one is better, 0 equal, 1 the right one
    query : int array (I), the query of each result; a couple is of one query
    raters : R
    """

    rater: np.ndarray
    left: np.ndarray
    right: np.ndarray
    answer: np.ndarray
    query: np.ndarray
    raters: int


@dataclass(frozen=True)
class Preferences:
    """The answers to couples.

    Parameters
    ----------
    quality : float array (I), log odds of being preferred, mean 0 in each query
    standard_error : of it, float array (I)
    covariance : the same between the results of one query: query -> its results' numbers, and a matrix
    lean : each rater's lean to the left, in log odds, float array (R)
    tie : each rater's log weight of "equal", float array (R)
    spreads : of quality, lean and tie over results and raters
    mean_lean, mean_tie : of the panel
    lean_error : standard error of `mean_lean`
    """

    quality: np.ndarray
    standard_error: np.ndarray
    covariance: dict[int, tuple[np.ndarray, np.ndarray]]
    lean: np.ndarray
    tie: np.ndarray
    spreads: tuple[float, float, float]
    mean_lean: float
    mean_tie: float
    lean_error: float

    def difference(self, one: int, other: int, query: int) -> tuple[float, float]:
        """Quality of one result less that of another of its query, and its standard error."""
        items, covariance = self.covariance[query]
        i, j = (int(np.flatnonzero(items == item)[0]) for item in (one, other))
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        return float(self.quality[one] - self.quality[other]), float(np.sqrt(max(variance, 0.0)))

    @property
    def preferred(self) -> np.ndarray:
        """Chance of each result to be preferred to an average one of its query, 0 to 1, float array (I)."""
        return np.asarray(expit(self.quality))


def fit_preferences(
    couples: Couples,
    *,
    quality_spread: float | None = None,
    lean_spread: float | None = None,
    tie_spread: float | None = None,
    ties: bool = True,
) -> Preferences:
    """Qualities of results from answers to which of two is better.

    Parameters
    ----------
    couples : the answers
    quality_spread, lean_spread, tie_spread : standard deviations, in log odds; None: estimated. A spread of 0 of leans
        or ties takes all raters to be alike
    ties : False leaves "equal" out of the model (Bradley and Terry's); no answer may be 0 then

    Examples
    --------
    >>> beats = Couples(np.zeros(4, int), np.array([0, 0, 1, 0]), np.array([1, 2, 2, 1]), np.array([-1, -1, -1, 1]),
    ...                 np.zeros(3, int), 1)
    >>> found = fit_preferences(beats, quality_spread=1.0, lean_spread=0.0, tie_spread=0.0)
    >>> found.quality.round(2).tolist()
    [-0.12, 0.44, -0.32]
    """
    model = _Model.of(couples, ties)
    given = (quality_spread, lean_spread, tie_spread)
    free = np.flatnonzero([each is None for each in given])
    spreads = np.array([0.5 if each is None else each for each in given])
    spreads = _likeliest(model, spreads, free)
    if quality_spread is None:
        spreads[0] = _without_lean(model, spreads)
    return model.preferences(model.best(np.zeros(model.size), spreads), spreads)


def _likeliest(model: _Model, spreads: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The spreads of greatest evidence; only those numbered in `free` are looked for."""
    from scipy.optimize import minimize

    spreads = spreads.copy()
    if not len(free):
        return spreads
    at = np.zeros(model.size)

    def unlikely(logs: np.ndarray) -> float:
        nonlocal at
        spreads[free] = np.exp(np.clip(logs, *np.log(SPREADS)))
        at = model.best(at, spreads)
        return -model.evidence(at, spreads)

    start = np.log(spreads[free])
    simplex = np.vstack([start, start + 0.7 * np.eye(len(free))])
    options = {"xatol": 0.01, "fatol": 0.01, "maxfev": 200, "initial_simplex": simplex}
    found = minimize(unlikely, start, method="Nelder-Mead", options=options)
    spreads[free] = np.exp(np.clip(found.x, *np.log(SPREADS)))
    return spreads


def _without_lean(model: _Model, spreads: np.ndarray) -> float:
    """The spread of qualities, without the lean of its estimate, which is too small where each result has few couples.

    The lean is what the same estimate makes of answers that are simulated with the spreads found.
    """
    at, rng = model.best(np.zeros(model.size), spreads), np.random.default_rng(0)
    if spreads[0] <= 2 * SPREADS[0]:
        return float(spreads[0])
    again = []
    for _ in range(SIMULATED):
        drawn = at.copy()
        for part, spread in zip(model.parts, spreads, strict=True):
            drawn[part] = rng.normal(0.0, spread, part.stop - part.start)
        chance = np.exp(model.shares(drawn)).cumsum(axis=1)
        answer = np.minimum((rng.random(len(chance))[:, None] > chance).sum(axis=1), 2) - 1
        simulated = replace(model, couples=replace(model.couples, answer=answer))
        again.append(np.log(_likeliest(simulated, spreads, np.array([0]))[0]))
    lean = float(np.mean(again)) - float(np.log(spreads[0]))
    return float(np.clip(spreads[0] * np.exp(-lean), spreads[0], 2 * spreads[0]))


@dataclass(frozen=True)
class _Model:
    """The model's parameters in one vector: qualities, the raters' leans, their ties, the panel's lean, its tie."""

    couples: Couples
    ties: bool
    items: int

    @classmethod
    def of(cls, couples: Couples, ties: bool) -> _Model:
        return cls(couples, ties, len(couples.query))

    @property
    def size(self) -> int:
        return self.items + 2 * self.couples.raters + 2

    @property
    def parts(self) -> tuple[slice, slice, slice]:
        """Qualities, leans and ties."""
        ends = self.items + self.couples.raters * np.arange(3)
        return slice(0, self.items), slice(ends[0], ends[1]), slice(ends[1], ends[2])

    def best(self, at: np.ndarray, spreads: np.ndarray) -> np.ndarray:
        """The parameters of greatest posterior density, by Newton's method with halved steps."""
        value = self._value(at, spreads)
        for _ in range(STEPS):
            gradient = self._gradient(at, spreads)
            inverse = _Inverse.of(self, at, spreads)
            step = inverse.times(gradient)
            size = 1.0
            while (fresh := self._value(at + size * step, spreads)) < value - 1e-12 and size > 1e-6:
                size /= 2
            at, gained, value = at + size * step, fresh - value, fresh
            if gained < 1e-10 * (1 + abs(value)) and np.abs(size * step).max() < 1e-7:
                break
        return at

    def evidence(self, at: np.ndarray, spreads: np.ndarray) -> float:
        """Log likelihood of the spreads, parameters integrated out about their best values (Laplace)."""
        half_log_precision = 0.5 * float(np.log(self.precision(spreads)).sum())
        return self._value(at, spreads) + half_log_precision - 0.5 * _Inverse.of(self, at, spreads).log_determinant

    def preferences(self, at: np.ndarray, spreads: np.ndarray) -> Preferences:
        inverse = _Inverse.of(self, at, spreads)
        quality, error = np.empty(self.items), np.empty(self.items)
        covariance = {}
        for query, items in _by_query(self.couples.query).items():
            centre = np.eye(len(items)) - 1 / len(items)
            block = centre @ inverse.block(items) @ centre
            covariance[query] = (items, block)
            quality[items] = at[items] - at[items].mean()
            error[items] = np.sqrt(np.maximum(np.diag(block), 0.0))
        _, lean, tie = self.parts
        of_panel = inverse.diagonal()[-2:]
        return Preferences(
            quality,
            error,
            covariance,
            at[lean] + at[-2],
            at[tie] + at[-1],
            (float(spreads[0]), float(spreads[1]), float(spreads[2])),
            float(at[-2]),
            float(at[-1]),
            float(np.sqrt(of_panel[0])),
        )

    def shares(self, at: np.ndarray) -> np.ndarray:
        """Log probability of left, equal and right, float array [N, 3]."""
        couples = self.couples
        quality, lean, tie = (at[part] for part in self.parts)
        ahead = quality[couples.left] - quality[couples.right] + lean[couples.rater] + at[-2]
        equal = tie[couples.rater] + at[-1] if self.ties else np.full(len(ahead), -np.inf)
        return np.asarray(log_softmax(np.column_stack([ahead / 2, equal, -ahead / 2]), axis=1))

    def _value(self, at: np.ndarray, spreads: np.ndarray) -> float:
        chosen = self.shares(at)[np.arange(len(self.couples.answer)), self.couples.answer + 1]
        return float(chosen.sum() - 0.5 * np.sum(self.precision(spreads) * at**2))

    def precision(self, spreads: np.ndarray) -> np.ndarray:
        """One over each parameter's prior variance; the panel's lean and tie have nearly none."""
        each = 1 / np.maximum(spreads, 1e-6) ** 2
        counts = [self.items, self.couples.raters, self.couples.raters]
        return np.r_[np.repeat(each, counts), 1e-6, 1e-6 if self.ties else 1.0]

    def _gradient(self, at: np.ndarray, spreads: np.ndarray) -> np.ndarray:
        couples, chance = self.couples, np.exp(self.shares(at))
        ahead = 0.5 * ((couples.answer == LEFT) - chance[:, 0] - (couples.answer == RIGHT) + chance[:, 2])
        equal = (couples.answer == EQUAL) - chance[:, 1]
        quality = np.bincount(couples.left, ahead, self.items) - np.bincount(couples.right, ahead, self.items)
        lean, tie = (np.bincount(couples.rater, each, couples.raters) for each in (ahead, equal))
        return np.r_[quality, lean, tie, ahead.sum(), equal.sum()] - self.precision(spreads) * at


def _by_query(query: np.ndarray) -> dict[int, np.ndarray]:
    """The numbers of each query's results."""
    order = np.argsort(query, kind="stable")
    names, starts = np.unique(query[order], return_index=True)
    return {int(name): part for name, part in zip(names, np.split(order, starts[1:]), strict=True)}


@dataclass(frozen=True)
class _Inverse:
    """The inverse of the negative second derivatives, in parts: qualities hang together within queries only.

    Parameters
    ----------
    blocks : query -> its results, and the inverse of their own second derivatives
    across : those inverses times the derivatives between qualities and the rest, float array [items, rest]
    rest : inverse of what is left for the rest, float array [rest, rest]
    """

    blocks: dict[int, tuple[np.ndarray, np.ndarray]]
    across: np.ndarray
    rest: np.ndarray
    items: int

    @classmethod
    def of(cls, model: _Model, at: np.ndarray, spreads: np.ndarray) -> _Inverse:
        couples, raters, items = model.couples, model.couples.raters, model.items
        chance = np.exp(model.shares(at))
        # second derivatives in how far the left one is ahead, in the log weight of "equal", and in both
        mean = 0.5 * (chance[:, 0] - chance[:, 2])
        ahead = 0.25 * (chance[:, 0] + chance[:, 2]) - mean**2
        equal = chance[:, 1] * (1 - chance[:, 1])
        both = -mean * chance[:, 1]
        precision = model.precision(spreads)
        size = 2 * raters + 2
        rest, between = np.diag(precision[items:]), np.zeros((items, size))
        lean, tie = couples.rater, couples.rater + raters
        panel = (np.full_like(lean, size - 2), np.full_like(lean, size - 1))
        for column, other, value in (
            (lean, lean, ahead), (panel[0], panel[0], ahead), (lean, panel[0], ahead), (panel[0], lean, ahead),
            (tie, tie, equal), (panel[1], panel[1], equal), (tie, panel[1], equal), (panel[1], tie, equal),
            (lean, tie, both), (tie, lean, both), (lean, panel[1], both), (panel[1], lean, both),
            (panel[0], tie, both), (tie, panel[0], both), (panel[0], panel[1], both), (panel[1], panel[0], both),
        ):  # fmt: skip
            np.add.at(rest, (column, other), value)
        for columns, value in ((lean, ahead), (panel[0], ahead), (tie, both), (panel[1], both)):
            np.add.at(between, (couples.left, columns), value)
            np.add.at(between, (couples.right, columns), -value)
        blocks, across = {}, np.empty_like(between)
        place = np.empty(items, dtype=int)
        by_query, of_query = _by_query(couples.query), _by_query(couples.query[couples.left])
        for query, numbers in by_query.items():
            place[numbers] = np.arange(len(numbers))
            block = np.diag(precision[numbers])
            for rows in [of_query[query]] if query in of_query else []:
                left, right = place[couples.left[rows]], place[couples.right[rows]]
                for i, j, sign in ((left, left, 1), (right, right, 1), (left, right, -1), (right, left, -1)):
                    np.add.at(block, (i, j), sign * ahead[rows])
            inverse = np.linalg.inv(block)
            blocks[query] = (numbers, inverse)
            across[numbers] = inverse @ between[numbers]
        return cls(blocks, across, np.linalg.inv(rest - between.T @ across), items)

    @property
    def log_determinant(self) -> float:
        """Log determinant of the negative second derivatives."""
        parts = [inverse for _, inverse in self.blocks.values()] + [self.rest]
        return -sum(float(np.linalg.slogdet(part)[1]) for part in parts)

    def times(self, vector: np.ndarray) -> np.ndarray:
        """The inverse times a vector."""
        quality, rest = vector[: self.items], vector[self.items :]
        of_items = np.empty(self.items)
        for numbers, inverse in self.blocks.values():
            of_items[numbers] = inverse @ quality[numbers]
        of_rest = self.rest @ (rest - self.across.T @ quality)
        return np.r_[of_items - self.across @ of_rest, of_rest]

    def block(self, numbers: np.ndarray) -> np.ndarray:
        """The inverse among the results of one query."""
        inverse = next(inverse for found, inverse in self.blocks.values() if found[0] == numbers[0])
        across = self.across[numbers]
        return np.asarray(inverse + across @ self.rest @ across.T)

    def diagonal(self) -> np.ndarray:
        """Its diagonal."""
        of_items = np.empty(self.items)
        for numbers, inverse in self.blocks.values():
            of_items[numbers] = np.diag(inverse)
        of_items += np.einsum("ir,rs,is->i", self.across, self.rest, self.across, optimize=True)
        return np.r_[of_items, np.diag(self.rest)]
