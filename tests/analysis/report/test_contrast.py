"""What carries uncertainty can be seen by everybody: 3 to 1 against the page (WCAG 2.2, 1.4.11), and without colour."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relstudy.analysis.report.pictures import EDGE, RANGE
from relstudy.common.charts.figures import THEME
from tests.places import ROOT

CSS = (ROOT / "analysis" / "report" / "templates" / "page.css").read_text(encoding="utf-8")
LEAST = 3.0
DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
"""Of linear RGB; Machado, Oliveira and Fernandes 2009, table 1, severity 1."""


def rgb(name: str, theme: int) -> np.ndarray:
    code = THEME[name][theme]
    return np.array([int(code[k : k + 2], 16) / 255 for k in (1, 3, 5)])


def linear(colour: np.ndarray) -> np.ndarray:
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def luminance(colour: np.ndarray) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def of_leaders() -> float:
    """How much of the accent the bar of a leading system has in the first picture."""
    found = re.search(r"\.leads \.axis \.range \{ background: color-mix\(in srgb, var\(--accent\) (\d+)%", CSS)
    assert found is not None
    return int(found[1]) / 100


@pytest.mark.parametrize("theme", [1, 2], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("what", "colour", "share"),
    [
        ("an interval in a picture", "series-1", RANGE),
        ("the edge of a band", "series-1", EDGE),
        ("the bar of a leader", "series-1", of_leaders()),
        ("the bar of any other system", "muted", 1.0),
        ("the bar in a table's cell", "muted", 1.0),
    ],
)
def test_intervals_stand_out_from_the_page(what: str, colour: str, share: float, theme: int) -> None:
    paper = rgb("paper", theme)
    drawn = share * rgb(colour, theme) + (1 - share) * paper
    assert contrast(drawn, paper) >= LEAST, what


def test_the_bars_are_of_the_colours_that_are_tested() -> None:
    for selector in (r"\.axis \.range", r"\.bar i"):
        assert re.search(rf"^{selector} \{{[^}}]*background: var\(--muted\)", CSS, re.MULTILINE)


@pytest.mark.parametrize("theme", [1, 2], ids=["light", "dark"])
def test_the_two_leaders_differ_for_those_who_cannot_tell_red_from_green(theme: int) -> None:
    one, other = (DEUTERANOPIA @ linear(rgb(name, theme)) for name in ("series-1", "series-2"))
    # blue and yellow are what is left to them: one colour has far more blue, the other far more of the rest
    assert (one[2] - one[:2].mean()) - (other[2] - other[:2].mean()) > 0.3
