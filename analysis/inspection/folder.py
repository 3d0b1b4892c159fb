"""A folder: a study, pictures and texts that a study can be made of, or tables."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

from relstudy.analysis.inspection.finding import Inspection
from relstudy.common.packed import unpacked_name
from relstudy.common.wording import count_of, listed, listed_some

KINDS = {
    "picture": (".jpg", ".jpeg", ".png", ".gif", ".webp", ".tif", ".tiff", ".bmp"),
    "text": (".txt", ".md"),
    "table": (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", ".run", ".trec", ".qrels"),
    "array": (".npy", ".npz", ".mat", ".fvecs", ".ivecs", ".bvecs"),
}
"""Endings of the names of files, by what these hold."""
TABLES = ("collection.csv", "pairs.csv", "ratings.csv", "judgments.csv")
MOST_FILES = 200_000


def inspect_folder(folder: str) -> Inspection:
    """The contents of a folder and those below, by the files' names, and the command that goes on with it."""
    root = Path(folder)
    files = [path for path in sorted(root.rglob("*"))[:MOST_FILES] if path.is_file() and not path.name.startswith(".")]
    if (root / "study.toml").is_file():
        there = [
            name for name in ("collection.csv", "pairs.csv", "ratings.csv", "judgments.csv") if (root / name).is_file()
        ]
        sentence = (
            f"a study of relstudy, with {listed(there)}" if there else "a study of relstudy, without a collection"
        )
        return Inspection(folder, "study", sentence, command=f"relstudy status {shlex.quote(folder)}")
    by_kind: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    for path in files:
        ending = Path(unpacked_name(path)).suffix.lower()
        kind = next((kind for kind, endings in KINDS.items() if ending in endings), None)
        if kind is not None:
            by_kind[kind].append(path)
    counted = Counter({kind: len(paths) for kind, paths in by_kind.items() if paths})
    if not counted:
        return Inspection(folder, "folder", f"a folder of {count_of(len(files), 'file')}, none of which relstudy reads")
    sentence = f"a folder of {listed([count_of(number, kind) for kind, number in counted.items()])}"
    tables = [str(path) for path in (*by_kind["table"], *by_kind["array"])]
    notes = (f"relstudy inspect FILE says what each table is: {listed_some(tables)}",) if tables else ()
    if by_kind["picture"] or (by_kind["text"] and not tables):
        return Inspection(
            folder,
            "collection",
            f"{sentence}, of which a study can be made",
            notes=notes,
            uses=("a study in which people rate them",),
            command=f"relstudy new my-study --from {shlex.quote(folder)}",
        )
    return Inspection(
        folder,
        "folder",
        sentence,
        notes=notes,
        command=f"relstudy inspect {shlex.quote(tables[0])}" if tables else None,
    )
