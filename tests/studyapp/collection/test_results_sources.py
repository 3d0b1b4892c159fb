"""Runs with the texts of their documents, folders of pictures, and a search tool's tables become studies, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats.table_files import read_table
from relstudy.studyapp.collection.results_table import read_results
from tests.commands import succeeds


@pytest.fixture
def search(tmp_path: Path) -> Path:
    """Two runs of five queries, documents as BEIR has them, and the queries' texts in three forms."""
    for system, shift in (("bm25", 0), ("dense", 3)):
        rows = [f"{q} Q0 d{q}-{k + shift} {k + 1} {100 - k} {system}\n" for q in range(1, 6) for k in range(30)]
        (tmp_path / f"{system}.run").write_text("".join(rows))
    documents = [
        {"_id": f"d{q}-{k}", "title": f"T{k}", "text": f"Text {k}, {q}"} for q in range(1, 6) for k in range(40)
    ]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (tmp_path / "topics.tsv").write_text("".join(f"{q}\twhat is {q}\n" for q in range(1, 6)))
    (tmp_path / "topics.txt").write_text((tmp_path / "topics.tsv").read_text())
    (tmp_path / "plain.txt").write_text("".join(f"what is {q}\n" for q in range(1, 6)))
    queries = [{"_id": str(q), "text": f"what is {q}"} for q in range(1, 6)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in queries))
    (tmp_path / "queries.csv").write_text("qid,query\n" + "".join(f"{q},what is {q}\n" for q in range(1, 6)))
    return tmp_path


@pytest.mark.parametrize("queries", ["topics.tsv", "queries.jsonl", "queries.csv", "topics.txt", "plain.txt"])
def test_runs_take_their_texts_from_tables_in_any_order(search, queries):
    found = read_results([search / name for name in (queries, "bm25.run", "docs.jsonl", "dense.run")])
    assert found.systems == ["bm25", "dense"] and not found.answers
    row = found.rows[(found.rows["system"] == "dense") & (found.rows["query"] == "what is 2")].iloc[0]
    assert (row["key"], row["title"], row["text"], row["place"]) == ("d2-3", "T3", "Text 3, 2", 1)
    assert (found.rows.groupby(["system", "query"]).size() == 10).all()


def test_documents_and_queries_of_the_same_ids_are_told_apart_by_what_they_cover(tmp_path):
    rows = [f"{q} Q0 {d} {k} {9 - k} one\n" for q in range(1, 4) for k, d in enumerate(range(q, q + 5), 1)]
    (tmp_path / "one.run").write_text("".join(rows))
    pd.DataFrame({"id": range(1, 9), "text": [f"document {d}" for d in range(1, 9)]}).to_csv(tmp_path / "d.csv")
    pd.DataFrame({"id": range(1, 4), "text": [f"ask {q}" for q in range(1, 4)]}).to_csv(tmp_path / "q.csv")
    for order in (["d.csv", "q.csv"], ["q.csv", "d.csv"]):
        rows_of = read_results([tmp_path / name for name in ("one.run", *order)]).rows
        assert rows_of["query"].unique().tolist() == ["ask 1", "ask 2", "ask 3"]
        assert rows_of["text"].iloc[0] == "document 1"


def test_a_run_without_its_documents_says_what_it_needs(search):
    with pytest.raises(RelstudyError, match="give a table of its documents"):
        read_results([search / "bm25.run"])
    with pytest.raises(RelstudyError, match="topics has none of their ids"):
        read_results([search / "bm25.run", search / "topics.tsv"])
    lines = (search / "docs.jsonl").read_text().splitlines(keepends=True)
    (search / "docs.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(RelstudyError, match="docs lacks 1 document of the first 10 results, such as 'd1-0'"):
        read_results([search / "bm25.run", search / "docs.jsonl"])
    rows = (search / "queries.csv").read_text().splitlines(keepends=True)[:-1]
    (search / "queries.csv").write_text("".join(rows))
    with pytest.raises(RelstudyError, match="queries lacks 1 query, such as '5'"):
        read_results([search / "dense.run", search / "docs.jsonl", search / "queries.csv"])


def pictures(folder: Path, names: list[str], grey: int) -> Path:
    folder.mkdir()
    for name in names:
        Image.new("RGB", (8, 8), (grey,) * 3).save(folder / name)
    (folder / "notes.txt").write_text("no picture")
    return folder


def test_folders_are_systems_whose_pictures_of_one_name_are_of_one_query(tmp_path):
    names = ["a_red_car.png", "two_dogs.png"]
    folders = [pictures(tmp_path / "one", names, 50), pictures(tmp_path / "other", names, 90)]
    found = read_results(folders)
    assert found.systems == ["one", "other"] and found.answers and found.files == "picture"
    assert found.rows["query"].unique().tolist() == ["a red car", "two dogs"]
    prompts = tmp_path / "prompts.csv"
    prompts.write_text("id,prompt\na_red_car,A red car at night\ntwo_dogs,Two dogs\n")
    assert read_results([*folders, prompts]).rows["query"].iloc[0] == "A red car at night"
    succeeds("ask", *folders, prompts, "--side-by-side", "--no-serve", "-o", tmp_path / "study")
    items = pd.read_csv(tmp_path / "study" / "collection.csv", dtype=str, keep_default_na=False)
    shown = items[items["role"] == "result"]
    assert len(shown) == 4 and (shown["kind"] == "image").all()
    assert not items.apply(lambda column: column.str.contains("one|other|a_red")).any().any()


@pytest.mark.parametrize("first", [0, 1])
def test_numbered_pictures_take_their_texts_from_a_file_of_lines(tmp_path, first):
    """Prompts have commas, and whoever makes pictures counts from 0 or from 1."""
    prompts = ["a dog, running", "query the sky; at night", "three boats"]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts) + "\n")
    names = [f"{number:05}.png" for number in range(first, first + 3)]
    folders = [pictures(tmp_path / name, names, grey) for name, grey in (("sd", 10), ("flux", 90))]
    found = read_results([*folders, tmp_path / "prompts.txt"])
    assert found.rows["query"].unique().tolist() == prompts
    assert "line by line of prompts, 3 queries" in found.sentences()[0]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts[:2]))
    with pytest.raises(RelstudyError, match="prompts lacks 1 query, such as"):
        read_results([*folders, tmp_path / "prompts.txt"])


def test_a_table_in_a_text_file_stays_a_table(tmp_path):
    """Its columns have names that nobody knows: which is which is asked, and no line becomes a query."""
    (tmp_path / "table.txt").write_text("Frage;Modell;Text\nWas ist das?;a;Ein Baum\nUnd das?;a;Ein Haus\n")
    (tmp_path / "other.csv").write_text("query,system,answer\nWas ist das?,b,Ein Busch\n")
    for files in (["table.txt"], ["table.txt", "other.csv"]):
        with pytest.raises(RelstudyError, match="no column holds"):
            read_results([tmp_path / name for name in files])


@pytest.mark.parametrize(
    "names", ["output_1,output_2,generator_1,generator_2", "response_a,response_b,model_a,model_b"]
)
def test_the_column_beside_an_answer_names_its_system(names: str, tmp_path):
    """Raters were shown the systems' names as answers of two further systems."""
    rows = ["1,What is a lake?,Water.,A sea.,gpt,llama", "2,What is a tower?,A house.,A wall.,llama,gpt"]
    (tmp_path / "both.csv").write_text("\n".join([f"id,prompt,{names}", *rows]))
    found = read_results([tmp_path / "both.csv"])
    assert found.rows[["query", "system", "text"]].to_numpy().tolist() == [
        ["What is a lake?", "gpt", "Water."],
        ["What is a lake?", "llama", "A sea."],
        ["What is a tower?", "llama", "A house."],
        ["What is a tower?", "gpt", "A wall."],
    ]
    assert "4 results or answers without ratings" in succeeds("inspect", tmp_path / "both.csv").output


@pytest.mark.parametrize("columns", ["ann,bob,cy", "bm25,dense,hybrid"])
def test_ratings_and_scores_are_no_answers_to_show(columns: str, tmp_path):
    """Raters were shown the results' ids as what a system had answered."""
    (tmp_path / "a.csv").write_text(f"query,doc,{columns}\nq1,d1,3,4,2\nq1,d2,1,2,2\nq2,d3,5,5,4\n")
    with pytest.raises(RelstudyError, match="no column holds what raters are to see"):
        read_results([tmp_path / "a.csv"])


def test_folders_that_cannot_be_compared_are_refused(tmp_path):
    one = pictures(tmp_path / "one", ["a.png"], 1)
    with pytest.raises(RelstudyError, match="no two files have the same name"):
        read_results([one, pictures(tmp_path / "other", ["b.png"], 1)])
    (tmp_path / "below").mkdir()
    with pytest.raises(RelstudyError, match="two folders are called 'one'"):
        read_results([one, pictures(tmp_path / "below" / "one", ["a.png"], 1)])
    with pytest.raises(RelstudyError, match="no pictures, films or sounds in this folder"):
        read_results([tmp_path / "below"])
    with pytest.raises(RelstudyError, match=r"two files are called 'a'"):
        read_results([pictures(tmp_path / "double", ["a.png", "a.gif"], 1)])


def test_snapshots_and_unrated_books_of_a_search_tool_are_results(tmp_path):
    rows = [
        (s, "now", 7, f"query {q}", f"d{k}", k, f"T{k}") for s in ("old", "new") for q in range(3) for k in range(1, 4)
    ]
    names = ["Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position", "title"]
    frame = pd.DataFrame(rows, columns=names)
    frame.to_csv(tmp_path / "snapshots.csv", index=False)
    assert read_results([tmp_path / "snapshots.csv"]).systems == ["old", "new"]
    book = frame[frame["Snapshot Name"] == "old"].drop(columns=names[:2]).assign(Rating="")
    book.to_csv(tmp_path / "book.csv", index=False)
    for name in ("snapshots.csv", "book.csv"):
        assert "results or answers without ratings" in succeeds("inspect", tmp_path / name).output


def test_what_results_say_is_no_grade_though_it_comes_again(tmp_path):
    """Five descriptions of thirty products were judgments whose worth was asked for. People's words under such a name
    stay their ratings."""
    both = [(q, k) for q in range(6) for k in range(5)]
    said = [f"a lamp of kind {k}" for _, k in both]
    frame = pd.DataFrame({"query": [f"query {q}" for q, _ in both], "url": [f"example.org/{q}/{k}" for q, k in both]})
    shop = frame.assign(title=[f"Product {k} of {q}" for q, k in both], description=said)
    rated = frame.assign(worker=[f"r{k % 2}" for _, k in both], text=said)
    for name, table, read in (
        ("shop", shop, "30 results or answers without ratings"),
        ("rated", rated, "30 ratings by 2 raters"),
        ("judged", frame.assign(text=said), "30 judgments without raters"),
    ):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        assert read in succeeds("inspect", tmp_path / f"{name}.csv").output


ASKED = ("How do lakes form?", "Why is the sky blue?")


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def logged(folder: Path) -> dict[str, list[Path]]:
    """Small files in the layouts in which tools log models and searches."""
    both = [(model, number, text) for model in ("one", "two") for number, text in enumerate(ASKED)]
    say = [f"{model} says here {number}" for model, number, _ in both]
    table = pd.DataFrame(both, columns=["app_id", "number", "input"])
    table["input"], table["output"] = table["input"].map(json.dumps), [json.dumps(each) for each in say]
    table.drop(columns="number").to_csv(folder / "records.csv", index=False)
    results = [
        {"prompt": {"raw": "Answer."}, "provider": {"id": m}, "vars": {"question": q}, "response": {"output": said}}
        for (m, _, q), said in zip(both, say, strict=True)
    ]
    (folder / "evaluated.json").write_text(json.dumps({"version": 3, "results": {"results": results}}))
    turns = [{"question_id": n, "category": "plain", "turns": [q]} for n, q in enumerate(ASKED)]
    hits = [
        {
            "query": q,
            "variant": m,
            "results": [{"_id": f"{m}{n}{k}", "_source": {"body": f"{m} says here {n}"}} for k in "ab"],
        }
        for m, n, q in both
    ]
    return {
        "quoted texts": [folder / "records.csv"],
        "nested records": [folder / "evaluated.json"],
        "choices beside their questions": [
            lines(
                folder / "answers.jsonl",
                [
                    {"question_id": n, "model_id": m, "choices": [{"index": 0, "turns": [said]}]}
                    for (m, n, _), said in zip(both, say, strict=True)
                ],
            ),
            lines(folder / "questions.jsonl", turns),
        ],
        "messages": [
            lines(
                folder / "chats.jsonl",
                [
                    {
                        "model": m,
                        "messages": [
                            {"role": "system", "content": "Be brief."},
                            {"role": "user", "content": [{"type": "text", "text": q}]},
                            {"role": "assistant", "content": said},
                        ],
                    }
                    for (m, _, q), said in zip(both, say, strict=True)
                ],
            )
        ],
        "lists of responses": [
            lines(
                folder / f"{model}.jsonl",
                [
                    {"doc_id": n, "doc": {"question": q, "answer": "gold"}, "resps": [[f"{model} says here {n}"]]}
                    for n, q in enumerate(ASKED)
                ],
            )
            for model in ("one", "two")
        ],
        "hits in a row": [lines(folder / "searches.jsonl", hits)],
    }


LAYOUTS = [
    *("quoted texts", "nested records", "choices beside their questions", "messages", "lists of responses"),
    "hits in a row",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_tools_log_of_models_and_searches_is_read(tmp_path, layout):
    files = logged(tmp_path)
    assert set(files) == set(LAYOUTS)
    found = read_results(files[layout])
    assert found.systems == ["one", "two"] and sorted(set(found.rows["query"])) == sorted(ASKED)
    assert sorted(set(found.rows["text"])) == [
        "one says here 0",
        "one says here 1",
        "two says here 0",
        "two says here 1",
    ]
    hits = layout == "hits in a row"
    assert found.answers is not hits and found.rows["place"].max() == (2 if hits else 1)
    of_frames = [read_table(file).frame for file in files[layout]]
    if layout in ("messages", "hits in a row"):  # cells of a frame may be lists themselves
        of_frames = [frame.map(lambda cell: json.loads(cell) if cell[:1] == "[" else cell) for frame in of_frames]
    if layout != "lists of responses":  # whose files name the systems
        assert read_results(of_frames).rows.equals(found.rows)
    if len(files[layout]) == 1:
        assert "relstudy ask" in succeeds("inspect", files[layout][0]).output


def test_ids_take_their_texts_from_a_table_of_documents(tmp_path):
    rows = [("S1", query, f"d{k}", k) for query in ASKED for k in (1, 2)]
    snapshot = pd.DataFrame(rows, columns=["Snapshot Name", "Query Text", "Doc ID", "Doc Position"])
    with pytest.raises(RelstudyError, match="or give a table of its documents, too"):
        read_results([snapshot])
    documents = pd.DataFrame({"id": ["d1", "d2"], "title": ["One", "Two"], "text": ["First.", "Second."]})
    found = read_results([snapshot, documents])
    assert found.rows["title"].tolist() == ["One", "Two"] * 2 and found.systems == ["S1"]
    with pytest.raises(RelstudyError, match="lacks 1 document of system 1, such as 'd2'"):
        read_results([snapshot, documents[:1]])


def test_sources_as_python_writes_them_are_numbered():
    table = pd.DataFrame({"question": ASKED, "answer": ["a.", "b."], "contexts": [str(["x", "y"]), str(["it's"])]})
    assert read_results([table]).rows["text"].tolist() == [
        "a.\n\nSources:\n\n[1] x\n\n[2] y",
        "b.\n\nSources:\n\n[1] it's",
    ]


def test_turns_of_a_conversation_are_no_results():
    messages = [[{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}], []]
    with pytest.raises(RelstudyError, match="no column holds the query"):
        read_results([pd.DataFrame({"model": ["x", "y"], "messages": messages})])
