"""`relstudy hash search`: an encoder's settings by the validation part of each split, its figures by the test part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from relstudy.analysis.hashing.commands.compare import print_splits
from relstudy.analysis.hashing.commands.inputs import label_array_in, refuse_over, vectors_in
from relstudy.analysis.hashing.options import Drawn, LabelText
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import option
from relstudy.common.runtime.console import print_json, print_table, progress
from relstudy.common.runtime.errors import RelstudyError


def _values(texts: tuple[str, ...]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for text in texts:
        name, sign, listed = text.partition("=")
        if not sign or not listed.strip():
            raise RelstudyError(f"NAME=V,V,... is needed, such as anchors=50,100, not {text!r}")
        if name.strip() in values:
            raise RelstudyError(f"{name.strip()}=... is given twice; list its values after one")
        values[name.strip()] = [value.strip() for value in listed.split(",")]
    return values


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Drawn, LabelText):
    """Options of `relstudy hash search`."""

    vectors: str = option(..., "Vectors of all items (.npy).")
    labels: str = option(..., "Their labels: items that share one are relevant to each other.")
    splits: str = option(..., "Folder with the splits of `relstudy hash split`.")
    bits: int = option(..., "Code length.", at_least=1)
    tried: Mapping[str, Sequence[str]] = option(
        dict, "A setting and the values to try; repeat.", flags=("--try",), metavar="NAME=V,V,...", read=_values
    )
    output: str | None = option(
        None, "Folder for the count tables ENCODER_SPLIT.npz of the test parts.", flags=("-o", "--out"), metavar="PATH"
    )


@click.command("search")
@click.argument("encoder")
@taking(SearchOptions)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def search_command(encoder: str, options: SearchOptions, as_json: bool) -> None:
    """Take an encoder's settings on the validation part of each split, and print its figures on the test part.

    Moran's (2016) protocol: in each split every setting learns from the training part; the one with the best mAP of
    validation queries against the validation database is taken, and test queries against the test database give the
    figures.

    \b
    Example:
      relstudy hash split --labels y.npy --times 10 -o splits --size test_queries=200 --size test_database=900 \\
          --size validation_queries=50 --size validation_database=150
      relstudy hash search ksh --bits 16 --vectors x.npy --labels y.npy --splits splits --try anchors=50,100,200
    """
    from relstudy.analysis.hashing.encoders import ENCODERS
    from relstudy.analysis.hashing.metrics.comparison import compare_splits
    from relstudy.analysis.hashing.metrics.validation import as_json as searched_json
    from relstudy.analysis.hashing.metrics.validation import grid_of, said, search
    from relstudy.analysis.hashing.truth.splits import read_splits

    if encoder not in ENCODERS:
        raise click.UsageError(f"ENCODER must be one of {', '.join(ENCODERS)}.")
    kind = ENCODERS[encoder]
    grid = grid_of(kind, options.tried)
    notes: list[str] = []
    labels = label_array_in(options.labels, options.separator, notes)
    items, bits = vectors_in(options.vectors), options.bits
    if len(items) != len(labels):
        said_of = f"{options.labels} has labels of {len(labels)} items and {options.vectors}"
        raise RelstudyError(f"{said_of} has {len(items)} vectors")
    parts = read_splits(Path(options.splits), len(items))
    names, folder = list(parts), options.output
    tables = [] if folder is None else [str(Path(folder) / f"{encoder}_{split}.npz") for split in names]
    refuse_over(tables, [options.labels, options.vectors])
    found = search(
        lambda setting: kind(bits, options.seed, **setting),
        grid,
        items,
        labels,
        progress(parts.values(), "splits", len(parts)),
    )
    for file, searched in zip(tables, found, strict=False):  # without a folder, there are no files
        searched.table.save(file)
    result = compare_splits({split: {encoder: searched.table} for split, searched in zip(names, found, strict=True)})
    if as_json:
        print_json({"encoder": encoder, "bits": bits, "settings": searched_json(found, grid), **result, "notes": notes})
        return
    print_splits(result)
    click.echo()
    taken = Counter(said(each.taken) for each in found)
    means = [sum(each.validation[i] for each in found) / len(found) for i in range(len(grid))]
    rows = [
        [said(setting), f"{mean:.4f}", str(taken[said(setting)])] for setting, mean in zip(grid, means, strict=True)
    ]
    print_table(rows, ["setting", "mAP on validation, mean", "splits that took it"])
    for note in notes:
        click.echo(note)
