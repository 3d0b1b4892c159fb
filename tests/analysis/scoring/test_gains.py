"""Gains are numbers, whole or not: nDCG of fractional gains against its formula (Jarvelin and Kekalainen 2002)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from relstudy.analysis.inspection.files import inspect_file
from relstudy.calibration.tables.judgments import read_judgments
from relstudy.common.tables.meaning.reading import Reading
from tests.commands import relstudy

ESCI = {"E": 1.0, "S": 0.1, "C": 0.01, "I": 0.0}
WORDS = {"E": "Exact", "S": "Substitute", "C": "Complement", "I": "Irrelevant"}
LABELS = {"q1": "SEICSIC", "q2": "CSEIISC", "q3": "IISCEES"}
"""Labels of seven products a query, in the order in which the system ranks them."""


def ndcg(gains: list[float], depth: int) -> float:
    """The discounted gains of a ranking over those of the best one."""
    discount = 1 / np.log2(np.arange(2, len(gains) + 2))[:depth]
    best = sorted(gains, reverse=True)
    return float(np.dot(gains[:depth], discount) / np.dot(best[:depth], discount))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scores = [f"{q},d{n},{9 - n}" for q, labels in LABELS.items() for n in range(len(labels))]
    (tmp_path / "scores.csv").write_text("\n".join(["query_id,result_id,new", *scores]) + "\n")
    for name, value in (("numbers", lambda x: f"{ESCI[x]:g}"), ("words", WORDS.get), ("grades", "ICSE".index)):
        rows = [f"{q},d{n},{value(x)}" for q, labels in LABELS.items() for n, x in enumerate(labels)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["query_id,result_id,judgment", *rows]) + "\n")
    return tmp_path


def scored(folder: Path, judgments: str, *options: object, measure: str = "nDCG@5") -> float:
    """The measure of a command."""
    told = [str(option) for option in options]
    base = ["score", str(folder / "scores.csv"), "-j", str(folder / f"{judgments}.csv"), "--replicates", "20", "--json"]
    done = relstudy(*base, "--measure", measure, *told)
    return found(done, "new", measure)


def found(done: Result, system: str, measure: str) -> float:
    """A system's measure in what was printed."""
    assert done.exit_code == 0, done.stderr
    figures = json.loads(done.stdout)["systems"][system]
    figures = figures.get("measures", figures)
    return float(next(each["value"] for name, each in figures.items() if name.endswith(measure)))


GAINS = ("--gains", "exact=1,substitute=.1,complement=.01,irrelevant=0")


@pytest.mark.parametrize(
    ("judgments", "options"),
    [
        ("numbers", ()),
        ("numbers", ("--scale", "0,0.01,0.1,1")),
        ("words", GAINS),
        ("words", ("--values", "exact=3,substitute=2,complement=1,irrelevant=0", *GAINS)),
        ("grades", ("--gains", "3=1,2=.1,1=.01,0=0")),
    ],
)
def test_fractional_gains_are_not_rounded(folder: Path, judgments: str, options: tuple[str, ...]) -> None:
    """A gain of .1 was rounded to 0, so that substitutes were worth as little as what is irrelevant."""
    expected = np.mean([ndcg([ESCI[x] for x in labels], 5) for labels in LABELS.values()])
    assert scored(folder, judgments, *options) == pytest.approx(
        expected, abs=1e-6
    )  # ir-measures keeps single precision


def test_whole_grades_gain_what_they_did(folder: Path) -> None:
    expected = np.mean([ndcg([float("ICSE".index(x)) for x in labels], 5) for labels in LABELS.values()])
    assert scored(folder, "grades") == pytest.approx(expected, abs=1e-6)  # ir-measures keeps single precision


def test_a_measure_of_whole_grades_is_refused_where_gains_are_fractions(folder: Path) -> None:
    base = ["score", str(folder / "scores.csv"), "-j", str(folder / "numbers.csv"), "--replicates", "20"]
    done = relstudy(*base, "--measure", "ERR@5")
    assert done.exit_code == 1
    assert "'ERR@5' takes whole grades, and gains here are fractions; nDCG takes them as they are" in done.stderr


def test_a_judgment_without_a_gain_is_named(folder: Path) -> None:
    base = ["score", str(folder / "scores.csv"), "-j", str(folder / "words.csv"), "--replicates", "20"]
    done = relstudy(*base, "--gains", "exact=1,substitute=.1,complement=.01")
    assert done.exit_code == 1 and "irrelevant" in done.stderr.casefold()


def test_a_saved_comparison_keeps_the_gains(folder: Path) -> None:
    saved = folder / "saved.json"
    first = scored(folder, "grades", "--gains", "3=1,2=.1,1=.01,0=0", "--save", saved)
    scores = (folder / "scores.csv").read_text().replace("new", "again")
    (folder / "again.csv").write_text(scores)
    command = ["score", str(folder / "again.csv"), "--against", str(saved), "--measure", "nDCG@5", "--json"]
    done = relstudy(*command)
    assert found(done, "again", "nDCG@5") == first


def test_qrels_of_fractional_gains_are_whole_multiples(folder: Path) -> None:
    scored(folder, "numbers", "--qrels", folder / "qrels.txt")
    grades = {line.split()[3] for line in (folder / "qrels.txt").read_text().splitlines()}
    assert grades == {"0", "1", "10", "100"}


def test_gains_in_a_table_in_words_and_in_qrels_have_one_scale(tmp_path: Path) -> None:
    """Labels in words were good from substitute on, the same gains as numbers from exact on: P@10 of .56 and .15."""
    gains = {"Irrelevant": 0, "Complement": 0.01, "Substitute": 0.1, "Exact": 1}
    rows = [(f"q{query}", f"d{result}", list(gains)[(query + result) % 4]) for query in range(8) for result in range(8)]
    words = "\n".join(["query_id,product_id,esci_label", *(",".join(row) for row in rows)]) + "\n"
    numbers = "\n".join(["query_id,product_id,gain", *(f"{q},{d},{gains[label]}" for q, d, label in rows)]) + "\n"
    (tmp_path / "words.csv").write_text(words)
    (tmp_path / "numbers.csv").write_text(numbers)
    (tmp_path / "gains.qrels").write_text("".join(f"{q} 0 {d} {gains[label]}\n" for q, d, label in rows))
    for name in ("words.csv", "numbers.csv"):
        command = inspect_file(tmp_path / name).command
        assert command is not None and command.endswith("--scale 0,0.01,0.1,1")
    scales = [
        read_judgments(tmp_path / "numbers.csv", Reading.typed(columns="product_id=result_id,gain=rating")).scale,
        read_judgments(tmp_path / "gains.qrels").scale,
    ]
    assert [(each.scale.name, each.scale.cut) for each in scales] == [("0,0.01,0.1,1", 0.055)] * 2


def test_points_in_tens_are_the_levels_that_stand_there_and_no_slider_that_nobody_moved_far(tmp_path: Path) -> None:
    rows = [f"q{query},d{result},{10 * ((query + result) % 4)}" for query in range(8) for result in range(8)]
    (tmp_path / "points.csv").write_text("\n".join(["query,doc,points", *rows]) + "\n")
    command = inspect_file(tmp_path / "points.csv").command
    assert command is not None and command.endswith("--scale 0,10,20,30")
