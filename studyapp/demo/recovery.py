"""Recovered against true: what the study found, beside what only the maker of the demo knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.index import Needs
from relstudy.analysis.indices.registry import own_indices
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.results import ScoreResult
from relstudy.analysis.scoring.run import score_systems
from relstudy.common.runtime.wording import percent
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.studyapp.demo.panel import SimulatedPanel
from relstudy.studyapp.example_pictures.collection import DemoCollection

SHARES = (0.01, 0.05)


@dataclass(frozen=True)
class Recovered:
    """One quantity that the study estimated.

    Parameters
    ----------
    quantity : what
    system : of which system, or ""
    true : its value, known from how the demo was made
    recovered : the estimate
    low, high : its 95 % interval, or None
    """

    quantity: str
    system: str
    true: float
    recovered: float | None
    low: float | None = None
    high: float | None = None

    @property
    def covered(self) -> bool | None:
        """True if the interval holds the true value; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.true <= self.high

    def as_json(self) -> dict[str, object]:
        """The row as plain values."""
        return {**asdict(self), "covered": self.covered}


def recovered_table(rows: Sequence[Recovered]) -> pd.DataFrame:
    """All rows: quantity, system, true, recovered, low, high, covered (yes, no, or empty without an interval)."""
    frame = pd.DataFrame([row.as_json() for row in rows])
    frame["covered"] = frame["covered"].map({True: "yes", False: "no"}).fillna("")
    return frame


def rater_rows(
    raters: pd.DataFrame, judgments: pd.DataFrame, panel: SimulatedPanel, names: dict[str, int], base: pd.DataFrame
) -> tuple[list[Recovered], pd.DataFrame]:
    """Recovery of leniency, and the table behind it.

    A rater's line c = offset + slope h says which rating h stands for the base pairs' mean judgment m; how far that
    lies above m is the leniency that calibration takes out.

    Parameters
    ----------
    raters, judgments : raters.csv and judgments.csv
    names : rater_id -> index in the panel
    base : the base pairs

    Returns
    -------
    rows : correlation, and root mean square error in points
    table : rater_id, true_offset, recovered_offset, leniency, spread, noise, doubt
    """
    middle = float(judgments.merge(base[PAIR], on=PAIR)["judgment"].mean())
    relevance = panel.collection.relevance(list(base["query_id"]), list(base["result_id"]))
    looked = [rater for rater, index in names.items() if not panel.raters[index].careless]
    simulated = raters[raters["rater_id"].isin(looked)]
    indices = [names[name] for name in simulated["rater_id"]]
    recovered = ((middle - simulated["offset"]) / simulated["slope"] - middle).to_numpy(dtype=float)
    recovered = recovered - recovered.mean()
    true = panel.true_offsets(relevance)[indices]
    true = true - true.mean()
    parts = ("leniency", "spread", "noise", "doubt")
    table = pd.DataFrame(
        {
            "rater_id": simulated["rater_id"].to_numpy(),
            "true_offset": true,
            "recovered_offset": recovered,
            **{part: [getattr(panel.raters[index], part) for index in indices] for part in parts},
        }
    )
    return [
        Recovered("rater offsets: correlation", "", 1.0, float(np.corrcoef(true, recovered)[0, 1])),
        Recovered("rater offsets: root mean square error", "", 0.0, float(np.sqrt(np.mean((true - recovered) ** 2)))),
    ], table


def judgment_rows(judgments: pd.DataFrame, raw: pd.DataFrame, panel: SimulatedPanel) -> list[Recovered]:
    """Agreement of judgments with the truth, calibrated and raw.

    Parameters
    ----------
    judgments : judgments.csv
    raw : ratings.csv, for the mean of uncalibrated ratings per pair
    """
    truth = panel.collection.relevance(list(judgments["query_id"]), list(judgments["result_id"]))
    plain = raw.groupby(PAIR)["rating"].mean()
    keys = pd.MultiIndex.from_frame(judgments[PAIR])
    uncalibrated = plain.reindex(keys).to_numpy(dtype=float)
    values = judgments["judgment"].to_numpy(dtype=float)
    both = np.isfinite(uncalibrated) & np.isfinite(values)
    return [
        Recovered("judgments: correlation with truth", "", 1.0, float(np.corrcoef(values[both], truth[both])[0, 1])),
        Recovered(
            "uncalibrated means: correlation with truth",
            "",
            1.0,
            float(np.corrcoef(uncalibrated[both], truth[both])[0, 1]),
        ),
    ]


@dataclass(frozen=True)
class Census:
    """All pairs of the collection, with the panel's expected rating of each and every system's scores.

    Parameters
    ----------
    judgments : query_id, result_id, judgment, relevant_share (the true chance that a rater of the panel calls the pair
        relevant), relevance_cut, inclusion_probability (1)
    scores : system, query_id, result_id, score
    """

    judgments: pd.DataFrame
    scores: pd.DataFrame

    @cached_property
    def indices(self) -> ScoreResult:
        """The indices of `relstudy score`, over all pairs and without sampling."""
        options = ScoringOptions(relevance="share", replicates=1, low_coverage=True, measures=())
        return score_systems(self.judgments, self.scores, options=options)

    def at(self, system: str, cut: float) -> tuple[float, float]:
        """Precision and recall when all pairs with at least this score are retrieved."""
        scored = self.judgments.merge(self.scores[self.scores["system"] == system], on=PAIR)
        relevant = scored["relevant_share"].to_numpy(dtype=float)
        # scores are kept in single precision, and a cut read from their text may differ from them in the last digit
        retrieved = scored["score"].to_numpy(dtype=np.float32) >= np.float32(cut)
        hits = float(relevant[retrieved].sum())
        return hits / float(retrieved.sum()), hits / float(relevant.sum())

    def at_share(self, system: str, share: float) -> tuple[float, float]:
        """Precision and recall when the best-scored share of all pairs is retrieved; equal scores together."""
        point = next(each for each in self.indices[system].points if round(each.share, 6) == round(share, 6))
        if point.precision.value is None or point.recall.value is None:
            raise ValueError("no pair of the collection is relevant")
        return point.precision.value, point.recall.value


def census(
    collection: DemoCollection, panel: SimulatedPanel, scores: pd.DataFrame, cut: float, base: pd.DataFrame
) -> Census:
    """The study without sampling or noise: the panel's expected rating of every pair of the collection.

    Parameters
    ----------
    scores : every system's score of every pair of the collection
    cut : above which a rating calls a pair relevant
    base : the base pairs, which put the raters on one scale
    """
    on_base = collection.relevance(list(base["query_id"]), list(base["result_id"]))
    pictures = np.array(collection.picture_ids, dtype=object)
    queries = np.array(collection.query_ids, dtype=object)
    row, column = np.meshgrid(np.arange(len(queries)), np.arange(len(pictures)), indexing="ij")
    other = queries[row] != pictures[column]
    judgments = pd.DataFrame(
        {
            "query_id": queries[row[other]],
            "result_id": pictures[column[other]],
            "judgment": panel.consensus(collection.truth)[other],
            "relevant_share": panel.relevant_share(collection.truth, cut, on_base)[other],
            "relevance_cut": cut,
            "inclusion_probability": 1.0,
        }
    )
    return Census(judgments, scores)


def system_rows(systems: Mapping[str, Any], everything: Census) -> list[Recovered]:
    """Precision, recall, average precision and normalised rank of each system, estimated and over all pairs.

    Precision and recall are compared at the share retrieved, which the intervals speak of; where many scores are tied,
    at the score at which the study cut, as their intervals then do.

    Parameters
    ----------
    systems : the systems of `relstudy score --json`
    everything : all pairs
    """
    rows: list[Recovered] = []
    for system in everything.indices.systems:
        estimates = systems[system.name]
        for point in estimates["precision_recall"]:
            if round(point["share"], 6) in SHARES:
                if point["tied"]:
                    true = everything.at(system.name, point["threshold"])
                else:
                    true = everything.at_share(system.name, point["share"])
                for name, value in zip(("precision", "recall"), true, strict=True):
                    rows.append(_row(f"{name} in the best {percent(point['share'])}", system.name, value, point[name]))
        for index in (each for each in own_indices() if each.needs is Needs.RELEVANCE):
            whole = system.estimate(index)
            if whole.value is not None:
                rows.append(_row(index.name.replace("_", " "), system.name, whole.value, estimates[index.name]))
    return rows


def _row(quantity: str, system: str, true: float, estimate: Mapping[str, Any]) -> Recovered:
    return Recovered(quantity, system, true, estimate["value"], estimate["low"], estimate["high"])
