"""The report's section on further questions about results: a page each, and how the questions go together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from relstudy.analysis.report.layout import Block, Paragraph, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import read_study_tables
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.study_folder import QUESTIONS

FEWEST_QUERIES = 8
"""Fewer give no interval: each is left out in turn, and with so few one of them decides."""


def judged_questions(folder: Path) -> dict[str, Path]:
    """The judgments of the study's further questions, by the question's id."""
    return {file.parent.name: file for file in sorted((folder / QUESTIONS).glob("*/judgments.csv"))}


def questions_section(folder: Path, own: Judgments, question: str | None = None) -> Section | None:
    """The agreement of a question with the study's others; None if there are no others with judgments.

    Parameters
    ----------
    own : the judgments that the page is of
    question : their question's id; None: the blocks' own
    """
    files = judged_questions(folder)
    others = {name: read_study_tables(file, folder=folder).judgments for name, file in files.items()}
    others.pop(question or "", None)
    if question is not None and (folder / "judgments.csv").is_file():
        others = {"the main question": read_study_tables(folder / "judgments.csv", folder=folder).judgments, **others}
    if not others:
        return None
    rows: list[list[Cell]] = []
    for name, judgments in others.items():
        both = judged_in_both(own.frame, judgments.frame)
        figure = together(both)
        rows.append(
            [
                name,
                len(both),
                figure,
                _share_of_both(both, own, judgments),
            ]
        )
    columns = [
        Column("question"),
        Column("pairs judged in both", digits=0),
        Column("correlation", signed=True),
        Column("good there, of those good here", digits=0, percent=True),
    ]
    blocks: list[Block] = [
        Paragraph(
            "Raters were asked more than one thing about each result. Each question has judgments and a page of its "
            "own; the table says how far the answers agree, over the pairs judged in both. Disagreement between "
            "raters lowers a correlation, so the true agreement is at least as high."
        ),
        Table("questions", "How the questions go together.", columns, rows),
    ]
    return Section("questions", "The questions together", blocks)


def judged_in_both(own: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """query_id, result_id and the two judgments (here, there) of the pairs that two tables share."""
    columns = [*PAIR, "judgment"]
    both = own[columns].merge(other[columns], on=PAIR, suffixes=("", "_there"), validate="one_to_one")
    both = both.rename(columns={"judgment": "here", "judgment_there": "there"})
    return both[np.isfinite(both["here"]) & np.isfinite(both["there"])].reset_index(drop=True)


def together(both: pd.DataFrame) -> Estimate:
    """Pearson's correlation of two judgments of the same pairs; 95 % interval with each query left out in turn.

    The jackknife over queries on Fisher's z (Efron and Tibshirani 1993, chapter 11), with Student's t.

    Examples
    --------
    >>> frame = pd.DataFrame({"query_id": list("aabbccdd") * 4, "here": range(32), "there": [*range(31), 0]})
    >>> frame["query_id"] += (frame.index // 8).astype(str)
    >>> estimate = together(frame)
    >>> estimate.low < estimate.value < estimate.high
    True
    """
    here, there = both["here"].to_numpy(dtype=float), both["there"].to_numpy(dtype=float)
    if len(both) < 3 or np.ptp(here) == 0 or np.ptp(there) == 0:
        return Estimate.missing("too few pairs, or judgments that are all equal")
    query, names = pd.factorize(both["query_id"])
    total = _moments(here, there)
    value = _correlation(total)
    parts = np.zeros((len(names), len(total)))
    np.add.at(parts, query, np.stack([np.ones_like(here), here, there, here**2, there**2, here * there], axis=1))
    if len(names) < FEWEST_QUERIES:
        return Estimate(value, reason=f"fewer than {FEWEST_QUERIES} queries give no interval")
    without = np.array([_correlation(total - part) for part in parts])
    if not np.isfinite(without).all() or abs(value) >= 1:
        return Estimate(value, reason="one query decides it alone")
    z = np.arctanh(np.clip(without, -0.999999, 0.999999))
    count = len(names)
    error = np.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    reach = float(stdtrit(count - 1, 0.975)) * error
    low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return Estimate(value, float(low), float(high))


def _moments(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.array(
        [len(here), here.sum(), there.sum(), (here**2).sum(), (there**2).sum(), (here * there).sum()], dtype=float
    )


def _correlation(moments: np.ndarray) -> float:
    n, x, y, xx, yy, xy = moments
    spread = (n * xx - x * x) * (n * yy - y * y)
    return float((n * xy - x * y) / np.sqrt(spread)) if n > 1 and spread > 1e-12 else float("nan")


def _share_of_both(both: pd.DataFrame, own: Judgments, other: Judgments) -> float | None:
    good = both["here"] > own.scale.scale.cut
    return float((both.loc[good, "there"] > other.scale.scale.cut).mean()) if good.any() else None
