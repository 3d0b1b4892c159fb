"""Scores worth keeping after the draw: those of the queries in the sample, one table a system."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, write_json
from relstudy.studyapp.sampling.population import Eligible, ScoredItems
from relstudy.studyapp.systems import SYSTEMS

ENDINGS = (".csv", ".parquet")


def is_computed(path: Path) -> bool:
    """True if relstudy wrote this table of scores, and nobody has changed it since."""
    named = path.stem in SYSTEMS or path.stem.startswith("vectors-")
    if path.suffix not in ENDINGS or not named:
        return False
    record = _record(path.parent)
    if not record.is_file():
        return (path.parent.parent / "design.json").is_file()
    return bool(read_json(record).get(path.name) == _hash(path))


def require_computed(paths: Iterable[Path]) -> None:
    """Refuse to write over a table that is not relstudy's own."""
    for path in paths:
        if path.is_file() and not is_computed(path):
            raise RelstudyError(
                f"{path}: this table is not one that relstudy computed, and the scores of the built-in system "
                f"{path.stem!r} would replace it; rename the file, and the system in it"
            )


def note_computed(paths: Iterable[Path]) -> None:
    """Remember that relstudy wrote these tables."""
    for path in paths:
        record = _record(path.parent)
        earlier = read_json(record) if record.is_file() else _found_beside(path)
        write_json({**earlier, path.name: _hash(path)}, record)


def _found_beside(path: Path) -> dict[str, str]:
    tables = [table for ending in ENDINGS for table in path.parent.glob(f"*{ending}")]
    return {table.name: _hash(table) for table in tables if table != path and is_computed(table)}


def _record(scores: Path) -> Path:
    return scores / ".index" / "computed.json"


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


CSV_ROWS = 250_000
FULL_ROWS = 2_000_000
DEPTH = 1_000


@dataclass(eq=False)
class ScoreTableWriter:
    """Collects each system's scores query by query, and writes scores/NAME.csv.

    All items are kept for every query as long as that makes at most two million rows per system; beyond, the best 1,000
    of each query and every pair drawn, which is all that later steps need. Up to 250,000 rows are written as CSV, more
    as Parquet (both are score tables that `relstudy fit` and `score` read).

    Parameters
    ----------
    ids : of the items, by their position
    queries : how many there will be
    rows : by system, each query's id with the positions of items and their scores
    """

    ids: np.ndarray
    queries: int
    rows: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = field(default_factory=dict)

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
            if self.queries * len(self.ids) > FULL_ROWS and len(positions) > DEPTH:
                keep = np.isin(positions, drawn)
                keep[np.argpartition(-values, DEPTH)[:DEPTH]] = True
                positions, values = positions[keep], values[keep]
            self.rows.setdefault(name, []).append((query_id, positions, values))

    @property
    def systems(self) -> list[str]:
        return list(self.rows)

    def table(self, system: str) -> pd.DataFrame:
        """A system's scores in the long form; a query's own score with itself is left out."""
        rows = self.rows[system]
        query_ids, positions, values = zip(*rows, strict=True)
        return pd.DataFrame(
            {
                "system": system,
                "query_id": np.repeat(np.array(query_ids, object), [len(each) for each in positions]),
                "result_id": self.ids[np.concatenate(positions)],
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
        from relstudy.mapping.scores.score_files import write_scores

        files = {name: [folder / "scores" / f"{name}{ending}" for ending in ENDINGS] for name in systems}
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
