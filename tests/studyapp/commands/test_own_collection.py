"""Collections that are not the demo's: what a stranger's pictures, documents and runs become, and what is said of
it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from relstudy.studyapp.assignment.invitations import invite
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.demo.server import serving
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.places import EXAMPLE
from tests.studyapp.browse import Browser, joined
from tests.studyapp.items import write_items

DOCUMENTS = (
    *("Rivers carry silt to the sea", "The harbour silts up every spring", "A recipe for fish soup"),
    *("Soup of beans and barley", "Barley grows on thin soil", "How to read a tide table"),
)


def write_collection(folder: Path, pictures: int, documents: int, role: str = "") -> Path:
    """Plain pictures with keywords, and short documents."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["item_id,path,text,keywords,role"]
    for number in range(pictures):
        Image.new("RGB", (12, 8), (30 * number % 256, 90, 200 - 20 * number % 200)).save(folder / f"photo{number}.png")
        rows.append(f"photo{number},photo{number}.png,,boat{number % 3} sea,")
    rows += [f"doc{number},,{DOCUMENTS[number % 6]} {number // 6},,{role}" for number in range(documents)]
    (folder / "collection.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("pictures", "documents", "paradigms"), [(0, 12, {"text"}), (6, 6, {"image", "text"}), (6, 0, {"image"})]
)
def test_new_writes_blocks_for_what_the_collection_holds(
    tmp_path: Path, pictures: int, documents: int, paradigms: set[str]
) -> None:
    folder = write_collection(tmp_path / "own", pictures, documents)
    succeeds("new", folder)
    blocks = Study.load(folder).blocks
    assert {(block.pairs, block.paradigm) for block in blocks} == {
        (p, q) for p in ("base", "unique") for q in paradigms
    }
    assert not any("above" in block.question for block in blocks), "the query stands at the left of a wide page"
    drawn = succeeds("sample", folder, "--results", 3, "--base", 4, "--json")
    assert json.loads(drawn.stdout)["not_shown"] == []


@pytest.mark.slow
def test_pairs_that_nobody_will_be_shown_are_named_by_sample_serve_and_status(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    succeeds("new", folder, "--pictures", 8)
    collection = folder / "collection.csv"
    texts = pd.DataFrame({"item_id": ["d1", "d2"], "kind": "text", "text": ["a lake at dusk", "sheep on a hill"]})
    whole = pd.concat([pd.read_csv(collection, dtype=str), texts])
    whole.to_csv(collection, index=False)
    drawn = succeeds("sample", folder, "--results", 4, "--base", 4)
    sentence = (
        "4 base and 4 unique pairs by text will be shown to nobody: no block of study.toml has "
        'pairs = "base" or "unique" and paradigm = "text"'
    )
    assert sentence in " ".join(drawn.output.split())
    prepare(folder)
    assert sentence in " ".join(relstudy("admin", "status", folder).output.split())
    assert json.loads(relstudy("admin", "status", folder, "--json").stdout)["not_shown"] == [
        {"pairs": "base", "paradigm": "text", "count": 4},
        {"pairs": "unique", "paradigm": "text", "count": 4},
    ]


def test_sample_says_what_was_taken_for_what(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=6, documents=6)
    told = " ".join(relstudy("sample", folder, "--results", 3, "--base", 4, "--preview").output.split())
    assert "taken as queries 6 pictures, 6 texts" in told
    assert "taken as results 6 pictures" in told
    assert "6 texts have no role, and there are pictures too, so these texts are queries only" in told
    both = write_collection(tmp_path / "both", pictures=6, documents=6, role="both")
    told = " ".join(relstudy("sample", both, "--results", 3, "--base", 4, "--preview").output.split())
    assert "taken as results 6 pictures, 6 texts" in told and "no role" not in told


def test_a_picture_that_no_browser_shows_is_refused_by_name(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=3, documents=0)
    Image.new("RGB", (12, 8)).save(folder / "photo1.png", format="TIFF")
    for command in ("sample", "new"):
        refused = relstudy(command, folder)
        assert refused.exit_code == 1
        assert "row 3, column path: 'photo1.png'" in refused.output and "JPEG, PNG, GIF or WebP" in refused.output


def test_a_run_with_the_name_of_a_built_in_system_proposes_pairs(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=0, documents=12)
    scores = folder / "scores"
    scores.mkdir()
    lines = [f"doc{q} Q0 doc{r} {r + 1} {12 - r} bm25" for q in range(12) for r in range(12) if r != q]
    (scores / "bm25.run").write_text("\n".join(lines) + "\n", encoding="utf-8")
    drawn = succeeds("sample", folder, "--results", 4, "--base", 4, "--json")
    assert "bm25" in json.loads(drawn.stdout)["sources"]
    assert sorted(path.name for path in scores.iterdir() if path.is_file()) == ["bm25.run", "keywords.csv"]
    again = relstudy("sample", folder, "--results", 4, "--base", 4, "--json")
    assert json.loads(again.stdout)["sources"] == json.loads(drawn.stdout)["sources"]


def test_somebody_elses_table_with_the_name_of_a_built_in_system_is_neither_ignored_nor_replaced(
    tmp_path: Path,
) -> None:
    folder = write_collection(tmp_path / "own", pictures=0, documents=12)
    succeeds("sample", folder, "--results", 4, "--base", 4)
    table = folder / "scores" / "keywords.csv"
    theirs = "system,query_id,result_id,score\nkeywords,doc0,doc1,7\n"
    table.write_text(theirs, encoding="utf-8")
    refused = relstudy("sample", folder, "--results", 4, "--base", 4)
    assert refused.exit_code == 1
    assert "scores/keywords.csv" in refused.output and "rename" in refused.output
    refused = relstudy("systems", folder, "keywords")
    assert refused.exit_code == 1 and "scores/keywords.csv" in refused.output
    assert table.read_text(encoding="utf-8") == theirs


def test_a_base_block_of_whole_queries(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=0, documents=12)
    succeeds("sample", folder, "--results", 4, "--base-queries", 3)
    blocks = pd.read_csv(folder / "pairs.csv").groupby("query_id")["block"].agg(set)
    assert sum(found == {"base"} for found in blocks) == 3 and sum(found == {"unique"} for found in blocks) == 9


def test_ranked_lists_of_a_query_by_system_with_judgments_beside(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=4, documents=4, role="both")
    (folder / "scores").mkdir()
    names = ["photo1", "photo2", "photo3", "doc0"]
    mine = ["system,query_id,result_id,score", *(f"near,photo0,{name},{9 - n}" for n, name in enumerate(names))]
    mine += [f"far,photo0,{name},{n}" for n, name in enumerate(names[:3])]
    (folder / "scores" / "mine.csv").write_text("\n".join(mine) + "\n", encoding="utf-8")
    (folder / "judgments.csv").write_text("query_id,result_id,judgment\nphoto0,photo2,4.25\n", encoding="utf-8")
    page = tmp_path / "lists.html"
    found = json.loads(relstudy("lists", folder, "photo0", "--top", 3, "--json", "-o", page).stdout)
    assert {name: [entry["result_id"] for entry in entries] for name, entries in found.items()} == {
        "far": ["photo3", "photo2", "photo1"],
        "near": ["photo1", "photo2", "photo3"],
    }
    assert [entry["judgment"] for entry in found["near"]] == [None, 4.25, None]
    html = page.read_text(encoding="utf-8")
    assert html.count("<img") == 7 and html.count("judged 4.2") == 2 and html.count("not rated") == 4
    assert html.count("photo2</span>") == 2 and "Judgments are on the scale" in html
    assert "prefers-color-scheme:dark" in html and "background: var(--paper)" in html
    assert "photo2 (4.2)" in relstudy("lists", folder, "photo0").output
    refused = relstudy("lists", folder, "doc1")
    assert refused.exit_code == 1 and "no table of scores has the query 'doc1'; they have 1: photo0" in refused.output


def test_a_page_of_lists_has_the_words_of_films_and_of_html(tmp_path: Path) -> None:
    """A film among the results ended the command, and html was shown with its markup."""
    folder = write_items(tmp_path / "items")
    (folder / "scores").mkdir()
    rows = [f"mine,q,{name},{rank}" for rank, name in enumerate("aeb")]
    (folder / "scores" / "mine.csv").write_text("\n".join(["system,query_id,result_id,score", *rows]) + "\n")
    page = tmp_path / "lists.html"
    succeeds("lists", folder, "q", "-o", page)
    html = page.read_text(encoding="utf-8")
    assert ">The sea</span>" in html and ">Lakes Lakes A boat on the lake." in html and html.count("<img") == 1


@pytest.mark.slow
def test_invitations_lead_to_where_the_study_was_last_served(tmp_path: Path) -> None:
    folder = write_collection(tmp_path / "own", pictures=0, documents=12)
    succeeds("new", folder)
    succeeds("sample", folder, "--results", 4, "--base", 4)
    assert json.loads(relstudy("admin", "invite", folder, "--json").stdout)["open"] == "http://localhost:8000/"
    with serving(folder) as address:
        port = address.rpartition(":")[2]
    told = relstudy("admin", "invite", folder)
    assert f"open to all: http://127.0.0.1:{port}/" in told.output and "was last served" in told.output
    given = json.loads(relstudy("admin", "invite", folder, "--url", "https://study.example.org", "--json").stdout)
    assert given["open"] == "https://study.example.org/"


def drawn_and_looked_at(folder: Path) -> Store:
    write_collection(folder, pictures=0, documents=12)
    succeeds("new", folder)
    succeeds("sample", folder, "--results", 4, "--base", 4)
    prepare(folder)
    return Store.of_study(folder)


@pytest.mark.slow
def test_a_study_without_ratings_is_drawn_anew_and_served_again(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    store = drawn_and_looked_at(folder)
    invitation = invite(store, Study.load(folder), 1)[0]
    joined(create_app(folder), invitation.path)
    first = pd.read_csv(folder / "pairs.csv")
    succeeds("sample", folder, "--results", 4, "--base", 4, "--seed", 2)
    assert not pd.read_csv(folder / "pairs.csv").equals(first)
    prepare(folder)
    browser = Browser(create_app(folder))
    browser.get(invitation.path)
    browser.send(browser.page.form())
    assert browser.rate_all(lambda name, number: "3") > 0
    pairs = pd.read_csv(folder / "pairs.csv").set_index("pair_id")
    succeeds("export", folder)
    ratings = pd.read_csv(folder / "ratings.csv")
    assert (pairs.loc[ratings["pair_id"], "result_id"].to_numpy() == ratings["result_id"].to_numpy()).all()
    store.dispose()


@pytest.mark.slow
def test_a_study_with_ratings_says_the_way_out_and_overwrite_sets_the_old_one_aside(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    store = drawn_and_looked_at(folder)
    browser = joined(create_app(folder), invite(store, Study.load(folder), 1)[0].path)
    browser.rate_pages(2, lambda number: "4")
    store.dispose()
    refused = relstudy("sample", folder, "--results", 4, "--base", 4, "--seed", 2)
    assert refused.exit_code == 1
    assert "ratings in study.db" in refused.output and "--from-mappings" in refused.output
    before = (folder / "pairs.csv").read_bytes()
    again = relstudy("sample", folder, "--results", 4, "--base", 4, "--seed", 2, "--overwrite")
    assert again.exit_code == 0 and "earlier-1" in again.output
    prepare(folder)
    kept = Store(f"sqlite:///{folder / 'earlier-1' / 'study.db'}")
    with kept.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM ratings").scalar_one() > 0
    kept.dispose()
    assert (folder / "earlier-1" / "pairs.csv").read_bytes() == before


@pytest.mark.slow
def test_a_copy_of_the_example_is_drawn_anew_with_systems_of_relstudys_own_not_with_its_tables(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    shutil.copytree(EXAMPLE, folder)
    (folder / "pictures").mkdir()
    for number, path in enumerate(pd.read_csv(folder / "collection.csv")["path"]):
        Image.new("RGB", (8, 8), (2 * number, 100, 50)).save(folder / path)
    drawn = succeeds("sample", folder, "--overwrite", "--base", 20, "--json")
    told = json.loads(drawn.stdout)
    assert set(told["sources"]) == {"keywords", "colour", "random"}
    assert (Path(told["kept"]) / "ratings.csv").is_file(), "the example with its ratings is set aside"


def test_searches_are_queries_and_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "texts" / f"{name}.txt").write_text(f"About {name}.")
    (tmp_path / "searches.txt").write_text("find a\n\nfind b\nfind a\n")
    succeeds("new", tmp_path / "study", "--from", tmp_path / "texts", "--searches", tmp_path / "searches.txt")
    items = pd.read_csv(tmp_path / "study" / "collection.csv")
    assert items.loc[items["role"] == "query", "text"].tolist() == ["find a", "find b"]
    assert items.loc[items["role"] == "result", "item_id"].tolist() == ["a", "b", "c"]
    (tmp_path / "nul.txt").write_text("a\0b\n")
    for file, said in (("none.txt", "file not found"), ("texts", "file not found"), ("nul.txt", "not a text file")):
        refused = relstudy("new", tmp_path / "other", "--from", tmp_path / "texts", "--searches", tmp_path / file)
        assert refused.exit_code == 1 and said in refused.output and not (tmp_path / "other").exists()
    alone = relstudy("new", tmp_path / "other", "--searches", tmp_path / "searches.txt")
    assert alone.exit_code == 1 and "--searches goes with --from" in alone.output


def test_only_markdown_has_a_heading(tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.md", "b.txt"):
        (tmp_path / "texts" / name).write_text("# Lakes\nAbout lakes.\n")
    (tmp_path / "texts" / "c.md").write_text("No heading\n# Lakes\n")
    succeeds("new", tmp_path / "study", "--from", tmp_path / "texts")
    items = pd.read_csv(tmp_path / "study" / "collection.csv").set_index("item_id")[["title", "text"]].T.to_dict("list")
    assert items == {
        "a": ["Lakes", "About lakes."],
        "b": ["b", "# Lakes\nAbout lakes."],
        "c": ["c", "No heading\n# Lakes"],
    }
