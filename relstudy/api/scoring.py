"""Systems against judgments: `score`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.pipeline import score_tables
from relstudy.analysis.scoring.groups import Grouping
from relstudy.analysis.scoring.options import ScoringOptions, options_over
from relstudy.analysis.scoring.outside import Pool
from relstudy.analysis.scoring.saved import SavedComparison, read_comparison, same_judgments, with_what_was_saved
from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.fitting import Mappings
from relstudy.api.inputs import (
    Columns,
    Missing,
    Source,
    Values,
    judgments_and_ratings,
    judgments_of,
    scores_of,
    table_of,
    unread,
)
from relstudy.api.scores import Scores
from relstudy.calibration.judgments import Judgments
from relstudy.common.archived import in_archive
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError
from relstudy.common.groups import groups_of
from relstudy.common.reading import Reading
from relstudy.mapping.fitted import FittedMapping, read_mappings


def score(
    scores: Source | Mapping[str, Source],
    judgments: Source | CalibratedPanel | None = None,
    *,
    mappings: Mappings | Mapping[str, FittedMapping] | str | os.PathLike[str] | None = None,
    method: str | None = None,
    folds: int | None = None,
    threshold: float | None = None,
    relevance: str | None = None,
    ratings: Source | None = None,
    correlation: str | None = None,
    weights: str | None = None,
    power: float | None = None,
    policy: str | None = None,
    direction: str | Mapping[str, str] | None = None,
    measures: Sequence[Any] | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    level: float | None = None,
    population: str | None = None,
    raters: str | None = None,
    allow_low_coverage: bool = False,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
    judge: Source | None = None,
    by: str | None = None,
    pairs: Source | None = None,
    apart: bool = False,
    against: str | os.PathLike[str] | None = None,
) -> Scores:
    """Score systems against the judgments, as `relstudy score` does; None is the command's default.

    Parameters
    ----------
    scores : a path (table or TREC run), a DataFrame (long or wide), or a table of one system under each system's name
    judgments : a path (table, TREC qrels, or a study's archive), a DataFrame with query_id, result_id and judgment, or
        what `calibrate` gives
    mappings : what `fit` gives, or the folder it was saved to; a system without one is mapped by `method`
    method : isotonic (default), bagged, correlation, bayes, best or none: the mapping, fitted out of fold
    folds : folds by query for the mapping, at least 2; default 10
    threshold : the cut between relevant and not; default: that of the scale, 3.5 on 1-5
    relevance : "share" (of a pair's ratings above the cut), "mean" (whether its judgment is), or "auto" (default): the
        share where it is known
    ratings : the calibrated ratings behind the judgments, which another cut needs (query_id, result_id, calibrated);
        default: those that `calibrate` gave, or calibrated.csv beside the file of the judgments
    correlation : what systems are compared by: "collection" (each pair counts as one over its inclusion probability),
        "judged" (pairs alike, as in the paper) or "auto" (default): the collection where probabilities are known
    weights : "design" (default: 1 / inclusion probability), "equal", or "rank-power" (the paper's rule)
    power : of the rank, with weights "rank-power"; default 5, the paper's
    policy : "drop" or "worst": judged pairs that a system does not score; default: drop, but worst for TREC runs
    direction : "higher", "lower" or "auto" (default), for all systems or by system
    measures : ir-measures, by their names or as that library has them, in place of nDCG@10, P@10, AP and RR
    replicates : of the bootstrap over queries; default 1000
    seed : of bootstrap and folds; default 0
    level : of the intervals, between 0 and 1; default 0.95
    population : "auto" (default), "collection" or "open": which queries intervals speak of
    raters : "any" (like those who rated), "these" (alone) or "auto" (default): any where the ratings of three are known
    allow_low_coverage : go on where a system scores under half of the judged pairs
    columns : names of the columns of `scores` to ours
    values, scale, missing : numbers for words ({"partly": 1}), the scale ("0-100") and what stands for no value
        (["NA", "-"]) in the judgments, as --values, --scale and --missing have it
    judge : an automatic judge's table (query_id, result_id, rating; empty where it gave no answer) of many more pairs,
        which shortens intervals; `scores` then holds all of these pairs
    by : also score within groups: a column of the judgments, or of the pairs, such as paradigm
    pairs : with `by`: the pairs table (path or DataFrame: query_id, result_id and the column); default: the pairs.csv
        beside the judgments' file
    apart : with `by`: fit each group's mappings to its own pairs alone
    against : a comparison that `relstudy score --save` kept, or the archive of a study (`relstudy archive`), among
        whose systems these are placed; `judgments` may then be left out

    Raises
    ------
    RelstudyError
        where a table has faults, a system scores too few of the judged pairs, or an option is not allowed

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
    >>> result = score(pd.DataFrame({**pairs, "new": [0.9, 0.2, 0.4, 0.3]}), judgments, threshold=3, replicates=50)
    >>> result.table[["average_precision", "normalised_rank"]].values.tolist()
    [[1.0, 0.0]]
    """
    check_arguments(score, locals())
    if isinstance(judgments, str | os.PathLike):
        judgments = in_archive(judgments, "judgments.csv")
    directions = {"*": direction} if isinstance(direction, str) else dict(direction or {})
    given = {
        "method": method,
        "folds": folds,
        "threshold": threshold,
        "relevance": relevance,
        "correlation": correlation,
        "weights": weights,
        "power": power,
        "policy": policy,
        "measures": None if measures is None else tuple(map(str, measures)),
        "replicates": replicates,
        "seed": seed,
        "level": level,
        "population": population,
        "raters": raters,
    }
    stated: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    stated |= {"directions": directions} | ({"low_coverage": True} if allow_low_coverage else {})
    saved = None if against is None else read_comparison(against)
    options = options_over(ScoringOptions(), stated) if saved is None else saved.options_with(stated)
    judged = _judged(judgments, ratings, Reading.given(None, values, scale, missing), saved)
    if pairs is not None and by is None:
        raise RelstudyError("pairs tell which group a pair is in: name the column in `by`")
    if apart and by is None:
        raise RelstudyError("mappings are fitted apart within groups: name their column in `by`")
    if judge is not None and saved is not None:
        raise RelstudyError("a judge's grades do not go with a saved comparison; score all systems anew")
    table, file = scores_of(scores, columns)
    fitted = read_mappings(mappings) if isinstance(mappings, str | os.PathLike) else dict(mappings or {})
    run = score_tables(
        judged, [(file, table)], options, fitted=fitted, stated=directions, saved=saved,
        judge=None if judge is None else read_judge(judge),
        grouping=None if by is None else Grouping(by, _groups(judgments, judged, by, pairs), apart),
        pool=Pool.beside(Path(judgments)) if isinstance(judgments, str | os.PathLike) else None,
    )  # fmt: skip
    return Scores(run)


def _judged(
    judgments: Source | CalibratedPanel | None, ratings: Source | None, reading: Reading, saved: SavedComparison | None
) -> Judgments:
    """The judgments given, or those of the saved comparison."""
    if saved is not None and ratings is not None:
        raise RelstudyError("ratings go with judgments; a saved comparison keeps what it needs of the ratings")
    if judgments is not None:
        if saved is None:
            return judgments_and_ratings(judgments, ratings, reading)
        judged, _ = judgments_of(judgments, reading)
        same_judgments(saved, judged)
        return with_what_was_saved(judged, saved)
    unread(None, reading)
    if saved is None:
        raise RelstudyError("the judgments: a path or a pandas DataFrame is needed, or a saved comparison in `against`")
    return saved.judgments


def _groups(
    judgments: Source | CalibratedPanel | None, judged: Judgments, column: str, pairs: Source | None
) -> np.ndarray:
    """Each pair's value of a column, of the judgments, or of the pairs: those given, or pairs.csv beside their file."""
    if judgments is None:
        raise RelstudyError("groups are by a column of the judgments, so these are needed too")
    beside = Path(judgments).parent / "pairs.csv" if isinstance(judgments, str | os.PathLike) else None
    return groups_of(judged.frame, column, beside if pairs is None else table_of(pairs, "the pairs"), option="by")
