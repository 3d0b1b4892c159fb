"""What each figure is without each judged query, beside that query's replicate met pair by pair."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.judges.indices import assisted_indices, terms_of
from relstudy.analysis.judges.judged_by_both import Universe
from relstudy.analysis.judges.systems import systems_judge
from relstudy.analysis.judges.table import read_judge
from relstudy.analysis.scoring.candidate import candidate_of
from relstudy.analysis.scoring.judged_pairs import JudgedPairs
from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
from tests.analysis.judges.made import World

OPTIONS = ScoringOptions(replicates=20, method="none", measures=(), directions={"*": "higher"})
FIGURES = (
    "relevant_share", "precision_at_0.1", "recall_at_0.1", "pearson", "average_precision", "normalised_rank",
    "spearman", "kendall",
)  # fmt: skip


@pytest.mark.parametrize("given", ["every pair", "judged queries", "half of the queries"])
@pytest.mark.parametrize("queries", [12, 30])
def test_the_jackknife_is_that_of_each_query_left_out(given: str, queries: int) -> None:
    """With 30 of 30 queries whole ones are left out, with 12 of 30 the part that a finite collection leaves open."""
    world = World.made(queries=30, results=25)
    study = world.study(3, queries, results=6)
    pairs = JudgedPairs.of(study)
    table = world.judge(0.5)
    if given != "every pair":
        table = table[
            table["query_id"].isin(study["query_id"]) if given == "judged queries" else table["query_id"] < "q15"
        ]
    judge = read_judge(table, "judge")
    scores = world.pairs[PAIR].assign(score=world.pairs["score"].round(1))
    system = candidate_of(pairs, "system", scores, OPTIONS)
    universe = Universe.of(pairs, judge, OPTIONS)
    of_rows = judge.scores_of(scores, system)
    terms = terms_of(universe, system, of_rows, system.used)
    assert universe.left_out is not None
    replicates = terms_of(universe.left_out, system, of_rows, system.used)
    assert {index.name for index in assisted_indices()} <= terms.keys()
    for name in FIGURES:
        for part in ("people", "judged", "sampled", "collection"):
            figure, by_replicate = getattr(terms[name], part), getattr(replicates[name], part)
            if figure is None:
                assert by_replicate is None and part == "collection" and not universe.beyond
            elif name == "kendall":  # both take the sum's projection, which is about the value of its own pairs
                np.testing.assert_allclose(figure.left_out, by_replicate.replicates, atol=0.01)
            else:
                np.testing.assert_allclose(
                    figure.left_out, by_replicate.replicates, atol=1e-9, err_msg=f"{name} {part}"
                )


def test_tables_with_the_same_pairs_in_another_order_tell_the_same() -> None:
    world = World.made(queries=6, results=10)
    pairs = JudgedPairs.of(world.study(1, 4, 4))
    scores = {name: world.pairs[PAIR].assign(score=world.pairs[name].round(1)) for name in ("score", "other")}
    turned = scores | {"other": scores["other"].sample(frac=1, random_state=2).reset_index(drop=True)}
    systems = [candidate_of(pairs, name, rows, OPTIONS) for name, rows in scores.items()]
    one, other = (systems_judge(systems, tables) for tables in (scores, turned))
    pd.testing.assert_index_equal(one.table.ids, other.table.ids)
    np.testing.assert_array_equal(one.features, other.features)
    by_hand = world.pairs["score"].round(1).groupby(world.pairs["query_id"]).rank(ascending=False)
    logs = np.log(by_hand.to_numpy())
    np.testing.assert_allclose(one.features[:, 1], (logs - logs.mean()) / logs.std(), atol=1e-6)  # float32
