"""What plan simulates is what the commands do: the same tables give the same test and the same best set."""

from __future__ import annotations

import numpy as np
import pytest

import relstudy as rs
from relstudy.analysis.indices.known import index_of
from relstudy.analysis.planning.route import ScoredStudy
from relstudy.analysis.planning.worlds import Drawing, NormalShape, People, World

INDICES = ("pearson", "average_precision", "normalised_rank", "same_query")


@pytest.mark.parametrize("careless", [0.0, 0.25])
def test_the_short_way_says_what_calibrate_and_score_say(careless: float) -> None:
    shape, random = NormalShape((0.6, 0.5, 0.3), items=60), np.random.default_rng(7)
    people = People(raters=8, ratings_each=2, base=30, relevant=0.2, careless=careless, undecided=0.05)
    study = World(shape.collection(40, random), Drawing(12, 0.5, 0.4), people).draw(30, random)
    panel = rs.calibrate(study.ratings, pairs=study.pairs)
    found = rs.score(
        study.scores, panel, method="none", measures=[], direction="higher", replicates=200, seed=5,
        primary="average_precision",
    ).result  # fmt: skip
    short = ScoredStudy.of(study, seed=5)
    for name in INDICES:
        compared = short.comparison(index_of(name))
        beside = [each for each in found.comparisons if each.index == name]
        assert [each.p_value for each in beside] == pytest.approx(compared.p_value.tolist(), abs=1e-12)
    ranks = short.comparison(index_of("average_precision")).ranks
    assert found.ranks.low.tolist() == ranks.low.tolist()
    assert found.ranks.high.tolist() == ranks.high.tolist()
