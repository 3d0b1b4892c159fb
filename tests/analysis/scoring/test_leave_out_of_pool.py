"""Each system left out of the pool: the figures of qrels from which somebody took its own results by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds

MEASURES = ("nDCG@10", "AP", "P@5", "Bpref", "infAP", "Judged@5")
DEPTH = 8
DIGITS = 1e-9  # sums of some tens of doubles in another order


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Path]:
    """Three runs without ties, two of which are alike; and qrels of their first 8, with a grade below 0 here and there.
    Of one query nobody but the first system brought in anything."""
    folder, draw = tmp_path_factory.mktemp("left_out"), random.Random(4)
    results = [f"d{number:02}" for number in range(50)]
    grades, runs = {}, {}
    order = {(q, each): draw.sample(results, 30) for q in range(10) for each in ("first", "second")}
    for (q, each), found in list(order.items()):
        if each == "second":
            swapped = found[:6] + found[8:12] + found[6:8] + found[12:]
            order[q, "third"] = swapped
    for (q, _), found in order.items():
        for result in found[:DEPTH]:
            grades[q, result] = draw.choice((-1, 0, 0, 1, 2, 3))
    grades = {key: max(grade, 0) if key[0] == 9 else grade for key, grade in grades.items()}
    only = set(order[9, "first"][:DEPTH]) - set(order[9, "second"][:DEPTH]) - set(order[9, "third"][:DEPTH])
    grades = {key: grade for key, grade in grades.items() if key[0] != 9 or key[1] in only}
    qrels = folder / "pool.qrels"
    qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for (q, d), grade in grades.items()))
    for system in ("first", "second", "third"):
        runs[system] = folder / f"{system}.run"
        rows = [f"{q} Q0 {d} {k} {90 - k} {system}" for (q, of), found in order.items() if of == system
                for k, d in enumerate(found, 1)]  # fmt: skip
        runs[system].write_text("\n".join(rows) + "\n")
    return runs, qrels


def by_hand(runs: dict[str, Path], qrels: Path, left: str | None) -> dict[str, dict[str, float]]:
    """ir-measures on qrels without what one system alone has among its first; a query that is lost counts 0."""
    read = {name: list(ir_measures.read_trec_run(str(path))) for name, path in runs.items()}
    first = {
        name: {(each.query_id, each.doc_id) for each in rows if each.score > 90 - DEPTH - 0.5}
        for name, rows in read.items()
    }
    others = set().union(*(rows for name, rows in first.items() if name != left))
    own = first[left] - others if left else set()
    judged = list(ir_measures.read_trec_qrels(str(qrels)))
    kept = [each for each in judged if (each.query_id, each.doc_id) not in own or each.relevance < 0]
    queries = {each.query_id for each in judged}
    parsed = [ir_measures.parse_measure(name) for name in MEASURES]
    found: dict[str, dict[str, float]] = {str(measure): {} for measure in parsed}
    for name, rows in read.items():
        values = list(ir_measures.iter_calc(parsed, kept, rows))
        for measure in parsed:
            sums = sum(each.value for each in values if each.measure == measure)
            found[str(measure)][name] = sums / len(queries)
    return found


def scored(files: tuple[dict[str, Path], Path], **changes: Any) -> rs.api.scores.Scores:
    chosen: dict[str, Any] = {"measures": MEASURES, "method": "none", "replicates": 20, "pool_depth": DEPTH}
    return rs.score(files[0], files[1], **(chosen | changes))


def test_figures_are_those_of_qrels_without_a_systems_own_results(files: tuple[dict[str, Path], Path]) -> None:
    table = scored(files).left_out.set_index(["measure", "system"])
    whole = by_hand(*files, None)
    for system in files[0]:
        rest = by_hand(*files, system)
        for measure, values in rest.items():
            row = table.loc[(measure, system)]
            assert row["value"] == pytest.approx(whole[measure][system], abs=DIGITS)
            assert row["without"] == pytest.approx(values[system], abs=DIGITS), (measure, system)
            assert row["rank_without"] == 1 + sum(each > values[system] + DIGITS for each in values.values())
    assert table.loc["AP", "alone"].gt(0).all() and (table.loc["AP", "change"] < 0).all()


@pytest.mark.slow
def test_a_system_that_brought_in_nothing_alone_keeps_every_figure(files: tuple[dict[str, Path], Path]) -> None:
    runs, qrels = files
    table = scored((runs | {"copy": runs["first"]}, qrels)).left_out
    same = table[table["system"].isin(["first", "copy"])]
    assert (same["alone"] == 0).all() and (same["change"] == 0).all()


def test_unjudged_results_that_are_skipped_are_skipped_here_too(files: tuple[dict[str, Path], Path]) -> None:
    result = scored(files, measures=["nDCG@10"], unjudged="skip")
    table = result.left_out.set_index("system")
    assert set(table["measure"]) == {"condensed nDCG@10"}
    for system in files[0]:
        assert table.loc[system, "value"] == pytest.approx(result[system]["condensed nDCG@10"], abs=DIGITS)


@pytest.mark.slow
def test_output_json_page_and_csv_say_the_same(files: tuple[dict[str, Path], Path], tmp_path: Path) -> None:
    runs, qrels = files
    arguments = ["score", *map(str, runs.values()), "-j", str(qrels), "--measure", "AP", "--method", "none"]
    arguments += ["--replicates", "20", "--pool-depth", str(DEPTH)]
    page = tmp_path / "page.html"
    done = succeeds(*arguments, "-o", tmp_path / "out", "--report", page)
    written = pd.read_csv(tmp_path / "out" / "left_out.csv")
    found = json.loads(relstudy(*arguments, "--json").stdout)["left_out"]
    assert found["depth"] == DEPTH
    assert [each["without"] for each in found["systems"]] == pytest.approx(written["without"].tolist())
    assert written["without"].tolist() == pytest.approx(scored(files, measures=["AP"]).left_out["without"].tolist())
    assert f"{written['without'][0]:.3f}" in done.stdout and "Left out of the pool" in page.read_text()


@pytest.mark.slow
def test_without_whole_qrels_or_all_runs_it_is_refused_in_a_sentence(
    files: tuple[dict[str, Path], Path], tmp_path: Path
) -> None:
    runs, qrels = files
    pairs = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz"), "judgment": [5.0, 1, 4, 2]})
    scores = pairs.drop(columns="judgment").assign(one=[0.9, 0.2, 0.4, 0.3], two=[0.1, 0.2, 0.3, 0.4])
    with pytest.raises(RelstudyError, match="goes with whole qrels"):
        rs.score(scores, pairs, pool_depth=10, method="none")
    with pytest.raises(RelstudyError, match="two systems and a measure are needed"):
        scored(({"first": runs["first"]}, qrels))
    scored(({"first": runs["first"], "second": runs["second"]}, qrels), pool_depth=None).save(tmp_path / "kept.json")
    with pytest.raises(RelstudyError, match="of first and second it is not kept"):
        rs.score({"third": runs["third"]}, against=tmp_path / "kept.json", pool_depth=5)
