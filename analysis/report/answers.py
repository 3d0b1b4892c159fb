"""The pages of studies of answers, or of systems side by side: which people judge best, or prefer."""

from __future__ import annotations

from pathlib import Path

from relstudy.analysis.answers import answers_of_study, sentences
from relstudy.analysis.report.layout import Page, Paragraph, Section
from relstudy.analysis.report.tables import Column, Table
from relstudy.analysis.side_by_side import side_by_side_of_study


def answers_page(answers: Path, judgments: str | Path) -> Page:
    """The page of the models of a study of answers.

    Parameters
    ----------
    answers : answers.csv of the study's folder
    judgments : people's judgments of the answers
    """
    found = answers_of_study(answers, judgments)
    headline, *rest = sentences(found)
    table = Table(
        "models",
        "Models by people's mean judgment per question.",
        [
            Column("model"),
            Column("mean judgment"),
            Column("difference from the first", signed=True),
            Column("questions", 0),
        ],
        found.rows(),
        note="Intervals are for questions like these; the difference is paired by question.",
        number=True,
    )
    section = Section(
        "models", "Which model gives better answers?", [Paragraph(headline), table, *map(Paragraph, rest)]
    )
    title = answers.parent.resolve().name
    return Page(title, "Answers of models", [headline], [section])


def side_by_side_page(folder: Path, ratings: Path) -> Page:
    """The page of a study that asked which of two is better.

    Parameters
    ----------
    folder : the study's
    ratings : as `relstudy export` wrote them
    """
    found = side_by_side_of_study(folder, ratings)
    headline, *rest = found.sentences()
    table = Table(
        "preferred",
        f"How often people prefer the {found.what} of one system to those of another.",
        [Column("preferred system"), Column("over"), Column("share"), Column("answers", 0), Column("queries", 0)],
        found.rows(),
        note="Half of the ties count for each. Intervals are for raters and queries like these.",
        number=True,
    )
    section = Section(
        "preferred", f"Whose {found.what} do people prefer?", [Paragraph(headline), table, *map(Paragraph, rest)]
    )
    return Page(folder.resolve().name, "Systems side by side", [headline], [section])
