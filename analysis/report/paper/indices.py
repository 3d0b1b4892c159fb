"""Tables 5.8 and 5.10, and the curves of figure 5.3."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from relstudy.analysis.indices.normalised_rank import normalised_rank_fifth_power, random_assignment
from relstudy.analysis.indices.precision_recall import average_precision, precision_recall_curve
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, NORMALISED_RANK, PEARSON
from relstudy.analysis.report.curve_picture import precision_recall
from relstudy.analysis.report.layout import Block, Paragraph, Picture
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.pictures import Trace
from relstudy.analysis.report.tables import Cell, Column, Table, shown_number
from relstudy.analysis.scoring.judged_pairs import rank_power_weights
from relstudy.analysis.scoring.results import SystemScore
from relstudy.common.results.estimates import Estimate

POWER = 5
"""Of the ranks, in the pseudo-code of section 5.5.3 and in Eq. 5.5."""

MOST_POINTS = 600
"""Of a curve, evenly taken."""


def relevant_pairs(study: PaperStudy, used: np.ndarray) -> np.ndarray:
    """The paper's rule: a judgment above the middle of the scale, which is 3 on 1-5."""
    return np.asarray(study.pairs.judgment[used] > middle(study))


def middle(study: PaperStudy) -> float:
    """The middle of the judgments' scale."""
    scale = study.pairs.scale.scale
    return float(scale.low + scale.high) / 2


def _ranking(system: SystemScore) -> tuple[np.ndarray, np.ndarray]:
    used = np.isfinite(system.pair_scores)
    return used, system.direction.turned(system.pair_scores[used])


def normalised_ranks(study: PaperStudy) -> list[Block]:
    """Table 5.8: normalised rank by Eq. 5.5 and on random assignment, beside the weighted index."""
    rows: list[tuple[float, list[Cell]]] = []
    for system in study.systems:
        used, ranking = _ranking(system)
        relevant = relevant_pairs(study, used)
        if not relevant.any() or relevant.all():
            missing = Estimate.missing("all pairs are equal")
            rows.append((np.inf, [system.name, missing, missing, system.estimate(NORMALISED_RANK), 0.5]))
            continue
        printed = normalised_rank_fifth_power(relevant, ranking)
        chance = random_assignment(relevant)["fifth_power"]
        rows.append((printed, [system.name, printed, chance, system.estimate(NORMALISED_RANK), 0.5]))
    rows.sort(key=lambda row: row[0])
    return [
        Table(
            "table-5-8",
            "Table 5.8: normalised rank of each system, and on random assignment.",
            [
                *(Column("System"), Column("Eq. 5.5"), Column("Eq. 5.5 at random")),
                *(Column("Weighted"), Column("Weighted at random")),
            ],
            [cells for _, cells in rows],
            note=f"0 is best. Eq. 5.5 has fifth powers of ranks; a judgment above {middle(study):g} is relevant, as in "
            "the paper. What differs: its divisor D has the term that the print lost, and random assignment is its "
            "expectation instead of one draw. Weighted is the index of the report: each pair counts as one over its "
            "probability of being chosen, and relevance is the share of good ratings.",
            best=(("Eq. 5.5", "min"), ("Weighted", "min")) if len(rows) > 1 else (),
        )
    ]


def features(study: PaperStudy) -> list[Block]:
    """Table 5.10: one system with colour, with texture and with both."""
    blocks: list[Block] = []
    for stem, members in families([system.name for system in study.systems]).items():
        parts = feature_sets(members)
        if parts is None:
            continue
        estimates = {feature: study.result[name].estimate(PEARSON) for feature, name in parts.items()}
        rows: list[list[Cell]] = [[f"{feature} ({parts[feature]})", each] for feature, each in estimates.items()]
        table = Table(
            f"table-5-10-{stem}",
            f"Table 5.10: correlation scores for the low-level features used by {stem}, in standalone mode.",
            [Column("Evaluated feature"), Column("Correlation")],
            rows,
            note="What differs: out of fold and over the whole collection, with intervals over queries.",
            best=(("Correlation", "max"),),
        )
        blocks.append(table)
    if blocks:
        return blocks
    return [
        Paragraph(
            "Table 5.10 needs one system in three variants: NAME-colour, NAME-texture, and NAME with both features."
        )
    ]


def feature_sets(members: list[str]) -> dict[str, str] | None:
    """The variants with colour, with texture and with both; None where one of them is absent.

    Examples
    --------
    >>> feature_sets(["gift", "gift-texture", "gift-colour"])
    {'Colour only': 'gift-colour', 'Texture only': 'gift-texture', 'Texture and colour': 'gift'}
    """
    colour = [name for name in members if re.search("colou?r", name, re.IGNORECASE)]
    texture = [name for name in members if re.search("texture", name, re.IGNORECASE)]
    both = [name for name in members if name not in (*colour, *texture)]
    if not (colour and texture and both):
        return None
    return {"Colour only": colour[0], "Texture only": texture[0], "Texture and colour": both[0]}


def precision_by_ranks(study: PaperStudy) -> dict[str, float]:
    """Average precision of each system with the paper's weights, ranks to the fifth power."""
    found = {}
    for system in study.systems:
        used, ranking = _ranking(system)
        relevant = relevant_pairs(study, used)
        if relevant.any():
            found[system.name] = average_precision(relevant, ranking, rank_power_weights(ranking, POWER))
    return found


def curves(study: PaperStudy) -> list[Block]:
    """Figure 5.3: precision-recall curves of all systems with the paper's weights, and what these do to their order."""
    traces: dict[str, Trace] = {}
    by_rank = precision_by_ranks(study)
    for system in study.systems:
        used, ranking = _ranking(system)
        relevant = relevant_pairs(study, used)
        if not relevant.any():
            continue
        weights = rank_power_weights(ranking, POWER)
        curve = precision_recall_curve(relevant, ranking, weights)
        drawn = np.unique(np.linspace(0, len(curve.recall) - 1, MOST_POINTS).astype(int))
        traces[system.name] = Trace(np.r_[0.0, curve.recall[drawn]], np.r_[curve.precision[0], curve.precision[drawn]])
    if not traces:
        return []
    by_design = {name: study.result[name].estimate(AVERAGE_PRECISION).value for name in by_rank}
    return [
        Picture(
            [precision_recall(traces, None)],
            "Figure 5.3: precision-recall curves by the paper's rule: pairs pooled and sorted by score, each weighted "
            f"by the fifth power of its rank, relevant above {middle(study):g}. What differs: the report's own curves "
            f"weight by one over the probability of being chosen. {order_said(by_design, by_rank)}",
            wide=True,
            name="Figure 5.3",
        )
    ]


def order_said(by_design: Mapping[str, float | None], by_rank: Mapping[str, float]) -> str:
    """The effect of weights by the fifth power of ranks on the order of systems by average precision, as a sentence.

    Parameters
    ----------
    by_design, by_rank : average precision by system, with weights of the design and by ranks

    Examples
    --------
    >>> order_said({"a": 0.4, "b": 0.2, "c": 0.1}, {"a": 0.1, "b": 0.2, "c": 0.3})
    "The paper's weighting reverses the order: Kendall's tau −1.00 between the systems' average precision by ranks and \
by design. Read which system is better from the report's curves."
    """
    defined = {name: value for name, value in by_design.items() if value is not None}
    from scipy.stats import kendalltau

    tau = float(kendalltau(list(defined.values()), [by_rank[name] for name in defined]).statistic)
    if not np.isfinite(tau):
        return "The two weightings cannot be compared in their order of the systems."
    does = "reverses" if tau < 0 else "keeps" if tau == 1 else "changes"
    said = f"The paper's weighting {does} the order: Kendall's tau {shown_number(tau)} between the systems' average "
    said += "precision by ranks and by design."
    return said if tau == 1 else f"{said} Read which system is better from the report's curves."


def families(names: Sequence[str]) -> dict[str, list[str]]:
    """Systems that are variants of one: names that begin alike up to a hyphen or a bracket.

    Examples
    --------
    >>> families(["Keywords", "GIFT", "GIFT-colour", "GIFT-texture", "M3-a"])
    {'GIFT': ['GIFT', 'GIFT-colour', 'GIFT-texture']}
    """
    by_stem: dict[str, list[str]] = {}
    for name in names:
        by_stem.setdefault(re.split(r"[-_ (:/]", name, maxsplit=1)[0], []).append(name)
    return {stem: members for stem, members in by_stem.items() if len(members) > 1 and stem}
