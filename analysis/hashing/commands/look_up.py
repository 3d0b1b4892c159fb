"""`relstudy hash look-up`: hash tables that are really searched, time against recall."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from relstudy.analysis.hashing.commands.inputs import cell, say_conventions
from relstudy.analysis.hashing.commands.pairs import TruthFiles, code_options, code_pair, truth_options
from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError

WHO_SAYS_TIME = {
    "numpy": "milliseconds of the processor a query, the least of three runs; found codes are gathered, not ranked",
    "faiss": "milliseconds of the processor a query, the least of three runs; faiss also measures each candidate",
}


@click.command("look-up")
@code_options
@truth_options
@click.option("--bits", "widths", multiple=True, type=click.IntRange(min=1), help="K, bits of a bucket; repeat.")
@click.option("--tables", multiple=True, type=click.IntRange(min=1), help="L, number of hash tables; repeat.")
@click.option("--flips", multiple=True, type=click.IntRange(min=0), help="Bits flipped in each key; repeat.")
@click.option("--radius", type=click.IntRange(min=0), help="Search the ball of each radius up to this one instead.")
@click.option(
    "--permutation", type=click.IntRange(0), help="Seed of a permutation of the bits before they are cut into tables."
)
@click.option(
    "--engine",
    type=click.Choice(["numpy", "faiss"]),
    default="numpy",
    show_default=True,
    help="Who looks codes up: numpy, or faiss's multi-index with the same buckets.",
)
@click.option("--figure", help="Write time against recall as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def look_up_command(
    queries: str,
    database: str,
    form: Any,
    code_bits: int | None,
    widths: tuple[int, ...],
    tables: tuple[int, ...],
    flips: tuple[int, ...],
    radius: int | None,
    permutation: int | None,
    engine: Any,
    figure: str | None,
    as_json: bool,
    **truth_files: Any,
) -> None:
    """Look codes up in hash tables and say what is found, and how long it takes.

    Each --bits, --tables and --flips is tried with each of the others. Tables are cut from the code as it stands; the
    first line is the scan that measures the distance of every code.

    \b
    Example:
      relstudy hash look-up --queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy \\
          --bits 8 --bits 16 --tables 1 --tables 2 --flips 0 --flips 1
      relstudy hash look-up --queries q.npy --database db.npy --truth truth.npz --radius 3
    """
    from relstudy.analysis.hashing.lookup.sweep import Grid, LookUp, sweep

    if (radius is None) == (not widths and not tables and not flips):
        raise click.UsageError("Give --bits, with --tables and --flips where wanted, or --radius.")
    if radius is None and not widths:
        raise click.UsageError("Give --bits, the width of a bucket.")
    if engine == "faiss" and permutation is not None:
        raise click.UsageError("faiss cuts the code in its own order: leave out --permutation.")
    truth, label_notes = TruthFiles(**truth_files).read()
    query_codes, codes, notes = code_pair(queries, database, form, code_bits)
    grid = Grid(widths, tables or (1,), flips or (0,), permutation, engine)
    if radius is not None:
        grid = Grid((codes.bits,), (1,), tuple(range(radius + 1)), permutation, engine)
    if not grid.settings(codes.bits):
        raise RelstudyError(f"none of these tables fits codes of {codes.bits} bits")
    rows = sweep(query_codes, codes, truth, grid, lambda items, total: progress(items, "settings", total))
    conventions = {
        "truth": truth.kind,
        "average": "micro",
        "tables": "segments of the code in its own order" if permutation is None else f"of permutation {permutation}",
        "time": WHO_SAYS_TIME[engine],
        "scan": "counts the distance of every code; finds everything",
    }
    if figure is not None:
        from relstudy.analysis.hashing.metrics.plots import look_up_figure
        from relstudy.common.files import write_text

        write_text(look_up_figure(rows, alone=True), figure)
        say(f"wrote {figure}")
    if as_json:
        described = {"look_ups": [row.as_json() for row in rows], "queries": len(query_codes), "codes": len(codes)}
        print_json({**described, "notes": [*notes, *label_notes], "conventions": conventions})
        return
    names = [field.name for field in fields(LookUp)]
    body = [["scan" if row.bits is None and n == "bits" else cell(getattr(row, n)) for n in names] for row in rows]
    print_table(body, [*names[:-1], "ms a query"])
    for note in [*notes, *label_notes]:
        click.echo(note)
    say_conventions(conventions)
