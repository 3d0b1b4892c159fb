"""The study's signing secret, and what is no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.config.secret import read_secret


@pytest.mark.parametrize("left", [b"\0" * 65, b"\xff" * 65], ids=["zeros after a power cut", "no text"])
def test_a_damaged_secret_is_refused(tmp_path: Path, left: bytes) -> None:
    assert read_secret(tmp_path) == read_secret(tmp_path)
    (tmp_path / "secret.key").write_bytes(left)
    with pytest.raises(RelstudyError, match=r"secret\.key: this file is damaged; remove it"):
        read_secret(tmp_path)


def test_a_folder_in_the_secrets_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "secret.key").mkdir()
    with pytest.raises(RelstudyError, match=r"secret\.key: cannot be read \(Is a directory\)"):
        read_secret(tmp_path)
