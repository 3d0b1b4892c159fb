"""Tables 5.3 to 5.7: correlations of mapped scores by method and selecting system, and of each system at its best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from relstudy.analysis.report.layout import Block, Paragraph
from relstudy.analysis.report.paper.fits import ALL, FEWEST_PAIRS, METHODS, Fits, SelectionFit, methods_note
from relstudy.analysis.report.paper.study import PaperStudy, in_the_papers_order
from relstudy.analysis.report.tables import Cell, Column, Table
from relstudy.analysis.resampling.bootstrap import BootstrapStatistic
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.wording import listed
from relstudy.common.tables.meaning.pairs_table import COMBINED, NO_SYSTEM

FIRST = 3
"""The tables by selecting system begin with 5.3."""
LAST = 6
"""The paper has four such tables; those of further systems have a letter."""


def by_selection(study: PaperStudy, fits: Fits) -> list[Block]:
    """Tables 5.3 to 5.6: one for each system that chose pairs, rows are methods, columns the selections.

    Each cell is a fit to that selection alone, as in section 5.5. Mean and standard deviation are over the selecting
    systems.
    """
    if not study.selections:
        return [
            Paragraph("Tables 5.3 to 5.6 need the column source of pairs.csv, which says which system chose a pair.")
        ]
    blocks: list[Block] = []
    for position, name in enumerate(in_the_papers_order(name for name in study.selecting if name in fits)):
        rows: list[list[Cell]] = []
        for method, fit in fits[name].items():
            parts = [part for part in fit if part != ALL]
            of_systems = [part not in NO_SYSTEM for part in parts]
            for figures, honest in (("out of fold", True), ("in sample", False)):
                cells = _row(study, [fit[part] for part in parts], of_systems, fit[ALL], honest)
                rows.append([METHODS[method], figures, *cells])
        selections = [part for part in next(iter(fits[name].values())) if part != ALL]
        number = _number(position)
        blocks.append(
            Table(
                f"table-{number.replace('.', '-')}-{name}",
                f"Table {number}: correlation of mapped {name} scores with judgments, by who chose the pairs.",
                [
                    Column("Fitting method"),
                    Column("Figures"),
                    *(Column(f"Pairs by {selection}") for selection in selections),
                    *(Column("Mean"), Column("SD"), Column(ALL)),
                ],
                rows,
                note="As in the paper, each selection is fitted by itself, and Mean and SD are over the selecting "
                "systems. What differs: the paper's figures are all in sample; here those out of fold come first, "
                f"with intervals over queries. Selections may share pairs. {methods_note(list(fits[name]))}"
                + (
                    " Pairs that a later round drew by all systems together (combined) are not in Mean and SD."
                    if COMBINED in selections
                    else ""
                ),
            )
        )
    return blocks


def _number(position: int) -> str:
    last = LAST - FIRST
    return f"5.{FIRST + position}" if position <= last else f"5.{LAST}{chr(ord('a') + position - last)}"


def _row(
    study: PaperStudy, parts: Sequence[SelectionFit], of_systems: Sequence[bool], whole: SelectionFit, honest: bool
) -> list[Cell]:
    """Cells of the selections, mean and spread of those of systems, and all pairs; intervals only out of fold."""
    level = study.result.options.level
    figures = [fit.honest(study) if honest else fit.printed(study) for fit in (*parts, whole)]
    mean, spread = mean_and_spread(list(compress(figures, of_systems)), level)
    *cells, last = [figure.estimate(level) for figure in figures]
    row = [*cells, mean, spread, last]
    return [each if honest or each.value is None else Estimate(each.value) for each in row]


def mean_and_spread(figures: Sequence[BootstrapStatistic], level: float) -> tuple[Estimate, Estimate]:
    """Mean over the selecting systems with its interval, and the standard deviation between them (divided by n - 1)."""
    values = np.array([figure.value for figure in figures])
    if len(values) < 2 or not np.isfinite(values).all():
        missing = Estimate.missing("fewer than two selections have a correlation")
        return missing, missing
    replicates = np.mean([figure.replicates for figure in figures], axis=0)
    mean = BootstrapStatistic(float(values.mean()), replicates).estimate(level)
    return mean, Estimate(float(values.std(ddof=1)))


def at_its_best(study: PaperStudy, fits: Fits) -> list[Block]:
    """Table 5.7: every system with the method that suits it best, and whether in-sample figures order them alike."""
    rows: list[tuple[float, list[Cell]]] = []
    level = study.result.options.level
    for system in study.systems:
        if system.name not in fits:
            continue
        best = best_of(study, {method: fit[ALL] for method, fit in fits[system.name].items()})
        chose = "yes" if system.name in study.selections else "no"
        cells: list[Cell] = [system.name, *([chose] if study.selections else []), METHODS[best.method]]
        cells += [best.out_of_fold.estimate(level), best.in_sample, METHODS[best.method_in_sample]]
        rows.append((best.out_of_fold.value, cells))
    rows.sort(key=lambda row: -row[0] if np.isfinite(row[0]) else np.inf)
    table = Table(
        "table-5-7",
        "Table 5.7: correlation of each system's mapped scores with judgments, by its most favourable method.",
        [
            Column("System"),
            *([Column("Chose pairs")] if study.selections else []),
            Column("Best method out of fold"),
            Column("Out of fold"),
            Column("In sample, as printed"),
            Column("Most favourable in sample"),
        ],
        [cells for _, cells in rows],
        note="The method of greatest correlation on all pairs, as appendix A.2 recommends. What differs: here it is "
        "chosen by the correlation out of fold. The paper chooses and reports in sample, which flatters. "
        + methods_note(list(next(iter(fits.values()), {})))
        + (" A system that chose no pairs is scored on those that others chose." if study.selections else ""),
        best=(("Out of fold", "max"),) if len(rows) > 1 else (),
    )
    return [table, *_same_order(rows)]


@dataclass(frozen=True, eq=False)
class Best:
    """A system's correlation by its best method.

    Parameters
    ----------
    method, out_of_fold : the method of greatest correlation out of fold, and that correlation
    method_in_sample, in_sample : the method of greatest correlation in sample, and that correlation
    """

    method: str
    out_of_fold: BootstrapStatistic
    method_in_sample: str
    in_sample: float


def best_of(study: PaperStudy, by_method: Mapping[str, SelectionFit]) -> Best:
    """The best of a system's fits to the same pairs, out of fold and in sample."""
    out_of_fold = {method: fit.honest(study) for method, fit in by_method.items()}
    in_sample = {method: fit.printed(study).value for method, fit in by_method.items()}
    method = best_method({method: figure.value for method, figure in out_of_fold.items()})
    method_in_sample = best_method(in_sample)
    return Best(method, out_of_fold[method], method_in_sample, in_sample[method_in_sample])


def best_method(correlations: dict[str, float]) -> str:
    """The method of greatest correlation; the first of them where none has one.

    Examples
    --------
    >>> best_method({"a": 0.2, "b": 0.3, "c": float("nan")})
    'b'
    """
    return max(correlations, key=lambda method: np.nan_to_num(correlations[method], nan=-np.inf))


def _same_order(rows: Sequence[tuple[float, list[Cell]]]) -> list[Block]:
    if len(rows) < 2:
        return []
    honest = [str(cells[0]) for _, cells in rows]
    printed = [str(cells[0]) for _, cells in sorted(rows, key=lambda row: -_value(row[1][-2]))]
    if honest == printed:
        return [Paragraph(f"In sample and out of fold the systems come in the same order: {' > '.join(honest)}.")]
    moved = [name for name, other in zip(honest, printed, strict=True) if name != other]
    return [
        Paragraph(
            f"Out of fold the systems come in the order {' > '.join(honest)}. In sample {listed(moved)} change places."
        )
    ]


def _value(cell: Cell) -> float:
    return float(cell) if isinstance(cell, float) and np.isfinite(cell) else -np.inf


def orders(study: PaperStudy) -> list[Block]:
    """A sentence and a table on the order of the systems that chose pairs, by the system that selected the pairs.

    By correlation of scores mapped out of fold, the same mapping for all selections: does a system do better on pairs
    of its own choice (section 2.2)?
    """
    mapped = {
        system.name: system.mapped_scores
        for system in study.systems
        if system.mapped_scores is not None and system.name in study.selecting
    }
    chosen = {name: pairs for name, pairs in study.selections.items() if pairs.sum() >= FEWEST_PAIRS}
    if len(mapped) < 2 or not chosen:
        return []
    from scipy.stats import kendalltau

    judgment = study.result.judgment
    whole = {name: _pearson(score, judgment, np.ones(len(judgment), dtype=bool)) for name, score in mapped.items()}
    rows: list[list[Cell]] = [["all pairs", " > ".join(_order(whole)), Estimate.missing("")]]
    alike = []
    for source, pairs in chosen.items():
        strength = {name: _pearson(score, judgment, pairs) for name, score in mapped.items()}
        tau = float(kendalltau([whole[name] for name in mapped], [strength[name] for name in mapped]).statistic)
        reason = None if np.isfinite(tau) else "a correlation is missing"
        rows.append([source, " > ".join(_order(strength)), Estimate.of(tau, reason=reason)])
        if _order(strength) == _order(whole):
            alike.append(source)
    text = (
        "The order of the systems is the same whoever selected the pairs."
        if len(alike) == len(chosen)
        else f"The order of the systems is that of all pairs in {len(alike)} of {len(chosen)} selections"
        + (f" ({listed(alike)})." if alike else ".")
    )
    table = Table(
        "orders-by-selection",
        "The order of the systems by correlation, by the system that selected the pairs.",
        [Column("Pairs selected by"), Column("Order"), Column("Tau with all pairs")],
        rows,
        note="Kendall's tau is 1 for the same order and 0 for no relation. What differs: the paper reads orders off "
        "its tables, and its mappings are fitted to each selection; here one mapping serves all.",
    )
    return [Paragraph(text), table]


def _order(strength: dict[str, float]) -> list[str]:
    return sorted(strength, key=lambda name: -strength[name] if np.isfinite(strength[name]) else np.inf)


def _pearson(score: np.ndarray, judgment: np.ndarray, pairs: np.ndarray) -> float:
    used = pairs & np.isfinite(score)
    if used.sum() < 3 or np.ptp(score[used]) == 0 or np.ptp(judgment[used]) == 0:
        return float("nan")
    return float(np.corrcoef(score[used], judgment[used])[0, 1])
