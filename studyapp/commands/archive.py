"""relstudy archive: a study for a paper's reviewers and the next system, without its people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import click

from relstudy.common.command_options import taking
from relstudy.common.errors import RelstudyError
from relstudy.common.options import CommandOptions, option


def _day(text: str) -> str:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date().isoformat()
    except ValueError:
        raise RelstudyError(f"a day is needed, such as 2026-01-31, not {text!r}") from None


def _described(texts: Sequence[str]) -> dict[str, str]:
    """The meaning of each column, from texts of the form NAME=MEANING."""
    meanings = {}
    for text in texts:
        name, equals, meaning = text.partition("=")
        if not (name.strip() and equals and meaning.strip()):
            raise RelstudyError(f'{text!r} is not understood; category="what is sold" would be right')
        meanings[name.strip()] = meaning.strip()
    return meanings


@dataclass(frozen=True, kw_only=True)
class ArchiveOptions(CommandOptions):
    """Options of `relstudy archive`."""

    output: Path | None = option(
        None, "A .zip file, or a folder that is new.", flags=("-o", "--output"), shown="FOLDER/study.zip"
    )
    authors: tuple[str, ...] = option(
        (), 'For the citation, as "Family, Given"; once for each.', flags=("--author",), metavar="TEXT"
    )
    licence: str = option("", "An SPDX name such as CC-BY-4.0, or an address.", flags=("--license",))
    url: str = option("", "Where the archive will be found.")
    date: str | None = option(None, "Of publication.", metavar="YYYY-MM-DD", shown="today", read=_day)
    columns: Mapping[str, str] = option(
        dict,
        "Keep a column of your own tables, and what it means; once for each.",
        flags=("--column",),
        metavar="NAME=MEANING",
        read=_described,
    )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(ArchiveOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def archive(folder: Path, options: ArchiveOptions, as_json: bool) -> None:
    """Put a study into one anonymised file: tables, what their columns mean, what was asked, versions, figures.

    Raters get new numbers in random order; what people typed, ids of platforms, times of day and secrets stay out, and
    what stayed out is listed. A new system is scored against it with `relstudy score NEW --against study.zip`.

    \b
    Example:
      relstudy archive my-study -o study.zip --author "Doe, Jane" --license CC-BY-4.0
    """
    from relstudy.common.console import print_json, say
    from relstudy.studyapp.archive.contents import make_archive, write_archive
    from relstudy.studyapp.archive.metadata import About
    from relstudy.studyapp.commands.opening import ratings_of_study
    from relstudy.studyapp.config.secret import read_secret

    study, ratings, where = ratings_of_study(folder)
    about = About(options.authors, options.licence, options.url, options.date or date.today().isoformat())
    made = make_archive(study, ratings, read_secret(folder), about, options.columns)
    target = options.output or folder / "study.zip"
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
