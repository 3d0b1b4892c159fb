"""`relstudy hash encode`: codes by a baseline or a deep encoder, learned here or read from a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import click

from relstudy.analysis.hashing.commands.inputs import classes_in, label_array_in, refuse_over, vectors_in, write_array
from relstudy.analysis.hashing.encoders import SUPERVISED, UNSUPERVISED
from relstudy.analysis.hashing.options import LabelText
from relstudy.common.options.command_options import taking
from relstudy.common.options.declaration import option
from relstudy.common.runtime.console import counter, print_json, progress, say
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.wording import count_of

if TYPE_CHECKING:
    import numpy as np

    from relstudy.analysis.hashing.encoders.base import Encoder
    from relstudy.analysis.hashing.encoders.deep.encoders import DeepEncoder
    from relstudy.analysis.hashing.encoders.deep.training import Epoch


@dataclass(frozen=True, kw_only=True)
class EncodeOptions(LabelText):
    """Options of `relstudy hash encode`; None for those not given."""

    bits: int | None = option(None, "Code length; needed unless --load.", at_least=1)
    train: str | None = option(None, "Training vectors (.npy); nothing else is learned from.")
    train_labels: str | None = option(
        None, "Labels of the training vectors, for supervised encoders; ksh and grh take several each."
    )
    alpha: float | None = option(
        None, "Weight of the graph, of grh.", at_least=0, at_most=1, shown="chosen on a held-out part"
    )
    files: tuple[tuple[str, str], ...] = option(
        (), "Vectors, and where to write their codes; repeat.", flags=("--encode",), metavar="VECTORS.npy CODES.npy"
    )
    seed: int = option(0, "Seed of what is drawn at random.", at_least=0, any_size=True)
    train_superclasses: str | None = option(None, "Superclasses beside the classes, for dsh-dispersed.")
    epochs: int | None = option(None, "The most epochs, for deep encoders.", at_least=1, shown="60")
    hold_out: bool | None = option(
        None,
        "Whether a tenth of the training items judges the epochs of deep encoders, or all are learned from, as in the "
        "papers.",
        flags=("--hold-out/--no-hold-out",),
        shown="hold-out",
    )
    learning_rate: float | None = option(None, "Initial learning rate of deep encoders.", above=0, shown="0.001")
    batch: int | None = option(None, "Items of a step of deep encoders.", at_least=2, shown="200; m-dsh 128")
    patience: int | None = option(
        None, "Epochs without a better loss before deep encoders stop.", at_least=1, shown="10"
    )
    recipe: Literal["paper"] | None = option(
        None, "Epochs, batch, rate and patience of deep encoders as their paper prints them; takes hours."
    )
    margin: float | None = option(None, "m of dsh and dsh-dispersed.", at_least=0, shown="twice the bits")
    norm: Literal["l1", "l2"] | None = option(None, "Distances of dsh: squared (l2), or absolute (l1).", shown="l2")
    band: tuple[float, float] | None = option(
        None, "r1 and r2 of dsh-dispersed, between which the L1 distances of a class are to be.", metavar="R1 R2"
    )
    superclass_band: tuple[float, float] | None = option(
        None, "r3 and r4 of dsh-dispersed, those of a superclass.", metavar="R3 R4"
    )
    shift: float | None = option(None, "m of m-dsh, in bits.", at_least=0, shown="4")
    hidden: int | None = option(
        None,
        "Width of the first full layer of deep encoders; 0: a hash layer alone, for saved features.",
        at_least=0,
        shown="500",
    )
    save: str | None = option(None, "Where to write the encoder (.npz), to apply it later.")
    load: str | None = option(None, "An encoder that --save wrote, instead of --train.")
    project: tuple[tuple[str, str], ...] = option(
        (),
        "Vectors, and where to write the real values whose signs are the bits; repeat.",
        metavar="VECTORS.npy REAL.npy",
    )

    PACE: ClassVar[tuple[str, ...]] = ("epochs", "hold_out", "learning_rate", "batch", "patience")
    """Of how deep encoders learn."""
    OF_ONE: ClassVar[dict[str, str]] = {
        "norm": "dsh",
        "band": "dsh-dispersed",
        "superclass_band": "dsh-dispersed",
        "train_superclasses": "dsh-dispersed",
        "shift": "m-dsh",
    }
    """The options that one deep encoder alone has."""
    DEEP_ALONE: ClassVar[tuple[str, ...]] = (*PACE, "recipe", "margin", "hidden", *OF_ONE)
    """The options that the baselines do not have."""

    def given(self, *names: str) -> list[str]:
        """Those of these options that were given, as they are typed."""
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]

    def settings(self, encoder: str) -> dict[str, Any]:
        """Of the encoder's constructor."""
        for name, only in self.OF_ONE.items():
            if self.given(name) and encoder != only:
                raise click.UsageError(f"{self.given(name)[0]} is for {only}.")
        if self.margin is not None and encoder == "m-dsh":
            raise click.UsageError("--margin is for dsh and dsh-dispersed; m-dsh has --shift.")
        from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS

        recipe = {} if self.recipe is None else DEEP_ENCODERS[encoder].paper
        own = ("margin", "norm", "band", "superclass_band", "shift", "hidden")
        chosen = {name: getattr(self, name) for name in (*self.PACE, *own)}
        return recipe | {name: value for name, value in chosen.items() if value is not None}


HELP = f"""Turn vectors into codes with a baseline.

Unsupervised: {", ".join(UNSUPERVISED)}. With labels: {", ".join(SUPERVISED)}.

Deep encoders learn with the extra `deep`: dsh, dsh-dispersed and m-dsh. They also take folders of pictures, whose
rows follow the sorted paths; the first folder's name is a training picture's class unless --train-labels is given.

\b
Example:
  relstudy hash encode itq --bits 32 --train train.npy --encode q.npy q_codes.npy --encode db.npy db_codes.npy
  relstudy hash encode dsh --bits 12 --train pictures/ --encode others/ codes.npy --save dsh.npz
  relstudy hash encode dsh --load dsh.npz --encode more/ more_codes.npy
"""


@click.command("encode", help=HELP)
@click.argument("encoder")
@taking(EncodeOptions)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def encode_command(encoder: str, options: EncodeOptions, as_json: bool) -> None:
    """Encode vectors by the encoder of that name; its help is `HELP`."""
    from relstudy.analysis.hashing.encoders import ENCODERS
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS
    from relstudy.analysis.hashing.encoders.saved import save_encoder

    files, project = options.files, options.project
    if encoder not in ENCODERS and encoder not in DEEP_ENCODERS:
        raise click.UsageError(f"ENCODER must be one of {', '.join([*ENCODERS, *DEEP_ENCODERS])}.")
    if options.load is None and (options.bits is None or options.train is None):
        raise click.UsageError("Give --bits and --train, or --load.")
    if not files and not project and options.save is None:
        raise click.UsageError("Give --encode, --project or --save: what is to be written.")
    learned_from = (options.train, options.train_labels, options.train_superclasses, options.load)
    pairs = (*files, *project)
    refuse_over([*(to for _, to in pairs), options.save], [*(source for source, _ in pairs), *learned_from])
    learn = deep_encoder if encoder in DEEP_ENCODERS else baseline_encoder
    fitted, sources, summary = learn(encoder, options, [source for source, _ in (*files, *project)])
    if options.save is not None:
        save_encoder(fitted, options.save)
        say(f"wrote {options.save}")
    written = []
    for (_, target), items in progress(list(zip(files, sources, strict=False)), "files", len(files)):
        codes = fitted.encode(items)
        write_array(target, codes.unpacked())
        written.append({"file": target, "codes": len(codes)})
        if not as_json:
            say(f"{count_of(len(codes), 'code')} of {codes.bits} bits by {encoder}; wrote {target}")
    for (_, target), items in zip(project, sources[len(files) :], strict=True):
        write_array(target, fitted.real_values(items))
        written.append({"file": target, "items": len(items)})
        if not as_json:
            say(f"{count_of(len(items), 'item')} of {fitted.bits} real values by {encoder}; wrote {target}")
    notes = summary.pop("notes", [])
    if as_json:
        noted = {"notes": notes} if notes else {}
        print_json({"encoder": encoder, "bits": fitted.bits, "seed": fitted.seed, **summary, **noted, "files": written})
        return
    for note in notes:
        click.echo(note)
    if "epochs" in summary:
        click.echo(
            f"learned from {summary['trained_on']} items in {summary['epochs']} of at most {summary['at_most']} "
            f"epochs; kept epoch {summary['kept_epoch']}, of the smallest loss {summary['judged_on']}: "
            f"{summary['loss']:.4g}"
        )


def items_in(source: str) -> np.ndarray:
    """Vectors or pictures of a .npy file, mapped and not read; or the pictures of a folder, by sorted path."""
    import numpy as np

    from relstudy.analysis.hashing.encoders.deep.items import check_items, picture_paths, read_pictures
    from relstudy.common.tables.formats.array_files import load_array, row_blocks

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


def deep_encoder(
    name: str, job: EncodeOptions, files: Sequence[str]
) -> tuple[DeepEncoder, list[np.ndarray], dict[str, Any]]:
    """An encoder, learned or read from a file; what it is to encode; and what happened, for the summary."""
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS, DeepEncoder, need_extra

    if job.alpha is not None:
        raise click.UsageError("--alpha is of grh.")
    need_extra()
    if job.load is not None:
        unused = job.given("bits", "train", "train_labels", *job.DEEP_ALONE, "save")
        if unused:
            raise click.UsageError(f"--load brings everything; leave out {', '.join(unused)}.")
        loaded = _loaded(name, job.load, DEEP_ENCODERS, deep=True)
        assert isinstance(loaded, DeepEncoder)
        return loaded, _sources(files, items_in, loaded.shape_, job.load), {"trained_on": None}
    assert job.bits is not None and job.train is not None
    settings = job.settings(name)
    items = items_in(job.train)
    sources = _sources(files, items_in, items.shape[1:], job.train)
    notes: list[str] = []
    classes = _classes(job, notes)
    encoder = DEEP_ENCODERS[name](job.bits, job.seed, **settings)
    return encoder, sources, {**_learn(encoder, items, classes), "notes": notes}


def _sources(
    files: Sequence[str], read: Callable[[str], np.ndarray], shape: tuple[int, ...], learned_from: str
) -> list[np.ndarray]:
    """The items of files, refused where their shape is not that of the training items."""
    sources = [read(file) for file in files]
    for file, items in zip(files, sources, strict=True):
        if items.shape[1:] != shape:
            raise RelstudyError(
                f"{file} has {_of(items.shape[1:])} and {learned_from} {_of(shape)}; they must be equal"
            )
    return sources


def _of(shape: tuple[int, ...]) -> str:
    return f"vectors of {shape[0]} numbers" if len(shape) == 1 else f"pictures of the shape {shape}"


def _learn(encoder: DeepEncoder, items: np.ndarray, classes: np.ndarray | None) -> dict[str, Any]:
    """Fit the encoder under a bar of epochs with the loss; returns what happened, for the summary."""
    epochs: list[Epoch] = []
    with counter("epochs", encoder.epochs) as bar:

        def watch(epoch: Epoch) -> None:
            epochs.append(epoch)
            losses = {"loss": epoch.loss} | ({} if epoch.held_out is None else {"held out": epoch.held_out})
            bar.set_postfix({name: f"{loss:.4g}" for name, loss in losses.items()}, refresh=False)
            bar.update()

        encoder.watch = watch
        encoder.fit(items, classes)
    encoder.watch = None
    kept = min(epochs, key=lambda epoch: epoch.judged)
    return {
        "trained_on": len(items),
        "epochs": len(epochs),
        "at_most": encoder.epochs,
        "kept_epoch": kept.number,
        "loss": kept.judged,
        "judged_on": "on the training items" if kept.held_out is None else "on a held-out tenth",
    }


def _loaded(name: str, file: str, kinds: Mapping[str, type[Encoder]], *, deep: bool = False) -> Encoder:
    from relstudy.analysis.hashing.encoders.saved import load_encoder

    encoder = load_encoder(file, deep=deep)
    if type(encoder) is not kinds[name]:
        kept = next(other for other, kind in kinds.items() if type(encoder) is kind)
        raise RelstudyError(f"{file} holds {kept}, not {name}")
    return encoder


def _classes(job: EncodeOptions, notes: list[str]) -> np.ndarray | None:
    import numpy as np

    from relstudy.analysis.hashing.encoders.deep.items import folder_classes, picture_paths

    superclasses = job.train_superclasses
    assert job.train is not None
    if job.train_labels is not None:
        classes = classes_in(job.train_labels, job.separator, notes)
    elif os.path.isdir(job.train):
        classes = folder_classes(job.train, picture_paths(job.train))
    else:
        return None
    if superclasses is None:
        return classes
    above = classes_in(superclasses, job.separator, notes)
    if len(above) != len(classes):
        raise RelstudyError(f"{superclasses} has {len(above)} superclasses for {len(classes)} classes")
    return np.stack([np.unique(column, return_inverse=True)[1] for column in (classes, above)], axis=1)


def baseline_encoder(
    name: str, job: EncodeOptions, files: Sequence[str]
) -> tuple[Encoder, list[np.ndarray], dict[str, Any]]:
    """An encoder, learned or read from a file; what it is to encode; and what happened, for the summary."""
    from relstudy.analysis.hashing.encoders import ENCODERS
    from relstudy.analysis.hashing.encoders.deep.encoders import DEEP_ENCODERS
    from relstudy.analysis.hashing.encoders.graph import GRH

    if unused := job.given(*job.DEEP_ALONE):
        raise click.UsageError(f"{', '.join(unused)}: for {', '.join(DEEP_ENCODERS)} alone.")
    if job.alpha is not None and name != "grh":
        raise click.UsageError("--alpha is of grh.")
    if job.load is not None:
        if unused := job.given("bits", "train", "train_labels", "alpha", "save"):
            raise click.UsageError(f"--load brings everything; leave out {', '.join(unused)}.")
        loaded = _loaded(name, job.load, ENCODERS)
        return loaded, _sources(files, vectors_in, (loaded.width_,), job.load), {"trained_on": None}
    assert job.bits is not None and job.train is not None
    notes: list[str] = []
    labels = None if job.train_labels is None else label_array_in(job.train_labels, job.separator, notes)
    training = vectors_in(job.train)
    sources = _sources(files, vectors_in, training.shape[1:], job.train)
    settings = {} if job.alpha is None else {"alpha": job.alpha}
    encoder = ENCODERS[name](job.bits, job.seed, **settings).fit(training, labels)
    summary: dict[str, Any] = {"trained_on": len(training)}
    if isinstance(encoder, GRH):
        summary["alpha"] = encoder.alpha_
        notes.append(encoder.choice())
    if labels is not None and not encoder.supervised:
        notes.append(f"{job.train_labels}: {name} learns without labels; they changed nothing")
    return encoder, sources, {**summary, "notes": notes}
