"""Keywords, BM25, vectors, and systems that come as tables."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import distance

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.collection.large_collection import open_collection
from relstudy.studyapp.sampling.sources import open_sources
from relstudy.studyapp.systems import bm25, make
from tests.commands import succeeds

words = st.frozensets(st.sampled_from("abcdef"), max_size=4)


@pytest.mark.slow
@given(st.lists(words, min_size=1, max_size=8).filter(any))
@settings(max_examples=60, deadline=None)
def test_keyword_scores_are_equation_3_1(sets):
    collection = Collection([Item(str(n), "image", keywords=entry) for n, entry in enumerate(sets)])
    system = make("keywords").fit(collection)
    for item in collection:
        scores = system.score(item)
        if not item.keywords:
            assert scores is None
            continue
        expected = [
            len(item.keywords & other.keywords) / min(len(item.keywords), len(other.keywords)) if other.keywords else 0
            for other in collection
        ]
        np.testing.assert_allclose(scores, expected)


def test_a_text_asks_by_its_keywords_or_else_by_its_words():
    items = [Item("a", "image", keywords=frozenset({"cat"})), Item("b", "image", keywords=frozenset({"dog"}))]
    collection = Collection(
        [*items, Item("q", "text", text="A cat!"), Item("r", "text", text="cat", keywords=frozenset({"dog"}))]
    )
    system = make("keywords").fit(collection)
    assert system.score(collection["q"])[:2].tolist() == [1.0, 0.0]
    assert system.score(collection["r"])[:2].tolist() == [0.0, 1.0]
    with pytest.raises(RelstudyError, match="no item of the collection has any"):
        make("keywords").fit(Collection(Item(n, "image") for n in "ab"))


def test_bm25_equals_the_formula_of_lucene():
    texts = ["red boat on a lake", "red red house", "green hills and sheep", "boat boat boat harbour"]
    collection = Collection(
        [Item(str(n), "text", text=text) for n, text in enumerate(texts)] + [Item("q", "text", text="red boat")]
    )
    scores = make("bm25").fit(collection).score(collection["q"])
    stop = {"on", "a", "and"}
    documents = [[w for w in item.text.split() if w not in stop] for item in collection]
    mean = np.mean([len(d) for d in documents])
    expected = np.zeros(5)
    for word in ("red", "boat"):
        having = sum(word in d for d in documents)
        idf = np.log(1 + (5 - having + 0.5) / (having + 0.5))
        for n, d in enumerate(documents):
            tf = d.count(word)
            expected[n] += idf * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * len(d) / mean))
    # the library keeps its scores in float32
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_bm25_leaves_a_query_of_unknown_words_unanswered():
    collection = Collection([Item("a", "text", text="boat"), Item("b", "text", text="sheep")])
    system = make("bm25").fit(collection)
    assert system.score(Item("q", "text", text="zebra")) is None


def collection_with_vectors(folder, vectors, ids=None, items="abc"):
    collection = Collection([Item(name, "text", text=name) for name in items])
    np.save(folder / "v.npy", vectors)
    if ids is not None:
        (folder / "v.ids.txt").write_text("\n".join(ids) + "\n")
    return collection


@pytest.mark.parametrize("measure", ["cosine", "dot", "l2"])
def test_vectors_are_compared_by_the_measure_asked_for(tmp_path, measure):
    vectors = np.array([[1.0, 0.0], [3.0, 3.0], [0.0, 0.5]])
    collection = collection_with_vectors(tmp_path, vectors, "cab")
    system = make(f"vectors:v.npy:{measure}", tmp_path).fit(collection)
    order = [1, 2, 0]
    own = vectors[order]
    expected = {
        "cosine": own @ own[0] / np.linalg.norm(own, axis=1) / np.linalg.norm(own[0]),
        "dot": own @ own[0],
        "l2": -np.linalg.norm(own - own[0], axis=1),
    }[measure]
    np.testing.assert_allclose(system.score(collection["a"]), expected)


@pytest.mark.parametrize("form", ["0 and 1", "bool", "-1 and 1", "packed"])
def test_codes_are_compared_by_the_bits_that_differ(tmp_path, form):
    bits = np.random.default_rng(3).integers(0, 2, (3, 24)).astype(np.uint8)
    codes = {"0 and 1": bits, "bool": bits > 0, "-1 and 1": 2.0 * bits - 1, "packed": np.packbits(bits, axis=1)}[form]
    collection = collection_with_vectors(tmp_path, codes, "abc")
    system = make("vectors:v.npy:hamming", tmp_path).fit(collection)
    expected = -24 * distance.cdist(bits[:1], bits, "hamming")[0]
    np.testing.assert_allclose(system.score(Item("a", "text", text="a")), expected)


def test_items_without_a_vector_are_not_scored_and_do_not_ask(tmp_path):
    collection = collection_with_vectors(tmp_path, np.eye(2), "ab")
    system = make("vectors:v.npy", tmp_path).fit(collection)
    assert system.score(collection["c"]) is None
    assert np.isnan(system.score(collection["a"])[2])


@pytest.mark.parametrize(
    ("vectors", "ids", "message"),
    [
        (np.eye(3), None, "v.ids.txt: file not found"),
        (np.eye(3), "ab", "2 ids for the 3 vectors"),
        (np.eye(3), "abx", "line 3: 'x' is not in collection.csv"),
        (np.eye(3), "aba", "'a' appears there more than once"),
        (np.array([[1.0], [np.nan], [2.0]]), "abc", "row 1: a vector holds a value that is not a finite number"),
        (np.ones(3), "abc", "one row per item is needed"),
        (np.array([{}], dtype=object), "a", "this is not a plain NumPy array"),
    ],
)
def test_wrong_vectors_are_refused_with_their_place(tmp_path, vectors, ids, message):
    collection = collection_with_vectors(tmp_path, vectors, ids)
    with pytest.raises(RelstudyError, match=message):
        make("vectors:v.npy", tmp_path).fit(collection)


def test_unknown_systems_and_measures_are_named(tmp_path):
    with pytest.raises(RelstudyError, match="there is no built-in system 'clip'; there are: keywords, colour"):
        make("clip")
    with pytest.raises(RelstudyError, match="neither a file nor one of the built-in systems"):
        open_sources(tmp_path, Collection([Item("a", "text", text="x")]), ["clip"])


def test_any_score_table_or_run_is_a_system(tmp_path):
    collection = Collection([Item(name, "text", text=name) for name in "abc"])
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "mine.csv").write_text("system,query_id,result_id,score\nmine,a,b,0.5\nmine,a,c,0.9\n")
    (tmp_path / "other.run").write_text("a Q0 c 1 7.5 theirs\n")
    sources = open_sources(tmp_path, collection, ["mine.csv", "other.run"])
    assert [source.name for source in sources] == ["mine", "theirs"]
    said = [source.scored(collection["a"]).at(np.arange(3)) for source in sources]
    np.testing.assert_array_equal(said, [[np.nan, 0.5, 0.9], [np.nan, np.nan, 7.5]])
    assert sources[0].scored(collection["b"]) is None
    assert {source.name for source in open_sources(tmp_path, collection, None)} == {"keywords", "mine"}


def test_tables_of_other_items_and_names_in_use_are_refused(tmp_path):
    collection = Collection([Item(name, "text", text=name) for name in "ab"])
    (tmp_path / "x.csv").write_text("system,query_id,result_id,score\nx,a,zzz,0.5\n")
    for more, others in ((0, ""), (1, ", nor is 1 other"), (2, ", nor are 2 others")):
        with (tmp_path / "x.csv").open("a") as file:
            file.write(f"x,a,zz{more},0.5\n" * (more > 0))
        with pytest.raises(RelstudyError, match=f"column result_id: 'zzz' is not in the collection{others}$"):
            open_sources(tmp_path, collection, ["x.csv"])
    (tmp_path / "r.csv").write_text("system,query_id,result_id,score\nrandom,a,b,0.5\n")
    with pytest.raises(RelstudyError, match="no system can be named 'random'; random, combined, all are taken"):
        open_sources(tmp_path, collection, ["r.csv"])


@pytest.mark.slow
def test_an_index_of_many_texts_is_kept_until_the_collection_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(bm25, "WORTH_KEEPING", 4)
    built = []
    build = bm25.BM25._build
    monkeypatch.setattr(bm25.BM25, "_build", lambda self, *given: built.append(1) or build(self, *given))
    (tmp_path / "study.toml").write_text('[study]\nid = "s"\ntitle = "S"\n')
    texts = ["red boat on a lake", "red red house", "green hills", "boat boat harbour", "red boat"]

    def fitted(form):
        lines = [{"item_id": str(n), "text": text, "role": "both"} for n, text in enumerate(texts)]
        if form == "jsonl":
            (tmp_path / "collection.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        else:
            pd.DataFrame(lines).assign(kind="text").to_csv(tmp_path / "collection.csv", index=False)
        collection = open_collection(tmp_path)
        system = make("bm25").fit(collection)
        return system, system.score(collection.asking(collection["4"]))

    def kept():
        return [path.name for path in (tmp_path / "scores" / ".index").iterdir()]

    _, scores = fitted("jsonl")
    assert scores.argmax() == 4 and scores[1] > scores[2] == 0
    for form in ("jsonl", "csv"):
        system, again = fitted(form)
        np.testing.assert_array_equal(scores, again)
        assert isinstance(system._index.scores["data"], np.memmap)
        assert len(kept()) == len(built) == 1 and not system.notes
    texts[2] = "a red boat"
    changed, scores = fitted("csv")
    assert "indexed again" in changed.notes[0] and (len(built), len(kept())) == (2, 1)
    np.testing.assert_array_equal(
        scores, bm25.BM25().fit(Collection(open_collection(tmp_path).items)).score(Item("4", "text", text="red boat"))
    )
    index = tmp_path / "scores" / ".index" / kept()[0]
    for number, name in enumerate(sorted(path.name for path in index.iterdir()), start=1):
        whole = (index / name).read_bytes()
        middle = max(0, len(whole) - 16)
        for broken in (b"", whole[:middle], whole[:middle] + bytes(len(whole) - middle), None):
            (index / name).unlink() if broken is None else (index / name).write_bytes(broken)
            system, again = fitted("csv")
            np.testing.assert_array_equal(again, scores)
            assert "not whole" in system.notes[0]
            assert (index / name).read_bytes() == whole
        assert len(built) == 3 + 4 * number and not fitted("csv")[0].notes


@pytest.mark.slow
def test_words_of_a_collection_that_is_read_in_a_stream_propose_pairs(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text('[study]\nid = "s"\ntitle = "S"\n')
    items = [{"item_id": f"d{n}", "text": f"word{n} word{n % 7}", "role": "result"} for n in range(200)]
    asking = [("q0", "word3 word10"), ("q1", "word5"), ("q2", "the")]  # a stop word
    items += [{"item_id": name, "text": text, "role": "query"} for name, text in asking]
    (folder / "collection.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    succeeds("sample", folder, "--systems", "bm25", "--queries", "3", "--results", "4", "--base", "2")
    pairs = pd.read_csv(folder / "pairs.csv")
    proposed = pairs[pairs["source"] == "bm25"]
    assert set(proposed["query_id"]) == {"q0", "q1"}
    first = proposed[(proposed["query_id"] == "q0") & (proposed["rank"] == 1)]["result_id"]
    assert set(first) <= {"d3", "d10"}


def test_values_that_are_no_bits_are_no_codes(tmp_path):
    collection = collection_with_vectors(tmp_path, np.array([[0.0, 0.5], [1.0, 0.0]]), "ab")
    with pytest.raises(RelstudyError, match="codes of 0 and 1"):
        make("vectors:v.npy:hamming", tmp_path).fit(collection)
