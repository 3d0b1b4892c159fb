"""Notes on single figures of a system, from the figures themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from relstudy.analysis.indices.known import index_of
from relstudy.analysis.scoring.results import SystemScore
from relstudy.common.wording import listed, listed_some

NO_INTERVAL = "no interval: "


def notes_on_figures(systems: Sequence[SystemScore], said: Sequence[str] = ()) -> list[str]:
    """Notes on figures that are missing or stand on another rule than the others, one sentence each.

    Parameters
    ----------
    said : notes there are already; a reason that stands in one of them is not said again
    """
    tied = [_tied(system) for system in systems]
    return [*_missing(systems, said), *(note for note in tied if note is not None)]


def explained_in_words(system: SystemScore) -> str:
    """The shares explained and of what is reachable in words, or the reason why the second is left out."""
    of_reachable = system.explained.of_reachable
    if of_reachable.value is None:
        return f"the squared correlation; its share of what is reachable is left out: {of_reachable.reason}"
    return (
        "the squared correlation; reachable is one minus the judgments' mean squared standard error over their "
        "variance, of the same pairs with the same weights; of reachable is the first over the second"
    )


def _missing(systems: Iterable[SystemScore], said: Sequence[str]) -> Iterator[str]:
    """Figures without a value or an interval, by reason."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for system in systems:
        for name, figure in system.indices.items():
            if figure.reason is not None and not any(figure.reason.removeprefix(NO_INTERVAL) in note for note in said):
                by_reason.setdefault(figure.reason, {}).setdefault(index_of(name).term, []).append(system.name)
    for reason, figures in by_reason.items():
        what = "without an interval" if reason.startswith(NO_INTERVAL) else "left empty"
        where = "; ".join(f"{name} of {listed_some(names)}" for name, names in figures.items())
        yield f"Some figures are {what}, since {reason.removeprefix(NO_INTERVAL)}: {where}."


def _tied(system: SystemScore) -> str | None:
    """At which shares precision and recall stay at a score, since many scores are equal; None where at none."""
    tied = [point for point in system.points if point.tied]
    if not tied:
        return None
    shares = [f"{100 * point.share:g} %" for point in tied]
    if len(shares) > 4:
        shares = [f"{len(shares)} shares from {shares[0]} to {shares[-1]}"]
    farthest = max(tied, key=lambda point: point.retrieved - point.share)
    return (
        f"{system.name} gives many pairs the same score, and equal scores are retrieved together: its precision and "
        f"recall at {listed(shares)} of the collection are of more than that, at most {100 * farthest.retrieved:.3g} % "
        f"in place of {100 * farthest.share:g} %."
    )
