"""Every system of a score table fitted to the judgments: what `relstudy fit` and `relstudy.fit` do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import pair_keys
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.mapping.options import FitOptions
from relstudy.mapping.saved_predictions import OutOfFold, fingerprint, order_of_pairs
from relstudy.mapping.scored_pairs import FitSettings, ScoredPairs
from relstudy.mapping.scores.score_table import ScoreTable
from relstudy.mapping.scores.stated_directions import refuse_unknown_systems
from relstudy.mapping.selection import Choice, choose

Progress = Callable[[Sequence[str]], Iterable[str]]


@dataclass(frozen=True, eq=False)
class SystemFit:
    """One system's mapping, the pairs that it was fitted to, and the direction that bound its fits.

    Parameters
    ----------
    choice : the methods compared, and the mapping
    pairs : query_id, result_id, score, judgment
    direction : "higher" or "lower" score is better, or "auto" where each fit found out
    """

    choice: Choice
    pairs: pd.DataFrame
    direction: str = "auto"

    def direction_sentence(self) -> str:
        """The direction of better scores and where it comes from, as a sentence."""
        if self.direction != "auto":
            return f"{self.direction} scores are better, as stated or by definition"
        return f"{'higher' if self.choice.mapping.increasing else 'lower'} scores are better, as the judgments say"


def fits_as_json(fits: Sequence[SystemFit], notes: Sequence[str]) -> dict[str, Any]:
    """Fits to the same pairs as `relstudy fit --json` prints them: the methods compared, by system, how the chains did
    where fits were sampled, by how much the best method leads, which scores are better, and what a person should know.
    """
    systems = {fit.choice.system: fit.choice.as_json() for fit in fits}
    for fit in fits:
        if "diagnostics" in fit.choice.mapping.meta:
            systems[fit.choice.system][fit.choice.best]["chains"] = dict(fit.choice.mapping.meta["diagnostics"])
    directions = {fit.choice.system: fit.direction_sentence() for fit in fits}
    choices = {fit.choice.system: fit.choice.chosen.as_json() for fit in fits if fit.choice.chosen is not None}
    return {"systems": systems, "choices": choices, "directions": directions, "notes": list(notes)}


def fit_systems(
    scores: ScoreTable | pd.DataFrame,
    judgments: Judgments,
    options: FitOptions | None = None,
    *,
    files: tuple[str, str] = ("the scores", "the judgments"),
    progress: Progress = iter,
) -> tuple[list[SystemFit], list[str]]:
    """Fit each system, in the order of the table.

    Parameters
    ----------
    scores : as `read_scores` gives them, or a DataFrame of the same columns
    files : what messages call the two tables
    progress : wraps the systems' names, to show how far it is

    Returns
    -------
    The fits, and what a person should know, one sentence each

    Raises
    ------
    RelstudyError
        where a system has no judged pair, or design weights are asked for and a probability is unknown
    """
    options = options or FitOptions()
    table = ScoreTable.of(scores)
    pairs, notes = scored_and_judged(table, judgments, files)
    weights = _weights(pairs, options.weights, files[1])
    directions = {name: options.direction(name, table.directions) for name in table.systems}
    refuse_unknown_systems(options.directions, directions, files[0])
    rows: dict[str, Any] = {str(name): part.index for name, part in pairs.groupby("system", sort=False)}
    fits = []
    for name in progress(list(rows)):
        part = pairs.loc[rows[name]]
        weight = None if weights is None else weights[rows[name]]
        choice = choose(
            ScoredPairs(part["score"], part["judgment"], part["query_id"], weight, name),
            options.methods,
            FitSettings(options.folds, options.seed, directions[name]),
        )
        fits.append(SystemFit(_with_predictions(choice, part, options, directions[name]), part, directions[name]))
    least = int(pairs.groupby("system")["query_id"].nunique().min())
    if 1 < least < options.folds:
        notes.append(f"{least} queries are held out one by one, since they are fewer than the {options.folds} folds")
    return fits, notes


def by_group(scores: ScoreTable, judgments: Judgments, groups: np.ndarray) -> dict[str, tuple[ScoreTable, Judgments]]:
    """Scores and judgments of each group of judged pairs, in order of the groups' names.

    A system that scores no pair of a group has no rows there, as one for pictures where the queries are texts.

    Parameters
    ----------
    groups : each judged pair's group, text [pairs]
    """
    parts = {}
    for name in sorted(set(groups)):
        part = replace(judgments, frame=judgments.frame[groups == name].reset_index(drop=True))
        inside = pair_keys(scores.frame).isin(pair_keys(part.frame))
        with_pairs = set(scores.frame["system"][inside])
        without = [system for system in scores.systems if system not in with_pairs]
        if without:
            part = replace(part, notes=(*part.notes, f"{name}: no pair is scored by {', '.join(without)}"))
        parts[str(name)] = (scores.only([system for system in scores.systems if system in with_pairs]), part)
    return parts


def _with_predictions(choice: Choice, pairs: pd.DataFrame, options: FitOptions, direction: str) -> Choice:
    """The choice, its mapping holding each method's predictions out of fold."""
    if not choice.crossed:
        return choice
    query_id, result_id = pairs["query_id"].to_numpy(), pairs["result_id"].to_numpy()
    order = order_of_pairs(query_id, result_id)
    kept = OutOfFold(
        {method: fit.predictions[order] for method, fit in choice.crossed.items()},
        {method: fit.noise for method, fit in choice.crossed.items()},
        fingerprint(query_id, result_id, pairs["score"].to_numpy(), pairs["judgment"].to_numpy()),
        options.folds,
        options.seed,
        options.weights,
        direction,
    )
    return replace(choice, mapping=replace(choice.mapping, out_of_fold=kept))


def scored_and_judged(
    scores: ScoreTable, judgments: Judgments, files: tuple[str, str]
) -> tuple[pd.DataFrame, list[str]]:
    """The scored pairs that are judged, and which systems do not score all of them."""
    pairs = scores.frame.merge(judgments.frame, on=PAIR, how="inner", suffixes=("", "_judged"))
    if pairs.empty:
        raise RelstudyError(
            f"{files[0]}: no scored pair is judged in {files[1]}; query_id and result_id must be written the same "
            "way in both"
        )
    counts = pairs.groupby("system").size()
    without = [name for name in scores.systems if name not in counts.index]
    if without:
        raise RelstudyError(f"{files[0]}: no pair of system {without[0]!r} is judged in {files[1]}; leave it out")
    total = len(judgments)
    short = [f"{name} ({count})" for name, count in counts.items() if count < total]
    notes = [f"{files[1]}: of {total} judged pairs not all are scored by: {', '.join(short)}"] if short else []
    runs = [name for name in scores.runs if counts[name] < total]
    if runs:
        notes.append(
            f"a judged pair that a run lacks has no part in its mapping here ({', '.join(runs)}); relstudy score ranks "
            "it below the run's results and fits with it"
        )
    return pairs.reset_index(drop=True), notes


def _weights(pairs: pd.DataFrame, weights: str, file: str) -> np.ndarray | None:
    if weights == "equal":
        return None
    unknown = len(pairs[pairs["inclusion_probability"].isna()].drop_duplicates(PAIR))
    if unknown:
        raise RelstudyError(f"{file}: design weights need an inclusion_probability for every pair; {unknown} have none")
    return (1.0 / pairs["inclusion_probability"]).to_numpy()
