"""Chains of cubic ogives with a random number of change points (Green 1995).

The sampler makes births, deaths and Gaussian moves of a change point (Green 1995); the bends around it are drawn from
their Gaussian conditional, and what breaks the shape is rejected. Coefficients and variance are drawn between. Throwing
away whole curves from the space without the shape, as for steps, would be the same posterior, but of smooth curves
through noisy pairs few have the shape, and often none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relstudy.common.runtime.compiled import compiled
from relstudy.mapping.changepoint.chains import Chains
from relstudy.mapping.changepoint.sampler import insert, remove
from relstudy.mapping.paper.ogive.spline import (
    Fit,
    Moments,
    OgivePrior,
    combine,
    fill_moments,
    spline_functions,
    spline_moments,
)
from relstudy.mapping.tied_scores import Pooled

STEPS = 100  # births, deaths or moves between two draws
BURN_IN = 10000


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
    """Draw the coefficients again within the shape: along random directions of their own spread, then one by one.

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


class Belief(NamedTuple):
    """The prior as the compiled loops read it; `log_count` is log p(M) / C(m - 1, M - 1) for M = 1, 2, ..."""

    log_count: np.ndarray
    precisions: np.ndarray
    shape: float
    scale: float


class Draws(NamedTuple):
    """Where a chain leaves its draws: coefficients of `spline_functions` (draws, m + 3), and as `Chains` has them."""

    coefficients: np.ndarray
    sigma: np.ndarray
    counts: np.ndarray
    changes: np.ndarray


@compiled
def find(starts: np.ndarray, count: int, bin_index: int) -> int:
    """Number of the set that begins at this bin."""
    j = 1
    while j < count and starts[j] != bin_index:
        j += 1
    return j


@compiled
def walk_ogives(
    moments: Moments, prior: Belief, schedule: tuple[int, int], rng: np.random.Generator, draws: Draws
) -> tuple[int, int]:
    """One chain, in the space of ogives; fills `draws`.

    Parameters
    ----------
    schedule : steps before the first draw, steps between draws

    Returns
    -------
    births, deaths and moves proposed, and those rejected because they broke the shape
    """
    gaps, precisions = moments.gaps, prior.precisions
    most, bins = len(prior.log_count), len(gaps) + 1
    burn_in, steps = schedule
    size = most + 3
    starts, trial_starts = np.zeros(most + 2, dtype=np.int64), np.zeros(most + 2, dtype=np.int64)
    which, factor, slopes = np.zeros((size, 3), dtype=np.int64), np.zeros((size, 3)), np.zeros(size)
    fit = Fit(np.zeros((size, size)), np.zeros(size), np.zeros((size, size)))
    trial_fit = Fit(np.zeros((size, size)), np.zeros(size), np.zeros((size, size)))
    coefficients, trial = np.zeros(size), np.zeros(size)
    # step 1: one change point, a rising line, and the variance of the prior
    count, variance = 1, prior.scale / (prior.shape + 1)
    starts[1] = bins
    if most > 1:
        starts[1], starts[2], count = rng.integers(1, bins), bins, 2
    coefficients[1] = 1e-3 * math.sqrt(variance)
    rows = combine(starts, count, gaps, which, factor)
    fill_moments(rows, which, factor, moments, precisions, fit)
    slope_weights(starts, count, gaps, slopes)
    proposed, broken = 0, 0
    for step in range(burn_in + steps * len(draws.sigma)):
        # steps 2 to 4
        kind = rng.integers(0, 3)
        new_count = count + 1 if kind == 0 else (count - 1 if kind == 1 else count)
        if 1 <= new_count <= most and (kind == 0 or count > 1):
            trial_starts[: count + 1] = starts[: count + 1]
            trial[:rows] = coefficients[:rows]
            target, old_row, possible = 0, 0, True
            if kind == 0:
                target = int(rng.integers(1, bins))
                possible = insert(trial_starts, count, target)
            else:
                j = int(rng.integers(1, count))
                old_row = j + 2
                target = starts[j] + round(rng.normal(0.0, 1.5 if rng.random() < 0.5 else max(1.5, bins / 5)))
                remove(trial_starts, count, j)
                for i in range(old_row, rows - 1):
                    trial[i] = trial[i + 1]
                if kind == 2:
                    possible = 1 <= target < bins and insert(trial_starts, count - 1, target)
            if possible:
                new_rows = combine(trial_starts, new_count, gaps, which, factor)
                fill_moments(new_rows, which, factor, moments, precisions, trial_fit)
                row = old_row if kind == 1 else find(trial_starts, new_count, target) + 2
                if kind != 1:
                    for i in range(new_rows - 1, row, -1):
                        trial[i] = trial[i - 1]
                    trial[row] = 0.0
                if kind == 0:
                    old_row = row
                # the bends around the change are drawn with it: a bend alone would lift all that follows
                reach = int(rng.integers(0, 4))
                first = 0 if reach == 3 else max(min(row, old_row) - reach, 0)
                most_rows = max(rows, new_rows)
                after = most_rows if reach == 3 else min(max(row, old_row) + reach + 1, most_rows)
                before_span = (first, after - 1 if kind == 0 else after)
                after_span = (first, after - 1 if kind == 1 else after)
                noise = rng.standard_normal(after - first)
                log_ratio = block_density(coefficients, before_span, rows, fit, variance, noise, False)
                log_ratio -= block_density(trial, after_span, new_rows, trial_fit, variance, noise, True)
                if kind == 0:
                    log_ratio += math.log((bins - 1) / count)
                elif kind == 1:
                    log_ratio += math.log((count - 1) / (bins - 1))
                proposed += 1
                if is_ogive(trial, new_rows, trial_starts, gaps):
                    log_ratio += prior.log_count[new_count - 1] - prior.log_count[count - 1]
                    log_ratio += log_density(trial, new_rows, trial_fit, precisions, variance)
                    log_ratio -= log_density(coefficients, rows, fit, precisions, variance)
                    if math.log(rng.random()) < log_ratio:
                        count, rows = new_count, new_rows
                        starts[: count + 1] = trial_starts[: count + 1]
                        coefficients[:rows] = trial[:rows]
                        fit, trial_fit = trial_fit, fit
                        slope_weights(starts, count, gaps, slopes)
                else:
                    broken += 1
        refresh(coefficients, rows, slopes, fit, variance, rng)
        square = moments.square
        for i in range(rows):
            inner = -2 * fit.products[i]
            for j in range(rows):
                inner += fit.precision[i, j] * coefficients[j]
            square += inner * coefficients[i]
        freedom = prior.shape + 0.5 * (moments.weight + rows)
        variance = (prior.scale + 0.5 * max(square, 0.0)) / rng.standard_gamma(freedom)
        if step >= burn_in and (step - burn_in) % steps == steps - 1:
            draw = (step - burn_in) // steps
            combine(starts, count, gaps, which, factor)
            draws.coefficients[draw] = 0.0
            for i in range(rows):
                for a in range(3):
                    draws.coefficients[draw, which[i, a]] += factor[i, a] * coefficients[i]
            for j in range(1, count):
                draws.changes[starts[j] - 1] += 1
            draws.sigma[draw], draws.counts[draw] = math.sqrt(variance), count - 1
    return proposed, broken


@dataclass(frozen=True)
class OgiveDraws:
    """Draws of ogives.

    Parameters
    ----------
    chains : their values at the bins, noise and number of change points
    coefficients : of `spline_functions`, shape (chains, draws, m + 3)
    """

    chains: Chains
    coefficients: np.ndarray


def sample_ogives(bins: Pooled, prior: OgivePrior, *, draws: int = 1000, chains: int = 4, seed: int = 0) -> OgiveDraws:
    """Sample cubic ogives.

    Parameters
    ----------
    bins : in the order in which the mapping rises; at least two
    draws : draws to keep of each chain
    """
    steps = prior.steps
    u, moments = spline_moments(bins, steps.mean)
    m = len(u)
    coefficients, sigma = np.empty((chains, draws, m + 3)), np.empty((chains, draws))
    counts, changes = np.empty((chains, draws), dtype=np.int64), np.zeros(m - 1)
    belief = Belief(steps.log_weights(m), prior.precisions, steps.shape, steps.scale)
    proposed, broken = 0, 0
    for chain, rng in enumerate(np.random.default_rng(seed).spawn(chains)):
        room = Draws(coefficients[chain], sigma[chain], counts[chain], changes)
        every, outside = walk_ogives(moments, belief, (BURN_IN, STEPS), rng, room)
        proposed, broken = proposed + every, broken + outside
    curves = coefficients @ spline_functions(u, moments.gaps).T + steps.mean
    summary = Chains(curves, sigma, counts, changes / sigma.size, 1 - broken / max(proposed, 1))
    return OgiveDraws(summary, coefficients)
