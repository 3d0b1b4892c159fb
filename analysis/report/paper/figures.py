"""Figures 2.2 and 4.2 to 4.7: the shaping function, the mappings, and mapped scores against judgments."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.report import pictures
from relstudy.analysis.report.layout import Block, Paragraph, Picture
from relstudy.analysis.report.paper.fits import (
    ALL,
    METHODS,
    OF_THE_PAPER,
    OGIVE,
    Fits,
    SelectionFit,
    figure_number,
    methods_note,
)
from relstudy.analysis.report.paper.study import PaperStudy
from relstudy.common.charts.figures import MUTED, SERIES, drawing, svg
from relstudy.mapping.plots import bins_figure

POWERS = {"R⁻¹ᐟ⁵": 0.2, "R⁻¹": 1.0, "R⁻⁵": 5.0}
"""The two readings of the paper's words, and the default of `relstudy sample`."""
MOST_SYSTEMS = 4
"""Systems in figures 4.2 to 4.7, as in the paper; the best ones."""
BINS = 20


def shaping(study: PaperStudy) -> list[Block]:
    """Figure 2.2: the shaping function beside the ranks at which pairs were drawn."""
    pairs = study.drawn
    if pairs is None or pairs["rank"].isna().all():
        return [Paragraph("Figure 2.2 needs pairs.csv with the rank at which each pair was drawn.")]
    return [
        Picture(
            [shaping_figure(pairs["rank"].dropna().to_numpy(dtype=float))],
            "Figure 2.2: how often pairs were drawn at each rank of the system that chose them (dots, over bins of "
            "ranks), beside powers of the rank R. What differs: the paper draws the function without the sample and "
            "names two powers, 5 and 1/5.",
            wide=True,
            name="Figure 2.2",
        )
    ]


def shaping_figure(ranks: np.ndarray) -> str:
    """Share of the drawn pairs at each rank, on logarithmic axes.

    Parameters
    ----------
    ranks : of the drawn pairs, from 1, float [pairs]
    """
    from matplotlib.ticker import NullFormatter

    most = int(ranks.max())
    edges = np.unique(np.round(np.geomspace(1, most + 1, 14)))
    counts, _ = np.histogram(ranks, edges)
    share = counts / np.diff(edges) / len(ranks)
    middle = np.sqrt(edges[:-1] * (edges[1:] - 1))
    every = np.arange(1, most + 1)
    with drawing(6.4, 3.2) as figure:
        axes = figure.subplots()
        for (label, power), colour in zip(POWERS.items(), SERIES[1:], strict=False):
            curve = every**-power
            axes.plot(every, curve / curve.sum(), color=colour, label=label)
        drawn = counts > 0
        axes.plot(middle[drawn], share[drawn], "o", color=SERIES[0], label="drawn")
        axes.set(xscale="log", yscale="log", xlabel="rank R", ylabel="share of pairs at a rank")
        axes.set_ylim(share[drawn].min() / 3, 1.5)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        axes.legend(loc="lower left")
        return svg(figure, f"Share of {len(ranks)} drawn pairs by rank, beside powers of the rank")


def mappings(study: PaperStudy, fits: Fits) -> list[Block]:
    """Figures 4.2 to 4.4 with the pairs of 4.5: each system's mapping by each of the three methods."""
    blocks: list[Block] = []
    methods = list(next(iter(fits.values()), {}))
    for method in methods:
        drawings = [
            _mapping(study, name, fits[name][method][ALL])
            for name in _shown(study, fits)
            if method in fits[name] and ALL in fits[name][method]
        ]
        if drawings:
            number, title = figure_number(method), METHODS[method]
            caption = f"Figure {number}: {title}. Dots are judged pairs, as in figure 4.5."
            caption += "" if method in OF_THE_PAPER or method == OGIVE else f" {methods_note(methods)}"
            blocks.append(Picture(drawings, caption, name=f"Figure {number}"))
    return blocks


def _shown(study: PaperStudy, fits: Fits) -> list[str]:
    chose = [name for name in study.selecting if name in fits]
    return chose[:MOST_SYSTEMS]


def _mapping(study: PaperStudy, name: str, fit: SelectionFit) -> str:
    scores = study.result[name].pair_scores[fit.used]
    line = pictures.line_of(fit.mapping, scores)
    judgments, band = study.pairs.judgment[fit.used], fit.mapping.predict_band(line.x)
    return pictures.mapping(name, fit.mapping.method, scores, judgments, line, band)


def against_judgments(study: PaperStudy, fits: Fits) -> list[Block]:
    """Figures 4.5 to 4.7: scores and mapped scores against judgments, pair by pair and in bins of equal counts."""
    shown = [study.result[name] for name in _shown(study, fits) if study.result[name].mapped_scores is not None]
    plain, scatters, bins = [], [], []
    for system in shown:
        mapped = system.mapped_scores
        if mapped is None:
            continue
        used = np.isfinite(mapped)
        judgments = study.pairs.judgment[used]
        plain.append(scatter(system.name, system.pair_scores[used], judgments, mapped=False))
        scatters.append(scatter(system.name, mapped[used], judgments))
        bins.append(bins_figure(mapped[used], judgments, bins=BINS, at="centre", system=system.name))
    if not scatters:
        return []
    return [
        Picture(plain, "Figure 4.5: the systems' own scores against human scores.", name="Figure 4.5"),
        Picture(
            scatters,
            "Figure 4.6: mapped scores against human scores. What differs: every pair is mapped by a fit that has not "
            "seen its query.",
            name="Figure 4.6",
        ),
        Picture(
            bins,
            "Figure 4.7: adaptive binning: the mean human score of each bin at the centre of its range of mapped "
            "scores. Bins hold about equally many pairs; bars are 95 %. What differs: nothing is smoothed.",
            name="Figure 4.7",
        ),
    ]


def scatter(name: str, scores: np.ndarray, judgments: np.ndarray, *, mapped: bool = True) -> str:
    """Scores against judgments; where they are mapped, with the line on which both are equal."""
    step = max(1, len(scores) // pictures.DOTS)
    what = "Mapped score" if mapped else "Score"
    with drawing(3.1, 2.5) as figure:
        axes = figure.add_subplot()
        axes.set_title(pictures.shortened(name, 34))
        axes.scatter(scores[::step], judgments[::step], s=5, color=SERIES[0], alpha=0.4, linewidths=0)
        if mapped:
            ends = [float(scores.min()), float(scores.max())]
            axes.plot(ends, ends, color=MUTED, linewidth=1, linestyle="--")
        axes.set_xlabel(what)
        axes.set_ylabel("Judgment")
        return svg(figure, f"{what}s of {name} against {len(scores)} judgments")
