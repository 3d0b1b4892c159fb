"""relstudy admin archive: a study for a paper's reviewers and the next system, without its people."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.runtime.wording import count_of
from relstudy.studyapp.archive.options import ArchiveOptions


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
      relstudy admin archive my-study -o study.zip --author "Doe, Jane" --license CC-BY-4.0
    """
    from relstudy.common.runtime.console import print_json, say
    from relstudy.studyapp.archive.contents import make_archive, write_archive
    from relstudy.studyapp.commands.opening import ratings_of_study
    from relstudy.studyapp.config.secret import read_secret

    study, ratings, where = ratings_of_study(folder)
    made = make_archive(study, ratings, read_secret(folder), options)
    target = options.output or folder / "study.zip"
    write_archive(made.files, target)
    if as_json:
        content = {"file": str(target), "ratings_from": where, "files": list(made.files), "rows": dict(made.rows)}
        print_json({**content, "left_out": list(made.left_out), "notes": list(made.notes)})
        return
    click.echo(f"Ratings are from {where}.")
    for path, count in made.rows.items():
        click.echo(f"{path}: {count_of(count, 'row')}")
    click.echo(f"Besides: {', '.join(path for path in made.files if path not in made.rows)}")
    click.echo("Left out:")
    for phrase in made.left_out:
        click.echo(f"  {phrase}")
    for note in made.notes:
        click.echo(note)
    say(f"{count_of(len(made.files), 'file')} -> {target}")
