"""Which scores are better: words for it, and what a person states."""

from __future__ import annotations

from collections.abc import Iterable

DIRECTIONS = ("auto", "higher", "lower")


def stated_directions(texts: Iterable[str]) -> dict[str, str]:
    """What `--direction` says: system ("*" for all) to higher, lower or auto.

    Raises
    ------
    click.BadParameter
        for anything else

    Examples
    --------
    >>> stated_directions(["lower", "bm25=higher"])
    {'*': 'lower', 'bm25': 'higher'}
    """
    import click

    directions: dict[str, str] = {}
    for text in texts:
        system, _, direction = text.rpartition("=")
        if direction not in DIRECTIONS:
            raise click.BadParameter(f"{text!r}: higher, lower or auto is allowed", param_hint="--direction")
        directions[system or "*"] = direction
    return directions
