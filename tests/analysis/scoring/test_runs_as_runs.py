"""`relstudy score A.run -j qrels` prints what ir-measures gives for the same two files."""

from __future__ import annotations

import json
import random
from pathlib import Path

import ir_measures
import pytest
from click.testing import CliRunner

from relstudy.studyapp.cli import main

MEASURES = ("nDCG@10", "nDCG", "AP", "AP(rel=2)", "AP@20", "P@5", "P(rel=2)@10", "R@10", "RR", "Rprec", "Bpref")
MEASURES += ("infAP", "Judged@10", "Success@5", "SetP", "NumRet")
DIGITS = 1e-6  # the largest difference asked for; sums of floats in another order differ by some 1e-15


def scored(runs: list[Path], qrels: Path) -> dict[str, dict[str, float]]:
    """Each system's measures, out of the command's JSON."""
    arguments = ["score", *map(str, runs), "-j", str(qrels), "--replicates", "20", "--json", "--allow-low-coverage"]
    arguments += [part for name in MEASURES for part in ("--measure", name)]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    systems = json.loads(done.stdout)["systems"]
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
