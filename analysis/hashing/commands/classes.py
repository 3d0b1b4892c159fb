"""`relstudy hash classes` and `hash pictures`: how classes lie among the codes, and what a query finds, to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from relstudy.analysis.hashing.commands.inputs import codes_in, refuse_over
from relstudy.analysis.hashing.commands.pairs import code_pair, files_of, truth_in
from relstudy.analysis.hashing.options import CodeFiles, CodeFormat, LabelText, TruthFiles
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, say
from relstudy.common.runtime.errors import RelstudyError


@dataclass(frozen=True, kw_only=True)
class ClassesOptions(CodeFormat, LabelText):
    """Options of `relstudy hash classes`."""

    labels: str = option(..., "One class for each code: .npy, or text with one item per line.")
    figure: str | None = option(None, "Write the distances of each class as SVG.")


@click.command("classes")
@click.argument("codes", nargs=-1, required=True)
@taking(ClassesOptions)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def classes_command(codes: tuple[str, ...], options: ClassesOptions, as_json: bool) -> None:
    """Measure distances of codes within a class and to other classes (Ding, Li and Li 2018, Eq. 7 and 8).

    \b
    Example:
      relstudy hash classes db_codes.npy --labels y.npy --figure classes.svg
    """
    from relstudy.analysis.hashing.metrics.class_distances import class_distances, class_distances_figure
    from relstudy.analysis.hashing.metrics.lgap import UniqueCodes
    from relstudy.analysis.hashing.truth.labels import read_labels
    from relstudy.common.runtime.files import write_text

    labels, figure = options.labels, options.figure
    refuse_over([figure], [*codes, labels])
    read, notes = codes_in(codes, options.form, options.code_bits)
    distances = class_distances(read, read_labels(labels, separator=options.separator, notes=notes)[0])
    used = len(UniqueCodes.of(read).multiplicity)
    if figure is not None:
        write_text(class_distances_figure(distances, read.bits, alone=True), figure)
        say(f"wrote {figure}")
    apart = sum(each.apart for each in distances)
    classes = [each.as_json() for each in distances]
    if as_json:
        print_json({"classes": classes, "bits": read.bits, "codes_in_use": used, "apart": apart, "notes": notes})
        return
    header = ["class", "points", "codes", "h_s", "h_d", "h_s < h_d", "points with AP 1"]
    print_table([_row(each) for each in classes], header)
    click.echo(
        f"h_s: farthest of the same class; h_d: nearest of another. {apart} of {len(distances)} classes have "
        f"h_s < h_d; where all have, mAP is 1. In use: {used} of 2^{read.bits} codes ({used / 2**read.bits:.3g})"
    )
    for note in notes:
        click.echo(note)


def _row(each: dict[str, Any]) -> list[str]:
    nearest = "–" if each["nearest"] is None else str(each["nearest"])
    sizes = [str(each[name]) for name in ("points", "codes", "diameter")]
    return [each["name"], *sizes, nearest, "yes" if each["apart"] else "no", f"{each['perfect']:.3f}"]


@dataclass(frozen=True, kw_only=True)
class PicturesOptions(CommandOptions):
    """Options of `relstudy hash pictures` beside the codes and the truth."""

    row: int = option(..., "Number of the query, from 0.", flags=("--query",), at_least=0)
    query_pictures: str = option(..., "The queries' pictures: a folder, or .npy (n, height, width, 3).")
    database_pictures: str = option(..., "The database's pictures, likewise.")
    within: tuple[int, ...] = option((), "Hamming distances, rising; repeat.", at_least=0, shown="1, 2")
    most: int = option(10, "Pictures in a row.", at_least=1, at_most=40)
    output: str = option(..., "Where to write the picture (.svg).", flags=("-o", "--out"), metavar="PATH")


@click.command("pictures")
@taking(CodeFiles, "files")
@taking(TruthFiles, "truth_files")
@taking(PicturesOptions)
def pictures_command(files: CodeFiles, truth_files: TruthFiles, options: PicturesOptions) -> None:
    """Draw the true positives of one query by their distance from it (Ding, Li and Li 2018, figure 7).

    Where a row holds fewer than there are, they are evenly spaced by distance.

    \b
    Example:
      relstudy hash pictures --queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy \\
          --query-pictures test/ --database-pictures train/ --query 7 -o query-7.svg
    """
    import numpy as np

    from relstudy.analysis.hashing.commands.encode import items_in
    from relstudy.analysis.hashing.metrics.hit_pictures import hit_pictures, rings, shown_of
    from relstudy.analysis.hashing.truth.relevance import check_sizes
    from relstudy.common.runtime.files import write_text

    row, most, output = options.row, options.most, options.output
    refuse_over([output], [*files_of(files, truth_files), options.query_pictures, options.database_pictures])
    truth, notes = truth_in(truth_files)
    query_codes, codes, more = code_pair(files)
    check_sizes(truth, len(query_codes), len(codes))
    pictures = []
    for source, number in (
        (options.query_pictures, len(query_codes)),
        (options.database_pictures, len(codes)),
    ):
        items = items_in(source)
        if items.ndim != 4 or len(items) != number:
            raise RelstudyError(f"{source}: {number} pictures are needed, one for each code; it has {items.shape}")
        pictures.append(items)
    if row >= len(query_codes):
        raise RelstudyError(f"--query {row}: there are {len(query_codes)} queries, counted from 0")
    distances = options.within or tuple(sorted({min(1, codes.bits), min(2, codes.bits)}))
    if list(distances) != sorted(set(distances)) or distances[-1] > codes.bits:
        raise RelstudyError(f"--within must rise, up to the code length {codes.bits}")
    around = rings(query_codes, row, codes, truth, distances)
    write_text(hit_pictures(np.asarray(pictures[0][row]), pictures[1], around, most, alone=True), output)
    rows = [[ring.name, str(ring.codes), str(len(ring.hits)), str(len(shown_of(ring, most)))] for ring in around]
    print_table(rows, ["around the query", "codes", "true positives", "shown"])
    for note in [*notes, *more]:
        click.echo(note)
    say(f"wrote {output}")
