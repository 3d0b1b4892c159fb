"""Systems against judgments: `score`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from relstudy.analysis.judges.run import AssistedScores, assist_scores
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.report import pictures
from relstudy.analysis.report.best_few import precision_recall_picture
from relstudy.analysis.report.scored import scores_table
from relstudy.analysis.scoring.compared import BETTER, INDICES
from relstudy.analysis.scoring.groups import groups_json, score_by
from relstudy.analysis.scoring.judged import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions, options_over
from relstudy.analysis.scoring.outside import Pool
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_candidates
from relstudy.analysis.scoring.saved import (
    SavedComparison,
    place_among,
    read_comparison,
    same_judgments,
    with_what_was_saved,
)
from relstudy.analysis.scoring.systems import candidates_of
from relstudy.analysis.scoring.undecided import undecided_notes
from relstudy.analysis.verdict.facts import StudyFacts
from relstudy.analysis.verdict.verdict import Verdict, verdict_of
from relstudy.api.calibrating import CalibratedPanel
from relstudy.api.fitting import Mappings
from relstudy.api.inputs import Columns, Source, Values, judgments_and_ratings, judgments_of, scores_of, unread
from relstudy.calibration.judgments import Judgments
from relstudy.common.archived import in_archive
from relstudy.common.errors import RelstudyError
from relstudy.common.figures import figure_of
from relstudy.common.groups import groups_of
from relstudy.common.reading import Reading
from relstudy.common.shown import Shown
from relstudy.common.wording import span
from relstudy.mapping.fitted import FittedMapping, read_mappings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"pearson": "Correlation", "average_precision": "Average precision", "normalised_rank": "Normalised rank"}


@dataclass(frozen=True, eq=False)
class Groups:
    """The figures within groups of judged pairs.

    Parameters
    ----------
    column : whose values are the groups' names
    apart : whether each group's mappings were fitted to its own pairs alone
    results : group -> figures
    """

    column: str
    apart: bool
    results: Mapping[str, ScoreResult]


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Shown):
    """How much of what people value each system captures.

    Parameters
    ----------
    result : the figures with their bootstrap replicates, as the command holds them
    notes : what a person should know, one sentence each
    judged : the same with an automatic judge's help, or None
    facts : what is known of the study beyond the scores, None: nothing
    within : the same within groups of judged pairs, where `by` asked for it
    """

    result: ScoreResult
    notes: tuple[str, ...] = ()
    judged: AssistedScores | None = None
    facts: StudyFacts | None = None
    within: Groups | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """Who leads, who is tied with whom, how good they are, what is not known and what would settle it, by people's
        ratings alone: printed, it is sentences; `.standings` has ranks with ties, `.as_json()` everything."""
        return verdict_of(self.result, self.facts)

    @property
    def table(self) -> pd.DataFrame:
        """One row per system: raw and mapped correlations, average precision, normalised rank and graded measures, each
        with the ends of its interval (_low, _high), pairs scored, and the mapping."""
        return self.result.table()

    @property
    def groups(self) -> pd.DataFrame:
        """The rows of `.table` within each group of judged pairs, under the column that `by` named; empty without."""
        if self.within is None:
            return pd.DataFrame()
        parts = [
            part.table().assign(**{self.within.column: name})[[self.within.column, *part.table().columns]]
            for name, part in self.within.results.items()
        ]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row per pair of systems and index: difference (first minus second) with its interval, p-value, p-value
        after Holm's correction, and which is better."""
        rows = []
        for each in self.result.comparisons:
            row = each.as_json()
            difference = row.pop("difference")
            ends = {"difference_low": difference["low"], "difference_high": difference["high"]}
            rows.append({**row, "difference": difference["value"], **ends})
        names = ["first", "second", "index", "difference", "difference_low", "difference_high", "p_value", "p_holm"]
        return pd.DataFrame(rows, columns=[*names, "better", "pairs"])

    @property
    def curves(self) -> pd.DataFrame:
        """Precision and recall by threshold, for each system."""
        curves = [each.curve.assign(system=each.name) for each in self.result.systems]
        return pd.concat(curves, ignore_index=True)[["system", "threshold", "precision", "recall"]]

    @property
    def per_query(self) -> pd.DataFrame:
        """One row per system and query: pairs, relevant pairs, average precision, normalised rank, correlation; NaN
        where a query does not define it."""
        return self.result.per_query

    @property
    def conventions(self) -> dict[str, Any]:
        """Every choice behind the numbers, by name."""
        return dict(self.result.conventions)

    def summary(self) -> dict[str, Any]:
        """Everything that `relstudy score --json` prints."""
        content = self.result.as_json() if self.judged is None else self.judged.into(self.result.as_json())
        content["verdict"] = self.verdict.as_json()
        if self.within is not None:
            content["by"] = groups_json(self.within.column, self.within.apart, self.within.results)
        return content

    @property
    def assisted(self) -> pd.DataFrame:
        """With a judge, one row per system and index: the figure and its ends with the judge's help, of people alone
        (people_), how much of the judge's corrections was taken (lambda_), and the widths' ratio."""
        if self.judged is None:
            raise RelstudyError("there is no judge: score(..., judge=table) takes one")
        return self.judged.table()

    def plot(self, kind: str = "precision-recall") -> Figure:
        """A picture of the result.

        Parameters
        ----------
        kind : "precision-recall", or one index with its intervals: "pearson", "average_precision", "normalised_rank"
        """
        if kind == "precision-recall":
            picture = precision_recall_picture(self.result)
            if picture is None:
                raise RelstudyError("there is no precision-recall curve: no pair is relevant, or weights are not known")
            return figure_of(picture)
        if kind not in INDICES:
            raise RelstudyError(
                f"there is no picture {kind!r} of scores; there are: precision-recall, {', '.join(INDICES)}"
            )
        estimates = {each.name: each.estimate(kind) for each in self.result.systems}
        panel = pictures.Panel(f"{TITLES[kind]} ({BETTER[kind]} is better)", estimates)
        return figure_of(lambda: pictures.intervals([panel]))

    def to_latex(self) -> str:
        """The table of systems for a paper: booktabs, an interval below its number."""
        return scores_table(self.result).latex()

    def heading(self) -> str:
        """How many systems against how many judgments."""
        numbers = self.result.pairs
        return (
            f"{len(self.result.systems)} systems against {numbers['judged']:,} judged pairs of {numbers['queries']:,} "
            f"queries, {numbers['relevant']:,.6g} relevant ({self.result.conventions['relevant']})"
        )

    def overview(self) -> pd.DataFrame:
        """The three indices by which systems are compared, with their intervals."""
        rows = []
        for system in self.result.systems:
            row: dict[str, Any] = {"system": system.name}
            for index in INDICES:
                estimate = system.estimate(index)
                ends = "" if estimate.low is None else f" ({span(estimate.low, estimate.high)})"
                row[TITLES[index].lower()] = "–" if estimate.value is None else f"{estimate.value:.3f}{ends}"
            rows.append(row)
        return pd.DataFrame(rows)

    def remarks(self) -> Sequence[str]:
        """The verdict's headline, and what a person should know."""
        return [self.verdict.headline, *self.notes]


def score(
    scores: Source | Mapping[str, Source],
    judgments: Source | CalibratedPanel | None = None,
    *,
    mappings: Mappings | Mapping[str, FittedMapping] | str | os.PathLike[str] | None = None,
    method: str | None = None,
    folds: int | None = None,
    threshold: float | None = None,
    relevance: str | None = None,
    ratings: Source | None = None,
    correlation: str | None = None,
    weights: str | None = None,
    power: float | None = None,
    policy: str | None = None,
    direction: str | Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    level: float | None = None,
    population: str | None = None,
    raters: str | None = None,
    allow_low_coverage: bool = False,
    columns: Columns | None = None,
    values: Values | None = None,
    scale: str | None = None,
    missing: Sequence[str] | None = None,
    judge: Source | None = None,
    by: str | None = None,
    apart: bool = False,
    against: str | os.PathLike[str] | None = None,
) -> Scores:
    """Score systems against the judgments, as `relstudy score` does; None is the command's default.

    Parameters
    ----------
    scores : a path (table or TREC run), a DataFrame (long or wide), or a table of one system under each system's name
    judgments : a path (table, TREC qrels, or a study's archive), a DataFrame with query_id, result_id and judgment, or
        what `calibrate` gives
    mappings : what `fit` gives, or the folder it was saved to; a system without one is mapped by `method`
    method : isotonic (default), bagged, correlation, bayes, best or none: the mapping, fitted out of fold
    folds : folds by query for the mapping, at least 2; default 10
    threshold : the cut between relevant and not; default: that of the scale, 3.5 on 1-5
    relevance : "share" (of a pair's ratings above the cut), "mean" (whether its judgment is), or "auto" (default): the
        share where it is known
    ratings : the calibrated ratings behind the judgments, which another cut needs (query_id, result_id, calibrated);
        default: those that `calibrate` gave, or calibrated.csv beside the file of the judgments
    correlation : what systems are compared by: "collection" (each pair counts as one over its inclusion probability),
        "judged" (pairs alike, as in the paper) or "auto" (default): the collection where probabilities are known
    weights : "design" (default: 1 / inclusion probability), "equal", or "rank-power" (the paper's rule)
    power : of the rank, with weights "rank-power"; default 5, the paper's
    policy : "drop" or "worst": judged pairs that a system does not score; default: drop, but worst for TREC runs
    direction : "higher", "lower" or "auto" (default), for all systems or by system
    measures : names of ir-measures in place of nDCG@10, P@10, AP and RR
    replicates : of the bootstrap over queries; default 1000
    seed : of bootstrap and folds; default 0
    level : of the intervals, between 0 and 1; default 0.95
    population : "auto" (default), "collection" or "open": which queries intervals speak of
    raters : "any" (like those who rated), "these" (alone) or "auto" (default): any where the ratings of three are known
    allow_low_coverage : go on where a system scores under half of the judged pairs
    columns : names of the columns of `scores` to ours
    values, scale, missing : numbers for words ({"partly": 1}), the scale ("0-100") and what stands for no value
        (["NA", "-"]) in the judgments, as --values, --scale and --missing have it
    judge : an automatic judge's table (query_id, result_id, rating; empty where it gave no answer) of many more pairs,
        which shortens intervals; `scores` then holds all of these pairs
    by : also score within groups: a column of the judgments, or of the pairs.csv beside their file, such as paradigm
    apart : with `by`: fit each group's mappings to its own pairs alone
    against : a comparison that `relstudy score --save` kept, or the archive of a study (`relstudy archive`), among
        whose systems these are placed; `judgments` may then be left out

    Raises
    ------
    RelstudyError
        where a table has faults, a system scores too few of the judged pairs, or an option is not allowed

    Examples
    --------
    >>> pairs = {"query_id": list("aabb"), "result_id": list("wxyz")}
    >>> judgments = pd.DataFrame({**pairs, "judgment": [5, 1, 4, 2], "inclusion_probability": 0.5})
    >>> result = score(pd.DataFrame({**pairs, "new": [0.9, 0.2, 0.4, 0.3]}), judgments, threshold=3, replicates=50)
    >>> result.table[["average_precision", "normalised_rank"]].values.tolist()
    [[1.0, 0.0]]
    """
    if isinstance(judgments, str | os.PathLike):
        judgments = in_archive(judgments, "judgments.csv")
    directions = {"*": direction} if isinstance(direction, str) else dict(direction or {})
    given = {
        "method": method,
        "folds": folds,
        "threshold": threshold,
        "relevance": relevance,
        "correlation": correlation,
        "weights": weights,
        "power": power,
        "policy": policy,
        "measures": None if measures is None else tuple(measures),
        "replicates": replicates,
        "seed": seed,
        "level": level,
        "population": population,
        "raters": raters,
    }
    stated: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    stated |= {"directions": directions} | ({"low_coverage": True} if allow_low_coverage else {})
    saved = None if against is None else read_comparison(against)
    options = options_over(ScoringOptions(), stated) if saved is None else saved.options_with(stated)
    judged = _judged(judgments, ratings, Reading.given(None, values, scale, missing), saved)
    if apart and by is None:
        raise RelstudyError("mappings are fitted apart within groups: name their column in `by`")
    if judge is not None and saved is not None:
        raise RelstudyError("a judge's grades do not go with a saved comparison; score all systems anew")
    table, file = scores_of(scores, columns)
    fitted = read_mappings(mappings) if isinstance(mappings, str | os.PathLike) else dict(mappings or {})
    pairs = JudgedPairs.of(judged)
    candidates, unmapped = candidates_of([(file, table)], pairs, options, fitted, stated=directions)
    new = [candidate.name for candidate in candidates]
    candidates = candidates if saved is None else saved.beside(candidates)
    result = score_candidates(pairs, candidates, options)
    within = None
    if by is not None:
        groups = _groups(judgments, judged, by)
        within = Groups(by, apart, score_by(pairs, candidates, groups, options, apart=apart))
    pool = Pool.beside(Path(judgments)) if isinstance(judgments, str | os.PathLike) else None
    outside = [] if pool is None else pool.notes([table], candidates, judged.frame)
    outside += undecided_notes([table], candidates, judged)
    assisted = None
    if judge is not None:
        by_system = {str(name): rows for name, rows in table.groupby("system", sort=False)}
        assisted = assist_scores(pairs, candidates, by_system, read_judge(judge), options)
    read = (*judged.notes, *table.attrs.get("notes", []), *unmapped)
    helped = () if assisted is None else assisted.notes
    result = replace(result, notes=(*read, *result.notes, *outside, *helped))
    placed = [sentence for name in new for sentence in place_among(result, name)] if saved is not None else []
    return Scores(result, (*result.notes, *placed), assisted, StudyFacts.of(judged, result), within)


def _judged(
    judgments: Source | CalibratedPanel | None, ratings: Source | None, reading: Reading, saved: SavedComparison | None
) -> Judgments:
    """The judgments given, or those of the saved comparison."""
    if saved is not None and ratings is not None:
        raise RelstudyError("ratings go with judgments; a saved comparison keeps what it needs of the ratings")
    if judgments is not None:
        if saved is None:
            return judgments_and_ratings(judgments, ratings, reading)
        judged, _ = judgments_of(judgments, reading)
        same_judgments(saved, judged)
        return with_what_was_saved(judged, saved)
    unread(None, reading)
    if saved is None:
        raise RelstudyError("the judgments: a path or a pandas DataFrame is needed, or a saved comparison in `against`")
    return saved.judgments


def _groups(judgments: Source | CalibratedPanel | None, judged: Judgments, column: str) -> np.ndarray:
    """Each pair's value of a column, of the judgments or of the pairs.csv beside their file."""
    if judgments is None:
        raise RelstudyError("groups are by a column of the judgments, so these are needed too")
    beside = Path(judgments).parent / "pairs.csv" if isinstance(judgments, str | os.PathLike) else None
    return groups_of(judged.frame, column, beside)
