"""The example study and its report, made once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relstudy.analysis.report.choices import PageChoices
from relstudy.analysis.report.inputs import StudyTables, read_study
from relstudy.analysis.report.layout import Page
from relstudy.analysis.report.study import study_page
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from tests.places import EXAMPLE


def quietly(items: Iterable[Any], what: str, total: int | None) -> Iterator[Any]:
    """Progress that shows nothing."""
    del what, total
    return iter(items)


@pytest.fixture(scope="session")
def tables() -> StudyTables:
    return read_study(EXAMPLE)


@pytest.fixture(scope="session")
def made(tables: StudyTables) -> tuple[Page, ScoreResult]:
    options = ScoringOptions(replicates=200, folds=5)
    page, result, _ = study_page(tables, options, ["relstudy", "report", "DIR"], quietly, PageChoices(by_source=True))
    return page, result


@pytest.fixture(scope="session")
def page(made: tuple[Page, ScoreResult]) -> Page:
    return made[0]


@pytest.fixture(scope="session")
def result(made: tuple[Page, ScoreResult]) -> ScoreResult:
    return made[1]


@pytest.fixture(scope="session")
def html(page: Page) -> str:
    return page.html()


@pytest.fixture(scope="session")
def page_file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(html, encoding="utf-8")
    return path
