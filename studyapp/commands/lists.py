"""relstudy lists: what each system returns for one query, with the judgments beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from relstudy.studyapp.sampling.ranked_lists import Ranked


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("query_id")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 200), help="Results of each system.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Also write a page with the pictures and texts.")
@click.option("--json", "as_json", is_flag=True, help="Print the lists as JSON.")
def lists(folder: Path, query_id: str, top: int, output: Path | None, as_json: bool) -> None:
    """Show what each system with scores in FOLDER/scores returns for QUERY_ID, and how people judged it.

    \b
    Example:
      relstudy lists my-study pic0007 --top 5 -o lists.html
    """
    from dataclasses import asdict

    from relstudy.common.console import print_json, print_table, say
    from relstudy.common.files import write_text
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.sampling.ranked_lists import ranked_lists, scale_of_judgments

    collection = Collection.load(folder)
    query = collection[query_id]
    by_system = ranked_lists(folder, query.id, top)
    if output is not None:
        from relstudy.studyapp.commands.lists_page import lists_page

        write_text(lists_page(collection, query.id, by_system, scale_of_judgments(folder)), output)
    if as_json:
        print_json({system: [asdict(entry) for entry in entries] for system, entries in by_system.items()})
        return
    rows = [
        [str(rank + 1), *(_cell(entries[rank]) if rank < len(entries) else "" for entries in by_system.values())]
        for rank in range(max(len(entries) for entries in by_system.values()))
    ]
    print_table(rows, ["rank", *by_system])
    click.echo("In brackets: the judgment, where people have rated the pair.")
    if output is not None:
        say(f"Wrote {output}.")


def _cell(entry: Ranked) -> str:
    return entry.result_id + ("" if entry.judgment is None else f" ({entry.judgment:.1f})")
