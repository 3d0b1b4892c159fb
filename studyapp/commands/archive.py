"""relstudy archive: a study for a paper's reviewers and the next system, without its people."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A .zip file, or a folder that is new. [default: FOLDER/study.zip]",
)
@click.option("--author", "authors", multiple=True, help='For the citation, as "Family, Given"; once for each.')
@click.option("--license", "licence", default="", help="An SPDX name such as CC-BY-4.0, or an address.")
@click.option("--url", default="", help="Where the archive will be found.")
@click.option(
    "--date", metavar="YYYY-MM-DD", type=click.DateTime(["%Y-%m-%d"]), help="Of publication. [default: today]"
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=MEANING",
    help="Keep a column of your own tables, and what it means; once for each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def archive(
    folder: Path,
    output: Path | None,
    authors: tuple[str, ...],
    licence: str,
    url: str,
    date: click.DateTime | None,
    columns: tuple[str, ...],
    as_json: bool,
) -> None:
    """Put a study into one anonymised file: tables, what their columns mean, what was asked, versions, figures.

    Raters get new numbers in random order; what people typed, ids of platforms, times of day and secrets stay out, and
    what stayed out is listed. A new system is scored against it with `relstudy score NEW --against study.zip`.

    \b
    Example:
      relstudy archive my-study -o study.zip --author "Doe, Jane" --license CC-BY-4.0
    """
    from datetime import date as day

    from relstudy.common.console import print_json, say
    from relstudy.studyapp.archive.contents import make_archive, write_archive
    from relstudy.studyapp.archive.metadata import About
    from relstudy.studyapp.commands.opening import ratings_of_study
    from relstudy.studyapp.config.secret import read_secret

    described = {}
    for text in columns:
        name, equals, meaning = text.partition("=")
        if not (name.strip() and equals and meaning.strip()):
            raise click.UsageError(f'--column: {text!r} is not understood; category="what is sold" would be right')
        described[name.strip()] = meaning.strip()
    study, ratings, where = ratings_of_study(folder)
    published = str(date)[:10] if date is not None else day.today().isoformat()
    made = make_archive(study, ratings, read_secret(folder), About(authors, licence, url, published), described)
    target = output or folder / "study.zip"
    write_archive(made.files, target)
    if as_json:
        content = {"file": str(target), "ratings_from": where, "files": list(made.files), "rows": dict(made.rows)}
        print_json({**content, "left_out": list(made.left_out), "notes": list(made.notes)})
        return
    click.echo(f"Ratings are from {where}.")
    for path, count in made.rows.items():
        click.echo(f"{path}: {count} rows")
    click.echo(f"Besides: {', '.join(path for path in made.files if path not in made.rows)}")
    click.echo("Left out:")
    for phrase in made.left_out:
        click.echo(f"  {phrase}")
    for note in made.notes:
        click.echo(note)
    say(f"{len(made.files)} files -> {target}")
