"""Words for a paper's section on methods, and what to cite."""

from __future__ import annotations

from importlib.metadata import version

from relstudy.analysis.report.layout import Block, Command, Paragraph, Section
from relstudy.analysis.scoring.judged_pairs import Weighting
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.common.runtime.wording import count_of

YEAR = 2026
"""Of this version."""


def citing_section(result: ScoreResult, raters: int | None, simulated: bool) -> Section:
    """A paragraph on how this study was done, and BibTeX."""
    blocks: list[Block] = [
        Paragraph(methods(result, raters, simulated)),
        Command(bibtex()),
    ]
    return Section("cite", "Describe and cite this study", blocks, folded=True)


def methods(result: ScoreResult, raters: int | None, simulated: bool) -> str:
    """The methods behind the figures, as a paper would say it."""
    options, pairs = result.options, result.pairs
    who = "" if raters is None else f" by {count_of(raters, 'simulated rater' if simulated else 'rater')}"
    weights = (
        "Each pair was weighted by the inverse of its inclusion probability, so that figures estimate the whole "
        "collection. "
        if result.weighting is Weighting.DESIGN
        else "Pairs were weighted equally. "
        if result.weighting is Weighting.EQUAL
        else "Pairs were weighted by a power of their rank. "
    )
    raters_too = "" if result.primary_raters.raters is None else " and raters"
    mapped = any(system.mapped_scores is not None for system in result.systems)
    mapping = (
        "Scores were mapped to the raters' scale by monotone functions fitted out of fold "
        f"({options.folds} folds by query). "
        if mapped
        else ""
    )
    compared = (
        f"Systems were compared by {result.primary.index.term}, {result.primary.chosen}, by paired differences over "
        "the same resampled queries; the systems that may be the best, and intervals of ranks, are those of one test "
        "for each system against its rivals (Mogstad, Romano, Shaikh and Wilhelm 2024). "
        if len(result.systems) > 1
        else ""
    )
    return (
        f"{count_of(int(pairs['judged']), 'pair')} of a query and a result, of "
        f"{count_of(int(pairs['queries']), 'query', 'queries')}, were judged{who}. {weights}{mapping}Intervals are at "
        f"{100 * options.level:g} %, from {options.replicates:,} bootstrap replicates over queries{raters_too} "
        f"(seed {options.seed}{', corrected for the finite collection' if result.population.finite else ''}). "
        f"{compared}Figures were made with relstudy {version('relstudy')}."
    )


def bibtex() -> str:
    """An entry for relstudy."""
    return (
        "@software{relstudy,\n"
        "  author  = {{The relstudy authors}},\n"
        "  title   = {relstudy: human relevance studies and calibration},\n"
        f"  version = {{{version('relstudy')}}},\n"
        f"  year    = {{{YEAR}}}\n"
        "}"
    )
