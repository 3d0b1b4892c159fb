"""The same scoring run within groups of judged pairs: by paradigm, by block, by any column of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.analysis.scoring.judged import PAIR, JudgedPairs
from relstudy.analysis.scoring.measures import QueryValues
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import Coverage, ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.common.errors import RelstudyError
from relstudy.common.tables import read_table

MOST_GROUPS = 50
FEWEST_PAIRS = 3
"""A system with fewer pairs in a group has no figures there."""
EMPTY = "(none)"


def groups_of(judgments: pd.DataFrame, column: str, pairs_file: Path | None = None) -> np.ndarray:
    """The value of a column for each judged pair, as text [pairs]; "(none)" where it is empty.

    Parameters
    ----------
    judgments : query_id, result_id and other columns
    column : one of them, or of the table of pairs
    pairs_file : a table of pairs (query_id, result_id and other columns) for columns that the judgments lack, or None

    Raises
    ------
    RelstudyError
        where neither table has the column, or it has too many values
    """
    if column in judgments:
        values = judgments[column]
    else:
        pairs = read_table(pairs_file, *PAIR).frame if pairs_file is not None and pairs_file.is_file() else None
        if pairs is None or column not in pairs:
            columns = [name for name in judgments if name not in PAIR]
            beside = [] if pairs is None else [name for name in pairs if name not in (*PAIR, *columns)]
            raise RelstudyError(
                f"--by: there is no column {column!r} in the judgments; there are: {', '.join(map(str, columns))}"
                + (f"; and in {pairs_file}: {', '.join(map(str, beside))}" if beside else "")
            )
        one = pairs.drop_duplicates(PAIR)[[*PAIR, column]]
        values = judgments[PAIR].astype("str").merge(one, on=PAIR, how="left", validate="many_to_one")[column]
    if values.dtype.kind == "f" and (values.dropna() % 1 == 0).all():
        values = values.astype("Int64")
    text = values.astype("str").str.strip().mask(values.isna(), "")
    groups = text.where(text != "", EMPTY).to_numpy(dtype=object)
    number = len(set(groups))
    if number > MOST_GROUPS:
        raise RelstudyError(f"--by {column}: {number} values are too many; up to {MOST_GROUPS} groups are scored")
    return groups


def score_by(
    pairs: JudgedPairs, candidates: list[Candidate], groups: np.ndarray, options: ScoringOptions
) -> dict[str, ScoreResult]:
    """Score the systems within each group of pairs.

    Scores are mapped as for all pairs together, so that a group's figure is that of the mapping in use. A system with
    fewer than three pairs in a group is left out there; a group in which no system has three has no entry.

    Parameters
    ----------
    groups : each pair's group, text [pairs]
    """
    results = {}
    for name in sorted(set(groups)):
        inside = groups == name
        part = pairs.part(inside)
        among = [
            _candidate_within(each, inside, pairs, part)
            for each in candidates
            if int((each.used & inside).sum()) >= FEWEST_PAIRS
        ]
        if among:
            # a measure of half of a query's results would be another measure
            whole = all((groups[pairs.query == query] == name).all() for query in np.unique(pairs.query[inside]))
            results[str(name)] = score_candidates(part, among, options if whole else replace(options, measures=()))
    return results


def _candidate_within(candidate: Candidate, inside: np.ndarray, pairs: JudgedPairs, part: JudgedPairs) -> Candidate:
    mapped = candidate.mapped
    if mapped is not None:
        in_sample = None if mapped.in_sample is None else mapped.in_sample[inside]
        mapped = replace(mapped, values=mapped.values[inside], in_sample=in_sample)
    given = candidate.given[inside]
    missing = np.flatnonzero(~np.isfinite(given))[:5]
    examples = tuple((str(part.query_id[i]), str(part.result_id[i])) for i in missing)
    coverage = Coverage(int(np.isfinite(given).sum()), len(part), candidate.coverage.policy, examples)
    return replace(
        candidate,
        given=given,
        score=candidate.score[inside],
        used=candidate.used[inside],
        coverage=coverage,
        mapped=mapped,
        measures=None if candidate.measures is None else _measures_within(candidate.measures, pairs, part),
    )


def _measures_within(
    measures: Mapping[str, QueryValues], pairs: JudgedPairs, part: JudgedPairs
) -> dict[str, QueryValues]:
    kept = np.isin(pairs.queries, part.queries)
    return {name: replace(each, values=each.values[kept]) for name, each in measures.items()}
