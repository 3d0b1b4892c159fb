"""Seven people with tables of their own, who know nothing of relstudy: each has a first right number after at most
three commands, and edits no file.

What is right is computed here by hand or by another library.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import Result
from ir_measures import nDCG
from PIL import Image
from scipy.spatial.distance import cosine
from sklearn.metrics import average_precision_score

import relstudy as rs
from tests.commands import relstudy

pytestmark = pytest.mark.slow
QUERIES, RESULTS = 20, 12
PAIRS = [(f"q{query}", f"q{query}-d{result}") for query in range(QUERIES) for result in range(RESULTS)]
ESCI = {"E": 1.0, "S": 0.1, "C": 0.01, "I": 0.0}


class Terminal:
    """What a stranger types: each line is counted, and has to end well unless it is said to be refused."""

    def __init__(self) -> None:
        self.typed = 0

    def __call__(self, line: str, code: int = 0) -> Result:
        self.typed += 1
        words = shlex.split(line)
        assert words[0] == "relstudy"
        done = relstudy(*words[1:])
        assert done.exit_code == code, done.output
        return done


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return Terminal()


def truth(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(PAIRS))


def grades() -> np.ndarray:
    return np.clip(np.round(1.4 + truth()), 0, 3).astype(int)


def write_run(name: str, noise: float) -> None:
    score = truth() + noise * np.random.default_rng(3).normal(size=len(PAIRS))
    lines = [f"{q} Q0 {d} 1 {value:.5f} tag" for (q, d), value in zip(PAIRS, score, strict=True)]
    Path(name).write_text("\n".join(lines) + "\n")


def printed_command(done: Result) -> str:
    """The line under "next:", or under the first "if so:"."""
    found = re.search(r"(?:next|if so):\n  (relstudy .+)", done.stdout)
    assert found is not None, done.stdout
    return found[1]


def test_a_lab_with_photos_and_texts_in_a_folder(terminal: Terminal) -> None:
    Path("things").mkdir()
    for number in range(6):
        ending = ("JPG", "png", "tif")[number % 3]
        Image.new("RGB", (30, 20), (40 * number, 90, 10)).save(f"things/photo{number}.{ending}")
    for number in range(6):
        Path(f"things/text{number}.txt").write_bytes(f"Ein Stuhl für Küche {number}".encode("cp1252"))
    command = printed_command(terminal("relstudy inspect things"))
    terminal(command)
    drawn = terminal("relstudy sample my-study --queries 4 --results 3 --base 4 --json")
    pairs = pd.read_csv("my-study/pairs.csv")
    assert json.loads(drawn.stdout)["pairs"] == len(pairs)
    assert pairs["inclusion_probability"].between(0, 1, inclusive="right").all()
    assert len(pd.read_csv("my-study/collection.csv")) == 12
    assert terminal.typed == 3


def test_runs_of_trec(terminal: Terminal) -> None:
    for name, noise in (("first.run", 0.5), ("second.run", 2.0)):
        write_run(name, noise)
    Path("qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for (q, d), g in zip(PAIRS, grades(), strict=True)))
    terminal("relstudy try qrels.txt first.run second.run")
    ours = pd.read_csv("try/scores.csv").set_index("system")["nDCG@10"]
    qrels = list(ir_measures.read_trec_qrels("qrels.txt"))
    for name in ("first", "second"):
        theirs = ir_measures.calc_aggregate([nDCG @ 10], qrels, ir_measures.read_trec_run(f"{name}.run"))
        assert ours[name] == pytest.approx(theirs[nDCG @ 10], abs=1e-9)
    assert terminal.typed == 1


def test_a_survey_with_sliders_previews_and_somebody_who_left(terminal: Terminal) -> None:
    columns = [f"Q7_{number}" for number in range(1, 5)]
    pairs = [("red lamp", "d1"), ("red lamp", "d2"), ("oak chair", "d1"), ("oak chair", "d3")]
    means, random = np.array([20, 80, 35, 65]), np.random.default_rng(1)
    head = ["StartDate", "Status", "Finished", "ResponseId", *columns]
    rows = [head, ["Start", "Type", "Finished", "ID", *(f"How well? - {q} | {d}" for q, d in pairs)]]
    rows.append([json.dumps({"ImportId": f"QID{number}"}) for number in range(len(head))])
    people = np.clip(means + random.normal(0, 8, (6, 4)).round(), 0, 100).astype(int)
    rows += [["d", "IP Address", "True", f"R_{n}", *map(str, each)] for n, each in enumerate(people)]
    rows += [["d", "Survey Preview", "True", f"P_{n}", *map(str, 100 - means)] for n in range(3)]
    rows.append(["d", "IP Address", "False", "R_9", "99", "1", "", ""])
    pd.DataFrame(rows).to_csv("survey.csv", index=False, header=False)
    command = printed_command(terminal("relstudy inspect survey.csv"))
    summary = json.loads(terminal(f"{command} --json").stdout)
    clean = [(f"R_{n}", *pair, int(v)) for n, each in enumerate(people) for pair, v in zip(pairs, each, strict=True)]
    frame = pd.DataFrame(clean, columns=["rater_id", "query_id", "result_id", "rating"])
    right = rs.calibrate(frame, scale="0-100").summary()["krippendorff_alpha"]
    assert summary["krippendorff_alpha"] == right and summary["raters"] == 6
    assert terminal.typed == 2


def test_a_notebook_with_embeddings_and_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ids = sorted({each for pair in PAIRS for each in pair})
    vectors = np.random.default_rng(2).normal(size=(len(ids), 6)).astype(np.float32)
    rows = [(f"w{rater}", *pair, int(g)) for rater in range(3) for pair, g in zip(PAIRS, grades(), strict=True)]
    ratings = pl.DataFrame(rows, schema=["worker", "query", "doc", "grade"], orient="row").lazy()
    names = {"worker": "rater_id", "query": "query_id", "doc": "result_id", "grade": "rating"}
    panel = rs.calibrate(ratings, columns=names, scale="0-3")
    scored = rs.score(vectors, panel, ids=pl.Series(ids), method="none", replicates=50)
    at = {name: vectors[number].astype(float) for number, name in enumerate(ids)}
    judged = panel.judgments
    by_hand = [1 - cosine(at[q], at[d]) for q, d in zip(judged["query_id"], judged["result_id"], strict=True)]
    right = np.corrcoef(by_hand, judged["judgment"])[0, 1]
    assert scored.as_json()["systems"]["vectors"]["raw"]["pearson"]["value"] == pytest.approx(right, abs=1e-6)


def test_a_shop_with_labels_of_esci_segments_and_traffic(terminal: Terminal) -> None:
    letters = np.array(list("ICSE"))[grades()]
    rows = [(n, q, d, "us", each, "train") for n, ((q, d), each) in enumerate(zip(PAIRS, letters, strict=True))]
    head = ["example_id", "query", "product_id", "product_locale", "esci_label", "split"]
    pd.DataFrame(rows, columns=head).to_csv("labels.csv", index=False)
    traffic = {f"q{query}": 100 - 4 * query for query in range(QUERIES)}
    segment = ["head" if query < 5 else "tail" for query in range(QUERIES)]
    pd.DataFrame({"query_id": list(traffic), "segment": segment, "traffic": traffic.values()}).to_csv(
        "queries.csv", index=False
    )
    write_run("first.run", 0.5)
    write_run("second.run", 2.0)
    how = printed_command(terminal("relstudy inspect labels.csv")).split("labels.csv ")[1]
    done = terminal(
        f"relstudy score one=first.run two=second.run -j labels.csv {how} --queries queries.csv --by segment "
        "--query-weights traffic --measure nDCG@10 --json"
    )
    gains = {pair: ESCI[each] for pair, each in zip(PAIRS, letters, strict=True)}
    run = pd.read_csv("first.run", sep=" ", names=["q", "0", "d", "rank", "score", "tag"])
    values, weights = [], []
    for query, part in run.groupby("q"):
        ranked = [gains[query, d] for d in part.sort_values("score", ascending=False)["d"]]
        discount = 1 / np.log2(np.arange(2, 12))
        values.append(np.dot(ranked[:10], discount) / np.dot(sorted(ranked, reverse=True)[:10], discount))
        weights.append(traffic[str(query)])
    content = json.loads(done.stdout)
    measures = content["systems"]["one"]["measures"]
    assert measures["condensed nDCG@10"]["value"] == pytest.approx(np.average(values, weights=weights), abs=1e-9)
    assert set(content["by"]["groups"]) == {"head", "tail"}
    assert terminal.typed == 2


def test_hash_codes_that_are_still_numbers(terminal: Terminal) -> None:
    random = np.random.default_rng(6)
    labels = random.integers(0, 4, 60)
    numbers = random.normal(size=(4, 32))[labels] + random.normal(size=(60, 32))
    np.save("codes.npy", numbers)
    np.save("labels.npy", labels)
    count = "relstudy hash count --queries codes.npy --database codes.npy --query-labels labels.npy"
    refused = terminal(f"{count} --database-labels labels.npy -o counts.npz", code=1)
    line = re.search(r"numpy\.save\((.+), numpy\.load\(FILE\) > 0\)", refused.stderr)
    assert line is not None, refused.stderr
    np.save("codes.npy", np.load("codes.npy") > 0)  # the line that it says, in Python
    terminal(f"{count} --database-labels labels.npy -o counts.npz")
    done = json.loads(terminal("relstudy hash evaluate counts.npz --json").stdout)
    bits = numbers > 0
    distance = (bits[:, None] != bits[None]).sum(axis=2)
    pessimistic, optimistic = [], []
    for query in range(60):
        same = labels == labels[query]
        for order, found in ((same, pessimistic), (~same, optimistic)):
            ranked = np.lexsort((order, distance[query]))
            found.append(average_precision_score(same[ranked], -np.arange(60)))
    assert done["map"]["pessimistic"] == pytest.approx(np.mean(pessimistic), abs=1e-9)
    assert done["map"]["optimistic"] == pytest.approx(np.mean(optimistic), abs=1e-9)
    assert terminal.typed == 3


def test_fifty_thousand_grades_of_a_model_and_six_hundred_labels(terminal: Terminal) -> None:
    random = np.random.default_rng(8)
    number = 50_000
    query = [f"query {each // 100}" for each in range(number)]
    model = pd.DataFrame({"query": query, "passage_id": [f"p{n}" for n in range(number)]})
    model["grade"] = random.integers(0, 4, number)
    model.to_csv("model.csv", index=False)
    labels = model.sample(600, random_state=1).drop(columns="grade")
    labels["label"] = np.clip(model.loc[labels.index, "grade"] + random.integers(-1, 2, 600), 0, 3)
    labels.to_csv("labels.csv", index=False)
    refused = terminal("relstudy try labels.csv model.csv", code=1)
    said = re.search(r"--people \S+", refused.stderr)
    assert said is not None
    terminal(f"relstudy try labels.csv model.csv {said[0]}")
    right = np.corrcoef(model.loc[labels.index, "grade"], labels["label"])[0, 1]
    table = pd.read_csv("try/scores.csv")
    assert table["raw_pearson"].iloc[0] == pytest.approx(right, abs=1e-9)
    assert terminal.typed == 2
