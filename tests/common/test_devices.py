"""A pipe that nobody writes to, or a device, is one sentence wherever a file is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from relstudy.analysis.scoring.saved import read_comparison
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import read_json, read_toml
from relstudy.common.tables.formats.array_files import load_array, text_lines
from relstudy.common.tables.formats.json_files import read_records
from relstudy.common.tables.formats.table_files import read_table
from relstudy.mapping.scores.score_files import read_scores


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("p.csv", read_table),
        ("p.csv.gz", read_table),
        ("p.parquet", read_table),
        ("p.json", read_records),
        ("p.json", read_json),
        ("p.toml", read_toml),
        ("p.json", read_comparison),
        ("p.npy", load_array),
        ("p.txt", text_lines),
        ("p.npy", read_scores),
        ("p.run", read_scores),
    ],
)
def test_a_device_is_refused_before_it_is_opened(tmp_path: Path, name: str, read: Callable[[str], object]) -> None:
    device = tmp_path / name
    device.symlink_to(os.devnull)  # of all devices the one that ends
    with pytest.raises(RelstudyError, match="this is a pipe or a device; write the table to a file first"):
        read(str(device))
