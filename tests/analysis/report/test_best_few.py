"""Where curves begin, which values are bold, and what a precision at ten means to a person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from relstudy.analysis.report.best_few import STEADY_HITS, measures, steady_from
from relstudy.analysis.report.differences import who_beats_whom
from relstudy.analysis.report.layout import Folded, Paragraph
from relstudy.analysis.report.tables import Table
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from tests.analysis.made import tables
from tests.analysis.verdict.made_results import made

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def result() -> ScoreResult:
    judgments, scores = tables(systems=(0.95, 0.94, 0.1), queries=20, results=10)
    options = ScoringOptions(replicates=60, measures=("P@10", "nDCG@3"), unjudged="skip")
    return score_systems(judgments, scores, options=options)


def test_a_curve_begins_where_enough_good_matches_are_found(result: ScoreResult) -> None:
    system = result.systems[0]
    start = steady_from(result, system)
    order = np.argsort(-system.pair_scores)
    good = result.relevance.values[order]
    found = np.cumsum(good * result.weight[order]) / np.sum(good * result.weight[order])
    assert start == pytest.approx(max(0.05, found[np.argmax(np.cumsum(good) >= STEADY_HITS)]))
    none = replace(result, relevance=replace(result.relevance, values=np.zeros(len(result.judgment))))
    assert steady_from(none, system) == 0.05


def test_what_is_not_clearly_worse_than_the_best_is_bold_too(result: ScoreResult) -> None:
    blocks = list(measures(result))
    folded = next(block for block in blocks if isinstance(block, Folded))
    table = next(block for block in folded.blocks if isinstance(block, Table))
    bold = {(str(table.rows[row][0]), table.columns[column].name) for row, column in table.marked()}
    assert {(name, "condensed nDCG@3") for name in ("s0", "s1")} <= bold
    assert ("s2", "condensed nDCG@3") not in bold
    assert not any(isinstance(block, Paragraph) for block in blocks), "no query has more than its first ten"
    first = next(measures(replace(result, per_query=result.per_query.assign(pairs=12))))
    assert isinstance(first, Paragraph) and first.text.startswith("Good among the first 10 rated results of a query")


def test_the_matrix_says_by_which_measures_the_row_is_clearly_better() -> None:
    (table,) = who_beats_whom(made("abc", [("a", "c"), ("b", "c")]))
    assert isinstance(table, Table)
    assert {str(row[0]): list(row[1:]) for row in table.rows} == {
        "a": ["", "·", "ahead"],
        "b": ["·", "", "ahead"],
        "c": ["·", "·", ""],
    }
    assert who_beats_whom(made("ab", [("a", "b")])) == []
    assert who_beats_whom(made([f"s{k}" for k in range(13)])) == []
