"""relstudy calibrate preferences: which of two results is better, as judgments of each result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from relstudy.common.options.command_options import options_of, taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_json, print_table, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import refuse_over_inputs
from relstudy.common.runtime.wording import count_of, number, quoted, span
from relstudy.common.tables.formats.overwriting import with_overwrite
from relstudy.common.tables.meaning.reading_options import OF_COUPLES, ReadingOptions
from relstudy.common.tables.meaning.study_folder import table_in


@dataclass(frozen=True, kw_only=True)
class PreferencesOptions(CommandOptions):
    """Options of `relstudy calibrate preferences`."""

    output: Path = option(..., "Folder to write to.", flags=("-o", "--out"))
    lists: bool = option(False, "Read the answers to which of two whole lists is better, and compare their systems.")


def _ends(row: Any) -> tuple[float | None, float | None]:
    """The ends of an interval, or None."""
    low, high = row.preferred_low, row.preferred_high
    return (None, None) if math.isnan(low) else (low, high)


@click.command()
@click.argument("ratings", type=click.Path(path_type=Path))
@taking(PreferencesOptions)
@options_of(ReadingOptions, only=OF_COUPLES, heading="Reading the answers")
@with_overwrite
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def preferences(ratings: Path, options: PreferencesOptions, as_json: bool, **stated: Any) -> None:
    """Turn answers to which of two results is better into a judgment of each result.

    RATINGS is a table that holds couples (columns result_id and other_id; left, which of them stood there), or a
    study's folder. A judgment is the chance
    that people prefer the result to an average one of its query; raters' lean to a side and readiness to call two equal
    are taken out. Writes judgments.csv and raters.csv; of whole lists also systems.csv, how often people prefer the
    lists of one system to those of another.

    \b
    relstudy calibrate preferences my-study -o my-study/which
    relstudy calibrate preferences my-study --lists -o my-study/lists
    relstudy calibrate join my-study my-study/which -o joined
    """
    from relstudy.calibration.preferences import FILES, read_preferences
    from relstudy.common.tables.meaning.reading import Reading

    output = options.output
    if output.is_file():
        raise RelstudyError(f"{output}: this is a file; -o needs a folder")
    if ratings.is_dir():
        ratings = table_in(ratings, "ratings.csv", f"relstudy export {quoted(ratings)}")
    refuse_over_inputs([output / name for name in FILES[: None if options.lists else -1]], [ratings])
    found = read_preferences(ratings, options.lists, Reading.stated(stated))
    files = found.write(output)
    if as_json:
        print_json(found.as_json())
        return
    answers, lean = int(found.raters["n_ratings"].sum()), found.lean
    queries = count_of(int(found.judgments.frame["query_id"].nunique()), "query", "queries")
    click.echo(
        f"{count_of(answers, 'answer')} by {count_of(len(found.raters), 'rater')} on "
        f"{count_of(len(found.judgments), 'list' if options.lists else 'result')} of {queries}; "
        f"{found.undecided} undecided"
    )
    interval, odds = span(lean.low, lean.high, "+.2f"), "–" if lean.value is None else number(lean.value, "+.2f")
    click.echo(f"lean to the left: {odds} log odds, 95 % interval {interval}; it is taken out")
    columns = ["rater_id", "n_ratings", "equal", "lean", "tie"]
    rows = [
        [str(row[0]), str(row[1]), *(number(each, ".2f") for each in row[2:])] for row in found.raters[columns].values
    ]
    print_table(rows, ["rater", "answers", "called equal", "lean to the left", "tie"])
    if options.lists:
        click.echo("Queries for which two systems give the same list are not asked about, and not counted.")
        print_table(
            [
                [
                    str(row.system),
                    str(row.other),
                    f"{row.preferred:.2f}",
                    span(*_ends(row)),
                    str(row.answers),
                    str(row.queries),
                ]
                for row in found.systems.itertuples()
            ],
            ["system", "over", "preferred", "95 % interval", "answers", "queries"],
        )
        for note in dict.fromkeys(note for note in found.systems["note"] if note):
            click.echo(f"no interval: {note}")
    for note in found.notes:
        click.echo(note)
    say(f"wrote {', '.join(map(str, files))}")
