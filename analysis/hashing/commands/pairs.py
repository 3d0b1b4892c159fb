"""Query codes, database codes and what is relevant, read from the files that several commands take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from relstudy.analysis.hashing.commands.inputs import codes_in
from relstudy.analysis.hashing.options import CodeFiles, TruthFiles

if TYPE_CHECKING:
    from relstudy.analysis.hashing.codes.packed import Codes
    from relstudy.analysis.hashing.truth.relevance import Truth


def files_of(codes: CodeFiles, truth: TruthFiles) -> list[str | None]:
    """The files that are read of these; None for one that is not named."""
    return [codes.queries, codes.database, truth.query_labels, truth.database_labels, truth.truth_file]


def truth_in(files: TruthFiles) -> tuple[Truth, list[str]]:
    """The truth, and notes on what was assumed of its files."""
    from relstudy.analysis.hashing.truth.labels import read_labels
    from relstudy.analysis.hashing.truth.relevance import LabelTruth, load_truth

    labels = [file for file in (files.query_labels, files.database_labels) if file is not None]
    if (files.truth_file is None) != (len(labels) == 2) or (files.truth_file is not None and labels):
        raise click.UsageError("Give --query-labels and --database-labels, or --truth.")
    if files.truth_file is not None:
        return load_truth(files.truth_file), []
    notes: list[str] = []
    queries, database = read_labels(*labels, separator=files.separator, notes=notes)
    return LabelTruth.by(queries, database), notes


def code_pair(files: CodeFiles) -> tuple[Codes, Codes, list[str]]:
    """Query and database codes, and notes on what was assumed of their files."""
    (first, notes), (second, more) = (
        codes_in([file], files.form, files.code_bits) for file in (files.queries, files.database)
    )
    return first, second, [*notes, *more]
