"""Figures 5.1 and 5.2: the pairs that people disagree on most, with their pictures, and the binary scale."""

from __future__ import annotations

import html
import io
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.special import chdtri

from relstudy.analysis.report.layout import Block, Paragraph, Picture
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.tables import Cell, Column, Table, number, shown_number
from relstudy.calibration.panel import Panel
from relstudy.calibration.plots import binary_against_graded, variance_before_and_after
from relstudy.calibration.reliability.within_pair_variance import pair_variances
from relstudy.common.charts.pictures import thumbnail_of
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

PAIRS = 6
FEWEST_RATINGS = 3
"""The variance of two ratings says little of one pair."""
KEYWORDS = "keywords"
"""The system that counts the words which query and result share."""
SIDE = 150
"""Pixels of a picture's longer side."""


def disputed(study: PaperStudy) -> list[Block]:
    """Figure 5.1: variance against mean rating, and the pairs of greatest variance."""
    if study.panels is None:
        return []
    rated, calibrated = study.panels
    panel = rated if calibrated is None else calibrated
    blocks: list[Block] = []
    if calibrated is not None:
        blocks.append(
            Picture(
                [variance_before_and_after(rated, calibrated)],
                "Figure 5.1: variance among raters of each pair against its mean rating.",
                wide=True,
                name="Figure 5.1",
            )
        )
    pairs = most_disputed(panel)
    if pairs.empty:
        return blocks
    columns = (pairs[name].tolist() for name in ("query_id", "result_id", "ratings", "mean", "variance", "by_chance"))
    rows: list[list[Cell]] = [
        [query, result, int(count), mean, variance, chance]
        for query, result, count, mean, variance, chance in zip(*columns, strict=True)
    ]
    drawings = [
        drawn
        for query, result, count, mean, variance, _ in rows
        if (drawn := _drawn(study, str(query), str(result), f"{_said(mean, variance)}, {count} ratings")) is not None
    ]
    if drawings:
        caption = "Figure 5.1: the pairs that people disagree on most; the query is to the left of its result."
        blocks.append(Picture(drawings, caption, name="Disputed pairs"))
    headings = [Column("Query"), Column("Result"), Column("Ratings", 0), Column("Mean"), Column("Variance")]
    headings.append(Column("Greatest by chance"))
    note = f"Pairs of the base block, which everybody rated; without one, pairs with {FEWEST_RATINGS} ratings or more. "
    note += "If all pairs varied equally, the greatest variance would be above the last column in 5 of 100 studies. "
    note += "Whether a pair is abstract, as the paper has it, is for the "
    note += "eye. What differs: the paper picks its pairs; these are the ones of greatest variance, calibrated."
    caption = "Figure 5.1: the pairs of greatest variance among raters."
    return [*blocks, Table("figure-5-1", caption, headings, rows, note=note)]


def most_disputed(panel: Panel, most: int = PAIRS) -> pd.DataFrame:
    """The pairs of greatest variance among raters: of the base block, which everybody rated, if any.

    Returns
    -------
    DataFrame: query_id, result_id, ratings, mean, variance, by_chance; greatest first. by_chance: the greatest
    variance among so many pairs would be above it in 5 of 100 studies if all pairs varied alike, normally.
    """
    decided = panel.decided()
    count = decided.by_pair()
    table = pd.DataFrame(
        {
            "query_id": panel.pairs["query_id"].astype(str),
            "result_id": panel.pairs["result_id"].astype(str),
            "ratings": count,
            "mean": decided.by_pair(decided.rating) / np.maximum(count, 1),
            "variance": pair_variances(panel),
        }
    )
    enough = count >= FEWEST_RATINGS
    table = table[enough & panel.base if (enough & panel.base).any() else enough]
    free = table["ratings"] - 1
    alike = float((table["variance"] * free).sum() / max(free.sum(), 1))
    table = table.assign(by_chance=alike * chdtri(free, 1 - 0.95 ** (1 / max(len(table), 1))) / free)
    return table.sort_values(["variance", "query_id", "result_id"], ascending=[False, True, True]).head(most)


def _said(mean: Cell, variance: Cell) -> str:
    return f"mean {shown_number(number(mean))}, variance {shown_number(number(variance))}"


def equal_words(study: PaperStudy) -> list[Block]:
    """Figure 3.1: two results of one query with equal keyword scores and different meaning to people."""
    if KEYWORDS not in [system.name for system in study.systems]:
        return []
    pairs = study.pairs
    scored = pd.DataFrame({"query": pairs.query_id, "result": pairs.result_id, "judgment": pairs.judgment})
    scored = scored.assign(score=study.result[KEYWORDS].pair_scores)
    shared = scored[scored["score"] > 0].sort_values(["judgment", "result"])
    apart = shared.groupby(["query", "score"])["judgment"].agg(np.ptp)
    if apart.empty or apart.max() == 0:
        return []
    queries, scores = (apart.index.get_level_values(level).tolist() for level in ("query", "score"))
    widest = int(np.argmax(apart.to_numpy()))
    query, score = str(queries[widest]), float(scores[widest])
    alike = shared[(shared["query"] == query) & (shared["score"] == score)].iloc[[-1, 0]]
    results, judgments = alike["result"].astype(str).tolist(), alike["judgment"].tolist()
    rows: list[list[Cell]] = [
        [query, result, score, judgment] for result, judgment in zip(results, judgments, strict=True)
    ]
    drawings = [
        drawn
        for result, judgment in zip(results, judgments, strict=True)
        if (drawn := _drawn(study, query, result, f"judgment {shown_number(judgment)}")) is not None
    ]
    caption = "Figure 3.1: two results of one query with equal keyword scores and different meaning to people."
    headings = [Column("Query"), Column("Result"), Column("Keyword score"), Column("Judgment")]
    note = "What differs: the two are those of this study whose judgments are furthest apart."
    table = Table("figure-3-1", caption, headings, rows, note=note)
    return [*([Picture(drawings, caption, name="Figure 3.1")] if drawings else []), table]


def _drawn(study: PaperStudy, query: str, result: str, said: str) -> str | None:
    """Query and result side by side with what is said of them beneath; None where one is absent or unreadable."""
    images = [study.picture_of(item) for item in (query, result)]
    shown = ["" if image is None else thumbnail_of(io.BytesIO(image), 2 * SIDE) for image in images]
    if not all(shown):
        return None
    label = html.escape(f"Query {query} and result {result}: {said}", quote=True)
    parts = [
        f'<image x="{8 + position * (SIDE + 12)}" y="8" width="{SIDE}" height="{SIDE}" href="{address}"/>'
        for position, address in enumerate(shown)
    ]
    width = 2 * SIDE + 28
    text = f'<text x="8" y="{SIDE + 30}" font-size="13" fill="var(--ink, #1b1e23)">{html.escape(said)}</text>'
    return (
        f'<svg class="figure" role="img" aria-label="{label}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width} {SIDE + 42}" style="font-family: system-ui, sans-serif">{"".join(parts)}{text}</svg>'
    )


def interfaces(study: PaperStudy) -> list[Block]:
    """Figure 5.2: graded against binary answers to the same pairs, if there are both."""
    blocks: list[Block] = []
    for (one, binary), (other, graded) in permutations(study.interfaces.items(), 2):
        if len(binary.scale.scale.values) > 2 or len(graded.scale.scale.values) <= 2:
            continue
        if binary.frame.merge(graded.frame, on=PAIR).empty:
            continue
        scale = binary.scale.scale
        answers = binary.frame.assign(rating=(binary.frame["rating"] - scale.low) / (scale.high - scale.low))
        caption = f"Figure 5.2: the fraction of good matches by {one}, by what {other} says of the same pairs."
        drawn = binary_against_graded(answers, graded.frame)
        blocks.append(Picture([drawn], caption, wide=True, name="Figure 5.2"))
    if blocks:
        return blocks
    text = "Figure 5.2 needs ratings of the same pairs on a binary and on a graded scale: --interface DIR names the "
    return [Paragraph(text + "folder of another interface's calibration.")]
