"""`relstudy score A.run -j qrels` prints what ir-measures gives for the same two files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import relstudy as rs
from relstudy.common.errors import RelstudyError
from relstudy.studyapp.cli import main

MEASURES = ("nDCG@10", "nDCG", "AP", "AP(rel=2)", "AP@20", "P@5", "P(rel=2)@10", "R@10", "RR", "Rprec", "Bpref")
MEASURES += ("infAP", "Judged@10", "Success@5", "SetP", "NumRet")
DIGITS = 1e-6  # the largest difference asked for; sums of floats in another order differ by some 1e-15


def content(runs: list[Path], qrels: Path, *more: str, measures: tuple[str, ...] = MEASURES) -> dict[str, Any]:
    """The command's JSON."""
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--replicates", "20", "--json", "--allow-low-coverage"]
    arguments += [part for name in measures for part in ("--measure", name)]
    done = CliRunner().invoke(main, [*arguments, *more], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return dict(json.loads(done.stdout))


def scored(runs: list[Path], qrels: Path) -> dict[str, dict[str, float]]:
    """Each system's measures, out of the command's JSON."""
    systems = content(runs, qrels)["systems"]
    return {
        system: {name: figures["measures"][name]["value"] for name in names()} for system, figures in systems.items()
    }


def names() -> list[str]:
    return [str(ir_measures.parse_measure(name)) for name in MEASURES]


def theirs(run: Path, qrels: Path) -> dict[str, float]:
    parsed = [ir_measures.parse_measure(name) for name in MEASURES]
    judged, ranked = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    return {str(measure): value for measure, value in ir_measures.calc_aggregate(parsed, judged, ranked).items()}


def made(folder: Path, seed: int) -> tuple[list[Path], Path]:
    """Three runs with tied scores, results that nobody judged, and a query and results that they do not hold; and qrels
    with grades of -1 and -2."""
    draw = random.Random(seed)
    results = [f"d{number:02}" for number in range(60)]
    queries = [f"q{number}" for number in range(12)]
    qrels = folder / "made.qrels"
    lines = [
        f"{query} 0 {result} {draw.choice((-2, -1, 0, 0, 0, 1, 1, 2, 3))}"
        for query in queries
        for result in draw.sample(results, 30)
    ]
    qrels.write_text("\n".join(lines) + "\n")
    runs = []
    for system in ("first", "second", "third"):
        lines = [
            f"{query} Q0 {result} {rank} {draw.randrange(6)} {system}"
            for query in queries
            if (system, query) != ("second", "q3")
            for rank, result in enumerate(draw.sample(results, 40), start=1)
        ]
        runs.append(folder / f"{system}.run")
        runs[-1].write_text("\n".join(lines) + "\n")
    return runs, qrels


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ties_gaps_and_unjudged_results_have_the_values_of_ir_measures(tmp_path: Path, seed: int) -> None:
    runs, qrels = made(tmp_path, seed)
    ours = scored(runs, qrels)
    for run in runs:
        assert ours[run.stem] == pytest.approx(theirs(run, qrels), abs=DIGITS), run.stem


@pytest.mark.slow
def test_comments_in_qrels_and_runs_change_no_value(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 4)
    plain = scored(runs, qrels)
    for file in (*runs, qrels):
        file.write_text("# made\n" + file.read_text().replace("\n", "\n# between\n", 1))
    assert scored(runs, qrels) == plain


@pytest.mark.real_data
def test_trec_evals_own_run_has_the_values_of_ir_measures(shared_data: Path) -> None:
    run, qrels = (shared_data / "trec_eval_test" / name for name in ("results.test", "qrels.test"))
    (ours,) = scored([run], qrels).values()
    assert ours == pytest.approx(theirs(run, qrels), abs=DIGITS)


@pytest.mark.parametrize("seed", [1, 2])
def test_skipping_what_nobody_judged_gives_the_values_of_ir_measures_on_runs_without_it(
    tmp_path: Path, seed: int
) -> None:
    runs, qrels = made(tmp_path, seed)
    ours = content(runs, qrels, "--unjudged", "skip")["systems"]
    judged = {(each.query_id, each.doc_id) for each in ir_measures.read_trec_qrels(str(qrels)) if each.relevance >= 0}
    for run in runs:
        lines = [line for line in run.read_text().splitlines() if tuple(line.split()[0:3:2]) in judged]
        (tmp_path / "kept.run").write_text("\n".join(lines) + "\n")
        have = {name.removeprefix("condensed "): each["value"] for name, each in ours[run.stem]["measures"].items()}
        assert have == pytest.approx(theirs(tmp_path / "kept.run", qrels), abs=DIGITS)
        assert all(name.startswith("condensed ") for name in ours[run.stem]["measures"])


def test_beside_each_measure_stands_how_many_of_the_first_results_are_judged(tmp_path: Path) -> None:
    """As deep as the measures look; as ir-measures' Judged, but for grades below 0, which are no judgments."""
    runs, qrels = made(tmp_path, 1)
    for run in runs:  # no ties, which ir-measures' Judged breaks unlike trec_eval
        run.write_text(
            "".join(
                f"{q} Q0 {d} {rank} {1000 - int(rank)} {s}\n"
                for q, _, d, rank, _, s in map(str.split, run.read_text().splitlines())
            )
        )
    whole = tmp_path / "whole.qrels"
    whole.write_text("".join(f"{line}\n" for line in qrels.read_text().splitlines() if " -" not in line))
    ours = content(runs, qrels, measures=("nDCG@10", "P@5", "AP"))["systems"]
    names = {"judged@5": "Judged@5", "judged@10": "Judged@10", "judged": "Judged@1000"}
    for run in runs:
        want = [ir_measures.parse_measure(name) for name in names.values()]
        values = ir_measures.calc_aggregate(
            want, ir_measures.read_trec_qrels(str(whole)), ir_measures.read_trec_run(str(run))
        )
        expected = {name: values[ir_measures.parse_measure(other)] for name, other in names.items()}
        assert ours[run.stem]["first_judged"] == pytest.approx(expected, abs=DIGITS)


@pytest.mark.slow
def test_judged_shares_stand_in_every_output(tmp_path: Path) -> None:
    runs, qrels = made(tmp_path, 2)
    result = rs.score({run.stem: run for run in runs}, qrels, measures=("nDCG@10", "AP"), method="none", replicates=20)
    shares = result.table.set_index("system")["judged@10"]
    by_query = result.per_query.groupby("system")["judged@10"].mean()
    assert shares.to_dict() == pytest.approx(by_query.to_dict())
    assert "judged@10" in result.to_latex()
    page = tmp_path / "page.html"
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--replicates", "20", "--method", "none"]
    arguments += ["--report", str(page)]
    assert "judged@10" in CliRunner().invoke(main, arguments).stdout
    assert "judged@10 and judged: how many" in page.read_text()


def test_unjudged_as_poor_is_refused_where_the_judgments_are_no_whole_qrels() -> None:
    pairs = pd.DataFrame({"query_id": list("aabb"), "result_id": list("wxyz"), "judgment": [5.0, 1, 4, 2]})
    scores = pairs.drop(columns="judgment").assign(system="one", score=[0.9, 0.2, 0.4, 0.3])
    with pytest.raises(RelstudyError, match="under whole qrels alone"):
        rs.score(scores, pairs, unjudged="poor", method="none")


def strangers(folder: Path) -> tuple[list[Path], Path]:
    """Six runs, and qrels of the first ten of five of them without much of what the sixth, the best, ranks first."""
    draw = np.random.default_rng(5)
    truth = draw.integers(0, 4, (40, 200)) * (draw.random((40, 200)) < 0.25)
    first = {}
    for system, noise in enumerate((1.6, 1.8, 2.0, 2.2, 2.4, 1.0)):
        name = f"pooled{system}" if system < 5 else "outsider"
        first[name] = np.argsort(-(truth + noise * draw.normal(size=truth.shape)), axis=1)[:, :50]
    pooled = {(q, int(d)) for name, best in first.items() if name[0] == "p" for q in range(40) for d in best[q, :10]}
    pooled -= {(q, int(d)) for q in range(40) for d in first["outsider"][q, :4]}
    qrels = folder / "pool.qrels"
    qrels.write_text("".join(f"q{query} 0 d{each} {truth[query, each]}\n" for query, each in sorted(pooled)))
    runs = []
    for name, best in first.items():
        lines = [f"q{q} Q0 d{d} {rank} {100 - rank} {name}\n" for q in range(40) for rank, d in enumerate(best[q], 1)]
        runs.append(folder / f"{name}.run")
        runs[-1].write_text("".join(lines))
    return runs, qrels


@pytest.mark.slow
def test_verdict_measures_and_judged_shares_of_six_runs_one_outside_the_pool_tell_one_story(tmp_path: Path) -> None:
    runs, qrels = strangers(tmp_path)
    found = content(runs, qrels, "--method", "none", measures=("nDCG@10", "AP"))
    figures = {name: system["measures"]["nDCG@10"]["value"] for name, system in found["systems"].items()}
    shares = {name: system["first_judged"]["judged@10"] for name, system in found["systems"].items()}
    assert min(shares, key=shares.__getitem__) == "outsider" and shares["outsider"] < 0.6
    verdict = found["verdict"]
    assert max(figures, key=figures.__getitem__) in verdict["best"] and "outsider" not in verdict["best"]
    assert verdict["contrary"] is not None and "outsider is ahead by" in verdict["contrary"]
    assert "Results that nobody judged are poor to nDCG@10 and have no part in" in verdict["contrary"]
    assert f"{100 * shares['outsider']:.0f} % of outsider's" in verdict["contrary"]
    skipped = content(runs, qrels, "--method", "none", "--unjudged", "skip", measures=("nDCG@10", "AP"))["verdict"]
    assert skipped["best"][0] == "outsider"
