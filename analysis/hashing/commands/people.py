"""`relstudy hash scores` and `audit`: codes, and the literature's ground truths, against people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from relstudy.analysis.hashing.commands.inputs import codes_in, refuse_over, say_conventions, vectors_in
from relstudy.analysis.hashing.options import CodeFormat, Drawn, LabelText
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import option
from relstudy.common.runtime.console import print_json, print_table

if TYPE_CHECKING:
    from relstudy.analysis.hashing.codes.packed import Codes


@dataclass(frozen=True, kw_only=True)
class ScoresOptions(CodeFormat):
    """Options of `relstudy hash scores`."""

    codes: str = option(..., "Codes of all judged items, or of the queries: .npy, or hexadecimal text.")
    ids: str = option(..., "Id of each code, one a line.")
    database: str | None = option(None, "Codes of the results, where they are not those of --codes.")
    database_ids: str | None = option(None, "Id of each code of --database, one a line.")
    judgments: str = option(..., "Judgments table.")
    system: str = option("hash", "Name of the system in the score table.")
    k: int | None = option(None, "Cut-off of the graded nDCG that is printed.", at_least=1)
    output: str = option(..., "Where to write the score table.", flags=("-o", "--out"), metavar="PATH")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.database is None) != (self.database_ids is None):
            raise click.UsageError("--database and --database-ids go together.")


@click.command("scores")
@taking(ScoresOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def scores_command(options: ScoresOptions, as_json: bool) -> None:
    """Write a hashing system's score table for `relstudy score`: minus the Hamming distance of each judged pair.

    \b
    Example:
      relstudy hash scores --codes codes.npy --ids ids.txt --judgments judgments.csv --system itq32 -o itq32.csv
      relstudy score itq32.csv --judgments judgments.csv
      relstudy hash scores --codes texts.npy --ids texts.txt --database pictures.npy --database-ids pictures.txt \\
          --judgments judgments.csv -o cross.csv
    """
    from relstudy.analysis.hashing.people.scores import graded_ndcg, hamming_scores
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.mapping.scores.score_files import write_scores

    system, k, output = options.system, options.k, options.output
    codes = (options.codes, options.ids, options.database, options.database_ids)
    refuse_over([output], [options.judgments, *codes])
    judged = read_judgments(options.judgments)
    items, notes = _named_codes(options.codes, options.ids, options)
    notes = [*judged.notes, *notes]
    results = None
    if options.database is not None and options.database_ids is not None:
        results, more = _named_codes(options.database, options.database_ids, options)
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


def _named_codes(file: str, ids: str, options: CodeFormat) -> tuple[tuple[Codes, list[str]], list[str]]:
    """Codes and their ids, and notes on what was assumed of the file."""
    from relstudy.analysis.hashing.truth.labels import read_ids
    from relstudy.common.runtime.errors import RelstudyError

    codes, notes = codes_in([file], options.form, options.code_bits)
    names = read_ids(ids)
    if len(names) != len(codes):
        raise RelstudyError(f"{ids} has {len(names)} ids for the {len(codes)} codes of {file}; one each is needed")
    return (codes, names), notes


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Drawn, LabelText):
    """Options of `relstudy hash audit`."""

    judgments: str = option(..., "Judgments table.")
    ids: str = option(..., "Id of each item, one a line.")
    vectors: str | None = option(None, "Vectors of the items (.npy): epsilon-ball, k-NN and plain distance.")
    labels: str | None = option(None, "Labels of the items: shared class or label.")
    neighbours: int = option(50, "R of the ball, k of k-NN.", at_least=1)
    threshold: float | None = option(None, "Relevant where judged above it.", shown="the cut of the scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vectors is None and self.labels is None:
            raise click.UsageError("Give --vectors, --labels or both.")


@click.command("audit")
@taking(AuditOptions)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def audit_command(options: AuditOptions, as_json: bool) -> None:
    """Compare the literature's ground truths with people: correlation, AUC, average precision.

    \b
    Example:
      relstudy hash audit --judgments judgments.csv --ids ids.txt --vectors x.npy --labels classes.txt
    """
    from relstudy.analysis.hashing.people.audit import audit_truths
    from relstudy.analysis.hashing.people.scores import DescribedItems
    from relstudy.analysis.hashing.truth.labels import read_ids, read_labels
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.common.runtime.errors import RelstudyError

    ids, vectors, labels = options.ids, options.vectors, options.labels
    names = read_ids(ids)
    points = None if vectors is None else vectors_in(vectors)
    of_labels: list[str] = []
    item_labels = None if labels is None else read_labels(labels, separator=options.separator, notes=of_labels)[0]
    for file, part in ((vectors, points), (labels, item_labels)):
        if part is not None and len(part) != len(names):
            raise RelstudyError(f"{ids} has {len(names)} ids for the {len(part)} items of {file}; one each is needed")
    result = audit_truths(
        read_judgments(options.judgments),
        DescribedItems(names, points, item_labels),
        neighbours=options.neighbours,
        threshold=options.threshold,
        seed=options.seed,
    )
    result = replace(result, notes=(*result.notes, *of_labels))
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
