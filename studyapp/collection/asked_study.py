"""An ordinary study of a table of results: items, systems' scores, the pairs to be rated, and study.toml."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from relstudy.common.options.option_wording import option
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import file_names, together, write_text
from relstudy.common.sampling.probability_draws import base_block
from relstudy.common.tables.formats.table_files import read_table, write_table
from relstudy.common.tables.meaning.pairs_table import COLUMNS, OTHER, read_pairs, round_column
from relstudy.common.tables.meaning.study_folder import ANSWERS
from relstudy.studyapp.collection.asked_couples import couples_of_answers, couples_of_lists
from relstudy.studyapp.collection.kinds import shown_kind
from relstudy.studyapp.collection.lists import RankedList, read_lists, write_lists
from relstudy.studyapp.collection.results_table import ResultsTable
from relstudy.studyapp.config.starter import TITLE, starter_toml

ALL_PAIRS = 600
"""Pairs, or couples, up to which all are rated; of more, whole queries are drawn."""
A_SITTING = 60
"""Pairs that one person is asked for unless the number of raters says another."""
FOLDERS = {"image": "pictures", "video": "films", "audio": "sounds"}
"""Where a study has its files, by their kind."""
RANKED = "nDCG@10"
"""What decides between lists of results: all that any system returned for a query is rated."""
ANSWERED = ["system", "query_id", "result_id", "place", "own_query", "own_result"]
"""Columns of answers.csv; own_query and own_result are the ids in the table that was given, if it has any."""
PEOPLE = 3
"""People who compare each couple: with fewer, nothing is known of other people."""
KEYS = "results-asked.csv"
"""Which item stands for which query or result, so that the same table with one more system adds only what is new."""
QUALITY = """[scales.quality]
values = [1, 2, 3, 4, 5]
labels = { 1 = "poor", 5 = "good" }
undecided = true
"""
"""The scale from 1 to 5 for answers, which match nothing."""
DEFAULTS = {
    (False, True): "How good is this answer?", (False, False): "How well does this match the query?",
    (True, True): "Which answer is better?", (True, False): "Which list of results answers the query better?",
}  # fmt: skip
"""What is asked, by whether results are compared and whether they are answers."""
OF_FILES = {False: "How well does the {file} match the text?", True: "Which {file} matches the text better?"}
"""The same of pictures, films or sounds."""
TITLES = {
    (False, True): "How good are these answers?", (False, False): TITLE,
    (True, True): "Which answer is better?", (True, False): "Which results are better?",
}  # fmt: skip
"""What raters read first, by the same."""
MARKS = re.compile(r"(^|\n)(#{1,6} |[-*] |\d+\. |```|\|)|\*\*|\[[^\]]+\]\(")
"""Signs of markdown."""


@dataclass(frozen=True)
class Asked:
    """What a study of results was made of.

    Parameters
    ----------
    queries, results, pairs, base : numbers of each; side by side a pair is a couple to be compared
    drawn : queries whose pairs are rated
    added : pairs that were added to a study that was there
    side_by_side : whether two results are compared rather than each rated
    """

    queries: int
    results: int
    pairs: int
    base: int
    drawn: int
    added: int | None = None
    side_by_side: bool = False

    def sentence(self) -> str:
        """The size in a sentence."""
        what = "couples" if self.side_by_side else "pairs"
        if self.added is not None:
            return f"{self.added} {what} added that nobody had been asked about; {self.pairs} in all"
        of = "" if self.drawn == self.queries else f" of {self.drawn} queries drawn at random from {self.queries}"
        if self.side_by_side:
            return f"{self.pairs} couples to compare{of}, each by {PEOPLE} people"
        return f"{self.pairs} pairs to rate{of}, {self.base} of them by everyone"


def make_study(
    table: ResultsTable,
    folder: Path,
    *,
    questions: Sequence[str] = (),
    scale: str = "1-5",
    raters: int | None = None,
    side_by_side: bool = False,
    pairs: bool = True,
    seed: int = 0,
    beside: Path = Path(),
    within: Path | None = None,
) -> Asked:
    """Write a study's folder of a table of results, or add to one that was made so.

    Parameters
    ----------
    folder : new, or one that was made of an earlier state of the table
    questions : asked of each result, the first on the rating page's head; none: a default
    scale : of all of them
    raters : people expected, who share the pairs; None: each rates up to 60
    side_by_side : ask which of two models' answers, or of two systems' first results, is better
    pairs : write pairs.csv, too
    beside : folder that paths of pictures start from
    within : folder that every picture must be in; None: they may be anywhere

    Raises
    ------
    RelstudyError
        where the folder holds another study, or a picture is absent; nothing is written then
    """
    if side_by_side and len(questions) > 1:
        raise RelstudyError(
            f"{option('side_by_side', True)} asks one question, and there are {len(questions)}; make a study of each"
        )
    if (folder / "study.toml").exists():
        return _extended(table, folder, beside, side_by_side)
    rows = table.rows.assign(query_key=table.rows["query"])
    draw = np.random.default_rng(seed)
    queries = {text: f"q{number:04d}" for number, text in enumerate(dict.fromkeys(rows["query"]), 1)}
    keys = list(dict.fromkeys(rows["key"]))
    order = draw.permutation(len(keys))  # an id says nothing of its system or its place
    results = {keys[row]: f"r{number:05d}" for number, row in enumerate(order, 1)}
    rows = rows.assign(query_id=rows["query"].map(queries), result_id=rows["key"].map(results))
    if within is not None:
        _check_within(rows["image"], beside, within)
    items = _items(rows, folder, beside, table.answers)

    asked = [
        {"item_id": id, "kind": "text", "path": "", "text": text, "title": "", "role": "query"}
        for text, id in queries.items()
    ]
    lists: list[RankedList] = []
    if side_by_side:
        drawn, lists = _couples(rows, table.answers, draw)
    else:
        drawn = _pairs(rows, draw)
    words = table.answers and not table.files
    with together():
        write_table(pd.DataFrame([*asked, *items]).drop(columns="source"), folder / "collection.csv")
        _write_systems(rows, folder, table.answers)
        _write_keys(queries, results, folder)
        if lists:
            write_lists(folder, lists)
        if pairs:
            write_table(drawn, folder / "pairs.csv")
        write_text(
            starter_toml(
                folder.resolve().name,
                blocks=_blocks(table, drawn, questions, scale, raters),
                title=TITLES[side_by_side, words],
                answers=words,
                primary="" if table.answers or side_by_side else RANKED,
            ),
            folder / "study.toml",
        )
    _copy_pictures(items, folder, beside)
    everything = bool((drawn["query_probability"] == 1).all())  # a query with one answer is compared with nothing
    asked_of = len(queries) if everything else drawn["query_id"].nunique()
    return Asked(
        len(queries), len(results), len(drawn), int((drawn["block"] == "base").sum()), asked_of,
        side_by_side=side_by_side,
    )  # fmt: skip


def _items(rows: pd.DataFrame, folder: Path, beside: Path, answers: bool) -> list[dict[str, str]]:
    """A row of collection.csv for each result; answers of models may be Markdown, documents are shown as they are."""
    found = []
    for row in rows.drop_duplicates("result_id").itertuples():
        text, path = str(row.text), ""
        if row.image:
            source = beside / str(row.image)
            if not source.is_file():
                raise RelstudyError(f"{source}: no such picture")
            kind = shown_kind(source) or "image"
            path = f"{FOLDERS[kind]}/{row.result_id}{source.suffix.lower()}"
        else:
            kind = "markdown" if answers and MARKS.search(text) else "text"
        found.append(
            {
                "item_id": str(row.result_id), "kind": kind, "path": path,
                "text": text or ("" if path else str(row.title)),
                "title": str(row.title) if text or path else "", "role": "result", "source": str(row.image),
            }
        )  # fmt: skip
    return sorted(found, key=lambda each: each["item_id"])


def _check_within(images: pd.Series, beside: Path, within: Path) -> None:
    """Refuse files outside of a folder, whether they are there or not, and files there that people cannot be shown."""
    inside = within.resolve()
    for image in filter(None, images.drop_duplicates()):
        try:
            file = (beside / str(image)).resolve()
            fits = file.is_relative_to(inside) and shown_kind(file) is not None
        except (OSError, ValueError):
            fits = False
        if not fits:
            raise RelstudyError(f"{str(image)[:80]!r} is not a picture, film or sound among the files given")


def _copy_pictures(items: list[dict[str, str]], folder: Path, beside: Path) -> None:
    for each in items:
        if each["path"]:
            (folder / each["path"]).parent.mkdir(exist_ok=True)
            shutil.copyfile(beside / each["source"], folder / each["path"])


def _pairs(rows: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    """All pairs of a query and a result, or those of queries drawn at random, with their probability."""
    found, share = _of_queries(rows.drop_duplicates(["query_id", "result_id"]), draw)
    codes = pd.factorize(found["query_id"])[0]
    size = min(12, max(2, len(found) // 5)) if len(found) > 4 else 0
    base = base_block(codes, size, 1, draw) if size else np.zeros(len(found), dtype=bool)
    return _pair_rows(found, np.where(base, "base", "unique"), share, 1)


def _couples(rows: pd.DataFrame, answers: bool, draw: np.random.Generator) -> tuple[pd.DataFrame, list[RankedList]]:
    """Couples of the queries, as rows for pairs.csv, and the lists that they are of."""
    found, lists = (couples_of_answers(rows), []) if answers else couples_of_lists(rows)
    found, share = _of_queries(found, draw)
    return _couple_rows(found, share, 1), lists


def _of_queries(found: pd.DataFrame, draw: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """All rows, or those of queries drawn at random if there are too many, and the share of queries."""
    queries = found["query_id"].unique()
    number = len(queries)
    if len(found) > ALL_PAIRS:
        number = max(1, int(len(queries) * ALL_PAIRS / len(found)))
        found = found[found["query_id"].isin(draw.choice(queries, number, replace=False))]
    return found, number / len(queries)


def _couple_rows(found: pd.DataFrame, share: float, first: int) -> pd.DataFrame:
    made = _pair_rows(found, "unique", share, first, "c")
    return made.assign(source=found["source"].to_numpy(), **{OTHER: found[OTHER].to_numpy()})


def _pair_rows(
    found: pd.DataFrame, block: np.ndarray | str, share: float, first: int, letter: str = "p"
) -> pd.DataFrame:
    made = pd.DataFrame(
        {
            "pair_id": [f"{letter}{number:05d}" for number in range(first, first + len(found))],
            "query_id": found["query_id"].to_numpy(), "result_id": found["result_id"].to_numpy(), "paradigm": "text",
            "source": "", "rank": None, "inclusion_probability": share, "block": block, "round": 1,
            "query_probability": share,
        }
    )  # fmt: skip
    return made[COLUMNS]


def _write_systems(rows: pd.DataFrame, folder: Path, answers: bool) -> None:
    write_table(rows[ANSWERED].sort_values(["system", "query_id", "place"]), folder / ANSWERS)
    _write_runs(rows, folder, answers)


def _write_runs(rows: pd.DataFrame, folder: Path, answers: bool) -> None:
    """A TREC run of each system, by place."""
    if answers:
        return  # one answer a query has no rank: models are compared by their judgments
    names = file_names(list(dict.fromkeys(rows["system"])))
    for system, part in rows.groupby("system", sort=False):
        part = part.assign(place=pd.to_numeric(part["place"])).sort_values(["query_id", "place"])
        lines = [
            f"{query} Q0 {result} {place} {-place} {system}\n"
            for query, result, place in part[["query_id", "result_id", "place"]].itertuples(index=False)
        ]
        write_text("".join(lines), folder / "scores" / f"{names[str(system)]}.run")


def _write_keys(queries: dict[str, str], results: dict[str, str], folder: Path) -> None:
    kept = [
        {"item_id": id, "key": _hashed(key), "of": kind}
        for kind, named in (("query", queries), ("result", results))
        for key, id in named.items()
    ]
    write_table(pd.DataFrame(kept), folder / KEYS)


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def _extended(table: ResultsTable, folder: Path, beside: Path, side_by_side: bool) -> Asked:
    """Add the results of a later state of the table: items, systems, and the pairs of queries that were drawn."""
    if not (folder / KEYS).exists():
        raise RelstudyError(f"{folder} holds another study; name a new folder with -o")
    kept = read_table(folder / KEYS, "item_id", "key", "of").frame
    known = {kind: dict(zip(part["key"], part["item_id"], strict=True)) for kind, part in kept.groupby("of")}
    strangers = [text for text in dict.fromkeys(table.rows["query"]) if _hashed(text) not in known["query"]]
    if strangers:
        raise RelstudyError(
            f"{len(strangers)} queries are not those of {folder}, such as {strangers[0][:60]!r}; name a new folder"
        )
    rows = table.rows
    queries = {text: known["query"][_hashed(text)] for text in dict.fromkeys(rows["query"])}
    number = max(int(each[1:]) for each in known["result"].values())
    results = {}
    for key in dict.fromkeys(rows["key"]):
        if _hashed(key) not in known["result"]:
            number += 1
            known["result"][_hashed(key)] = f"r{number:05d}"
        results[key] = known["result"][_hashed(key)]
    rows = rows.assign(query_id=rows["query"].map(queries), result_id=rows["key"].map(results))
    collection = read_table(folder / "collection.csv", "item_id").frame
    new = [
        each
        for each in _items(rows, folder, beside, table.answers)
        if each["item_id"] not in set(collection["item_id"])
    ]
    couples = read_pairs(folder / "pairs.csv", couples=True)
    compared = len(couples) > 0
    if side_by_side and not compared:
        raise RelstudyError(f"{folder} asks about each result; name a new folder with -o for a study side by side")
    pairs = couples if compared else read_pairs(folder / "pairs.csv")
    drawn = dict(zip(pairs["query_id"], pairs["query_probability"], strict=True))
    share = next(iter(drawn.values()))
    before = read_table(folder / ANSWERS, "system").frame
    now = rows[[name for name in ANSWERED if name in before]]
    both = pd.concat([before[~before["system"].isin(set(now["system"]))], now]) if len(before) else now
    lists: list[RankedList] = []
    if compared:
        of_all = both.assign(place=pd.to_numeric(both["place"]))
        found, lists = (
            (couples_of_answers(of_all), []) if table.answers else couples_of_lists(of_all, read_lists(folder))
        )
        asked = {(q, frozenset(both)) for q, *both in pairs[["query_id", "result_id", OTHER]].values.tolist()}
        keys = [(q, frozenset(both)) for q, *both in found[["query_id", "result_id", OTHER]].values.tolist()]
    else:
        found = rows.drop_duplicates(["query_id", "result_id"])
        asked = set(zip(pairs["query_id"], pairs["result_id"], strict=True))
        keys = list(zip(found["query_id"], found["result_id"], strict=True))
    fresh = found[[key[0] in drawn and key not in asked for key in keys]]
    first = len(pairs) + 1
    added = _couple_rows(fresh, share, first) if compared else _pair_rows(fresh, "unique", share, first)
    everything = _in_rounds(pairs, added)
    with together():
        write_table(
            pd.concat([collection, pd.DataFrame(new, columns=[*collection])]) if new else collection,
            folder / "collection.csv",
        )
        write_table(both, folder / ANSWERS)
        if lists:
            write_lists(folder, lists)
        _write_runs(both, folder, table.answers)
        kinds = [{"item_id": id, "key": key, "of": kind} for kind, named in known.items() for key, id in named.items()]
        write_table(pd.DataFrame(kinds), folder / KEYS)
        write_table(everything, folder / "pairs.csv")
    _copy_pictures(new, folder, beside)
    return Asked(len(queries), len(results), len(pairs) + len(added), 0, len(drawn), len(added), compared)


def _in_rounds(pairs: pd.DataFrame, added: pd.DataFrame) -> pd.DataFrame:
    """All pairs, the added ones in a round of their own: of what is rated so far none stands for them."""
    if added.empty:
        return pairs
    both = pd.concat([pairs, added.assign(round=pairs["round"].max() + 1)], ignore_index=True)[[*pairs]]
    for number in range(1, both["round"].max() + 1):
        both[round_column(number)] = both["inclusion_probability"].where(both["round"] == number, 0.0)
    return both


def _blocks(table: ResultsTable, pairs: pd.DataFrame, questions: Sequence[str], scale: str, raters: int | None) -> str:
    """The blocks of study.toml: what everyone rates, and the other pairs."""
    compared = OTHER in pairs
    default = OF_FILES[compared].format(file=table.files) if table.files else DEFAULTS[compared, table.answers]
    first, *further = questions or (default,)
    unique = int((pairs["block"] == "unique").sum())
    people = PEOPLE if compared else 1
    share = A_SITTING if raters is None else min(unique, max(1, -(-unique * people // raters)))
    each = "all" if unique <= share and raters is None else share
    made = [QUALITY] if table.answers and scale == "1-5" and not compared and not table.files else []
    scale = "quality" if made else scale
    asked = [f"scale = {json.dumps(scale)}", "results_per_page = 1"]
    if compared:
        asked = [f'ask = "{"which" if table.answers else "which-list"}"']
    for name in ("base", "unique"):
        if not (pairs["block"] == name).any():
            continue
        lines = [
            "[[blocks]]",
            f'name = "{name}"',
            f'pairs = "{name}"',
            'paradigm = "text"',
            *asked,
            f"question = {json.dumps(first, ensure_ascii=False)}",
        ]
        if name == "unique":
            lines += [f"ratings_per_pair = {people}", f"pairs_per_rater = {json.dumps(each)}", "more = 20"]
        for number, text in enumerate(further, 2):
            lines += [
                "",
                "[[blocks.questions]]",
                f'id = "question-{number}"',
                f"text = {json.dumps(text, ensure_ascii=False)}",
            ]
            lines += [f"scale = {json.dumps(scale)}"]
        made.append("\n".join(lines) + "\n")
    return "\n".join(made)
