"""Where the studies that a plan simulates come from: stated or piloted variances, or a pilot's own queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from relstudy.analysis.indices.index import Needs
from relstudy.analysis.indices.registry import CONDENSED, bare_name, index_called
from relstudy.analysis.planning.options import Assumptions, PlanOptions
from relstudy.analysis.planning.simulated_studies import Assumed, Piloted, measure_under, with_weight_spread
from relstudy.analysis.planning.simulated_worlds import Drawing, NormalShape, People
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.context import ScoringContext
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.known_directions import known_directions
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.analysis.scoring.run_measures import measured, withheld
from relstudy.analysis.scoring.scored_pairs import ScoredPairs
from relstudy.calibration.reliability.variance_components import Variances, variances_of
from relstudy.calibration.tables.ratings import Ratings
from relstudy.calibration.tables.study_tables import StudyTables
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import scale_named
from relstudy.mapping.scores.score_table import ScoreTable

DEFAULT = PlanOptions()


def assumed_studies(
    assumptions: Assumptions, ratings: Ratings | None = None, raters: int | None = None
) -> tuple[Assumed, Variances]:
    """Studies as assumed, with variances and scale of pilot ratings if there are any; and the variances, on the scale.

    Parameters
    ----------
    raters : how many rate; None: as many as the ratings take

    Raises
    ------
    RelstudyError
        where the first two systems are assumed to be equally good, or the scale has no name that is known
    """
    first, second = assumptions.correlations[:2]
    if first == second:
        raise RelstudyError(
            f"both systems are assumed to correlate {first:g} with what people value, so there is no difference to "
            "find; two correlations that differ are needed"
        )
    scale = scale_named(assumptions.rating_scale) if ratings is None else ratings.scale.scale
    if scale is None:
        raise RelstudyError(f"{assumptions.rating_scale!r} is not a scale; 1-5, 0-6, 1-9, 0-100 or binary are")
    people = People(
        ratings_each=assumptions.ratings_each, base=assumptions.base, leniency=assumptions.leniency,
        stretch=assumptions.stretch, noise=assumptions.noise, undecided=assumptions.undecided,
        careless=assumptions.careless, scale=scale,
    )  # fmt: skip
    query_sd, result_sd = NormalShape.query_sd, NormalShape.result_sd
    variances = Variances(query_sd, result_sd, assumptions.leniency, assumptions.noise)
    if ratings is not None:
        variances = variances_of(ratings.frame)
        query_sd, result_sd, leniency, noise = (value / people.point for value in variances.as_json().values())
        people = replace(people, leniency=leniency, noise=noise)
    shape = NormalShape(assumptions.correlations, assumptions.alike, query_sd, result_sd, assumptions.candidates)
    drawing = Drawing(assumptions.results, assumptions.exponent, assumptions.floor, assumptions.depth)
    if assumptions.weight_spread is not None:
        drawing = with_weight_spread(shape, drawing, assumptions.weight_spread)
    made = Assumed(shape, drawing, people, assumptions.relevant_share, assumptions.ratings_per_rater, raters)
    return made, variances


@dataclass(frozen=True, eq=False)
class Pilot:
    """The yield of a pilot study.

    Parameters
    ----------
    study : the judgments of its pairs, with the tables beside them as `score` reads them
    scores : as `read_scores` gives them, or a DataFrame of the same columns
    systems : the two to compare; None where `scores` holds two
    files : what messages call scores and judgments
    """

    study: StudyTables
    scores: ScoreTable | pd.DataFrame
    systems: Sequence[str] | None = None
    files: tuple[str, str] = ("the scores", "the judgments")


def piloted_studies(pilot: Pilot, planned: PlanOptions = DEFAULT, ratings_each: int = 1) -> Piloted:
    """Studies made of a pilot's queries, drawn with replacement.

    Parameters
    ----------
    planned : with the index that is compared (one of pooled relevance needs inclusion probabilities), that which the
        verdict rests on (None takes the one that score would choose for the pilot), and above which judgment a pair is
        relevant (None takes shares, else the cut of the scale)
    ratings_each : ratings per pair

    Raises
    ------
    RelstudyError
        if there are not two systems, or weights are needed and unknown, or all pairs are of one query
    """
    study, files = pilot.study.with_queries(pilot.study.queries), pilot.files
    judgments = study.judgments
    scores = ScoreTable.of(pilot.scores).by_study(judgments.own_ids)
    primary = planned.primary or study.decision.primary
    pairs = JudgedPairs.of(judgments, study.pool)
    reason = pairs.weights_missing("design")
    asked = [index_called(name) for name in (planned.index, primary) if name is not None]
    if reason is not None and any(each.needs is Needs.RELEVANCE for each in asked):
        raise RelstudyError(f"{files[1]}: {reason}, so that index cannot be planned for")
    names = scores.systems if pilot.systems is None else list(pilot.systems)
    if len(names) != 2:
        systems_there = f"{names[0]} alone" if len(names) == 1 else f"{len(names)}; choose two of them"
        raise RelstudyError(f"two systems are compared, and {files[0]} holds {systems_there}")
    definite = known_directions({}, scores.directions)
    measures = tuple(dict.fromkeys(bare_name(each.name) for each in asked if each.of_run))
    options = ScoringOptions(
        threshold=planned.threshold,
        measures=measures,
        unjudged="skip" if any(each.name.startswith(CONDENSED) for each in asked) else "auto",
        primary=primary,
        population="open",  # whole queries are redrawn, without a correction for how many there are
    )
    both = []
    for name in names:
        rows = scores.rows(name)
        if rows.empty:
            raise RelstudyError(f"{files[0]}: there is no system {name!r}")
        both.append(candidate_of(pairs, name, rows, options, definite, name in scores.runs))
    used = both[0].used & both[1].used
    if len(np.unique(pairs.query[used])) < 2:
        raise RelstudyError(
            f"{files[1]}: the judged pairs that both systems score are of a single query, and studies are made of "
            "whole queries; at least two are needed, and a dozen to rest on"
        )
    first, second = (candidate.ranking_of(used) for candidate in both)
    queries, context = np.unique(pairs.query[used]), ScoringContext(pairs, options)
    of_queries = {}
    for name in measures:
        values = [measured(context, each).get(name) for each in both]
        missing = [withheld(context) if each is None else each.missing or each.withheld for each in values]
        if any(missing):
            reason = next(filter(None, missing))
            raise RelstudyError(f"{files[1]}: {name} cannot be planned for, as score has no test of it: {reason}")
        by_query = np.stack([each.values for each in values if each is not None])
        of_queries[measure_under(name, context.unjudged).name] = by_query[:, queries]
    decides = context.primary.name
    others, people = {}, context.rater_population
    if people.raters is not None:
        for index in {measure_under(name, context.unjudged) for name in (planned.index, decides)}:
            if not index.of_run:
                one, other = (ScoredPairs.of(context, each, used).figure(index) for each in both)
                others[index.name] = (one - other).raters
        people = people.behind(index_called(planned.index).of_run)
    grown = "" if people.raters is None else ", in proportion to the queries"
    return Piloted(
        pairs.query[used],
        pairs.judgment[used],
        pairs.design_weights("design")[used],
        context.relevance.values[used],
        first,
        second,
        None if context.own is None else context.own[used],
        ratings_each,
        (
            *(judgments.scale.sentence(), *judgments.notes, *scores.notes),
            *(f"{candidate.name}: {candidate.direction.sentence()}" for candidate in both),
            f"{used.sum()} of {len(pairs)} judged pairs are scored by both",
            f"studies are of {people.sentence()}{grown}",
        ),
        of_queries,
        context.unjudged,
        decides,
        {name: parts for name, parts in others.items() if parts is not None},
        None if pairs.worth_of_queries is None else pairs.worth_of_queries[queries],
    )
