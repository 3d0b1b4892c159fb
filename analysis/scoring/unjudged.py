"""Pairs that systems score and people did not judge: counted and named, since no figure speaks of them.

Results outside the pool, pairs that were never asked about, and pairs that people saw and could not decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.scoring.candidate import Candidate
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import Pool, StudyTables
from relstudy.common.runtime.wording import count_of, listed, percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

EXAMPLES = 3
FEW_UNDECIDED = 0.01
"""The share of undecided pairs from which on each system's thirds are given."""
THIRDS = ("best", "middle", "last")


Scored = Sequence[tuple[Candidate, pd.DataFrame]]
"""Systems, each with its query_id, result_id and score of everything that it scored."""


def notes_on_unjudged(
    study: StudyTables, scores: Mapping[str, pd.DataFrame], candidates: Sequence[Candidate], judged_too: bool = False
) -> list[str]:
    """Notes on the pairs that systems score and people did not judge, one sentence each.

    Parameters
    ----------
    scores : by system: query_id, result_id, score of everything that it scored; one without has no part
    candidates : the systems, with their scores of the judged pairs
    judged_too : whether an automatic judge's grades speak of pairs that nobody judged, so that these are not left out

    Notes
    -----
    Where judged pairs were drawn with known probabilities they stand for the others, and nothing is said of these.
    """
    judgments, outside = study.judgments, list[str | None]()
    scored = [(each, scores[each.name]) for each in candidates if each.name in scores]
    if study.pool is not None:
        queries = list(judgments.frame["query_id"].astype("str").unique())
        outside = [outside_note(study.pool, each.name, rows, each.direction.higher, queries) for each, rows in scored]
    drawn = "inclusion_probability" in judgments.frame and judgments.frame["inclusion_probability"].notna().all()
    beyond = [] if judged_too or drawn else beyond_notes(scored, judgments)
    return [*filter(None, outside), *undecided_notes(scored, judgments), *beyond]


def outside_note(pool: Pool, system: str, scores: pd.DataFrame, higher: bool, queries: Sequence[str]) -> str | None:
    """A note on a system's first results of these queries outside the pool, or None.

    Parameters
    ----------
    scores : query_id, result_id, score of the system
    higher : whether a higher score is better
    """
    rows = scores[scores["query_id"].astype("str").isin(list(queries))].dropna(subset="score")
    rows = rows.sort_values(["score", "result_id"], ascending=[not higher, True])
    first = rows.groupby("query_id", sort=False).head(pool.depth)
    names = [first[name].astype("str").to_numpy(dtype=object) for name in PAIR]
    outside = np.flatnonzero(~pd.MultiIndex.from_arrays(names).isin(pool.pairs))
    if not len(outside):
        return None
    named = ", ".join(f"{names[0][row]} {names[1][row]}" for row in outside[:EXAMPLES])
    more = ", ..." if len(outside) > EXAMPLES else ""
    return (
        f"{len(outside)} of the {len(first)} results that {system} ranks first ({pool.depth} a query) lie outside "
        f"the pool, where nobody was asked ({named}{more}); it is ranked by its order within the pool."
    )


def beyond_notes(scored: Scored, judgments: Judgments) -> list[str]:
    """Systems that score queries of which no pair is judged, a sentence for all with as many."""
    judged = judgments.frame["query_id"].astype("str").unique()
    alike: dict[int, list[str]] = {}
    for candidate, rows in scored:
        queries = rows["query_id"].astype("str")
        alike.setdefault(int(queries[~queries.isin(judged)].nunique()), []).append(candidate.name)
    return [
        f"{listed(names)} {'scores' if len(names) == 1 else 'score'} {count_of(number, 'query', 'queries')} of which "
        f"no pair is judged; {'it has' if number == 1 else 'they have'} no part."
        for number, names in alike.items()
        if number
    ]


def undecided_notes(scored: Scored, judgments: Judgments) -> list[str]:
    """The share of undecided pairs in each third by score, as a sentence; nothing where none is undecided. A system
    that scores none of them is not named.

    Parameters
    ----------
    judgments : with the pairs that nobody could decide, where they are known
    """
    blank = judgments.undecided
    if blank is None or blank.empty:
        return []
    wanted = blank[PAIR].astype("str")
    said = []
    for candidate, rows in scored:
        rated = rows.assign(**{column: rows[column].astype("str") for column in PAIR}).merge(wanted, on=PAIR)
        score = np.r_[candidate.given, rated["score"].to_numpy(dtype=float)]
        undecided = np.arange(len(score)) >= len(candidate.given)
        if not np.isfinite(score[undecided]).any():
            continue
        shares = shares_by_third(candidate.direction.turned(score), undecided)
        if shares is not None:
            said.append(f"{candidate.name} " + ", ".join(f"{percent(share, 1)}" for share in shares))
    of = len(judgments) + len(blank)
    by_score = f" (in the best, middle and last third by score: {'; '.join(said)})" if said else ""
    by_score = by_score if len(blank) >= FEW_UNDECIDED * of else ""
    were, are = ("was", "is") if len(blank) == 1 else ("were", "are")
    return [f"{len(blank)} of {of} pairs {were} left undecided by everyone and {are} not used{by_score}."]


def shares_by_third(score: np.ndarray, undecided: np.ndarray) -> list[float] | None:
    """The share of undecided pairs in the thirds of descending score; None with fewer than three scored pairs.

    Parameters
    ----------
    score : float [pairs], higher is better, NaN where unscored; equal scores fall into one third
    undecided : bool [pairs]

    Examples
    --------
    >>> shares_by_third(np.array([9.0, 8, 7, 6, 5, 4]), np.array([True, False, True, True, False, False]))
    [0.5, 1.0, 0.0]
    """
    finite = np.isfinite(score)
    if finite.sum() < len(THIRDS):
        return None
    score, undecided = score[finite], undecided[finite]
    cuts = np.sort(score)[::-1][[len(score) // 3, 2 * len(score) // 3]]
    third = (score <= cuts[0]).astype(int) + (score <= cuts[1])
    return [float(undecided[third == number].mean()) if (third == number).any() else 0.0 for number in range(3)]
