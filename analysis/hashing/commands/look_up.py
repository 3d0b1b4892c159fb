"""`relstudy hash look-up`: hash tables that are really searched, time against recall."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from relstudy.analysis.hashing.commands.inputs import cell, refuse_over, say_conventions
from relstudy.analysis.hashing.commands.pairs import code_pair, files_of, truth_in
from relstudy.analysis.hashing.options import CodeFiles, Searcher, TruthFiles
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.analysis.hashing.lookup.sweep import Grid

_TIME = "milliseconds of the processor a query, the least of three runs of a tenth of a second or more"
WHO_SAYS_TIME = {
    "numpy": f"{_TIME}; found codes are gathered, and measured where a radius bounds them",
    "faiss": f"{_TIME}; faiss also measures each candidate",
}


@dataclass(frozen=True, kw_only=True)
class LookUpOptions(CommandOptions):
    """Options of `relstudy hash look-up` beside the codes and the truth."""

    bits: tuple[int, ...] = option((), "K, bits of a bucket; repeat.", at_least=1)
    tables: tuple[int, ...] = option((), "L, number of hash tables; repeat.", at_least=1, shown="1")
    flips: tuple[int, ...] = option((), "Bits flipped in each key; repeat.", at_least=0, shown="0")
    radius: int | None = option(
        None,
        "Search the ball of each radius up to this one instead: in one table of all bits, and exactly in several.",
        at_least=0,
    )
    permutation: int | None = option(
        None,
        "Seed of a permutation of the bits before they are cut into tables.",
        at_least=0,
        any_size=True,
        shown="the code's own order",
    )
    engine: Searcher = option("numpy", "Search engine: numpy, or faiss's multi-index with the same buckets.")
    figure: str | None = option(None, "Write time against recall as SVG.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.radius is None) == (not self.bits and not self.tables and not self.flips):
            raise click.UsageError("Give --bits, with --tables and --flips where wanted, or --radius.")
        if self.radius is None and not self.bits:
            raise click.UsageError("Give --bits, the width of a bucket.")
        if self.engine == "faiss" and self.permutation is not None:
            raise click.UsageError("faiss cuts the code in its own order: leave out --permutation.")

    def grid(self, code_bits: int) -> Grid:
        """The settings that are tried with codes of this length."""
        from relstudy.analysis.hashing.lookup.bucket_index import WIDEST
        from relstudy.analysis.hashing.lookup.sweep import Grid

        tables = (self.bits, self.tables or (1,), self.flips or (0,))
        if self.radius is None:
            return Grid(*tables, self.permutation, self.engine)
        radii = tuple(range(self.radius + 1))
        several = radii if self.engine == "numpy" else ()
        whole = () if several and code_bits > WIDEST else (code_bits,)
        return Grid(whole, (1,), radii, self.permutation, self.engine, several)


@click.command("look-up")
@taking(CodeFiles, "files")
@taking(TruthFiles, "truth_files")
@taking(LookUpOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def look_up_command(files: CodeFiles, truth_files: TruthFiles, options: LookUpOptions, as_json: bool) -> None:
    """Look codes up in hash tables and say what is found, and how long it takes.

    Each --bits, --tables and --flips is tried with each of the others. Tables are cut from the code as it stands; the
    first line is the scan that measures the distance of every code.

    \b
    Example:
      relstudy hash look-up --queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy \\
          --bits 8 --bits 16 --tables 1 --tables 2 --flips 0 --flips 1
      relstudy hash look-up --queries q.npy --database db.npy --truth truth.npz --radius 3
    """
    from relstudy.analysis.hashing.lookup.sweep import LookUp, sweep

    refuse_over([options.figure], files_of(files, truth_files))
    truth, label_notes = truth_in(truth_files)
    query_codes, codes, notes = code_pair(files)
    grid, permutation = options.grid(codes.bits), options.permutation
    if options.radius is not None and options.radius > codes.bits:
        raise RelstudyError(f"a radius must be from 0 to the code length {codes.bits}")
    if not grid.settings(codes.bits) and not grid.radii:
        raise RelstudyError(f"none of these tables fits codes of {codes.bits} bits")
    notes = [*notes, *label_notes, *grid.left_out(codes.bits)]
    rows = sweep(query_codes, codes, truth, grid, lambda items, total: progress(items, "settings", total))
    conventions = {
        "truth": truth.kind,
        "average": "micro",
        "tables": "segments of the code in its own order" if permutation is None else f"of permutation {permutation}",
        "time": WHO_SAYS_TIME[options.engine],
        "scan": "counts the distance of every code, on one thread; finds everything",
        "within": "a radius that bounds what is found: several tables of part of the bits "
        "(Norouzi, Punjani and Fleet 2012)",
    }
    if options.figure is not None:
        from relstudy.analysis.hashing.metrics.plots import look_up_figure
        from relstudy.common.runtime.files import write_text

        write_text(look_up_figure(rows, alone=True), options.figure)
        say(f"wrote {options.figure}")
    if as_json:
        described = {"look_ups": [row.as_json() for row in rows], "queries": len(query_codes), "codes": len(codes)}
        print_json({**described, "notes": notes, "conventions": conventions})
        return
    names = [field.name for field in fields(LookUp)]
    body = [["scan" if row.bits is None and n == "bits" else cell(getattr(row, n)) for n in names] for row in rows]
    print_table(body, [*names[:-1], "ms a query"])
    for note in notes:
        click.echo(note)
    say_conventions(conventions)
