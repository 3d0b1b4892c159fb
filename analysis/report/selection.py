"""The paper's tables about how pairs were selected: 5.2, 5.3-5.6, 5.7, 5.8 and 5.10."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from relstudy.analysis.indices.correlation import CorrelationBootstrap
from relstudy.analysis.indices.known import NORMALISED_RANK
from relstudy.analysis.indices.uniformity import uniformity_table
from relstudy.analysis.report.layout import Block, Heading, Paragraph
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.report.words import order_of, orders_agree
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.analysis.resampling.draws import Draws
from relstudy.analysis.scoring.candidate import MappedScores
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.estimates import Estimate
from relstudy.common.pairs_table import NO_SYSTEM, RANDOM, one_row_per_source, source_members
from relstudy.common.wording import listed, percent

FEWEST_PAIRS = 20
"""A correlation over fewer pairs of one source is not shown."""


def chose_pairs(names: Sequence[str], sources: np.ndarray | None) -> list[str]:
    """The systems that proposed any of the pairs; all of them where none did, or where it is not known.

    Examples
    --------
    >>> chose_pairs(["a", "b", "new"], np.array(["a", "b;a", "random"]))
    ['a', 'b']
    >>> chose_pairs(["new"], np.array(["a", "random"]))
    ['new']
    """
    members = {} if sources is None else source_members(sources)
    return [name for name in names if name in members] or list(names)


def uniformity(ratings: pd.DataFrame, categories: Sequence[float]) -> Table:
    """Table 5.2: how evenly the responses to each system's pairs use the scale.

    Parameters
    ----------
    ratings : one row per rating, with rating (NaN: undecided), source and round
    categories : the values of the scale
    """
    frame = one_row_per_source(ratings[["round", "rating", "source"]])
    table = uniformity_table(frame, categories)
    table = table[table["source"] != "all"]
    whole = uniformity_table(ratings.assign(source="all"), categories, by=("round", "source"))
    table = pd.concat([table, whole[whole["source"] == "all"].drop_duplicates(["round"])], ignore_index=True)
    table = table.sort_values("round", kind="stable")
    several = table["round"].nunique() > 1
    columns = [Column("Pairs proposed by"), *([Column("Round")] if several else []), Column("Ratings")]
    columns += [Column(f"{value:g}", 0, percent=True) for value in categories] + [Column("Uniformity error")]
    cells: list[list[Cell]] = []
    for entry in table.to_dict("records"):
        name = {"all": "all pairs", RANDOM: "drawn at random"}.get(str(entry["source"]), str(entry["source"]))
        row: list[Cell] = [name, *([str(entry["round"])] if several else []), int(entry["responses"])]
        row += [_share(entry[f"share_{value:g}"]) for value in categories]
        cells.append([*row, _share(entry["error"])])
    even = 1 / len(categories)
    return Table(
        "uniformity",
        "How evenly the ratings use the scale, by the system that proposed the pair (table 5.2 of the paper).",
        columns,
        cells,
        note=f"The error is the mean distance of the shares from {percent(even)}: 0 when every value is used alike. "
        "A pair proposed by several systems counts for each.",
    )


def _share(value: float) -> Cell:
    return Estimate.missing("no rating") if not np.isfinite(value) else float(value)


def by_source(
    result: ScoreResult,
    members: Mapping[str, np.ndarray],
    predictions: Mapping[str, Mapping[str, MappedScores]],
    draws: Draws,
) -> list[Table]:
    """Tables 5.3-5.6: for each system, the correlation by mapping method on the pairs that each system selected.

    Parameters
    ----------
    members : the pairs of each source, bool [pairs]
    predictions : by system and method, out-of-fold mapped scores
    draws : of the judged pairs
    """
    shown = [name for name, pairs in members.items() if pairs.sum() >= FEWEST_PAIRS]
    prepared: dict[bytes, CorrelationBootstrap] = {}

    def pearson(mapped: MappedScores, pairs: np.ndarray) -> BootstrapStatistic:
        used = pairs & np.isfinite(mapped.values)
        key = np.packbits(used).tobytes()
        if key not in prepared:
            prepared[key] = CorrelationBootstrap(draws.row[used], result.judgment[used], draws.times)
        figure = prepared[key].correlate(mapped.values[used], ("pearson",))["pearson"]
        return figure.widened(1 + mapped.mapping.noise)

    tables = []
    everything = np.ones(len(draws.row), dtype=bool)
    for system in order_of(result):
        rows: list[list[Cell]] = []
        for method, mapped in predictions.get(system.name, {}).items():
            figures = {name: pearson(mapped, members[name]) for name in shown}
            by_systems = [figure for name, figure in figures.items() if name not in NO_SYSTEM]
            rows.append(
                [
                    method,
                    *(figure.estimate() for figure in figures.values()),
                    _mean(by_systems),
                    pearson(mapped, everything).estimate(),
                ]
            )
        if rows:
            tables.append(
                Table(
                    f"by-source-{system.name}",
                    f"Correlation of mapped {system.name} scores with judgments, by mapping and by the system that "
                    "selected the pairs.",
                    [
                        Column("Mapping"),
                        *(Column("Drawn at random" if name == RANDOM else f"Pairs by {name}") for name in shown),
                        Column("Mean"),
                        Column("All"),
                    ],
                    rows,
                    note="Mean is over the systems' selections; pairs drawn at random, or in a later round by all "
                    "systems together (combined), are not in it.",
                    best=(("Mean", "max"), ("All", "max")) if len(rows) > 1 else (),
                )
            )
    return tables


def _mean(figures: Sequence[BootstrapStatistic]) -> Estimate:
    if not figures:
        return Estimate.missing("no system selected enough pairs")
    if any(not np.isfinite(figure.value) for figure in figures):
        return Estimate.missing("one of the sources has no correlation")
    replicates = np.mean([figure.replicates for figure in figures], axis=0)
    return BootstrapStatistic(float(np.mean([figure.value for figure in figures])), replicates).estimate()


def combined(result: ScoreResult, chose: Collection[str]) -> Table:
    """Table 5.7: each system with the mapping that it is scored by, on all pairs.

    Shirahatti and Barnard take each system's most favourable mapping; here it is the mapping given, else the one by the
    method that the scoring run was asked for.

    Parameters
    ----------
    chose : the systems that chose pairs
    """
    both = not {system.name for system in result.systems} <= set(chose)
    rows: list[list[Cell]] = []
    for system in order_of(result):
        method = "none" if system.mapping is None else system.mapping.method
        in_sample = Estimate.missing("no mapping") if system.in_sample is None else system.in_sample.pearson
        out_of_sample = system.raw if system.mapped_scores is None else system.mapped
        chosen: list[Cell] = ["yes" if system.name in chose else "no"] if both else []
        rows.append([system.name, *chosen, method, out_of_sample.pearson, in_sample.value, system.raw.pearson])
    return Table(
        "combined",
        "Correlation of each system with the mapping that it is scored by, on all pairs "
        "(compare table 5.7 of the paper).",
        [
            Column("System"),
            *([Column("Chose pairs")] if both else []),
            *(Column("Mapping"), Column("Out of sample"), Column("In sample"), Column("Raw scores")),
        ],
        rows,
        note="Out of sample is the figure to quote: each pair is mapped by a fit that has not seen its query. "
        "The paper reports the flattering figure in sample."
        + (" A system that chose no pairs is scored on those that others chose." if both else ""),
    )


def ranks(result: ScoreResult) -> Table:
    """Table 5.8: normalised rank, the paper's two forms, and a random order."""
    columns = [Column("System"), Column("Weighted"), Column("Eq. 5.3"), Column("Eq. 5.5")]
    columns += [Column("Random: weighted"), Column("Random: Eq. 5.3"), Column("Random: Eq. 5.5")]
    keys = ["plain_eq_5_3", "fifth_power_eq_5_5", "random_weighted", "random_plain", "random_fifth_power"]
    rows: list[list[Cell]] = []
    for system in sorted(order_of(result), key=lambda s: _last(s.estimate(NORMALISED_RANK).value)):
        variants: list[Cell] = []
        for key in keys:
            value = system.normalised_rank_variants.get(key)
            variants.append(Estimate.missing("") if value is None else float(value))
        rows.append([system.name, system.estimate(NORMALISED_RANK), *variants])
    return Table(
        "normalised-rank",
        "Normalised rank of each system, and of a random order (table 5.8 of the paper).",
        columns,
        rows,
        note="0 is best. Weighted is the index used on this page; Eq. 5.3 treats all judged pairs alike; Eq. 5.5 is "
        "the paper's correction for sampling, which follows ranks and not the design. Systems that look alike by "
        "Eq. 5.3 can differ by the weighted index: the judged pairs hold far more good matches, and fewer of the poor "
        "ones that nobody proposed, than the collection does.",
        best=(("Weighted", "min"),) if len(rows) > 1 else (),
    )


def _last(value: float | None) -> float:
    return np.inf if value is None else value


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


def variants(result: ScoreResult) -> list[Block]:
    """Table 5.10 and the like: a system with one kind of feature against the other and against both."""
    ordered = [system.name for system in order_of(result)]
    blocks: list[Block] = []
    for stem, members in families(ordered).items():
        rows: list[list[Cell]] = [
            [name, *(result[name].shown(index) for index in result.own_indices)] for name in members
        ]
        features = any(re.search("colou?r|texture", name) for name in members)
        table = Table(
            f"variants-{stem}",
            f"Variants of {stem} (compare table {'5.10' if features else '5.7'} of the paper).",
            [Column("Variant"), *(Column(index.title) for index in result.own_indices)],
            rows,
            best=tuple((index.title, index.shown_better) for index in result.own_indices),
        )
        blocks += [table, *_orders_sentence(result, members, f"the variants of {stem}")]
    if blocks:
        blocks.insert(0, Heading("Variants of one system"))
    return blocks


def orders(result: ScoreResult, chose: Collection[str]) -> list[Block]:
    """True where the indices agree on the order of the systems that chose pairs, and of all where there are more."""
    if {system.name for system in result.systems} <= set(chose):
        return _orders_sentence(result, chose, "the systems")
    return [
        *_orders_sentence(result, chose, "the systems that chose pairs"),
        *_orders_sentence(result, [system.name for system in result.systems], "all systems"),
    ]


def _orders_sentence(result: ScoreResult, among: Collection[str], who: str) -> list[Block]:
    text = orders_agree(result, among, who)
    return [Paragraph(text)] if text else []


def orders_by_selection(result: ScoreResult, members: Mapping[str, np.ndarray], chose: Collection[str]) -> list[Block]:
    """True where the order of the systems that chose pairs depends on who selected the pairs: a sentence and a
    table."""
    best = {
        system.name: system.mapped_scores
        for system in result.systems
        if system.mapped_scores is not None and system.name in chose
    }
    everything = np.ones(len(result.judgment), dtype=bool)
    strengths = {
        source: {name: _pearson(score, result.judgment, pairs) for name, score in best.items()}
        for source, pairs in {"all pairs": everything, **members}.items()
        if pairs.sum() >= FEWEST_PAIRS
    }
    whole = strengths.pop("all pairs", {})
    if len(best) < 2 or not strengths:
        return []
    from scipy.stats import kendalltau

    by_source = {source: _order(strength) for source, strength in strengths.items()}
    rows: list[list[Cell]] = [["all pairs", " > ".join(_order(whole)), Estimate.missing("")]]
    for source, strength in strengths.items():
        tau = float(kendalltau([whole[name] for name in best], [strength[name] for name in best]).statistic)
        reason = "a correlation is missing"
        rows.append(
            [source, " > ".join(by_source[source]), Estimate.of(tau, reason=None if np.isfinite(tau) else reason)]
        )
    same = [source for source, order in by_source.items() if order == _order(whole)]
    many = len(by_source)
    text = (
        "The order of the systems is the same whoever selected the pairs."
        if len(same) == many
        else f"The order of the systems is that of all pairs in {len(same)} of {many} selections"
        + (f" ({listed(same)})." if same else ".")
    )
    table = Table(
        "orders-by-selection",
        "The order of the systems by correlation, by the system that selected the pairs.",
        [Column("Pairs selected by"), Column("Order"), Column("Tau with all pairs")],
        rows,
        note="Kendall's tau: 1 is the same order, 0 no relation.",
    )
    return [Paragraph(text), table]


def _order(strength: Mapping[str, float]) -> list[str]:
    return sorted(strength, key=lambda name: -strength[name] if np.isfinite(strength[name]) else np.inf)


def _pearson(score: np.ndarray, judgment: np.ndarray, pairs: np.ndarray) -> float:
    used = pairs & np.isfinite(score)
    if used.sum() < 3 or np.ptp(score[used]) == 0 or np.ptp(judgment[used]) == 0:
        return float("nan")
    return float(np.corrcoef(score[used], judgment[used])[0, 1])
