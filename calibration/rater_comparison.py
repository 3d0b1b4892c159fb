"""One rater, or a group of people, against all the others: do they rate, and rank systems, differently? (Section 5.6.)

Half of the paper's data came from its author, so its table 5.9 sets the systems' correlations on the author's pairs
beside those on everybody else's. Here the same is done for any rater or group, with intervals, after a direct
comparison on the pairs that both sides rated.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from relstudy.calibration.choice import method_sentence
from relstudy.calibration.leads_by_two_sides import (
    LEAST_PAIRS,
    OrderRow,
    all_orders_hold,
    beside,
    correlations,
    correlations_apart,
    leads_of_all,
    over_queries,
    query_sums,
    ranked_differently,
    signed,
)
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import Calibration, notes_on
from relstudy.calibration.rater_profiles import agreement_with_others
from relstudy.calibration.reliability.within_pair_variance import bootstrap_interval
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of, number, percent, with_ends
from relstudy.common.tables.checked_table import stripped
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.group_columns import said_once
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

MOST_TURNS = 500


@dataclass(frozen=True)
class SystemRow:
    """A system's rank correlation with judgments from three sources (a row of table 5.9).

    Parameters
    ----------
    system : name
    rater, others : Spearman's correlation with single ratings on the pairs each source rated, 95 % interval by
        query; a pair that several others rated counts once, with each of their ratings in part, so that the others
        don't gain by averaging what the one rater can't
    combined : the same with the judgments made of all ratings
    difference : rater less others
    pairs : number of pairs of each source
    """

    system: str
    rater: Estimate
    others: Estimate
    combined: Estimate
    difference: Estimate
    pairs: tuple[int, int, int]


@dataclass(frozen=True)
class Comparison:
    """One rater, or a group of people, against the rest.

    Parameters
    ----------
    rater_id : who; of a group, COLUMN=VALUE
    share : part of all ratings that are theirs
    bias_before, bias_after : mean of (rater - others' mean) on shared pairs, in ratings and calibrated; of a group, the
        difference of mean rater effects, with its interval over raters
    agreement : correlation with the others' mean on shared pairs, calibrated
    rank, raters : how many raters agree better, plus one; of how many with an agreement
    shared : pairs rated by the rater and by others
    systems : rows of table 5.9
    method, method_reason : how ratings were calibrated, and why so
    notes : what a person should know of ratings and judgments, one sentence each
    people : how many raters are in the group, and how many are not; None of a single rater
    orders : the lead of each system over each other, by either side
    """

    rater_id: str
    share: float
    bias_before: Estimate
    bias_after: Estimate
    agreement: Estimate
    rank: int | None
    raters: int
    shared: int
    systems: tuple[SystemRow, ...]
    method: str = ""
    method_reason: str = ""
    notes: tuple[str, ...] = ()
    people: tuple[int, int] | None = None
    orders: tuple[OrderRow, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "rater": self.rater_id,
            "people": None if self.people is None else dict(zip(("group", "others"), self.people, strict=True)),
            "share": self.share,
            "shared_pairs": self.shared,
            "bias_before": self.bias_before.as_json(),
            "bias_after": self.bias_after.as_json(),
            "agreement": self.agreement.as_json(),
            "rank": self.rank,
            "raters": self.raters,
            "systems": {
                row.system: {
                    "rater": row.rater.as_json(),
                    "others": row.others.as_json(),
                    "combined": row.combined.as_json(),
                    "difference": row.difference.as_json(),
                    "pairs": dict(zip(("rater", "others", "combined"), row.pairs, strict=True)),
                }
                for row in self.systems
            },
            "orders": [row.as_json() for row in self.orders],
            "method": self.method,
            "method_reason": self.method_reason,
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """The comparison in words."""
        if self.people is None:
            who, whose = f"Rater {self.rater_id}", "this rater's"
        else:
            group, others = self.people
            who, whose = (
                f"{count_of(group, 'rater')} of {self.rater_id}, against {count_of(others, 'other')}:",
                "this group's",
            )
        lines = [
            f"{who} gave {percent(self.share, 1)} of the ratings and {'shares' if self.people is None else 'share'} "
            f"{count_of(self.shared, 'pair')} with others."
        ]
        if self.people is not None and min(self.people) > 1 and self.bias_before.value is not None:
            lines.append(
                f"As rated, this group's raters give {signed(self.bias_before)} compared with the others on the same "
                "pairs, over raters like these. Calibration removes such differences of level."
            )
        elif self.bias_before.value is not None:
            lines.append(
                f"On shared pairs: {number(self.bias_before.value, '+.2f')} from the others' mean as rated, "
                f"{signed(self.bias_after)} calibrated."
            )
        else:
            lines.append(f"No direct comparison: {self.bias_before.reason}.")
        if self.agreement.value is not None:
            place = "" if self.rank is None else f": number {self.rank} of {self.raters} raters"
            lines.append(f"Agreement with the others' mean {self.agreement}{place}.")
        apart = [row.system for row in self.systems if row.difference.excludes_zero]
        if self.systems:
            lines.append(
                f"Systems score differently on {whose} pairs: {', '.join(apart)}."
                if apart
                else f"No system scores differently on {whose} pairs and on the others', within 95 % intervals."
            )
        if self.orders:
            lines += [*ranked_differently(self.rater_id, self.orders), all_orders_hold(len(self.orders))]
        return [*lines, method_sentence(self.method, self.method_reason), *self.notes]

    def table(self) -> tuple[list[list[str]], list[str]]:
        """Rows and header of table 5.9."""
        rows = [
            [row.system, *(_short(e) for e in (row.rater, row.others, row.combined, row.difference))]
            for row in self.systems
        ]
        return rows, ["system", self.rater_id, "others", "combined", "difference"]


def compare_rater(
    result: Calibration, rater_id: str, scores: list[pd.DataFrame] | None = None, seed: int = 0
) -> Comparison:
    """Compare a rater, or a group of people, with all the others.

    Parameters
    ----------
    result : a calibration
    rater_id : the rater; or COLUMN=VALUE, those of whom a column of the ratings says so, such as group=expert
    scores : tables of system, query_id, result_id, score; higher is better
    seed : for the bootstrap

    Raises
    ------
    RelstudyError
        when there is no such rater or group, no other, or a rater who is in two groups
    """
    panel = result.panel
    names = panel.raters.astype("str")
    chosen = names == rater_id
    is_group = not chosen.any() and "=" in rater_id
    if is_group:
        chosen = np.isin(names, _people(result, rater_id))
    elif not chosen.any():
        some = ", ".join(names[:5])
        raise RelstudyError(f"there is no rater {rater_id!r}; the {len(names)} raters are {some}, ...")
    if chosen.all():
        whole = "everybody" if is_group else "the only rater"
        raise RelstudyError(f"{rater_id!r} is {whole}; there are no others to compare with")
    decided = ~np.isnan(panel.rating)
    by_rater = chosen[panel.rater] & decided
    by_others = ~chosen[panel.rater] & decided
    sides = [np.bincount(panel.pair[rows], minlength=panel.n_pairs) for rows in (by_rater, by_others)]
    shared = (sides[0] > 0) & (sides[1] > 0)

    def means(values: np.ndarray) -> list[np.ndarray]:
        """Both sides' means of each shared pair."""
        return [
            np.bincount(panel.pair[rows], values[rows], panel.n_pairs)[shared] / number[shared]
            for rows, number in zip((by_rater, by_others), sides, strict=True)
        ]

    if min(chosen.sum(), (~chosen).sum()) > 1:
        bias = _apart_in_level(panel, chosen, float(np.mean(np.subtract(*means(result.calibrated)))))
    else:
        bias = [_mean_with_interval(np.subtract(*means(values)), seed) for values in (panel.rating, result.calibrated)]
    systems, orders = _systems(result, by_rater, by_others, scores or [], seed)
    comparison = Comparison(
        rater_id=rater_id,
        share=float(by_rater.sum() / decided.sum()),
        bias_before=bias[0],
        bias_after=bias[1],
        agreement=Estimate.missing("no pair is shared"),
        rank=None,
        raters=len(names),
        shared=int(shared.sum()),
        systems=tuple(systems),
        method=result.choice.method,
        method_reason=result.choice.why,
        notes=tuple(notes_on(result)),
        people=(int(chosen.sum()), int((~chosen).sum())) if is_group else None,
        orders=tuple(orders),
    )
    if is_group:
        theirs, others = means(result.calibrated)
        flat = len(theirs) < 2 or np.ptp(theirs) == 0 or np.ptp(others) == 0
        together = np.nan if flat else float(np.corrcoef(theirs, others)[0, 1])
        return replace(comparison, agreement=_fisher(together, len(theirs)))
    code = int(np.flatnonzero(chosen)[0])
    agreement, common = agreement_with_others(panel.with_rating(result.calibrated))
    return replace(
        comparison,
        agreement=_fisher(agreement[code], int(common[code])),
        rank=int(1 + np.nansum(agreement > agreement[code])) if np.isfinite(agreement[code]) else None,
        raters=int(np.isfinite(agreement).sum()),
    )


def _apart_in_level(panel: Panel, chosen: np.ndarray, calibrated: float) -> list[Estimate]:
    """How far a group's raters rate above the others, as rated and calibrated.

    As rated: difference of the groups' mean rater effects (least squares, pairs fixed), Welch's (1947, Biometrika 34)
    interval over raters. Calibration takes such differences out, so that there is nothing to test afterwards.
    """
    decided = panel.decided()
    shared = decided.keep(decided.by_pair()[decided.pair] > 1)
    n = shared.by_rater()
    if not (n[chosen] > 0).any() or not (n[~chosen] > 0).any():
        return [Estimate.missing("no pair is shared")] * 2
    effect = np.zeros(panel.n_raters)
    for _ in range(MOST_TURNS):
        before = effect
        left = shared.rating - effect[shared.rater]
        left = shared.rating - shared.pair_means(left)[shared.pair]
        effect = shared.by_rater(left) / np.maximum(n, 1)
        effect -= effect[n > 0].mean()
        if np.abs(effect - before).max() < 1e-9 * max(panel.high - panel.low, 1e-9):
            break
    ours, others = (effect[side & (n > 0)] for side in (chosen, ~chosen))
    value = float(ours.mean() - others.mean())
    after = Estimate(calibrated, None, None, "calibration removes differences of level")
    if min(len(ours), len(others)) < 2:
        return [Estimate(value, None, None, "one of the groups has one rater with shared pairs"), after]
    parts = [float(side.var(ddof=1)) / len(side) for side in (ours, others)]
    freedom = sum(parts) ** 2 / max(
        sum(part**2 / (len(side) - 1) for part, side in zip(parts, (ours, others), strict=True)), 1e-300
    )
    half = float(special.stdtrit(max(freedom, 1.0), 0.975)) * float(np.sqrt(sum(parts)))
    return [Estimate.of(value, value - half, value + half), after]


def _people(result: Calibration, group: str) -> np.ndarray:
    """The raters of a group, COLUMN=VALUE, of a column that says one thing of each rater."""
    column, _, value = group.partition("=")
    frame = result.ratings.frame
    if column not in frame:
        have = ", ".join(str(name) for name in frame.columns if name not in (*PAIR, "rating", "base"))
        raise RelstudyError(
            f"there is no rater {group!r}, and the ratings have no column {column!r}; there are: {have}"
        )
    said = stripped(frame[column])
    of_raters = said_once(said, frame["rater_id"], column)
    chosen = of_raters.index[of_raters == value]
    if not len(chosen):
        there = ", ".join(map(repr, sorted(set(of_raters))[:8]))
        raise RelstudyError(f"{column} is {value!r} of nobody; it is: {there}")
    return np.asarray(chosen, dtype=object)


def read_plain_scores(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read scores for the comparison: long (system, query_id, result_id, score) or wide (a column per system).

    Returns
    -------
    DataFrame: system, query_id, result_id (text), score (float, NaN = not scored)
    """
    table = read_table(path, *PAIR)
    frame = table.frame[PAIR].copy()
    for name in PAIR:
        frame[name] = table.texts(name)
    if "score" in table.frame:
        frame["system"] = table.texts("system") if "system" in table.frame else Path(path).stem
        frame["score"] = table.numbers("score", empty=True)
        table.raise_faults()
        return frame[["system", *PAIR, "score"]]
    table.raise_faults()
    columns = {}
    for name in table.frame.columns.difference(PAIR, sort=False):
        numbers = pd.to_numeric(table.frame[name], errors="coerce")
        blank = stripped(table.frame[name]) == ""
        if (numbers.notna() | blank).all() and numbers.notna().any():
            columns[str(name)] = numbers
    if not columns:
        raise RelstudyError(f"{table.file}: there is no column score and no other column of numbers")
    wide = frame.assign(**columns)
    return wide.melt(id_vars=PAIR, var_name="system", value_name="score")[["system", *PAIR, "score"]]


def _systems(
    result: Calibration, by_rater: np.ndarray, by_others: np.ndarray, scores: list[pd.DataFrame], seed: int
) -> tuple[list[SystemRow], list[OrderRow]]:
    """The systems with either side's judgments, and how far each leads each other by them."""
    if not scores:
        return [], []
    table = pd.concat(scores, ignore_index=True).dropna(subset="score")
    sources = [_single_ratings(result, by_rater), _single_ratings(result, by_others)]
    combined = result.judgments.frame[[*PAIR, "judgment"]].assign(weight=1.0)
    combined[PAIR] = combined[PAIR].astype("str")
    sources.append(combined)
    systems = []
    both_sides: dict[str, pd.DataFrame] = {}
    for system, part in table.groupby("system", sort=False):
        joined = [source.merge(part, on=PAIR) for source in sources]
        sums = [query_sums(frame) for frame in joined]
        sizes = [round(float(frame["weight"].sum())) for frame in joined]
        enough = [size >= LEAST_PAIRS for size in sizes]
        figures = [
            over_queries(s, correlations, seed) if ok else Estimate.missing(f"fewer than {LEAST_PAIRS} pairs")
            for s, ok in zip(sums, enough, strict=True)
        ]
        difference = Estimate.missing(f"fewer than {LEAST_PAIRS} pairs")
        if enough[0] and enough[1]:
            both_sides[str(system)] = both = beside(sums[0], sums[1])
            difference = over_queries(both, correlations_apart, seed)
        pairs = (sizes[0], sizes[1], sizes[2])
        systems.append(SystemRow(str(system), figures[0], figures[1], figures[2], difference, pairs))
    if not systems:
        raise RelstudyError("the score tables hold no score")
    return systems, leads_of_all(both_sides, seed)


def _single_ratings(result: Calibration, rows: np.ndarray) -> pd.DataFrame:
    """Calibrated ratings as they are, weighted so that each pair counts once."""
    panel = result.panel
    pair = panel.pair[rows]
    frame = panel.pairs.loc[pair, PAIR].astype("str").reset_index(drop=True)
    frame["judgment"] = result.calibrated[rows]
    frame["weight"] = 1 / np.bincount(pair, minlength=panel.n_pairs)[pair]
    return frame


def _mean_with_interval(values: np.ndarray, seed: int) -> Estimate:
    if len(values) < 2:
        return Estimate.missing("the rater shares fewer than two pairs with others")
    statistics = np.stack([values, np.ones_like(values)], axis=1)
    low, high = bootstrap_interval(statistics, lambda sums: sums[:, 0] / sums[:, 1], seed)
    return Estimate.of(float(values.mean()), low, high)


def _fisher(correlation: float, n: int) -> Estimate:
    if not np.isfinite(correlation) or n < 4:
        return Estimate.missing("too few shared pairs, or the same rating on all of them")
    z = np.arctanh(np.clip(correlation, -0.999999, 0.999999))
    half = 1.96 / np.sqrt(n - 3)
    return Estimate(float(correlation), float(np.tanh(z - half)), float(np.tanh(z + half)))


def _short(estimate: Estimate) -> str:
    return with_ends(estimate.value, estimate.low, estimate.high, ".2f")
