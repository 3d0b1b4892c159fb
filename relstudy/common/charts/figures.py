"""Figures as SVG that follow the page: text stays text, and colours are CSS variables for light and dark.

Draw with matplotlib inside `drawing()`, in the named colours below; `svg()` turns each into a CSS variable with a
light-mode fallback. Inlined in a page the figure takes the page's colours; saved alone it carries both themes.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1b1e23"
MUTED = "#6b7079"
GRID = "#dfe2e7"
PAPER = "#fefefd"
SERIES = ("#1f5fbf", "#c2551b", "#1a7f5a", "#8a3fa8", "#a3780c", "#b3305a", "#2b7f95", "#5d6b1f")
"""Eight colours for systems, told apart in light and dark and by colour-blind readers; use markers or labels too."""

THEME: dict[str, tuple[str, str, str]] = {
    # name in CSS: (the colour drawn with, light, dark)
    "ink": (INK, "#1b1e23", "#e8e9eb"),
    "muted": (MUTED, "#5f646d", "#a3a8b1"),
    "grid": (GRID, "#dfe2e7", "#383d45"),
    "paper": (PAPER, "#ffffff", "#16181c"),
    "series-1": (SERIES[0], "#1f5fbf", "#6fa8ff"),
    "series-2": (SERIES[1], "#c2551b", "#ff9d66"),
    "series-3": (SERIES[2], "#1a7f5a", "#5fd0a5"),
    "series-4": (SERIES[3], "#8a3fa8", "#d097ee"),
    "series-5": (SERIES[4], "#a3780c", "#e5bd55"),
    "series-6": (SERIES[5], "#b3305a", "#ff8fb3"),
    "series-7": (SERIES[6], "#2b7f95", "#6fcbe2"),
    "series-8": (SERIES[7], "#5d6b1f", "#b8cc62"),
}

RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelpad": 5,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.solid_capstyle": "round",
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


@contextlib.contextmanager
def drawing(width: float = 6.4, height: float = 3.6) -> Iterator[Figure]:
    """Yield a matplotlib Figure (inches) in the house style; nothing global is changed after the block."""
    import matplotlib

    from relstudy.common.charts.notebook_figure import NotebookFigure

    with matplotlib.rc_context(cast(Any, RC)):
        yield NotebookFigure(figsize=(width, height))


def svg(figure: Figure, title: str, *, alone: bool = False) -> str:
    """The figure as SVG text.

    Parameters
    ----------
    figure : drawn inside `drawing()`; call this inside the same block
    title : what the picture shows, in a sentence, for those who cannot see it
    alone : whether the SVG will be its own file, and so needs the colours itself
    """
    import warnings

    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(cast(Any, {**RC, "svg.hashsalt": title})), warnings.catch_warnings():
        # text stays text, and the reader's browser has the letters that matplotlib's font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        _draw_once(figure, buffer)
    if (kept := _drawn.get()) is not None:
        kept.append(figure)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    # the picture's own style sheet would reach the whole page once inlined; inheritance says the same
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*</defs>", "", text)
    text = _without_idle_ids(text)
    text = _PLACES.sub(lambda match: _DECIMALS.sub(_two_decimals, match[0]), text)
    for name, (drawn, light, _) in THEME.items():
        text = text.replace(drawn, f"var(--{name}, {light})")
    text = re.sub(r"font-family: [^;\"]*", "font-family: system-ui, sans-serif", text)
    label = html.escape(title, quote=True)
    style = f"<style>{theme_css('svg.figure')}</style>" if alone else ""
    head = f'<svg class="figure" role="img" aria-label="{label}" style="stroke-linejoin: round"'
    return re.sub(r"<svg([^>]*)>", lambda match: f"{head}{match[1]}><title>{label}</title>{style}", text, count=1)


def _draw_once(figure: Figure, file: io.StringIO) -> None:
    """Write the SVG as `savefig` does, which draws everything once before, to see it laid out: drawing lays it out."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas, dpi = figure.canvas, figure.dpi
    try:
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None})
    finally:
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)


def figure_of(picture: Callable[[], str]) -> Figure:
    """The matplotlib Figure behind a picture, on white, for whoever wants to change it or save it in another form.

    Parameters
    ----------
    picture : draws and returns SVG text by `svg`
    """
    figures: list[Figure] = []
    token = _drawn.set(figures)
    try:
        picture()
    finally:
        _drawn.reset(token)
    figure = figures[-1]
    figure.set_facecolor("white")
    return figure


_drawn: ContextVar[list[Figure] | None] = ContextVar("_drawn", default=None)
_PLACES = re.compile(r'\b(?:d|x|y|x1|y1|x2|y2|transform|points)="[^"]*"')
_DECIMALS = re.compile(r"\d+\.\d{3,}")


def _two_decimals(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}"


def _without_idle_ids(text: str) -> str:
    """Several pictures share a page, where an id may appear once; keep those that something refers to."""
    used = set(re.findall(r"#(\w+)[\")]", text))
    return re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", text)


def _variables() -> tuple[str, str]:
    """The colours as declarations of CSS variables, light and dark."""
    light, dark = (";".join(f"--{name}:{shades[i]}" for name, shades in THEME.items()) for i in (1, 2))
    return light, dark


def theme_css(selector: str = ":root") -> str:
    """The colours as CSS variables, light by default and dark where the reader's system is dark."""
    light, dark = _variables()
    return f"{selector}{{{light}}}@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def theme_choice_css() -> str:
    """As `theme_css`, and a checked #theme-light or #theme-dark on the page decides; paper is always light."""
    light, dark = _variables()
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media screen and (prefers-color-scheme:dark)"
        f"{{:root:not(:has(#theme-light:checked)){{color-scheme:dark;{dark}}}}}"
        f"@media screen{{:root:has(#theme-dark:checked){{color-scheme:dark;{dark}}}}}"
    )
