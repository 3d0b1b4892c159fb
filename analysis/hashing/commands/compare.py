"""`relstudy hash compare`, `health`, `buckets` and `demo`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import cell, codes_in, preset_named, refuse_over, say_conventions
from relstudy.analysis.hashing.options import CodeFormat, Drawn
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import number, span

if TYPE_CHECKING:
    from relstudy.analysis.hashing.codes.packed import Codes
    from relstudy.analysis.hashing.counting.counts import CountTable
    from relstudy.analysis.hashing.metrics.lgap import Ball, UniqueCodes


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Drawn):
    """Options of `relstudy hash compare`."""

    radius: int = option(2, "Radius of P within radius and of RAMAP.", at_least=0)
    k: tuple[int, ...] = option((), "Cut-offs of mAP at k; repeat.", at_least=1)
    splits: bool = option(False, "Tables are NAME_SPLIT.npz: mean and spread of each NAME over its splits.")
    preset: str = option("default", "Conventions by name.")
    table: tuple[str, ...] = option(
        (),
        "Write methods by code lengths to this file, .csv or .tex; repeat. Tables are METHOD-BITS.npz.",
        metavar="FILE",
    )
    figures: str | None = option(
        None, "Write the curves of all systems, each in one picture, as SVG to this folder.", metavar="FOLDER"
    )


@click.command("compare")
@click.argument("tables", nargs=-1, required=True)
@taking(CompareOptions)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def compare_command(tables: tuple[str, ...], options: CompareOptions, as_json: bool) -> None:
    """Several systems' count tables side by side, with paired differences over the same queries.

    \b
    Example:
      relstudy hash compare lsh.npz itq.npz ksh.npz --radius 2 --k 100
      relstudy hash compare --splits lsh_0.npz lsh_1.npz itq_0.npz itq_1.npz
    """
    from relstudy.analysis.hashing.counting.counts import CountTable
    from relstudy.analysis.hashing.metrics.comparison import compare, compare_splits

    k, radius, splits = options.k, options.radius, options.splits
    conventions = preset_named(options.preset)
    names = [Path(table).stem for table in tables]
    if len(set(names)) < len(names):
        raise click.UsageError("The tables' file names must differ; they name the systems.")
    loaded = {name: CountTable.load(table) for name, table in zip(names, tables, strict=True)}
    refuse_over(options.table, tables)
    if options.table and splits:
        raise click.UsageError("--table does not go with --splits")
    if splits:
        result = compare_splits(_by_split(loaded), radius=radius, conventions=conventions, k=k)
    else:
        result = compare(loaded, radius=radius, conventions=conventions, seed=options.seed, k=k)
    if options.figures is not None:
        from relstudy.analysis.hashing.metrics.plots import write_comparison_figures

        for path in write_comparison_figures(loaded, options.figures, conventions):
            say(f"wrote {path}")
    if options.table:
        _write_methods(result["by_length"], options.table)
    if as_json:
        print_json(result)
        return
    if splits:
        print_splits(result)
        return
    _print_methods(result["by_length"])
    rows = [[name, *_figures(system)] for name, system in result["systems"].items()]
    columns = [name for name in next(iter(result["systems"].values())) if name not in ("bits", "map", "map_interval")]
    print_table(rows, ["system", "bits", "mAP", "95 % interval", "over ties", *columns])
    if result["comparisons"]:
        click.echo()
        compared = ["map", *(f"map_at_{cut}" for cut in k), "auprc", f"precision_micro_{radius}"]
        differences = [
            [c["first"], c["second"], *(_interval(c[f"{figure}_difference"]) for figure in compared)]
            for c in result["comparisons"]
        ]
        titles = ["mAP difference (95 %)", *(f"mAP@{cut} difference" for cut in k)]
        titles += ["AUPRC difference", f"micro precision within {radius}, difference"]
        print_table(differences, ["first", "second", *titles])
    for note in result["notes"]:
        click.echo(note)
    say_conventions(result["conventions"])


def _write_methods(records: list[dict[str, Any]], paths: tuple[str, ...]) -> None:
    """Write the methods by code lengths, each file by its ending."""
    from relstudy.analysis.hashing.metrics.by_length import as_frame, latex_of
    from relstudy.common.runtime.files import write_text
    from relstudy.common.tables.formats.table_files import write_table

    if not records:
        raise RelstudyError("--table: there is no table of methods by code lengths: two have one method and length")
    wrong = next((path for path in paths if Path(path).suffix.lower() not in (".csv", ".tex")), None)
    if wrong is not None:
        raise RelstudyError(f"--table {wrong}: a name that ends in .csv or .tex is needed")
    for path in paths:
        if Path(path).suffix.lower() == ".csv":
            write_table(as_frame(records), path)
        else:
            write_text(latex_of(records), path)
        say(f"wrote {path}")


def _print_methods(records: list[dict[str, Any]]) -> None:
    """Print a table of methods by code lengths for each figure, if there is more than one length."""
    from relstudy.analysis.hashing.metrics.by_length import text_rows

    if len({record["bits"] for record in records}) < 2:
        return
    for figure in dict.fromkeys(record["figure"] for record in records):
        headings, rows = text_rows(records, figure)
        print_table(rows, headings)
        click.echo()
    click.echo("* the best of its length; others with their difference to it (95 %)")
    click.echo()


@dataclass(frozen=True, kw_only=True)
class HealthOptions(CodeFormat):
    """Options of `relstudy hash health`."""

    figure: str | None = option(None, "Write the histogram of the codes as SVG.")
    queries: str | None = option(None, "Query codes, for mLGAP with --table.")
    table: str | None = option(None, "Count table of these queries against these codes, for mLGAP.")
    radius: int = option(2, "Radius of mLGAP.", at_least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.queries is None) != (self.table is None):
            raise click.UsageError("--queries and --table go together.")


@click.command("health")
@click.argument("codes", nargs=-1, required=True)
@taking(HealthOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def health_command(codes: tuple[str, ...], options: HealthOptions, as_json: bool) -> None:
    """Measure how well a database uses its codes: utilisation, collisions, entropy, and mLGAP (Ding, Li and Li 2018).

    Several files of CODES are the shards of one database.

    \b
    Example:
      relstudy hash health db_codes.npy --figure codes.svg --queries q_codes.npy --table table.npz
    """
    from relstudy.analysis.hashing.metrics.health import code_health
    from relstudy.analysis.hashing.metrics.lgap import UniqueCodes

    figure, queries, table = options.figure, options.queries, options.table
    refuse_over([figure], [*codes, queries, table])
    database, notes = codes_in(codes, options.form, options.code_bits)
    unique = UniqueCodes.of(database)
    health = code_health(unique).as_json()
    conventions: dict[str, Any] = {}
    if queries is not None and table is not None:
        query_codes, of_queries = codes_in([queries], options.form, options.code_bits)
        notes += of_queries
        figures, conventions = _mlgap(queries, query_codes, table, database, unique, options.radius)
        health |= figures
    if figure is not None:
        from relstudy.analysis.hashing.metrics.plots import code_histogram
        from relstudy.common.runtime.files import write_text

        write_text(code_histogram(unique, alone=True), figure)
        say(f"wrote {figure}")
    if as_json:
        print_json(health | ({"conventions": conventions} if conventions else {}) | {"notes": notes})
        return
    print_table([[name.replace("_", " "), cell(value)] for name, value in health.items()], ["figure", "value"])
    for note in notes:
        click.echo(note)
    if conventions:
        say_conventions(conventions)


@dataclass(frozen=True, kw_only=True)
class BucketsOptions(CommandOptions):
    """Options of `relstudy hash buckets`."""

    bits: int = option(..., "K, bits of a bucket.", at_least=1)
    tables: int = option(..., "L, number of hash tables.", at_least=1)
    beta: float = option(1.0, "Weight of recall in F; 1 is F1.", above=0)


@click.command("buckets")
@click.argument("table")
@taking(BucketsOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def buckets_command(table: str, options: BucketsOptions, as_json: bool) -> None:
    """Precision, recall and F of look-up in L hash tables of K bits, expected over random permutations of the bits.

    \b
    Example:
      relstudy hash buckets table.npz --bits 16 --tables 4
    """
    from relstudy.analysis.hashing.counting.counts import CountTable
    from relstudy.analysis.hashing.metrics.buckets import expected_look_up

    counted = CountTable.load(table)
    figures = expected_look_up(counted, options.bits, options.tables).micro(options.beta)
    conventions = {
        **asdict(options),
        "average": "micro",
        "bits_of_a_table": "expectation over every permutation of the code's bits",
        "truth": counted.truth,
    }
    if as_json:
        print_json({**figures, "conventions": conventions})
        return
    print_table([[name, cell(value)] for name, value in figures.items()], ["figure", "value"])
    say_conventions(conventions)


@dataclass(frozen=True, kw_only=True)
class DigitsOptions(Drawn):
    """Options of `relstudy hash demo`."""

    bits: int = option(8, "Length of the LSH codes.", at_least=2)


@click.command("demo")
@taking(DigitsOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def demo_command(options: DigitsOptions, as_json: bool) -> None:
    """Show codes that only RAMAP distinguishes (Jiang, Li and Li 2019, tables 2 and 3) and the baselines, on digits.

    \b
    Example:
      relstudy hash demo
    """
    from relstudy.analysis.hashing.demonstration import baselines, extension_tables

    tables = extension_tables(options.bits, options.seed)
    methods = baselines(options.seed, lambda items, total: progress(items, "encoders", total))
    conventions = {**preset_named("ramap").as_json(), "truth": "class"}
    if as_json:
        print_json({"extensions": tables, "baselines": methods, "conventions": conventions})
        return
    radii = [str(r) for r in range(len(tables["LSH"]["ramap"]))]
    for figure, title in (("ramap", "RAMAP@R"), ("precision", "precision"), ("recall", "recall")):
        click.echo(f"{title} by radius R")
        print_table([[name, *map(cell, values[figure])] for name, values in tables.items()], ["codes", *radii])
        click.echo()
    click.echo("mAP by returned samples")
    cuts = list(tables["LSH"]["map_at_k"])
    print_table([[name, *map(cell, values["map_at_k"].values())] for name, values in tables.items()], ["codes", *cuts])
    click.echo()
    click.echo("Baselines, 32 bits: higher mAP comes with poorer use of the hash space (Ding, Li and Li 2018)")
    columns = ["mAP", "mLGAP@2", "utilisation"]
    print_table([[name, *[cell(row[c]) for c in columns]] for name, row in methods.items()], ["encoder", *columns])
    click.echo()
    click.echo("Ding, Li and Li 2018: a dispersed objective lowers mAP and raises mLGAP. " + _found(methods))
    say_conventions(conventions)


def _found(methods: dict[str, dict[str, float]]) -> str:
    """Sentence on the claim about dispersed codes, by the digits."""
    if "dsh-dispersed" not in methods:
        return "Not tried: pip install 'relstudy[deep]'."
    plain, dispersed = methods["dsh"], methods["dsh-dispersed"]
    changes = [
        f"{name} {'falls' if dispersed[name] < plain[name] else 'does not fall'}, "
        f"{cell(plain[name])} to {cell(dispersed[name])}"
        for name in ("mAP", "mLGAP@2")
    ]
    return f"Here {'; '.join(changes)}."


def _mlgap(
    queries: str, query_codes: Codes, table: str, database: Codes, unique: UniqueCodes, radius: int
) -> tuple[dict[str, float], dict[str, Any]]:
    import numpy as np

    from relstudy.analysis.hashing.counting.counts import CountTable, count
    from relstudy.analysis.hashing.metrics.lgap import largest_bins, local_group_average_precision
    from relstudy.analysis.hashing.truth.relevance import ListedTruth

    counted = CountTable.load(table)
    again = count(query_codes, database, ListedTruth.from_lists([[]] * len(query_codes), len(database)))
    if not np.array_equal(again.total, counted.total):
        raise RelstudyError(f"{table} was not counted from {queries} and these codes")
    if radius > counted.bits:
        raise RelstudyError(f"a radius must be from 0 to the code length {counted.bits}")
    bins = largest_bins(query_codes, unique)
    rules: tuple[Ball, Ball] = ("paper", "attainable")
    figures = {
        f"mlgap_{radius}_{rule}": float(local_group_average_precision(counted, bins, radius, ball=rule).mean())
        for rule in rules
    }
    return figures, {"empty_ball": "zero", "truth": counted.truth}


def _figures(figures: dict[str, Any]) -> list[str]:
    ties, ends = figures["map"], figures["map_interval"]
    rest = [
        cell(value["expected"] if isinstance(value, dict) else value)
        for key, value in figures.items()
        if key not in ("bits", "map", "map_interval")
    ]
    width = "–" if ties["expected"] is None else span(ties["pessimistic"], ties["optimistic"], ".4f")
    interval = span(ends["low"], ends["high"], ".4f") or "–"
    return [cell(figures["bits"]), cell(ties["expected"]), interval, width, *rest]


def _by_split(loaded: dict[str, CountTable]) -> dict[str, dict[str, CountTable]]:
    splits: dict[str, dict[str, CountTable]] = {}
    for stem, table in loaded.items():
        name, _, split = stem.rpartition("_")
        if not name:
            raise click.UsageError(f"--splits needs tables named NAME_SPLIT.npz, such as itq_0.npz; {stem} is not.")
        splits.setdefault(split, {})[name] = table
    return splits


def print_splits(result: dict[str, Any]) -> None:
    """Print what `compare_splits` gives."""
    number = len(result["splits"])
    columns = [name for name in next(iter(result["systems"].values())) if name != "bits"]
    rows = [[name, *(_mean_and_spread(row[c]) for c in columns)] for name, row in result["systems"].items()]
    click.echo(f"mean (sd) of {number} splits: {', '.join(result['splits'])}")
    print_table(rows, ["system", *columns])
    if result["comparisons"]:
        click.echo()
        differences = [[c["first"], c["second"], _interval(c["map_difference"])] for c in result["comparisons"]]
        print_table(differences, ["first", "second", "mAP difference (95 %)"])
    say_conventions(result["conventions"])


def _mean_and_spread(figure: dict[str, Any]) -> str:
    return "–" if figure["mean"] is None else f"{cell(figure['mean'])} ({cell(figure['sd'])})"


def _interval(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return f"– ({figure['reason']})"
    if figure["low"] is None:
        return f"{number(figure['value'], '+.4f')} (no interval: one query)"
    return f"{number(figure['value'], '+.4f')} ({span(figure['low'], figure['high'], '+.4f')})"
