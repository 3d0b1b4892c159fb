"""A further round of pairs, shaped by what the mappings predict (Shirahatti and Barnard 2005, section 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.calibration.reliability.scale_use import uniformity_table
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import simple_random_sample
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.mapping.fitted import FittedMapping, read_mappings
from relstudy.studyapp.collection.items import Item
from relstudy.studyapp.sampling.further_pairs import DrawnStudy, Extended, extend
from relstudy.studyapp.sampling.options import NextOptions
from relstudy.studyapp.sampling.response_model import Judged, RoundPlan, plan_round
from relstudy.studyapp.sampling.sampling_design import Round, population_of
from relstudy.studyapp.sampling.sources import scores_of
from relstudy.studyapp.systems.base import Progress, silent

REFERENCE_QUERIES = 200
FEWEST_JUDGED = 50
"""Judged pairs that predicting responses takes."""


@dataclass(frozen=True, eq=False)
class NextRound(Extended):
    """A further round.

    Parameters
    ----------
    plan : the new round's shapes, and the responses to expect
    before : uniformity of the judgments so far (`relstudy.calibration.reliability.scale_use.uniformity_table`)
    """

    plan: RoundPlan
    before: pd.DataFrame


def draw_next_round(
    folder: Path, mappings: Path, judgments: Path, options: NextOptions, progress: Progress = silent
) -> NextRound:
    """Draw a further round for the study in `folder`; nothing is written.

    Parameters
    ----------
    mappings : folder of NAME.json files, as `relstudy fit` writes them
    judgments : judgments of the pairs so far
    """
    study = DrawnStudy.load(folder, progress)
    judged = read_judgments(judgments).frame[[*PAIR, "judgment"]]
    return draw_next_round_from(study, judged, read_mappings(mappings), options, progress)


def draw_next_round_from(
    study: DrawnStudy,
    judgments: pd.DataFrame,
    mappings: Mapping[str, FittedMapping],
    options: NextOptions,
    progress: Progress = silent,
) -> NextRound:
    """Draw a further round of a study in memory.

    Parameters
    ----------
    study : what was drawn so far
    judgments : query_id, result_id, judgment of those that were rated
    mappings : by system, from its score to the judgments' scale; a system without one proposes nothing
    options : what to draw
    progress : shows how far the queries have come

    Raises
    ------
    RelstudyError
        when no mapping is of one of the systems, fewer than 50 pairs are judged, or no new pair is proposed
    """
    mapped = [source for source in study.sources if source.name in mappings]
    if not mapped:
        raise RelstudyError(
            f"no mapping belongs to a system of this study; there are mappings of "
            f"{', '.join(sorted(mappings)) or 'none'} and systems {', '.join(source.name for source in study.sources)}"
        )
    rated = study.pairs.merge(judgments, on=PAIR)
    rated = rated[rated["paradigm"] == options.paradigm]
    if len(rated) < FEWEST_JUDGED:
        raise RelstudyError(
            f"{len(rated)} of the study's pairs by {options.paradigm} have a judgment; at least {FEWEST_JUDGED} "
            "are needed to predict responses"
        )
    last = study.design.rounds[-1]
    number = last.number + 1
    rng = np.random.default_rng([options.seed, number])
    queries, probability, population, draw = _queries(study, options, rng)
    plan = _plan(study, rated, mappings, options, progress)
    this = Round(
        number=number,
        systems={source.name: source.stamp for source in mapped},
        results=options.results,
        exponent=last.exponent,
        floor=options.floor,
        query_draw=draw,
        query_probability={options.paradigm: probability},
        population={options.paradigm: population},
        seed=options.seed,
        given=_given(study, options.paradigm),
        shapes=plan.shapes,
        depth=last.depth,
        pool=last.pool,
        outside=last.outside,
        strata=last.strata,
    )
    added = extend(study.with_round(this), queries, options.paradigm, rng, progress)
    before = uniformity_table(rated, options.categories, column="judgment")
    return NextRound(**vars(added), plan=plan, before=before)


def _queries(study: DrawnStudy, options: NextOptions, rng: np.random.Generator) -> tuple[list[Item], float, int, int]:
    """The round's queries, their probability, how many there were to draw from, and the draw's number."""
    collection, design = study.collection, study.design
    given = _given(study, options.paradigm)
    if options.same_queries:
        return study.queries_of_last_draw(options.paradigm)
    judged = next((each for each in design.rounds if each.judge), None)
    if judged is not None and not given:
        raise RelstudyError(
            f"round {judged.number} was shaped by judge {judged.judge}, who knows the drawn queries alone; draw for "
            f"these again ({option('same_queries', True)})"
        )
    draw_number = max(each.query_draw for each in design.rounds) + 1
    if given:
        return [collection[name] for name in given], 1.0, len(given), draw_number
    eligible = collection.queries(options.paradigm)
    number = min(options.queries, len(eligible))
    queries = [eligible[index] for index in simple_random_sample(len(eligible), number, rng)]
    return queries, number / len(eligible), len(eligible), draw_number


def _given(study: DrawnStudy, paradigm: str) -> list[str]:
    """Ids of the queries of this paradigm that the first round was given as a list; empty where queries were drawn."""
    first = study.design.rounds[0]
    return [name for name in first.given if study.collection[name].paradigm == paradigm]


def _plan(
    study: DrawnStudy,
    rated: pd.DataFrame,
    mappings: Mapping[str, FittedMapping],
    options: NextOptions,
    progress: Progress,
) -> RoundPlan:
    collection, everyone, first = study.collection, study.sources, study.design.rounds[0]
    sources = [source for source in everyone if source.name in mappings]
    eligible = collection.queries(options.paradigm)
    # a fixed stream, so that the reference does not move with the draw
    reference = simple_random_sample(len(eligible), REFERENCE_QUERIES, np.random.default_rng(20040818))
    candidates, others = [], []
    for step in progress(range(len(reference)), "Candidates", len(reference)):
        query = eligible[reference[step]]
        said = scores_of(query, sources)
        population = population_of(first, query, collection, scores_of(query, everyone) if first.depth else said)
        candidates.append({name: each.at(population.candidates) for name, each in said.items()})
        others.append(population.others)
    rated = rated.reset_index(drop=True)
    score = {source.name: np.full(len(rated), np.nan) for source in sources}
    for name, frame in rated.groupby("query_id"):
        judged_positions = [collection.position(item) for item in frame["result_id"]]
        for system, values in scores_of(collection[str(name)], sources).items():
            score[system][frame.index.to_numpy()] = values.at(np.array(judged_positions, dtype=np.int64))
    answering = {name for scores in candidates for name in scores}
    judged = Judged(
        {name: values for name, values in score.items() if name in answering},
        rated["judgment"].to_numpy(dtype=float),
        1 / rated["inclusion_probability"].to_numpy(dtype=float),
    )
    return plan_round(
        {name: mappings[name] for name in judged.scores},
        judged,
        candidates,
        options.categories,
        options.results,
        options.floor,
        others,
    )
