"""The example study and its report, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from relstudy.analysis.report.inputs import PageTables
from relstudy.analysis.report.layout import Page
from relstudy.analysis.report.rendering import html_of
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from tests.analysis.report.pages import made_of, tables_of
from tests.places import EXAMPLE


@pytest.fixture(scope="session")
def tables() -> PageTables:
    return tables_of(EXAMPLE)


@pytest.fixture(scope="session")
def made() -> tuple[Page, ScoreResult]:
    page, run = made_of(EXAMPLE, ScoringOptions(replicates=200, folds=5))
    return page, run.result


@pytest.fixture(scope="session")
def page(made: tuple[Page, ScoreResult]) -> Page:
    return made[0]


@pytest.fixture(scope="session")
def result(made: tuple[Page, ScoreResult]) -> ScoreResult:
    return made[1]


@pytest.fixture(scope="session")
def html(page: Page) -> str:
    return html_of(page)


@pytest.fixture(scope="session")
def page_file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(html, encoding="utf-8")
    return path
