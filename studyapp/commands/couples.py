"""relstudy sample couples: choose couples of results to compare, with known probabilities."""

from __future__ import annotations

from pathlib import Path

import click

from relstudy.common.options.command_options import taking
from relstudy.studyapp.sampling.options import CouplesOptions


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
      relstudy sample couples my-study --each 3
      relstudy sample couples my-study --each 1 --lists 5
    """
    from relstudy.common.runtime.console import print_json, progress, say
    from relstudy.common.runtime.wording import count_of
    from relstudy.studyapp.collection.large_collection import open_collection
    from relstudy.studyapp.collection.lists import LISTS
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.couples import add_couples, draw
    from relstudy.studyapp.sampling.sources import listed_systems, open_sources

    collection = open_collection(folder)
    sources = open_sources(folder, collection, listed_systems(options.systems), progress)
    drawn, lists = draw(folder, collection, sources, options)
    ask, what = "which", f"from the first {options.depth} results of each system"
    if options.lists is not None:
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
