"""Rendering of a page as one HTML text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from relstudy.analysis.report.layout import (
    Block,
    Folded,
    Page,
    Paragraph,
    Picture,
)
from relstudy.analysis.report.tables import (
    NONE,
    Cell,
    Column,
    DifferenceWithP,
    Table,
    estimate_of,
    number,
    shown_integer,
    shown_interval,
    shown_number,
    shown_p,
)
from relstudy.common.charts.figures import theme_choice_css
from relstudy.common.results.estimates import Estimate

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


NO_BREAK = "\u00a0"


def html_of(page: Page, *, part: bool = False) -> str:
    """The page as one HTML text that needs nothing else.

    Parameters
    ----------
    part : its sections alone, to be shown within another page
    """
    environment = _environment()
    blocks = environment.get_template("blocks.html").module
    style = theme_choice_css() + "\n" + environment.get_template("page.css").render(title=_in_css(page.title))
    from markupsafe import Markup

    return environment.get_template("page.html").render(
        page=page, style=Markup(style), version=_version(), show=_shower(blocks), part=part
    )


def _shower(macros: Any) -> Callable[[Block], str]:
    """Renders a block by the macro that is called as its class, in small letters; blocks come in the page's order."""
    given_before: list[str] = []

    def show(block: Block) -> str:
        given: Any = block
        if isinstance(block, Folded):
            folded: str = macros.folded(block.summary, [show(each) for each in block.blocks])
            return folded
        if isinstance(block, Table):
            given = _table_for_page(block, "\n".join(given_before))
            given_before.append(given["note"])
        elif isinstance(block, Paragraph):
            given_before.append(block.text)
        elif isinstance(block, Picture):
            given = _picture_for_page(block)
        text: str = getattr(macros, type(block).__name__.lower())(given)
        return text

    return show


def _picture_for_page(picture: Picture) -> dict[str, Any]:
    from markupsafe import Markup

    # the drawings are our own SVG, in which every text that came from a table was escaped when it was drawn
    drawings, narrow = ([Markup(drawing) for drawing in each] for each in (picture.drawings, picture.narrow))
    return {
        "drawings": drawings,
        "narrow": narrow,
        "caption": picture.caption,
        "layout": picture.layout,
        "name": picture.name,
    }


def _table_for_page(whole: Table, before: str) -> dict[str, Any]:
    table, said = whole.reasons_once(before)
    rows = table.rows if table.shown is None else table.rows[: table.shown]
    best = table.marked()
    scales = [None if table.number else table.scale(i) for i in range(len(table.columns))]
    return {
        "id": f"table-{table.file}",
        "name": table.file,
        "caption": table.caption.rstrip("."),
        "note": table.note,
        "columns": [
            {"name": c.name.replace(" %", NO_BREAK + "%"), "numeric": table.numeric(i)}
            for i, c in enumerate(table.columns)
        ],
        "rows": [
            [
                _cell_for_page(cell, table.columns[j], (i, j) in best, scales[j], said) | {"mark": table.mark(i, j)}
                for j, cell in enumerate(row)
            ]
            for i, row in enumerate(rows)
        ],
        "pictures": [table.pictures.get(str(row[0]), "") for row in rows],
        "hidden": len(table.rows) - len(rows),
        "prose": table.prose,
        "csv": whole.data_address("csv"),
        "latex": whole.data_address("latex"),
    }


def _cell_for_page(
    cell: Cell, column: Column, best: bool, scale: tuple[float, float] | None, said: frozenset[str]
) -> dict[str, Any]:
    """A cell as it is shown; the reasons that are said below the table are not said again."""
    if isinstance(cell, str) or cell is None:
        return {"kind": "text", "text": cell if cell else ""}
    shown = {"kind": "number", "why": False, "best": best, "note": "", "ends": "", "bar": None, "p": "", "mark": ""}
    if isinstance(cell, int) and not column.percent:
        return shown | {"text": shown_integer(cell)}
    value, estimate = number(cell), estimate_of(cell)
    if value is None:
        reason = None if estimate is None or estimate.reason in said else estimate.reason
        return shown | {"text": NONE, "why": True, "note": reason or ""}
    p = shown_p(cell.p) if isinstance(cell, DifferenceWithP) and cell.p is not None else ""
    ends, bar = shown_interval(cell, column), _bar(estimate, scale)
    return shown | {
        "text": shown_number(value, column),
        "p": p,
        "bar": bar,
        **({"note": ends} if bar is None else {"ends": ends}),
    }


def _bar(estimate: Estimate | None, scale: tuple[float, float] | None) -> dict[str, str] | None:
    """Where an interval's bar begins and ends, its value and 0, in percent of the column's scale."""
    if estimate is None or scale is None or estimate.value is None or estimate.ends is None:
        return None
    low, high = scale
    left, right = estimate.ends

    def at(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    zero = f"{at(0.0):.1f}" if low < 0 < high else ""
    return {
        "left": f"{at(left):.1f}",
        "right": f"{100 - at(right):.1f}",
        "at": f"{at(estimate.value):.1f}",
        "zero": zero,
    }


def _in_css(text: str) -> str:
    """A text inside a style sheet's quotes: every character that could end it or the sheet as its code."""
    return "".join(c if c.isalnum() or c in " .,:;!?-" else f"\\{ord(c):x} " for c in text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("relstudy.analysis.report"),
        autoescape=lambda name: name is None or name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_commands"] = with_commands
    return environment


def with_commands(text: str) -> Markup:
    """Text for HTML in which a command of relstudy, in backticks as elsewhere, is set as code.

    Other backticks, as in a system's name, stay as they are.

    Examples
    --------
    >>> str(with_commands("`relstudy score --out` writes a<b and `c`"))
    '<code>relstudy score --out</code> writes a&lt;b and `c`'
    """
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`(relstudy [^`]+)`", r"<code>\1</code>", str(escape(text))))


def _version() -> str:
    from importlib.metadata import version

    return version("relstudy")
