"""The smallest inputs of layouts that others published, and the right answer of each (strangers_files)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.tables.formats.file_kind import file_kind
from relstudy.common.tables.meaning.reading import Reading
from tests.commands import relstudy, succeeds

pytestmark = pytest.mark.real_data


@pytest.fixture
def files(shared_data: Path) -> Path:
    return shared_data / "strangers_files"


def test_labels_as_columns_of_0_and_1_are_no_names(files, tmp_path):
    """Every item shared the label "0": 600 relevant pairs, and a mean average precision of 1, for 91 pairs."""
    named = {"queries": "codes_q.npy", "database": "codes_d.npy", "query-labels": "labels01_q.txt"}
    named |= {"database-labels": "labels01_d.txt"}
    words = [word for name, file in named.items() for word in (f"--{name}", files / file)]
    assert "91 relevant pairs by shared label" in succeeds("hash", "count", *words, "-o", tmp_path / "t.npz").output


@pytest.mark.parametrize("name", ["codes_bits.txt", "image_labels_list.txt", "rareword_raw.txt", "labels01_q.txt"])
def test_numbers_to_the_end_of_a_line_are_no_run(files, name):
    assert file_kind(files / name) != "run"


def test_an_export_of_appen_has_its_raters_and_leaves_out_test_questions(files, tmp_path):
    read = rs.read_ratings(
        files / "appen_full_report.csv",
        columns={"_worker_id": "rater_id", "query": "query_id", "url": "result_id", "relevance": "rating"},
        scale="1-5",
    )
    assert (
        read.frame["rater_id"].nunique() == 2 and len(read.frame) == 3
    )  # of 6, less 2 test questions and a tainted one


def _inspected(file: Path) -> dict[str, Any]:
    return json.loads(succeeds("inspect", file, "--json").stdout)


@pytest.mark.parametrize(
    ("name", "sentence", "why"),
    [
        ("appen_full_report.csv", "6 ratings by 3 raters", "was: 6 judgments without raters"),
        ("codes_bits.txt", "20 codes of 16 bits", "was: a TREC run"),
        ("diversity.qrels", "5 judgments of 2 queries", ""),
        ("image_labels_list.txt", "a list of items with 20 labels each", "was: a TREC run"),
        ("mturk_preferences.csv", "15 answers to which of two is better", "was: not known"),
        ("output_rater_rating.csv", "10 ratings by 2 raters", "was: no column of answers is known"),
        ("panel15_unnamed_first_column.csv", "3 raters, 12 rows", "was: refused"),
        ("panel_unnamed_first_column.csv", "8 raters, 15 rows", "was: refused"),
        ("qrel_tag_query_doc_group.txt", "15 judgments of 1 query", ""),
        ("redcap_twice_complete.csv", "4 ratings by 2 raters", "was: refused"),
        ("slider_panel.csv", "8 raters, 15 rows", "was: no answers or scores"),
        ("vote_counts.csv", "votes as counts: 15 rows", "was: five raters"),
        ("wordsim_dup_pair.csv", "13 raters, 13 rows", "was: five readings as judgments without raters"),
        ("wordsim_mean_in_brackets.tab", "16 raters, 12 rows", "was: 17 raters, the mean among them"),
    ],
)
def test_a_file_is_known_for_what_it_is(files, name, sentence, why):
    assert sentence in _inspected(files / name)["sentence"], why


@pytest.mark.parametrize("name", ["matrix_no_header.csv", "rareword_raw.txt", "tabs_no_header_commas_inside.txt"])
def test_a_table_of_numbers_without_a_header_is_told_so(files, name):
    shown = " ".join(succeeds("inspect", files / name).output.split())
    assert "no header" in shown and "columns by" in shown
    assert name != "tabs_no_header_commas_inside.txt" or "so 6 columns by tabs" in shown


def test_columns_without_names_are_named_by_their_numbers(files):
    words = rs.read_ratings(
        files / "rareword_raw.txt", columns={"1": "query_id", "2": "result_id", "4..13": "rating"}, trust_raters=True
    )
    assert words.frame["rater_id"].nunique() == 10 and len(words.frame) == 150
    people = rs.read_ratings(
        files / "matrix_no_header.csv", columns={"1..20": "rating"}, missing="nan", trust_raters=True
    )
    frame = pd.read_csv(files / "matrix_no_header.csv", header=None)
    assert people.frame["result_id"].nunique() == len(frame) and len(people.frame) == frame.notna().sum().sum()
    assert people.frame["rating"].mean() == pytest.approx(np.nanmean(frame.to_numpy(dtype=float)))


def test_a_slider_whose_lowest_mark_is_minus_one_is_on_0_to_100(files, tmp_path):
    """-1 was an answer, and the scale -1 to 39."""
    for name in ("slider_panel.csv", "panel_unnamed_first_column.csv"):
        assert _inspected(files / name)["command"].endswith("--scale 0-100 --missing -1")


def test_a_pair_that_stands_twice_with_other_answers_is_asked_about(files):
    found = _inspected(files / "wordsim_dup_pair.csv")
    assert found["command"] is None and found["questions"][0].startswith("money and cash stands in several rows")
    assert "TABLE_WITHOUT_REPEATS" in found["draft"]


def test_people_in_rows_and_numbered_columns_are_asked_about_with_the_right_reading_among_the_choices(files):
    readings = {name: _inspected(files / name)["readings"] for name in ("likert_name_first.csv", "numbered_raters.csv")}
    sentences = {name: [each["sentence"] for each in found] for name, found in readings.items()}
    assert any("10 items, 5 rows" in sentence for sentence in sentences["likert_name_first.csv"])
    assert any("3 raters, 5 rows" in sentence for sentence in sentences["numbered_raters.csv"])


def test_coordinates_are_nobodys_ratings(files):
    found = _inspected(files / "coordinates.csv")
    assert found["command"] is None and not found["readings"]


def test_a_scale_that_ends_at_50_is_not_called_0_to_100(files):
    of_people, _ = _inspected(files / "men_0_50.csv")["readings"]
    assert of_people["command"].endswith("--scale 0-50")


def test_subtopics_in_qrels_are_said_not_to_be_read(files):
    assert any("second field is not read" in note for note in _inspected(files / "diversity.qrels")["notes"])


def test_a_row_of_votes_has_its_mean_and_standard_error(files, tmp_path):
    reading = Reading.typed(columns="query_id=character,result_id=type")
    judgments = read_judgments(files / "vote_counts.csv", reading).frame
    votes = np.repeat([1, 2, 3, 4, 5], [2, 3, 7, 9, 4])  # the first row
    assert judgments["judgment"][0] == pytest.approx(votes.mean())
    assert judgments["standard_error"][0] == pytest.approx(votes.std(ddof=1) / 5)


def test_a_row_that_nobody_voted_on_is_left_out_and_said(tmp_path):
    (tmp_path / "votes.csv").write_text("query_id,result_id,n_1,n_2,n_3\nq,a,0,1,3\nq,b,0,0,0\nq,c,2,0,0\n")
    judgments = read_judgments(tmp_path / "votes.csv")
    assert judgments.frame["judgment"].tolist() == [2.75, 1.0]
    assert any("1 without a vote left out" in note for note in judgments.notes)


def test_preferences_of_others_become_judgments(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = shlex.split(_inspected(files / "mturk_preferences.csv")["command"])
    succeeds(*command[1:])
    table = pd.read_csv(files / "mturk_preferences.csv")
    judged = pd.read_csv(tmp_path / "out" / "judgments.csv")
    assert set(judged["result_id"]) == set(table["Input.docA"]) | set(table["Input.docB"])


def test_every_command_that_is_printed_runs_as_printed(files, tmp_path, monkeypatch):
    ran = []
    for file in sorted(files.iterdir()):
        shown = relstudy("inspect", file, "--json")
        if file.name == "README.md" or shown.exit_code:
            continue
        found = json.loads(shown.stdout)
        for number, reading in enumerate(found["readings"] or [found]):
            # what stands in capitals, and the judgments that scores are held against, are the person's own
            if (command := reading["command"]) is None or re.search(r"[A-Z]{5}|judgments\.csv", command):
                continue
            work = tmp_path / f"{file.name}-{number}"
            work.mkdir()
            monkeypatch.chdir(work)
            run = relstudy(*shlex.split(command)[1:])
            assert run.exit_code == 0, (command, run.output)
            ran.append(file.name)
    assert len(set(ran)) >= 9
