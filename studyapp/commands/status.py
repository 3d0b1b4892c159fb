"""relstudy status: how far the ratings have come; pause, close and reopen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from relstudy.studyapp.monitoring.statistics import StudyStatistics


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--pause", "state", flag_value="paused", help="Hand out nothing for now; ratings under way are kept.")
@click.option("--close", "state", flag_value="closed", help="End the study.")
@click.option("--reopen", "state", flag_value="open", help="Take ratings again.")
@click.option("--raters", is_flag=True, help="One line for every rater.")
@click.option("--insight", is_flag=True, help="Agreement, use of the scale by source, and raters worth a look.")
@click.option("--leases", "show_leases", is_flag=True, help="Pages of unique pairs in raters' hands.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, state: str | None, raters: bool, insight: bool, show_leases: bool, as_json: bool) -> None:
    """Show how far the ratings have come; pause, close or reopen the study.

    \b
    Example:
      relstudy status my-study --raters
    """
    from relstudy.common.console import print_json, print_table
    from relstudy.studyapp.assignment.leases import read_leases
    from relstudy.studyapp.assignment.shown import say_not_shown
    from relstudy.studyapp.assignment.study_state import write_state
    from relstudy.studyapp.commands.opening import open_ratings
    from relstudy.studyapp.monitoring.statistics import study_statistics
    from relstudy.studyapp.monitoring.status import study_status

    study, store = open_ratings(folder)
    if state is not None:
        with store.write() as connection:
            write_state(connection, state)
    now = study_status(store, study)
    statistics = study_statistics(store, study) if insight else None
    leases = read_leases(store) if show_leases else None
    if as_json:
        answer = now.as_json()
        if statistics is not None:
            answer["insight"] = statistics.as_json()
        if leases is not None:
            answer["leases"] = [vars(lease) for lease in leases]
        print_json(answer)
        return
    click.echo(
        f"{study.title}: {now.state}; {now.raters} raters ({now.consented} consented, {now.finished} finished), "
        f"{now.ratings} ratings"
    )
    rows = [
        [
            *(block.name, block.scale, str(block.total_pairs), str(block.ratings), str(block.undecided)),
            "all" if block.pages_wanted is None else f"{block.pages_done} of {block.pages_wanted}",
            *(str(block.pages_leased), str(block.pages_expired), str(block.surplus_pages)),
            "–" if block.median_seconds is None else f"{block.median_seconds:g}",
            "–" if block.uniformity_error is None else f"{block.uniformity_error:.3f}",
        ]
        for block in now.blocks
    ]
    header = ["block", "scale", "pairs", "ratings", "undecided", "pages", "leased", "expired", "surplus", "seconds"]
    print_table(rows, [*header, "uniformity error"])
    for sentence in say_not_shown(now.not_shown):
        click.echo(f"\n{sentence}.")
    if raters:
        click.echo()
        people = [
            [
                *(person.rater_id, person.entry, person.state, str(person.pages), str(person.ratings)),
                str(person.undecided),
                "–" if person.median_seconds is None else f"{person.median_seconds:g}",
                f"{person.checks_passed}/{person.checks}",
            ]
            for person in now.people
        ]
        print_table(people, ["rater_id", "entry", "state", "pages", "ratings", "undecided", "seconds", "checks"])
    if statistics is not None:
        _print_statistics(statistics)
    if leases is not None:
        click.echo()
        print_table(
            [
                [
                    *(lease.rater_id, lease.block, str(lease.pairs), _clock(lease.handed_at)),
                    *(_clock(lease.leased_until), "expired" if lease.expired else "active"),
                ]
                for lease in leases
            ],
            ["rater_id", "block", "pairs", "handed out (UTC)", "kept until (UTC)", "state"],
        )


def _print_statistics(statistics: StudyStatistics) -> None:
    from relstudy.common.console import print_table

    click.echo()
    uses = [
        [use.scale, use.source or "all pairs", str(use.ratings), "–" if use.error is None else f"{use.error:.3f}"]
        for use in statistics.sources
    ]
    print_table(uses, ["scale", "source", "ratings", "uniformity error"])
    click.echo()
    growth = [
        [line.scale, str(count), "–" if alpha is None else f"{alpha:.3f}"]
        for line in statistics.agreement
        for count, alpha in zip(line.ratings, line.alpha, strict=True)
    ]
    print_table(growth, ["scale", "base ratings", "Krippendorff's alpha"])
    flagged = [[rater, "; ".join(view.flags)] for rater, view in statistics.raters.items() if view.flags]
    if flagged:
        click.echo()
        print_table(flagged, ["rater_id", "worth a look"])


def _clock(moment: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
