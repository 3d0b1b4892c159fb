"""`relstudy plan`: how many queries, pairs and raters tell two systems apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError
from relstudy.common.option_groups import GroupedCommand
from relstudy.common.option_types import MOST_REPLICATES, Finite, FiniteRange
from relstudy.common.reading_options import NAMES, judgments_reading, reading_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relstudy.analysis.planning.studies import StudySource
    from relstudy.analysis.planning.study_plan import StudyPlan
    from relstudy.calibration.components import Variances


OPTION_GROUPS = {
    "A pilot": ("ratings", "judgments", "scores", "systems", "difference", "threshold"),
    "Two systems and a panel, where there is no pilot": (
        *("correlations", "alike", "query-sd", "result-sd", "noise", "relevant-share", "weight-spread"),
    ),
    "The study": ("results", "ratings-each", "base", "ratings-per-rater", "cost-per-rating"),
    "The test": ("index", "power", "alpha", "studies", "seed"),
    "Reading the pilot": ("columns", "values", "scale", "missing"),
}


@click.command(cls=GroupedCommand, option_groups=OPTION_GROUPS)
@click.option("--ratings", type=click.Path(), help="Pilot ratings; the variances are taken from them.")
@click.option(
    "--judgments", type=click.Path(), help="Pilot judgments, with --scores: whole queries are redrawn from them."
)
@click.option("--scores", type=click.Path(), help="Pilot scores of the two systems.")
@reading_options
@click.option("--systems", metavar="A,B", help="Which two systems of --scores; needed where it holds more.")
@click.option(
    "--index",
    type=click.Choice(["pearson", "average_precision", "normalised_rank"]),
    default="pearson",
    help="Index that is to tell the two systems apart.",
)
@click.option(
    "--power",
    default=0.8,
    show_default=True,
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Share of studies that are to find the better system.",
)
@click.option(
    "--alpha",
    default=0.05,
    show_default=True,
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Level of the two-sided test.",
)
@click.option(
    "--correlations", metavar="A,B", default="0.5,0.4", show_default=True, help="Of each system with true relevance."
)
@click.option("--alike", default=0.3, type=Finite(), show_default=True, help="Correlation of the two systems' errors.")
@click.option("--query-sd", default=0.4, type=Finite(), show_default=True, help="Spread of queries' mean relevance.")
@click.option("--result-sd", default=1.0, type=Finite(), show_default=True, help="Spread of results within a query.")
@click.option(
    "--noise",
    default=0.8,
    type=Finite(),
    show_default=True,
    help="Spread of one rating around a pair's true relevance.",
)
@click.option("--results", default=20, show_default=True, type=click.IntRange(1), help="Judged results per query.")
@click.option(
    "--k",
    "--ratings-each",
    "ratings_each",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Ratings a pair.",
)
@click.option(
    "--base", default=100, show_default=True, type=click.IntRange(0), help="Pairs of the base block, rated by everyone."
)
@click.option("--cost-per-rating", default=0.0, type=FiniteRange(0), help="What a rating costs.")
@click.option(
    "--difference", type=Finite(), help="With --judgments: plan for this difference of the index, not the pilot's own."
)
@click.option(
    "--ratings-per-rater",
    default=300,
    show_default=True,
    type=click.IntRange(1),
    help="Ratings a person gives, base block included.",
)
@click.option(
    "--relevant-share", default=0.2, type=Finite(), show_default=True, help="Share of judged pairs that are relevant."
)
@click.option(
    "--weight-spread",
    default=0.0,
    type=Finite(),
    show_default=True,
    help="Coefficient of variation of the design weights.",
)
@click.option(
    "--threshold", type=Finite(), help="With --judgments: relevant above this.  [default: the cut of the scale]"
)
@click.option(
    "--studies",
    default=200,
    show_default=True,
    type=click.IntRange(20, MOST_REPLICATES),
    help="Simulated studies a size.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of what is drawn at random.")
@click.option("--out", "-o", type=click.Path(), help="Write the power curve as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(out: str | None, as_json: bool, **choices: Any) -> None:
    """Find how many queries, pairs and raters tell two systems apart.

    Studies are simulated and tested as `relstudy score` would test them. The variances come from pilot ratings or are
    stated; or a pilot's judgments and scores are redrawn query by query.

    \b
    relstudy plan --correlations 0.5,0.4 --power 0.8 -o power.svg
    relstudy plan --ratings pilot.csv --results 20 --ratings-each 2
    relstudy plan --judgments pilot/judgments.csv --scores pilot/scores.csv --systems new,old
    """
    from relstudy.analysis.planning.power import PlanOptions, plan_study
    from relstudy.common.files import write_text

    if (choices["judgments"] is None) != (choices["scores"] is None):
        raise click.UsageError("--judgments and --scores belong together")
    if choices["difference"] is not None and choices["judgments"] is None:
        raise click.UsageError("--difference goes with --judgments; without a pilot, --correlations say it")
    source, variances, notes = _source(choices)
    study_plan = plan_study(
        source,
        PlanOptions(**{name: choices[name] for name in PlanOptions.__dataclass_fields__}),
        progress=lambda numbers, what: progress(numbers, what, len(numbers)),
    )
    if out is not None:
        from relstudy.analysis.planning.picture import power_curve

        write_text(power_curve(study_plan), out)
        say(f"The power curve is in {out}.")
    if as_json:
        content = study_plan.as_json()
        if variances is not None:
            content["variances"] = variances.as_json()
        content["notes"] = notes
        print_json(content)
        return
    _print(study_plan, variances, notes)


def _source(choices: dict[str, Any]) -> tuple[StudySource, Variances | None, list[str]]:
    """Where studies come from, the variances that stand behind them where there are any, and what a person should
    know of the tables, one sentence each."""
    if choices["judgments"] is not None:
        source, told = _piloted(choices)
        return source, None, told
    from relstudy.analysis.planning.sources import Assumptions, assumed_studies
    from relstudy.common.reading import Reading

    reading = Reading.stated(**{name: choices[name] for name in NAMES})
    if reading and choices["ratings"] is None:
        raise click.UsageError("--columns, --values, --scale and --missing go with --ratings or --judgments")
    names = [field for field in Assumptions.__dataclass_fields__ if field != "correlations"]
    assumptions = Assumptions(
        _two(choices["correlations"], "--correlations", float), **{name: choices[name] for name in names}
    )
    ratings, notes = None, []
    if choices["ratings"] is not None:
        from relstudy.calibration.ratings import read_ratings

        read = read_ratings(choices["ratings"], reading=reading)
        ratings, notes = read.frame, [read.scale.sentence(), *read.notes]
    assumed = assumed_studies(assumptions, ratings)
    return assumed, assumed.variances, notes


def _piloted(choices: dict[str, Any]) -> tuple[StudySource, list[str]]:
    from relstudy.analysis.planning.sources import Pilot, piloted_studies
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.scores.table import read_scores

    scores = read_scores(choices["scores"])
    systems = None if choices["systems"] is None else _two(choices["systems"], "--systems", str)
    names = scores.systems
    if len(names) < 2:
        raise RelstudyError(f"{choices['scores']}: two systems in one table are needed, and it holds {names[0]} alone")
    if systems is None and len(names) > 2:
        raise click.UsageError(f"two systems are compared; --scores holds {len(names)}, so choose with --systems A,B")
    judgments = read_judgments(choices["judgments"], judgments_reading(choices))
    pilot = Pilot(judgments, scores, systems, (choices["scores"], choices["judgments"]))
    source = piloted_studies(pilot, choices["index"], choices["threshold"], choices["ratings_each"])
    return source, [*source.notes]


def _two(text: str, option: str, kind: Any) -> tuple[Any, Any]:
    parts = [part.strip() for part in text.split(",")]
    try:
        first, second = (kind(part) for part in parts)
    except ValueError:
        raise click.BadParameter(f"{text!r}: two values with a comma between are needed", param_hint=option) from None
    return first, second


def _print(plan: StudyPlan, variances: Variances | None, notes: Sequence[str]) -> None:
    click.echo(plan.sentence())
    click.echo()
    rows = [[str(p.queries), f"{p.power:.3f}", f"{p.error:.3f}", str(p.studies)] for p in plan.points]
    print_table(rows, ["queries", "power", "standard error", "studies"])
    if variances is not None:
        click.echo()
        raters = f"raters {variances.rater:.3f} before calibration, " if variances.rater > 0 else ""
        click.echo(
            f"Standard deviations: queries {variances.query:.3f}, results {variances.result:.3f}, {raters}"
            f"one rating {variances.noise:.3f}."
        )
    for note in notes:
        click.echo(note)
