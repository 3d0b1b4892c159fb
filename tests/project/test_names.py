"""Questions in plain words, each with the file that answers it: for a reader who sees the list of files alone.

A trial: hide the second column, name the file for each question from `git ls-files`, and compare.
"""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_question_is_answered_by_a_file_of_its_own() -> None:
    with open(Path(__file__).with_name("questions.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len({row["question"] for row in rows}) == len({row["file"] for row in rows}) == 60
    assert [row["file"] for row in rows if not (ROOT / row["file"]).is_file()] == []
