"""A calibration as the command prints it."""

from __future__ import annotations

from typing import Any

import click

from relstudy.common.console import print_table
from relstudy.common.wording import count_of, listed, percent, span

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
    "weighted_kappa": "weighted kappa, mean over rater pairs",
    "spearman": "Spearman, mean over rater pairs",
}


def print_summary(figures: dict[str, Any]) -> None:
    """Print what `relstudy.calibration.pipeline.summary` gives."""
    from relstudy.calibration.choice import method_sentence

    undecided = f", {figures['undecided']:,} undecided" if figures["undecided"] else ""
    click.echo(
        f"{count_of(figures['raters'], 'rater')}, {count_of(figures['pairs'], 'pair')} ({figures['base_pairs']:,} in "
        f"the base block), {count_of(figures['ratings'], 'rating')}{undecided}"
    )
    click.echo(method_sentence(figures["method"], figures["method_reason"]))
    for note in figures["notes"]:
        click.echo(note)
    click.echo()
    click.echo(did_it_help(figures))
    rows = []
    for title, name in (
        ("leave-one-out correlation", "leave_one_out_correlation"),
        ("variance within a pair", "within_item_variance"),
    ):
        row = figures[name]
        cells = [title]
        for part, form in (("before", ".3f"), ("after", ".3f"), ("difference", "+.3f")):
            low, high = row[f"{part}_interval"] or (None, None)
            cells += [_number(row[part], form), span(low, high, form)]
        rows.append(cells)
    scored = f"{figures['scored_on']['pairs']:,} {figures['scored_on']['block']} pairs"
    print_table(rows, [f"on {scored}", "before", "95 %", "after", "95 %", "after - before", "95 %"], dim=(2, 4, 6))
    click.echo()
    after = figures["icc"]["after"]
    rows = []
    for name, title in AGREEMENT.items():
        estimate = figures["agreement"][name]
        calibrated = _number(after[name.split(".")[1]]) if name.startswith("icc.") else ""
        rows.append([title, _number(estimate["value"]), span(estimate["low"], estimate["high"]), calibrated])
    print_table(rows, ["agreement of the ratings", "as given", "95 %", "calibrated"], dim=(2,))
    click.echo("Intervals are for raters and pairs like these.")
    ceiling = figures["reachable_share"]
    if ceiling["value"] is not None:
        between = span(ceiling["low"], ceiling["high"], "%")
        share = percent(ceiling["value"]) + (f" ({between})" if between else "")
        click.echo(
            f"Reachable: a system that knew what such raters think would explain {share} of the variance of the "
            "judgments of all rated pairs, base pairs among them, each counted once; the rest is noise of the ratings."
        )
    if figures["flags"]:
        click.echo()
        flagged = list(figures["flags"].items())
        print_table([[rater, ", ".join(flags)] for rater, flags in flagged[:20]], ["rater", "worth a look"])
        if len(flagged) > 20:
            click.echo(f"... and {len(flagged) - 20} more; see raters.csv")
    for reason in dict.fromkeys(figures["reasons"].values()):
        without = [_title(name) for name, why in figures["reasons"].items() if why == reason]
        click.echo(f"Left empty: {listed(list(dict.fromkeys(without)))}: {reason}.")


def _title(name: str) -> str:
    """Name of a figure of the summary within a sentence.

    Examples
    --------
    >>> _title("icc.after.icc2k"), _title("weighted_kappa"), _title("leave_one_out_correlation.before")
    ('ICC(2,k)', 'weighted kappa', 'leave-one-out correlation before')
    """
    title = AGREEMENT.get(name.replace(".after", ""))
    if title is None:
        return name.replace("leave_one_out", "leave-one-out").replace("_", " ").replace(".", " ")
    return title.partition(":")[0].partition(", mean")[0].replace(", ", " ")


def _number(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else f"{value:{form}}"


def did_it_help(figures: dict[str, Any]) -> str:
    """Sentence on agreement before and after calibration, by the figure that no rescaling can fake."""
    figure = figures["leave_one_out_correlation"]
    before, after, ends = figure["before"], figure["after"], figure["difference_interval"]
    if figures["method"] == "none":
        return "Did it help? Nothing was changed (method none)."
    if before is None or after is None:
        reasons = figures["reasons"]
        reason = next((why for name, why in reasons.items() if name.startswith("leave_one_out_correlation")), "")
        return f"Did it help? That is not known{f': {reason}' if reason else ''}."
    change = f"(correlation {before:.3f} -> {after:.3f}, on pairs that calibration had not seen)"
    if ends is None:
        return f"Did it help? The change has no interval, so how sure it is remains unknown {change}."
    if ends[0] > 0:
        return f"Did it help? Yes: a rating agrees better with the others of its pair {change}."
    if ends[1] < 0:
        return f"Did it help? No: a rating agrees less with the others of its pair {change}."
    return f"Did it help? Not clearly: a rating agrees with the others of its pair about as well as before {change}."


def print_side_by_side(column: str, parts: dict[str, dict[str, Any]]) -> None:
    """Print what `relstudy.calibration.interfaces.side_by_side` gives: one row a part."""

    def cells(figure: dict[str, Any] | None, form: str) -> list[str]:
        if figure is None or figure["value"] is None:
            return ["–", ""]
        return [_number(figure["value"], form), span(figure["low"], figure["high"], form)]

    rows = []
    for name, part in parts.items():
        variance = part["standardised_variance"]
        counts = [f"{part[key]:,}" for key in ("raters", "pairs", "ratings")]
        figures = [*cells(variance["before"], ".3f"), *cells(variance["after"], ".3f")]
        figures += cells(part["seconds_per_rating"], ".1f")
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
            between = span(ratio["low"], ratio["high"], ".2f")
            ends = f" ({between})" if between else ""
            whose = f"by the {both} raters who did both" if both >= 3 else "by different raters"
            click.echo(f"A rating in {name} takes {ratio['value']:.2f}{ends} times as long as in {first}, {whose}.")
