"""Ratings of the same pairs through several interfaces, for tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

SECONDS = {"1-5": 2.0, "binary": 1.5, "1-9": 4.0}


def ratings_of(*scales: str, pairs: int = 120, raters: int = 8, seed: int = 0) -> pd.DataFrame:
    """Each rater rates 16 base pairs and an eighth of the others on every one of `scales`; four pairs per query.

    Times are log-normal around SECONDS with a standard deviation of .3, raters differ by .4 in the same logarithm.
    """
    rng = np.random.default_rng(seed)
    quality, leniency = rng.normal(size=pairs), rng.normal(0, 0.4, raters)
    pace = rng.normal(0, 0.4, raters)
    rows = []
    for scale in scales:
        owner = rng.integers(raters, size=pairs)
        for rater in range(raters):
            for pair in range(pairs):
                if pair >= 16 and owner[pair] != rater:
                    continue
                seen = quality[pair] + leniency[rater] + rng.normal(0, 0.4)
                if scale == "binary":
                    rating = float(seen > 0.3)
                else:
                    low, high = map(int, scale.split("-"))
                    rating = float(np.clip(np.round((low + high) / 2 + seen * (high - low) / 4), low, high))
                seconds = SECONDS[scale] * np.exp(pace[rater] + rng.normal(0, 0.3))
                block = "base" if pair < 16 else "unique"
                rows.append((f"r{rater}", f"q{pair // 4}", f"x{pair}", scale, rating, round(seconds, 3), block))
    return pd.DataFrame(rows, columns=["rater_id", "query_id", "result_id", "scale", "rating", "seconds", "block"])
