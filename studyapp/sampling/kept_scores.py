"""Scores worth keeping after the draw: those of the queries in the sample, one table a system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.studyapp.sampling.computed_tables import note_computed, require_computed
from relstudy.studyapp.sampling.population import Eligible, ScoredItems

CSV_ROWS = 250_000
FULL_ROWS = 2_000_000
DEPTH = 1_000


class ScoreTableWriter:
    """Collects each system's scores query by query, and writes scores/NAME.csv.

    All items are kept for every query as long as that makes at most two million rows per system; beyond, the best 1,000
    of each query and every pair drawn, which is all that later steps need. Up to 250,000 rows are written as CSV, more
    as Parquet (both are score tables that `relstudy fit` and `score` read).
    """

    def __init__(self, ids: np.ndarray, queries: int) -> None:
        self._ids = ids
        self._full = queries * len(ids) <= FULL_ROWS
        self._rows: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = {}

    def add(self, query_id: str, scores: Mapping[str, ScoredItems], eligible: Eligible, drawn: np.ndarray) -> None:
        """Keep one query's scores.

        Parameters
        ----------
        scores : by system
        eligible : the items that may answer
        drawn : positions of the results that the query's pairs in the sample have
        """
        for name, listed in scores.items():
            positions, values = listed.among(eligible)
            if not self._full and len(positions) > DEPTH:
                keep = np.isin(positions, drawn)
                keep[np.argpartition(-values, DEPTH)[:DEPTH]] = True
                positions, values = positions[keep], values[keep]
            self._rows.setdefault(name, []).append((query_id, positions, values))

    @property
    def systems(self) -> list[str]:
        return list(self._rows)

    def table(self, system: str) -> pd.DataFrame:
        """A system's scores in the long form; a query's own score with itself is left out."""
        rows = self._rows[system]
        query_ids, positions, values = zip(*rows, strict=True)
        return pd.DataFrame(
            {
                "system": system,
                "query_id": np.repeat(np.array(query_ids, object), [len(each) for each in positions]),
                "result_id": self._ids[np.concatenate(positions)],
                "score": np.concatenate(values),
            }
        )

    def write(self, folder: Path, systems: list[str]) -> list[Path]:
        """Write the tables of these systems into FOLDER/scores; an older table of the same system is replaced.

        Raises
        ------
        RelstudyError
            when a table that somebody else made stands there; then nothing is written
        """
        from relstudy.mapping.scores.table import write_scores

        files = {name: [folder / "scores" / f"{name}{ending}" for ending in (".csv", ".parquet")] for name in systems}
        require_computed(path for pair in files.values() for path in pair)
        written = []
        for system, (target, other) in files.items():
            frame = self.table(system)
            if len(frame) > CSV_ROWS:
                target, other = other, target
            frame["score"] = frame["score"].astype(np.float32)
            frame["direction"] = "higher"  # built-in systems give similarities
            write_scores(frame, target)
            other.unlink(missing_ok=True)
            written.append(target)
        note_computed(written)
        return written
