"""The options of a scoring run, the same for `relstudy score` and `relstudy report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from relstudy.common.option_types import MOST_REPLICATES, Finite, FiniteRange
from relstudy.mapping.methods import BEST, EVERY_METHOD
from relstudy.mapping.scores.directions import stated_directions

if TYPE_CHECKING:
    from relstudy.analysis.scoring.options import ScoringOptions

METHODS = (*EVERY_METHOD, BEST, "none")
PLAIN = (
    "threshold",
    "relevance",
    "correlation",
    "weights",
    "power",
    "policy",
    "replicates",
    "seed",
    "level",
    "population",
    "raters",
    "method",
    "folds",
)
"""Options that `ScoringOptions` holds under the same name."""

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--method",
        type=click.Choice(METHODS),
        help="Mapping to fit, out of fold, for systems without a fitted one.  [default: isotonic]",
    ),
    click.option("--folds", type=click.IntRange(2), help="Folds by query for the mapping.  [default: 10]"),
    click.option(
        "--threshold",
        type=Finite(),
        help="The cut between relevant and not.  [default: that of the scale, 3.5 on 1-5, 5.5 on 1-9, 0.5 on binary]",
    ),
    click.option(
        "--relevance",
        type=click.Choice(["share", "mean"]),
        help="How relevant a pair is: the share of its ratings above the cut, or 1 where its judgment is above and "
        "else 0.  [default: share where it is known]",
    ),
    click.option(
        "--ratings",
        type=click.Path(),
        help="The calibrated ratings behind the judgments, which another cut needs.  "
        "[default: calibrated.csv beside the judgments]",
    ),
    click.option(
        "--correlation",
        type=click.Choice(["collection", "judged"]),
        help="What systems are compared by: the collection's correlation, for which each judged pair counts as one "
        "over its inclusion probability, or that of the judged pairs alone, as in the paper.  [default: collection "
        "where the probabilities are known]",
    ),
    click.option(
        "--weights",
        type=click.Choice(["design", "equal", "rank-power"]),
        help="How pairs are weighted; rank-power is the paper's rule.  [default: design]",
    ),
    click.option("--power", type=FiniteRange(0), help="Of the rank, with --weights rank-power.  [default: 5]"),
    click.option(
        "--policy",
        type=click.Choice(["drop", "worst"]),
        help="Judged pairs without a score: leave out, or rank last.  [default: drop, but worst for TREC runs]",
    ),
    click.option(
        "--allow-low-coverage", is_flag=True, help="Go on where a system scores under half of the judged pairs."
    ),
    click.option(
        "--direction",
        "directions",
        multiple=True,
        metavar="[SYSTEM=]higher|lower|auto",
        help="Which scores are better, for every index and mapping; the default finds out and says so.",
    ),
    click.option(
        "--replicates", type=click.IntRange(1, MOST_REPLICATES), help="Bootstrap replicates.  [default: 1000]"
    ),
    click.option("--seed", type=click.IntRange(0), help="Seed of bootstrap and folds.  [default: 0]"),
    click.option(
        "--level", type=FiniteRange(0, 1, min_open=True, max_open=True), help="Interval level.  [default: 0.95]"
    ),
    click.option(
        "--population",
        type=click.Choice(["auto", "collection", "open"]),
        help="What intervals speak of: the collection's queries, of which those judged are a sample, or any queries "
        "like them (open).  [default: auto, the collection where query_probability is known and below 1]",
    ),
    click.option(
        "--raters",
        type=click.Choice(["any", "these"]),
        help="Which raters intervals speak of: any like those who rated, or these alone.  [default: any, where the "
        "ratings of at least three raters are known]",
    ),
    click.option(
        "--measure",
        "measures",
        multiple=True,
        metavar="NAME",
        help="A measure of ir-measures, such as nDCG@5 or P@3, in place of nDCG@10, P@10, AP and RR; may be repeated.",
    ),
)


def scoring_options(command: Command) -> Command:
    """Give a command the options of a scoring run, each None (or empty) where it is left out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_options(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `ScoringOptions` that the command line gave."""
    given = {name: choices[name] for name in PLAIN if choices[name] is not None}
    if choices["measures"]:
        given["measures"] = tuple(choices["measures"])
    if choices["directions"]:
        given["directions"] = stated_directions(choices["directions"])
    if choices["allow_low_coverage"]:
        given["low_coverage"] = True
    return given


def as_arguments(choices: Mapping[str, Any], options: ScoringOptions) -> list[str]:
    """The options given, and folds, replicates and seed as they were used, as they stand on a command line."""
    counts = ("folds", "replicates", "seed")
    arguments: list[str] = []
    for name in PLAIN:
        if choices[name] is not None and name not in counts:
            value = choices[name]
            arguments += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    for name, option in (("measures", "--measure"), ("directions", "--direction")):
        for value in choices[name]:
            arguments += [option, value]
    arguments += ["--allow-low-coverage"] if choices["allow_low_coverage"] else []
    return [*arguments, *(text for name in counts for text in (f"--{name}", str(getattr(options, name))))]
