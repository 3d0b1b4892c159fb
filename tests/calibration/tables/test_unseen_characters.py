"""What is not seen in a table, or reads like nothing, is told or refused: characters, names of nobody, a key twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.mapping.scores.score_files import read_scores

UNSEEN = "\u200b"


@pytest.fixture
def published(shared_data: Path) -> pd.DataFrame:
    """The first ratings of TIFA160, whose raters are numbers of ten digits."""
    return pd.read_csv(shared_data / "tifa160_likert" / "ratings.csv", dtype=str).head(60)


def written(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "ratings.csv", index=False)
    return folder / "ratings.csv"


def test_raters_that_differ_in_characters_that_are_not_seen_are_told(published: pd.DataFrame, tmp_path: Path) -> None:
    published.loc[::2, "rater_id"] += UNSEEN
    notes = read_ratings(written(published, tmp_path)).notes
    assert [note for note in notes if r"4375840905\u200b" in note and "taken as different people" in note]


def test_queries_that_differ_in_characters_that_are_not_seen_are_told(published: pd.DataFrame, tmp_path: Path) -> None:
    published.loc[::2, "query_id"] += UNSEEN
    notes = read_ratings(written(published, tmp_path)).notes
    assert [note for note in notes if note.startswith("ids that look the same") and r"\u200b" in note]


def test_a_name_of_a_column_with_characters_that_are_not_seen_is_known(published: pd.DataFrame, tmp_path: Path) -> None:
    file = written(published.rename(columns=lambda name: f"{name}{UNSEEN}"), tmp_path)
    read = read_ratings(file)
    assert len(read.frame) == 60 and any(r"rater_id\u200b for rater_id" in note for note in read.notes)
    assert inspect_file(file).sentence == "60 ratings by 5 raters"


def test_blanks_of_a_word_processor_in_names_are_blanks(published: pd.DataFrame, tmp_path: Path) -> None:
    """Raters of ten digits were taken for hash codes."""
    file = written(published.rename(columns=lambda name: name.replace("_", "\u00a0")), tmp_path)
    assert inspect_file(file).sentence == "60 ratings by 5 raters"


@pytest.mark.parametrize("rater", ["4375840905", "5f1a0c8d9e2b7a0012345678"])
def test_ids_are_no_hash_codes(published: pd.DataFrame, tmp_path: Path, rater: str) -> None:
    columns = {"rater_id": "who", "query_id": "a", "result_id": "b", "rating": "c"}
    file = written(published.assign(rater_id=rater).rename(columns=columns), tmp_path)
    assert inspect_file(file).kind != "codes"


@pytest.mark.parametrize("name", ["NA", "nan", "None", "anonymous"])
def test_a_rater_whose_name_says_nobody_is_told(published: pd.DataFrame, tmp_path: Path, name: str) -> None:
    """An empty cell was refused, and NA, as R writes it, was a person."""
    published.loc[::5, "rater_id"] = name
    file = written(published, tmp_path)
    said = f"{name} in rater_id reads like no name: 12 ratings are taken for one person's"
    for notes in (read_ratings(file).notes, inspect_file(file).notes):
        assert [note for note in notes if note.startswith(said) and f"rater_id!={name}" in note]


def test_a_record_with_a_key_twice_is_refused(published: pd.DataFrame, tmp_path: Path) -> None:
    """The last one counted, without a word; of a CSV table such a header is refused."""
    lines = [json.dumps(record) for record in published.to_dict("records")]
    (tmp_path / "t.json").write_text(f'[{", ".join(lines)[:-1]}, "rating": "1"}}]', encoding="utf-8")
    (tmp_path / "t.jsonl").write_text("\n".join(lines)[:-1] + ', "rating": "1"}', encoding="utf-8")
    for name in ("t.json", "t.jsonl"):
        with pytest.raises(RelstudyError, match=rf"{name}.*: 'rating' appears twice in one object"):
            read_table(tmp_path / name)


@pytest.mark.parametrize(("name", "read"), [("qrels.test", read_judgments), ("results.test", read_scores)])
def test_a_run_or_qrels_with_a_zero_byte_are_refused(
    shared_data: Path, tmp_path: Path, name: str, read: Callable[[Path], object]
) -> None:
    """It made another query of a line."""
    content = (shared_data / "trec_eval_test" / name).read_bytes()
    (tmp_path / name).write_bytes(content.replace(b"\n", b"\n\0", 1))
    with pytest.raises(RelstudyError, match=r"is not text; save the (run|qrels) as UTF-8"):
        read(tmp_path / name)


def test_a_table_in_utf_32_is_refused_as_no_text_that_is_read(published: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(published.to_csv(index=False).encode("utf-32"))
    with pytest.raises(RelstudyError, match="this is not a text file; a CSV table in UTF-8 is needed"):
        read_table(tmp_path / "t.csv")
