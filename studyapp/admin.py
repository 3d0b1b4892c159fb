"""The researcher's pages: progress, quality, raters, hand-out, invitations, export. Each has a command as well."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, abort, current_app, redirect, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from calibration.errors import RelstudyError
from studyapp import charts, people
from studyapp.access import admin_required
from studyapp.export import people_table, ratings_table
from studyapp.insight import SECONDS, Insight, SourceUse, study_insight
from studyapp.leases import Lease, leases
from studyapp.show import show
from studyapp.site import STATES, site
from studyapp.status import BlockStatus, RaterStatus, Status, study_status

blueprint = Blueprint("admin", __name__, url_prefix="/admin")

FRESH = 5.0  # seconds that the figures may be old
SHARE = 20  # and so many times as long as they took to work out, so that a page left open costs the raters little
RATERS_PER_PAGE = 50
MOST_LINKS = 500


@dataclass(frozen=True)
class Chart:
    """A picture, its legend, and the same as a table."""

    picture: Markup
    legend: tuple[tuple[Markup, str], ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SourceChart:
    """How one source's pairs were rated."""

    name: str
    ratings: int
    error: str
    picture: Markup


@dataclass(frozen=True)
class BlockView:
    """A block's row: `bar` is its progress."""

    status: BlockStatus
    done: int
    wanted: int
    bar: Markup
    seconds: str
    error: str


@dataclass(frozen=True)
class Overview:
    """The first admin page."""

    tab: str
    status: Status
    blocks: tuple[BlockView, ...]
    growth: Chart | None
    seconds: Chart | None
    agreement: Chart | None
    sources: tuple[tuple[str, tuple[SourceChart, ...]], ...]


@dataclass(frozen=True)
class RaterRow:
    """One rater's row; texts are ready to show."""

    status: RaterStatus
    last: str
    agreement: str
    flags: tuple[str, ...]
    spark: Markup


@dataclass(frozen=True)
class RatersPage:
    """One stretch of the list of raters."""

    tab: str
    rows: tuple[RaterRow, ...]
    number: int
    pages: int
    total: int


@dataclass(frozen=True)
class LeaseRow:
    """A lease with its times as shown."""

    lease: Lease
    handed: str
    until: str


@dataclass(frozen=True)
class HandoutPage:
    """What is in whose hands."""

    tab: str
    minutes: float
    blocks: tuple[BlockView, ...]
    leases: tuple[LeaseRow, ...]


@dataclass(frozen=True)
class InvitePage:
    """Ways in, and links just made (shown this once)."""

    tab: str
    base: str
    personal: bool
    crowd: str
    open: bool
    links: tuple[people.Invitation, ...] = ()
    message: str = ""
    most: int = MOST_LINKS


@dataclass(frozen=True)
class ExportPage:
    """What can be downloaded."""

    tab: str
    scales: tuple[str, ...]
    ratings: int
    folder: str


@dataclass(frozen=True)
class ForgetPage:
    """Asks before a rater's data goes."""

    tab: str
    rater_id: str
    ratings: int


def _figures() -> tuple[Status, Insight]:
    """Status and insight, a little while old."""
    cache = current_app.extensions.setdefault("relstudy-figures", {})
    held = cache.get("figures")
    if held is None or time.monotonic() > held[0]:
        here = site()
        began = time.monotonic()
        figures = (study_status(here.store, here.study), study_insight(here.store, here.study))
        ended = time.monotonic()
        held = cache["figures"] = (ended + max(FRESH, SHARE * (ended - began)), figures)
    status, insight = held[1]
    return status, insight


def _forget_figures() -> None:
    current_app.extensions.pop("relstudy-figures", None)


def _moment(seconds: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    return "–" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime(form)


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


@blueprint.get("/")
@admin_required
def overview() -> ResponseReturnValue:
    """Progress, growth, time, use of the scale, agreement."""
    status, insight = _figures()
    page = Overview(
        tab="overview",
        status=status,
        blocks=_blocks(status),
        growth=_growth(insight),
        seconds=_seconds(insight),
        agreement=_agreement(insight),
        sources=_sources(insight),
    )
    return show("admin/overview.html", page)


def _blocks(status: Status) -> tuple[BlockView, ...]:
    texts = site().texts
    views = []
    started = sum(person.state in ("rating", "finished") for person in status.people)
    for block in status.blocks:
        wanted = block.pages * started if block.pages_wanted is None else block.pages_wanted
        words = texts("admin.pages", done=block.pages_done, wanted=wanted)
        views.append(
            BlockView(
                block,
                block.pages_done,
                wanted,
                charts.progress_bar(f"{block.name}: {words}", block.pages_done, block.pages_leased, wanted),
                _figure(block.median_seconds, 1),
                _figure(block.uniformity_error, 3),
            )
        )
    return tuple(views)


def _growth(insight: Insight) -> Chart | None:
    """Ratings over time, a line for each block."""
    if not insight.times:
        return None
    texts = site().texts
    first, last = insight.times[0], insight.times[-1]
    form = "%H:%M" if last - first < 20 * 3600 else "%d %b"
    lines = [
        charts.Line(name, tuple(zip(insight.times, map(float, counts), strict=True)))
        for name, counts in list(insight.growth_of_blocks.items())[:8]
    ]
    picture = charts.line_chart(texts("admin.growth"), lines, show_x=lambda at: _moment(at, form))
    rows = [
        (_moment(insight.times[place]), *(f"{line.points[place][1]:g}" for line in lines))
        for place in range(0, len(insight.times), 5)
    ]
    return Chart(picture, _legend(lines), (texts("admin.time"), *(line.name for line in lines)), tuple(rows))


def _legend(lines: list[charts.Line]) -> tuple[tuple[Markup, str], ...]:
    return tuple((charts.key_mark(index), line.name) for index, line in enumerate(lines)) if len(lines) > 1 else ()


def _seconds(insight: Insight) -> Chart | None:
    """Time per rating, over all blocks."""
    if not insight.times:
        return None
    texts = site().texts
    counts = [sum(column) for column in zip(*insight.seconds.values(), strict=True)]
    ends = [*(f"{low}–{high}" for low, high in itertools.pairwise(SECONDS)), f"{SECONDS[-1]}+"]
    picture = charts.bar_chart(texts("admin.seconds"), [str(low) for low in SECONDS], counts)
    rows = [(end, *(str(block[place]) for block in insight.seconds.values())) for place, end in enumerate(ends)]
    return Chart(picture, (), (texts("admin.seconds.unit"), *insight.seconds), tuple(rows))


def _agreement(insight: Insight) -> Chart | None:
    """Krippendorff's alpha of the base block after the first n ratings."""
    texts = site().texts
    known = [growth for growth in insight.agreement if any(value is not None for value in growth.alpha)]
    if not known:
        return None
    lines = [
        charts.Line(growth.scale, tuple(zip(map(float, growth.ratings), growth.alpha, strict=True)))
        for growth in known[:8]
    ]
    low = -1.0 if any(value is not None and value < 0 for growth in known for value in growth.alpha) else 0.0
    picture = charts.line_chart(texts("admin.agreement"), lines, low=low, high=1.0, show_x=lambda count: f"{count:.0f}")
    rows = [
        (growth.scale, str(count), _figure(value))
        for growth in known
        for count, value in zip(growth.ratings, growth.alpha, strict=True)
    ]
    header = (texts("admin.scale"), texts("admin.ratings"), "α")
    return Chart(picture, _legend(lines), header, tuple(rows))


def _sources(insight: Insight) -> tuple[tuple[str, tuple[SourceChart, ...]], ...]:
    scales: dict[str, list[SourceChart]] = {}
    for use in insight.sources:
        scales.setdefault(use.scale, []).append(_source(use))
    return tuple((scale, tuple(found)) for scale, found in scales.items())


def _source(use: SourceUse) -> SourceChart:
    texts = site().texts
    name = use.source or texts("admin.sources.all")
    label = texts("admin.sources.chart", source=name, scale=use.scale)
    picture = charts.share_chart(label, list(use.shares), list(use.shares.values()))
    return SourceChart(name, use.ratings, _figure(use.error, 3), picture)


@blueprint.get("/raters")
@admin_required
def list_raters() -> ResponseReturnValue:
    """Every rater: progress, time, agreement, checks, flags."""
    status, insight = _figures()
    number = max(1, request.args.get("page", 1, type=int))
    pages = max(1, -(-len(status.people) // RATERS_PER_PAGE))
    number = min(number, pages)
    rows = []
    for person in status.people[(number - 1) * RATERS_PER_PAGE : number * RATERS_PER_PAGE]:
        view = insight.raters.get(person.rater_id)
        rows.append(
            RaterRow(
                person,
                _moment(person.last_rated_at),
                _figure(view.agreement if view else None),
                _flags(person, view.flags if view else ()),
                charts.spark(site().texts("admin.spark", rater=person.rater_id), view.spark if view else ()),
            )
        )
    return show("admin/raters.html", RatersPage("raters", tuple(rows), number, pages, len(status.people)))


def _flags(person: RaterStatus, flags: tuple[str, ...]) -> tuple[str, ...]:
    """A base block that is still under way is no flag."""
    texts = site().texts
    over = person.state == "finished"
    shown = [texts(f"admin.flag.{flag.replace(' ', '-')}") for flag in flags if over or "base" not in flag]
    if person.checks_passed < person.checks:
        shown.append(texts("admin.flag.checks", failed=person.checks - person.checks_passed))
    return tuple(shown)


@blueprint.get("/handout")
@admin_required
def handout() -> ResponseReturnValue:
    """Pages of unique pairs in raters' hands."""
    status, _ = _figures()
    held = tuple(
        LeaseRow(lease, _moment(lease.handed_at), _moment(lease.leased_until)) for lease in leases(site().store)
    )
    blocks = tuple(view for view in _blocks(status) if view.status.pages_wanted is not None)
    return show("admin/handout.html", HandoutPage("handout", site().study.lease_minutes, blocks, held))


def _invite_page(links: tuple[people.Invitation, ...] = (), message: str = "") -> InvitePage:
    study = site().study
    base = (study.url or request.host_url).rstrip("/")
    rules = study.entry.rules
    crowd = people.crowd_link(study)
    is_open = bool({"open", "passphrase"} & set(rules))
    return InvitePage("invite", base, "personal" in rules, base + crowd if crowd else "", is_open, links, message)


@blueprint.get("/invite")
@admin_required
def invite() -> ResponseReturnValue:
    """Ways in."""
    return show("admin/invite.html", _invite_page())


@blueprint.post("/invite")
@admin_required
def make_links() -> ResponseReturnValue:
    """Make personal links; they are on the answer's page and nowhere else."""
    here = site()
    count = request.form.get("count", 0, type=int)
    if not 1 <= count <= MOST_LINKS:
        return show("admin/invite.html", _invite_page(message=here.texts("admin.invite.count", most=MOST_LINKS))), 422
    try:
        links = people.invite(here.store, here.study, count)
    except RelstudyError as error:
        return show("admin/invite.html", _invite_page(message=str(error))), 422
    _forget_figures()
    return show("admin/invite.html", _invite_page(tuple(links)))


@blueprint.post("/state")
@admin_required
def set_state() -> ResponseReturnValue:
    """Pause, close or reopen."""
    state = request.form.get("state", "")
    if state not in STATES:
        abort(400, description="form")
    site().set_state(state)
    _forget_figures()
    return redirect("/admin/", 303)


@blueprint.get("/export")
@admin_required
def export() -> ResponseReturnValue:
    """What can be downloaded."""
    status, _ = _figures()
    study = site().study
    page = ExportPage("export", tuple(scale.name for scale in study.scales), status.ratings, study.folder.name)
    return show("admin/export.html", page)


@blueprint.get("/export/ratings.csv")
@admin_required
def download_ratings() -> ResponseReturnValue:
    """The ratings, as `relstudy export` writes them."""
    here = site()
    history = request.args.get("history") == "yes"
    table = ratings_table(here.store, here.study, history=history)
    scale = request.args.get("scale", "")
    if scale:
        table = table[table["scale"] == scale]
    if request.args.get("surplus") == "no":
        table = table[table["surplus"] == 0]
    return _download(table, "ratings-history.csv" if history else "ratings.csv")


@blueprint.get("/export/people.csv")
@admin_required
def download_people() -> ResponseReturnValue:
    """One row per rater."""
    return _download(people_table(site().store, site().study), "people.csv")


def _download(table: Any, name: str) -> Response:
    response = Response(table.to_csv(index=False, lineterminator="\n"), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{site().study.id}-{name}"'
    return response


@blueprint.get("/forget/<rater_id>")
@admin_required
def ask_forget(rater_id: str) -> ResponseReturnValue:
    """Ask before removing a person's data."""
    status, _ = _figures()
    person = next((person for person in status.people if person.rater_id == rater_id), None)
    if person is None:
        abort(404)
    return show("admin/forget.html", ForgetPage("raters", rater_id, person.ratings))


@blueprint.post("/forget/<rater_id>")
@admin_required
def forget(rater_id: str) -> ResponseReturnValue:
    """Remove a person's data; their unique pairs go back to the pool."""
    try:
        people.forget(site().store, rater_id)
    except RelstudyError:
        abort(404)
    _forget_figures()
    return redirect("/admin/raters", 303)
