"""`relstudy report`: the page of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relstudy.analysis.commands.scoring_options import as_arguments, given_options, options_over, scoring_options
from relstudy.common.console import print_json, progress, say


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Page to write.  [default: DIR/report/index.html]")
@click.option("--judgments", type=click.Path(path_type=Path), help="Judgments, where not DIR/judgments.csv.")
@scoring_options
@click.option(
    "--by-source/--no-by-source",
    default=True,
    show_default=True,
    help="Make the tables by mapping and selecting system (tables 5.3-5.6 of the paper).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the page's address, its tables and the figures as JSON.")
def report(
    folder: Path, out: Path | None, judgments: Path | None, by_source: bool, as_json: bool, **choices: Any
) -> None:
    """Write the report page of the study in DIR: one HTML file, with its tables as CSV and LaTeX beside it.

    Reads judgments.csv and scores/, and where they are there raters.csv, calibrated.csv (or ratings.csv), pairs.csv,
    mappings/, comparison.json and study.toml. Where `relstudy score --save DIR/comparison.json` scored the same
    judgments, its options and systems are taken; what you state here comes first. The page needs no network and can be
    sent as it is.

    \b
    relstudy report my-study
    relstudy report my-study --threshold 2.5 --out my-study/strict.html
    """
    from relstudy.analysis.report.inputs import read_study
    from relstudy.analysis.report.study import study_page
    from relstudy.common.tables import write_text

    given = given_options(choices)
    ratings = choices.pop("ratings")
    tables = read_study(folder, judgments, given.get("low_coverage", False), None if ratings is None else Path(ratings))
    options = options_over(tables.options, given)
    command = ["relstudy", "report", "DIR", *(["--judgments", judgments.name] if judgments is not None else [])]
    command += [] if ratings is None else ["--ratings", Path(ratings).name]
    command += [*as_arguments(choices, options), *([] if by_source else ["--no-by-source"])]
    page, result = study_page(tables, options, command, progress, by_source)
    target = folder / "report" / "index.html" if out is None else out
    write_text(page.html(), target)
    beside = target.parent / "tables"
    for table in page.tables():
        write_text(table.csv(), beside / f"{table.file}.csv")
        write_text(table.latex(), beside / f"{table.file}.tex")
    for note in result.notes:
        say(note)
    if as_json:
        files = [f"{table.file}.csv" for table in page.tables()]
        print_json({"page": target.as_posix(), "tables": beside.as_posix(), "files": files, **result.as_json()})
    else:
        click.echo(f"The report is in {target}; its tables are in {beside}.")
