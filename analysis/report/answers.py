"""The page of a study of answers: which model people judge best."""

from __future__ import annotations

from pathlib import Path

from relstudy.analysis.answers import answers_of_study, sentences
from relstudy.analysis.report.layout import Page, Paragraph, Section
from relstudy.analysis.report.tables import Column, Table


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
