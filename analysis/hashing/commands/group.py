"""`relstudy hash`: Hamming metrics for binary hash codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import click

from relstudy.analysis.hashing.commands.classes import classes_command, pictures_command
from relstudy.analysis.hashing.commands.compare import buckets_command, compare_command, demo_command, health_command
from relstudy.analysis.hashing.commands.cross_modal import cross_modal_command
from relstudy.analysis.hashing.commands.data import split_command, truth_command
from relstudy.analysis.hashing.commands.encode import encode_command
from relstudy.analysis.hashing.commands.inputs import cell, preset_named, print_over_ties, refuse_over, say_conventions
from relstudy.analysis.hashing.commands.look_up import look_up_command
from relstudy.analysis.hashing.commands.people import audit_command, scores_command
from relstudy.analysis.hashing.commands.published import data_command
from relstudy.analysis.hashing.commands.ranked import graded_command, rank_command
from relstudy.analysis.hashing.commands.search import search_command
from relstudy.analysis.hashing.metrics.conventions import Conventions
from relstudy.analysis.hashing.options import CodeFormat, Engine, LabelText
from relstudy.common.options.command_group import CheckedGroup
from relstudy.common.options.command_options import options_of, taking
from relstudy.common.options.declaration import CommandOptions, fields_given, option
from relstudy.common.runtime.console import print_json, print_table, progress, say

if TYPE_CHECKING:
    from relstudy.analysis.hashing.counting.shards import Job


@click.group("hash", cls=CheckedGroup)
def hash_group() -> None:
    """Hamming metrics for systems that retrieve by binary hash codes.

    \b
    Example:
      relstudy hash count --queries q.npy --database db.npy \\
          --query-labels yq.npy --database-labels y.npy -o table.npz
      relstudy hash evaluate table.npz --k 100 --k 1000
    """


@dataclass(frozen=True, kw_only=True)
class CountOptions(CodeFormat, LabelText):
    """Options of `relstudy hash count`."""

    queries: str = option(..., "Query codes: .npy, or text of hexadecimal codes.")
    database: tuple[str, ...] = option(..., "Database codes; repeat for shards.")
    query_labels: str | None = option(None, "Labels of the queries: .npy, or text with one item per line.")
    database_labels: tuple[str, ...] = option((), "Labels of the database, one file a shard.")
    truth_file: str | None = option(
        None, "Relevance lists made by `relstudy hash truth`, instead of labels.", flags=("--truth",)
    )
    engine: Engine | Literal["dask"] = option(
        "auto",
        "Who counts: auto is numba where it can be imported and codes are many, else numpy; dask the workers of a "
        "cluster, which see the same files.",
    )
    scheduler: str | None = option(
        None,
        "Address of a dask scheduler whose workers count, such as tcp://host:8786.",
        metavar="ADDRESS",
        shown="with the engine dask, a worker for each core of this machine is started",
    )
    output: str = option(..., "Where to write the count table (.npz).", flags=("-o", "--out"), metavar="PATH")

    def __post_init__(self) -> None:
        super().__post_init__()
        labelled = self.query_labels is not None
        if labelled == (self.truth_file is not None) or (not labelled and self.database_labels):
            raise click.UsageError("Give --query-labels and --database-labels, or --truth.")
        if labelled and len(self.database_labels) != len(self.database):
            raise click.UsageError("Give one --database-labels for each --database.")
        if self.scheduler is not None and self.engine != "dask":
            raise click.UsageError("--scheduler goes with --engine dask.")

    def job(self) -> Job:
        """The files that are counted, and how they are read."""
        from relstudy.analysis.hashing.counting.shards import Job

        files = (self.queries, self.database, self.query_labels, self.database_labels, self.truth_file)
        return Job(*files, self.form, self.code_bits, self.separator)


@hash_group.command("count")
@taking(CountOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def count_command(options: CountOptions, as_json: bool) -> None:
    """Count codes and relevant codes by distance from each query.

    \b
    Example:
      relstudy hash count --queries q.npy --database db.npy \\
          --query-labels yq.txt --database-labels y.txt -o table.npz
    """
    from relstudy.analysis.hashing.counting.counts import has_numba
    from relstudy.analysis.hashing.counting.distributed import count_files

    if options.engine == "auto" and not has_numba():
        say("numba cannot be imported; counting with numpy, which gives the same integers, slower")
    job, output = options.job(), options.output
    labels = (options.query_labels, *options.database_labels)
    refuse_over([output], [options.queries, *options.database, *labels, options.truth_file])
    table = count_files(
        job,
        engine=options.engine,
        scheduler=options.scheduler,
        watch=lambda parts, total: progress(parts, "shards", total),
    )
    table.save(output)
    summary: dict[str, Any] = {
        "table": output,
        "queries": table.queries,
        "codes": table.codes,
        "bits": table.bits,
        "relevant": int(table.relevant.sum()),
        "truth": table.truth,
        "notes": table.notes,
    }
    if as_json:
        print_json(summary)
    else:
        say(
            f"{summary['queries']} queries x {summary['codes']} codes of {summary['bits']} bits; "
            f"{summary['relevant']} relevant pairs by {summary['truth']}; wrote {output}"
        )
        for note in table.notes:
            click.echo(note)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(CommandOptions):
    """Options of `relstudy hash evaluate` beside the conventions."""

    k: tuple[int, ...] = option((), "Cut-offs for precision and mAP at k; repeat.", at_least=1)
    radius: tuple[int, ...] = option((), "Radii to show.", at_least=0, shown="all")
    preset: str = option("default", "Conventions of a published evaluator, by name.")
    exclude_self: bool = option(False, "Queries are in the database: take out each query's own code.")
    figures: str | None = option(None, "Write the curves by radius as SVG to this folder.", metavar="FOLDER")


@hash_group.command("evaluate")
@click.argument("table")
@taking(EvaluateOptions)
@options_of(Conventions, only=("denominator", "no_relevant", "no_hit", "empty_ball", "beta"))
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def evaluate_command(table: str, options: EvaluateOptions, as_json: bool, **choices: Any) -> None:
    """Every figure of a count table, each with its conventions.

    \b
    Example:
      relstudy hash evaluate table.npz --k 100 --k 1000 --preset hashnet
    """
    from relstudy.analysis.hashing.counting.counts import CountTable, without_self
    from relstudy.analysis.hashing.metrics.evaluate import evaluate, figures_over_ties

    conventions = replace(preset_named(options.preset), **fields_given(Conventions, choices))
    counted = CountTable.load(table)
    if options.exclude_self:
        counted = without_self(counted)
    result = evaluate(counted, k=options.k, radius=options.radius, conventions=conventions)
    if options.figures is not None:
        from relstudy.analysis.hashing.metrics.plots import write_figures

        for path in write_figures(conventions.queries_counted(counted), options.figures, conventions):
            say(f"wrote {path}")
    if as_json:
        print_json(result)
        return
    print_over_ties(figures_over_ties(result))
    if counted.by_rank is None:
        click.echo()
        _print_by_radius(result, all_of_them=bool(options.radius))
        click.echo()
        print_table([[rule, cell(area)] for rule, area in result["auprc"].items()], ["AUPRC", "value"])
    for note in result["notes"]:
        click.echo(note)
    say_conventions(result["conventions"])


RECALL_REACHED = (0.1, 0.5, 0.9)
"""The first radius with so much recall is printed, whatever the length of the codes."""


def _print_by_radius(result: dict[str, Any], *, all_of_them: bool) -> None:
    """Precision, recall, RAMAP and cost by radius: those asked for, else 0 to 3 and where recall passes each tenth."""
    rows = [row | cost for row, cost in zip(result["radius"], result["lookup"], strict=True)]
    if not all_of_them:
        recall = [row["recall_micro"] or 0.0 for row in rows]
        passed = [next((k for k, reached in enumerate(recall) if reached >= least), 0) for least in RECALL_REACHED]
        rows = [row for k, row in enumerate(rows) if k <= 3 or k in passed]
    figures = ["precision_micro", "recall_micro", "precision_macro", "recall_macro"]
    cells = [
        [
            *(cell(row["r"]), *(cell(row[name]) for name in figures), cell(result["ramap"][str(row["r"])])),
            *(cell(row["empty_balls"]), _count(row["probes"]), f"{row['candidates']:,.1f}"),
        ]
        for row in rows
    ]
    print_table(cells, ["r", *figures, "RAMAP", "empty_balls", "probes", "candidates"])
    if not all_of_them:
        click.echo("Radii 0 to 3, and the first with a recall of .1, .5 and .9; --radius shows others, --json all.")


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**6 else f"{Decimal(number):.1e}".replace("e+0", "e").replace("e+", "e")


for _command in (
    data_command,
    truth_command,
    split_command,
    search_command,
    encode_command,
    cross_modal_command,
    compare_command,
    health_command,
    classes_command,
    pictures_command,
    buckets_command,
    look_up_command,
    rank_command,
    graded_command,
    scores_command,
    audit_command,
    demo_command,
):
    hash_group.add_command(_command)
