"""What can be rated: the rows of pairs.csv, and the pairs of study.toml whose right answers are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from relstudy.common.tables import read_table
from relstudy.studyapp.collection.displayed import DisplayedItems
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import KnownPair


@dataclass(frozen=True)
class Pair:
    """A query and a result to be rated together; `block` is base, unique, practice or check."""

    pair_id: str
    query_id: str
    result_id: str
    paradigm: str
    source: str
    inclusion_probability: float | None
    query_probability: float | None
    rank: int | None
    block: str


def read_pairs(path: Path, items: DisplayedItems) -> list[Pair]:
    """Read pairs.csv.

    Required are pair_id, query_id and result_id. `block` is base or unique (default unique), `paradigm` image or text
    (default: by the query's kind in the collection).
    """
    table = read_table(path, "pair_id", "query_id", "result_id")
    frame = table.frame
    for column in ("pair_id", "query_id", "result_id"):
        frame[column] = table.texts(column)
    table.add(frame["pair_id"].duplicated(), "pair_id", "each pair may stand there once")
    for column in ("query_id", "result_id"):
        table.add(~frame[column].isin(list(items.by_id)), column, "the id of an item in collection.csv is needed")
    if "block" not in frame:
        frame["block"] = "unique"
    table.add(~frame["block"].isin(["base", "unique"]), "block", "base or unique is allowed")
    if "paradigm" not in frame:
        frame["paradigm"] = [
            items[query_id].kind if query_id in items.by_id else "image" for query_id in frame["query_id"]
        ]
    table.add(~frame["paradigm"].isin(["image", "text"]), "paradigm", "image or text is allowed")
    if "source" not in frame:
        frame["source"] = ""
    probabilities: list[list[float | None]] = []
    for name in ("inclusion_probability", "query_probability"):
        known: list[float | None] = [None] * len(frame)
        if name in frame:
            numbers = table.numbers(name, low=0, high=1, low_open=True, empty=True)
            known = [None if number != number else float(number) for number in numbers]
        probabilities.append(known)
    rank: list[int | None] = [None] * len(frame)
    if "rank" in frame:
        numbers = table.numbers("rank", low=0, empty=True, whole=True)
        rank = [None if number != number else int(number) for number in numbers]
    table.raise_faults()
    names = ("pair_id", "query_id", "result_id", "paradigm", "source")
    columns = [list(frame[name]) for name in names]
    return [Pair(*row) for row in zip(*columns, *probabilities, rank, list(frame["block"]), strict=True)]


def known_pair_ids(study: Study) -> dict[str, KnownPair]:
    """The ids under which practice pairs and attention checks are kept."""
    known = {}
    for kind, entries in (("practice", study.practice), ("check", study.attention)):
        for entry in entries:
            known[f"{kind}:{entry.block}:{entry.query_id}:{entry.result_id}"] = entry
    return known


def known_pairs(study: Study, items: DisplayedItems) -> list[Pair]:
    """The practice pairs and attention checks of study.toml."""
    known = known_pair_ids(study)
    for entry in known.values():
        items.require([entry.query_id, entry.result_id], f"{study.folder / 'study.toml'}, practice and attention")
    return [
        Pair(pair_id, k.query_id, k.result_id, items[k.query_id].kind, "", None, None, None, pair_id.partition(":")[0])
        for pair_id, k in known.items()
    ]
