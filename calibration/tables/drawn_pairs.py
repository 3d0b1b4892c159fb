"""Columns of a study's pairs.csv for judged pairs: their probability of being judged, and their source."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import pandas as pd

from relstudy.calibration.tables.judgments import Judgments
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of
from relstudy.common.sampling.design_reach import REACH
from relstudy.common.sampling.response_rates import DRAWN, Response, response_of
from relstudy.common.tables.checked_table import Checked
from relstudy.common.tables.formats.table_files import pair_keys
from relstudy.common.tables.meaning.inclusion_probabilities import PAIR, PROBABILITIES
from relstudy.common.tables.meaning.pairs_table import read_pairs


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """The pairs that were drawn, and what became of them.

    Parameters
    ----------
    pairs : as `pairs_table.read_pairs` gives them, with the probability of being drawn and judged
    response : which of them are judged
    """

    pairs: pd.DataFrame
    response: Response


def with_design(judgments: Judgments, path: str | os.PathLike[str] | Checked) -> tuple[Judgments, DrawnPairs]:
    """The same judgments with what a pairs table says of them, and what became of the pairs that were drawn.

    Parameters
    ----------
    path : a table with query_id, result_id, inclusion_probability, and what else a study's pairs.csv holds

    Returns
    -------
    The judgments' frame gets inclusion_probability (of being drawn and judged; NaN where the table does not know the
    pair), and, where the table has them, query_probability, pool and the design's reach; and pairs_drawn where not all
    drawn pairs are judged

    Raises
    ------
    RelstudyError
        where the table has none of the judged pairs
    """
    table = read_pairs(path, "inclusion_probability")
    if not pair_keys(judgments.frame.astype(dict.fromkeys(PAIR, "str"))).isin(pair_keys(table)).any():
        file = path.file if isinstance(path, Checked) else os.fspath(path)
        raise RelstudyError(
            f"{file}: none of the {count_of(len(judgments), 'rated pair')} is in this table; check that query_id and "
            "result_id are written the same way in both"
        )
    response = response_of(table, judgments.frame)
    table["inclusion_probability"] = response.probability
    names = ["inclusion_probability"]
    names += [name for name in PROBABILITIES[1:] if table[name].notna().any()]
    names += [name for name in ("pool", REACH) if name in table]
    drawn = table[[*PAIR, *names]].drop_duplicates(PAIR)
    columns = judgments.frame[PAIR].astype("str").merge(drawn, on=PAIR, how="left", validate="many_to_one")[names]
    if response.missing:
        columns[DRAWN] = response.drawn
    frame = judgments.frame.assign(**{str(name): columns[name].to_numpy() for name in columns})
    return replace(judgments, frame=frame), DrawnPairs(table, response)
