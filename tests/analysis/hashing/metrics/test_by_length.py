"""Methods by code lengths, as hashing papers print them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relstudy as rs
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy, succeeds


@pytest.fixture(scope="module")
def codes() -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    labels = random.integers(0, 4, 260)
    vectors = random.normal(size=(4, 16))[labels] + 1.5 * random.normal(size=(260, 16))
    systems = {}
    for method, noise in (("far", 3.0), ("near", 0.0)):
        for bits in (8, 16):
            signs = (vectors + noise * random.normal(size=vectors.shape)) @ random.normal(size=(16, bits)) > 0
            systems[f"{method}-{bits}"] = signs[:60], signs[60:]
    return systems, labels[:60], labels[60:]


def test_the_table_has_each_figure_the_best_and_what_others_lack_of_it(codes) -> None:
    systems, own, theirs = codes
    found = rs.hashing.compare(systems, own, theirs, k=20)
    counts = {name: rs.hashing.count(*each, own, theirs) for name, each in systems.items()}
    assert found.as_json() == rs.hashing.compare(counts, k=20).as_json()
    table = found.by_length.set_index(["figure", "method", "bits"])
    for name, each in counts.items():
        alone = rs.hashing.evaluate(each, k=20).table["expected"]
        method, bits = name.split("-")
        for figure in ("mAP", "mAP@20", "P@20"):
            assert table.loc[(figure, method, int(bits)), "value"] == pytest.approx(alone[figure])
    assert table["best"].tolist() == [method == "near" for _, method, _ in table.index]
    lacks = table[~table["best"]]
    best = [table.loc[(figure, "near", bits), "value"] for figure, _, bits in lacks.index]
    assert lacks["difference"].to_numpy() == pytest.approx(lacks["value"].to_numpy() - best)
    assert ((lacks["low"] < lacks["difference"]) & (lacks["difference"] < lacks["high"])).all()
    paired = found.comparisons.set_index(["first", "second"]).loc[("far-8", "near-8")]
    assert paired["low"] == pytest.approx(table.loc[("mAP", "far", 8), "low"])


def test_the_command_prints_it_and_writes_csv_and_latex(codes, tmp_path: Path) -> None:
    systems, own, theirs = codes
    for name, each in systems.items():
        rs.hashing.count(*each, own, theirs).save(tmp_path / f"{name}.npz")
    tables = sorted(map(str, tmp_path.glob("*.npz")))
    csv, tex = tmp_path / "methods.csv", tmp_path / "methods.tex"
    said = succeeds("hash", "compare", *tables, "--k", 20, "--table", csv, "--table", tex).output
    frame = rs.hashing.compare(systems, own, theirs, k=20).by_length
    best = frame[(frame["figure"] == "mAP@20") & (frame["method"] == "near")]["value"]
    assert all(f"{value:.4f}*" in said for value in best)
    pd.testing.assert_frame_equal(
        pd.read_csv(csv)[["figure", "method", "bits", "value"]], frame[["figure", "method", "bits", "value"]]
    )
    assert all(rf"\textbf{{{value:.4f}}}" in tex.read_text() for value in best)
    refused = relstudy("hash", "compare", *tables, "--table", tmp_path / "methods.docx")
    assert refused.exit_code == 1 and ".csv or .tex" in refused.output
    assert relstudy("hash", "compare", *tables, "--table", tables[0]).exit_code == 1
    alone = succeeds("hash", "compare", tables[0], tables[2]).output
    assert "best of its length" not in alone, "one length says no more than the table of systems"


def test_two_tables_of_one_method_and_length_have_no_such_table(codes) -> None:
    systems, own, theirs = codes
    twice = {"near-8": systems["near-8"], "near_8bits": systems["far-8"]}
    assert rs.hashing.compare(twice, own, theirs).by_length.empty
    with pytest.raises(RelstudyError, match="labels and a truth are for codes"):
        rs.hashing.compare({"near": rs.hashing.count(*systems["near-8"], own, theirs)}, database_labels=theirs)
    with pytest.raises(RelstudyError, match="system near: counts, or codes"):
        rs.hashing.compare({"near": systems["near-8"][0]}, own, theirs)
