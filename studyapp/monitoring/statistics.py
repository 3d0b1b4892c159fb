"""Statistics of the ratings so far: growth, time, use of the scale by source, agreement, raters worth a look.

The numbers behind the admin pages and `relstudy admin status --insight`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.methods.linear import mean as offsets_only
from relstudy.calibration.methods.linear import none as unchanged
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_profiles import rater_profiles
from relstudy.calibration.reliability.agreement import krippendorff_alpha
from relstudy.calibration.reliability.scale_use import response_shares, uniformity_error
from relstudy.common.results.estimates import Estimate
from relstudy.common.tables.meaning.pairs_table import source_members
from relstudy.common.tables.meaning.scales import Scale
from relstudy.studyapp.assignment.answers import select_ratings
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import was_shown
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.database.tables import assignments, pairs, raters

SECONDS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
CHECKPOINTS = 24
BINS = 40
LEAST_FOR_PATTERN = 10  # ratings


@dataclass(frozen=True)
class SourceUse:
    """Ratings of one source's pairs on one scale ("": all pairs); `error` is Eq. 5.4, None without a rating."""

    scale: str
    source: str
    ratings: int
    shares: dict[str, float]
    error: float | None


@dataclass(frozen=True)
class Growth:
    """Agreement on the base block after the first n ratings (Krippendorff's alpha, ordinal)."""

    scale: str
    ratings: tuple[int, ...]
    alpha: tuple[float | None, ...]
    reason: str = ""


@dataclass(frozen=True)
class RaterView:
    """One rater: agreement with the others, flags (on one scale each), ratings in `BINS` equal stretches of time."""

    agreement: float | None
    flags: tuple[str, ...]
    spark: tuple[int, ...]


@dataclass(frozen=True)
class StudyStatistics:
    """All statistics of a study's ratings, for the admin pages.

    Times are seconds since 1970; `growth_of_blocks` holds running counts at `times`.
    """

    times: tuple[float, ...] = ()
    growth_of_blocks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    seconds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    median_seconds: dict[str, float] = field(default_factory=dict)
    sources: tuple[SourceUse, ...] = ()
    agreement: tuple[Growth, ...] = ()
    raters: dict[str, RaterView] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As a dictionary that can be written as JSON, with the ends of the bins of seconds."""
        return {**asdict(self), "seconds_bins": list(SECONDS)}


def study_statistics(store: Store, study: Study) -> StudyStatistics:
    """Sum up everything rated so far; surplus ratings count, checks, repeats and practice do not."""
    table = _current(store, study)
    return statistics_of(table, study) if len(table) else StudyStatistics()


def _current(store: Store, study: Study) -> pd.DataFrame:
    """The ratings that count; leaner than the export, because it is read again and again while people rate."""
    blocks = {block.name: block.scale.name for block in study.blocks}
    query = select_ratings(
        *(raters.c.rater_id, pairs.c.query_id, pairs.c.result_id, pairs.c.block, pairs.c.source),
        assignments.c.block.label("study_block"),
    ).where(assignments.c.kind == "pair", assignments.c.block.in_(blocks))
    with store.read() as connection:
        answer = connection.execute(query)
        rows = [row for row in answer.fetchall() if was_shown(row.further)]
        table = pd.DataFrame.from_records(rows, columns=list(answer.keys())).drop(columns="further")
    table["rating"] = table["rating"].astype("float64")
    table["scale"] = table["study_block"].map(blocks)
    return table.rename(columns={"rated_at": "at"})


def statistics_of(table: pd.DataFrame, study: Study) -> StudyStatistics:
    """Statistics of a table of ratings, as `study_statistics` computes them for a study's database.

    Base and unique pairs alone, at least one. Needed columns: rater_id, pair_id, query_id, result_id, block (base or
    unique), study_block, scale, source, rating (NaN: undecided), seconds, at (seconds since 1970).
    """
    table = table.sort_values("at", kind="stable")
    edges = np.linspace(table["at"].iloc[0], table["at"].iloc[-1], BINS + 1)
    medians = table.groupby("study_block")["seconds"].median()
    graded = study.graded
    return StudyStatistics(
        times=tuple(float(edge) for edge in edges),
        growth_of_blocks={
            block.name: _running(table.loc[table["study_block"] == block.name, "at"], edges) for block in study.blocks
        },
        seconds={
            block.name: _time_counts(table.loc[table["study_block"] == block.name, "seconds"]) for block in study.blocks
        },
        median_seconds={str(name): round(float(value), 2) for name, value in medians.items()},
        sources=tuple(use for scale in study.scales for use in _sources(table[table["scale"] == scale.name], scale)),
        agreement=tuple(growth for scale in graded if (growth := _growth(table, scale)) is not None),
        raters=_raters(table, study, edges),
    )


def _running(at: pd.Series, edges: np.ndarray) -> tuple[int, ...]:
    return tuple(int(n) for n in np.searchsorted(np.sort(at.to_numpy()), edges, side="right"))


def _time_counts(seconds: pd.Series) -> tuple[int, ...]:
    """Numbers of ratings by time taken: counts in the bins between SECONDS, the last without an upper end."""
    counts, _ = np.histogram(seconds.to_numpy(), bins=[*SECONDS, np.inf])
    return tuple(int(n) for n in counts)


def _sources(table: pd.DataFrame, scale: Scale) -> list[SourceUse]:
    """First all pairs (source ""), then each source; a pair that several sources proposed counts for each of them."""
    if table.empty:
        return []
    groups = [(name, table[members]) for name, members in source_members(table["source"]).items()]
    uses = []
    for name, part in [("", table), *groups]:
        rating = part["rating"].to_numpy(dtype=float)
        shares = response_shares(rating, scale.categories)
        uses.append(
            SourceUse(
                scale.name,
                name,
                int(np.isfinite(rating).sum()),
                {f"{value:g}": _finite(share) or 0.0 for value, share in zip(scale.categories, shares, strict=True)},
                uniformity_error(rating, scale.categories).value,
            )
        )
    return uses


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _panel(table: pd.DataFrame, scale: Scale) -> Panel:
    frame = table[["rater_id", "pair_id", "query_id", "result_id", "rating"]].assign(base=table["block"] == "base")
    return Panel.from_frame(frame, low=scale.low, high=scale.high)


def _growth(table: pd.DataFrame, scale: Scale) -> Growth | None:
    base = table[(table["scale"] == scale.name) & (table["block"] == "base")]
    if base.empty:
        return None
    panel = _panel(base, scale)
    total = len(base)
    marks = np.unique(np.linspace(0, total, CHECKPOINTS + 1).round().astype(int))[1:]
    values: list[Estimate] = [krippendorff_alpha(panel.keep(np.arange(total) < mark), "ordinal") for mark in marks]
    return Growth(
        scale.name,
        tuple(int(mark) for mark in marks),
        tuple(value.value for value in values),
        values[-1].reason or "",
    )


def _flags_while_rating(profile: dict[Any, Any]) -> list[str]:
    """The flags of a rater's profile that mean something while the rater is still at work.

    The app itself sees to it that the base block is complete, so there an undecided pair is not a gap; and a few equal
    ratings are no pattern yet.
    """
    flags = [flag for flag in str(profile["flags"]).split("; ") if flag and flag != "base block incomplete"]
    if profile["n_ratings"] < LEAST_FOR_PATTERN or "constant" in flags:
        flags = [flag for flag in flags if flag != "constant on base"]
    if profile["n_ratings"] < LEAST_FOR_PATTERN:
        flags = [flag for flag in flags if flag != "constant"]
    return flags


def _raters(table: pd.DataFrame, study: Study, edges: np.ndarray) -> dict[str, RaterView]:
    agreement: dict[str, float | None] = {}
    flags: dict[str, list[str]] = {}
    for scale in study.graded:
        rated = table[table["scale"] == scale.name]
        if not rated["rating"].notna().any():
            continue
        panel = _panel(rated, scale)
        in_base = panel.base[panel.pair] & np.isfinite(panel.rating)
        lines = offsets_only(panel) if in_base.any() else unchanged(panel)
        profiles = rater_profiles(panel, lines, rated["seconds"].to_numpy(dtype=float))
        for row in profiles.to_dict("records"):
            rater = str(row["rater_id"])
            if agreement.get(rater) is None:
                agreement[rater] = _finite(row["agreement"])
            raised = flags.setdefault(rater, [])
            raised.extend(flag for flag in _flags_while_rating(row) if flag not in raised)
    views = {}
    for name, at in table.groupby("rater_id")["at"]:
        counts = np.histogram(at.to_numpy(), bins=edges)[0] if edges[-1] > edges[0] else [len(at)]
        person = str(name)
        spark = tuple(int(count) for count in counts)
        views[person] = RaterView(agreement.get(person), tuple(flags.get(person, ())), spark)
    return views
