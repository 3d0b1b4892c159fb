"""relstudy admin status: how far the ratings have come; pause, close and reopen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import CommandOptions, option
from relstudy.common.runtime.console import print_table
from relstudy.common.runtime.wording import count_of, listed, moment, number, percent, quoted
from relstudy.common.tables.meaning.pair_assignment import LEAST_SECONDS

if TYPE_CHECKING:
    from relstudy.studyapp.assignment.slots import Lease
    from relstudy.studyapp.monitoring.deliveries import Undelivered
    from relstudy.studyapp.monitoring.statistics import StudyStatistics
    from relstudy.studyapp.monitoring.status import BlockStatus, LimitStatus, RaterStatus, Status

NOTHING = "–"
BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, kw_only=True)
class StatusOptions(CommandOptions):
    """Options of `relstudy admin status`."""

    pause: bool = option(False, "Assign nothing for now; ratings under way are kept.")
    close: bool = option(False, "End the study.")
    reopen: bool = option(False, "Take ratings again.")
    raters: bool = option(False, "One line for every rater.")
    insight: bool = option(False, "Agreement, use of the scale by source, and raters worth a look.")
    leases: bool = option(False, "Pages of unique pairs in raters' hands.")
    answer: bool = option(False, "Compute which system the ratings so far speak for; with new ratings it is a look.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pause + self.close + self.reopen > 1:
            raise click.UsageError("--pause, --close and --reopen exclude each other.")

    @property
    def state(self) -> str | None:
        """The state that the study is to have; None leaves it as it is."""
        wanted = {"paused": self.pause, "closed": self.close, "open": self.reopen}
        return next((state for state, stated in wanted.items() if stated), None)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@taking(StatusOptions)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(folder: Path, options: StatusOptions, as_json: bool) -> None:
    """Show how far the ratings have come; pause, close or reopen the study.

    \b
    Example:
      relstudy admin status my-study --raters
      relstudy admin status my-study --answer
    """
    from relstudy.common.runtime.console import print_json
    from relstudy.studyapp.assignment.erasure import retention_notes
    from relstudy.studyapp.assignment.slots import read_leases
    from relstudy.studyapp.assignment.unused_pairs import unused_pairs_sentences
    from relstudy.studyapp.assignment.versions import write_state
    from relstudy.studyapp.commands.opening import open_ratings
    from relstudy.studyapp.database.secure_delete import unfinished_deletions
    from relstudy.studyapp.monitoring.audit_log import record_command
    from relstudy.studyapp.monitoring.status import study_status

    study, store = open_ratings(folder)
    if options.state is not None:
        with store.write() as connection:
            write_state(connection, options.state)
        record_command(store, "set state", options.state)
    found = None
    if options.answer:
        from relstudy.studyapp.commands.answer import compute_answer

        found = compute_answer(folder)
    now = study_status(store, study)
    with store.read() as connection:
        overdue = list(retention_notes(connection, study, folder))
    statistics = None
    if options.insight:
        from relstudy.studyapp.monitoring.statistics import study_statistics

        statistics = study_statistics(store, study)
    leases = read_leases(store) if options.leases else None
    if as_json:
        answer = now.as_json()
        if statistics is not None:
            answer["insight"] = statistics.as_json()
        if leases is not None:
            answer["leases"] = [vars(lease) for lease in leases]
        if found is not None:
            answer["answer"] = found.as_json()
        print_json(answer)
        return
    if found is not None:
        for sentence in (found.headline, *found.sentences):
            click.echo(sentence)
        if found.to_go:
            hours = "" if found.hours is None else f": about {found.hours:,.1f} hours of raters' time"
            click.echo(f"{found.to_go:,} answers remain until the planned end{hours}.")
        for line in found.next_round:
            click.echo(line)
        click.echo()
    print_progress(study.title, now)
    for sentence in unused_pairs_sentences(now.not_shown):
        click.echo(f"\n{sentence}.")
    for sentence in filter(None, [*overdue, unfinished_deletions(store)]):
        click.echo(f"\nWarning: {sentence}.")
    if options.raters:
        print_raters(now.people)
    if statistics is not None:
        print_insight(statistics)
    if leases is not None:
        print_leases(leases)
    click.echo(f"\n{next_step(folder, now)}")


def print_progress(title: str, now: Status) -> None:
    """The study's state, who is there, and how much is rated."""
    from relstudy.studyapp.assignment.eligibility import COMPLETED

    click.echo(f"{title}: {now.state}")
    click.echo(f"{_people_sentence(now)} {_ratings_sentence(now)}")
    if otherwise := [f"{count:,} {name}" for name, count in now.outcomes.items() if name != COMPLETED]:
        click.echo(f"Ended otherwise than completed: {listed(otherwise)}.")
    for limit in now.limits:
        click.echo(_limit_sentence(limit))
    if now.webhook is not None and now.webhook.waiting:
        click.echo(_webhook_sentence(now.webhook))
    if now.groups:
        click.echo()
        rows = [
            [
                *(group.name, str(group.finished), str(group.active), _count(group.failed)),
                *(f"{group.quota or NOTHING}", ", ".join(group.blocks)),
            ]
            for group in now.groups
        ]
        _print_filled(rows, ["group", "finished", "at work", "failed checks", "quota", "blocks"])
    click.echo()
    columns: list[tuple[str, Callable[[BlockStatus], str]]] = [
        ("block", lambda block: block.name),
        ("scale", lambda block: block.scale),
        ("pairs", lambda block: f"{block.total_pairs:,}"),
        ("ratings", lambda block: f"{block.ratings:,}"),
        ("undecided", lambda block: _count(block.undecided)),
        ("not shown", lambda block: _count(block.could_not_be_shown)),
        ("pages", _pages),
        ("with raters", lambda block: _count(block.pages_leased)),
        ("overdue", lambda block: _count(block.pages_expired)),
        ("beyond k", lambda block: _count(block.surplus_pages)),
        ("seconds", lambda block: _seconds(block.median_seconds)),
        ("uniformity error", lambda block: number(block.uniformity_error)),
    ]
    _print_filled([[cell(block) for _, cell in columns] for block in now.blocks], [name for name, _ in columns])


def next_step(folder: Path, now: Status) -> str:
    """The command to type after this one."""
    if now.state == "paused":
        return f"Next: relstudy admin status {quoted(folder)} --reopen"
    if now.state == "open" and not now.ratings:
        return f"Next: relstudy serve {quoted(folder)}"
    done, wanted = now.pages_of_unique_pairs
    return f"Next: relstudy export {quoted(folder)}" + (", which takes what there is so far" if done < wanted else "")


def print_raters(people: Sequence[RaterStatus]) -> None:
    """A line for each rater."""
    from relstudy.studyapp.assignment.eligibility import COMPLETED

    click.echo("\nRaters in the order in which they joined:")
    checked = any(person.checks for person in people)
    rows = [
        [
            *(person.rater_id, person.entry, person.state, f"{person.pages:,}", f"{person.ratings:,}"),
            *(str(person.undecided), _seconds(person.median_seconds)),
            f"{person.checks_passed} of {person.checks}" if checked else NOTHING,
            person.group or NOTHING,
            person.outcome if person.outcome not in ("", COMPLETED) else NOTHING,
        ]
        for person in people
    ]
    header = ["rater_id", "entry", "state", "pages", "ratings", "undecided", "seconds", "checks passed"]
    _print_filled(rows, [*header, "group", "outcome"])


def print_insight(statistics: StudyStatistics) -> None:
    """Use of the scale by source, agreement as it grew, and raters worth a look."""
    click.echo()
    uses = [[use.scale, use.source or "all pairs", f"{use.ratings:,}", number(use.error)] for use in statistics.sources]
    print_table(uses, ["scale", "source", "ratings", "uniformity error"])
    if statistics.agreement:
        click.echo("\nKrippendorff's alpha of base pairs as they were rated, before calibration:")
    for line in statistics.agreement:
        computed = [alpha for alpha in line.alpha if alpha is not None]
        last = f"{computed[-1]:.3f} after {count_of(line.ratings[-1], 'rating')}" if computed else "too few ratings yet"
        click.echo(f"  {line.scale}  {sparkline(computed)}  {last}" if computed else f"  {line.scale}  {last}")
    flagged = [[rater, "; ".join(view.flags)] for rater, view in statistics.raters.items() if view.flags]
    if flagged:
        click.echo()
        print_table(flagged, ["rater_id", "worth a look"])


def print_leases(leases: Sequence[Lease]) -> None:
    """Pages of unique pairs in raters' hands."""
    click.echo()
    rows = [
        [
            *(lease.rater_id, lease.block, str(lease.pairs), moment(lease.handed_at)),
            *(moment(lease.leased_until), "expired" if lease.expired else "active"),
        ]
        for lease in leases
    ]
    print_table(rows, ["rater_id", "block", "pairs", "assigned (UTC)", "reserved until (UTC)", "state"])


def sparkline(values: Sequence[float]) -> str:
    """Values between 0 and 1 as bars; what lies outside is shown as the nearest.

    Examples
    --------
    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    return "".join(BARS[min(max(int(value * len(BARS)), 0), len(BARS) - 1)] for value in values)


def _limit_sentence(limit: LimitStatus) -> str:
    """Sentence on progress towards a limit, and on the consequence where it is reached."""
    if limit.name == "deadline":
        said = f"Deadline {moment(limit.most)} UTC"
        return f"{said}: passed; nobody new is admitted, and nothing is assigned." if limit.reached else f"{said}."
    said = f"{limit.now:,.0f} of {limit.most:,.0f} {limit.name} wanted"
    if limit.failed:
        said += f" (besides {limit.failed:,} who failed the attention checks and hold no place)"
    over = "nobody new is admitted" + (", and nothing is assigned" if limit.name == "ratings" else "")
    return f"{said}: {over}." if limit.reached else f"{said}."


def _webhook_sentence(undelivered: Undelivered) -> str:
    """Sentence on what a program has not taken yet."""
    said = f"The webhook has still to take {count_of(undelivered.waiting, 'event')}"
    if not undelivered.refused:
        return f"{said}."
    attempts = count_of(undelivered.refused, "attempt")
    return f"{said}, after {attempts}; the next is at {moment(undelivered.not_before)} UTC."


def _people_sentence(now: Status) -> str:
    if not now.raters:
        return "Nobody has joined yet."
    parts = [
        f"{count} {words}"
        for count, words in (
            (now.finished, "finished"),
            (now.at_work, "at work"),
            (now.not_begun, "consented and not begun"),
            (now.no_place, "consented and found no place"),
            (now.ended, "left before the end"),
            (now.raters - now.consented, "without consent yet"),
        )
        if count
    ]
    return f"{count_of(now.raters, 'rater')}: {listed(parts)}."


def _ratings_sentence(now: Status) -> str:
    undecided = sum(block.undecided for block in now.blocks)
    ratings = f"{count_of(now.ratings, 'rating')}{f', {undecided:,} undecided' if undecided else ''}."
    done, wanted = now.pages_of_unique_pairs
    if not wanted:
        return ratings
    if done == wanted:
        return f"All {wanted:,} pages of unique pairs are rated: {ratings}"
    return f"{done:,} of {wanted:,} pages of unique pairs are rated ({percent(done / wanted)}): {ratings}"


def _pages(block: BlockStatus) -> str:
    return "by everyone" if block.pages_wanted is None else f"{block.pages_done:,} of {block.pages_wanted:,}"


def _print_filled(rows: list[list[str]], header: list[str]) -> None:
    """Print a table without the columns in which nothing stands."""
    filled = [i for i in range(len(header)) if any(row[i] != NOTHING for row in rows)]
    print_table([[row[i] for i in filled] for row in rows], [header[i] for i in filled])


def _count(number: int) -> str:
    return f"{number:,}" if number else NOTHING


def _seconds(median: float | None) -> str:
    return NOTHING if median is None or median < LEAST_SECONDS else f"{median:g}"
