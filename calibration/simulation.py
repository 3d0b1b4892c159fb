"""Simulated panels with known truth, to try methods where the right answer is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.calibration.panel import Panel
from relstudy.common.tables.meaning.pair_assignment import HandOut
from relstudy.common.tables.meaning.scales import scale_named


@dataclass(frozen=True)
class SimulatedPanel:
    """A panel and what it was made from.

    Parameters
    ----------
    panel : ratings
    quality : true quality of each pair, standard normal, float array (P)
    leniency, discrimination, noise : each rater's shift, stretch and error, in units of the quality, float arrays (R)
    """

    panel: Panel
    quality: np.ndarray
    leniency: np.ndarray
    discrimination: np.ndarray
    noise: np.ndarray


def simulate_panel(
    raters: int,
    base_pairs: int,
    unique_per_rater: int,
    *,
    scale: str = "1-5",
    ratings_per_pair: int = 3,
    handed_out: HandOut = HandOut.RANDOM,
    leniency: float = 0.45,
    discrimination: float = 0.25,
    noise: float = 0.6,
    noise_spread: float = 0.0,
    page: int = 1,
    query_share: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> SimulatedPanel:
    """A panel that rates a base block and unique pairs on a discrete scale.

    A rater j sees pair i as y = leniency_j + sharpness_j worth_i + error, and gives the nearest step of the scale, the
    ends taking whatever lies beyond them; on the binary scale, whether y is above 0.

    Parameters
    ----------
    raters, base_pairs, unique_per_rater, ratings_per_pair : sizes
    scale : "1-5", "0-6", "1-9", "binary" or another name that `scale_named` knows
    handed_out : at random; or fixed, by quality: groups of raters share their pairs, the first group the worst, the
        last the best
    leniency, noise : standard deviations over raters and ratings; discrimination: of the log stretch
    noise_spread : standard deviation over raters of the log of their noise
    page : unique pairs are handed out in pages of so many results of one query (four pages per query); 1: pair by pair,
        and all pairs are of one query
    query_share : share of the unique pairs' variance in quality that lies between queries, 0 to 1
    seed : seed or Generator

    Examples
    --------
    >>> simulated = simulate_panel(4, 5, 6, seed=1)
    >>> simulated.panel.n_raters, int(simulated.panel.base.sum()), len(simulated.panel.rating)
    (4, 5, 39)
    """
    rng = np.random.default_rng(seed)
    steps = scale_named(scale)
    if steps is None:
        raise ValueError(f"{scale!r} has no ends")
    low, high = steps.low, steps.high
    slots, unique = _hand_out(raters, -(-unique_per_rater // page), ratings_per_pair, handed_out)
    quality = rng.normal(size=base_pairs + unique * page)
    query = np.arange(unique * page) // (4 * page)
    if query_share:
        common = rng.normal(size=query[-1] + 1)[query]
        quality[base_pairs:] = np.sqrt(1 - query_share) * quality[base_pairs:] + np.sqrt(query_share) * common
    shift, stretch = rng.normal(0, leniency, raters), np.exp(rng.normal(0, discrimination, raters))
    if handed_out == HandOut.RANDOM:
        rng.shuffle(slots)
    else:
        worth = quality[base_pairs:].reshape(unique, page).mean(axis=1)
        slots = np.argsort(worth + rng.normal(0, 1, unique))[slots]
    slots = (slots[:, None] * page + np.arange(page)).ravel()
    unique_per_rater = len(slots) // raters
    rater = np.concatenate([np.repeat(np.arange(raters), size) for size in (base_pairs, unique_per_rater)])
    pair = np.concatenate([np.tile(np.arange(base_pairs), raters), slots + base_pairs])
    rows = np.sort(np.unique(rater * len(quality) + pair, return_index=True)[1])
    rater, pair = rater[rows], pair[rows]
    own_noise = np.full(raters, noise) * (np.exp(rng.normal(0, noise_spread, raters)) if noise_spread else 1.0)
    seen = shift[rater] + stretch[rater] * quality[pair] + own_noise[rater] * rng.normal(size=len(rows))
    if scale == "binary":
        rating = (seen > 0).astype(float)
    else:
        rating = np.clip(np.round((low + high) / 2 + seen * (high - low) / 4.2), low, high)
    panel = Panel(
        rater=rater,
        pair=pair,
        rating=rating,
        base=np.arange(len(quality)) < base_pairs,
        raters=pd.Index([f"r{i:04d}" for i in range(raters)]),
        pairs=pd.DataFrame(
            {
                "query_id": "q" if page == 1 else ["q"] * base_pairs + [f"q{i:05d}" for i in query],
                "result_id": [f"x{i:06d}" for i in range(len(quality))],
            }
        ),
        low=low,
        high=high,
    )
    return SimulatedPanel(panel, quality, shift, stretch, own_noise)


def _hand_out(raters: int, pages: int, each: int, handed_out: HandOut) -> tuple[np.ndarray, int]:
    """Page numbers rater after rater, `pages` each, int array (raters * pages), and how many pages there are.

    At random: still to be shuffled. Fixed: groups of `each` raters share their pages.
    """
    if handed_out == HandOut.RANDOM:
        unique = -(-raters * pages // each)
        return np.repeat(np.arange(unique), each)[: raters * pages], unique
    group = np.repeat(np.arange(raters) // each, pages)
    return group * pages + np.tile(np.arange(pages), raters), -(-raters // each) * pages
