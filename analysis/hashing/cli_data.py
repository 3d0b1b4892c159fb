"""`relstudy hash truth`, `split` and `encode`: what is needed before counting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibration.console import print_json, progress, say
from calibration.errors import RelstudyError

if TYPE_CHECKING:
    import numpy as np

    from analysis.hashing.splits import Split


@click.command("truth")
@click.option("--kind", type=click.Choice(["epsilon-ball", "k-nn", "judgments"]), required=True)
@click.option("--queries", help="Query vectors (.npy), for epsilon-ball and k-nn.")
@click.option("--database", help="Database vectors (.npy), for epsilon-ball and k-nn.")
@click.option("--training", help="Training vectors (.npy) that set the epsilon-ball's radius.")
@click.option("--radius", type=click.FloatRange(min=0, min_open=True), help="Radius, instead of --training.")
@click.option("--neighbours", type=click.IntRange(min=1), default=50, show_default=True, help="R, or k.")
@click.option("--judgments", help="Judgments table, for --kind judgments.")
@click.option("--query-ids", help="Ids of the query codes, one a line, for --kind judgments.")
@click.option("--database-ids", help="Ids of the database codes, one a line, for --kind judgments.")
@click.option("--threshold", type=float, default=3.0, show_default=True, help="Relevant where judged above it.")
@click.option("--seed", type=int, default=0, show_default=True)
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
    threshold: float,
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
    from analysis.hashing.truth_file import save_truth
    from analysis.hashing.vector_truth import epsilon_ball, epsilon_radius, nearest_neighbours

    used = radius
    if kind == "judgments":
        if judgments is None or query_ids is None or database_ids is None:
            raise click.UsageError("--kind judgments needs --judgments, --query-ids and --database-ids.")
        from analysis.hashing.judged_truth import judged_truth
        from calibration.judgments import read_judgments

        truth = judged_truth(read_judgments(judgments), _ids(query_ids), _ids(database_ids), threshold)
    else:
        if queries is None or database is None:
            raise click.UsageError(f"--kind {kind} needs --queries and --database.")
        if kind == "k-nn":
            truth = nearest_neighbours(_vectors(queries), _vectors(database), neighbours)
        else:
            if (training is None) == (radius is None):
                raise click.UsageError("--kind epsilon-ball needs --training or --radius.")
            used = radius or epsilon_radius(_vectors(str(training)), neighbours=neighbours, seed=seed)
            truth = epsilon_ball(_vectors(queries), _vectors(database), used)
    save_truth(truth, output)
    summary = {
        "truth": output,
        "kind": truth.kind,
        "queries": len(truth),
        "relevant": len(truth.members),
        "radius": used,
    }
    if as_json:
        print_json(summary)
    else:
        say(f"{len(truth)} queries have {len(truth.members)} relevant codes by {truth.kind}; wrote {output}")


@click.command("split")
@click.option("--items", type=click.IntRange(min=1), help="Size of the data set; known from --labels or --vectors.")
@click.option("--labels", help="Classes (.npy or text), to balance the parts.")
@click.option("--vectors", help="Vectors (.npy), to look for test queries that equal a training vector.")
@click.option("--strategy", type=click.Choice(["improved", "literature"]), default="improved", show_default=True)
@click.option("--size", "sizes", multiple=True, help="PART=ROWS, such as test_queries=1000; repeat.")
@click.option("--times", type=click.IntRange(min=1), default=10, show_default=True, help="Independent splits.")
@click.option("--seed", type=int, default=0, show_default=True)
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
    from analysis.hashing.splits import duplicate_leaks, improved_split, literature_split

    classes = None if labels is None else _classes(labels)
    points = None if vectors is None else _vectors(vectors)
    number = items or (len(classes) if classes is not None else len(points) if points is not None else None)
    if number is None:
        raise click.UsageError("Give --items, --labels or --vectors.")
    wanted = _sizes(sizes)
    leaks, files = [], []
    for run in progress(range(times), "splits", times):
        if strategy == "improved":
            split = improved_split(number, wanted, labels=classes, seed=seed + run)
        else:
            if not {"test_queries", "training"} <= set(wanted):
                raise click.UsageError("--strategy literature needs --size test_queries=... and --size training=...")
            checking = wanted.get("validation_queries", 0)
            split = literature_split(
                number,
                wanted["test_queries"],
                wanted["training"],
                labels=classes,
                validation_queries=checking,
                seed=seed + run,
            )
        found = split.leaks() + ([] if points is None else duplicate_leaks(split, points))
        leaks += [f"split {run}: {sentence}" for sentence in found]
        files.append(_save_split(split, Path(output) / f"split_{run}.npz", seed + run))
    for sentence in leaks:
        say(f"leak: {sentence}")
    if as_json:
        parts = {part: len(getattr(split, part)) for part in split.PARTS}
        print_json({"files": files, "strategy": strategy, "sizes": parts, "leaks": leaks})
    else:
        say(f"wrote {len(files)} splits to {output}; {len(leaks) or 'no'} leaks")


@click.command("encode")
@click.argument("encoder")
@click.option("--bits", type=click.IntRange(min=1), required=True, help="Code length.")
@click.option("--train", "train_file", required=True, help="Training vectors (.npy); nothing else is learned from.")
@click.option("--train-labels", help="Classes of the training vectors, for KSH and GRH.")
@click.option("--encode", "files", nargs=2, multiple=True, required=True, help="VECTORS.npy CODES.npy; repeat.")
@click.option("--seed", type=int, default=0, show_default=True)
def encode_command(
    encoder: str, bits: int, train_file: str, train_labels: str | None, files: tuple[tuple[str, str], ...], seed: int
) -> None:
    """Turn vectors into codes with a baseline: lsh, pcah, pca-rr, itq, sh, sklsh, spherical, ksh or grh.

    \b
    Example:
      relstudy hash encode itq --bits 32 --train train.npy --encode q.npy q_codes.npy --encode db.npy db_codes.npy
    """
    import numpy as np

    from analysis.hashing.encoders import ENCODERS, train
    from calibration.tables import replacing

    if encoder not in ENCODERS:
        raise click.UsageError(f"ENCODER must be one of {', '.join(ENCODERS)}.")
    labels = None if train_labels is None else _classes(train_labels)
    fitted = train(ENCODERS[encoder](bits, seed), _vectors(train_file), labels)
    for source, target in progress(files, "files", len(files)):
        codes = fitted.encode(_vectors(source))
        with replacing(target) as beside, open(beside, "wb") as handle:
            np.save(handle, codes.unpacked(), allow_pickle=False)
        say(f"{len(codes)} codes of {bits} bits by {encoder}; wrote {target}")


def _vectors(file: str) -> np.ndarray:
    import numpy as np

    from analysis.hashing.code_files import load_array

    array = load_array(file)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise RelstudyError(
            f"{file}: vectors need numbers in the shape (items, D), this array is {array.dtype} {array.shape}"
        )
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise RelstudyError(f"{file}, row {row}, column {column} (counted from 0): every number must be finite")
    return array


def _classes(file: str) -> np.ndarray:
    from analysis.hashing.labels import read_labels

    own, _ = read_labels(file, file)
    if own.classes is None:
        raise RelstudyError(f"{file}: one class for each item is needed here, not several labels")
    return own.classes


def _ids(file: str) -> list[str]:
    from analysis.hashing.labels import read_ids

    return read_ids(file)


def _sizes(texts: tuple[str, ...]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, _, rows = text.partition("=")
        if not rows.isdigit():
            raise click.UsageError(f"--size {text}: PART=ROWS is needed, such as test_queries=1000.")
        sizes[name] = int(rows)
    return sizes


def _save_split(split: Split, path: Path, seed: int) -> str:
    import numpy as np

    from calibration.tables import replacing

    header = json.dumps({"version": 1, "strategy": split.strategy, "seed": seed})
    with replacing(path) as beside, open(beside, "wb") as handle:
        parts = {part: getattr(split, part) for part in split.PARTS}
        np.savez_compressed(handle, **parts, split_header=np.array(header))
    return str(path)
