"""`relstudy hash rank` and `graded`: rankings that are not by Hamming distance, and relevance that is not yes or no."""

from __future__ import annotations

from typing import Any

import click

from relstudy.analysis.hashing.commands.inputs import FORMATS, cell, codes_in, say_conventions, vectors_in
from relstudy.analysis.hashing.commands.pairs import TruthFiles, code_options, code_pair, truth_options
from relstudy.common.console import print_json, print_table, say
from relstudy.common.errors import RelstudyError

ADVISED = 39
"""Training vectors for each centre, as faiss advises."""


@click.command("rank")
@click.argument("kind", type=click.Choice(["asymmetric", "pq", "vectors"]))
@click.option("--queries", required=True, help="Vectors (.npy); for asymmetric, real values of `encode --project`.")
@click.option("--database", required=True, help="Vectors (.npy); for asymmetric, codes.")
@click.option("--train", help="Training vectors, for pq.")
@click.option("--bits", type=click.IntRange(min=1), help="Of a vector's code, for pq: a byte for each part.")
@click.option("--format", "form", type=FORMATS, default="auto", help="What the code file holds, for asymmetric.")
@truth_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is drawn at random.")
@click.option("-o", "--output", required=True, help="Where to write the table (.npz), for `compare` and `evaluate`.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def rank_command(
    kind: str,
    queries: str,
    database: str,
    train: str | None,
    bits: int | None,
    form: Any,
    seed: int,
    output: str,
    as_json: bool,
    **truth_files: Any,
) -> None:
    """Count tables of rankings by real-valued distances, to stand beside hash codes in `compare`.

    asymmetric: the query is not binarised, the database is. pq: product quantisation by faiss (extra `faiss`). vectors:
    the Euclidean distance itself, which both come near to.

    \b
    Example:
      relstudy hash rank pq --bits 32 --train train.npy --queries q.npy --database db.npy \\
          --query-labels yq.npy --database-labels y.npy -o pq.npz
    """
    from relstudy.analysis.hashing.ranking import (
        CENTRES,
        asymmetric_distances,
        euclidean_distances,
        quantised_distances,
        rank_table,
    )

    if (kind == "pq") != (train is not None) or (kind == "pq") != (bits is not None):
        raise click.UsageError("--train and --bits are for pq, which needs both.")
    truth, notes = TruthFiles(**truth_files).read()
    points = vectors_in(queries)
    if kind == "asymmetric":
        codes, more = codes_in([database], form, None)
        notes += more
        items = len(codes)
        distances, name = asymmetric_distances(points, codes), f"asymmetric, {codes.bits} bits"
    else:
        vectors = vectors_in(database)
        items = len(vectors)
        if train is not None and bits is not None:
            training = vectors_in(train)
            if len(training) < ADVISED * CENTRES:
                notes.append(
                    f"{train}: {len(training)} training vectors for {CENTRES} centres of each part; "
                    f"{ADVISED * CENTRES} or more are advised"
                )
            learned = quantised_distances(training, points, vectors, bits, seed)
            distances, name = learned, f"product quantisation, {bits} bits"
        else:
            distances, name = euclidean_distances(points, vectors), "Euclidean"
    if truth.sizes != (len(points), items):
        raise RelstudyError(
            f"the truth speaks of {truth.sizes[0]} queries and {truth.sizes[1]} items; "
            f"there are {len(points)} and {items}"
        )
    table = rank_table(distances, truth, name)
    table.save(output)
    if as_json:
        sizes = {"queries": table.queries, "codes": table.codes}
        print_json({"table": output, **sizes, "distance": name, "truth": truth.kind, "notes": notes})
        return
    say(f"{table.queries} queries x {table.codes} items ranked by distance ({name}); wrote {output}")
    for note in notes:
        click.echo(note)


@click.command("graded")
@code_options
@truth_options
@click.option("--k", multiple=True, type=click.IntRange(min=1), help="Cut-offs; repeat. Always the whole ranking too.")
@click.option(
    "--gain",
    type=click.Choice(["exponential", "linear"]),
    default="exponential",
    show_default=True,
    help="Gain of a label grade g: 2^g - 1, or g itself.",
)
@click.option(
    "--no-relevant",
    type=click.Choice(["skip", "zero", "one"]),
    default="skip",
    show_default=True,
    help="Queries that share no label with any code; one: their nDCG is 1, as MIHash's evaluator has it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def graded_command(
    queries: str,
    database: str,
    form: Any,
    code_bits: int | None,
    k: tuple[int, ...],
    gain: Any,
    no_relevant: Any,
    as_json: bool,
    **truth_files: Any,
) -> None:
    """ACG, nDCG and WAP of multi-label data: a code counts by the number of labels that it shares with the query.

    \b
    Example:
      relstudy hash graded --queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy --k 100
    """
    from relstudy.analysis.hashing.metrics.label_grades import graded_figures, shared_label_counts
    from relstudy.analysis.hashing.truth.relevance import LabelTruth

    truth, notes = TruthFiles(**truth_files).read()
    if not isinstance(truth, LabelTruth):
        raise click.UsageError("graded counts shared labels: give --query-labels and --database-labels.")
    query_codes, codes, more = code_pair(queries, database, form, code_bits)
    counts = shared_label_counts(query_codes, codes, truth)
    cuts: list[int | None] = [*k, None]
    figures = {"all" if cut is None else str(cut): graded_figures(counts, cut, gain, no_relevant) for cut in cuts}
    empty = int((counts[:, 1:].sum(axis=(1, 2)) == 0).sum())
    conventions = {
        "grade": "number of shared labels",
        "gain": "2^grade - 1" if gain == "exponential" else "grade",
        "no_relevant": no_relevant,
        "denominator of WAP": "min(K, relevant)",
        "ties": "interval over every order of equal distances",
        "truth": truth.kind,
    }
    if as_json:
        by_cut = {cut: each.as_json() for cut, each in figures.items()}
        print_json(
            {"at": by_cut, "queries_without_relevant": empty, "notes": [*notes, *more], "conventions": conventions}
        )
        return
    rows = []
    for cut, each in figures.items():
        for name, title in (("acg", "ACG"), ("ndcg", "nDCG"), ("wap", "WAP")):
            ties = getattr(each, name)
            shown = [cell(ties.pessimistic), cell(ties.expected), cell(ties.optimistic)]
            rows.append([title if cut == "all" else f"{title}@{cut}", *shown])
    print_table(rows, ["over ties", "pessimistic", "expected", "optimistic"])
    click.echo(f"queries that share no label with any code: {empty} of {len(counts)}")
    for note in [*notes, *more]:
        click.echo(note)
    say_conventions(conventions)
