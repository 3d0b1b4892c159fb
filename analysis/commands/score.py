"""`relstudy score`: a system against the judgments."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.commands.requirements import end_by, hold_against, read_required, require_option
from relstudy.analysis.commands.score_output import print_next, print_run
from relstudy.analysis.commands.scoring_options import as_arguments, file_arguments, scoring_arguments, scoring_options
from relstudy.analysis.scoring.options import SCORED, ScoringOptions, TestOptions
from relstudy.common.cluster import with_cluster
from relstudy.common.options.command_options import GroupedCommand, option_under, options_of, refuse_all_but, taking
from relstudy.common.options.declaration import CommandOptions, fields_given, option
from relstudy.common.runtime.console import print_json
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import as_argument, quoted
from relstudy.common.tables.formats.overwriting import with_overwrite
from relstudy.common.tables.meaning.reading_options import ReadingOptions
from relstudy.common.tables.meaning.study_folder import (
    answers_file,
    is_side_by_side,
    judgments_in,
    mappings_in,
    only_folder,
    scores_in,
    table_in,
)
from relstudy.mapping.vector_options import VectorOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from relstudy.analysis.pipeline import ScoringRun
    from relstudy.analysis.scoring.saved import SavedComparison
    from relstudy.calibration.tables.judgments import Judgments
    from relstudy.calibration.tables.study_tables import StudyTables
    from relstudy.common.tables.meaning.reading import Reading
    from relstudy.mapping.scores.score_table import ScoreTable


WRITTEN = "What is written"


@dataclass(frozen=True, kw_only=True)
class Written(CommandOptions):
    """What `relstudy score` writes and prints."""

    qrels: str | None = option(
        None, "Write the judgments as TREC qrels, in whole gains from 0.", metavar="PATH", heading=WRITTEN
    )
    save: str | None = option(
        None, "Keep the comparison in a file for a later --against.", metavar="PATH", heading=WRITTEN
    )
    out: str | None = option(
        None,
        "Folder for the tables: scores, per query, curves, comparisons.",
        flags=("--out", "-o"),
        metavar="PATH",
        heading=WRITTEN,
    )
    report: str | None = option(None, "Write a report page.", metavar="PATH", heading=WRITTEN)
    verbose: bool = option(
        False, "Print every convention behind the numbers.", flags=("--verbose", "-v"), heading=WRITTEN
    )

    def tables(self) -> dict[str, Path]:
        """The file of each table that -o may write, by the table's name."""
        return {} if self.out is None else {name: Path(self.out) / f"{name}.csv" for name in TABLES}


@click.command(cls=GroupedCommand, most_used=("--judgments", "--measure", "--by", "--out", "--report"))
@click.argument("scores", nargs=-1, required=True, type=click.Path())
@option_under(SCORED, "--judgments", "-j", type=click.Path(), help="Judgments, or a study's archive, to score against.")
@option_under(
    SCORED,
    "--mappings",
    type=click.Path(),
    help="Folder (or file) of fitted mappings, as `relstudy fit` writes them.",
)
@scoring_options
@options_of(ReadingOptions, heading="Reading the judgments")
@options_of(VectorOptions, heading=SCORED)
@option_under(
    "Groups",
    "--by",
    metavar="COLUMN",
    help="Also score within groups: a column of the judgments, of --queries, or of the pairs.csv beside them, such as "
    "paradigm; or by groups of people: a column of the ratings behind the judgments, such as group.",
)
@option_under(
    "Intervals",
    "--judge",
    type=click.Path(),
    help="Shorten intervals by an automatic judge's grades of many more pairs: a table as `relstudy judge` writes it.",
)
@option_under(
    "Groups", "--apart", is_flag=True, help="With --by: fit mappings to each group alone, not to all pairs together."
)
@option_under(
    SCORED,
    "--against",
    type=click.Path(),
    help="Place the systems among those of a saved comparison, or of a study's archive (.zip).",
)
@taking(Written, "written")
@options_of(TestOptions)
@require_option
@with_overwrite
@with_cluster
@option_under(WRITTEN, "--json", "as_json", is_flag=True, help="Print JSON.")
def score(
    scores: tuple[str, ...],
    judgments: str | None,
    against: str | None,
    required: tuple[str, ...],
    written: Written,
    as_json: bool,
    **choices: Any,
) -> None:
    """Score systems against the judgments: correlation, precision and recall, pairwise accuracy, with intervals.

    SCORES are score tables (CSV or Parquet, long or wide), TREC runs, or vectors (.npy with ids beside them); or one
    study's folder, whose scores/, judgments.csv and mappings/ are then taken.

    \b
    relstudy score my-study
    relstudy score new.run --judgments judgments.csv --report new.html
    relstudy score scores/*.csv --judgments judgments.csv --mappings mappings --save comparison.json
    relstudy score new.csv --against comparison.json
    relstudy score new.run --against study.zip
    relstudy score scores/*.csv --judgments judgments.csv --judge judges/model.csv
    """
    from relstudy.analysis.judges.table import read_judge
    from relstudy.analysis.score_request import ScoreRequest, refuse_what_does_not_go_together
    from relstudy.analysis.scoring.saved import read_comparison
    from relstudy.analysis.scoring.trec import qrels_gains
    from relstudy.calibration.tables.study_tables import InputFile
    from relstudy.common.runtime.files import refuse_over_inputs, together
    from relstudy.common.tables.formats.table_files import read_table, write_table
    from relstudy.common.tables.meaning.reading import Reading
    from relstudy.mapping.fitted import mapping_files, read_mappings
    from relstudy.mapping.scores.score_files import named_file, read_named, refuse_absent
    from relstudy.mapping.scores.vectors import similarity_of

    similarity = similarity_of(choices, scores)
    if written.out is not None and Path(written.out).is_file():
        raise RelstudyError(f"{written.out}: this is a file; --out needs a folder")
    folder = only_folder(scores)
    files = {"judgments": judgments, "against": against}
    files |= {name: choices[name] for name in ("ratings", "mappings", "judge", "queries")}
    systems = ["DIR"] if folder is not None else [_without_path(path) for path in scores]
    if folder is not None and is_side_by_side(folder):
        refuse_all_but("scores", "as_json", "verbose", beside="a study of preferences")
        score_side_by_side(folder, as_json)
        return
    if folder is not None and (answers := answers_file(folder)) is not None:
        refuse_all_but("scores", "judgments", "as_json", "verbose", beside="a study of answers")
        score_answers(answers, judgments or judgments_in(folder), as_json)
        return
    if folder is not None:
        scores = tuple(scores_in(folder))
        if judgments is None and against is None:
            judgments = str(judgments_in(folder))
        choices["mappings"] = choices["mappings"] or mappings_in(folder)
    reading = Reading.stated(choices).among_several()
    if judgments is None and reading.tells_answers:
        raise RelstudyError("--values, --scale, --missing and --gains are for the judgments, and none are given")
    asked_for = [choices[name] for name in ("mappings", "judge", "queries", "ratings")]
    refuse_over_inputs(
        [written.qrels, written.save, written.report, *written.tables().values()],
        [*(named_file(path)[1] for path in scores), judgments, against, *asked_for],
    )
    if judgments is None and against is None:
        refuse_absent(scores)
        raise click.UsageError(
            "--judgments (or --against) is needed; try: "
            f"relstudy score {' '.join(map(quoted, scores))} -j judgments.csv"
        )
    ratings = choices.pop("ratings")
    try:
        refuse_what_does_not_go_together(
            judgments=judgments is not None, against=against is not None, ratings=ratings is not None,
            judge=choices["judge"] is not None, by=choices["by"] is not None, apart=choices["apart"],
        )  # fmt: skip
    except RelstudyError as error:
        raise click.UsageError(str(error)) from None
    saved = None if against is None else read_comparison(against)
    study = _read_judged(judgments, ratings, reading, saved, folder)
    if choices["queries"] is not None:
        of_queries = reading.names_only(read_table(choices["queries"]), "queries")
        study = study.with_table_of_queries(of_queries, InputFile.of(Path(choices["queries"]), folder))
    judge = None if choices["judge"] is None else read_judge(choices["judge"], reading=reading)
    requirements = read_required(required)
    given, by = fields_given(ScoringOptions, choices), choices["by"]

    def read(asked: pd.DataFrame) -> list[tuple[str, ScoreTable]]:
        return [(file, read_named(file, reading, similarity, asked)) for file in scores]

    request = ScoreRequest(
        study, read, reading, given, saved, judge,
        fitted={} if choices["mappings"] is None else read_mappings(choices["mappings"]),
        by=by, apart=choices["apart"], tests=fields_given(TestOptions, choices), folder=folder,
    )  # fmt: skip
    table, run = study.judgments, request.run()
    result = run.result
    outcomes = hold_against(requirements, result)
    if written.qrels is not None:
        _write_qrels(table, written.qrels)
    if written.save is not None:
        run.save(written.save)
    kept, refused = folder is not None and saved is None and judge is None, None
    if folder is not None and kept:
        of_mappings = mapping_files(Path(choices["mappings"] or folder / "mappings"))
        refused = _keep(run, folder, [*scores, *of_mappings], reading)
    with together():
        for name, path in written.tables().items():
            found = TABLES[name](run)
            if found is not None:
                write_table(found, path)
    if written.report is not None:
        files_read = [*(named_file(path)[1] for path in scores), *([] if against is None else [against])]
        command = ["relstudy", "score", *systems, *file_arguments(files), *as_arguments(TestOptions, choices)]
        command += ["--by", by, *(["--apart"] if choices["apart"] else [])] if by is not None else []
        command += [*as_arguments(ReadingOptions, choices), *as_arguments(VectorOptions, choices)]
        _report(run, written.report, folder, files_read, [*command, *scoring_arguments(choices, request.options)])
    if as_json:
        content = run.as_json()
        if outcomes:
            content["requirements"] = [each.as_json() for each in outcomes]
        print_json(content)
    else:
        print_run(run, written.verbose)
        for each in outcomes:
            click.echo(each.line())
        if written.qrels is not None:
            click.echo(f"Qrels are in {written.qrels}: {qrels_gains(table)[1]}.")
        if written.out is not None:
            click.echo(f"Tables are in {written.out}.")
        if written.report is not None:
            click.echo(f"The report is in {written.report}.")
        if written.save is not None:
            click.echo(f"The comparison is kept in {written.save}.")
        if refused is not None:
            click.echo(refused)
        following = None if written.save is None else f"relstudy score NEW --against {quoted(written.save)}"
        if folder is not None:
            shown = kept and refused is None and files["mappings"] is None and not reading
            following = _report_of(run, folder, files, choices) if shown else f"relstudy report {quoted(folder)}"
        print_next(run, following, written.verbose)
    end_by(outcomes)


def _report_of(run: ScoringRun, folder: Path, files: Mapping[str, str | None], choices: Mapping[str, Any]) -> str:
    """The command whose page shows the run that was kept in a study's folder: its files and options are this run's.

    A page's groups have mappings of their own, and what it says of groups that were mapped together is another thing.
    """
    from relstudy.analysis.study_run import KEPT

    stated = [(name, files[name]) for name in ("judgments", "ratings", "queries")]
    words = [word for name, file in stated if file is not None for word in (f"--{name}", file)]
    words += [*as_arguments(ScoringOptions, choices), *as_arguments(TestOptions, choices)]
    words += [] if choices["by"] is None else ["--by", choices["by"]]
    mapped = any(each.mapped is not None for each in run.candidates)
    others = run.within is not None and not run.within.apart and mapped
    how = "; groups by each group's own mappings, as --apart has them" if others else ""
    return f"{shlex.join(['relstudy', 'report', as_argument(folder), *words])} (shows this run, kept in {KEPT}{how})"


def score_side_by_side(folder: Path, as_json: bool) -> None:
    """Compare the systems of a study that asked which of two is better, and print it."""
    from relstudy.analysis.side_by_side import side_by_side_of_study
    from relstudy.common.runtime.console import print_table

    ratings = table_in(folder, "ratings.csv", f"relstudy export {quoted(folder)}")
    found = side_by_side_of_study(folder, ratings)
    if as_json:
        print_json(found.as_json())
        return
    headline, *rest = found.sentences()
    click.echo(headline)
    print_table(*found.text_rows())
    for sentence in rest:
        click.echo(sentence)


def score_answers(answers: Path, judgments: str | Path, as_json: bool) -> None:
    """Compare the models of a study of answers, and print it."""
    from relstudy.analysis.answers import answers_of_study, sentences, table_rows
    from relstudy.common.runtime.console import print_table

    found = answers_of_study(answers, judgments)
    if as_json:
        print_json(found.as_json())
        return
    headline, *rest = sentences(found)
    click.echo(headline)
    print_table(*table_rows(found))
    for sentence in rest:
        click.echo(sentence)


def _without_path(scores: str) -> str:
    """A score table as it was given, with the name that its system is to have, by its file's name alone."""
    from relstudy.mapping.scores.score_files import named_file

    name, file = named_file(scores)
    return Path(file).name if name is None else f"{name}={Path(file).name}"


def _read_judged(
    file: str | None, ratings: str | None, reading: Reading, saved: SavedComparison | None, folder: Path | None
) -> StudyTables:
    """The judgments of a file with what lies beside them, or those of the saved comparison; one of the two is given."""
    from relstudy.calibration.tables.study_tables import read_study_tables

    if file is None:
        assert saved is not None
        return saved.study
    completed = None if saved is None else saved.complete
    return read_study_tables(file, reading, ratings, folder=folder, completed=completed)


def _write_qrels(judgments: Judgments, path: str) -> None:
    from relstudy.analysis.scoring.trec import qrels_gains, write_qrels

    write_qrels(judgments.frame, path, qrels_gains(judgments)[0])


def _curves(run: ScoringRun) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([system.curve.assign(system=system.name) for system in run.result.systems], ignore_index=True)


def _comparisons(run: ScoringRun) -> pd.DataFrame | None:
    import pandas as pd

    rows = [comparison.as_json() for comparison in run.result.comparisons]
    return pd.json_normalize(rows) if rows else None


def _differences_within(run: ScoringRun) -> pd.DataFrame | None:
    compared = run.within is not None and any(result.comparisons for result in run.within.results.values())
    return run.within.differences() if run.within is not None and compared else None


def _tests_within(run: ScoringRun) -> pd.DataFrame | None:
    return None if run.within is None or run.within.tests is None else run.within.tests_table()


TABLES: dict[str, Callable[[ScoringRun], pd.DataFrame | None]] = {
    "scores": lambda run: run.result.table(),
    "per_query": lambda run: run.result.per_query,
    "precision_recall": _curves,
    "comparisons": _comparisons,
    "assisted": lambda run: None if run.assisted is None else run.assisted.table(),
    "groups": lambda run: None if run.within is None else run.within.table(),
    "group_comparisons": _differences_within,
    "group_tests": _tests_within,
    "tests": lambda run: None if run.tests is None else run.tests.table(),
    "left_out": lambda run: None if run.left_out is None else run.left_out.table(),
}
"""The tables that -o writes, by name; None where a run has none."""


def _keep(run: ScoringRun, folder: Path, read: Sequence[str | Path], reading: Reading) -> str | None:
    """Keep the run in the study's folder; why it is not kept, in a sentence, else None."""
    from relstudy.analysis.study_run import keep_run
    from relstudy.calibration.tables.study_tables import InputFile

    files = [*run.study.files, *(InputFile.of(Path(file), folder) for file in read)]
    return keep_run(run, folder, files, repr(reading) if reading else "")


def _report(run: ScoringRun, path: str, folder: Path | None, read: Sequence[str], command: Sequence[str]) -> None:
    from relstudy.analysis.report.inputs import page_tables
    from relstudy.analysis.report.rendering import html_of
    from relstudy.analysis.report.study import study_page
    from relstudy.calibration.tables.study_tables import InputFile
    from relstudy.common.runtime.files import write_text

    tables = page_tables(run.study, folder, [InputFile.of(Path(file), folder) for file in read])
    write_text(html_of(study_page(run, tables, command)), path)
