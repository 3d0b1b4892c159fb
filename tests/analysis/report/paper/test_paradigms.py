"""Queries by image and by text are apart in the paper's tables: each is fitted and scored on its own pairs alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.report.inputs import page_tables
from relstudy.analysis.report.layout import Page, Paragraph
from relstudy.analysis.report.paper.page import paper_page
from relstudy.analysis.report.paper.reading import paper_study
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Table
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.study_run import read_study_folder, score_study
from relstudy.mapping.least_squares.isotonic import BaggedMapping
from tests.analysis.report.pages import quietly
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow


def study_in(folder: Path) -> PaperStudy:
    run = score_study(read_study_folder(folder), ScoringOptions(replicates=50, folds=2))
    return paper_study(run, page_tables(run.study, folder))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with every third query asked by text, which gift does not answer."""
    folder = tmp_path_factory.mktemp("mixed") / "study"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mappings", "gift-*", "simplicity*", "report"))
    pairs = pd.read_csv(folder / "pairs.csv")
    by_text = pairs["query_id"].isin(sorted(set(pairs["query_id"]))[::3])
    pairs.assign(paradigm=np.where(by_text, "text", "image")).to_csv(folder / "pairs.csv", index=False)
    scores = pd.read_csv(folder / "scores" / "gift.csv")
    text = set(pairs.loc[by_text, "query_id"])
    scores[~scores["query_id"].isin(text)].to_csv(folder / "scores" / "gift.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def study(mixed: Path) -> PaperStudy:
    return study_in(mixed)


@pytest.fixture(scope="module")
def paper(study: PaperStudy) -> Page:
    return paper_page(study, ["relstudy", "report", "DIR"], quietly, ("bagged",))


def queries(study: PaperStudy) -> set[str]:
    return set(study.pairs.query_id)


def test_each_paradigm_has_its_own_pairs_ratings_and_systems(study: PaperStudy, mixed: Path) -> None:
    text = study.by_text
    assert text is not None
    asked = pd.read_csv(mixed / "pairs.csv").groupby("paradigm")["query_id"].agg(set)
    for part, word in ((study, "image"), (text, "text")):
        assert queries(part) <= asked[word]
        assert part.ratings is not None and set(part.ratings.frame["query_id"]) <= asked[word]
        assert part.drawn is not None and set(part.drawn["query_id"]) == asked[word]
        assert part.sources is not None and len(part.sources) == len(part.pairs) == len(part.result.judgment)
    assert {system.name for system in study.systems} == {"gift", "keywords"}
    assert {system.name for system in text.systems} == {"keywords"}


def test_tables_of_queries_by_image_are_those_of_a_study_without_queries_by_text(
    study: PaperStudy, mixed: Path, tmp_path: Path, paper: Page
) -> None:
    folder = tmp_path / "images"
    shutil.copytree(mixed, folder)
    text = set(study.by_text.pairs.query_id) if study.by_text else set()
    for name in ("judgments.csv", "calibrated.csv", "pairs.csv", "ratings.csv"):
        if (folder / name).is_file():
            frame = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
            frame[~frame["query_id"].isin(text)].to_csv(folder / name, index=False)
    alone = paper_page(study_in(folder), [], quietly, ("bagged",))
    expected = {table.name: table.csv() for table in alone.tables()}
    found = {table.name: table.csv() for table in paper.tables()}
    names = [name for name in expected if name.startswith(("table-5-3", "table-5-4", "table-5-7", "table-5-9"))]
    assert len(names) == 4
    for name in names:
        assert found[name] == expected[name], name


def test_section_57_is_the_fit_to_the_queries_by_text_alone(study: PaperStudy, paper: Page) -> None:
    table = next(table for table in paper.tables() if table.name == "section-5-7")
    text = study.by_text
    assert text is not None
    score, judgment = text.result["keywords"].pair_scores, text.pairs.judgment
    fit = BaggedMapping(seed=0, increasing="auto").fit(score, judgment, groups=text.pairs.query_id)
    row = dict(zip((column.name for column in table.columns), table.rows[0], strict=True))
    expected = np.corrcoef(fit.mapping_.predict(score), judgment)[0, 1]
    assert row["By text, in sample"] == pytest.approx(expected, abs=1e-9)
    said = [block.text for section in paper.sections for block in section.blocks if isinstance(block, Paragraph)]
    assert any(text.startswith("On queries by text keywords has") for text in said)


def test_table_51_has_a_column_for_each_paradigm(paper: Page) -> None:
    table = next(table for table in paper.tables() if table.name == "table-5-1")
    assert isinstance(table, Table)
    assert [column.name for column in table.columns[1:]] == ["query by image, 1-5", "query by text, 1-5"]
