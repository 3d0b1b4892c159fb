"""The report's section on groups: a column a group, who leads in each, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.report import by_group
from relstudy.analysis.report.by_group import groups_section
from relstudy.analysis.report.layout import Paragraph, Section
from relstudy.analysis.report.tables import Table
from relstudy.analysis.scoring.groups import Grouping, Groups, score_by
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_candidates
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.analysis.verdict.within_groups import groups_of_run
from tests.analysis.made import tables


def section(left_out: bool = False) -> Section:
    """Queries by image, of which the first system knows most, and by text, of which the second does."""
    judgments, scores = tables(systems=(0.9, 0.7))
    text = scores["query_id"].str[1:].astype(int) >= 10
    first = scores["system"] == "s0"
    scores.loc[first & text, "score"] = np.random.default_rng(0).normal(size=int((first & text).sum()))
    if left_out:
        scores = scores[~(first & text)]
    pairs, options = JudgedPairs.of(judgments), ScoringOptions(replicates=30, method="isotonic", low_coverage=True)
    candidates, _ = candidates_of([("scores", scores)], pairs, options)
    groups = np.where(judgments["query_id"].str[1:].astype(int) < 10, "image", "text").astype(object)
    grouping = Grouping("paradigm", groups, apart=True)
    return groups_section(Groups("paradigm", True, score_by(pairs, candidates, grouping, options)))


@pytest.mark.slow
def test_each_group_has_a_column_and_is_led_by_its_own() -> None:
    blocks = section().blocks
    correlation, precision, above = [block for block in blocks if isinstance(block, Table)][:3]
    assert [column.name for column in correlation.columns] == ["System", "image", "text"]
    assert [row[0] for row in correlation.rows] == ["s0", "s1"]
    image, text = ([row[place].value for row in correlation.rows] for place in (1, 2))  # type: ignore[union-attr]
    assert image[0] > image[1] and text[0] < text[1]
    assert (precision.name, above.best) == ("by-paradigm-average-precision", (("image", "max"), ("text", "max")))
    assert above.caption == "Pooled pairwise accuracy of the systems by paradigm."
    told = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert told[1].startswith("image, 150 pairs of 10 queries: Use s0") and "text, 150 pairs of 10" in told[2]


@pytest.mark.slow
def test_a_system_without_scores_in_a_group_has_an_empty_cell_with_a_reason() -> None:
    correlation = next(block for block in section(left_out=True).blocks if isinstance(block, Table))
    missing = {row[0]: row[2] for row in correlation.rows}["s0"]
    assert (missing.value, missing.reason) == (None, "fewer than 3 pairs of this group are scored")


@pytest.mark.slow
def test_many_groups_stand_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_group, "SIDE_BY_SIDE", 1)
    table, differences = (block for block in section().blocks if isinstance(block, Table))
    assert differences.name == "by-paradigm-differences"
    assert [row[:2] for row in table.rows] == [["image", "s0"], ["image", "s1"], ["text", "s1"], ["text", "s0"]]


@pytest.mark.slow
def test_groups_are_decided_by_the_index_of_the_whole_though_each_alone_has_too_few_queries_for_it() -> None:
    judgments, scores = tables(queries=24, systems=(0.9, 0.7))
    pairs, options = JudgedPairs.of(judgments), ScoringOptions(replicates=30, method="none")
    candidates, _ = candidates_of([("scores", scores)], pairs, options)
    overall = score_candidates(pairs, candidates, options)
    halves = np.where(judgments["query_id"].str[1:].astype(int) < 12, "image", "text").astype(object)
    within = groups_of_run(pairs, candidates, Grouping("paradigm", halves, apart=False), overall)
    assert overall.primary.name == "same_query"
    assert [each.primary for each in within.results.values()] == [overall.primary] * 2
    named = {block.name: block.caption for block in groups_section(within).blocks if isinstance(block, Table)}
    assert overall.primary.index.term in named["by-paradigm-differences"]
