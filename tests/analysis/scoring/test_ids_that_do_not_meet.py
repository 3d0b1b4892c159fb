"""Ids that look alike and are two: the reason is said, with the cure."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
import pytest

import relstudy as rs

CASES = {
    "accents": ("café", unicodedata.normalize("NFD", "café"), "NFC and NFD"),
    "no width": ("lamp", "la\u200bmp", "no width"),
    "a line break": ("red lamp", "red\nlamp", "line breaks"),
    "capitals": ("Lamp", "LAMP", "capitals"),
    "nothing in common": ("lamp", "boat", "written the same way in both tables"),
}


@pytest.mark.parametrize(("judged", "scored", "reason"), CASES.values(), ids=CASES)
def test_the_reason_why_no_pair_is_scored_is_said(judged, scored, reason):
    judgments = pd.DataFrame({"query_id": ["q", "q"], "result_id": [f"{judged}1", f"{judged}2"], "judgment": [1, 5]})
    scores = pd.DataFrame({"query_id": ["q", "q"], "result_id": [f"{scored}1", f"{scored}2"], "score": [0.1, 0.2]})
    with pytest.raises(rs.RelstudyError, match=reason):
        rs.score(scores.assign(query_id="x"), judgments.assign(query_id="x"), scale="1-5")


def test_ids_of_some_judged_pairs_that_only_look_the_same_are_named() -> None:
    names = [f"caf\u00e9 {k}" if k % 3 == 0 else f"bar {k}" for k in range(60)]
    judgments = pd.DataFrame({"query_id": [f"q{k % 6}" for k in range(60)], "result_id": names})
    judgments["judgment"] = np.random.default_rng(1).integers(1, 6, 60)
    scores = judgments[["query_id", "result_id"]].assign(system="one", score=np.arange(60.0))
    other = scores.assign(result_id=[unicodedata.normalize("NFD", name) for name in names])
    found = rs.score(other, judgments, replicates=20, measures=[])
    assert any("lacks scores of judged pairs" in str(note) and "NFC and NFD" in str(note) for note in found.notes)
    assert not any(
        "lacks scores" in str(note) for note in rs.score(scores, judgments, replicates=20, measures=[]).notes
    )
