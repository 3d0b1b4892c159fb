"""The admin pages' charts: well-formed, escaped, without style, and true to the numbers."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relstudy.common.charts.figures import THEME
from relstudy.studyapp.web.admin.charts import (
    HEIGHT,
    WIDTH,
    Axis,
    Line,
    histogram,
    line_chart,
    nice_ticks,
    progress_bar,
    share_chart,
    spark,
)
from tests.places import ROOT

CSS = (ROOT / "studyapp" / "web" / "static" / "study.css").read_text(encoding="utf-8")
EVIL = "<script>alert('x')</script>\" onload=\"x"


def _numbers(svg: str, tag: str, name: str) -> list[float]:
    return [float(node.get(name) or 0) for node in ElementTree.fromstring(svg).iter(tag)]


@pytest.mark.parametrize(
    "svg",
    [
        line_chart(EVIL, [Line(EVIL, ((0, 1), (1, None), (2, 3)))], x_axis=Axis(EVIL), y_axis=Axis(EVIL)),
        histogram(EVIL, [EVIL, "b"], [1, 2], x_axis=Axis(EVIL), y_axis=Axis(EVIL)),
        share_chart(EVIL, [EVIL, "b"], [0.5, 0.5]),
        progress_bar(EVIL, 1, 2, 3),
        spark(EVIL, [1, 0, 2]),
    ],
)
def test_no_text_becomes_markup_and_nothing_needs_a_style(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == EVIL
    assert root.get("role") == "img"
    assert {node.tag for node in root.iter()} <= {"svg", "path", "line", "rect", "text", "circle"}
    assert not [node for node in root.iter() if "style" in node.attrib or "onload" in node.attrib]


@given(st.sampled_from([0.0, -1.0]), st.floats(1e-3, 1e9) | st.just(0.0))
def test_ticks_are_few_even_and_reach_over_the_data(low: float, high: float) -> None:
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert ticks[0] <= low
    assert ticks[-1] >= high * (1 - 1e-8)  # a hair's breadth over the last tick is no reason for another
    step = ticks[1] - ticks[0]
    assert all(b - a == pytest.approx(step) for a, b in itertools.pairwise(ticks))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_bars_are_as_tall_as_their_counts_and_inside_the_picture(counts: list[int]) -> None:
    svg = histogram("x", [str(place) for place in range(len(counts))], counts)
    tall = _numbers(svg, "rect", "height")
    assert all(0 <= top <= HEIGHT for top in _numbers(svg, "rect", "y"))
    assert all(0 <= left <= WIDTH for left in _numbers(svg, "rect", "x"))
    if max(counts):
        unit = max(tall) / max(counts)
        for height, count in zip(tall, counts, strict=True):
            assert height == pytest.approx(unit * count, abs=0.11)  # places are kept to a tenth


def test_the_dashed_line_marks_equal_use_of_the_scale() -> None:
    svg = share_chart("x", list("12345"), [0.2] * 5)
    target = next(node for node in ElementTree.fromstring(svg).iter("line") if node.get("class") == "target")
    assert {float(target.get("y1") or 0)} == set(_numbers(svg, "rect", "y"))


@pytest.mark.parametrize("count", [2, 5, 11, 12, 21])
def test_the_names_of_a_scale_stay_inside_the_picture(count: int) -> None:
    names = [str(round(100 * place / (count - 1))) for place in range(count)]
    root = ElementTree.fromstring(share_chart("x", names, [1 / count] * count))
    width = float((root.get("viewBox") or "").split()[2])
    shown = [node for node in root.iter("text") if not (node.text or "").endswith("%")]
    assert {names[0], names[-1]} <= {node.text for node in shown}
    for node in shown:
        long = 7 * len(node.text or "")  # a digit is 7 wide at a size of 11
        left = float(node.get("x") or 0) - {"start": 0, "middle": long / 2, "end": long}[node.get("text-anchor") or ""]
        assert left >= 0
        assert left + long <= width


def test_the_axes_say_what_they_show() -> None:
    for svg in (
        line_chart("x", [Line("a", ((0, 1), (1, 2)))], x_axis=Axis("Time"), y_axis=Axis("Ratings")),
        histogram("x", ["0", "1"], [3, 4], x_axis=Axis("Time"), y_axis=Axis("Ratings")),
    ):
        assert {"Time", "Ratings"} <= {node.text for node in ElementTree.fromstring(svg).iter("text")}


def test_a_gap_in_a_line_is_a_gap_and_a_lone_point_is_a_dot() -> None:
    svg = line_chart("x", [Line("a", ((0, 1), (1, None), (2, 3), (3, 4)))])
    path = next(ElementTree.fromstring(svg).iter("path")).get("d") or ""
    assert path.count("M") == 2
    assert len(list(ElementTree.fromstring(line_chart("x", [Line("a", ((0, 1),))])).iter("circle"))) == 1


def test_progress_never_leaves_its_track() -> None:
    widths = _numbers(progress_bar("x", 9, 9, 3), "rect", "width")
    assert max(widths) <= 200
    assert min(widths) >= 0


def test_the_stylesheet_has_the_colours_of_the_figures() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", CSS, flags=re.DOTALL)[:2]
    for name, (_, in_light, in_dark) in THEME.items():
        assert f"--{name}: {in_light};" in light, name
        assert f"--{name}: {in_dark};" in dark, name
