"""Health and scores take codes of every form and several files, and say what they decided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.hashing.running import hash_json
from tests.commands import relstudy


@pytest.mark.slow
def test_health_is_that_of_the_bits_whatever_the_file_holds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    bits, queries = rng.random((200, 13)) < 0.5, rng.random((20, 13)) < 0.5
    for name, part in (("db", bits), ("q", queries)):
        np.save(tmp_path / f"{name}.npy", part)
        np.save(tmp_path / f"{name}_packed.npy", np.packbits(part, axis=1))
        np.save(tmp_path / f"y{name}.npy", rng.integers(0, 3, len(part)))
    np.save(tmp_path / "first.npy", bits[:80])
    np.save(tmp_path / "second.npy", bits[80:])
    files = ["--queries", tmp_path / "q.npy", "--database", tmp_path / "db.npy"]
    labels = ["--query-labels", tmp_path / "yq.npy", "--database-labels", tmp_path / "ydb.npy"]
    hash_json("count", *files, *labels, "-o", tmp_path / "t.npz")
    table = ["--table", tmp_path / "t.npz"]
    plain = hash_json("health", tmp_path / "db.npy", "--queries", tmp_path / "q.npy", *table)
    shards = hash_json(
        "health", tmp_path / "first.npy", tmp_path / "second.npy", "--queries", tmp_path / "q.npy", *table
    )
    told = ["--format", "packed", "--code-bits", "13"]
    packed = hash_json("health", tmp_path / "db_packed.npy", "--queries", tmp_path / "q_packed.npy", *table, *told)
    assert plain["mlgap_2_paper"] == packed["mlgap_2_paper"] == shards["mlgap_2_paper"] > 0
    assert plain == packed == shards
    untold = hash_json("health", tmp_path / "db_packed.npy")
    assert "--code-bits 13" in untold["notes"][0]
    printed = relstudy("hash", "health", tmp_path / "db_packed.npy")
    assert "--code-bits 13" in printed.stdout
