"""relstudy ask: from a table of results or answers to people who rate, in one command."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.studyapp.web.options import ServerOptions

if TYPE_CHECKING:
    from relstudy.studyapp.collection.results_table import MissingRoleError


@dataclass(frozen=True, kw_only=True)
class AskOptions(CommandOptions):
    """Options of `relstudy ask`."""

    output: Path | None = option(
        None,
        "The study's folder; one that was made so is added to.",
        flags=("-o", "--out"),
        shown="the table's name",
    )
    serve: bool | None = option(None, "Serve the study.", flags=("--serve/--no-serve",), shown="yes")
    side_by_side: bool = option(
        False, "Ask which is better: of two models' answers, or of two systems' first five results."
    )
    question: tuple[str, ...] = option((), "Asked of each result; may be repeated.", shown="by what the table holds")
    scale: str = option("1-5", "Scale of the questions: 1-5, binary, yes-no or 1-9.")
    raters: int | None = option(None, "People expected, who share the pairs.", at_least=1, shown="up to 60 pairs each")
    columns: str | None = option(
        None,
        "What columns are, ROLE=COLUMN,...: query, system, answer, text, title, image, result, rank, score, sources.",
    )
    fetch: bool = option(False, "Fetch the pictures that the table names by addresses on the web; no others.")
    seed: int = option(0, "Seed of the queries drawn.", at_least=0, any_size=True)


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@taking(AskOptions)
@taking(ServerOptions, "server")
def ask(results: tuple[Path, ...], options: AskOptions, server: ServerOptions) -> None:
    """Start a study from tables of results or answers, and serve it.

    RESULTS have a row for each query, system and result (rank, id, title, text), a row for each question with a column
    of answers a model, or the JSON of search responses. A TREC run goes with tables of its documents and queries, and
    folders of pictures, films or sounds are a system each. The command says what it took each column for. Raters never
    see which system a result is from. With one answer a model and question, `relstudy score FOLDER` compares the models
    by people's mean judgment.

    \b
    Example:
      relstudy ask answers.csv
      relstudy ask bm25.json dense.json -o search-study --no-serve
      relstudy ask answers.csv --side-by-side
      relstudy ask bm25.run dense.run documents.jsonl queries.tsv
      relstudy ask pictures-of-a/ pictures-of-b/ prompts.csv
      relstudy ask answers.csv --question "Is it supported by the sources?" --question "Is it helpful?"
    """
    from relstudy.analysis.commands import asking
    from relstudy.common.runtime.console import say
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.runtime.wording import quoted
    from relstudy.studyapp.collection.asked_study import make_study
    from relstudy.studyapp.collection.results_table import MissingRoleError, read_results
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.web.server import run

    folder = options.output or Path(results[0].stem)
    if folder.suffix or (folder.exists() and not folder.is_dir()):
        raise RelstudyError(f"{folder}: a folder is needed; -o names one")
    roles = _roles(options.columns)
    with tempfile.TemporaryDirectory(prefix="relstudy-") as fetched:
        while True:
            try:
                table = read_results(results, roles, Path(fetched) if options.fetch else None)
                break
            except MissingRoleError as error:
                if not asking.is_terminal():
                    raise
                roles[_asked(error)] = error.role
        for sentence in table.sentences():
            click.echo(sentence)
        asked = make_study(
            table, folder, questions=options.question, scale=options.scale, raters=options.raters,
            side_by_side=options.side_by_side, seed=options.seed, beside=results[0].parent,
        )  # fmt: skip
    Study.load(folder)
    click.echo(f"{folder}: {asked.sentence()}")
    if options.serve is False:
        served = (folder / "study.db").exists() or "DATABASE_URL" in os.environ
        say(f"Next: relstudy {'admin change' if asked.added and served else 'serve'} {quoted(folder)}")
        return
    run(folder, server)


def _asked(error: MissingRoleError) -> str:
    """The column that the person at the terminal names."""
    click.echo(f"{error.name}: which column holds {error.what}?")
    for number, (column, first) in enumerate(zip(error.columns, error.first, strict=True), 1):
        click.echo(f"{number}. {column}: {first[:60]}")
    return error.columns[click.prompt("Number", type=click.IntRange(1, len(error.columns))) - 1]


def _roles(stated: str | None) -> dict[str, str]:
    pairs = [each.rpartition("=") for each in (stated or "").split(",") if each]
    wrong = next(("".join(each) for each in pairs if not each[0] or not each[2]), None)
    if wrong is not None:
        raise click.UsageError(f"--columns: ROLE=COLUMN is needed, not {wrong!r}")
    from relstudy.common.tables.meaning.results_columns import ROLES

    named = [(first.strip(), last.strip()) for first, _, last in pairs]  # either side may come first
    return dict((last, first) if first in ROLES and last not in ROLES else (first, last) for first, last in named)
