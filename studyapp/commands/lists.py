"""relstudy systems lists: what each system returns for one query, with the judgments beside."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.charts.pictures import thumbnail_of
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.study_folder import score_files
from relstudy.studyapp.collection.kinds import PLAYED

if TYPE_CHECKING:
    from relstudy.studyapp.collection.items import Collection

JUDGMENTS = "judgments.csv"
THUMBNAIL = 240
"""Pixels of a picture's longer side: half as many again as it is shown with, for fine screens."""


@dataclass(frozen=True, kw_only=True)
class ListsOptions(CommandOptions):
    """Options of `relstudy systems lists`."""

    top: int = option(10, "Results of each system.", at_least=1, at_most=200)
    output: Path | None = option(None, "Also write a page with the pictures and texts.", flags=("-o", "--out"))


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("query_id")
@taking(ListsOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the lists as JSON.")
def lists(folder: Path, query_id: str, options: ListsOptions, as_json: bool) -> None:
    """Show what each system with scores in FOLDER/scores returns for QUERY_ID, and how people judged it.

    \b
    Example:
      relstudy systems lists my-study pic0007 --top 5 -o lists.html
    """
    from dataclasses import asdict

    from relstudy.common.runtime.console import print_json, print_table, say
    from relstudy.common.runtime.files import write_text
    from relstudy.studyapp.collection.items import Collection

    collection = Collection.load(folder)
    query = collection[query_id]
    by_system = ranked_lists(folder, query.id, options.top)
    if options.output is not None:
        page = lists_page(collection, query.id, by_system, scale_of_judgments(folder))
        write_text(page, options.output)
    if as_json:
        print_json({system: [asdict(entry) for entry in entries] for system, entries in by_system.items()})
        return
    rows = [
        [str(rank + 1), *(_cell(entries[rank]) if rank < len(entries) else "" for entries in by_system.values())]
        for rank in range(max(len(entries) for entries in by_system.values()))
    ]
    print_table(rows, ["rank", *by_system])
    click.echo("In brackets: the judgment, where people have rated the pair.")
    if options.output is not None:
        say(f"Wrote {options.output}.")


def _cell(entry: Ranked) -> str:
    return entry.result_id + ("" if entry.judgment is None else f" ({entry.judgment:.1f})")


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
    scale : the name of the judgments' scale, such as "1-5", or None
    """
    from relstudy.common.charts.figures import theme_css

    title = f"What each system returns for {escape(query_id)}"
    sentence = "Nobody has judged these pairs." if scale is None else f"Judgments are on the scale {escape(scale)}."
    head = "".join(f'<th scope="col">{escape(system)}</th>' for system in by_system)
    rows = "\n".join(_page_row(collection, rank, by_system) for rank in range(max(map(len, by_system.values()))))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{theme_css()}{_STYLE}</style></head>\n<body><main>'
        f"<h1>{title}</h1>\n<p>The best results of each system, from its first. {sentence}</p>\n"
        f'<div class="query">{_item(collection, query_id)}</div>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Results by system"><table><thead><tr>'
        f'<th scope="col">rank</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div></main></body></html>\n'
    )


def _page_row(collection: Collection, rank: int, by_system: dict[str, list[Ranked]]) -> str:
    cells = [_page_cell(collection, entries[rank]) if rank < len(entries) else "" for entries in by_system.values()]
    return f'<tr><th scope="row">{rank + 1}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _page_cell(collection: Collection, entry: Ranked) -> str:
    judgment = '<span class="unrated">not rated</span>'
    if entry.judgment is not None:
        judgment = f'<span class="judgment">judged {entry.judgment:.1f}</span>'
    return f'{_item(collection, entry.result_id)}{judgment}<span class="id">{escape(entry.result_id)}</span>'


def _item(collection: Collection, item_id: str) -> str:
    """A picture as an image inside the page, anything else as the beginning of its words."""
    item = collection[item_id]
    picture = "" if item.path is None or item.kind in PLAYED else thumbnail_of(item.path, THUMBNAIL)
    if picture:
        return f'<img alt="{escape(item.title or item_id)}" src="{picture}">'
    words = f"{item.title} {item.plain}".strip()
    return f'<span class="text">{escape(words[:160])}{"…" if len(words) > 160 else ""}</span>'


@dataclass(frozen=True)
class Ranked:
    """One result of a system's list: its rank from 1, its score, and its judgment where people have rated it."""

    rank: int
    result_id: str
    score: float
    judgment: float | None


def ranked_lists(folder: Path, query_id: str, top: int) -> dict[str, list[Ranked]]:
    """The best results of each system with scores in FOLDER/scores, by system in alphabetical order.

    A system whose fitted mapping in FOLDER/mappings falls is ranked by ascending score, every other by descending.

    Raises
    ------
    RelstudyError
        when no table of scores has the query
    """
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.mapping.fitted import read_mappings
    from relstudy.mapping.scores.score_files import read_scores

    judged: dict[str, float] = {}
    if (folder / JUDGMENTS).is_file():
        frame = read_judgments(folder / JUDGMENTS).frame
        of_query = frame[frame["query_id"] == query_id]
        judged = dict(zip(of_query["result_id"], of_query["judgment"].astype(float), strict=True))
    mappings = read_mappings(folder / "mappings") if any((folder / "mappings").glob("*.json")) else {}
    by_system: dict[str, list[Ranked]] = {}
    queries: set[str] = set()
    for path in score_files(folder):
        scores = read_scores(path)
        queries.update(map(str, scores.frame["query_id"].unique()))
        for system, rows in scores.frame[scores.frame["query_id"] == query_id].groupby("system"):
            mapping = mappings.get(str(system))
            falls = scores.directions.get(str(system)) == "lower"
            if mapping is not None:
                falls = bool(mapping.values[0] > mapping.values[-1])
            best = rows.dropna(subset="score").sort_values(["score", "result_id"], ascending=[falls, True])[:top]
            by_system[str(system)] = [
                Ranked(rank, str(result), float(score), judged.get(str(result)))
                for rank, (result, score) in enumerate(zip(best["result_id"], best["score"], strict=True), start=1)
            ]
    if not by_system:
        raise RelstudyError(
            f"{folder / 'scores'}: no table of scores has the query {query_id!r}; {_what_there_is(queries)}"
        )
    return dict(sorted(by_system.items()))


def scale_of_judgments(folder: Path) -> str | None:
    """The name of the scale of FOLDER/judgments.csv; None if there is no such file."""
    from relstudy.calibration.tables.judgments import read_judgments

    return read_judgments(folder / JUDGMENTS).scale.scale.name if (folder / JUDGMENTS).is_file() else None


def _what_there_is(queries: set[str]) -> str:
    if not queries:
        return "`relstudy systems` makes them"
    named = ", ".join(sorted(queries)[:5])
    return f"they have {len(queries)}: {named}{', ...' if len(queries) > 5 else ''}"
