"""`relstudy hash truth` and `split`: relevance lists and the parts of a data set, made before counting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import click

from relstudy.analysis.hashing.commands.inputs import label_array_in, refuse_over, vectors_in
from relstudy.analysis.hashing.options import Drawn, LabelText
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import option
from relstudy.common.runtime.console import print_json, progress
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

if TYPE_CHECKING:
    import numpy as np

    from relstudy.analysis.hashing.truth.relevance import ListedTruth


@dataclass(frozen=True, kw_only=True)
class TruthOptions(Drawn):
    """Options of `relstudy hash truth`."""

    kind: Literal["epsilon-ball", "k-nn", "judgments"] = option(
        ..., "What a true match is: within a distance, one of the k nearest, or what people say."
    )
    queries: str | None = option(None, "Query vectors (.npy), for epsilon-ball and k-nn.")
    database: str | None = option(None, "Database vectors (.npy), for epsilon-ball and k-nn.")
    training: str | None = option(None, "Training vectors (.npy) that set the epsilon-ball's radius.")
    radius: float | None = option(None, "Radius, instead of --training.", above=0)
    neighbours: int = option(50, "R, or k.", at_least=1)
    judgments: str | None = option(None, "Judgments table, for --kind judgments.")
    query_ids: str | None = option(None, "Ids of the query codes, one a line, for --kind judgments.")
    database_ids: str | None = option(None, "Ids of the database codes, one a line, for --kind judgments.")
    threshold: float | None = option(None, "Relevant where judged above it.", shown="the cut of the scale")
    exclude_self: bool = option(False, "Queries are in the database: none is its own neighbour.")
    output: str = option(..., "Where to write the relevance lists (.npz).", flags=("-o", "--out"), metavar="PATH")

    PEOPLE: ClassVar[tuple[str, ...]] = ("judgments", "query_ids", "database_ids", "threshold")
    OF_OTHERS: ClassVar[dict[str, tuple[str, ...]]] = {
        "epsilon-ball": PEOPLE,
        "k-nn": ("training", "radius", *PEOPLE),
        "judgments": ("queries", "database", "training", "radius", "exclude_self"),
    }
    """The options that a kind has no use for."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "judgments":
            if self.judgments is None or self.query_ids is None or self.database_ids is None:
                raise click.UsageError("--kind judgments needs --judgments, --query-ids and --database-ids.")
        elif self.queries is None or self.database is None:
            raise click.UsageError(f"--kind {self.kind} needs --queries and --database.")
        if self.kind == "epsilon-ball" and (self.training is None) == (self.radius is None):
            raise click.UsageError("--kind epsilon-ball needs --training or --radius, one of them.")
        given = [
            name
            for name in self.OF_OTHERS[self.kind]
            if getattr(self, name) is not None and getattr(self, name) is not False
        ]
        idle = [f"--{name.replace('_', '-')}" for name in given]
        if idle:
            raise click.UsageError(f"{', '.join(idle)}: of no use to --kind {self.kind}.")


@click.command("truth")
@taking(TruthOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def truth_command(options: TruthOptions, as_json: bool) -> None:
    """Say which codes are relevant to which query, from distances or from people.

    \b
    Example:
      relstudy hash truth --kind epsilon-ball --queries q.npy --database db.npy \\
          --training train.npy -o truth.npz
    """
    import numpy as np

    from relstudy.analysis.hashing.truth.relevance import save_truth

    output, neighbours, radius = options.output, options.neighbours, options.radius
    people = (options.judgments, options.query_ids, options.database_ids)
    refuse_over([output], [options.queries, options.database, options.training, *people])
    if options.kind == "judgments":
        truth, notes = _judged(options)
    else:
        notes = []
        truth, radius = _by_distance(options)
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
        "radius": radius if options.kind == "epsilon-ball" else None,
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
        if options.kind == "epsilon-ball" and options.training is not None and sizes.mean() > 2 * neighbours:
            click.echo(
                f"the radius was set so that a training point has {neighbours} neighbours at the mean distance; "
                "distances have heavy tails here, so dense regions hold many more: --radius sets a smaller one"
            )


def _judged(options: TruthOptions) -> tuple[ListedTruth, list[str]]:
    """The pairs that people judged relevant, and notes on what was left out."""
    from relstudy.analysis.hashing.people.scores import judged_truth, left_out, rows_of_pairs
    from relstudy.analysis.hashing.truth.labels import read_ids
    from relstudy.calibration.tables.judgments import read_judgments

    assert options.judgments is not None and options.query_ids is not None and options.database_ids is not None
    judged = read_judgments(options.judgments)
    cut = judged.scale.scale.cut if options.threshold is None else options.threshold
    ids = read_ids(options.query_ids), read_ids(options.database_ids)
    truth = judged_truth(judged.frame, *ids, cut)
    rows = rows_of_pairs(judged.frame, *ids)
    paired = int(((rows[0] >= 0) & (rows[1] >= 0)).sum())
    return truth, [*judged.all_notes, *left_out(paired, len(judged))]


def _by_distance(options: TruthOptions) -> tuple[ListedTruth, float | None]:
    """The pairs that are near to one another, and the radius of the ball."""
    from relstudy.analysis.hashing.truth.vector_truth import epsilon_ball, epsilon_radius, nearest_neighbours

    assert options.queries is not None and options.database is not None
    vectors = vectors_in(options.queries), vectors_in(options.database)
    itself = options.exclude_self
    if options.kind == "k-nn":
        return nearest_neighbours(*vectors, options.neighbours, watch=_blocks, exclude_self=itself), None
    radius = options.radius
    if options.training is not None:
        training = vectors_in(options.training)
        radius = epsilon_radius(training, neighbours=options.neighbours, seed=options.seed)
    assert radius is not None
    return epsilon_ball(*vectors, radius, watch=_blocks, exclude_self=itself), radius


def _blocks(starts: range) -> Iterator[int]:
    return progress(starts, "blocks of queries", len(starts))


def _sizes(texts: tuple[str, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        name, _, rows = text.partition("=")
        if not rows.isdigit():
            raise RelstudyError(f"PART=ROWS is needed, such as test_queries=1000, not {text!r}")
        if name in sizes:
            raise RelstudyError(f"{name}=... is given twice")
        sizes[name] = int(rows)
    return sizes


@dataclass(frozen=True, kw_only=True)
class SplitOptions(Drawn, LabelText):
    """Options of `relstudy hash split`."""

    items: int | None = option(None, "Size of the data set.", at_least=1, shown="that of --labels or --vectors")
    labels: str | None = option(None, "Labels (.npy or text), to balance the parts.")
    vectors: str | None = option(None, "Vectors (.npy), to look for test queries that equal a training vector.")
    strategy: Literal["improved", "literature"] = option(
        "improved", "Five parts that share nothing, or test queries and a database as most papers have them."
    )
    sizes: Mapping[str, int] = option(
        dict,
        "Rows of a part, such as test_queries=1000; repeat.",
        flags=("--size",),
        metavar="PART=ROWS",
        read=_sizes,
    )
    times: int = option(10, "Independent splits.", at_least=1)
    output: str = option(..., "Folder for split_0.npz, split_1.npz, ...", flags=("-o", "--out"), metavar="PATH")


@click.command("split")
@taking(SplitOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def split_command(options: SplitOptions, as_json: bool) -> None:
    """Divide a data set into test, validation and training parts, and check that none leaks into another.

    \b
    Example:
      relstudy hash split --labels y.npy --size test_queries=1000 --size test_database=20000 \\
          --size validation_queries=500 --size validation_database=5000 -o splits/
    """
    from relstudy.analysis.hashing.truth.splits import SPLITS, duplicate_leaks, repeated

    labels, vectors, strategy, output = options.labels, options.vectors, options.strategy, options.output
    notes: list[str] = []
    classes = None if labels is None else label_array_in(labels, options.separator, notes)
    points = None if vectors is None else vectors_in(vectors)
    number = _agreed([("--items", options.items), (labels, classes), (vectors, points)])
    wanted = {f"split_{run}.npz" for run in range(options.times)}
    refuse_over([str(Path(output) / name) for name in sorted(wanted)], [labels, vectors])
    if earlier := sorted(file.name for file in Path(output).glob("split_*.npz") if file.name not in wanted):
        raise RelstudyError(
            f"{output}: {earlier[0]} of an earlier run is there and would be read with these; name another folder"
        )
    leaks, files = [], []
    splits = repeated(strategy, number, dict(options.sizes), labels=classes, times=options.times, seed=options.seed)
    for run, split in enumerate(progress(splits, "splits", options.times)):
        sentences = split.leaks() + ([] if points is None else duplicate_leaks(split, points))
        leaks += [f"split {run}: {sentence}" for sentence in sentences]
        rows = {part: getattr(split, part) for part in split.PARTS}
        files.append(str(Path(output) / f"split_{run}.npz"))
        SPLITS.write(files[-1], {"strategy": strategy, "seed": options.seed + run}, rows)
    if as_json:
        parts = {part: len(members) for part, members in rows.items()}
        print_json({"files": files, "strategy": strategy, "sizes": parts, "leaks": leaks, "notes": notes})
    else:
        for sentence in leaks:
            click.echo(f"leak: {sentence}")
        found = count_of(len(leaks), "leak") if leaks else "no leaks"
        click.echo(f"wrote {count_of(len(files), 'split')} to {output}; {found}")
        for note in notes:
            click.echo(note)


def _agreed(counts: list[tuple[str | None, int | np.ndarray | None]]) -> int:
    sizes = [(name, part if isinstance(part, int) else len(part)) for name, part in counts if part is not None]
    if not sizes:
        raise click.UsageError("Give --items, --labels or --vectors.")
    if len({number for _, number in sizes}) > 1:
        counts_by_source = ", ".join(f"{number} by {name}" for name, number in sizes)
        raise RelstudyError(f"the numbers of items differ: {counts_by_source}")
    return sizes[0][1]
