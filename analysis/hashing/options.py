"""Choices that commands of `relstudy hash` and functions of `rs.hashing` share, and the words that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relstudy.common.options.declaration import CommandOptions, option

Format = Literal["auto", "bits", "packed", "hex"]
"""Forms of a file or array of codes that can be stated."""
Separator = Literal["auto", "space", "comma", "line"]
"""Between labels in text."""
Engine = Literal["auto", "numba", "numpy"]
"""Programs that count."""
Searcher = Literal["numpy", "faiss"]
"""Programs that look codes up."""
Denominator = Literal["relevant", "min(K, relevant)", "hits", "first K relevant"]
"""Of average precision at k."""
LeftOut = Literal["skip", "zero"]
NoRelevant = Literal["skip", "zero", "skip-unlabelled"]
AreaRule = Literal["sum", "trapezoid", "literal", "matlab", "matlab-1"]
Gain = Literal["exponential", "linear"]
Empty = Literal["skip", "zero", "one"]


@dataclass(frozen=True, kw_only=True)
class CodeFormat(CommandOptions):
    """Reading of files of codes."""

    form: Format = option("auto", "Format of the code files.", flags=("--format",))
    code_bits: int | None = option(None, "Code length, where the last byte of packed codes is not full.", at_least=1)


@dataclass(frozen=True, kw_only=True)
class CodeFiles(CodeFormat):
    """Files of query codes and of database codes."""

    queries: str = option(..., "Query codes: .npy, or text of hexadecimal codes.")
    database: str = option(..., "Database codes.")


@dataclass(frozen=True, kw_only=True)
class LabelText(CommandOptions):
    """Reading of labels in text."""

    separator: Separator = option(
        "auto", "Between labels in text; line takes a line for one label.", flags=("--label-separator",)
    )


@dataclass(frozen=True, kw_only=True)
class TruthFiles(LabelText):
    """Where it stands which codes are relevant to which query."""

    query_labels: str | None = option(None, "Labels of the queries: .npy, or text with one item per line.")
    database_labels: str | None = option(None, "Labels of the database.")
    truth_file: str | None = option(
        None, "Relevance lists made by `relstudy hash truth`, instead of labels.", flags=("--truth",)
    )


@dataclass(frozen=True, kw_only=True)
class Drawn(CommandOptions):
    """Of a command that draws something at random."""

    seed: int = option(0, "Seed of what is drawn at random.", at_least=0, any_size=True)
