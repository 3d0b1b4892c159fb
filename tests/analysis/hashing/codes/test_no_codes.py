"""What is not an array of codes: the sentence says what it is, and the line that makes codes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relstudy.analysis.hashing.codes.code_files import CodeFile
from relstudy.analysis.inspection.files import inspect_file
from relstudy.common.runtime.errors import RelstudyError
from relstudy.mapping.scores.vectors import read_vectors
from tests.commands import relstudy


def test_features_are_told_to_be_no_codes_and_how_to_take_their_sign(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.random.default_rng(0).normal(size=(20, 16)))
    with pytest.raises(RelstudyError, match=r"these are numbers \(such as .*\) and no codes; take the sign with numpy"):
        CodeFile.of(str(tmp_path / "f.npy"))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_words_are_told_the_line_that_makes_bytes_of_them_and_it_keeps_every_distance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: type[np.unsignedinteger]
) -> None:
    """They were refused number by number: "only 0 or 1 is allowed"."""
    bits = np.random.default_rng(0).random((9, 128)) < 0.5
    monkeypatch.chdir(tmp_path)
    np.save("words.npy", np.packbits(bits, axis=1).view(dtype))
    with pytest.raises(RelstudyError, match=r"words of .* bits each; make bytes of them with numpy\.save") as refused:
        CodeFile.of("words.npy")
    line = str(refused.value).partition("with ")[2].replace("FILE", "'words.npy'")
    exec(line, {"numpy": np})
    codes = CodeFile.of("codes.npy").read()
    assert codes.bits == 128
    expected = (bits[:1] != bits).sum(axis=1)
    assert codes.take(slice(0, 1)).distances(codes)[0].tolist() == expected.tolist()


def test_codes_in_floats_are_codes(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.sign(np.random.default_rng(0).normal(size=(20, 16))))
    assert CodeFile.of(str(tmp_path / "c.npy")).bits == 16


@pytest.mark.parametrize(
    ("name", "line"),
    [("v.pt", "torch.load"), ("v.pth", "torch.load"), ("v.safetensors", "safetensors.torch.load_file")],
)
def test_tensors_are_told_the_line_that_saves_their_numbers(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04 and so on")
    for read in (CodeFile.of, inspect_file, read_vectors):
        with pytest.raises(RelstudyError, match=rf"this is a file of tensors.*numpy\.save\('.*v\.npy', {line}"):
            read(str(path))
    (tmp_path / "j.csv").write_text("query_id,result_id,judgment\nq,x,1\n")
    done = relstudy("score", path, "-j", tmp_path / "j.csv")
    assert done.exit_code == 1 and "this is a file of tensors" in done.stderr
