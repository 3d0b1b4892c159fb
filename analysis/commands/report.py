"""`relstudy report`: the page of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.commands.requirements import end_by, hold_against, read_required, require_option
from relstudy.analysis.commands.scoring_options import as_arguments, file_arguments, scoring_arguments, scoring_options
from relstudy.analysis.scoring.options import SCORED, TestOptions
from relstudy.common.options.command_options import GroupedCommand, option_under, options_of, refuse_all_but
from relstudy.common.options.declaration import CommandOptions, fields_given, option
from relstudy.common.runtime.by_name import load
from relstudy.common.runtime.console import print_json, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import refuse_over_inputs
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.meaning.study_folder import answers_file, is_side_by_side, judgments_in, table_in

PAPER = "relstudy.analysis.report.paper"

if TYPE_CHECKING:
    from relstudy.analysis.report.layout import Page
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.analysis.study_run import StudyFolder


@dataclass(frozen=True, kw_only=True)
class PaperOptions(CommandOptions):
    """Options of `relstudy report` for the paper's tables."""

    paper_tables: bool = option(
        False,
        "Write the paper's tables and figures as printed, too: a page with CSV and LaTeX in the folder paper beside "
        "the report.",
    )
    interfaces: tuple[Path, ...] = option(
        (),
        "With --paper-tables: the folder of another interface's calibration, for table 5.1 and figure 5.2; repeat.",
        flags=("--interface",),
        metavar="DIR",
    )
    paper_methods: bool = option(
        False,
        "With --paper-tables: mappings by the paper's own methods (bagged, local-bagged, bayes-conjugate), with the "
        "time that each took.",
    )
    ogive: bool = option(
        False,
        "With --paper-methods: the paper's cubic ogives (Eq. 4.10) in place of levels; half a minute a fit.",
    )
    author: str | None = option(
        None, "With --paper-tables: the person of table 5.9.", shown="gave most", metavar="RATER"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.paper_tables and (self.interfaces or self.author or self.paper_methods):
            raise click.UsageError("--interface, --author and --paper-methods go with --paper-tables.")
        if self.ogive and not self.paper_methods:
            raise click.UsageError("--ogive goes with --paper-methods.")

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the mappings."""
        methods: tuple[str, ...] = load(PAPER).methods_of(self.paper_methods, self.ogive)
        return methods

    def as_arguments(self) -> list[str]:
        """The words of a command line that choose the same, without any path of this machine."""
        interfaces = [part for other in self.interfaces for part in ("--interface", other.name)]
        flags = [*(["--paper-methods"] if self.paper_methods else []), *(["--ogive"] if self.ogive else [])]
        return ["--paper-tables", *flags, *interfaces, *(["--author", self.author] if self.author else [])]


@click.command(cls=GroupedCommand, most_used=("--out", "--threshold", "--measure", "--primary", "--by"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Page to write.  [default: DIR/report/index.html]")
@option_under(SCORED, "--judgments", type=click.Path(path_type=Path), help="Judgments, where not DIR/judgments.csv.")
@scoring_options
@option_under(
    "What the page shows",
    "--pictures/--no-pictures",
    "with_pictures",
    default=True,
    show_default=True,
    help="Put small pictures of queries and results into the page; leave them out where the collection is private.",
)
@require_option
@options_of(TestOptions)
@options_of(PaperOptions)
@option_under(
    "What the page shows", "--by", metavar="COLUMN", help="Also score groups of pairs apart, such as --by paradigm."
)
@click.option("--json", "as_json", is_flag=True, help="Print the page's address, its tables and the figures as JSON.")
def report(
    folder: Path,
    out: Path | None,
    judgments: Path | None,
    with_pictures: bool,
    required: tuple[str, ...],
    by: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Write the report page of the study in DIR: one HTML file, with its tables as CSV and LaTeX beside it.

    Reads judgments.csv and scores/, and where they are there raters.csv, calibrated.csv (or ratings.csv), pairs.csv,
    mappings/, comparison.json and study.toml. Where `relstudy score --save DIR/comparison.json` scored the same
    judgments, its options and systems are taken; what you state here comes first. The page needs no network and can be
    sent as it is.

    \b
    relstudy report my-study
    relstudy report my-study --threshold 2.5 --out my-study/strict.html
    relstudy report my-study --require "new > old by correlation" --require "P@10(new) > 0.3"
    relstudy report my-study --paper-tables --interface my-study/binary
    relstudy report my-study --paper-tables --paper-methods
    """
    from relstudy.analysis.pipeline import with_tests
    from relstudy.analysis.report.answers import answers_page, side_by_side_page
    from relstudy.analysis.report.inputs import page_tables
    from relstudy.analysis.report.study import study_page
    from relstudy.analysis.scoring.options import ScoringOptions, options_over
    from relstudy.analysis.study_run import read_study_folder, run_of_study

    answers, compared = answers_file(folder), is_side_by_side(folder)
    if answers is not None or compared:
        heeded = ("folder", "out", "as_json", "with_pictures", *(() if compared else ("judgments",)))
        refuse_all_but(*heeded, beside=f"a study of {'preferences' if compared else 'answers'}")
        target = folder / "report" / "index.html" if out is None else out
        if compared:
            page = side_by_side_page(folder, table_in(folder, "ratings.csv", f"relstudy export {quoted(folder)}"))
        else:
            assert answers is not None
            page = answers_page(answers, judgments or judgments_in(folder))
        files = _write_page(page, target, target.parent / "tables")
        if as_json:
            written = {"page": target.as_posix(), "tables": (target.parent / "tables").as_posix(), "files": files}
            print_json({"headline": page.lead[0], **written})
        else:
            click.echo(page.lead[0])
            say(f"The report is in {target}; its table is in {target.parent / 'tables'}.")
        return
    requirements = read_required(required)
    given = fields_given(ScoringOptions, choices)
    paper = PaperOptions(**fields_given(PaperOptions, choices))
    ratings = choices.pop("ratings")
    scored = read_study_folder(folder, judgments, None if ratings is None else Path(ratings))
    target = folder / "report" / "index.html" if out is None else out
    if target.is_dir():
        raise RelstudyError(f"{target}: this is a folder; --out names the page")
    refuse_over_inputs(
        [target], [folder / file.name for file in scored.files] + [judgments, ratings, choices["queries"]]
    )
    if choices["queries"] is not None:
        scored = scored.with_queries(Path(choices["queries"]))
    options = options_over(scored.options, given)
    run, origin = run_of_study(scored, options, stated=given.get("directions", ()), by=by)
    stated_tests = fields_given(TestOptions, choices)
    if stated_tests:
        run = with_tests(run, TestOptions(**stated_tests))
    tables = page_tables(run.study, folder, scored.files)
    files = file_arguments({"judgments": judgments, "ratings": ratings, "queries": choices["queries"]})
    command = ["relstudy", "report", "DIR", *files, *scoring_arguments(choices, options)]
    command += [*([] if with_pictures else ["--no-pictures"]), *([] if by is None else ["--by", by])]
    command += as_arguments(TestOptions, choices)
    page = study_page(run, tables, command, with_pictures)
    result, verdict = run.result, run.verdict
    outcomes = hold_against(requirements, result)
    beside = target.parent / "tables"
    plain = judgments is None and ratings is None
    questions = _question_pages(scored, target, options, command, by, with_pictures) if plain else {}
    paper_target = target.parent / "paper" / "index.html"
    seconds: dict[str, float] = {}
    in_paper = None
    wing: Any = load(PAPER) if paper.paper_tables else None
    if paper.paper_tables:
        study = wing.paper_study(run, tables, paper.interfaces, paper.author, with_pictures)
        in_paper = wing.paper_page(study, [*command, *paper.as_arguments()], progress, paper.methods, seconds)
    files = _write_page(page, target, beside)
    if in_paper is not None:
        _remove_tables(paper_target.parent)
    in_paper_files = [] if in_paper is None else _write_page(in_paper, paper_target, paper_target.parent)
    if as_json:
        content: dict[str, Any] = {"page": target.as_posix(), "tables": beside.as_posix(), "files": files}
        content |= {"questions": questions} if questions else {}
        content |= {} if in_paper is None else {"paper": paper_target.as_posix(), "paper_files": in_paper_files}
        if in_paper is not None:
            content["paper_claims"] = wing.claims_as_json(wing.table_of_claims(in_paper))
        if paper.paper_methods:
            content["paper_seconds"] = {method: round(taken, 2) for method, taken in seconds.items()}
        content["figures_from"] = origin
        print_json(content | run.as_json() | {"requirements": [each.as_json() for each in outcomes]})
    else:
        click.echo(verdict.headline)
        for each in outcomes:
            click.echo(each.line())
        for note in result.notes:
            click.echo(note)
        click.echo(origin)
        click.echo(f"The report is in {target}; its tables are in {beside}.")
        for name, page_of_question in questions.items():
            click.echo(f"The question {name} has a page of its own: {page_of_question}.")
        if in_paper is not None:
            click.echo(f"The paper's tables and figures are in {paper_target}, as CSV and LaTeX beside it.")
            click.echo(f"{wing.claims_summary(wing.table_of_claims(in_paper))} The page ends with them.")
            if paper.paper_methods:
                took = ", ".join(f"{method} {taken:.0f} s" for method, taken in seconds.items())
                click.echo(f"Fitting the paper's mappings took: {took}.")
            for text in wing.missing(in_paper):
                click.echo(text)
    end_by(outcomes)


def _question_pages(
    study: StudyFolder,
    target: Path,
    options: ScoringOptions,
    command: Sequence[str],
    by: str | None,
    with_pictures: bool,
) -> dict[str, str]:
    """Write a page for each further question that has judgments; their addresses by the questions' ids.

    A threshold that is stated is on the blocks' own scale, and each question has the cut of its own.
    """

    from relstudy.analysis.pipeline import score_tables
    from relstudy.analysis.report.inputs import page_tables
    from relstudy.analysis.report.questions import judged_questions
    from relstudy.analysis.report.study import study_page
    from relstudy.analysis.scoring.groups import Grouping
    from relstudy.analysis.study_run import read_study_folder
    from relstudy.common.tables.formats.table_files import read_table
    from relstudy.common.tables.meaning.study_folder import QUESTIONS

    folder, pages = study.folder, {}
    for name, judgments in judged_questions(folder).items():
        scored = read_study_folder(folder, judgments)
        scored = replace(scored, study=replace(scored.study, queries=study.study.queries))
        grouping = None if by is None else Grouping.of(scored.study, by, apart=True)
        own_options = replace(options, threshold=None)
        run = score_tables(scored.study, scored.scores(options.low_coverage), own_options, fitted={}, grouping=grouping)
        raters = judgments.parent / "raters.csv"
        tables = page_tables(run.study, folder, scored.files)
        raters_table = read_table(raters).frame.astype(str) if raters.is_file() else None
        tables = replace(tables, title=f"{tables.title}: {name}", raters=raters_table, truth=None)
        page = study_page(run, tables, command, with_pictures, name)
        place = target.parent / QUESTIONS / name / "index.html"
        _write_page(page, place, place.parent / "tables")
        pages[name] = place.as_posix()
    return pages


def _remove_tables(folder: Path) -> None:
    """Remove the paper's tables of an earlier run, which this one may not have; files of other names stay."""
    for kind in ("table-*", "figure-*", "section-*", "claims"):
        for ending in (".csv", ".tex"):
            for file in folder.glob(kind + ending):
                file.unlink()


def _write_page(page: Page, target: Path, beside: Path) -> list[str]:
    """Write a page, and its tables as CSV and LaTeX into the folder `beside`; the names of the CSV files."""
    from relstudy.analysis.report.rendering import html_of
    from relstudy.common.runtime.files import write_text

    write_text(html_of(page), target)
    for table in page.tables():
        write_text(table.csv(), beside / f"{table.file}.csv")
        write_text(table.latex(), beside / f"{table.file}.tex")
    return [f"{table.file}.csv" for table in page.tables()]
