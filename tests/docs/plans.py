"""Plans that pages show, in seconds."""

from __future__ import annotations

from collections.abc import Sequence

OWN = ("--studies", "--power", "--correlations")
EASILY_TOLD = ("--correlations", "0.6,0.4", "--studies", "20", "--power", "0.4")
BY_DEFAULT = ("--studies", "20", "--power", "0.2")


def in_seconds(words: Sequence[str]) -> list[str]:
    """A command; one that plans does so of small studies and few, still of several sizes.

    A study's folder is planned for with the correlations that are taken where none are stated.
    """
    if list(words[:2]) != ["relstudy", "plan"]:
        return list(words)
    if list(words[2:]) == ["my-study"]:
        return [*words, *BY_DEFAULT]
    stated = [word for before, word in zip(["", *words], words, strict=False) if not {before, word} & {*OWN}]
    return [*stated, *EASILY_TOLD]
