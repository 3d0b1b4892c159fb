"""`relstudy report`: the page of a study."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.common.console import print_json, progress, say


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Page to write.  [default: DIR/report/index.html]")
@click.option("--judgments", type=click.Path(path_type=Path), help="Judgments, where not DIR/judgments.csv.")
@click.option("--threshold", type=float, help="A pair is a good match above this judgment.  [default: by the scale]")
@click.option("--folds", default=10, show_default=True, type=click.IntRange(2), help="Folds by query for mappings.")
@click.option("--replicates", default=1000, show_default=True, type=click.IntRange(100), help="Bootstrap replicates.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of bootstrap and folds.")
@click.option(
    "--population",
    type=click.Choice(["auto", "collection", "open"]),
    default="auto",
    show_default=True,
    help="What intervals speak of, as for `relstudy score`.",
)
@click.option(
    "--by-source/--no-by-source",
    default=True,
    show_default=True,
    help="Make the tables by mapping and selecting system (tables 5.3-5.6 of the paper).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the page's address, its tables and the figures as JSON.")
def report(
    folder: Path,
    out: Path | None,
    judgments: Path | None,
    threshold: float | None,
    folds: int,
    replicates: int,
    seed: int,
    population: str,
    by_source: bool,
    as_json: bool,
) -> None:
    """Write the report page of the study in DIR: one HTML file, with its tables as CSV and LaTeX beside it.

    Reads judgments.csv and scores/, and where they are there raters.csv, calibrated.csv (or ratings.csv), pairs.csv,
    mappings/ and study.toml. The page needs no network and can be sent as it is.

    \b
    relstudy report my-study
    relstudy report my-study --threshold 2.5 --out my-study/strict.html
    """
    from relstudy.analysis.report.inputs import read_study
    from relstudy.analysis.report.study import Choices, study_page
    from relstudy.common.tables import write_text

    tables = read_study(folder, judgments)
    choices = Choices(threshold, "isotonic", folds, replicates, seed, by_source, population)
    command = ["relstudy", "report", "DIR"]
    if judgments is not None:
        command += ["--judgments", judgments.name]
    if threshold is not None:
        command += ["--threshold", f"{threshold:g}"]
    command += ["--folds", str(folds), "--replicates", str(replicates), "--seed", str(seed)]
    command += [] if population == "auto" else ["--population", population]
    command += [] if by_source else ["--no-by-source"]
    page, result = study_page(tables, choices, command, progress)
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
