"""relstudy calibrate: ratings in; judgments, raters and calibrated ratings out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.calibration.methods.names import METHODS
from relstudy.calibration.printed import print_side_by_side, print_summary
from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError
from relstudy.common.hand_out import HandOut
from relstudy.common.option_groups import GroupedCommand
from relstudy.common.reading_options import reading_options
from relstudy.common.study_folder import table_in

if TYPE_CHECKING:
    from relstudy.calibration.pipeline import Calibration


OPTION_GROUPS = {
    "How raters are put on one scale": ("method", "base-column", "handed-out", "force", "weigh-raters", "clip"),
    "Probabilities and groups": ("pairs", "by", "binary"),
    "Looking closer": ("trust-raters", "with-set-aside", "compare", "scores", "figures", "with-judge"),
    "Reading the ratings": ("columns", "values", "scale", "missing"),
}


@click.command(
    cls=GroupedCommand,
    option_groups=OPTION_GROUPS,
    epilog="""\b
Examples:
  relstudy calibrate my-study
  relstudy calibrate my-study/ratings.csv -o my-study --pairs my-study/pairs.csv
  relstudy calibrate ratings.csv -o out --base-column in_common_set --method zscore
  relstudy calibrate ratings.csv -o out --by scale
""",
)
@click.argument("ratings", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder to write the tables to.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="pooled: all ratings, when pairs were handed out at random. crossed: the pairs that raters share, however "
    "these were handed out. shrunk: the base block, moments shrunk. zscore: the base block at face value (Eq. 2.1). "
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
@click.option("--with-set-aside", is_flag=True, help="Take the ratings of raters who were set aside, too.")
@click.option(
    "--with-judge",
    type=click.Path(path_type=Path),
    help="Let an automatic judge's table, or that of the study's judge of this name, be one more rater, marked as a "
    "judge: it has a part in the common scale, none in the judgments. Off unless you say so.",
)
@click.option("--compare", metavar="RATER", help="Compare this rater with all the others (paper, section 5.6).")
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    multiple=True,
    help="With --compare: score tables of systems, to correlate with both sides' judgments.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Calibrate the parts of the table that a column tells apart each by itself, as --by scale or --by paradigm: "
    "a column of the ratings, or of --pairs. Tables go to a folder for each part.",
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
    with_set_aside: bool,
    with_judge: Path | None,
    compare: str | None,
    scores: tuple[Path, ...],
    by: str | None,
    figures: bool,
    binary: Path | None,
    as_json: bool,
    **stated: str | None,
) -> None:
    """Put people's RATINGS on one scale and average them into judgments.

    RATINGS is a table, or a study's folder: its ratings.csv and pairs.csv are read, and the tables written there.

    Writes judgments.csv, raters.csv and calibrated.csv to the folder named by -o.
    """
    folder = None
    if ratings.is_dir():
        folder, ratings = ratings, table_in(ratings, "ratings.csv", f"relstudy export {ratings}")
        out = folder if out is None and compare is None else out
        pairs = folder / "pairs.csv" if pairs is None and (folder / "pairs.csv").is_file() else pairs
    if out is None and compare is None:
        raise click.UsageError(f"Name a folder to write to, with -o; try: relstudy calibrate {ratings} -o out")
    if figures and out is None:
        raise click.UsageError("--figures needs a folder to write to, with -o.")
    if binary is not None and not figures:
        raise click.UsageError("--binary goes with --figures.")
    if scores and compare is None:
        raise click.UsageError("--scores goes with --compare.")
    if by is not None and (out is None or compare is not None or binary is not None or with_judge is not None):
        raise click.UsageError("--by needs a folder, -o, and goes without --compare, --binary and --with-judge.")
    from relstudy.calibration import pipeline
    from relstudy.calibration.ratings import read_ratings
    from relstudy.common.reading import Reading

    if out is not None and out.is_file():
        raise RelstudyError(f"{out}: this is a file; -o needs a folder")
    reading = Reading.stated(**stated)
    stated_hand_out = None if handed_out is None else HandOut(handed_out)
    put_on_one_scale = partial(
        pipeline.calibrate,
        method=method,
        handed_out=stated_hand_out,
        clip=clip,
        force=force,
        weigh_raters=weigh_raters,
    )
    if by is not None and out is not None:
        from relstudy.calibration.interfaces import read_interfaces
        from relstudy.common.tables import read_table

        table = read_table(ratings)
        parts = read_interfaces(
            table,
            by,
            base_column=base_column,
            trust_raters=trust_raters,
            with_set_aside=with_set_aside,
            reading=reading,
            pairs=pairs,
        )
        apart = {name: put_on_one_scale(part) for name, part in progress(list(parts.items()), "calibrating")}
        _write_apart(apart, by, out, pairs, figures, as_json)
        return
    steps = progress(["read", "calibrate", "write", "compare before and after", "done"], "calibrating")
    next(steps)
    rated = read_ratings(
        ratings, base_column=base_column, trust_raters=trust_raters, with_set_aside=with_set_aside, reading=reading
    )
    if with_judge is not None:
        from relstudy.calibration import judge_rater

        of_study = None if folder is None else folder / "judges" / f"{with_judge}.csv"
        rated = judge_rater.with_judge(rated, of_study if of_study is not None and of_study.is_file() else with_judge)
    next(steps)
    result = put_on_one_scale(rated)
    if pairs is not None:
        result = result.with_probabilities(pairs)
    if compare is not None:
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
    figures_of = pipeline.summary(result, lambda folds: progress(folds, "folds"))
    list(steps)  # takes the bar away
    if as_json:
        print_json(figures_of)
    else:
        print_summary(figures_of)
        say(f"wrote {out / 'judgments.csv'}, {out / 'raters.csv'} and {out / 'calibrated.csv'}")
        given = f"SCORES --judgments {out / 'judgments.csv'} --output {out / 'mappings'}"
        click.echo(f"Next: relstudy fit {given if folder is None else folder}")


def _write(result: Calibration, out: Path) -> None:
    from relstudy.calibration.judgments import write_judgments
    from relstudy.common.tables import write_table

    write_judgments(result.judgments, out / "judgments.csv")
    write_table(result.raters, out / "raters.csv")
    write_table(result.calibrated_ratings(), out / "calibrated.csv")


def _draw(result: Calibration, folder: Path, binary: Path | None) -> None:
    from relstudy.calibration.plots import binary_against_graded, pictures
    from relstudy.calibration.ratings import read_ratings
    from relstudy.common.files import write_text

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


def _write_apart(
    parts: dict[str, Calibration], by: str, out: Path, pairs: Path | None, figures: bool, as_json: bool
) -> None:
    """Write each part to a folder of its own, and print them side by side."""
    from relstudy.calibration.interfaces import joined_tables, pairs_asked_alike, side_by_side
    from relstudy.calibration.pipeline import summary
    from relstudy.common.file_names import file_names
    from relstudy.common.tables import write_table

    if pairs is not None:
        parts = {
            name: part.with_probabilities(pairs_asked_alike(pairs, part.judgments.frame))
            for name, part in parts.items()
        }
    summaries = {name: summary(part) for name, part in progress(list(parts.items()), "parts", len(parts))}
    compared = side_by_side(parts, summaries)
    folders = {name: out / folder for name, folder in file_names(list(parts)).items()}
    for name, part in parts.items():
        _write(part, folders[name])
        if figures:
            _draw(part, folders[name] / "figures", None)
    together = joined_tables(parts, by)
    if isinstance(together, dict):
        for table, frame in together.items():
            write_table(frame, out / f"{table}.csv")
    wrote = f"wrote the tables of each part to {', '.join(str(folder) for folder in folders.values())}"
    if as_json:
        print_json({"by": by, "parts": summaries, "side_by_side": compared})
    else:
        for name, figures_of in summaries.items():
            click.echo(f"{by} {name}")
            print_summary(figures_of)
            click.echo()
        print_side_by_side(by, compared)
        click.echo(
            f"{out / 'judgments.csv'} holds the parts in one table, told apart by its column {by}."
            if isinstance(together, dict)
            else f"The parts are not in one table: {together}. relstudy join puts scales on one."
        )
    say(wrote)
