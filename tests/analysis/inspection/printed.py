"""What the command that inspect prints reads from its table."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.analysis.inspection.finding import Inspection
from relstudy.calibration.preferences import read_couples
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.tables.meaning.reading import Reading
from relstudy.mapping.scores.score_files import read_scores
from relstudy.studyapp.collection.results_table import read_results

KINDS = {
    "preferences": "relstudy calibrate preferences",
    "ratings": "relstudy calibrate",
    "judgments": "relstudy score SCORES -j",
    "scores": "relstudy score",
    "results": "relstudy ask",
}
STATED = ("--columns", "--values", "--scale", "--missing", "--where", "--items")


def kind_of(command: str) -> str:
    """Which table a command reads."""
    return next(kind for kind, start in KINDS.items() if command.startswith(start))


def frame_by(command: str) -> pd.DataFrame:
    """The ratings, judgments or scores that a printed command reads, by its columns; of preferences, the results."""
    words = shlex.split(command)
    assert words[0] == "relstudy"
    stated = {words[at].removeprefix("--"): words[at + 1] for at in range(len(words)) if words[at] in STATED}
    if words[1] == "ask":
        return read_results([Path(words[2])]).rows[["system", "query", "text"]]
    reading = Reading.typed(**stated)
    if words[1:3] == ["calibrate", "preferences"]:
        found = read_couples(words[3], reading=reading)  # what they say of the results takes a fit
        right = np.where(found.left == found.first, found.second, found.first)
        both = {"query_id": np.r_[found.query, found.query], "result_id": np.r_[found.left, right]}
        return pd.DataFrame(both).drop_duplicates()
    if words[1] == "calibrate":
        rated = read_ratings(words[2], reading=reading, trust_raters=True).frame
        return rated[["rater_id", "query_id", "result_id", "rating"]]
    if words[2] == "SCORES":
        return read_judgments(words[4], reading).frame[["query_id", "result_id", "judgment"]]
    return read_scores(words[2], reading=reading).frame[["system", "query_id", "result_id", "score"]]


def rows_by(command: str) -> list[tuple[object, ...]]:
    """The same as rows."""
    return [tuple(row) for row in frame_by(command).to_numpy(dtype=object).tolist()]


def ratings_by(inspection: Inspection) -> pd.DataFrame:
    """The ratings that an inspection's command reads."""
    assert inspection.command is not None and inspection.command.startswith("relstudy calibrate ")
    return frame_by(inspection.command)
