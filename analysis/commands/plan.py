"""`relstudy plan`: how many queries, pairs and raters tell two systems apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from relstudy.common.console import print_json, print_table, progress, say
from relstudy.common.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.analysis.planning.power import StudyPlan, StudySource
    from relstudy.analysis.planning.variances import Variances


@click.command()
@click.option("--ratings", type=click.Path(), help="Pilot ratings; the variances are taken from them.")
@click.option(
    "--judgments", type=click.Path(), help="Pilot judgments, with --scores: whole queries are redrawn from them."
)
@click.option("--scores", type=click.Path(), help="Pilot scores of the two systems.")
@click.option("--systems", metavar="A,B", help="Which two systems of --scores; needed where it holds more.")
@click.option("--index", type=click.Choice(["pearson", "average_precision", "normalised_rank"]), default="pearson")
@click.option("--power", default=0.8, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True))
@click.option("--alpha", default=0.05, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True))
@click.option(
    "--correlations", metavar="A,B", default="0.5,0.4", show_default=True, help="Of each system with true relevance."
)
@click.option("--alike", default=0.3, show_default=True, help="Correlation of the two systems' errors.")
@click.option("--query-sd", default=0.4, show_default=True, help="Spread of queries' mean relevance.")
@click.option("--result-sd", default=1.0, show_default=True, help="Spread of results within a query.")
@click.option("--noise", default=0.8, show_default=True, help="Spread of one rating around a pair's true relevance.")
@click.option("--results", default=20, show_default=True, type=click.IntRange(1), help="Judged results a query.")
@click.option("--ratings-each", default=1, show_default=True, type=click.IntRange(1), help="Ratings a pair.")
@click.option(
    "--ratings-per-rater", default=300, show_default=True, type=click.IntRange(1), help="Ratings a person gives."
)
@click.option("--relevant-share", default=0.2, show_default=True, help="Share of judged pairs that are relevant.")
@click.option("--weight-spread", default=0.0, show_default=True, help="Coefficient of variation of the design weights.")
@click.option(
    "--threshold", type=float, help="With --judgments: relevant above this.  [default: the middle of the scale]"
)
@click.option("--studies", default=200, show_default=True, type=click.IntRange(20), help="Simulated studies a size.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
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
    from relstudy.analysis.planning.power import plan_study
    from relstudy.common.tables import write_text

    if (choices["judgments"] is None) != (choices["scores"] is None):
        raise click.UsageError("--judgments and --scores belong together")
    source, variances = _source(choices)
    found = plan_study(
        source,
        choices["index"],
        choices["power"],
        choices["alpha"],
        choices["studies"],
        choices["seed"],
        choices["ratings_per_rater"],
        progress=lambda numbers, what: progress(numbers, what, len(numbers)),
    )
    if out is not None:
        from relstudy.analysis.planning.picture import power_curve

        write_text(power_curve(found), out)
        say(f"The power curve is in {out}.")
    if as_json:
        content = found.as_json()
        if variances is not None:
            content["variances"] = variances.as_json()
        print_json(content)
        return
    _print(found, variances)


def _source(choices: dict[str, Any]) -> tuple[StudySource, Variances | None]:
    """Where studies come from, and the variances that stand behind them where there are any."""
    if choices["judgments"] is not None:
        return _piloted(choices), None
    from relstudy.analysis.planning.power import Assumed
    from relstudy.analysis.planning.variances import Variances, variances_of

    if choices["ratings"] is None:
        variances = Variances(choices["query_sd"], choices["result_sd"], 0.0, choices["noise"])
    else:
        from relstudy.calibration.ratings import read_ratings

        variances = variances_of(read_ratings(choices["ratings"]).frame)
    first, second = _two(choices["correlations"], "--correlations", float)
    assumed = Assumed(
        variances,
        first,
        second,
        alike=choices["alike"],
        results=choices["results"],
        ratings_each=choices["ratings_each"],
        ratings_per_rater=choices["ratings_per_rater"],
        relevant_share=choices["relevant_share"],
        weight_spread=choices["weight_spread"],
    )
    return assumed, variances


def _piloted(choices: dict[str, Any]) -> StudySource:
    from relstudy.analysis.planning.power import Piloted
    from relstudy.analysis.scoring.candidate import candidate_of
    from relstudy.analysis.scoring.judged import JudgedPairs
    from relstudy.analysis.scoring.options import ScoringOptions
    from relstudy.calibration.judgments import read_judgments
    from relstudy.mapping.scores import read_scores

    pairs = JudgedPairs.of(read_judgments(choices["judgments"]))
    reason = pairs.weights_missing("design")
    if reason is not None and choices["index"] != "pearson":
        raise RelstudyError(f"{choices['judgments']}: {reason}, so that index cannot be planned for")
    scores = read_scores(choices["scores"])
    names = list(scores["system"].unique())
    if choices["systems"] is not None:
        names = list(_two(choices["systems"], "--systems", str))
    if len(names) != 2:
        raise click.UsageError(f"two systems are compared; --scores holds {len(names)}, so choose with --systems A,B")
    both = []
    for name in names:
        own = scores[scores["system"] == name]
        if own.empty:
            raise RelstudyError(f"{choices['scores']}: there is no system {name!r}")
        both.append(candidate_of(pairs, name, own, ScoringOptions(threshold=choices["threshold"])))
    used = both[0].used & both[1].used
    first, second = (candidate.ranking_of(used) for candidate in both)
    relevant = pairs.relevant(pairs.cut(choices["threshold"]))[used]
    return Piloted(
        pairs.query[used],
        pairs.judgment[used],
        pairs.design_weights("design")[used],
        relevant,
        first,
        second,
        choices["ratings_each"],
    )


def _two(text: str, option: str, kind: Any) -> tuple[Any, Any]:
    parts = [part.strip() for part in text.split(",")]
    try:
        first, second = (kind(part) for part in parts)
    except ValueError:
        raise click.BadParameter(f"{text!r}: two values with a comma between are needed", param_hint=option) from None
    return first, second


def _print(found: StudyPlan, variances: Variances | None) -> None:
    click.echo(found.sentence())
    click.echo()
    rows = [[str(p.queries), f"{p.power:.3f}", f"{p.error:.3f}", str(p.studies)] for p in found.points]
    print_table(rows, ["queries", "power", "standard error", "studies"])
    if variances is not None:
        click.echo()
        raters = f"raters {variances.rater:.3f} before calibration, " if variances.rater > 0 else ""
        click.echo(
            f"Standard deviations: queries {variances.query:.3f}, results {variances.result:.3f}, {raters}"
            f"one rating {variances.noise:.3f}."
        )
