"""Ids that look alike and are two: the reason is said, with the cure."""

from __future__ import annotations

import unicodedata

import pandas as pd
import pytest

import relstudy as rs

CASES = {
    "accents": ("café", unicodedata.normalize("NFD", "café"), "NFC and NFD"),
    "no width": ("lamp", "la\u200bmp", "no width"),
    "a line break": ("red lamp", "red\nlamp", "line breaks"),
    "capitals": ("Lamp", "LAMP", "capitals"),
    "nothing in common": ("lamp", "boat", "written alike in both tables"),
}


@pytest.mark.parametrize(("judged", "scored", "reason"), CASES.values(), ids=CASES)
def test_the_reason_why_no_pair_is_scored_is_said(judged, scored, reason):
    judgments = pd.DataFrame({"query_id": ["q", "q"], "result_id": [f"{judged}1", f"{judged}2"], "judgment": [1, 5]})
    scores = pd.DataFrame({"query_id": ["q", "q"], "result_id": [f"{scored}1", f"{scored}2"], "score": [0.1, 0.2]})
    with pytest.raises(rs.RelstudyError, match=reason):
        rs.score(scores.assign(query_id="x"), judgments.assign(query_id="x"), scale="1-5")
