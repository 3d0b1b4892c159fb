"""What stands out in a picture, and what is named in it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relstudy.analysis.report import pictures

pytestmark = pytest.mark.slow


def test_two_curves_stand_out_the_rest_are_grey_and_each_is_named_at_a_place_of_its_own() -> None:
    recall = np.linspace(0, 1, 50)
    # the last four fall together, where names would cover one another
    curves = {f"system-{i}": pictures.Trace(recall, 0.9 - 0.2 * min(i, 3) * recall) for i in range(6)}
    drawn = pictures.precision_recall(curves, 0.05)
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
