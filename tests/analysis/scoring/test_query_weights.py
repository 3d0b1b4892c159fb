"""Queries that count by their traffic: as if each stood there so many times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

import relstudy as rs
from relstudy.analysis.indices.measures import QueryValues
from tests.commands import relstudy, succeeds

pytestmark = pytest.mark.slow
QUERIES, RESULTS = 12, 8
SAME = 1e-9
"""Sums in another order."""
TIED = 0.003
"""Of pooled AP by design: queries that stand there thrice tie with themselves, and within a tie a pair meets the whole
weight of the others and its own share of its own."""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Judgments, two systems and a table of queries, of which head queries are asked three times as often."""
    random = np.random.default_rng(2)
    pairs = pd.DataFrame(
        [(f"q{query}", f"d{result}") for query in range(QUERIES) for result in range(RESULTS)],
        columns=["query_id", "result_id"],
    )
    truth = random.normal(size=len(pairs))
    drawn = random.choice([0.25, 0.5], len(pairs))
    judged = pairs.assign(judgment=np.clip(np.round(2 + truth), 0, 3), inclusion_probability=drawn)
    judged.to_csv(tmp_path / "j.csv", index=False)
    pairs.assign(bm25=truth + random.normal(size=len(pairs)), dense=truth + random.normal(size=len(pairs))).to_csv(
        tmp_path / "s.csv", index=False
    )
    segment = ["head" if query < 4 else "tail" for query in range(QUERIES)]
    queries = pd.DataFrame({"query_id": [f"q{query}" for query in range(QUERIES)], "segment": segment})
    queries.assign(traffic=[3 if each == "head" else 1 for each in segment]).to_csv(tmp_path / "q.csv", index=False)
    return tmp_path


def scored(folder: Path, *options: object, judged: str = "j.csv", scores: str = "s.csv") -> Result:
    words = ["score", folder / scores, "-j", folder / judged, "--scale", "0-3", "--replicates", "200", *options]
    return relstudy(*words)


def figures(done: Result) -> dict[str, dict[str, float]]:
    assert done.exit_code == 0, done.stderr
    names = ("same_query", "average_precision", "normalised_rank", "pearson", "nDCG@5", "P@3")
    systems = json.loads(done.stdout)["systems"]
    found = {}
    for system, each in systems.items():
        measures = {**each, **each.get("measures", {})}
        known = {name: measures.get(name) or measures.get(f"condensed {name}") for name in names}
        found[system] = {name: figure["value"] for name, figure in known.items() if figure is not None}
    return found


@pytest.mark.parametrize("weights", ["design", "equal"])
def test_a_query_of_weight_three_counts_as_three_queries_like_it(tables: Path, weights: str) -> None:
    traffic = pd.read_csv(tables / "q.csv").set_index("query_id")["traffic"]
    for name in ("j.csv", "s.csv"):
        frame = pd.read_csv(tables / name)
        again = [
            part.assign(query_id=part["query_id"] + suffix)
            for number, suffix in enumerate(("", "'", "''"))
            for part in [frame[frame["query_id"].map(traffic) > number]]
        ]
        pd.concat(again).to_csv(tables / f"again_{name}", index=False)
    how = (
        "--weights",
        weights,
        "--method",
        "none",
        "--measure",
        "nDCG@5",
        "--measure",
        "P@3",
        "--unjudged",
        "skip",
        "--json",
    )
    by_weight = figures(scored(tables, *how, "--queries", tables / "q.csv", "--query-weights", "traffic"))
    again = figures(scored(tables, *how, judged="again_j.csv", scores="again_s.csv"))
    alike = figures(scored(tables, *how))
    assert {len(each) for each in by_weight.values()} == {6}
    for system, each in by_weight.items():
        tied = TIED if weights == "design" else SAME
        assert each.pop("average_precision") == pytest.approx(again[system].pop("average_precision"), rel=tied)
        assert each == pytest.approx(again[system], rel=SAME)
        del alike[system]["average_precision"]
        assert each != pytest.approx(alike[system], rel=1e-3)


def test_replicates_of_a_weighted_measure_are_weighted_means_of_the_queries_drawn() -> None:
    random = np.random.default_rng(0)
    values, weight = random.random(9), random.uniform(1, 5, 9)
    counts = random.multinomial(9, np.full(9, 1 / 9), size=50).T.astype(float)
    by_hand = [np.average(np.repeat(values, n), weights=np.repeat(weight, n)) for n in counts.T.astype(int)]
    assert QueryValues(values, weight=weight).total(counts) == pytest.approx(by_hand, rel=SAME)


def test_tests_of_measures_are_those_of_the_comparisons_by_weight(tables: Path) -> None:
    """Two doors to one question: the tests, and the comparisons of the scoring run."""
    result = rs.score(
        tables / "s.csv", tables / "j.csv", queries=pd.read_csv(tables / "q.csv"), query_weights="traffic",
        scale="0-3", replicates=200, measures=["nDCG@5", "P@3"], unjudged="skip", method="none",
    )  # fmt: skip
    tests, compared = result.tests(draws=500).set_index("measure"), result.comparisons.set_index("index")
    for name in ("condensed nDCG@5", "condensed P@3"):
        row, other = tests.loc[name], compared.loc[name]
        ends = [other["p_value"], other["difference_low"], other["difference_high"], other["difference"]]
        assert [row["p_t"], row["difference_low"], row["difference_high"], row["difference"]] == pytest.approx(ends)
    by_query = result.per_query.pivot(index="query_id", columns="system", values="condensed nDCG@5")
    weight = result.per_query.groupby("query_id")["query_weight"].first()
    difference = np.average(by_query["bm25"] - by_query["dense"], weights=weight)
    assert tests.loc["condensed nDCG@5", "difference"] == pytest.approx(difference, rel=SAME)


def test_weights_are_said_and_python_gives_the_same_figures(tables: Path) -> None:
    options = ("--queries", tables / "q.csv", "--query-weights", "traffic")
    done = scored(tables, *options, "--verbose")
    assert done.exit_code == 0, done.stderr
    assert (
        "Queries count by traffic (q.csv), unequally: 4 queries of 12 have half of the weight. Mappings are fitted to "
        "pairs that count equally."
    ) in done.stdout
    result = rs.score(
        tables / "s.csv", tables / "j.csv", queries=pd.read_csv(tables / "q.csv"), query_weights="traffic",
        scale="0-3", replicates=200,
    )  # fmt: skip
    printed = json.loads(scored(tables, *options, "--json").stdout)["systems"]["bm25"]["same_query"]
    assert result.as_json()["systems"]["bm25"]["same_query"] == printed


def test_segments_of_a_table_of_queries_have_every_measure(tables: Path) -> None:
    asked = ("--by", "segment", "--measure", "nDCG@5", "--unjudged", "skip")
    done = scored(tables, "--queries", tables / "q.csv", *asked, "-o", tables / "out")
    assert done.exit_code == 0, done.stderr
    table = pd.read_csv(tables / "out" / "groups.csv")
    assert set(table["segment"]) == {"head", "tail"}
    assert table.filter(like="nDCG@5").notna().all(axis=None)


def test_differences_and_tests_within_a_segment_are_those_of_its_queries_alone(tables: Path) -> None:
    """Two doors to one question, each query by its weight."""
    queries, judged = pd.read_csv(tables / "q.csv"), pd.read_csv(tables / "j.csv")
    queries["traffic"] = np.arange(1, len(queries) + 1)
    queries.to_csv(tables / "q.csv", index=False)
    asked = ("--by", "segment", "--measure", "nDCG@5", "--unjudged", "skip", "--method", "none", "--test", "t")
    weights = ("--queries", tables / "q.csv", "--query-weights", "traffic")
    done = scored(tables, *weights, *asked, "-o", tables / "out", "--report", tables / "page.html", "--verbose")
    assert done.exit_code == 0, done.stderr
    of_groups = pd.read_csv(tables / "out" / "group_comparisons.csv").set_index(["segment", "index"])
    tested = pd.read_csv(tables / "out" / "group_tests.csv").set_index(["segment", "measure"])
    page = (tables / "page.html").read_text()
    assert "Differences by segment" in page and "Tests of measures by segment" in page
    for segment in ("head", "tail"):
        inside = judged[judged["query_id"].isin(queries.loc[queries["segment"] == segment, "query_id"])]
        alone = rs.score(
            tables / "s.csv", inside, queries=queries, query_weights="traffic", scale="0-3", replicates=200,
            measures=["nDCG@5"], unjudged="skip", method="none",
        )  # fmt: skip
        columns = ["difference", "difference_low", "difference_high", "p_value"]
        here = of_groups.loc[(segment, "condensed nDCG@5")]
        there = alone.comparisons.set_index("index").loc["condensed nDCG@5"]
        assert here[columns].tolist() == pytest.approx(there[columns].tolist(), rel=SAME)
        test = tested.loc[(segment, "condensed nDCG@5")]
        assert test[["difference", "p_t"]].tolist() == pytest.approx(here[["difference", "p_value"]].tolist(), rel=SAME)
        assert f"{here['difference']:+.3f}" in done.stdout


def test_a_comparison_that_was_kept_keeps_what_queries_count(tables: Path) -> None:
    options = ("--queries", tables / "q.csv", "--query-weights", "traffic")
    first = figures(scored(tables, *options, "--save", tables / "kept.json", "--json"))
    one = pd.read_csv(tables / "s.csv")[["query_id", "result_id", "bm25"]].rename(columns={"bm25": "new"})
    one.to_csv(tables / "new.csv", index=False)
    words = ["score", tables / "new.csv", "--against", tables / "kept.json", "--json"]
    against = figures(relstudy(*words))
    assert against["bm25"] == pytest.approx(first["bm25"], rel=SAME)
    assert against["new"] == pytest.approx(first["bm25"], rel=SAME)


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({}, ("--query-weights", "clicks"), "--query-weights: there is no column 'clicks'; there are: judgment"),
        ({"traffic": 0}, (), "query q0 needs a number above 0 in traffic"),
        ({"query_id": "q5"}, (), "query q5 has two rows that differ"),
        ({}, ("--assist", "systems"), "a judge's help is for queries that count equally"),
    ],
)
def test_weights_that_are_none_are_refused(
    tables: Path, change: dict[str, object], options: tuple[str, ...], said: str
) -> None:
    queries = pd.read_csv(tables / "q.csv")
    for name, value in change.items():
        queries.loc[0, name] = value
    queries.to_csv(tables / "q.csv", index=False)
    done = scored(tables, "--queries", tables / "q.csv", "--query-weights", "traffic", *options)
    assert done.exit_code == 1
    assert said in done.stderr


def test_the_report_of_a_folder_weighs_queries_as_score_does(tables: Path) -> None:
    """It had no --queries, and a run kept with a table of queries was shown as one without."""
    folder = tables / "study"
    (folder / "scores").mkdir(parents=True)
    pd.read_csv(tables / "j.csv").assign(scale="0-3").to_csv(folder / "judgments.csv", index=False)
    pd.read_csv(tables / "s.csv").to_csv(folder / "scores" / "s.csv", index=False)
    pd.read_csv(tables / "q.csv").rename(columns={"traffic": "query_weight"}).to_csv(folder / "q.csv", index=False)

    def said(command: str, *options: object) -> dict[str, Any]:
        done = succeeds(command, folder, "--json", "--method", "none", "--replicates", "100", *options)
        return dict(json.loads(done.stdout))

    weighted = said("score", "--queries", folder / "q.csv")
    plain = said("report")  # the run that is kept rests on the table of queries
    assert plain["systems"]["bm25"]["pearson"] != weighted["systems"]["bm25"]["pearson"]
    page = said("report", "--queries", folder / "q.csv")
    for name in ("bm25", "dense"):
        assert page["systems"][name]["pearson"] == weighted["systems"][name]["pearson"]
    assert said("report", "--queries", folder / "q.csv", "--by", "segment")["by"]["column"] == "segment"
    assert "kept" in said("report", "--queries", folder / "q.csv")["figures_from"]
