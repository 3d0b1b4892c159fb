"""Collections read in a stream draw as those in memory do, and leave a study that needs nothing else."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from relstudy.common.runtime.errors import RelstudyError, TableError
from relstudy.common.tables.meaning.pairs_table import read_pairs
from relstudy.studyapp.collection.displayed_items import DisplayedItems
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.large_collection import LargeCollection, open_collection
from relstudy.studyapp.collection.lists import read_lists
from relstudy.studyapp.sampling.first_round import draw_sample_from
from relstudy.studyapp.sampling.options import SampleOptions
from relstudy.studyapp.sampling.sources import sources_of
from tests.commands import relstudy, succeeds

STUDY = '[study]\nid = "texts"\ntitle = "Texts"\n'
ANY_ROLE = np.array(["", "both", "result", "query"], dtype=object)


def texts(number: int = 300, seed: int = 0) -> pd.DataFrame:
    """Texts of which some only ask or only answer."""
    role = ANY_ROLE[np.random.default_rng(seed).integers(0, 4, number)]
    names = [f"d{row}" for row in range(number)]
    return pd.DataFrame({"item_id": names, "text": [f"text of {name}" for name in names], "title": "", "role": role})


def runs(items: pd.DataFrame, depth: int = 40, seed: int = 1) -> pd.DataFrame:
    """Two systems that score some results of each query, a few of them equal."""
    random = np.random.default_rng(seed)
    asking = items.loc[items["role"] != "result", "item_id"].to_numpy()
    answering = items.loc[items["role"] != "query", "item_id"].to_numpy()
    parts = [
        pd.DataFrame({"system": system, "query_id": query, "result_id": random.choice(answering, depth, replace=False)})
        for system in ("one", "two")
        for query in asking
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(score=np.round(random.normal(size=len(table)), 1))


def write(items: pd.DataFrame, path: Path) -> Path:
    """A collection in the form that the name says; a folder of two files where it says none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == "":
        path.mkdir()
        items.iloc[:100].to_parquet(path / "a.parquet")
        items.iloc[100:].to_csv(path / "b.csv", index=False)
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        lines = "".join(json.dumps(row) + "\n" for row in items.to_dict("records")).encode()
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    elif path.suffix == ".parquet":
        items.to_parquet(path, row_group_size=64)
    else:
        items.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


FORMS = ["c.csv", "c.csv.gz", "c.tsv", "c.jsonl", "c.jsonl.gz", "c.parquet", "folder"]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "depth"), [*((form, None) for form in FORMS), ("c.parquet", 10)])
def test_a_stream_draws_the_pairs_and_probabilities_of_the_collection_in_memory(
    form: str, depth: int | None, tmp_path: Path
) -> None:
    items = texts()
    (tmp_path / "collection.csv").write_text(items.to_csv(index=False))
    whole, stream = Collection.load(tmp_path), LargeCollection(write(items, tmp_path / "big" / form), tmp_path)
    assert stream.roles() == whole.roles()
    assert stream.paradigms() == whole.paradigms()
    assert list(stream) == list(whole.items)
    assert stream.fingerprint == whole.fingerprint
    options = SampleOptions(queries=30, results=8, base=10, depth=depth)
    drawn, as_before = (
        draw_sample_from(each, sources_of(runs(items), each, "s", "runs"), options) for each in (stream, whole)
    )
    pd.testing.assert_frame_equal(drawn.pairs, as_before.pairs, check_exact=True)
    assert drawn.design == as_before.design


def test_columns_of_ir_datasets_and_beir_are_known_and_queries_only_ask(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    folder.mkdir()
    documents = [{"_id": f"d{row}", "title": "A title", "text": f"text {row}"} for row in range(5)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "what?"}\n')
    (folder / "LICENSE").write_text("free")
    stream = LargeCollection(folder, tmp_path)
    assert stream.roles()["queries"] == {"image": 0, "text": 6}
    assert stream.roles()["results"] == {"image": 0, "text": 5}
    assert stream["q1"].role == "query"
    (row,) = stream.rows(stream.positions(["d3"])).to_dict("records")
    shown = {name: row[name] for name in ("item_id", "kind", "text", "title", "role")}
    assert shown == {"item_id": "d3", "kind": "text", "text": "text 3", "title": "A title", "role": "both"}


def test_an_item_of_a_stream_is_of_the_kind_that_is_stated_else_a_text(tmp_path: Path) -> None:
    stated = ["text", "html", "markdown", "audio", "video", ""]
    table = pd.DataFrame({"item_id": list("abcdef"), "text": "x", "kind": stated})
    stream = LargeCollection(write(table, tmp_path / "c.parquet"), tmp_path)
    assert [stream.light(position).kind for position in range(6)] == [*stated[:5], "text"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"item_id": ["a", "b", "a"]}, "row 4.*item_id.*'a'.*once"),
        ({"item_id": ["a", "", "c"]}, "item_id.*required"),
        ({"kind": ["text", "sound", ""]}, "kind.*'sound'.*one of image, text"),
        ({"role": ["", "judge", ""]}, "role.*'judge'.*query, result or both"),
    ],
)
def test_faults_of_a_stream_are_listed(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"item_id": ["a", "b", "c"], "text": "x"}).assign(**change)
    with pytest.raises(TableError, match=reason):
        LargeCollection(write(table, tmp_path / "c.parquet"), tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("c.parquet", b"no parquet", "cannot be read as a collection"),
        ("c.jsonl", b'{"item_id": "a"\n', "cannot be read as a collection"),
        ("c.csv", b"name,text\na,b\n", "a column of ids is needed"),
        ("c.csv", b"item_id,text\n", "is empty: add at least one query"),
        ("c.xlsx", b"PK", "a collection's name ends in"),
    ],
)
def test_a_file_that_is_no_collection_is_refused(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RelstudyError, match=reason):
        LargeCollection(tmp_path / name, tmp_path)


def test_ids_of_one_hash_are_told_apart(tmp_path: Path) -> None:
    stream = LargeCollection(write(texts(50), tmp_path / "c.parquet"), tmp_path)
    real = stream._sorted.copy()
    import pandas.util

    assert stream.positions([f"d{row}" for row in range(60)]).tolist() == [*range(50), *([-1] * 10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pandas.util, "hash_array", lambda ids, categorize: np.zeros(len(ids), dtype=np.uint64))
        alike = LargeCollection(tmp_path / "c.parquet", tmp_path)
        assert alike.positions(["d7", "d49", "other"]).tolist() == [7, 49, -1]
    assert (stream._sorted == real).all()


def study_elsewhere(folder: Path, settings: str = "") -> Path:
    """A study whose collection is not in its folder."""
    items = texts(200).assign(role="both")
    write(items, folder / "corpus" / "texts.parquet")
    study = folder / "study"
    (study / "scores").mkdir(parents=True)
    runs(items).to_parquet(study / "scores" / "runs.parquet")
    path = 'path = "../corpus/texts.parquet"\n'
    known = '[[practice]]\nquery_id = "d1"\nresult_id = "d199"\nexpected = [5]\n'
    (study / "study.toml").write_text(f"{STUDY}[collection]\n{path}{settings}{known}")
    return study


def command(*words: str) -> str:
    ended = succeeds(*words)
    return str(ended.output)


@pytest.mark.slow
def test_bm25_asked_after_the_draw_counts_words_in_the_whole_collection_as_the_draw_did(tmp_path: Path) -> None:
    study = study_elsewhere(tmp_path)
    random = np.random.default_rng(5)
    words = np.array([f"word{number}" for number in range(60)])
    items = texts(200).assign(role="both", text=[" ".join(random.choice(words, 6)) for _ in range(200)])
    write(items, tmp_path / "corpus" / "texts.parquet")
    (study / "scores" / "runs.parquet").unlink()
    command("sample", str(study), "--systems", "bm25", "--queries", "8", "--results", "5", "--base", "4")
    assert len(pd.read_parquet(study / "items.parquet")) < 60

    def scores() -> pd.DataFrame:
        return pd.read_csv(study / "scores" / "bm25.csv").set_index(["query_id", "result_id"]).sort_index()

    drawn = scores()
    said = relstudy("systems", study, "bm25")
    pd.testing.assert_frame_equal(scores(), drawn, check_exact=True)
    assert "bm25 weighs by all 200 items of the collection" in said.stderr
    (tmp_path / "corpus" / "texts.parquet").unlink()
    said = relstudy("systems", study, "bm25")
    assert "by the index that relstudy sample kept" in " ".join(said.stderr.split())
    assert len(scores()) > 100
    pd.testing.assert_frame_equal(scores(), drawn.loc[scores().index], check_exact=True)
    shutil.rmtree(study / "scores" / ".index")
    said = relstudy("systems", study, "bm25")
    assert said.exit_code == 0
    assert "that were drawn alone: its scores are other than those of relstudy sample" in " ".join(said.stderr.split())
    assert not (scores()["score"] == drawn["score"].reindex(scores().index)).all()


@pytest.mark.slow
def test_a_draw_copies_its_items_and_later_steps_need_nothing_else(tmp_path: Path) -> None:
    study = study_elsewhere(tmp_path)
    said = command("sample", str(study), "--queries", "8", "--results", "5", "--base", "4")
    assert "200 items are read in a stream" in " ".join(said.split())
    (tmp_path / "corpus" / "texts.parquet").unlink()
    copied = pd.read_parquet(study / "items.parquet")
    pairs = read_pairs(study / "pairs.csv")
    assert set(copied["item_id"]) == {*pairs["query_id"], *pairs["result_id"], "d1", "d199"}
    shown = DisplayedItems.load(study, b"0" * 32)
    assert shown["d199"].text == "text of d199"
    random = np.random.default_rng(3)
    shown_to = pairs.assign(scale="1-5").loc[:, ["pair_id", "query_id", "result_id", "scale", "block"]]
    ratings = [shown_to.assign(rater_id=f"r{r}", rating=random.integers(1, 6, len(pairs))) for r in range(4)]
    pd.concat(ratings).to_csv(study / "ratings.csv", index=False)
    command("calibrate", str(study))
    command("report", str(study), "--replicates", "100")
    assert "text of" in (study / "report" / "index.html").read_text(encoding="utf-8"), "items are shown on the page"
    command("archive", str(study), "-o", str(tmp_path / "archive.zip"))
    with zipfile.ZipFile(tmp_path / "archive.zip") as packed:
        name = next(each for each in packed.namelist() if each.endswith("pairs.csv"))
        archived = pd.read_csv(io.BytesIO(packed.read(name)))
    assert set(archived["result_id"]) == set(pairs["result_id"])
    from relstudy.studyapp.assignment.synchronisation import prepare

    assert prepare(study).id == "texts", "the app serves it"
    assert "pairs" in command("admin", "status", str(study), "--json")


@pytest.mark.parametrize("root", ["folder", "link", "zip", "tar", "tar.gz"])
def test_pictures_elsewhere_are_copied_for_the_items_drawn_alone(root: str, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    content = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(content, "PNG")
    names = [f"p{number}" for number in range(60)]
    for name in names:
        (pictures / f"{name}.png").write_bytes(content.getvalue())
    place = pictures
    if root == "link":
        linked = tmp_path / "linked"
        linked.mkdir()
        for name in names:
            (linked / f"{name}.png").symlink_to(pictures / f"{name}.png")
        place = tmp_path / "way"
        place.symlink_to(linked)
    elif root == "zip":
        place = tmp_path / "pictures.zip"
        with zipfile.ZipFile(place, "w") as packed:
            for name in names:
                packed.write(pictures / f"{name}.png", f"{name}.png")
    elif root.startswith("tar"):
        place = tmp_path / f"pictures.{root}"
        with tarfile.open(place, "w:gz" if root.endswith("gz") else "w") as archive:
            for name in names:
                archive.add(pictures / f"{name}.png", f"./{name}.png")
    study = tmp_path / "study"
    (study / "scores").mkdir(parents=True)
    items = pd.DataFrame({"item_id": names, "role": "both"})
    write(items, study / "collection.jsonl")
    runs(items, depth=10).to_parquet(study / "scores" / "runs.parquet")
    settings = f'[collection]\nroot = "../{place.name}"\npictures = "{{id}}.png"\n'
    (study / "study.toml").write_text(STUDY + settings)
    command("sample", str(study), "--queries", "3", "--results", "4", "--base", "2")
    for item in Collection.load(study).items:
        assert item.path is not None
        assert item.path.read_bytes() == content.getvalue()
        assert not item.path.is_symlink()
    assert len(list((study / "items").iterdir())) == len(Collection.load(study)) < 60
    if root != "zip":
        return
    # couples bring the items along that they need
    for more in ([], ["--lists", "3"]):
        command("couples", str(study), "--systems", "runs.parquet", "--each", "2", *more)
    couples, held = read_pairs(study / "pairs.csv", couples=True), Collection.load(study)
    lists = read_lists(study)
    ends = {name for end in ("result_id", "other_id") for name in couples[end]}
    assert len(couples) > 6 and lists.keys() <= ends
    assert all(name in held for name in ends - lists.keys())
    assert all(name in held for each in lists.values() for name in each.results)
    DisplayedItems.load(study, b"0" * 32)


def test_a_picture_that_leads_out_of_its_root_or_is_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "root" / "text.png").write_bytes(b"no picture")
    items = pd.DataFrame({"item_id": list("abcd"), "path": ["../secret.png", "text.png", "none.png", "/etc/passwd"]})
    study = tmp_path / "study"
    (study / "scores").mkdir(parents=True)
    write(items, study / "collection.parquet")
    runs(items.assign(role="both"), depth=2).to_parquet(study / "scores" / "runs.parquet")
    (study / "study.toml").write_text(f'{STUDY}[collection]\nroot = "../root"\n')
    ended = relstudy("sample", study, "--queries", "4", "--results", "2", "--base", "2")
    assert ended.exit_code == 1
    for path in ("../secret.png", "none.png", "/etc/passwd"):
        assert f"'{path}'" in ended.output
    assert "a file that browsers show or play is needed" in " ".join(ended.output.split())
    assert not (study / "items.parquet").exists()
    assert not (study / "pairs.csv").exists(), "nothing is half-written"


@pytest.mark.slow
def test_memory_grows_by_less_than_a_hundred_bytes_an_item(tmp_path: Path) -> None:
    number = 200_000
    names = [f"document{row:08d}" for row in range(number)]
    write(pd.DataFrame({"item_id": names, "text": "eight words of a text that nobody keeps"}), tmp_path / "c.parquet")
    tracemalloc.start()
    stream = LargeCollection(tmp_path / "c.parquet", tmp_path)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held + stream.ids.ids.nbytes < 100 * number, "a Python string alone takes 65"


def test_a_collection_csv_that_is_small_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "collection.csv").write_text("item_id,text\na,x\nb,y\n")
    assert not isinstance(open_collection(tmp_path), LargeCollection)


@pytest.mark.slow
def test_a_draw_from_many_items_is_unbiased(tmp_path: Path) -> None:
    """The total that weights by one over the probability estimate, over 150 draws of 50,000 items in which few are
    scored: within three standard errors of the truth."""
    random = np.random.default_rng(3)
    number = 50_000
    worth = random.exponential(size=number)
    items = pd.DataFrame({"item_id": [f"d{row}" for row in range(number)], "text": "x", "role": "result"})
    items = pd.concat([pd.DataFrame({"item_id": ["q"], "text": ["?"], "role": ["query"]}), items], ignore_index=True)
    stream = LargeCollection(write(items, tmp_path / "c.parquet"), tmp_path)
    best = np.argsort(-worth)[:300]
    run = pd.DataFrame({"system": "s", "query_id": "q", "result_id": [f"d{at}" for at in best], "score": worth[best]})
    sources = sources_of(run, stream, "s", "run")
    totals = []
    for seed in range(150):
        pairs = draw_sample_from(
            stream, sources, SampleOptions(queries=1, results=40, base=1, seed=seed, floor=0.3)
        ).pairs
        drawn = worth[pairs["result_id"].str[1:].astype(int)]
        totals.append(float((drawn / pairs["inclusion_probability"]).sum()))
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - worth.sum()) < 3 * error
    assert error < 0.02 * worth.sum()
