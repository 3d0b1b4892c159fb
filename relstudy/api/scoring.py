"""Systems against judgments: `score`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import pandas as pd

from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.score_request import ScoreRequest, refuse_what_does_not_go_together
from relstudy.analysis.scoring.options import ScoringChanges, ScoringOptions, options_over
from relstudy.analysis.scoring.saved import SavedComparison, read_comparison
from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.fitting import Mappings
from relstudy.api.inputs import (
    Scored,
    ScoredSystems,
    folder_of,
    judgments_of,
    scores_of,
    study_tables_of,
    table_of,
    unread,
)
from relstudy.api.scores import Scores
from relstudy.calibration.tables.study_tables import StudyTables, read_study_tables
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import differing, fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame
from relstudy.common.tables.meaning.reading import GradedReadingChanges, Reading
from relstudy.common.tables.meaning.reading_options import ReadingOptions
from relstudy.common.tables.meaning.study_folder import judgments_in, mappings_in, scores_in
from relstudy.mapping.fitted import FittedMapping, read_mappings
from relstudy.mapping.scores.score_files import refuse_absent
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.scores.vectors import Similarity, VectorChanges
from relstudy.mapping.vector_options import VectorOptions


class ScoreChanges(ScoringChanges, GradedReadingChanges, VectorChanges, total=False):
    """How systems are scored, and how tables and vectors are read."""


@takes_options(ScoringOptions, ReadingOptions, VectorOptions)
def score(
    scores: ScoredSystems,
    judgments: Scored | CalibratedPanel | None = None,
    *,
    mappings: Mappings | Mapping[str, FittedMapping] | str | os.PathLike[str] | None = None,
    options: ScoringOptions | None = None,
    ratings: Source | None = None,
    judge: Source | None = None,
    by: str | None = None,
    pairs: Source | None = None,
    queries: Source | None = None,
    apart: bool = False,
    against: str | os.PathLike[str] | None = None,
    **changes: Unpack[ScoreChanges],
) -> Scores:
    """Score systems against the judgments, as `relstudy score` does; where a study.toml beside them plans looks, this
    is one, and is kept in its looks.csv.

    Parameters
    ----------
    scores : a path (table, TREC run or vectors), a DataFrame (long or wide), an array of vectors with `ids`, or one of
        these under each system's name; several paths, as the command takes them; or a study's folder, whose scores/,
        judgments.csv and mappings/ are then taken.
        Runs of PyTerrier (qid, docno, score), of ir_measures (query_id, doc_id, score) and as nested dicts (a score by
        query and result, as of ranx and pytrec_eval) are taken as runs
    judgments : a path (table, TREC qrels, or a study's archive), a DataFrame with query_id, result_id and judgment, or
        what `calibrate` gives. PyTerrier's (qid, docno, label), ir_measures' (query_id, doc_id, relevance) and nested
        dicts are taken as whole qrels
    mappings : what `fit` gives, or the folder it was saved to; a system without one is mapped by `method`
    options : the choices that scoring rests on, for several calls; single ones are given by their names, as below
    ratings : the calibrated ratings behind the judgments, which another cut needs (query_id, result_id, calibrated);
        default: those that `calibrate` gave, or calibrated.csv beside the file of the judgments
    judge : an automatic judge's table (query_id, result_id, rating; empty where it gave no answer) of many more pairs,
        which shortens intervals; `scores` then holds all of these pairs
    by : also score within groups: a column of the judgments, of `queries`, or of the pairs, such as paradigm; or by
        groups of people: a column of the ratings behind the judgments, such as group
    pairs : with `by`: the pairs table (path or DataFrame: query_id, result_id and the column); default: the pairs.csv
        beside the judgments' file
    queries : a table of queries (query_id, and what is known of each: segment, traffic), for `by` and `query_weights`
    apart : with `by`: fit each group's mappings to its own pairs alone
    against : a comparison that `relstudy score --save` kept, or the archive of a study (`relstudy admin archive`),
        among whose systems these are placed; `judgments` may then be left out
    changes : the fields of `ScoringOptions`, `ReadingOptions` and `VectorOptions`, each by its name; None leaves one as
        it is

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
    folder = folder_of(scores)
    sources: Sequence[ScoredSystems] = [scores]
    if folder is not None:
        sources = scores_in(folder)
        judgments = judgments_in(folder) if judgments is None and against is None else judgments
        mappings = mappings_in(folder) if mappings is None else mappings
    elif judgments is None and isinstance(scores, str | os.PathLike):
        refuse_absent([os.fspath(scores)])
    refuse_what_does_not_go_together(
        judgments=judgments is not None, against=against is not None, ratings=ratings is not None,
        judge=judge is not None, by=by is not None, apart=apart, pairs=pairs is not None,
    )  # fmt: skip
    stated = fields_given(ScoringOptions, changes)
    if options is not None:
        stated = differing(options_over(options, stated))
    saved = None if against is None else read_comparison(against)
    reading = Reading.stated(changes).among_several()
    study = _study(judgments, ratings, reading, saved, folder)
    if queries is not None:
        study = replace(study, queries=reading.names_only(table_of(queries, "the queries"), "queries"))
    similarity = Similarity(**fields_given(VectorOptions, changes))

    def systems(asked: pd.DataFrame) -> list[tuple[str, ScoreTable]]:
        read = [scores_of(source, reading, similarity=similarity, pairs=asked) for source in sources]
        return [(file, table) for table, file in read]

    request = ScoreRequest(
        study, systems, reading, stated, saved,
        judge=None if judge is None else read_judge(path_or_frame(judge, "the judge"), reading=reading),
        fitted=read_mappings(mappings) if isinstance(mappings, str | os.PathLike) else dict(mappings or {}),
        by=by, apart=apart, pairs=None if pairs is None else table_of(pairs, "the pairs"),
        folder=folder,
    )  # fmt: skip
    return Scores(request.run())


def _study(
    judgments: Scored | CalibratedPanel | None,
    ratings: Source | None,
    reading: Reading,
    saved: SavedComparison | None,
    folder: Path | None,
) -> StudyTables:
    """The judgments given with what belongs to them, or those of the saved comparison."""
    if judgments is None:
        unread(None, reading)
        if saved is None:
            raise RelstudyError(
                "the judgments: a path or a pandas DataFrame is needed, or a saved comparison in `against`"
            )
        return saved.study
    if saved is None:
        return study_tables_of(judgments, ratings, reading, folder)
    if isinstance(judgments, str | os.PathLike):
        return read_study_tables(judgments, reading, folder=folder, completed=saved.complete)
    return StudyTables(saved.complete(judgments_of(judgments, reading)[0]))
