"""Inputs and output that the commands of `relstudy hash` share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.runtime.console import print_table
from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    import numpy as np

    from relstudy.analysis.hashing.codes.packed import Codes
    from relstudy.analysis.hashing.metrics.conventions import Conventions
    from relstudy.analysis.hashing.options import Format, Separator


WIDTH = 118
"""Columns of a line of conventions."""


def vectors_in(file: str) -> np.ndarray:
    """Vectors of a .npy file, shape (items, D), none empty and every number finite."""
    import numpy as np

    from relstudy.common.tables.formats.array_files import load_array, row_blocks

    array = load_array(file)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiu":
        raise RelstudyError(
            f"{file}: vectors need numbers in the shape (items, D), this array is {array.dtype} {array.shape}"
        )
    for start, block in row_blocks(array):
        wrong = np.argwhere(~np.isfinite(block))
        if len(wrong):
            row, column = wrong[0]
            raise RelstudyError(
                f"{file}, row {start + row}, column {column} (counted from 0): every number must be finite"
            )
    return array


def codes_in(files: Sequence[str], form: Format = "auto", bits: int | None = None) -> tuple[Codes, list[str]]:
    """The codes of several files together, and notes on what was assumed of them."""
    import numpy as np

    from relstudy.analysis.hashing.codes.code_files import CodeFile
    from relstudy.analysis.hashing.codes.packed import Codes

    looked_at = [CodeFile.of(file, form, bits) for file in files]
    for file in looked_at:
        if file.bits != looked_at[0].bits:
            raise RelstudyError(
                f"{looked_at[0].path} has codes of {looked_at[0].bits} bits and {file.path} of "
                f"{file.bits}; they must be equal"
            )
    columns = np.concatenate([file.read().columns for file in looked_at], axis=1)
    return Codes(columns, looked_at[0].bits), [note for file in looked_at for note in file.notes]


def classes_in(file: str, separator: Separator, notes: list[str]) -> np.ndarray:
    """One class for each item of a label file; what was assumed of it is appended to the notes."""
    from relstudy.analysis.hashing.truth.labels import read_labels

    classes = read_labels(file, separator=separator, notes=notes)[0].classes
    if classes is None:
        raise RelstudyError(f"{file}: one class for each item is needed here, not several labels")
    return classes


def label_array_in(file: str, separator: Separator, notes: list[str]) -> np.ndarray:
    """Labels of a file: a class for each item (items,), or bool (items, labels) where items may have several; what was
    assumed of it is appended to the notes."""
    from relstudy.analysis.hashing.truth.labels import read_labels

    return read_labels(file, separator=separator, notes=notes)[0].as_array()


def refuse_over(written: Iterable[str | None], read: Iterable[str | None]) -> None:
    """Refuse to write over a file that is read, as FILE.npz:NAME too, or twice to one; None is not a file."""
    import os

    from relstudy.common.runtime.files import refuse_over_inputs
    from relstudy.common.tables.formats.file_kind import file_part

    targets = [path for path in written if path is not None]
    refuse_over_inputs(targets, [file_part(path) for path in read if path is not None])
    places = [os.path.realpath(path) for path in targets]
    for number, path in enumerate(targets):
        if places[number] in places[:number]:
            raise RelstudyError(f"{path}: this is named for two outputs; each needs its own file")


def write_array(target: str, array: np.ndarray) -> None:
    """Write an array as .npy, whole or not at all."""
    import numpy as np

    from relstudy.common.runtime.files import replacing

    with replacing(target) as beside, open(beside, "wb") as handle:
        np.save(handle, array, allow_pickle=False)


def preset_named(name: str) -> Conventions:
    """The conventions of that name."""
    from relstudy.analysis.hashing.metrics.conventions import PRESETS

    if name not in PRESETS:
        raise click.UsageError(f"--preset must be one of {', '.join(PRESETS)}.")
    return PRESETS[name]


def cell(value: float | int | None) -> str:
    """A figure in a printed table."""
    if value is None:
        return "–"
    if not isinstance(value, int):
        # Four decimals show nothing of a figure such as RAMAP of long codes.
        return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.4f}"
    return str(value) if value < 10**12 else f"{Decimal(value):.3e}"


def print_over_ties(figures: Mapping[str, Mapping[str, float | None]]) -> None:
    """Print figures by name, each under the worst, the mean and the best order of ties."""
    ties = ("pessimistic", "expected", "optimistic")
    print_table(
        [[name, *(cell(figure[tie]) for tie in ties)] for name, figure in figures.items()], ["over ties", *ties]
    )


def say_conventions(conventions: dict[str, Any]) -> None:
    """Print the rules behind the figures beneath them, a rule never broken across lines."""
    lines = ["conventions:"]
    for name, value in conventions.items():
        rule = f" {name} = {value};"
        if len(lines[-1]) + len(rule) > WIDTH:
            lines.append(" ")
        lines[-1] += rule
    click.echo()
    click.echo("\n".join(lines).removesuffix(";"))
