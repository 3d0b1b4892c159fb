"""`relstudy fit`: from score table and judgments to one mapping per system."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from relstudy.common.options.command_options import GroupedCommand, option_under, options_of, taking
from relstudy.common.options.declaration import CommandOptions, fields_given, option
from relstudy.common.runtime.console import print_json, print_table, progress
from relstudy.common.runtime.wording import count_of, percent, quoted, with_ends
from relstudy.common.tables.meaning.reading_options import OF_ANY_TABLE, ReadingOptions
from relstudy.common.tables.meaning.study_folder import judgments_in, only_folder, scores_in
from relstudy.mapping.methods import BEST, ENGINES
from relstudy.mapping.options import MAPPED, FitOptions
from relstudy.mapping.vector_options import VectorOptions

if TYPE_CHECKING:
    from relstudy.calibration.tables.judgments import Judgments
    from relstudy.mapping.scores.score_table import ScoreTable
    from relstudy.mapping.systems import SystemFit


PAIRS = "Which pairs"


@dataclass(frozen=True, kw_only=True)
class FurtherOptions(CommandOptions):
    """Options of `relstudy fit` beside those of reading and fitting."""

    engine: Literal["exact", "sampler", "pymc"] | None = option(
        None,
        "Of --method bayes: exact (the default), sampler or pymc; the last two have the conjugate prior.",
        heading=MAPPED,
    )
    by: str | None = option(
        None,
        "Fit each group of pairs into a folder: a column of the judgments, or of the pairs.csv "
        "beside them, such as paradigm.",
        metavar="COLUMN",
        heading=PAIRS,
    )
    leave_out: tuple[str, ...] = option(
        (), "A system or column not to fit; may be repeated.", metavar="SYSTEM", heading=PAIRS
    )
    only: tuple[str, ...] = option((), "Fit this system only; may be repeated.", metavar="SYSTEM", heading=PAIRS)
    figures: bool = option(False, "Also write NAME.svg per system: pairs, mapping and band.")


@click.command(
    cls=GroupedCommand,
    most_used=("--judgments", "--out", "--method", "--columns", "--figures"),
    epilog="""\b
Examples:
  relstudy fit my-study
  relstudy fit scores.csv --judgments judgments.csv -o mappings
  relstudy fit scores/*.csv --judgments judgments.csv -o mappings --direction distance=lower
  relstudy fit run.trec --judgments judgments.csv -o mappings --method isotonic --json
  relstudy fit scores.csv --judgments judgments.csv -o mappings --method bayes --engine sampler
  relstudy fit scores.csv --judgments judgments.csv -o mappings --by paradigm
""",
)
@click.argument("scores", nargs=-1, required=True, type=click.Path())
@option_under(PAIRS, "--judgments", "-j", type=click.Path(), help="Judgments table: query_id, result_id, judgment.")
@click.option("--out", "-o", "output", type=click.Path(path_type=Path), help="Folder for NAME.json per system.")
@options_of(FitOptions)
@taking(FurtherOptions, "further")
@options_of(ReadingOptions, only=OF_ANY_TABLE, heading="Reading the judgments")
@options_of(VectorOptions, heading="Vectors")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def fit(
    scores: tuple[str, ...],
    judgments: str | None,
    output: Path | None,
    further: FurtherOptions,
    as_json: bool,
    **choices: Any,
) -> None:
    """Map each system's SCORES to the judgments by a monotone function.

    SCORES are tables (long or wide, CSV or Parquet), TREC runs, or vectors (.npy with ids beside them); or one study's
    folder: its scores/ and judgments.csv are read, and mappings/ written there. Methods are compared out of fold, folds
    by query; the in-sample correlation stands beside it only to show how much it flatters.
    """
    from relstudy.calibration.tables.judgments import read_judgments
    from relstudy.calibration.tables.study_tables import pairs_beside
    from relstudy.common.runtime.files import file_names, refuse_over_inputs, together
    from relstudy.common.tables.meaning.group_columns import groups_of
    from relstudy.common.tables.meaning.reading import Reading
    from relstudy.mapping.scores.coverage import covering
    from relstudy.mapping.scores.score_files import named_file, read_score_files, refuse_absent
    from relstudy.mapping.scores.vectors import similarity_of
    from relstudy.mapping.systems import by_group, fit_systems, fits_as_json

    folder, by = only_folder(scores), further.by
    stated = {"-j": judgments, "--mappings": output}
    if folder is not None:
        scores = tuple(scores_in(folder))
        judgments = judgments or str(judgments_in(folder))
        output = output or folder / "mappings"
    if judgments is None or output is None:
        refuse_absent(scores)
        given = f"-j {quoted(judgments or 'judgments.csv')} -o {quoted(output or 'mappings')}"
        raise click.UsageError(
            f"{'--judgments' if judgments is None else '--out'} is missing; try: "
            f"relstudy fit {' '.join(map(quoted, scores))} {given}"
        )
    if further.engine is not None:
        if choices["method"] != "bayes":
            raise click.UsageError(f"--engine goes with --method bayes, not with {choices['method'] or BEST}.")
        choices["method"] = ENGINES[further.engine]
    reading = Reading.stated(choices).among_several()
    judged = read_judgments(judgments, reading)
    similarity = similarity_of(choices, scores)
    table = read_score_files(
        scores, leave_out=further.leave_out, only=further.only or None, reading=reading, similarity=similarity,
        pairs=judged.frame,
    ).by_study(judged.own_ids)  # fmt: skip
    if folder is not None:
        [(_, table)] = covering([("", table)], judged, folder)
    reading.refuse_unfound()
    options = FitOptions(**fields_given(FitOptions, choices))
    parts: dict[str, tuple[ScoreTable, Judgments]] = {"": (table, judged)}
    if by is not None:
        parts = by_group(table, judged, groups_of(judged.frame, by, pairs_beside(judgments)))
    folders = {name: output / file for name, file in file_names(list(parts)).items()} if by else {"": output}
    written = [
        folders[name] / f"{file}.json"
        for name, (scored, _) in parts.items()
        for file in file_names(list(scored.systems)).values()
    ]
    refuse_over_inputs(written, [*(named_file(path)[1] for path in scores), judgments])
    fitted = {}
    for name, (scored, part) in parts.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            absent = set(table.systems) - set(scored.systems)
            stated_here = {system: value for system, value in options.directions.items() if system not in absent}
            fits, notes = fit_systems(
                *(scored, part, replace(options, directions=stated_here)),
                files=(", ".join(scores), judgments),
                progress=lambda systems: progress(systems, "systems", len(systems)),
            )
        disagreeing = sum("chains disagree" in str(warning.message) for warning in caught)
        fitted[name] = fits, [*table.notes, *part.notes, *notes], disagreeing
    with together():
        for name, (fits, _, _) in fitted.items():
            _write(fits, folders[name], further.figures)
    if as_json:
        results = {name: fits_as_json(fits, notes) for name, (fits, notes, _) in fitted.items()}
        print_json(results[""] if by is None else {"by": {"column": by, "groups": results}})
        return
    for name, (fits, notes, disagreeing) in fitted.items():
        if by is not None:
            click.echo(f"{by} {name}")
        results = fits_as_json(fits, notes)["systems"]
        _print(results)
        _print_chains(results, disagreeing)
        ahead = [f"{fit.choice.system}: {fit.choice.chosen.sentence()}" for fit in fits if fit.choice.chosen]
        for line in [*ahead, *(f"{fit.choice.system}: {fit.direction_sentence()}." for fit in fits)]:
            click.echo(line)
        click.echo(
            "Intervals are over queries and not corrected for the share of a collection that was drawn, as those of "
            "relstudy score are where it is known."
        )
        for note in notes:
            click.echo(note)
        click.echo(f"{count_of(len(fits), 'mapping')} written to {folders[name]}.")
    if folder is not None and by is None:
        further_words = [f" {option} {quoted(path)}" for option, path in stated.items() if path is not None]
        click.echo(f"Next: relstudy score {quoted(folder)}{''.join(further_words)}")


def _write(fits: list[SystemFit], output: Path, figures: bool) -> None:
    from relstudy.common.runtime.files import file_names, write_text

    files = file_names([fit.choice.system for fit in fits])
    for fit in fits:
        file = files[fit.choice.system]
        fit.choice.mapping.write(output / f"{file}.json")
        if figures:
            from relstudy.mapping.plots import mapping_figure

            picture = mapping_figure(fit.choice.mapping, fit.pairs["score"], fit.pairs["judgment"], alone=True)
            write_text(picture, output / f"{file}.svg")


def _print(results: dict[str, Any]) -> None:
    rows = []
    for system, scored in results.items():
        for method, figures in scored.items():
            if method == "best":
                continue
            mark = "taken" if method == scored["best"] else ""
            rows.append([system, method, *(_cell(figures[k]) for k in ("out_of_fold", "rmse", "in_sample")), mark])
    print_table(rows, ["system", "method", "out of fold (95 %)", "RMSE (95 %)", "in sample", ""])
    reasons = {
        f["reason"] for s in results.values() for m in s.values() if m != s["best"] for f in m.values() if "reason" in f
    }
    for reason in sorted(reasons):
        click.echo(f"– or 0: {reason}")


def _cell(figure: dict[str, Any]) -> str:
    return with_ends(figure["value"], figure["low"], figure["high"])


def _print_chains(results: dict[str, Any], disagreeing: int) -> None:
    """Where fits were sampled: how far the chains of the fits to all pairs can be trusted, and those of the folds."""
    rows = []
    for system, scored in results.items():
        chains = scored[scored["best"]].get("chains")
        if chains is not None:
            numbers = [f"{chains['chains']} x {chains['draws']}", f"{chains['r_hat']:.3f}", f"{chains['ess_bulk']:.0f}"]
            rows.append([system, *numbers, percent(chains["retained"])])
    if rows:
        print()
        print_table(rows, ["system", "chains x draws", "R-hat", "effective draws", "kept the order"])
        print(f"fits, those of the folds counted, whose chains disagree (R-hat above 1.01): {disagreeing}")
