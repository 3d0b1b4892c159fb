"""A system whose first results nobody judged: every output says so where it says who leads, and nothing rests on what
such results may move."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.sampling.probability_draws import inclusion_probabilities, rank_share, systematic_sample
from tests.commands import succeeds

QUERIES, RESULTS, DEPTH, DRAWN = 30, 100, 20, 12
HEADLINE = re.compile(r"Use new: it is ahead of .+, but nothing judged speaks of (\d+) % of new's first 10 results\.")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems whose first 20 of 100 results are the pool, of which 12 a query were drawn and judged, and a
    newcomer that orders the pool best and ranks above it what lies outside."""
    folder, random = tmp_path_factory.mktemp("unseen"), np.random.default_rng(7)
    truth = random.normal(size=(QUERIES, RESULTS))
    grade = 1 + sum((truth > cut) * 1.0 for cut in (0.3, 0.9, 1.3, 1.8))
    scores = {
        name: r * truth + np.sqrt(1 - r * r) * random.normal(size=truth.shape)
        for name, r in (("alpha", 0.7), ("beta", 0.5), ("gamma", 0.3))
    }
    pooled = np.any([(-each).argsort(axis=1).argsort(axis=1) < DEPTH for each in scores.values()], axis=0)
    scores["new"] = truth + 0.1 * random.normal(size=truth.shape) + np.where(pooled, 0.0, 1.0)
    judged, pool = [], []
    for query in range(QUERIES):
        inside = np.flatnonzero(pooled[query])
        ranks = [rank_share(scores[name][query, inside], 1.0)[0] for name in ("alpha", "beta", "gamma")]
        chance = inclusion_probabilities(0.9 * np.mean(ranks, axis=0) + 0.1 / len(inside), DRAWN)
        judged += [
            (f"q{query}", f"d{inside[k]}", grade[query, inside[k]], chance[k], 1.0, "the first 20")
            for k in systematic_sample(chance, random)
        ]
        pool += [(f"q{query}", f"d{result}", DEPTH) for result in inside]
    columns = ["query_id", "result_id", "judgment", "inclusion_probability", "query_probability", "pool"]
    pd.DataFrame(judged, columns=columns).to_csv(folder / "judgments.csv", index=False)
    pd.DataFrame(pool, columns=["query_id", "result_id", "depth"]).to_csv(folder / "pool.csv", index=False)
    query, result = np.divmod(np.arange(QUERIES * RESULTS), RESULTS)
    ids = {"query_id": [f"q{q}" for q in query], "result_id": [f"d{d}" for d in result]}
    pd.DataFrame(ids | {name: each.ravel() for name, each in scores.items()}).to_csv(folder / "scores.csv", index=False)
    return folder


OPTIONS = ("--scale", "1-5", "--method", "none", "--replicates", 100, "--measure", "P@10")


@pytest.mark.slow
def test_the_headline_says_of_a_leader_how_many_of_its_first_results_nothing_judged_speaks(
    study: Path, tmp_path: Path
) -> None:
    """In every output: the terminal's default, the JSON, the page and Python."""
    given = ["score", study / "scores.csv", "-j", study / "judgments.csv", *OPTIONS]
    printed = succeeds(*given, "--report", tmp_path / "page.html").stdout
    content = json.loads(succeeds(*given, "--json").stdout)
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace("&#39;", "'").replace("&#x27;", "'")
    found = rs.score(
        study / "scores.csv", study / "judgments.csv", scale="1-5", method="none", replicates=100, measures=["P@10"]
    )
    of_run = content["systems"]["new"]
    assert of_run["measures"]["estimated P@10"]["low"] is None
    share = 1 - of_run["first_judged"]["covered@10"]
    told = (printed, content["verdict"]["headline"], page, found.verdict.headline)
    for text in told:
        said = HEADLINE.search(text)
        assert said is not None and int(said[1]) == round(100 * share) and share > 0.3
    unseen = content["verdict"]["unseen"]
    assert "estimated P@10 of new has no interval for that reason: have its first results judged" in unseen
    assert all(unseen in text for text in (printed, page, str(found.verdict)))


@pytest.mark.slow
def test_no_reliability_range_or_letter_rests_on_a_figure_that_what_nobody_judged_may_move(study: Path) -> None:
    changes: dict[str, Any] = {"scale": "1-5", "method": "none", "replicates": 50, "measures": ["P@10"]}
    table, judged = pd.read_csv(study / "scores.csv"), study / "judgments.csv"
    all_four, three = rs.score(table, judged, **changes), rs.score(table.drop(columns="new"), judged, **changes)
    found, alone = (each.generalizability("P@10") for each in (all_four, three))
    assert found.table.equals(alone.table) and found.coefficients.equals(alone.coefficients)
    assert any(note.startswith("without new, since nothing judged speaks of") for note in found.notes)
    for tests in ({"correction": "tukey"}, {"correction": "holm"}):
        p = [each.tests(draws=500, **tests).set_index(["first", "second"])["p_corrected"] for each in (all_four, three)]
        assert p[0].drop("new", level="second").tolist() == p[1].tolist()
    latex = all_four.to_latex("letters").splitlines()
    marked = {
        name for name in ("alpha", "beta", "gamma", "new") for line in latex if re.match(rf"{name} .*mathrm", line)
    }
    assert marked == {"alpha", "beta", "gamma"}
    measures = latex[latex.index(r"\caption{Measures by their names in ir-measures.}") :]
    (row,) = (line for line in measures if line.startswith("new "))
    assert "textbf" not in row, "bold is what was tested and not found worse"
    assert all_four.verdict.contrary is None, "nor is another ahead of it by chance alone, which nobody tested"


@pytest.mark.parametrize("pool", [True, False])
def test_of_judgments_that_no_lot_drew_the_same_is_said_of_a_leader(study: Path, tmp_path: Path, pool: bool) -> None:
    """All of the pool is judged; or some pairs are, and who chose them is not known."""
    pairs = pd.read_csv(study / "pool.csv")[["query_id", "result_id"]]
    scores = pd.read_csv(study / "scores.csv")
    near = pairs.merge(scores)["new"]
    pairs["judgment"] = np.clip(np.round(3 + near), 1, 5)
    if pool:
        pairs = pairs.assign(inclusion_probability=1.0, query_probability=1.0, pool="the first 20")
        (tmp_path / "pool.csv").write_bytes((study / "pool.csv").read_bytes())
    pairs.to_csv(tmp_path / "judgments.csv", index=False)
    found = rs.score(scores, tmp_path / "judgments.csv", scale="1-5", method="none", replicates=50, measures=["P@10"])
    said = "nothing judged speaks of" if pool else "nobody judged"
    assert f", but {said} " in found.verdict.headline and "of new's first 10 results." in found.verdict.headline
    judged_alone = rs.score(
        scores.merge(pairs[["query_id", "result_id"]]), tmp_path / "judgments.csv", scale="1-5", method="none",
        replicates=50, measures=["P@10"],
    )  # fmt: skip
    assert "judged" not in judged_alone.verdict.headline, "such a table says nothing of what a system ranks first"


def test_a_run_that_is_behind_since_nobody_judged_its_results_may_be_better_than_it_looks(tmp_path: Path) -> None:
    queries = [f"q{number}" for number in range(12)]
    (tmp_path / "q.qrels").write_text("".join(f"{q} 0 d{k} {int(k < 4)}\n" for q in queries for k in range(12)))
    random = np.random.default_rng(1)
    for name, ids in (("pooled", "d"), ("outside", "x")):
        order = [random.permutation(12) for _ in queries]
        lines = [
            f"{q} Q0 {ids if place < 6 else 'd'}{k} 1 {99 - place} {name}\n"
            for q, each in zip(queries, order, strict=True)
            for place, k in enumerate(each)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    runs = {name: tmp_path / f"{name}.run" for name in ("pooled", "outside")}
    verdict = rs.score(runs, tmp_path / "q.qrels", measures=["P@5"], method="none", replicates=50).verdict
    assert verdict.headline == "Use pooled: it is ahead of outside."
    assert verdict.unseen == (
        "Nobody judged 100 % of outside's first 5 results, which count as poor: it may be better than P@5 says."
    )
    assert verdict.dropped is None, "it is not known that it can be dropped"
    worst_first = [f"{q} Q0 d{k} 1 {k} worse\n" for q in queries for k in range(12)]
    (tmp_path / "worse.run").write_text("".join(worst_first))
    three = rs.score(
        runs | {"worse": tmp_path / "worse.run"}, tmp_path / "q.qrels", measures=["P@5"], method="none", replicates=50
    ).verdict
    assert three.dropped is not None and three.dropped.startswith("You can drop one system: worse is behind pooled by")
    assert "Of outside too much is unjudged to say so." in three.dropped


@pytest.mark.slow
def test_beside_a_saved_comparison_a_newcomer_has_the_figures_and_words_of_the_folder(
    study: Path, tmp_path: Path
) -> None:
    """The file keeps the pool, whose share of the newcomer's first results is not that for which judged ones stand."""
    table, changes = pd.read_csv(study / "scores.csv"), {"method": "none", "replicates": 100, "measures": ["P@10"]}
    old, new = table.drop(columns="new"), table[["query_id", "result_id", "new"]]
    rs.score(old, study / "judgments.csv", scale="1-5", **changes).save(tmp_path / "kept.json")
    together = rs.score(table, study / "judgments.csv", scale="1-5", **changes)
    for judgments in (None, study / "judgments.csv"):
        beside = rs.score(new, judgments, against=tmp_path / "kept.json")
        assert beside["new"].equals(together["new"]) and beside.verdict.headline == together.verdict.headline
        assert [n for n in beside.notes if "outside the pool" in n] == [
            n for n in together.notes if "outside the pool" in n
        ]


def test_plan_and_score_see_the_same_pool_and_the_index_that_study_toml_states(study: Path, tmp_path: Path) -> None:
    for name in ("judgments.csv", "pool.csv", "scores.csv"):
        (tmp_path / name).write_bytes((study / name).read_bytes())
    (tmp_path / "study.toml").write_text('[analysis]\nprimary = "nDCG@10"\n')
    scored = rs.score(tmp_path / "scores.csv", tmp_path / "judgments.csv", scale="1-5", method="none", replicates=20)
    assert scored.result.primary.name == "estimated nDCG@10"
    planned = {"scores": tmp_path / "scores.csv", "systems": ("alpha", "new"), "scale": "1-5", "studies": 20}
    why = scored.result["new"].measures["estimated nDCG@10"].reason or ""
    assert "number of relevant results per query is too uncertain" in why
    with pytest.raises(
        RelstudyError, match=r"nDCG@10 cannot be planned for, .*number of relevant results per query is too uncertain"
    ):
        rs.plan(tmp_path / "judgments.csv", **planned)
    (tmp_path / "study.toml").write_text("")
    again = rs.score(tmp_path / "scores.csv", tmp_path / "judgments.csv", scale="1-5", method="none", replicates=20)
    why = (again.result["new"].measures["estimated P@10"].reason or "").removeprefix("no interval: ")
    assert why.startswith("nothing judged speaks of")
    with pytest.raises(RelstudyError, match=re.escape(why)):
        rs.plan(tmp_path / "judgments.csv", index="P@10", **planned)
