"""Pairs that can be rated: the rows of pairs.csv, and the pairs of study.toml whose right answers are known."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import pandas as pd

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.pairs_table import OTHER, PAGE, holds_couples, read_pairs
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.collection.kinds import paradigm_of
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import KnownPair


@dataclass(frozen=True)
class Pair:
    """A query and a result to be rated together; `block` is base, unique, practice or check.

    Pairs of one query and `page` stand on a page together; None leaves that to chance. With `other_id` it is a couple
    of two results or lists, of which people say which is better. `ask` is what a block that asks for it has there.
    """

    pair_id: str
    query_id: str
    result_id: str
    paradigm: str
    source: str
    inclusion_probability: float | None
    query_probability: float | None
    rank: int | None
    block: str
    page: int | None = None
    other_id: str | None = None
    ask: str = "rating"


STORED = tuple(field.name for field in fields(Pair) if field.name not in (PAGE, "ask"))
"""Fields of a pair that the database keeps; its page is kept with the pages."""


def pairs_to_rate(path: Path, items: DisplayedItems) -> list[Pair]:
    """The rows of pairs.csv as pairs, and couples, that can be shown.

    Parameters
    ----------
    path : a table with pair_id, query_id and result_id; see `pairs_table` for its other columns.
        Without a paradigm, a pair has its query's kind
    items : what the collection holds

    Raises
    ------
    TableError
        for ids that the collection lacks, and every other fault of the table
    """
    table = read_table(path)
    pairs = _as_pairs(read_pairs(table, "pair_id", items=items.by_id), items)
    if not holds_couples(table):
        return pairs
    couples = _as_pairs(read_pairs(table, "pair_id", items=items.by_id, couples=True), items)
    twice = {pair.pair_id for pair in pairs} & {pair.pair_id for pair in couples}
    if twice:
        raise RelstudyError(f"{path}: {min(twice)!r} is the id of a pair and of a couple; ids must differ")
    return [*pairs, *couples]


def _as_pairs(frame: pd.DataFrame, items: DisplayedItems) -> list[Pair]:
    kinds = [paradigm_of(items[query_id].kind) for query_id in frame["query_id"]]
    frame["paradigm"] = frame["paradigm"].where(frame["paradigm"] != "", kinds)
    for name in (PAGE, OTHER):
        frame[name] = frame.get(name)
    frame["ask"] = [
        "rating" if other is None else "which-list" if items[result_id].kind == "list" else "which"
        for result_id, other in zip(frame["result_id"], frame[OTHER], strict=True)
    ]
    rows = frame[[field.name for field in fields(Pair)]].astype(object)
    return [Pair(*row) for row in rows.where(rows.notna(), None).itertuples(index=False)]


def known_pair_ids(study: Study) -> dict[str, KnownPair]:
    """The ids under which practice pairs and attention checks are kept."""
    entry_of = {}
    for kind, entries in (("practice", study.practice), ("check", study.attention)):
        for entry in entries:
            entry_of[":".join([kind, entry.block, *entry.item_ids])] = entry
    return entry_of


def known_pairs(study: Study, items: DisplayedItems) -> list[Pair]:
    """The practice pairs and attention checks of study.toml."""
    entry_of = known_pair_ids(study)
    items.require(study.named_items, f"{study.folder / 'study.toml'}, practice, attention and examples")
    return [
        Pair(
            pair_id,
            entry.query_id,
            entry.result_id,
            paradigm_of(items[entry.query_id].kind),
            "",
            None,
            None,
            None,
            pair_id.partition(":")[0],
            other_id=entry.other_id or None,
            ask="which" if entry.other_id else "rating",
        )
        for pair_id, entry in entry_of.items()
    ]
