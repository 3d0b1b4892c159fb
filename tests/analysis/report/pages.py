"""Scoring runs and their pages, as the commands make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from relstudy.analysis.pipeline import ScoringRun, score_tables
from relstudy.analysis.report.inputs import PageTables, page_tables
from relstudy.analysis.report.layout import Page
from relstudy.analysis.report.study import study_page
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from relstudy.calibration.tables.judgments import Judgments
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.mapping.scores.score_table import ScoreTable


def quietly(items: Iterable[Any], what: str, total: int | None) -> Iterator[Any]:
    """Progress that shows nothing."""
    del what, total
    return iter(items)


def run_of(judgments: pd.DataFrame, scores: pd.DataFrame, options: ScoringOptions) -> ScoringRun:
    """The scoring run of two tables alone."""
    return score_tables(StudyTables(Judgments.of(judgments)), [("scores", ScoreTable.of(scores))], options, fitted={})


def page_of(run: ScoringRun) -> Page:
    """The page of a run without a study's folder."""
    return study_page(run, page_tables(run.study), ["relstudy"])


def tables_of(folder: Path) -> PageTables:
    """What the page of a study's folder shows beside the figures."""
    scored = read_study_folder(folder)
    return page_tables(scored.study, folder, scored.files)


def made_of(folder: Path, options: ScoringOptions) -> tuple[Page, ScoringRun]:
    """The page of a study's folder, and its run."""
    scored = read_study_folder(folder)
    run = score_study(scored, options)
    tables = page_tables(run.study, folder, scored.files)
    return study_page(run, tables, ["relstudy", "report", "DIR"]), run
