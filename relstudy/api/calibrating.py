"""From ratings to judgments: `read_ratings` and `calibrate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from relstudy.api.inputs import Columns, Missing, Source, Values, refuse_unknown, scores_of, table_of, unread
from relstudy.calibration import comparison, pipeline
from relstudy.calibration import ratings as ratings_table
from relstudy.calibration.methods.names import METHODS
from relstudy.calibration.plots import pictures
from relstudy.calibration.ratings import Ratings
from relstudy.common.arguments import check_arguments
from relstudy.common.errors import RelstudyError
from relstudy.common.figures import figure_of
from relstudy.common.hand_out import HandOut
from relstudy.common.headers import under_own_names
from relstudy.common.reading import Reading
from relstudy.common.shown import Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def read_ratings(
    ratings: Source,
    *,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
    base_column: str | None = None,
    trust_raters: bool = False,
    with_set_aside: bool = False,
) -> Ratings:
    """Read and check ratings.

    Parameters
    ----------
    ratings : a path (CSV or Parquet) or a DataFrame with rater_id, query_id, result_id and rating, a row each; an empty
        rating is undecided. Optional: block (base or unique), scale, handed_out, seconds, pair_id,
        inclusion_probability, query_probability
    columns : their names to ours, such as {"worker": "rater_id"}; several are the "rating" where each rater has one
    values, scale, missing : numbers for words ({"partly": 1}), the scale ("0-100") and what stands for no value
        (["NA", "-"]) in the ratings, as --values, --scale and --missing have it
    base_column : a yes/no column that marks the base block, where no `block` column does
    trust_raters : accept rater columns whose ratings look sorted within each pair
    with_set_aside : take the ratings of raters who were set aside (column set_aside), too

    Returns
    -------
    Ratings: `.frame` (DataFrame), `.scale` (the scale, and how it is known), `.base_rule`, `.notes`

    Raises
    ------
    RelstudyError
        with every fault of the table, one sentence each; rows of a DataFrame are counted from 0

    Examples
    --------
    >>> frame = pd.DataFrame({"worker": ["a", "b"], "query_id": "q", "result_id": "x", "rating": [4, 2]})
    >>> read_ratings(frame, columns={"worker": "rater_id"}).frame[["rater_id", "rating"]].values.tolist()
    [['a', 4.0], ['b', 2.0]]
    """
    check_arguments(read_ratings, locals())
    reading = Reading.given(columns, values, scale, missing)
    table = table_of(ratings, "the ratings")
    refuse_unknown(table, columns)
    table = under_own_names(table, ratings_table.NAMES, keep=[*(columns or {}), base_column])
    named = list((columns or {}).values())
    if isinstance(ratings, pd.DataFrame) and named.count("rating") < 2:
        table.require(*(name for name in ratings_table.REQUIRED if name not in named))
    return ratings_table.read_ratings(
        table, base_column=base_column, trust_raters=trust_raters, with_set_aside=with_set_aside, reading=reading
    )


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedPanel(Shown):
    """Raters on one scale.

    Parameters
    ----------
    calibration : the result with its arrays, as the command holds it
    """

    calibration: pipeline.Calibration

    @property
    def method(self) -> str:
        """The method used, one of pooled, crossed, shrunk, zscore, mean, none, ordinal."""
        return self.calibration.choice.method

    @property
    def why(self) -> str:
        """Why this method."""
        return self.calibration.choice.why

    @property
    def judgments(self) -> pd.DataFrame:
        """One row per pair: pair_id, query_id, result_id, judgment, n_ratings, standard_error, inclusion_probability
        (NaN where unknown); what judgments.csv holds."""
        return self.calibration.judgments.frame

    @property
    def raters(self) -> pd.DataFrame:
        """One row per rater, with leniency, spread, line, agreement and flags; what raters.csv holds."""
        return self.calibration.raters

    @property
    def ratings(self) -> pd.DataFrame:
        """One row per rating, with its value on the common scale in `calibrated`; what calibrated.csv holds."""
        return self.calibration.calibrated_ratings()

    @property
    def notes(self) -> list[str]:
        """What a person should know, one sentence each."""
        return pipeline.notes_on(self.calibration)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """How far raters agree, before and after calibration, with 95 % intervals for raters and pairs like these."""
        summary = self.summary()
        rows: list[dict[str, Any]] = []
        for name in ("within_item_variance", "leave_one_out_correlation"):
            figure = summary[name]
            row: dict[str, Any] = {"measure": name}
            for part in ("before", "after", "difference"):
                low, high = figure[f"{part}_interval"] or (None, None)
                row |= {part: figure[part], f"{part}_low": low, f"{part}_high": high}
            rows.append(row)
        after = {f"icc.{name}": value for name, value in summary["icc"]["after"].items()}
        after["krippendorff_alpha.interval"] = summary["krippendorff_alpha_calibrated"]["interval"]
        for name, figure in summary["agreement"].items():
            row = {"measure": name.removeprefix("icc.").replace(".", "_"), "before": figure["value"]}
            row |= {"before_low": figure["low"], "before_high": figure["high"], "after": after.get(name)}
            rows.append(row)
        return pd.DataFrame(rows).astype({"before": float, "after": float, "difference": float})

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate --json` prints."""
        return self._summary

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return pipeline.summary(self.calibration)

    def compare(self, rater: str | int, scores: Source | Mapping[str, Source] | None = None) -> dict[str, Any]:
        """One rater against all the others, as `relstudy calibrate --compare` prints it with `--json`.

        Parameters
        ----------
        rater : a rater_id
        scores : systems, as `fit` takes them, higher is better, to correlate with both sides' judgments

        Raises
        ------
        RelstudyError
            where there is no such rater, or no other
        """
        check_arguments(CalibratedPanel.compare, locals())
        tables = [] if scores is None else [scores_of(scores)[0].frame]
        return comparison.compare_rater(self.calibration, str(rater), tables).as_json()

    def plot(self, kind: str = "raters") -> Figure:
        """A picture of the calibration.

        Parameters
        ----------
        kind : "raters" (leniency against agreement), "rater-lines" (rating to calibrated value), or "variance-by-mean"
            (disagreement against the mean rating, before and after)
        """
        check_arguments(CalibratedPanel.plot, locals())
        drawings = pictures(self.calibration)
        if kind not in drawings:
            raise RelstudyError(f"there is no picture {kind!r} of a calibration; there are: {', '.join(drawings)}")
        return figure_of(drawings[kind])

    def heading(self) -> str:
        """What was calibrated, and how."""
        panel = self.calibration.panel
        return (
            f"{panel.n_raters:,} raters, {len(self.judgments):,} judgments from {len(panel.decided().rating):,} "
            f"ratings; method {self.method}: {self.why}"
        )

    def overview(self) -> pd.DataFrame:
        """The judgments."""
        names = ["query_id", "result_id", "judgment", "n_ratings", "standard_error", "inclusion_probability"]
        return self.judgments[names]

    def remarks(self) -> Sequence[str]:
        """Notes, and how many raters are worth a look."""
        flagged = int((self.raters["flags"] != "").sum())
        return [*self.notes, *([f"{flagged} raters have a flag in .raters"] if flagged else [])]


def calibrate(
    ratings: Ratings | Source,
    *,
    method: str | None = None,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Missing | None = None,
    base_column: str | None = None,
    handed_out: str | None = None,
    pairs: Source | None = None,
    clip: bool = False,
    force: bool = False,
    weigh_raters: bool | None = None,
    trust_raters: bool = False,
    with_set_aside: bool = False,
) -> CalibratedPanel:
    """Put ratings on one scale and average them into judgments, as `relstudy calibrate` does.

    Parameters
    ----------
    ratings : what `read_ratings` gives, or anything it takes
    method : pooled, crossed, shrunk, zscore, mean, none or ordinal; None chooses, and `.why` says why
    columns, values, scale, missing, base_column, trust_raters, with_set_aside : as in `read_ratings`
    handed_out : "random" or "fixed": how unique pairs were handed to raters, where the table doesn't record it
    pairs : a pairs table (path or DataFrame) to take inclusion probabilities from
    clip : keep calibrated values within the scale
    force : use pooled or ordinal even where pairs don't look handed out at random
    weigh_raters : whether ratings weigh less, the noisier their rater is; None: with pooled, crossed, shrunk, ordinal

    Raises
    ------
    RelstudyError
        where the table has faults, or the method can't be used on it

    Examples
    --------
    >>> frame = pd.DataFrame({"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"),
    ...                       "rating": [1, 3, 3, 5]})
    >>> calibrate(frame, method="mean").judgments["judgment"].tolist()
    [2.0, 4.0]
    """
    check_arguments(calibrate, locals())
    if method is not None and method not in METHODS:
        raise RelstudyError(f"there is no calibration method {method!r}; there are: {', '.join(METHODS)}")
    if handed_out not in (None, *HandOut):
        raise RelstudyError(f"pairs are handed out {' or '.join(HandOut)}, not {handed_out!r}")
    stated: dict[str, Any] = {"columns": columns, "values": values, "scale": scale, "missing": missing}
    if isinstance(ratings, Ratings):
        unread(ratings, Reading.given(**stated))
        if base_column is not None or trust_raters or with_set_aside:
            raise RelstudyError(
                "base_column, trust_raters and with_set_aside say how a table is read, and these ratings were read "
                "already: give them to read_ratings"
            )
    else:
        stated |= {"base_column": base_column, "trust_raters": trust_raters, "with_set_aside": with_set_aside}
        ratings = read_ratings(ratings, **stated)
    stated_hand_out = None if handed_out is None else HandOut(handed_out)
    result = pipeline.calibrate(
        ratings, method, handed_out=stated_hand_out, clip=clip, force=force, weigh_raters=weigh_raters
    )
    if pairs is not None:
        result = result.with_probabilities(table_of(pairs, "the pairs"))
    return CalibratedPanel(result)
