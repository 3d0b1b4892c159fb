"""A collection whose every pair is judged, studies drawn from it, and judges of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.common.tables.meaning.inclusion_probabilities import PAIR


@dataclass(frozen=True)
class World:
    """Every pair of a collection: what people would say (0 to 1), and what a system does."""

    pairs: pd.DataFrame

    @classmethod
    def made(cls, seed: int = 0, queries: int = 40, results: int = 60) -> World:
        random = np.random.default_rng(seed)
        number = queries * results
        truth = random.normal(size=number) + np.repeat(random.normal(size=queries), results) * 0.5
        ids = {
            "query_id": np.repeat([f"q{k:02d}" for k in range(queries)], results),
            "result_id": np.tile([f"r{k:02d}" for k in range(results)], queries),
        }
        score = 0.5 * truth + 0.8 * random.normal(size=number)
        other = 0.3 * truth + 0.9 * random.normal(size=number)
        return cls(pd.DataFrame(ids | {"truth": truth, "people": (truth > 0.8) * 1.0, "score": score, "other": other}))

    @property
    def scores(self) -> pd.DataFrame:
        """The systems `score` and `other`, wide."""
        return self.pairs[[*PAIR, "score", "other"]]

    def study(self, seed: int, queries: int = 15, results: int = 12) -> pd.DataFrame:
        """Judgments of a sample in two stages, with both probabilities."""
        random = np.random.default_rng(seed)
        names = self.pairs["query_id"].unique()
        parts = []
        for name in random.choice(names, queries, replace=False):
            rows = self.pairs[self.pairs["query_id"] == name]
            rank = rows["score"].rank(ascending=False).to_numpy()
            given = np.minimum(1.0, results * (1 / (rank + 8)) / (1 / (rank + 8)).sum())
            drawn = systematic(given, random)
            known = {"inclusion_probability": given * queries / len(names), "query_probability": queries / len(names)}
            parts.append(rows.assign(**known)[drawn])
        study = pd.concat(parts, ignore_index=True).rename(columns={"people": "judgment"})
        return study[[*PAIR, "judgment", "inclusion_probability", "query_probability"]]

    def judge(self, noise: float, seed: int = 1) -> pd.DataFrame:
        """A judge of every pair, on four grades."""
        random = np.random.default_rng(seed)
        seen = self.pairs["truth"] + noise * random.normal(size=len(self.pairs))
        return self.pairs[PAIR].assign(rating=np.digitize(seen, [-0.5, 0.4, 1.2]).astype(float), status="ok")


def systematic(given: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A sample of fixed size with these probabilities, bool, in random order."""
    order = random.permutation(len(given))
    ends = np.cumsum(given[order]) - random.random()
    drawn = np.zeros(len(given), dtype=bool)
    drawn[order] = np.floor(ends) > np.floor(np.r_[ends[0] - given[order][0], ends[:-1]])
    return drawn
