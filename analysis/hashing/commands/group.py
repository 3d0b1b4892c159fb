"""`relstudy hash`: Hamming metrics for binary hash codes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import click

from relstudy.analysis.hashing.commands.classes import classes_command, pictures_command
from relstudy.analysis.hashing.commands.compare import buckets_command, compare_command, demo_command, health_command
from relstudy.analysis.hashing.commands.cross_modal import cross_modal_command
from relstudy.analysis.hashing.commands.data import split_command, truth_command
from relstudy.analysis.hashing.commands.encode import encode_command
from relstudy.analysis.hashing.commands.inputs import FORMATS, cell, preset_named, say_conventions
from relstudy.analysis.hashing.commands.look_up import look_up_command
from relstudy.analysis.hashing.commands.people import audit_command, scores_command
from relstudy.analysis.hashing.commands.published import data_command
from relstudy.analysis.hashing.commands.ranked import graded_command, rank_command
from relstudy.common.command_options import Finite
from relstudy.common.console import print_json, print_table, progress, say

DENOMINATORS = ["relevant", "min(K, relevant)", "hits", "first K relevant"]


@click.group("hash")
def hash_group() -> None:
    """Hamming metrics for systems that retrieve by binary hash codes.

    \b
    Example:
      relstudy hash count --queries q.npy --database db.npy \\
          --query-labels yq.npy --database-labels y.npy -o table.npz
      relstudy hash evaluate table.npz --k 100 --k 1000
    """


@hash_group.command("count")
@click.option("--queries", required=True, help="Query codes: .npy, or text of hexadecimal codes.")
@click.option("--database", required=True, multiple=True, help="Database codes; repeat for shards.")
@click.option("--query-labels", help="Labels of the queries: .npy, or text with one item per line.")
@click.option("--database-labels", multiple=True, help="Labels of the database, one file a shard.")
@click.option("--truth", "truth_file", help="Relevance lists made by `relstudy hash truth`, instead of labels.")
@click.option("--format", "form", type=FORMATS, default="auto", help="What the code files hold.")
@click.option(
    "--bits", type=click.IntRange(min=1), help="Code length, where the last byte of packed codes is not full."
)
@click.option(
    "--label-separator",
    "separator",
    type=click.Choice(["auto", "space", "comma", "line"]),
    default="auto",
    help="Between labels in text; line takes a line for one label.",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "numba", "numpy", "dask"]),
    default="auto",
    help="Who counts: auto is numba where it can be imported, else numpy.",
)
@click.option("--scheduler", help="Address of a dask scheduler, for --engine dask.")
@click.option("-o", "--output", required=True, help="Where to write the count table (.npz).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def count_command(
    queries: str,
    database: tuple[str, ...],
    query_labels: str | None,
    database_labels: tuple[str, ...],
    truth_file: str | None,
    form: Any,
    bits: int | None,
    separator: Any,
    engine: str,
    scheduler: str | None,
    output: str,
    as_json: bool,
) -> None:
    """Count codes and relevant codes by distance from each query.

    \b
    Example:
      relstudy hash count --queries q.npy --database db.npy \\
          --query-labels yq.txt --database-labels y.txt -o table.npz
    """
    if (query_labels is None) == (truth_file is None) or (truth_file is not None and database_labels):
        raise click.UsageError("Give --query-labels and --database-labels, or --truth.")
    if query_labels is not None and len(database_labels) != len(database):
        raise click.UsageError("Give one --database-labels for each --database.")
    if (engine == "dask") != (scheduler is not None):
        raise click.UsageError("--engine dask and --scheduler go together.")

    from relstudy.analysis.hashing.counting.counts import usable_engine
    from relstudy.analysis.hashing.counting.distributed import count_files
    from relstudy.analysis.hashing.counting.shards import Job, notes_of

    if engine == "auto" and usable_engine() == "numpy":
        say("numba cannot be imported; counting with numpy, which gives the same integers, slower")
    files = (queries, database, query_labels, database_labels, truth_file)
    job = Job(*files, form, bits, separator)
    table = count_files(
        job,
        engine=engine,  # type: ignore[arg-type]
        scheduler=scheduler,
        watch=lambda parts, total: progress(parts, "shards", total),
    )
    table.save(output)
    notes = notes_of(job)
    summary: dict[str, Any] = {
        "table": output,
        "queries": table.queries,
        "codes": table.codes,
        "bits": table.bits,
        "relevant": int(table.relevant.sum()),
        "truth": table.truth,
        "notes": notes,
    }
    if as_json:
        print_json(summary)
    else:
        say(
            f"{summary['queries']} queries x {summary['codes']} codes of {summary['bits']} bits; "
            f"{summary['relevant']} relevant pairs by {summary['truth']}; wrote {output}"
        )
        for note in notes:
            click.echo(note)


@hash_group.command("evaluate")
@click.argument("table")
@click.option("--k", multiple=True, type=click.IntRange(min=1), help="Cut-offs for precision and mAP at k; repeat.")
@click.option("--radius", multiple=True, type=click.IntRange(min=0), help="Radii to show; all by default.")
@click.option("--preset", default="default", show_default=True, help="Conventions of a published evaluator, by name.")
@click.option("--denominator", type=click.Choice(DENOMINATORS), help="Of mAP at k.")
@click.option(
    "--no-relevant", type=click.Choice(["skip", "zero", "skip-unlabelled"]), help="Queries without a relevant code."
)
@click.option("--no-hit", type=click.Choice(["skip", "zero"]), help="Queries without a relevant code in the first k.")
@click.option("--empty-ball", type=click.Choice(["zero", "skip"]), help="Queries with no code within the radius.")
@click.option("--exclude-self", is_flag=True, help="Queries are in the database: take out each query's own code.")
@click.option("--beta", type=Finite(), help="Weight of recall in F; above 0.")
@click.option("--figures", help="Write the curves by radius as SVG to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def evaluate_command(
    table: str,
    k: tuple[int, ...],
    radius: tuple[int, ...],
    preset: str,
    exclude_self: bool,
    figures: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Every figure of a count table, each with its conventions.

    \b
    Example:
      relstudy hash evaluate table.npz --k 100 --k 1000 --preset hashnet
    """
    from dataclasses import replace

    from relstudy.analysis.hashing.counting.counts import CountTable, without_self
    from relstudy.analysis.hashing.metrics.evaluate import evaluate

    conventions = replace(preset_named(preset), **{name: value for name, value in choices.items() if value is not None})
    counted = CountTable.load(table)
    if exclude_self:
        counted = without_self(counted)
    result = evaluate(counted, k=k, radius=radius, conventions=conventions)
    if figures is not None:
        from relstudy.analysis.hashing.metrics.plots import write_figures

        for path in write_figures(conventions.queries_counted(counted), figures, conventions):
            say(f"wrote {path}")
    if as_json:
        print_json(result)
        return
    rows = [["mAP", *_interval(result["map"])]]
    rows += [[f"mAP@{cut}", *_interval(figure)] for cut, figure in result["map_at_k"].items()]
    rows += [[f"P@{cut}", *_interval(figure)] for cut, figure in result["precision_at_k"].items()]
    rows += [[f"R@{cut}", *_interval(figure)] for cut, figure in result["recall_at_k"].items()]
    rows += [[f"mAP@H<={r}", *_interval(figure)] for r, figure in result["map_within_radius"].items()]
    print_table(rows, ["over ties", "pessimistic", "expected", "optimistic"])
    if counted.by_rank is None:
        click.echo()
        _print_by_radius(result, all_of_them=bool(radius))
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


def _interval(figure: dict[str, float | None]) -> list[str]:
    return [cell(figure[name]) for name in ("pessimistic", "expected", "optimistic")]


for _command in (
    data_command,
    truth_command,
    split_command,
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
