"""relstudy ask: from a table of results or answers to people who rate, and to a comparison of the systems."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import relstudy as rs
from relstudy.analysis.answers import compare_answers
from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.assignment.synchronisation import prepare
from relstudy.studyapp.collection.asked_study import make_study
from relstudy.studyapp.collection.results_table import read_results
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.database.store import Store
from relstudy.studyapp.web.app import create_app
from tests.commands import relstudy, succeeds
from tests.places import ROOT
from tests.studyapp.browse import Browser

MODELS = ("alpha-7b", "beta-xl")


def answers(questions: int = 6) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (f"What is thing {q}?", model, f"Answer {k} to {q}.")
            for q in range(questions)
            for k, model in enumerate(MODELS)
        ],
        columns=["question", "model", "answer"],
    )


def hits(system: str, queries: int = 4, depth: int = 3, shift: int = 0) -> pd.DataFrame:
    rows = [
        (f"query {q}", system, r, f"doc-{q}-{r + shift}", f"Title {q} {r + shift}", f"Text {q} {r + shift}")
        for q in range(queries)
        for r in range(1, depth + 1)
    ]
    return pd.DataFrame(rows, columns=["query", "engine", "rank", "doc_id", "title", "snippet"])


def made(tmp_path: Path, frame: pd.DataFrame, *words: str) -> Path:
    frame.to_csv(tmp_path / "table.csv", index=False)
    succeeds("ask", tmp_path / "table.csv", "-o", tmp_path / "study", "--no-serve", *words)
    return tmp_path / "study"


def pairs(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "pairs.csv")


def test_every_answer_is_a_pair_and_what_was_taken_for_what_is_said(tmp_path):
    answers().to_csv(tmp_path / "a.csv", index=False)
    done = succeeds("ask", tmp_path / "a.csv", "-o", tmp_path / "s", "--no-serve")

    assert done.output.splitlines()[:5] == [
        "query:   column question, 6 queries",
        "system:  column model: alpha-7b and beta-xl",
        "result:  the content, 12 answers",
        "order:   one answer a query and system",
        "raters see: answer; never the system",
    ]
    table = pairs(tmp_path / "s")
    assert len(table) == 12 and (table["inclusion_probability"] == 1).all()
    assert Study.load(tmp_path / "s").blocks[0].question == "How good is this answer?"


def test_a_column_of_answers_a_model_is_the_same_study(tmp_path):
    wide = answers().pivot(index="question", columns="model", values="answer").reset_index()
    folder = made(tmp_path, wide.assign(id=range(len(wide)), reference="gold"))
    kept = pd.read_csv(folder / "answers.csv")
    assert sorted(kept["system"].unique()) == sorted(MODELS) and len(pairs(folder)) == 12


def test_questions_under_the_name_of_an_id_are_questions(tmp_path):
    wide = answers().pivot(index="question", columns="model", values="answer").reset_index()
    assert len(pairs(made(tmp_path, wide.rename(columns={"question": "query_id"})))) == 12


def test_results_of_two_systems_share_pairs_and_keep_their_ranks(tmp_path):
    folder = made(tmp_path, pd.concat([hits("bm25"), hits("dense", shift=1)]))
    assert len(pairs(folder)) == 4 * 4  # ranks 1 to 3 and 2 to 4 of each query: two are shared
    run = (folder / "scores" / "dense.run").read_text().splitlines()
    assert [line.split()[3:] for line in run[:3]] == [["1", "-1", "dense"], ["2", "-2", "dense"], ["3", "-3", "dense"]]
    assert 'primary = "nDCG@10"' in (folder / "study.toml").read_text()
    own = pd.read_csv(folder / "answers.csv").query("system == 'dense' and place == 1")["own_result"]
    assert own.str.startswith("d").all()


@pytest.mark.slow
def test_lists_of_results_are_compared_by_what_they_put_first(tmp_path):
    """Of two models with spaces in their names, which return the same, the one that puts what people value first."""
    turned = hits("old model", 12).assign(rank=lambda f: 4 - f["rank"], engine="new model")
    folder = made(tmp_path, pd.concat([hits("old model", 12), turned]))
    first = pd.read_csv(folder / "answers.csv").query("system == 'new model' and place == 1")["result_id"]
    frame = pairs(folder)[["query_id", "result_id"]]
    for rater, more in (("ann", 0), ("bob", 1)):
        good = np.where(frame["result_id"].isin(first), 4 + more, 1 + np.arange(len(frame)) % 3)
        frame = frame.assign(**{rater: good})
    long = frame.melt(["query_id", "result_id"], var_name="rater_id", value_name="rating")
    long.to_csv(folder / "ratings.csv", index=False)
    succeeds("calibrate", folder / "ratings.csv", "-o", folder, "--scale", "1-5", "--method", "none")
    done = succeeds("score", folder)
    assert done.output.splitlines()[0] == "Use new model: it is ahead of old model."


def test_columns_of_answers_are_named_where_numbers_and_remarks_stand_among_them(tmp_path):
    frame = pd.DataFrame({"Question": [f"What is {k} and {k}?" for k in range(6)], "GPT-A": range(6)})
    frame = frame.assign(B=lambda f: "It is " + f["GPT-A"].astype(str), hint=["see", "", "", "", "", ""], notes="check")
    table = read_results([frame])
    assert table.systems == ["B"] and table.models == ("B",)
    said = "\n".join(table.sentences())
    assert "Not used: GPT-A, hint and notes." in said and "--columns answer=GPT-A,answer=B" in said.replace(
        "columns=", "--columns "
    )
    assert "There is one system, B: nothing is compared." in said
    numbers = frame[["Question", "GPT-A"]].assign(B=range(6))
    with pytest.raises(RelstudyError, match="answer=A,answer=B names two"):
        read_results([numbers])
    numbers.loc[5, "GPT-A"] = None
    shown = read_results([numbers], {"GPT-A": "answer", "B": "answer"}).rows["text"]
    assert sorted(set(shown)) == list("012345"), "whole numbers beside an empty cell, too"
    table = read_results([frame], {"GPT-A": "answer", "B": "answer"})
    assert table.systems == ["GPT-A", "B"] and table.rows["text"].iloc[0] == "0" and table.answers


def test_what_is_added_is_served_before_it_is_a_change(tmp_path, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    folder = made(tmp_path, hits("bm25", 4))
    hits("dense", 4, shift=3).to_csv(tmp_path / "more.csv", index=False)
    said = succeeds("ask", tmp_path / "more.csv", "-o", folder, "--no-serve")
    assert f"Next: relstudy serve {folder}" in said.output + said.stderr
    prepare(folder)
    hits("late", 4, shift=6).to_csv(tmp_path / "more.csv", index=False)
    said = succeeds("ask", tmp_path / "more.csv", "-o", folder, "--no-serve")
    assert f"Next: relstudy admin change {folder}" in said.output + said.stderr


@pytest.mark.slow
def test_a_system_added_later_is_not_out_while_its_own_results_are_unrated(tmp_path):
    both = pd.concat([hits("bm25", 24), hits("dense", 24, shift=3)])
    folder = made(tmp_path, both)
    given = pairs(folder).merge(pd.read_csv(folder / "answers.csv"), on=["query_id", "result_id"])
    better = given["system"] == "bm25"
    drawn = given[["query_id", "result_id"]].assign(rating=np.where(better, 5, 3) - (given.index * 7 % 11 > 6))
    pd.concat([drawn.assign(rater_id=rater) for rater in ("ann", "bob")]).to_csv(folder / "ratings.csv", index=False)
    made(tmp_path, pd.concat([both, hits("late", 24, shift=5)]))
    succeeds("calibrate", folder, "--method", "none", "--scale", "1-5")
    said = succeeds("score", folder).output
    assert (
        "use bm25. late cannot quite be ruled out as equally good; dense can, but nobody judged 67 % of late's" in said
    )
    assert "You can stop" not in said and "clearly worse" not in said and "1-3  late" in said


def test_a_query_with_no_result_has_a_row_and_takes_no_id_or_rank_from_the_others():
    none = pd.DataFrame([{"query": "query 9", "engine": "bm25", "rank": "", "doc_id": "", "title": "", "snippet": ""}])
    turned = hits("bm25").iloc[::-1]
    table = read_results([pd.concat([turned, none])])
    assert table.rows["own_result"].str.startswith("doc-").all() and len(table.rows) == 12
    assert table.rows.sort_values(["query", "place"])["key"].tolist() == hits("bm25")["doc_id"].tolist()


def test_a_study_of_answers_takes_no_option_and_no_setting_that_it_would_not_heed(tmp_path):
    folder = made(tmp_path, answers())
    drawn = pairs(folder)[["query_id", "result_id"]]
    both = pd.concat([drawn.assign(rater_id=rater, rating=drawn.index % 3 + 2) for rater in ("ann", "bob")])
    both.to_csv(folder / "ratings.csv", index=False)
    done = succeeds("calibrate", folder, "--method", "none", "--scale", "1-5")
    assert done.output.rstrip().endswith(f"Next: relstudy score {folder}")
    for command, words in (
        ("score", ("--require", "a > b")),
        ("report", ("--require", "a > b")),
        ("score", ("--by", "x")),
    ):
        refused = relstudy(command, folder, *words)
        assert refused.exit_code == 2
        assert f"{words[0]} does not go with a study of answers" in refused.output
    succeeds("score", folder, "--verbose")
    succeeds("report", folder, "--no-pictures")
    settings = folder / "study.toml"
    settings.write_text(settings.read_text() + "\n[looks]\nblind = true\n")
    with pytest.raises(RelstudyError, match="answers and preferences are compared without looks"):
        Study.load(folder)


def test_documents_are_shown_as_they_are_and_answers_may_be_markdown(tmp_path):
    marked = ">>> p.__doc__\n- one\n- **two**"
    documents = made(tmp_path, hits("bm25").assign(snippet=lambda f: marked + f["doc_id"]))
    assert set(pd.read_csv(documents / "collection.csv")["kind"]) == {"text"}
    said = read_results([answers().assign(answer=lambda f: marked + f["answer"])])
    make_study(said, tmp_path / "answers")
    items = pd.read_csv(tmp_path / "answers" / "collection.csv")
    assert set(items.loc[items["role"] == "result", "kind"]) == {"markdown"}


RESPONSES = {
    "elasticsearch": {"query": "lakes", "hits": {"hits": [{"_id": "a", "_source": {"title": "A", "body": "x"}}]}},
    "solr": {
        "responseHeader": {"params": {"q": "lakes"}},
        "response": {"docs": [{"id": "a", "title": "A", "text": "x"}]},
    },
    "a list a query": [{"query": "lakes", "results": [{"id": "a", "title": "A", "snippet": "x"}]}],
}


@pytest.mark.parametrize("content", RESPONSES.values(), ids=RESPONSES)
def test_search_responses_are_read(tmp_path, content):
    path = tmp_path / "bm25.json"
    path.write_text(json.dumps(content))
    row = read_results([path]).rows.iloc[0]
    assert (row["system"], row["query"], row["key"], row["title"], row["text"]) == ("bm25", "lakes", "a", "A", "x")


def test_of_many_results_whole_queries_are_drawn_with_their_probability(tmp_path):
    folder = made(tmp_path, hits("one", queries=400))
    table = pairs(folder)
    share = table["query_id"].nunique() / 400
    assert len(table) <= 600 and (table.groupby("query_id").size() == 3).all()
    assert np.allclose(table["inclusion_probability"], share) and np.allclose(table["query_probability"], share)


def test_one_more_system_adds_only_what_nobody_was_asked_about(tmp_path):
    folder = made(tmp_path, hits("bm25"))
    before = pairs(folder)
    made(tmp_path, pd.concat([hits("bm25"), hits("dense", shift=1)]))
    after = pairs(folder)
    pd.testing.assert_frame_equal(after.iloc[: len(before)][[*before]], before)
    assert len(after) - len(before) == 4 and (folder / "scores" / "dense.run").exists()


@pytest.mark.slow
def test_nothing_a_rater_sees_tells_the_system(tmp_path):
    folder = made(tmp_path, pd.concat([hits("bm25"), hits("dense", shift=1)]))
    store = Store.of_study(folder)
    prepare(folder, store)
    browser = Browser(create_app(folder))
    browser.join()
    seen = ""
    for _ in range(4):
        seen += browser.client.get(browser.address).get_data(as_text=True)
        browser.rate()
    for name in ("bm25", "dense", "doc-0-1", "table.csv"):
        assert name not in seen


def rated_side_by_side(folder: Path, best: str) -> str:
    """Three people prefer what holds `best`; gives all that they saw."""
    prepare(folder, Store.of_study(folder))
    app, seen = create_app(folder), ""
    for _ in range(3):
        browser = Browser(app)
        browser.join()
        while browser.address.startswith("/rate"):
            seen += browser.html
            left, right = re.split(r"Right\b", re.sub(r"<[^>]*>", " ", browser.html), maxsplit=1)
            say = "-1" if best in left and best not in right else "1" if best in right else "0"
            browser.rate(lambda name, number, say=say: say)  # type: ignore[misc]
        assert browser.address == "/thanks"
    return seen


@pytest.mark.slow
def test_answers_side_by_side_are_compared_and_named_with_the_model_that_people_prefer(tmp_path):
    folder = made(tmp_path, answers(8), "--side-by-side")
    assert (len(pairs(folder)), Study.load(folder).blocks[0].ask) == (8, "which")
    seen = rated_side_by_side(folder, "Answer 1")
    assert not any(model in seen for model in MODELS)
    succeeds("export", folder)
    done = succeeds("score", folder)
    assert done.output.splitlines()[0] == "Use beta-xl: people prefer its answers to those of alpha-7b."
    found = json.loads(succeeds("score", folder, "--json").stdout)
    assert found["verdict"]["ranks"][0] == {"system": "beta-xl", "ahead_of": ["alpha-7b"]}
    succeeds("report", folder)
    assert "Use beta-xl" in (folder / "report" / "index.html").read_text()


@pytest.mark.slow
def test_rankings_side_by_side_are_lists_and_a_third_one_adds_couples(tmp_path):
    both = pd.concat([hits("bm25", depth=7), hits("dense", depth=7, shift=4)])
    folder = made(tmp_path, both, "--side-by-side")
    before, lists = pairs(folder), pd.read_csv(folder / "lists.csv")
    assert len(before) == 4 and lists.groupby("list_id").size().tolist() == [5] * 8
    seen = rated_side_by_side(folder, "Text 0 1 ")
    assert not any(name in seen for name in ("bm25", "dense", "doc-0-1", "l00001"))
    made(tmp_path, pd.concat([both, hits("new", depth=7, shift=2)]))
    after = pairs(folder)
    pd.testing.assert_frame_equal(after.iloc[: len(before)][[*before]], before)
    assert len(after) == 12 and len(pd.read_csv(folder / "lists.csv")) == 60
    succeeds("change", folder, "--yes")
    succeeds("export", folder)
    assert "preferred" in succeeds("score", folder).output


def test_the_same_table_again_and_a_model_that_copies_another_add_nothing(tmp_path):
    folder = tmp_path / "s"
    for words in ({}, {"side_by_side": True}):
        first = rs.ask(answers(), folder / str(len(words)), **words)
        again = rs.ask(answers(), folder / str(len(words)), **words)
        copy = answers()[lambda f: f["model"] == MODELS[0]].assign(model="copy")
        copied = rs.ask(pd.concat([answers(), copy]), folder / str(len(words)), **words)
        assert (again.added, copied.added, copied.pairs) == (0, 0, first.pairs)


def test_a_question_with_one_answer_is_not_said_to_be_left_out_by_chance(tmp_path):
    frame = answers().assign(answer=lambda f: f["answer"].where(f.index != 0, ""))
    assert rs.ask(frame, tmp_path / "s", side_by_side=True).sentence() == "5 couples to compare, each by 3 people"


def test_side_by_side_asks_one_question_of_a_study_of_its_own(tmp_path):
    folder = made(tmp_path, answers())
    again = relstudy("ask", tmp_path / "table.csv", "-o", folder, "--no-serve", "--side-by-side")
    assert again.exit_code == 1 and "asks about each result; name a new folder" in again.output
    words = ("--question", "Is it true?", "--question", "Is it helpful?")
    two = relstudy("ask", tmp_path / "table.csv", "-o", tmp_path / "new", "--no-serve", "--side-by-side", *words)
    assert two.exit_code == 1 and "asks one question, and there are 2" in two.output
    alone = answers()[lambda f: f["model"] == MODELS[0]]
    alone.to_csv(tmp_path / "one.csv", index=False)
    one = relstudy("ask", tmp_path / "one.csv", "-o", tmp_path / "one", "--no-serve", "--side-by-side")
    assert one.exit_code == 1 and "nothing to compare" in one.output and not (tmp_path / "one").exists()


def test_beside_a_column_of_models_the_one_other_text_is_the_answer(tmp_path):
    folder = made(tmp_path, answers().rename(columns={"answer": "reply"}).assign(latency=3))
    assert sorted(pd.read_csv(folder / "answers.csv")["system"].unique()) == sorted(MODELS)
    assert len(pairs(folder)) == 12


def test_what_no_name_tells_is_asked_on_a_terminal_and_named_in_a_pipe(tmp_path, monkeypatch):
    strange = answers().rename(columns={"question": "what", "answer": "reply"}).assign(further="none")
    strange.to_csv(tmp_path / "a.csv", index=False)
    words = ("ask", tmp_path / "a.csv", "-o", tmp_path / "s", "--no-serve")
    piped = relstudy(*words)
    assert piped.exit_code == 1 and "--columns query=COLUMN names it" in piped.output
    monkeypatch.setattr("relstudy.analysis.commands.asking.is_terminal", lambda: True)
    done = succeeds(*words, typed="1\n3\n")
    assert "a: which column holds the query?" in done.output and "1. what: What is thing 0?" in done.output
    assert "a: which column holds what raters are to see?" in done.output
    assert len(pairs(tmp_path / "s")) == 12


BAD = {
    "a row without a query": (
        answers().assign(question=lambda f: f["question"].where(f.index != 3, "")),
        "without a query",
    ),
    "a row without a system": (hits("x").assign(engine=["", *["x"] * 11]), "row 2: a result without a system"),
    "the same result twice": (pd.concat([hits("x"), hits("x").head(1)]), "same result twice"),
    "an answer of 200 kB": (
        answers().assign(answer=lambda f: f["answer"].where(f.index != 3, "x" * 200_000)),
        "200,000",
    ),
    "ratings that are there": (
        pd.DataFrame({"rater_id": ["ann"], "query_id": ["q1"], "result_id": ["d1"], "rating": [1]}),
        "no column holds what raters are to see",
    ),
    "no query": (answers().rename(columns={"question": "what"}), "no column holds the query"),
    "pictures on the web": (hits("x").assign(image="https://example.org/a.png"), "--fetch fetches them"),
}


@pytest.mark.parametrize(("frame", "sentence"), BAD.values(), ids=BAD)
def test_a_bad_table_is_one_sentence_and_writes_nothing(tmp_path, frame, sentence):
    frame.to_csv(tmp_path / "table.csv", index=False)
    refused = relstudy("ask", tmp_path / "table.csv", "-o", tmp_path / "study", "--no-serve")
    assert refused.exit_code == 1 and sentence in refused.output and "Traceback" not in refused.output
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_markup_that_attacks_is_shown_as_text(tmp_path):
    folder = made(tmp_path, answers().assign(answer="**hello** <script>alert(1)</script> <img src=x onerror=alert(1)>"))
    prepare(folder, Store.of_study(folder))
    browser = Browser(create_app(folder))
    browser.join()
    raw = browser.client.get(browser.address).get_data(as_text=True)
    assert "<script>alert" not in raw and "<img src=x" not in raw and "hello" in raw


def test_new_from_a_table_has_neither_pairs_nor_server(tmp_path):
    answers().to_csv(tmp_path / "a.csv", index=False)
    succeeds("new", tmp_path / "s", "--from", tmp_path / "a.csv")
    assert (tmp_path / "s" / "study.toml").exists() and not (tmp_path / "s" / "pairs.csv").exists()


def test_inspect_names_the_command(tmp_path):
    answers().to_csv(tmp_path / "a.csv", index=False)
    assert "relstudy ask " in succeeds("inspect", tmp_path / "a.csv").output


def test_several_questions_have_a_scale_each(tmp_path):
    folder = made(
        tmp_path, answers(), "--question", "Is it supported?", "--question", "Is it helpful?", "--scale", "binary"
    )
    block = Study.load(folder).blocks[-1]
    assert block.question == "Is it supported?" and [each.text for each in block.questions] == ["Is it helpful?"]


def test_models_are_compared_by_a_paired_t_over_questions():
    random = np.random.default_rng(1)
    table = answers(30).rename(columns={"question": "query_id", "model": "system"}).drop(columns="answer")
    table["result_id"] = [f"r{k}" for k in range(len(table))]
    judged = table.assign(judgment=random.normal(3, 1, len(table)) + 0.8 * (table["system"] == MODELS[0]))
    found = compare_answers(judged, table)

    one, other = (judged.loc[judged["system"] == name, "judgment"].to_numpy() for name in MODELS)
    expected = stats.ttest_rel(other, one).confidence_interval()
    assert found.names == MODELS and found.behind[1].value == pytest.approx((other - one).mean())
    assert (found.behind[1].low, found.behind[1].high) == pytest.approx((expected.low, expected.high))
    assert found.headline == "Use alpha-7b: its answers are better than those of beta-xl."


@pytest.mark.slow
def test_equal_models_are_seldom_told_apart():
    """At the bound of one in twenty, two-sided: of 160 studies 8, give or take 2.8 (three of these)."""
    random = np.random.default_rng(7)
    table = pd.DataFrame(
        [(name, f"q{q}", f"{name}{q}") for q in range(25) for name in "ab"], columns=["system", "query_id", "result_id"]
    )
    wrong = sum(
        len(compare_answers(table.assign(judgment=random.gamma(2.0, 1.0, len(table))), table).best) == 1
        for _ in range(160)
    )
    assert wrong <= 8 + 3 * 2.8


@pytest.mark.slow
def test_the_whole_way_of_the_page_on_answers(tmp_path, monkeypatch):
    """docs/how-to/rate-answers.md, word for word but for the server, from its table to its report."""
    page = (ROOT / "docs/how-to/rate-answers.md").read_text()
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text(re.search(r"```csv\n(.*?)```", page, re.DOTALL)[1])
    blocks = [block.strip().splitlines() for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL)]
    assert [[line.split()[1] for line in block] for block in blocks] == [
        ["ask"], ["export", "calibrate", "score", "report"]
    ]  # fmt: skip
    succeeds(*shlex.split(blocks[0][0])[1:], "--no-serve")
    prepare(Path("answers"), Store.of_study("answers"))
    app = create_app(Path("answers"))
    for _ in range(3):
        rater = Browser(app)
        rater.join()
        rater.rate_all(lambda number, result: "4")
    for line in blocks[1]:
        done = succeeds(*shlex.split(line)[1:])
        if line == "relstudy score answers":
            assert "alpha" in done.output and "beta" in done.output
            basis = done.output.splitlines()[-1]
    assert basis.startswith("Decided by") and basis in succeeds("admin", "status", "answers", "--answer").output
    assert "mean judgment" in Path("answers/report/index.html").read_text()
    assert len(page.split()) < 400


@pytest.mark.slow
def test_the_whole_way_of_the_page_on_two_rankings(tmp_path, monkeypatch):
    """docs/how-to/compare-rankings.md, word for word but for the server, from its table to its report."""
    page = (ROOT / "docs/how-to/compare-rankings.md").read_text()
    monkeypatch.chdir(tmp_path)
    Path("results.csv").write_text(re.search(r"```csv\n(.*?)```", page, re.DOTALL)[1])
    blocks = [block.strip().splitlines() for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL)]
    assert [[line.split()[1] for line in block] for block in blocks] == [["ask"], ["export", "score", "report"]]
    succeeds(*shlex.split(blocks[0][0])[1:], "--no-serve")
    seen = rated_side_by_side(Path("results"), "Garda")
    assert "Lake Como" in seen and not any(id in seen for id in ("results.csv", "l00001"))
    outputs = [succeeds(*shlex.split(line)[1:]).output for line in blocks[1]]
    assert "6 comparisons by 3 raters on 2 queries" in outputs[1]
    assert "Whose first results do people prefer?" in Path("results/report/index.html").read_text()
    assert len(page.split()) < 400


def test_a_frame_in_python_makes_the_same_study(tmp_path):
    asked = rs.ask(answers(), tmp_path / "s", questions=["Is it right?"])
    assert (asked.queries, asked.results, asked.pairs) == (6, 12, 12)
    assert Study.load(tmp_path / "s").blocks[-1].question == "Is it right?"
