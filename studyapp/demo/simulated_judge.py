"""A simulated automatic judge: partly right, and leaning to what one system ranks high.

The newcomer sees three figures beside the truth: of people alone, of the judge alone, and of people with its help.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from relstudy.analysis.indices.index import Index, Needs
from relstudy.analysis.indices.registry import AVERAGE_PRECISION, own_indices
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run import score_systems
from relstudy.common.runtime.wording import percent, quoted
from relstudy.common.tables.formats.table_files import write_table
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.mapping.scores.score_files import read_score_files
from relstudy.studyapp.demo.panel import HIGH, LOW
from relstudy.studyapp.demo.recovery import Census, Recovered, recovered_table
from relstudy.studyapp.demo.show import Stages, run_command
from relstudy.studyapp.example_pictures.collection import DemoCollection

NAME = "simulated"
NOISE = 0.6
LEANING = 1.0
"""Points of the scale that a result gets on top where the favoured system ranks it in the best tenth of a query."""
REFUSED = 0.02
REPLICATES = 300


def grades(
    collection: DemoCollection, everything: pd.DataFrame, queries: Sequence[str], favoured: str, seed: int
) -> pd.DataFrame:
    """Grades that the judge gives all results of some queries that all systems score.

    Parameters
    ----------
    everything : system, query_id, result_id, score of every pair that the study's tables hold
    favoured : the system that it leans to

    Returns
    -------
    DataFrame[query_id, result_id, rating (1 to 5, NaN where refused), status]
    """
    scored = everything[everything["query_id"].isin(queries)]
    systems = scored["system"].nunique()
    of_all = scored.groupby(PAIR, sort=False)["system"].transform("size") == systems
    pairs = scored[of_all & (scored["system"] == favoured)].reset_index(drop=True)
    random = np.random.default_rng([seed, 41])
    share = pairs.groupby("query_id")["score"].rank(pct=True, ascending=False).to_numpy()
    seen = collection.relevance(list(pairs["query_id"]), list(pairs["result_id"])) + LEANING * (share <= 0.1)
    rating = np.clip(np.round(seen + NOISE * random.standard_normal(len(pairs))), LOW, HIGH)
    refused = random.random(len(pairs)) < REFUSED
    return pairs[PAIR].assign(rating=np.where(refused, np.nan, rating), status=np.where(refused, "refused", "ok"))


def judged_stage(
    folder: Path,
    collection: DemoCollection,
    census: Census,
    files: Sequence[str],
    names: Sequence[str],
    seed: int,
    show: Stages,
) -> list[Recovered]:
    """Have the judge grade the drawn queries' pairs, and score with its help; writes FOLDER/truth/judge.csv."""
    file = folder / "truth" / "grades.csv"
    taken = f"relstudy judge {quoted(folder)} --judge {NAME} --scores {quoted(file)}"
    scored = ["--judgments", str(folder / "judgments.csv"), "--judge", str(folder / "judges" / f"{NAME}.csv")]
    command = f"{taken}; relstudy score {quoted(folder)}/scores/*.csv {shlex.join(scored)}"
    with show.stage("Let a simulated judge help", command=command) as stage:
        queries = list(read_pairs(folder / "pairs.csv")["query_id"].unique())
        said = grades(collection, read_score_files(files).frame, queries, names[-1], seed)
        write_table(said, file)
        run_command("judge", str(folder), "--judge", NAME, "--scores", str(file), show=show)
        options = ["--method", "none", "--replicates", str(REPLICATES)]
        helped = run_command("score", *files, *scored, *options, show=show)["systems"]
        alone = _alone(said, census)
        rows = []
        for name in names:
            true = census.indices[name]
            for index in _of_relevance():
                value = true.estimate(index).value
                assisted = helped[name]["assisted"][index.name]
                ways = {"people alone": assisted["people"], "judge alone": alone[name][index.name], "both": assisted}
                rows += [
                    _row(f"{index.name.replace('_', ' ')}, {way}", name, value, each) for way, each in ways.items()
                ]
        write_table(recovered_table(rows), folder / "truth" / "judge.csv")
        ratios = [helped[name]["assisted"][AVERAGE_PRECISION.name]["width_ratio"] for name in names]
        finite = [ratio for ratio in ratios if ratio is not None]
        width = f"{percent(1 - np.mean(finite))}" if finite else "nothing"
        stage.outcome = f"{len(said):,} grades take {width} off the intervals of {AVERAGE_PRECISION.term}"
    return rows


def _row(quantity: str, system: str, true: float | None, estimate: dict[str, Any]) -> Recovered:
    return Recovered(quantity, system, float("nan") if true is None else true, *map(estimate.get, _ENDS))


def _of_relevance() -> list[Index]:
    return [index for index in own_indices() if index.needs is Needs.RELEVANCE]


_ENDS = ("value", "low", "high")


def _alone(said: pd.DataFrame, census: Census) -> dict[str, dict[str, Any]]:
    """The indices by system where the judge's grades are taken for people's."""
    answered = said.dropna(subset="rating").rename(columns={"rating": "judgment"})
    scale = {"scale_low": float(LOW), "scale_high": float(HIGH), "scale_step": 1.0, "inclusion_probability": 1.0}
    options = ScoringOptions(replicates=REPLICATES, measures=(), low_coverage=True)
    scores = census.scores[census.scores["query_id"].isin(answered["query_id"].unique())]
    result = score_systems(answered[["query_id", "result_id", "judgment"]].assign(**scale), scores, options=options)
    return {
        each.name: {index.name: each.estimate(index).as_json() for index in _of_relevance()} for each in result.systems
    }
