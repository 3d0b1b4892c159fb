"""The sections about raters: who is lenient, who uses the scale, how far they agree before and after calibration."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pandas as pd

from relstudy.analysis.report import pictures
from relstudy.analysis.report.inputs import PageTables
from relstudy.analysis.report.layout import Block, Folded, Paragraph, Picture, Section, Terms
from relstudy.analysis.report.tables import MINUS, Cell, Column, Table, number
from relstudy.calibration.drift import by_tenth, session_drift
from relstudy.calibration.order_effect import PlaceEffect, place_effect
from relstudy.calibration.panel import Panel
from relstudy.calibration.rater_profiles import FLAGS
from relstudy.calibration.reliability.agreement import gwet, krippendorff_alpha
from relstudy.calibration.reliability.agreement_by_rater_pair import pairwise
from relstudy.calibration.reliability.generalizability import of_panel
from relstudy.calibration.reliability.scale_use import response_shares
from relstudy.calibration.reliability.within_pair_variance import scored_rows, within_item_variance
from relstudy.calibration.tables.ratings import Ratings
from relstudy.calibration.tables.session import session_order
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, listed, percent, span
from relstudy.common.runtime.wording import number as figure
from relstudy.common.tables.meaning.pair_assignment import LEAST_SECONDS

RATERS_SHOWN = 25
MOST_COUNTED = 12
"""So many values at most have a bar each in the picture of the scale's use."""


def scale_values(ratings: Ratings) -> list[float]:
    """The values of the scale, or those given where it has too many; of a slider the middles of its fifths."""
    scale = ratings.scale.scale
    if not scale.continuous and len(scale.values) <= 20:
        return list(scale.values)
    given: list[float] = np.unique(ratings.frame["rating"].dropna().to_numpy(dtype=float)).tolist()
    return list(scale.categories) if scale.continuous and len(given) > MOST_COUNTED else given


def raters_section(tables: PageTables, seed: int) -> Section | None:
    """Leniency, spread, agreement and flags of every rater, and what calibration did."""
    raters, ratings = tables.raters, tables.ratings
    blocks: list[Block] = []
    drawings: list[str] = []
    if raters is not None:
        numbers = _as_numbers(raters)
        flagged = flags_of(raters) != ""
        drawings.append(
            pictures.raters(list(numbers.index), numbers["mean"].to_numpy(), numbers["spread"].to_numpy(), flagged)
        )
        blocks.append(Paragraph(_flag_sentence(len(raters), int(flagged.sum()))))
    if ratings is not None:
        values = scale_values(ratings)
        if 2 <= len(values) <= MOST_COUNTED:
            share = response_shares(ratings.frame["rating"].to_numpy(dtype=float), values)
            drawings.append(pictures.shares("Use of the scale", [f"{value:g}" for value in values], share))
    if drawings:
        blocks.append(
            Picture(
                drawings,
                "In the first picture each dot is a rater; the dashed lines are the medians, rings carry a flag. "
                "Calibration moves and "
                "stretches each rater's ratings onto the panel's scale."
                if raters is not None
                else "How often each value was given.",
            )
        )
    if ratings is not None:
        blocks.append(Folded("Do raters agree?", _agreement(tables, seed)))
        effect = place_effect(ratings.frame)
        if effect is not None:
            said, places = Paragraph(place_sentence(effect)), _places_table(effect)
            blocks += (
                [said, Folded("Place by place", [places])]
                if effect.is_found
                else [Folded("Order on the page: no effect seen", [said, places])]
            )
        blocks += _session(tables)
    if raters is not None:
        blocks.append(Folded("Each rater", [_raters_table(raters, numbers), *_flag_terms(raters)]))
    return Section("raters", "The raters", blocks) if blocks else None


def place_sentence(effect: PlaceEffect) -> str:
    """The effect of the place on the page on a rating, with its interval, in a sentence or two."""
    asked = f"{count_of(effect.pages, 'page')} by {count_of(effect.raters, 'rater')}"
    last = effect.last
    if last.value is None or last.ends is None:
        return f"What a result's place on its page does to its rating has no interval: {last.reason} ({asked})."
    ends = span(*last.ends, "+.2f")
    figures = f"{figure(last.value, '+.2f')} points, 95 % interval {ends}, {asked}".replace("-", MINUS)
    if not effect.is_found:
        return f"No order effect is seen: from the first place of a page to the last a rating changes by {figures}."
    lower = "lower" if last.value < 0 else "higher"
    return (
        f"There is an order effect: the same result is rated {lower} at the end of a page than at its beginning "
        f"({figures}). The order is random for each rater, so this favours no system; it adds noise."
    )


def _session(tables: PageTables) -> list[Block]:
    """Drift over the raters' sessions, in words and as a picture; nothing where order or ratings do not do for it.

    Raters whose ratings do not count, as they look careless, do not count here.
    """
    raw, calibrated = tables.panels
    assert tables.ratings is not None
    if calibrated is not None:
        raw = raw.with_rating(np.where(np.isnan(calibrated.rating), np.nan, raw.rating))
    order = session_order(tables.ratings.frame)
    drift = session_drift(raw, order)
    if drift is None:
        return []
    said = re.sub(r"-(?=\d)", MINUS, drift.sentence(raw.high - raw.low))
    said = f"{said[0].upper()}{said[1:]}." if drift.is_found else f"No drift over the session is seen: {said}."
    tenths = by_tenth(raw, order)
    caption = (
        "Ratings as given, without their rater's leniency, above or below those of the others of the same pairs, by "
        "tenth of each rater's session; the band is of 95 % intervals, for raters like these. Pairs that everybody "
        "has early, as in a base block, are compared only with each other."
    )
    picture = Picture(
        [pictures.session(tenths)], caption, wide=True, narrow=[pictures.session(tenths, narrow=True)], name="Session"
    )
    if drift.is_found:
        return [Paragraph(said), picture]
    return [Folded("Drift over the session: none seen", [Paragraph(said), picture])]


def _places_table(effect: PlaceEffect) -> Table:
    """Ratings by place on the page."""
    return Table(
        "places",
        "Ratings by the result's place on its page, as difference from the other places of the page.",
        [Column("Place", 0), Column("Difference", signed=True)],
        [[str(place), figure] for place, figure in effect.places.items()],
        note="The order is random, so results are equally good at every place; what other raters said of a pair is "
        "subtracted. "
        "Intervals are for raters like these.",
        number=True,
    )


def _flag_sentence(raters: int, flagged: int) -> str:
    who = count_of(raters, "rater")
    if flagged == 0:
        return f"{who} took part; none is flagged."
    are = "is" if flagged == 1 else "are"
    return f"{who} took part; {flagged} {are} flagged for review. Do not exclude anyone on a flag alone."


def flags_of(raters: pd.DataFrame) -> np.ndarray:
    """Each rater's flags, text [raters], or empty."""
    if "flags" not in raters:
        return np.full(len(raters), "", dtype=object)
    return raters["flags"].astype(str).str.strip().to_numpy(dtype=object)


def _as_numbers(raters: pd.DataFrame) -> pd.DataFrame:
    """The numeric columns by rater, NaN where empty."""
    names = [name for name in raters.columns if name not in ("rater_id", "flags")]
    numbers = raters[names].apply(pd.to_numeric, errors="coerce")
    for name in ("mean", "spread"):
        if name not in numbers:
            numbers[name] = np.nan
    return numbers.set_axis(raters["rater_id"].astype(str), axis=0)


HEADINGS = {
    "n_ratings": Column("Ratings", 0),
    "n_base": Column("Base block", 0),
    "undecided": Column("Undecided", 0),
    "mean": Column("Mean"),
    "spread": Column("Spread"),
    "slope": Column("Slope"),
    "offset": Column("Offset", signed=True),
    "agreement": Column("Agreement"),
    "median_seconds": Column("Median seconds", 1),
}


def _raters_table(raters: pd.DataFrame, numbers: pd.DataFrame) -> Table:
    names = [name for name in HEADINGS if name in raters]
    flags = flags_of(raters)
    order = sorted(range(len(raters)), key=lambda i: (flags[i] == "", i))
    flagged = bool((flags != "").any())
    columns = [Column("Rater"), *(HEADINGS[name] for name in names), *([Column("Flags")] if flagged else [])]
    rows: list[list[Cell]] = []
    for i in order:
        row: list[Cell] = [str(raters["rater_id"].iloc[i])]
        for name in names:
            value = float(numbers[name].iloc[i])
            whole = HEADINGS[name].digits == 0
            finite = np.isfinite(value) and not (name == "median_seconds" and value < LEAST_SECONDS)
            row.append(Estimate.missing("") if not finite else int(value) if whole else value)
        rows.append([*row, *([str(flags[i])] if flagged else [])])
    return Table(
        "raters",
        "Each rater's leniency (mean), use of the scale (spread), calibration line and agreement with the others.",
        columns,
        rows,
        note="Calibrated = slope × rating + offset. Agreement is the correlation with the mean of the other raters on "
        "the same pairs." + (" Raters with a flag come first." if flagged else ""),
        shown=RATERS_SHOWN,
    )


def _flag_terms(raters: pd.DataFrame) -> list[Block]:
    raised = {flag.strip() for text in flags_of(raters) for flag in str(text).split(";")} - {""}
    explained = [(flag, FLAGS[flag]) for flag in FLAGS if flag in raised]
    return [Terms(explained)] if explained else []


def _agreement(tables: PageTables, seed: int) -> list[Block]:
    raw, calibrated = tables.panels
    blocks: list[Block] = []
    variance = _variance_table(raw, calibrated)
    if variance is not None:
        blocks.append(variance)
    rows: list[list[Cell]] = []
    both = [raw, *([calibrated] if calibrated is not None else [])]
    levels: tuple[Literal["nominal", "ordinal", "interval"], ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        cells: list[Cell] = [krippendorff_alpha(raw, level)]
        if calibrated is not None:
            categories = level == "nominal"
            cells.append(Estimate.missing("") if categories else krippendorff_alpha(calibrated, level))
        rows.append([f"Krippendorff's alpha, {level}", *cells])
    no_categories: list[Cell] = [Estimate.missing("")] * (len(both) - 1)
    for name, quadratic in (("Gwet's AC1", False), ("Gwet's AC2, quadratic weights", True)):
        rows.append([name, gwet(raw, quadratic=quadratic), *no_categories])
    icc = tables.agreement
    rows.append(["ICC(1): one rating, any raters", *(each.one for each in icc)])
    rows.append([f"ICC(1,k): the mean of {icc[0].typical:.3g}", *(each.one_mean for each in icc)])
    size = f"{icc[0].raters} raters on {count_of(icc[0].pairs, 'pair')}"
    rows.append([f"ICC(2,1): one rating, {size}", *(each.two for each in icc)])
    rows.append([f"ICC(2,k): their mean, {size}", *(each.two_mean for each in icc)])
    rows.append([f"ICC(C,1): one rating, levels apart, {size}", *(each.consistency for each in icc)])
    rows.append([f"ICC(C,k): their mean, levels apart, {size}", *(each.consistency_mean for each in icc)])
    couples = [pairwise(panel, seed) for panel in both]
    rows.append(["Weighted kappa, mean over rater pairs", *(each.kappa for each in couples)])
    rows.append(["Spearman, mean over rater pairs", *(each.spearman for each in couples)])
    note = ""
    try:
        study = of_panel(raw)
    except RelstudyError as error:
        note = f" Where ratings vary is not known: {error}."
    else:
        many = f"the mean of {study.each:.3g}"
        rows.append([f"Eρ²: {many}, for an order", study.coefficient("erho2"), *no_categories])
        rows.append([f"Φ: {many}, for the values themselves", study.coefficient("phi"), *no_categories])
        total = sum(study.components.values())
        shares = [f"{source} {percent(each / total)}" for source, each in study.components.items()]
        note = f" Ratings vary by {listed(shares)} (restricted maximum likelihood)."
    shown = [row for row in rows if any(number(cell) is not None for cell in row[1:])]
    if shown:
        columns = [Column("Measure"), Column("As given")] + ([Column("Calibrated")] if calibrated is not None else [])
        blocks.append(
            Table(
                "agreement",
                "Agreement among raters: 1 is perfect, 0 is chance.",
                columns,
                shown,
                note="Nominal asks for the same value, ordinal for the same order, interval for the same distance. "
                "Calibrated values are no categories, so nominal alpha and Gwet's coefficients are of the ratings as "
                "given. Intervals are for raters and pairs like these." + note,
            )
        )
    return blocks


def _variance_table(raw: Panel, calibrated: Panel | None) -> Table | None:
    """Table 5.1: variance among raters on one pair, as given and calibrated."""
    if calibrated is None:
        return None
    decided = ~np.isnan(raw.rating)
    base = raw.base[raw.pair] & decided
    unique = scored_rows(raw)
    parts = [("Base block", base)]
    if unique.block == "unique":
        parts.append(("Unique pairs with two or more ratings", unique.rows))
    rows: list[list[Cell]] = []
    for name, chosen in parts:
        if not chosen.any():
            continue
        before = within_item_variance(raw, chosen)
        after = within_item_variance(calibrated, chosen)
        if before.value is None or after.value is None:
            continue
        change: Cell = after.value / before.value - 1 if before.value else Estimate.missing("no variance")
        rows.append([name, before, after, change])
    if not rows:
        return None
    return Table(
        "variance",
        "Variance among raters of one pair, before and after calibration (table 5.1 of the paper).",
        [Column("Pairs"), Column("As given"), Column("Calibrated"), Column("Change", 0, signed=True, percent=True)],
        rows,
        note="A smaller variance alone proves little, since shrinking every rating would give it too; the agreement "
        "below does not reward that.",
    )
