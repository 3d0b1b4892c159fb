"""What stands out in a picture, and what is named in it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relstudy.analysis.report import pictures
from relstudy.analysis.report.curve_picture import precision_recall
from relstudy.common.results.estimates import Estimate

pytestmark = [pytest.mark.slow, pytest.mark.laid_out]


def test_two_curves_stand_out_the_rest_are_grey_and_each_is_named_at_a_place_of_its_own() -> None:
    recall = np.linspace(0, 1, 50)
    # the last four fall together, where names would cover one another
    curves = {f"system-{i}": pictures.Trace(recall, 0.9 - 0.2 * min(i, 3) * recall) for i in range(6)}
    drawn = precision_recall(curves, 0.05)
    places = [re.search(rf'<text [^>]*y="([\d.]+)"[^>]*>{name}</text>', drawn) for name in curves]
    heights = sorted(float(place[1]) for place in places if place is not None)
    assert len(heights) == len(curves)
    assert min(np.diff(heights)) > 8  # a letter is 8.5 points high
    coloured = set(re.findall(r"stroke: var\(--(series-\d)", drawn))
    assert coloured == {"series-1", "series-2"}


def test_raters_with_a_flag_and_the_outermost_are_named_the_others_are_dots() -> None:
    mean, spread = np.array([1.0, 2, 3, 2, 2.1]), np.array([1.0, 0.5, 1, 1.5, 1.1])
    names = ["strict", "narrow", "lenient", "wide", "usual"]
    drawn = pictures.raters(names, mean, spread, [False] * 5)
    assert [name for name in names if f">{name}</text>" in drawn] == names[:4]
    assert ">usual</text>" in pictures.raters(names, mean, spread, [False] * 4 + [True])


def test_names_of_raters_never_lie_on_one_another() -> None:
    """Five of the same mean and spread: there is room for three names, one beside the dot, one above and one below."""
    names = [f"RATER{number}" for number in range(5)] + ["STRICT"]
    mean, spread = np.array([3.0] * 5 + [1.0]), np.array([1.0] * 5 + [2.0])
    drawn = pictures.raters(names, mean, spread, [True] * 5 + [False])
    assert [name for name in names if f">{name}</text>" in drawn] == ["RATER0", "RATER1", "RATER2", "STRICT"]


def test_a_raters_name_hides_grid_and_medians_whole_and_never_a_dot() -> None:
    drawn = pictures.raters(["a", "b", "c"], np.array([1.0, 2, 3]), np.array([1.0, 1.1, 1.0]), [False] * 3)
    dots = drawn.index("fill: var(--series-1")
    lines = [found.end() for found in re.finditer('clip-path="[^"]*" style="fill: none', drawn) if found.end() < dots]
    names = drawn[max(lines) : dots]
    assert sorted(re.findall(">([abc])</text>", names)) == ["a", "b", "c"]
    assert names.count("fill: var(--paper") == 3 and "opacity: 0.8" not in names


def test_the_line_of_even_use_is_named_beside_the_bars() -> None:
    drawn = pictures.shares("Use", list("12345"), np.array([0.1, 0.1, 0.1, 0.1, 0.6]))
    bars = [float(each) for each in re.findall(r"L ([\d.]+) [\d.]+ \nL [\d.]+ [\d.]+ \nz", drawn)]
    named = re.search(r'<text ([^>]*x="([\d.]+)"[^>]*)>all used equally</text>', drawn)
    assert named is not None and float(named[2]) > max(bars)
    assert "text-anchor: end" not in named[1]


def test_curves_are_told_apart_without_colour_and_the_leaders_band_has_edges() -> None:
    recall = np.linspace(0.05, 1, 20)
    curves = {f"system-{i}": pictures.Trace(recall, 0.9 - 0.1 * i * recall) for i in range(6)}
    drawn = precision_recall(curves, None, (recall, 0.8 - recall / 2, 1 - recall / 2))
    dashes = re.findall(r"stroke-dasharray: ([\d., ]+)", drawn)
    assert len(set(dashes)) == 5  # and the first curve is drawn full
    assert drawn.count(f"stroke-opacity: {pictures.EDGE}") == 2


def test_a_picture_for_telephones_has_letters_of_the_same_size() -> None:
    values = {"one": np.array([50.0, 90.0]), "two": np.array([20.0, 30.0])}
    lines = {"one": 80.0, "two": np.nan}
    wide, narrow = pictures.strips(values, lines), pictures.strips(values, lines, narrow=True)
    assert "By query: one 80<" in wide
    sizes = [float(re.search(r'viewBox="0 0 ([\d.]+)', each)[1]) for each in (wide, narrow)]  # type: ignore[index]
    assert sizes == [pytest.approx(72 * pictures.WIDE, abs=1), pytest.approx(72 * pictures.NARROW, abs=1)]
    assert 72 * pictures.NARROW * 96 / 72 <= 328  # pixels that a telephone 360 wide leaves between its margins


def test_measures_side_by_side_share_one_column_of_names() -> None:
    panel = pictures.Panel(
        "Correlation", {"one": Estimate(0.5, 0.4, 0.6), "two": Estimate.missing("none")}, 0.0, "zero"
    )
    assert pictures.intervals([panel] * 3).count(">one</text>") == 1
    assert pictures.intervals([panel] * 3, narrow=True).count(">one</text>") == 3


def test_a_mapping_shows_how_many_pairs_and_the_mean_of_each_tenth_of_them() -> None:
    scores = np.arange(1000.0)
    line = pictures.Trace(scores, scores / 1000)
    drawn = pictures.mapping("one", "isotonic", scores, scores / 1000, line, None, (0.0, 2.0))
    assert ">one: isotonic, 1,000 pairs</text>" in drawn
    assert ">2.0</text>" in drawn  # the shared end of the axis, beyond all judgments
    middle, mean = pictures.tenths(scores, scores / 1000)
    assert len(middle) == 10
    assert mean == pytest.approx(middle / 1000)
