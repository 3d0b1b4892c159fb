"""What is known of scores stays with their rows: directions, runs and notes."""

from __future__ import annotations

import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.scores.score_table import ScoreTable, SystemChoice


def scored(system: str, score: float = 1.0) -> pd.DataFrame:
    return pd.DataFrame({"system": [system], "query_id": ["q"], "result_id": ["x"], "score": [score]})


RUN = ScoreTable(scored("bm25"), {"bm25": "higher"}, ("bm25",), ("bm25: its ranks contradict its scores",))
DISTANCE = ScoreTable(scored("distance"), {"distance": "lower"})


def test_joined_tables_keep_the_directions_runs_and_notes_of_each() -> None:
    joined = ScoreTable.joined([RUN, DISTANCE])
    assert joined.systems == ["bm25", "distance"]
    assert joined.directions == {"bm25": "higher", "distance": "lower"}
    assert (joined.runs, joined.notes) == (RUN.runs, RUN.notes)


def test_nothing_is_known_of_systems_that_were_left_out() -> None:
    left = SystemChoice("scores", leave_out=["bm25"]).of(ScoreTable.joined([RUN, DISTANCE]))
    assert (left.systems, left.directions, left.runs) == (["distance"], {"distance": "lower"}, ())


def test_what_is_known_of_a_system_goes_with_it_under_another_name() -> None:
    named = RUN.named("new", "a.run")
    assert (named.systems, named.directions, named.runs) == (["new"], {"new": "higher"}, ("new",))
    assert named.notes == ("new: bm25: its ranks contradict its scores",)
    with pytest.raises(RelstudyError, match=r"both: one system is needed under a name, and s.csv holds 2"):
        ScoreTable.joined([RUN, DISTANCE]).named("both", "s.csv")


def test_a_choice_that_leaves_no_score_is_refused() -> None:
    with pytest.raises(RelstudyError, match="scores: no score is left"):
        SystemChoice("scores", leave_out=["bm25"]).of(RUN)
