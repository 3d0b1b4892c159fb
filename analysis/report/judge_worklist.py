"""The pairs of a judge that are worth a look: where it and people differ most, and where it is least sure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.precision_recall import RELEVANT
from relstudy.analysis.judges.allocation import residual
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.layout import Block, Example, Examples, Page, Paragraph, Section
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

MOST = 24
"""Pairs of either kind."""
DIFFER, UNSURE = "differ", "unsure"


def worklist(universe: Universe, confidence: np.ndarray | None = None, most: int = MOST) -> pd.DataFrame:
    """The pairs worth a look, the worst first.

    Pairs on which judge and people differ are those that people judged, by how far their judgment is from what the
    judge's grade is worth in other queries. Those of which the judge is least sure are those that people did not
    judge, by how open the grade leaves what people say, and by the confidence that the judge named; of each query one
    before a second of any.

    Parameters
    ----------
    confidence : float [rows of the judge's table], NaN where the judge named none; None where it names none
    most : pairs of either kind

    Returns
    -------
    DataFrame[why (differ or unsure), query_id, result_id, grade, worth, people (NaN where not judged), confidence];
    worth is on the scale of judgments
    """
    judge, worth = universe.judge, universe.worth
    named = np.full(len(judge), np.nan) if confidence is None else confidence
    rows = universe.row_of_judged[universe.given]
    people = universe.context.pairs.judgment[universe.given]
    answered = judge.answered[rows]
    gap = np.where(answered, np.abs(people - worth.judgment[rows]), -1.0)
    differ = np.argsort(-gap, kind="stable")[: min(most, int(answered.sum()))]
    open_ = np.ones(len(judge), dtype=bool)
    open_[rows] = False
    left = np.flatnonzero(open_ & judge.answered)
    sure = np.nan_to_num(named[left], nan=1.0)
    # grades whose worth is the same to three digits leave the same open
    order = left[np.lexsort((sure, -np.round(residual(universe, RELEVANT)[left], 3)))]
    turn = pd.Series(judge.query_id[order]).groupby(judge.query_id[order]).cumcount().to_numpy()
    unsure = order[np.argsort(turn, kind="stable")][:most]

    def table(why: str, row: np.ndarray, said: np.ndarray) -> pd.DataFrame:
        ids = {name: getattr(judge, name)[row] for name in PAIR}
        figures = {"grade": judge.rating[row], "worth": worth.judgment[row], "people": said, "confidence": named[row]}
        return pd.DataFrame({"why": why, **ids, **figures})

    parts = (table(DIFFER, rows[differ], people[differ]), table(UNSURE, unsure, np.full(len(unsure), np.nan)))
    return pd.concat([part for part in parts if len(part)] or [parts[0]], ignore_index=True)


def worklist_page(name: str, table: pd.DataFrame, items: Items | None) -> Page:
    """The page of a worklist, with the pictures and texts of its pairs.

    Parameters
    ----------
    name : of the judge
    table : as `worklist` gives it
    items : what queries and results are, where the study's folder knows
    """
    what = {
        DIFFER: (
            "Where judge and people differ most",
            "What the grade is worth is what people say of other queries' pairs with this grade. A look at these shows "
            "what the judge does not see, or which rating was a slip.",
        ),
        UNSURE: (
            "Where the judge is least sure",
            "People have not judged these, and pairs with such a grade are called relevant about as often as not.",
        ),
    }
    sections = []
    for why, (heading, text) in what.items():
        rows = table[table["why"] == why]
        blocks: list[Block] = [Paragraph(text)]
        if len(rows):
            blocks.append(Examples([_example(row, items) for row in rows.to_dict("records")]))
        else:
            blocks.append(Paragraph("There are none."))
        sections.append(Section(why, heading, blocks))
    lead = (
        "These pairs are chosen and not drawn: they say where the judge goes wrong, and have no part in any figure. "
        "relstudy sample --next --judge draws a round that asks people most where the judge is least sure, with "
        "probabilities that stay known."
    )
    return Page(f"Judge {name}", "Worklist", [lead], sections)


def _example(row: Mapping[Hashable, Any], items: Items | None) -> Example:
    ids = [str(row[name]) for name in PAIR]
    shown = [(item, items.text(item) if items else item) for item in ids]
    pictures = [items.thumbnail(item) if items else "" for item in ids]
    people, grade, worth = (float(row[name]) for name in ("people", "grade", "worth"))
    by = f"grade {grade:g} is worth"
    return Example(" → ".join(ids), shown, pictures, None if np.isnan(people) else people, worth, by)


def summary(table: pd.DataFrame) -> Sequence[str]:
    """The output on a worklist, one sentence each."""
    differ, unsure = (int((table["why"] == why).sum()) for why in (DIFFER, UNSURE))
    return (
        f"{differ} judged pairs on which judge and people differ most, and {unsure} of which the judge is least sure.",
        "They are chosen and not drawn, so they have no part in any figure; relstudy sample --next --judge draws.",
    )
