"""`relstudy hash encode` with deep encoders: vectors, pictures, saving, loading, and a sentence for mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from PIL import Image

from evidence.dispersion.runs import Sizes
from evidence.dispersion_papers import own_features
from relstudy.analysis.hashing.commands.encode import EncodeOptions
from relstudy.analysis.hashing.encoders.deep import encoders
from relstudy.common.runtime.errors import RelstudyError
from tests.commands import relstudy

pytestmark = pytest.mark.skipif(not encoders.deep_is_installed(), reason="needs the extra `deep`")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 4, 140)
    vectors = rng.standard_normal((4, 8))[labels] * 2 + rng.standard_normal((140, 8))
    np.save("x.npy", vectors[:120])
    np.save("y.npy", labels[:120])
    np.save("above.npy", labels[:120] // 2)
    np.save("q.npy", vectors[120:])
    np.save("narrow.npy", vectors[:, :5])
    np.save("wild.npy", np.full((12, 8, 8, 3), np.nan))
    for name, colour in (("red", (220, 30, 30)), ("green", (30, 220, 30))):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for number in range(6):
            Image.new("RGB", (40 + number, 50), colour).save(tmp_path / "pictures" / name / f"{number}.png")
    return tmp_path


def encode(command: str) -> Result:
    return relstudy("hash", "encode", *command.split())


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("dsh", {"epochs": 750, "batch": 200, "learning_rate": 0.01, "patience": 750, "hold_out": False}),
        ("dsh-dispersed", {"epochs": 750, "batch": 200, "learning_rate": 0.01, "patience": 750, "hold_out": False}),
        ("m-dsh", {"epochs": 400, "batch": 128, "learning_rate": 0.05, "weight_decay": 5e-5, "patience": 400}),
    ],
)
def test_the_recipe_is_what_the_papers_print_and_what_is_given_goes_before(name: str, printed: dict) -> None:
    options = {"bits": 8, "train": "x.npy", "recipe": "paper"}
    assert EncodeOptions(**options).settings(name).items() >= printed.items()
    given = EncodeOptions(**options, epochs=2, learning_rate=0.5, batch=30, patience=1).settings(name)
    assert (given["epochs"], given["learning_rate"], given["batch"], given["patience"]) == (2, 0.5, 30, 1)
    assert EncodeOptions(bits=8, train="x.npy").settings(name) == {}
    kind = encoders.DEEP_ENCODERS[name]
    pace = Sizes(recipe="paper", batch=30).pace(kind)
    assert pace["batch"] == 30 and pace["learning_rate"] == printed["learning_rate"] and "epochs" not in pace
    # without the recipe the script's rate is not the paper's, though its page said that all defaults were
    assert Sizes().pace(kind) == {"hold_out": False} and kind(8).learning_rate == 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "objective"),
    [
        ("dsh --margin 20 --learning-rate 0.002 --batch 60 --patience 3", "margin"),
        ("dsh-dispersed --train-superclasses above.npy", "superclasses"),
        ("dsh --norm l1", "norm"),
        ("dsh-dispersed --band 1 3", "band"),
        ("dsh-dispersed --train-superclasses above.npy --band 0.5 1 --superclass-band 1 3", "bands"),
        ("m-dsh --shift 3", "shift"),
    ],
)
def test_codes_from_vectors_again_from_the_saved_encoder(folder: Path, command: str, objective: str) -> None:
    learn = f"{command} --bits 8 --epochs 3 --train x.npy --train-labels y.npy --save e.npz --encode q.npy first.npy"
    summary = json.loads(encode(f"{learn} --json").stdout)
    assert (summary["trained_on"], summary["epochs"], summary["at_most"]) == (120, 3, 3)
    assert summary["judged_on"] == "on a held-out tenth"
    name = command.split()[0]
    again = encode(f"{name} --load e.npz --encode q.npy second.npy --json")
    assert json.loads(again.stdout)["bits"] == 8
    assert np.load("first.npy").shape == (20, 8)
    assert (np.load("first.npy") == np.load("second.npy")).all()


@pytest.mark.slow
def test_all_items_are_learned_from_where_none_are_to_be_held_out(folder: Path) -> None:
    learn = "dsh --bits 8 --epochs 2 --no-hold-out --train x.npy --train-labels y.npy --encode q.npy c.npy"
    result = encode(learn)
    assert "kept epoch 2, of the smallest loss on the training items" in result.stdout


@pytest.mark.slow
def test_what_was_learned_is_a_line_of_the_output(folder: Path) -> None:
    result = encode("dsh --bits 8 --epochs 2 --train x.npy --train-labels y.npy --encode q.npy c.npy")
    assert "learned from 120 items in 2 of at most 2 epochs; kept epoch" in result.stdout
    assert "smallest loss on a held-out tenth" in result.stdout


@pytest.mark.slow
def test_a_folder_of_pictures_with_a_folder_for_each_class(folder: Path) -> None:
    result = encode("dsh --bits 8 --epochs 12 --train pictures --encode pictures c.npy --json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["trained_on"] == 12
    codes = np.load("c.npy")
    # Sorted paths: green 0 to 5, then red 0 to 5; plain colours of one class have one code.
    assert (codes[:6] == codes[0]).all()
    assert (codes[6:] == codes[6]).all()
    assert (codes[0] != codes[6]).any()


DSH = "dsh --bits 4 --train x.npy --train-labels y.npy --encode q.npy out.npy"


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("nope --encode q.npy out.npy", 2, "grh, dsh, dsh-dispersed, m-dsh"),
        ("dsh --bits 4 --encode q.npy out.npy", 2, "Give --bits and --train, or --load."),
        ("itq --bits 4 --train x.npy --epochs 3 --encode q.npy out.npy", 2, "--epochs: for dsh, dsh-dispersed, m-dsh"),
        (f"{DSH} --shift 3", 2, "--shift is for m-dsh"),
        (f"{DSH} --train-superclasses above.npy", 2, "--train-superclasses is for dsh-dispersed"),
        ("m-dsh --bits 4 --train x.npy --margin 3 --encode q.npy out.npy", 2, "--margin is for dsh"),
        (f"{DSH} --band 1 2", 2, "--band is for dsh-dispersed"),
        (f"{DSH[:3]}-dispersed{DSH[3:]} --band 3 2", 1, "bands need 0 < r1 < r2 <= r3 < r4, not 3, 2"),
        (f"{DSH[:3]}-dispersed{DSH[3:]} --superclass-band 3 4", 1, "needs superclasses beside the classes"),
        (
            f"{DSH[:3]}-dispersed{DSH[3:]} --train-superclasses above.npy --band 1 2 --superclass-band 1 3",
            1,
            "1, 2, 1, 3",
        ),
        (f"{DSH} --load e.npz", 2, "--load brings everything; leave out --bits, --train, --train-labels."),
        ("dsh --load none.npz --encode q.npy out.npy", 1, "none.npz: file not found"),
        ("dsh --load x.npy --encode q.npy out.npy", 1, "x.npy: this is not a deep encoder"),
        ("dsh --bits 4 --train x.npy --encode q.npy out.npy", 1, "DSH learns from labels"),
        (
            f"{DSH} --encode narrow.npy more.npy",
            1,
            "narrow.npy has vectors of 5 numbers and x.npy vectors of 8 numbers",
        ),
        (f"{DSH} --train wild.npy", 1, "wild.npy, items from 0: every number must be finite"),
        (f"{DSH} --train empty", 1, "empty: no picture in this folder"),
        ("dsh --bits 4 --train broken --encode q.npy out.npy", 1, "1.png: this cannot be read as a picture"),
        (
            "dsh --bits 4 --train pictures/red --encode pictures out.npy",
            1,
            "0.png: this picture is in no folder that names its class",
        ),
    ],
)
def test_mistakes_end_in_one_sentence_and_write_nothing(folder: Path, command: str, code: int, message: str) -> None:
    (folder / "empty").mkdir()
    (folder / "broken" / "a").mkdir(parents=True)
    (folder / "broken" / "a" / "1.png").write_text("not a picture")
    result = encode(command)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert not (folder / "out.npy").exists()


@pytest.mark.slow
def test_a_saved_encoder_of_another_name_is_not_taken(folder: Path) -> None:
    encode(f"{DSH} --epochs 1 --save e.npz")
    result = encode("m-dsh --load e.npz --encode q.npy other.npy")
    assert result.exit_code == 1
    assert "e.npz holds dsh, not m-dsh" in result.stderr


def test_without_the_extra_there_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    result = encode(DSH)
    assert result.exit_code == 1
    assert result.stderr == "relstudy: deep encoders need JAX and optax: pip install 'relstudy[deep]'\n"


@pytest.mark.slow
def test_a_hash_layer_alone_is_for_deep_encoders(folder: Path) -> None:
    refused = encode("lsh --bits 8 --hidden 0 --train x.npy --encode q.npy out.npy")
    assert refused.exit_code == 2
    assert "--hidden: for dsh, dsh-dispersed, m-dsh alone" in refused.output
    learned = encode("m-dsh --bits 8 --hidden 0 --epochs 1 --train x.npy --train-labels y.npy --encode q.npy out.npy")
    assert learned.exit_code == 0, learned.output


def test_the_papers_script_takes_saved_features_one_for_each_picture(folder: Path) -> None:
    assert own_features("x.npy", 120).shape == (120, 8)
    with pytest.raises(RelstudyError, match=r"x\.npy has 120 vectors for 60000 pictures"):
        own_features("x.npy", 60_000)
