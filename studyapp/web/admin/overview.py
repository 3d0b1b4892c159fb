"""Overview: progress, growth, time, use of the scale, agreement; pause, close, reopen."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from flask import Blueprint, abort, redirect, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import moment, number, thousands
from relstudy.studyapp.assignment.versions import STATES
from relstudy.studyapp.monitoring.statistics import SECONDS, SourceUse, StudyStatistics
from relstudy.studyapp.monitoring.status import Status, may_have_ratings
from relstudy.studyapp.sampling.expected_gain import ExpectedGain
from relstudy.studyapp.web.admin import charts
from relstudy.studyapp.web.admin.figures import BlockView, block_views, forget_figures, recent_figures
from relstudy.studyapp.web.admin.researchers import admin_required
from relstudy.studyapp.web.answering import start_computing
from relstudy.studyapp.web.rendering import show
from relstudy.studyapp.web.site import current_site

blueprint = Blueprint("admin_overview", __name__, url_prefix="/admin")


@dataclass(frozen=True)
class Chart:
    """A picture, its legend, and the same as a table; `more` lines are in the table alone."""

    picture: Markup
    legend: tuple[tuple[Markup, str], ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True)
class SourceChart:
    """Ratings of one source's pairs."""

    name: str
    ratings: int
    error: str
    picture: Markup


@dataclass(frozen=True)
class Gain:
    """The expected gain of the last round where an automatic judge shaped it: a sentence, and widths by system."""

    sentence: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Overview:
    """The first admin page."""

    tab: ClassVar = "overview"
    status: Status
    rated: str
    blocks: tuple[BlockView, ...]
    growth: Chart | None
    seconds: Chart | None
    agreement: Chart | None
    sources: tuple[tuple[str, tuple[SourceChart, ...]], ...]
    gain: Gain | None


@blueprint.get("/")
@admin_required
def overview() -> ResponseReturnValue:
    """Progress, growth, time, use of the scale, agreement."""
    status, statistics = recent_figures()
    page = Overview(
        status=status,
        rated=_rated(status),
        blocks=block_views(status),
        growth=_growth(statistics),
        seconds=_seconds(statistics),
        agreement=_agreement(statistics),
        sources=_sources(statistics),
        gain=_gain(),
    )
    return show("admin/overview.html", page)


def _rated(status: Status) -> str:
    """Sentence on the progress of the unique pairs, or empty."""
    unique = [block for block in status.blocks if block.pages_wanted is not None]
    done, wanted = sum(block.pages_done for block in unique), sum(block.pages_wanted or 0 for block in unique)
    if not wanted:
        return ""
    text = "admin.rated.all" if done >= wanted else "admin.rated"
    return current_site().texts(text, done=thousands(done), wanted=thousands(wanted))


def _gain() -> Gain | None:
    """Widths to expect of the last round's index; None where no judge shaped it, or where that cannot be read."""
    site = current_site()
    try:
        gain = ExpectedGain.of_last_round(site.study.folder)
    except RelstudyError:
        return None  # the page says less; `relstudy admin doctor` reads the design
    if gain is None:
        return None
    rows = tuple((each.system, *map(number, (each.now, each.as_before, each.expected))) for each in gain.widths)
    aim = gain.aim.replace("_", " ")
    said = site.texts("admin.gain.note", round=gain.round, judge=gain.judge, aim=aim, pairs=thousands(gain.new_pairs))
    return Gain(said, rows)


def _growth(statistics: StudyStatistics) -> Chart | None:
    """Ratings over time, a line for each block."""
    if not statistics.times:
        return None
    texts = current_site().texts
    first, last = statistics.times[0], statistics.times[-1]
    is_short = last - first < 600
    form = "%H:%M:%S" if is_short else "%H:%M" if last - first < 20 * 3600 else "%d %b"
    lines = [
        charts.Line(name, tuple(zip(statistics.times, map(float, counts), strict=True)))
        for name, counts in statistics.growth_of_blocks.items()
    ]
    picture = charts.line_chart(
        texts("admin.growth"),
        lines[: charts.MOST_LINES],
        x_axis=charts.Axis(texts("admin.time"), lambda at: moment(at, form)),
        y_axis=charts.Axis(texts("admin.ratings")),
    )
    rows = [
        (
            moment(statistics.times[bin_number], f"%Y-%m-%d {'%H:%M:%S' if is_short else '%H:%M'}"),
            *(thousands(counts[bin_number]) for counts in statistics.growth_of_blocks.values()),
        )
        for bin_number in range(0, len(statistics.times), 5)
    ]
    header = (texts("admin.time"), *(line.name for line in lines))
    return Chart(picture, _legend(lines), header, tuple(rows), max(0, len(lines) - charts.MOST_LINES))


def _legend(lines: list[charts.Line]) -> tuple[tuple[Markup, str], ...]:
    shown = lines[: charts.MOST_LINES]
    return tuple((charts.key_mark(index), line.name) for index, line in enumerate(shown)) if len(lines) > 1 else ()


def _seconds(statistics: StudyStatistics) -> Chart | None:
    """Time per rating, over all blocks."""
    if not statistics.times:
        return None
    texts = current_site().texts
    counts = [sum(column) for column in zip(*statistics.seconds.values(), strict=True)]
    ends = [*(f"{low}–{high}" for low, high in itertools.pairwise(SECONDS)), f"{SECONDS[-1]}+"]
    picture = charts.histogram(
        texts("admin.seconds"),
        [str(low) for low in SECONDS],
        counts,
        x_axis=charts.Axis(texts("admin.seconds.unit")),
        y_axis=charts.Axis(texts("admin.ratings")),
    )
    rows = [
        (end, *(thousands(counts[bin_number]) for counts in statistics.seconds.values()))
        for bin_number, end in enumerate(ends)
    ]
    return Chart(picture, (), (texts("admin.seconds.unit"), *statistics.seconds), tuple(rows))


def _agreement(statistics: StudyStatistics) -> Chart | None:
    """Krippendorff's alpha of the base block after the first n ratings."""
    texts = current_site().texts
    measured = [growth for growth in statistics.agreement if any(value is not None for value in growth.alpha)]
    if not measured:
        return None
    lines = [
        charts.Line(growth.scale, tuple(zip(map(float, growth.ratings), growth.alpha, strict=True)))
        for growth in measured
    ]
    low = -1.0 if any(value is not None and value < 0 for growth in measured for value in growth.alpha) else 0.0
    picture = charts.line_chart(
        texts("admin.agreement"),
        lines[: charts.MOST_LINES],
        low=low,
        high=1.0,
        x_axis=charts.Axis(texts("admin.ratings"), lambda count: f"{count:,.0f}"),
        y_axis=charts.Axis("α"),
    )
    rows = [
        (growth.scale, thousands(count), number(value, ".2f"))
        for growth in measured
        for count, value in zip(growth.ratings, growth.alpha, strict=True)
    ]
    header = (texts("admin.scale"), texts("admin.ratings"), "α")
    return Chart(picture, _legend(lines), header, tuple(rows), max(0, len(lines) - charts.MOST_LINES))


def _sources(statistics: StudyStatistics) -> tuple[tuple[str, tuple[SourceChart, ...]], ...]:
    scales: dict[str, list[SourceChart]] = {}
    for use in statistics.sources:
        scales.setdefault(use.scale, []).append(_source(use))
    return tuple((scale, tuple(source_charts)) for scale, source_charts in scales.items())


def _source(use: SourceUse) -> SourceChart:
    texts = current_site().texts
    name = use.source or texts("admin.sources.all")
    label = texts("admin.sources.chart", source=name, scale=use.scale)
    picture = charts.share_chart(label, list(use.shares), list(use.shares.values()))
    return SourceChart(name, use.ratings, number(use.error), picture)


@blueprint.post("/state")
@admin_required
def set_state() -> ResponseReturnValue:
    """Pause, close or reopen; a closed study's answer is computed."""
    state = request.form.get("state", "")
    if state not in STATES:
        abort(400, description="form")
    site = current_site()
    site.set_state(state)
    forget_figures()
    if state == "closed" and may_have_ratings(site.store):
        start_computing(site.folder)
        return redirect("/admin/answer", 303)
    return redirect("/admin/", 303)
