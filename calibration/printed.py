"""A calibration as the command prints it."""

from __future__ import annotations

from typing import Any

import click

from relstudy.common.console import print_table

AGREEMENT = {
    "krippendorff_alpha.nominal": "Krippendorff's alpha, nominal",
    "krippendorff_alpha.ordinal": "Krippendorff's alpha, ordinal",
    "krippendorff_alpha.interval": "Krippendorff's alpha, interval",
    "gwet.ac1": "Gwet's AC1",
    "gwet.ac2": "Gwet's AC2, quadratic weights",
    "icc.icc1": "ICC(1): one rating, any raters",
    "icc.icc1k": "ICC(1,k): the mean of a pair's",
    "icc.icc2": "ICC(2,1): one rating, agreement",
    "icc.icc2k": "ICC(2,k): the mean, agreement",
    "icc.iccc1": "ICC(C,1): one rating, consistency",
    "icc.iccck": "ICC(C,k): the mean, consistency",
    "weighted_kappa": "weighted kappa, mean over couples",
    "spearman": "Spearman, mean over couples",
}


def print_summary(figures: dict[str, Any]) -> None:
    """Print what `relstudy.calibration.pipeline.summary` gives."""

    def number(value: float | None, sign: str = "") -> str:
        return "–" if value is None else f"{value:{sign}.4f}"

    def interval(ends: list[float] | None) -> str:
        return "" if ends is None or None in ends else f"[{ends[0]:.4f}, {ends[1]:.4f}]"

    click.echo(
        f"{figures['raters']} raters, {figures['pairs']} pairs ({figures['base_pairs']} in the base block), "
        f"{figures['ratings']} ratings, {figures['undecided']} undecided"
    )
    click.echo(f"method {figures['method']}: {figures['method_reason']}")
    for note in figures["notes"]:
        click.echo(note)
    click.echo()
    rows = []
    scored = f"{figures['scored_on']['pairs']} {figures['scored_on']['block']} pairs"
    for title, name in (
        ("variance within a pair", "within_item_variance"),
        ("leave-one-out correlation", "leave_one_out_correlation"),
    ):
        row = figures[name]
        cells = [title]
        for part, sign in (("before", ""), ("after", ""), ("difference", "+")):
            cells += [number(row[part], sign), interval(row[f"{part}_interval"])]
        rows.append(cells)
    print_table(rows, [f"on {scored}", "before", "95 %", "after", "95 %", "after - before", "95 %"])
    click.echo()
    after = figures["icc"]["after"]
    rows = []
    for name, title in AGREEMENT.items():
        estimate = figures["agreement"][name]
        calibrated = number(after[name.split(".")[1]]) if name.startswith("icc.") else ""
        rows.append([title, number(estimate["value"]), interval([estimate["low"], estimate["high"]]), calibrated])
    print_table(rows, ["agreement of the ratings", "as given", "95 %", "calibrated"])
    click.echo("Intervals are for raters and pairs like these.")
    ceiling = figures["explainable_share"]
    if ceiling["value"] is not None:
        low, high = ceiling["low"], ceiling["high"]
        between = "" if low is None else f" [{low:.0%}, {high:.0%}]"
        click.echo(
            f"A system that knew what such raters think would explain {ceiling['value']:.0%}{between} of the "
            "differences between these judgments; the rest is noise of the ratings."
        )
    if figures["flags"]:
        click.echo()
        flagged = list(figures["flags"].items())
        print_table([[rater, ", ".join(flags)] for rater, flags in flagged[:20]], ["rater", "worth a look"])
        if len(flagged) > 20:
            click.echo(f"... and {len(flagged) - 20} more; see raters.csv")
    for name, reason in figures["reasons"].items():
        click.echo(f"no {name}: {reason}")


def print_side_by_side(column: str, parts: dict[str, dict[str, Any]]) -> None:
    """Print what `relstudy.calibration.interfaces.side_by_side` gives: one row a part."""

    def cells(figure: dict[str, Any] | None, digits: int) -> list[str]:
        if figure is None or figure["value"] is None:
            return ["–", ""]
        ends = "" if figure["low"] is None else f"[{figure['low']:.{digits}f}, {figure['high']:.{digits}f}]"
        return [f"{figure['value']:.{digits}f}", ends]

    rows = []
    for name, part in parts.items():
        variance = part["standardised_variance"]
        counts = [str(part[key]) for key in ("raters", "pairs", "ratings")]
        figures = [*cells(variance["before"], 4), *cells(variance["after"], 4), *cells(part["seconds_per_rating"], 1)]
        rows.append([name, *([] if column == "scale" else [part["scale"]]), *counts, *figures])
    header = [
        *dict.fromkeys([column, "scale"]),
        "raters",
        "pairs",
        "ratings",
        "variance before",
        "95 %",
        "after",
        "95 %",
    ]
    print_table(rows, [*header, "seconds a rating", "95 %"])
    click.echo(
        "Variance: within a pair, ratings from 0 to 1 over their scale. Seconds: geometric mean of raters' medians."
    )
    first = next(iter(parts))
    for name, part in parts.items():
        times = part["seconds_per_rating"]
        if times is not None and times["ratio_to_first"] is not None:
            ratio, both = times["ratio_to_first"], times["raters_in_both"]
            ends = "" if ratio["low"] is None else f" [{ratio['low']:.2f}, {ratio['high']:.2f}]"
            whose = f"by the {both} raters who did both" if both >= 3 else "by different raters"
            click.echo(f"A rating in {name} takes {ratio['value']:.2f}{ends} times as long as in {first}, {whose}.")
