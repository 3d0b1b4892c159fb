"""Charts of the admin pages: SVG that takes its colours from the stylesheet and needs no style attribute."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

# as wide as on a phone, so that the text there is not made smaller than it is
WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 28, 44
MOST_LINES = 8  # as many colours as can be told apart
DASHES = ("", " dashed", " dotted")


@dataclass(frozen=True)
class Line:
    """A line of a chart: points with x ascending; y None leaves a gap."""

    name: str
    points: tuple[tuple[float, float | None], ...]


@dataclass(frozen=True)
class Axis:
    """Range and name of an axis, and the format of its values."""

    name: str = ""
    show: Callable[[float], str] = "{:,.10g}".format


NO_NAME = Axis()


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def nice_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers from low to high.

    Examples
    --------
    >>> nice_ticks(0, 870)
    [0.0, 250.0, 500.0, 750.0, 1000.0]
    >>> nice_ticks(0, 0)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if high <= low:
        high = low + 1
    raw = (high - low) / about
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


class _Plane:
    """From data to pixels of the picture."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def place_x(self, value: float) -> float:
        low, high = self.x
        return LEFT + (WIDTH - LEFT - RIGHT) * ((value - low) / (high - low) if high > low else 0.5)

    def place_y(self, value: float) -> float:
        low, high = self.y
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)


def _svg(label: str, parts: Sequence[str], width: int = WIDTH, height: int = HEIGHT, kind: str = "chart") -> Markup:
    head = f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
    # texts were escaped where they came in
    return Markup(head + "".join(parts) + "</svg>")


def _text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    extra = f' class="{kind}"' if kind else ""
    return f'<text x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def _frame(plane: _Plane, ticks: Sequence[float], axis: Axis) -> list[str]:
    parts = []
    for tick in ticks:
        y = _number(plane.place_y(tick))
        kind = "axis" if tick == ticks[0] else "rule"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(_text(LEFT - 6, plane.place_y(tick) + 4, axis.show(tick), "end"))
    return parts


def _axis_names(x: Axis, y: Axis) -> list[str]:
    """Names of the axes: y above its figures, x below its own."""
    return [_text(0, 12, y.name, "start"), _text(WIDTH - RIGHT, HEIGHT - 4, x.name, "end")]


def line_chart(
    label: str,
    lines: Sequence[Line],
    *,
    low: float = 0,
    high: float | None = None,
    x_axis: Axis = NO_NAME,
    y_axis: Axis = NO_NAME,
) -> Markup:
    """Lines over a common x, in the order of the legend beside it, each with a colour and dashes of its own.

    Parameters
    ----------
    label : what the chart shows, in a sentence
    lines : at most `MOST_LINES`
    low, high : ends of the y axis; high None: as the data need it
    x_axis, y_axis : what they show, and how
    """
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points if y is not None]
    ticks = nice_ticks(low, max([*ys, low]) if high is None else high)
    plane = _Plane((min(xs, default=0.0), max(xs, default=1.0)), (ticks[0], ticks[-1]))
    parts = _frame(plane, ticks, y_axis) + _axis_names(x_axis, y_axis)
    for number, share in enumerate((0.0, 0.5, 1.0)):
        value = plane.x[0] + share * (plane.x[1] - plane.x[0])
        if number == 0 or plane.x[1] > plane.x[0]:
            anchor = ("start", "middle", "end")[number]
            parts.append(_text(LEFT + share * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM + 18, x_axis.show(value), anchor))
    for index, line in enumerate(lines):
        parts.append(f'<path class="{_stroke(index)}" d="{_path(plane, line.points)}"/>')
        points = [(x, y) for x, y in line.points if y is not None]
        if len(points) == 1:
            x, y = points[0]
            dot = f'cx="{_number(plane.place_x(x))}" cy="{_number(plane.place_y(y))}" r="3"'
            parts.append(f'<circle class="s{index % MOST_LINES + 1}" {dot}/>')
    return _svg(label, parts)


def _path(plane: _Plane, points: Sequence[tuple[float, float | None]]) -> str:
    steps = []
    pen_down = False
    for x, y in points:
        if y is None:
            pen_down = False
            continue
        steps.append(f"{'L' if pen_down else 'M'}{_number(plane.place_x(x))} {_number(plane.place_y(y))}")
        pen_down = True
    return "".join(steps)


def key_mark(index: int) -> Markup:
    """A legend's sample of a chart's index-th line."""
    path = f'<path class="{_stroke(index)}" d="M1 5L23 5"/>'
    return Markup(f'<svg class="chart mark" viewBox="0 0 24 10" aria-hidden="true">{path}</svg>')


def _stroke(index: int) -> str:
    """Classes of the index-th line: its colour and dashes."""
    return f"line s{index % MOST_LINES + 1}{DASHES[index % 3]}"


def histogram(
    label: str, edges: Sequence[str], counts: Sequence[float], *, x_axis: Axis = NO_NAME, y_axis: Axis = NO_NAME
) -> Markup:
    """One bar for each stretch, with the stretch's lower end below the bar's left edge, and a round scale."""
    ticks = nice_ticks(0, max([*counts, 1]))
    plane = _Plane((0, len(edges)), (0, ticks[-1]))
    parts = _frame(plane, ticks, y_axis) + _axis_names(x_axis, y_axis)
    for number, (edge, count) in enumerate(zip(edges, counts, strict=True)):
        left, right = plane.place_x(number) + 1, plane.place_x(number + 1) - 1
        top = plane.place_y(count)
        size = f'width="{_number(right - left)}" height="{_number(plane.place_y(0) - top)}"'
        parts.append(f'<rect class="s1" x="{_number(left)}" y="{_number(top)}" {size} rx="2"/>')
        parts.append(_text(left, HEIGHT - BOTTOM + 18, edge))
    return _svg(label, parts)


def share_chart(label: str, names: Sequence[str], shares: Sequence[float]) -> Markup:
    """Shares of the scale's values, with a dashed line where all would be used equally."""
    width, height, floor, top = 220, 130, 108, 16
    highest = max([*shares, 2 / max(len(names), 1)])
    step = (width - 8) / max(len(names), 1)
    bars, texts = [], []
    for number, (name, share) in enumerate(zip(names, shares, strict=True)):
        tall = (floor - top) * share / highest
        x = 4 + number * step
        size = f'width="{_number(step * 0.84)}" height="{_number(tall)}"'
        bars.append(f'<rect class="s1" x="{_number(x + step * 0.08)}" y="{_number(floor - tall)}" {size} rx="2"/>')
        if len(names) <= 11:
            texts.append(_text(x + step / 2, height - 6, name))
        if len(names) <= 5:
            texts.append(_text(x + step / 2, floor - tall - 4, f"{100 * share:.0f} %", kind="over"))
    bars.append(f'<line class="axis" x1="4" x2="{width - 4}" y1="{floor}" y2="{floor}"/>')
    if names:
        y = _number(floor - (floor - top) / len(names) / highest)
        bars.append(f'<line class="target" x1="4" x2="{width - 4}" y1="{y}" y2="{y}"/>')
    if len(names) > 11:
        texts = [_text(4, height - 6, names[0], "start"), _text(width - 4, height - 6, names[-1], "end")]
    return _svg(label, [*bars, *texts], width, height, "chart small")


def progress_bar(label: str, done: float, leased: float, total: float) -> Markup:
    """A bar of the pages done and, lighter, those leased, out of `total`."""
    whole = max(total, 1)
    first, second = 200 * min(1, done / whole), 200 * min(1, leased / whole)
    return _svg(
        label,
        [
            '<rect class="track" width="200" height="10" rx="5"/>',
            f'<rect class="s3" x="{_number(first)}" width="{_number(min(second, 200 - first))}" height="10"/>',
            f'<rect class="s1" width="{_number(first)}" height="10" rx="5"/>',
        ],
        200,
        10,
        "chart bar",
    )


def spark(label: str, counts: Sequence[float]) -> Markup:
    """A rater's ratings over time, as a thin row of bars."""
    width, height = 120, 22
    highest = max([*counts, 1])
    step = width / max(len(counts), 1)
    parts = [f'<line class="rule" x1="0" x2="{width}" y1="{height - 0.5}" y2="{height - 0.5}"/>']
    for number, count in enumerate(counts):
        if count:
            tall = max(1.5, (height - 2) * count / highest)
            size = f'width="{_number(max(1.0, step - 0.8))}" height="{_number(tall)}"'
            parts.append(f'<rect class="s1" x="{_number(number * step)}" y="{_number(height - tall)}" {size}/>')
    return _svg(label, parts, width, height, "chart spark")
