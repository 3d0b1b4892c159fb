"""The change-point model's passes over bins, levels and numbers of levels, compiled; for one value of sigma at a time.

They run on probabilities, or, where these could underflow, on their logarithms: one algorithm, in which `log` says how
two numbers are added and multiplied. States stand as (bin, level, number of levels so far), so that the inner loop runs
over numbers of levels side by side.
"""

from __future__ import annotations

import math

import numpy as np

from relstudy.common.runtime.compiled import compiled


@compiled
def add(a: float, b: float, log: bool) -> float:
    """The sum of two numbers kept plain or as logarithms."""
    if not log:
        return a + b
    low, high = min(a, b), max(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@compiled
def multiply(a: float, b: float, log: bool) -> float:
    """a times b; where `log`, both and the product are logarithms."""
    return a + b if log else a * b


@compiled
def ratio(a: float, b: float, log: bool) -> float:
    """a / b as a plain number."""
    return math.exp(a - b) if log else a / b


@compiled
def forward_pass(likelihood: np.ndarray, entry: np.ndarray, tie: float, states: np.ndarray, log: bool) -> float:
    """A[j] = L[j] (A[j-1] + e shift(sum below of A[j-1] + tie A[j-1])), each divided by the largest of the bin before.

    Parameters
    ----------
    likelihood : shape (m, G), the largest of a bin 1
    entry : e, weight of a level where it begins, shape (G,), the largest 1
    tie : weight of a change point that leaves the level at its grid value
    states : written to, shape (m, G, M)
    log : whether all are kept as logarithms

    Returns
    -------
    log of the product of all that was divided by
    """
    bins, grid = likelihood.shape
    most = states.shape[2]
    zero, one = (-np.inf, 0.0) if log else (0.0, 1.0)
    below, half = np.empty(most), np.full(most, zero)
    states[0] = zero
    for g in range(grid):
        states[0, g, 0] = multiply(likelihood[0, g], entry[g], log)
    largest, scale = one, 0.0
    for j in range(1, bins):
        before, now = states[j - 1], states[j]
        scale += largest if log else math.log(largest)
        back = -largest if log else 1 / largest
        below[:] = zero
        largest = zero
        for g in range(grid):
            through = multiply(likelihood[j, g], back, log)
            if tie > zero:
                for k in range(1, most):
                    half[k] = multiply(before[g, k - 1], tie, log)
            for k in range(most):
                begun = multiply(add(below[k], half[k], log), entry[g], log)
                value = multiply(add(before[g, k], begun, log), through, log)
                now[g, k] = value
                largest = max(largest, value)
            for k in range(1, most):
                below[k] = add(below[k], before[g, k - 1], log)
    return scale


@compiled
def backward_pass(
    states: np.ndarray,
    likelihood: np.ndarray,
    entry: np.ndarray,
    tie: float,
    end: np.ndarray,
    weight: float,
    log: bool,
    levels: np.ndarray,
    count: np.ndarray,
    changes: np.ndarray,
) -> None:
    """Add `weight` times the posterior given this sigma to `levels` (m, G), `count` (M) and `changes` (m - 1).

    Parameters
    ----------
    states, likelihood, entry, tie, log : as `forward_pass` took and left them
    end : weight of ending with so many levels, shape (M,), kept as the states are
    """
    bins, grid, most = states.shape
    zero, one = (-np.inf, 0.0) if log else (0.0, 1.0)
    after, above, at_level = np.empty((grid, most)), np.empty(most), np.empty(grid)
    reached = np.full(most + 1, zero)
    for g in range(grid):
        after[g] = end
    largest = one
    for j in range(bins - 1, -1, -1):
        back = -largest if log else 1 / largest
        total, stayed, largest = zero, zero, zero
        above[:] = zero
        for g in range(grid - 1, -1, -1):
            through = multiply(likelihood[j + 1, g], back, log) if j < bins - 1 else one
            passing = zero
            for k in range(most):
                reached[k] = multiply(after[g, k], through, log)
            for k in range(most):
                stayed = add(stayed, multiply(states[j, g, k], reached[k], log), log)
                value = add(reached[k], above[k], log)
                if tie > zero and j < bins - 1:
                    value = add(value, multiply(multiply(reached[k + 1], entry[g], log), tie, log), log)
                after[g, k] = value
                largest = max(largest, value)
                passing = add(passing, multiply(states[j, g, k], value, log), log)
            if j < bins - 1:
                for k in range(most - 1):
                    above[k] = add(above[k], multiply(reached[k + 1], entry[g], log), log)
            at_level[g] = passing
            total = add(total, passing, log)
        for g in range(grid):
            levels[j, g] += weight * ratio(at_level[g], total, log)
        if j < bins - 1:
            changes[j] += weight * (1 - ratio(stayed, total, log))
        else:
            for g in range(grid):
                for k in range(most):
                    count[k] += weight * ratio(multiply(states[j, g, k], after[g, k], log), total, log)
