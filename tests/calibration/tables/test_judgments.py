"""Judgments: made from ratings, written, and read from anyone's table or qrels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from relstudy.calibration.averaging import make_judgments
from relstudy.calibration.options import CalibrationOptions
from relstudy.calibration.panel import Panel
from relstudy.calibration.pipeline import calibrate
from relstudy.calibration.simulation import simulate_panel
from relstudy.calibration.tables.drawn_pairs import with_design
from relstudy.calibration.tables.judgments import Judgments, read_judgments, write_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.meaning.reading import Reading
from tests.places import EXAMPLE, Write


def test_judgments_are_means_and_standard_errors_borrow_from_the_average_pair() -> None:
    frame = pd.DataFrame(
        {"rater_id": list("abcab"), "query_id": "q", "result_id": list("xxxyy"), "rating": [1.0, 2, 6, 3, np.nan]}
    )
    result = make_judgments(Panel.from_frame(frame), frame["rating"].to_numpy()).frame
    assert result["judgment"].tolist() == [3.0, 3.0]
    assert result["n_ratings"].tolist() == [3, 1]
    # x alone has two ratings or more: variance 7, squares 14. (8 * 7 + 14) / (8 + 2) = 7, and y has 7 as well.
    assert result["standard_error"].tolist() == pytest.approx([np.sqrt(7 / 3), np.sqrt(7)])
    assert result["pair_id"].tolist() == ["q|x", "q|y"]


def test_standard_errors_cover_the_true_mean_as_often_as_they_say() -> None:
    simulated = simulate_panel(40, 0, 100, leniency=0, discrimination=0, scale="1-9", seed=5)
    result = make_judgments(simulated.panel, simulated.panel.rating).frame
    code = result["result_id"].str[1:].astype(int)
    # The exact expectation of a rating: steps at half units of the scale, the ends taking the rest.
    steps = np.arange(1.5, 9)
    above = norm.sf((steps[None, :] - 5 - simulated.quality[code][:, None] * 8 / 4.2) / (0.6 * 8 / 4.2))
    z = (result["judgment"] - (1 + above.sum(axis=1))) / result["standard_error"]
    # 95 % of about 1,300 pairs, give or take three standard errors of that share.
    assert np.mean(np.abs(z) < 1.96) == pytest.approx(0.95, abs=0.018)


def test_a_pair_that_everyone_left_undecided_has_no_judgment() -> None:
    frame = pd.DataFrame({"rater_id": list("ab"), "query_id": "q", "result_id": list("xy"), "rating": [1.0, np.nan]})
    assert make_judgments(Panel.from_frame(frame), frame["rating"].to_numpy()).frame["result_id"].tolist() == ["x"]


def test_where_no_pair_has_two_ratings_the_standard_error_is_left_empty() -> None:
    frame = pd.DataFrame({"rater_id": list("ab"), "query_id": "q", "result_id": list("xy"), "rating": [1.0, 2.0]})
    assert make_judgments(Panel.from_frame(frame), frame["rating"].to_numpy()).frame["standard_error"].isna().all()


def test_judgments_come_back_as_they_were_written(tmp_path: Path) -> None:
    panel = simulate_panel(5, 6, 10, seed=1).panel
    frame = make_judgments(panel, panel.rating).frame.assign(inclusion_probability=0.25)
    write_judgments(Judgments.of(frame), tmp_path / "j.csv")
    assert (tmp_path / "j.csv").read_text().splitlines()[0] == (
        "pair_id,query_id,result_id,judgment,n_ratings,standard_error,judgment_low,judgment_high,relevant_share,relevance_cut,"
        "inclusion_probability,scale_low,scale_high,scale_step"
    )
    back = read_judgments(tmp_path / "j.csv")
    assert back.frame["judgment"].tolist() == frame["judgment"].tolist()
    assert back.unknown == 0
    assert back.probability_note() is None


def test_an_unknown_probability_stays_unknown_through_a_merge_and_a_file(write: Write, tmp_path: Path) -> None:
    judgments = read_judgments(write("query_id,result_id,judgment\nq,x,4\nq,y,2"))
    merged = judgments.frame.merge(pd.DataFrame({"query_id": ["q", "q"], "result_id": ["x", "y"]}))
    merged.to_csv(tmp_path / "merged.csv", index=False)
    for each in (judgments, Judgments.of(merged), read_judgments(tmp_path / "merged.csv")):
        assert np.isnan(each.probability).all()
        assert "inclusion probabilities are not known" in (each.probability_note() or "")


def test_a_single_unknown_probability_stays_unknown(write: Write) -> None:
    judgments = read_judgments(write("query_id,result_id,judgment,inclusion_probability\nq,x,4,.5\nq,y,2,"))
    assert np.isnan(judgments.probability).tolist() == [False, True]
    assert "1 of 2 pairs have no known inclusion probability" in (judgments.probability_note() or "")


def test_calibrate_in_python_keeps_the_probabilities_that_the_ratings_came_with(write: Write) -> None:
    head = "rater_id,query_id,result_id,rating,inclusion_probability,query_probability\n"
    rows = "a,q,x,1,.5,.6\na,q,y,3,.25,.6\nb,q,x,3,.5,.6\nb,q,y,5,.25,.6\n"
    result = calibrate(read_ratings(write(head + rows, "ratings.csv")), CalibrationOptions("mean"))
    assert result.judgments.probability.tolist() == [0.5, 0.25]
    assert result.judgments.frame["query_probability"].tolist() == [0.6, 0.6]
    pairs = write("query_id,result_id,inclusion_probability\nq,x,.125", "pairs.csv")
    assert result.with_probabilities(pairs).judgments.frame["inclusion_probability"].fillna(-1).tolist() == [0.125, -1]
    with pytest.raises(TableError, match=r"row 4, column inclusion_probability: '\.4' is not allowed; a pair has one"):
        read_ratings(write(head + rows.replace("b,q,x,3,.5", "b,q,x,3,.4"), "ratings.csv"))


def test_a_rating_column_is_averaged_into_judgments(write: Write) -> None:
    frame = read_judgments(write("rater_id,query_id,result_id,rating\na,q,x,4\nb,q,x,2\na,q,y,\na,q,z,5")).frame
    assert frame[["result_id", "judgment", "n_ratings"]].to_numpy().tolist() == [["x", 3.0, 2], ["z", 5.0, 1]]


def test_trec_qrels_are_read(write: Write) -> None:
    frame = read_judgments(write("301 0 DOC-1 2\n301 0 DOC-2 0", "qrels.txt")).frame
    assert frame[["query_id", "result_id", "judgment"]].to_numpy().tolist() == [
        ["301", "DOC-1", 2],
        ["301", "DOC-2", 0],
    ]
    with pytest.raises(TableError, match="row 2: '301 0 DOC-2' is not allowed; a TREC qrels line has four fields"):
        read_judgments(write("301 0 DOC-1 2\n301 0 DOC-2", "bad.txt"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query_id,result_id\nq,x", "column judgment: this column is required"),
        ("query_id,result_id,judgment\n", "there are no judgments below the header"),
        ("query_id,result_id,judgment\nq,x,good", "'good' is not allowed; a number is allowed"),
        (
            "query_id,result_id,judgment,inclusion_probability\nq,x,1,0",
            "'0' is not allowed; a number above 0 and at most 1",
        ),
        (
            "query_id,result_id,judgment\nq,x,1\nq,x,2",
            "row 3, column judgment: '2' is not allowed; an earlier row has another",
        ),
        ("query_id,result_id,rating\nq,x,", "there is no rating that is a number"),
        (
            "query_id,result_id,judgment,standard_error,n_ratings\nq,x,1,small,2\nq,y,1,,two",
            "row 2, column standard_error: 'small' is not allowed; a number",
        ),
        ("query_id,result_id,judgment,n_ratings\nq,x,1,two", "column n_ratings: 'two' is not allowed; a number"),
        (
            "query_id,result_id,judgment,inclusion_probability,query_probability\nq,x,1,.1,.5\nq,y,1,.1,.4",
            "row 2, column query_probability: '.5' is not allowed; a query has one probability, and rows of this query",
        ),
        (
            "query_id,result_id,judgment,inclusion_probability,query_probability\nq,x,1,.1,.5\nr,x,1,.6,.5",
            "row 3, column query_probability: '.5' is not allowed; at least the pair's inclusion_probability is needed",
        ),
        (
            "query_id,result_id,judgment,query_probability\nq,x,1,1.5",
            "'1.5' is not allowed; a number above 0 and at most 1",
        ),
        (
            "query_id,result_id,judgment\nq,x,1\nq,y,-1\nq,z,4",
            "'-1' is not allowed; the other judgments run from 1 to 4",
        ),
        ("query_id,result_id,judgment\nq,x,1\nq,y,99\nq,z,4", "--missing 99 says so, and --scale 1-99 that it counts"),
    ],
)
def test_faults_of_judgments_are_named(write: Write, text: str, message: str) -> None:
    with pytest.raises(RelstudyError) as caught:
        read_judgments(write(text))
    assert message in str(caught.value)


def test_identical_judgments_are_merged_and_counted(write: Write) -> None:
    judgments = read_judgments(write("query_id,result_id,judgment\nq,x,1\nq,x,1.0"))
    assert (len(judgments), judgments.merged) == (1, 1)


def test_probabilities_are_joined_by_query_and_result(write: Write) -> None:
    pairs = write("query_id,result_id,inclusion_probability\nq,x,.5\nq,y,.25\nq,y,.25", "pairs.csv")
    judged = pd.DataFrame({"query_id": ["q", "q", "q"], "result_id": ["y", "x", "z"], "judgment": [1.0, 2.0, 3.0]})
    judgments, _ = with_design(Judgments.of(judged), pairs)
    assert judgments.frame["inclusion_probability"].fillna(-1).tolist() == [0.25, 0.5, -1]
    bad = write("query_id,result_id,inclusion_probability\nq,x,.5\nq,x,.25", "bad.csv")
    with pytest.raises(TableError, match="a pair has one inclusion probability"):
        with_design(Judgments.of(judged), bad)


def test_the_probability_of_the_query_is_kept_wherever_it_is_known(write: Write) -> None:
    header = "query_id,result_id,{},inclusion_probability,query_probability\n"
    rows = "q,x,1,.1,.5\nq,y,2,.2,.5\nr,x,3,.5,"
    for kind in ("judgment", "rating"):
        frame = read_judgments(write(header.format(kind) + rows)).frame
        assert frame["query_probability"].fillna(-1).tolist() == [0.5, 0.5, -1]
    assert "query_probability" not in read_judgments(write("query_id,result_id,judgment\nq,x,1")).frame
    pairs = write("query_id,result_id,inclusion_probability,query_probability\nq,x,.1,.5\nr,x,.2,.5", "pairs.csv")
    judged = pd.DataFrame({"query_id": ["r", "q", "q"], "result_id": ["x", "x", "z"], "judgment": [1.0, 2.0, 3.0]})
    frame = with_design(Judgments.of(judged), pairs)[0].frame.fillna(-1)
    assert frame["inclusion_probability"].tolist() == [0.2, 0.1, -1]
    assert frame["query_probability"].tolist() == [0.5, 0.5, -1]


def test_the_scale_travels_from_the_ratings_into_the_judgments_file(write: Write, tmp_path: Path) -> None:
    rows = "rater_id,query_id,result_id,rating,scale\na,q,x,2,0-6\na,q,y,3,0-6\nb,q,x,2,0-6\nb,q,y,5,0-6"
    judgments = calibrate(read_ratings(write(rows, "ratings.csv")), CalibrationOptions("none")).judgments
    write_judgments(judgments, tmp_path / "j.csv")
    for each in (judgments, read_judgments(tmp_path / "j.csv"), Judgments.of(judgments.frame)):
        assert (each.scale.scale.low, each.scale.scale.high, each.scale.scale.cut) == (0, 6, 3.5)
    assert read_judgments(tmp_path / "j.csv").scale.how == "stated"


@pytest.mark.parametrize("field", range(4))
def test_qrels_that_are_not_utf_8_are_refused_and_no_id_is_changed(tmp_path: Path, field: int) -> None:
    fields = [b"301", b"0", b"DOC-1", b"2"]
    fields[field] += b"\xff"
    (tmp_path / "qrels.txt").write_bytes(b"301 0 DOC-2 0\n" + b" ".join(fields) + b"\n")
    with pytest.raises(RelstudyError, match=r"line [0-9]+: not UTF-8 .*; save the qrels as UTF-8"):
        read_judgments(tmp_path / "qrels.txt")


def test_grades_of_qrels_start_at_zero_whatever_was_given(write: Write) -> None:
    graded = read_judgments(write("301 0 DOC-1 3\n301 0 DOC-2 1\n301 0 DOC-3 2", "graded.txt")).scale.scale
    assert (graded.low, graded.high, graded.cut) == (0, 3, 1.5)
    binary = read_judgments(write("301 0 DOC-1 1\n301 0 DOC-2 1", "binary.txt")).scale.scale
    assert (binary.low, binary.high, binary.cut) == (0, 1, 0.5)


def test_judgments_from_ratings_say_that_they_are_plain_means(write: Write) -> None:
    judgments = read_judgments(write("rater_id,query_id,result_id,rating\na,q,x,4\nb,q,x,2"))
    assert "plain means of the ratings, uncalibrated; relstudy calibrate" in judgments.notes[0]
    assert read_judgments(write("query_id,result_id,judgment\nq,x,4")).notes == ()


def test_a_table_of_other_pairs_is_no_table_of_these(write: Write) -> None:
    ratings = read_ratings(write("rater_id,query_id,result_id,rating\na,q,x,4\nb,q,x,2\na,q,y,1", "ratings.csv"))
    pairs = write("query_id,result_id,inclusion_probability\nQ,x,0.5\nQ,y,0.5", "pairs.csv")
    with pytest.raises(RelstudyError, match=r"pairs\.csv: none of the 2 rated pairs is in this table"):
        calibrate(ratings, CalibrationOptions("none")).with_probabilities(pairs)


QRELS = "1 0 x 2\n1 0 y -1\n2 0 x 0\n2 0 y -2"


def test_a_grade_below_zero_is_taken_for_a_pair_that_nobody_judged_and_a_note_tells(write: Write) -> None:
    """It counted as a judgment below all others, on a scale that begins at 0."""
    judged = read_judgments(write(QRELS, "qrels.txt"))
    assert judged.frame["judgment"].tolist() == [2, 0]
    assert judged.qrels
    assert judged.notes == (
        "2 grades below 0 taken as unjudged pairs, and left out; --scale -2-2 counts them as grades",
    )


def test_a_grade_below_zero_counts_where_a_scale_says_so_and_is_missing_where_that_is_stated(
    write: Write,
) -> None:
    path = write(QRELS, "qrels.txt")
    counting = read_judgments(path, Reading.typed(scale="-2-2"))
    assert counting.frame["judgment"].tolist() == [2, -1, 0, -2]
    stated = read_judgments(path, Reading.typed(missing="-1,-2"))
    assert stated.frame["judgment"].tolist() == [2, 0]
    assert stated.notes[-1] == "2 pairs without a judgment, as stated, left out"


def test_gains_of_qrels_that_stand_far_apart_are_grades(write: Write) -> None:
    assert read_judgments(write("1 0 x 0\n1 0 y 1\n1 0 z 10", "qrels.txt")).scale.scale.name == "0-10"


def test_missing_judgments_of_a_table_are_left_out_where_that_is_stated(write: Write) -> None:
    path = write("query_id,result_id,judgment\nq,x,2\nq,y,NA")
    assert read_judgments(path, Reading.typed(missing="NA")).frame["result_id"].tolist() == ["x"]


def test_repeated_judgments_are_merged_and_counted_aloud(write: Write) -> None:
    judged = read_judgments(write("1 0 x 2\n1 0 y 0\n1 0 x 2", "qrels.txt"))
    assert judged.notes == ("1 row with the judgment of an earlier row on the same pair: merged",)


RATED = "rater_id,query_id,result_id,rating"


def test_plain_means_leave_out_what_calibration_leaves_out_and_say_so(write: Write) -> None:
    """Attention checks, raters who were set aside and repeated rows had a part in what systems were scored by."""
    rows = [
        f"{RATED},Block,set_aside",
        *("a,q,x,4,unique,", "b,q,x,2,unique,", "b,q,x,2,unique,", "c,q,x,,unique,"),
        *("d,q,x,5,unique,yes", "a,q,trap,1,check,"),
    ]
    judged = read_judgments(write("\n".join(rows)))
    assert judged.frame[["result_id", "judgment", "n_ratings"]].values.tolist() == [["x", 3, 2]]
    said = " | ".join(judged.notes)
    assert "1 rating" in said
    assert "1 rating of 1 excluded rater is left out" in said
    assert "1 row of block check left out" in said
    assert "1 row repeated an earlier row exactly and was merged" in said
    assert "1 rating is empty (undecided), and no part of the means" in said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (f"{RATED}\na,q,x,1\na,q,x,5\nb,q,x,2", "rater a already rated this pair 1 in row 2"),
        (f"{RATED},scale\na,q,x,1,1-5\nb,q,x,50,1-5", "'50' is not allowed; a number from 1 to 5"),
        (f"{RATED},scale\na,q,x,1,1-5\nb,q,x,1,binary", "this table mixes 1-5"),
    ],
)
def test_plain_means_refuse_what_calibration_refuses(write: Write, rows: str, said: str) -> None:
    for read in (read_judgments, read_ratings):
        with pytest.raises(TableError, match=said):
            read(write(rows))


def test_qrels_with_half_grades_say_that_runs_are_not_measured_as_trec_eval_does(write: Write) -> None:
    judged = read_judgments(write("q 0 x 1.5\nq 0 y 0\nq 0 z 3", "half.qrels"))
    assert not judged.qrels
    assert "grades are not whole numbers, so measures are of the judged pairs alone (condensed)" in judged.notes


def test_ratings_beside_judgments_are_said_to_have_no_part_unless_they_were_asked_for(write: Write) -> None:
    path = write("query_id,result_id,Judgment,rating\nq,x,4,1\nq,y,2,5\n")
    read = read_judgments(path)
    assert read.frame["judgment"].tolist() == [4.0, 2.0]
    assert "the column judgment is taken, and the column rating beside it has no part" in read.all_notes
    asked = read_judgments(path, Reading.typed(columns="judgment=rating", scale="1-5"))
    assert asked.frame["judgment"].tolist() == [1.0, 5.0] and "no part" not in " ".join(asked.all_notes)


@pytest.mark.slow
def test_the_order_of_rows_decides_no_digit_of_a_judgment_and_so_no_tie(tmp_path: Path) -> None:
    table = pd.read_csv(EXAMPLE / "ratings.csv", dtype=str)
    judged = []
    for seed in range(4):
        (table.sample(frac=1, random_state=seed) if seed else table).to_csv(tmp_path / "ratings.csv", index=False)
        frame = calibrate(read_ratings(tmp_path / "ratings.csv"), CalibrationOptions()).judgments.frame
        judged.append(frame.set_index(["query_id", "result_id"])["judgment"].sort_index())
    assert all(each.equals(judged[0]) for each in judged[1:])
