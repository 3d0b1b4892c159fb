"""Tables 5.1, 5.2 and 5.9: what calibration does, how evenly people answer, and whether one rater sways the figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.analysis.report.raters_sections import scale_values
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.calibration.panel import Panel
from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.calibration.reliability.within_pair_variance import within_item_variance
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import listed, percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import RANDOM, one_row_per_source

FEWEST_RATINGS = 20
"""A correlation with fewer ratings of one side is not shown."""


def calibration(study: PaperStudy) -> list[Block]:
    """Table 5.1: variance among raters of the common set, before and after calibration, a column per interface."""
    if not study.interfaces:
        return [Paragraph("Table 5.1 needs ratings: calibrated.csv, as relstudy calibrate writes it.")]
    columns = [_variances(*study.interface_panels[name], ratings) for name, ratings in study.interfaces.items()]
    titles = ("Number of participants", "Average variance as rated", "Average variance calibrated")
    shares = ("As rated, % of the squared range of the scale", "Calibrated, % of the squared range of the scale")
    rows: list[list[Cell]] = [[title, *cells] for title, *cells in zip((*titles, *shares), *columns, strict=True)]
    return [
        Table(
            "table-5-1",
            "Table 5.1: effect of calibration on human scores, on the common set.",
            [Column("Figure"), *(Column(name, 3) for name in study.interfaces)],
            rows,
            note="The variance of a pair's ratings, divided by n - 1, averaged over the pairs of the base block; "
            "intervals are for raters and pairs like these. What differs: the paper's caption says standard deviation "
            "where its rows say variance; scales of different length compare by the percentages. The paper's line is "
            "that of relstudy calibrate --method zscore.",
        )
    ]


def _variances(raw: Panel, calibrated: Panel | None, ratings: Ratings) -> list[Cell]:
    rows = raw.base[raw.pair] & ~np.isnan(raw.rating)
    missing: Cell = Estimate.missing("no base block")
    if not rows.any():
        return [len(np.unique(raw.rater)), *[missing] * 4]
    variances = [
        Estimate.missing("not calibrated") if panel is None else within_item_variance(panel, rows)
        for panel in (raw, calibrated)
    ]
    scale = ratings.scale.scale
    percent_of_range = (scale.high - scale.low) ** 2 / 100
    return [
        len(np.unique(raw.rater[rows])),
        *variances,
        *(each.through(lambda end: end / percent_of_range) for each in variances),
    ]


def uniformity(study: PaperStudy) -> list[Block]:
    """Table 5.2: deviation from uniformity of the responses, a row per round, a column a selecting system."""
    ratings, frame = study.ratings, study.answers
    if ratings is None or frame is None or not study.selections:
        return [Paragraph("Table 5.2 needs ratings, and pairs.csv with the system that chose each pair and its round.")]
    values = scale_values(ratings)
    by_source = uniformity_table(one_row_per_source(frame[["round", "rating", "source"]]), values)
    errors = by_source[by_source["source"] != "all"].set_index(["round", "source"])["error"]
    whole = uniformity_table(frame, values, by=("round",)).set_index("round")["error"]
    names = [name for name in errors.index.unique("source") if name != RANDOM]
    rows: list[list[Cell]] = []
    for number in whole.index:
        title = "Initial data" if number == whole.index[0] else f"Mapped data, round {number}"
        cells: list[Cell] = [errors.get((number, name), Estimate.missing("no pair")) for name in names]
        rows.append([title, *cells, float(whole[number])])
    blocks: list[Block] = [
        Table(
            "table-5-2",
            "Table 5.2: deviation from uniformity of human responses (Eq. 5.4), by selecting system.",
            [Column("Round"), *(Column(name, 3) for name in names), Column("All pairs", 3)],
            rows,
            note=f"0: every value is used equally; {2 * (len(values) - 1) / len(values) ** 2:.2f}: only one is. What "
            "differs: a pair that several systems chose counts for each, and a later round is planned for all systems "
            "at once.",
        )
    ]
    if len(rows) == 1:
        command = "relstudy sample DIR --from-mappings draws a second round, whose row then appears here."
        blocks.append(Paragraph(command, quiet=True))
    return blocks


@dataclass(frozen=True, eq=False)
class ByPerson:
    """Correlations of mapped scores on what one person rated, on what the others rated, and with all judgments.

    Parameters
    ----------
    author : the person
    share : of the ratings, 0 to 1
    figures : system -> the three, over the same draws
    """

    author: str
    share: float
    figures: dict[str, tuple[BootstrapStatistic, BootstrapStatistic, BootstrapStatistic]]


def by_person(study: PaperStudy) -> ByPerson | None:
    """Table 5.9's figures, of the person whom the study names, else of whoever rated most; None without ratings.

    Raises
    ------
    RelstudyError
        where that person rated nothing, or everything
    """
    ratings = study.ratings
    if ratings is None:
        return None
    frame = ratings.frame
    column = "calibrated" if "calibrated" in frame else "rating"
    frame = frame.dropna(subset=[column]).assign(value=lambda rows: rows[column])
    author = study.author or str(frame["rater_id"].value_counts().sort_index().idxmax())
    theirs = frame["rater_id"].astype(str) == author
    if not theirs.any() or theirs.all():
        who = "is not a rater who decided on any pair" if not theirs.any() else "gave all ratings"
        raise RelstudyError(f"table 5.9 needs one rater and others, and {author!r} {who}")
    figures = {}
    for system in study.systems:
        mapped = system.mapped_scores
        if mapped is not None:
            one, others = (_with_single_ratings(study, mapped, frame[side]) for side in (theirs, ~theirs))
            figures[system.name] = (one, others, _with_judgments(study, mapped))
    return ByPerson(author, float(theirs.mean()), figures)


def one_person(study: PaperStudy, parted: ByPerson | None) -> list[Block]:
    """Table 5.9, from `by_person`: correlations on what one person rated, on what the others rated, and on all."""
    if parted is None:
        return [Paragraph("Table 5.9 needs ratings: calibrated.csv, as relstudy calibrate writes it.")]
    rows: list[list[Cell]] = []
    apart: list[str] = []
    level = study.result.options.level
    for name, (one, others, both) in parted.figures.items():
        difference = (one - others).estimate(level)
        rows.append([name, *(_with_error(each) for each in (one, others, both)), difference])
        if difference.excludes_zero:
            apart.append(name)
    if not rows:
        return [Paragraph("Table 5.9 needs systems with mapped scores.")]
    said = (
        f"The correlations of {listed(apart)} on this rater's pairs and on the others' differ beyond their intervals."
        if apart
        else "No system's correlation differs between this rater's pairs and the others' beyond its interval."
    )
    return [
        Table(
            "table-5-9",
            f"Table 5.9: correlation of mapped scores with the ratings of one person ({parted.author}, "
            f"{percent(parted.share)} of the ratings), of the others, and of all combined; standard errors in "
            "brackets.",
            [Column("System"), Column("One person"), Column("Others"), Column("Combined"), Column("Difference")],
            rows,
            note="Pearson, mapped scores out of fold; one person's and the others' ratings are single calibrated "
            "ratings, a pair counting once; combined are the judgments, which are means and so less noisy. What "
            "differs: standard errors are from a bootstrap over queries, and the difference has an interval of its "
            "own, since both sides share queries.",
        ),
        Paragraph(said),
    ]


def _with_single_ratings(study: PaperStudy, mapped: np.ndarray, ratings: pd.DataFrame) -> BootstrapStatistic:
    judged = pd.MultiIndex.from_arrays([study.pairs.query_id, study.pairs.result_id])
    wanted = pd.MultiIndex.from_arrays([ratings[name].astype(str).astype(object) for name in PAIR])
    row = judged.get_indexer(wanted)
    used = (row >= 0) & np.isfinite(mapped[row])
    row, value = row[used], ratings["value"].to_numpy(dtype=float)[used]
    if len(row) < FEWEST_RATINGS:
        return BootstrapStatistic(np.nan, np.full(study.draws.times.shape[1], np.nan), f"only {len(row)} ratings")
    once = 1 / np.bincount(row, minlength=len(mapped))[row]
    return study.pearson(row, mapped[row], value, once)


def _with_judgments(study: PaperStudy, mapped: np.ndarray) -> BootstrapStatistic:
    used = np.flatnonzero(np.isfinite(mapped))
    return study.pearson(used, mapped[used], study.pairs.judgment[used])


def _with_error(figure: BootstrapStatistic) -> Cell:
    if not np.isfinite(figure.value):
        return figure.estimate()
    return f"{figure.value:.2f} ({float(np.nanstd(figure.replicates, ddof=1)):.2f})"
