"""Calibration from a ratings table to judgments, raters and figures: everything but files and printing."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.averaging import errors_of, make_judgments
from relstudy.calibration.choice import ASKED_FOR, Choice, check_hand_out, choose_method
from relstudy.calibration.drift import Drift, drift_note, session_drift
from relstudy.calibration.methods import METHODS, WEIGHTED
from relstudy.calibration.methods.by_category import ByCategory
from relstudy.calibration.methods.by_name import fit_method
from relstudy.calibration.methods.linear import Lines
from relstudy.calibration.noise_by_level import noise_by_level
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.panel_remarks import panel_remarks
from relstudy.calibration.rater_noise import RaterNoise, rater_noise
from relstudy.calibration.rater_profiles import (
    LEAST_CARE,
    agrees_little,
    chance_of_care,
    rater_profiles,
)
from relstudy.calibration.reliability import agreement, agreement_by_rater_pair
from relstudy.calibration.reliability.ceiling import noise_ceiling
from relstudy.calibration.reliability.generalizability import of_panel
from relstudy.calibration.reliability.intraclass import Icc, intraclass
from relstudy.calibration.reliability.two_way_intervals import Figure, Scale
from relstudy.calibration.reliability.within_pair_variance import (
    FOLDS,
    Progress,
    Scored,
    leave_one_out_figure,
    scored_rows,
    variance_figure,
)
from relstudy.calibration.tables.drawn_pairs import DrawnPairs, with_design
from relstudy.calibration.tables.judgments import CARELESS, CarelessRaters, Judgments, write_careless, write_judgments
from relstudy.calibration.tables.ratings import Ratings
from relstudy.calibration.tables.session import order_note, ordered_by, session_order
from relstudy.calibration.undecided import Undecided, undecided_pairs
from relstudy.common.options.option_wording import option
from relstudy.common.results.estimates import Estimate
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import together
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pair_assignment import HandOut

FACETS = "facets.csv"
FILES = ("judgments.csv", CARELESS, "raters.csv", FACETS, "calibrated.csv")
"""Names of the files that a calibration may write."""
SURE = 0.95
"""Whose chance to have looked is above this counts wholly: doubts that small cost nothing."""


@dataclass(frozen=True)
class Calibration:
    """Ratings on one scale.

    Parameters
    ----------
    panel : the ratings as arrays; of raters who did not look, where those do not count, NaN as undecided ones
    calibrated : their values on the common scale, float array (N), NaN likewise
    lines : each rater's line
    choice : the method and why
    noise : each rater's noise after calibration, and what their ratings weigh
    judgments, raters : as from `make_judgments` and `rater_profiles`
    drawn : what a pairs table says of the judged pairs, and of those that are not judged; None without one
    model : what was fitted, where the method gives categories values of their own; None for lines
    drift : over raters' sessions; None where too few ratings tell of it
    drift_is_out : whether it was taken out of the ratings before the fit
    told_of_drift : the line on drift over the session, if any
    told_of_order : that on raters whose ratings come in another order by their times
    told_of_careless : the line on careless raters, where `judgments.careless` names others, who agree little
    told_of_raters : lines on raters who may be one person, or gave much of all ratings
    otherwise : the calibration with careless raters, or those who agree little, taken the other way; None without any
    """

    ratings: Ratings
    panel: Panel
    calibrated: np.ndarray
    lines: Lines
    choice: Choice
    noise: RaterNoise
    judgments: Judgments
    raters: pd.DataFrame
    drawn: DrawnPairs | None = None
    model: ByCategory | None = None
    drift: Drift | None = None
    drift_is_out: bool = False
    told_of_drift: str | None = None
    told_of_order: str | None = None
    told_of_careless: str | None = None
    told_of_raters: tuple[str, ...] = ()
    otherwise: Calibration | None = None

    @property
    def fitted_to(self) -> Panel:
        """The ratings that the method was fitted to: those of `panel`, without drift where it was taken out."""
        return self.drift.freed(self.panel) if self.drift is not None and self.drift_is_out else self.panel

    @property
    def decided(self) -> int:
        """Number of ratings that are not undecided, those of careless raters among them."""
        return int(self.ratings.frame["rating"].notna().sum())

    @property
    def counted(self) -> pd.DataFrame:
        """The ratings of all but careless raters whose ratings do not count."""
        frame = self.ratings.frame
        return frame[frame["rating"].isna().to_numpy() | ~np.isnan(self.panel.rating)]

    @cached_property
    def undecided(self) -> Undecided | None:
        """The pairs that raters saw and could not decide; None where no judged pair has a known probability."""
        return None if self.drawn is None else undecided_pairs(self.counted, self.judgments, self.drawn.pairs)

    def with_probabilities(self, pairs: str | os.PathLike[str] | Checked) -> Calibration:
        """The same with the probabilities that a pairs table (a study's pairs.csv) gives the pairs to be drawn, times
        the share of their rounds' pairs that are judged."""
        judgments, drawn = with_design(self.judgments, pairs)
        otherwise = None if self.otherwise is None else self.otherwise.with_probabilities(pairs)
        if judgments.careless is not None and otherwise is not None:
            judgments = replace(judgments, careless=replace(judgments.careless, otherwise=otherwise.judgments))
        people = self.of_people
        rated = np.bincount(self.panel.pair, ~np.isnan(people), self.panel.n_pairs) > 0
        probability = np.full(self.panel.n_pairs, np.nan)
        probability[rated] = judgments.frame["inclusion_probability"]
        panel = replace(self.panel, pairs=self.panel.pairs.assign(inclusion_probability=probability))
        noise = replace(self.noise, by_level=noise_by_level(panel, people))
        judgments = replace(judgments, frame=judgments.frame.assign(**errors_of(panel, people, noise)))
        return replace(self, judgments=judgments, drawn=drawn, noise=noise, otherwise=otherwise)

    @property
    def of_people(self) -> np.ndarray:
        """The calibrated ratings without those of automatic judges, float array (N), NaN likewise."""
        return _of_people(self.ratings, self.calibrated)

    def for_figures(self) -> Calibration:
        """The same without the rows of text that `summary` does not read: they are most of what a large one holds."""
        frame = self.ratings.frame[["rating"] if self.drawn is None else [*PAIR, "rating"]]
        judgments = replace(self.judgments, ratings=None)
        return replace(self, ratings=replace(self.ratings, frame=frame), judgments=judgments, otherwise=None)

    def files(self) -> list[str]:
        """Names of the files that `write` writes: judgments-careless.csv where raters look careless, facets.csv where
        there are facets."""
        absent = {CARELESS} if self.judgments.careless is None else set()
        if self.model is None or self.model.of_facets is None:
            absent.add(FACETS)
        return [name for name in FILES if name not in absent]

    def write(self, folder: Path) -> None:
        """Write the tables named by `files`, all or none."""
        with together():
            write_judgments(self.judgments, folder / "judgments.csv")
            write_table(self.raters, folder / "raters.csv")
            if self.model is not None and self.model.of_facets is not None:
                write_table(self.model.of_facets, folder / FACETS)
            write_table(self.calibrated_ratings(), folder / "calibrated.csv")
            write_careless(self.judgments.careless, folder / CARELESS)

    def calibrated_ratings(self) -> pd.DataFrame:
        """Each person's rating as it came, with its value on the common scale (`calibrated`), what it weighs in its
        judgment (`weight`) and its `block`, base or unique; and where raters look careless how far it counts (`care`).
        A rating that does not count has no value on the common scale.
        """
        frame = self.ratings.frame
        table = frame.drop(columns=["base", "calibrated"], errors="ignore").assign(**self.ratings.scale.scale.columns())
        table = table.assign(
            calibrated=self.calibrated,
            weight=self.noise.weight[self.panel.rater],
            block=np.where(frame["base"], "base", "unique"),
        )
        if self.noise.care is not None:
            table["care"] = self.noise.care[self.panel.rater]
        people = ~table["rater_id"].isin(self.ratings.judges)
        return table if people.all() else table[people].reset_index(drop=True)


def calibrate(
    ratings: Ratings, options: CalibrationOptions | None = None, *, alone: bool = False, described: bool = True
) -> Calibration:
    """Put ratings on one scale.

    Parameters
    ----------
    ratings : from `read_ratings`
    options : without a method, `pooled` is chosen where pairs were handed out at random, else `crossed` or `shrunk`
    alone : without what there would be if careless raters were taken another way
    described : False leaves out raters' profiles, remarks on raters, and errors by level

    Raises
    ------
    RelstudyError
        when the method can't be used on these ratings

    Examples
    --------
    >>> from relstudy.calibration.tables.ratings import check_ratings
    >>> from relstudy.common.tables.formats.table_files import Checked
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "query_id": ["q"] * 4, "result_id": list("xyxy"),
    ...                       "rating": ["1", "3", "3", "5"]})
    >>> result = calibrate(check_ratings(Checked(frame, "ratings.csv")), CalibrationOptions("mean"))
    >>> result.judgments.frame["judgment"].tolist(), result.calibrated.tolist()
    ([2.0, 4.0], [2.0, 4.0, 2.0, 4.0])
    """
    options = options or CalibrationOptions()
    scale = ratings.scale.scale
    panel = Panel.from_frame(ratings.frame, scale.low, scale.high, options.facets)
    recorded = HandOut(options.handed_out) if options.handed_out else ratings.handed_out
    if options.method is None:
        choice = choose_method(panel, recorded, described=described)
    elif options.force:
        choice = Choice(options.method, ASKED_FOR)
    else:
        choice = check_hand_out(panel, options.method, recorded)
    fitted = fit_method(panel, choice.method)
    everything = panel
    care = np.where(panel.raters.isin(ratings.judges), 1.0, chance_of_care(panel, fitted.lines(panel)))
    suspects = tuple(str(each) for each in panel.raters[care < LEAST_CARE])
    low = agrees_little(panel.with_rating(fitted.lines(panel).calibrated(panel)))
    little = tuple(str(each) for each in panel.raters[low & (care >= LEAST_CARE)] if each not in ratings.judges)
    counts = np.ones(len(care))
    if options.careless == "drop" and (suspects or little):
        kept = calibrate(ratings, replace(options, careless="keep"), alone=True)
        rest = calibrate(_without(ratings, suspects, little), replace(options, careless="keep"), alone=True)
        return _with_otherwise(rest, CarelessRaters((*suspects, *little), "drop", kept.judgments), kept)
    if options.careless == "weigh":
        counts = np.where(care < LEAST_CARE, 0.0, np.where(care > SURE, 1.0, care))
    if suspects and options.careless == "weigh":
        panel = panel.with_rating(np.where(counts[panel.rater] > 0, panel.rating, np.nan))
        if np.isnan(panel.rating).all():
            raise RelstudyError(_nobody_left())
        fitted = fit_method(panel, choice.method)
    by_judge = ratings.frame["rater_id"].isin(ratings.judges).to_numpy(dtype=bool)
    drift = session_drift(panel, np.where(by_judge, np.nan, session_order(ratings.frame)))
    if drift is not None:
        drift = replace(drift, ordered_by=ordered_by(ratings.frame))
    in_values = METHODS[choice.method].gives_lines
    told = drift_note(drift, options.drift, scale.high - scale.low, in_values)
    told_of_order = None if drift is None else order_note(ratings.frame)
    given = panel
    is_out = drift is not None and options.drift == "remove" and in_values and drift.helps
    if drift is not None and is_out:
        panel = drift.freed(panel)
        fitted = fit_method(panel, choice.method)
    lines, calibrated = fitted.lines(panel), fitted.calibrated(panel)
    if options.clip:
        calibrated = np.clip(calibrated, panel.low, panel.high)
    weighted = choice.method in WEIGHTED if options.weigh_raters is None else options.weigh_raters
    noise = rater_noise(panel.with_rating(calibrated), lines, weighted=weighted).with_care(counts)
    looked = care if suspects else None
    profiles = pd.DataFrame()
    if described:
        profiles = rater_profiles(everything, lines, _seconds(ratings.frame), noise, looked, ratings.not_shown)
    model = fitted if isinstance(fitted, ByCategory) else None
    of_people = _of_people(ratings, calibrated)
    if described:
        noise = replace(noise, by_level=noise_by_level(panel, of_people))
    judgments = make_judgments(panel, of_people, ratings.scale, noise)
    if model is not None:
        profiles = profiles.assign(**model.of_raters)
        rated = np.bincount(panel.pair, ~np.isnan(panel.rating) & ~by_judge, panel.n_pairs) > 0
        judgments = replace(judgments, frame=judgments.frame.assign(**{n: v[rated] for n, v in model.of_pairs.items()}))
    result = Calibration(
        ratings=ratings,
        panel=given,
        calibrated=calibrated,
        lines=lines,
        choice=choice,
        noise=noise,
        judgments=judgments,
        raters=_marked(profiles, ratings.judges),
        model=model,
        drift=drift,
        drift_is_out=is_out,
        told_of_drift=told,
        told_of_order=told_of_order,
        told_of_raters=tuple(panel_remarks(ratings.frame[~by_judge])) if described else (),
    )
    if alone:
        return result
    if suspects:
        switched = replace(options, careless="weigh" if options.careless == "keep" else "keep")
        other = calibrate(ratings, switched, alone=True)
        result = _with_otherwise(result, CarelessRaters(suspects, options.careless, other.judgments), other)
    if little and (not suspects or options.careless == "weigh"):  # those who look careless do not count either way
        try:
            other = calibrate(_without(ratings, (), little), options, alone=True)
        except RelstudyError:  # too little is left without them to say what would change
            return result
        of_careless = None if result.judgments.careless is None else result.judgments.careless.note()
        result = _with_otherwise(result, CarelessRaters(little, "little", other.judgments), other)
        result = replace(result, told_of_careless=of_careless)
    return result


def _with_otherwise(result: Calibration, raters: CarelessRaters, other: Calibration) -> Calibration:
    """The calibration with the judgments that there would be if these raters were taken the other way."""
    return replace(result, judgments=replace(result.judgments, careless=raters), otherwise=other)


def _of_people(ratings: Ratings, calibrated: np.ndarray) -> np.ndarray:
    by_judge = ratings.frame["rater_id"].isin(ratings.judges).to_numpy(dtype=bool)
    return np.where(by_judge, np.nan, calibrated)


def _without(ratings: Ratings, careless: tuple[str, ...], little: tuple[str, ...]) -> Ratings:
    """The ratings without those of raters who look careless or agree little, and a note that says so."""
    theirs = ratings.frame["rater_id"].isin((*careless, *little)).to_numpy(dtype=bool)
    rest = ratings.frame[~theirs].reset_index(drop=True)
    if rest["rating"].isna().all():
        raise RelstudyError(_nobody_left())
    whose = " and ".join(
        f"{count_of(len(raters), 'rater')} {why} ({', '.join(raters)})"
        for raters, why in ((careless, "without a sign of agreement"), (little, "with little agreement"))
        if raters
    )
    note = f"{count_of(int(theirs.sum()), 'rating')} of {whose} left out, as stated"
    return replace(ratings, frame=rest, notes=(*ratings.notes, note))


def _nobody_left() -> str:
    return f"without raters who look careless no ratings are left; {option('careless', 'keep')} takes theirs"


def _marked(profiles: pd.DataFrame, judges: tuple[str, ...]) -> pd.DataFrame:
    """The table with a column that marks automatic judges, if any."""
    if not judges:
        return profiles
    kind = np.where(profiles["rater_id"].isin(judges), "judge", "person")
    return profiles.assign(kind=kind)


def _seconds(frame: pd.DataFrame) -> np.ndarray | None:
    if "seconds" not in frame:
        return None
    return pd.to_numeric(frame["seconds"], errors="coerce").to_numpy(dtype=float)


@dataclass(frozen=True)
class Change:
    """A figure before and after calibration, and after less before; intervals are for raters and pairs like these."""

    before: Estimate
    after: Estimate
    difference: Estimate

    @classmethod
    def of(cls, before: Figure | Estimate, after: Figure | Estimate, panel: Panel, scale: Scale) -> Change:
        """From two figures of the same rows, or the reason why there is none."""
        if isinstance(before, Estimate) or isinstance(after, Estimate):
            reason = next(each for each in (before, after) if isinstance(each, Estimate)).reason or ""
            one, other = (f if isinstance(f, Estimate) else f.estimate(panel, scale) for f in (before, after))
            return cls(one, other, Estimate.missing(reason))
        difference = after.plus(before, -1.0)
        return cls(before.estimate(panel, scale), after.estimate(panel, scale), difference.estimate(panel))


@dataclass(frozen=True)
class VarianceReduction:
    """The paper's table 5.1 for one study: variance within pairs and out-of-sample agreement, before and after."""

    variance: Change
    correlation: Change
    icc_before: Icc
    icc_after: Icc
    scored: Scored


def variance_reduction(result: Calibration, progress: Progress = iter) -> VarianceReduction:
    """Table 5.1 with intervals for raters and pairs like these, on unique pairs where enough have two ratings.

    Parameters
    ----------
    progress : wraps the folds, to show how they go
    """
    panel, after = result.panel, result.panel.with_rating(result.calibrated)
    scored = scored_rows(panel)
    part = panel.keep(scored.rows)
    weighted = result.noise.share > 0
    nothing = Estimate.missing("no pair has two ratings")
    return VarianceReduction(
        variance=Change.of(
            variance_figure(part) or nothing, variance_figure(after.keep(scored.rows)) or nothing, part, "log"
        ),
        correlation=Change.of(
            leave_one_out_figure(panel, "none", scored),
            leave_one_out_figure(result.fitted_to, result.choice.method, scored, weighted=weighted, progress=progress),
            part,
            "fisher",
        ),
        icc_before=intraclass(panel),
        icc_after=intraclass(after),
        scored=scored,
    )


def summary(result: Calibration, progress: Progress = iter) -> dict[str, Any]:
    """Everything the command reports, as JSON; a missing number is null, with its reason under `reasons`.

    Parameters
    ----------
    progress : wraps the folds of the leave-one-out correlation, to show how they go
    """
    panel, ratings = result.panel, result.ratings
    table = variance_reduction(result, progress)
    reasons: dict[str, str] = {}

    def plain(name: str, estimate: Estimate) -> float | None:
        if estimate.value is None and estimate.reason:
            reasons[name] = estimate.reason
        return estimate.value

    def before_after(name: str, change: Change) -> dict[str, Any]:
        return {
            "before": plain(f"{name}.before", change.before),
            "after": plain(f"{name}.after", change.after),
            "before_interval": _interval(change.before),
            "after_interval": _interval(change.after),
            "difference": plain(f"{name}.difference", change.difference),
            "difference_interval": _interval(change.difference),
        }

    by_couples = agreement_by_rater_pair.pairwise(panel)
    coefficients = agreement_of(panel, table.icc_before, by_couples)
    alpha_after = agreement.krippendorff_alpha(panel.with_rating(result.calibrated), "interval")
    flags = result.raters.loc[result.raters["flags"] != "", ["rater_id", "flags"]]
    test = result.choice.balance
    return {
        "method": result.choice.method,
        "method_reason": result.choice.why,
        "raters": panel.n_raters,
        "pairs": panel.n_pairs,
        "base_pairs": int(np.count_nonzero(panel.base)),
        "base_rule": ratings.base_rule,
        "ratings": result.decided,
        "undecided": len(panel.rating) - result.decided,
        "merged_duplicates": ratings.merged,
        "set_aside": ratings.aside,
        "scale": ratings.scale.as_json(),
        "handed_out": ratings.handed_out,
        "balance": None if test is None else vars(test),
        "judgments": len(result.judgments),
        "inclusion_probability": {
            "known": len(result.judgments) - result.judgments.unknown,
            "unknown": result.judgments.unknown,
        },
        "drawn": _drawn(result),
        "spread_weight": result.lines.spread_weight,
        "noise_weight": result.noise.share,
        "within_item_variance": before_after("within_item_variance", table.variance),
        "leave_one_out_correlation": before_after("leave_one_out_correlation", table.correlation),
        "scored_on": {"block": table.scored.block, "pairs": table.scored.pairs, "folds": FOLDS},
        "krippendorff_alpha": {
            level: plain(f"krippendorff_alpha.{level}", coefficients[f"krippendorff_alpha.{level}"])
            for level in agreement.LEVELS
        },
        "krippendorff_alpha_calibrated": {"interval": plain("krippendorff_alpha_calibrated.interval", alpha_after)},
        "icc": {**_icc("icc", table.icc_before, plain), "after": _icc("icc.after", table.icc_after, plain)},
        "weighted_kappa": plain("weighted_kappa", coefficients["weighted_kappa"]),
        "spearman": plain("spearman", coefficients["spearman"]),
        "couples": by_couples.couples,
        "gwet": {name: plain(f"gwet.{name}", coefficients[f"gwet.{name}"]) for name in ("ac1", "ac2")},
        "reachable_share": noise_ceiling(panel.with_rating(result.calibrated), result.noise).as_json(),
        "agreement": {name: estimate.as_json() for name, estimate in coefficients.items()},
        "generalizability": _generalizability(result),
        "drift": drift_json(result),
        "flags": {str(rater): text.split("; ") for rater, text in zip(flags["rater_id"], flags["flags"], strict=True)},
        "reasons": reasons,
        "notes": notes_on(result),
    }


def _generalizability(result: Calibration) -> dict[str, Any]:
    """Where the ratings vary and what their means can be relied upon for, as JSON; the reason where nobody can say."""
    try:
        return of_panel(result.panel).as_json()
    except RelstudyError as error:
        return {"reason": str(error)}


def drift_json(result: Calibration) -> dict[str, Any] | None:
    """Drift over the session, and whether it was taken out, as JSON; None where too few ratings tell of it."""
    if result.drift is None:
        return None
    return {**result.drift.as_json(), "taken_out": result.drift_is_out}


def _drawn(result: Calibration) -> dict[str, Any] | None:
    """Numbers of pairs drawn, judged and missing, as JSON; None without a pairs table."""
    if result.drawn is None:
        return None
    undecided = result.undecided
    return {**result.drawn.response.as_json(), "undecided": None if undecided is None else undecided.as_json()}


def notes_on(result: Calibration) -> list[str]:
    """Notes on the ratings and the judgments, one sentence each."""
    notes = [result.ratings.scale.sentence(), *result.ratings.notes, result.judgments.probability_note()]
    if result.drawn is not None:
        undecided = result.undecided
        notes += [result.drawn.response.sentence(), None if undecided is None else undecided.sentence()]
    notes.append(None if result.model is None else result.model.note or None)
    notes += [result.told_of_drift, result.told_of_order, result.told_of_careless]
    careless = result.judgments.careless
    if careless is not None and careless.how != "drop":  # which is a note of the ratings
        notes.append(careless.note())
    notes += result.told_of_raters
    return [note for note in notes if note is not None]


def agreement_of(panel: Panel, icc: Icc, by_couples: agreement_by_rater_pair.Pairwise) -> dict[str, Estimate]:
    """Every coefficient of agreement with its interval for raters and pairs like these, by its name in the output."""
    return {
        **{f"krippendorff_alpha.{level}": agreement.krippendorff_alpha(panel, level) for level in agreement.LEVELS},
        "gwet.ac1": agreement.gwet(panel, quadratic=False),
        "gwet.ac2": agreement.gwet(panel, quadratic=True),
        **{f"icc.{name}": estimate for name, estimate in icc.by_name().items()},
        "weighted_kappa": by_couples.kappa,
        "spearman": by_couples.spearman,
    }


def _icc(name: str, icc: Icc, plain: Any) -> dict[str, Any]:
    values = {each: plain(f"{name}.{each}", estimate) for each, estimate in icc.by_name().items()}
    return {**values, "pairs": icc.pairs, "raters": icc.raters}


def _interval(estimate: Estimate) -> list[float] | None:
    return None if estimate.ends is None else list(estimate.ends)
