"""`relstudy hash scores` and `audit`: codes, and the literature's ground truths, against people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import FORMATS, codes_in, say_conventions, vectors_in
from relstudy.common.command_options import Finite
from relstudy.common.console import print_json, print_table

if TYPE_CHECKING:
    from relstudy.analysis.hashing.codes.packed import Codes


@click.command("scores")
@click.option("--codes", required=True, help="Codes of all judged items, or of the queries: .npy, or hexadecimal text.")
@click.option("--ids", required=True, help="Id of each code, one a line.")
@click.option("--database", help="Codes of the results, where they are not those of --codes.")
@click.option("--database-ids", help="Id of each code of --database, one a line.")
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
    database: str | None,
    database_ids: str | None,
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
      relstudy hash scores --codes texts.npy --ids texts.txt --database pictures.npy --database-ids pictures.txt \\
          --judgments judgments.csv -o cross.csv
    """
    from relstudy.analysis.hashing.people.scores import graded_ndcg, hamming_scores
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.scores.table import write_scores

    if (database is None) != (database_ids is None):
        raise click.UsageError("--database and --database-ids go together.")
    judged = read_judgments(judgments)
    items, notes = _named_codes(codes, ids, form, bits)
    notes = [*judged.notes, *notes]
    results = None
    if database is not None and database_ids is not None:
        results, more = _named_codes(database, database_ids, form, bits)
        notes += more
    table = hamming_scores(judged.frame, *items, system, results=results)
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
        click.echo(f"{len(table)} of {len(judged)} judged pairs scored; wrote {output}")
        for note in notes:
            click.echo(note)
        scale = judged.scale
        click.echo(f"gain: judgment minus the lowest value of scale {scale.scale.name} ({scale.note}), at least 0")
        click.echo(f"weights: {weights}")
        click.echo(f"tie-aware graded nDCG{'' if k is None else f'@{k}'} of the judged results: {ndcg}")


def _named_codes(file: str, ids: str, form: Any, bits: int | None) -> tuple[tuple[Codes, list[str]], list[str]]:
    """Codes and their ids, and notes on what was assumed of the file."""
    from relstudy.analysis.hashing.truth.labels import read_ids
    from relstudy.common.errors import RelstudyError

    codes, notes = codes_in([file], form, bits)
    names = read_ids(ids)
    if len(names) != len(codes):
        raise RelstudyError(f"{ids} has {len(names)} ids for the {len(codes)} codes of {file}; one each is needed")
    return (codes, names), notes


@click.command("audit")
@click.option("--judgments", required=True, help="Judgments table.")
@click.option("--ids", required=True, help="Id of each item, one a line.")
@click.option("--vectors", help="Vectors of the items (.npy): epsilon-ball, k-NN and plain distance.")
@click.option("--labels", help="Labels of the items: shared class or label.")
@click.option(
    "--neighbours", type=click.IntRange(min=1), default=50, show_default=True, help="R of the ball, k of k-NN."
)
@click.option("--threshold", type=Finite(), help="Relevant where judged above it.  [default: the cut of the scale]")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of what is drawn at random.")
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
    """Compare the literature's ground truths with people: correlation, AUC, average precision.

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
    click.echo(result.sentence())
    for note in result.notes:
        click.echo(note)
    rules = result.as_json()["conventions"]
    say_conventions({name: rules[name] for name in ("relevant", "weights", "neighbours")})
