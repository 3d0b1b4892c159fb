"""`relstudy hash rank` and `graded`: rankings that are not by Hamming distance, and relevance that is not yes or no."""

from __future__ import annotations

from dataclasses import dataclass

import click

from relstudy.analysis.hashing.commands.inputs import (
    codes_in,
    print_over_ties,
    refuse_over,
    say_conventions,
    vectors_in,
)
from relstudy.analysis.hashing.commands.pairs import code_pair, truth_in
from relstudy.analysis.hashing.options import CodeFiles, Drawn, Empty, Format, Gain, TruthFiles
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, say
from relstudy.common.runtime.errors import RelstudyError

ADVISED = 39
"""Training vectors for each centre, as faiss advises."""


@dataclass(frozen=True, kw_only=True)
class RankOptions(Drawn):
    """Options of `relstudy hash rank` beside the truth."""

    queries: str = option(..., "Vectors (.npy); for asymmetric, real values of `encode --project`.")
    database: str = option(..., "Vectors (.npy); for asymmetric, codes.")
    train: str | None = option(None, "Training vectors, for pq.")
    bits: int | None = option(None, "Bits of a vector's code, for pq: a byte for each part.", at_least=1)
    form: Format = option("auto", "Format of the code file, for asymmetric.", flags=("--format",))
    output: str = option(
        ..., "Where to write the table (.npz), for `compare` and `evaluate`.", flags=("-o", "--out"), metavar="PATH"
    )


@click.command("rank")
@click.argument("kind", type=click.Choice(["asymmetric", "pq", "vectors"]))
@taking(TruthFiles, "truth_files")
@taking(RankOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def rank_command(kind: str, truth_files: TruthFiles, options: RankOptions, as_json: bool) -> None:
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

    train, bits, output = options.train, options.bits, options.output
    if (kind == "pq") != (train is not None) or (kind == "pq") != (bits is not None):
        raise click.UsageError("--train and --bits are for pq, which needs both.")
    labels = (truth_files.query_labels, truth_files.database_labels, truth_files.truth_file)
    refuse_over([output], [options.queries, options.database, train, *labels])
    truth, notes = truth_in(truth_files)
    points = vectors_in(options.queries)
    if kind == "asymmetric":
        codes, more = codes_in([options.database], options.form)
        notes += more
        items = len(codes)
        distances, name = asymmetric_distances(points, codes), f"asymmetric, {codes.bits} bits"
    else:
        vectors = vectors_in(options.database)
        items = len(vectors)
        if train is not None and bits is not None:
            training = vectors_in(train)
            if len(training) < ADVISED * CENTRES:
                notes.append(
                    f"{train}: {len(training)} training vectors for {CENTRES} centres of each part; "
                    f"{ADVISED * CENTRES} or more are advised"
                )
            learned = quantised_distances(training, points, vectors, bits, options.seed)
            distances, name = learned, f"product quantisation, {bits} bits"
        else:
            distances, name = euclidean_distances(points, vectors), "Euclidean"
    if truth.sizes != (len(points), items):
        raise RelstudyError(
            f"the truth speaks of {truth.sizes[0]} queries and {truth.sizes[1]} items; "
            f"there are {len(points)} and {items}"
        )
    table = rank_table(distances, truth, name, notes)
    table.save(output)
    if as_json:
        sizes = {"queries": table.queries, "codes": table.codes}
        print_json({"table": output, **sizes, "distance": name, "truth": truth.kind, "notes": notes})
        return
    say(f"{table.queries} queries x {table.codes} items ranked by distance ({name}); wrote {output}")
    for note in notes:
        click.echo(note)


@dataclass(frozen=True, kw_only=True)
class GradedOptions(CommandOptions):
    """Options of `relstudy hash graded` beside the codes and the labels."""

    k: tuple[int, ...] = option((), "Cut-offs; repeat. Always the whole ranking too.", at_least=1)
    gain: Gain = option("exponential", "Gain of a label grade g: 2^g - 1, or g itself.")
    no_relevant: Empty = option(
        "skip", "Queries that share no label with any code; one: their nDCG is 1, as MIHash's evaluator has it."
    )


@click.command("graded")
@taking(CodeFiles, "files")
@taking(TruthFiles, "truth_files")
@taking(GradedOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def graded_command(files: CodeFiles, truth_files: TruthFiles, options: GradedOptions, as_json: bool) -> None:
    """ACG, nDCG and WAP of multi-label data: a code counts by the number of labels that it shares with the query.

    \b
    Example:
      relstudy hash graded --queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy --k 100
    """
    from relstudy.analysis.hashing.metrics.label_grades import graded_figures, shared_label_counts
    from relstudy.analysis.hashing.truth.relevance import LabelTruth

    truth, notes = truth_in(truth_files)
    if not isinstance(truth, LabelTruth):
        raise click.UsageError("graded counts shared labels: give --query-labels and --database-labels.")
    query_codes, codes, more = code_pair(files)
    counts = shared_label_counts(query_codes, codes, truth)
    cuts: list[int | None] = [*options.k, None]
    rules = options.gain, options.no_relevant
    figures = {cut: graded_figures(counts, cut, *rules) for cut in cuts}
    empty = int((counts[:, 1:].sum(axis=(1, 2)) == 0).sum())
    conventions = {
        "grade": "number of shared labels",
        "gain": "2^grade - 1" if options.gain == "exponential" else "grade",
        "no_relevant": options.no_relevant,
        "denominator of WAP": "min(K, relevant)",
        "ties": "interval over every order of equal distances",
        "truth": truth.kind,
    }
    if as_json:
        by_cut = {"all" if cut is None else str(cut): each.as_json() for cut, each in figures.items()}
        print_json(
            {"at": by_cut, "queries_without_relevant": empty, "notes": [*notes, *more], "conventions": conventions}
        )
        return
    print_over_ties({name: ties for cut, each in figures.items() for name, ties in each.named(cut).items()})
    click.echo(f"queries that share no label with any code: {empty} of {len(counts)}")
    for note in [*notes, *more]:
        click.echo(note)
    say_conventions(conventions)
