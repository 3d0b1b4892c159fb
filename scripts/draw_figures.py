"""Draw the documentation's figures: charts of the tables that its pages print, and diagrams of what they explain.

    python scripts/draw_figures.py [--out docs/assets] [NAME ...]

A chart is read from its page, so that a table that a command printed again only has to be put there. Everything is SVG
that follows light and dark (`relstudy.common.charts.figures`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from scripts.figures.calibration import calibration_panels, calibration_people, two_raters
from scripts.figures.coverage import coverage_design, coverage_raters, coverage_relevance
from scripts.figures.explained import pipeline, probability, share_retrieved
from scripts.figures.hashing import hashing_indices
from scripts.figures.pages import DOCS

FIGURES: dict[str, Callable[[], str]] = {
    "calibration-panels": calibration_panels,
    "calibration-people": calibration_people,
    "coverage-design": coverage_design,
    "coverage-raters": coverage_raters,
    "coverage-relevance": coverage_relevance,
    "hashing-indices": hashing_indices,
    "pipeline": pipeline,
    "probability": probability,
    "share-retrieved": share_retrieved,
    "two-raters": two_raters,
}


def main(arguments: list[str] | None = None) -> None:
    """Draw them all, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--out", type=Path, default=DOCS / "assets")
    chosen = parser.parse_args(arguments)
    for name in chosen.names or FIGURES:
        (chosen.out / f"{name}.svg").write_text(FIGURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main()
