"""The page of `relstudy lists`: a query, a column for each system, a row for each rank, judgments beside."""

from __future__ import annotations

import base64
import io
from html import escape

from relstudy.common.figures import theme_css
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.sampling.ranked_lists import Ranked

_STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.4 system-ui, sans-serif; margin: 2rem; color: var(--ink); background: var(--paper) }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere }
p { margin: 0 0 1rem; color: var(--muted); max-width: 45rem }
.query { margin-bottom: 1.5rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: .5rem .75rem .75rem 0; vertical-align: top; text-align: left }
thead th { border-bottom: 1px solid var(--grid); overflow-wrap: anywhere }
tbody th { font-variant-numeric: tabular-nums; color: var(--muted); font-weight: 400 }
th:first-child { position: sticky; left: 0; background: var(--paper); overflow-wrap: normal }
td { min-width: 10rem; max-width: 14rem }
img { display: block; max-width: 10rem; max-height: 7.5rem; border-radius: 3px }
.text { display: block; font-size: .875rem }
.judgment { font-weight: 600 }
.id, .unrated { color: var(--muted) }
.id { display: block; font-size: .8125rem; overflow-wrap: anywhere }
@media (max-width: 40rem) {
  body { margin: 1rem }
  td { min-width: 7rem; max-width: 9rem }
  td img { max-width: 7rem; max-height: 5.25rem }
}
"""


def lists_page(collection: Collection, query_id: str, by_system: dict[str, list[Ranked]], scale: str | None) -> str:
    """A self-contained page, light or dark as the reader's system is.

    Parameters
    ----------
    scale : the name of the judgments' scale, such as "1-5"; None where there are none
    """
    title = f"What each system returns for {escape(query_id)}"
    told = "Nobody has judged these pairs." if scale is None else f"Judgments are on the scale {escape(scale)}."
    head = "".join(f'<th scope="col">{escape(system)}</th>' for system in by_system)
    rows = "\n".join(_row(collection, rank, by_system) for rank in range(max(map(len, by_system.values()))))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{theme_css()}{_STYLE}</style></head>\n<body><main>'
        f"<h1>{title}</h1>\n<p>The best results of each system, from its first. {told}</p>\n"
        f'<div class="query">{_item(collection, query_id)}</div>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Results by system"><table><thead><tr>'
        f'<th scope="col">rank</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div></main></body></html>\n'
    )


def _row(collection: Collection, rank: int, by_system: dict[str, list[Ranked]]) -> str:
    cells = [_cell(collection, entries[rank]) if rank < len(entries) else "" for entries in by_system.values()]
    return f'<tr><th scope="row">{rank + 1}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _cell(collection: Collection, entry: Ranked) -> str:
    judgment = '<span class="unrated">not rated</span>'
    if entry.judgment is not None:
        judgment = f'<span class="judgment">judged {entry.judgment:.1f}</span>'
    return f'{_item(collection, entry.result_id)}{judgment}<span class="id">{escape(entry.result_id)}</span>'


def _item(collection: Collection, item_id: str) -> str:
    """A picture as an image inside the page, a text as its beginning."""
    item = collection[item_id]
    if item.path is None:
        words = f"{item.title} {item.text}".strip()
        return f'<span class="text">{escape(words[:160])}{"…" if len(words) > 160 else ""}</span>'
    data = io.BytesIO()
    collection.picture(collection.position(item_id), 240).save(data, "JPEG", quality=80)
    encoded = base64.b64encode(data.getvalue()).decode("ascii")
    return f'<img alt="{escape(item.title or item_id)}" src="data:image/jpeg;base64,{encoded}">'
