"""`relstudy score`: a system against the judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.commands.requirements import end_by, hold_against, read_required, require_option
from relstudy.analysis.commands.score_output import print_run
from relstudy.analysis.commands.scoring_options import given_options, scoring_options
from relstudy.common.archived import in_archive
from relstudy.common.console import print_json
from relstudy.common.errors import RelstudyError
from relstudy.common.option_groups import GroupedCommand
from relstudy.common.probabilities import PAIR
from relstudy.common.reading_options import judgments_reading, reading_options
from relstudy.common.study_folder import notes_on_scores, only_folder, scores_in, table_in

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from relstudy.analysis.judges.run import AssistedScores
    from relstudy.analysis.judges.table import JudgeTable
    from relstudy.analysis.scoring.results import ScoreResult
    from relstudy.analysis.scoring.saved import SavedComparison
    from relstudy.calibration.judgments import Judgments
    from relstudy.common.reading import Reading
    from relstudy.mapping.scores.score_table import ScoreTable


OPTION_GROUPS = {
    "What is scored": (
        *("judgments", "against", "mappings", "method", "folds", "direction", "policy", "allow-low-coverage"),
        *("ids", "query-vectors", "similarity"),
    ),
    "What counts as relevant, and how much each pair weighs": (
        *("threshold", "relevance", "ratings", "correlation", "weights", "power", "measure"),
    ),
    "Intervals": ("replicates", "seed", "level", "population", "raters", "judge"),
    "Groups": ("by", "apart"),
    "Reading the judgments": ("columns", "values", "scale", "missing"),
    "What is written": ("out", "save", "report", "qrels", "verbose", "json"),
}


@click.command(cls=GroupedCommand, option_groups=OPTION_GROUPS)
@click.argument("scores", nargs=-1, required=True, type=click.Path())
@click.option("--judgments", "-j", type=click.Path(), help="Judgments, or a study's archive, to score against.")
@click.option(
    "--mappings", type=click.Path(), help="Folder (or file) of fitted mappings, as `relstudy fit` writes them."
)
@scoring_options
@reading_options
@click.option(
    "--ids", type=click.Path(), help="Ids of vectors (.npy), one a line; by default the .ids.txt beside them."
)
@click.option(
    "--query-vectors", type=click.Path(), help="Vectors (.npy) of the queries, where they are not results too."
)
@click.option(
    "--similarity",
    type=click.Choice(["cosine", "dot", "euclidean"]),
    default="cosine",
    show_default=True,
    help="How vectors are compared.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Also score within groups: a column of the judgments, or of the pairs.csv beside them, such as paradigm.",
)
@click.option(
    "--judge",
    type=click.Path(),
    help="Shorten intervals by an automatic judge's grades of many more pairs: a table as `relstudy judge` writes it.",
)
@click.option("--apart", is_flag=True, help="With --by: fit mappings to each group alone, not to all pairs together.")
@click.option("--qrels", type=click.Path(), help="Write the judgments as TREC qrels, in whole gains from 0.")
@click.option("--save", type=click.Path(), help="Keep the comparison in a file for a later --against.")
@click.option(
    "--against",
    type=click.Path(),
    help="Place the systems among those of a saved comparison, or of a study's archive (.zip).",
)
@click.option("--out", "-o", type=click.Path(), help="Folder for the tables: scores, per query, curves, comparisons.")
@click.option("--report", type=click.Path(), help="Write a report page.")
@require_option
@click.option("--verbose", "-v", is_flag=True, help="Print every convention behind the numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(
    scores: tuple[str, ...],
    judgments: str | None,
    against: str | None,
    save: str | None,
    qrels: str | None,
    out: str | None,
    report: str | None,
    required: tuple[str, ...],
    verbose: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Score systems against the judgments: correlation, precision and recall, normalised rank, with intervals.

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
    from relstudy.analysis.pipeline import score_tables
    from relstudy.analysis.scoring.groups import Grouping
    from relstudy.analysis.scoring.options import ScoringOptions, options_over
    from relstudy.analysis.scoring.outside import Pool
    from relstudy.analysis.scoring.saved import read_comparison
    from relstudy.analysis.scoring.trec import gains_in_words
    from relstudy.mapping.fitted import read_mappings

    if judgments is not None:
        judgments = in_archive(judgments, "judgments.csv")
    if not any(path.endswith(".npy") for path in scores) and (choices["ids"] or choices["query_vectors"]):
        raise click.UsageError("--ids and --query-vectors go with vectors (.npy), and none are given")
    if choices["apart"] and choices["by"] is None:
        raise click.UsageError("--apart goes with --by")
    if out is not None and Path(out).is_file():
        raise RelstudyError(f"{out}: this is a file; --out needs a folder")
    folder = only_folder(scores)
    if folder is not None:
        scores = tuple(scores_in(folder))
        if judgments is None and against is None:
            judgments = str(table_in(folder, "judgments.csv", f"relstudy calibrate {folder}"))
        if choices["mappings"] is None and (folder / "mappings").is_dir():
            choices["mappings"] = str(folder / "mappings")
    reading = judgments_reading(choices, judgments is not None)
    saved = None if against is None else read_comparison(against)
    ratings = choices.pop("ratings")
    if ratings is not None and (judgments is None or saved is not None):
        raise click.UsageError("--ratings goes with --judgments; a saved comparison keeps what it needs of the ratings")
    if judgments is None and saved is None:
        raise click.UsageError(
            f"--judgments (or --against) is needed; try: relstudy score {' '.join(scores)} -j judgments.csv"
        )
    table = _read_judged(judgments, ratings, reading, saved)
    judge = _read_judge(choices["judge"], against)
    requirements = read_required(required)
    given = given_options(choices)
    options = options_over(ScoringOptions(), given) if saved is None else saved.options_with(given)
    fitted = {} if choices["mappings"] is None else read_mappings(choices["mappings"])
    tables = [(file, _read(file, _scored_pairs(table, judge), choices)) for file in scores]
    (file, first), *others = tables
    tables = [(file, first.with_notes(notes_on_scores(folder))), *others]
    by = choices["by"]
    run = score_tables(
        table, tables, options, fitted=fitted, stated=given.get("directions", ()), saved=saved, judge=judge,
        grouping=None if by is None else Grouping(by, _groups(table, by, judgments), choices["apart"]),
        pool=None if judgments is None else Pool.beside(Path(judgments)),
    )  # fmt: skip
    result = run.result
    outcomes = hold_against(requirements, result)
    if qrels is not None:
        _write_qrels(table, qrels)
    if save is not None:
        run.save(save)
    if out is not None:
        _write_tables(result, Path(out), run.assisted)
    if report is not None:
        _report(result, report)
    if as_json:
        content = run.as_json()
        if outcomes:
            content["requirements"] = [each.as_json() for each in outcomes]
        print_json(content)
    else:
        print_run(run, verbose)
        for each in outcomes:
            click.echo(each.line())
        if qrels is not None:
            click.echo(f"Qrels are in {qrels}: {gains_in_words(table.scale.scale)}.")
        if out is not None:
            click.echo(f"Tables are in {out}.")
        if report is not None:
            click.echo(f"The report is in {report}.")
        if save is not None:
            click.echo(f"The comparison is kept in {save}. Next: relstudy score NEW --against {save}")
        if folder is not None:
            click.echo(f"Next: relstudy report {folder}")
    end_by(outcomes)


def _read_judged(file: str | None, ratings: str | None, reading: Reading, saved: SavedComparison | None) -> Judgments:
    """The judgments of a file with what is known of them, or those of the saved comparison; one of the two is given."""
    from relstudy.analysis.scoring.proposers import with_proposers
    from relstudy.analysis.scoring.rated import judgments_with_ratings
    from relstudy.analysis.scoring.saved import same_judgments, with_what_was_saved
    from relstudy.calibration.judgments import read_judgments

    if file is None:
        assert saved is not None
        return saved.judgments
    table = read_judgments(file, reading)
    if saved is None:
        return with_proposers(judgments_with_ratings(table, file, ratings), file)
    same_judgments(saved, table)
    return with_what_was_saved(table, saved)


def _read_judge(path: str | None, against: str | None) -> JudgeTable | None:
    if path is None:
        return None
    from relstudy.analysis.judges.table import read_judge

    if against is not None:
        raise click.UsageError("--judge needs the score tables of all systems, which a saved comparison does not keep")
    return read_judge(path)


def _scored_pairs(judgments: Judgments, judge: JudgeTable | None) -> pd.DataFrame:
    """The pairs that vectors are scored for: those judged, and those that the judge was given."""
    import pandas as pd

    if judge is None:
        return judgments.frame
    given = pd.DataFrame({"query_id": judge.query_id, "result_id": judge.result_id})
    return pd.concat([judgments.frame[PAIR].astype("str"), given], ignore_index=True).drop_duplicates(PAIR)


def _read(path: str, pairs: pd.DataFrame, choices: dict[str, Any]) -> ScoreTable:
    if path.endswith(".npy"):
        from relstudy.analysis.scoring.vectors import read_vectors, vector_scores

        queries = choices["query_vectors"]
        return vector_scores(
            pairs,
            read_vectors(path, choices["ids"]),
            None if queries is None else read_vectors(queries),
            choices["similarity"],
            Path(path).stem,
        )
    from relstudy.mapping.scores.table import read_scores

    return read_scores(path)


def _groups(judgments: Judgments, column: str, file: str | None) -> np.ndarray:
    """Each pair's value of a column, of the judgments or of the pairs.csv beside them."""
    from relstudy.common.groups import groups_of

    if file is None:
        raise click.UsageError("--by takes a column of the judgments, so --judgments is needed")
    return groups_of(judgments.frame, column, Path(file).parent / "pairs.csv")


def _write_qrels(judgments: Judgments, path: str) -> None:
    from relstudy.analysis.scoring.trec import gains, write_qrels

    values, scale = judgments.frame["judgment"].to_numpy(dtype=float), judgments.scale.scale
    write_qrels(judgments.frame, path, gains(values, scale))


def _write_tables(result: ScoreResult, folder: Path, assisted: AssistedScores | None) -> None:
    import pandas as pd

    from relstudy.common.tables import write_table

    write_table(result.table(), folder / "scores.csv")
    write_table(result.per_query, folder / "per_query.csv")
    curves = [system.curve.assign(system=system.name) for system in result.systems]
    write_table(pd.concat(curves, ignore_index=True), folder / "precision_recall.csv")
    if result.comparisons:
        rows = [comparison.as_json() for comparison in result.comparisons]
        write_table(pd.json_normalize(rows), folder / "comparisons.csv")
    if assisted is not None:
        write_table(assisted.table(), folder / "assisted.csv")


def _report(result: ScoreResult, path: str) -> None:
    from relstudy.analysis.report.page import score_page
    from relstudy.common.files import write_text

    write_text(score_page(result), path)
