"""`relstudy hash scores` and `audit`: codes, and the literature's ground truths, against people."""

from __future__ import annotations

from typing import Any

import click

from relstudy.analysis.hashing.commands.inputs import FORMATS, codes_in, vectors_in
from relstudy.common.console import print_json, print_table, say


@click.command("scores")
@click.option("--codes", required=True, help="Codes of all judged items: .npy, or text of hexadecimal codes.")
@click.option("--ids", required=True, help="Id of each code, one a line.")
@click.option("--judgments", required=True, help="Judgments table.")
@click.option("--format", "form", type=FORMATS, default="auto", help="What the code file holds.")
@click.option("--bits", type=click.IntRange(min=1), help="Code length, where the last byte is not full.")
@click.option("--system", default="hash", show_default=True, help="Name of the system in the score table.")
@click.option("--k", type=click.IntRange(min=1), help="Cut-off of the graded nDCG that is printed.")
@click.option("-o", "--output", required=True, help="Where to write the score table.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def scores_command(
    codes: str,
    ids: str,
    judgments: str,
    form: Any,
    bits: int | None,
    system: str,
    k: int | None,
    output: str,
    as_json: bool,
) -> None:
    """Write a hashing system's score table for `relstudy score`: minus the Hamming distance of each judged pair.

    \b
    Example:
      relstudy hash scores --codes codes.npy --ids ids.txt --judgments judgments.csv --system itq32 -o itq32.csv
      relstudy score itq32.csv --judgments judgments.csv
    """
    from relstudy.analysis.hashing.people.scores import graded_ndcg, hamming_scores
    from relstudy.analysis.hashing.truth.labels import read_ids
    from relstudy.calibration.judgments import read_judgments
    from relstudy.common.errors import RelstudyError
    from relstudy.mapping.scores.table import write_scores

    judged = read_judgments(judgments)
    item_codes, notes = codes_in([codes], form, bits)
    names = read_ids(ids)
    if len(names) != len(item_codes):
        raise RelstudyError(
            f"{ids} has {len(names)} ids for the {len(item_codes)} codes of {codes}; one each is needed"
        )
    table = hamming_scores(judged.frame, item_codes, names, system)
    write_scores(table.assign(direction="higher"), output)
    ndcg = graded_ndcg(judged, table, k=k)
    weights = judged.probability_note() or "each pair weighs 1 / its inclusion probability"
    if as_json:
        print_json(
            {
                "scores": output,
                "system": system,
                "pairs": len(table),
                "judged": len(judged),
                "ndcg": ndcg.as_json(),
                "notes": notes,
                "conventions": {
                    "k": k,
                    "gain": "judgment minus the lowest value of the scale, at least 0",
                    "scale": judged.scale.as_json(),
                    "ties": "expected over every order",
                    "weights": weights,
                },
            }
        )
    else:
        say(f"{len(table)} of {len(judged)} judged pairs scored; wrote {output}")
        for note in notes:
            click.echo(note)
        scale = judged.scale
        click.echo(f"gain: judgment minus the lowest value of scale {scale.scale.name} ({scale.note}), at least 0")
        click.echo(f"weights: {weights}")
        click.echo(f"tie-aware graded nDCG{'' if k is None else f'@{k}'} of the judged results: {ndcg}")


@click.command("audit")
@click.option("--judgments", required=True, help="Judgments table.")
@click.option("--ids", required=True, help="Id of each item, one a line.")
@click.option("--vectors", help="Vectors of the items (.npy): epsilon-ball, k-NN and plain distance.")
@click.option("--labels", help="Labels of the items: shared class or label.")
@click.option(
    "--neighbours", type=click.IntRange(min=1), default=50, show_default=True, help="R of the ball, k of k-NN."
)
@click.option("--threshold", type=float, help="Relevant where judged above it.  [default: the middle of the scale]")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def audit_command(
    judgments: str,
    ids: str,
    vectors: str | None,
    labels: str | None,
    neighbours: int,
    threshold: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """How well the literature's ground truths agree with people: correlation, AUC, average precision.

    \b
    Example:
      relstudy hash audit --judgments judgments.csv --ids ids.txt --vectors x.npy --labels classes.txt
    """
    if vectors is None and labels is None:
        raise click.UsageError("Give --vectors, --labels or both.")
    from relstudy.analysis.hashing.people.audit import audit_truths
    from relstudy.analysis.hashing.people.scores import DescribedItems
    from relstudy.analysis.hashing.truth.labels import read_ids, read_labels
    from relstudy.calibration.judgments import read_judgments
    from relstudy.common.errors import RelstudyError

    names = read_ids(ids)
    points = None if vectors is None else vectors_in(vectors)
    item_labels = None if labels is None else read_labels(labels)[0]
    for file, part in ((vectors, points), (labels, item_labels)):
        if part is not None and len(part) != len(names):
            raise RelstudyError(f"{ids} has {len(names)} ids for the {len(part)} items of {file}; one each is needed")
    result = audit_truths(
        read_judgments(judgments),
        DescribedItems(names, points, item_labels),
        neighbours=neighbours,
        threshold=threshold,
        seed=seed,
    )
    if as_json:
        print_json(result.as_json())
        return
    header = ["ground truth", "Pearson", "AUC", "average precision", "mean AUC within queries", "called relevant"]
    print_table([[each.name, *map(str, each.figures)] for each in result.truths], header)
    say(result.sentence())
