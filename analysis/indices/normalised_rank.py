"""Normalised rank: how far down the relevant pairs stand, 0 at best.

Shirahatti and Barnard 2005, section 5.5.4. The weighted index, which runs from 0 (every relevant pair first) over 0.5
(random) to 1 (every relevant pair last), is one minus the weighted area under the ROC curve and is computed with the
precision indices; here are the paper's own forms, by name.
"""

from __future__ import annotations

import numpy as np

from relstudy.common.sampling.rankdata import ranks


def normalised_rank_plain(relevant: np.ndarray, score: np.ndarray) -> float:
    """Eq. 5.3, (sum of R_i - N_R (N_R + 1) / 2) / (N N_R), with every pair counted equally.

    Parameters
    ----------
    relevant : bool [pairs], or float [pairs]: the share s of people who call the pair relevant, 0 to 1; N_R is then
        the sum of s, each rank counts s times, and (N_R - sum of s^2) / 2 is taken off, since no pair stands above
        itself
    score : float [pairs], higher is better; ties share their mean rank

    Returns
    -------
    From 0 to 1 - N_R / N; equals (1 - area under the ROC curve) (N - N_R) / N where every s is 0 or 1. NaN where no
    pair is relevant.

    Examples
    --------
    >>> normalised_rank_plain(np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    0.125
    """
    share = relevant.astype(float)
    number, many = len(share), float(share.sum())
    if many == 0:
        return float("nan")
    best = many * (many + 1) / 2 + (many - float(np.sum(share**2))) / 2
    return float((share @ ranks(-score) - best) / (number * many))


def sum_of_fifth_powers(n: np.ndarray | float) -> np.ndarray | float:
    """1^5 + 2^5 + ... + n^5, in floating point: n^6 leaves 64-bit integers beyond 1,448.

    Examples
    --------
    >>> float(sum_of_fifth_powers(3))
    276.0
    """
    n = np.asarray(n, dtype=float)
    return (2 * n**6 + 6 * n**5 + 5 * n**4 - n**2) / 12


def normalised_rank_fifth_power(relevant: np.ndarray, score: np.ndarray) -> float:
    """Eq. 5.5 as written, with the divisor D that makes it 1 at worst.

    (sum of R_i^5 - S5(N_R)) / D with D = S5(N) - S5(N - N_R) - S5(N_R). The D printed in the paper has lost its first
    term. Ties share the mean of the fifth powers of the ranks they take up. Where relevance is a share, each rank
    counts by it, and best and worst are the orders by share, descending and ascending.

    Returns
    -------
    From 0 to 1; NaN where all pairs are equally relevant. At random it is near 1/6 where few
    pairs are relevant (the mean of (R/N)^5), not the 0.5 of the weighted index.

    Examples
    --------
    >>> worst = normalised_rank_fifth_power(np.array([False, False, True]), np.array([3.0, 2.0, 1.0]))
    >>> worst
    1.0
    """
    share = relevant.astype(float)
    if len(share) == 0 or np.ptp(share) == 0:
        return float("nan")
    last = ranks(-score, "max")
    first = ranks(-score, "min") - 1
    powers = (sum_of_fifth_powers(last) - sum_of_fifth_powers(first)) / (last - first)
    best, worst = _ends_of_fifth_power(share)
    return float((share @ np.asarray(powers) - best) / (worst - best))


def _ends_of_fifth_power(share: np.ndarray) -> tuple[float, float]:
    """The least and the greatest sum of share times rank to the fifth, over all orders."""
    powers = np.arange(1.0, len(share) + 1) ** 5
    ascending = np.sort(share)
    return float(ascending[::-1] @ powers), float(ascending @ powers)


def random_assignment(relevant: np.ndarray) -> dict[str, float]:
    """Expected normalised rank when ranks are handed out at random (the right column of table 5.8).

    The paper drew random orders and reports .51 to .53; the expectation needs no drawing, since every rank is as
    likely as any other for each relevant pair, and every relevant pair is as likely above as below an irrelevant one.

    Parameters
    ----------
    relevant : bool [pairs], or float [pairs]: the share of people who call the pair relevant, 0 to 1

    Returns
    -------
    "weighted" (one minus the weighted area), "plain" (Eq. 5.3) and "fifth_power" (Eq. 5.5); NaN where all pairs are
    equally relevant

    Examples
    --------
    >>> chance = random_assignment(np.arange(1000) < 50)
    >>> chance["weighted"], chance["plain"]
    (0.5, 0.475)
    """
    share = relevant.astype(float)
    if len(share) == 0 or np.ptp(share) == 0:
        return {"weighted": float("nan"), "plain": float("nan"), "fifth_power": float("nan")}
    number, many = len(share), float(share.sum())
    best, worst = _ends_of_fifth_power(share)
    fifth = (many * sum_of_fifth_powers(number) / number - best) / (worst - best)
    plain = (many * (number - many) - (many - float(np.sum(share**2)))) / (2 * number * many)
    return {"weighted": 0.5, "plain": plain, "fifth_power": float(fifth)}
