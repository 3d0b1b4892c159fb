"""The smallest inputs of layouts that others published, and the right answer of each (strangers_files)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import relstudy as rs
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
    from relstudy.mapping.scores.runs import looks_like_run

    assert not looks_like_run((files / name).read_bytes())


def test_an_export_of_appen_has_its_raters_and_leaves_out_test_questions(files, tmp_path):
    read = rs.read_ratings(
        files / "appen_full_report.csv",
        columns={"_worker_id": "rater_id", "query": "query_id", "url": "result_id", "relevance": "rating"},
        scale="1-5",
    )
    assert (
        read.frame["rater_id"].nunique() == 2 and len(read.frame) == 3
    )  # of 6, less 2 test questions and a tainted one
    said = succeeds("inspect", files / "appen_full_report.csv", "--json").stdout
    assert "_worker_id" in said and "3 raters" in said


def test_a_rating_with_its_exact_name_is_read(files, tmp_path):
    content = json.loads(succeeds("inspect", files / "output_rater_rating.csv", "--json").stdout)
    assert content["kind"] == "ratings" and "10 ratings by 2 raters" in content["sentence"]


@pytest.mark.parametrize("name", ["matrix_no_header.csv", "rareword_raw.txt"])
def test_a_table_of_numbers_without_a_header_is_told_so(files, name):
    refused = relstudy("inspect", files / name)
    assert refused.exit_code == 1 and "no header" in " ".join(refused.output.split())
