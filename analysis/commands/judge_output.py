"""The printed part of a scoring run that a judge adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from relstudy.common.console import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relstudy.analysis.judges.estimator import Assisted
    from relstudy.analysis.judges.run import AssistedScores
    from relstudy.common.estimates import Estimate

AT_SHARES = ("precision_at_0.05", "precision_at_0.2", "recall_at_0.2")


def _shown(figures: Mapping[str, Assisted]) -> list[str]:
    """The indices that are printed; all are in --json and in the tables (--out)."""
    from relstudy.analysis.indices.known import own_indices

    names = ("relevant_share", *(index.name for index in own_indices()), *AT_SHARES)
    return [name for name in names if name in figures]


def print_assisted(assisted: AssistedScores) -> None:
    """People alone beside people with the judge's help, a line per system and index."""
    helper = assisted.helper or "the judge"
    click.echo()
    rows = []
    for system, figures in assisted.systems.items():
        for index in _shown(figures):
            each = figures[index]
            ratio = "–" if each.width_ratio is None else f"{each.width_ratio:.2f}"
            weights = [f"{weight:.2f}" for weight in each.weights]
            rows.append([system, index, *_cells(each.people), *_cells(each.estimate), ratio, *weights])
    both = ["people", "interval", f"with {helper}", "interval"]
    print_table(rows, ["system", "index", *both, "width", "l2", "l1"])
    for reason, missing in _withheld(assisted).items():
        click.echo(f"{', '.join(missing)}: {reason}.")
    numbers = assisted.judge.as_json()
    opening = f"Judge {assisted.judge.name}: {numbers['answered']:,} answers for"
    if assisted.helper is not None:
        opening = "The systems' own scores tell, by a regression on other queries, what people would say of"
    click.echo(
        f"{opening} {numbers['rows']:,} pairs of {numbers['queries']:,} queries. Width: of the interval with "
        f"{helper} against that of people alone; l2 and l1: how much of the correction within and between queries is "
        "taken, 0 to 1. Shares of the collection are those of these pairs."
    )


def _withheld(assisted: AssistedScores) -> dict[str, list[str]]:
    """The figures that have no value or no interval, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for system, figures in assisted.systems.items():
        for index in _shown(figures):
            reason = figures[index].estimate.reason
            if reason is not None:
                by_reason.setdefault(reason, []).append(f"{index} of {system}")
    return by_reason


def _cells(figure: Estimate) -> list[str]:
    if figure.value is None:
        return ["–", ""]
    ends = "" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}"
    return [f"{figure.value:.4f}", ends]
