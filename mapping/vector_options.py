"""The options of commands that take vectors for scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relstudy.common.command_options import option_under

if TYPE_CHECKING:
    from relstudy.mapping.scores.vectors import Similarity

Command = TypeVar("Command", bound=Callable[..., Any])


def vector_options(heading: str) -> Callable[[Command], Command]:
    """Give a command the options of how vectors score pairs, under a heading."""

    def decorate(command: Command) -> Command:
        command = option_under(
            heading,
            "--similarity",
            type=click.Choice(["cosine", "dot", "euclidean"]),
            default="cosine",
            show_default=True,
            help="How vectors are compared.",
        )(command)
        command = option_under(
            heading,
            "--query-vectors",
            type=click.Path(),
            help="Vectors (.npy) of the queries, where they are not results too.",
        )(command)
        return option_under(
            heading,
            "--ids",
            type=click.Path(),
            help="Ids of vectors (.npy), one a line; by default the .ids.txt beside them.",
        )(command)

    return decorate


def similarity_of(choices: Mapping[str, Any], scores: Sequence[str]) -> Similarity:
    """The way in which vectors score pairs, from these options; refused where no score file holds vectors."""
    from relstudy.mapping.scores.vectors import Similarity, are_vectors

    if (choices["ids"] or choices["query_vectors"]) and not any(map(are_vectors, scores)):
        raise click.UsageError("--ids and --query-vectors go with vectors (.npy), and none are given")
    return Similarity(choices["ids"], choices["query_vectors"], choices["similarity"])
