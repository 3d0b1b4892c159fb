"""Files of codes, labels and vectors as `relstudy inspect` describes them."""

from __future__ import annotations

import numpy as np

from relstudy.analysis.hashing.codes.code_files import CodeFile
from relstudy.analysis.inspection.column_roles import SCORE_USES
from relstudy.analysis.inspection.finding import Inspection
from relstudy.common.runtime.wording import count_of, quoted
from relstudy.common.tables.formats.array_files import load_array, text_lines

CODE_USES = ("Hamming metrics", "a score table for judged pairs")


def inspect_label_columns(file: str) -> Inspection:
    """A list of items, each with a mark for every label that it may have."""
    shown, count = quoted(file), len(text_lines(file)[0].split()) - 1
    return Inspection(
        file,
        "labels",
        f"a list of items with {count_of(count, 'label')} each, as 0 and 1 or -1 and 1",
        uses=("a ground truth for hash codes",),
        draft=f"relstudy hash count --queries CODES --database CODES --query-labels {shown} --database-labels "
        f"{shown} -o counts.npz",
    )


def inspect_codes(file: str) -> Inspection:
    """Codes in text or in an array."""
    codes = CodeFile.of(file)
    shown = quoted(file)
    return Inspection(
        file,
        "codes",
        f"{count_of(codes.codes, 'code')} of {codes.bits} bits, written as {codes.form}",
        notes=codes.notes,
        uses=CODE_USES,
        command=f"relstudy hash count --queries {shown} --database {shown} --query-labels LABELS "
        "--database-labels LABELS -o counts.npz",
    )


def inspect_array(file: str) -> Inspection:
    """An array: vectors, labels or codes."""
    array: np.ndarray = load_array(file)
    if array.ndim == 2 and array.dtype.kind == "f" and not np.isin(array[:100], (-1, 0, 1)).all():
        sentence = f"{count_of(len(array), 'vector')} of {count_of(array.shape[1], 'number')}"
        command = f"relstudy score {quoted(file)} -j judgments.csv --ids IDS"
        note = f"where they are codes before their signs were taken: numpy.save('codes.npy', numpy.load({file!r}) > 0)"
        return Inspection(file, "vectors", sentence, notes=(note,), uses=(*SCORE_USES, *CODE_USES[:1]), command=command)
    if array.ndim == 1:
        different = len(np.unique(array))
        sentence = f"{count_of(len(array), 'label')}, {count_of(different, 'different one')}"
        return Inspection(file, "labels", sentence, uses=("a ground truth",))
    return inspect_codes(file)
