"""relstudy calibrate: ratings in; judgments, raters and calibrated ratings out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from relstudy.calibration.methods import Method, methods_named
from relstudy.calibration.options import CLOSER, CalibrationOptions, RatingsOptions
from relstudy.common.cluster import with_cluster
from relstudy.common.options.command_options import GroupedCommand, options_of, taking
from relstudy.common.options.declaration import CommandOptions, fields_given, option
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, number, percent, quoted, sentence, span
from relstudy.common.tables.formats.overwriting import with_overwrite
from relstudy.common.tables.formats.study_archive import is_zip_name, packing
from relstudy.common.tables.meaning.reading_options import OF_ANY_TABLE, ReadingOptions
from relstudy.common.tables.meaning.study_folder import answers_file, ratings_in, score_files

if TYPE_CHECKING:
    from relstudy.calibration.method_comparison import Beside
    from relstudy.calibration.pipeline import Calibration

GROUPS = "Probabilities and groups"
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


@dataclass(frozen=True, kw_only=True)
class FurtherOptions(CommandOptions):
    """Options of `relstudy calibrate` beside those of reading and calibrating."""

    pairs: Path | None = option(None, "A pairs table to take inclusion probabilities from.", heading=GROUPS)
    with_judge: Path | None = option(
        None,
        "Let an automatic judge's table, or that of the study's judge of this name, be one more rater, marked as a "
        "judge: it has a part in the common scale, none in the judgments. Off unless you say so.",
        heading=CLOSER,
    )
    against: tuple[Method | Literal["all"], ...] = option(
        (),
        "Compare with another method, or all but ordinal, cross-validated.",
        heading=CLOSER,
    )
    compare: str | None = option(
        None,
        "Compare this rater, or a group of people (group=expert), with all the others (paper, "
        "section 5.6); with --scores, whether they rank systems differently.",
        metavar="RATER|COLUMN=VALUE",
        heading=CLOSER,
    )
    people: Path | None = option(
        None,
        "A table of people (rater_id and what is known of each, as `relstudy export --people` writes it), whose "
        "columns --compare and --by take.",
        heading=CLOSER,
    )
    scores: tuple[Path, ...] = option(
        (), "With --compare: score tables of systems, to correlate with both sides' judgments.", heading=CLOSER
    )
    by: str | None = option(
        None,
        "Calibrate the parts of the table that a column names each by itself, as --by scale or --by paradigm: "
        "a column of the ratings, or of --pairs. Tables go to a folder for each part.",
        metavar="COLUMN",
        heading=GROUPS,
    )
    figures: bool = option(False, "Write figures/*.svg as well.", heading=CLOSER)
    binary: Path | None = option(
        None,
        "With --figures: ratings of the same pairs on the binary scale, for the paper's figure 5.2.",
        heading=GROUPS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.binary is not None and not self.figures:
            raise click.UsageError("--binary goes with --figures.")
        if self.scores and self.compare is None:
            raise click.UsageError("--scores goes with --compare.")
        if self.against and (self.by is not None or self.compare is not None):
            raise click.UsageError("--against goes without --by and --compare.")
        if self.by is not None and not (self.compare is self.binary is self.with_judge is None):
            raise click.UsageError("--by needs a folder, -o, and goes without --compare, --binary and --with-judge.")


@click.command(
    cls=GroupedCommand,
    most_used=("--out", "--columns", "--pairs", "--method", "--by"),
    epilog="""\b
Examples:
  relstudy calibrate my-study
  relstudy calibrate my-study/ratings.csv -o my-study --pairs my-study/pairs.csv
  relstudy calibrate ratings.csv -o out --base-column in_common_set --method zscore
  relstudy calibrate ratings.csv -o out --by scale
""",
)
@click.argument("ratings", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder to write the tables to, or NAME.study.zip.")
@options_of(CalibrationOptions, RatingsOptions)
@options_of(ReadingOptions, only=OF_ANY_TABLE, heading="Reading the ratings")
@taking(FurtherOptions, "further")
@with_cluster
@with_overwrite
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def calibrate(
    ratings: Path,
    out: Path | None,
    further: FurtherOptions,
    as_json: bool,
    **choices: Any,
) -> None:
    """Put people's RATINGS on one scale and average them into judgments.

    RATINGS is a table, or a study's folder: its ratings.csv and pairs.csv are read, and the tables written there.

    Writes judgments.csv, raters.csv and calibrated.csv to the folder named by -o, with facets.csv if there are
    facets and judgments-careless.csv where raters look careless; to NAME.study.zip, with the pairs and
    the pool, as one file that other commands take for the judgments.
    """
    folder, pairs, by, compare = None, further.pairs, further.by, further.compare
    if ratings.is_dir():
        folder, (ratings, beside) = ratings, ratings_in(ratings)
        out = folder if out is None and compare is None else out
        pairs = beside if pairs is None else pairs
    if out is None and compare is None:
        raise click.UsageError(f"Name a folder to write to, with -o; try: relstudy calibrate {quoted(ratings)} -o out")
    packed = out is not None and is_zip_name(out)
    if further.figures and (out is None or packed):
        raise click.UsageError("--figures needs a folder to write to, with -o.")
    if by is not None and packed:
        raise click.UsageError("--by writes a folder for each part, so -o needs a folder, too.")
    from relstudy.calibration import pipeline
    from relstudy.calibration.tables.ratings import add_judge, read_ratings, with_people
    from relstudy.calibration.tables.study_tables import write_with_provenance
    from relstudy.common.runtime.files import refuse_over_inputs
    from relstudy.common.tables.formats.table_files import read_table, release_unused
    from relstudy.common.tables.meaning.reading import Reading

    if out is not None and out.is_file() and not packed:
        raise RelstudyError(f"{out}: this is a file; -o needs a folder")
    inputs = [ratings, pairs, further.people, further.with_judge, further.binary]
    if out is not None and by is None:
        refuse_over_inputs([out, *(out / name for name in pipeline.FILES)], inputs)
    reading = Reading.stated(choices)
    as_read = fields_given(RatingsOptions, choices)
    put_on_one_scale = partial(
        pipeline.calibrate, options=CalibrationOptions(**fields_given(CalibrationOptions, choices))
    )
    if by is not None and out is not None:
        from relstudy.calibration.interfaces import files_of_parts, read_interfaces

        parts = read_interfaces(
            read_table(ratings), by, RatingsOptions(**as_read), reading=reading, pairs=pairs, people=further.people
        )
        refuse_over_inputs(files_of_parts(parts, out), inputs)
        apart = {name: put_on_one_scale(part) for name, part in progress(list(parts.items()), "calibrating")}
        _write_apart(apart, by, out, pairs, further.figures, as_json)
        return
    steps = progress(["read", "calibrate", "write", "compare before and after", "done"], "calibrating")
    next(steps)
    drawn = None
    if pairs is not None:
        reading = reading.among_several()
        drawn = reading.names_only(read_table(pairs), "pairs")
    rated = read_ratings(ratings, **as_read, reading=reading)
    release_unused()
    reading.refuse_unfound()
    if further.people is not None:
        rated = replace(rated, frame=with_people(rated.frame, further.people))
    if further.with_judge is not None:
        of_study = None if folder is None else folder / "judges" / f"{further.with_judge}.csv"
        rated = add_judge(rated, of_study if of_study is not None and of_study.is_file() else further.with_judge)
    next(steps)
    result = put_on_one_scale(rated)
    del rated  # whose rows are let go once they are written
    if drawn is not None:
        result = result.with_probabilities(drawn)
    if compare is not None:
        _compare(result, compare, further.scores, as_json)
    if out is None:
        return
    next(steps)
    if packed:
        with packing(out) as inside:
            write_with_provenance(result.write, inside, ratings, pairs)
    else:
        result.write(out)
    if further.figures:
        _draw(result, out / "figures", further.binary)
    if compare is not None:
        return
    next(steps)
    others = []
    if further.against:
        from relstudy.calibration.method_comparison import beside_others, beside_sentences

        others = beside_others(result, methods_named(further.against), lambda n: progress(n, "methods"))
    result = result.for_figures()
    figures_of = pipeline.summary(result, lambda folds: progress(folds, "folds"))
    list(steps)  # takes the bar away
    if as_json:
        print_json(figures_of | ({"against": [vars(each) for each in others]} if others else {}))
    else:
        print_summary(figures_of)
        if others:
            _print_beside(others, beside_sentences(result, others))
        if packed:
            say(f"wrote {out}, which holds judgments.csv and what belongs to it")
        else:
            say(f"wrote {listed([str(out / name) for name in result.files()])}")
        mappings = "mappings" if packed else out / "mappings"
        judged = quoted(out if packed else out / "judgments.csv")
        study = folder or out
        given = f"SCORES --judgments {judged} --out {quoted(mappings)}" if folder is None else quoted(folder)
        if not packed and answers_file(study) is not None:
            click.echo(f"Next: relstudy score {quoted(study)}")
        elif folder is None or score_files(folder):
            click.echo(f"Next: relstudy fit {given}")
        else:
            click.echo(f"Next: put the systems' score tables into {folder / 'scores'}, then relstudy fit {given}")


def _print_beside(rows: list[Beside], told: list[str]) -> None:
    """A line a method, and sentences on them."""
    used = rows[0].method
    click.echo()
    cells = [
        [
            each.method,
            number(each.correlation, ".4f"),
            number(each.difference, "+.4f"),
            number(each.error, ".4f"),
            number(each.p, ".2g"),
            number(each.order, ".4f"),
            number(each.order_difference, "+.4f"),
            number(each.order_error, ".4f"),
        ]
        for each in rows
    ]
    less = f"{used} less it"
    print_table(cells, ["out of sample", "leave-one-out", less, "error", "p", "order", less, "error"], dim=(3, 7))
    for line in told:
        click.echo(line)


def _draw(result: Calibration, folder: Path, binary: Path | None) -> None:
    from relstudy.calibration.plots import binary_against_graded, pictures
    from relstudy.calibration.tables.ratings import read_ratings
    from relstudy.common.runtime.files import write_text

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
    from relstudy.calibration.rater_comparison import compare_rater, read_plain_scores

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
    """Write each part to its own folder, and print them side by side."""
    from relstudy.calibration.interfaces import pairs_asked_alike, side_by_side, write_parts
    from relstudy.calibration.pipeline import summary

    if pairs is not None:
        parts = {
            name: part.with_probabilities(pairs_asked_alike(pairs, part.judgments.frame))
            for name, part in parts.items()
        }
    summaries = {name: summary(part) for name, part in progress(list(parts.items()), "parts", len(parts))}
    compared = side_by_side(parts, summaries)
    folders, apart = write_parts(parts, by, out)
    for name, part in parts.items() if figures else ():
        _draw(part, folders[name] / "figures", None)
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
            f"{out / 'judgments.csv'} holds the parts in one table; its column {by} names them."
            if apart is None
            else f"The parts are not in one table: {apart}. relstudy calibrate join puts scales on one."
        )
    say(wrote)


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
            cells += [number(row[part], form), span(low, high, form)]
        rows.append(cells)
    pairs, block = figures["scored_on"]["pairs"], figures["scored_on"]["block"]
    scored = f"{pairs:,} {'' if block == 'all' else f'{block} '}{'pair' if pairs == 1 else 'pairs'}"
    print_table(rows, [f"on {scored}", "before", "95 %", "after", "95 %", "after - before", "95 %"], dim=(2, 4, 6))
    click.echo()
    after = figures["icc"]["after"]
    rows = []
    for name, title in AGREEMENT.items():
        estimate = figures["agreement"][name]
        calibrated = number(after[name.split(".")[1]]) if name.startswith("icc.") else ""
        rows.append([title, number(estimate["value"]), span(estimate["low"], estimate["high"]), calibrated])
    if any(cell for row in rows for cell in row[1:]):
        print_table(rows, ["agreement of the ratings", "as given", "95 %", "calibrated"], dim=(2,))
        click.echo("Intervals are for raters and pairs like these.")
    else:
        click.echo("Agreement of the ratings: not known, since too few pairs have ratings by several raters.")
    generalizability = figures["generalizability"]
    if "sentence" in generalizability:
        total = sum(generalizability["variances"].values())
        shares = [f"{source} {percent(each / total)}" for source, each in generalizability["variances"].items()]
        click.echo(f"Where ratings vary: {listed(shares)}. {generalizability['sentence']}")
        for note in generalizability["notes"]:
            click.echo(sentence(note))
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


def did_it_help(figures: dict[str, Any]) -> str:
    """Sentence on agreement before and after calibration, by the figure that no rescaling can fake."""
    figure = figures["leave_one_out_correlation"]
    before, after, ends = figure["before"], figure["after"], figure["difference_interval"]
    if figures["method"] == "none":
        return "Calibration changed nothing (method none)."
    if before is None or after is None:
        reasons = figures["reasons"]
        reason = next((why for name, why in reasons.items() if name.startswith("leave_one_out_correlation")), "")
        return f"Whether calibration helped is not known{f': {reason}' if reason else ''}."
    change = f"(correlation {before:.3f} -> {after:.3f}, on pairs that calibration had not seen)"
    if ends is None:
        return f"Whether calibration helped is not known: the change has no interval {change}."
    if ends[0] > 0:
        return f"Calibration helped: ratings of a pair agree better {change}."
    if ends[1] < 0:
        return f"Calibration did harm: ratings of a pair agree less {change}."
    return f"Calibration did not clearly help: ratings of a pair agree about as well as before {change}."


def print_side_by_side(column: str, parts: dict[str, dict[str, Any]]) -> None:
    """Print what `relstudy.calibration.interfaces.side_by_side` gives: one row a part."""

    def cells(figure: dict[str, Any] | None, form: str) -> list[str]:
        if figure is None:
            return ["–", ""]
        return [number(figure["value"], form), span(figure["low"], figure["high"], form)]

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
