"""The source's own sampler of monotone steps (Shirahatti and Barnard 2005, section 4.3, steps 1 to 5, Eq. 4.14).

A reversible-jump chain (Green 1995) over the number of change points and where they lie, in the space without the
order: levels and variance are integrated out by their conjugate priors, so that Q of Eq. 4.14 is a ratio of closed
forms. After some steps levels and variance are drawn from their conditionals; draws that break the order are thrown
away, and the mapping is the average of the others.
"""

from __future__ import annotations

import math

import numpy as np

from relstudy.common.runtime.compiled import compiled
from relstudy.mapping.changepoint.chains import Chains, too_few
from relstudy.mapping.changepoint.model import ConjugatePrior
from relstudy.mapping.tied_scores import Pooled

STEPS = 10
"""Birth, death or move steps between two draws of the levels."""

BURN_IN = 5000
LEAST_KEPT = 100
ATTEMPTS = 1000
"""Draws tried for each one asked for, before a chain gives up."""


def check_chains(chains: int, draws: int) -> None:
    """Refuse fewer chains than R-hat takes, and fewer draws of each than a chain must keep."""
    if chains < 2 or draws < LEAST_KEPT:
        raise ValueError(f"chains are at least 2, draws of each at least {LEAST_KEPT}")


@compiled
def log_marginal(
    starts: np.ndarray, count: int, sums: np.ndarray, within: float, prior: np.ndarray
) -> tuple[float, float]:
    """log p(Y | change points) without constants (Eq. 4.13 with levels and variance integrated out), and S below.

    Parameters
    ----------
    starts : first bin of each set, then m; the first `count` + 1 entries count
    count : number of sets
    sums : cumulative weights, sums and sums of squares of the bins' means, from 0, shape (3, m + 1)
    within : sum of squares inside the bins
    prior : strength, shape, scale of ConjugatePrior; judgments count from the prior mean

    Returns
    -------
    the log, and the sum S of squared deviations that the levels' prior leaves
    """
    strength, shape, scale = prior
    log_p, square = 0.0, within + sums[2, -1]
    for j in range(count):
        n = sums[0, starts[j + 1]] - sums[0, starts[j]]
        total = sums[1, starts[j + 1]] - sums[1, starts[j]]
        log_p += 0.5 * math.log(strength / (strength + n))
        square -= total * total / (strength + n)
    square = max(square, 0.0)
    return log_p - (shape + 0.5 * sums[0, -1]) * math.log(scale + 0.5 * square), square


@compiled
def insert(starts: np.ndarray, count: int, bin_index: int) -> bool:
    """Let a set begin at this bin; False where one does."""
    j = count
    while starts[j - 1] > bin_index:
        j -= 1
    if starts[j - 1] == bin_index:
        return False
    for i in range(count + 1, j, -1):
        starts[i] = starts[i - 1]
    starts[j] = bin_index
    return True


@compiled
def remove(starts: np.ndarray, count: int, j: int) -> None:
    """Join the j-th set (from 1) to the one before."""
    for i in range(j, count):
        starts[i] = starts[i + 1]


@compiled
def propose(starts: np.ndarray, count: int, most: int, rng: np.random.Generator) -> tuple[int, float]:
    """Change `starts` by a birth, a death, or a Gaussian move, each with chance 1/3.

    Returns
    -------
    number of sets after it, 0 where the change is not possible, and log of S(M | M') / S(M' | M) of Eq. 4.14
    """
    bins = starts[count]
    kind = rng.integers(0, 3)
    if kind == 0:
        if count == most or not insert(starts, count, int(rng.integers(1, bins))):
            return 0, 0.0
        # a birth lands on each of bins - 1 gaps alike (an occupied one changes nothing); a death takes one of `count`
        return count + 1, math.log((bins - 1) / count)
    if count == 1:
        return 0, 0.0
    j = int(rng.integers(1, count))
    if kind == 1:
        remove(starts, count, j)
        return count - 1, math.log((count - 1) / (bins - 1))
    spread = 1.5 if rng.random() < 0.5 else max(1.5, bins / 5)
    target = starts[j] + round(rng.normal(0.0, spread))
    if target < 1 or target >= bins:
        return 0, 0.0
    remove(starts, count, j)
    return (count if insert(starts, count - 1, target) else 0), 0.0


@compiled
def walk(
    sums: np.ndarray,
    within: float,
    log_count: np.ndarray,
    prior: np.ndarray,
    schedule: tuple[int, int, int],
    rng: np.random.Generator,
    curves: np.ndarray,
    sigma: np.ndarray,
    counts: np.ndarray,
    changes: np.ndarray,
) -> tuple[int, int]:
    """One chain; fills `curves` (draws, m), `sigma`, `counts` (draws,), adds to `changes` (m - 1,).

    Parameters
    ----------
    sums, within, prior : as `log_marginal` takes them
    log_count : log p(M) / C(m - 1, M - 1), shape (M_max,)
    schedule : steps before the first draw, steps between draws, and draws tried at most

    Returns
    -------
    draws kept, draws tried
    """
    bins, most = sums.shape[1] - 1, len(log_count)
    strength, shape, scale = prior
    burn_in, steps, attempts = schedule
    starts, trial = np.zeros(most + 2, dtype=np.int64), np.zeros(most + 2, dtype=np.int64)
    levels = np.empty(most)
    # step 1: the simplest model, one change point
    count = 1
    starts[1] = bins
    if most > 1 and insert(starts, count, int(rng.integers(1, bins))):
        count = 2
    current, square = log_marginal(starts, count, sums, within, prior)
    current += log_count[count - 1]
    kept, tried = 0, 0
    pending = burn_in
    while kept < len(sigma) and tried < attempts:
        for _ in range(pending):
            # steps 2 and 3
            trial[: count + 1] = starts[: count + 1]
            proposed, log_ratio = propose(trial, count, most, rng)
            if proposed == 0:
                continue
            log_p, deviation = log_marginal(trial, proposed, sums, within, prior)
            log_p += log_count[proposed - 1]
            if math.log(rng.random()) < log_p - current + log_ratio:
                count, current, square = proposed, log_p, deviation
                starts[: count + 1] = trial[: count + 1]
        pending = steps
        tried += 1
        variance = (scale + 0.5 * square) / rng.standard_gamma(shape + 0.5 * sums[0, -1])
        # step 4
        ordered = True
        for j in range(count):
            n = sums[0, starts[j + 1]] - sums[0, starts[j]]
            total = sums[1, starts[j + 1]] - sums[1, starts[j]]
            levels[j] = total / (strength + n) + math.sqrt(variance / (strength + n)) * rng.standard_normal()
            if j > 0 and levels[j] < levels[j - 1]:
                ordered = False
                break
        if not ordered:
            continue
        for j in range(count):
            curves[kept, starts[j] : starts[j + 1]] = levels[j]
            if j > 0:
                changes[starts[j] - 1] += 1
        sigma[kept], counts[kept] = math.sqrt(variance), count - 1
        kept += 1
    return kept, tried


def sample_steps(bins: Pooled, prior: ConjugatePrior, *, draws: int = 2000, chains: int = 4, seed: int = 0) -> Chains:
    """Sample monotone step functions.

    Parameters
    ----------
    bins : in the order in which levels rise
    draws : draws to keep of each chain

    Raises
    ------
    RelstudyError
        where hardly any draw obeys the order
    """
    m = len(bins.weights)
    means = bins.means - prior.mean
    parts = np.array([bins.weights, bins.weights * means, bins.weights * means**2])
    sums = np.concatenate([np.zeros((3, 1)), np.cumsum(parts, axis=1)], axis=1)
    curves, sigma = np.empty((chains, draws, m)), np.empty((chains, draws))
    counts, changes = np.empty((chains, draws), dtype=np.int64), np.zeros(max(m - 1, 0))
    kept, tried = np.zeros(chains, dtype=int), 0
    settings = np.array([prior.strength, prior.shape, prior.scale])
    given = sums, float(bins.within.sum()), prior.log_weights(m), settings, (BURN_IN, STEPS, draws * ATTEMPTS)
    for chain, rng in enumerate(np.random.default_rng(seed).spawn(chains)):
        kept[chain], attempts = walk(*given, rng, curves[chain], sigma[chain], counts[chain], changes)
        tried += attempts
    if kept.min() < LEAST_KEPT:
        raise too_few(int(kept.sum()), tried)
    # chains of one length, for R-hat
    least = int(kept.min())
    whole = curves[:, :least] + prior.mean
    return Chains(whole, sigma[:, :least], counts[:, :least], changes / kept.sum(), float(kept.sum() / tried))
