"""`relstudy hash truth` and `split`: relevance lists and the parts of a data set, made before counting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import label_array_in, vectors_in
from relstudy.common.command_options import Finite, FiniteRange
from relstudy.common.console import print_json, progress
from relstudy.common.errors import RelstudyError

if TYPE_CHECKING:
    import numpy as np


@click.command("truth")
@click.option(
    "--kind",
    type=click.Choice(["epsilon-ball", "k-nn", "judgments"]),
    required=True,
    help="What a true match is: within a distance, one of the k nearest, or what people say.",
)
@click.option("--queries", help="Query vectors (.npy), for epsilon-ball and k-nn.")
@click.option("--database", help="Database vectors (.npy), for epsilon-ball and k-nn.")
@click.option("--training", help="Training vectors (.npy) that set the epsilon-ball's radius.")
@click.option("--radius", type=FiniteRange(min=0, min_open=True), help="Radius, instead of --training.")
@click.option("--neighbours", type=click.IntRange(min=1), default=50, show_default=True, help="R, or k.")
@click.option("--judgments", help="Judgments table, for --kind judgments.")
@click.option("--query-ids", help="Ids of the query codes, one a line, for --kind judgments.")
@click.option("--database-ids", help="Ids of the database codes, one a line, for --kind judgments.")
@click.option("--threshold", type=Finite(), help="Relevant where judged above it.  [default: the cut of the scale]")
@click.option("--exclude-self", is_flag=True, help="Queries are in the database: none is its own neighbour.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is drawn at random.")
@click.option("-o", "--output", required=True, help="Where to write the relevance lists (.npz).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def truth_command(
    kind: str,
    queries: str | None,
    database: str | None,
    training: str | None,
    radius: float | None,
    neighbours: int,
    judgments: str | None,
    query_ids: str | None,
    database_ids: str | None,
    threshold: float | None,
    exclude_self: bool,
    seed: int,
    output: str,
    as_json: bool,
) -> None:
    """Say which codes are relevant to which query, from distances or from people.

    \b
    Example:
      relstudy hash truth --kind epsilon-ball --queries q.npy --database db.npy \\
          --training train.npy -o truth.npz
    """
    import numpy as np

    from relstudy.analysis.hashing.truth.relevance import save_truth
    from relstudy.analysis.hashing.truth.vector_truth import epsilon_ball, epsilon_radius, nearest_neighbours

    notes: list[str] = []
    if kind == "judgments":
        if judgments is None or query_ids is None or database_ids is None:
            raise click.UsageError("--kind judgments needs --judgments, --query-ids and --database-ids.")
        from relstudy.analysis.hashing.people.scores import judged_truth, left_out, rows_of_pairs
        from relstudy.analysis.hashing.truth.labels import read_ids
        from relstudy.calibration.judgments import read_judgments

        judged = read_judgments(judgments)
        cut = judged.scale.scale.cut if threshold is None else threshold
        ids = read_ids(query_ids), read_ids(database_ids)
        truth = judged_truth(judged.frame, *ids, cut)
        rows = rows_of_pairs(judged.frame, *ids)
        paired = int(((rows[0] >= 0) & (rows[1] >= 0)).sum())
        notes += (*judged.all_notes, *left_out(paired, len(judged)))
    else:
        if queries is None or database is None:
            raise click.UsageError(f"--kind {kind} needs --queries and --database.")
        if kind == "epsilon-ball" and (training is None) == (radius is None):
            raise click.UsageError("--kind epsilon-ball needs --training or --radius, one of them.")
        query_vectors, database_vectors = vectors_in(queries), vectors_in(database)
        if kind == "k-nn":
            truth = nearest_neighbours(
                query_vectors, database_vectors, neighbours, watch=_blocks, exclude_self=exclude_self
            )
        else:
            if training is not None:
                radius = epsilon_radius(vectors_in(training), neighbours=neighbours, seed=seed)
            assert radius is not None
            truth = epsilon_ball(query_vectors, database_vectors, radius, watch=_blocks, exclude_self=exclude_self)
    save_truth(truth, output)
    sizes = np.diff(truth.starts)
    without = int((sizes == 0).sum())
    summary: dict[str, Any] = {
        "truth": output,
        "kind": truth.kind,
        "queries": len(truth),
        "codes": truth.codes,
        "relevant": len(truth.members),
        "queries_without_relevant": without,
        "relevant_per_query": {
            "mean": float(sizes.mean()),
            "median": float(np.median(sizes)),
            "most": int(sizes.max()),
        },
        "radius": radius if kind == "epsilon-ball" else None,
        "notes": notes,
    }
    if as_json:
        print_json(summary)
    else:
        click.echo(
            f"{len(truth)} queries have {len(truth.members)} relevant codes by {truth.kind}, "
            f"{without} of them none; wrote {output}"
        )
        per_query = summary["relevant_per_query"]
        click.echo(
            f"relevant codes per query: {per_query['mean']:.1f} on average, {per_query['median']:g} at the median, "
            f"{per_query['most']} at most"
        )
        for note in notes:
            click.echo(note)
        if kind == "epsilon-ball" and training is not None and sizes.mean() > 2 * neighbours:
            click.echo(
                f"the radius was set so that a training point has {neighbours} neighbours at the mean distance; "
                "distances have heavy tails here, so dense regions hold many more: --radius sets a smaller one"
            )


def _blocks(starts: range) -> Iterator[int]:
    return progress(starts, "blocks of queries", len(starts))


@click.command("split")
@click.option("--items", type=click.IntRange(min=1), help="Size of the data set; known from --labels or --vectors.")
@click.option("--labels", help="Labels (.npy or text), to balance the parts.")
@click.option("--vectors", help="Vectors (.npy), to look for test queries that equal a training vector.")
@click.option(
    "--strategy",
    type=click.Choice(["improved", "literature"]),
    default="improved",
    show_default=True,
    help="Five parts that share nothing, or test queries and a database as most papers have them.",
)
@click.option("--size", "sizes", multiple=True, help="PART=ROWS, such as test_queries=1000; repeat.")
@click.option("--times", type=click.IntRange(min=1), default=10, show_default=True, help="Independent splits.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is drawn at random.")
@click.option("-o", "--output", required=True, help="Folder for split_0.npz, split_1.npz, ...")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def split_command(
    items: int | None,
    labels: str | None,
    vectors: str | None,
    strategy: str,
    sizes: tuple[str, ...],
    times: int,
    seed: int,
    output: str,
    as_json: bool,
) -> None:
    """Divide a data set into test, validation and training parts, and check that none leaks into another.

    \b
    Example:
      relstudy hash split --labels y.npy --size test_queries=1000 --size test_database=20000 \\
          --size validation_queries=500 --size validation_database=5000 -o splits/
    """
    from relstudy.analysis.hashing.codes.archive import Archive
    from relstudy.analysis.hashing.truth.splits import duplicate_leaks, repeated

    classes = None if labels is None else label_array_in(labels)
    points = None if vectors is None else vectors_in(vectors)
    number = _agreed([("--items", items), (labels, classes), (vectors, points)])
    archive = Archive("split", "relstudy hash split")
    leaks, files = [], []
    splits = repeated(strategy, number, _sizes(sizes), labels=classes, times=times, seed=seed)
    for run, split in enumerate(progress(splits, "splits", times)):
        sentences = split.leaks() + ([] if points is None else duplicate_leaks(split, points))
        leaks += [f"split {run}: {sentence}" for sentence in sentences]
        rows = {part: getattr(split, part) for part in split.PARTS}
        files.append(str(Path(output) / f"split_{run}.npz"))
        archive.write(files[-1], {"strategy": strategy, "seed": seed + run}, rows)
    if as_json:
        parts = {part: len(members) for part, members in rows.items()}
        print_json({"files": files, "strategy": strategy, "sizes": parts, "leaks": leaks})
    else:
        for sentence in leaks:
            click.echo(f"leak: {sentence}")
        click.echo(f"wrote {len(files)} splits to {output}; {len(leaks) or 'no'} leaks")


def _agreed(counts: list[tuple[str | None, int | np.ndarray | None]]) -> int:
    sizes = [(name, part if isinstance(part, int) else len(part)) for name, part in counts if part is not None]
    if not sizes:
        raise click.UsageError("Give --items, --labels or --vectors.")
    if len({number for _, number in sizes}) > 1:
        counts_by_source = ", ".join(f"{number} by {name}" for name, number in sizes)
        raise RelstudyError(f"the numbers of items differ: {counts_by_source}")
    return sizes[0][1]


def _sizes(texts: tuple[str, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, _, rows = text.partition("=")
        if not rows.isdigit():
            raise click.UsageError(f"--size {text}: PART=ROWS is needed, such as test_queries=1000.")
        if name in sizes:
            raise click.UsageError(f"--size {name}=... is given twice.")
        sizes[name] = int(rows)
    return sizes
