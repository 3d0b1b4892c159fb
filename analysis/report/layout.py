"""A page: sections of paragraphs, sentences, pictures and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from relstudy.analysis.report.tables import Table
from relstudy.common.results.estimates import Estimate


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
    """A subject in bold, and what is said of it."""

    subject: str
    text: str


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
    """Drawings (SVG text of `relstudy.common.charts.figures`) under one caption.

    Parameters
    ----------
    wide : a row of its own for each; its region is then called `name`
    narrow : the same drawings as wide as a telephone, shown there instead; or none
    """

    drawings: Sequence[str]
    caption: str
    wide: bool = False
    narrow: Sequence[str] = ()
    name: str = "Picture"

    @property
    def layout(self) -> str:
        return "wide" if self.wide else "side-by-side"


@dataclass(frozen=True)
class Answer:
    """The answer to the reader: the system to use, the measure, and cards of what follows from it."""

    headline: str
    measure: str
    cards: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class OverviewRow:
    """One system of the overview.

    Parameters
    ----------
    rank, name, figure : as they are shown; `figure` is of the primary index
    leads : whether it may be the best
    behind : its difference from the first, in points of the axis; None of the first itself
    marks : for each further index "=", "▼" (clearly behind the first), "▲" (clearly ahead of it) or ""
    """

    rank: str
    name: str
    figure: str
    leads: bool
    behind: Estimate | None
    marks: Sequence[str]


@dataclass(frozen=True)
class Overview:
    """Every system on one line, with how far it is from the first.

    Parameters
    ----------
    heading : of the primary index' figures
    others : headings of the marks
    axis : what the axis shows
    low, high : its ends
    matters : the smallest difference that matters, in points of the axis
    """

    rows: Sequence[OverviewRow]
    heading: str
    others: Sequence[str]
    axis: str
    low: float
    high: float
    matters: float
    caption: str

    def at(self, value: float) -> str:
        """A value's place on the axis, in percent.

        Examples
        --------
        >>> overview = Overview([], "", [], "", -30.0, 10.0, 5.0, "")
        >>> [overview.at(value) for value in (-30.0, 0.0, 99.0)], overview.ticks
        (['0.0', '75.0', '100.0'], [-30.0, -20.0, -10.0, 0.0, 10.0])
        """
        return f"{100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low):.1f}"

    @property
    def ticks(self) -> list[float]:
        """Where the axis is labelled: at most seven round numbers."""
        width = self.high - self.low
        step = next(
            base * 10.0**power for power in range(-6, 6) for base in (1, 2, 5) if width / (base * 10.0**power) <= 6
        )
        return [round(step * k, 6) for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


@dataclass(frozen=True)
class Parting:
    """A query on which one of two systems fails: what it is, both figures, the failing system's best results.

    Parameters
    ----------
    system, figure, other, other_figure : the one that fails with its figure, and the other with its own
    query : text and thumbnail, "" without one
    results : text, thumbnail and people's judgment of its first results that were judged
    """

    system: str
    figure: str
    other: str
    other_figure: str
    query: tuple[str, str]
    results: Sequence[tuple[str, str, float]]


@dataclass(frozen=True)
class Partings:
    """Queries on which two systems part, side by side."""

    items: Sequence[Parting]


@dataclass(frozen=True)
class Example:
    """A pair on which somebody and people disagree: ids and texts of query and result, thumbnails or "", figures.

    Parameters
    ----------
    system : what stands in bold before the figures
    people : their judgment; None where they have not judged the pair
    scored, by : the other figure, and whose it is
    """

    system: str
    items: Sequence[tuple[str, str]]
    pictures: Sequence[str]
    people: float | None
    scored: float
    by: str = "system"


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
    | Partings
    | Examples
    | Figures
    | Folded
)


@dataclass(frozen=True)
class Section:
    """One heading of the page, and what stands under it.

    `bare` keeps the heading for those who cannot see the page; `folded` shows the heading alone until it is opened.
    """

    id: str
    heading: str
    blocks: Sequence[Block]
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
    banner : what must be known before anything is read, under the title: its first words, and the rest
    sections : in reading order
    """

    title: str
    kind: str
    lead: Sequence[str]
    sections: Sequence[Section]
    banner: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", _with_files_apart(self.sections))

    def tables(self) -> list[Table]:
        """Every table of the page, in order."""
        return [table for section in self.sections for table in _tables(section.blocks)]


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
