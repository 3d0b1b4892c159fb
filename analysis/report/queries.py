"""The systems query by query: where each does well, and the queries on which the first one does worst."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.analysis.indices.registry import NORMALISED_RANK, SAME_QUERY
from relstudy.analysis.report import pictures
from relstudy.analysis.report.collection import Items
from relstudy.analysis.report.layout import Block, Folded, Picture, Section
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.verdict.verdict import Verdict
from relstudy.common.results.estimates import Estimate

MOST_SYSTEMS = 12
WORST = 3


def queries_section(
    result: ScoreResult, verdict: Verdict, items: Items | None = None, with_pictures: bool = True
) -> Section | None:
    """The section on good matches above poor ones within each query; None where no query defines it.

    Parameters
    ----------
    items : what queries and results are, where the study's folder knows
    with_pictures : whether the worst queries are shown as small pictures
    """
    above = 1 - result.per_query.pivot(index="query_id", columns="system", values=NORMALISED_RANK.name)
    names = [name for name in verdict.standings.names if above[name].notna().any()][:MOST_SYSTEMS]
    if not names:
        return None
    blocks: list[Block] = []
    by_name = {name: 100 * above[name].dropna().to_numpy() for name in names}
    figures = {name: result[name].shown(SAME_QUERY).value for name in names}
    lines = {name: np.nan if value is None else 100 * value for name, value in figures.items()}
    blocks.append(
        Picture(
            [pictures.strips(by_name, lines)],
            "Each dot is a query: how often, in 100, a good match is above a poor one among its rated results. The "
            f"short black line is the system's {SAME_QUERY.term}, the dotted line at 50 chance.",
            wide=True,
            narrow=[pictures.strips(by_name, lines, narrow=True)],
            name="Queries",
        )
    )
    worst = _worst(result, names, above, items, with_pictures)
    blocks.append(Folded(f"Where {names[0]} does worst", [worst]))
    return Section("queries", "Query by query", blocks)


def _worst(
    result: ScoreResult, names: list[str], above: pd.DataFrame, items: Items | None, with_pictures: bool
) -> Table:
    of_system = result.per_query[result.per_query["system"] == names[0]]
    rank = {name: ranks_of(result, name) for name in names[:4]}
    pairs = dict(zip(of_system["query_id"], of_system["pairs"], strict=True))
    worst = above[names[0]].sort_values(kind="stable").index[:WORST].tolist()
    rows: list[list[Cell]] = []
    for query in worst:
        row: list[Cell] = [query, items.text(query) if items else "", int(pairs[query])]
        for name in names[:4]:
            value = 1 - rank[name][query]
            row.append(value if np.isfinite(value) else Estimate.missing("no good or no poor match"))
        rows.append(row)
    columns = [Column("Query"), Column("What it is"), Column("Rated results"), *(Column(name) for name in names[:4])]
    return Table(
        "worst-queries",
        f"The {len(worst)} queries on which {names[0]} does worst: how often a good match is above a poor one",
        columns,
        rows,
        pictures={query: items.thumbnail(query) for query in worst} if items and with_pictures else {},
        note="All queries are in per_query.csv, which `relstudy score --out` writes.",
    )


def ranks_of(result: ScoreResult, name: str) -> dict[str, float]:
    """A system's normalised rank by query."""
    rows = result.per_query[result.per_query["system"] == name]
    return {str(query): float(rank) for query, rank in zip(rows["query_id"], rows[NORMALISED_RANK.name], strict=True)}
