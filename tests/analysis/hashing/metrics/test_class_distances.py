"""Distances within and between classes against the loop of Eq. 7 and 8, and what a query finds as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import relstudy as rs
from relstudy.analysis.hashing.codes.packed import Codes
from relstudy.analysis.hashing.metrics import class_distances as module
from relstudy.analysis.hashing.metrics.class_distances import class_distances, class_distances_figure
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.common.runtime.errors import RelstudyError
from tests.analysis.hashing.running import hash_json
from tests.commands import relstudy, succeeds


def test_distances_of_classes_are_equations_7_and_8_of_ding_li_and_li(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    rng = np.random.default_rng(6)
    bits, classes = rng.random((40, 5)) < 0.4, rng.integers(0, 3, 40)
    apart = (bits[:, None] != bits[None]).sum(axis=2)
    same = classes[:, None] == classes[None]
    for kind, each in enumerate(class_distances(Codes.from_bits(bits), Labels(classes=classes))):
        rows = classes == kind
        assert each.points == rows.sum()
        assert each.diameter == apart[rows][:, rows].max()
        assert each.nearest == apart[rows][:, ~rows].min()
        perfect = [apart[i][same[i]].max() < apart[i][~same[i]].min() for i in np.flatnonzero(rows)]
        assert each.perfect == pytest.approx(np.mean(perfect))


def test_one_class_alone_has_no_other_and_several_labels_are_refused() -> None:
    codes = Codes.from_bits(np.eye(3, dtype=bool))
    (only,) = class_distances(codes, Labels(classes=np.zeros(3, dtype=int)))
    assert (only.nearest, only.diameter, only.apart, only.perfect) == (None, 2, True, 1.0)
    with pytest.raises(RelstudyError, match="one class for each code, not several labels"):
        class_distances(codes, Labels(masks=np.ones((1, 3), dtype=np.uint64)))
    assert "h_s" in class_distances_figure([only], 3)


def test_the_command_prints_them_and_draws_figure_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("codes.npy", np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 0]], dtype=bool))
    Path("labels.txt").write_text("cat\ncat\ndog\ndog\n")
    arguments = ["hash", "classes", "codes.npy", "--labels", "labels.txt"]
    result = succeeds(*arguments, "--figure", "classes.svg")
    assert "2 of 2 classes have h_s < h_d" in result.output
    assert "h_d" in Path("classes.svg").read_text()
    told = json.loads(relstudy(*arguments, "--json").stdout)
    shown = [(each["name"], each["diameter"], each["nearest"]) for each in told["classes"]]
    assert shown == [("cat", 1, 3), ("dog", 1, 3)]


def test_classes_have_their_names_however_labels_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of one label and a comma was a class of its own name, which did not fit; float classes were 1.0 in Python
    and 1 in the command."""
    monkeypatch.chdir(tmp_path)
    bits = np.array([[0, 0], [0, 1], [1, 1]])
    np.save("codes.npy", bits == 1)
    Path("comma.txt").write_text("cat,\ndog\ncat\n")
    Path("words.txt").write_text("big cat\ndog\nbig cat\n")
    for name, kinds in (("whole", [1, 0, 1]), ("real", [1.0, 0.0, 1.0]), ("yes", [True, False, True])):
        np.save(f"{name}.npy", np.array(kinds))
        assert rs.hashing.class_distances(bits, np.array(kinds)).index.tolist() == ["0", "1"]
    for labels, names in (
        *((f"{name}.npy", ["0", "1"]) for name in ("whole", "real", "yes")),
        ("comma.txt", ["cat", "dog"]),
        ("words.txt --label-separator line", ["big cat", "dog"]),
    ):
        told = hash_json(f"classes codes.npy --labels {labels}")
        assert [each["name"] for each in told["classes"]] == names
    with pytest.raises(RelstudyError, match="one class for each code, not several labels"):
        rs.hashing.class_distances(bits, ["a", "", "a"])


@pytest.mark.slow
def test_true_positives_stand_in_a_picture_by_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("q.npy", np.array([[0, 0, 0], [1, 1, 1]], dtype=bool))
    np.save("db.npy", np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool))
    np.save("yq.npy", np.array([0, 1]))
    np.save("y.npy", np.array([0, 0, 1, 0]))
    np.save("qp.npy", np.zeros((2, 8, 8, 3), dtype=np.uint8))
    np.save("dp.npy", np.full((4, 8, 8, 3), 200, dtype=np.uint8))
    files = "--queries q.npy --database db.npy --query-labels yq.npy --database-labels y.npy --query-pictures qp.npy"
    arguments = ["hash", "pictures", *files.split(), "--database-pictures", "dp.npy", "-o", "out.svg"]
    succeeds(*arguments, "--query", "0")
    drawn = Path("out.svg").read_text()
    assert drawn.count("<image") == 3  # the query, one true positive at distance 1, one at distance 2
    assert "distance 0 to 1: 2 codes, 1 true positives, 1 shown" in drawn
    refused = relstudy(*arguments, "--query", "2")
    assert "there are 2 queries, counted from 0" in refused.output
