"""relstudy lists: what each system returns for one query, with the judgments beside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection
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
    from relstudy.common.tables import write_text
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.sampling.ranked_lists import ranked_lists

    collection = Collection.load(folder)
    query = collection[query_id]
    by_system = ranked_lists(folder, query.id, top)
    if output is not None:
        write_text(_page(collection, query.id, by_system), output)
    if as_json:
        print_json({system: [asdict(entry) for entry in entries] for system, entries in by_system.items()})
        return
    rows = [
        [str(rank + 1), *(_cell(entries[rank]) if rank < len(entries) else "" for entries in by_system.values())]
        for rank in range(max(len(entries) for entries in by_system.values()))
    ]
    print_table(rows, ["rank", *by_system])
    say("In brackets: the judgment, where people have rated the pair.")
    if output is not None:
        say(f"Wrote {output}.")


def _cell(entry: Ranked) -> str:
    return entry.result_id + ("" if entry.judgment is None else f" ({entry.judgment:.1f})")


_STYLE = """
body { font: 16px/1.4 system-ui, sans-serif; margin: 2rem; color: #1c2126; background: #fff }
.query { display: flex; gap: 1.5rem; align-items: center; margin-bottom: 1.5rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: .4rem .7rem .7rem 0; vertical-align: top; text-align: left }
td { min-width: 10rem; max-width: 14rem }
img { display: block; max-width: 10rem; max-height: 7.5rem; border-radius: 3px }
.text { display: block; font-size: .875rem }
.judgment { font-weight: 600 }
.unrated { color: #5b646d }
"""


def _page(collection: Collection, query_id: str, by_system: dict[str, list[Ranked]]) -> str:
    """A self-contained page: the query, then a column for each system and a row for each rank."""
    from html import escape

    deepest = max(len(entries) for entries in by_system.values())
    head = "".join(f'<th scope="col">{escape(system)}</th>' for system in by_system)
    body = []
    for rank in range(deepest):
        cells = []
        for entries in by_system.values():
            if rank >= len(entries):
                cells.append("<td></td>")
                continue
            entry = entries[rank]
            said = (
                '<span class="unrated">not rated</span>'
                if entry.judgment is None
                else f'<span class="judgment">judged {entry.judgment:.1f}</span>'
            )
            cells.append(f"<td>{_item(collection, entry.result_id)}{said}</td>")
        body.append(f'<tr><th scope="row">{rank + 1}</th>{"".join(cells)}</tr>')
    title = f"What each system returns for {escape(query_id)}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n'
        f'<div class="query">{_item(collection, query_id)}</div>\n<div class="scroll"><table><thead><tr>'
        f'<th scope="col">rank</th>{head}</tr></thead>\n<tbody>'
        + "\n".join(body)
        + "</tbody></table></div></body></html>\n"
    )


def _item(collection: Collection, item_id: str) -> str:
    """A picture as an image inside the page, a text as its beginning."""
    import base64
    import io
    from html import escape

    item = collection[item_id]
    if item.path is None:
        words = f"{item.title} {item.text}".strip()
        return f'<span class="text">{escape(words[:160])}{"…" if len(words) > 160 else ""}</span>'
    data = io.BytesIO()
    collection.picture(collection.position(item_id), 240).save(data, "JPEG", quality=80)
    encoded = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<img alt="{escape(item.title or item_id)}" src="data:image/jpeg;base64,{encoded}">'
