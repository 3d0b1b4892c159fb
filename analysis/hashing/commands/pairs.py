"""Query codes, database codes and what is relevant, as several commands take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.hashing.commands.inputs import FORMATS, codes_in

if TYPE_CHECKING:
    from relstudy.analysis.hashing.codes.packed import Codes
    from relstudy.analysis.hashing.truth.labels import Separator
    from relstudy.analysis.hashing.truth.relevance import Truth

SEPARATORS = click.Choice(["auto", "space", "comma", "line"])


def truth_options(command: Callable[..., None]) -> Callable[..., None]:
    """--query-labels, --database-labels, --truth and --label-separator."""
    for option in (
        click.option("--label-separator", "separator", type=SEPARATORS, default="auto", help="Between labels in text."),
        click.option("--truth", "truth_file", help="Relevance lists made by `relstudy hash truth`, instead of labels."),
        click.option("--database-labels", help="Labels of the database."),
        click.option("--query-labels", help="Labels of the queries: .npy, or text with one item per line."),
    ):
        command = option(command)
    return command


def code_options(command: Callable[..., None]) -> Callable[..., None]:
    """--queries, --database, --format and --bits of codes."""
    for option in (
        click.option("--code-bits", type=click.IntRange(min=1), help="Code length, where the last byte is not full."),
        click.option("--format", "form", type=FORMATS, default="auto", help="What the code files hold."),
        click.option("--database", required=True, help="Database codes."),
        click.option("--queries", required=True, help="Query codes: .npy, or text of hexadecimal codes."),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class TruthFiles:
    """Where the truth of a command comes from; None is what was not given."""

    query_labels: str | None
    database_labels: str | None
    truth_file: str | None
    separator: Separator

    def read(self) -> tuple[Truth, list[str]]:
        """The truth, and notes on what was assumed of its files."""
        from relstudy.analysis.hashing.truth.labels import read_labels
        from relstudy.analysis.hashing.truth.relevance import LabelTruth, load_truth

        labels = [file for file in (self.query_labels, self.database_labels) if file is not None]
        if (self.truth_file is None) != (len(labels) == 2) or (self.truth_file is not None and labels):
            raise click.UsageError("Give --query-labels and --database-labels, or --truth.")
        if self.truth_file is not None:
            return load_truth(self.truth_file), []
        notes: list[str] = []
        queries, database = read_labels(*labels, separator=self.separator, notes=notes)
        return LabelTruth.by(queries, database), notes


def code_pair(queries: str, database: str, form: Any, bits: int | None) -> tuple[Codes, Codes, list[str]]:
    """Query and database codes, and notes on what was assumed of their files."""
    (first, notes), (second, more) = codes_in([queries], form, bits), codes_in([database], form, bits)
    return first, second, [*notes, *more]
