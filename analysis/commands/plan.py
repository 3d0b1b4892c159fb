"""`relstudy plan`: how many queries, pairs and raters tell two systems apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.planning.options import PILOT, Assumptions, PlanOptions, passed_over
from relstudy.common.options.command_options import GroupedCommand, option_under, options_of
from relstudy.common.options.declaration import fields_given
from relstudy.common.runtime.console import print_json, print_table, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.reading_options import OF_ANY_TABLE, ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relstudy.analysis.planning.simulated_studies import Piloted, StudySource
    from relstudy.analysis.planning.study_plan import StudyPlan
    from relstudy.calibration.reliability.variance_components import Variances
    from relstudy.calibration.tables.decision import Decision


@click.command(cls=GroupedCommand, most_used=("--difference", "--power", "--ratings", "--judgments", "--advise"))
@click.argument("study", required=False, type=click.Path(path_type=Path))
@option_under(PILOT, "--ratings", type=click.Path(), help="Pilot ratings; the variances are taken from them.")
@option_under(
    PILOT,
    "--judgments",
    type=click.Path(),
    help="Pilot judgments, with --scores: whole queries are redrawn from them.",
)
@option_under(
    PILOT,
    "--scores",
    multiple=True,
    type=click.Path(),
    metavar="[NAME=]PATH",
    help="Pilot scores of the two systems; may be repeated, one table each.",
)
@options_of(ReadingOptions, only=OF_ANY_TABLE, heading="Reading the pilot")
@option_under(PILOT, "--systems", metavar="A,B", help="Which two systems of --scores; needed where it holds more.")
@options_of(PlanOptions, Assumptions)
@click.option("--out", "-o", type=click.Path(), help="Write the power curve as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(study: Path | None, out: str | None, as_json: bool, **choices: Any) -> None:
    """Find how many queries, pairs and raters tell two systems apart.

    Simulates whole studies with your design, through `sample`, `calibrate` and `score`; with STUDY, a study's folder,
    by its own design. The variances come from pilot ratings or are stated; or a
    pilot's judgments and scores are redrawn query by query.

    \b
    relstudy plan my-study --correlations 0.5,0.4
    relstudy plan --correlations 0.5,0.4 --power 0.8 -o power.svg
    relstudy plan --ratings pilot.csv --results 20 --ratings-each 2
    relstudy plan --judgments pilot/judgments.csv --scores pilot/scores.csv --systems new,old
    """
    from relstudy.analysis.planning.power import plan_study
    from relstudy.analysis.planning.study_design import as_stated, design_of_study
    from relstudy.common.runtime.files import write_text

    if (choices["judgments"] is None) != (not choices["scores"]):
        raise click.UsageError("--judgments and --scores belong together")
    if choices["difference"] is not None and choices["judgments"] is None:
        raise click.UsageError("--difference goes with --judgments; without a pilot, --correlations say it")
    idle = passed_over(choices, redrawn=choices["judgments"] is not None, rated=choices["ratings"] is not None)
    design = None
    if study is not None:
        if choices["judgments"] is not None:
            raise click.UsageError("--judgments are a pilot's, whose design is in them; leave out the study's folder")
        design = design_of_study(study)
        choices |= design.under(choices)
    source, variances, decision, notes = _source(choices)
    notes = [*idle, *([] if design is None else [design.note]), *notes]
    study_plan = plan_study(
        source,
        PlanOptions(**fields_given(PlanOptions, choices)),
        progress=lambda numbers, what: progress(numbers, what, len(numbers)),
    )
    study_plan = as_stated(study_plan, decision, design)
    if out is not None:
        from relstudy.analysis.planning.picture import power_curve

        write_text(power_curve(study_plan), out)
        say(f"The power curve is in {out}.")
    if as_json:
        content = study_plan.as_json()
        if variances is not None:
            content["variances"] = variances.as_json()
            if variances.study is not None:
                content["generalizability"] = variances.study.as_json()
        content["notes"] = notes
        print_json(content)
        return
    _print(study_plan, variances, notes)


def _source(choices: dict[str, Any]) -> tuple[StudySource, Variances | None, Decision, list[str]]:
    """Where studies come from, the variances that stand behind them if there are any, what a pilot states of the
    analysis, and what a person should know of the tables, one sentence each."""
    if choices["judgments"] is not None:
        source, decision = _piloted(choices)
        return source, None, decision, [*source.notes]
    from relstudy.analysis.planning.sources import assumed_studies
    from relstudy.calibration.tables.decision import Decision
    from relstudy.common.tables.meaning.reading import Reading

    reading = Reading.stated(choices)
    if reading and choices["ratings"] is None:
        raise click.UsageError(
            "--columns, --values, --scale, --missing, --where and --items go with --ratings or --judgments"
        )
    assumptions = Assumptions(**fields_given(Assumptions, choices))
    read, notes = None, []
    if choices["ratings"] is not None:
        from relstudy.calibration.tables.ratings import read_ratings

        read = read_ratings(choices["ratings"], reading=reading)
        notes = [read.scale.sentence(), *read.notes]
    assumed, variances = assumed_studies(assumptions, read, choices["raters"])
    return assumed, variances, Decision(), notes


def _piloted(choices: dict[str, Any]) -> tuple[Piloted, Decision]:
    from relstudy.analysis.planning.sources import Pilot, piloted_studies
    from relstudy.calibration.tables.decision import Decision
    from relstudy.calibration.tables.study_tables import read_study_tables
    from relstudy.common.tables.meaning.reading import Reading
    from relstudy.mapping.scores.score_files import read_score_files

    reading, file = Reading.stated(choices).among_several(), ", ".join(choices["scores"])
    scores = read_score_files(choices["scores"], reading=reading)
    systems = None if choices["systems"] is None else _two(choices["systems"], "--systems")
    names = scores.systems
    if len(names) < 2:
        raise RelstudyError(f"{file}: two systems are needed, and {names[0]} is alone; --scores may be repeated")
    if systems is None and len(names) > 2:
        raise click.UsageError(f"two systems are compared; --scores holds {len(names)}, so choose with --systems A,B")
    study = read_study_tables(choices["judgments"], reading)
    reading.refuse_unfound()
    pilot = Pilot(study, scores, systems, (file, choices["judgments"]))
    options, each = PlanOptions(**fields_given(PlanOptions, choices)), Assumptions(**fields_given(Assumptions, choices))
    source = piloted_studies(pilot, options, each.ratings_each)
    return source, Decision(source.decides, study.decision.matters)


def _two(text: str, option: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2:
        raise click.BadParameter(f"{text!r}: two names with a comma between are needed", param_hint=option)
    return parts[0], parts[1]


def _print(plan: StudyPlan, variances: Variances | None, notes: Sequence[str]) -> None:
    click.echo(plan.sentence())
    for each in plan.sentences():
        click.echo(each)
    click.echo()
    supposed = plan.supposed()
    if supposed is not None:
        click.echo(f"Simulated as if {supposed} were the true one:")
    rows = [
        [f"{p.queries}", f"{p.power:.3f}", f"{p.error:.3f}", f"{p.verdict or 0:.3f}", f"{p.studies}"]
        for p in plan.points
    ]
    print_table(rows, ["queries", "power", "standard error", "verdict", "studies"])
    if plan.more:
        click.echo()
        beside = [[each.what, f"{each.ratings:,}", str(each.raters), f"{each.point.power:.2f}"] for each in plan.more]
        print_table(beside, ["with", "ratings", "raters", "power"])
    if variances is not None:
        click.echo()
        raters = f"raters {variances.rater:.3f} before calibration, " if variances.rater > 0 else ""
        click.echo(
            f"Standard deviations: queries {variances.query:.3f}, results {variances.result:.3f}, {raters}"
            f"one rating {variances.noise:.3f}."
        )
        if variances.study is not None:
            click.echo(variances.study.sentence())
    for note in notes:
        click.echo(note)
