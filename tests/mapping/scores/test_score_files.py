"""Score tables: three forms in, one form out, and every fault named with its row."""

from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.mapping.scores.score_files import read_score_files, read_scores, write_scores


def written(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_long_wide_and_run_forms_of_one_table_read_alike(tmp_path: Path) -> None:
    long = read_scores(written(tmp_path, "system,query_id,result_id,score\nbm25,1,a,0.5\nbm25,1,b,-2e3\n")).frame
    wide = read_scores(written(tmp_path, "query_id,result_id,bm25\n1,a,0.5\n1,b,-2e3\n")).frame
    run = read_scores(written(tmp_path, "1 Q0 a 1 0.5 bm25\n1 Q0 b 2 -2e3 bm25\n", "x.run")).frame
    padded = read_scores(written(tmp_path, "1 Q0 a 1\t  0.5 bm25\n\n1 Q0 b 2\t-2e3 bm25\n", "y.run")).frame
    assert long["score"].tolist() == [0.5, -2000.0]
    for other in (wide, run, padded):
        pd.testing.assert_frame_equal(long, other)


@pytest.mark.parametrize("field", range(6))
def test_a_run_that_is_not_utf_8_is_refused_whichever_field_it_is_in(tmp_path: Path, field: int) -> None:
    fields = [b"1", b"Q0", b"a", b"1", b"0.5", b"bm25"]
    fields[field] += b"\xee"
    (tmp_path / "x.run").write_bytes(b"1 Q0 b 2 0.4 bm25\n" + b" ".join(fields) + b"\n")
    with pytest.raises(RelstudyError, match=r"line [0-9]+: not UTF-8 .*; save the run as UTF-8"):
        read_scores(tmp_path / "x.run")


def test_ids_stay_text_even_where_they_are_digits(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "query_id,result_id,a\n007,1e5,1\n"))
    assert table.frame.loc[0, ["query_id", "result_id"]].tolist() == ["007", "1e5"]


def test_columns_that_are_not_numbers_are_left_out_and_named(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "query_id,result_id,title,a,b\n1,x,one,1,2\n1,y,two,3,4\n"))
    assert table.systems == ["a", "b"]
    assert len(table.notes) == 1
    assert "title" in table.notes[0]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "rank", "Inclusion_Probability", "judgment", "rating"])
def test_a_column_of_row_numbers_or_of_another_table_is_no_system_and_a_note_tells(tmp_path: Path, name: str) -> None:
    table = read_scores(written(tmp_path, f"{name},query_id,result_id,a\n0,1,x,1\n1,1,y,3\n"))
    assert table.systems == ["a"]
    assert table.notes[-1].endswith(f"no system's scores by their names: {name or 'column 1'}")


def test_a_column_with_such_a_name_is_a_system_where_it_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "query_id,result_id,a,rank\n1,x,1,2\n")
    assert read_scores(path, only=["rank"]).systems == ["rank"]


def test_a_header_in_capitals_is_read_in_the_long_form_and_a_wide_system_keeps_its_name(tmp_path: Path) -> None:
    long = read_scores(written(tmp_path, "System,Query_ID,Result_ID,Score\na,1,x,1\nb,1,x,2\n")).frame
    assert long[["system", "score"]].values.tolist() == [["a", 1.0], ["b", 2.0]]
    assert read_scores(written(tmp_path, "Query_ID,Result_ID,Score\n1,x,1\n")).systems == ["Score"]


def test_systems_can_be_chosen_and_left_out_in_every_form(tmp_path: Path) -> None:
    wide = written(tmp_path, "query_id,result_id,a,b\n1,x,1,2\n", "w.csv")
    long = written(tmp_path, "system,query_id,result_id,score\na,1,x,1\nb,1,x,2\n", "l.csv")
    run = written(tmp_path, "1 Q0 x 1 1 a\n1 Q0 x 1 2 b\n", "r.run")
    for path in (wide, long, run):
        assert read_scores(path, leave_out=["a"]).systems == ["b"]
        assert read_scores(path, only=["a"]).systems == ["a"]
        with pytest.raises(RelstudyError, match=r"no system 'c' .* there are: a, b"):
            read_scores(path, leave_out=["c"])


@pytest.mark.parametrize("form", ["wide", "long"])
def test_percentages_are_scores_without_their_sign(tmp_path: Path, form: str) -> None:
    """A column of them was no system, and a long table was refused, though inspect names both."""
    (tmp_path / "wide.csv").write_text('query_id,result_id,one,words\nq,x,85.1 %,50% off\nq,y,"3,5%",\n')
    (tmp_path / "long.csv").write_text("query_id,result_id,system,score\nq,x,one,85.1%\nq,y,one,3.5%\n")
    read = read_scores(tmp_path / f"{form}.csv")
    assert read.frame["score"].tolist() == [85.1, 3.5] and read.systems == ["one"]
    assert any("holds percentages, read as numbers" in note for note in read.notes)


def test_an_empty_wide_cell_is_a_result_not_returned_and_is_said(tmp_path: Path) -> None:
    table = read_scores(written(tmp_path, "query_id,result_id,a,b\n1,x,1,2\n1,y,,4\n"))
    assert len(table) == 3
    assert "a (1)" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,query_id,result_id,score\na,1,x,nan\n", "row 2, column score: 'nan' is not allowed"),
        ("system,query_id,result_id,score\na,1,x,1\na,1,y,inf\n", "row 3, column score: 'inf' is not allowed"),
        ("system,query_id,result_id,score\na,1,x,\n", "row 2, column score: '' is not allowed"),
        ("system,query_id,result_id,score\na,,x,1\n", "row 2, column query_id: '' is not allowed; a value is required"),
        ("query_id,result_id,a\n1,x,1\n1,y,2\n1,z,-inf\n", "row 4, column a: '-inf' is not allowed"),
        ("query_id,result_id,a\n1,x,1\n1,x,2\n", r"row 3: the pair \(1, x\) of system 'a' is already in row 2"),
        ("1 Q0 x 1 0.5 a\n1 Q0 y 2 nan a\n", "row 2, column score: 'nan' is not allowed"),
        ("1 Q0 x 1 0.5 a\n1 Q0 y 2 high a\n", "row 2, column score: 'high' is not allowed"),
        ("1 Q0 x 1 0.5 a\n\n1 Q0 x 2 0.4 a\n", r"row 3: the pair \(1, x\) of system 'a' is already in row 1"),
        ("1 Q0 x 1 0.5 a\n1 Q0 x 2 0.4 a\n", r"row 2: the pair \(1, x\) of system 'a' is already in row 1"),
        ("1 Q0 x 1 0.5 a\n1 Q0 y 2 0.4\n", "row 2: a run has six fields"),
        ("1 Q0 x 1 0.5 a\n" + "1 Q0 y 2 0.4\n" * 30, r"row 2 and 29 more: a run has six fields a row \(.*\), not 5$"),
    ],
)
def test_a_fault_is_named_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_scores(written(tmp_path, text))


def test_a_table_without_any_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RelstudyError, match="no column holds a system's scores"):
        read_scores(written(tmp_path, "query_id,result_id,title\n1,x,one\n"))
    with pytest.raises(RelstudyError, match="file not found"):
        read_scores(tmp_path / "absent.csv")


def test_infinite_numbers_in_parquet_are_refused_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": ["1", "1"], "result_id": ["x", "y"], "a": [1.0, np.inf]})
    frame.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(TableError, match=r"row 3, column a: 'inf' is not allowed"):
        read_scores(tmp_path / "s.parquet")


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.run"])
def test_what_is_written_is_read_back_exactly(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "system": np.repeat(["a", "b"], 50),
            "query_id": np.tile(np.repeat([f"q{i}" for i in range(5)], 10), 2),
            "result_id": [f"d{i}" for i in range(100)],
            "score": rng.normal(size=100) * 10.0 ** rng.integers(-9, 9, 100),
        }
    )
    write_scores(frame, tmp_path / name)
    order = ["system", "query_id", "result_id"]
    again = read_scores(tmp_path / name).frame.sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(again, frame.sort_values(order, ignore_index=True), check_exact=True)


def test_a_run_cannot_keep_a_blank_and_says_so(tmp_path: Path) -> None:
    frame = pd.DataFrame({"system": ["a"], "query_id": ["two words"], "result_id": ["x"], "score": [1.0]})
    with pytest.raises(RelstudyError, match="cannot keep a blank in query_id: 'two words'"):
        write_scores(frame, tmp_path / "s.run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real_data
def test_a_trec_eval_run_reads_as_ir_measures_reads_it(shared_data: Path) -> None:
    path = shared_data / "trec_eval_test" / "results.test"
    frame = read_scores(path).frame
    peer = pd.DataFrame(ir_measures.read_trec_run(str(path)))
    assert frame["query_id"].tolist() == peer["query_id"].tolist()
    assert frame["result_id"].tolist() == peer["doc_id"].tolist()
    assert frame["score"].tolist() == peer["score"].tolist()


@pytest.mark.real_data
def test_words_after_the_sixth_field_of_a_run_are_passed_over_as_trec_eval_does(shared_data: Path) -> None:
    table = read_scores(shared_data / "trec_eval_test" / "results.trunc")
    assert table.systems == ["STANDARD"]
    assert table.frame.loc[0, ["query_id", "result_id", "score"]].tolist() == ["301", "FBIS3-27619", 2.138276]


def test_a_run_whose_name_has_blanks_keeps_it_and_two_that_begin_alike_are_two_systems(tmp_path: Path) -> None:
    def run(name: str, *scores: float) -> str:
        return "".join(f"q{k} Q0 d{k} 1 {score} {name}\n" for k, score in enumerate(scores))

    first, second = run("my run v1", 3, 2), run("my run v2", 1, 4)
    assert read_scores(written(tmp_path, first)).systems == ["my run v1"]
    both = read_scores(written(tmp_path, first + second))
    assert both.systems == ["my run v1", "my run v2"] and both.frame["score"].tolist() == [3, 2, 1, 4]
    remarks = run("my 0.2s", 3) + run("my 0.3s", 2, 1).splitlines()[1] + "\n"
    assert read_scores(written(tmp_path, remarks)).systems == ["my"], "words that differ from row to row are remarks"
    with pytest.raises(TableError, match=r"column query_id: 'q 1' is not allowed; no blank is allowed in it"):
        read_scores(written(tmp_path, first + "q 1 Q0 d3 1 0.5 my run v1\n"))


@pytest.mark.real_data
def test_the_tifa_release_reads_with_its_text_columns_named_and_its_human_column_left_out(shared_data: Path) -> None:
    path = shared_data / "tifa160_likert" / "system_scores_tifa_release.csv"
    table = read_scores(path, leave_out=["tifa_human_avg"])
    assert len(table.systems) == 10
    assert (table.frame.groupby("system").size() == 800).all()
    assert "t2i_model, source_id, text" in table.notes[0]


def test_rows_are_named_as_a_spreadsheet_counts_them_where_lines_are_blank(tmp_path: Path) -> None:
    path = written(tmp_path, "system,query_id,result_id,score\na,q,x,1\n\n\na,q,x,2\n")
    with pytest.raises(TableError, match=r"row 5: .* row 2"):
        read_scores(path)


def test_a_run_whose_ranks_say_another_order_than_its_scores_is_told(tmp_path: Path) -> None:
    """A distance as the score, or the same score in every line: people then mean the ranks, and trec_eval does not."""
    orders = {"right": (9, 5, 5), "distance": (1, 2, 3), "level": (1, 1, 1)}
    lines = [
        f"{query} Q0 d{rank} {rank} {score} {name}"
        for name, scores in orders.items()
        for query in ("q1", "q2")
        for rank, score in enumerate(scores, start=1)
    ]
    (tmp_path / "all.run").write_text("\n".join(lines) + "\n")
    count = "in 2 of 2 queries; the scores count, a higher one is better, as for trec_eval"
    assert read_scores(tmp_path / "all.run").notes == (
        f"distance: its ranks contradict its scores {count}",
        f"level: all scores are equal, and ranks are not, {count}",
    )


def test_a_long_table_whose_scores_have_another_name_is_refused_instead_of_two_systems_in_one(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    for systems in ("old", "2"):
        path.write_text(f"system,query_id,result_id,distance\n1,q,x,0.4\n{systems},q,y,0.2\n")
        with pytest.raises(RelstudyError, match="a column system and none called score; distance must be called score"):
            read_scores(path)
        assert read_scores(path, only=["distance"]).frame["score"].tolist() == [0.4, 0.2]
    path.write_text("system,query_id,result_id,bm25,cosine\nold,q,x,3,0.4\n")
    assert read_scores(path).systems == ["bm25", "cosine"]


def test_what_was_left_out_of_a_table_without_systems_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text('query_id,result_id,views,rank\nq,x,"1,234",1\n')
    with pytest.raises(RelstudyError, match=r"do not hold numbers: views; .* by their names: rank"):
        read_scores(tmp_path / "s.csv")


@pytest.mark.parametrize(("mark", "said"), [("-999", True), ("9999", True), ("-2", True), ("-1", False), ("0", False)])
def test_marks_for_no_score_far_from_all_scores_are_said(tmp_path: Path, mark: str, said: bool) -> None:
    path = tmp_path / "s.csv"
    rows = [f"q,d{number},{mark if number % 9 == 0 else 0.1 * (number % 7)}" for number in range(40)]
    path.write_text("\n".join(["query_id,result_id,clip", *rows]) + "\n")
    note = (
        f"{path}: 5 scores of clip are {mark} and all others from 0 to 0.6: if these are none, leave their cells empty"
    )
    assert (note in read_scores(path).notes) == said


def test_one_row_that_repeats_a_pair_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("system,query_id,result_id,score\na,q,x,1\na,q,x,1\na,q,y,2\n")
    assert read_scores(path).notes == (
        f"{path}: 1 row repeats an earlier pair of the same system and score; it is merged",
    )


def test_a_system_that_nothing_names_is_called_by_its_file(tmp_path: Path) -> None:
    """Two such tables were both called `score`, and refused."""
    pairs = pd.DataFrame({"query_id": list("qq"), "result_id": list("xy"), "score": [1.0, 2.0]})
    files = [tmp_path / name for name in ("old.csv", "new.csv.gz")]
    for file in files:
        pairs.to_csv(file, index=False)
    assert read_score_files(files).systems == ["old", "new"]
    assert read_scores(files[0]).systems == ["old"]
