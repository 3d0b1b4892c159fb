"""evidence/company.py finds each two systems whose verdict the company turns, and only near the bound."""

from __future__ import annotations

import numpy as np
import pytest

from evidence.company import company, paired_of, rows_of, scored
from relstudy.analysis.resampling.best_set import ranks_of
from tests.places import EXAMPLE

pytestmark = pytest.mark.slow


def test_systems_of_the_example_are_turned_by_others_only_between_the_bound_alone_and_bonferronis() -> None:
    result = scored(EXAMPLE).result
    found, rows = company(result), [*rows_of(result)]
    assert found.subsets == 26 and len(rows) == len(found.turned) > 0
    for first, second, t, alone, bonferroni, often in rows:
        assert float(alone) < float(t) < float(bonferroni), (first, second)
        assert 0 < int(often.partition(" of ")[0]) <= 8 and often.endswith(" of 8")


def test_the_whole_company_is_what_the_verdict_says() -> None:
    result = scored(EXAMPLE).result
    ranks = ranks_of(paired_of(result), result.options.level)
    assert ranks.low.tolist() == result.ranks.low.tolist() and ranks.high.tolist() == result.ranks.high.tolist()
    assert np.array_equal(ranks.better, result.ranks.better)
