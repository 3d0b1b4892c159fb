"""Which group a pair is in, where a table of pairs says it."""

from __future__ import annotations

import pandas as pd
import pytest

from relstudy.calibration.interfaces import pairs_asked_alike
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.meaning.group_columns import groups_of

JUDGED = pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "y"]})
PAIRS = JUDGED.assign(topic=["old", "new"], paradigm="image")


def test_a_pair_in_two_groups_is_refused() -> None:
    twice = pd.concat([PAIRS, PAIRS[:1]])
    assert groups_of(JUDGED, "topic", Checked(twice, "pairs.csv")).tolist() == ["old", "new"]
    with pytest.raises(RelstudyError, match=r"--by topic: pairs.csv has two values for one pair \(query_id q, result"):
        groups_of(JUDGED, "topic", Checked(pd.concat([PAIRS, PAIRS[:1].assign(topic="new")]), "pairs.csv"))


def test_blanks_around_ids_of_a_pairs_table_take_no_pair_out_of_its_group() -> None:
    blanks = Checked(PAIRS.assign(result_id=[" x", "y "]), "pairs.csv")
    assert groups_of(JUDGED, "topic", blanks).tolist() == ["old", "new"]
    assert len(pairs_asked_alike(blanks, JUDGED).frame) == 2  # type: ignore[arg-type]
