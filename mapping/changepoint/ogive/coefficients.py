"""Draws of an ogive's coefficients, alpha, gamma and the bends, from their Gaussian conditionals within the shape."""

from __future__ import annotations

import math

import numpy as np

from relstudy.common.compiled import compiled
from relstudy.mapping.changepoint.ogive.spline import Fit


@compiled
def log_density(coefficients: np.ndarray, rows: int, fit: Fit, precisions: np.ndarray, variance: float) -> float:
    """Log of likelihood times the coefficients' prior, given the variance, up to what every model shares."""
    total = 0.0
    for i in range(rows):
        inner = -2 * fit.products[i]
        for j in range(rows):
            inner += fit.precision[i, j] * coefficients[j]
        total -= inner * coefficients[i] / (2 * variance)
        total += 0.5 * math.log(precisions[min(i, 2)] / variance)
    return total


@compiled
def conditional(coefficients: np.ndarray, rows: int, i: int, fit: Fit, variance: float) -> tuple[float, float]:
    """Mean and standard deviation of one coefficient given the others, without regard to the shape."""
    total = fit.products[i]
    for j in range(rows):
        if j != i:
            total -= fit.precision[i, j] * coefficients[j]
    return total / fit.precision[i, i], math.sqrt(variance / fit.precision[i, i])


@compiled
def truncated_normal(mean: float, spread: float, low: float, high: float, rng: np.random.Generator) -> float:
    """A draw of Normal(mean, spread^2) between low and high, by rejection from what is near it (Robert 1995)."""
    a, b = (low - mean) / spread, (high - mean) / spread
    nearest = max(a, min(b, 0.0))
    while True:
        if b - a < 1:
            z = a + (b - a) * rng.random()
            accept = math.exp((nearest * nearest - z * z) / 2)
        elif a > 0 or b < 0:
            side = 1.0 if a > 0 else -1.0
            rate = abs(nearest) + 0.5
            excess = rng.standard_exponential() / rate
            z = nearest + side * excess
            accept = math.exp(-0.5 * (abs(z) - rate) ** 2)
        else:
            z, accept = rng.standard_normal(), 1.0
        if a <= z <= b and rng.random() < accept:
            return min(max(mean + spread * z, low), high)


@compiled
def is_ogive(coefficients: np.ndarray, rows: int, starts: np.ndarray, gaps: np.ndarray) -> bool:
    """True where the bends change sign at most once, from + to -, and the slope at both ends is at least 0."""
    count = rows - 3
    slope, concave = coefficients[1], False
    if slope < 0:
        return False
    before = 0.0
    for i in range(count + 1):
        bend = coefficients[i + 2]
        if concave and bend > 0:
            return False
        concave = concave or bend < 0
        if i > 0:
            place = 1.0 if i == count else gaps[starts[i] - 1]
            slope += (place - before) * (bend + coefficients[i + 1]) / 2
            before = place
    return slope >= 0


@compiled
def slope_weights(starts: np.ndarray, count: int, gaps: np.ndarray, weights: np.ndarray) -> None:
    """Effect of each coefficient on the slope at the right end: `weights` @ coefficients is that slope."""
    weights[0], weights[1] = 0.0, 1.0
    weights[2 : count + 3] = 0.0
    before = 0.0
    for i in range(1, count + 1):
        place = 1.0 if i == count else gaps[starts[i] - 1]
        weights[i + 1] += (place - before) / 2
        weights[i + 2] += (place - before) / 2
        before = place


@compiled
def refresh(
    coefficients: np.ndarray, rows: int, slopes: np.ndarray, fit: Fit, variance: float, rng: np.random.Generator
) -> None:
    """Draw the coefficients anew within the shape: along random directions of their own spread, then one by one.

    A direction keeps the signs of the bends, so that what the shape allows of it is an interval; one by one, a bend
    at the inflection can change its sign.
    """
    direction, spread = np.empty(rows), math.sqrt(variance)
    for _ in range(rows):
        for i in range(rows - 1, -1, -1):
            total = rng.standard_normal()
            for k in range(i + 1, rows):
                total -= fit.root[k, i] * direction[k]
            direction[i] = total / fit.root[i, i]
        low, high, pull, length, end, lift = -np.inf, np.inf, 0.0, 0.0, 0.0, 0.0
        for i in range(rows):
            inner = 0.0
            for j in range(rows):
                inner += fit.precision[i, j] * coefficients[j]
            pull += direction[i] * (fit.products[i] - inner)
            inner = 0.0
            for j in range(rows):
                inner += fit.precision[i, j] * direction[j]
            length += direction[i] * inner
            end += slopes[i] * coefficients[i]
            lift += slopes[i] * direction[i]
            if i > 0 and direction[i] != 0:
                positive = i == 1 or coefficients[i] > 0
                zero = -coefficients[i] / direction[i]
                if (direction[i] > 0) == positive:
                    low = max(low, zero)
                else:
                    high = min(high, zero)
        if lift > 0:
            low = max(low, -end / lift)
        elif lift < 0:
            high = min(high, -end / lift)
        if low < high:
            step = truncated_normal(pull / length, spread / math.sqrt(length), low, high, rng)
            for i in range(rows):
                coefficients[i] += step * direction[i]
    for i in range(rows):
        low, high = -np.inf, np.inf
        if i > 0:
            others = 0.0
            for j in range(rows):
                others += 0.0 if j == i else slopes[j] * coefficients[j]
            low = -others / slopes[i]
        if i == 1:
            low = max(low, 0.0)
        for j in range(2, rows):
            if i > j and coefficients[j] < 0:
                high = 0.0
            if 1 < i < j and coefficients[j] > 0:
                low = max(low, 0.0)
        if low < high:
            mean, width = conditional(coefficients, rows, i, fit, variance)
            coefficients[i] = truncated_normal(mean, width, low, high, rng)


@compiled
def block_density(
    coefficients: np.ndarray, span: tuple[int, int], rows: int, fit: Fit, variance: float, noise: np.ndarray, draw: bool
) -> float:
    """Log density of some neighbouring coefficients given the others, without regard to the shape.

    Parameters
    ----------
    span : first coefficient of the block, and the one after its last
    noise : standard normal numbers, at least as many as the block has coefficients
    draw : whether to put a draw made of `noise` in place of the block first
    """
    first, after = span
    size = after - first
    root, half = np.zeros((size, size)), np.zeros(size)
    log_q = 0.0
    for i in range(size):
        total = fit.products[first + i]
        for j in range(rows):
            if j < first or j >= after:
                total -= fit.precision[first + i, j] * coefficients[j]
        for j in range(i + 1):
            inner = fit.precision[first + i, first + j]
            for k in range(j):
                inner -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(max(inner, 1e-12 * fit.precision[first + i, first + i]))
            else:
                root[i, j] = inner / root[j, j]
        for k in range(i):
            total -= root[i, k] * half[k]
        half[i] = total / root[i, i]
        log_q += math.log(root[i, i]) - 0.5 * math.log(variance)
    spread = math.sqrt(variance)
    for i in range(size - 1, -1, -1):
        beyond = 0.0
        for k in range(i + 1, size):
            beyond += root[k, i] * coefficients[first + k]
        if draw:
            z = noise[i]
            coefficients[first + i] = (half[i] + spread * z - beyond) / root[i, i]
        else:
            z = (root[i, i] * coefficients[first + i] + beyond - half[i]) / spread
        log_q -= 0.5 * z * z
    return log_q
