"""Judgments and scores with known correlations, to score."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd


def tables(
    seed: int = 0, queries: int = 20, results: int = 15, systems: tuple[float, ...] = (0.9, 0.5)
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judgments with probabilities and the scores of systems that follow the truth more or less."""
    random = np.random.default_rng(seed)
    number = queries * results
    truth = random.normal(size=number)
    ids = {
        "query_id": np.repeat([f"q{k:02d}" for k in range(queries)], results),
        "result_id": [f"r{k}" for k in range(number)],
    }
    judgments = pd.DataFrame(ids | {"judgment": 3 + truth, "inclusion_probability": random.uniform(0.05, 1, number)})
    rows = [
        pd.DataFrame(ids | {"system": f"s{k}", "score": c * truth + math.sqrt(1 - c * c) * random.normal(size=number)})
        for k, c in enumerate(systems)
    ]
    return judgments, pd.concat(rows, ignore_index=True)
