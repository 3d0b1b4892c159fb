"""The output of `relstudy sample`: number of pairs, their cost, and the widths to expect of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.common.runtime.console import print_json, print_table, say
from relstudy.common.runtime.wording import count_of, listed, number, percent

if TYPE_CHECKING:
    from relstudy.studyapp.config.study import Study
    from relstudy.studyapp.sampling.first_round import Sample
    from relstudy.studyapp.sampling.judge_round import JudgeRound
    from relstudy.studyapp.sampling.next_round import NextRound
    from relstudy.studyapp.sampling.options import AssumptionOptions, CostOptions, NextOptions


@dataclass(frozen=True)
class Cost:
    """Assumptions behind the cost."""

    raters: int
    per_pair: int
    seconds: float
    seconds_from: str

    def of(self, base: int, unique: int) -> dict[str, Any]:
        """The entries of the preview that concern cost."""
        from relstudy.studyapp.sampling.preview import rater_hours

        return {
            "rater_hours": rater_hours(base, unique, self.raters, self.per_pair, self.seconds),
            "raters": self.raters,
            "ratings_per_pair": self.per_pair,
            "seconds_per_rating": {"value": self.seconds, "source": self.seconds_from},
        }


def cost_of(folder: Path | None, study: Study | None, options: CostOptions) -> Cost:
    """The cost for so many raters; seconds a rating as given, else the median of the folder's ratings.csv, else 6."""
    per_pair = [block.ratings_per_pair for block in study.blocks if block.unique] if study else []
    return Cost(options.raters, max(per_pair, default=1), *_seconds(folder, options.seconds))


def _seconds(folder: Path | None, given: float | None) -> tuple[float, str]:
    if given is not None:
        return given, "as given"
    if folder is not None and (folder / "ratings.csv").exists():
        import numpy as np

        from relstudy.common.tables.formats.table_files import read_table

        table = read_table(folder / "ratings.csv")
        if "seconds" in table.frame:
            seconds = table.numbers("seconds", low=0, empty=True)
            seconds = seconds[np.isfinite(seconds)]
            if len(seconds) and np.median(seconds) > 0:
                return float(np.median(seconds)), "the median of ratings.csv"
    return 6.0, "an assumption (--seconds)"


def summarise(drawn: Sample, study: Study | None, cost: Cost, assumed: AssumptionOptions) -> dict[str, Any]:
    """The preview as plain JSON.

    Parameters
    ----------
    drawn : the first round
    study : study.toml, from which it follows who is shown what; None if there is none yet
    cost : what ratings cost
    assumed : of the collection, as `chance_of_good` takes it
    """
    from relstudy.studyapp.assignment.unused_pairs import unused_pairs

    pairs, good = drawn.pairs, assumed.good_share
    counts = {(str(kind), str(by)): len(rows) for (kind, by), rows in pairs.groupby(["block", "paradigm"])}
    blocks = pairs["block"].value_counts()
    base, unique = int(blocks.get("base", 0)), int(blocks.get("unique", 0))
    return {
        "pairs": len(pairs),
        "base_pairs": base,
        "unique_pairs": unique,
        "queries": {str(kind): int(group["query_id"].nunique()) for kind, group in pairs.groupby("paradigm")},
        "sources": {str(name): int(count) for name, count in pairs["source"].value_counts().items()},
        "smallest_inclusion_probability": drawn.expectation.smallest,
        "expected_good_share": {
            "value": round(drawn.expectation.good_share(good, assumed.skill), 4),
            "random_pairs": good,
            "assumes": f"{good:.4g} of all pairs are good and each system's scores correlate {assumed.skill:g} with "
            "what people value",
        },
        "estimates": estimates_of(drawn, assumed),
        **cost.of(base, unique),
        "taken_as": drawn.roles,
        "directions": dict(drawn.directions),
        "notes": list(drawn.notes),
        "not_shown": [] if study is None else unused_pairs(counts, study),
    }


def estimates_of(drawn: Sample, assumed: AssumptionOptions) -> dict[str, Any]:
    """Figures that the design can estimate, by way of asking, and those to use instead of what it cannot."""
    from relstudy.common.sampling.design_reach import REACH
    from relstudy.studyapp.sampling.forecast import propose

    this = drawn.design.rounds[0]
    estimates: dict[str, dict[str, Any]] = {}
    for paradigm, forecast in drawn.forecasts(assumed).items():
        estimates[paradigm] = {"depth": this.depth, **forecast.as_json(), "recorded": REACH in drawn.pairs}
        if not estimates[paradigm]["can_estimate"]:
            proposal = propose(this, drawn.queries(paradigm), drawn.expectation.kept[paradigm], assumed)
            estimates[paradigm]["proposal"] = None if proposal is None else vars(proposal)
    return estimates


def print_estimates(estimates: dict[str, Any]) -> None:
    """Print the figures that can be estimated with the widths to expect, one paragraph for each way of asking."""
    from relstudy.analysis.indices.registry import index_of, limited_figures

    for paradigm, estimate in estimates.items():
        of = f"The pairs by {paradigm}" if len(estimates) > 1 else "These pairs"
        speaks = (
            f"all {estimate['candidates']:.0f} results of a query"
            if estimate["depth"] is None
            else f"the pool of the systems' first {estimate['depth']} results ({estimate['candidates']:.0f} a query, "
            f"with an expected {percent(estimate['share_of_good_matches'])} of the good matches)"
        )
        if estimate["can_estimate"]:
            widths = [f"{index_of(name).term} {width:.2f}" for name, width in estimate["expected_width"].items()]
            wide = f"; expected width of a 95 % interval, at least about: {', '.join(widths)}" if widths else ""
            click.echo(
                f"{of} can estimate {listed(limited_figures())} over {speaks} (effective sample "
                f"size {estimate['reach']:.0f}, minimum {estimate['least_reach']:g}){wide}."
            )
            continue
        click.echo(
            f"{of} are too few to estimate {listed(limited_figures())} over {speaks} (effective sample size "
            f"{estimate['reach']:.1f}, minimum {estimate['least_reach']:g}). "
            + (
                "Later steps leave out their intervals; correlations and precision are not concerned."
                if estimate["recorded"]
                else "Their intervals may be too short; with --good stated, later steps leave them out."
            )
        )
        proposal = estimate["proposal"]
        if proposal is None:
            click.echo("No pool of the same number of pairs could; draw more queries, or more results per query.")
        else:
            click.echo(
                f"The same number of pairs could over a pool: --depth {proposal['depth']} --exponent "
                f"{proposal['exponent']:g} --floor {proposal['floor']:g} (effective sample size "
                f"{proposal['reach']:.0f})."
            )


def print_preview(folder: Path, summary: dict[str, Any], preview: bool) -> None:
    """Print what `summarise` gives as a table, and what its figures rest on."""
    from relstudy.studyapp.assignment.unused_pairs import unused_pairs_sentences

    hours = summary["rater_hours"]
    share = summary["expected_good_share"]
    queries = ", ".join(f"{number} by {kind}" for kind, number in summary["queries"].items())
    taken = summary["taken_as"]
    print_table(
        [
            ["taken as queries", _items(taken["queries"])],
            ["taken as results", _items(taken["results"])],
            ["pairs", f"{summary['pairs']} ({summary['base_pairs']} base, {summary['unique_pairs']} unique)"],
            ["queries", queries],
            ["proposed by", ", ".join(f"{name} {number}" for name, number in summary["sources"].items())],
            [
                "expected good matches",
                f"{percent(share['value'], 1)} (random pairs: {percent(share['random_pairs'], 1)})",
            ],
            ["smallest inclusion probability", f"{summary['smallest_inclusion_probability']:.3g}"],
            [
                "rater hours",
                f"{hours['total']:.1f} ({hours['ratings']} ratings; {hours['each']:.1f} h for each of "
                f"{summary['raters']} raters)",
            ],
        ],
        ["", "preview" if preview else "drawn"],
    )
    if taken["assumed_queries"]:
        click.echo(
            f"{count_of(taken['assumed_queries'], 'text has', 'texts have')} no role, and there are pictures too, so "
            "these texts are queries only; role result or both in collection.csv lets them answer, too."
        )
    print_directions(summary["directions"])
    for note in summary["notes"]:
        click.echo(note)
    for sentence in unused_pairs_sentences(summary["not_shown"]):
        click.echo(f"Warning: {sentence}.")
    print_estimates(summary["estimates"])
    click.echo(f"Expected good matches: an assumption, not a measurement: {share['assumes']} (--good, --skill).")
    seconds = summary["seconds_per_rating"]
    click.echo(f"Rater hours: {seconds['value']:.3g} seconds per rating, {seconds['source']}.")
    if preview:
        click.echo("Nothing was written.")
    else:
        say(f"Wrote {folder / 'pairs.csv'}, {folder / 'design.json'} and the systems' scores.")


def print_directions(directions: dict[str, str | None]) -> None:
    """Print the direction of a table's scores, where that is not what everybody would take them for."""
    lower = [name for name, direction in directions.items() if direction == "lower"]
    unstated = [name for name, direction in directions.items() if direction is None]
    if lower:
        click.echo(f"Lower scores are better, as the table says: {', '.join(lower)}.")
    if unstated:
        click.echo(
            f"Higher scores are taken to be better, since no column direction says otherwise: {', '.join(unstated)}."
        )


def _items(counts: dict[str, int]) -> str:
    """So many items of each kind in words.

    Examples
    --------
    >>> _items({"image": 0, "text": 1, "card": 8, "audio": 2, "html": 1}), _items({"text": 0})
    ('1 text, 8 cards, 2 sounds, 1 web page', 'none')
    """
    words = {"image": "picture", "audio": "sound", "video": "film", "html": "web page", "markdown": "page in markdown"}
    named = [_count(count, words.get(kind, kind)) for kind, count in counts.items() if count]
    return ", ".join(named) or "none"


def _count(count: int, what: str) -> str:
    plural = what.replace("page", "pages") if "page" in what else f"{what}s"
    return f"{count} {what if count == 1 else plural}"


def print_next_round(
    folder: Path, added: NextRound, options: NextOptions, cost: Cost, as_json: bool, preview: bool
) -> None:
    """Say what a further round brings."""
    import numpy as np

    number = added.design.rounds[-1].number
    new = added.pairs[added.pairs["round"] == number]
    expected: dict[str, dict[str, Any]] = {
        name: {
            "shares": {
                f"{value:g}": round(float(share), 4) for value, share in zip(options.categories, shares, strict=True)
            },
            "error": round(float(np.abs(shares - 1 / len(shares)).mean()), 4),
        }
        for name, shares in added.plan.expected.items()
    }
    before = {
        str(row["source"]): round(float(row["error"]), 4)
        for _, row in added.before[added.before["round"] == added.before["round"].max()].iterrows()
    }
    summary = {
        "round": number,
        "new_pairs": added.new,
        "pairs": len(added.pairs),
        "queries": int(new["query_id"].nunique()),
        "sources": {str(name): int(count) for name, count in new["source"].value_counts().items()},
        "uniformity_error": {
            "last_round": before,
            "expected": {name: entry["error"] for name, entry in expected.items()},
        },
        "expected_responses": expected,
        "smallest_inclusion_probability": added.smallest,
        **cost.of(0, added.new),
    }
    if as_json:
        print_json(summary)
        return
    labels = [f"{value:g}" for value in options.categories]
    print_table(
        [
            [
                name,
                *(f"{percent(entry['shares'][label])}" for label in labels),
                f"{entry['error']:.3f}",
                f"{before[name]:.3f}" if name in before else "",
            ]
            for name, entry in expected.items()
        ],
        ["expected responses", *labels, "error", "last round"],
    )
    hours = summary["rater_hours"]
    click.echo(
        f"Round {number}: {count_of(added.new, 'new pair')}, {len(added.pairs)} in all; smallest inclusion probability "
        f"{added.smallest:.3g}; {hours['total']:.1f} rater hours at {cost.seconds:.3g} seconds per rating, "
        f"{cost.seconds_from}."
    )
    click.echo(
        "Expected responses rest on the judgments so far; error is the mean |share - 1/K| (Shirahatti and Barnard "
        "2005, Eq. 5.4)."
    )
    if preview:
        click.echo("Nothing was written.")
    else:
        click.echo(
            f"Wrote {folder / 'pairs.csv'} with the probabilities of all rounds combined, and {folder / 'design.json'}."
        )


def print_judge_round(folder: Path, added: JudgeRound, aim: str, cost: Cost, as_json: bool, preview: bool) -> None:
    """Say what a round that a judge shaped brings: how many pairs, and the widths of intervals to expect."""
    from relstudy.studyapp.sampling.further_pairs import sizes_file

    this = added.design.rounds[-1]
    new = added.pairs[added.pairs["round"] == this.number]
    summary = {
        "round": this.number,
        "judge": this.judge,
        "aim": aim,
        "new_pairs": added.new,
        "pairs": len(added.pairs),
        "queries": int(new["query_id"].nunique()),
        "smallest_inclusion_probability": added.smallest,
        "width": {
            each.system: {"now": each.now, "as_before": each.as_before, "expected": each.expected}
            for each in added.widths
        },
        **cost.of(0, added.new),
        "notes": list(added.notes),
    }
    if as_json:
        print_json(summary)
        return
    print_table(
        [[each.system, *map(number, (each.now, each.as_before, each.expected))] for each in added.widths],
        [f"width of {aim.replace('_', ' ')}", "now", "as many drawn as before", "this round"],
    )
    click.echo(
        f"Round {this.number}, shaped by judge {this.judge}: {count_of(added.new, 'new pair')} of "
        f"{count_of(summary['queries'], 'query', 'queries')}, "
        f"{len(added.pairs)} in all; smallest inclusion probability {added.smallest:.3g}; "
        f"{summary['rater_hours']['total']:.1f} rater hours at {cost.seconds:.3g} seconds per rating, "
        f"{cost.seconds_from}."
    )
    click.echo(
        "Widths are of 95 % intervals with the judge's help, and to be expected: they rest on what its grades were "
        "worth so far."
    )
    for note in added.notes:
        click.echo(note)
    if preview:
        click.echo("Nothing was written.")
    else:
        click.echo(
            f"Wrote {folder / 'pairs.csv'} with the probabilities of all rounds combined, {folder / 'design.json'}, "
            f"and {folder / sizes_file(this.number)}, on which this round's probabilities rest."
        )
