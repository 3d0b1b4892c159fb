"""What systems score beyond the judged pairs: counted, since figures of people's judgments leave it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.calibration.judgments import Judgments
from relstudy.common.wording import count_of, listed


def beyond_notes(tables: Iterable[pd.DataFrame], candidates: Iterable[Candidate], judgments: Judgments) -> list[str]:
    """How many of each system's scores concern no judged pair, a sentence for all systems with the same numbers.

    Parameters
    ----------
    tables : system, query_id, result_id, score: everything that the systems scored
    candidates : the systems, with their scores of the judged pairs
    """
    scored = {candidate.name: candidate.coverage.scored for candidate in candidates}
    judged = judgments.frame["query_id"].astype("str").unique()
    alike: dict[tuple[int, int, int], list[str]] = {}
    for scores in tables:
        for name, rows in scores.groupby("system", sort=False):
            if str(name) in scored:
                queries = rows["query_id"].astype("str")
                numbers = (len(rows), len(rows) - scored[str(name)], queries[~queries.isin(judged)].nunique())
                alike.setdefault(numbers, []).append(str(name))
    return [_sentence(names, *numbers) for numbers, names in alike.items() if numbers[1]]


def _sentence(names: Sequence[str], scores: int, beyond: int, queries: int) -> str:
    whose = "its" if len(names) == 1 else "each one's"
    none = f" (of {count_of(queries, 'query', 'queries')} no pair is judged)" if queries else ""
    return (
        f"{listed(names)}: {beyond:,} of {whose} {count_of(scores, 'score')} concern none of the judged pairs{none}; "
        "correlation, pooled AP and good above poor leave them out."
    )
