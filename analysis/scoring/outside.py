"""A system's results that lie outside the pool: counted and named, since no figure speaks of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.common.probabilities import PAIR
from relstudy.common.tables import read_table

EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class Pool:
    """The results of each query that pairs could be drawn from.

    Parameters
    ----------
    pairs : (query_id, result_id) of all of them
    depth : how many first results of each system they are made of
    """

    pairs: pd.MultiIndex
    depth: int

    @classmethod
    def beside(cls, judgments: Path) -> Pool | None:
        """The pool of the study whose judgments these are: pool.csv or pool.parquet beside them; None without one."""
        files = [judgments.parent / f"pool{ending}" for ending in (".csv", ".parquet")]
        file = next((file for file in files if file.is_file()), None)
        if file is None:
            return None
        table = read_table(file, *PAIR, "depth")
        pairs = pd.MultiIndex.from_arrays([table.texts(name) for name in PAIR])
        depth = table.numbers("depth", low=1, whole=True)
        table.raise_faults()
        return cls(pairs, int(depth.max()))

    def notes(
        self, tables: Iterable[pd.DataFrame], candidates: Iterable[Candidate], judgments: pd.DataFrame
    ) -> list[str]:
        """A sentence for each system that has results outside (`note`).

        Parameters
        ----------
        tables : system, query_id, result_id, score: everything that the systems scored
        candidates : the systems, whose directions they tell
        judgments : query_id of the judged pairs
        """
        higher = {candidate.name: candidate.direction.higher for candidate in candidates}
        queries = list(judgments["query_id"].astype("str").unique())
        notes = [
            self.note(str(name), rows, higher[str(name)], queries)
            for scores in tables
            for name, rows in scores.groupby("system", sort=False)
            if str(name) in higher
        ]
        return [note for note in notes if note is not None]

    def note(self, system: str, scores: pd.DataFrame, higher: bool, queries: Sequence[str]) -> str | None:
        """How many of a system's first results of these queries lie outside, and which; None where none does.

        Parameters
        ----------
        scores : query_id, result_id, score of the system
        higher : whether a higher score is better
        """
        rows = scores[scores["query_id"].astype("str").isin(list(queries))].dropna(subset="score")
        rows = rows.sort_values(["score", "result_id"], ascending=[not higher, True])
        first = rows.groupby("query_id", sort=False).head(self.depth)
        names = [first[name].astype("str").to_numpy(dtype=object) for name in PAIR]
        outside = np.flatnonzero(~pd.MultiIndex.from_arrays(names).isin(self.pairs))
        if not len(outside):
            return None
        named = ", ".join(f"{names[0][row]} {names[1][row]}" for row in outside[:EXAMPLES])
        more = ", ..." if len(outside) > EXAMPLES else ""
        return (
            f"{len(outside)} of the {len(first)} results that {system} ranks first ({self.depth} a query) lie outside "
            f"the pool, where nobody was asked ({named}{more}); it is ranked by its order among the pool alone."
        )
