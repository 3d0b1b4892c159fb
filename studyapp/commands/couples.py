"""relstudy couples: choose couples of results to compare, with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.common.command_options import taking
from relstudy.common.options import CommandOptions, option


@dataclass(frozen=True, kw_only=True)
class CouplesOptions(CommandOptions):
    """Options of `relstudy couples`."""

    each: int = option(3, "Couples of each query.", at_least=1, at_most=1000)
    depth: int = option(10, "Couples are of these first results of each system.", at_least=2, at_most=200)
    seed: int = option(0, "Seed of the draw.", at_least=0, any_size=True)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@taking(CouplesOptions)
def couples(folder: Path, options: CouplesOptions) -> None:
    """Draw couples of results for the queries of FOLDER/pairs.csv, and write them there.

    A couple is two results that stand near one another in a system's ranking; its probability is known. A block with
    ask = "which" in study.toml asks people which of the two is better.

    \b
    Example:
      relstudy couples my-study --each 3
    """
    from relstudy.common.console import progress, say
    from relstudy.common.wording import count_of
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.couples import add_couples, draw_couples
    from relstudy.studyapp.sampling.sources import open_sources

    collection = Collection.load(folder)
    sources = open_sources(folder, collection, None, progress)
    drawn = draw_couples(folder, collection, sources, options.each, options.depth, options.seed)
    add_couples(folder, drawn)
    queries = count_of(int(drawn["query_id"].nunique()), "query", "queries")
    click.echo(f"{count_of(len(drawn), 'couple')} of {queries}, from the first {options.depth} results of each system")
    is_asked = (folder / "study.toml").is_file() and any(block.is_comparison for block in Study.load(folder).blocks)
    if not is_asked:
        click.echo('No block asks for them yet: a [[blocks]] with ask = "which" in study.toml does.')
    say(f"wrote {folder / 'pairs.csv'}")
