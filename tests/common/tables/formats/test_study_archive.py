"""A zip file is read without trusting a word of it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.formats import study_archive as archived


@pytest.mark.parametrize("name", ["../judgments.csv", "/tmp/judgments.csv", "a/judgments.csv", "judgments.csv/../x"])
def test_no_name_in_a_zip_becomes_a_path(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr(name, "query_id,result_id,judgment\nq,r,1\n")
    with pytest.raises(RelstudyError, match=r"evil\.zip: there is no judgments\.csv"):
        archived.in_archive(tmp_path / "evil.zip", "judgments.csv")
    assert [path.name for path in tmp_path.rglob("*")] == ["evil.zip"]


def test_a_zip_that_is_damaged_doubled_or_swells_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archived, "MOST_BYTES", 1000)
    with zipfile.ZipFile(tmp_path / "swells.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("judgments.csv", b"0" * 2_000_000)
    with zipfile.ZipFile(tmp_path / "doubled.zip", "w") as archive, pytest.warns(UserWarning):
        archive.writestr("judgments.csv", "a")
        archive.writestr("judgments.csv", "b")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 nonsense")
    for name, words in (("swells", "over 0 GiB"), ("doubled", "appears in it twice"), ("broken", "cannot be read")):
        with pytest.raises(RelstudyError, match=words):
            archived.in_archive(tmp_path / f"{name}.zip", "judgments.csv")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED])
def test_a_zip_whose_content_is_damaged_is_refused_in_a_sentence(tmp_path: Path, method: int) -> None:
    file = tmp_path / "damaged.zip"
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("judgments.csv", bytes(range(256)) * 20)
    content, start = bytearray(file.read_bytes()), 30 + len("judgments.csv")  # after the entry's header
    content[start + 9 : start + 29] = b"\xff" * 20
    file.write_bytes(content)
    with pytest.raises(RelstudyError, match=r"damaged\.zip: this zip file cannot be read"):
        archived.in_archive(file, "judgments.csv")


def test_a_zip_that_swells_is_refused_by_its_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relstudy.common.runtime.compression.SMALL", 1 << 20)
    with zipfile.ZipFile(tmp_path / "swells.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("judgments.csv", b"0" * 20_000_000)
    with pytest.raises(RelstudyError, match=r"judgments\.csv swells as no table does"):
        archived.in_archive(tmp_path / "swells.zip", "judgments.csv")
