"""Supervised encoders on CIFAR-10's pictures, and what two papers find of deep ones, in their small versions."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from evidence import dispersion_papers
from evidence.hashing_features import gradient_features, read_pictures
from relstudy.analysis.hashing.counting.counts import CountTable, count
from relstudy.analysis.hashing.encoders import ENCODERS
from relstudy.analysis.hashing.encoders.deep.encoders import MDSH
from relstudy.analysis.hashing.metrics.average_precision import average_precision
from relstudy.analysis.hashing.metrics.ball import ramap
from relstudy.analysis.hashing.metrics.mean_average_precision import mean_average_precision
from relstudy.analysis.hashing.truth.labels import Labels
from relstudy.analysis.hashing.truth.relevance import LabelTruth

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def work(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script's folder, in which it keeps every twentieth picture once they are unpacked."""
    folder = tmp_path_factory.mktemp("pictures")
    read_pictures(shared_data / "cifar10_jpeg" / "images.tar.xz", folder, 20)
    return folder


@pytest.mark.real_data
def test_supervised_codes_beat_itq_on_pictures(work: Path, shared_data: Path) -> None:
    pictures, classes, testing = read_pictures(shared_data / "cifar10_jpeg" / "images.tar.xz", work, 20)
    coarse = gradient_features(pictures)[:, 576:720]  # gradients in cells of 8 pixels
    truth = LabelTruth(Labels(classes=classes[testing]), Labels(classes=classes[testing]))
    score = {}
    for name in ("itq", "ksh", "grh"):
        codes = ENCODERS[name](16).fit(coarse[~testing], classes[~testing]).encode(coarse[testing])
        score[name] = average_precision(count(codes, codes, truth, engine="numpy")).mean()
    # Chance is about 0.1. 0.176 (itq), 0.221 (ksh) and 0.205 (grh) when written; grh with alpha 0.6: 0.179.
    assert score["grh"] > score["itq"] + 0.02
    assert score["ksh"] > score["itq"] + 0.02


@pytest.mark.real_data
def test_on_pictures_dispersing_lowers_map_raises_mlgap_and_uses_more_codes(
    work: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ding, Li and Li 2018, table 1 and figure 8, at 12 bits: .60 to .30 and .263 to .280 in the paper."""
    pytest.importorskip("jax")
    words = ["--work", str(work), "--data", str(shared_data / "cifar10_jpeg"), "--small", "--shortest"]
    dispersion_papers.main([*words, "--only", "lsh", "table1"])
    first = capsys.readouterr()
    assert re.findall(r"^  (NOT FOUND|found): (.*)", first.out, re.MULTILINE) == [
        ("found", "mAP does not tell the three codes apart"),
        ("found", "RAMAP@R: LSH above same- above different-extension, R = 1 to 3"),
        ("NOT FOUND", "12 bits: L1 in place of L2 raises mAP (section 5.2)"),
        ("found", "12 bits: dispersing lowers mAP"),
        ("found", "12 bits: dispersing raises mLGAP"),
        ("found", "12 bits: dispersing uses more of the 4,096 codes (figure 8)"),
    ]
    assert "0.6012" in first.out
    assert "1,500 training items, which are the database too" in first.out
    assert "epoch 1 of" in first.err
    assert len(list(work.rglob("figure_8.png"))) == 1
    dispersion_papers.main([*words, "--only", "table1"])
    again = capsys.readouterr()
    assert again.out in first.out
    assert "epoch" not in again.err  # what is finished is not learned again


def _counted(encoder: MDSH, parts: list[tuple[np.ndarray, np.ndarray]]) -> CountTable:
    training, (vectors, classes), (query_vectors, query_classes) = parts
    encoder.fit(*training)
    truth = LabelTruth(Labels(classes=query_classes), Labels(classes=classes))
    return count(encoder.encode(query_vectors), encoder.encode(vectors), truth)


def test_a_longer_way_apart_leaves_map_lowers_ramap_and_empties_bins() -> None:
    """Jiang, Li and Li 2019, figures 4 and 5, on ten clusters: DSH (m = 0), 4 and 8 at 48 bits."""
    pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    centres = 1.3 * rng.standard_normal((10, 16))

    def draw(number: int) -> tuple[np.ndarray, np.ndarray]:
        classes = np.arange(number) % 10
        return centres[classes] + rng.standard_normal((number, 16)), classes

    parts = [draw(1000), draw(5000), draw(200)]
    tables = [_counted(MDSH(48, epochs=15, hidden=100, shift=m), parts) for m in (0, 4, 8)]
    maps = [mean_average_precision(table, None, "relevant").expected or 0.0 for table in tables]
    assert max(maps) - min(maps) < 0.05  # "very close"
    for radius in (0, 1, 2):
        ramaps = [ramap(table, radius) for table in tables]
        assert ramaps[0] > ramaps[1] > ramaps[2]
        empty = [int((table.total[:, : radius + 1].sum(axis=1) == 0).sum()) for table in tables]
        assert empty[0] < empty[1] < empty[2]
