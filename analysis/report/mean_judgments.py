"""People's mean judgment of what each system returned, in the report of a study of search results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from relstudy.analysis.answers import compare_answers
from relstudy.analysis.report.layout import Paragraph, Section
from relstudy.analysis.report.tables import Column, Table
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.study_folder import ANSWERS


def mean_judgments_section(folder: Path | None, judgments: pd.DataFrame) -> Section | None:
    """People's mean judgment of the results that each system returned.

    Parameters
    ----------
    folder : a study's
    judgments : query_id, result_id, judgment (float), one row a judged pair

    Returns
    -------
    None if `relstudy ask` did not make the study, or none of the results is judged
    """
    if folder is None or not (folder / ANSWERS).is_file():
        return None
    table = read_table(folder / ANSWERS, "system", "query_id", "result_id").frame
    try:
        found = replace(compare_answers(judgments, table), what="results")
    except RelstudyError:
        return None
    shown = Table(
        "mean_judgments",
        "People's mean judgment of the results that each system returned.",
        [
            Column("System"),
            Column("Mean judgment"),
            Column("Difference from the leader", signed=True),
            Column("Queries", 0),
        ],
        found.rows(),
        note="Mean over queries of the mean judgment of the results returned for each, in any order. Differences "
        "are paired by query; 95 % intervals are for queries like these and these raters.",
        number=True,
    )
    return Section("mean-judgments", "What people think of each system's results", [Paragraph(found.headline), shown])
