"""The options of `relstudy report` for the paper's tables, and how these are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relstudy.common.console import progress

if TYPE_CHECKING:
    from relstudy.analysis.pipeline import ScoringRun
    from relstudy.analysis.report.inputs import PageTables
    from relstudy.analysis.report.layout import Page

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--paper-tables",
        is_flag=True,
        help="Write the paper's tables and figures as printed, too: a page with CSV and LaTeX in the folder paper "
        "beside the report.",
    ),
    click.option(
        "--interface",
        "interfaces",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="With --paper-tables: the folder of another interface's calibration, for table 5.1 and figure 5.2; "
        "repeat.",
    ),
    click.option(
        "--paper-methods",
        is_flag=True,
        help="With --paper-tables: mappings by the paper's own methods (bagged, local-bagged, bayes-conjugate), with "
        "the time that each took.",
    ),
    click.option(
        "--ogive",
        is_flag=True,
        help="With --paper-methods: the paper's cubic ogives (Eq. 4.10) in place of levels; half a minute a fit.",
    ),
    click.option(
        "--author", metavar="RATER", help="With --paper-tables: the person of table 5.9.  [default: gave most]"
    ),
)


def paper_options(command: Command) -> Command:
    """Give a command the options of the paper's tables."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class PaperChoices:
    """Choices of the paper's tables.

    Parameters
    ----------
    wanted : whether they are
    interfaces : folders of other interfaces' calibrations
    author : the person of table 5.9; None takes whoever gave most
    own_methods : whether mappings are by the paper's own methods
    ogive : whether cubic ogives stand in place of levels among these
    seconds : of each method's fits, filled when the page is made
    """

    wanted: bool
    interfaces: tuple[Path, ...] = ()
    author: str | None = None
    own_methods: bool = False
    ogive: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def taken_from(cls, choices: dict[str, Any]) -> PaperChoices:
        """The choices on a command line, taken out of the others."""
        names = ("paper_tables", "interfaces", "author", "paper_methods", "ogive")
        taken = cls(*(choices.pop(name) for name in names))
        if not taken.wanted and (taken.interfaces or taken.author or taken.own_methods):
            raise click.UsageError("--interface, --author and --paper-methods go with --paper-tables.")
        if taken.ogive and not taken.own_methods:
            raise click.UsageError("--ogive goes with --paper-methods.")
        return taken

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the mappings."""
        from relstudy.analysis.report.paper.fits import OF_THE_PAPER, OGIVE, STANDARD

        if not self.own_methods:
            return STANDARD
        return (*OF_THE_PAPER[:-1], OGIVE) if self.ogive else OF_THE_PAPER

    def times(self) -> str:
        """The times of each method's fits, as a sentence."""
        each = (f"{method} {taken:.0f} s" for method, taken in self.seconds.items())
        return f"Fitting the paper's mappings took: {', '.join(each)}."

    def arguments(self) -> list[str]:
        """As they stand on a command line, without any path of this machine."""
        interfaces = [part for other in self.interfaces for part in ("--interface", other.name)]
        flags = [*(["--paper-methods"] if self.own_methods else []), *(["--ogive"] if self.ogive else [])]
        return ["--paper-tables", *flags, *interfaces, *(["--author", self.author] if self.author else [])]


def paper_page_of(
    run: ScoringRun, tables: PageTables, command: Sequence[str], choices: PaperChoices, with_pictures: bool
) -> Page:
    """The page of the paper's tables for a study, with or without pictures of its collection."""
    from relstudy.analysis.report.paper.page import paper_page
    from relstudy.analysis.report.paper.reading import paper_study

    study = paper_study(run, tables, choices.interfaces, choices.author, with_pictures)
    arguments = [*command, *choices.arguments()]
    return paper_page(study, arguments, progress, choices.methods, choices.seconds)


def claims_said(page: Page) -> str:
    """The number of the paper's claims that hold, as a sentence."""
    from relstudy.analysis.report.paper.claims import summary
    from relstudy.analysis.report.paper.page import table_of_claims

    return summary(table_of_claims(page))


def claims_as_json(page: Page) -> list[dict[str, object]]:
    """The paper's claims and what comes of each, as plain JSON."""
    from relstudy.analysis.report.paper.claims import as_json
    from relstudy.analysis.report.paper.page import table_of_claims

    return as_json(table_of_claims(page))


def remove_tables(folder: Path) -> None:
    """Remove the paper's tables of an earlier run, which this one may not have; files of other names stay."""
    for kind in ("table-*", "figure-*", "section-*", "claims"):
        for ending in (".csv", ".tex"):
            for file in folder.glob(kind + ending):
                file.unlink()


def write_page(page: Page, target: Path, beside: Path) -> list[str]:
    """Write a page, and its tables as CSV and LaTeX into the folder `beside`; the names of the CSV files."""
    from relstudy.analysis.report.rendering import html_of
    from relstudy.common.files import write_text

    write_text(html_of(page), target)
    for table in page.tables():
        write_text(table.csv(), beside / f"{table.file}.csv")
        write_text(table.latex(), beside / f"{table.file}.tex")
    return [f"{table.file}.csv" for table in page.tables()]
