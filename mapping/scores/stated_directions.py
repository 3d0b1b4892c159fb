"""Direction of better scores: its words, and what the user states."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, get_args

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError

Direction = Literal["auto", "higher", "lower"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


def refuse_unknown_systems(stated: Iterable[str], systems: Collection[str], file: str) -> None:
    """Refuse a direction that is stated for a system ("*" is all) which is not there.

    Parameters
    ----------
    file : what messages call the scores
    """
    unknown = sorted(set(stated) - set(systems) - {"*"})
    if unknown:
        raise RelstudyError(
            f"{option('direction')}: there is no system named {unknown[0]!r} in {file}; there are: {', '.join(systems)}"
        )


def stated_directions(texts: Iterable[str]) -> dict[str, str]:
    """Values of `--direction`: system ("*" for all) to higher, lower or auto.

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


def directions_of(stated: Any) -> dict[str, Any]:
    """System ("*" for all) -> direction, from what was stated: one for all, one by system, or texts of `--direction`.

    Examples
    --------
    >>> directions_of("lower"), directions_of({"bm25": "higher"}), directions_of(("bm25=higher",))
    ({'*': 'lower'}, {'bm25': 'higher'}, {'bm25': 'higher'})
    """
    if isinstance(stated, str):
        return {"*": stated}
    return dict(stated) if isinstance(stated, Mapping) else stated_directions(stated)
