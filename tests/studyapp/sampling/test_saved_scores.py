"""Scores kept beside the sample: all of them while that is little, else what later steps need."""

import numpy as np
import pandas as pd
import pytest

from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.sampling import saved_scores
from relstudy.studyapp.sampling.population import Eligible, ScoredItems
from relstudy.studyapp.sampling.saved_scores import ScoreTableWriter

IDS = np.array([f"i{place:03d}" for place in range(50)], dtype=object)


def kept(drawn=(40, 45)):
    """Two queries of fifty items; scores fall with the place, item 7 is not scored."""
    scores = ScoreTableWriter(IDS, 2)
    for query in ("i000", "i003"):
        values = -np.arange(50.0)
        values[7] = np.nan
        eligible = Eligible(np.arange(50), int(query[1:]))
        scores.add(query, {"gift": ScoredItems(values)}, eligible, np.array(drawn))
    return scores


def test_a_small_study_keeps_every_score_but_those_of_queries_with_themselves():
    table = kept().table("gift")
    counts = table.groupby("query_id").size()
    # fifty items, less the query itself and the one without a score
    assert counts.to_dict() == {"i000": 48, "i003": 48}
    assert not (table["query_id"] == table["result_id"]).any()
    assert table.set_index(["query_id", "result_id"]).loc[("i003", "i012"), "score"] == -12


def test_a_large_study_keeps_the_best_of_each_query_and_every_pair_drawn(monkeypatch):
    monkeypatch.setattr(saved_scores, "FULL_ROWS", 99)
    monkeypatch.setattr(saved_scores, "DEPTH", 10)
    table = kept().table("gift")
    best = [f"i{place:03d}" for place in (0, 1, 2, 3, 4, 5, 6, 8, 9)]
    for query, group in table.groupby("query_id"):
        ranked = set(group["result_id"])
        assert ranked >= (set(best) - {query}) | {"i040", "i045"}
        assert len(ranked) <= 12
        assert "i007" not in ranked


@pytest.mark.parametrize(("limit", "ending", "other"), [(10, ".parquet", ".csv"), (1000, ".csv", ".parquet")])
def test_long_tables_are_parquet_and_an_older_table_of_the_other_kind_goes(tmp_path, monkeypatch, limit, ending, other):
    monkeypatch.setattr(saved_scores, "CSV_ROWS", limit)
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / f"gift{other}").write_text("old")
    (tmp_path / "design.json").write_text("of a version that kept no record of what it computed")
    written = kept().write(tmp_path, ["gift"])
    assert [path.name for path in written] == [f"gift{ending}"]
    assert [path.name for path in (tmp_path / "scores").glob("gift.*")] == [f"gift{ending}"]
    table = read_scores(written[0]).frame
    pd.testing.assert_series_equal(
        table["score"], kept().table("gift")["score"], check_dtype=False, check_names=False, check_index_type=False
    )


def test_the_first_record_names_the_tables_that_an_older_version_computed_too(tmp_path):
    (tmp_path / "scores").mkdir()
    gift, words = (tmp_path / "scores" / f"{name}.csv" for name in ("gift", "keywords"))
    for file in (gift, words):
        file.write_text("computed")
    (tmp_path / "design.json").write_text("of a version that kept no record of what it computed")
    saved_scores.note_computed([gift])
    assert saved_scores.is_computed(words) and saved_scores.is_computed(gift)
    words.write_text("changed by somebody")
    assert not saved_scores.is_computed(words)
