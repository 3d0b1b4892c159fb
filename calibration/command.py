"""relstudy calibrate: ratings in; judgments, raters and calibrated ratings out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError
from relstudy.common.hand_out import HandOut
from relstudy.common.reading_options import reading_options

if TYPE_CHECKING:
    from relstudy.calibration.pipeline import Calibration

METHODS = ("pooled", "crossed", "shrunk", "zscore", "mean", "none", "ordinal")

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


@click.command(
    epilog="""\b
Examples:
  relstudy calibrate my-study/ratings.csv -o my-study --pairs my-study/pairs.csv
  relstudy calibrate ratings.csv -o out --base-column in_common_set --method zscore
"""
)
@click.argument("ratings", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder to write the tables to.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="pooled: all ratings, when pairs were handed out at random. crossed: the pairs that raters share, however "
    "these were handed out. shrunk: the base block, moments shrunk. zscore: the base block as it stands (Eq. 2.1). "
    "mean: offsets only. none. ordinal: a cumulative-link model in PyMC (seconds; random hand-out, as pooled). "
    "Default: pooled, crossed or shrunk, by what is known and tested about the hand-out; says which and why.",
)
@click.option("--base-column", metavar="NAME", help="A yes/no column that marks the base block.")
@click.option(
    "--handed-out",
    type=click.Choice([kind.value for kind in HandOut]),
    help="How unique pairs were handed to raters, where the table doesn't record it.",
)
@click.option("--force", is_flag=True, help="Use pooled or ordinal even where pairs don't look handed out at random.")
@click.option(
    "--weigh-raters/--equal-raters",
    default=None,
    help="Whether ratings weigh less, the noisier their rater is. Default: with pooled, crossed, shrunk and ordinal.",
)
@reading_options
@click.option("--pairs", type=click.Path(path_type=Path), help="A pairs table to take inclusion probabilities from.")
@click.option("--clip", is_flag=True, help="Keep calibrated values within the scale.")
@click.option("--trust-raters", is_flag=True, help="Accept raters whose ratings look like sorted slots.")
@click.option("--compare", metavar="RATER", help="Compare this rater with all the others (paper, section 5.6).")
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    multiple=True,
    help="With --compare: score tables of systems, to correlate with both sides' judgments.",
)
@click.option("--figures", is_flag=True, help="Write figures/*.svg as well.")
@click.option(
    "--binary",
    type=click.Path(path_type=Path),
    help="With --figures: ratings of the same pairs on the binary scale, for the paper's figure 5.2.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def calibrate(
    ratings: Path,
    out: Path | None,
    method: str | None,
    base_column: str | None,
    handed_out: str | None,
    force: bool,
    weigh_raters: bool | None,
    pairs: Path | None,
    clip: bool,
    trust_raters: bool,
    compare: str | None,
    scores: tuple[Path, ...],
    figures: bool,
    binary: Path | None,
    as_json: bool,
    **stated: str | None,
) -> None:
    """Put people's RATINGS on one scale and average them into judgments.

    Writes judgments.csv, raters.csv and calibrated.csv to the folder named by -o.
    """
    if out is None and compare is None:
        raise click.UsageError("Name a folder to write to, with -o.")
    if figures and out is None:
        raise click.UsageError("--figures needs a folder to write to, with -o.")
    if binary is not None and not figures:
        raise click.UsageError("--binary goes with --figures.")
    if scores and compare is None:
        raise click.UsageError("--scores goes with --compare.")
    from relstudy.calibration.pipeline import calibrate as put_on_one_scale
    from relstudy.calibration.pipeline import summary
    from relstudy.calibration.ratings import read_ratings
    from relstudy.common.reading import Reading

    if out is not None and out.is_file():
        raise RelstudyError(f"{out}: this is a file; -o needs a folder")
    steps = progress(["read", "calibrate", "write", "compare before and after", "done"], "calibrating")
    next(steps)
    reading = Reading.stated(**stated)
    table = read_ratings(ratings, base_column=base_column, trust_raters=trust_raters, reading=reading)
    next(steps)
    stated_hand_out = None if handed_out is None else HandOut(handed_out)
    result = put_on_one_scale(
        table, method, handed_out=stated_hand_out, clip=clip, force=force, weigh_raters=weigh_raters
    )
    if pairs is not None:
        result = result.with_probabilities(pairs)
    if method is None and (as_json or compare is not None):
        say(f"method {result.choice.method}: {result.choice.why}")
    if compare is not None:
        for note in table.notes:
            say(note)
        _compare(result, compare, scores, as_json)
    if out is None:
        return
    next(steps)
    _write(result, out)
    if figures:
        _draw(result, out / "figures", binary)
    if compare is not None:
        return
    next(steps)
    figures_of = summary(result, lambda folds: progress(folds, "folds"))
    list(steps)  # takes the bar away
    if as_json:
        print_json(figures_of)
    else:
        _print(figures_of)
        say(f"wrote {out / 'judgments.csv'}, {out / 'raters.csv'} and {out / 'calibrated.csv'}")


def _write(result: Calibration, out: Path) -> None:
    from relstudy.calibration.judgments import write_judgments
    from relstudy.common.tables import write_table

    write_judgments(result.judgments, out / "judgments.csv")
    write_table(result.raters, out / "raters.csv")
    write_table(result.calibrated_ratings(), out / "calibrated.csv")


def _draw(result: Calibration, folder: Path, binary: Path | None) -> None:
    from relstudy.calibration.plots import binary_against_graded, pictures
    from relstudy.calibration.ratings import read_ratings
    from relstudy.common.tables import write_text

    drawings = pictures(result)
    if binary is not None:
        other = read_ratings(binary)
        if (other.scale.scale.low, other.scale.scale.high) != (0.0, 1.0):
            raise RelstudyError(f"{binary}: ratings on the binary scale (0 or 1) are needed, and these are not")
        drawings["binary-by-graded"] = lambda: binary_against_graded(other.frame, result.ratings.frame, alone=True)
    for name, draw in progress(list(drawings.items()), "figures"):
        write_text(draw(), folder / f"{name}.svg")
    say(f"wrote {', '.join(str(folder / name) + '.svg' for name in drawings)}")


def _compare(result: Calibration, rater: str, scores: tuple[Path, ...], as_json: bool) -> None:
    from relstudy.calibration.comparison import compare_rater, read_plain_scores

    comparison = compare_rater(result, rater, [read_plain_scores(path) for path in scores])
    if as_json:
        print_json(comparison.as_json())
        return
    for line in comparison.sentences():
        click.echo(line)
    if comparison.systems:
        click.echo()
        print_table(*comparison.table())


def _print(figures: dict[str, Any]) -> None:
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
        say(f"no {name}: {reason}")
