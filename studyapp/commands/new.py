"""relstudy new: a commented study.toml and an example collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.wording import quoted

TABLES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".xls", ".ods")
"""Endings of tables of results, from which `--from` makes a study as `relstudy ask` does, without pairs."""


@dataclass(frozen=True, kw_only=True)
class NewOptions(CommandOptions):
    """Options of `relstudy new`."""

    pictures: int = option(60, "Size of the example collection; 0: none.", at_least=0, at_most=1000)
    seed: int = option(0, "The same seed chooses the same pictures.", at_least=0, any_size=True)
    sources: tuple[Path, ...] = option(
        (),
        "Folder of your own pictures and texts (.txt, .md), or a single file, to make collection.csv of; or a table of "
        "results, as `relstudy ask` takes it. May be repeated, or followed by more.",
        flags=("--from",),
    )
    convert: bool = option(False, "With --from: make PNG files of pictures that browsers do not show, as .tif.")
    searches: Path | None = option(
        None, "With --from: text file with a search on each line. Raters judge how well pictures or texts match each.",
        shown="each picture or text is compared with the others",
    )  # fmt: skip


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("more", nargs=-1, type=click.Path(path_type=Path))
@taking(NewOptions)
def new(folder: Path, more: tuple[Path, ...], options: NewOptions) -> None:
    """Start a study: write a commented study.toml and an example collection of painted pictures, or of your own.

    Where FOLDER has a collection.csv, study.toml asks for what it holds: pictures, texts or both. Nothing that is there
    already is written over.

    \b
    Example:
      relstudy new my-study
      relstudy new my-study --from photos/ texts/
      relstudy sample my-study
      relstudy serve my-study
    """
    from relstudy.common.runtime.console import say
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.runtime.files import write_text
    from relstudy.studyapp.collection.asked_study import make_study
    from relstudy.studyapp.collection.from_folder import Found, make_collection, read_searches
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.collection.results_table import read_results
    from relstudy.studyapp.config.starter import starter_toml

    settings = folder / "study.toml"
    if settings.exists():
        raise RelstudyError(f"{settings} is there already; nothing was written")
    has_collection = (folder / "collection.csv").exists()
    pictures, given = options.pictures, (*options.sources, *more)
    if more and not options.sources:
        raise click.UsageError(f"{more[0]}: one study is begun at a time; --from takes folders of pictures and texts")
    if given and has_collection:
        raise RelstudyError(f"{folder / 'collection.csv'} is there already; nothing was written")
    if not given and not has_collection and pictures and folder.is_dir():
        lies_there = Found.among([folder])
        if lies_there.pictures or lies_there.to_convert:
            raise RelstudyError(
                f"{folder} holds {lies_there.sentence()} and no collection.csv; relstudy new {quoted(folder)} --from "
                f"{quoted(folder)} makes one of them (nothing was written)"
            )
    notes: tuple[str, ...] = ()
    searches = () if options.searches is None else read_searches(options.searches)
    of_tables = bool(given) and all(path.suffix.lower() in TABLES and path.is_file() for path in given)
    if searches and (not given or of_tables):
        raise RelstudyError("--searches goes with --from and a folder of pictures or texts")
    if of_tables:
        table = read_results(given)
        asked = make_study(table, folder, pairs=False, beside=given[0].parent)
        for sentence in table.sentences():
            say(sentence)
        say(f"{folder}: {asked.queries} queries, {asked.results} results; next: relstudy sample {quoted(folder)}")
        return
    if given:
        notes = make_collection(given, folder, convert=options.convert, searches=searches)
        has_collection = True
    paradigms = Collection.load(folder).paradigms() if has_collection else ("image",)
    write_text(starter_toml(folder.resolve().name, paradigms or ("image",)), settings)
    if pictures and not has_collection:
        from relstudy.studyapp.example_pictures.collection import make_collection as example_collection
        from relstudy.studyapp.example_pictures.collection import write_collection

        write_collection(example_collection(pictures, options.seed), folder)
        say(f"{folder}: study.toml and {pictures} example pictures; next: relstudy sample {quoted(folder)}")
    else:
        for note in notes:
            say(note)
        first = "" if has_collection else "a collection.csv, then "
        say(f"{folder}: study.toml; next: {first}relstudy sample {quoted(folder)}")
