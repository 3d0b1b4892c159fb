"""Tables from elsewhere, read as they stand with --columns, --values, --scale and --missing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.meaning.reading import Reading
from tests.commands import relstudy
from tests.places import Write


def test_words_other_names_and_missing_marks_are_read_as_stated(write: Write) -> None:
    path = write("worker,q,doc,label\na,1,x,Relevant\na,1,y,not\nb,1,x, partly\nb,1,y,NA")
    reading = Reading.typed(
        columns="rater_id=worker,query_id=q,result_id=doc,rating=label",
        values="not=0,partly=1,relevant=2",
        missing="na,-",
    )
    ratings = read_ratings(path, reading=reading)
    assert ratings.frame["rating"].fillna(-1).tolist() == [2, 0, 1, -1]
    assert ratings.scale.scale.values == (0, 1, 2)
    assert "'na' as missing" in ratings.notes[0]


def test_the_shared_wide_panel_gives_the_ratings_of_the_long_one(shared_data: Path) -> None:
    folder = shared_data / "chorus_3agents"
    columns = "query_id=query,result_id=docid,rating=agent_*_rating"
    wide = read_ratings(folder / "wide_with_final.csv", reading=Reading.typed(columns=columns, scale="0-3")).frame
    long = read_ratings(folder / "ratings.csv").frame
    wide["rater_id"] = wide["rater_id"].str.removesuffix("_rating")
    key = ["rater_id", "query_id", "result_id"]
    both = long.merge(wide, on=key, suffixes=("", "_wide"), how="outer")
    assert len(both) == len(long) == len(wide)
    assert both["rating"].equals(both["rating_wide"])


def test_a_row_a_rater_and_a_column_an_item_is_the_same_panel(write: Write) -> None:
    by_item = write("item,ann,bob\nv1,1,2\nv2,5,\nv3,3,4", "items.csv")
    by_rater = write("who,v1,v2,v3\nann,1,5,3\nbob,2,,4", "raters.csv")
    one = read_ratings(by_item, reading=Reading.typed(columns="result_id=item,rating=ann,rating=bob")).frame
    other = read_ratings(by_rater, reading=Reading.typed(columns="rater_id=who,rating=v*")).frame
    key = ["rater_id", "result_id"]
    one, other = (frame.sort_values(key, ignore_index=True)[[*key, "query_id", "rating"]] for frame in (one, other))
    pd.testing.assert_frame_equal(one, other)
    assert len(one) == 5, "an empty cell is not an answer"


def test_faults_of_a_wide_table_name_the_row_of_the_file(write: Write) -> None:
    path = write("item,ann,bob\nv1,1,2\nv2,5,bad")
    with pytest.raises(TableError, match=r"table\.csv, row 3, column rating: 'bad' is not allowed"):
        read_ratings(path, reading=Reading.typed(columns="result_id=item,rating=ann,rating=bob"))


def test_half_points_are_on_the_scale_they_are_said_to_be_on(write: Write) -> None:
    rows = "rater_id,query_id,result_id,rating,scale\na,q,x,2.5,1-5\nb,q,x,3,1-5\na,q,y,4.5,1-5"
    assert read_ratings(write(rows)).scale.scale.step == 0.5
    assert read_judgments(write(rows)).scale.scale.step == 0.5


def test_one_wrong_text_in_many_rows_is_one_fault_with_a_count_and_the_way_out(write: Write) -> None:
    rows = "\n".join(f"a,q,x{row},{'NA' if row % 3 else 4}" for row in range(60))
    with pytest.raises(TableError) as caught:
        read_ratings(write(f"rater_id,query_id,result_id,rating\n{rows}"))
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.count == 40
    assert "row 3 and 39 more, column rating: 'NA' is not allowed; a number is allowed, or empty" in str(caught.value)
    assert '(--missing NA takes it for no answer, --values "NA=NUMBER" gives it a number)' in str(caught.value)


@pytest.mark.parametrize("odd", ["99", "-1", "9"])
def test_a_99_among_1_to_5_is_asked_about_and_not_believed(shared_data: Path, tmp_path: Path, odd: str) -> None:
    frame = pd.read_csv(shared_data / "agh_video_99raters" / "ratings.csv", dtype=str).drop(columns="scale")
    frame = frame[frame["rater_id"].isin(frame["rater_id"].unique()[:12])].reset_index(drop=True)
    frame.loc[frame.index % 17 == 0, "rating"] = odd
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    for read in (read_ratings, read_judgments):
        with pytest.raises(TableError) as caught:
            read(tmp_path / "ratings.csv")
        assert f"'{odd}' is not allowed; the other ratings run from 1 to 5" in str(caught.value)
        assert f"--missing {odd} says so" in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1
    ratings = read_ratings(tmp_path / "ratings.csv", reading=Reading.typed(missing=odd))
    assert ratings.frame["rating"].isna().sum() == int((frame.index % 17 == 0).sum())
    assert ratings.scale.scale.name == "1-5"


def test_a_fault_of_qrels_without_a_header_names_the_line(write: Write) -> None:
    with pytest.raises(TableError, match="row 2, column judgment: 'good' is not allowed"):
        read_judgments(write("301 0 A 1\n301 0 B good\n\n301 0 C 1", "qrels.txt"))
    with pytest.raises(TableError, match="row 4, column judgment: 'good' is not allowed"):
        read_judgments(write("301 0 A 1\n\n\n301 0 B good", "qrels.txt"))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"columns": "worker"}, "'worker' is not understood; worker=rater_id,grade=rating would be right"),
        ({"columns": "rater_id=nobody"}, "--columns names 'nobody', and there is no such column"),
        ({"columns": "query_id=a,query_id=b"}, "--columns names 2 columns for query_id; one is needed"),
        ({"values": "good"}, "'good' is not understood; not=0,partly=1,relevant=2 would be right"),
        ({"values": "good=high"}, "'good=high' is not understood"),
        ({"values": "good=inf"}, "'good=inf' is not understood"),
        ({"scale": "five"}, "the scale 'five' is not understood"),
    ],
)
def test_what_is_stated_and_not_understood_is_refused(write: Write, stated: dict[str, str], message: str) -> None:
    with pytest.raises(RelstudyError) as caught:
        read_ratings(write("a,b\n1,2"), reading=Reading.typed(**stated))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("option", "text", "needed"),
    [
        ("--columns", "worker", "'worker' is not understood; worker=rater_id,grade=rating would be right."),
        ("--values", "good=high", "'good=high' is not understood; not=0,partly=1,relevant=2 would be right."),
    ],
)
def test_a_text_that_is_not_understood_is_refused_before_anything_is_read(option: str, text: str, needed: str) -> None:
    done = relstudy("calibrate", "absent.csv", "-o", "out", option, text)
    assert (done.exit_code, f"Error: Invalid value for '{option}': {needed}" in done.stderr) == (2, True)


def test_python_states_a_column_that_is_two_of_relstudy_s_as_a_command_does() -> None:
    stated = {"columns": {"worker": "rater_id", "item": ("query_id", "result_id"), "grade": "rating"}}
    assert Reading.stated(stated) == Reading.typed(columns="worker=rater_id,item=query_id,item=result_id,grade=rating")
    frame = pd.DataFrame({"worker": ["a", "b"], "item": ["x", "x"], "grade": [1, 5]})
    assert rs.read_ratings(frame, **stated).frame["query_id"].tolist() == ["x", "x"]


def test_the_scale_that_is_stated_binds(write: Write) -> None:
    path = write("rater_id,query_id,result_id,rating\na,q,x,20\nb,q,x,80\na,q,y,99")
    assert read_ratings(path, reading=Reading.typed(scale="0-200")).scale.scale.cut == 100.5
    with pytest.raises(TableError, match="'99' is not allowed; a number from 0 to 90 is allowed"):
        read_ratings(path, reading=Reading.typed(scale="0-90"))
    assert np.isclose(read_judgments(path, Reading.typed(scale="0-200")).frame["judgment"], [50, 99]).all()


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Judgments and ratings with a stranger's names and words, and scores of two systems."""
    random = np.random.default_rng(4)
    words = np.array(["not", "partly", "relevant"])
    judged, rated, scored = ["topic,doc,label"], ["worker,topic,doc,label"], ["system,query_id,result_id,score"]
    for query in range(8):
        for result in range(6):
            grade = int(random.integers(0, 3))
            judged.append(f"q{query},d{result},{words[grade]}")
            for worker in ("ann", "bob", "cy"):
                seen = int(np.clip(grade + random.integers(-1, 2), 0, 2))
                rated.append(f"{worker},q{query},d{result},{words[seen]}")
            for system, noise in (("new", 0.5), ("old", 1.5)):
                scored.append(f"{system},q{query},d{result},{grade + noise * random.normal():.4f}")
    for name, lines in (("judged", judged), ("rated", rated), ("scored", scored)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


STATED = ("--columns", "query_id=topic,result_id=doc,rating=label", "--values", "not=0,partly=1,relevant=2")


@pytest.mark.slow
def test_every_command_that_reads_judgments_or_ratings_reads_a_strangers(foreign: Path) -> None:
    judgments = ("-j", foreign / "judged.csv", *STATED, "--scale", "0-2")
    fitted = relstudy("fit", foreign / "scored.csv", *judgments, "-o", foreign / "m", "--method", "isotonic", "--json")
    scored = relstudy("score", foreign / "scored.csv", *judgments, "--replicates", 5, "--json")
    sizes = ("--studies", 20, "--power", 0.3, "--json")
    piloted = relstudy(
        "plan", "--judgments", foreign / "judged.csv", "--scores", foreign / "scored.csv", *STATED, *sizes
    )
    workers = ("--columns", f"rater_id=worker,{STATED[1]}", *STATED[2:])
    assumed = relstudy("plan", "--ratings", foreign / "rated.csv", "--correlations", "0.9,0.1", *workers, *sizes)
    for done in (fitted, scored, piloted, assumed):
        assert done.exit_code == 0, done.stderr
        assert any(note.startswith("read as stated: ") for note in json.loads(done.stdout)["notes"])
    assert any("plain means of the ratings" in note for note in json.loads(fitted.stdout)["notes"])
    raw = json.loads(scored.stdout)["systems"]["new"]["raw"]["pearson"]["value"]
    words = pd.read_csv(foreign / "judged.csv")["label"].map({"not": 0, "partly": 1, "relevant": 2})
    scores = pd.read_csv(foreign / "scored.csv")
    assert raw == pytest.approx(np.corrcoef(scores.loc[scores["system"] == "new", "score"], words)[0, 1])


def test_what_is_stated_of_a_table_that_is_not_there_is_refused(foreign: Path) -> None:
    judged = ("-j", foreign / "judged.csv", STATED[0], f"{STATED[1]},system=x", *STATED[2:])
    done = relstudy("fit", foreign / "scored.csv", *judged, "-o", foreign / "m")
    assert done.exit_code == 1
    assert "--columns names 'x' for system, and none of the tables has such a column" in done.stderr
    assert relstudy("plan", "--missing", "NA").exit_code == 2


def test_a_number_that_is_stated_is_that_number_however_its_cell_writes_it(write: Write) -> None:
    """A column that once had a gap is written 1.0, 2.0; it was left as it stood, and said to be reversed."""
    path = write("rater_id,query_id,result_id,rating\na,q,x,1.0\na,q,y,2.0\nb,q,x,-9.0\nb,q,y,1.00")
    stated = Reading.typed(values="1=2,2=1", missing="-9")
    ratings = read_ratings(path, reading=stated)
    assert ratings.frame["rating"].tolist()[:2] == [2, 1]
    assert ratings.frame["rating"].isna().tolist() == [False, False, True, False]
    assert "nowhere" not in ratings.notes[0]
    same = Reading.stated({"values": {1: 2, 2.0: 1}, "missing": [-9]})
    assert read_ratings(path, reading=same).frame.equals(ratings.frame)
    assert Reading.stated({"missing": -9}).missing == ("-9",)


def test_what_is_stated_and_stands_nowhere_is_told(write: Write) -> None:
    path = write("rater_id,query_id,result_id,rating\na,q,x,1\na,q,y,2\nb,q,x,2")
    note = read_ratings(path, reading=Reading.typed(values="good=2", missing="1,99")).notes[0]
    assert note == "read as stated: 'good' as 2, '1' as missing, '99' as missing; 'good', '99' stand nowhere in it"


def test_negative_grades_of_qrels_that_are_stated_are_read_as_stated(write: Write) -> None:
    read = read_judgments(write("1 0 a -1\n1 0 b 1\n1 0 c 0", "qrels.txt"), Reading.typed(values="-1.0=0"))
    assert read.frame["judgment"].tolist() == [0, 1, 0]


def test_judgments_that_name_two_scales_are_refused(write: Write) -> None:
    with pytest.raises(TableError, match="'binary' is not allowed; rows of one table must be on one scale"):
        read_judgments(write("query_id,result_id,judgment,scale\nq,x,4,1-5\nq,y,1,binary"))


def test_a_rating_with_a_blank_of_a_spreadsheet_has_its_part_in_the_scale(write: Write) -> None:
    """2.5 before a no-break space was a rating, and none where the scale was told: its step was 1, its cut another."""
    rows = "a,q,x,1\nb,q,x,2.5\u00a0\na,q,y,5"
    for read in (read_ratings, read_judgments):
        assert read(write(f"rater_id,query_id,result_id,rating\n{rows}")).scale.scale.step == 0.5


@pytest.mark.parametrize("text", ["2,5", 'a "b"', "$HOME"])
def test_the_way_out_that_is_told_works_whatever_the_text(write: Write, text: str) -> None:
    """--missing "2,5" took 2 and 5 for no answer."""
    quoted = '"' + text.replace('"', '""') + '"'
    path = write(f"rater_id,query_id,result_id,rating\na,q,x,{quoted}\nb,q,x,2\na,q,y,5")
    with pytest.raises(TableError) as caught:
        read_ratings(path)
    told = str(caught.value).partition("(")[2].rpartition(")")[0].replace("NUMBER", "3")
    words = shlex.split(told)
    missing, value = words[words.index("--missing") + 1], words[words.index("--values") + 1]
    assert read_ratings(path, reading=Reading.typed(missing=missing)).frame["rating"].tolist()[1:] == [2, 5]
    assert read_ratings(path, reading=Reading.typed(values=value)).frame["rating"].tolist() == [3, 2, 5]


@pytest.mark.parametrize("text", ["nan", "4_0", "٤"])
def test_no_scale_is_proposed_for_what_is_no_number(write: Write, text: str) -> None:
    with pytest.raises(TableError, match=f'--values "{text}=NUMBER" gives it a number'):
        read_ratings(write(f"rater_id,query_id,result_id,rating\na,q,x,{text}\nb,q,x,2"))


def test_the_columns_that_a_pattern_took_are_named(write: Write) -> None:
    """rating=*rating took the panel's final_rating for one more rater, and the output repeated the pattern."""
    path = write("query,doc,a_rating,b_rating,final_rating\nq,x,1,3,2\nq,y,5,3,4")
    stated = Reading.typed(columns="query_id=query,result_id=doc,rating=*rating")
    said = "read as stated: query_id from query, result_id from doc, rating from a_rating and b_rating and final_rating"
    assert said in read_ratings(path, reading=stated).notes
    many = ",".join(f"r{number}" for number in range(60))
    path = write(f"doc,{many}\nx,{many.replace('r', '')}\ny,{many.replace('r', '')}")
    note = read_ratings(path, reading=Reading.typed(columns="result_id=doc,rating=r*"), trust_raters=True).notes[0]
    assert note.endswith("r37 and r38 and 20 more and r59")


HEADLESS = "ann\tq1\td1\t2\nann\tq1\td2\t0\nbob\tq1\td1\t3\n"


def test_columns_named_by_number_say_that_there_is_no_header(write: Write) -> None:
    read = read_ratings(
        write(HEADLESS, "votes.tsv"),
        reading=Reading.typed(columns="1=rater_id,query_id=2,3=result_id,4=rating"),
    )
    assert read.frame[["rater_id", "query_id", "result_id", "rating"]].to_numpy().tolist() == [
        ["ann", "q1", "d1", 2], ["ann", "q1", "d2", 0], ["bob", "q1", "d1", 3],
    ]  # fmt: skip
    assert any("no header: row 1 holds values" in note for note in read.notes)


def test_a_fault_below_no_header_has_the_row_of_the_file(write: Write) -> None:
    path = write(HEADLESS.replace("\t3", "\tthree"), "votes.tsv")
    with pytest.raises(TableError, match=r"votes\.tsv, row 3, column column 4: 'three'"):
        read_ratings(path, reading=Reading.typed(columns="1=rater_id,2=query_id,3=result_id,4=rating"))


def test_numbers_that_name_columns_are_names(write: Write) -> None:
    path = write("item,1,2,3\na,4,5,4\nb,1,2,1\n")
    read = read_ratings(path, reading=Reading.typed(columns="item=result_id,1=rating,2=rating"), trust_raters=True)
    assert sorted(read.frame["rater_id"].unique()) == ["1", "2"] and len(read.frame) == 4


def test_an_index_called_0_beside_names_is_a_header(write: Write) -> None:
    read = read_judgments(
        write("0,query,docid,grade\n0,lamp,d1,1\n1,lamp,d2,0\n"),
        Reading.typed(columns="grade=rating,query=query_id,docid=result_id"),
    )
    assert read.frame["result_id"].tolist() == ["d1", "d2"]


def test_of_several_tables_the_one_that_is_named_has_no_header(write: Write, tmp_path: Path) -> None:
    write("query_id,result_id,m\n" + "".join(f"q{q},d{d},{q * d % 5}\n" for q in range(4) for d in range(3)), "s.csv")
    graded = "".join(f"q{q},d{d},{(q + d) % 3}\n" for q in range(4) for d in range(3))
    write(graded, "graded.csv")
    words = ("score", tmp_path / "s.csv", "-j", tmp_path / "graded.csv", "--columns")
    done = relstudy(*words, "graded.csv:1=query_id,graded.csv:2=result_id,graded.csv:3=rating")
    assert done.exit_code == 0 and done.output.startswith("m shows")
    refused = relstudy(*words, "1=query_id,2=result_id,3=rating")
    assert refused.exit_code == 1 and "graded.csv, row 1, column query_id: this column is required" in refused.output


def test_rows_without_a_name_are_items_by_number(write: Write) -> None:
    read = read_ratings(
        write("ann,bob,cy\n3,4,3\n1,2,1\n"), reading=Reading.typed(columns="ann=rating,bob=rating,cy=rating")
    )
    assert read.frame["result_id"].tolist() == ["1"] * 3 + ["2"] * 3
    assert "no column names a row's item, so each row is one, called by its number from 1" in read.notes


@pytest.mark.parametrize("text", ["1 184 2\n1  29 2\n2 31 3\n 2 12 1\n", "q1   d1 2\nq1 d27 0\nq2 d1 1\n"])
def test_blanks_part_fields_that_are_aligned(write: Write, text: str) -> None:
    read = read_judgments(write(text, "a.txt"), Reading.typed(columns="1=query_id,2=result_id,3=rating"))
    assert len(read) == text.count("\n") and "so 3 columns by blanks" in " ".join(read.notes)
