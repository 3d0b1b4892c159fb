"""A page: sections of paragraphs, sentences, pictures and tables, and how they become HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from relstudy.analysis.report.tables import (
    NONE,
    Cell,
    Column,
    Table,
    number,
    shown_integer,
    shown_interval,
    shown_number,
)
from relstudy.common.estimates import Estimate
from relstudy.common.figures import theme_choice_css

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Paragraph:
    """Running text; `quiet` for what a reader may skip."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True)
class Sentence:
    """A subject in bold, what is said of it, and the numbers behind it in small print."""

    subject: str
    text: str
    numbers: str = ""


@dataclass(frozen=True)
class Sentences:
    """A numbered list, best first."""

    items: Sequence[Sentence]


@dataclass(frozen=True)
class Terms:
    """Names and what they mean."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Command:
    """A line to type."""

    text: str


@dataclass(frozen=True)
class Picture:
    """Drawings (SVG text of `relstudy.common.figures`) under one caption.

    Parameters
    ----------
    wide : a row of its own for each, which scrolls on a narrow screen; its region is then called `name`
    """

    drawings: Sequence[str]
    caption: str
    wide: bool = False
    name: str = "Picture"

    @property
    def layout(self) -> str:
        return "wide" if self.wide else "side-by-side"


@dataclass(frozen=True)
class Answer:
    """What a reader came for: who leads, why, and what is open."""

    headline: str
    reasons: Sequence[str]
    open: Sequence[str]


@dataclass(frozen=True)
class OverviewRow:
    """One system of the overview: rank, correlation, ties by lane, and how often good is above poor, in 100."""

    rank: str
    name: str
    leads: bool
    estimate: Estimate
    ties: Sequence[str]
    any_query: str
    same_query: str


@dataclass(frozen=True)
class Overview:
    """Every system on one line; `low` is where the axis starts, `reachable` the most that any system could reach."""

    rows: Sequence[OverviewRow]
    low: float
    reachable: float | None
    caption: str

    def at(self, value: float) -> str:
        """A value's place on the axis, in percent."""
        return f"{100 * (min(max(value, self.low), 1.0) - self.low) / (1 - self.low):.1f}"

    @property
    def ticks(self) -> list[float]:
        """Where the axis is labelled, every .2 from its start to 1."""
        return [round(self.low + 0.2 * k, 1) for k in range(round((1 - self.low) / 0.2) + 1)]


@dataclass(frozen=True)
class Example:
    """A pair on which a system and people disagree: ids and texts of query and result, thumbnails or "", figures."""

    system: str
    items: Sequence[tuple[str, str]]
    pictures: Sequence[str]
    people: float
    scored: float


@dataclass(frozen=True)
class Examples:
    """Pairs side by side."""

    items: Sequence[Example]


@dataclass(frozen=True)
class Figures:
    """A few numbers, each with what it is."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Folded:
    """Blocks that a reader opens, under a line that says what they are."""

    summary: str
    blocks: Sequence[Block]


Block = (
    Paragraph
    | Heading
    | Sentences
    | Terms
    | Command
    | Picture
    | Table
    | Answer
    | Overview
    | Examples
    | Figures
    | Folded
)


@dataclass(frozen=True)
class Section:
    """One heading of the page, what stands under it, and a shorter name for the list of sections.

    `bare` keeps the heading for those who cannot see the page; `folded` shows the heading alone until it is opened.
    """

    id: str
    heading: str
    blocks: Sequence[Block]
    short: str = ""
    bare: bool = False
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """A whole page.

    Parameters
    ----------
    title : the page's heading
    kind : what sort of page it is, in two or three words above the title
    lead : the paragraphs under the title
    banner : what must be known before anything is read, above the title; or empty
    sections : in reading order
    """

    title: str
    kind: str
    lead: Sequence[str]
    sections: Sequence[Section]
    banner: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", _with_files_apart(self.sections))

    def tables(self) -> list[Table]:
        """Every table of the page, in order."""
        return [table for section in self.sections for table in _tables(section.blocks)]

    def html(self) -> str:
        """The page as one HTML text that needs nothing else."""
        environment = _environment()
        blocks = environment.get_template("blocks.html").module
        style = theme_choice_css() + "\n" + environment.get_template("page.css").render()
        from markupsafe import Markup

        return environment.get_template("page.html").render(
            page=self, style=Markup(style), version=_version(), show=_shower(blocks)
        )


def _tables(blocks: Sequence[Block]) -> list[Table]:
    """The tables among blocks, those that are folded away with them, in order."""
    inside = [_tables(each.blocks) if isinstance(each, Folded) else [each] for each in blocks]
    return [block for part in inside for block in part if isinstance(block, Table)]


def _with_files_apart(sections: Sequence[Section]) -> list[Section]:
    """Tables whose names come to the same file, as names in other alphabets may, get a number; files do not meet."""
    taken: set[str] = set()

    def apart(block: Block) -> Block:
        if isinstance(block, Folded):
            return replace(block, blocks=[apart(each) for each in block.blocks])
        if not isinstance(block, Table):
            return block
        table, number = block, 1
        while table.file in taken:
            number += 1
            table = replace(block, name=f"{block.file}-{number}")
        taken.add(table.file)
        return table

    return [replace(section, blocks=[apart(block) for block in section.blocks]) for section in sections]


def _shower(macros: Any) -> Callable[[Block], str]:
    names = {
        Paragraph: "paragraph",
        Heading: "heading",
        Sentences: "sentences",
        Terms: "terms",
        Command: "command",
        Picture: "picture",
        Table: "table",
        Answer: "answer",
        Overview: "overview",
        Examples: "examples",
        Figures: "figures",
    }

    def show(block: Block) -> str:
        given: Any = block
        if isinstance(block, Folded):
            folded: str = macros.folded(block.summary, [show(each) for each in block.blocks])
            return folded
        if isinstance(block, Table):
            given = _table_for_page(block)
        elif isinstance(block, Picture):
            given = _picture_for_page(block)
        text: str = getattr(macros, names[type(block)])(given)
        return text

    return show


def _picture_for_page(picture: Picture) -> dict[str, Any]:
    from markupsafe import Markup

    # the drawings are our own SVG, in which every text that came from a table was escaped when it was drawn
    drawings = [Markup(drawing) for drawing in picture.drawings]
    return {"drawings": drawings, "caption": picture.caption, "layout": picture.layout, "name": picture.name}


def _table_for_page(table: Table) -> dict[str, Any]:
    rows = table.rows if table.shown is None else table.rows[: table.shown]
    best = table.marked()
    return {
        "id": f"table-{table.file}",
        "name": table.file,
        "caption": table.caption,
        "note": table.note,
        "columns": [{"name": c.name, "numeric": table.numeric(i)} for i, c in enumerate(table.columns)],
        "rows": [
            [_cell_for_page(cell, table.columns[j], (i, j) in best) for j, cell in enumerate(row)]
            for i, row in enumerate(rows)
        ],
        "hidden": len(table.rows) - len(rows),
        "csv": table.data_address("csv"),
        "latex": table.data_address("latex"),
    }


def _cell_for_page(cell: Cell, column: Column, best: bool) -> dict[str, Any]:
    if isinstance(cell, str) or cell is None:
        return {"kind": "text", "text": cell if cell else ""}
    if isinstance(cell, int) and not column.percent:
        return {"kind": "number", "text": shown_integer(cell), "note": "", "why": False, "best": best}
    value = number(cell)
    note = shown_interval(cell, column)
    if value is None and isinstance(cell, Estimate):
        note = cell.reason or ""
    return {
        "kind": "number",
        "text": NONE if value is None else shown_number(value, column),
        "note": note,
        "why": value is None,
        "best": best,
    }


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("relstudy.analysis.report"),
        autoescape=lambda name: name is None or name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _version() -> str:
    from importlib.metadata import version

    return version("relstudy")
