"""What `relstudy inspect` says of strangers' files; the command that it prints runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.tables.ratings import read_ratings
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.inspection.printed import ratings_by
from tests.commands import relstudy, succeeds
from tests.places import Write


def test_ratings_with_other_names_are_read_by_the_command_that_is_printed(shared_data: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(shared_data / "diras_chatreport" / "ratings.csv", dtype=str)
    names = {"rater_id": "Worker ID", "query_id": "topic", "result_id": "passage", "rating": "grade"}
    frame.rename(columns=names).drop(columns="scale").to_csv(tmp_path / "other.csv", index=False)
    inspection = inspect_file(tmp_path / "other.csv")
    assert {each.role: each.column for each in inspection.columns} == names
    read = ratings_by(inspection)
    assert read["rating"].tolist() == frame["rating"].astype(float).tolist()


def test_a_wide_panel_is_told_from_its_summary_column(shared_data: Path) -> None:
    inspection = inspect_file(shared_data / "chorus_3agents" / "wide_with_final.csv")
    assert inspection.kind == "wide raters"
    assert "left out: final_rating" in inspection.notes
    long = read_ratings(shared_data / "chorus_3agents" / "ratings.csv").frame
    assert ratings_by(inspection)["rating"].sum() == long["rating"].sum()
    assert "--scale 0-3" in str(inspection.command)


def test_a_wide_panel_without_queries_names_the_item_twice(write: Write) -> None:
    inspection = inspect_file(write("video,P1,P2,P3\nv1,1,2,NA\nv2,5,4,5\nv3,3,,2"))
    assert inspection.kind == "wide raters"
    assert len(ratings_by(inspection)) == 7
    assert "taken for no answer: 'NA'" in inspection.notes


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("chorus_3agents/ratings.csv", "ratings"),
        ("agh_video_99raters/ratings.csv", "ratings"),
        ("tifa160_likert/system_scores_dsg_release.csv", "scores"),
        ("haystack_rating_party/system_runs.csv", "scores"),
        ("trec_eval_test/qrels.test", "qrels"),
        ("pdq_hashes/haystack.csv", "codes"),
        ("trec_eval_test/results.test", "run"),
    ],
)
def test_real_files_are_what_they_are(shared_data: Path, file: str, kind: str) -> None:
    assert inspect_file(shared_data / file).kind == kind


def test_a_99_among_1_to_5_is_asked_about_and_makes_no_scale(shared_data: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(shared_data / "agh_video_99raters" / "ratings.csv", dtype=str).drop(columns="scale")
    frame.loc[frame.index % 50 == 0, "rating"] = "99"
    frame.to_csv(tmp_path / "r.csv", index=False)
    inspection = inspect_file(tmp_path / "r.csv")
    assert any("99 looks like a mark for no answer: is it one?" in note for note in inspection.notes)
    assert "--scale 1-5 --missing 99" in str(inspection.command)


def test_words_get_numbers_or_are_left_to_be_checked(write: Write) -> None:
    head = "annotator,query,docid,label\n"
    stars = inspect_file(write(head + "a,q,x,4 stars\nb,q,x,1 stars\na,q,y,5 stars"))
    assert ratings_by(stars)["rating"].tolist() == [4, 1, 5]
    words = inspect_file(
        write(head + "a,q,x,Highly relevant\nb,q,x,not relevant\na,q,y,relevant\nb,q,y,partly relevant")
    )
    assert ratings_by(words)["rating"].tolist() == [3, 0, 2, 1]
    unsure = inspect_file(write(head + "a,q,x,blue\nb,q,x,green\na,q,y,not"))
    assert unsure.command is None, "no number is guessed for a word"
    assert unsure.questions == ("what is each of these words worth? Their order is not known: 'blue', 'green', 'not'",)
    assert "--values blue=NUMBER,green=NUMBER,not=NUMBER" in str(unsure.draft)


def test_mturk_keeps_rejected_rows_and_says_so(write: Write) -> None:
    inspection = inspect_file(
        write(
            "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.image_url,Answer.relevance\n"
            "1,a1,w1,Approved,cat,u1,3\n1,a2,w2,Rejected,cat,u1,1\n2,a3,w1,Approved,dog,u2,2"
        )
    )
    assert inspection.kind == "MTurk"
    assert any("1 row of AssignmentStatus Rejected" in note for note in inspection.notes)
    assert ratings_by(inspection).to_numpy().tolist()[1] == [
        "w2",
        "cat",
        "u1",
        1,
    ]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Submission id,Participant id,Status,Completion code\ns,p,APPROVED,C\ns2,p2,RETURNED,", "p.csv", "Prolific"),
        ("ResponseId,Finished,1_Q3,2_Q3\nR_1,1,4,5\nR_2,1,3,2", "q.csv", "Qualtrics"),
        ("id,text,annotator,annotation_id,lead_time,rating\n1,t,7,70,3.2,4\n1,t,8,71,2.2,5", "l.csv", "Label Studio"),
        ("query,docid,rating\nq,d1,3\nq,d2,0", "b.csv", "Quepid"),
        ("query,docid,rank\nq,d1,1\nq,d2,2", "s.csv", "Quepid snapshot"),
        ("user,instance_id,quality\nann,i1,3\nbob,i1,4", "potato.csv", "Potato"),
        ("0110101010101010\n1110101010101011", "codes.txt", "codes"),
        ("a,b\n1,2", "x.csv", "unknown"),
    ],
)
def test_exports_are_known_by_their_columns(write: Write, text: str, name: str, kind: str) -> None:
    assert inspect_file(write(text, name)).kind == kind


def test_vectors_and_labels_are_arrays_of_their_kind(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(5, 3)))
    np.save(tmp_path / "l.npy", np.array([1, 2, 2]))
    np.save(tmp_path / "c.npy", np.array([[True, False], [True, True]]))
    assert [inspect_file(tmp_path / f"{name}.npy").kind for name in "vlc"] == ["vectors", "labels", "codes"]


def test_a_file_whose_name_begins_like_an_option_is_no_option_in_the_command(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("-v.npy", np.random.default_rng(0).normal(size=(5, 3)))
    np.save("-c.npy", np.array([[True, False], [True, True]]))
    assert inspect_file("-v.npy").command.startswith("relstudy score ./-v.npy -j ")
    assert inspect_file("-c.npy").command.startswith("relstudy hash count --queries ./-c.npy --database ./-c.npy ")


def test_other_separators_and_preambles_are_read_and_named(write: Write) -> None:
    inspection = inspect_file(write("# made by hand\nworker;query;doc;grade\na;q;x;3\nb;q;x;2"))
    assert inspection.kind == "ratings"
    assert inspection.notes[:2] == ("1 line before the header passed over", "fields are separated by semicolons")
    assert ratings_by(inspection)["rating"].tolist() == [3, 2]


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    for path, message in ((tmp_path / "none.csv", "file not found"), (tmp_path / "empty.csv", "is empty")):
        with pytest.raises(RelstudyError, match=message):
            inspect_file(path)


def test_the_command_prints_what_was_found_and_the_printed_command_runs(write: Write, tmp_path: Path) -> None:
    rows = "\n".join(f"w{row % 4},q{row // 4},d{row // 4},{1 + (row * 7 + row % 4) % 5}" for row in range(80))
    path = write(f"worker,query,docid,grade\n{rows}")
    shown = succeeds("inspect", path)
    assert "worker -> rater_id: by its name and its values" in shown.stdout
    command = shlex.split(shown.stdout.splitlines()[-1])
    succeeds("calibrate", *command[2:4], tmp_path / "out", *command[5:])
    assert (tmp_path / "out" / "judgments.csv").exists()
    assert json.loads(relstudy("inspect", path, "--json").stdout)["kind"] == "ratings"


def test_columns_of_numbers_and_of_words_are_no_panel(write: Write) -> None:
    words = "abcdefghijklm"
    rows = "\n".join(f"v{row},{words[row]},{words[-1 - row]},{row % 5}" for row in range(12))
    inspection = inspect_file(write(f"video,first,second,third\n{rows}"))
    assert inspection.command is None and "are the answers in third?" in inspection.questions[0]
    assert inspect_file(write("video,scale,repetition,P1\nv1,1,2,3\nv2,2,1,3")).kind != "wide raters"


COUPLES = ("q1,d1,d2", "q2,d3,d4", "q3,d5,d6")


@pytest.mark.parametrize(
    ("header", "people", "said", "values"),
    [
        ("annotator,query,doc_a,doc_b,preference", "AB", ("doc_a", "doc_b", "tie"), "doc_a=-1,doc_b=1,tie=0"),
        ("rater,query,doc_a,doc_b,winner", "01", ("A", "B", "B"), "A=-1,B=1"),
        ("rater,query,doc_a,doc_b,winner", "ab", ("left", "right", "both good"), "left=-1,right=1,both good=0"),
        ("worker,query,answer_a,answer_b,choice", "xy", ("1", "2", "2"), None),
        ("worker,query,left,right,choice", "xy", ("1", "2", "3"), None),
        ("worker,query,doc_a,doc_b,choice", "xy", ("1", "-1", "0"), None),
    ],
)
def test_which_of_two_is_no_rating_of_the_query_nor_a_rater_an_answer(
    header: str, people: str, said: tuple[str, ...], values: str | None, write: Write
) -> None:
    """Each was read as ratings, of which the results or the answers were missing without a word."""
    rows = [f"{who},{couple},{said[(n + k) % 3]}" for k, who in enumerate(people) for n, couple in enumerate(COUPLES)]
    inspection = inspect_file(write("\n".join([header, *rows])))
    assert inspection.kind == "preferences"
    assert (inspection.command is None) == (values is None), "what 1 and 2, or a sign, stand for is asked"
    assert values is None or values in str(inspection.command).replace("'", "")
    assert f"rater_id={header.partition(',')[0]}" in str(inspection.command or inspection.draft)


def test_whether_two_texts_belong_together_is_no_preference(write: Write) -> None:
    path = write("text_0,text_1,label\nred lamp,a red lamp,1\noak chair,a sofa,0\nsofa bed,bed,1\nx y,z w,0\n")
    command = str(inspect_file(path).command)
    assert "score SCORES -j" in command and "query_id=text_0" in command and "result_id=text_1" in command


def test_a_column_of_remarks_beside_raters_is_left_out(write: Write) -> None:
    inspection = inspect_file(write("query,doc,rater_a,rater_b,rater_c,comment\nq,x,1,2,3,\nq,y,2,2,2,hm"))
    assert inspection.kind == "wide raters"
    assert "left out: comment" in inspection.notes
    assert len(ratings_by(inspection)) == 6


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (
            ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"),
            [0, 1, 2, 3, 4],
        ),
        (("no", "yes", "Yes", "No"), [0, 1, 1, 0]),
    ],
)
def test_words_of_agreement_are_in_order_whatever_their_case(
    write: Write, words: tuple[str, ...], numbers: list[int]
) -> None:
    rows = "\n".join(f"r{number},q,d{number},{word}" for number, word in enumerate(words))
    inspection = inspect_file(write(f"annotator,query,docid,label\n{rows}"))
    assert not any("check the numbers" in note for note in inspection.notes)
    assert ratings_by(inspection)["rating"].tolist() == numbers


def test_a_table_without_a_header_is_no_table_of_codes(write: Write) -> None:
    path = write("4375840905,q1,x1,4\n4375840905,q1,x2,3\n4375843592,q1,x1,5\n4375843592,q1,x2,4")
    inspection = inspect_file(path)
    assert inspection.sentence == "a table of 4 rows without a header"
    assert inspection.command is None
    assert "COLUMN=rater_id,COLUMN=query_id,COLUMN=result_id,4=rating" in str(inspection.draft)


def test_ratings_out_of_so_many_are_numbers(write: Write) -> None:
    path = write("worker,query,doc,grade\na,q,x,3/5\na,q,y,5/5\nb,q,x,1/5")
    assert ratings_by(inspect_file(path))["rating"].tolist() == [3, 5, 1]


def test_qrels_with_a_header_are_judgments_and_the_iteration_is_no_rater(write: Write) -> None:
    """The topic was query and result at once, docno left out, and iter and rel were two raters."""
    rows = "\n".join(f"t{row % 3},0,FT9-{row},{row % 4}" for row in range(12))
    inspection = inspect_file(write(f"topic,iter,docno,rel\n{rows}"))
    assert inspection.kind == "judgments"
    assert "--columns query_id=topic,result_id=docno,rating=rel" in str(inspection.command)


def test_pairs_of_pictures_and_stars_are_known(write: Write) -> None:
    rows = "\n".join(f"a{row},b{row},{'★' * (row % 4)}{'☆' * (3 - row % 4)},s{row % 2}" for row in range(8))
    inspection = inspect_file(write(f"img1,img2,similarity,subject\n{rows}"))
    assert {each.column: each.role for each in inspection.columns} == {
        "img1": "query_id", "img2": "result_id", "similarity": "rating", "subject": "rater_id",
    }  # fmt: skip
    assert ratings_by(inspection)["rating"].tolist() == [row % 4 for row in range(8)]


def test_a_run_whose_ranks_contradict_its_scores_is_told(write: Write) -> None:
    inspection = inspect_file(write("q Q0 x 1 0.1 a\nq Q0 y 2 0.5 a\n", "a.run"))
    assert inspection.notes[0].startswith("a: its ranks contradict its scores in 1 of 1 query")


def at_a_terminal(path: Path, typed: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What inspect prints for a person who types this."""
    monkeypatch.setattr("relstudy.analysis.commands.inspect.is_terminal", lambda: True)
    done = succeeds("inspect", path, typed=typed)
    return done.stdout


def test_a_person_at_a_terminal_chooses_among_readings(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("query,doc,ann,bob,cy\nq,x,1,2,3\nq,y,2,2,2")
    shown = at_a_terminal(path, "1\n", monkeypatch).splitlines()
    assert shown[-2] == "next:" and shown[-1].startswith(f"  relstudy calibrate {path} -o out")


def test_a_person_at_a_terminal_says_what_words_are_worth(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("annotator,query,doc,label\na,q,x,blue\nb,q,x,deep green\na,q,y,blue")
    shown = at_a_terminal(path, "2\n0.5\n", monkeypatch).splitlines()
    assert "--values 'blue=2,deep green=0.5'" in shown[-1]


@pytest.mark.parametrize(
    ("columns", "row", "kind"),
    [
        ("query_id,result_id,relevance,train,fold", "q{0},d{0},{1},1,{2}", "judgments"),
        ("query,product,clicks,carts,grade", "q{0},d{0},{2},{2},{1}", "judgments"),
        ("user,query,url,stars", "u{2},q{0},d{0},{1}", "ratings"),
        ("user,query,url,points", "u{2},q{0},d{0},{1}", "ratings"),
        ("query,doc,points", "q{0},d{0},{1}", "judgments"),
        ("query,doc,grade,country", "q{2},d,{1},us", "judgments"),
    ],
)
def test_a_property_beside_a_grade_is_no_rater_and_no_system(write: Write, columns: str, row: str, kind: str) -> None:
    """Labels were read as those of three raters, and a 3 became 1.33; or as scores of one system, and all became 0."""
    lines = [row.format(number, number % 4, number % 5) for number in range(40)]
    inspection = inspect_file(write("\n".join([columns, *lines])))
    assert inspection.kind == kind
    grades = {each.role: each.column for each in inspection.columns}["rating"]
    assert grades in ("relevance", "grade", "stars", "points")


def test_a_row_that_stands_twice_asks_nothing(write: Write) -> None:
    rows = [f"t{task},{worker},{(task + extra) % 3}" for task in range(4) for extra, worker in enumerate("abc")]
    path = write("\n".join(["task,worker,label", *rows, rows[-1]]) + "\n")
    assert not inspect_file(path).questions


def test_a_pair_that_stands_twice_is_never_scores(write: Write) -> None:
    rows = [f"q{number % 5},d{number % 5},{number % 3}" for number in range(20)]
    inspection = inspect_file(write("\n".join(["query_id,result_id,bm25", *rows])))
    assert inspection.kind == "judgments"


def test_counts_and_prices_beside_pairs_are_no_answers_and_no_scores(write: Write) -> None:
    rows = [f"q{number % 8},d{number},{number % 4},{number % 2},{number * 1.5}" for number in range(40)]
    inspection = inspect_file(write("\n".join(["query,product,clicks,carts,price", *rows])))
    assert inspection.command is None
    assert "names query (query_id), product (result_id), and no answers or scores" in inspection.sentence
    assert str(inspection.draft).endswith("--columns rater_id=NAME,query_id=query,result_id=product,rating=NAME")


@pytest.mark.parametrize("other", ["hybrid", "rrf", "production"])
def test_decimal_numbers_beside_a_systems_scores_are_another_systems(write: Write, other: str) -> None:
    rows = [f"q{number % 4},d{number},{number * 1.5},{number / 7:.3f}" for number in range(12)]
    inspection = inspect_file(write("\n".join([f"query,doc,bm25,{other}", *rows])))
    assert inspection.sentence == "scores of 2 systems for 12 pairs" and not inspection.notes


@pytest.mark.parametrize("cell", ["-inf", "error", "1,126.5"])
@pytest.mark.parametrize("count", [8, 30])
def test_a_cell_that_is_no_number_leaves_no_system_out(write: Write, cell: str, count: int) -> None:
    rows = [f"q{number % 4},d{number},{number * 1.5},{number / 7:.3f}" for number in range(count - 1)]
    inspection = inspect_file(write("\n".join(["query,doc,bm25,dense", *rows, f'q0,d{count},3.5,"{cell}"'])))
    assert inspection.sentence == f"scores of 2 systems for {count} pairs"


def test_a_human_beside_systems_judges(write: Write) -> None:
    rows = [f"q{number % 4},d{number},{number % 4},{number * 1.5},{number / 7:.3f}" for number in range(12)]
    inspection = inspect_file(write("\n".join(["query,doc,human,bm25,dense", *rows])))
    assert inspection.kind == "judgments" and "left out: bm25, dense" in inspection.notes


def test_of_texts_without_raters_it_is_said_that_people_can_be_asked(write: Write) -> None:
    """The draft of a calibration was all there was, of tables that relstudy ask reads."""
    said = "if it is not rated yet, start a study with relstudy ask"
    texts = inspect_file(write("id,question,gpt-4,llama\n0,Why?,It rains.,So.\n1,How?,By foot.,Up.\n"))
    assert said in str(texts)
    assert said not in str(inspect_file(write("query,system,ndcg\nq1,a,0.31\nq1,b,0.27\nq2,a,0.5\nq2,b,0.44\n")))


@pytest.mark.parametrize(
    ("header", "row", "role"),
    [
        ("rater,query,doc_1,doc_2,group,choice", "{who},q{n},d{n},e{n},{ab},doc_{two}", "choice -> rating"),
        ("rater_id,query_id,result_id,left,right,rating", "{who},q{n},d{n},e{n},f{n},{two}", "rating -> rating"),
        ("query_id,doc_id,grade,domain", "q{n},d{n},{two},{ab}", "grade -> rating"),
    ],
)
def test_what_else_stands_in_a_row_is_not_the_answer(write: Write, header: str, row: str, role: str) -> None:
    rows = [
        row.format(who="xy"[k], n=n, ab="AB"[(n + k) % 2], two=1 + (n // 2 + k) % 2) for k in (0, 1) for n in range(6)
    ]
    inspection = inspect_file(write("\n".join([header, *rows])))
    assert inspection.command is not None and role in str(inspection)


def test_decimals_beside_a_systems_scores_are_asked_about(write: Write) -> None:
    rows = [f"q{n // 3},d{n},{n * 1.37},{n / 7:.3f},{n * 2.5 + 0.1}" for n in range(9)]
    inspection = inspect_file(write("\n".join(["query,doc,bm25,hybrid,latency", *rows])))
    assert inspection.command is None and "hybrid and latency: are they systems' scores?" in inspection.questions[0]


def test_a_rater_who_rated_a_pair_twice_is_asked_about(write: Write) -> None:
    """The printed command refused the table."""
    rows = [f"{who},q{n // 2},d{n},{time},{1 + (n + time) % 3}" for who in "ab" for n in range(6) for time in (1, 2)]
    inspection = inspect_file(write("\n".join(["rater,query,doc,session,rating", *rows])))
    assert "a rated q0 and d0 more than once, differently (11 more such ratings)" in inspection.questions[0]
    assert inspection.command is None and "TABLE_WITHOUT_REPEATS" in str(inspection.draft)


@pytest.mark.parametrize("name", ["relevance", "rating"])
def test_grades_of_raters_beside_those_that_are_read_are_said_to_be_left_out(write: Write, name: str) -> None:
    rows = [f"r{n % 3},q{n // 12},d{n // 3},{1 + n % 5},{1 + n % 4},{20 + n % 3},{n * 1.5},fine" for n in range(24)]
    inspection = inspect_file(write("\n".join([f"rater,query,doc,{name},fluency,age,seconds,remark", *rows])))
    assert "left out: fluency" in inspection.notes
    assert ratings_by(inspection)["rating"].tolist() == [1 + n % 5 for n in range(24)]


@pytest.mark.parametrize("values", [(1, 10, 50, 100, 500), (10, 30, 70, 25, 2, 99, 3)])
def test_magnitudes_and_numbers_all_over_a_scale_hold_no_marks(write: Write, values: tuple[int, ...]) -> None:
    rows = [f"r{n % 3},q{n // 12},d{n // 3},{values[n % len(values)]}" for n in range(36)]
    inspection = inspect_file(write("\n".join(["rater,query,doc,rating", *rows])))
    assert "--missing" not in str(inspection.command)
    assert len(ratings_by(inspection)) == 36


def test_a_column_that_tells_judgments_of_one_pair_apart_may_name_who_judged(write: Write) -> None:
    rows = [f"q{n // 6},d{n // 2},{('gpt-4o', 'claude')[n % 2]},{n % 4}" for n in range(24)]
    inspection = inspect_file(write("\n".join(["query,doc,judge_model,relevance", *rows])))
    assert inspection.command is None and "does that column name the judge?" in inspection.questions[0]
    assert "relstudy calibrate" in str(inspection.draft) and "rater_id=judge_model" in str(inspection.draft)


@pytest.mark.parametrize("names", [("Suchanfrage", "Dokument"), ("query", "Dokument")])
def test_systems_scores_beside_unknown_names_are_no_persons_answers(write: Write, names: tuple[str, str]) -> None:
    rows = [f"q{number % 4};d{number};{number * 1.5};{number / 7:.3f}" for number in range(12)]
    inspection = inspect_file(write("\n".join([f"{names[0]};{names[1]};bm25;dense", *rows])))
    asked = "which of Suchanfrage and Dokument name the query and result?"
    assert inspection.questions == (asked if names[0] != "query" else "which of Dokument names the result?",)
    assert "relstudy score" in str(inspection.draft) and "result_id=NAME" in str(inspection.draft)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("query,doc_id,text", "lakes {0},d{1},a long text of {1}"),
        ("query,image,name", "lakes {0},img/{1}.jpg,lake {2}"),
        ("query_id,query,passage_id,passage", "{0},lakes {0},{1},a long passage of {1}"),
    ],
)
def test_what_results_say_is_no_judgment_and_may_be_rated(write: Write, header: str, row: str) -> None:
    rows = [row.format(n // 4, n, n % 4) for n in range(12)]
    inspection = inspect_file(write("\n".join([header, *rows])))
    assert inspection.kind == "results" and str(inspection.command).startswith("relstudy ask ")
