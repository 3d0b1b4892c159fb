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
    lists: int | None = option(
        None, "Couples of whole lists instead: so many first results of each system.", at_least=1, at_most=50
    )
    systems: str | None = option(
        None, "Systems whose rankings these are, as `relstudy sample --systems` names them.", shown="all there are"
    )
    seed: int = option(0, "Seed of the draw.", at_least=0, any_size=True)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@taking(CouplesOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def couples(folder: Path, options: CouplesOptions, as_json: bool) -> None:
    """Draw couples of results for the queries of FOLDER/pairs.csv, and write them there.

    A couple is two results that stand near one another in a system's ranking, or the lists of two systems; its
    probability is known. A block with ask = "which" in study.toml asks people which of two results is better, one with
    ask = "which-list" which of two lists.

    \b
    Examples:
      relstudy couples my-study --each 3
      relstudy couples my-study --each 1 --lists 5
    """
    from relstudy.common.console import print_json, progress, say
    from relstudy.common.wording import count_of
    from relstudy.studyapp.collection.large import open_collection
    from relstudy.studyapp.collection.lists import LISTS, RankedList
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.couples import add_couples, draw_couples, draw_lists
    from relstudy.studyapp.sampling.sources import open_sources

    collection = open_collection(folder)
    names = options.systems and [name.strip() for name in options.systems.split(",") if name.strip()]
    sources = open_sources(folder, collection, names or None, progress)
    lists: list[RankedList] = []
    if options.lists is None:
        drawn = draw_couples(folder, collection, sources, options.each, options.depth, options.seed)
        ask, what = "which", f"from the first {options.depth} results of each system"
    else:
        drawn, lists = draw_lists(folder, collection, sources, options.each, options.lists, options.seed)
        ask, what = "which-list", f"of {count_of(len(lists), 'list')} of the first {options.lists} results of a system"
    add_couples(folder, collection, drawn, lists)
    if as_json:
        numbers = {"couples": len(drawn), "queries": int(drawn["query_id"].nunique()), "lists": len(lists)}
        print_json(numbers)
        return
    queries = count_of(int(drawn["query_id"].nunique()), "query", "queries")
    click.echo(f"{count_of(len(drawn), 'couple')} of {queries}, {what}")
    is_asked = (folder / "study.toml").is_file() and any(block.ask == ask for block in Study.load(folder).blocks)
    if not is_asked:
        click.echo(f'No block asks for them yet: a [[blocks]] with ask = "{ask}" in study.toml does.')
    say(f"wrote {folder / 'pairs.csv'}{f' and {folder / LISTS}' if lists else ''}")
