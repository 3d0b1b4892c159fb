"""Results of each system for one query, judgments beside (Shirahatti and Barnard 2005, figures 1.2 to 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.study_folder import score_files

JUDGMENTS = "judgments.csv"


@dataclass(frozen=True)
class Ranked:
    """One result of a system's list: its rank from 1, its score, and its judgment where people have rated it."""

    rank: int
    result_id: str
    score: float
    judgment: float | None


def ranked_lists(folder: Path, query_id: str, top: int) -> dict[str, list[Ranked]]:
    """The best results of each system with scores in FOLDER/scores, by system in alphabetical order.

    A system whose fitted mapping in FOLDER/mappings falls is ranked by ascending score, every other by descending.

    Raises
    ------
    RelstudyError
        when no table of scores has the query
    """
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.fitted import read_mappings
    from relstudy.mapping.scores.table import read_scores

    judged: dict[str, float] = {}
    if (folder / JUDGMENTS).is_file():
        frame = read_judgments(folder / JUDGMENTS).frame
        of_query = frame[frame["query_id"] == query_id]
        judged = dict(zip(of_query["result_id"], of_query["judgment"].astype(float), strict=True))
    mappings = read_mappings(folder / "mappings") if any((folder / "mappings").glob("*.json")) else {}
    lists: dict[str, list[Ranked]] = {}
    queries: set[str] = set()
    for path in score_files(folder):
        scores = read_scores(path)
        queries.update(map(str, scores.frame["query_id"].unique()))
        for system, rows in scores.frame[scores.frame["query_id"] == query_id].groupby("system"):
            mapping = mappings.get(str(system))
            falls = scores.directions.get(str(system)) == "lower"
            if mapping is not None:
                falls = bool(mapping.values[0] > mapping.values[-1])
            best = rows.dropna(subset="score").sort_values(["score", "result_id"], ascending=[falls, True])[:top]
            lists[str(system)] = [
                Ranked(rank, str(result), float(score), judged.get(str(result)))
                for rank, (result, score) in enumerate(zip(best["result_id"], best["score"], strict=True), start=1)
            ]
    if not lists:
        raise RelstudyError(
            f"{folder / 'scores'}: no table of scores has the query {query_id!r}; {_what_there_is(queries)}"
        )
    return dict(sorted(lists.items()))


def scale_of_judgments(folder: Path) -> str | None:
    """The name of the scale of FOLDER/judgments.csv; None where there is no such file."""
    from relstudy.calibration.judgments import read_judgments

    return read_judgments(folder / JUDGMENTS).scale.scale.name if (folder / JUDGMENTS).is_file() else None


def _what_there_is(queries: set[str]) -> str:
    if not queries:
        return "`relstudy systems` makes them"
    named = ", ".join(sorted(queries)[:5])
    return f"they have {len(queries)}: {named}{', ...' if len(queries) > 5 else ''}"
