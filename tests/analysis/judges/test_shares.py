"""A judge of a share of the collection: how many pairs it is given, with what weights, and what it still takes off."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.run import assist_scores
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from relstudy.studyapp.judging.pairs import drawn_share
from tests.analysis.judges.made import World

OPTIONS = ScoringOptions(replicates=100, method="none", measures=(), directions={"*": "higher"})
INDICES = ("relevant_share", "average_precision")
STUDIES = 12


@pytest.mark.slow
def test_a_tenth_of_the_pairs_takes_most_off_that_all_of_them_do_and_the_truth_stays_covered() -> None:
    world = World.made(queries=60, results=40)
    truth = world.pairs["people"].mean()
    widths: dict[float, list[float]] = {0.1: [], 1.0: []}
    covered = 0
    for seed in range(STUDIES):
        study = world.study(seed, queries=20, results=8)
        pairs = JudgedPairs.of(study)
        scores = world.pairs[[*PAIR, "score"]]
        system = candidate_of(pairs, "system", scores, OPTIONS)
        graded = world.judge(0.4)
        for share, ratios in widths.items():
            table, probability = drawn_share(graded, study, share)
            judge = read_judge(table.assign(inclusion_probability=probability), "model")
            helped = assist_scores(Universe.of(pairs, judge, OPTIONS), [system], {"system": scores}, INDICES).systems[
                "system"
            ]
            ratios += [helped[index].width_ratio or 1.0 for index in INDICES]
            estimate = helped["relevant_share"].estimate
            covered += share < 1 and estimate.low <= truth <= estimate.high
    few, every = (float(np.mean(each)) for each in widths.values())
    assert every < few < 1 - 0.6 * (1 - every)
    # of 12 intervals of 95 %, fewer than 9 come by chance once in 400 times
    assert covered >= 9


def test_lots_are_as_good_as_drawn_and_do_not_depend_on_the_order_of_pairs() -> None:
    pairs = pd.DataFrame({"query_id": np.repeat([f"q{k}" for k in range(50)], 200), "result_id": [*range(200)] * 50})
    pairs["result_id"] = pairs["result_id"].astype(str)
    none = pairs.head(0)
    table, probability = drawn_share(pairs, none, 0.1)
    # 10,000 lots of a tenth: a standard deviation of 30; by query 200, of 4.2
    assert abs(len(table) - 1000) < 120 and set(probability) == {0.1}
    by_query = table.groupby("query_id").size().reindex(pairs["query_id"].unique(), fill_value=0)
    assert by_query.var() == pytest.approx(18, rel=0.6)
    turned, _ = drawn_share(pairs[::-1].reset_index(drop=True), none, 0.1)
    assert set(map(tuple, turned.to_numpy())) == set(map(tuple, table.to_numpy()))
