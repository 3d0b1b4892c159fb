"""`relstudy hash data`: published data sets as .npy, from the files they are published in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import refuse_over
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, say

if TYPE_CHECKING:
    import numpy as np

NAMES = ("labelme", "cifar-10", "cifar-100", "nus-wide", "nus-wide-tags", "sift1m", "wiki", "vectors")


@dataclass(frozen=True, kw_only=True)
class DataOptions(CommandOptions):
    """Options of `relstudy hash data`."""

    unit_length: bool | None = option(
        None,
        "Scale each descriptor to length one.",
        flags=("--unit-length/--no-unit-length",),
        shown="for NUS-WIDE alone, as Moran 2016 does",
    )
    output: str = option(..., "Folder for the arrays.", flags=("-o", "--out"), metavar="PATH")


@click.command("data")
@click.argument("name", type=click.Choice(NAMES))
@click.argument("source")
@taking(DataOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def data_command(name: str, source: str, options: DataOptions, as_json: bool) -> None:
    """Read a published data set from the folder SOURCE, and write its arrays as .npy.

    Nothing is downloaded: the files in SOURCE bear the names they are published under. With `vectors`, SOURCE is one
    file of vectors of your own (.npy, .npz, .mat, .fvecs, .bvecs).

    \b
    Example:
      relstudy hash data cifar-100 cifar-100-binary/ -o cifar
      relstudy hash data nus-wide NUS-WIDE/ -o nus
      relstudy hash data vectors mine.fvecs --unit-length -o mine
    """
    from relstudy.analysis.hashing.datasets.dataset_arrays import TABLE_3_1
    from relstudy.analysis.hashing.datasets.readers import DESCRIPTORS, READERS, UNIT_LENGTH
    from relstudy.analysis.hashing.truth.relevance import save_truth

    if name == "vectors":
        refuse_over([str(Path(options.output) / "vectors.npy")], [source])
    data = READERS[name](source)
    scaled = name in UNIT_LENGTH if options.unit_length is None else options.unit_length
    written: list[dict[str, Any]] = []
    for stem, array in data.arrays.items():
        to_scale = scaled and stem in DESCRIPTORS and array.ndim == 2
        path = Path(options.output) / f"{stem}.npy"
        write_rows(array, path, to_scale)
        written.append({"file": str(path), "shape": list(array.shape), "unit_length": to_scale})
    if data.truth is not None:
        path = Path(options.output) / "truth.npz"
        save_truth(data.truth, path)
        written.append({"file": str(path), "queries": len(data.truth), "truth": data.truth.kind})
    statistics = data.statistics()
    printed = TABLE_3_1.get(name)
    as_printed = None if printed is None else dict(zip(statistics, printed, strict=True))
    if as_json:
        print_json({"name": name, "statistics": statistics, "table_3_1": as_printed, "files": written})
        return
    for file in written:
        what = f"{file['queries']} queries, {file['truth']}" if "queries" in file else _shape(file)
        say(f"{what}; wrote {file['file']}")
    rows = [[name, *map(_cell, statistics.values())]]
    if as_printed is not None:
        rows.append(["Moran 2016, table 3.1", *map(_cell, as_printed.values())])
    print_table(rows, ["data set", "images", "labels", "labels/image", "images/label", "descriptor"])
    click.echo("descriptors have length one" if any(f.get("unit_length") for f in written) else "descriptors as given")


def write_rows(array: np.ndarray, path: Path, unit: bool) -> None:
    """Write an array whole or not at all, block by block, its rows scaled to length one where asked."""
    import numpy as np

    from relstudy.analysis.hashing.datasets.dataset_arrays import unit_length
    from relstudy.common.runtime.files import replacing
    from relstudy.common.tables.formats.array_files import row_blocks

    kind = np.dtype(np.float32 if array.dtype == np.float32 else float) if unit else array.dtype
    with replacing(path) as beside, open(beside, "wb") as handle:
        shape = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(handle, shape)
        for _, block in row_blocks(array):
            handle.write(np.ascontiguousarray(unit_length(block) if unit else block, dtype=kind).tobytes())


def _shape(file: dict[str, Any]) -> str:
    return " x ".join(map(str, file["shape"]))


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if float(value).is_integer() else f"{value:,.2f}"
