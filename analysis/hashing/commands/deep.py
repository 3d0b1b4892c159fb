"""What `relstudy hash encode` does for deep encoders: items of files and folders, a bar of epochs, saving, loading."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import click

from relstudy.analysis.hashing.commands.inputs import classes_in, vectors_in
from relstudy.common.console import say
from relstudy.common.errors import RelstudyError
from relstudy.common.terminal import for_bars

if TYPE_CHECKING:
    import numpy as np

    from relstudy.analysis.hashing.encoders.deep.encoders import DeepEncoder
    from relstudy.analysis.hashing.encoders.deep.training import Epoch


@dataclass(frozen=True)
class EncodeJob:
    """What an encoder is asked for on the command line; None is what was not given."""

    encoder: str
    seed: int
    bits: int | None
    train: str | None
    train_labels: str | None
    train_superclasses: str | None
    epochs: int | None
    hold_out: bool | None
    margin: float | None
    shift: float | None
    hidden: int | None
    save: str | None
    load: str | None
    alpha: float | None

    DEEP_ALONE: ClassVar[tuple[str, ...]] = ("train_superclasses", "epochs", "hold_out", "margin", "shift", "hidden")
    """The options that the baselines do not have."""

    def given(self, *names: str) -> list[str]:
        """Those of these options that were given, as they are typed."""
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]

    def settings(self) -> dict[str, Any]:
        """Of the encoder's constructor."""
        if self.shift is not None and self.encoder != "m-dsh":
            raise click.UsageError("--shift is for m-dsh; dsh and dsh-dispersed have --margin.")
        if self.margin is not None and self.encoder == "m-dsh":
            raise click.UsageError("--margin is for dsh and dsh-dispersed; m-dsh has --shift.")
        if self.train_superclasses is not None and self.encoder != "dsh-dispersed":
            raise click.UsageError(f"--train-superclasses is for dsh-dispersed; {self.encoder} learns from one class.")
        chosen = {name: getattr(self, name) for name in ("epochs", "hold_out", "margin", "shift", "hidden")}
        return {name: value for name, value in chosen.items() if value is not None}


def items_in(source: str) -> np.ndarray:
    """Vectors or pictures of a .npy file, mapped and not read; or the pictures of a folder, by sorted path."""
    import numpy as np

    from relstudy.analysis.hashing.codes.arrays import load_array, row_blocks
    from relstudy.analysis.hashing.encoders.deep.items import check_items
    from relstudy.analysis.hashing.encoders.deep.pictures import picture_paths, read_pictures

    if os.path.isdir(source):
        return read_pictures(picture_paths(source))
    array = load_array(source)
    if array.ndim != 4:
        return vectors_in(source)
    check_items(array)
    if array.dtype.kind not in "fiu" or len(array) == 0:
        raise RelstudyError(
            f"{source}: pictures need numbers in the shape (n, height, width, 3), this is {array.dtype}"
        )
    for start, block in row_blocks(array):
        if not np.isfinite(block).all():
            raise RelstudyError(f"{source}, items from {start}: every number must be finite")
    return array


def deep_encoder(job: EncodeJob, files: Sequence[str]) -> tuple[DeepEncoder, list[np.ndarray], dict[str, Any]]:
    """An encoder, learned or read from a file; what it is to encode; and what happened, for the summary."""
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, need_extra
    from relstudy.analysis.hashing.encoders.deep.saved import save_encoder

    if job.alpha is not None:
        raise click.UsageError("--alpha is of grh.")
    need_extra()
    if job.load is not None:
        unused = job.given("bits", "train", "train_labels", *job.DEEP_ALONE, "save")
        if unused:
            raise click.UsageError(f"--load brings everything; leave out {', '.join(unused)}.")
        encoder = _loaded(job.encoder, job.load)
        return encoder, _sources(files, encoder.shape_, job.load), {"trained_on": None}
    assert job.bits is not None and job.train is not None
    settings = job.settings()
    items = items_in(job.train)
    sources = _sources(files, items.shape[1:], job.train)
    classes = _classes(job.train, job.train_labels, job.train_superclasses)
    encoder, happened = _learned(DEEP_ENCODERS[job.encoder](job.bits, job.seed, **settings), items, classes)
    if job.save is not None:
        save_encoder(encoder, job.save)
        say(f"wrote {job.save}")
    return encoder, sources, happened


def _sources(files: Sequence[str], shape: tuple[int, ...], learned_from: str) -> list[np.ndarray]:
    sources = [items_in(file) for file in files]
    for file, items in zip(files, sources, strict=True):
        if items.shape[1:] != shape:
            raise RelstudyError(
                f"{file} has items of the shape {items.shape[1:]} and {learned_from} of {shape}; they must be equal"
            )
    return sources


def _learned(encoder: DeepEncoder, items: np.ndarray, classes: np.ndarray | None) -> tuple[DeepEncoder, dict[str, Any]]:
    epochs: list[Epoch] = []
    with _EpochBar(encoder.epochs) as bar:

        def watch(epoch: Epoch) -> None:
            epochs.append(epoch)
            bar.show(epoch)

        encoder.watch = watch
        encoder.fit(items, classes)
    encoder.watch = None
    kept = min(epochs, key=lambda epoch: epoch.judged)
    return encoder, {
        "trained_on": len(items),
        "epochs": len(epochs),
        "at_most": encoder.epochs,
        "kept_epoch": kept.number,
        "loss": kept.judged,
        "judged_on": "on the training items" if kept.held_out is None else "on a held-out tenth",
    }


def _loaded(name: str, file: str) -> DeepEncoder:
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS
    from relstudy.analysis.hashing.encoders.deep.saved import load_encoder

    encoder = load_encoder(file)
    if type(encoder) is not DEEP_ENCODERS[name]:
        kept = next(other for other, kind in DEEP_ENCODERS.items() if type(encoder) is kind)
        raise RelstudyError(f"{file} holds {kept}, not {name}")
    return encoder


def _classes(train: str, labels: str | None, superclasses: str | None) -> np.ndarray | None:
    import numpy as np

    from relstudy.analysis.hashing.encoders.deep.pictures import folder_classes, picture_paths

    if labels is not None:
        classes = classes_in(labels)
    elif os.path.isdir(train):
        classes = folder_classes(train, picture_paths(train))
    else:
        return None
    if superclasses is None:
        return classes
    above = classes_in(superclasses)
    if len(above) != len(classes):
        raise RelstudyError(f"{superclasses} has {len(above)} superclasses for {len(classes)} classes")
    return np.stack([np.unique(column, return_inverse=True)[1] for column in (classes, above)], axis=1)


class _EpochBar:
    """A bar of epochs with the loss, after two seconds and on a terminal alone."""

    def __init__(self, epochs: int) -> None:
        from tqdm import tqdm

        self.bar = tqdm(
            desc="epochs", total=epochs, delay=2, disable=None, leave=False, dynamic_ncols=True, file=for_bars()
        )

    def __enter__(self) -> _EpochBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def show(self, epoch: Epoch) -> None:
        """Move on by one epoch."""
        losses = {"loss": f"{epoch.loss:.4g}"}
        if epoch.held_out is not None:
            losses["held out"] = f"{epoch.held_out:.4g}"
        self.bar.set_postfix(losses, refresh=False)
        self.bar.update()
