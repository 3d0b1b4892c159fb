"""Where a sample tells the score at which a share is retrieved, that score differs between replicates."""

from __future__ import annotations

import numpy as np
import pytest

from relstudy.analysis.indices.precision_recall import SHARES, Retrieval, thresholds_at
from relstudy.analysis.judges.retrieval_cutoffs import Cuts, at_varying_cuts

PAIRS, QUERIES, REPLICATES = 40, 5, 6


@pytest.mark.parametrize("everywhere", [False, True], ids=["a sample", "the whole collection"])
def test_each_replicate_is_cut_at_its_own_score(everywhere: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.analysis.judges.retrieval_cutoffs.WIDTH", 2)  # replicates at a time
    random = np.random.default_rng(3)
    ranking, weight = random.normal(size=PAIRS).round(1), random.uniform(1, 5, PAIRS)
    relevance, row = (random.uniform(size=PAIRS) > 0.6) * 1.0, np.arange(PAIRS) % QUERIES
    times = random.integers(0, 3, (QUERIES, REPLICATES)) * 1.0
    times[0] += 1
    times[:, -1] = 0  # nothing is drawn
    cuts = Cuts.of_sample(ranking, weight, row, times)
    assert cuts.varying is not None
    own = (np.zeros(PAIRS, dtype=np.int64), np.ones((1, 1))) if everywhere else (row, times)
    precision, recall = at_varying_cuts(Retrieval(own[0], relevance, own[1]), ranking, weight, cuts.varying)
    assert np.isnan(cuts.varying[:, -1]).all() and np.isnan(precision[:, -1]).all()
    assert (np.isnan(recall[:, -1]) | (recall[:, -1] == 0)).all()
    for replicate in range(REPLICATES - 1):
        drawn = weight * times[row, replicate]
        counted = weight if everywhere else drawn
        for share, of_share in zip(SHARES[:-1], range(len(SHARES) - 1), strict=True):
            cut = thresholds_at(ranking[drawn > 0], drawn[drawn > 0], (share,))[0]
            assert cuts.varying[of_share, replicate] == cut
            above = ranking >= cut
            hits = counted @ (relevance * above)
            assert precision[of_share, replicate] == pytest.approx(hits / (counted @ above), abs=1e-12)
            assert recall[of_share, replicate] == pytest.approx(hits / (counted @ relevance), abs=1e-12)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("pairs", [4, 3000])
def test_weights_whose_sum_is_infinite_end_where_the_shares_do(pairs: int) -> None:
    """An infinite weight reaches every share, and machine code wrote beyond the last."""
    cuts = Cuts.of_sample(
        np.arange(pairs, 0, -1.0), np.full(pairs, 1e308), np.zeros(pairs, dtype=np.int64), np.full((1, 2), 2.0)
    )
    assert cuts.varying is not None and np.isfinite(cuts.varying).all()
