"""From ratings to judgments: `read_ratings` and `calibrate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from relstudy.api.inputs import ScoredSystems, folder_of, refuse_taken, scores_of, table_of, unread
from relstudy.calibration import pipeline
from relstudy.calibration.method_comparison import beside_others, beside_sentences
from relstudy.calibration.methods import METHODS, methods_named
from relstudy.calibration.options import (
    CalibrationChanges,
    CalibrationOptions,
    RatingsChanges,
    RatingsOptions,
)
from relstudy.calibration.plots import pictures
from relstudy.calibration.rater_comparison import compare_rater
from relstudy.calibration.reliability.generalizability import Generalizability, of_panel
from relstudy.calibration.tables import ratings as ratings_table
from relstudy.calibration.tables.ratings import Ratings
from relstudy.common.charts.figures import figure_of
from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.options.declaration import fields_given
from relstudy.common.options.python_arguments import takes_options
from relstudy.common.results.result import FolderResult
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.tables.column_names import under_own_names
from relstudy.common.tables.formats.dataframe_libraries import Source, path_or_frame, tasks_of_library
from relstudy.common.tables.meaning.reading import Reading, ReadingChanges
from relstudy.common.tables.meaning.reading_options import ReadingOptions, renamings
from relstudy.common.tables.meaning.study_folder import ratings_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ReadRatingsChanges(ReadingChanges, RatingsChanges, total=False):
    """How a table is read, and a table of ratings."""


class CalibrateChanges(CalibrationChanges, ReadRatingsChanges, total=False):
    """How ratings are read, and how they are calibrated."""


@takes_options(ReadingOptions, RatingsOptions)
def read_ratings(
    ratings: Source,
    **changes: Unpack[ReadRatingsChanges],
) -> Ratings:
    """Read and check ratings.

    Parameters
    ----------
    ratings : a path (CSV or Parquet) or a DataFrame with rater_id, query_id, result_id and rating, a row each; an empty
        rating is undecided. Optional: block (base or unique), scale, handed_out, seconds, pair_id,
        inclusion_probability, query_probability
    changes : the fields of `ReadingOptions` and `RatingsOptions`, each by its name; None leaves one as it is

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
    return ratings_given(ratings, changes)


def ratings_given(ratings: Source, changes: Mapping[str, Any]) -> Ratings:
    """The ratings of a table, as `read_ratings` reads them, whose arguments `changes` may hold beside others."""
    reading = Reading.stated(changes)
    columns = changes.get("columns") or {}
    ratings = path_or_frame(ratings, "the ratings")
    table = table_of(ratings, "the ratings")
    refuse_taken(table, columns)
    table = table if columns else tasks_of_library(table)
    table = under_own_names(table, ratings_table.NAMES, keep=[*columns, changes.get("base_column")])
    named = [ours for _, _, ours in renamings(columns)]
    if isinstance(ratings, pd.DataFrame) and named.count("rating") < 2 and changes.get("items") is None:
        table.require(*(name for name in ratings_table.REQUIRED if name not in named))
    return ratings_table.read_ratings(table, **fields_given(RatingsOptions, changes), reading=reading)


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedPanel(FolderResult):
    """Raters on one scale.

    Parameters
    ----------
    calibration : the result with its arrays, as the command holds it
    """

    saved_as = "panel"
    calibration: pipeline.Calibration

    @property
    def method(self) -> str:
        """The method used, any of those that `--method` takes."""
        return self.calibration.choice.method

    @property
    def why(self) -> str:
        """The reason why this method."""
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
    def facets(self) -> pd.DataFrame:
        """With `facets`, one row a level of each: its ratings, its severity (a query's worth) in logits with standard
        error, infit and outfit; what facets.csv holds. Empty without."""
        model = self.calibration.model
        return pd.DataFrame() if model is None or model.of_facets is None else model.of_facets

    @property
    def table(self) -> pd.DataFrame:
        """The raters: as `.raters`."""
        return self.raters

    @property
    def flags(self) -> pd.Series:
        """By rater, what is worth a look, if there is anything: the column `flags` of `.raters`, whose own attribute
        of that name is pandas'."""
        flags = self.raters.set_index("rater_id")["flags"]
        return flags[flags != ""]

    @property
    def ratings(self) -> pd.DataFrame:
        """One row per rating, with its value on the common scale in `calibrated`; what calibrated.csv holds."""
        return self.calibration.calibrated_ratings()

    @property
    def notes(self) -> list[str]:
        """Notes, one sentence each."""
        return pipeline.notes_on(self.calibration)

    @property
    def drift(self) -> dict[str, Any] | None:
        """Drift over raters' sessions in points of the scale, from a rater's first rating to the last: the common
        `slope` with its interval, the `spread` of raters' slopes, `gain` (the share by which the squared error of
        held-out ratings is smaller without it, where it is found) and whether it was `taken_out`; None where too few
        ratings tell of it."""
        return pipeline.drift_json(self.calibration)

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """Agreement of raters before and after calibration, with 95 % intervals for raters and pairs like these."""
        summary = self.as_json()
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

    def generalizability(self) -> Generalizability:
        """Where the ratings vary, and how far means of so many of them can be relied upon.

        Raises
        ------
        RelstudyError
            where no pair has ratings that differ

        Examples
        --------
        >>> study = calibrate("data/example/ratings.csv").generalizability()
        >>> list(study.components)
        ['query', 'pair', 'rater', 'rater x query', 'rest']
        >>> study.needed("phi", 0.9)[0]
        2
        """
        return of_panel(self.calibration.panel)

    def as_json(self) -> dict[str, Any]:
        """Everything that `relstudy calibrate --json` prints."""
        return self._figures

    @cached_property
    def _figures(self) -> dict[str, Any]:
        return pipeline.summary(self.calibration)

    def _tables(self) -> Mapping[str, pd.DataFrame]:
        names = ["rater_id", "n_ratings", "mean", "spread", "slope", "offset", "flags"]
        raters = self.raters[[name for name in names if name in self.raters]]
        return {"How far raters agree:": self.agreement[["measure", "before", "after"]], "Raters:": raters}

    def _write_tables(self, folder: Path) -> None:
        self.calibration.write(folder)

    def against(self, *methods: str) -> pd.DataFrame:
        """The method used held against others, on pairs that none had seen, as `relstudy calibrate --against` does.

        Parameters
        ----------
        methods : names of methods; none, or "all": all but ordinal

        Returns
        -------
        DataFrame, a row a method, the one used first: the leave-one-out correlation of single ratings, how far the used
        method's is above it with its standard error and p (two-sided, corrected for all), and the same of the order of
        judgments by half of the raters beside the other half's ratings; `reason` where a method has no figures;
        `attrs["sentences"]` says who is ahead, and how many were compared

        Examples
        --------
        >>> from relstudy.calibration.simulation import simulate_panel
        >>> panel = simulate_panel(8, 10, 40, seed=1).panel
        >>> ratings = panel.pairs.iloc[panel.pair].assign(rater_id=panel.raters[panel.rater], rating=panel.rating)
        >>> table = calibrate(ratings, method="pooled", force=True).against("none")
        >>> table["method"].tolist(), bool(table["difference"][1] > 0)
        (['pooled', 'none'], True)
        """
        unknown = [name for name in methods if name not in (*METHODS, "all")]
        if unknown:
            raise RelstudyError(f"{unknown[0]!r} is not a method; there are: {', '.join(METHODS)} and all")
        rows = beside_others(self.calibration, methods_named(methods or ("all",)))
        table = pd.DataFrame([vars(each) for each in rows])
        table.attrs["sentences"] = beside_sentences(self.calibration, rows)
        return table

    def compare(self, rater: str | int, scores: ScoredSystems | None = None) -> dict[str, Any]:
        """One rater against all the others, as `relstudy calibrate --compare` prints it with `--json`.

        Parameters
        ----------
        rater : a rater_id
        scores : systems, as `fit` takes them, higher is better, to correlate with both sides' judgments

        Raises
        ------
        RelstudyError
            if there is no such rater, or no other

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"),
        ...                       "rating": [1, 3, 3, 5]})
        >>> panel = calibrate(frame, method="mean")
        >>> panel.compare("a")["rater"]
        'a'
        """
        check_arguments(CalibratedPanel.compare, locals())
        tables = [] if scores is None else [scores_of(scores)[0].frame]
        return compare_rater(self.calibration, str(rater), tables).as_json()

    def plot(self, kind: str = "raters") -> Figure:
        """A picture of the calibration.

        Parameters
        ----------
        kind : "raters" (leniency against agreement), "rater-lines" (rating to calibrated value), or "variance-by-mean"
            (disagreement against the mean rating, before and after)

        Examples
        --------
        >>> frame = pd.DataFrame({"rater_id": list("aabb"), "query_id": "q", "result_id": list("xyxy"),
        ...                       "rating": [1, 3, 3, 5]})
        >>> figure = calibrate(frame, method="mean").plot("variance-by-mean")
        >>> figure.axes[0].get_xlabel()
        'mean rating of the pair'
        """
        check_arguments(CalibratedPanel.plot, locals())
        drawings = pictures(self.calibration)
        if kind not in drawings:
            raise RelstudyError(f"there is no picture {kind!r} of a calibration; there are: {', '.join(drawings)}")
        return figure_of(drawings[kind])

    def heading(self) -> str:
        """The numbers of raters, judgments and ratings, and the method."""
        panel = self.calibration.panel
        raters, judgments = count_of(panel.n_raters, "rater"), count_of(len(self.judgments), "judgment")
        ratings = count_of(self.calibration.decided, "rating")
        return f"{raters}, {judgments} from {ratings}; method {self.method}: {self.why}"

    def overview(self) -> pd.DataFrame:
        """The judgments."""
        names = ["query_id", "result_id", "judgment", "n_ratings", "standard_error", "inclusion_probability"]
        return self.judgments[names]

    def remarks(self) -> Sequence[str]:
        """Notes, and how many raters are worth a look."""
        flagged = len(self.flags)
        return [*self.notes, *([f"{count_of(flagged, 'rater')} worth a look: .flags"] if flagged else [])]


@takes_options(CalibrationOptions, ReadingOptions, RatingsOptions)
def calibrate(
    ratings: Ratings | Source,
    *,
    options: CalibrationOptions | None = None,
    pairs: Source | None = None,
    **changes: Unpack[CalibrateChanges],
) -> CalibratedPanel:
    """Put ratings on one scale and average them into judgments, as `relstudy calibrate` does.

    Parameters
    ----------
    ratings : what `read_ratings` gives, or anything it takes; or a study's folder, whose ratings.csv and pairs.csv are
        then taken
    options : the choices behind a calibration, for several calls; single ones are given by their names, as below
    pairs : a pairs table (path or DataFrame) to take inclusion probabilities from
    changes : the fields of `CalibrationOptions`, and those that `read_ratings` takes, each by its name; None leaves one
        as it is

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
    folder = folder_of(ratings)
    if folder is not None:
        ratings, drawn = ratings_in(folder)
        pairs = drawn if pairs is None else pairs
    if isinstance(ratings, Ratings):
        unread(ratings, Reading.stated(changes))
        as_read = fields_given(RatingsOptions, changes)
        if any(as_read.values()):
            raise RelstudyError(
                f"{', '.join(as_read)}: this says how a table is read, and these ratings were read already; give it to "
                "read_ratings"
            )
    else:
        ratings = ratings_given(ratings, changes)
    chosen = replace(options or CalibrationOptions(), **fields_given(CalibrationOptions, changes))
    result = pipeline.calibrate(ratings, chosen)
    if pairs is not None:
        result = result.with_probabilities(table_of(pairs, "the pairs"))
    return CalibratedPanel(result)
